#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Debuggers that start what they debug, and tracers of trees: as natively, and no way round the rules.
# waits
. "$(dirname "$0")/lib.sh"

need gcc
gdb=; strace=
command -v gdb >/dev/null && [ "$(gdb -q -batch -nx -ex run /bin/true 2>/dev/null | grep -c 'exited normally')" = 1 ] && gdb=1
command -v strace >/dev/null && strace -o /dev/null /bin/true 2>/dev/null && strace=1
[ -n "$gdb$strace" ] || skip_all "neither gdb nor strace can start a program here"
mkdir -p "$T/bin"
cat >"$T/prog.c" <<'C'
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int twice(int n) { return 2 * n; }
int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	printf("%d %s\n", twice(argc), argc > 1 ? argv[1] : "-");
	if (argc > 2 && !strcmp(argv[1], "exec"))
		execv(argv[2], argv + 2);
	return 3;
}
C
gcc -g -O0 -o "$T/bin/prog" "$T/prog.c" || skip_all "gcc makes no program"
cat >"$T/threads.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *rest(void *arg) { pause(); return arg; }
int main(void)
{
	pthread_t t;
	char *argv[] = { "true", NULL };
	pthread_create(&t, NULL, rest, NULL);
	execv("/bin/true", argv);
	perror("exec");
	_exit(9);
}
C
gcc -pthread -o "$T/bin/threads" "$T/threads.c" || skip_all "gcc makes no program with threads"
export PROG=$T/bin/prog
MODES="reads allow agent"
# Numbers of processes and addresses differ.
export PLAIN='sed -E -e s/\(process\ [0-9]+\)/(process)/ -e s/0x[0-9a-f]+/0x/g -e /libthread_db/d'
export GDB='gdb -q -batch -nx -iex "set debuginfod enabled off"'

if [ -n "$gdb" ]; then
	both "gdb starts a program and stops at a breakpoint" <<'E'
eval "$GDB" -ex "'break twice'" -ex run -ex bt -ex "'print n'" -ex finish -ex c --args "$PROG" word 2>err | $PLAIN; rm -f err
E
	both "gdb without a shell, twice" <<'E'
eval "$GDB" -iex "'set startup-with-shell off'" -ex run -ex run --args "$PROG" word 2>err | $PLAIN; rm -f err
E
	both "gdb opens the memory of what it debugs" <<'E'
eval "$GDB" -ex "'break twice'" -ex run -ex "'print n = 7'" -ex c --args "$PROG" word >out 2>err; grep -c '^14 word' out; grep -c '/mem file failed' err; rm -f out err
E
	both "gdb over an exec of the program" <<'E'
eval "$GDB" -ex "'catch exec'" -ex run -ex c --args "$PROG" exec /bin/echo gone on 2>err | grep -v "Reading\|symbols" | $PLAIN; rm -f err
E
	both "gdb follows a child" <<'E'
eval "$GDB" -ex "'set follow-fork-mode child'" -ex "'set detach-on-fork off'" -ex "'catch exec'" -ex run -ex c --args /bin/sh -c "'$PROG child; true'" 2>err | grep -a '^4 child'; rm -f err
E
	rules no.rules <<R
deny exec $T/bin/threads
default allow
R
	supervise "$R" bash -c "eval \"\$GDB\" -ex run $T/bin/threads" >"$T/out" 2>&1
	check "what may not run does not run under gdb" grep -q 'Permission denied' "$T/out"
	rules other.rules <<R
rewrite exec $T/bin/prog -> /bin/echo
default allow
R
	supervise "$R" bash -c "eval \"\$GDB\" -ex run $T/bin/prog" >"$T/out" 2>&1
	check "another program in its place: refused, and why" grep -q 'leads it to another program' "$T/out"
	check "the journal says it, too" grep -q '"unverified":"a rule leads it' "$JOURNAL"/journal-*.jsonl
	rules ask.rules <<R
ask exec $T/bin/prog
default allow
R
	ASK="exec:$T/etc/yes" supervise "$R" bash -c "eval \"\$GDB\" -ex run $T/bin/prog" >"$T/out" 2>&1
	check "who is asked may allow it" grep -q '^2 -' "$T/out"
else skip gdb "it cannot start a program here"; fi

if [ -n "$strace" ]; then
	both "strace of one program" 3 <<'E'
strace -o trace "$PROG" word; rc=$?
grep -c '^execve("[^"]*", .* = 0$' trace; tail -n 1 trace; rm trace; exit $rc
E
	both "strace -f of a shell" <<'E'
strace -f -o trace -e trace=execve,exit_group sh -c 'ls /; "$PROG"; true'
sed -E 's/^[0-9]+ +//; s/0x[0-9a-f]+ .*\*\//env/; s/, env\)/)/; /SIGCHLD/d' trace | sort; rm trace
E
	both "strace -f of many at once" <<'E'
many=40
[ -z "${QUICK:-}" ] || many=16
printf 'all: %s\n' "$(seq -f 'o%g' -s ' ' $many)" >Makefile
printf 'o%%:\n\t@sh -c "/bin/true; /bin/true; :"; echo $* >$@\n' >>Makefile
strace -f -o trace -e trace=execve make -s -j4; grep -c ' = 0$' trace; grep -c 'exited with 0' trace; rm trace
E
	both "strace that lets go, and one behind its program" 3 <<'E'
