#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""forgotten.py [CALL...]: tries each call that usher mediates on something that the rules deny: natively (it works), under usher (it is
refused), and under a usher that forgets this one call, so that the kernel's floor stands alone. What the floor refuses then, and
what it cannot, is what forgotten.c says. TABLE=FILE gets it as a Markdown table."""
import os, re, shutil, socket, subprocess, sys, tempfile

USHER, BUILD = os.environ["USHER"], os.environ["BUILD"]
PROBE = BUILD + "/tests/faults/forgotten"
RULES = """
deny     stat    $PWD/hidden
allow    stat    /usr/** /lib/** /lib64/** /etc/** /proc/** /dev/**
deny     stat    $PWD/**
allow    read    /usr/** /lib/** /lib64/** /etc/** /proc/** /dev/**
allow    exec    %(probe)s
allow    connect tcp:127.0.0.1:1
allow    send    udp:127.0.0.1:1
default  deny
"""
# Calls that usher mediates not to refuse them but to know of them, or that take nothing that rules speak of.
OWN = {"umask": "the caller's own umask", "fork": "the caller's own child", "vfork": "the caller's own child",
       "rt_sigreturn": "the caller's own signal handler", "fchdir": "a directory the caller has open", "sched_getaffinity": "what every process may know", "getpeername": "the caller's own socket"}
OWN.update({c: "the caller's own credentials" for c in
            "setuid setgid setreuid setregid setgroups setresuid setresgid setfsuid setfsgid capset".split()})
IDS = {"root": [], "1000": ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "--inh-caps=-all"]}


class Things:
    """A directory of things that are denied, and servers that must not be reached."""

    def __init__(self, drop):
        self.base = tempfile.mkdtemp(prefix="usher-forgotten.", dir=os.environ.get("TEST_TMP"))
        self.work, self.home = self.base + "/work", self.base + "/home"
        os.makedirs(self.work + "/dir")
        os.mkdir(self.home)
        for name in ("file", "old", "hidden", "marked", "prog"):
            shutil.copy(PROBE if name == "prog" else "/etc/hostname", f"{self.work}/{name}")
        os.symlink("file", self.work + "/link")
        for name, key in (("marked", "user.forgotten"), ("file", "user.held")):
            try:
                os.setxattr(f"{self.work}/{name}", key, b"x")
            except OSError:
                pass
        shutil.copy(PROBE, self.home + "/forgotten")
        shutil.copy(USHER, self.home + "/usher")
        shutil.copy("/bin/true", self.work + "/prog")
        self.rules = self.home + "/rules"
        with open(os.open(self.rules, os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
            f.write(RULES % {"probe": self.home + "/forgotten"})
        self.servers = [socket.create_server(("127.0.0.1", 0))]
        for family, kind, at in ((socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)), (socket.AF_UNIX, socket.SOCK_STREAM, self.work + "/sock"),
                                 (socket.AF_UNIX, socket.SOCK_STREAM, "\0" + self.base)):
            s = socket.socket(family, kind)
            s.bind(at)
            if kind == socket.SOCK_STREAM:
                s.listen(5)
            self.servers.append(s)
        if drop:
            for where, dirs, files in os.walk(self.base):
                for n in dirs + files:
                    os.chown(os.path.join(where, n), 1000, 1000, follow_symlinks=False)
            os.chown(self.base, 1000, 1000)
        self.outside = subprocess.Popen(drop + ["sleep", "600"])
        self.queue = "/forgotten-" + os.path.basename(self.base)
        self.drop = drop

    def environment(self, number):
        env = dict(os.environ, PORT=str(self.servers[0].getsockname()[1]), UDP=str(self.servers[1].getsockname()[1]), ABSTRACT=self.base,
                   QUEUE=self.queue, OUTSIDE=str(self.outside.pid), HOME=self.home, XDG_STATE_HOME=self.home, TMPDIR=self.home)
        if number is not None:
            env["USHER_UNMEDIATED"] = str(number)
        return env

    def run(self, name, supervised, number=None):
        subprocess.run(self.drop + [self.home + "/forgotten", "queue"], env=self.environment(None))
        command = [self.home + "/forgotten", "try", name]
        if supervised:
            command = [self.home + "/usher", "run", "-p", self.rules, "--isolate=none", "--ask=deny", "--keep-fd=9", "--journal", self.home + "/j", "--"] + command
        done = subprocess.run(self.drop + ["sh", "-c", 'exec 9<file; exec "$@"', "sh"] + command, cwd=self.work, env=self.environment(number),
                              capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout.strip().split("\n")[-1] or done.stderr.strip()

    def close(self):
        self.outside.kill()
        self.outside.wait()
        subprocess.run([PROBE, "unqueue"], env=self.environment(None))
        for s in self.servers:
            s.close()
        shutil.rmtree(self.base)


def attempt(drop, *how):
    things = Things(drop)
    try:
        return things.run(*how)
    finally:
        things.close()


def mediated():
    out = subprocess.run([USHER, "doctor", "--calls"], capture_output=True, text=True, check=True).stdout
    section = out.split("### Mediated")[1].split("### ")[0]
    return [c for line in re.findall(r": ([a-z0-9_, ]+)\.$", section, re.M) for c in line.split(", ")]


def judge(name, number, why, drop):
    """Returns (verdict: ok, not ok or skip; text; what the floor answered or None)."""
    native, text = attempt(drop, name, False)
    if native != 0:
        return "skip", f"natively: {text}", None
    usual, text = attempt(drop, name, True)
    if usual != 1:
        return "not ok", f"under usher: status {usual}, {text}", None
    alone, answer = attempt(drop, name, True, number)
    if alone not in (0, 1):
        return "not ok", f"forgotten: status {alone}, {answer}", None
    if why == "floor":
        return ("ok", answer, answer) if alone == 1 else ("not ok", "the floor lets it pass", None)
    return ("ok", "nothing stands against it: " + why, "") if alone == 0 else ("not ok", f"the floor refuses it ({answer}); forgotten.c says it cannot", None)


def main():
    lines = subprocess.run([PROBE, "list"], capture_output=True, text=True, check=True).stdout.splitlines()
    attempts = [l.split(" ", 2) for l in lines]
    have = {int(n) for _, n, _ in attempts}
    names = {a[0] for a in attempts}
    failed, skipped, refused, table = 0, 0, 0, []
    for call in mediated():
        if call not in names and call not in OWN:
            failed += 1
            print(f"not ok {call} is mediated, and forgotten.c does not try it")
    users = ["root", "1000"] if os.getuid() == 0 else ["self"]
    for name, number, why in attempts:
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        answers = set()
        for user in users:
            verdict, text, answer = judge(name, int(number), why, IDS.get(user, []))
            failed += verdict == "not ok"
            skipped += verdict == "skip"
            print(f"{verdict} {name} as {user}: {text}", flush=True)
            if answer is not None:
                answers.add(answer)
        if answers:
            refused += answers != {""}
            table.append((name, "refused: " + ", ".join(sorted(answers - {""})) if answers != {""} else why))
    if os.environ.get("TABLE"):
        with open(os.environ["TABLE"], "w") as f:
            f.write("| call | when usher forgets it, the floor alone |\n| --- | --- |\n")
            f.writelines(f"| {n} | {t} |\n" for n, t in sorted(table, key=lambda r: (not r[1].startswith("refused"), r[0])))
            f.writelines(f"| {n} | nothing to refuse: {t} |\n" for n, t in sorted(OWN.items()))
    print(f"{'not ok' if failed else 'ok'} forgotten: {len(table)} calls, {refused} refused by the floor alone, {skipped} skipped, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
