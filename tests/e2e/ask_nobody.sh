#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sessions with nobody to answer, and places where nothing can be kept.
. "$(dirname "$0")/lib.sh"

export HOME=$T/home
mkdir -p "$HOME" "$T/w"
cd "$T/w" || exit 1
echo secret >secret
printf 'default allow\nask read **/secret\n' >"$T/etc/ask.rules"
printf 'default allow\nask read **/secret timeout=1s\n' >"$T/etc/brief.rules"
chmod 600 "$T"/etc/*.rules
N=0
alone() { setsid -w "$USHER" run --journal "$T/j$((++N))" "$@" </dev/null >"$T/out" 2>"$T/err"; } # no terminal

alone -p "$T/etc/ask.rules" -- cat secret
same "rules that ask are refused where nobody can answer" 125 $?
check "it says which" grep -q "ask.rules:2: asks, and there is nobody" "$T/err"
check "nothing ran" test ! -s "$T/out"
alone -p "$T/etc/ask.rules" --ask=deny -- cat secret
same "unless --ask=deny says so" 1 $?
check "which rules ask is said" grep -q "ask.rules:2 would ask is denied" "$T/err"
alone -p "$T/etc/ask.rules" --ask=any:desk,tty -- cat secret
same "nor where a terminal is named, and there is none" 125 $?
check "which says what helps" grep -q "^usher: --ask=any:desk,tty: there is no terminal here to ask on; --ask=desk" "$T/err"
alone -p "$T/etc/ask.rules" --ask=deny -- cat secret
check "what went unanswered is a rule at the end" grep -qx "allow read \"$T/w/secret\" by=\".*cat\"" "$T/err"
{ echo default allow; grep '^allow ' "$T/err"; } >"$T/etc/more.rules"
chmod 600 "$T/etc/more.rules"
check "which loads" "$USHER" check "$T/etc/more.rules"
printf 'default allow\nask exec /usr/bin/env /bin/env\n' >"$T/etc/exec.rules"
chmod 600 "$T/etc/exec.rules"
alone -p "$T/etc/exec.rules" --ask=deny -- sh -c 'exec env'
check "what was asked without arguments is a rule for no arguments" grep -q '^allow exec ".*/env" by=".*" argv=""$' "$T/err"
{ grep '^allow ' "$T/err"; cat "$T/etc/exec.rules"; } >"$T/etc/more.rules"
alone -p "$T/etc/more.rules" --ask=deny -- sh -c 'exec env'
same "which allows that" 0 $?
alone -p "$T/etc/more.rules" --ask=deny -- sh -c 'exec env -i true'
same "and none with arguments" 126 $?
alone -p "$T/etc/more.rules" --ask=deny -- sh -c 'exec env ""'
same "nor with an empty one" 126 $?
if command -v python3 >/dev/null; then
	printf 'default allow\nask bind tcp:0.0.0.0:0 udp:0.0.0.0:0\n' >"$T/etc/bind.rules"
	chmod 600 "$T/etc/bind.rules"
	alone -p "$T/etc/bind.rules" --ask=deny -- python3 -c '
import socket
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    try: socket.socket(socket.AF_INET, kind).bind(("0.0.0.0", 0))
    except PermissionError: pass'
	same "one address for streams and for datagrams is two rules" "tcp udp" "$(sed -n 's/^allow bind \([a-z]*\):0.0.0.0:0 .*/\1/p' "$T/err" | sort | xargs)"
	# A browser asks for another port each time.
	printf 'default allow\nask bind udp:*:* tcp:*:*\n' >"$T/etc/bind.rules"
	ports() { # PORT...: how many are allowed, each address for itself
		alone -p "$R" --ask=deny -- python3 -c '
import socket, sys
n = 0
for kind, host in (socket.SOCK_DGRAM, "127.0.0.1"), (socket.SOCK_STREAM, "127.0.0.1"), (socket.SOCK_DGRAM, "127.0.0.2"):
    for port in sys.argv[1:] if host[-1] == "1" and kind == socket.SOCK_DGRAM else sys.argv[1:3]:
        try: socket.socket(socket.AF_INET, kind).bind((host, int(port)))
        except PermissionError: continue
        except OSError: pass # of another program
        n += 1
print(n)' "$@"
	}
	listed() { sed -n 's/^allow bind \([^ ]*\) .*/\1/p' "$T/err" | xargs; }
	R=$T/etc/bind.rules ports 21873 21874 21875
	same "some ports of an address are a rule each" "udp:127.0.0.1:21873 udp:127.0.0.1:21874 udp:127.0.0.1:21875 tcp:127.0.0.1:21873 tcp:127.0.0.1:21874 udp:127.0.0.2:21873 udp:127.0.0.2:21874" "$(listed)"
	R=$T/etc/bind.rules ports 21873 21874 21875 21876 21873 21877
	same "many ports are one rule" "udp:127.0.0.1:* tcp:127.0.0.1:21873 tcp:127.0.0.1:21874 udp:127.0.0.2:21873 udp:127.0.0.2:21874" "$(listed)"
	{ grep '^allow' "$T/err"; cat "$T/etc/bind.rules"; } >"$T/etc/bound.rules"
	chmod 600 "$T/etc/bound.rules"
	R=$T/etc/bound.rules ports 21878 21874
	same "that allows another port of that address alone" "4 tcp:127.0.0.1:21878 udp:127.0.0.2:21878" "$(cat "$T/out") $(listed)"
