#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What nobody answered, as rules at the end of a session: pasted above the rules that asked they allow exactly what was asked for, whatever its name.
# quick: 1000
. "$(dirname "$0")/lib.sh"
need python3
export XDG_CONFIG_HOME=$T/config
mkdir -p "$T/w/h" "$T/w/new" "$T/w/old" "$T/config"
cd "$T/w" || exit 1
cat >"$T/etc/ask.rules" <<R
ask read $T/w/h/**
ask write $T/w/new/** $T/w/old/**
ask exec $T/w/tool
ask connect unix:$T/w/h/** unix:@**
default allow
R
chmod 600 "$T/etc/ask.rules"
printf '#!/bin/sh\necho "ran with $#"\n' >tool
chmod 755 tool
cat >do.py <<'P'
import os, socket, subprocess, sys
W = os.getcwdb()
# what is asked for, then what a careless pattern of it would match as well
PAIRS = [(b"plain", b"plain2"), (b"with blank", b"with"), (b"a*b", b"aXb"), (b"**", b"any"), (b"q?", b"qx"), (b"[ab]", b"a"), (b"{one,two}", b"one"),
	 (b"new\nallow read x", b"new"), (b'quo"te', b"quo"), (b'" by="', b"x"), (b"back\\slash", b"backslash"), (b"back\\*", b"back\\x"), (b"hash # tag", b"hash"), (b"#", b"##"),
	 (b"$HOME", os.environb[b"HOME"].lstrip(b"/").replace(b"/", b"_")), (b"~", b"~~"), ("rtl\u202etxt".encode(), b"rtltxt"), (b"\x1b[2J", b"[2J"), (b"bad\xff\xfe", b"bad"), (b"\x01", b"\x02"), (b"-> x", b"x2"),
	 (b" lead", b"lead"), (b"trail ", b"trail"), (b"tab\t", b"tab"), (b"\xc3\xa9", b"e\xcc\x81"), (b"L" * 255, b"L" * 254), (b"UP", b"up"), (b"memfd:", b"memfd:x"), (b"cont\\", b"cont")]
def said(what):
    try: what(); return "yes"
    except OSError as e: return "no" if e.errno == 13 else str(e)
def where(place, name): return W + b"/" + place + b"/" + name
def read(n): return lambda: open(where(b"h", n), "rb").close()
def create(n): return lambda: os.close(os.open(where(b"new", n), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
def rename(n): return lambda: os.rename(where(b"old", n), where(b"old", n[:250] + b"-to"))
def run(n): return lambda: subprocess.run([W + b"/tool", n, b"second"], check=True, stdout=subprocess.DEVNULL)
def abstract(n): return lambda: socket.socket(socket.AF_UNIX).connect(b"\0" + n[-60:] + str(len(n)).encode())
def out(kind, which, did): print(kind, which, *sorted(set(did)))
KINDS = {"read": read, "create": create, "rename": rename, "exec": run, "abstract": abstract}
if sys.argv[1] == "make":
    for place in b"h", b"old":
        for n in {n for pair in PAIRS for n in pair}: open(where(place, n), "w").close()
else: # KIND, and which of each pair
    did = [said(KINDS[sys.argv[1]](pair[int(sys.argv[2])])).replace("[Errno 111] Connection refused", "yes") for pair in PAIRS]
    print(*(sorted(set(did)) if len(set(did)) == 1 else zip(did, PAIRS)))
P
python3 do.py make
N=0
session() { # RULES COMMAND...
	local rules=$1
	shift
	timeout 120 "$USHER" run -p "$rules" --ask=deny --journal "$T/j$((++N))" -- "$@" >"$T/out" 2>"$T/err" </dev/null
}
for kind in read create rename exec abstract; do
	session "$T/etc/ask.rules" python3 do.py $kind 0
	same "$kind: nothing is allowed at first" "no" "$(cat "$T/out")"
	sed -n '/questions that nobody answered/,$p' "$T/err" | tail -n +2 >"$T/pasted"
	check "$kind: the list is plain text" sh -c "! LC_ALL=C grep -q '[^ -~]' '$T/pasted'"
	same "$kind: rules and comments" "" "$(grep -v '^allow [a-z]* ".*\|^# asked by \|^# for a rule file of your own: above the rule that asks' "$T/pasted")"
	cat "$T/pasted" "$T/etc/ask.rules" >"$T/etc/more.rules"
	chmod 600 "$T/etc/more.rules"
	check "$kind: it loads" "$USHER" check "$T/etc/more.rules"
	session "$T/etc/more.rules" python3 do.py $kind 1
	same "$kind: what was not asked for is not allowed" "no" "$(cat "$T/out")"
	cp "$(command -v python3)" "$T/other"
	session "$T/etc/more.rules" "$T/other" do.py $kind 0
	same "$kind: nor for another program" "no" "$(cat "$T/out")"
	session "$T/etc/more.rules" python3 do.py $kind 0
	same "$kind: what was asked for is allowed" "yes" "$(cat "$T/out")"
	same "$kind: and nothing is asked any more" 0 "$(grep -c 'nobody answered,' "$T/err")"
done
# What no rule can say is told of all the same.
cat >nameless.py <<'P'
import os, sys
fd = os.memfd_create("cat", 0)
os.write(fd, open("/bin/cat", "rb").read())
if sys.argv[1] == "memfd": os.execve(fd, ["cat", "h/plain"], {})
try: os.execv("tool", ["tool", '"' * 20000])
except PermissionError: print("refused")
P
printf 'allow exec memfd:**\n' | cat - "$T/etc/ask.rules" >"$T/etc/nameless.rules"
chmod 600 "$T/etc/nameless.rules"
for kind in memfd long; do
	session "$T/etc/nameless.rules" python3 nameless.py $kind
	same "$kind: a question without a rule is told of" "# and some that no rule here could allow: 'usher log asked' has them all" "$(tail -n 1 "$T/err")"
	same "$kind: and its record is found" 1 "$("$USHER" log "$T/j$N" asked type:call --json | wc -l)"
done
finish
