#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [--quick] [--json FILE] [ROW...]     measure, print one table of ratios to native
run.py --compare OLD NEW                    the change of each row between two JSON files

Contenders take turns within each round, so that a busy moment hits all of them; a figure is the
median over the rounds, its spread half the distance between the quartiles. Nothing is asserted. Needs
USHER and BUILD in the environment; tools that are not installed are left out."""
import contextlib, io, json, os, re, shutil, signal, socket, statistics, subprocess, sys, tarfile, tempfile, threading, time

USHER, BUILD = os.environ.get("USHER", ""), os.environ.get("BUILD", "")
HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.join(BUILD, "tests/bench")
DEVNULL = subprocess.DEVNULL

class Unfit(Exception):
    """This row cannot be measured here, or this contender cannot run it."""

def contenders(scratch, quick):
    journal = iter(range(10**9))
    def usher():
        return [USHER, "run", "-p", os.path.join(scratch, "allow.rules"), "--ask=deny", "--journal", f"{scratch}/journal{next(journal)}", "--"]
    c = {"native": lambda: [], "continue": lambda: [f"{BIN}/bare", "continue", "-c", "-f", "-x"],
         "bare": lambda: [f"{BIN}/bare", "inject", "-c", "-f", "-x"], "usher": usher}
    for name, tool, args in (("bwrap", "bwrap", ["--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc", "--"]),
                             ("firejail", "firejail", ["--quiet", "--noprofile", "--"]),
                             ("strace", "strace", ["-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace=open,openat,creat,connect,mkdir,rmdir,rename,unlink,unlinkat,execve", "--"]),
                             ("proot", "proot", []), ("srt", "srt", ["--"])):  # the npm package @anthropic-ai/sandbox-runtime
        if shutil.which(tool) and not (quick and tool != "bwrap"):
            c[name] = lambda tool=tool, args=args: [tool, *args]
    return c

# ---- rows: each is a function(prefix, work) -> seconds; prefix() gives the words to put in front of a command

def run(cmd, cwd, stdout=DEVNULL):
    p = subprocess.Popen(cmd, cwd=cwd, stdin=DEVNULL, stdout=stdout, stderr=DEVNULL)
    # Python's own timeout looks again after ever longer sleeps, which would round the figures up.
    limit = threading.Timer(300, p.kill)
    limit.start()
    try:
        out, _ = p.communicate()
    finally:
        limit.cancel()
    if p.returncode:
        raise Unfit(f"status {p.returncode}")
    return out

def micro(name, count, workers="1", times=1):
    """TIMES: where a run keeps the placement on cores that it began with, the median of so many."""
    def once(prefix, work):
        with tempfile.TemporaryDirectory(dir=work) as d:
            return float(run([*prefix(), f"{BIN}/micro", name, str(count), workers], d, stdout=subprocess.PIPE)) / 1e9
    return lambda prefix, work: statistics.median(once(prefix, work) for _ in range(times))

BARE = ("--floor=off", "--isolate=none")
APART = ("--isolate=pid,ipc,uts,cgroup,net",)

def options(row, *words, bare=()):
    """The row with usher started with these options too, and the notifiers with BARE; the other supervisors have no such ones."""
    def other(prefix, work):
        def front():
            p = prefix()
            if p and p[0] == f"{BIN}/bare" and bare:
                return p + list(bare)
            if p and p[0] != USHER:
                raise Unfit("usher's option")
            return p and p[:2] + list(words) + p[2:]
        return row(front, work)
    if hasattr(row, "warms"): other.warms = True
    return other

def end_all(p):
    """Ends P and all that it started, and waits until the last one is gone: what runs next has the machine for itself."""
    p.terminate()
    p.wait()
    give_up = time.monotonic() + 20
    with contextlib.suppress(ProcessLookupError):
        while time.monotonic() < give_up:
            os.killpg(p.pid, signal.SIGKILL)
            time.sleep(0.05)

def neighbour(flooders, kind, outside=False, ms=1500):
    """What a process that asks every two milliseconds waits for an open and close, beside so many that do nothing else."""
    def row(prefix, work):
        if not outside:
            return float(run([*prefix(), f"{BIN}/flood", str(flooders), kind, str(ms)], work, stdout=subprocess.PIPE).split()[0]) / 1e9
        p = subprocess.Popen([*prefix(), f"{BIN}/flood", str(flooders), kind, "60000"], cwd=work, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True)
        time.sleep(1)
        try:
            return float(run([f"{BIN}/flood", "0", "p", str(ms)], work, stdout=subprocess.PIPE).split()[0]) / 1e9
        finally:
            end_all(p)
    return row

def whole(script, times=1):
    def row(prefix, work):
        best = []
        for _ in range(times):
            t = time.monotonic()
            run([*prefix(), "sh", "-c", script] if isinstance(script, str) else [*prefix(), *script], work)
            best.append(time.monotonic() - t)
        return statistics.median(best)
    row.warms = True
    return row

@contextlib.contextmanager
def server(cmd, cwd, port):
    p = subprocess.Popen(cmd, cwd=cwd, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True)
    try:
        for _ in range(300):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            if p.poll() is not None:
                raise Unfit("the server does not start")
            time.sleep(0.02)
        else:
            raise Unfit("the server does not answer")
        yield p
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(p.pid, signal.SIGTERM)
        try:
            p.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()

def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]

def redis(requests, client=False):
    """Time for all requests; CLIENT: it is the client that is measured, by the rates it tells, and the server runs natively."""
    def row(prefix, work):
        port, outer, inner = free_port(), [] if client else prefix(), prefix() if client else []
        with server([*outer, "redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"], work, port):
            t = time.monotonic()
            out = run([*inner, "redis-benchmark", "-p", str(port), "-n", str(requests), "-c", "20", "-q", "-t", "set,get"], work, stdout=subprocess.PIPE).decode()
            took = time.monotonic() - t
        rates = re.findall(r"([0-9.]+) requests per second", out)
        if client and len(rates) != 2:
            raise Unfit("redis-benchmark does not tell its rates")
        return sum(requests / float(r) for r in rates) if client else took
    return row

def nginx(path, seconds, client=False):
    def row(prefix, work):
        outer, inner = [] if client else prefix(), prefix() if client else []
        port, d = free_port(), tempfile.mkdtemp(dir=work)
        os.mkdir(d + "/www")
        with open(d + "/www/page", "w") as f:
            f.write("x" * 4000)
        with open(d + "/n.conf", "w") as f:
            f.write(f"""daemon off; master_process off; pid {d}/pid; error_log {d}/err;
