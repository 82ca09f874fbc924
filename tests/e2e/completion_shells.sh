#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# quick: 1000
# What zsh and fish offer behind usher's words: the same as bash (completion.sh), each by a person's keys or its own question.
. "$(dirname "$0")/lib.sh"
export XDG_STATE_HOME=$T/state XDG_RUNTIME_DIR=$T/run HOME=$T/home
mkdir -p -m 700 "$XDG_RUNTIME_DIR" "$HOME" "$T/bin" "$T/w/sub"
ln -s "$USHER" "$T/bin/usher"
PATH=$T/bin:$PATH
cd "$T/w" && touch my.rules sub/other.rules
"$USHER" run -p "$T/etc/allow.rules" -- true
session=$(printf '%s\n' "$XDG_STATE_HOME"/usher/*/ | tail -n 1)

# What is asked at the end of LINE, and one of what has to be offered for its last word. Each shell goes through all of them.
cases() { # COMMAND: called with a name, the line, and its last word in full
	"$1" "a subcommand" 'usher che' check
	"$1" "an option" 'usher run --pol' --policy
	"$1" "an option of another subcommand" 'usher desk allow --alw' --always
	"$1" "a rule set" 'usher run -p builtin:rea' builtin:readonly
	"$1" "a rule set behind '='" 'usher run --policy=builtin:rea' --policy=builtin:readonly
	"$1" "a rule file" 'usher run -p my' my.rules
	"$1" "a rule file to check" 'usher check m' my.rules
	"$1" "a rule file below a directory" 'usher fmt sub/o' sub/other.rules
	"$1" "a rule set to show" 'usher rules show builtin:rea' builtin:readonly
	"$1" "a value" 'usher run --sync=ba' --sync=batch
	"$1" "a value as a word" 'usher run --ask des' desk
	"$1" "a list, its next word" 'usher run --isolate=net,pi' --isolate=net,pid
	"$1" "a session" "usher verify ${session%???}" "$session"
	"$1" "a word of log" 'usher log who' who-touched
	"$1" "the desk's words" 'usher desk revi' review
	"$1" "the one option that a word of the desk takes" 'usher desk kill --m' --message
	"$1" "the one option of another" 'usher desk list --j' --json
	"$1" "what it reviews" 'usher desk review ru' rules
	"$1" "an option of that" 'usher desk review --al' --all
	"$1" "a program" 'usher run -p builtin:agent --profile -- basena' basename
	"$1" "a program, without --" 'usher run --ask=tty basena' basename
	"$1" "its files" 'usher run -- cat my' my.rules
}

fish_offers() {
	local got
	got=$(fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$DOCS/tools/completions/usher.fish" "$2" 2>&1 | cut -f 1)
	check "fish: $1" grep -qxF -- "$3" <<<"$got"
}
fish_options() { # WORD of the desk, what is offered behind it
	same "fish: options of desk $1" "$2" "$(fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$DOCS/tools/completions/usher.fish" "usher desk $1 --" 2>&1 | cut -f 1 | sort -u | tr '\n' ' ')"
}

# The line that zsh makes of the keys, a tab behind them.
zsh_offers() {
	rm -f "$T/line" "$T/screen"
	{
		wait_for grep -aq 'ready> ' "$T/screen" || true
		printf '%s\t\001echo \005 >%s\n' "$2" "$T/line"
		wait_for test -s "$T/line" || true
		printf 'exit\n'
	} | ZDOTDIR=$T/zsh timeout 30 script -qefc "zsh -i" "$T/screen" >/dev/null 2>&1
	same "zsh: $1" "${2% *} ${3%/}" "$(sed 's,/$,,' "$T/line" 2>/dev/null)"
}

if command -v fish >/dev/null; then
	cases fish_offers
	fish_options deny "--always --directory --for --help --message --pattern --yes "
	fish_options list "--help --json "
	fish_options kill "--help --message "
else skip fish "not installed"; fi
if command -v zsh >/dev/null && command -v script >/dev/null; then
	mkdir -p "$T/zsh/functions"
	cp "$DOCS/tools/completions/usher.zsh" "$T/zsh/functions/_usher"
	printf '%s\n' "PATH=$T/bin:\$PATH fpath=(\$ZDOTDIR/functions \$fpath); autoload -Uz compinit; compinit -u -D; PS1='ready> '" >"$T/zsh/.zshrc"
	cases zsh_offers
else skip zsh "zsh or script is not installed"; fi
finish
