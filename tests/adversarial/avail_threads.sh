#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 74: the command takes every process that its user may have, so that usher can make no thread more. What waits (opens of FIFOs, more than there are threads;
# a question) must not leave the others without anybody who serves them. The control is the same natively, and the question where there are threads.
T=$(mktemp -d /tmp/usher-threads.XXXXXX) || exit 1
trap 'cd /; rm -rf "$T"' EXIT
chmod 755 "$T"
cp "$USHER" "$T/usher"
mkdir "$T/w"
command -v python3 >/dev/null || { echo "skip row 74: no thread can be made: no python3"; exit 77; }
as=() who=$(id -u) bad=0
if [ "$who" = 0 ]; then # who may have as many as there are: as somebody who has none
	who=23456
	as=(setpriv "--reuid=$who" "--regid=$who" --clear-groups)
fi
chown "$who" "$T/w"
printf 'ask read **/asked timeout=1s else=deny\ndefault allow\n' >"$T/w/ask.rules"
chown "$who" "$T/w/ask.rules"
cat >"$T/take.py" <<'P'
import ctypes, errno, os, signal, sys
# take.py waits | asked | few: takes all processes but for "few", and says what becomes of its calls.
what = sys.argv[1]
libc = ctypes.CDLL(None)
go, let_go = os.pipe()
children, readers = [], []
def child(body):
    pid = os.fork()
    if pid:
        children.append(pid)
        return pid
    libc.prctl(1, signal.SIGKILL)
    try:
        body()
    finally:
        os._exit(0)
try:
    for i in range(30 if what == "waits" else 0):
        os.mkfifo(f"fifo{i}")
        readers.append(child(lambda: os.read(go, 1) and os.open(f"fifo{i}", os.O_RDONLY)))
    while what != "few":
        child(signal.pause)
except OSError as e:
    assert e.errno == errno.EAGAIN
os.write(let_go, b"." * len(readers))
try:
    for i in range(5):
        os.close(os.open("/etc/passwd" if what == "waits" else "asked", os.O_RDONLY))
    for i, pid in enumerate(readers):
        to = os.open(f"fifo{i}", os.O_WRONLY)
        os.waitpid(pid, 0)
        os.close(to)
    print("served")
except OSError as e:
    print(errno.errorcode[e.errno])
for pid in set(children) - set(readers):
    os.kill(pid, signal.SIGKILL)
P
run() { # WHAT COMMAND...
	local what=$1
	shift
	rm -f "$T"/w/fifo*
	: >"$T/w/asked"
	chown "$who" "$T/w/asked"
	# shellcheck disable=SC2016 # of the inner shell
	(cd "$T/w" && HOME=$T/w XDG_STATE_HOME=$T/w/state timeout 60 "${as[@]}" \
		bash -c 'ulimit -u $(($(ps -L -u "$0" --no-headers | wc -l) + 50)); exec "$@"' "$who" "$@" python3 "$T/take.py" "$what" 2>"$T/err") || echo "status $?"
}
supervised=("$T/usher" run -p "$T/w/ask.rules" --ask=desk --)
try() { # NAME WHAT WANT CONTROL
	local got
	if [ "$4" != "$3" ]; then
		echo "skip row 74: $1: the control: $4"
		return
	fi
	got=$(run "$2" "${supervised[@]}")
	if [ "$got" = "$3" ]; then
		echo "ok row 74: $1"
	else
		echo "not ok row 74: $1: $got: $(tail -n 3 "$T/err")"
		bad=1
	fi
}
try "no thread can be made: more opens wait than there are" waits served "$(run waits)"
try "no thread can be made: a question comes to its end" asked EACCES "$(run few "${supervised[@]}")"
exit $bad
