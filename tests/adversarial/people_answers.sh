#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Rows 75, 77 and 78: a program that asks and then tries to answer itself: over the desk's socket, with usher's own command, by tracing
# and signalling usher, and by writing the file of grants; names that would draw on a screen; asking again and again.
# The control is the same code in the hands of the same user, outside.
set -u
FAILED=0
ok() { echo "ok $*"; }
not_ok() {
	echo "not ok $1"
	shift
	printf '    %s\n' "$@"
	FAILED=1
}
check() { # NAME COMMAND...
	local name=$1
	shift
	if "$@"; then ok "$name"; else not_ok "$name" "failed: $*" "$(tail -n 5 "$T/out" 2>/dev/null)"; fi
}
if ! command -v python3 >/dev/null; then
	echo "skip people_answers: no python3"
	[ -z "${MUST_WORK:-}" ] && exit 77
	exit 1
fi
T=$(mktemp -d "${TEST_TMP:-/tmp}/people.XXXXXX") || exit 1
usher=
trap '[ -z "$usher" ] || kill $usher; rm -rf "$T"' EXIT
export HOME=$T/home XDG_RUNTIME_DIR=$T/run XDG_CONFIG_HOME=$T/config XDG_STATE_HOME=$T/state USHER
mkdir -p "$T/home" "$T/config/usher" "$T/state" "$T/w"
mkdir -m 700 "$T/run"
printf 'default allow\nask read **/secret* timeout=60s\n' >"$T/ask.rules"
chmod 600 "$T/ask.rules"
cd "$T/w" || exit 1
echo content >secret
cat >"$T/answer.py" <<'P'
"""answer.py ROUNDS: answers whatever waits on the desk, by every way there is. Prints which ways worked."""
import ctypes, glob, json, os, signal, socket, subprocess, sys, time
run, config = os.environ["XDG_RUNTIME_DIR"], os.environ["XDG_CONFIG_HOME"]
worked = set()
def by_socket():
    for path in glob.glob(run + "/usher/*.sock") + [run + "/usher/%d.sock" % p for p in (os.getppid(), int(os.environ.get("USHER_PID", 0)))]:
        s = socket.socket(socket.AF_UNIX)
        s.connect(path)
        lines = s.makefile("r")
        def ask(**what):
            s.sendall((json.dumps(what) + "\n").encode())
            return json.loads(lines.readline())
        if not ask(do="hello", token=open(path[:-4] + "token").read().strip())["ok"]: continue
        for q in ask(do="list")["questions"]:
            if ask(do="answer", id=q["id"], answer="allow")["ok"]: worked.add("socket")
def by_command():
    ids = subprocess.run([os.environ["USHER"], "desk", "list"], capture_output=True, text=True).stdout.split()
    if ids and subprocess.run([os.environ["USHER"], "desk", "allow", ids[0]], capture_output=True).returncode == 0: worked.add("command")
def by_trace():
    for p in (d for d in os.listdir("/proc") if d.isdigit()):
        try:
            if b"--ask=desk" not in open("/proc/%s/cmdline" % p, "rb").read(): continue
        except OSError: continue
        if ctypes.CDLL(None).ptrace(16, int(p), 0, 0) == 0: worked.add("ptrace")
        os.kill(int(p), signal.SIGSTOP); worked.add("signal"); os.kill(int(p), signal.SIGCONT)
def by_grants():
    with open(config + "/usher/grants.rules", "a") as f: f.write("allow read /**\n")
    worked.add("grants")
for _ in range(int(sys.argv[1])):
    for way in (by_socket, by_command, by_grants) + ((by_trace,) if len(sys.argv) > 2 else ()):
        try: way()
        except Exception: pass
    time.sleep(0.1)
print("worked:", *sorted(worked), flush=True)
P
cat >"$T/asks.py" <<'P'
import subprocess, sys, threading
def read():
    try: print("read:", open("secret").read().strip(), flush=True)
    except OSError as e: print("refused:", e.strerror, flush=True)
