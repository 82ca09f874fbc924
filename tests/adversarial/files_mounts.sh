#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 34: where rules hide a directory and close what /proc lists of mounts, statmount(2) and listmount(2) told its name all the same, if something is mounted there.
# The control: natively the same program is told. As root and as an ordinary user; the mount is in a namespace of its own.
PATH=/usr/sbin:/sbin:/usr/bin:/bin:$PATH
[ "$(id -u)" = 0 ] || { echo "skip row 34: the mounts are listed: needs root, to mount one"; exit 77; }
T=$(mktemp -d /tmp/usher-hidden.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
chmod 755 "$T"
cp "$USHER" "$T/usher"
mkdir "$T/veiled"
printf 'deny stat %s/veiled/**\ndeny read /proc/**/{mounts,mountinfo,mountstats}\ndefault allow\n' "$T" >"$T/rules"
cat >"$T/look.py" <<'P'
import ctypes, os, struct, sys
STATMOUNT, LISTMOUNT, MNT_POINT, ROOT = 457, 458, 16, 2**64 - 1
libc = ctypes.CDLL(None, use_errno=True)
def of(mount, wanted):
    return ctypes.create_string_buffer(struct.pack("IIQQQ", 32, 0, mount, wanted, 0), 32)
ids = (ctypes.c_uint64 * 512)()
n = libc.syscall(LISTMOUNT, of(ROOT, 0), ids, 512, 0)
if n < 0:
    sys.exit(print("refused", ctypes.get_errno()))
told = ctypes.create_string_buffer(16384)
names = b""
for mount in ids[:n]:
    if libc.syscall(STATMOUNT, of(mount, MNT_POINT), told, 16384, 0) == 0:
        names += told.raw
print("GOT" if b"/veiled" in names else "nothing")
P
cat >"$T/all.sh" <<'S'
mount -t tmpfs none "$T/veiled" || exit 77
bad=0
for who in 0 1000; do
	as=(setpriv "--reuid=$who" "--regid=$who" --clear-groups)
	[ $who != 0 ] || as=()
	home=$(mktemp -d "$T/home.XXXXXX") && chown $who "$home" && cd "$home" || exit 1
	native=$("${as[@]}" python3 "$T/look.py")
	got=$(HOME=$home "${as[@]}" "$T/usher" run -p "$T/rules" --ask=deny --journal "$home/journal" -- python3 "$T/look.py" 2>/dev/null)
	if [ "$native" != GOT ]; then
		echo "skip row 34: the mounts are listed ($who): natively $native"
	elif [ "$got" = "refused 38" ]; then
		echo "ok row 34: the mounts are listed ($who)"
	else
		echo "not ok row 34: the mounts are listed ($who): $got"
		bad=1
	fi
done
exit $bad
S
export T
unshare -m --propagation private bash "$T/all.sh"
status=$?
[ $status != 77 ] || echo "skip row 34: the mounts are listed: none can be mounted here"
exit $status
