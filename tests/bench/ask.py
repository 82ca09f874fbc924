#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Questions: how long one takes to the desk and back, what a thousand that wait cost, and the relayed terminal.

Prints a table; nothing is asserted. Needs USHER in the environment."""
import glob, json, os, pty, select, shutil, socket, statistics, subprocess, sys, tempfile, time

USHER = os.environ.get("USHER", "")
QUICK = "--quick" in sys.argv
RULES = "default allow\nask read **/secret* timeout=300s\n"
ONCE = """
import sys, time
for i in range(int(sys.argv[1])):
    t = time.monotonic(); open("secret%d" % i).close(); print(t, time.monotonic(), flush=True)
"""
MANY = """
import os, sys, threading, time
n = int(sys.argv[1])
rounds = int(sys.argv[2])
def others():
    took = []
    for _ in range(rounds):
        t = time.monotonic()
        for _ in range(1000): open("plain").close()
        took.append((time.monotonic() - t) * 1e3)
    return took
def say(): print(*others(), flush=True)
others()
say()
def wait(first):
    threads = [threading.Thread(target=lambda i=i: open("secret%d" % i).close()) for i in range(first, first + 125)]
    for t in threads: t.start()
    for t in threads: t.join()
def fork(first):
    pid = os.fork()
    if pid == 0:
        wait(first)
        os._exit(0)
    return pid
