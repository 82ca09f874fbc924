#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 74: poor surroundings. usher works as it should, or refuses and says why; it never does less in silence. The control is the same in full surroundings.
T=$(mktemp -d /tmp/usher-poor.XXXXXX) || exit 1
trap 'cd /; chmod -R u+rwX "$T"; rm -rf "$T"' EXIT
chmod 755 "$T"
cp "$USHER" "$T/usher"
echo 'default allow' >"$T/allow.rules"
bad=0

# NAME STATUS WORDS SETUP [OPTION...]: SETUP is shell before the command; WORDS (extended regex, may be empty) must be said.
try() {
	local name=$1 want=$2 words=$3 setup=$4 status
	shift 4
	rm -rf "$T/w" && mkdir "$T/w" && chown "$who" "$T/w"
	local as=()
	[ "$who" = "$(id -un)" ] || as=(setpriv "--reuid=$who" "--regid=$who" --clear-groups)
	cat >"$T/script" <<-EOS
		cd "$T/w" || exit 99
		export HOME="$T/w" XDG_STATE_HOME="$T/w/state" J="$T/w/j"
		$setup
		"$T/usher" run -p "$T/allow.rules" --ask=deny $* --journal "\$J" -- /bin/sh -c 'read x </etc/passwd && echo "read \$x"; exit 5'
	EOS
	timeout 60 "${as[@]}" bash "$T/script" >"$T/out" 2>&1
	status=$?
	# Refused, or the command has run and was served.
	if [ "$status" = "$want" ] && { [ -z "$words" ] || grep -qE "$words" "$T/out"; } && { [ "$status" != 5 ] || [ -n "$mute" ] || grep -q '^read root' "$T/out"; }; then
		echo "ok row 74: $name ($who)"
	else
		echo "not ok row 74: $name ($who): status $status: $(tail -n 3 "$T/out")"
		bad=1
	fi
}

users=$(id -un)
[ "$(id -u)" != 0 ] || users="root 1000"
for who in $users; do
	mute=
	try "the control" 5 "" ""
	try "32 descriptors" 5 "" "ulimit -n 32"
	try "10 descriptors" 125 "Too many open files" "ulimit -n 10"
	# An ordinary user may not lock the keys then; nor make a directory that he may enter.
	refused=$([ "$who" = root ] && echo 5 || echo 125)
	try "no locked memory" "$refused" "" "ulimit -l 0"
	try "a small stack" 5 "" "ulimit -s 256"
	try "a smaller one, that may grow" 5 "" "ulimit -Ss 64"
	try "hardly any stack" 125 "too little, 192 are needed" "ulimit -s 64"
	try "hardly any memory" 125 "." "ulimit -v 8000"
	try "files of 1 KiB at most" 125 "File too large" "ulimit -f 1"
	try "no input" 5 "" "exec <&-"
	mute=1
	try "no output" 5 "" "exec >&-"
	try "no input, output or errors" 5 "" "exec <&- >&- 2>&-"
	mute=
	try "no HOME and no XDG_STATE_HOME" 5 "" "unset HOME XDG_STATE_HOME"
	try "no directory to stand in" 5 "" "mkdir gone && cd gone && rmdir ../gone"
	try "no terminal" 5 "" "exec setsid -w \\"
	try "an empty environment" 5 "" "exec env -i J=\$J \\"
	try "a mask that takes everything" "$refused" "" "umask 777"
	try "signals ignored" 5 "" "trap '' HUP INT TERM PIPE USR1 USR2"
	try "SIGCHLD ignored" 5 "" "exec python3 -c 'import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])' \\"
	try "the journal's directory is not ours" 125 "make the journal" "J=/proc/none/j"
	try "namespaces nobody knows" 125 "expected auto, none, or a list" "" --isolate=pid,moon
	try "a floor nobody knows" 125 "expected a list" "" --require=moon
done
if [ "$(id -u)" = 0 ]; then
	who=root
	try "SIGCHLD ignored, in a pid namespace" 5 "" "exec python3 -c 'import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])' \\" --isolate=pid
	try "no /proc" 125 "/proc" "exec unshare -m sh -c 'umount -l /proc; exec \"\$@\"' sh \\"
	try "processes hidden, as root" 5 "" "exec unshare -m sh -c 'mount -t proc -o hidepid=2 proc /proc; exec \"\$@\"' sh \\"
	try "processes hidden, as a user" 5 "" "exec unshare -m sh -c 'mount -t proc -o hidepid=2 proc /proc; chown -R 1000 $T/w; chown 1000 $T/allow.rules; exec setpriv --reuid=1000 --regid=1000 --clear-groups \"\$@\"' sh \\"
	chown 0 "$T/allow.rules"
	try "root without CAP_SYS_PTRACE" 5 "without CAP_SYS_PTRACE" "exec setpriv --bounding-set=-sys_ptrace --inh-caps=-all \\"
	try "a full file system" 125 "No space left" "J=/mnt/j; exec unshare -m sh -c 'mount -t tmpfs -o size=64k none /mnt; exec \"\$@\"' sh \\"
	try "a read-only home" 125 "Read-only" "J=/mnt/j; exec unshare -m sh -c 'mount -t tmpfs -o ro none /mnt; exec \"\$@\"' sh \\"
	try "namespaces that cannot be had" 125 "isolate=pid: " "exec unshare -m setpriv --bounding-set=-sys_admin --inh-caps=-all \\" --isolate=pid
fi
exit $bad
