#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 54: a terminal stops the whole process group of who uses it from the background (SIGTTOU), and asks nobody: a process of the tree joins the group of
# another job of the same session and uses the terminal. The control: natively that job stops. Groups of the tree's own, and the one that the
# command began in, can be joined as ever. As root each as root and as uid 1000.
PATH=/usr/bin:/bin:$PATH
command -v python3 >/dev/null || { echo "skip row 54: no python3"; exit 77; }
T=$(mktemp -d /tmp/usher-stopped.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
chmod 755 "$T"
cp "$USHER" "$T/usher"
bad=0
# A session on a terminal of its own: a job in the background, and the command in the foreground. Says what became of the job.
cat >"$T/session.py" <<'P'
import os, pty, signal, sys, time
def job(argv, foreground):
    ready, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        if foreground:
            os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.close(told)
        os.execvp(argv[0], argv)
    os.close(told)
    os.read(ready, 1)
    os.close(ready)
    if os.getpgid(pid) != pid:
        os.setpgid(pid, pid)
    return pid
pid, master = pty.fork()
if pid == 0:
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    victim = job(["sleep", "60"], False)
    while os.getpgid(victim) != victim:
        time.sleep(0.01)
    stopped = lambda: open("/proc/%d/stat" % victim).read().split()[2] == "T"
    joined = os.waitpid(job(sys.argv[1:] + [str(victim)], True), 0)[1] != 0
    for _ in range(1000):  # it has the signal, but may not have come to it
        if not joined or stopped():
            break
        time.sleep(0.01)
    print("job", "stopped" if stopped() else "runs", flush=True)
    os.kill(victim, signal.SIGKILL)
    os._exit(0)
try:
    while True:
        piece = os.read(master, 4096)
        if not piece:
            break
        sys.stdout.buffer.write(piece)
except OSError:
    pass
P
cat >"$T/attack.py" <<'P'
import os, signal, sys, termios, time
def child(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except OSError as e:
            print("refused", e.errno, flush=True)
        os._exit(0)
    return pid
def join(group):
    os.setpgid(0, group)
    termios.tcsetattr(0, termios.TCSANOW, termios.tcgetattr(0))  # stops here where it has joined
def pipeline():
    first = child(signal.pause)
    os.setpgid(first, first)
    second = child(signal.pause)
    os.setpgid(second, first)
    os.kill(first, signal.SIGKILL)  # of a group whose leader has ended others are left
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    third = child(signal.pause)
    os.setpgid(third, first)
    os.setpgid(third, os.getpgid(0))
    print("own groups:", os.getpgid(second) == first, os.getpgid(third) == os.getpgid(0), flush=True)
    for pid in first, second, third:
        os.kill(pid, signal.SIGKILL)
pipeline()
pid = child(lambda: join(int(sys.argv[1])))
joined = os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1])
print("joined" if joined else "went on", flush=True)
if joined:
    os.kill(pid, signal.SIGKILL)
sys.exit(joined)
P
one() { # USER, what stands in front of the attack
	local drop= u=$1 dir
	shift
	[ "$u" = "$(id -u)" ] || drop="setpriv --reuid=$u --regid=$u --clear-groups"
	dir=$(mktemp -d "$T/w.XXXXXX")
	[ -z "$drop" ] || chown "$u:$u" "$dir"
	(
		cd "$dir" || exit 1
		printf 'default allow\n' >all.rules
		[ -z "$drop" ] || chown "$u:$u" all.rules
		chmod 600 all.rules
		HOME=$dir timeout -k 5 30 $drop python3 "$T/session.py" "$@" python3 "$T/attack.py" </dev/null 2>&1 | tr -d '\r' | tr '\n' ' '
	)
}
users=$(id -u)
[ "$users" != 0 ] || users="0 1000"
own="own groups: True True"
for u in $users; do
	out=$(one "$u")
	if [ "$out" != "$own joined job stopped " ]; then
		echo "skip row 54: a job that a terminal stops, uid $u: $out natively"
		continue
	fi
	echo "ok row 54: control: natively a job of the same session stops, uid $u"
	for how in "" --floor=off; do
		# shellcheck disable=SC2086
		out=$(one "$u" "$T/usher" run $how --ask=deny -p all.rules --journal journal --)
		if [ "$out" = "$own refused 1 went on job runs " ]; then echo "ok row 54: a job that a terminal stops $how, uid $u"; else echo "not ok row 54: a job that a terminal stops $how, uid $u: $out"; bad=1; fi
	done
done
exit $bad