pids = [fork(first) for first in range(0, n, 125)] # a process may have 256
sys.stdin.readline()
say()
sys.stdin.readline()
for pid in pids: os.waitpid(pid, 0)
say()
"""

class Desk:
    """The protocol of usher-desk(5), as far as this needs it."""
    def __init__(self, where):
        path = None
        for _ in range(1000):
            path = next(iter(glob.glob(f"{where}/usher/*.sock")), None)
            if path: break
            time.sleep(0.01)
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(path)
        self.lines = self.sock.makefile("r")
        self.send(do="hello", token=open(path[:-4] + "token").read().strip())
        self.pid = json.loads(self.lines.readline())["pid"]
        self.send(do="watch")
    def send(self, **what):
        self.sock.sendall((json.dumps(what) + "\n").encode())
    def questions(self):
        """Every question once, with the time it came."""
        for line in self.lines:
            o, now = json.loads(line), time.monotonic()
            for q in o.get("questions", []): yield q, now
            if o.get("event") == "question": yield o["question"], now

def session(d, args, **kw):
    env = dict(os.environ, XDG_RUNTIME_DIR=d, XDG_CONFIG_HOME=d)
    command = [USHER, "run", "-p", f"{d}/ask.rules", "--ask=desk", "--journal", f"{d}/j{time.monotonic_ns()}", "--", sys.executable, "-c", *args]
    return subprocess.Popen(command, cwd=d, env=env, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True, **kw)

def ms(values):
    v = sorted(values)
    return f"{statistics.median(v) * 1e3:.2f} ms (worst {v[-1] * 1e3:.2f})"

def latency(d):
    n = 20 if QUICK else 100
    p = session(d, [ONCE, str(n)])
    came, sent = [], []
    desk = Desk(d)
    for q, now in desk.questions():
        came.append(now)
        sent.append(time.monotonic())
        desk.send(do="answer", id=q["id"], answer="allow")
        if len(came) == n: break
    times = [[float(x) for x in line.split()] for line in p.stdout]
    p.wait()
    yield "call to the desk", ms([c - t[0] for c, t in zip(came, times)]), "under 20 ms"
    yield "answer to the program", ms([t[1] - s for s, t in zip(sent, times)]), "under 10 ms"

def cpu(pid):
    f = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(f[11]) + int(f[12])) / os.sysconf("SC_CLK_TCK")

def memory(pid, kind):
    return next(int(l.split()[1]) for l in open(f"/proc/{pid}/status") if l.startswith(kind))

def us(p):
    """One measurement of the program: microseconds for a call, in each round."""
    return sorted(float(x) for x in p.stdout.readline().split())

def spread(v):
    return f"{statistics.median(v):.1f} us (rounds {v[0]:.1f} to {v[-1]:.1f})"

def waiting(d):
    p = session(d, [MANY, "1000", "7" if QUICK else "21"])
    desk, ids = Desk(d), []
    for q, _ in desk.questions():
        ids.append(q["id"])
        if len(ids) == 100: few = memory(desk.pid, "RssAnon")
        if len(ids) == 1000: break
    grown = (memory(desk.pid, "RssAnon") - few) / 900
    before, t = cpu(desk.pid), time.monotonic()
    time.sleep(3)
    busy = (cpu(desk.pid) - before) / (time.monotonic() - t)
    rss = memory(desk.pid, "VmRSS") / 1024
    p.stdin.write("\n"); p.stdin.flush()
    before, beside = us(p), us(p)
    p.stdin.write("\n"); p.stdin.flush()
    for i in ids: desk.send(do="answer", id=i, answer="allow")
    after = us(p)
    p.wait()
    yield "another call, before any question", spread(before), ""
    yield "another call, beside 1000 that wait", spread(beside), "the same"
    yield "another call, when they are answered", spread(after), ""
    yield "usher's memory, 1000 waiting", f"{rss:.1f} MiB", "under 32 MiB"
    yield "usher's own memory, each that waits", f"{grown:.1f} KiB", "under 1 KiB"
    yield "usher's processor time, 1000 waiting", f"{busy * 100:.1f} %", ""

def on_pty(cmd, d, feed):
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(d)
        os.environ["XDG_RUNTIME_DIR"] = d
        os.execvp(cmd[0], cmd)
    try:
        return feed(fd)
    finally:
        os.close(fd)
        os.waitpid(pid, 0)

def drain(fd):
    t, n = None, 0
    while True:
        try: got = os.read(fd, 65536)
        except OSError: break
        if not got: break
        t = t or time.monotonic()
        n += len(got)
    return n / (time.monotonic() - t) / 1e6

def echo(fd):
    said = b""
    while b"mark" not in said: said += os.read(fd, 65536)
    while select.select([fd], [], [], 1)[0]: os.read(fd, 65536)
    took = []
    for _ in range(50):
        t = time.monotonic()
        os.write(fd, b"x")
        os.read(fd, 100)
        took.append(time.monotonic() - t)
        time.sleep(0.01)
    os.write(fd, b"\n\x04")
    return took

def terminal(d):
    under = lambda *c: [USHER, "run", "-p", f"{d}/ask.rules", "--journal", f"{d}/j{time.monotonic_ns()}", "--", *c]
    with open(f"{d}/big", "w") as f:
        f.write(("x" * 78 + "\n") * (100000 if QUICK else 400000))
    if shutil.which("script"):
        ours, theirs = [], []
        for _ in range(5):
            theirs.append(on_pty(["script", "-qc", "cat big", "/dev/null"], d, drain))
            ours.append(on_pty(under("cat", "big"), d, drain))
        a, b, ratio = statistics.median(ours), statistics.median(theirs), sorted(x / y for x, y in zip(ours, theirs))
        yield "relayed output", f"{a:.0f} MB/s, script -q {b:.0f} MB/s: {ratio[2]:.2f} ({ratio[0]:.2f} to {ratio[4]:.2f})", "at least 0.9"
    yield "keystroke echo", ms(on_pty(under("cat"), d, echo)), "within 5 ms"

def main():
    with tempfile.TemporaryDirectory() as d:
        open(f"{d}/ask.rules", "w").write(RULES)
        os.chmod(f"{d}/ask.rules", 0o600)
        for i in range(1000): open(f"{d}/secret{i}", "w").close()
        open(f"{d}/plain", "w").close()
        for part in (latency, waiting, terminal):
            for name, figure, goal in part(d):
                print(f"{name:44} {figure:44} {goal}", flush=True)

main()
