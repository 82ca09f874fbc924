#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 20: a secret on overlayfs by another name that it has in the layer below. The first change by that name makes a copy of it, which is no more the
# file that the rule denies by name. The control: natively that copy is read. By its own name the secret can be changed, as elsewhere.
PATH=/usr/sbin:/sbin:/usr/bin:/bin:$PATH
[ "$(id -u)" = 0 ] || { echo "skip row 20: names in a layer below: needs root, who alone mounts it"; exit 77; }
T=$(mktemp -d /tmp/usher-overlay.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
chmod 755 "$T"
cat >"$T/change.py" <<'P'
import os, sys
# change.py WAY NAME: makes a change by NAME, then reads what it is.
way, name = sys.argv[1:3]
try:
    {"mode": lambda: os.chmod(name, 0o640), "times": lambda: os.utime(name), "attribute": lambda: os.setxattr(name, "user.x", b"1"),
     "owner": lambda: os.chown(name, os.getuid(), os.getgid()), "open": lambda: os.close(os.open(name, os.O_WRONLY | os.O_APPEND)),
     "descriptor": lambda: os.chmod("/proc/self/fd/%d" % os.open(name, os.O_PATH), 0o640), "length": lambda: os.truncate(name, 5),
     "moved": lambda: os.rename(name, "moved"), "read": lambda: None, "kept": lambda: os.chmod(name, 0o640)}[way]()
    name = "moved" if way == "moved" else name
    print("GOT" if way == "kept" or "flag" in open(name).read() else "nothing")
except OSError as e:
    print("refused", e.errno)
P
cat >"$T/try.sh" <<'S'
# try.sh UID WAY NAME: what the change says natively and under usher, each on layers of its own
for how in "" usher; do
	mount -t tmpfs layers "$T/top" && mkdir "$T/top/lower" "$T/top/upper" "$T/top/work" "$T/top/merged" || exit 77
	echo flag >"$T/top/lower/secret" && ln "$T/top/lower/secret" "$T/top/lower/other" && chown -R "$1" "$T/top/lower" "$T/top/upper"
	mount -t overlay -o "lowerdir=$T/top/lower,upperdir=$T/top/upper,workdir=$T/top/work,userxattr" overlay "$T/top/merged" 2>/dev/null || exit 77
	cd "$T/top/merged" || exit 77
	run=()
	[ -z "$how" ] || run=("$USHER" run -p "$T/rules" --journal "$T/state/$1/$2-$3" --)
	HOME=$T/state/$1 setpriv --reuid="$1" --regid="$1" --clear-groups -- "${run[@]}" python3 "$T/change.py" "$2" "$3" 2>/dev/null
	cd / && umount "$T/top/merged" "$T/top"
done
S
mkdir -p "$T/top" "$T/state/0" "$T/state/1000" && chown 1000 "$T/state/1000"
printf 'deny read %s/top/merged/secret\ndefault allow\n' "$T" >"$T/rules"
export T
bad=0
try() { # UID WANTED WAY NAME
	local out
	out=$(unshare -m --propagation private bash "$T/try.sh" "$1" "$3" "$4" 2>&1)
	case "$? $out" in
	"77 "*) echo "skip row 20: names in a layer below: $3, uid $1: no overlayfs here" ;;
	"0 GOT"$'\n'"$2") echo "ok row 20: names in a layer below: $3, uid $1" ;;
	"0 refused 95"*) echo "skip row 20: names in a layer below: $3, uid $1: not in this file system" ;;
	*) echo "not ok row 20: names in a layer below: $3, uid $1: $out" && bad=1 ;;
	esac
}
for uid in 0 1000; do
	for way in read mode times attribute owner open descriptor length moved; do try $uid "refused 13" $way other; done
	try $uid GOT kept secret
done
exit $bad
