#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waits
# Programs by content and by who could change them: sha256=, trusted, builtin:trusted.
. "$(dirname "$0")/lib.sh"
fresh
P=$T/project R=$T/etc/content.rules
cp /bin/echo "$P/good" && cp /bin/true "$P/other" || exit 1
printf '#!/bin/sh\necho script\n' >"$P/script"; chmod +x "$P/script"
sum() { sha256sum "$1" | cut -d' ' -f1; }
run() { "$USHER" run "${LAYERS[@]}" --ask=deny --journal "$T/j$RANDOM$RANDOM" -- "$@" 2>"$T/err"; }
LAYERS=(-p "$R")
printf 'allow exec %s/* sha256={%s,%s}\ndeny exec %s/*\ndefault allow\n' "$P" "$(sum "$P/good")" "$(sum "$P/script")" "$P" >"$R"; chmod 600 "$R"
same "the pinned program runs" "x" "$(run "$P/good" x)"
same "a copy of it runs" "x" "$(cp "$P/good" "$P/copy"; run "$P/copy" x)"
run "$P/other"; same "another content does not" 126 $?
same "the pinned script runs" "script" "$(run "$P/script")"
echo 'echo more' >>"$P/script"
run "$P/script"; same "a changed script does not" 126 $?
cp "$P/other" "$P/good"; run "$P/good" x; same "a replaced program does not" 126 $?
printf x >>"$P/copy"; run "$P/copy" x; same "a longer one does not" 126 $?

# What was read is kept while nothing writes the file, and no longer.
cat >"$T/mapped.py" <<'P'
import mmap, sys
f = open(sys.argv[1], "r+b"); m = mmap.mmap(f.fileno(), 0); f.close()
m[-1] = m[-1]                    # the page is writable from now on
print("mapped", flush=True); sys.stdin.readline()
m[-1] ^= 1; m.close()
P
cp /bin/echo "$P/kept"; cp /bin/echo "$P/back"; printf pad >>"$P/kept"; cp -p "$P/kept" "$P/keep"
printf 'allow exec %s/kept sha256=%s\ndeny exec %s/kept\ndefault allow\n' "$P" "$(sum "$P/kept")" "$P" >"$R"
LAYERS=(-p "$R")
same "written in place after it was read" "1 2" "$(run sh -c "sleep 2.1; $P/kept 1; $P/kept 2; cat $P/back >$P/kept; $P/kept 3" | xargs)"
cat "$P/keep" >"$P/kept"
same "one byte, its times put back" "1 2" "$(run sh -c "sleep 2.1; $P/kept 1; $P/kept 2; printf X | dd of=$P/kept bs=1 seek=$(($(stat -c %s "$P/kept") - 1)) conv=notrunc 2>/dev/null; touch -r $P/keep $P/kept; $P/kept 3" | xargs)"
cat "$P/keep" >"$P/kept"
if command -v python3 >/dev/null; then
	same "written through memory that was mapped before" "1" "$(run bash -c "sleep 2.1; $P/kept 1; coproc python3 $T/mapped.py $P/kept; read -r x <&\${COPROC[0]}; sleep 2.1; $P/kept 2; echo >&\${COPROC[1]}; wait; $P/kept 3" | xargs)"
fi
if command -v python3 >/dev/null && [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] && [ -w /dev/shm ]; then
	S=$(mktemp -d /dev/shm/usher-content.XXXXXX); at_exit "rm -rf $S"
	cp "$P/keep" "$S/kept"
	printf 'allow exec %s/kept sha256=%s\ndeny exec %s/kept\ndefault allow\n' "$S" "$(sum "$S/kept")" "$S" >"$R"
	same "written through a mapping on a tmpfs, which moves no time" "1 2 same" "$(run bash -c "sleep 2.1; $S/kept 1; $S/kept 2; t=\$(stat -c %y%z $S/kept); echo | python3 $T/mapped.py $S/kept >/dev/null; [ \"\$t\" != \"\$(stat -c %y%z $S/kept)\" ] || echo same; $S/kept 3" | xargs)"