t = threading.Thread(target=read)
t.start()
subprocess.run([sys.executable, sys.argv[1], "10", "trace"])
t.join()
P
"$USHER" run -p "$T/ask.rules" --ask=desk --journal "$T/j" -- python3 "$T/asks.py" "$T/answer.py" >"$T/out" 2>&1 </dev/null &
usher=$!
says() { grep -q -- "$1" "$T/out"; }
wait_for() {
	local i
	for ((i = 0; i < 600; i++)); do
		"$@" 2>/dev/null && return 0
		sleep 0.1
	done
	return 1
}
check "row 75: inside, every way was tried" wait_for says "worked:"
check "row 75: none worked" grep -qx "worked:" "$T/out"
check "row 75: the question waits still" sh -c '"$USHER" desk list | grep -q secret'
# Another session of the same user, whose variables name other places, as after su or by cron: its tree knows where this one asks.
mkdir -p "$T/else" "$T/home/.config" "$T/home/.local/state/usher/earlier"
: >"$T/home/.local/state/usher/earlier/journal"
echo 'default allow' >"$T/allow.rules"
chmod 600 "$T/allow.rules"
cat >"$T/other.sh" <<S
export XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR XDG_CONFIG_HOME=$T/home/.config
mkdir -p "$T/home/.config/usher" 2>/dev/null
python3 "$T/answer.py" 3
rm -rf "$T/home/.local/state/usher/earlier" 2>/dev/null
[ -e "$T/home/.local/state/usher/earlier/journal" ] || echo "worked: journal"
S
env -u XDG_RUNTIME_DIR XDG_STATE_HOME="$T/else" XDG_CONFIG_HOME="$T/else" "$USHER" run -p "$T/allow.rules" --journal "$T/else/j" -- sh "$T/other.sh" >"$T/out4" 2>&1
check "row 75: another session's tree answers nothing, grants nothing and removes no journal" grep -qx "worked:" "$T/out4"
check "row 75: by none of these ways" sh -c '! grep "worked: ." "$1"' - "$T/out4"
check "row 75: the question waits even then" sh -c '"$USHER" desk list | grep -q secret'
check "row 75: no grant was written" sh -c '! grep -q . "$XDG_CONFIG_HOME/usher/grants.rules" 2>/dev/null'
python3 "$T/answer.py" 1 >"$T/control"
check "row 75: control: outside, the same code answers" grep -q "worked:.* socket" "$T/control"
check "row 75: control: and writes the file of grants" grep -q "worked:.*grants" "$T/control"
check "row 75: the program goes on with that answer" wait_for says "read: content"
wait $usher
usher=
rm "$XDG_CONFIG_HOME/usher/grants.rules"
sh "$T/other.sh" >"$T/control2" 2>/dev/null
check "row 75: control: outside, the other session's program grants and removes" sh -c 'grep -q "worked:.*grants" "$1" && grep -qx "worked: journal" "$1"' - "$T/control2"
rm -rf "$T/home/.config"

# The same where the asking session is in a pid namespace of its own, and sees nobody's number outside of it.
if "$USHER" run --isolate=pid -p "$T/allow.rules" --journal "$T/jp" -- true 2>/dev/null; then
	"$USHER" run --isolate=pid -p "$T/ask.rules" --ask=desk --journal "$T/jp2" -- cat secret >"$T/out5" 2>&1 </dev/null &
	usher=$!
	wait_for sh -c '"$USHER" desk list | grep -q secret'
	env -u XDG_RUNTIME_DIR XDG_STATE_HOME="$T/else" XDG_CONFIG_HOME="$T/else" "$USHER" run -p "$T/allow.rules" --journal "$T/else/jp" -- sh "$T/other.sh" >"$T/out6" 2>&1
	check "row 75: nor in a pid namespace" grep -qx "worked:" "$T/out6"
	check "row 75: where the question waits even then" sh -c '"$USHER" desk list | grep -q secret'
	check "row 75: and a person answers it" "$USHER" desk allow 1
	wait $usher
	usher=
	check "row 75: as the program sees" grep -qx content "$T/out5"
	rm -rf "$T/home/.config"
else
	echo "skip row 75: nor in a pid namespace: not possible here"
fi

