#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A journal that somebody else made: whatever shows it, its bytes do not act on the terminal.
. "$(dirname "$0")/lib.sh"
need python3
umask 077
python3 - "$T/foreign" <<'P'
import hashlib, os, sys
os.mkdir(sys.argv[1])
head = b'"time":"2026-11-25T22:00:00.000000Z","prev":"' + b"0" * 64 + b'",'
act = b',"z":"\x1b]0;OWNED\x07\x1b[31m\x9b\x7f"'
call = (b'{"seq":%d,' + head + b'"type":"call","pid":5,"ppid":1,"tid":5,"exe":"/bin/a","call":"openat","op":["read"],'
        b'"object":"/x","verdict":"%s","rule":"a:1","result":0,"review":1' + act + b"}")
record = call % (1, b"allow")
seal = b'{"seq":2,' + head + b'"type":"seal","key":"' + b"a" * 64 + b'","root":"' + hashlib.sha256(record).hexdigest().encode() + b'"' + act + b"}"
note = b'{"seq":3,' + head + b'"type":"note","event":"question","text":"x"' + act + b"}"
open(sys.argv[1] + "/journal-000001.jsonl", "wb").write(b"\n".join((record, seal, note, call % (4, b"deny"))) + b"\n")
P
F=$T/foreign
cp -r "$F" "$T/other"
sed -i 's|/bin/a|/bin/b|' "$T/other/journal-000001.jsonl"
bytes() { grep -acP '[^\x20-\x7e\t\n]' "$1"; }
same "control: the journal itself holds such bytes" 4 "$(bytes "$F/journal-000001.jsonl")"
# Whatever it says, it says something.
plain() { # NAME COMMAND...
	"$USHER" "${@:2}" >"$T/out" 2>&1
	[ -s "$T/out" ] || not_ok "$1 says something"
	same "$1: printable" 0 "$(bytes "$T/out")"
}
plain "log" log "$F"
plain "log --json" log "$F" --json
plain "log --tree" log "$F" --tree
plain "log --timeline" log "$F" --timeline
plain "log of a query" log "$F" /x
plain "log of a query, --json" log "$F" denied --json
plain "who-touched" log "$F" who-touched /x
plain "who-touched --json" log "$F" who-touched /x --json
plain "explain" log "$F" explain 1
plain "explain with what came before" log "$F" explain 4
plain "prove" log "$F" prove 1
check "which proves what is there" grep -q '^{"record":{"seq":1,' "$T/out"
plain "diff" log diff "$F" "$T/other"
plain "verify" verify "$F"
# What has the name of a segment and is no file is named, and is damage.
mkdir "$T/odd"
ln -s "$F/journal-000001.jsonl" "$T/odd/journal-000001.jsonl"
"$USHER" verify "$T/odd" >"$T/out" 2>&1
same "a link in the place of a segment is damage" 1 $?
check "which is named" grep -q 'odd/journal-000001.jsonl, record 1: it is no file' "$T/out"
"$USHER" log "$T/odd" >"$T/out" 2>&1
check "usher log says what it cannot read" grep -q "odd: a segment of it is no file but a link, .*'usher verify' names it" "$T/out"
# The names of its files are its maker's, too.
"$USHER" run -p builtin:audit --journal "$T/whole" -- true 2>/dev/null
: >"$T/whole/journal-x.jsonl"
"$USHER" verify --quiet "$T/whole"; same "control: a whole journal beside an empty file of another name" 0 $?
N=$'journal-\e[31m\x9b.jsonl'
echo '{"seq":1}' >"$T/whole/$N"
plain "verify of a file that is none of its segments" verify "$T/whole"
check "and names it" grep -qF 'journal-\u001b[31m\uef9b.jsonl' "$T/out"
rm "$T/whole/$N" "$T/whole/journal-x.jsonl"
mkdir "$T/place"
touch -d '2 hours ago' "$T/whole/"*
mv "$T/whole" "$T/place/"$'s\e[31m'
plain "prune of a session of such a name" log prune --keep 1h "$T/place"
check "which names it" grep -qF 's\u001b[31m (' "$T/out"
plain "desk review" desk review --journal="$F"
plain "desk review --json" desk review --journal="$F" --json
plain "desk review show" desk review show r1 --journal="$F"
plain "desk review show --json" desk review show r1 --journal="$F" --json

