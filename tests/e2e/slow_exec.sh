#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# users: root
# A program that lies on a file system whose server does not answer delays who execs it, and nobody else: neither while usher reads the file,
# nor while another thread of the caller, which the kernel lets nobody trace meanwhile, makes an exec. Nor do names delay others that are looked up there,
# by one or by many, and names that lie in its content. Told by the watchdog, which has nothing to say.
. "$(dirname "$0")/lib.sh"
need gcc
is_root || skip_all "needs root"
[ -c /dev/fuse ] || skip_all "no /dev/fuse"

echo 'int main(void) { return 7; }' | gcc -x c -static -o "$T/etc/seven" - || skip_all "no static programs"
mkdir "$T/slow"
cat >"$T/etc/others.sh" <<'EOS'
# MODE: makes 300 opens while the exec waits, and only then lets it go on.
case $1 in
lookup) cat "$T/slow/slow" 2>/dev/null & ;;
lookups) for ((i = 0; i < 12; i++)); do cat "$T/slow/slow$i" 2>/dev/null & done ;;
names) "$BIN/slow_exec" --names "$T/slow/prog" 100 & ;;
threads) "$BIN/slow_exec" --threads "$T/slow/prog" /bin/true "$T/gate.reached" "$T/second" & ;;
*) "$T/slow/prog" & ;;
esac
slow=$!
until [ -e "$T/gate.reached" ]; do sleep 0.02; done
[ "$1" != threads ] || until [ -e "$T/second" ]; do sleep 0.02; done
sleep 0.3
for ((i = 0; i < 300; i++)); do read -r x </etc/passwd || exit 1; done
kill -0 $slow && echo "others went on"
rm "$T/gate"
wait $slow
echo "ended $?"
EOS
slow() { # MODE READS
	fresh
	rm -f "$T"/gate* "$T/second"
	: >"$T/gate"
	"$BIN/slow_exec" "$T/slow" "$T/etc/seven" "$T/gate" "$2" "$USHER" run -p "$T/etc/allow.rules" -- bash "$T/etc/others.sh" "$1" >"$T/out" 2>"$T/err"
	[ $? != 77 ] || skip_all "no file system can be mounted"
}
for c in "reading 0" "exec 1" "threads 1" "lookup 0" "lookups 0" "names 0"; do
	slow $c
	case ${c% *} in
	threads) ended='ended [07]' ;; # of two threads that exec either may be the last
	lookup*) ended='ended 1' ;;
	names) ended='ended 0' ;;
	*) ended='ended 7' ;;
	esac
	check "$c: it ends as natively" grep -qx "$ended" "$T/out"
	same "$c: nobody else waits" "others went on" "$(grep others "$T/out"; grep 'has not come to an end' "$T/err")"
done

# A process that reads such a file cannot be killed: usher ends when it does, and says what it waits for.
fresh
rm -f "$T"/gate*
: >"$T/gate"
cat >"$T/etc/leave.sh" <<'EOS'
cat "$T/slow/prog" >/dev/null &
until [ -e "$T/gate.reached" ]; do sleep 0.02; done
exit 3
EOS
"$BIN/slow_exec" "$T/slow" "$T/etc/seven" "$T/gate" 0 "$USHER" run -p "$T/etc/allow.rules" -- bash "$T/etc/leave.sh" >"$T/out" 2>"$T/err" &
left=$!
WITHIN=30 check "what was killed and does not end is waited for, which is said" wait_for grep -q "what it left behind was killed and has not ended" "$T/err"
check "usher is still there" kill -0 "$left"
rm "$T/gate"
wait "$left"
same "then it ends as the command did" 3 $?
finish
