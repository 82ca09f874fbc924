#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# argv= speaks of what a program gets: an interpreter by its script, and a program by its loader.
. "$(dirname "$0")/lib.sh"
need gcc readelf
fresh
cd "$T/project" || exit 1
loader=$(LC_ALL=C readelf -lW /bin/true | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
gcc -x c -o tool - <<'EOS'
#include <stdio.h>
int main(int n, char **v) { for (int i = 1; i < n; i++) printf("<%s>", v[i]); puts(""); }
EOS
script() { printf '#!%s\n' "$2" >"$1"; chmod 755 "$1"; }
script push "$PWD/tool push"
script plain "$PWD/tool"
script second "$PWD/push"
script loads "$loader $PWD/tool"
under() { # RULES COMMAND...: what it says, or "refused"
	local rules=$1
	shift
	"$USHER" run -p "$rules" --ask="${ASK:-deny}" --journal "$T/j$RANDOM$RANDOM" -- "$@" 2>"$T/err" || echo refused
}

rules deny <<<"deny exec $PWD/tool argv=\"push **\"
default allow"
deny=$R
for line in "./tool push x" "./push" "./push x" "./second x" "$loader ./tool push x" "$loader --argv0 a ./tool push x"; do
	same "natively: $line" yes "$($line | grep -q '<push>' && echo yes)"
	same "denied for what it gets: $line" refused "$(under "$deny" $line)"
done
for line in "./tool" "./tool pull" "./plain push" "./loads push" "$loader ./tool" "$loader ./tool pull push"; do
	same "others run: $line" "$($line)" "$(under "$deny" $line)"
done
rules allow <<<"allow exec $PWD/push $PWD/plain $loader
allow exec $PWD/tool argv=\"{status,$PWD/plain *}\"
deny exec **
default allow"
for line in "./push status" "$loader ./tool push status" "$loader ./tool"; do
	same "allowed alone for what it gets: $line" refused "$(under "$R" $line)"
done
for line in "./tool status" "$PWD/plain status" "$loader ./tool status"; do
	same "runs: $line" "$($line)" "$(under "$R" $line)"
done
script odd "$PWD/tool a b\"c"
rules odd <<<'deny exec '"$PWD"'/tool argv="a\\ b\\\"c ./odd d\\ e "
default allow'
same "an argument with a blank, and an empty one" refused "$(under "$R" ./odd "d e" "")"
same "and others" '<a b"c><./odd><d e>' "$(under "$R" ./odd "d e")"

# Arguments of a megabyte and a half: what a script puts in front takes no room for all of them once more.
many() { under "$1" bash -c 'w=$(printf "%01000d" 0); a=(); for ((i = 0; i < 1500; i++)); do a+=("$w"); done; ./plain "${a[@]}" | wc -c'; }
same "a script with many arguments" "$(bash -c 'w=$(printf "%01000d" 0); a=(); for ((i = 0; i < 1500; i++)); do a+=("$w"); done; ./plain "${a[@]}" | wc -c')" "$(many "$deny")"

# What scripts put in front of arguments has room for the longest name with each byte escaped, and ends nothing where it fills it to the last byte.
long_name() { # JOINED: how many bytes the name is among joined arguments
	local name=$PWD/deep blanks part
	blanks=$(($1 - 4000))
	while ((${#name} < 4000)); do
		part=$((4000 - ${#name} - 1)) && ((part > 200)) && part=200
		((4000 - ${#name} - 1 - part == 1)) && ((part--))
		local now=$((blanks < part - 2 ? blanks : part - 2))
		blanks=$((blanks - now))
		name+=$(printf '/x%*s%0*d' "$now" "" "$((part - now - 1))" 0)
	done
	mkdir -p "${name%/*}" && script "$name" "$PWD/plain" && echo "$name"
}
for joined in 6143 6144 7900; do
	name=$(long_name "$joined")
	same "a script whose name is $joined bytes among the arguments" "$("$name" a)" "$(under "$deny" "$name" a)"
	same "and without arguments" "$("$name")" "$(under "$deny" "$name")"
done

# What was answered for some arguments is not the answer for those that a script says.
rules ask <<<"ask exec $PWD/tool
default allow"
ASK="exec:cat >>$T/asked; echo '{\"answer\":\"allow\",\"scope\":\"session\"}'"
under "$R" bash -c './tool x; ./tool x; (exec -a ./tool ./push x); (exec -a ./tool ./push x)' >/dev/null
same "an answer is for what was asked" 2 "$(grep -c '"call"' "$T/asked")"
finish
