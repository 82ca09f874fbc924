#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usher log and what it reads: queries, who-touched with and without its index, tree, timeline, explain, diff, prove; what
# is redacted and opened again; prune and its tombstones; jq over a closed and a killed session; the default place.
. "$(dirname "$0")/lib.sh"
need python3
fresh
cat >"$T/etc/l.rules" <<EOF
redact --pin=*
deny read $T/project/no
default allow
EOF
chmod 600 "$T/etc/l.rules"
echo no >no
session() { # DIR COMMAND
	"$USHER" run -p "$T/etc/l.rules" --journal "$1" -- sh -c "$2" 2>"$T/err"
}
log() { "$USHER" log "$@" 2>&1; }
session "$T/a" 'echo 1 >one; mv one two; ln two three; mkdir d; mv two d/four; cat no; cat d/four; sleep 0.4'
fresh; echo no >no
session "$T/b" 'echo 1 >one; cat no; rm -f one'

# Colours are for terminals that have them.
if command -v script >/dev/null; then
	rules bad.rules <<<"alow read /x"
	coloured() { # NAME=VALUE...: of log and check
		env "$@" script -qec "'$USHER' log '$T/b'" /dev/null </dev/null | grep -q "$(printf '\033')" && echo -n "log "
		env "$@" script -qec "'$USHER' check '$R'" /dev/null </dev/null | grep -q "$(printf '\033')" && echo -n "check"
	}
	same "colours on a terminal" "log check" "$(coloured TERM=xterm)"
	for how in TERM=dumb TERM= "-u TERM" NO_COLOR=1; do
		# shellcheck disable=SC2086
		same "none with $how" "" "$(coloured $how)"
	done
fi

# Where a session starts and ends, the line has the date; all others the time of day.
dates() { log "$T/b" | awk '$2 ~ /^....-..-..T..:..:..[.]...Z$/ { d = d $3 " " } $2 !~ /^(....-..-..T)?..:..:..[.]...Z?$/ { d = d "bad " } END { print d }'; }
same "the lines of start and end have the date" "start end " "$(dates)"

# log=alert can be asked for, and is there in the record.
fresh; echo no >no
printf 'deny read %s log=alert\ndefault allow\n' "$T/project/no" >"$T/etc/alert.rules"
chmod 600 "$T/etc/alert.rules"
"$USHER" run -p "$T/etc/alert.rules" --journal "$T/alert" -- cat no /dev/null >/dev/null 2>&1
log "$T/alert" alert >"$T/out"; same "log alert finds what a rule with log=alert decided" "1 $T/project/no" "$(wc -l <"$T/out") $(grep -o "$T/project/no" "$T/out" | head -n 1)"
log "$T/alert" '!alert' denied >"$T/out"; same "and nothing else is one" 0 "$(wc -l <"$T/out")"

# A word that is none says what was meant or expected.
while IFS='|' read -r word said; do
	log "$T/a" "$word" >"$T/out"; has "log $word" "$said" "$T/out"
