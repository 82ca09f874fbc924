#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usher desk: questions of several sessions, answered from elsewhere; grants, revocations, rules for ever.
. "$(dirname "$0")/lib.sh"

export XDG_RUNTIME_DIR=$T/run XDG_CONFIG_HOME=$T/config
mkdir -p -m 700 "$XDG_RUNTIME_DIR"
mkdir -p "$T/w"
cd "$T/w" || exit 1
cat >"$T/etc/ask.rules" <<'R'
default allow
deny read **/never
ask read **/q* timeout=60s
ask modify **/ddd*/q timeout=60s
ask exec **/called timeout=60s
R
chmod 600 "$T/etc/ask.rules"
for i in 1 2 3 4 5; do echo "content $i" >q$i; done
echo no >never
desk() { "$USHER" desk "$@"; }
session() { # NAME COMMAND...: in the background, its output in $T/NAME.out
	local name=$1
	shift
	"$USHER" run -p "$T/etc/ask.rules" --ask=desk --journal "$T/$name.j" -- "$@" >>"$T/$name.out" 2>&1 </dev/null & # appended: parallel writers
	echo $! >"$T/$name.pid"
}
asks() { desk list | grep -q -- "$1"; }
says() { grep -q -- "$2" "$T/$1.out"; }
silent() { ! says "$@"; }
waits() { [ "$(desk list | wc -l)" = "$1" ]; }

session a sh -c 'cat q1; echo end'
check "the question is on the desk" wait_for asks /q1
check "list names the session" sh -c '"$USHER" desk list | grep -q " sh "'
check "show tells the rule" sh -c '"$USHER" desk show 1 | grep -q ask.rules:3'
check "list --json is JSON" sh -c '"$USHER" desk list --json | python3 -m json.tool'
check "allow" desk allow 1
check "the program goes on" wait_for says a "content 1"
check "and ends" wait_for says a end
wait "$(cat "$T/a.pid")"
if desk allow 1 2>/dev/null; then not_ok "an answer without its question fails"; else ok "an answer without its question fails"; fi

# Who watches before there is a session sees its questions, however soon they come; and who comes later.
watch() { # FILE [--json]
	"$USHER" desk watch ${2:-} >"$1" 2>&1 &
	WATCHERS="${WATCHERS:-} $!"
	at_exit "kill $! 2>/dev/null"
}
watch "$T/watch"
watch "$T/watch.json" --json
wait_for grep -q "no session asks" "$T/watch"
session w cat q1
check "watch shows the question of a session that has just begun" wait_for grep -q "read $T/w/q1 by" "$T/watch"
wait_for grep -q '"event":"question"' "$T/watch.json"
check "no line of show is empty: it has no ancestors" sh -c '"$USHER" desk show 1 | grep -q ^object && ! "$USHER" desk show 1 | grep -qE "^[a-z]+ *$"'
watch "$T/later.json" --json
check "one that comes later shows what waits in the same form" wait_for grep -q '"event":"question","question":{.*/q1"' "$T/later.json"
desk deny 1
check "and that it is gone" wait_for grep -q "gone" "$T/watch"
wait_for grep -q '"event":"gone"' "$T/watch.json"
same "every line of watch --json is an event, each once" "gone question" "$(grep -o '^{"event":"[a-z]*"' "$T/watch.json" | cut -d'"' -f4 | sort | xargs)"
kill $WATCHERS

cp /bin/dash 'x < git (1)'
session v "./x < git (1)" -c 'cat q1; :'
wait_for asks /q1
check "a program's name is one word among those above" sh -c '"$USHER" desk show 1 | grep -qE "^ancestry +[^ ]*/x[^ ]*20<[^ ]*20git[^ ]*20\(1\) \([0-9]+\)$"'
desk deny 1
wait "$(cat "$T/v.pid")"

session b sh -c 'cat q1; echo status $?; cat q1; echo end'
wait_for asks /q1
check "deny for the session" desk deny 1 --for=session
check "both reads fail" wait_for says b end
same "refused twice" 2 "$(grep -c 'Permission denied' "$T/b.out")"

