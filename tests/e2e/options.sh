#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An option that would have no effect in the form it was given with is refused: with what to do, and before anything is printed or done.
. "$(dirname "$0")/lib.sh"
export XDG_RUNTIME_DIR=$T/run
mkdir -p -m 700 "$XDG_RUNTIME_DIR"
J=$T/j P=$T/place
"$USHER" run -p "$T/etc/allow.rules" --ask=deny --journal "$J" -- true
cp -r "$J" "$T/k"
mkdir "$P" && cp -r "$J" "$P/old" && touch -d '40 days ago' "$P"/old/*
sees() { "$USHER" "$@" >"$T/out" 2>"$T/err" </dev/null; }
no() { # STATUS WHAT IS SAID, then the command
	local want=$1 said=$2
	sees "${@:3}"
	same "refused: ${*:3}" "$want 0 1" "$? $(wc -c <"$T/out") $(grep -c -- "$said" "$T/err")"
}
yes() { # a part of what is printed, then the command
	sees "${@:2}"
	same "taken: ${*:2}" "0 1" "$? $(grep -aq -- "$1" "$T/out" && echo 1)"
}
no 2 'prune --keep AGE' log --keep 1d "$J"
no 2 'prune --keep AGE' log --keep 1d "$P/old" denied
no 2 'prune has no --json' log prune --keep 1d "$P" --json
no 2 "'nosuch' is no such" log prune --keep 1d nosuch
no 2 "'$T/k' is no such, or one too many" log prune --keep 1d "$P" "$T/k"
no 2 'needs --keep AGE' log prune --keep
no 2 'needs --keep AGE' log prune "$P" --keep
no 2 'prune --keep AGE' log "$J" --keep
no 2 'number of one record' log "$J" --prove
no 2 '--anchor needs a HEAD' verify --anchor
no 2 '--anchor needs a HEAD' verify "$J" --anchor
same "and nothing was removed" 1 "$(find "$P/old" -name 'journal-*' | wc -l)"
for o in --json --tree --timeline --follow; do
	no 2 "explain has no $o" log "$J" explain 1 $o
	no 2 "diff has no $o" log diff "$J" "$T/k" $o
	no 2 "index has no $o" log "$J" index $o
	[ $o = --json ] || no 2 "who-touched has no $o" log "$J" who-touched /bin/true $o
	[ $o = --json ] || no 2 "prove has no $o" log "$J" prove 1 $o
done
no 2 'go together' log "$J" --tree --json
for n in 0 +1 1x 18446744073709551615 9223372036854775808; do no 2 'number of one record' log "$J" explain $n; done
yes '"type":"start"' log "$J" --json type:start
yes '"record":{' log "$J" prove 1 --json
yes 'records, 1 seal;' verify "$J"
yes 'type *start' log "$J" explain 1
yes '1 session removed' log prune --keep 1d "$P"
no 2 'goes without' verify --closed "$P/pruned.jsonl"
no 2 'goes without' verify --anchor 1:00 "$P/pruned.jsonl"
yes 'whole:' verify "$P/pruned.jsonl"
no 125 'has no --for' desk kill 1 --for=session
no 125 'has no --for' desk rewrite 1 /x --pattern=/y
no 125 'has no --json' desk allow 1 --json
no 125 'has no --for' desk list --always
no 125 'has no --message' desk grants --message=x
no 125 'has no --json' desk revoke 1 --json
no 125 'goes with that' desk allow 1 --yes
no 125 'has no --json' desk review right r1 --json
no 125 'has no --all' desk review show r1 --all
no 125 'has no --message' desk review list --message=x
no 125 'it takes no ID' desk review list r1
no 125 'of which?' desk review show
no 125 '--journal=DIR' desk review rules
no 125 "'nosuch' is not expected" desk review nosuch
no 125 "'--nosuch' is not expected" desk review --nosuch
no 125 '--journal needs a value' desk review rules --journal
no 125 '--for needs a value' desk allow 1 --for
no 1 "$T/nosuch: no journal there" desk review --journal="$T/nosuch"
no 1 "$T/nosuch: no journal there" desk review rules --journal "$T/nosuch"
no 1 'no such question' desk allow 1 --for session --message 'not now'
# What was typed is shown with its odd bytes escaped, whoever typed it: scripts pass on what others named.
odd=$'\e[31mX'
for c in "$odd" "desk $odd" "desk review $odd" "doctor $odd" "rules show $odd" "verify --anchor=$odd" "run --ask=deny -- $odd" "run --ask=deny -- ./$odd" \
	"run --$odd" "run -$odd" "run --wait=$odd" "run --ask=$odd -- true" "run --require=$odd -- true" "run --isolate=$odd -- true" "run --sync=$odd -- true" \
	"run --anchor=$odd -- true" "run --keep-fd=$odd -- true" "run --floor=$odd -- true" "run --journal=$T/$odd/x -- true" "run --journal=$T/etc/allow.rules/$odd -- true" \
	"check --$odd" "check --ask=$odd" "fmt -w $T/$odd.rules"; do
	IFS=' ' read -ra words <<<"$c"
	sees "${words[@]}"
	check "it is complained about: ${c//$'\e'/ESC}" test -s "$T/err"
	same "no control byte comes back of: ${c//$'\e'/ESC}" 0 "$(LC_ALL=C grep -c "[^[:print:]]" "$T/err")"
done
no 125 "run: there is no option '--nosuch'" run --nosuch -- true
no 125 "run: there is no option '-x'" run -xw -- true
no 125 "'--p' is the beginning of several options" run --p -- true
no 125 "'--wait=3' takes no value" run --wait=3 -- true
no 125 "'--journal' needs a value" run --journal
no 125 "'-p' needs a value" run -p
no 2 "check: there is no option '--nosuch'" check --nosuch
no 2 "'--ask' needs a value" check --ask
# What can be required is told alike where it is asked for and where it is not understood.
"$USHER" run --help >"$T/help"
for w in $("$USHER" run --require=nosuch -- true 2>&1 | sed -n 's/.*a list of //p' | sed 's/([^)]*)//; s/,//g'); do
	case $w in net | pid | ipc | uts | cgroup | mount | tmp | shm) continue ;; esac # told as those of --isolate
	check "--help names --require=$w" grep -qw -- "$w" <(grep -A1 -e "--require=LIST" "$T/help")
done
finish