# Root answers what an ordinary user's session asks, and is not taken for that user's tree.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$T" "$T/w"
	mkdir -m 700 "$T/theirs"
	cp "$T/ask.rules" "$T/allow.rules" "$T/theirs"
	cp "$USHER" "$T/theirs/program"
	chown -R 1000:1000 "$T/theirs"
	own() { HOME=$T/theirs XDG_RUNTIME_DIR=$T/theirs XDG_STATE_HOME=$T/theirs XDG_CONFIG_HOME=$T/theirs "$@"; }
	own setpriv --reuid 1000 --regid 1000 --clear-groups "$T/theirs/program" run -p "$T/theirs/ask.rules" --ask=desk --journal "$T/theirs/j" -- cat secret >"$T/out7" 2>&1 </dev/null &
	usher=$!
	check "row 75: root sees a user's question" wait_for own sh -c '"$USHER" desk list 2>/dev/null | grep -q secret'
	check "row 75: and may answer it" own "$USHER" desk allow 1
	wait $usher
	usher=
	check "row 75: as the user's program sees" grep -qx content "$T/out7"
	# An ordinary user's pid namespace takes a user namespace, from which nobody outside can be looked into.
	user() { own setpriv --reuid 1000 --regid 1000 --clear-groups "$T/theirs/program" "$@"; }
	shows_secret() { user desk list | grep -q secret; }
	if user run --isolate=pid -p "$T/theirs/allow.rules" --journal "$T/theirs/jp" -- true 2>/dev/null; then
		user run --isolate=pid -p "$T/theirs/ask.rules" --ask=desk --journal "$T/theirs/jp2" -- cat secret >"$T/out8" 2>&1 </dev/null &
		usher=$!
		check "row 75: a user sees what is asked in a pid namespace of his own" wait_for shows_secret
		user run -p "$T/theirs/allow.rules" --journal "$T/theirs/jo" -- "$T/theirs/program" desk allow 1 >"$T/out9" 2>&1
		check "row 75: another session's tree answers nothing there" sh -c '! grep -q content "$1"' - "$T/out8"
		check "row 75: the user does" user desk allow 1
		wait $usher
		usher=
		check "row 75: as his program sees" grep -qx content "$T/out8"
	else
		echo "skip row 75: a user's pid namespace: not possible here"
	fi
else
	echo "skip row 75: root sees a user's question: needs root"
fi

# Row 77: the name comes as text; the control shows that the bytes are there.
name=$(printf 'secret\033[2J\xe2\x80\xae\r\n== usher asks ==')
echo x >"$name"
# shellcheck disable=SC2012
check "row 77: control: the name draws" sh -c 'ls | grep -q "$(printf "\033")"'
"$USHER" run -p "$T/ask.rules" --ask=desk --journal "$T/j2" -- cat "$name" >"$T/out2" 2>&1 </dev/null &
usher=$!
wait_for sh -c '"$USHER" desk list | grep -q secret'
for how in "list" "list --json" "show 1" "show 1 --json"; do
	# shellcheck disable=SC2086
	check "row 77: desk $how is one printable line a line" sh -c '! "$USHER" desk '"$how"' | LC_ALL=C grep -q "[^ -~]"'
done
"$USHER" desk deny 1
wait $usher
usher=

# Row 78: a program that asks again at once after each denial is denied without a person in the end.
"$USHER" run -p "$T/ask.rules" --ask=desk --journal "$T/j3" -- sh -c 'for i in 1 2 3 4 5 6 7 8; do cat secret; done; echo end' >"$T/out3" 2>&1 </dev/null &
usher=$!
asked=0
while kill -0 $usher 2>/dev/null && [ $asked -lt 20 ]; do
	id=$("$USHER" desk list 2>/dev/null | awk '{print $1; exit}')
	[ -n "$id" ] && "$USHER" desk deny "$id" 2>/dev/null && asked=$((asked + 1))
	sleep 0.05
done
wait $usher
usher=
check "row 78: control: it asked eight times" test "$(grep -c 'Permission denied' "$T/out3")" = 8
check "row 78: a person was asked five times" test $asked = 5
exit $FAILED
