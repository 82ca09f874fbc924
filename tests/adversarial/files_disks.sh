#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 28: what a file system tells and does by ioctl on any descriptor of it: to root btrfs shows the content of files, and ext4 can be ended for everybody.
# The control: natively the same program gets what it wants. File systems of its own, in a mount namespace of its own.
PATH=/usr/sbin:/sbin:/usr/bin:/bin:$PATH
[ "$(id -u)" = 0 ] || { echo "skip row 28: a file system's own calls: needs root, who alone may mount"; exit 77; }
T=$(mktemp -d /tmp/usher-disks.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
chmod 755 "$T"
bad=0
cat >"$T/search.py" <<'P'
import ctypes, fcntl, os, struct, sys
# Every inline file content (EXTENT_DATA items) of the subvolume's tree; or the whole subvolume as a stream; or the end of the file system.
key = struct.pack("<QQQQQQQIIIIQQQQ", 5, 0, 2**64 - 1, 0, 2**64 - 1, 0, 2**64 - 1, 108, 108, 4096, 0, 0, 0, 0, 0)
here = os.open(".", os.O_RDONLY)
def call(number, argument, on=here):
    data = bytearray(argument)
    fcntl.ioctl(on, number, data, True)
    return bytes(data)
def sent(number, size):
    r, w = os.pipe()
    top = os.open(sys.argv[2], os.O_RDONLY)
    fcntl.ioctl(top, number, bytearray(struct.pack("<q", w).ljust(size, b"\0")), True)
    os.close(w)
    return os.read(r, 65536)
def encoded(number, words):
    # A descriptor that cannot be read. The words of a 32-bit program are short, so what they lead to lies low (MAP_32BIT, where there is one).
    low = ctypes.CDLL(None).mmap
    low.restype, low.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    at = low(None, 1 << 17, 3, 0x22 | 0x40, -1, 0)
    if words == "<II" and at >> 32:
        raise OSError(25, "no low memory")
    ctypes.memmove(at, struct.pack("<QQ", at + 4096, 65536), 16)
    secret = os.open("../home/.ssh/id_rsa", os.O_WRONLY)
    fcntl.ioctl(secret, number, bytearray(struct.pack(words, at, 1).ljust(128, b"\0")), True)
    return ctypes.string_at(at + 4096, 16)
def number():
    return os.stat("../home/.ssh/id_rsa").st_ino
def paths():
    names = ctypes.create_string_buffer(4096)
    call(0xC0389423, struct.pack("<QQ32xQ", number(), 4096, ctypes.addressof(names)))
    return names.raw
def subvolumes():
    top = os.open(sys.argv[2], os.O_RDONLY)
    below = call(0xD000943D, bytes(4096), top)
    found = b""
    for i in range(below[4088]):
        tree, directory = struct.unpack_from("<QQ", below, 8 + 16 * i)
        found += call(0xD000943E, struct.pack("<QQ", directory, tree).ljust(4096, b"\0"), top)
    return found
def handle(number):
    made, size, name = ctypes.create_string_buffer(64), ctypes.c_uint32(), (os.path.realpath("..") + "/home/.ssh/id_rsa").encode()
    name = ctypes.create_string_buffer(name)
    call(number, struct.pack("<IxxxxQIxxxxQIxxxxQQ", 0, ctypes.addressof(name), 0, 0, 0, ctypes.addressof(made), ctypes.addressof(size)))
    return b"ended"
def bulk():
    # One file by its number, or all that the file system has: 4242 is the size of the hidden one.
    stats, last, got = ctypes.create_string_buffer(65536), ctypes.c_uint64(int(sys.argv[1] == "one") * int(os.environ["HIDDEN"])), ctypes.c_int32()
    if sys.argv[1] == "bulk":
        out = call(0x8040587F, struct.pack("<QIIII40x", 0, 0, 64, 0, 0) + bytes(65536))
    else:
        call(0xC0205866 if sys.argv[1] == "one" else 0xC0205865, struct.pack("<QixxxxQQ", ctypes.addressof(last), 64, ctypes.addressof(stats), ctypes.addressof(got)))
        out = stats.raw
    return b"ended" if struct.pack("<Q", 4242) in out else b""
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
           "send": lambda: sent(0x40489426, 72),
           "send32": lambda: sent(0x40449426, 68),
           "encoded": lambda: encoded(0x80809440, "<QQ"),
           "encoded32": lambda: encoded(0x80789440, "<II"),
           "paths": paths,
           "lookup": lambda: call(0xD0009412, struct.pack("<QQ", 0, number()).ljust(4096, b"\0")),
           "subvolumes": subvolumes,
           "handle": lambda: handle(0xC0385869),
           "fshandle": lambda: handle(0xC0385868),
           "bulk": bulk, "all": bulk, "one": bulk,
           "received32": lambda: call(0xC0C09425, bytes(192), os.open(sys.argv[2], os.O_RDONLY)) and b"ended",
           "tune": tuned,
           "catatonic": lambda: b"ended" if fcntl.ioctl(here, 0x9362) == 0 else b"",
           "shutdown": lambda: b"ended" if call(0x8004587D, struct.pack("I", 2)) else b""}[sys.argv[1]]()
    print("FOUND" if b"flag{" in out or b"id_rsa" in out or out == b"ended" else "nothing")
except OSError as e:
    print("refused", e.errno)