else
	skip "written through a mapping on a tmpfs"
fi

# What ran, by its content, in the record: of a program, of a script and its interpreter, of what was refused, and of what ran instead.
cp /bin/echo "$P/said"; printf '#!%s/said\n' "$P" >"$P/line"; chmod +x "$P/line"; cp /bin/true "$P/no"
printf 'default allow\nallow exec ** hash\n' >"$T/etc/hash.rules"
printf 'deny exec %s/no\nrewrite exec %s/led -> %s/said\ndefault allow\n' "$P" "$P" "$P" >"$R"; chmod 600 "$T/etc/hash.rules"
"$USHER" run -p "$T/etc/hash.rules" -p "$R" --journal "$T/hashed" -- sh -c "$P/line; $P/no; cp $P/said $P/led; $P/led it; $P/none" >"$T/out" 2>"$T/err"
same "control: they ran, and one was led" "$P/line it" "$(xargs <"$T/out")"
hashed() { "$USHER" log "$T/hashed" --json op:exec "$@"; }
has "a record has the content of a script, and of its interpreter" "\"sha256\":\"$(sum "$P/line")\"},{\"op\":[\"exec\"],\"object\":\"$P/said\",\"sha256\":\"$(sum "$P/said")\"}" <(hashed "path:$P/line")
has "of what another layer refused" "\"object\":\"$P/no\",\"sha256\":\"$(sum "$P/no")\",\"verdict\":\"deny\"" <(hashed "path:$P/no")
has "of what ran instead" "\"to\":\"$P/said\",\"to_sha256\":\"$(sum "$P/said")\"" <(hashed "path:$P/led")
printf 'kill exec %s/no hash\ndefault allow\n' "$P" >"$T/etc/kill.rules"; chmod 600 "$T/etc/kill.rules"
"$USHER" run -p "$T/etc/kill.rules" --journal "$T/ended" -- sh -c "$P/no; sleep 9" 2>"$T/err"
has "and of what ended the session" "\"sha256\":\"$(sum "$P/no")\",\"verdict\":\"kill\"" <("$USHER" log "$T/ended" --json op:exec)
same "of what is not there it has none" 0 "$(hashed "path:$P/none" | grep -c sha256)"
same "they are found by it" "2 1" "$(hashed "sha256:$(sum "$P/said")" | wc -l) $(hashed "sha256:$(sum "$P/line")" | wc -l)"
"$USHER" log "$T/hashed" index; same "with an index, too" "2 1" "$(hashed "sha256:$(sum "$P/said")" | wc -l) $(hashed "sha256:$(sum "$P/line")" | wc -l)"
has "explain shows it" "$(sum "$P/no")" <("$USHER" log "$T/hashed" explain "$(hashed "path:$P/no" | sed 's/^{"seq":\([0-9]*\),.*/\1/')")
same "control: without that word there is none" 0 "$("$USHER" run -p "$R" --journal "$T/plain" -- "$P/said" x >/dev/null; "$USHER" log "$T/plain" --json | grep -c sha256)"
printf 'allow read %s/said hash\n' "$P" >"$T/etc/worse.rules"; chmod 600 "$T"/etc/*.rules
"$USHER" check "$T/etc/worse.rules" 2>"$T/err"; has "it belongs to exec rules" "worse.rules:1:" "$T/err"

LAYERS=(-p "$T/etc/allow.rules" -p builtin:trusted)
same "the system's programs are trusted" "x" "$(run /bin/echo x)"
run "$P/other"; same "one below a directory of the user's is not" 126 $?
run sh -c "cp /bin/true $P/mine; $P/mine"; same "nor one made inside" 126 $?
same "it has no opinion on anything else" "ok" "$(run sh -c "echo ok >$P/f; cat $P/f")"
if is_root; then
	cp /bin/true /tmp/usher-trusted.$$; at_exit "rm -f /tmp/usher-trusted.$$"
	run /tmp/usher-trusted.$$; same "root's own file in a directory of everybody's is not trusted" 126 $?
fi
finish
