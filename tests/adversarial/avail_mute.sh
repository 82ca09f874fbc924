#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 83: the command keeps usher from saying anything on the standard error that they share: its pipe is full and nobody reads, or the terminal's
# output was stopped. The controls: natively a program that says something waits for ever. usher ends the tree at its limit, seals its journal and ends.
PATH=/usr/bin:/bin:$PATH
command -v python3 >/dev/null || { echo "skip row 83: no python3"; exit 77; }
T=$(mktemp -d /tmp/usher-mute.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
chmod 755 "$T"
cp "$USHER" "$T/usher"
bad=0
# What shuts usher up: all that the pipe takes, or a stopped terminal. Then says what it does next.
cat >"$T/mute.py" <<'P'
import os, sys, termios

if os.isatty(2):
    termios.tcflow(2, termios.TCOOFF)
else:
    os.set_blocking(2, False)
    for size in 4096, 1:
        try:
            while True:
                os.write(2, b"." * size)
        except BlockingIOError:
            pass
    os.set_blocking(2, True)
os.execvp(sys.argv[1], sys.argv[1:])
P
# started.py KIND WANT COMMAND...: with a pipe or a terminal that nobody reads as its standard error. WANT "stuck": says so once it waits in a write of it,
# and ends it; "end": says its status.
cat >"$T/started.py" <<'P'
import fcntl, os, signal, sys, termios, time

kind, want, command = sys.argv[1], sys.argv[2], sys.argv[3:]
ours, theirs = os.openpty() if kind == "terminal" else os.pipe()
signal.alarm(90)
pid = os.fork()
if pid == 0:
    os.setsid()
    if kind == "terminal":
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
        os.dup2(theirs, 0)
        os.dup2(theirs, 1)
    os.dup2(theirs, 2)
    os.closerange(3, 100)
    os.execvp(command[0], command)
while want == "stuck":
    now = open("/proc/%d/syscall" % pid).read().split()
    if now[:1] in (["1"], ["64"]) and now[1] in ("0x1", "0x2"):  # write(2)
        print("stuck")
        os.kill(pid, signal.SIGKILL)
        break
    if os.waitpid(pid, os.WNOHANG)[0]:
        print("ended")
        break
    time.sleep(0.02)
if want == "end":
    print("status%d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
P
expect() { # NAME WANT GOT
	if [ "$2" = "$3" ]; then echo "ok row 83: $1"; else echo "not ok row 83: $1: $3, not $2: $(tail -n 2 "$T/err")"; bad=1; fi
}
started() { # USER ARGUMENT...
	local as=() u=$1
	shift
	[ "$u" = "$(id -u)" ] || as=(setpriv "--reuid=$u" "--regid=$u" --clear-groups)
	HOME=$D "${as[@]}" python3 "$T/started.py" "$@" 2>"$T/err" </dev/null
}
watched() { # USER KIND RULES SCRIPT [OPTION]...
	local u=$1 kind=$2 rules=$3 script=$4
	shift 4
	rm -rf "$D/rules" "$D/journal"
	printf '%b\n' "$rules" >"$D/rules"
	chown "$u" "$D/rules"
	started "$u" "$kind" end "$T/usher" run "$@" -p "$D/rules" --journal "$D/journal" -- python3 "$T/mute.py" sh -c "$script"
}
sealed() { "$T/usher" verify "$D/journal" >"$T/verify" 2>&1 && grep -aq '"type":"end"' "$D"/journal/*.jsonl && echo sealed; }

users=$(id -u)
[ "$users" != 0 ] || users="0 1000"
for u in $users; do
	D=$T/$u
	mkdir "$D" && chown "$u" "$D"
	for kind in pipe terminal; do
		expect "control: who speaks waits for ever, $kind, uid $u" stuck "$(started "$u" "$kind" stuck python3 "$T/mute.py" sh -c 'echo word >&2')"
		expect "limit wall, $kind, uid $u" status124 "$(watched "$u" "$kind" 'default allow\nlimit wall 2s' 'sleep 60' --ask=deny)"
		expect "limit wall, the journal, $kind, uid $u" sealed "$(sealed)"
		# What is said at the end: rules that would have answered.
		expect "the end, $kind, uid $u" status5 "$(watched "$u" "$kind" 'default allow\nask read /etc/hostname' 'exec 2>/dev/null; (read -r x </etc/hostname); exit 5' --ask=deny)"
		expect "the end, the journal, $kind, uid $u" sealed "$(sealed)"
	done
	# The command's own terminal, whose output it stops, is not usher's.
	expect "a terminal of the command's own, uid $u" status124 "$(watched "$u" terminal 'default allow\nask read /nowhere\nlimit wall 2s' 'sleep 60')"
	expect "a terminal of the command's own, the journal, uid $u" sealed "$(sealed)"
done
exit $bad