done <<'E'
deny|did you mean 'denied'?
by=cat|did you mean 'by:cat'?
tree|did you mean '--tree'?
op:raed|behind op: read, modify
since:yesterday|such as 2026
since:-5m|a span back from now (10m
since:2026-02-30|such as 2026
verdict:denied|allow, deny, ask
seq:5-1|the lower first
E

log "$T/a" denied index >"$T/out"; has "log index behind a query" "it stands in front" "$T/out"

# Start and end say what was in force and what came of it.
records "$T/a" >"$T/rec"
python3 - "$T/rec" <<'P'
import json, sys
R = [json.loads(l) for l in open(sys.argv[1])]
def say(ok, name, *more): print(("ok " if ok else "not ok ") + name); [print("   ", m) for m in more if not ok]
s, e = R[0], [r for r in R if r["type"] == "end"][0]
missing = [k for k in ("usher", "build", "kernel", "command", "environment", "filter", "floor", "namespaces", "ask", "sync", "not_seen") if k not in s]
say(not missing, "start record", missing)
rules = [r for r in R if r.get("event") == "rules"]
say(any(r["file"].endswith("l.rules") and "redact --pin=*" in r["text"] and len(r["hash"]) == 64 for r in rules), "rule file in full, with its hash")
say(any(r.get("event") == "program" and len(r["hash"]) == 64 for r in R), "hash of usher's own file")
calls = [r for r in R if r["type"] == "call"]
say(e["status"] == 0 and e["counts"]["deny"] >= 1 and sum(e["counts"].values()) == len(calls), "end record counts", e, len(calls))
P
program=$(python3 -c 'import hashlib,sys; print(hashlib.sha256(open(sys.argv[1],"rb").read()).hexdigest())' "$USHER")
has "which is that of the program" "$program" "$T/rec"

# Ways to show.
log "$T/a" who-touched "$T/project/d/four" >"$T/who"
for n in one two three d/four; do has "who-touched follows to $n" "$T/project/$n" "$T/who"; done
# Names that the program gave its files are shown as in the journal, whoever says them: none speaks to the terminal.
odd=$T/$'said\e[31m'
for w in "who-touched $odd" "$odd" $'op\e[31m:read' $'verdict=\e[31m' $'\e[31m'; do
	# shellcheck disable=SC2086
	log "$T/a" $w >"$T/who.said" 2>&1
	same "an escape sequence in a word is not said as it is: ${w%%$'\e'*}" "1 0" "$(grep -cF '\u001b[31m' "$T/who.said") $(grep -c $'\e' "$T/who.said")"
done
mkdir "$odd"
for c in log verify; do
	"$USHER" $c "$odd" >"$T/who.said" 2>&1 </dev/null
	same "nor in a directory: $c" "1 0" "$(grep -cF '\u001b[31m' "$T/who.said") $(grep -c $'\e' "$T/who.said")"
done
mkdir -p d; : >d/four; ln -s "$T/project" "$T/way"; ln -s "$T/project/d/four" "$T/link"
for n in ./d/four d/../d//four "$T/way/d/four" "$T/project/./d/four/"; do same "who-touched $(sed "s|$T|.|" <<<"$n") is the same file" "$(cat "$T/who")" "$(log "$T/a" who-touched "$n")"; done
log "$T/a" who-touched "$T/link" >"$T/out" 2>&1; has "of a link it says where that leads" "ask for $T/project/d/four, too" "$T/out"
rm -r d "$T/way" "$T/link"
log "$T/a" who-touched "$T/project/no" >"$T/who.no"; same "who-touched of another file" 0 "$(grep -c "$T/project/one" "$T/who.no")"
check "an index is made" "$USHER" log "$T/a" index
same "who-touched says the same with its index" "$(cat "$T/who")" "$(log "$T/a" who-touched "$T/project/d/four")"
"$USHER" verify "$T/a" >"$T/out" 2>&1; same "verify does not mind the index" 0 $?
head -c 3000 /dev/urandom >"$T/a/index.sqlite"
same "a broken index is passed over" "$(cat "$T/who")" "$(log "$T/a" who-touched "$T/project/d/four")"
rm -f "$T/a/index.sqlite"

# Beside the index nothing is read, nor removed for it: SQLite's journal, where another session's tree left one, would name a file of yours to remove.
hot() { # INDEX VICTIM: as SQLite leaves it when it dies
	python3 - "$1" "$2" <<'P'
import struct, sys
db, victim = sys.argv[1], sys.argv[2].encode()
magic, page, sector = bytes.fromhex("d9d505f920a163d7"), 16384, 512
head = magic + struct.pack(">IIIII", 0, 1, len(open(db, "rb").read()) // page, sector, page)
tail = struct.pack(">I", 0x40000000 // page + 1) + victim + struct.pack(">II", len(victim), sum(victim)) + magic
open(db + "-journal", "wb").write(head.ljust(sector, b"\0") + tail)
P
}
check "an index is made again" "$USHER" log "$T/a" index
cp "$T/a/index.sqlite" "$T/control.sqlite"; echo mine >"$T/victim"; hot "$T/control.sqlite" "$T/victim"
python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM part").fetchall()' "$T/control.sqlite"
[ -e "$T/victim" ] && not_ok "control: SQLite removes what a journal names" || ok "control: SQLite removes what a journal names"
echo mine >"$T/victim"; hot "$T/a/index.sqlite" "$T/victim"
same "a journal beside the index is passed over" "$(cat "$T/who")" "$(log "$T/a" who-touched "$T/project/d/four")"
check "an index is made anew beside it" "$USHER" log "$T/a" index
same "and used" "$(cat "$T/who")" "$(log "$T/a" who-touched "$T/project/d/four")"
check "and no file that it names is removed" test -e "$T/victim"
rm -f "$T/a/index.sqlite-journal"; mkfifo "$T/a/index.sqlite-journal"
same "nor does anybody wait for a pipe there" "$(cat "$T/who")" "$(timeout -k 1 60 "$USHER" log "$T/a" who-touched "$T/project/d/four" 2>&1)"
python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("PRAGMA journal_mode=WAL"); c.execute("DELETE FROM row"); c.commit(); import os; os._exit(0)' "$T/control.sqlite"
rm -f "$T"/a/index.sqlite*; cp "$T/control.sqlite" "$T/a/index.sqlite"; cp "$T/control.sqlite-wal" "$T/a/index.sqlite-wal"
same "an index with a log of its own is passed over" "$(cat "$T/who")" "$(log "$T/a" who-touched "$T/project/d/four")"
rm -f "$T"/a/index.sqlite* "$T"/control.sqlite*
log "$T/a" --tree >"$T/out"; has "--tree shows programs" "/usr/bin/cat" "$T/out"
same "--tree puts children below" 1 "$(grep -c '^  *[0-9].*/usr/bin/cat.*1 denied' "$T/out")"
# A number that two processes had one after the other, as in a long session: the second cat's is made the first one's.
session "$T/twice" 'cat one; cat d/four'
read -r first second <<<"$(records "$T/twice" | grep -a '"call":"execve".*"object":"[^"]*/cat"' | sed 's/.*"pid":\([0-9]*\).*/\1/' | xargs)"
sed -i "s/\"pid\":$second,/\"pid\":$first,/" "$T"/twice/journal-*.jsonl
log "$T/twice" --tree >"$T/out" 2>/dev/null
same "--tree: two processes with one number are two" "$first one $first d/four" "$(sed -n 's|^  *\([0-9]*\) [^ ]*/cat \([^ ]*\)  (.* exec 1, .*|\1 \2|p' "$T/out" | xargs)"
log "$T/a" --timeline >"$T/out"; has "--timeline counts what was denied" "1 denied" "$T/out"
log "$T/a" denied >"$T/out"; same "denied: one line" 1 "$(wc -l <"$T/out")"
seq=$(records "$T/a" | grep -a '"verdict":"deny"' | head -1 | sed 's/^{"seq":\([0-9]*\),.*/\1/')
log "$T/a" explain "$seq" >"$T/out"
has "explain shows the rule as it stood" "deny read $T/project/no" "$T/out"; has "and what came before" "Before that, the same thread" "$T/out"
log diff "$T/a" "$T/b" >"$T/out"; has "diff: what only the first did" "$T/project/d/four" "$T/out"
same "diff: operations as elsewhere" 0 "$(grep -c '[]["]' "$T/out")"
same "diff: not what both did" 0 "$(grep -c 'deny.*/project/no' "$T/out")"
log "$T/a" --prove "$seq" >"$T/out"
python3 - "$T/out" <<'P'
import hashlib, json, sys
raw = open(sys.argv[1]).read(); p = json.loads(raw)
def sha256(b): return hashlib.sha256(b).digest()
record = raw[len('{"record":'):raw.index(',"index":')].encode()
h, i, last = sha256(record), p["index"], p["count"] - 1
for step in p["path"]:  # RFC 9162, 2.1.3.2
    s = bytes.fromhex(step)
    if i & 1 or i == last:
        h = sha256(b"\1" + s + h)
        while not i & 1 and i: i >>= 1; last >>= 1
    else: h = sha256(b"\1" + h + s)
    i >>= 1; last >>= 1
print(("ok" if h.hex() == p["seal"]["root"] else "not ok") + " prove: the path leads to the seal's root")
P

# Around a question its lines are lines as others: the stack is explain's to show.
fresh; echo q >q
printf 'ask read %s stack\ndefault allow\n' "$T/project/q" >"$T/etc/q.rules"
chmod 600 "$T/etc/q.rules"
"$USHER" run -p "$T/etc/q.rules" --ask="exec:$T/etc/yes" --journal "$T/q" -- cat q >/dev/null 2>&1
same "control: a question has a stack" 1 "$(log "$T/q" --json event:question | grep -c '"stack":\[{')"
log "$T/q" event:question >"$T/out"; has "a question's line has its operation" " op=read object=$T/project/q " "$T/out"
log "$T/q" type:answer >>"$T/out"; has "an answer's line what was answered" " answer.verdict=allow answer.scope=once answer.channel=exec " "$T/out"
same "neither is JSON" 0 "$(grep -c '[][{}"]' "$T/out")"
log "$T/q" explain "$(log "$T/q" --json event:question | sed 's/^{"seq":\([0-9]*\),.*/\1/;q')" >"$T/out"; has "explain shows the stack" " of /" "$T/out"

# No name looks like more of its line.
fresh; mkdir "$T/project/d"; ln -s d link
session "$T/odd" ': >"a (named b)"; : >link/b; : >"x -> y"; mv "x -> y" z; /bin/true x "" deny; /bin/true x deny; cat "no (l:1)"; : >"a  allow by r:1 = 0"'
log "$T/odd" "path:$T/project/**" | sed -n "s|$T/project/||g; s/^.* \(openat\|renameat2\) [^ ]* //p" >"$T/out"
has "a name with a parenthesis" '"a (named b)" (named "a (named b)")  allow' "$T/out"; has "one that is said otherwise" 'd/b (named link/b)  allow' "$T/out"
has "a name with an arrow" '"x -> y" -> z (named "x -> y")  allow' "$T/out"; has "a name with a verdict" '"a  allow by r:1 = 0" (named ' "$T/out"
log "$T/odd" path:/usr/bin/true >"$T/out"; has "an empty argument" ' argv "x  deny"  allow by' "$T/out"; has "and none" ' argv x deny  allow by' "$T/out"
log diff "$T/odd" "$T/a" >"$T/out"; has "diff quotes as well" " \"$T/project/a (named b)\" by " "$T/out"

# Redaction: nowhere in the journal, openable by the holder.
fresh; echo no >no
session "$T/s" 'true --pin=zq4711qz; /bin/true --pin=zq4711qz --password hunter2 ghp_abcdefghijklmnopqrst1234; : >"x-token=zebra"'
same "secrets are not in the journal" 0 "$(cat "$T"/s/* | grep -acE 'zq4711qz|hunter2|ghp_abc|zebra')"
[ "$(stat -c %a "$T/s.salts")" = 600 ] && ok "salts are their owner's alone" || not_ok "salts are their owner's alone"
seq=$(records "$T/s" | grep -a '"object":"/usr/bin/true"' | head -1 | sed 's/^{"seq":\([0-9]*\),.*/\1/')
for w in "who-touched $T/project/x-token=zebra" "/**/x-token=zebra"; do
	log "$T/s" $w >"$T/out"; has "a name that was redacted is told of ($w)" "usher log: 1 record is about names with a redacted value" "$T/out"
	log "$T/a" $w >"$T/out"; same "and none where there is none" 0 "$(grep -c redacted "$T/out")"
done
same "and is in the list" 1 "$(log "$T/s" 'path:**<redacted:**' | grep -c "$T/project/x-token=<redacted:")"
log "$T/s" --prove "$seq" >"$T/out"
python3 - "$T/out" <<'P'
import hashlib, json, sys
p = json.load(open(sys.argv[1])); opened = p.get("opened", [])
good = all(hashlib.blake2b(o["value"].encode(), key=bytes.fromhex(o["salt"]), digest_size=32).hexdigest() == o["commitment"] and o["commitment"] in json.dumps(p["record"]) for o in opened)
print(("ok" if good and sorted(o["value"] for o in opened) == ["ghp_abcdefghijklmnopqrst1234", "hunter2", "zq4711qz"] else "not ok") + " prove opens them: salt and value give the commitment")
P
rm -f "$T/s.salts"; log "$T/s" --prove "$seq" | grep -q opened && not_ok "without the file nothing opens" || ok "without the file nothing opens"
"$USHER" run -p "$T/etc/l.rules" --journal "$T/s2" -- sh -c "/bin/true --pin=1; cat '$T/s2.salts'" >"$T/out" 2>&1
grep -q commitment "$T/out" && not_ok "the tree cannot read the salts" || ok "the tree cannot read the salts"

rm -rf "$T/s2" "$T/s2.salts"; mkdir "$T/s2.salts"
"$USHER" run -p "$T/etc/l.rules" --journal "$T/s2" -- sh -c "/bin/true --pin=1; /bin/true --pin=2" >"$T/out" 2>"$T/err"
grep -q 's2.salts: Is a directory; nobody' "$T/err" && ok "values that cannot be kept are told of" || not_ok "values that cannot be kept are told of" "$(cat "$T/err")"
check "and counted in the end record" sh -c "cat '$T'/s2/journal-* | grep -a '\"type\":\"end\"' | grep -q '\"unkept\":[1-9]'"
rmdir "$T/s2.salts"

# What lies there already, from whoever wrote in that directory before, is not written to, and nobody waits for it.
mkfifo "$T/fifo.salts"; (umask 0; : >"$T/open.salts"); (umask 077; : >"$T/two.salts"); ln "$T/two.salts" "$T/other"; mkfifo "$T/read.salts"
exec 5<>"$T/read.salts"
for what in fifo open two read; do
	timeout -k 1 60 "$USHER" run -p "$T/etc/l.rules" --journal "$T/$what" -- /bin/true --pin=zq4711qz >"$T/out" 2>"$T/err"
	same "a session beside what is no file of the user's alone ($what)" 0 $?
	has "its values cannot be kept, which is told ($what)" "$what.salts: File exists; nobody" "$T/err"
done
same "and nothing was written there" "0 0" "$(wc -c <"$T/open.salts") $(wc -c <"$T/two.salts")"
timeout 1 cat "$T/read.salts" >"$T/out" <&5; same "nor into a pipe that is read" 0 "$(wc -c <"$T/out")"
exec 5<&-
printf 'default allow\nallow read ** log=none\n' >"$T/etc/free.rules"; chmod 600 "$T/etc/free.rules"
timeout -k 1 60 "$USHER" run -p "$T/etc/free.rules" --journal "$T/free" -- true 2>"$T/err"; same "control: where reads are left to the kernel" 0 $?
rm -rf "$T/free" "$T/free.salts"; mkfifo "$T/free.salts"
timeout -k 1 60 "$USHER" run -p "$T/etc/free.rules" --journal "$T/free" -- true 2>"$T/err"; same "nor does such a session wait" 0 $?
seq=$(records "$T/fifo" | grep -a '"object":"/usr/bin/true"' | head -1 | sed 's/^{"seq":\([0-9]*\),.*/\1/')
timeout -k 1 60 "$USHER" log "$T/fifo" --prove "$seq" >"$T/out" 2>&1; same "nor who proves a record" 0 $?
rm -f "$T"/*.salts "$T/other"

# Where a rewrite led is what was touched.
fresh; mkdir "$T/project/led"
printf 'rewrite open %s/said/** -> %s/led/**\ndefault allow\n' "$T/project" "$T/project" >"$T/etc/w.rules"; chmod 600 "$T/etc/w.rules"
"$USHER" run -p "$T/etc/w.rules" --journal "$T/led" -- sh -c "mkdir said; echo x >said/f" 2>"$T/err"
same "control: a rewrite made it" x "$(cat "$T/project/led/f")"
log "$T/led" who-touched "$T/project/led/f" >"$T/who"; has "who-touched finds what a rewrite led there" "$T/project/said/f (named said/f) -> $T/project/led/f  rewrite" "$T/who"
log "$T/led" index; same "and with its index" "$(cat "$T/who")" "$(log "$T/led" who-touched "$T/project/led/f")"

# A file that was renamed or linked to where a rewrite led goes by that name from then on.
fresh
printf 'rewrite write %s/new -> %s/kept\ndefault allow\n' "$T/project" "$T/project" >"$T/etc/w.rules"
"$USHER" run -p "$T/etc/w.rules" --journal "$T/moved" -- sh -c "echo a >old; mv old new; cat kept; rm kept; echo b >old2; ln old2 new; cat kept; mv new out; cat out" >"$T/out" 2>"$T/err"
same "control: renamed and linked to where the rewrite led" "a b b b" "$(paste -sd' ' "$T/out") $(cat out)"
for round in "all read" "by an index"; do
	[ "$round" = "all read" ] || log "$T/moved" index
	same "who-touched follows it there ($round)" 2 "$(log "$T/moved" who-touched "$T/project/old" | grep -c "cat: openat read $T/project/kept ")"
	same "and from there ($round)" "1 1" "$(log "$T/moved" who-touched "$T/project/out" >"$T/who"; echo "$(grep -c "openat [a-z+]* $T/project/old2 " "$T/who") $(grep -c "cat: openat read $T/project/out " "$T/who")")"
done

# Which of two names was led elsewhere, and where each went when both were.
fresh
printf 'rewrite write,read %s/a -> %s/la\nrewrite write,read %s/b -> %s/lb\ndefault allow\n' "$T/project" "$T/project" "$T/project" "$T/project" >"$T/etc/w.rules"
echo a >la; "$USHER" run -p "$T/etc/w.rules" --journal "$T/both" -- sh -c 'mv a b; ln b c; mv c a; cat lb la' >"$T/out" 2>"$T/err"
same "control: what was led lies there" "a a" "$(paste -sd' ' "$T/out")"
log "$T/both" --json op:create | grep '"objects"' | sed "s|$T/project/||g" >"$T/out"
has "a record of a rename whose names were both led says of each where" '[{"op":["delete"],"object":"a","named":"a","to":"la"},{"op":["create"],"object":"b","named":"b","to":"lb"}]' "$T/out"
has "one of a link which of the two was" '"object":"b","named":"b","to":"lb"},{"op":["create"],"object":"c","named":"c"}]' "$T/out"
has "the line names both places" "renameat2 create+delete $T/project/a -> $T/project/lb (named a) -> $T/project/la  rewrite" <(log "$T/both")
for round in "all read" "by an index"; do
	[ "$round" = "all read" ] || log "$T/both" index
	same "who-touched goes on from place to place ($round)" "cat: openat read $T/project/lb" "$(log "$T/both" who-touched "$T/project/la" | grep -o "cat: openat read $T/project/lb" | sort -u)"
done

# What a mode or an owner became.
fresh; echo f >f; chmod 644 f
session "$T/modes" "umask 027; chmod 4711 f; chown $(id -u) f; chown :$(id -g) f; mkdir d; mkfifo p; : >made; chmod no f; chmod 0 no; ln -s '../a b' l; python3 -S -c 'import os; os.setxattr(\"f\", \"user.a\", b\"v\"); os.setxattr(\"f\", \"user.b\", b\"\"); os.removexattr(\"f\", \"user.a\"); os.truncate(\"f\", 1)'
	touch -d 2001-02-03T04:05:06.000000007Z f; touch -m -d @-1 f; touch -a f; touch f" 2>/dev/null
same "control: the mode was set" 711 "$(stat -c %a f | sed 's/^4//')"
log "$T/modes" "path:$T/project/**" | sed -n "s|$T/project/||g; s/  allow by.*//; s/^.*: //p" >"$T/out"
has "a line of chmod has the mode" "fchmodat attr f (named f) mode 4711" "$T/out"
has "one of chown the user" "attr f (named f) owner $(id -u):" "$T/out"; has "and the group" "attr f (named f) owner :$(id -g)" "$T/out"
has "one of mkdir the mode as it was said" "mkdir create d (named d) mode 0777" "$T/out"
has "mknod's has the type" "create p (named p) mode 10666" "$T/out"; same "a line of an open has none" 0 "$(grep -c "made.*mode" "$T/out")"
has "a symbolic link's line has what it says" 'create l (named l) link "../a b"' "$T/out"
has "one of setxattr the attribute" "setxattr attr f (named f) attribute user.a value v" "$T/out"
has "an empty value is none" "setxattr attr f (named f) attribute user.b" "$T/out"; has "and one that goes has none" "removexattr attr f (named f) attribute user.a" "$T/out"
same "but for these no value is said" 1 "$(grep -c ' value ' "$T/out")"
has "one of truncate the length" "truncate modify f (named f) length 1" "$T/out"
has "one of utimensat the times" "utimensat attr f accessed 2001-02-03T04:05:06.000000007Z modified 2001-02-03T04:05:06.000000007Z" "$T/out"
has "and only those that do not stay" "utimensat attr f modified @-1.000000000" "$T/out"; has "the present one too" "utimensat attr f accessed now" "$T/out"
same "where both are the present one nothing is said" 1 "$(grep -c 'utimensat attr f$' "$T/out")"
same "but its record has" '"mode":"0666"' "$(log "$T/modes" --json "path:$T/project/made" op:create | grep -o '"mode":"[0-7]*"')"
same "and that it empties what is there" '"length":0' "$(log "$T/modes" --json "path:$T/project/made" op:create | grep -o '"length":[0-9]*')"
cat >says.py <<'P'
import ctypes, os
libc = ctypes.CDLL(None)
for bad in (ctypes.c_char_p(b"a" * 5000), ctypes.c_void_p(8)):
    libc.chmod(bad, 0o4755)
    libc.chown(bad, os.getuid(), os.getgid())
queue = ctypes.c_char_p(b"/says%d" % os.getpid())
print(libc.mq_open(queue, os.O_CREAT | os.O_RDWR, 0o620, None) >= 0 and libc.mq_unlink(queue) == 0)
path = ctypes.c_char_p(b"/path%d" % os.getpid())
print(libc.mq_open(path, os.O_CREAT | os.O_RDWR | os.O_PATH, 0o620, None), libc.mq_unlink(path))
P
session "$T/says" "python3 says.py" >"$T/out" 2>/dev/null
same "control: a queue was made" True "$(head -n 1 "$T/out")"
same "a queue that is opened as a path is none, and none is left behind" "-1 -1" "$(tail -n 1 "$T/out")"
same "a record of a name that could not be read makes up no mode and no owner" "4 0" "$(log "$T/says" --json | grep '"call":"ch' >"$T/out"; grep -c 'EFAULT\|ENAMETOOLONG' "$T/out") $(grep -c '"mode"\|"owner"' "$T/out")"
same "one of a queue has its mode" '"mode":"0620"' "$(log "$T/says" --json call:mq_open | grep -o '"mode":"[0-7]*"' | sort -u)"

# Whether an open with O_CREAT found the file or made it. Linux 6.12 tells; O_EXCL insists on it.
fresh
cat >made.py <<'P'
import errno, fcntl, os
fd = os.open("first", os.O_CREAT | os.O_RDWR)
try: print(fcntl.fcntl(fd, 1028))
except OSError: print("no")
os.open("first", os.O_CREAT | os.O_RDWR | os.O_TRUNC)
os.open("new", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
try: os.open("new", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
except OSError: pass
os.open(".", os.O_TMPFILE | os.O_RDWR)
P
tells=$(python3 -S made.py); rm -f first new
made() { log "$1" --json call:openat by:python3 "path:$T/project/*" op:create | grep -c '"made":true'; }
if [ "$tells" = no ]; then expected=1; else expected=2; fi
session "$T/made" 'python3 -S made.py >out 2>err'; same "control: it is told as natively" "$tells" "$(cat out)"
same "a record tells what an open made (Linux 6.12 and O_EXCL: 2)" "$expected" "$(made "$T/made")"
rm -f first new; printf 'default allow\ndeny create %s/no\n' "$T/project" >"$T/etc/made.rules"; chmod 600 "$T/etc/made.rules"
"$USHER" run -p "$T/etc/made.rules" --journal "$T/made2" -- python3 -S made.py >out 2>err
same "where some names may not be made, too" "$expected" "$(made "$T/made2")"

# What flags change that nothing else tells; and what is done to a file that has lost its name, of which the name alone would say another.
fresh
cat >flags.py <<'P'
import ctypes, fcntl, os, struct
libc = ctypes.CDLL(None)
for n in "abc": open(n, "w")
at = ctypes.c_int(-100)
for old, new, how in ((b"a", b"none", 1), (b"a", b"b", 2), (b"b", b"c", 4)): libc.renameat2(at, old, at, new, how)
os.mkdir("d"); libc.unlinkat(at, b"d", 0x200)
try: os.open(".", os.O_TMPFILE | os.O_RDWR)
except OSError: pass
f = os.open("c", os.O_RDONLY)
try:
    flags, = struct.unpack("i", fcntl.ioctl(f, 0x80086601, b"....")) # FS_IOC_GETFLAGS
    fcntl.ioctl(f, 0x40086602, struct.pack("i", flags | 0x40))       # FS_IOC_SETFLAGS: nodump
    print("marked")
except OSError: print("no")
g = os.open("gone", os.O_CREAT | os.O_RDWR); os.link("gone", "kept"); os.unlink("gone"); open("gone", "w")
os.fchmod(g, 0o604); os.unlink("kept"); os.fchmod(g, 0o604)
try: os.rename("gone", "nowhere/there")
except OSError: pass
P
marked=$(python3 -S flags.py); rm -rf a b c none gone kept d; session "$T/flags" 'python3 -S flags.py >out 2>err'
log "$T/flags" --json >"$T/out"; flags() { grep "\"call\":\"$1\"" "$T/out" | grep -o '"flags":"[^"]*"' | sort | xargs; }
same "a record of a rename has its flags" "flags:exchange flags:noreplace flags:whiteout" "$(flags renameat2)"
same "one of unlinkat that a directory is meant" "flags:directory" "$(flags unlinkat)"; same "one of an open that the file has no name" "flags:tmpfile" "$(flags openat)"
if [ "$marked" = marked ]; then same "one of chattr what was set" nodump "$(flags ioctl | grep -o nodump)"; else skip "one of chattr what was set" "the file system has no such flags"; fi
same "a record of a deleted file says so, and that it has another name" '"deleted":true,"links":1 "deleted":true' "$(grep '"call":"fchmod"' "$T/out" | grep -o '"deleted":true\(,"links":[0-9]*\)\?' | paste -sd' ')"
log "$T/flags" >"$T/out.line"
same "the line of each says it, too" "exchange tmpfile whiteout" "$(grep -E ': (renameat2|openat) ' "$T/out.line" | grep -o ' flags [a-z]*' | cut -d' ' -f3 | sort | xargs)"
same "and what is meant by a name that was lost" "1 1" "$(grep ': fchmod ' "$T/out.line" | grep -c "/gone (deleted, inode [0-9]*) mode") $(grep ': fchmod ' "$T/out.line" | grep -c "/gone (deleted) mode")"
has "and where a rename should have led that failed before it was found" "/gone -> (named nowhere/there) (named gone)  none by native = ENOENT" "$T/out.line"
same "others have no such word" 2 "$(grep -c '"deleted"' "$T/out")"

# Which port, or name, the kernel gave where the program left it open.
fresh
cat >given.py <<'P'
import socket, sys
tcp, udp, six, late, named, abstract = (socket.socket(f, k) for f, k in ((2, 1), (2, 2), (10, 1), (2, 1), (1, 1), (2, 1)))
tcp.bind(("127.0.0.1", 0)); udp.bind(("127.0.0.1", 0)); late.listen(); named.bind("")
print("tcp:127.0.0.1:%d" % tcp.getsockname()[1]); print("udp:127.0.0.1:%d" % udp.getsockname()[1]); print("tcp:0.0.0.0:%d" % late.getsockname()[1])
print("unix:@" + named.getsockname()[1:].decode())
try: six.bind(("::1", 0)); print("tcp:[::1]:%d" % six.getsockname()[1])
except OSError: pass
abstract.bind(("127.0.0.1", tcp.getsockname()[1] ^ 1))
P
session "$T/given" 'python3 -S given.py >out 2>err'
same "control: ports and a name were given" yes "$([ "$(grep -c . out)" -ge 4 ] && echo yes)"
port=$(grep -m1 '^tcp:127' out)
same "one is found by it" "1 1" "$(log "$T/given" "path:$port" | grep -c bind) $(log "$T/given" who-touched "$port" | grep -c bind)"
check "an index of it is made" "$USHER" log "$T/given" index
same "and by the index" "1 1" "$(log "$T/given" "path:$port" | grep -c bind) $(log "$T/given" who-touched "$port" | grep -c bind)"
same "their lines say it" "$(sort out)" "$(log "$T/given" op:bind | sed -n 's/.* given \([^ ]*\).*/\1/p' | sort)"
same "records say which, and only of those" "$(sort out)" "$(log "$T/given" --json | grep -o '"given":"[^"]*"' | cut -d'"' -f4 | sort)"

# A name that looks like a pattern is meant by backslashes; who-touched takes no patterns.
fresh; session "$T/looks" ': >"[id].tsx"; : >i.tsx'
same "a backslash takes a pattern's character as it is" "1 1 1" "$(log "$T/looks" op:create 'path:**/\[id\].tsx' | grep -c '/\[id') $(log "$T/looks" op:create 'path:**/[id].tsx' | grep -c /i) $(log "$T/looks" who-touched '[id].tsx' | wc -l)"

# A socket that is a file is found by its name as one, and followed as one.
fresh
cat >sockets.py <<'P'
import os, socket
def at(name, what):
    s = socket.socket(socket.AF_UNIX); getattr(s, what)(name); return s
s = at("here", "bind"); s.listen(); at("here", "connect"); os.rename("here", "there"); at("there", "connect")
P
session "$T/sockets" 'python3 -S sockets.py'
for round in plain indexed; do
	[ $round = plain ] || check "an index of sockets is made" "$USHER" log "$T/sockets" index
	same "path: finds who connected ($round)" "1 1" "$(log "$T/sockets" "path:$PWD/here" op:connect | wc -l) $(log "$T/sockets" "path:$PWD/t*" op:connect | wc -l)"
	for n in here there "unix:$PWD/there"; do same "who-touched follows it ($round, ${n##*/})" "bind connect connect rename" "$(log "$T/sockets" who-touched "$n" | grep -oE ': (bind|connect|rename) ' | tr -d ': ' | sort | xargs)"; done
done

# As whom it was done: where a process of root's has become another user, records of what was done for it say so.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	fresh; chmod 777 .; session "$T/as" 'echo a >mine; setpriv --reuid 1000 --regid 1000 --clear-groups sh -c "echo b >theirs; chmod 600 theirs"; rm mine' 2>/dev/null
	same "control: it was made as another user" 1000 "$(stat -c %u theirs)"
	log "$T/as" --json type:call >"$T/out"
	same "records of what was done as another user say as whom" "2 2" "$(grep -c '"object":"[^"]*/theirs",.*"uid":1000,"result"' "$T/out") $(grep -c '"object":"[^"]*/theirs"' "$T/out")"
	same "an exec by it, too" 1 "$(grep '"call":"execve"' "$T/out" | grep -c '/chmod",.*"uid":1000')"
	same "others do not" 0 "$(grep 'mine"' "$T/out" | grep -c '"uid"')"
	same "nor do their lines" "3 0" "$(log "$T/as" | grep -cE '/(theirs|chmod).* uid 1000 ') $(log "$T/as" path:**/mine | grep -c ' uid ')"
fi

# What a record cannot hold is refused: the longest value beside the longest names is none of that, and the record has its beginning.
fresh
cat >value.py <<'P'
import errno, os
p = b"."
while len(os.getcwdb()) + len(p) < 3700: p += b"/" + b"\1" * 200
os.makedirs(p, exist_ok=True)
for n in (1000, 60000):
    try: os.setxattr(p, "user.v", b"\1" * n); print("set")
    except OSError as e: print(errno.errorcode[e.errno])
P
native=$(python3 -S value.py | xargs); session "$T/value" 'python3 -S value.py >out 2>err'
same "a long value of a long name is set as natively ($native)" "$native" "$(xargs <out)"
same "and its record tells how long it was" '"value_len":60000' "$(log "$T/value" --json call:setxattr | grep -o '"value_len":[0-9]*' | sort -u)"

# So is an exec in a directory whose name has no room beside the rest: the program runs, and its record tells how long that name is.
fresh
cat >deep.py <<'P'
import os, shutil
p = b"."
while len(os.getcwdb()) + len(p) < 3700: p += b"/" + b"\1" * 200
os.makedirs(p, exist_ok=True)
os.chdir(p)
shutil.copy("/bin/true", b"t")
for n in 1, 40: print(os.spawnv(os.P_WAIT, b"./t", [b"t"] + [b"\1" * 100] * n))
shutil.copy("/bin/bash", b"s")
print(os.spawnv(os.P_WAIT, os.getcwdb() + b"/s", [b"s", b"-c", b": >f & wait"]))
print(len(os.getcwdb()))
P
native=$(python3 -S deep.py | xargs); session "$T/deep" 'python3 -S deep.py >out 2>err'
same "programs run in a directory of a long name as natively ($native)" "$native" "$(xargs <out)"
log "$T/deep" --json call:execve >"$T/out"
same "and a record has its name, or how long it is where that has no room" "${native##* } 1" "$(sed -n 's/.*"cwd_len":\([0-9]*\).*/\1/p' "$T/out") $(grep -c '/t","named":"./t".*"cwd":"' "$T/out")"
same "a process of a program with such a name has a record of its end" 1 "$(log "$T/deep" --json type:note | grep -c '"event":"exit",.*"exe":"[^"]*/s"')"

# A value that cannot be read is none: nothing that usher's memory held before (another program's value, say) may come into its place.
cat >unread.py <<'P'
import ctypes, errno, os
open("f", "w").close()
c = ctypes.CDLL(None, use_errno=True)
c.setxattr.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
for n in [900, 2000] * 10:
    value = b"secret" * (n // 6)
    c.setxattr(b"f", b"user.read", value, len(value), 0)
    print(errno.errorcode.get(c.setxattr(b"f", b"user.unread", 8, len(value), 0) and ctypes.get_errno(), "set"))
P
native=$(python3 -S unread.py | sort -u | xargs); session "$T/unread" 'python3 -S unread.py >out 2>err'
same "a value that cannot be read is refused as natively" "EFAULT $native" "$native $(sort -u out | xargs)"
same "and its record has none" "20 0" "$(log "$T/unread" --json call:setxattr result:EFAULT >"$T/out"; grep -c '"attribute":"user.unread"' "$T/out") $(grep -c '"value' "$T/out")"

# An operation whose intent is too long for a slot has it in the chain. Once its outcome is there it is in flight no more, and was one, not two.
fresh; echo no >no
cat >long.py <<'P'
import os, sys
p = os.getcwdb() + b"/long"
for i in range(6): p += b"/" + b"\xff" * 120
os.makedirs(p, exist_ok=True)
if sys.argv[1:]:
    os.mkfifo(p + b"/fifo"); open("ready", "w").close(); os.open(p + b"/fifo", os.O_WRONLY)
open(p + b"/f", "w").close(); os.rename(p + b"/f", p + b"/g"); os.unlink(p + b"/g")
P
session "$T/long" 'python3 long.py'
same "control: an intent in the chain" 1 "$(records "$T/long" | grep -a '"intent":true' | grep -ac '"call":"unlink"')"
same "what was done is not in flight" "0 0" "$(log "$T/long" in-flight 2>/dev/null | wc -l) $(log "$T/long" | grep -c 'outcome not recorded')"
log "$T/long" --tree >"$T/out"; has "--tree counts it once" ", delete 2," "$T/out"
same "and --timeline" 1 "$(log "$T/long" --timeline call:unlink | awk '{ n += $2 } END { print n }')"
check "an index is made of it" "$USHER" log "$T/long" index; same "and says the same" 0 "$(log "$T/long" in-flight 2>/dev/null | wc -l)"
"$USHER" run -p "$T/etc/l.rules" --journal "$T/long2" -- python3 long.py wait 2>/dev/null &
pid=$!
wait_for test -e ready; wait_for sh -c "cat '$T'/long2/journal-* | grep -a 'intent.:true' | grep -aq /fifo"; kill -KILL $pid; wait $pid 2>/dev/null
log "$T/long2" in-flight >"$T/out"; same "what was not done when usher was killed is" "1 1" "$(wc -l <"$T/out") $(grep -c /fifo "$T/out")"
"$USHER" verify "$T/long2" >"$T/out"; has "and verify tells of it" "1 operation was in flight" "$T/out"

# A file that was renamed more than a thousand times, again and again, the last one first: its history is there at once, with an index as well.
python3 - "$T/renamed" <<'P'
import os, sys
os.mkdir(sys.argv[1])
line = ('{"seq":%d,"time":"2026-11-25T22:00:00.000000Z","prev":"' + "0" * 64 + '","type":"call","pid":1,"tid":1,"exe":"/b","call":"rename","op":["create","delete"],'
        '"objects":[{"op":["delete"],"object":"/d/n%d"},{"op":["create"],"object":"/d/n%d"}],"verdict":"allow","rule":"a:1","result":0}\n')
moves = [i for k in range(20) for i in range(1500, 0, -1)]
open(sys.argv[1] + "/journal-000001.jsonl", "w").write("".join(line % (n, i - 1, i) for n, i in enumerate(moves, 1)))
P
for round in plain index; do
	timeout 60 "$USHER" log "$T/renamed" who-touched /d/n1500 >"$T/out" 2>"$T/err"; same "a thousand names are followed ($round)" "0 20480" "$? $(wc -l <"$T/out")"
	has "and that they are not all is said ($round)" "more than 1024 names" "$T/err"
	timeout 60 "$USHER" log "$T/renamed" index; mv "$T/out" "$T/out.$round"
done
same "the same ones" "$(sha256sum <"$T/out.plain")" "$(sha256sum <"$T/out.index")"

# Who follows a session sees it to its end, whatever name its directory has by then, and whatever has its own.
mkdir "$T/named"; fresh
"$USHER" run -p "$T/etc/l.rules" --journal "$T/named/a" -- sh -c ': >ready; while [ ! -e go ]; do sleep 0.02; done; : >last' 2>/dev/null & pid=$!
wait_for test -e ready; "$USHER" log "$T/named/a" --follow path:"$T/project/*" >"$T/follows" 2>&1 & follower=$!
wait_for grep -q ready "$T/follows"; mv "$T/named/a" "$T/named/b"; mkdir "$T/named/a"
sleep 0.5; : >go; wait $pid; wait $follower; same "--follow goes on when the directory is renamed" 0 $?
has "and tells what came behind that" "$T/project/last" "$T/follows"

# Who follows a session sees what who reads it afterwards sees, also of one that was killed in the middle of a call.
fresh; mkfifo waits
"$USHER" run -p "$T/etc/l.rules" --journal "$T/followed" -- sh -c ': >a; mv a b; : >ready; : >waits' 2>/dev/null &
pid=$!
wait_for test -s "$T/followed/anchor"; "$USHER" log "$T/followed" --follow --json >"$T/follows" 2>"$T/err" & follower=$!
wait_for test -e ready; wait_for sh -c "\"$USHER\" log '$T/followed' in-flight | grep -q /waits"; kill -KILL $pid; wait $pid 2>/dev/null
wait $follower; same "--follow ends with a session that is killed" 0 $?
same "control: a call was under way" 1 "$(log "$T/followed" in-flight | grep -c /waits)"
same "--follow has shown all of it" "$(log "$T/followed" --json | sha256sum)" "$(sha256sum <"$T/follows")"

# Nor a part of one, where long arguments are cut, of an exec and of the script beside a stack; nor in the names of a stack.
fresh; echo no >no; printf 'try: open("no")\nexcept OSError: pass\n' >no.py; mkdir password=zebra2; cp no.py password=zebra2
pad() { head -c "$1" /dev/zero | tr '\0' x; }
session "$T/cut" "python3 no.py $(pad 1004) AKIAIOSFODNN7EXAMPLE; python3 password=zebra2/no.py; /bin/true $(pad 4076) AKIAIOSFODNN7EXAMPLE"
same "control: arguments are cut, scripts are told of" "1 2" "$(records "$T/cut" | grep -a '"object":"/usr/bin/true"' | grep -a '"result":0' | grep -ac '"argv_len":4097') $(records "$T/cut" | grep -ac '"script":')"
same "no part of a secret where arguments are cut, or in a stack" 0 "$(cat "$T"/cut/* | grep -acE 'AKIAI|zebra2')"

# jq, or another reader of JSON, reads every line; also of a session that was killed.
"$USHER" run -p "$T/etc/l.rules" --journal "$T/k" -- sh -c 'i=0; while :; do i=$((i+1)); : >"f$i"; done' 2>/dev/null &
pid=$!
wait_for test -e "$T/project/f50"; kill -KILL $pid; wait $pid 2>/dev/null
for d in a k; do
	if command -v jq >/dev/null; then
		cat "$T/$d"/*.jsonl | jq -c . >"$T/out" 2>&1; same "jq reads all of $d" 0 $?
		same "every record of $d" "$(cat "$T/$d"/*.jsonl | grep -ac '^{')" "$(wc -l <"$T/out")"
	fi
done

# prune: whole sessions, a signed line for each.
mkdir "$T/place"
cp -r "$T/a" "$T/place/one"; cp -r "$T/b" "$T/place/two"; cp -r "$T/k" "$T/place/killed"; mkdir "$T/place/other"; : >"$T/place/other/file"; : >"$T/place/one.salts"
touch -d '40 days ago' "$T"/place/{one,two,killed}/*
touch "$T"/place/two/journal-000001.jsonl
log prune --keep 30d "$T/place" >"$T/out"; same "prune removes what is old" "2 sessions removed" "$(tail -1 "$T/out")"
[ ! -e "$T/place/one" ] && [ ! -e "$T/place/one.salts" ] && [ -e "$T/place/two/anchor" ] && [ -e "$T/place/other/file" ] && ok "and nothing else" || not_ok "and nothing else" "$(ls -R "$T/place")"
# What a session that was killed before its first record left; a directory with a file called like one of it is not.
mkdir "$T/place/none" "$T/place/mine"; cp "$T/a/anchor" "$T/place/none"; : >"$T/place/none/segment.new"; : >"$T/place/mine/segment.new"; echo mine >"$T/place/mine/anchor"
touch -d '40 days ago' "$T"/place/{none,mine}/*
log prune --keep 30d "$T/place" >"$T/out"; has "prune removes what never began" "place/none (it never began)" "$T/out"
[ ! -e "$T/place/none" ] && [ -e "$T/place/mine/anchor" ] && ok "and not what is somebody's" || not_ok "and not what is somebody's" "$(ls -R "$T/place")"
log prune --keep 0s "$T/place" >"$T/out"; sleep 1.1; log prune --keep 0s "$T/place" >>"$T/out"
same "three tombstones" 3 "$(wc -l <"$T/place/pruned.jsonl")"
"$USHER" verify "$T/place/pruned.jsonl" >"$T/out" 2>&1; same "which verify" 0 $?
cp -p "$T/place/pruned.key" "$T/key"; truncate -s 10 "$T/place/pruned.key"
"$USHER" verify "$T/place/pruned.jsonl" >"$T/out" 2>&1; same "not beside half a key" "2 1" "$? $(grep -c 'is not whole' "$T/out")"
cp -p "$T/key" "$T/place/pruned.key"
mkdir -p "$T/odd/dir/pruned.jsonl" "$T/odd/pipe" "$T/odd/key"
mkfifo "$T/odd/pipe/pruned.jsonl" "$T/odd/key/pruned.key"; cp "$T/place/pruned.jsonl" "$T/odd/key/"
for k in dir pipe key; do
	timeout 20 "$USHER" verify "$T/odd/$k/pruned.jsonl" >"$T/out" 2>&1; same "a $k in their place is not whole, and keeps nobody" "2 0" "$? $(grep -c '^whole' "$T/out")"
done
# Nor does a hole of a gigabyte, without an end of a line in it, become one line in memory.
mkdir "$T/odd/hole"; truncate -s 1G "$T/odd/hole/pruned.jsonl"
same "a hole in their place is not whole, nor held in memory" "1 True" "$(peak "$USHER" verify "$T/odd/hole/pruned.jsonl")"
sed -i '2s/"records":/"records":1/' "$T/place/pruned.jsonl"; "$USHER" verify "$T/place/pruned.jsonl" >"$T/out" 2>&1; same "a changed one does not" 1 $?

# A line for which there is not room enough leaves nothing that would stop the next.
mkdir "$T/full"; cp -r "$T/a" "$T/full/one"; cp -r "$T/a" "$T/full/two"; touch -d '40 days ago' "$T"/full/*/*
(ulimit -f 1; log prune --keep 30d "$T/full" >"$T/out" 2>&1); same "prune with room for one line" 1 "$(find "$T/full" -name 'journal-*' | wc -l)"
log prune --keep 30d "$T/full" >"$T/out" 2>&1; same "goes on when there is room" "1 session removed" "$(tail -1 "$T/out")"
"$USHER" verify "$T/full/pruned.jsonl" >"$T/out" 2>&1; has "and its lines verify" "2 removed sessions" "$T/out"

# A pipe in the place of the key, fed by whoever left it there, gives no key and keeps nobody.
mkdir "$T/fed"; cp -r "$T/a" "$T/fed/one"; touch -d '40 days ago' "$T"/fed/*/*; mkfifo "$T/fed/pruned.key"
python3 -c 'import array, fcntl, os, sys, termios, time
fd = os.open(sys.argv[1], os.O_RDWR); os.write(fd, b"A" * 64); n = array.array("i", [1]); open(sys.argv[1] + ".fed", "w")
for _ in range(1000):
	for _ in range(100): fcntl.ioctl(fd, termios.FIONREAD, n) if n[0] else None
	if not n[0]: break
	time.sleep(0.0001)' "$T/fed/pruned.key" &
wait_for test -e "$T/fed/pruned.key.fed"
timeout -k 1 60 "$USHER" log prune --keep 30d "$T/fed" >"$T/out" 2>&1; same "prune takes no key from a pipe" "2 1" "$? $(find "$T/fed/one" -name 'journal-*' | wc -l)"
wait $!

# Of several sessions the newest is asked: what is not found there may be in another, so it is named.
"$USHER" run -p "$T/etc/allow.rules" --ask=deny -- true
newest=$(find "$XDG_STATE_HOME/usher" -mindepth 1 -maxdepth 1 -name '*-*' -type d)
log denied >"$T/out"; same "the newest session is named where it has no answer" "0 $newest" "$? $(grep -o '[^ ]*$' "$T/out")"
log type:end >"$T/out"; same "and not where it has" 0 "$(grep -c "$newest" "$T/out")"
log "$T/b" call:ptrace >"$T/out"; same "nor one that was named" 0 "$(wc -c <"$T/out")"

# The default place: a home that cannot be written.
unset XDG_STATE_HOME
: >"$T/nohome"
HOME=$T/nohome XDG_RUNTIME_DIR=$T/etc "$USHER" run -p "$T/etc/l.rules" -- true >"$T/out" 2>&1; same "runs without a home to write" 0 $?
has "and says where the journal goes" "$T/etc/usher-journals" "$T/out"
HOME=$T/nohome XDG_RUNTIME_DIR=$T/etc "$USHER" log type:end >"$T/out" 2>&1; has "log finds it" "end" "$T/out"

# A place that a tree has closed (who may change modes in a home may do it above the journals) is not one without sessions.
if is_root; then
	skip "a place that is closed" "root reaches all"
elif sessions_in_tmp; then
	skip "a place that is closed" "there is a session of this user's in /tmp"
else
	mkdir -p "$T/closed/usher"
	chmod 0 "$T/closed"
	same "log says that a place is closed" "usher log: $T/closed/usher: Permission denied" "$(XDG_STATE_HOME=$T/closed XDG_RUNTIME_DIR=$T/none "$USHER" log 2>&1 | cut -d';' -f1)"
	same "so does verify" "usher verify: $T/closed/usher: Permission denied" "$(XDG_STATE_HOME=$T/closed XDG_RUNTIME_DIR=$T/none "$USHER" verify 2>&1 | cut -d';' -f1)"
	chmod 700 "$T/closed"
fi

# A session of several days: what is of another day than its first says of which.
mkdir "$T/days"
say() { echo "{\"seq\":$1,\"time\":\"2026-11-$2T22:00:00.000000Z\",\"prev\":\"$(printf '%064d' 0)\",\"type\":\"call\",\"pid\":5,\"tid\":5,\"exe\":\"/bin/a\",\"call\":\"openat\",\"op\":[\"read\"],\"object\":\"/x\",\"verdict\":\"deny\",\"rule\":\"a:1\",\"result\":\"EACCES\"}"; }
{ say 1 20; say 2 20; say 3 21; say 4 22; say 5 20; } >"$T/days/journal-000001.jsonl"
days() { "$USHER" log "$T/days" "$@" | grep -oE '^[0-9]+ [^ ]+' | tr '\n' ' '; }
same "log shows the day where it is not the first" "1 22:00:00.000 2 22:00:00.000 3 2026-11-21T22:00:00.000Z 4 2026-11-22T22:00:00.000Z 5 22:00:00.000 " "$(days)"
same "a query that finds no other day's, too" "4 2026-11-22T22:00:00.000Z " "$(days denied since:2026-11-22)"
same "who-touched as well" "3 2026-11-21T22:00:00.000Z " "$(days who-touched /x | grep -oE '3 [^ ]+ ')"
same "and explain" "3 2026-11-21T22:00:00.000Z " "$(days explain 3 | grep -oE '^3 [^ ]+ ')"

finish