P
cat >"$T/try.sh" <<'S'
# try.sh KIND FILESYSTEM [UID]: prints what the attack says natively and under usher, and whether the file system still works between them
kind=$1 d=$T/$1 as=${3:+setpriv --reuid=$3 --regid=$3 --clear-groups}
mkdir "$d" "$d/m" && truncate -s 320M "$d/image" && "mkfs.$2" -q "$d/image" >/dev/null 2>&1 && mount -o loop "$d/image" "$d/m" || exit 77
trap 'cd / && umount "$d/m"' EXIT
top=$d/m
if [ "${kind%32}" = send ] || [ "$kind" = received32 ]; then
	btrfs subvolume create "$d/m/v" >/dev/null || exit 77
	top=$d/m/v
fi
mkdir -p "$top/home/.ssh" "$top/project" && echo "flag{$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')}" >"$top/home/.ssh/id_rsa"
cp "$T/search.py" "$top/project/"
truncate -s 4242 "$top/home/.ssh/size" && HIDDEN=$(stat -c %i "$top/home/.ssh/size") && export HIDDEN
[ "$kind" != subvolumes ] || btrfs subvolume create "$top/home/.ssh/id_rsa.d" >/dev/null || exit 77
[ "${kind%32}" != send ] || btrfs property set "$top" ro true
sync
cd "$top/project" || exit 77
mkdir "$d/state" && chown "${3:-0}" "$d/state" || exit 77
rules="deny read $top/home/.ssh/**"
[ "$2" != xfs ] || rules=${rules/read/read,stat}
printf '%s\ndefault allow\n' "$rules" >"$d/rules"
HOME=$top/home XDG_STATE_HOME=$d/state $as "$USHER" run -p "$d/rules" -- python3 search.py "$kind" "$top" 2>/dev/null
touch "$d/m/works" && echo works
$as python3 search.py "$kind" "$top"
S
cat >"$T/auto.sh" <<'S'
# auto.sh: what the attack on an automounter's directory says under usher and natively. The automounter does not answer.
mkdir "$T/auto" && printf 'default allow\n' >"$T/rules" || exit 77
exec 3< <(exec python3 -c '
import ctypes, os, signal, sys
end = os.pipe()[1]
os.setpgid(0, 0)
options = "fd=%d,pgrp=%d,minproto=5,maxproto=5,indirect" % (end, os.getpgrp())
print("mounted" if ctypes.CDLL(None).mount(b"auto", sys.argv[1].encode(), b"autofs", 0, options.encode()) == 0 else "", flush=True)
signal.pause()' "$T/auto")
holder=$!
trap 'cd / && umount "$T/auto"; kill $holder' EXIT
read -r said <&3
[ "$said" = mounted ] && cd "$T/auto" || exit 77
HOME=$T XDG_STATE_HOME=$T/state "$USHER" run -p "$T/rules" -- python3 "$T/search.py" catatonic 2>/dev/null
echo works
python3 "$T/search.py" catatonic
S
export T
try() { # NAME KIND FILESYSTEM [ERRNO [UID]]
	local out status
	[ "$3" = autofs ] || command -v "mkfs.$3" >/dev/null || { echo "skip row 28: $1: no mkfs.$3"; return; }
	case $3 in
	autofs) out=$(unshare -m --propagation private bash "$T/auto.sh" 2>&1) ;;
	*) out=$(unshare -m --propagation private bash "$T/try.sh" "$2" "$3" "$5" 2>&1) ;;
	esac
	status=$?
	case "$status $out" in
	"77 "*) echo "skip row 28: $1: no $3 here" ;;
	"0 refused ${4:-1}"$'\n'"works"$'\n'"FOUND") echo "ok row 28: $1" ;;
	"0 refused 25"$'\n'"works"$'\n'"refused 25") echo "skip row 28: $1: this kernel's $3 has it not" ;;
	*) echo "not ok row 28: $1: $status $out" && bad=1 ;;
	esac
}
try "BTRFS_IOC_TREE_SEARCH" search btrfs
try "BTRFS_IOC_TREE_SEARCH_V2" search2 btrfs
try "BTRFS_IOC_SEND" send btrfs
try "BTRFS_IOC_SEND_32" send32 btrfs
try "BTRFS_IOC_ENCODED_READ" encoded btrfs
try "BTRFS_IOC_ENCODED_READ_32" encoded32 btrfs
try "BTRFS_IOC_SET_RECEIVED_SUBVOL_32" received32 btrfs 25
try "BTRFS_IOC_INO_PATHS" paths btrfs
try "BTRFS_IOC_INO_LOOKUP" lookup btrfs
try "BTRFS_IOC_INO_LOOKUP_USER, an ordinary user's" subvolumes btrfs 25 1000
try "XFS_IOC_PATH_TO_HANDLE, an ordinary user's" handle xfs 25 1000
try "XFS_IOC_PATH_TO_FSHANDLE, an ordinary user's" fshandle xfs 25 1000
try "XFS_IOC_FSBULKSTAT" all xfs
try "XFS_IOC_FSBULKSTAT_SINGLE" one xfs
try "XFS_IOC_BULKSTAT" bulk xfs
try "FS_IOC_SHUTDOWN" shutdown ext4
try "EXT4_IOC_SET_TUNE_SB_PARAM" tune ext4
try "AUTOFS_IOC_CATATONIC" catatonic autofs
exit $bad
