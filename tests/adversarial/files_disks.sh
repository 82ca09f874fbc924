#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 28: as root, what a file system tells and does by ioctl on any descriptor of it: btrfs shows the content of files, ext4 can be ended for everybody.
# The control: natively the same program gets what it wants. File systems of its own, in a mount namespace of its own.
PATH=/usr/sbin:/sbin:/usr/bin:/bin:$PATH
[ "$(id -u)" = 0 ] || { echo "skip row 28: a file system's own calls: needs root, who alone may make them"; exit 77; }
T=$(mktemp -d /tmp/usher-disks.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
bad=0
cat >"$T/search.py" <<'P'
import fcntl, os, struct, sys
# Every inline file content (EXTENT_DATA items) of the subvolume's tree; or the whole subvolume as a stream; or the end of the file system.
key = struct.pack("<QQQQQQQIIIIQQQQ", 5, 0, 2**64 - 1, 0, 2**64 - 1, 0, 2**64 - 1, 108, 108, 4096, 0, 0, 0, 0, 0)
here = os.open(".", os.O_RDONLY)
def call(number, argument):
    data = bytearray(argument)
    fcntl.ioctl(here, number, data, True)
    return bytes(data)
def sent():
    r, w = os.pipe()
    top = os.open(sys.argv[2], os.O_RDONLY)
    fcntl.ioctl(top, 0x40489426, bytearray(struct.pack("<qQQQQ", w, 0, 0, 0, 0).ljust(72, b"\0")), True)
    os.close(w)
    return os.read(r, 65536)
def tuned():
    # set_flags, the first word: 4 is max_mnt_count, which is at 12. A kernel older than 6.18 has neither call.
    now = bytearray(call(0x80E8662D, bytes(232)))
    struct.pack_into("<I", now, 0, 4)
    struct.pack_into("<H", now, 12, 4242)
    call(0x40E8662E, now)
    return b"ended" if struct.unpack_from("<H", call(0x80E8662D, bytes(232)), 12)[0] == 4242 else b""
try:
    out = {"search": lambda: call(0xD0009411, key.ljust(4096, b"\0")),
           "search2": lambda: call(0xC0709411, key + struct.pack("<Q", 60000) + bytes(60000)),
           "send": sent,
           "tune": tuned,
           "shutdown": lambda: b"ended" if call(0x8004587D, struct.pack("I", 2)) else b""}[sys.argv[1]]()
    print("FOUND" if b"flag{" in out or out == b"ended" else "nothing")
except OSError as e:
    print("refused", e.errno)
P
cat >"$T/try.sh" <<'S'
# try.sh KIND FILESYSTEM: prints what the attack says natively and under usher, and whether the file system still works between them
kind=$1 d=$T/$1
mkdir "$d" "$d/m" && truncate -s 120M "$d/image" && "mkfs.$2" -q "$d/image" >/dev/null 2>&1 && mount -o loop "$d/image" "$d/m" || exit 77
trap 'cd / && umount "$d/m"' EXIT
top=$d/m
if [ "$kind" = send ]; then
	btrfs subvolume create "$d/m/v" >/dev/null || exit 77
	top=$d/m/v
fi
mkdir -p "$top/home/.ssh" "$top/project" && echo "flag{$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')}" >"$top/home/.ssh/id_rsa"
cp "$T/search.py" "$top/project/"
[ "$kind" != send ] || btrfs property set "$top" ro true
sync
cd "$top/project" || exit 77
HOME=$top/home XDG_STATE_HOME=$T/state "$USHER" run --ask=deny -- python3 search.py "$kind" "$top" 2>/dev/null
touch "$d/m/works" && echo works
python3 search.py "$kind" "$top"
S
export T
try() { # NAME KIND FILESYSTEM
	local out status
	command -v "mkfs.$3" >/dev/null || { echo "skip row 28: $1: no mkfs.$3"; return; }
	out=$(unshare -m --propagation private bash "$T/try.sh" "$2" "$3" 2>&1)
	status=$?
	case "$status $out" in
	"77 "*) echo "skip row 28: $1: no $3 here" ;;
	"0 refused 1"$'\n'"works"$'\n'"FOUND") echo "ok row 28: $1" ;;
	"0 refused 25"$'\n'"works"$'\n'"refused 25") echo "skip row 28: $1: this kernel's $3 has it not" ;;
	*) echo "not ok row 28: $1: $status $out" && bad=1 ;;
	esac
}
try "BTRFS_IOC_TREE_SEARCH" search btrfs
try "BTRFS_IOC_TREE_SEARCH_V2" search2 btrfs
try "BTRFS_IOC_SEND" send btrfs
try "FS_IOC_SHUTDOWN" shutdown ext4
try "EXT4_IOC_SET_TUNE_SB_PARAM" tune ext4
exit $bad
