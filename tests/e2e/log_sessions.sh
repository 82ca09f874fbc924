#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usher log sessions: a line for each session of a place, whatever lies there.
. "$(dirname "$0")/lib.sh"
need python3
fresh
P=$T/place
mkdir -m 700 "$P"
rules some.rules <<EOF
deny read $T/project/no
default allow
EOF
echo no >no
session() { "$USHER" run -p "$R" --journal "$P/$1" -- "${@:2}" >/dev/null 2>&1; }
log() { "$USHER" log "$@" 2>&1; }
session 1 sh -c 'cat no; exit 3'
session 2 sh -c 'kill -TERM $$'
session 3 printf '\033[31mx\n%s' "$(head -c 300 /dev/zero | tr '\0' a)"
"$USHER" run -p "$R" --journal "$P/4" -- sh -c "touch '$T/project/up'; exec sleep 60" >/dev/null 2>&1 &
running=$!
wait_for test -e up
"$USHER" run -p "$R" --journal "$P/5" -- sh -c "touch '$T/project/up5'; exec sleep 60" >/dev/null 2>&1 &
killed=$!
wait_for test -e up5
kill -9 $killed
wait $killed 2>/dev/null
wait_for sh -c "! '$USHER' verify '$P/5' | grep -q still"
log sessions "$P" >"$T/out"
line() { sed -n "$1p" "$T/out" | sed 's/^[0-9-]* [0-9:]*Z *//; s/  */ /g'; }
same "a status, and what was refused" "status 3 1 refused $P/1 sh -c \"cat no; exit 3\"" "$(line 1)"
same "a signal" "signal 15 $P/2 sh -c \"kill -TERM \$\$\"" "$(line 2)"
shown=$(line 3)
same "a command is cut" "a..." "${shown: -4}"
check "and shows as the journal has it" grep -qF "status 0 $P/3 printf \\\\033[31mx" <<<"$shown"
same "one that runs" "running, $running $P/4 sh -c \"touch '$T/project/up'; exec sleep 60\"" "$(line 4)"
same "one that was killed" "not closed $P/5 sh -c \"touch '$T/project/up5'; exec sleep 60\"" "$(line 5)"
same "nothing else" 5 "$(wc -l <"$T/out")"
same "when it began" "$(records "$P/1" | head -n 1 | grep -o '"time":"[^.]*' | cut -d'"' -f4 | tr T ' ')Z" "$(head -n 1 "$T/out" | cut -d' ' -f1,2)"
same "as JSON" "1:3:None 2:None:None 3:0:None 4:-:$running 5:-:None" "$(log sessions "$P" --json | python3 -c '
import json, sys
print(*("%s:%s:%s" % (s["dir"].rsplit("/", 1)[1], s["end"].get("status") if s["end"] else "-", s.get("running")) for s in map(json.loads, sys.stdin)))')"
# From another pid namespace its process has no number; it lives all the same.
apart() { unshare -r -p -f --mount-proc "$@"; }
if apart true 2>/dev/null; then
	same "one that runs, seen from another pid namespace" "running -1" "$(apart "$USHER" log sessions "$P" | sed -n 4p | grep -o ' running  ' | xargs) $(
		apart "$USHER" log sessions "$P" --json | sed -n 4p | grep -o '"running":[^,]*' | cut -d: -f2)"
	check "verify says that it runs" grep -q '^not closed: a process of another pid namespace is still writing$' <(apart "$USHER" verify "$P/4")
	sleep 1.1 # older than what is kept
	apart "$USHER" log prune --keep 0s "$P" >/dev/null 2>&1
	same "and prune removes the others alone" "$P/4" "$(echo "$P"/[0-9])"
else
	skip "a session seen from another pid namespace" "no such namespace to be had"
fi
kill $running
wait $running 2>/dev/null

# The end is found however long the journal is.
session 6 sh -c 'i=0; while [ $i -lt 300 ]; do true <no; true </dev/null; i=$((i+1)); done 2>/dev/null; exit 5'
check "of a longer one" grep -q ' status 5 .*/6 ' <(log sessions "$P")

# What is no journal, and what somebody else made of one.
odd=$P/$(printf 'odd\033]0;x\007')
mkdir -p "$P/empty" "$P/fifo" "$P/torn" "$P/forged" "$P/link" "$odd"
touch "$P/file"
mkfifo "$P/fifo/journal-000001.jsonl"
head -c 100 "$P/1/journal-000001.jsonl" >"$P/torn/journal-000001.jsonl"
printf '{"seq":1,"time":"\033[2J","type":"start","command":["\033[2J"]}\n{"seq":2,"type":"end","status":"\033[2J"}\n' >"$P/forged/journal-000001.jsonl"
cp "$P/1/journal-000001.jsonl" "$odd/"
ln -s /dev/zero "$P/link/journal-000001.jsonl"
timeout 20 "$USHER" log sessions "$P" >"$T/out" 2>&1
same "foreign things are passed by" 0 $?
same "nothing of theirs reaches the terminal" 0 "$(grep -c '[^ -~]' "$T/out")"
for n in torn forged; do check "what is left of one is told of: $n" grep -q "^?.*$P/$n" "$T/out"; done
check "the others are there" grep -q "$P/6 " "$T/out"
check "and JSON holds" python3 -c 'import json, sys; [json.loads(l) for l in sys.stdin]' <<<"$(timeout 20 "$USHER" log sessions "$P" --json)"

# However many parts somebody has made.
mkdir "$T/many"; cp -r "$P/6" "$T/many/"
(cd "$T/many/6" && seq -f 'journal-%06.0f.jsonl' 2 30000 | xargs touch)
timeout -k 1 60 "$USHER" log sessions "$T/many" >"$T/out" 2>&1
same "a journal of many parts keeps nobody" "0 1" "$? $(grep -c "$T/many/6 " "$T/out")"

# The default places, none, and what is none.
"$USHER" run -p "$R" -- true
check "the default place" grep -q "status 0 .* $XDG_STATE_HOME/usher/.* true\$" <(log sessions)
mkdir "$T/none"
same "a place without" "usher log: there is no session in $T/none" "$(log sessions "$T/none")"
check "a place that is none" grep -q 'there is none of that name' <(log sessions "$T/nowhere")
"$USHER" log sessions "$P" --tree >"$T/out" 2>&1
same "sessions has no --tree" "2 1" "$? $(grep -c 'sessions has no --tree' "$T/out")"
finish