fi
alone -p "$T/etc/ask.rules" --ask=deny -- true
check "without questions there is no list" sh -c "! grep -q unanswered $T/err && ! grep -q '^allow' $T/err"
rules create.rules <<<"ask create $PWD/opened
default allow"
alone -p "$R" --ask=deny -- sh -c 'exec 3<>opened'
same "of a call that needs more, the list has what was asked" "create" "$(sed -n 's/^allow \([a-z]*\) .*/\1/p' "$T/err" | xargs)"
# The places that the list names for itself: each of them allows what was asked.
envrc() { rm -f .envrc; alone "$@" -- sh -c 'echo x >.envrc'; }
envrc --ask=deny
same "under the built-in rules: control" "no 1" "$(test -s .envrc || echo no) $(grep -c '^allow create' "$T/err")"
{ grep '^[a#]' "$T/err"; echo include builtin:agent; } >"$T/etc/mine.rules"
chmod 600 "$T/etc/mine.rules"
check "the list says where it goes" grep -qF "above 'include builtin:agent'; for all sessions: in $HOME/.config/usher/grants.rules" "$T/err"
(umask 077; mkdir -p "$HOME/.config/usher" && grep '^[a#]' "$T/err" >"$T/list")
envrc -p "$T/etc/mine.rules" --ask=deny
check "above include builtin:agent" test -s .envrc
(umask 077; cp "$T/list" "$HOME/.config/usher/grants.rules")
envrc --ask=deny
check "in the file of grants" test -s .envrc

# What a rule of that file asks of a call is known of it, though no rule file asks for it: each denial stands above an allow.
echo content >held; ln held held2; cp "$(type -P cat)" shown; cp "$(type -P true)" other
rules answered.rules <<EOF
ask read $PWD/held*
ask exec $PWD/shown $PWD/other
default allow
EOF
granted() { # COMMAND...
	setsid -w "$USHER" run --journal "$(mktemp -u "$T/g.XXXXXX")" -p "$R" --ask=deny -- "$@" </dev/null 2>"$T/err"
}
denials() { # the file of grants: these lines, and what they are above
	(umask 077; { cat; echo 'allow read,exec **'; } >"$HOME/.config/usher/grants.rules")
}
denials </dev/null
same "(control) allowed by the file of grants" "content content content" "$(granted cat held held2 | xargs) $(WITH=1 granted ./shown held)"
denials <<EOF
deny read $PWD/held
deny exec $PWD/shown sha256=$(sha256sum shown | cut -d' ' -f1)
EOF
same "a name denied there is denied by a hard link" "" "$(granted cat held held2)"
same "and content by another name" "" "$(granted ./shown /dev/null; granted ./shown held2)"
check "but no other content" granted ./other
denials <<EOF
deny exec $PWD/shown env=WITH
EOF
same "a variable denied there" " content" "$(WITH=1 granted ./shown held) $(granted ./shown held)"
denials <<EOF
deny read $PWD/held tree=$(readlink -f "$(command -v bash)")
EOF
cat >orphan.py <<'P'
import os, time
if os.fork() == 0:
    time.sleep(0.5)
    os.execvp("cat", ["cat", "held"])
P
same "an ancestor denied there that has ended" " content" "$(granted sh -c 'bash -c "python3 orphan.py; :"; sleep 1') $(granted cat held)"
if [ "$(id -u)" = 0 ]; then
	denials <<EOF
deny read $PWD/held uid=1000
EOF
	chmod 755 "$T" "$T/project" 2>/dev/null
	same "a user denied there" " content" "$(granted setpriv --reuid=1000 --clear-groups cat held) $(granted cat held)"
else
	skip "a user denied there" "needs root"
fi
rm -rf "$HOME/.config"
alone -p "$T/etc/brief.rules" --ask='exec:sleep 20' -- cat secret
check "a question that timed out is listed" grep -q "^allow read .*secret" "$T/err"
alone -- true
same "the built-in rules start without a terminal" 0 $?
check "and say that nobody answers" grep -q "nobody answers questions here" "$T/err"

for list in tty any:tty any:desk,tty chain:tty,desk chain:tty,exec:true; do
	XDG_RUNTIME_DIR=$T/w alone -p "$T/etc/allow.rules" --ask="$list" -- echo ran
	same "--ask=$list wants no terminal where no rule asks" "0 ran" "$? $(cat "$T/out" "$T/err")"
done
alone -p "$T/etc/ask.rules" --ask=any:desk,tty -- echo ran
same "and one where a rule does" "125" "$?$(cat "$T/out")"

if [ "$(id -u)" = 0 ]; then
	mkdir -m 700 "$T/closed"
	chmod 755 "$T"
	mkdir -m 777 "$T/free"
	HOME=$T/closed setpriv --reuid=1000 --regid=1000 --clear-groups "$USHER" run -p builtin:agent --ask=deny --journal "$T/free/j" -- id -u >"$T/out" 2>"$T/err"
	same "a home that cannot be written does not stop a session" 1000 "$(cat "$T/out")"
else
	skip "a home that cannot be written" "needs root"
fi
# A call that a question interrupted is gone on with by another worker, which has not measured before: no time since the machine's start.
alone -p "$T/etc/ask.rules" --ask=deny --profile -- cat secret
check "--profile tells what was waited for" grep -qE 'waited +[0-9]+ times, [0-9]+ us each' "$T/err"
check "and it is none of the machine's age" sh -c '! grep -E "waited +[0-9]+ times, [0-9]{8,} us each" "$1"' - "$T/err"
rm -rf "$HOME/.config"
alone -p "$T/etc/allow.rules" -- sh -c 'mkdir ~/.config/x && mv ~/.config ~/y; ln -s /tmp ~/.config/usher; mkdir ~/.config/usher'
same "no directory is made for grants that nobody gave" "x" "$(ls "$HOME/.config")"
finish
