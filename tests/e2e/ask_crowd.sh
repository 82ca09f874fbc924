#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Many wait: what a single caller may do while it waits, it may do among a crowd, where usher holds callers outside the kernel's list.
# quick: 1000
. "$(dirname "$0")/lib.sh"

export XDG_RUNTIME_DIR=$T/run XDG_CONFIG_HOME=$T/config
mkdir -p -m 700 "$XDG_RUNTIME_DIR" "$XDG_CONFIG_HOME"
mkdir -p "$T/w"
cd "$T/w" || exit 1
printf 'default allow\nask read **/q* timeout=120s\n' >"$T/etc/ask.rules"
chmod 600 "$T/etc/ask.rules"
for i in $(seq 40); do echo "content $i" >q$i; done
for f in qeintr qrestart qexit qexec qkill qterm; do echo "$f" >$f; done
desk() { "$USHER" desk "$@"; }
asks() { desk list | grep -q -- "/$1 "; }
gone() { ! asks "$1"; }
waits() { [ "$(desk list | wc -l)" = "$1" ]; }
id_of() { desk list | awk -v p="/$1 " 'index($0, p) {print $1}'; }
handled() { [ "$(counted handler)" = "$1" ]; }
counted() { grep -o -- "$1" "$T/out" | wc -l; } # a message is written in pieces: others' may stand between them
says() { grep -q -- "$1" "$T/out"; }
mkfifo go on # two: who opens the same one at once may still find the writer of before

# shellcheck disable=SC2016
for crowd in 0 40; do # alone as a control, then among others
	: >"$T/out"
	"$USHER" run -p "$T/etc/ask.rules" --ask=desk --journal "$T/j$crowd" -- bash -c '
		for i in $(seq '$crowd'); do cat q$i & done
		[ '$crowd' = 0 ] || read -r x <go
		for m in eintr restart exit exec; do ('"$BIN"'/ask_wait $m q$m; echo "$m status $?") & done
		cat qkill & kill=$!
		cat qterm & term=$!
		read -r x <on
		kill -9 $kill; wait $kill; echo "kill status $?"
		kill $term; wait $term; echo "term status $?"
		wait; echo end' >>"$T/out" 2>&1 </dev/null &
	usher=$!
	if [ "$crowd" != 0 ]; then
		check "$crowd wait" wait_for waits "$crowd"
		echo >go
	fi
	check "$crowd: an interrupted call ends" wait_for says "Interrupted system call"
	check "$crowd: its question is withdrawn" wait_for gone qeintr
	check "$crowd: a handler runs before a restart" wait_for handled 2
	check "$crowd: a process ends beside its thread that waits" wait_for says "exit status 7"
	check "$crowd: and executes another program" wait_for says executed
	check "$crowd: their questions are withdrawn" wait_for sh -c '! "$USHER" desk list | grep -q "/qexit \|/qexec "'
	wait_for asks qkill
	wait_for asks qterm
	echo >on
	check "$crowd: what waits can be killed" wait_for says "kill status 137"
	check "$crowd: and ended" wait_for says "term status 143"
	check "$crowd: and takes its question along" wait_for gone qkill
	check "$crowd: both do" wait_for gone qterm
	check "$crowd: a restarted call asks again" wait_for asks qrestart
	check "$crowd: and is answered" desk allow "$(id_of qrestart)"
	wait_for says opened
	n=0
	for id in $(desk list | shuf | awk '{print $1}'); do
		n=$((n + 1))
		if [ $((n % 2)) = 1 ]; then desk allow "$id"; else desk deny "$id"; fi
	done
	wait $usher
	same "$crowd: exit status" 0 $?
	check "$crowd: all ended" says '^end'
	same "$crowd: allowed" "$((crowd / 2))" "$(counted content)"
	same "$crowd: denied" "$((crowd / 2))" "$(counted 'Permission denied')"
	same "$crowd: both handlers ran" 2 "$(counted handler)"
	check "$crowd: the journal is whole" "$USHER" verify "$T/j$crowd"
done

: >"$T/out"
"$USHER" run -p "$T/etc/ask.rules" --ask=desk --journal "$T/jk" -- bash -c 'echo $$; for i in $(seq 40); do cat q$i & done; wait; echo end' >>"$T/out" 2>&1 </dev/null &
usher=$!
wait_for waits 40
desk kill "$(desk list | awk 'END {print $1}')"
wait $usher
same "kill ends all that wait" 137 $?
: >"$T/out"
"$USHER" run -p "$T/etc/ask.rules" --ask=desk --journal "$T/jl" -- bash -c 'echo $$; for i in $(seq 40); do cat q$i & done; wait; echo end' >>"$T/out" 2>&1 </dev/null &
usher=$!
wait_for waits 40
kill -9 $usher
wait $usher 2>/dev/null
check "when usher is killed nobody of them is left" wait_for test ! -e "/proc/$(head -n 1 "$T/out")"
same "and nothing was read" 0 "$(grep -c content "$T/out")"

# What was still to be done on a caller's socket is done on it when a held caller comes back.
if command -v python3 >/dev/null; then
	printf 'default allow\nask connect tcp:127.0.0.1:* timeout=120s\n' >"$T/etc/net.rules"
	chmod 600 "$T/etc/net.rules"
	cat >crowd.py <<'P'
import socket, threading
server = socket.create_server(("127.0.0.1", 0), backlog=64)
def call():
    with socket.socket() as s:
        try: s.connect(server.getsockname()); print("connected\n", end="", flush=True)
        except OSError as e: print(f"{e}\n", end="", flush=True)
crowd = [threading.Thread(target=call) for _ in range(40)]
for t in crowd: t.start()
for t in crowd: t.join()
P
	"$USHER" run -p "$T/etc/net.rules" --ask=desk --journal "$T/jc" -- python3 crowd.py >"$T/out" 2>&1 </dev/null &
	usher=$!
	together() { [ "$(cat "$T"/jc/*.jsonl | grep -c '"event":"question"')" = 40 ]; }
	check "40 connections wait" wait_for together
	for id in $(desk list | awk '{print $1}'); do desk allow "$id" >/dev/null 2>&1; done
	wait $usher
	same "and each is made" "40 connected" "$(sort "$T/out" | uniq -c | sed 's/^ *//')"
fi
finish