# A NUL in a line: what is shown is from the line, and the same everywhere.
python3 - "$F/journal-000001.jsonl" "$T/nul" <<'P'
import hashlib, os, re, sys
lines = [re.sub(rb',"z":"[^"]*"', b"", l) for l in open(sys.argv[1], "rb").read().splitlines()]
lines[0], lines[3] = [l.replace(b'"object":"/x"', b'"object":"/x\0y"') for l in (lines[0], lines[3])]
lines[1] = re.sub(rb'"root":"[^"]*"', b'"root":"' + hashlib.sha256(lines[0]).hexdigest().encode() + b'"', lines[1])
os.mkdir(sys.argv[2])
open(sys.argv[2] + "/journal-000001.jsonl", "wb").write(b"\n".join(lines) + b"\n")
P
N=$T/nul
"$USHER" log "$N" seq:1 >"$T/line"
check "control: it is read as far as it is a record" grep -q "^1 .* a: openat read" "$T/line"
"$USHER" log "$N" explain 1 >"$T/out" 2>&1; same "explain shows the same line" "$(cat "$T/line")" "$(head -n 1 "$T/out")"
"$USHER" log "$N" explain 4 >"$T/out" 2>&1; same "as what came before, too" "$(cat "$T/line")" "$(tail -n 1 "$T/out")"
"$USHER" log "$N" prove 1 >"$T/out" 2>&1
check "prove shows it whole" grep -q '^{"record":{"seq":1,.*"object":"/x\\u0000y",.*"result":0,"review":1},"index":0' "$T/out"

# The name of its directory is its maker's as well.
O=$T/$'act\e]0;OWNED\a\nwhole: all\x9b'
mkdir "$O" "$O/sessions"; cp "$F"/journal-* "$O"; cp -r "$F" "$O/sessions/one"
plain "verify below such a name" verify "$O"
same "and what it says is one journal's" 0 "$(grep -c '^whole: all' "$T/out")"
"$USHER" run -p builtin:audit --journal "$T/good" -- true 2>/dev/null; mkdir "$O/good"; cp "$T"/good/* "$O/good"
plain "verify of a whole one" verify "$O/good"
plain "log of nothing in it" log "$O" who-touched /nothing
plain "sessions below it" log sessions "$O/sessions"
plain "no sessions below it" log sessions "$O/sessions/one"
plain "desk review of none" desk review --journal="$O/sessions"
plain "desk review rules of it" desk review rules --journal="$O"
: >"$O/pruned.jsonl"; plain "verify of what was removed" verify "$O/pruned.jsonl"
touch -d '3 days ago' "$O/sessions/one/"*; cp "$T/good/anchor" "$O/sessions/one"; touch -d '3 days ago' "$O/sessions/one/"*
plain "prune" log prune --keep 1d "$O/sessions"

# What is no file is said to be none.
mkdir "$T/link"; ln -s "$T"/good/journal-000001.jsonl "$T/link"
"$USHER" desk review --journal="$T/link" >"$T/out" 2>&1; has "desk review of a link says what it is" "no file but a link" "$T/out"

# A line that is no JSON keeps nobody from reading the others.
"$USHER" run -p builtin:audit --journal "$T/cut" -- true 2>/dev/null
parsed() { # NAME: every line of $T/out is JSON; prints how many, and how many are damaged
	same "$1" "$2" "$(python3 -c '
import json, sys
all = [json.loads(l) for l in open(sys.argv[1])]
print(len(all), sum(list(r) == ["damaged"] for r in all))' "$T/out" 2>&1 | tail -n 1)"
}
"$USHER" log "$T/cut" --json >"$T/out" 2>&1
N=$(wc -l <"$T/out")
parsed "control: a whole journal" "$N 0"
sed -i -e '2s/"time":/"time"/' -e '3s/}$/\t}/' -e '4s/"seq":4/"seq":/' "$T/cut/journal-000001.jsonl"
"$USHER" log "$T/cut" --json >"$T/out" 2>&1
parsed "log --json of a damaged one" "$N 3"
check "the damaged lines as they are" grep -q '^{"damaged":"{\\"seq\\":2,\\"time\\"\\"' "$T/out"
finish
