#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# quick: 1000
# What bash offers behind usher's words: subcommands, options, values, rule sets, journals, and the command to start as without usher.
. "$(dirname "$0")/lib.sh"
export XDG_STATE_HOME=$T/state XDG_RUNTIME_DIR=$T/run
mkdir -p -m 700 "$XDG_RUNTIME_DIR"
COMPLETION=$DOCS/tools/completions/usher.bash
. "$COMPLETION"

# As readline cuts a line: at blanks, '=' and ':'.
offer() { # LINE: what is offered at its end, in order
	local rest=$1
	COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=()
	while [[ $rest =~ ^[[:space:]]*([=:]|[^[:space:]=:]+)(.*)$ ]]; do
		COMP_WORDS+=("${BASH_REMATCH[1]}")
		rest=${BASH_REMATCH[2]}
	done
	[[ $1 != *[[:space:]=:] ]] || COMP_WORDS+=("")
	COMP_WORDS[0]=$USHER
	COMP_LINE=${COMP_LINE/#usher/"$USHER"} COMP_POINT=${#COMP_LINE} COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMPREPLY=()
	_usher
	printf '%s\n' "${COMPREPLY[@]}" | sort -u | tr '\n' ' '
}
offers() { # WHAT, LINE, words that are offered
	local got
	got=" $(offer "$2")"
	for w in "${@:3}"; do
		[[ $got == *" $w "* || $got == *" $w= "* ]] || { same "$1" "$w" "$got" && return; }
	done
	check "$1" true
}
mkdir -p "$T/w/sub" && cd "$T/w" && touch my.rules sub/other.rules
same "subcommands" "check " "$(offer 'usher ch')"
offers "all of them" 'usher ' $("$USHER" --help | sed -n 's/^  usher \([a-z]*\) .*/\1/p') --version
# Each option that help names, and each that is offered is taken.
for c in run check fmt rules log verify desk doctor; do
	offers "options of $c" "usher $c -" $("$USHER" $c --help | grep -oE -- '(^|[[:space:][|(])--[a-z-]+' | grep -oE -- '--[a-z-]+')
done
offers "options of desk review" "usher desk review -" $("$USHER" desk review --help | grep -oE -- '--[a-z]+')
same "which are not the desk's" "" "$(offer 'usher desk review --al' | tr ' ' '\n' | grep -x -- --always)"
# Of a word of the desk, those that it takes.
for w in allow deny; do same "options of desk $w" "--always --directory= --for= --help --message= --pattern= --yes " "$(offer "usher desk $w 1:1 -")"; done
for w in list show watch grants; do same "options of desk $w" "--help --json " "$(offer "usher desk $w -")"; done
for w in kill rewrite; do same "options of desk $w" "--help --message= " "$(offer "usher desk $w -")"; done
same "options of desk revoke" "--help " "$(offer 'usher desk revoke -')"
same "an option that takes a value" "--policy= " "$(offer 'usher run --pol')"
same "one that does not" "--profile " "$(offer 'usher run --prof')"
offers "rule sets" 'usher run -p ' builtin:agent builtin:readonly my.rules sub/
same "a rule set behind its colon" "agent audit " "$(offer 'usher run -p builtin:a')"
same "behind '='" "my.rules " "$(offer 'usher run --policy=m')"
same "below a directory" "sub/other.rules " "$(offer 'usher run -p sub/')"
same "of check, fmt" "my.rules my.rules " "$(offer 'usher check m')$(offer 'usher fmt m')"
same "of rules show" "readonly " "$(offer 'usher rules show builtin:r')"
same "a list, its next word" "net,pid " "$(offer 'usher run --isolate=net,pi')"
# Whatever is offered as a value, usher takes, if not here.
for o in --sync --floor --isolate --require; do
	no_value=$("$USHER" run -p "$T/etc/allow.rules" $o=no-value -- true 2>&1)
	check "usher refuses $o=no-value" grep -q 'no-value: expected' <<<"$no_value"
	for v in $(offer "usher run $o="); do
		said=$(cd / && "$USHER" run -p "$T/etc/allow.rules" "$o=$v" -- true 2>&1)
		check "usher takes $o=$v" test "$said" != "${no_value//no-value/"$v"}"
	done
done
"$USHER" run -p "$T/etc/allow.rules" --journal "$T/w/j" -- true
"$USHER" run -p "$T/etc/allow.rules" -- true
session=$(printf '%s\n' "$XDG_STATE_HOME"/usher/*/ | tail -n 1)
for c in verify log; do offers "journals of $c" "usher $c " j/ "$session"; done
mkdir -p "$XDG_STATE_HOME/usher/desk" # where the desk's sockets are when XDG_RUNTIME_DIR is not set
same "which are sessions and nothing else" "" "$(offer 'usher log ' | grep -o '[^ ]*/desk/')"
same "a session by what it begins with" "$session " "$(offer "usher verify ${session%??}")"
offers "words of log" 'usher log ' denied who-touched prune
offers "each that help names with a colon" 'usher log ' $("$USHER" log --help | grep -oE '\b[a-z0-9]+:[A-Z0-9]' | sed 's/.$//')
offers "the desk's words" 'usher desk ' allow grants
# The command: programs, then what its own completion says, or files.
offers "a program" 'usher run -- bas' bash
offers "a program behind options" 'usher run -p builtin:agent --ask=tty bas' bash
same "its files" "my.rules " "$(offer 'usher run -p builtin:agent -- cat m')"
_command_offset() { COMPREPLY=("own at ${COMP_WORDS[$1]}"); }
same "its own completion" "own at git " "$(offer 'usher run -p builtin:agent --ask=tty -- git chec')"
same "its own completion, without --" "own at git " "$(offer 'usher run --sync=none git chec')"
unset -f _command_offset
# As a person has it: through readline, on a terminal, with usher in $PATH.
typed() { # KEYS: the line that readline makes of them
	printf '%s\n' "PATH=$T/bin:\$PATH PS1='> '; . '$COMPLETION'" >"$T/rc"
	rm -f "$T/line"
	{
		wait_for grep -aq '> ' "$T/screen" || true
		printf '%b' "$1\001echo \005 >$T/line\n"
		wait_for test -s "$T/line" || true
		printf 'exit\n'
	} | timeout 30 script -qefc "bash --noprofile --rcfile '$T/rc' -i" "$T/screen" >/dev/null 2>&1
	cat "$T/line" 2>/dev/null
}
if command -v script >/dev/null; then
	mkdir -p "$T/bin" && ln -s "$USHER" "$T/bin/usher"
	same "on a terminal" "usher run --policy=builtin:readonly --profile -- /bin/echo" \
		"$(typed 'ush\trun --pol\tbuiltin:rea\t --prof\t-- /bin/ech\t')"
fi
finish
