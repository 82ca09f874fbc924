#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Rules with review: allowed at once, on the desk afterwards, marked by a person; from the journal when the session is over.
. "$(dirname "$0")/lib.sh"

export XDG_RUNTIME_DIR=$T/run XDG_CONFIG_HOME=$T/config
mkdir -p -m 700 "$XDG_RUNTIME_DIR"
mkdir -p "$T/w/out"
cd "$T/w" || exit 1
cat >"$T/etc/review.rules" <<R
default allow
ask create $T/w/out/** review reason="new files"
ask read $T/w/q* after=1 review timeout=60s
allow delete $T/w/out/** by=**/mv
ask delete $T/w/out/** limit=1/h review timeout=60s
R
chmod 600 "$T/etc/review.rules"
echo content >q1
mkfifo go on # two: whoever wrote to the first may still have it open when the second is read
desk() { "$USHER" desk "$@"; }
review() { desk review "$@"; }
session() { # NAME COMMAND...
	local name=$1
	shift
	"$USHER" run -p "$T/etc/review.rules" --ask=desk --journal "$T/$name.j" -- "$@" >"$T/$name.out" 2>&1 </dev/null &
	echo $! >"$T/$name.pid"
}
asks() { desk list | grep -q -- "$1"; }
says() { grep -q -- "$2" "$T/$1.out"; }
lists() { review "${@:2}" | grep -q -- "$1"; }
id_of() { review --all | awk -v p="$1" 'index($0, p) {print $1; exit}'; }

session a sh -c 'touch out/one; touch out/two; mv out/one ../kept; touch out/one; mkdir out/one; echo created; cat q1; cat q1; rm out/one; rm out/two; echo asked; read -r x <go; touch out/two; echo again; read -r x <on; echo end'
check "nobody is asked" wait_for says a created
check "what was done is listed" lists "open .*create $T/w/out/two by "
check "equal calls are one, with a count" lists "2x .*create $T/w/out/one by"
same "a call that failed is none" 2 "$(review | wc -l)"
check "show tells the reason" sh -c "\"$USHER\" desk review show $(id_of out/one) | grep -q 'reason *new files'"
check "and what was there" sh -c "\"$USHER\" desk review show $(id_of out/one) | grep -q 'now *does not exist'"
check "--json is JSON" sh -c '"$USHER" desk review --json | python3 -m json.tool --json-lines'
if desk allow "$(id_of out/one)" 2>/dev/null; then not_ok "a review is no question"; else ok "a review is no question"; fi
check "after=1 asks once" wait_for asks /q1
desk allow "$(desk list | awk '/q1/ {print $1}')"
check "then allows" wait_for lists "read $T/w/q1"
check "limit= asks beyond" wait_for asks "delete .*/two"
desk allow "$(desk list | awk '/two/ {print $1}')"
wait_for says a asked
"$USHER" desk review show "$(review --all | awk '/delete/ && index($0, "out/one") {print $1; exit}')" >"$T/removed"
check "and what was removed" grep -qE 'now +.*(file|bytes)' "$T/removed"
check "wrong" review wrong "$(id_of out/two)" --message="not $(printf 'th\033is')"
check "right" review right "$(id_of out/one)"
if review right "$(id_of out/one)" 2>/dev/null; then not_ok "a mark is given once"; else ok "a mark is given once"; fi
if lists "create.*out/"; then not_ok "what is marked is done with" "$(review)"; else ok "what is marked is done with"; fi
echo >go
check "what was wrong and happens again is listed again" wait_for lists "open .*create $T/w/out/two"
check "--all has the mark still" lists "wrong .*create $T/w/out/two" --all
echo >on
check "the end" wait_for says a end
wait "$(cat "$T/a.pid")"
check "it says what nobody has looked at" says a "nobody has looked: .*--journal=$T/a.j"
check "the journal is whole" "$USHER" verify "$T/a.j"
check "the mark is in it" sh -c '"$USHER" log "$T/a.j" --json event:review | grep -q "wrong review=.*who=uid .*message=not th?is"'
check "a record says its review" sh -c '"$USHER" log "$T/a.j" --json path:"$T/w/out/one" | grep -q "\"verdict\":\"allow\",\"rule\":\"[^\"]*review.rules:2\".*\"review\":1"'