session c sh -c 'cat q1 q2; echo first; read -r x <go; cat q1; cat never; echo end'
mkfifo go
wait_for asks /q1
check "allow for the session" desk allow 1 --for=session
wait_for asks /q2
id=$(desk list | awk '/q2/ {print $1}')
for dir in /usr "$T/w/q" "${T%?}"; do
	same "a directory that does not hold it is no answer, and that is said ($dir)" "usher: desk: the directory does not hold what is asked about" "$(desk allow "$id" --for=session --directory="$dir" 2>&1)"
done
check "allow for ten minutes" desk allow "$(desk list | awk '/q2/ {print $1}')" --for=10m
check "both are read" wait_for says c first
same "two grants" 2 "$(desk grants | wc -l)"
check "a grant is told in full" sh -c '"$USHER" desk grants | grep -q "allow read .*/q1 by .*cat, session"'
check "revoke" desk revoke 1
if desk revoke 1 2>/dev/null; then not_ok "a second revocation fails"; else ok "a second revocation fails"; fi
echo >go
check "what is revoked asks again" wait_for asks /q1
check "allow for this directory" desk allow "$(desk list | awk '/q1/ {print $1}')" --for=session --directory="$T/w"
check "the end" wait_for says c end
check "a grant does not override a deny" says c "never: Permission denied"

# A grant says all that it covers, and what is more than a name does not look like one.
mkdir stars
cp "$(type -P true)" called
mkfifo hold
for f in 'q*' qx; do echo "$f" >"stars/$f"; done
session s bash -c 'cat "stars/q*" stars/qx; (exec -a other ./called push "to me"); echo done; read -r x <hold'
wait_for asks 'stars/q[*]'
desk allow 1 --for=session
wait_for asks stars/qx
desk allow "$(desk list | awk '/qx/ {print $1}')" --for=session --pattern="$T/w/stars/q*"
wait_for asks called
check "a question says what the program is to be called" sh -c '"$USHER" desk show "$("$USHER" desk list | cut -d" " -f1)" | grep -qx "argv0     other"'
desk allow "$(desk list | awk '/called/ {print $1}')" --for=session
wait_for says s done
same "grants tells a name from a pattern, and the arguments" "allow read $T/w/stars/q* by /usr/bin/cat, session
allow read pattern $T/w/stars/q* by /usr/bin/cat, session
allow exec $T/w/called by $(readlink -f "$(command -v bash)") as other args push to\\\\ me, session" "$(desk grants | sed 's/^[^ ]* *//; s/ (uid.*//')"
same "and in JSON" "null:null $T/w/stars/q*:null null:other" "$(desk grants --json | python3 -c '
import json, sys
print(*("%s:%s" % tuple(g.get(k) or "null" for k in ("pattern", "argv0")) for g in map(json.loads, sys.stdin)))')"
echo >hold
wait "$(cat "$T/s.pid")"

session args ./called "$(printf '%030000d' 0)" "the end"
wait_for asks called
check "of long arguments the end is shown as well, and how many there are" sh -c '"$USHER" desk show 1 | grep -qE "^argv +00*.*\[\.\.\.3000[0-9] bytes, hash [0-9a-f]{16}\.\.\.\] 00*.* the.* end$"'
desk deny 1
wait "$(cat "$T/args.pid")"

# Questions about more arguments than a reply has room for: those that it has are answered, then the others are there.
cat >many.py <<'P'
import os
def start(n, filling):
    pid = os.fork()
    if pid: return pid
    try: os.execv("./called", ["called", str(n)] + [filling * 131000] * 14)
    except PermissionError: os._exit(0)
