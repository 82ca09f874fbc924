#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A process on whose number another one acts all the while: usher's short hold of the number shows in none of its calls. The same natively.
. "$(dirname "$0")/lib.sh"
with() { # with WORK COUNT
	MODES=allow both "held $1" <<S
mkfifo fifo; "\$BIN/held" $*
S
}
rules tree.rules <<<'deny write /nowhere/** tree=/bin/nothing'
OPTIONS="-p $R" with fork 600
with path 400
with fifo 8
with exec 60
with terminal 40
MODES=allow both "callers that are killed meanwhile" <<'K'
"$BIN/held" killed 400
K
# A directory that is there by a rewrite only
mkdir -p "$T/real"
rules ghost.rules <<-R
	rewrite open $T/project/ghost -> $T/real
	rewrite stat $T/project/ghost -> $T/real
	default allow
R
fresh
same "a chdir that exists by a rewrite only" "chdir: done" "$(supervise "$R" "$BIN/held" chdir 300)"
same "which natively does not exist" "chdir: ENOENT" "$("$BIN/held" chdir 3)"
# As of a pipeline whose first program was done first. Signals are usher's to decide on where the floor has no scope for them.
for floor in "" --floor=off; do
	OPTIONS=$floor MODES=allow both "groups whose leader has ended $floor" <<'G'
set -m
exec 2>/dev/null # when bash says that a job is done is a matter of luck
begun() { last=$! p=$(jobs -p %%); while [ -e "/proc/$p" ]; do sleep 0.02; done; }
ended() { wait "$last"; echo "ended $?"; }
true | sleep 100 & begun
renice -n 5 -g "$p" >/dev/null; echo "renice $?"
ps -o ni= -p "$last" | tr -d ' '
kill %%; echo "kill $?"; ended
true | { sleep 100; echo not here; } & begun
kill -- "-$p"; echo "a subshell's $?"; ended
true | bash -c 'p=$(cut -d" " -f5 /proc/self/stat); while [ -e "/proc/$p" ]; do sleep 0.02; done; trap "echo got it" TERM; kill 0; echo "own group $?"' &
begun; ended
kill -- -4194000; echo "none $?"
G
	OPTIONS=$floor MODES=allow both "signals to oneself by PIDFD_SELF, and owners of a pipe $floor" <<'O'
python3 - <<'P'
import ctypes, fcntl, os, signal
libc = ctypes.CDLL(None, use_errno=True)
got = []
signal.signal(signal.SIGUSR1, lambda *_: got.append(1))
os.setpgid(0, 0)
for own in -10000, -10001:  # the thread, the process
    for flags in 0, 1, 2, 4:  # as it is, thread, process, group
        ok = libc.syscall(424, own, signal.SIGUSR1, None, ctypes.c_uint(flags)) == 0
        print(own, flags, "sent" if ok else os.strerror(ctypes.get_errno()), len(got))
for owner in -2**31, 0, os.getpid(), -os.getpid():
    try: print(owner == -2**31, fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, owner))
    except OSError as e: print(owner == -2**31, e.strerror)
P
O
done
MODES=allow both "numbers of those who have ended" <<'N'
"$BIN/held" none ended
N
# Callers that wait for a person, more of them than the kernel is left to look through
many='import os, signal, sys, time
children, nice = [], min(os.getpriority(os.PRIO_PROCESS, 0) + 1, 19)
for i in range(40):
    pid = os.fork()
    if pid == 0:
        os.open("q", os.O_RDONLY)
        os._exit(0)
    children.append(pid)
time.sleep(1)
failed = 0
for pid in children:
    try: os.setpriority(os.PRIO_PROCESS, pid, nice)
    except OSError as e: failed += 1; print(e)
    failed += os.getpriority(os.PRIO_PROCESS, pid) != nice
    os.kill(pid, signal.SIGKILL)
for pid in children: os.waitpid(pid, 0)
print(failed, "failed")'
rules ask.rules <<<$'ask read **/project/q\ndefault allow'
fresh
same "callers that wait for a person" "0 failed" "$(touch q; ASK=desk supervise "$R" python3 -c "$many")"
fresh
same "and natively" "0 failed" "$(mkfifo q; python3 -c "$many")"
# Names so long that no record holds them: what is told is what happened
deep='import os
level, differ, name = 0, 0, "\x01" * 250
while level < 60:
    try: os.mkdir(name)
    except OSError: break
    os.chdir(name)
    level += 1
for n in range(1, 251):
    try: os.mkdir(name[:n]); made = True
    except OSError: made = False
    differ += made != os.path.isdir(name[:n])
print("deep" if level > 20 else level, differ, "differ")'
fresh
same "names that no record holds" "deep 0 differ" "$(supervise allow python3 -c "$deep")"
fresh
same "and natively" "deep 0 differ" "$(python3 -c "$deep")"
# Who is to join a group that cannot be joined is looked at first, and has errors of its own.
MODES=allow both "groups that cannot be joined" <<'G'
exec /usr/bin/python3 -S -c '
import errno, os, signal
nobody = 4194302
def join(what, pid):
    try: os.setpgid(pid, nobody); print(what, "joined")
    except OSError as e: print(what, errno.errorcode[e.errno])
def child(*program):
    r, w = os.pipe(); pid = os.fork()
    if pid: os.close(w); os.read(r, 1); return pid
    if program: os.execv(program[0], program) # by which the pipe is closed
    os.close(w); signal.pause()
forked, runs = child(), child("/bin/sleep", "100")
for what in ("nobody", nobody - 1), ("a child", forked), ("one with a program of its own", runs), ("the parent", os.getppid()), ("itself", 0): join(*what)
for pid in forked, runs: os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)'
G
finish