later() { review "$@" --journal="$T/a.j"; }
check "the journal lists what is open" sh -c '"$USHER" desk review --journal="$T/a.j" | grep -q "create $T/w/out/two"'
same "and what was marked" "right wrong" "$(later --all | awk '$2 == "right" || $2 == "wrong" {print $2}' | sort -u | xargs)"
n=$(later | awk '/out\/two/ {print $1; exit}')
check "a mark after the end" later wrong "$n" --message=late
check "is kept" sh -c "\"$USHER\" desk review --all --journal=\"$T/a.j\" | grep -A1 '^$n ' | grep -q 'afterwards message=late'"
if later right "$n" 2>/dev/null; then not_ok "once, too"; else ok "once, too"; fi
check "and leaves the journal whole" "$USHER" verify "$T/a.j"
cp "$T/a.j/reviews" "$T/reviews"; truncate -s 1G "$T/a.j/reviews"
same "a hole behind the marks is not held in memory" "0 True" "$(peak "$USHER" desk review --all --journal="$T/a.j")"
check "and those before it count" sh -c "\"$USHER\" desk review --all --journal=\"$T/a.j\" | grep -q 'afterwards message=late'"
mv "$T/reviews" "$T/a.j/reviews"
sed -i 's/"record":"./"record":"x/' "$T/a.j/reviews"
check "a mark of another record counts for nothing" sh -c "\"$USHER\" desk review --journal=\"$T/a.j\" | grep -q '^$n '"
mv "$T/a.j/reviews" "$T/reviews"; mkfifo "$T/a.j/reviews"
check "nobody waits for a pipe in the place of the marks" sh -c "timeout -k 1 60 \"$USHER\" desk review --journal=\"$T/a.j\" | grep -q '^$n '"
timeout -k 1 60 "$USHER" desk review right "$n" --journal="$T/a.j" >"$T/marked" 2>&1; same "nor to mark" 1 $?
mv -f "$T/reviews" "$T/a.j/reviews"

"$USHER" run -p "$T/etc/review.rules" --ask=deny --journal "$T/b.j" -- sh -c 'for i in $(seq 600); do : >out/n$i; done; echo end' >"$T/b.out" 2>&1 </dev/null
check "a flood goes through" says b "^end"
check "and what is kept is bounded" says b "512 kinds of calls and more"
same "the journal has all" 600 "$("$USHER" desk review --journal="$T/b.j" | wc -l)"
check "one beyond can be marked" review wrong "$("$USHER" desk review --journal="$T/b.j" | tail -n 1 | awk '{print $1}')" --journal="$T/b.j"
same "and is done with" 599 "$("$USHER" desk review --journal="$T/b.j" | wc -l)"

printf 'default allow\nask create %s/** review\n' "$T/w/out" >"$T/etc/only.rules"
chmod 600 "$T/etc/only.rules"
setsid "$USHER" run -p "$T/etc/only.rules" --journal "$T/c.j" -- touch out/alone >"$T/c.out" 2>&1 </dev/null
same "review alone needs nobody" 0 $?
setsid "$USHER" run -p "$T/etc/review.rules" --journal "$T/d.j" -- true >"$T/d.out" 2>&1 </dev/null
same "with after= it does" 125 $?
printf 'default allow\nask create %s/**\n' "$T/w/out" >"$T/etc/plain.rules"
chmod 600 "$T/etc/plain.rules"
"$USHER" run -p "$T/etc/only.rules" -p "$T/etc/plain.rules" --ask=deny --journal "$T/e.j" -- touch out/both >"$T/e.out" 2>&1 </dev/null
check "a layer that asks is not answered by another's review" says e "Permission denied"
finish
