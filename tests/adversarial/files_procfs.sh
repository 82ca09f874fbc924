#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 18: a second procfs, as each chroot and container has one, shows processes outside the tree under other names than /proc.
# The control: natively the same program reads the environment, descriptors and memory of that process. The mount is in a namespace of its own.
PATH=/usr/sbin:/sbin:/usr/bin:/bin:$PATH
[ "$(id -u)" = 0 ] || { echo "skip row 18: a second procfs: needs root, to mount one"; exit 77; }
T=$(mktemp -d /tmp/usher-procfs.XXXXXX) || exit 1
trap 'rm -rf "$T"' EXIT
chmod 755 "$T"
cp "$USHER" "$T/usher"
echo 'default allow' >"$T/allow.rules"
mkdir "$T/p" "$T/part"
bad=0
cat >"$T/look.py" <<'P'
import os, sys
# look.py PROCFS PID WHAT: prints what was got of PID by WHAT
procfs, pid, what = sys.argv[1:]
there = f"{procfs}/{pid}"
def held(name, flags):
    os.close(os.open(name, flags))
    return "held"
def below():
    d = os.open(there, os.O_PATH)
    os.chdir(d)
    return open("environ", "rb").read()
def again():
    return open("/proc/self/fd/%d" % os.open(there + "/environ", os.O_PATH), "rb").read()
try:
    got = {"environ": lambda: open(there + "/environ", "rb").read(), "part": lambda: open(os.path.dirname(procfs) + "/part/environ", "rb").read(),
           "mem": lambda: held(there + "/mem", os.O_RDWR), "fd": lambda: held(there + "/fd", os.O_RDONLY | os.O_DIRECTORY),
           "link": lambda: open(there + "/root/" + os.path.dirname(procfs).lstrip("/") + "/secret", "rb").read(),
           "below": below, "again": again, "cpuinfo": lambda: held(procfs + "/cpuinfo", os.O_RDONLY),
           "settings": lambda: held(procfs + "/sys/kernel/core_pattern", os.O_WRONLY)}[what]()
    print("GOT" if got == "held" or b"flag{" in got else "nothing")
except OSError as e:
    print("refused", e.errno)
P
cat >"$T/all.sh" <<'S'
mount -t proc proc "$T/p" || exit 77
env -i FLAG=flag{second} sleep 1000 &
rootly=$!
setpriv --reuid=1000 --regid=1000 --clear-groups env -i FLAG=flag{second} sleep 1000 &
user=$!
trap 'kill $rootly $user' EXIT
echo 'flag{file}' >"$T/secret"
bad=0
sleep 0.3
for who in 0 1000; do
	as=(setpriv "--reuid=$who" "--regid=$who" --clear-groups)
	[ $who != 0 ] || as=()
	victim=$([ $who = 0 ] && echo $rootly || echo $user)
	mount --bind "$T/p/$victim" "$T/part"
	home=$(mktemp -d "$T/home.XXXXXX") && chown $who "$home"
	for what in environ part mem fd link below again cpuinfo settings; do
		cd "$home"
		native=$("${as[@]}" python3 "$T/look.py" "$T/p" "$victim" $what 2>/dev/null)
		want="refused 13"
		[ $what != cpuinfo ] || want=GOT
		got=$(HOME=$home "${as[@]}" "$T/usher" run -p "$T/allow.rules" --ask=deny --journal "$home/$what" -- python3 "$T/look.py" "$T/p" "$victim" $what 2>/dev/null)
		if [ "$native" != GOT ]; then # a setting, as an ordinary user
			echo "skip row 18: a second procfs: $what ($who): natively $native"
		elif [ "$got" = "$want" ]; then
			echo "ok row 18: a second procfs: $what ($who)"
		else
			echo "not ok row 18: a second procfs: $what ($who): $got"
			bad=1
		fi
	done
	# usher itself: the parent of what it runs.
	got=$(HOME=$home "${as[@]}" "$T/usher" run -p "$T/allow.rules" --ask=deny --journal "$home/usher" -- sh -c "exec python3 $T/look.py $T/p \$PPID mem" 2>/dev/null)
	if [ "$got" = "refused 13" ]; then echo "ok row 18: a second procfs: usher's memory ($who)"; else echo "not ok row 18: a second procfs: usher's memory ($who): $got"; bad=1; fi
	umount "$T/part"
done
exit $bad
S
export T
unshare -m --propagation private bash "$T/all.sh"
status=$?
[ $status != 77 ] || echo "skip row 18: a second procfs: none can be mounted here"
exit $status
