#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 57: as root, the files by which programs change the kernel, mounted at a second place, as a chroot has them: the names that are closed are those of the first.
# The control: natively the same program opens them to write. It only opens them. The mounts are in a namespace of its own.
PATH=/usr/sbin:/sbin:/usr/bin:/bin:$PATH
[ "$(id -u)" = 0 ] || { echo "skip row 57: the kernel's own files at a second place: needs root, who alone may write them"; exit 77; }
T=$(mktemp -d /tmp/usher-mounts.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
cp "$USHER" "$T/usher"
echo 'default allow' >"$T/allow.rules"
mkdir "$T/at" "$T/home"
cat >"$T/look.py" <<'P'
import os, sys
# look.py WAY DIRECTORY NAME: whether it can be opened to write, or made
way, place, name = sys.argv[1:]
def opened(path, flags, **at):
    os.close(os.open(path, flags, **at))
def below():
    os.chdir(place)
    opened(name, os.O_WRONLY)
def again():
    held = os.open(place + "/" + name, os.O_PATH)
    opened("/proc/self/fd/%d" % held, os.O_WRONLY)
def linked():
    os.symlink(place + "/" + name, "link")
    opened("link", os.O_RDWR)
def made():
    os.mkdir(place + "/" + name)
    os.rmdir(place + "/" + name)
try:
    {"name": lambda: opened(place + "/" + name, os.O_WRONLY), "below": below, "again": again, "linked": linked, "made": made,
     "at": lambda: opened(name, os.O_WRONLY, dir_fd=os.open(place, os.O_RDONLY | os.O_DIRECTORY)),
     "mode": lambda: os.chmod(place + "/" + name, os.stat(place + "/" + name).st_mode & 0o7777),
     "read": lambda: opened(place + "/" + name, os.O_RDONLY)}[way]()
    print("GOT")
except OSError as e:
    print("refused", e.errno)
P
cat >"$T/all.sh" <<'S'
bad=0
tried=0
look() { # TYPE WAY NAME WANTED
	local native got
	cd "$(mktemp -d "$T/home/XXXXXX")" || exit 1
	native=$(python3 "$T/look.py" "$2" "$T/at" "$3" 2>/dev/null)
	cd "$(mktemp -d "$T/home/XXXXXX")" || exit 1
	got=$(HOME=$PWD "$T/usher" run -p "$T/allow.rules" --ask=deny --journal "$PWD/journal" -- python3 "$T/look.py" "$2" "$T/at" "$3" 2>/dev/null)
	if [ "$native" != GOT ]; then
		echo "skip row 57: a second $1: $3 ($2): natively $native"
	elif [ "$got" = "$4" ]; then
		echo "ok row 57: a second $1: $3 ($2)"
		tried=$((tried + 1))
	else
		echo "not ok row 57: a second $1: $3 ($2): $got"
		bad=1
	fi
}
second() { # TYPE
	mount -t "$1" "$1" "$T/at" 2>/dev/null && return
	echo "skip row 57: a second $1: none can be mounted here"
	return 1
}
if second binfmt_misc; then
	for way in name below again linked at mode; do look binfmt_misc $way register "refused 13"; done
	look binfmt_misc read status GOT
	umount "$T/at"
fi
if second tracefs; then
	look tracefs name tracing_on "refused 13"
	look tracefs below current_tracer "refused 13"
	look tracefs made instances/usher "refused 13"
	look tracefs read README GOT
	umount "$T/at"
fi
if second debugfs; then
	look debugfs name clear_warn_once "refused 13"
	umount "$T/at"
fi
if second sysfs; then
	look sysfs name power/state "refused 13"
	look sysfs below power/state "refused 13"
	look sysfs at kernel/mm/transparent_hugepage/enabled "refused 13"
	look sysfs read kernel/uevent_seqnum GOT
	umount "$T/at"
fi
if mount --bind /sys/kernel "$T/at" 2>/dev/null; then
	look "sysfs's part" name mm/transparent_hugepage/enabled "refused 13"
	umount "$T/at"
fi
if second securityfs; then
	look securityfs name lockdown "refused 13"
	umount "$T/at"
fi
[ $bad = 0 ] || exit 1
[ $tried != 0 ] || exit 77
S
export T
unshare -m --propagation private bash "$T/all.sh"