pids = [start(0, "\x01")] + [start(n, "x") for n in range(1, 6)]
print(sum(os.waitpid(p, 0)[1] == 0 for p in pids), "denied")
P
session m6 python3 many.py
all_wait() { [ "$("$USHER" log "$T/m6.j" --json | grep -c '"event":"question"')" = 6 ]; }
wait_for all_wait
check "the desk has questions of very long arguments" wait_for asks called
more_wait() { "$USHER" desk list 2>&1 >/dev/null | grep -q " more wait"; }
check "and says that more wait" wait_for more_wait # the journal has a question before the desk
for _ in 1 2 3 4 5 6; do desk deny "$(desk list 2>/dev/null | awk '{print $1; exit}')"; done
check "each is there in the end" wait_for says m6 "6 denied"
wait "$(cat "$T/m6.pid")"

session d sh -c 'cat q3; echo end'
wait_for asks /q3
rule=$(desk allow 1 --always --yes)
check "always shows its rule" grep -q "allow read" <<<"$rule"
wait_for says d end
same "and writes just that" "$(tail -n +2 <<<"$rule")" "$(cat "$XDG_CONFIG_HOME/usher/grants.rules")"
same "grants lists it with its place" "always   $(head -n 1 "$XDG_CONFIG_HOME/usher/grants.rules")   ($XDG_CONFIG_HOME/usher/grants.rules:1)" "$(desk grants | grep '^always' | head -n 1)"
same "and in JSON" "$(head -n 1 "$XDG_CONFIG_HOME/usher/grants.rules")" "$(desk grants --json | python3 -c 'import json, sys; print([r["rule"] for r in map(json.loads, sys.stdin) if r.get("line") == 1][0])')"
mkdir -p "$T/quoted/usher"
printf '%s\n' 'allow read "/a\x20b\x5c"' >"$T/quoted/usher/grants.rules"
chmod 600 "$T/quoted/usher/grants.rules"
same "a rule with escapes is listed as it stands" 'always   allow read "/a\x20b\x5c"' "$(XDG_CONFIG_HOME=$T/quoted desk grants | grep -o '^always   allow read "[^"]*"')"
mkdir -p "$T/piped/usher"; mkfifo "$T/piped/usher/grants.rules"
XDG_CONFIG_HOME=$T/piped timeout -k 1 60 "$USHER" desk grants >"$T/out" 2>&1; same "nobody waits for a pipe in the place of the grants" 1 $?
printf 'allow read "/a\xff"\n' >"$T/quoted/usher/grants.rules"
same "bytes that are no text are escapes in JSON" 'allow read "/a\xff"' "$(XDG_CONFIG_HOME=$T/quoted desk grants --json | python3 -c '
import json, sys
print(*(o["rule"] for o in map(json.loads, sys.stdin.buffer.read().decode("ascii").splitlines()) if "rule" in o))')"
# What is listed as answered for ever is none where the file does not load: no session starts then.
printf '%s\n' 'allow read "/a"' 'allow raed "/b"' >"$T/quoted/usher/grants.rules"
XDG_CONFIG_HOME=$T/quoted desk grants >"$T/out" 2>"$T/err"; same "a file of grants that does not load is said to be one" "1 2 1" "$? $(grep -c '^always' "$T/out") $(grep -c 'grants.rules:2:7: error' "$T/err")"
same "which is why no session starts" 125 "$(XDG_CONFIG_HOME=$T/quoted "$USHER" run -p "$T/etc/allow.rules" --journal "$T/broken" -- true 2>/dev/null; echo $?)"
printf '%s\n' 'allow read "/a"' 'rewrite read "/b" -> "/c"' >"$T/quoted/usher/grants.rules"
XDG_CONFIG_HOME=$T/quoted desk grants >"$T/out" 2>"$T/err"; same "so is one with what a grant cannot honour" "1 1" "$? $(grep -c 'grants.rules:2:.* error' "$T/err")"
printf '%s\n' 'allow read "/a"' >"$T/quoted/usher/grants.rules" && chmod 666 "$T/quoted/usher/grants.rules"
XDG_CONFIG_HOME=$T/quoted desk grants >"$T/out" 2>"$T/err"; same "and one that others may write" "1 1" "$? $(grep -c 'chmod go-w' "$T/err")"
chmod 600 "$T/quoted/usher/grants.rules"
XDG_CONFIG_HOME=$T/quoted desk grants >"$T/out" 2>"$T/err"; same "nothing is said of one that does" "0 0" "$? $(wc -c <"$T/err")"
if [ "$(id -u)" != 0 ]; then
	chmod 500 "$XDG_CONFIG_HOME/usher"
	chmod 400 "$XDG_CONFIG_HOME/usher/grants.rules"
	session n sh -c 'cat q5; echo end'
	wait_for asks /q5
	if desk allow 1 --always --yes >/dev/null 2>"$T/n.err"; then not_ok "what cannot be kept is not promised"; else ok "what cannot be kept is not promised"; fi
	check "and said" grep -q "cannot be written" "$T/n.err"
	desk deny 1
	wait_for says n end
	chmod 700 "$XDG_CONFIG_HOME/usher"
	chmod 600 "$XDG_CONFIG_HOME/usher/grants.rules"
fi
explained=$("$USHER" check --explain "read $T/w/q3 by $(readlink -f "$(command -v cat)")" "$T/etc/ask.rules")
same "check --explain names the answer for ever, and what it answers" "allow by $XDG_CONFIG_HOME/usher/grants.rules:1 ask.rules:3" \
	"$(head -n 1 <<<"$explained") $(grep -o 'ask.rules:3 asks' <<<"$explained" | cut -d' ' -f1)"
check "--json as well" sh -c '"$USHER" check --json --explain "read $T/w/q3 by $(readlink -f "$(command -v cat)")" "$T/etc/ask.rules" | python3 -c "import json, sys; e = json.load(sys.stdin); assert e[\"grant\"] and e[\"verdict\"] == \"allow\""'
same "what was not asked for still asks" ask "$("$USHER" check --explain "read $T/w/q4 by $(readlink -f "$(command -v cat)")" "$T/etc/ask.rules" | grep -oE -m1 '^[a-z]+')"
# A rule of the longest kind: it is in the journal before it is in the file of grants, and so is who answered.
long=$(python3 - <<'P'
import os
part = "d" * 240
for _ in range(16):
    os.mkdir(part)
    os.chdir(part)
open("q", "w").close()
print(os.getcwd() + "/q")
P
)
cp "$XDG_CONFIG_HOME/usher/grants.rules" "$T/grants.kept"
session t python3 -c 'import sys; open(sys.argv[1], "r+"); print("end")' "$long"
wait_for waits 1
check "an answer for ever on a long name" desk allow "$(desk list | awk '{print $1; exit}')" --always --yes
wait_for says t end
"$USHER" log "$T/t.j" --json >"$T/t.log"
check "is in the journal" python3 - "$T/t.log" <<'P'
import json, sys
notes = {r["event"]: r["text"] for r in map(json.loads, open(sys.argv[1])) if r.get("type") == "note" and "text" in r}
rules = notes["grant-always"].splitlines()
assert len(rules) == 2 and all("/q\" by=" in r and len(r) > 3800 for r in rules)
assert " scope=always channel=desk who=uid " in notes["grant"]
P
mv "$T/grants.kept" "$XDG_CONFIG_HOME/usher/grants.rules"
session u cat q5
wait_for asks /q5
chmod 622 "$XDG_CONFIG_HOME/usher/grants.rules"
desk allow 1 --always --yes >/dev/null 2>"$T/u.err"
same "who answers for ever is told where that is not kept" "1 1" "$? $(grep -c 'for this session only' "$T/u.err")"
check "and the program goes on" wait_for says u "content 5"
chmod 600 "$XDG_CONFIG_HOME/usher/grants.rules"

session e sh -c 'cat q3; cat q4; echo end'
check "the next session asks for the rest only" wait_for asks /q4
if asks /q3; then not_ok "the standing grant answers"; else ok "the standing grant answers"; fi
check "its content came" says e "content 3"
desk deny 1
wait_for says e end

# What is in the place of a session, by whomever, keeps nobody from the others.
mkdir -m 700 "$T/other" "$T/other/usher"; mkfifo "$T/other/usher/4242.token"
python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); c = s.accept()[0]; c.recv(9); c.close(); s.close()' "$T/other/usher/4242.sock" &
wait_for test -S "$T/other/usher/4242.sock"
XDG_RUNTIME_DIR=$T/other timeout -k 1 60 "$USHER" desk list >"$T/out" 2>&1; same "nor for one in the place of a token" 0 $?
kill $! 2>/dev/null
# One that talks and never answers is left in the end.
python3 -c 'import json, socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); c = s.accept()[0]
while True: c.sendall(b"{\"event\":\"gone\",\"id\":7}\n"); time.sleep(0.2)' "$T/other/usher/4343.sock" 2>/dev/null &
wait_for test -S "$T/other/usher/4343.sock"
XDG_RUNTIME_DIR=$T/other timeout -k 1 60 "$USHER" desk list >"$T/out" 2>&1; same "a session that never comes to its reply keeps nobody from the others" 0 $?
kill $! 2>/dev/null