events {{ worker_connections 64; }}
http {{ access_log off; client_body_temp_path {d}/tb; proxy_temp_path {d}/tp; fastcgi_temp_path {d}/tf; uwsgi_temp_path {d}/tu; scgi_temp_path {d}/ts; keepalive_requests 1000000;
server {{ listen 127.0.0.1:{port}; root {d}/www; location = /answer {{ return 200 "fixed"; }} }} }}""")
        with server([*outer, shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"), "-c", d + "/n.conf", "-e", d + "/err"], d, port):
            out = run([*inner, "wrk", "-t1", "-c16", f"-d{seconds}", f"http://127.0.0.1:{port}{path}"], d, stdout=subprocess.PIPE).decode()
        rate = re.search(r"Requests/sec: *([0-9.]+)", out)
        if not rate or "Non-2xx" in out:
            raise Unfit("wrk did not get its answers")
        return 1 / float(rate[1])
    return row

NPM = ("npm", "--offline", "--no-audit", "--no-fund", "--no-update-notifier", "--cache", "../cache")
MODULES = ("argparse ast asyncio base64 bz2 calendar collections configparser csv ctypes datetime decimal difflib email enum fractions functools gzip hashlib heapq "
           "html http.client inspect ipaddress json logging lzma mailbox multiprocessing optparse pathlib pickle random shutil sqlite3 ssl statistics tarfile unittest xml.etree.ElementTree zipfile").split()

def packages(work, n):
    """A project that npm ci installs from N local archives of forty files each, with no registry."""
    project, archives = work + "/npm/project", work + "/npm/archives"
    os.makedirs(project)
    os.makedirs(archives)
    for i in range(n):
        with tarfile.open(f"{archives}/m{i}.tgz", "w:gz") as t:
            for name, text in [("package.json", json.dumps({"name": f"m{i}", "version": "1.0.0", "main": "f0.js"}))] + [(f"lib/f{k}.js", f"exports.n = {k};\n" * 30) for k in range(40)]:
                info = tarfile.TarInfo("package/" + name)
                info.size, info.mode = len(text), 0o644
                t.addfile(info, io.BytesIO(text.encode()))
    with open(project + "/package.json", "w") as f:
        json.dump({"name": "bench", "version": "1.0.0", "dependencies": {f"m{i}": f"file:../archives/m{i}.tgz" for i in range(n)}}, f)
    made = subprocess.run([*NPM, "install", "--package-lock-only"], cwd=project, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
    return made.returncode == 0 and os.path.exists(project + "/package-lock.json")

def repositories(work):
    """A tree of 5,000 files, and a history to read: this project's own where it is a repository. Both packed, as what was cloned is."""
    tree, history = work + "/tree", work + "/history"
    os.mkdir(tree)
    for i in range(5000):
        os.makedirs(f"{tree}/d{i // 50}", exist_ok=True)
        with open(f"{tree}/d{i // 50}/f{i}", "w") as f: f.write(f"{i}\n" * 20)
    g = ["git", "-c", "user.name=b", "-c", "user.email=b@example.org", "-c", "gc.auto=0"]
    run([*g, "init", "-q"], tree); run([*g, "add", "."], tree); run([*g, "commit", "-q", "-m", "first"], tree)
    own = subprocess.run([*g, "-c", "safe.directory=*", "clone", "-q", "--no-local", os.path.dirname(os.path.dirname(HERE)), history], stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
    if own.returncode:
        shutil.copytree(tree, history)
        for i in range(300): run([*g, "commit", "-q", "--allow-empty", "-m", str(i)], history)
    for repo in (tree, history): run([*g, "gc", "-q"], repo)

def prepare(work, quick):
    """Makes what the whole workloads stand on; a missing tool leaves its rows out."""
    ready = set()
    def have(*tools): return all(shutil.which(t) for t in tools)
    n = 1000 if quick else 5000
    if have("git"):
        repositories(work)
        ready.add("git")
    os.mkdir(work + "/small")
    for i in range(n):
        os.makedirs(f"{work}/small/d{i // 100}", exist_ok=True)
        with open(f"{work}/small/d{i // 100}/f{i}", "w") as f: f.write("content\n" * 30)
    run(["tar", "cf", "small.tar", "small"], work)
    shutil.rmtree(work + "/small")
    if have("node"):
        os.makedirs(work + "/mods/node_modules")
        for i in range(300):
            d = f"{work}/mods/node_modules/m{i}"
            os.mkdir(d)
            with open(d + "/package.json", "w") as f: f.write('{"main":"lib.js"}')
            with open(d + "/lib.js", "w") as f: f.write(f"exports.n = {i};\n" + (f"require('m{i - 1}');" if i % 10 else ""))
        with open(work + "/mods/main.js", "w") as f: f.write("for (let i = 0; i < 300; i++) require('m' + i);")
        ready.add("node")
    p = subprocess.run([HERE + "/../fetch-source", BUILD + "/sources", "lua5.4"], stdout=subprocess.PIPE, stderr=DEVNULL, text=True)
    if p.returncode == 0 and p.stdout.strip() and have("gcc", "make"):
        shutil.copytree(p.stdout.strip(), work + "/lua")
        ready.add("make")
    p = subprocess.run([HERE + "/../fetch-source", BUILD + "/sources", "zlib"], stdout=subprocess.PIPE, stderr=DEVNULL, text=True)
    if p.returncode == 0 and p.stdout.strip() and have("gcc"):
        shutil.copytree(p.stdout.strip(), work + "/zlib")
        ready.add("configure")
    if have("npm") and packages(work, 20 if quick else 60): ready.add("npm")
    if have("redis-server", "redis-benchmark"): ready.add("redis")
    if have("wrk") and shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"): ready.add("nginx")
    return ready

def rows(ready, quick):
    k = 1 if quick else 5
    r = {"open + close": micro("open", 2000 * k), "open relative": micro("open-relative", 2000 * k), "open 12 deep": micro("open-deep", 2000 * k),
         "open through a link": micro("open-link", 1000 * k), "open cold": micro("open-cold", 1000 * k), "open missing": micro("open-missing", 2000 * k), "create": micro("open-create", 1000 * k),
         "mkdir + rmdir": micro("mkdir", 1000 * k), "rename": micro("rename", 1000 * k), "unlink": micro("unlink", 1000 * k), "stat, no rule": micro("stat", 2000 * k),
         "stat, ruled": options(micro("stat", 2000 * k), "-p", HERE + "/stat.rules", bare=("-s",)),
         "connect tcp": micro("connect-tcp", 1000 * k, times=5), "connect unix": micro("connect-unix", 1000 * k, times=5), "posix_spawn + wait": micro("spawn", 250)}  # fewer show what a session does once, in its first moments
    r["posix_spawn, stopped"] = options(r["posix_spawn + wait"], bare=("-t",))  # the bare notifier stops the new program at its first instruction, too
    for n in ("2", "8") if quick else ("2", "4", "8"):
        r[f"open, {n} threads"] = micro("open", 500 * k, n)
        r[f"open, {n} processes"] = micro("open", 500 * k, "p" + n)
    crowds = [("neighbour, alone", 0, "p", False), ("neighbour, flood", 128 if quick else 512, "p", False)]  # what starts and ends so many takes longer than what is measured
    if not quick: crowds += [("neighbour, threads", 512, "t", False), ("outside, flood", 512, "p", True)]
    for name, n, kind, outside in crowds:
        r[name] = neighbour(n, kind, outside, 400 if quick else 1500)
    r["start of true"] = whole(["true"], 5)
    for name, words in (("no floor", BARE), ("isolated", APART)):
        r[f"start, {name}"] = options(whole(["true"], 5), *words)
        r[f"open, {name}"] = options(micro("open", 2000 * k), *words)
    r["300 execs in sh"] = execs = whole("i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done")
    del execs.warms  # the starts before have warmed them
    r["300 execs, stopped"] = options(execs, bare=("-t",))
    py = shutil.which("python3", path="/usr/bin:" + os.environ["PATH"])
    r["python, 40 imports"] = whole([py, "-B", "-c", "import " + ", ".join(MODULES)])
    if "node" in ready: r["node, 300 requires"] = whole("cd mods && node main.js")
    if "git" in ready:
        r["git status"] = whole("cd tree && git status --short >/dev/null", 3)
        r["git log"] = whole("cd history && git log --stat >/dev/null")
    r["tar x + rm -rf"] = tar = whole("tar xf small.tar && rm -rf small")
    r["tar, same calls"] = options(tar, bare=("-m",))  # the bare notifier takes the changes of metadata, too
    if os.path.isdir("/usr/include"):
        r["grep -r /usr/include"] = whole("grep -rs no_such_name /usr/include/" + ("linux" if quick else "") + " || true")
        r["find /usr/include"] = whole("find /usr/include -name '*.h' >/dev/null")
    if "make" in ready and quick: r["make -j2, 8 files"] = whole("cd lua/src && make -s clean && make -s -j2 lapi.o lcode.o ldo.o lgc.o ltable.o lstring.o llex.o lmem.o CC=gcc MYCFLAGS=-O0")
    elif "make" in ready: r["make -j2 of lua"] = whole("cd lua/src && make -s clean && make -s -j2 linux CC=gcc")
    if "configure" in ready: r["configure"] = whole("cd zlib && ./configure >/dev/null")
    if "npm" in ready: r["npm ci"] = whole("cd npm/project && " + " ".join(NPM) + " ci >/dev/null")
    if "redis" in ready:
        r["redis set, get"] = redis(10000 * k)
        if not quick: r["redis, the client"] = redis(20000 * k, client=True)
    if "nginx" in ready:
        r["nginx, fixed answer"] = nginx("/answer", 1 if quick else 2)
        if not quick: r["nginx, the client"] = nginx("/answer", 2, client=True)
        r["nginx, a file"] = nginx("/page", 1 if quick else 2)
    return r

def middle(v):
    v = sorted(v)
    m = statistics.median(v)
    spread = (v[(3 * (len(v) - 1)) // 4] - v[(len(v) - 1) // 4]) / 2
    return m, spread

def unit(s):
    return f"{s * 1e6:.2f} us" if s < 1e-3 else f"{s * 1e3:.1f} ms" if s < 1 else f"{s:.2f} s"

def measure(table, who, work, scratch, budget, rounds):
    got, unfit = {r: {c: [] for c in who} for r in table}, {}
    begin, done = time.monotonic(), 0
    while done < rounds and (done == 0 or (time.monotonic() - begin) * (done + 1) / done < budget):
        for r, f in table.items():
            order = list(who)
            for c in order[done % len(order):] + order[:done % len(order)]:
                if (r, c) in unfit: continue
                t = time.monotonic()
                try:
                    if done == 0 and c == order[0] and hasattr(f, "warms"): f(who[c], work)  # who comes first is not to pay for cold caches
                    got[r][c].append(f(who[c], work))
                except (Unfit, OSError, ValueError, subprocess.TimeoutExpired) as e:
                    unfit[r, c] = str(e)
                if done == 0 and c != "usher" and time.monotonic() - t > budget / len(table) / 2 and c not in ("native", "bare"):
                    unfit[r, c] = "slow"  # one figure is enough of what is far behind
            for d in os.listdir(scratch):
                if d.startswith("journal"): shutil.rmtree(f"{scratch}/{d}", ignore_errors=True)
            if sys.stderr.isatty(): print(f"\r{r:<24}", end="", file=sys.stderr)
        done += 1
    if sys.stderr.isatty(): print("\r" + " " * 30 + "\r", end="", file=sys.stderr)
    return got, unfit, done

def memory(work, who, table):
    """usher's own peak of resident memory during the build, in KiB."""
    if not any(r.startswith("make") for r in table): return None
    p = subprocess.Popen([*who["usher"](), "sh", "-c", "cd lua/src && make -s clean && make -s -j2 a CC=gcc MYCFLAGS=-O0"], cwd=work, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
    peak = 0
    while p.poll() is None:
        with contextlib.suppress(OSError):
            for l in open(f"/proc/{p.pid}/status"):
                if l.startswith("VmHWM:"): peak = max(peak, int(l.split()[1]))
        time.sleep(0.05)
    return peak

PROFILED = {"open + close": "open", "open relative": "open-relative", "open missing": "open-missing", "create": "open-create", "mkdir + rmdir": "mkdir",
            "connect unix": "connect-unix", "posix_spawn + wait": "spawn"}

def profile(who, scratch, quick):
    """Where the time of a call goes: nanoseconds of each step, from usher run --profile."""
    out = {}
    for row, name in PROFILED.items():
        cmd = who["usher"]()
        cmd.insert(2, "--profile")
        with tempfile.TemporaryDirectory(dir=scratch) as d:
            p = subprocess.run([*cmd, f"{BIN}/micro", name, "200" if name == "spawn" else "2000" if quick else "20000"], cwd=d, stdin=DEVNULL, stdout=DEVNULL, stderr=subprocess.PIPE, text=True)
        steps = {w[2]: int(w[3]) for w in (l.split() for l in p.stderr.splitlines()) if w[:2] == ["usher:", "profile:"] and w[2] not in ("waited", "nudged")}
        if steps: out[row] = steps
    return out

def system_calls(who, scratch):
    """System calls of usher's own for each notification of an open, counted by strace on its threads alone."""
    if not shutil.which("strace"): return None
    n, trace = 500, scratch + "/strace"
    with tempfile.TemporaryDirectory(dir=scratch) as d:
        p = subprocess.Popen([*who["usher"](), "sh", "-c", f"read go; exec {BIN}/micro open {n}"], cwd=d, stdin=subprocess.PIPE, stdout=DEVNULL, stderr=DEVNULL)
        time.sleep(0.5)
        s = subprocess.Popen(["strace", "-f", "-c", "-o", trace, *sum((["-p", t] for t in os.listdir(f"/proc/{p.pid}/task")), [])], stdout=DEVNULL, stderr=DEVNULL)
        time.sleep(0.5)
        p.communicate(b"\n", timeout=60)
        s.wait(10)
    rows = [l.split() for l in open(trace)] if os.path.exists(trace) else []
    counts = {l[-1]: int(l[3]) for l in rows if len(l) >= 5 and l[3].isdigit()}
    counts.pop("total", None)
    return {c: round(k / n, 1) for c, k in counts.items() if k / n > 0.4} or None

def main(args):
    if args[:1] == ["--compare"]: return compare(*args[1:3])
    if "-h" in args or "--help" in args:
        print(__doc__)
        return 0
    quick = "--quick" in args
    out = args[args.index("--json") + 1] if "--json" in args else None
    only = [a for i, a in enumerate(args) if not a.startswith("--") and (i == 0 or args[i - 1] != "--json")]
    base = os.environ.get("BENCH_DIR") or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    with tempfile.TemporaryDirectory(dir=base, prefix="usher-bench-") as work, tempfile.TemporaryDirectory(prefix="usher-bench-") as scratch:
        with open(scratch + "/allow.rules", "w") as f: f.write("default allow\n")
        who = contenders(scratch, quick)
        table = {r: f for r, f in rows(prepare(work, quick), quick).items() if not only or any(o in r for o in only)}
        got, unfit, done = measure(table, who, work, scratch, 92 if quick else 900, 5 if quick else 15)
        rss = memory(work, who, table)
        steps, calls = (profile(who, scratch, quick), system_calls(who, scratch)) if not only else ({}, None)
    result = {"kernel": os.uname().release, "cores": os.cpu_count(), "rounds": done, "where": base or "temporary folder", "usher_rss_kib": rss, "steps_ns": steps, "system_calls": calls,
              "rows": {r: {c: middle(v) for c, v in cs.items() if v} for r, cs in got.items()}, "raw": got}
    show(result, who, unfit)
    if out:
        with open(out, "w") as f: json.dump(result, f, indent=1)
        print(f"written to {out}")
    return 0

def show(result, who, unfit):
    print(f"Linux {result['kernel']}, {result['cores']} cores, {result['rounds']} rounds, files in {result['where']}. Ratios to native (median, +- half the quartiles' distance).")
    others = [c for c in who if c != "native"]
    print(f"{'':<22}{'native':>11}" + "".join(f"{c:>15}" for c in others) + f"{'usher/bare':>12}")
    for r, cs in result["rows"].items():
        if "native" not in cs:
            print(f"{r:<22}   not measured: {unfit.get((r, 'native'), '')}")
            continue
        n = cs["native"][0]
        # measured once it has no spread
        cell = lambda c: f"{cs[c][0] / n:.2f}" + (f" +-{cs[c][1] / n:.2f}" if cs[c][1] else "") if c in cs else "-"
        ratio = f"{cs['usher'][0] / cs['bare'][0]:.2f}" if "usher" in cs and "bare" in cs else "-"
        print(f"{r:<22}{unit(n):>11}" + "".join(f"{cell(c):>15}" for c in others) + f"{ratio:>12}")
    t = result["rows"].get("start of true", {})
    if "usher" in t: print(f"start of true, added by usher: {(t['usher'][0] - t['native'][0]) * 1e3:.2f} ms")
    if result["usher_rss_kib"]: print(f"usher's peak resident memory during the build: {result['usher_rss_kib'] / 1024:.1f} MiB")
    if result["steps_ns"]:
        names = list(next(iter(result["steps_ns"].values())))
        print("\nWhere the time of one call goes, in usher's worker (ns; reply: the caller often runs on within it):")
        print(f"{'':<22}" + "".join(f"{s:>9}" for s in names))
        for r, steps in result["steps_ns"].items(): print(f"{r:<22}" + "".join(f"{steps.get(s, 0):>9}" for s in names))
    if result["system_calls"]:
        print("system calls of usher for each open, of one notification: " + ", ".join(f"{c} {k}" for c, k in sorted(result["system_calls"].items(), key=lambda x: -x[1])))
    failed = sorted({(r, c, w) for (r, c), w in unfit.items() if w != "slow"})
    for r, c, w in failed:
        if w != "usher's option": print(f"not run: {r} with {c}: {w}")

def compare(old, new):
    a, b = (json.load(open(f)) for f in (old, new))
    once = 0
    print(f"{'':<22}{'old':>8}{'new':>8}{'change':>9}{'noise':>8}   usher's ratio to native")
    for r in a["rows"]:
        x, y = a["rows"][r], b["rows"].get(r, {})
        if not all("usher" in z and "native" in z for z in (x, y)): continue
        ratio = [z["usher"][0] / z["native"][0] for z in (x, y)]
        spread = [z["usher"][1] / z["usher"][0] + z["native"][1] / z["native"][0] for z in (x, y)]
        change = ratio[1] / ratio[0] - 1
        known = all(spread) # measured once it has none
        once += not known
        verdict = "slower" if change > 0 else "faster"
        print(f"{r:<22}{ratio[0]:>8.2f}{ratio[1]:>8.2f}{change:>+9.1%}" + (f"{max(spread):>8.1%}   {'' if abs(change) <= max(spread) else verdict}" if known else f"{'?':>8}"))
    if once: print(f"{once} rows were measured once in one of the files: what is noise there is not known. make bench without QUICK=1 takes several rounds, ROWS= a few rows.")
    return 0

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *a: sys.exit(143))
    sys.exit(main(sys.argv[1:]))
