#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Life cycle without a terminal: exit status, signals, usher's own failures, the end of the tree.
. "$(dirname "$0")/lib.sh"
fresh
u() { supervise allow "$@" 2>"$T/err"; }

for n in 0 1 2 42 124 125 126 127 255; do
	u sh -c "exit $n"
	same "exit status $n" $n $?
done
for s in TERM INT KILL SEGV HUP ABRT USR1 PIPE; do
	native=$(bash -c "sh -c 'kill -$s \$\$'; echo \$?" 2>/dev/null)
	got=$(bash -c '"$0" run -p "$1" --journal "$2" -- sh -c "kill -$3 \$\$"; echo $?' "$USHER" "$T/etc/allow.rules" "$T/sig.$s" $s 2>/dev/null)
	same "death by SIG$s" "$native" "$got"
done
if command -v python3 >/dev/null; then
	# Python tells a death by signal (negative) from an exit status.
	got=$(python3 -c 'import subprocess, sys; print(subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL).returncode)' \
		"$USHER" run -p "$T/etc/allow.rules" --journal "$T/ds" -- sh -c 'kill -TERM $$')
	case $got in
	-15 | 143) ok "the command's signal becomes usher's ($got)" ;;
	*) not_ok "the command's signal becomes usher's" "$got" ;;
	esac
fi

# As env(1): 127 not found, 126 not executable, 125 for usher's own failures.
printf 'echo x\n' >"$T/project/nox"
mkdir "$T/project/dir"
u "$T/project/none"; same "missing program: 127" 127 $?
u no-such-command-here; same "missing in PATH: 127" 127 $?
(PATH=$(head -c 5000 /dev/zero | tr '\0' a) u no-such-command-here); same "missing in a PATH that is too long: 127" 127 $?
u "$T/project/nox"; same "no x: 126" 126 $?
u "$T/project/dir"; same "a directory: 126" 126 $?
u ''; same "an empty name: 127" 127 $?
u "$T/project/nox/below"; same "below a file: as env(1)" "$(env "$T/project/nox/below" 2>/dev/null; echo $?)" "$(u "$T/project/nox/below"; echo $?)"
printf '#!/nonexistent/interp\n' >"$T/project/bad"; chmod +x "$T/project/bad"
same "missing interpreter: as env(1)" "$(env "$T/project/bad" 2>/dev/null; echo $?)" "$(u "$T/project/bad"; echo $?)"
printf 'garbage' >"$T/project/garbage"; chmod +x "$T/project/garbage"
same "not a program: as env(1)" "$(env "$T/project/garbage" 2>/dev/null; echo $?)" "$(u "$T/project/garbage"; echo $?)"
"$USHER" run -p "$T/etc/allow.rules" -- >"$T/out" 2>&1; same "no command: 125" 125 $?
"$USHER" run --no-such-option -- true >"$T/out" 2>&1; same "unknown option: 125" 125 $?
"$USHER" run -p "$T/none.rules" -- true >"$T/out" 2>&1; same "missing rule file: 125" 125 $?
mkdir -m 0 "$T/shut"
if is_root; then
	skip "a rule file out of reach" "root reaches all"
else
	"$USHER" run -p "$T/shut/x.rules" -- true >"$T/out" 2>&1
	same "a rule file out of reach is named" "125 usher: find the rule file $T/shut/x.rules to guard: Permission denied" "$? $(cat "$T/out")"
fi
"$USHER" run -p "$T/etc/allow.rules" --ask=nobody --journal "$T/jn" -- true >"$T/out" 2>&1; same "unknown channel: 125" 125 $?
check "and no session that would be the newest is left" test ! -e "$T/jn"
for where in exec:false "file:$T/no/such/parent"; do
	"$USHER" run -p "$T/etc/allow.rules" --anchor="$where" --journal "$T/ja" -- true >"$T/out" 2>&1; same "anchor ${where%%:*} cannot be had: 125" 125 $?
	check "nor by an anchor that cannot be had" test ! -e "$T/ja"
	mkdir "$T/ja"
	"$USHER" run -p "$T/etc/allow.rules" --anchor="$where" --journal "$T/ja" -- true >"$T/out" 2>&1
	check "a directory that was there stays" rmdir "$T/ja"
done
"$USHER" run -p "$T/etc/allow.rules" --journal "$T/no/such/parent" -- touch "$T/project/ran" >"$T/out" 2>&1; same "journal without a parent: 125" 125 $?
[ ! -e "$T/project/ran" ] && ok "and nothing ran" || not_ok "and nothing ran"

