#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 82: the command stops itself, so that usher stops with it and neither measures nor decides. Where nobody would see that usher does not stop; at a
# terminal it stops as a job does, and the limits hold all the same. The controls: natively the command is stopped, and stays so.
PATH=/usr/bin:/bin:$PATH
command -v python3 >/dev/null || { echo "skip row 82: no python3"; exit 77; }
T=$(mktemp -d /tmp/usher-stop.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
chmod 755 "$T"
cp "$USHER" "$T/usher"
bad=0
# stop.py PLACE CONTINUE COMMAND...: starts it as a shell does its jobs and says what waitpid(2) told of it, one word each. PLACE: "none", no
# terminal; "job", in front of one; "leader", of a session of its own on one. CONTINUE: "go", a stopped one is let go on; "leave"; "once": that is enough.
cat >"$T/stop.py" <<'P'
import fcntl, os, signal, sys, termios, threading

place, then, command = sys.argv[1], sys.argv[2], sys.argv[3:]
signal.alarm(90)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)


def wait(pid):
    said = []
    while True:
        st = os.waitpid(pid, os.WUNTRACED)[1]
        if not os.WIFSTOPPED(st):
            return said + ["status%d" % os.waitstatus_to_exitcode(st)]
        said.append("stopped")
        if then == "once":
            os.killpg(pid, signal.SIGKILL)
        elif then == "go":
            os.killpg(pid, signal.SIGCONT)


def begin(tty):
    for s in signal.SIGTTOU, signal.SIGALRM:
        signal.signal(s, signal.SIG_DFL)
    for fd in range(3 if tty >= 0 else 0):
        os.dup2(tty, fd)
    os.execvp(command[0], command)


def terminal():
    ours, tty = os.openpty()
    threading.Thread(target=lambda: [None for _ in iter(lambda: os.read(ours, 4096), b"")], daemon=True).start()
    return tty


if place == "leader":
    tty = terminal()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(tty, termios.TIOCSCTTY, 0)
        begin(tty)
    print(*wait(pid))
    os._exit(0)
os.setsid()
tty = -1
if place == "job":
    tty = terminal()
    fcntl.ioctl(tty, termios.TIOCSCTTY, 0)
ready, go = os.pipe()
pid = os.fork()
if pid == 0:
    os.read(ready, 1)
    begin(tty)
os.setpgid(pid, pid)
if tty >= 0:
    os.tcsetpgrp(tty, pid)
os.write(go, b"x")
print(*wait(pid))
os._exit(0)
P
seen() { # USER PLACE CONTINUE COMMAND...: what was seen
	local as=() u=$1
	shift
	[ "$u" = "$(id -u)" ] || as=(setpriv "--reuid=$u" "--regid=$u" --clear-groups)
	HOME=$D "${as[@]}" python3 "$T/stop.py" "$@" 2>"$T/err" </dev/null
}
expect() { # NAME WANT GOT
	if [ "$2" = "$3" ]; then echo "ok row 82: $1"; else echo "not ok row 82: $1: $3, not $2: $(tail -n 2 "$T/err")"; bad=1; fi
}
watched() { # USER PLACE CONTINUE LIMIT SCRIPT [OPTION]...: under usher, which is what is started
	local u=$1 place=$2 then=$3 limit=$4 script=$5
	shift 5
	rm -rf "$D/rules" "$D/journal"
	printf 'default allow\n%s\n' "${limit:+limit $limit}" >"$D/rules"
	chown "$u" "$D/rules"
	seen "$u" "$place" "$then" "$T/usher" run "$@" -p "$D/rules" --journal "$D/journal" -- sh -c "$script"
}
names() { cat "$D"/journal/*.jsonl | grep -ao '"event":"limit","limit":"[a-z]*"'; }

# Lets the shell go on, once it is stopped.
friend='(while read -r _ _ state _ </proc/$$/stat && [ "$state" != T ]; do sleep 0.02; done; kill -CONT $$) &'
users=$(id -u)
[ "$users" != 0 ] || users="0 1000"
for u in $users; do
	D=$T/$u
	mkdir "$D" && chown "$u" "$D"
	for sig in TSTP TTIN TTOU STOP; do
		expect "control: SIG$sig stops without a terminal, uid $u" "stopped status-9" "$(seen "$u" none once sh -c "kill -$sig \$\$; exit 7")"
		expect "SIG$sig without a terminal, uid $u" status7 "$(watched "$u" none leave "" "$friend kill -$sig \$\$; exit 7")"
		expect "control: SIG$sig stops at a terminal, uid $u" "stopped status-9" "$(seen "$u" job once sh -c "kill -$sig \$\$; exit 7")"
		expect "SIG$sig at a terminal: the job stops and goes on, uid $u" "stopped status7" "$(watched "$u" job go "" "kill -$sig \$\$; exit 7")"
		expect "SIG$sig at a terminal, limit wall, uid $u" "stopped status124" "$(watched "$u" job leave "wall 700ms" "kill -$sig \$\$; sleep 60")"
		expect "SIG$sig, limit wall: the note, uid $u" '"event":"limit","limit":"wall"' "$(names)"
	done
	expect "the job stops and goes on, with a limit, uid $u" "stopped status7" "$(watched "$u" job go "wall 10m" "kill -TSTP \$\$; exit 7")"
	# One runs before the other stops: what is to be decided waits then, but a pipe is left to the kernel.
	spin="setsid sh -c 'echo; while :; do :; done' | { read -r _; kill -TSTP \$\$; sleep 60; }"
	expect "limit cpu, by who is not stopped, uid $u" "stopped status124" "$(watched "$u" job leave "cpu 700ms" "$spin")"
	expect "control: limit cpu that is not met, uid $u" "stopped status7" "$(watched "$u" job go "cpu 10m" 'kill -TSTP $$; exit 7')"
	expect "control: the kernel does not stop the leader of a session, uid $u" status7 "$(seen "$u" leader leave sh -c "kill -TSTP \$\$; exit 7")"
	expect "the leader of a session, uid $u" status7 "$(watched "$u" leader leave "" "kill -TSTP \$\$; exit 7")"
	if [ "$(watched "$u" none leave "" "exit 3" --isolate=pid)" = status3 ]; then
		expect "in a pid namespace: the job stops and goes on, uid $u" "stopped status7" "$(watched "$u" job go "" "kill -TSTP \$\$; exit 7" --isolate=pid)"
		expect "in a pid namespace: the same with a limit, uid $u" "stopped status7" "$(watched "$u" job go "wall 10m" "kill -TSTP \$\$; exit 7" --isolate=pid)"
		expect "in a pid namespace: limit wall, uid $u" "stopped status124" "$(watched "$u" job leave "wall 700ms" "kill -TSTP \$\$; sleep 60" --isolate=pid)"
		expect "in a pid namespace: limit cpu, uid $u" "stopped status124" "$(watched "$u" job leave "cpu 700ms" "$spin" --isolate=pid)"
	else
		echo "skip row 82: no pid namespace, uid $u"
	fi
done
exit $bad