session f sh -c 'cat ../config/usher/grants.rules; echo allow read / >>../config/usher/grants.rules; mv ../config/usher ../x; mv ../config ../x
	ls "$XDG_RUNTIME_DIR/usher"; cat "$XDG_RUNTIME_DIR"/usher/*.token; "$USHER" desk list; cat q5; echo end'
wait_for asks /q5
check "the tree sees no question" sh -c "! grep -q /q5 $T/f.out"
check "nor the grants" sh -c "! grep -q 'allow read' $T/f.out"
desk deny 1
wait_for says f end
same "the grants are as they were" "$(tail -n +2 <<<"$rule")" "$(cat "$XDG_CONFIG_HOME/usher/grants.rules")"

# Natively the same commands read the grants: the control.
check "control: natively the grants are read" grep -q "allow read" "$XDG_CONFIG_HOME/usher/grants.rules"

session g sh -c 'for i in $(seq 40); do cat q1 & cat q2 & done; wait; echo end'
session h sh -c 'cat q1; echo end'
check "identical ones are one, over two sessions" wait_for waits 3
check "with a count" wait_for asks "/q1 .*(40 times)"
wait_for asks "/q2 .*(40 times)"
for id in $(desk list | awk '{print $1}'); do desk allow "$id" --for=session; done
check "all go on" wait_for says g end
check "the other session too" wait_for says h end
same "every one was answered" 80 "$(grep -c content "$T/g.out")"

session l sh -c 'cat q1; cat q2; cat q1; echo end'
wait_for asks /q1
if desk allow 1 --for=session --pattern="/nowhere/*" 2>/dev/null; then not_ok "a pattern must match the question"; else ok "a pattern must match the question"; fi
told() { "$USHER" desk "${@:2}" 2>&1 | grep -q -- "$1"; }
check "what --for takes is told" told "--for is once, session, tree or a time: 90s" allow 1 --for=10x
check "and what rewrite needs" told "the NAME of the other object" rewrite 1
check "allow for a pattern" desk allow 1 --for=session --pattern="$T/w/q*"
check "it answers for all of it" wait_for says l end
same "without another question" 3 "$(grep -c content "$T/l.out")"

session i sh -c 'cat q1 & p=$!; sleep 0.5; kill $p; wait $p; echo end'
wait_for says i end
check "a killed caller's question is withdrawn" wait_for waits 0
question() { "$USHER" log "$T/i.j" --json event:question | sed 's/^{"seq":\([0-9]*\),.*"pid":\([0-9]*\),"tid":\([0-9]*\),.*/\2 \3 \1/'; }
withdrawn() { "$USHER" log "$T/i.j" --json asked | grep '"event":"withdrawn"' | sed 's/.*"pid":\([0-9]*\),"tid":\([0-9]*\),"asked":\([0-9]*\),.*/\1 \2 \3/'; }
check "what was asked in vain is found as asked" wait_for sh -c '"$USHER" log "$T/i.j" asked | grep -q withdrawn'
same "and says of whom, and of which question" "$(question)" "$(withdrawn)"