# Descriptors: three and no more, unless kept; no_new_privs.
echo "default allow" >"$T/etc/kept"
exec 8<"$T/etc/kept"
same "inherited descriptors are closed" "0 1 2 3" "$(u sh -c 'exec ls /proc/self/fd' | tr '\n' ' ' | sed 's/ $//')"
same "--keep-fd keeps one" "default allow" "$("$USHER" run -p "$T/etc/allow.rules" --keep-fd 8 --journal "$T/kf" -- cat /dev/fd/8 2>/dev/null)"
exec 8<&-
# A limit on open files is the command's: what usher has open does not count against it.
few() { (ulimit -Sn 4; "$@"); }
same "few open files: natively" "4 0" "$(few sh -c "ulimit -n; cat /dev/null; echo \$?" | xargs)"
same "few open files: the same" "4 0" "$(few "$USHER" run -p "$T/etc/allow.rules" --journal "$T/few1" -- sh -c 'ulimit -n; cat /dev/null; echo $?' | xargs)"
rules files.rules <<<$'default allow\nlimit files 4'
same "limit files: as few are enough to start" "4 0" "$("$USHER" run -p "$R" --journal "$T/few2" -- sh -c 'ulimit -n; cat /dev/null; echo $?' | xargs)"
rules none.rules <<<$'default allow\nlimit files 1'
"$USHER" run -p "$R" --journal "$T/few3" -- cat /dev/null 2>"$T/err"
same "limit files: too few are said to be" "124 yes" "$? $(grep -q 'the limit on files was reached' "$T/err" && echo yes)"
(ulimit -Sn 12; ulimit -Hn 12; exec "$USHER" run -p "$T/etc/allow.rules" --journal "$T/few4" -- true) 2>"$T/err"
same "too few for usher itself: it says what to do" "125 yes" "$? $(grep -q 'raise the hard limit on open files (ulimit -Hn)' "$T/err" && echo yes)"

# As many as are taken: each option is followed, the last as the first.
many=$(seq 10 73)
same "--keep-fd keeps 64" "$many" "$(
	for n in $many; do eval "exec $n<'$T/etc/kept'"; done
	# shellcheck disable=SC2046 # a word for each
	"$USHER" run -p "$T/etc/allow.rules" $(printf -- '--keep-fd=%s ' $many) --journal "$T/kf64" -- ls /proc/self/fd | sort -n | grep '..'
)"
same "no_new_privs" 1 "$(u sed -n 's/NoNewPrivs:.//p' /proc/self/status)"

# Runs in the background; the command makes the file "up" when it is ready. usher's pid in $pid.
start() { # OPTION... -- COMMAND...
	cd "$T/project" || exit 1
	rm -f up kids
	"$USHER" run -p "$T/etc/allow.rules" --journal "$(mktemp -u "$T/journal.bg.XXXXXX")" "$@" >"$T/bg.out" 2>&1 </dev/null &
	pid=$!
	wait_for test -e up || not_ok "the command comes up" "$(cat "$T/bg.out")"
}
start -- sh -c 'trap "echo got term; exit 33" TERM; touch up; while :; do sleep 0.1; done'
kill -TERM $pid; wait $pid; rc=$?; same "SIGTERM is forwarded" "33 got term" "$rc $(grep -v '^usher: ' "$T/bg.out")"
start -- sh -c 'trap "touch reloaded" HUP; touch up; while :; do sleep 0.1; done'
kill -HUP $pid; check "SIGHUP is forwarded" wait_for test -e "$T/project/reloaded"
kill -TERM $pid; wait $pid; same "SIGTERM ends the command" 143 $?
for with in "deny 3" "desk 3" "deny 0" "desk 0"; do
	ask=${with% *} low=${with#* }
	start --ask=$ask -- python3 -S -c 'import os, time; os.mkdir("up")
while not os.path.exists("low"): time.sleep(0.05)
print("alive", flush=True); os._exit(7)'
	check "usher's limit on open files is lowered to $low (--ask=$ask)" python3 -c "import resource; resource.prlimit($pid, resource.RLIMIT_NOFILE, ($low, $low))"
	mkdir low; wait $pid; rc=$?; same "below what it waits for, and the session goes on" "7 alive" "$rc $(grep -v '^usher: ' "$T/bg.out")"
	rmdir up low
done

# Who wants no debugger asks its parent to trace it, and stops for that at its next signal.
cat >"$T/etc/traced.py" <<'P'
import ctypes, os, signal
signal.signal(signal.SIGUSR1, lambda *_: print("handled", flush=True))
print(ctypes.CDLL(None).ptrace(0, 0, 0, 0), flush=True)
os.kill(os.getpid(), signal.SIGUSR1)
os.kill(os.getpid(), signal.SIGTERM)
P
same "the control: a traced program stands at its signal" "0 stopped" "$(python3 -S -c '
import os, sys
pid = os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, "-S", sys.argv[1]])
print("stopped" if os.WIFSTOPPED(os.waitpid(pid, 0)[1]) else "ended")
os.kill(pid, 9)' "$T/etc/traced.py" | xargs)"
same "the command goes on: nobody traces it" "0 handled 143" "$(xargs <<<"$(timeout -s KILL 60 "$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$T/traced" -- python3 -S "$T/etc/traced.py" 2>/dev/null; echo $?)")"

