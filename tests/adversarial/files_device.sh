#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 20: a device that a rule denies by name, by another node: one that was there before, or one that root makes.
# The control: natively the same program opens it; and a node of another device is opened under usher, too.
[ "$(id -u)" = 0 ] || { echo "skip row 20: nodes of a device: needs root, who alone makes them"; exit 77; }
T=$(mktemp -d /tmp/usher-device.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
mkdir "$T/home"
printf 'deny open /dev/full\ndeny open /dev/loop-control\ndefault allow\n' >"$T/denied.rules"
[ ! -b /dev/loop0 ] || sed -i '1i deny open /dev/loop0' "$T/denied.rules"
chmod 600 "$T/denied.rules"
{ mknod "$T/full" c 1 7 && mknod "$T/zero" c 1 5 && : <"$T/full"; } 2>/dev/null || { echo "skip row 20: nodes of a device: none can be made here"; exit 77; }
[ ! -b /dev/loop0 ] || cp -a /dev/loop0 "$T/loop0"
cat >"$T/open.py" <<'P'
import os, sys
# open.py WAY NODE KIND MAJOR MINOR
way, node = sys.argv[1:3]
def made():
    os.mknod("made", {"c": 0o20600, "b": 0o60600}[sys.argv[3]], os.makedev(int(sys.argv[4]), int(sys.argv[5])))
    os.close(os.open("made", os.O_RDONLY))
def moved():
    os.rename(node, "moved")
    try:
        os.close(os.open("moved", os.O_RDONLY))
    finally:
        os.rename("moved", node)
try:
    {"there": lambda: os.close(os.open(node, os.O_RDONLY)), "nonblocking": lambda: os.close(os.open(node, os.O_RDONLY | os.O_NONBLOCK)),
     "below": lambda: (os.chdir(os.path.dirname(node)), os.close(os.open(os.path.basename(node), os.O_RDONLY))),
     "again": lambda: os.close(os.open("/proc/self/fd/%d" % os.open(node, os.O_PATH), os.O_RDONLY)),
     "made": made, "moved": moved}[way]()
    print("GOT")
except OSError as e:
    print("refused", e.errno)
P
bad=0
try() { # NAME WANTED WAY NODE [KIND MAJOR MINOR]
	local native got name=$1 wanted=$2
	shift 2
	native=$(cd "$(mktemp -d "$T/home/XXXXXX")" && python3 "$T/open.py" "$@")
	got=$(cd "$(mktemp -d "$T/home/XXXXXX")" && HOME=$PWD "$USHER" run -p "$T/denied.rules" --ask=deny --journal "$PWD/journal" -- python3 "$T/open.py" "$@" 2>/dev/null)
	if [ "$native" != GOT ]; then
		echo "skip row 20: nodes of a device: $name: natively $native"
	elif [ "$got" = "$wanted" ]; then
		echo "ok row 20: nodes of a device: $name"
	else
		echo "not ok row 20: nodes of a device: $name: $got"
		bad=1
	fi
}
for way in there nonblocking below again moved; do try "$way" "refused 13" $way "$T/full"; done
try made "refused 13" made - c 1 7
try "another device's" GOT there "$T/zero"
try "another device's, made" GOT made - c 1 5
if [ -b "$T/loop0" ]; then
	try "a disk's" "refused 13" there "$T/loop0"
	try "a disk's, made" "refused 13" made - b 7 0
fi
exit $bad
