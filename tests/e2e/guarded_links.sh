#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What usher keeps for its user is known by names. Where a link is on the way, or a directory is missing, nobody in the tree puts something of
# his own there for the next session to read: its standing answers, its rules. The control is the same script outside.
. "$(dirname "$0")/lib.sh"
unset XDG_STATE_HOME XDG_CONFIG_HOME XDG_RUNTIME_DIR
home() { # NAME: a home as someone has it who keeps these things elsewhere
	H=$T/$1
	mkdir -p "$H/kept" "$H/local" "$H/etc" "$T/ev"
	printf 'deny read **/secret\ndefault allow\n' >"$H/etc/closed.rules"
	printf 'ask read **/secret\ndefault allow\n' >"$H/ask.rules"
	cp "$T/etc/allow.rules" "$H/allow.rules"
	ln -s etc/closed.rules "$H/closed.rules"
	chmod 600 "$H"/*.rules "$H/etc/closed.rules"
	echo secret >"$H/secret"
	export HOME=$H
	cd "$H" || exit 1
}
cat >"$T/etc/plant.sh" <<'S'
cd "$HOME"
rm .config && ln -s "$T/ev" .config && echo "config replaced"
ln -sT "$T/ev" .config && echo "config made"
ln -s "$T/ev" x && mv -T x .config && echo "config renamed over"
mkdir -p .config/usher && echo 'allow read **/secret' >.config/usher/grants.rules && chmod 600 .config/usher/grants.rules && echo planted
mv .local .lold && echo "local moved"
ln -sT "$T/ev" .local && echo "local made"
mv -T kept kept2 && echo "its end moved"
:
S
tried() { "$USHER" run "$@" -- sh "$T/etc/plant.sh" 2>/dev/null; }
answered() { # what the next session reads, by the standing answers and by the rules
	echo "$("$USHER" run -p ask.rules --ask=deny -- cat secret 2>/dev/null) $("$USHER" run -p closed.rules -- cat secret 2>/dev/null)"
}
home links
ln -s kept .config; ln -s local .local
same "links are not replaced" "" "$(tried -p allow.rules)"
cat >"$T/etc/rules.sh" <<'S'
cd "$HOME"
rm closed.rules && echo 'default allow' >closed.rules && chmod 600 closed.rules && echo "rules replaced"
:
S
same "nor is that by which the rules are named" "" "$("$USHER" run -p closed.rules -- sh "$T/etc/rules.sh" 2>/dev/null)"
same "and the next session goes by what was there" " " "$(answered)"
same "the same under builtin:agent" "" "$(tried --ask=deny)"
{ sh "$T/etc/plant.sh"; sh "$T/etc/rules.sh"; } >"$T/out" 2>/dev/null
same "the control: outside all of it is possible" "config replaced planted local moved local made rules replaced" \
	"$(grep -vE 'renamed over|its end' "$T/out" | paste -sd' ')"
same "and the next session reads what was planted" "secret secret" "$(answered)"

# A link that leads to nothing yet, the file of grants as a link, a name that goes by "..": what they mean is out of reach, too.
home dangling
ln -s ../gone .config
"$USHER" run -p allow.rules -- sh -c 'mkdir -p "$T/gone/usher" && echo "allow read **/secret" >"$T/gone/usher/grants.rules" && chmod 600 "$T/gone/usher/grants.rules"' 2>/dev/null
same "what a link will lead to is not made" " " "$(answered)"
home led
mkdir -p .config/usher; : >etc/grants; chmod 600 etc/grants; ln -s ../../etc/grants .config/usher/grants.rules
"$USHER" run -p allow.rules -- sh -c 'echo "allow read **/secret" >>etc/grants' 2>/dev/null
same "what the file of grants leads to is not written" " " "$(answered)"
home shared
mkdir -p .config/usher; echo 'include ../../etc/more.rules' >.config/usher/grants.rules; : >etc/more.rules; chmod 600 etc/more.rules .config/usher/grants.rules
"$USHER" run -p allow.rules -- sh -c 'echo "allow read **/secret" >>etc/more.rules' 2>/dev/null
same "nor what it includes" " " "$(answered)"
if [ ! -e "/tmp/usher-$(id -u)" ]; then
	"$USHER" run -p allow.rules -- mkdir "/tmp/usher-$(id -u)" 2>/dev/null
	check "the last place for journals is not made by the tree" test ! -e "/tmp/usher-$(id -u)"
	rmdir "/tmp/usher-$(id -u)" 2>/dev/null
fi
home started
mkdir real; ln -s real led; ln -s "$USHER" u
./u run -p allow.rules --journal led/j -- sh -c 'rm u && echo "program replaced"; rm led && echo "journal led elsewhere"; mv real real2 && echo moved' >"$T/out" 2>/dev/null
same "nor is the link that usher was started by, or by which its journal is named" "" "$(cat "$T/out")"
home looked
"$USHER" check --explain "read /etc/passwd by /bin/cat" allow.rules >/dev/null
same "a look at rules makes no places" "" "$(find . -name '.config' -o -name '.local')"
home dots
mkdir sub
"$USHER" run -p sub/../etc/closed.rules -- sh -c 'mkdir -p ev/sub ev/etc && echo "default allow" >ev/etc/closed.rules && chmod 600 ev/etc/closed.rules && mv sub sub2 && ln -s ev/sub sub' 2>/dev/null
same "nor is what a name leaves by .. replaced" "" "$("$USHER" run -p sub/../etc/closed.rules -- cat secret 2>/dev/null)"
cd "$T" || exit 1

# Another session's variables name other places: the usual ones are nobody's to make.
rm -rf "$T/ev"
home missing
tried_elsewhere() { env XDG_CONFIG_HOME="$T/else" XDG_STATE_HOME="$T/else" XDG_RUNTIME_DIR="$T/else" "$USHER" run -p allow.rules -- sh "$T/etc/plant.sh" 2>/dev/null; }
mkdir -m 700 "$T/else"
same "directories that are missing are not made as links" "" "$(tried_elsewhere | grep -E 'config|planted|local')"
same "while a program may use them" "used" "$(env XDG_CONFIG_HOME="$T/else" "$USHER" run -p allow.rules -- sh -c 'mkdir -p ~/.config/own && : >~/.config/own/file && echo used' 2>/dev/null)"
same "and the next session asks" "" "$("$USHER" run -p ask.rules --ask=deny -- cat secret 2>/dev/null)"
finish