# A tree with a double-forked daemon in a session of its own that ignores every signal it can.
tree='(setsid sh -c "trap \"\" TERM HUP INT; echo \$\$ >> kids; while :; do sleep 0.2; done" >/dev/null 2>&1 & ) ; sh -c "echo \$\$ >> kids; exec sleep 300" & while [ "$(wc -l 2>/dev/null < kids)" != 2 ]; do sleep 0.05; done; '
all_gone() { local p; for p in $(cat "$T/project/kids"); do kill -0 "$p" 2>/dev/null && return 1; done; return 0; }
start -- sh -c "$tree touch up; wait"
all_gone && not_ok "control: the tree runs" || ok "control: the tree runs"
kill -KILL $pid; wait $pid 2>/dev/null
WITHIN=5 check "kill -9 of usher ends the whole tree" wait_for all_gone
start -- sh -c "$tree touch up; wait"
kill -TERM $pid; wait $pid
WITHIN=5 check "SIGTERM ends the whole tree" wait_for all_gone
# The keeper is usher's child, the guardian the keeper's.
for who in keeper guardian; do
	start -- sh -c "$tree touch up; wait"
	victim=$(pgrep -P $pid | head -1); [ $who = keeper ] || victim=$(pgrep -P "$victim" | head -1)
	kill -KILL "$victim"; wait $pid; rc=$?
	same "kill -9 of the $who is usher's failure, which it says" "125 1" "$rc $(grep -c '^usher: the guardian or the keeper of sh was killed' "$T/bg.out")"
	check "and the journal, instead of a signal to the command" grep -q '"type":"end".*"lost":' "$(ls -td "$T"/journal.bg.*/ | head -1)"/journal-*.jsonl
	WITHIN=5 check "and ends the whole tree" wait_for all_gone
done
start -- sh -c "$tree touch up"
wait $pid; same "the command's status with leftovers" 0 $?
WITHIN=5 check "leftovers end with the command" wait_for all_gone
rm -f kids late go
start --wait -- sh -c '(setsid sh -c "echo \$\$ > kids; while [ ! -e go ]; do sleep 0.05; done; echo late > late" >/dev/null 2>&1 &); while [ ! -s kids ]; do sleep 0.05; done; touch up; exit 5'
kill -0 $pid 2>/dev/null && ok "--wait waits for leftovers" || not_ok "--wait waits for leftovers"
touch go; wait $pid; same "--wait: the command's status" 5 $?
same "--wait: the leftover finished" late "$(cat late 2>/dev/null)"
for sig in HUP INT QUIT TERM; do
	start --wait -- sh -c "$tree touch up; exit 5"
	ended() { [ "$(grep -c '"type":"note","event":"exit".*"status":5' "$(ls -td "$T"/journal.bg.*/ | head -1)"/journal-*.jsonl)" != 0 ]; }
	wait_for ended
	all_gone && not_ok "control: the tree outlives its command" || ok "control: the tree outlives its command"
	kill -$sig $pid
	if WITHIN=5 wait_for all_gone; then ok "--wait: SIG$sig ends what is left"; else
		not_ok "--wait: SIG$sig ends what is left"
		kill -KILL $pid
	fi
	wait $pid; same "--wait: and the command's status stays" 5 $?
done

u sh -c 'i=0; while [ $i -lt 300 ]; do true | cat & i=$((i+1)); [ $((i%20)) = 0 ] && wait; done; wait'
same "many short programs" 0 $?

# The command may end before usher is ready for it: what it could not do is said all the same.
far=$T:$(printf '%5000s' x)
unsaid=0 tries=150
[ -z "${QUICK:-}" ] || tries=40
for ((i = 0; i < tries; i++)); do
	for path in "$PATH" "$far"; do
		env PATH="$path" "$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$T/j.said" -- '' 2>"$T/err"
		[ $? = 127 ] && grep -q '^usher: run ' "$T/err" || unsaid=$((unsaid + 1))
		rm -rf "$T/j.said"
	done
done
same "a command that cannot be run at all is said each time" 0 $unsaid
finish