"$USHER" run -p "$T/etc/ask.rules" --ask=chain:exec:true --journal "$T/k.j" -- cat q1 >"$T/k.out" 2>&1
check "a helper without an answer denies" grep -q "Permission denied" "$T/k.out"
"$USHER" run -p "$T/etc/ask.rules" --ask=nobody -- cat q1 >"$T/l.out" 2>&1
same "an unknown channel starts nothing" 125 $?

for j in a b c d e f g h i k l; do
	[ ! -e "$T/$j.pid" ] || wait_for gone "$(cat "$T/$j.pid")" # k was waited for
	"$USHER" verify "$T/$j.j" >/dev/null || not_ok "journal $j is whole"
done
check "the grant is in the journal" sh -c '"$USHER" log "$T/c.j" --json | grep -q "\"event\":\"grant\""'
check "the revocation too" sh -c '"$USHER" log "$T/c.j" --json | grep -q "\"event\":\"revoke\""'
check "no socket is left" sh -c '! ls "$XDG_RUNTIME_DIR/usher" | grep .'

if command -v tmux >/dev/null; then
	TM=(tmux -S "$T/tmux.sock" -f /dev/null)
	at_exit '"${TM[@]}" kill-server 2>/dev/null'
	"${TM[@]}" new-session -d -s t -x 110 -y 30 "$USHER desk; echo the desk is closed; sleep 60"
	screen() { "${TM[@]}" capture-pane -p -t t; }
	shows() { screen | grep -qF -- "$1"; }
	# A question is answered by a key when it has been on the screen for a while: then the line above it counts its time.
	takes_key() { screen >"$T/screen"; grep -qF -- "object    read $T/w/$1" "$T/screen" && grep -q -- '─ [0-9]* s left ─' "$T/screen"; }
	back() { takes_key "$1" && grep -qF "[q]uit" "$T/screen"; } # the last line is the keys' again
	screen_row() { screen | grep -q "^[0-9]*:[0-9]* .* $1 *\$"; }
	press() { "${TM[@]}" send-keys -t t "$@"; }
	one_of_each() { screen | grep -q "^usher desk: 1 session, 1 question *$"; }
	check "the full-screen desk" wait_for shows "usher desk: 0 sessions"
	press 2
	check "its page of grants says what is not on it" wait_for shows "none in a session that runs; 'usher desk grants' lists answers for ever, too"
	press 1
	wait_for shows "nothing waits for an answer"
	session m sh -c 'cat q1; cat q2; echo end'
	check "it shows what comes" wait_for takes_key q1
	check "one of each is counted as one" wait_for one_of_each
	for key in s Escape; do # what a key would do to a question that the help hides it does not
		press '?'
		check "the help is there" wait_for shows "any other key: back from here"
		press $key
		check "$key behind the help leads back to the question" wait_for takes_key q1
		check "and answers nothing" silent m "content 1"
	done
	press o
	check "o answers" wait_for says m "content 1"
	check "the next comes" wait_for takes_key q2
	press d
	check "d denies" wait_for says m "Permission denied"
	wait_for says m end
	# A row without room for both has the object, and nothing of the program, whatever that is called.
	long=q$(printf 'x%.0s' $(seq 40))
	mkdir -p "$T/w/p by "; cp /bin/cat "$T/w/p by /cat"; echo 'content long' >"$long"
	printf 'allow exec "%s/**"\n' "$T/w" >>"$T/etc/ask.rules"
	session long sh -c "'./p by /cat' $long; echo end"
	wait_for takes_key "$long"
	check "a row of a long name has the object alone" screen_row "read $T/w/$long"
	press o
	wait_for says long end
	# Its caller ends while a message is typed: what is typed on is no answer to the question that comes to the front, however long it goes on.
	# A pause between the keys would make them count, and a busy machine makes one now and then: what was typed with one shows nothing.
	type_on() { # prints the longest time between two keys, in ms
		local began=${EPOCHREALTIME/./} now longest=0
		for _ in $(seq 15); do
			echo "send-keys -t t o" >&3
			read -rt 0.1 <>"$T/etc/nap"
			now=${EPOCHREALTIME/./}
			((now - began > longest)) && longest=$((now - began))
			began=$now
		done
		echo $((longest / 1000))
	}
	typed_on() { # NAME: with the first of its two questions in front
		session "$1" sh -c 'cat q1 & p=$!; while [ ! -e types ]; do sleep 0.1; done; kill -9 $p; cat q2; echo end'
		wait_for takes_key q1
		press x
		wait_for shows "deny, and say:"
		touch types
		wait_for shows "object    read $T/w/q2"
		# Without a process for each key, which would be a pause, too.
		pause=$({ type_on; } 3> >("${TM[@]}" -C attach -f ignore-size -t t >/dev/null))
		rm types
	}
	for again in 1 2 3 4 5 6; do
		typed=typed$again
		typed_on $typed
		if [ "$pause" -le 250 ] || ! says $typed "content 2"; then break; fi
		wait_for says $typed end
		echo "# a pause of $pause ms between keys: once more"
	done
	if says $typed "content 2"; then not_ok "a message typed on answers nothing" "$(cat "$T/$typed.out")"; else ok "a message typed on answers nothing"; fi
	check "a key behind it does" wait_for takes_key q2
	press o
	check "and o allows" wait_for says $typed "content 2"
	wait_for says $typed end
	printf 'ask create %s/new* review\n' "$T/w" >>"$T/etc/ask.rules"
	echo 'content 6' >q6
	session o sh -c 'touch new1; cat q1; cat q2; cat q6; cat q4; cat q5; echo end'
	wait_for takes_key q1
	press m
	check "m asks how long" wait_for shows "allow for (10m, 2h): 10m"
	press Enter
	check "and allows" wait_for says o "content 1"
	wait_for takes_key q2
	press x
	wait_for shows "deny, and say:"
	press -l "not this one"
	press Enter
	check "x denies" wait_for says o "q2: Permission denied"
	wait_for takes_key q6
	press r
	wait_for shows "the object instead:"
	press -l "$T/w/q1"
	press Enter
	check "r gives another object" wait_for sh -c '[ "$(grep -c "content 1" "$T/o.out")" = 2 ]'
	wait_for takes_key q4
	press a
	check "a shows the rule before it is written" wait_for shows "allow read \"$T/w/q4\""
	press Escape
	check "and goes back" wait_for shows "object    read $T/w/q4"
	press k
	wait_for shows "kill every process"
	press n Enter
	check "k asks first" wait_for back q4
	press r
	wait_for shows "the object instead:"
	press -l "gr$(printf '\303\274')n"
	check "a letter beyond ASCII is typed as names show it" wait_for shows 'the object instead: gr\xc3\xbcn'
	press BSpace; press BSpace; press -l x
	check "and is taken back whole" wait_for shows 'the object instead: grx'
	press C-c
	check "Ctrl-C leaves a line, and not the desk" wait_for back q4
	press p
	check "p proposes the directory" wait_for shows "$T/w/**"
	press BSpace BSpace
	press -l 'q[45]'
	press Enter
	check "the pattern as edited" wait_for shows "for: $T/w/q[45]"
	press 2
	check "grants are a page" wait_for shows "allow read $T/w/q1 by"
	press R
	check "where one is revoked" wait_for shows "revoked"
	press 3
	check "reviews are a page" wait_for shows "create $T/w/new1"
	press y
	check "where one is marked" wait_for shows "right    1x"
	press 4
	check "history is a page" wait_for shows "deny once: read"
	press 1
	wait_for takes_key q4
	press D
	wait_for shows "deny for (session"
	press Enter
	check "D denies for longer" wait_for says o "q4: Permission denied"
	wait_for takes_key q5
	press d
	check "to the end" wait_for says o end
	press q
	check "q leaves" wait_for shows "the desk is closed"
else
	skip "the full-screen desk" "tmux is not installed"
fi
finish
