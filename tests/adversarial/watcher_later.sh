#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 56: the command has ended and its tree has not (--wait), and a process outside gets the command's number. The tree may not look into it or change
# it, and usher passes no signal on to it. Control: natively what the command left behind does. Nor does a key of the terminal reach it, where it has the
# number of the group that the command had put in front there, and that has ended: natively the kernel knows the group itself.
PATH=/usr/sbin:/sbin:/usr/bin:/bin:$PATH
for c in python3 prlimit setsid; do command -v $c >/dev/null || { echo "skip row 56: the command's number used anew: no $c"; exit 77; }; done
[ "$(id -u)" = 0 ] || { echo "skip row 56: the command's number used anew: needs root, to choose a number"; exit 77; }
T=$(mktemp -d /tmp/usher-later.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1
echo 'default allow' >"$T/allow.rules"
# The parts of others that are asked for; "own" is what shows that the tree reaches its own.
cat >"$T/left.sh" <<'P'
try() { prlimit --pid "$1" --nofile=77:77 2>/dev/null && echo "$2 limited"; grep -qz . "/proc/$1/environ" 2>/dev/null && echo "$2 read"; }
setsid sleep 60 &
own=$!
command=$$
(
	while [ ! -e go ]; do sleep 0.02; done
	try $own own
	try $command outside
	kill $own
	: >done
	while [ ! -e over ]; do sleep 0.02; done
) >seen 2>/dev/null &
echo $command >number.new
mv number.new number
P
cat >"$T/outside.py" <<'P'
import ctypes, os, signal, struct, sys, time
# outside.py NUMBER [group]: a process with that number, leader of a group if so, until the file "over" is there; says how it ended. Nothing, when somebody else has the number.
libc = ctypes.CDLL(None, use_errno=True)
number = (ctypes.c_int * 1)(int(sys.argv[1]))
args = struct.pack("=11Q", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, ctypes.addressof(number), 1, 0)
def until(name):
    end = time.monotonic() + 20
    while not os.path.exists(name) and time.monotonic() < end:
        time.sleep(0.02)
for _ in range(100):
    pid = libc.syscall(435, args, len(args))  # clone3
    if pid >= 0:
        break
    time.sleep(0.02)  # the command has not been collected yet
if pid == 0:
    if len(sys.argv) > 2:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    open("go", "w").close()
    until("over")
    os._exit(0)
if pid > 0:
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
P
await() { local i; for ((i = 0; i < 1000; i++)); do [ -e "$1" ] && return; sleep 0.02; done; }
# What the tree of COMMAND... reached, and how the process with its number ended. SIG, if any, is sent to COMMAND's own process meanwhile.
attack() { # SIG COMMAND...
	local sig=$1 how
	shift
	rm -f number go over done seen ended
	"$@" sh "$T/left.sh" >"$T/out" 2>&1 &
	local pid=$!
	await number
	python3 "$T/outside.py" "$(cat number)" >ended &
	how=$!
	await done
	if [ -n "$sig" ]; then kill "-$sig" $pid; sleep 0.3; fi
	: >over
	wait $how
	wait $pid
	echo $(cat seen ended)
}
bad=0
native=$(attack '')
if [ "$native" = "own limited own read outside limited outside read 0" ]; then echo "ok row 56: natively it reaches the process outside (the control)"; else
	echo "skip row 56: the command's number used anew: $native"
	exit 77
fi
expect() { # NAME WANT GOT
	if [ "$2" = "$3" ]; then echo "ok row 56: $1"; else
		echo "not ok row 56: $1: $3"
		bad=1
	fi
}
later() { attack "$1" "$USHER" run -p "$T/allow.rules" --ask=deny --wait --journal "$T/j$1" --; }
expect "a process outside with the number of the command that has ended is outside" "own limited own read 0" "$(later '')"
expect "and gets no signal that was for the command" "own limited own read 0" "$(later USR1)"
expect "nor one that ends what the command left behind" "own limited own read 0" "$(later TERM)"
# group.py ended|lives: puts a group in front, of which SIGINT makes the file "hit".
cat >"$T/group.py" <<'P'
import os, signal, sys, time
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
r, w = os.pipe()
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, lambda *_: (open("hit", "w").close(), os._exit(0)))
    os.write(w, b"x")
    while True:
        signal.pause()
os.read(r, 1)
os.tcsetpgrp(0, child)
if sys.argv[1] == "ended":
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
with open("number.new", "w") as f:
    f.write(str(child))
os.rename("number.new", "number")
end = time.monotonic() + 20
while not os.path.exists("over") and time.monotonic() < end:
    time.sleep(0.02)
P
# key.py ended|lives COMMAND...: Ctrl-C on COMMAND's terminal. Its output goes to another program, to which the keys may belong: usher is told as a process.
cat >"$T/key.py" <<'P'
import os, pty, shlex, subprocess, sys, threading, time
what, command = sys.argv[1], shlex.join(sys.argv[2:] + ["python3", "group.py", sys.argv[1]])
def until(name, most=20):
    end = time.monotonic() + most
    while not os.path.exists(name) and time.monotonic() < end:
        time.sleep(0.02)
pid, tty = pty.fork()
if pid == 0:
    os.execvp("sh", ["sh", "-c", "trap : INT; " + command + " | (trap '' INT; cat)"])
def hear():
    try:
        while os.read(tty, 4096):
            pass
    except OSError:
        pass
threading.Thread(target=hear, daemon=True).start()
until("number")
victim = None
if what == "ended":
    victim = subprocess.Popen(["python3", "outside.py", open("number").read(), "group"], stdout=subprocess.PIPE)
    until("go")
os.write(tty, b"\x03")
until("hit", 10 if what == "lives" else 1)
open("over", "w").close()
print("hit" if os.path.exists("hit") else "not hit", victim.communicate()[0].decode().strip() if victim else "")
os.waitpid(pid, 0)
P
key() { # WHAT COMMAND...
	rm -f number go over hit
	echo $(python3 "$T/key.py" "$@")
}
echo 'ask exec /nothing' >>"$T/allow.rules"
asks() { key "$1" "$USHER" run -p "$T/allow.rules" --ask=tty --journal "$T/jkey$1" --; }
expect "a key reaches the group in front (the control)" "hit hit" "$(key lives) $(asks lives)"
expect "a key does not reach who has its number when it has ended" "not hit 0 not hit 0" "$(key ended) $(asks ended)"
exit $bad
