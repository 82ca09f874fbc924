#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
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
