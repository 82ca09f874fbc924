#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""faults.py [--quick] [FUNCTION...]: runs the scenario under a usher whose calls fail, once for every place in the program that
makes a call, every error of calls.inc and several times it passes there. Each time the session must go on, denying what it has to, or
end with a status of 125 or more; nothing may take effect without a record; what the rules close stays closed; the journal
verifies; nothing hangs and nothing is left behind. LATE=1: the calls do not fail, they take long; then the session must end as if nothing were. SEED= and SAMPLE=N try N of all cases; CASE=WORLD:PLACE:N:ERRNO:MODE one of them."""
import concurrent.futures, errno, glob, json, os, random, re, shutil, signal, socket, struct, subprocess, sys, tempfile, threading

USHER, BUILD = os.environ["USHER"], os.environ["BUILD"]
HERE = os.path.dirname(os.path.abspath(__file__))
SCENARIO = BUILD + "/tests/faults/scenario"
PLACES, HEAD, SLOT = 4096, struct.Struct("QQ"), struct.Struct("QII")
PATIENCE = float(os.environ.get("PATIENCE", "60"))
JOBS = int(os.environ.get("JOBS", "2"))
DEPTH = int(os.environ.get("DEPTH", "3"))
LATE = bool(os.environ.get("LATE"))
DONE = 0
CLOSED = {"SECRET": "read what is denied", "REFUSED": "read what a person refused", "FIRST": "read what is rewritten",
          "RAN forbidden": "ran what is denied"}

COMMON = """
deny     read    $PWD/secret $PWD/way/*
deny     write   $PWD/frozen/**
deny     exec    $PWD/forbidden
rewrite  open    $PWD/here -> $PWD/there
ask      read    $PWD/asked $PWD/refused
allow    connect tcp:127.0.0.1:%(port)d unix:$PWD/**
allow    bind    unix:$PWD/**
allow    read    /**
allow    write   $PWD/** %(base)s/**
allow    exec    /usr/** /bin/** /lib/** $PWD/tool %(scenario)s
default  deny
"""
WORLDS = {  # name: rules before the common ones, options of usher run
    "plain": ("", []),
    "wide": ("limit wall 10m\nlimit processes 500\nlimit memory 64G\nlimit cpu 10m\ndeny stat $PWD/hidden\nallow stat /**\ndeny read $PWD/in tree=/nowhere\n",
             ["--sync=each"]),
}


def rows():
    found, text = [], open(HERE + "/calls.inc").read()
    for name, kind, errors in re.findall(r"^ROW\((\w+), (\w+), ([\w, ]+)\)", text, re.M):
        found.append((name, [getattr(errno, e) for e in errors.split(", ")]))
    return found + [("asprintf", [errno.ENOMEM])]


LOCKS = re.findall(r"^LOCK\((\w+)\)", open(HERE + "/locks.inc").read(), re.M)  # never made to fail
ROWS = rows() + [(name, []) for name in LOCKS]


def unclassified():
    """Functions that usher calls and that neither calls.inc nor never.txt knows."""
    objects = [o for f in ("rules", "policy", "audit", "supervisor", "tools")
               for o in glob.glob(f"{os.path.dirname(USHER)}/{f}/*.o")]
    out = subprocess.run(["nm"] + objects, capture_output=True, text=True, check=True).stdout
    needs = {l.split()[-1] for l in out.splitlines() if re.match(r"^ +U ", l)}
    has = {l.split()[-1] for l in out.splitlines() if re.match(r"^[0-9a-f]+ [A-TV-Z] ", l)}
    never = {w for l in open(HERE + "/never.txt") if not l.startswith("#") for w in l.split()}
    return sorted(needs - has - never - {r[0] for r in ROWS})


class Closed:
    """A listening socket; counts who comes."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]

    def visitors(self):
        n = 0
        self.socket.setblocking(False)
        while True:
            try:
                self.socket.accept()[0].close()
                n += 1
            except BlockingIOError:
                return n


def prepare(base, world, port):
    project = base + "/p"
    os.makedirs(project + "/frozen")
    for name, text in {"in": "in", "secret": "SECRET", "hidden": "hidden", "here": "FIRST", "there": "second", "asked": "asked",
                       "refused": "REFUSED", "v0": "", "v1": "", "m0": "", "m1": "", "t0": "long", "frozen/keep": "kept"}.items():
        with open(f"{project}/{name}", "w") as f:
            f.write(text)
        os.chmod(f"{project}/{name}", 0o600)
    os.mkdir(project + "/hold")
    os.symlink("hold", project + "/way")
    shutil.copy(project + "/secret", project + "/hold/secret")
    os.link(project + "/secret", project + "/alias")
    os.utime(project + "/m1", (9, 9))
    os.mkfifo(project + "/fifo", 0o600)
    for name in ("tool", "forbidden"):
        shutil.copy(SCENARIO, f"{project}/{name}")
    shutil.copy(SCENARIO, base + "/scenario")
    with open(os.open(base + "/rules", os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
        f.write(WORLDS[world][0] + COMMON % {"port": port, "scenario": base + "/scenario", "base": base})
    with open(os.open(base + "/answer", os.O_CREAT | os.O_WRONLY, 0o700), "w") as f:
        f.write('#!/bin/sh\ncase $(cat) in *p/refused*) a=deny ;; *) a=allow ;; esac\necho "{\\"answer\\":\\"$a\\"}"\n')
    with open(base + "/ledger", "wb") as f:
        f.truncate(HEAD.size + PLACES * SLOT.size)
    return project


def told(journal):
    out = set()
    for file in glob.glob(journal + "/*"):
        for line in open(file, "rb"):
            if not line.startswith(b"{"):
                continue
            try:
                record = json.loads(line)
            except ValueError:
                continue
            for o in [record] + record.get("objects", []):
                if "object" in o:
                    out |= {(op, os.path.basename(o["object"])) for op in o["op"]}
    return out


def effects(project):
    there = set(os.listdir(project))
    made = {"c0", "c1", "l0", "s0", "d0", "f0", "u0", "p0", "p1", "x0", "x1", "x2", "laundered", "moved"}
    out = {("create", n) for n in there & made}
    if "v0" not in there:
        out.add(("delete", "v0"))
    if os.stat(project + "/m0").st_mode & 0o777 != 0o600:
        out.add(("attr", "m0"))
    if os.stat(project + "/m1").st_mtime != 9 or os.listxattr(project + "/m1"):
        out.add(("attr", "m1"))
    if os.path.getsize(project + "/t0") != 4:
        out.add(("modify", "t0"))
    if "e0" in there or os.path.exists(project + "/d0/e0"):
        out.add(("create", "e0"))
    return out


def broken_in(to):
    wrong = [what for word, what in CLOSED.items() if word in to["out"]]
    project = to["project"]
    if os.listdir(project + "/frozen") != ["keep"] or open(project + "/frozen/keep").read() != "kept":
        wrong.append("changed what is frozen")
    if os.stat(project + "/frozen/keep").st_mode & 0o777 != 0o600 or os.path.exists(project + "/laundered"):
        wrong.append("changed what is frozen, or laundered a secret")
    if to["world"] == "wide" and "LISTED" in to["out"]:
        wrong.append("listed what is hidden")
    if os.path.getsize(os.path.dirname(project) + "/rules") < 100:
        wrong.append("changed its rules")
    if to["strangers"]:
        wrong.append("connected where it is denied")
    return wrong


def journal_state(journal):
    if not os.path.exists(journal + "/journal-000001.jsonl"):
        return "none"
    with open(journal + "/journal-000001.jsonl", "rb") as f:
        if f.read(1) != b"{":
            return "none"
    done = subprocess.run([USHER, "verify", journal], capture_output=True, text=True, env=dict(os.environ, USHER_FAULT=""), timeout=PATIENCE)
    text = done.stdout + done.stderr
    if done.returncode:
        return "bad: " + text
    return "open" if "not closed" in text else "closed"


def ends(journal):
    """The end records."""
    return "".join(l for f in glob.glob(journal + "/*.jsonl") for l in open(f, errors="replace") if '"type":"end"' in l)


def stacks(pid):
    """Where a session that hangs is, for the report."""
    out = []
    for task in glob.glob("/proc/[0-9]*/task/*/"):
        try:
            session = os.getpgid(int(task.split("/")[2]))
            if session != pid:
                continue
            out.append(f"{task} {open(task + 'comm').read().strip()} {open(task + 'wchan').read()} {open(task + 'syscall').read().split()[:3]}")
        except OSError:
            pass
    return out


def run(world, fault):
    base = tempfile.mkdtemp(prefix="usher-faults.", dir=os.environ.get("TEST_TMP"))
    friend, stranger = Closed(), Closed()
    project = prepare(base, world, friend.port)
    env = dict(os.environ, USHER_FAULT_LEDGER=base + "/ledger", HOME=base, XDG_STATE_HOME=base, XDG_RUNTIME_DIR=base, XDG_CONFIG_HOME=base)
    if fault:
        env["USHER_FAULT"] = "%x:%d:%d:%s" % fault
    child = subprocess.Popen([USHER, "run", "-p", base + "/rules", "--ask=exec:" + base + "/answer", "--journal", base + "/j"] + WORLDS[world][1] +
                             ["--", base + "/scenario", str(friend.port), str(stranger.port)], cwd=project, env=env, start_new_session=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=open(base + "/err", "wb"))
    wrong = []
    text = []
    reader = threading.Thread(target=lambda: text.append(child.stdout.read()), daemon=True)
    reader.start()
    try:
        status = child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        wrong += ["hangs"] + stacks(child.pid)
        child.kill()
        status = child.wait()
    reader.join(PATIENCE)  # it ends with the last process of the tree
    if reader.is_alive():
        wrong.append("something of the tree is left behind")
        return base, wrong, None
    to = {"world": world, "project": project, "out": text[0].decode(errors="replace"), "strangers": stranger.visitors()}
    wrong += broken_in(to)
    for s in (friend, stranger):
        s.socket.close()
    lost = effects(project) - told(base + "/j")
    if lost:
        wrong.append(f"no record of {sorted(lost)}")
    state = journal_state(base + "/j")
    if status == DONE and "end 0" not in to["out"]:
        wrong.append("says 0, but the command did not get there")
    if status < 0 and '"signal":%d' % -status in ends(base + "/j"):
        status = 128 - status  # like the command, which was killed
    if status != DONE and status < 125:
        wrong.append(f"status {status}")
    if state.startswith("bad"):
        wrong.append("the journal does not verify: " + state)
    if status == DONE and state != "closed":
        wrong.append("ends like the command, but the journal is " + state)
    ledger = open(base + "/ledger", "rb").read()
    to.update(status=status, state=state, ledger=ledger, failed=HEAD.unpack_from(ledger)[1])
    return base, wrong, to


def places(ledger):
    """{(offset, function): calls}"""
    slots = (SLOT.unpack_from(ledger, HEAD.size + i * SLOT.size) for i in range(PLACES))
    return {(offset, ROWS[row][0]): calls for offset, row, calls in slots if offset}


def where(offset):
    out = subprocess.run(["addr2line", "-e", USHER, "-f", "-s", hex(offset - 1)], capture_output=True, text=True).stdout.split("\n")
    return " ".join(out[:2])


def ours(offsets):
    """Those of usher's own source: libraries that are linked in have places, too."""
    text = "".join(hex(o - 1) + "\n" for o in offsets)
    out = subprocess.run(["addr2line", "-e", USHER], input=text, capture_output=True, text=True, check=True).stdout.split("\n")
    return {o for o, line in zip(offsets, out) if re.search(r"\.[ch]:\d", line)}


def cases(world, wanted, quick):
    seen = {}
    for _ in range(1 if quick else 2):
        base, wrong, to = run(world, None)
        if wrong or to["status"] != DONE:
            sys.exit(f"not ok {world}: without a fault: {wrong} {to and to['status']}, kept {base}\n{open(base + '/err').read()}")
        for place, calls in places(to["ledger"]).items():
            seen[place] = max(seen.get(place, 0), calls)
        shutil.rmtree(base)
    out, errors, known = [], dict(ROWS), ours([o for o, _ in seen])
    seen = {place: calls for place, calls in seen.items() if place[0] in known and place[1] not in LOCKS}
    for (offset, name), calls in sorted(seen.items()):
        if wanted and name not in wanted:
            continue
        depth = 1 if quick else DEPTH
        if LATE:
            out += [(world, (offset, n, 0, "late"), name) for n in range(1, min(calls, depth) + 1)]
            continue
        for n in sorted(set(range(1, min(calls, depth) + 1)) | set([] if quick else [calls, (calls + 1) // 2])):
            for e in errors[name][:1] if quick else errors[name]:
                out.append((world, (offset, n, e, "once"), name))
        # Not EINTR: a signal that never ceases leaves nothing but to try again.
        lasting = [e for e in errors[name] if e != errno.EINTR]
        if calls > 1 and not quick and lasting:
            out.append((world, (offset, 1, lasting[0], "on"), name))
    print(f"{world}: {len(seen)} places in the program, {sum(seen.values())} calls, {len(out)} cases", flush=True)
    return out


def one(case):
    world, fault, name = case
    base, wrong, to = run(world, fault)
    label = f"{world}:{fault[0]:x}:{fault[1]}:{fault[2]}:{fault[3]}"
    if fault[3] == "late" and to and to["status"] != DONE:
        wrong.append("ends otherwise, for nothing but a call that took long")
    if wrong:
        err = open(base + "/err", errors="replace").read()
        return case, f"not ok {name} {errno.errorcode.get(fault[2], 'late')} {where(fault[0])} CASE={label} kept {base}\n    " + "\n    ".join(
            wrong + [f"status {to and to['status']}", err.strip()[-600:]]), to
    shutil.rmtree(base)
    return case, None, to


def main():
    quick = "--quick" in sys.argv
    wanted = [a for a in sys.argv[1:] if not a.startswith("-")]
    unknown = unclassified()
    if unknown:
        print("not ok functions that tests/faults/calls.inc and never.txt do not know:", *unknown)
    if os.environ.get("CASE"):
        world, offset, n, e, mode = os.environ["CASE"].split(":")
        todo = [(world, (int(offset, 16), int(n), int(e), mode), "")]
    else:
        todo = [c for w in os.environ.get("WORLDS", " ".join(WORLDS)).split() for c in cases(w, wanted, quick)]
    seed = int(os.environ.get("SEED", "0"))
    if os.environ.get("SAMPLE"):
        todo = random.Random(seed).sample(todo, min(len(todo), int(os.environ["SAMPLE"])))
    failed, met, ends = 0, 0, {}
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for case, report, to in pool.map(one, todo):
            if report:
                failed += 1
                print(report, flush=True)
            if to:
                met += to["failed"] > 0
                how = "went on" if to["status"] == DONE else "ended closed"
                ends[how] = ends.get(how, 0) + 1
    print(f"{'not ok' if failed or unknown or not met else 'ok'} faults: {len(todo)} cases, {met} met, "
          f"{', '.join(f'{n} {how}' for how, n in sorted(ends.items()))}, {failed} failed")
    return 1 if failed or unknown or not met else 0


if __name__ == "__main__":
    sys.exit(main())
