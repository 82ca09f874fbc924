#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usher between a command and its starter: signals and timers that are the command's, names with a slash behind a link, output that cannot be written.
. "$(dirname "$0")/lib.sh"
need perl find python3
fresh
supervised() { exec "$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$T/j.$RANDOM$RANDOM" -- "$@"; }
run() { (supervised "$@"); }

# A timer lives on when its process executes another program: the usual way to bound a command.
timed() { perl -e 'alarm shift; exec @ARGV' "$@" >/dev/null 2>&1; echo $?; }
same "the control: a timer ends a command" 142 "$(timed 1 sleep 20)"
same "a timer from before the start ends it under usher" 142 "$(timed "$(sanitized && echo 10 || echo 2)" "$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$T/j.alarm" -- sleep 20)"
check "and the journal is closed" "$USHER" verify "$T/j.alarm"

# What is sent to usher is for the command.
sent() { # SIGNAL COMMAND...: the status of a command that ends by its own trap
	rm -f up
	("${@:2}" sh -c "trap 'exit 7' $1; : >up; i=0; while [ \$i -lt 60 ]; do sleep 0.1; i=\$((i + 1)); done") 2>/dev/null &
	local p=$!
	wait_for test -e up
	kill -"$1" "$p"
	wait "$p"
	echo $?
}
for s in USR1 USR2 VTALRM PROF IO PWR URG TERM HUP 34 64; do
	same "SIG$s: natively" 7 "$(sent "$s" exec)"
	same "SIG$s to usher reaches the command" 7 "$(sent "$s" supervised)"
done

# With the value that it was queued with.
cat >queue.py <<'P'
import ctypes, subprocess, sys
reader = """
import ctypes, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {36})
print("up", flush=True)
info, mask, patience = (ctypes.c_int * 32)(), (ctypes.c_ulong * 16)(1 << 35), (ctypes.c_long * 2)(20, 0)
print(ctypes.CDLL(None).sigtimedwait(mask, info, patience), info[2], info[6])
"""
p = subprocess.Popen(sys.argv[1:] + [sys.executable, "-c", reader], stdout=subprocess.PIPE, text=True)
p.stdout.readline()
ctypes.CDLL(None).sigqueue(p.pid, 36, ctypes.c_void_p(4711))
print(p.stdout.read().strip(), p.wait())
P
queued() { python3 queue.py "$@" 2>/dev/null; }
same "a queued signal: natively" "36 -1 4711 0" "$(queued)"
same "a queued signal to usher reaches the command with its value" "36 -1 4711 0" "$(queued "$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$T/j.queued" --)"

# A link with a slash behind it is followed where O_NOFOLLOW says that links are not.
mkdir -p real/inside && ln -s real link
cat >slash.py <<'P'
import os
for name in ("link/", "link//", "real/", "link", "/proc/self/", "link/.", "real/../link/", "link/inside/"):
    for flags in (os.O_DIRECTORY, os.O_DIRECTORY | os.O_NOFOLLOW, os.O_NOFOLLOW, os.O_NOFOLLOW | os.O_TMPFILE | os.O_RDWR, 0):
        try: fd = os.open(name, flags, 0o600); print(name, oct(flags), sorted(os.listdir(fd))[:1] if "proc" not in name and not flags & os.O_RDWR else "open"); os.close(fd)
        except OSError as e: print(name, oct(flags), e.strerror)
P
same "names with a slash behind a link" "$(python3 slash.py)" "$(run python3 slash.py)"
same "find link/" "$(find link/)" "$(run find link/)"

# A full disk behind a pipe or a redirection is told.
for words in "log $T/j.alarm" "log $T/j.alarm --json" "check $T/etc/allow.rules" "run --help" "--version" "doctor --json"; do
	# shellcheck disable=SC2086
	out=$("$USHER" $words 2>&1 >/dev/full)
	same "usher $words: what cannot be printed is an error" "2 No space left" "$? $(grep -o 'No space left' <<<"$out" | head -n 1)"
done

# Where usher finds no place, it says what is missing.
mkdir -m 700 "$T/run"
said() { (unset XDG_STATE_HOME; XDG_RUNTIME_DIR=$T/run "${@}" "$USHER" run -p "$T/etc/allow.rules" --ask=deny -- true 2>&1) | head -n 1; }
same "a HOME that is relative" "usher: HOME does not begin with /, and XDG_STATE_HOME names no place" "$(said env HOME=relative | sed 's/;.*//')"
same "an empty HOME" "usher: HOME is empty, and XDG_STATE_HOME names no place" "$(said env HOME= | sed 's/;.*//')"
same "no HOME" "usher: HOME is not set, and XDG_STATE_HOME names no place" "$(said env -u HOME | sed 's/;.*//')"
out=$(env -u XDG_RUNTIME_DIR -u XDG_STATE_HOME HOME=/sys "$USHER" run -p "$T/etc/allow.rules" --ask=desk --journal "$T/j.nodesk" -- true 2>&1)
same "a desk that can be nowhere: what helps, and the error that was met" "125 1 0" "$? $(grep -c 'set XDG_RUNTIME_DIR' <<<"$out") $(grep -c 'No such file' <<<"$out")"
mkdir gone
same "a working directory that was removed is one error" "125 1" "$(cd gone && rmdir ../gone && "$USHER" run --ask=deny -- true 2>"$T/err"; echo $? "$(grep -c "error: .*PWD" "$T/err")")"