strace -D -o /dev/null "$PROG" word || true
strace -o /dev/null true; exec strace -qq -o /dev/null "$PROG" word
E
	both "strace, then what is started by name, along the path" 127 <<'E'
PATH=/nowhere:/bin:/usr/bin strace -f -qq -o /dev/null sh -c 'true && nosuchprogram'
E
	both "an exec that fails in the kernel" 126 <<'E'
cp "$PROG" busy; exec 5>>busy
strace -f -qq -o /dev/null sh -c 'exec ./busy' 2>err; rc=$?; grep -o 'Text file busy' err; rm err; exit $rc
E
	supervise allow strace -f -o /dev/null "$T/bin/threads" >"$T/out" 2>"$T/err"
	same "with several threads it is refused" 9 $?
	check "and the terminal says why" grep -q 'has several threads' "$T/err"
	# Who waits for usher stops when strace comes and when it goes, and waits on.
	both "strace of one that waits, for a moment" <<'E'
mkfifo p; (read -r x <p; echo "got $x") & pid=$!; sleep 0.5
for n in 1 2 3; do timeout -s INT -k 5 0.5 strace -qq -e trace=open,openat -o trace$n -p $pid 2>err; echo $?; done
echo word >p; wait; rm -f p trace? err
E
	both "strace of one that waits, to its end" <<'E'
mkfifo p; (read -r x <p; echo "got $x") & pid=$!; sleep 0.5
strace -qq -e trace=open,openat,exit_group -o trace -p $pid 2>err &
until grep -q "TracerPid:.[1-9]" /proc/$pid/status; do sleep 0.1; done; sleep 1; echo word >p; wait; cat trace; rm -f p trace err
E
	# A process that strace looks at stops as a whole, though some of its threads wait, and goes on; its parent is told.
	cat >"$T/etc/stops.py" <<'P'
import os, signal, subprocess, threading, time
os.mkfifo("p")
pid = os.fork()
if not pid:
    wait = lambda: os.close(os.open("p", os.O_RDONLY))
    threads = [threading.Thread(target=wait) for i in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    os._exit(7)
time.sleep(0.5)
strace = subprocess.Popen(["strace", "-f", "-qq", "-e", "trace=none", "-o", "/dev/null", "-p", str(pid)], stderr=subprocess.DEVNULL)
time.sleep(1)
def told(flag):
    for i in range(500):
        got, status = os.waitpid(pid, flag | os.WNOHANG)
        if got: return "stopped" if os.WIFSTOPPED(status) else "continued" if os.WIFCONTINUED(status) else "ended %d" % os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    return "nothing"
for i in range(3):
    os.kill(pid, signal.SIGSTOP); print(told(os.WUNTRACED), end=" ")
    os.kill(pid, signal.SIGCONT); print(told(os.WCONTINUED), end=" ")
    time.sleep(0.2)
fd = os.open("p", os.O_WRONLY)
print(told(0), strace.wait())
P
	want="stopped continued stopped continued stopped continued ended 7 0"
	if is_root || [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" = 0 ]; then
		fresh; same "a traced process with threads that wait stops (native)" "$want" "$(timeout 60 python3 "$T/etc/stops.py" 2>&1)"
		fresh; same "a traced process with threads that wait stops" "$want" "$(supervise allow timeout 90 python3 "$T/etc/stops.py" 2>"$T/err")"
	else skip "a traced process with threads that wait stops" "Yama lets nobody attach"; fi
	rules asked.rules <<R
ask create $T/project/asked timeout=120s
default allow
R
	printf '#!/bin/sh\nexec sleep 100\n' >"$T/etc/never"; chmod 755 "$T/etc/never"
	if is_root || [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" = 0 ]; then
		fresh
		same "strace of one that waits for an answer" "124 124" "$(ASK=exec:$T/etc/never supervise "$R" bash -c '(: >asked) & pid=$!; sleep 0.5
			for n in 1 2; do timeout -s INT -k 5 0.5 strace -qq -o /dev/null -p $pid; echo $?; done; kill -9 $pid' 2>"$T/err" | xargs)"
	else skip "strace of one that waits for an answer" "Yama lets nobody attach"; fi
	# A tracer that is killed takes nobody along, and nothing hangs. (Before its program runs, it leaves that one stopped, natively too.)
	cat >"$T/etc/starts" <<'S'
: >"up.$1"
while [ ! -e "killed.$1" ]; do /bin/true; done
for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done
: >"done.$1"
S
	cat >"$T/etc/kills" <<'S'
strace -f -o /dev/null sh "$T/etc/starts" "$1" &
while [ ! -e "up.$1" ]; do sleep 0.02; done
sleep "0.$1"; kill -9 $!; : >"killed.$1"; wait $!
while [ ! -e "done.$1" ]; do sleep 0.1; done
S
	for n in 1 2 3 4 5 6; do
		timeout 60 "$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$T/jk$n" -- bash "$T/etc/kills" $n >"$T/out" 2>&1
		same "a killed tracer, $n" 0 $?
		check "and its journal, $n" "$USHER" verify "$T/jk$n"
	done
else skip strace "it cannot start a program here"; fi
finish
