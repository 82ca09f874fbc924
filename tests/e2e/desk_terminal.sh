#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The desk on the whole screen has the terminal for itself, and gives it back whichever way it is left or stopped.
. "$(dirname "$0")/lib.sh"
need python3
ulimit -c 0
export XDG_RUNTIME_DIR=$T/run
mkdir -p -m 700 "$XDG_RUNTIME_DIR"
python3 - "$USHER" <<'P'
import fcntl, os, pty, select, signal, struct, sys, time

def exclusive(tty):
    return struct.unpack("i", fcntl.ioctl(tty, 0x80045440, struct.pack("i", 0)))[0]  # TIOCGEXCL

class Desk:
    """usher desk in the foreground of a terminal of its own, under a stand-in for its shell: this process."""
    def __init__(self, term="xterm"):
        self.master, self.tty = pty.openpty()
        os.set_inheritable(self.tty, True)
        self.seen = b""
        # A leader of the session in between, so that the desk's group is no orphan: those are not stopped by a key.
        r, w = os.pipe()
        self.leader = os.fork()
        if self.leader == 0:
            os.setsid()
            fcntl.ioctl(self.tty, 0x540E, 0)  # TIOCSCTTY
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            child = os.fork()
            if child == 0:
                os.setpgid(0, 0)
                os.tcsetpgrp(self.tty, os.getpid())
                for s in (signal.SIGTTOU, signal.SIGHUP): signal.signal(s, signal.SIG_DFL)
                for to in range(3): os.dup2(self.tty, to)
                os.environ["TERM"] = term
                os.execv(sys.argv[1], ["usher", "desk"])
            os.write(w, struct.pack("i", child))
            while True:
                _, status = os.waitpid(child, os.WUNTRACED)
                os.write(w, struct.pack("i", status))
                if not os.WIFSTOPPED(status): os._exit(0)
        self.reports = r
        self.pid = struct.unpack("i", os.read(r, 4))[0]
    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            self.seen += os.read(self.master, 65536)
    def drawn(self, text):
        end = time.monotonic() + 20
        while text not in self.seen and time.monotonic() < end: self.read(0.1)
        return text in self.seen
    def status(self):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            self.read(0)  # what it writes while it leaves must go somewhere
            if select.select([self.reports], [], [], 0.05)[0]:
                return struct.unpack("i", os.read(self.reports, 4))[0]
        return None
    def close(self):
        try: os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError: pass
        os.waitpid(self.leader, 0)
        os.close(self.master); os.close(self.tty); os.close(self.reports)

def say(good, name, *more):
    print("ok " + name if good else "not ok " + name)
    if not good: print("   ", *more)

def word(status):
    if status is None: return "still there"
    if os.WIFSTOPPED(status): return "stopped"
    return "signal %d" % os.WTERMSIG(status) if os.WIFSIGNALED(status) else "exit %d" % os.WEXITSTATUS(status)

WAYS = [("q", b"q", 0, "exit 0"), ("Ctrl-C", b"\x03", 0, "signal 2"), ("Ctrl-\\", b"\x1c", 0, "signal 3"),
        ("SIGTERM", b"", signal.SIGTERM, "signal 15"), ("SIGHUP", b"", signal.SIGHUP, "signal 1"), ("Ctrl-Z", b"\x1a", 0, "stopped")]
for name, key, sig, want in WAYS:
    d = Desk()
    say(d.drawn(b"usher desk:") and exclusive(d.tty) == 1, name + ": before, the terminal is the desk's alone", d.seen[-200:])
    if key: os.write(d.master, key)
    if sig: os.kill(d.pid, sig)
    got = word(d.status())
    say(got == want, name + " does what it does to any program", got)
    say(exclusive(d.tty) == 0, name + ": afterwards the terminal is everybody's")
    if got == "stopped":
        d.seen = b""
        os.kill(d.pid, signal.SIGCONT)
        say(d.drawn(b"usher desk:"), "continued, it is drawn again", d.seen[-200:])
        end = time.monotonic() + 20
        while exclusive(d.tty) == 0 and time.monotonic() < end: time.sleep(0.02)
        say(exclusive(d.tty) == 1, "and has the terminal for itself")
        os.write(d.master, b"q")
        say(word(d.status()) == "exit 0" and exclusive(d.tty) == 0, "until it is left")
    d.close()

# A terminal without a whole screen gets no half of one.
for term in "dumb", "", "no such terminal":
    d = Desk(term)
    got = word(d.status())
    d.read(0)
    say(got == "exit 125", "TERM=%s is refused" % term, got)
    say(b"cursor" in d.seen and b"usher desk list" in d.seen and b"questions" not in d.seen, "with what does without", d.seen[-300:])
    d.close()
P
[ $? = 0 ] || not_ok "the terminals were driven"
finish
