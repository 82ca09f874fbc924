#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Rows 79 and 81: a file's name that looks like a record, two names that look alike; a name, an argument, a link or a number as
# somebody else's identity. The controls: natively the line is there, the name is taken, the number is had again; and the program that
# the rule means gets what the others must not.
T=$(mktemp -d /tmp/usher-identity.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
chmod 755 "$T"
cp "$USHER" "$T/usher"
bad=0
say() { # GOOD NAME [SEEN]
	if [ "$1" = 0 ]; then echo "ok $2"; else echo "not ok $2: ${3:-}"; bad=1; fi
}
U=$T/usher
mkdir "$T/p"
cd "$T/p" || exit 1
echo SECRET >secret
cp /bin/cat thief
cp /bin/cat friend
cat >"$T/by.rules" <<R
allow read $T/p/secret by=$T/p/friend
deny read $T/p/secret
default allow
R
echo 'default allow' >"$T/all.rules"
chmod 600 "$T"/*.rules
under() { rm -rf "$T/j"; "$U" run -p "$T/by.rules" --journal "$T/j" -- "$@" 2>/dev/null; }

# Row 81: who one is called does not count.
[ "$(under ./friend secret)" = SECRET ]; say $? "row 81: control: the program that the rule means"
tries=(
	"its argv[0]|exec -a $T/p/friend ./thief secret"
	"its name in /proc/self/comm|printf friend >/proc/\$BASHPID/comm; [ \"\$(</proc/\$BASHPID/comm)\" = friend ] && read -r x <secret && echo \$x"
	"a file of its name elsewhere|mkdir -p d; cp thief d/friend; d/friend secret"
	"a link of its name|mkdir -p l; ln -sf ../thief l/friend; l/friend secret"
)
for t in "${tries[@]}"; do
	name=${t%%|*} script=${t#*|}
	[ "$(bash -c "$script" 2>/dev/null)" = SECRET ]; say $? "row 81: control: natively it reads: $name"
	out=$(under bash -c "$script")
	[ -z "$out" ]; say $? "row 81: identity by $name" "$out"
done
under bash -c "exec -a $T/p/friend ./thief secret"
exe=$("$U" log --json "$T/j" "path:$T/p/secret" | sed 's/.*"exe":"\([^"]*\)".*/\1/' | tail -1)
[ "$exe" = "$T/p/thief" ]; say $? "row 81: the record names the program that ran" "$exe"

# Row 81: a number that is used anew. In a pid namespace, where the next number can be chosen.
cat >"$T/again.sh" <<'S'
for i in 1 2 3 4 5 6 7 8 9 10; do
	./friend secret >first & p=$!
	wait $p
	echo $((p - 1)) >/proc/sys/kernel/ns_last_pid || exit 77
	{ read -r x <secret && echo "$x"; } >second 2>/dev/null & q=$!
	wait $q
	[ $p != $q ] || { cat first second; exit 0; }
done
exit 77
S
ns=(unshare -pf --mount-proc)
[ "$(id -u)" = 0 ] || ns=(unshare -Urpf --mount-proc)
if "${ns[@]}" bash "$T/again.sh" >"$T/out" 2>/dev/null; then
	[ "$(grep -c SECRET "$T/out")" = 2 ]; say $? "row 81: control: natively who has the number reads"
	if "${ns[@]}" "$U" run -p "$T/by.rules" --journal "$T/jn" -- bash "$T/again.sh" >"$T/out" 2>/dev/null; then
		[ "$(grep -c SECRET "$T/out")" = 1 ]; say $? "row 81: a number that was the friend's" "$(cat "$T/out")"
	else
		echo "skip row 81: a number that was the friend's: no number came again"
	fi
else
	echo "skip row 81: a number that was the friend's: no pid namespace, or its numbers cannot be chosen"
fi

# Row 81: the hash that a question tells of a program is that of the file as it is, also where a write leaves no trace but itself: on a tmpfs, through a mapping.
cat >"$T/write.py" <<'P'
import mmap, os, sys
before = os.stat(sys.argv[1])
with open(sys.argv[1], "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
    m[15] ^= 1 # of ELF's own padding
after = os.stat(sys.argv[1])
sys.exit(before.st_ctime_ns != after.st_ctime_ns or before.st_mtime_ns != after.st_mtime_ns)
P
cat >"$T/note.sh" <<S
#!/bin/sh
tr , '\\n' | sed -n 's/.*"value":"\\([0-9a-f]\\{64\\}\\)".*/\\1/p' >>$T/said
echo '{"answer":"deny"}'
S
chmod 755 "$T/note.sh"
printf 'ask read %s/p/secret\ndefault allow\n' "$T" >"$T/ask.rules"; chmod 600 "$T/ask.rules"
mem=$(mktemp -d /dev/shm/usher-identity.XXXXXX) && [ "$(stat -f -c %T "$mem")" = tmpfs ] && command -v python3 >/dev/null
if [ $? = 0 ]; then
	cp /bin/cat "$mem/prog"; one=$(sha256sum <"$mem/prog"); python3 "$T/write.py" "$mem/prog"; same=$?; two=$(sha256sum <"$mem/prog"); python3 "$T/write.py" "$mem/prog"
	[ $same = 0 ] && [ "$one" != "$two" ]; say $? "row 81: control: natively a program is another, with the times it had"
	"$U" run -p "$T/ask.rules" --ask="exec:$T/note.sh" --journal "$T/jh" -- bash -c "$mem/prog secret; python3 $T/write.py $mem/prog; $mem/prog secret; $mem/prog secret" >/dev/null 2>&1
	[ "$(cat "$T/said")" = "$(printf '%s\n' "${one%% *}" "${two%% *}" "${two%% *}")" ]; say $? "row 81: a hash of what a program was" "$(cat "$T/said")"
else
	echo "skip row 81: a hash of what a program was: no tmpfs, or no python3"
fi
rm -rf "$mem"

# Row 79: names as lines, and names that look alike.
mkdir "$T/names"
cat >"$T/make.sh" <<'S'
cd "$1" || exit 1
: >$'x\n{"seq":1,"type":"call","verdict":"allow","object":"forged"}\n'
: >$'y","verdict":"allow","result":0}'
for n in $'\xff' $'\xee\xbf\xbf' $'\xef\xbf\xbd' '\uefff' $'\xed\xa0\x80' $'e\xcc\x81' $'\xc3\xa9' $'a\xe2\x80\xaeb' $'a\e[8mb' 'ab'; do : >"$n"; done
S
bash "$T/make.sh" "$T/names"
[ "$(printf '%s\n' "$T"/names/* | grep -ac '^{"seq":1,')" = 1 ]; say $? "row 79: control: natively the name is a line of its own"
rm -rf "$T/names"; mkdir "$T/names"
"$U" run -p "$T/all.rules" --journal "$T/jf" -- bash "$T/make.sh" "$T/names" 2>/dev/null
[ "$(cat "$T"/jf/*.jsonl | grep -ac '^{"seq":1,')" = 1 ] && "$U" verify --closed "$T/jf" >/dev/null; say $? "row 79: a name that looks like a record"
"$U" log "$T/jf" op:create "path:$T/names/**" >"$T/out"
[ "$(wc -l <"$T/out")" = 12 ] && ! LC_ALL=C grep -qa '[^ -~]' "$T/out"; say $? "row 79: one line for each, in printable ASCII" "$(cat "$T/out")"
[ "$("$U" log --json "$T/jf" op:create "path:$T/names/**" | sed 's/.*"object":"\(\([^"\\]\|\\.\)*\)".*/\1/' | sort -u | wc -l)" = 12 ]
say $? "row 79: twelve names, no two alike"
exit $bad