# Words that mean nothing are refused, as a start would.
out=$("$USHER" check --ask nobody "$T/etc/allow.rules" 2>&1)
same "check --ask of an unknown channel" "2 unknown channel" "$? $(grep -o 'unknown channel' <<<"$out")"
"$USHER" check --calls --json >"$T/out" 2>&1
same "check --calls has no JSON and says so" 2 $?
out=$("$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal= -- true 2>&1)
same "a journal without a name" "125 --journal takes" "$? $(grep -o -- '--journal takes' <<<"$out")"
for words in nothing file: exec:; do
	out=$("$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal="$T/unanchored" --anchor=$words -- true 2>&1)
	same "--anchor=$words" "125 --anchor=$words: expected file:PATH or exec:CMD" "$? $(grep -o -- '--anchor=.*' <<<"$out" | head -n 1)"
done
"$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal="$T/unanchored" --anchor=file:"$T/nowhere/heads" -- true 2>/dev/null
same "what cannot be anchored leaves no session" "125 0" "$? $(find "$T/unanchored" -type f | wc -l)"
"$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal="$T/unanchored" --anchor=file:"$T/heads" -- true
same "... whose directory another one takes" "0 1" "$? $(grep -c . "$T/heads" | sed 's/[1-9][0-9]*/1/')"
out=$("$USHER" log "$T/j.alarm" /no/journal 2>&1)
same "a journal that is not there, taken for a query" "/no/journal is no directory" "$(grep -o '/no/journal is no directory' <<<"$out")"
out=$("$USHER" log /no/journal denied 2>&1)
same "with more words, too" "/no/journal is no directory" "$(grep -o '/no/journal is no directory' <<<"$out")"
if sessions_in_tmp; then
	skip "where there is no session, too" "there is one of this user's in /tmp"
else
	out=$(XDG_STATE_HOME=$T/state XDG_RUNTIME_DIR=$T/none HOME=$T/none "$USHER" log /no/journal denied 2>&1)
	same "where there is no session, too" "2 /no/journal is no directory" "$? $(grep -o '/no/journal is no directory' <<<"$out")"
fi
XDG_STATE_HOME=$T/state "$USHER" run -p "$T/etc/allow.rules" --ask=deny -- true
out=$(XDG_STATE_HOME=$T/state "$USHER" log /no/journal denied 2>&1)
same "and where there is one" "0 /no/journal is no directory, and no record" "$? $(grep -o '/no/journal is no directory, and no record' <<<"$out")"
out=$("$USHER" log "$T/etc" 2>&1)
same "a directory that is no journal" "2 path:$T/etc" "$? $(grep -o "path:$T/etc" <<<"$out")"
for line in "run --nope" "check --nope" "log --nope" "verify --nope" "desk --nope" "desk nope" "doctor --nope" "rules nope"; do
	out=$("$USHER" $line 2>&1 </dev/null)
	same "a wrong word is named: $line" "1 1" "$(grep -c "^usher ${line% *}: .*nope" <<<"$out") $(grep -c -- --help <<<"$out")"
done
for name in run check fmt rules desk log verify doctor; do
	same "usher help $name" "0 $("$USHER" $name --help)" "$("$USHER" help $name >"$T/out" 2>&1; echo $?) $(cat "$T/out")"
done
for form in "log sessions" "log diff" "log prune --keep 1d" "log denied --json" "desk list" "desk allow" "rules list" "rules show" "verify --quiet" "doctor --json"; do
	same "help behind more words: usher $form --help" "0 $("$USHER" ${form%% *} --help)" "$("$USHER" $form --help >"$T/out" 2>&1; echo $?) $(cat "$T/out")"
done
"$USHER" help frob >"$T/out" 2>&1
same "usher help of no command" "125 1" "$? $(grep -c "no command 'frob'" "$T/out")"
"$USHER" run --help >"$T/out"
for word in tty desk deny exec:CMD chain:A,B any:A,B 'default: any:desk,tty' 124 125 126 127; do
	check "run --help says $word" grep -q -- "$word" "$T/out"
done
out=$("$USHER" doctor --help 2>/dev/null)
same "doctor --help" "0 usage: usher doctor" "$? $(head -n 1 <<<"$out" | cut -c 1-19)"
mkdir -m 700 "$T/empty"
(cd "$T/empty" && "$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal=. -- true)
same "a journal in the working directory" "0 closed: whole from start to end" "$? $("$USHER" verify "$T/empty" | tail -n 1)"

# What somebody else made of a record does not reach a terminal.
cp -r "$T/j.alarm" "$T/changed"
sed -i 's/sleep/sl\x1b[2J\xc2\x9bep/' "$T/changed/journal-000001.jsonl"
same "the control: bytes that a terminal obeys are there" 1 "$(head -n 1 "$T/changed/journal-000001.jsonl" | LC_ALL=C grep -c $'\x1b')"
same "log --json prints none" 0 "$("$USHER" log "$T/changed" --json 2>/dev/null | LC_ALL=C grep -c $'[\x1b\x9b]')"
# A soft limit is for the programs: each may use that much, and usher, which works for all of them, has a hard one alone.
limits='for k in H S; do for l in t f l v d n s; do ulimit -$k$l; done; done'
memory=("-Sv 400000" "-Sd 40000")
! sanitized || memory=() # a sanitizer reserves terabytes before main()
for l in "-St 1" "-Sf 64" "-Sl 0" "${memory[@]}" "-Sn 40" "-Ss 512"; do
	# shellcheck disable=SC2086
	same "ulimit $l is the command's, as natively" "$(ulimit $l && bash -c "$limits")" "$(ulimit $l && run bash -c "$limits")"
done
few='i=0; while [ $i -lt 400 ]; do : <"/etc/passwd"; i=$((i + 1)); done; echo read'
same "the control: files of 16 KiB do for a command that writes none" read "$(ulimit -Sf 16 && sh -c "$few")"
same "a soft limit on the size of files does not end the journal" read "$(ulimit -Sf 16 && run sh -c "$few" 2>&1)"
# A timer takes the place of a signal that waits, and so many of those are the user's.
mkfifo queue
through='(sleep 0.2; echo hi 1<>queue) & cat queue; wait'
same "the control: no signal may wait, and a FIFO is read" hi "$(ulimit -i 0 && sh -c "$through" 2>&1)"
same "no signal may wait: a FIFO that was there before is read" hi "$(ulimit -i 0 && run sh -c "$through" 2>&1)"
time_of() { # PROCESS: its soft limit on processor time
	awk '/Max cpu time/ { print $4 }' "/proc/$1/limits"
}
(ulimit -St 1 && supervised sh -c 'echo $$ >pid; mv pid timed; exec sleep 20') 2>/dev/null &
slow=$!
wait_for test -e timed
same "a soft limit on processor time does not end usher" "$(ulimit -Ht)" "$(time_of $slow)"
same "and is the command's" 1 "$(time_of "$(cat timed)")"
rm -f timed
kill $slow
wait $slow
if [ "$(ulimit -Ht)" = unlimited ] && ! sanitized; then
	same "a hard one is told of" "1 holds for usher, too" "$(ulimit -t 100; run true 2>&1 | grep -o 'holds for usher, too' | uniq -c | sed 's/^ *//')"
fi
# A service manager tells its service by number which sockets it was given, and that it is watched: it knows usher, and means the command.
cat >managed.py <<'P'
import os, sys
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=sys.argv[1], WATCHDOG_PID=str(os.getpid()), OTHER_PID=str(os.getpid()), LISTEN_PIDFDID='77')
os.execvp(sys.argv[2], sys.argv[2:])
P
meant() { # HOW MANY DESCRIPTORS, OPTIONS: the variables that name the command, which is a shell
	local n=$1
	shift
	python3 managed.py "$n" "$@" sh -c 'for v in LISTEN_PID WATCHDOG_PID OTHER_PID; do eval "[ \"\$$v\" = $$ ]" && printf "%s " $v; done; printf %s "$LISTEN_PIDFDID"' 3</dev/null 4</dev/null 2>err
}
started() { meant "$1" "$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$T/j.$RANDOM$RANDOM" "${@:2}" --; }
same "a service manager's numbers: natively" "LISTEN_PID WATCHDOG_PID OTHER_PID 77" "$(meant 2)"
same "they name the command, with all the descriptors" "LISTEN_PID WATCHDOG_PID " "$(started 2 --keep-fd=4 --keep-fd=3)"
same "and nothing is said" "" "$(cat err)"
same "also in a pid namespace" "$(own_proc && echo 'LISTEN_PID WATCHDOG_PID ')" "$(started 1 --keep-fd=3 --isolate=pid)"
same "a descriptor that is not kept is not taken for passed" "WATCHDOG_PID 77" "$(started 2 --keep-fd=3)"
check "and which it is is said" grep -q -- '--keep-fd=4' err
same "what somebody else was given is not the command's" "" "$(LISTEN_PID=1 WATCHDOG_PID=1 run sh -c '[ "$LISTEN_PID $WATCHDOG_PID" = "1 1" ] || echo taken')"

finish
