#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Bad input: broken rules, odd names, unreadable memory. Native errno, one journal line, nothing started in vain.
. "$(dirname "$0")/lib.sh"
fresh

# A broken rule file lists every error with its place and a caret, and starts nothing.
cat >"$T/etc/broken.rules" <<'EOF'
default allow
allow fly /tmp/**
deny read /x bogus=1
allow read "unfinished
rewrite open /a ->
allow connect tcp:host:99999999
allow read $UNSET_NAME/x
deny read /x errno=ENOTANERRNO
EOF
chmod 600 "$T/etc/broken.rules"
"$USHER" run -p "$T/etc/broken.rules" --journal "$T/jb" -- touch "$T/project/started" >"$T/out" 2>&1
same "a broken rule file: 125" 125 $?
[ ! -e "$T/project/started" ] && ok "starts nothing" || not_ok "starts nothing"
for l in 2 3 4 5 6 7 8; do
	if grep -q "broken.rules:$l:[0-9]*:" "$T/out"; then ok "names line $l"; else not_ok "names line $l" "$(cat "$T/out")"; fi
done
grep -q '\^' "$T/out" && ok "shows a caret" || not_ok "shows a caret" "$(cat "$T/out")"
"$USHER" check "$T/etc/broken.rules" >"$T/out" 2>&1 && not_ok "check fails on it" || ok "check fails on it"
printf 'default allow\n\xff\xfe\x00rubbish\n' >"$T/etc/bin.rules"; chmod 600 "$T/etc/bin.rules"
"$USHER" run -p "$T/etc/bin.rules" --journal "$T/jb2" -- touch "$T/project/started" >"$T/out" 2>&1; same "a binary rule file: 125" 125 $?
mkdir "$T/etc/dir.rules"; "$USHER" run -p "$T/etc/dir.rules" --journal "$T/jb3" -- true >"$T/out" 2>&1; same "a folder as rule file: 125" 125 $?
cp "$T/etc/allow.rules" "$T/etc/other.rules"; chmod 666 "$T/etc/other.rules"
"$USHER" run -p "$T/etc/other.rules" --journal "$T/jb4" -- true >"$T/out" 2>&1; same "a rule file anybody can write: 125" 125 $?

# Odd names, pointers and flags: the same errno natively and supervised.
if [ -x "$BIN/odd" ]; then
	fresh
	"$BIN/odd" >"$T/native" 2>&1; rc=$?
	fresh
	supervise allow "$BIN/odd" >"$T/supervised" 2>"$T/err"; got=$?
	same "odd names and pointers: status" "$rc" "$got"
	if cmp -s "$T/native" "$T/supervised"; then ok "odd names and pointers: $(wc -l <"$T/native") results"; else
		not_ok "odd names and pointers" "$(diff -a "$T/native" "$T/supervised" | grep -ac '^>') of $(wc -l <"$T/native") differ:" "$(diff -a "$T/native" "$T/supervised" | head -n 60)"
	fi
else skip odd "the helper was not built"; fi

fresh
supervise allow sh -c 'for n; do : > "$n"; done' x $'line\nbreak' $'\xff\xfe\x80' $'esc\033[2J' 'quo"te' 'back\slash' 2>"$T/err"
same "names arrive on disk as they are" 5 "$(find . -mindepth 1 -printf x | wc -c)"
records "$JOURNAL" >"$T/records"
same "the journal is printable, one record per line" 0 "$(LC_ALL=C grep -vacE '^\{[ -~]*\}$' "$T/records")"
if command -v python3 >/dev/null; then
	same "each name has one record, all of them JSON" "1 1 1 1 1" "$(python3 - "$T/records" "$T/project" <<'P'
import json, sys
seen = [json.loads(l) for l in open(sys.argv[1])]
made = [r.get("object", "") for r in seen if r.get("type") == "call" and "create" in (r.get("op") or []) and r.get("object", "").startswith(sys.argv[2] + "/")]
print(*[sum(1 for m in made if m == x) for x in sorted(set(made))])
P
)"
fi
finish
