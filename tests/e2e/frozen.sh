#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# users: root
# A disk that stands still for some seconds: what was begun for a program that was killed meanwhile is waited for at the end, said, and recorded.
. "$(dirname "$0")/lib.sh"
PATH=$PATH:/usr/sbin:/sbin
need mkfs.ext4 fsfreeze losetup
is_root || skip_all "needs root"
fresh
mkdir "$T/disk" "$T/was"
truncate -s 32M "$T/image" && mkfs.ext4 -q -F "$T/image" || skip_all "no file system can be made"
cat >"$T/etc/disk.sh" <<'EOS'
# SECONDS COMMAND...: the command with a disk that stands still for so long once a file says that it is time.
mount -o loop "$T/image" "$T/disk" || exit 77
echo x >"$T/disk/file"
(until [ -e "$T/began" ]; do sleep 0.05; done; fsfreeze -f "$T/disk"; : >"$T/frozen"; sleep "$1"; fsfreeze -u "$T/disk") &
shift
"$@"
status=$?
[ -e "$T/began" ] || : >"$T/began"
wait
ls "$T/disk" >"$T/was/left"
umount "$T/disk"
exit $status
EOS
cat >"$T/etc/killed.sh" <<'EOS'
: >"$T/began"
until [ -e "$T/frozen" ]; do sleep 0.05; done
rm "$T/disk/file" &
sleep 0.5
kill -9 $! && echo killed
EOS
export T
frozen() { # SECONDS COMMAND...
	rm -f "$T/began" "$T/frozen"
	timeout 100 unshare -m --propagation private bash "$T/etc/disk.sh" "$@" >"$T/out" 2>"$T/err"
	status=$?
	[ $status != 77 ] || skip_all "no disk can be mounted"
}
frozen 2 bash "$T/etc/killed.sh"
same "control: a program that waits for its disk is killed" "0 killed" "$status $(cat "$T/out")"
frozen 5 "$USHER" run -p "$T/etc/allow.rules" --journal "$T/j" -- bash "$T/etc/killed.sh"
same "the command's own end is the session's" "0 killed" "$status $(cat "$T/out")"
check "what is waited for is said" grep -q "its result is waited for" "$T/err"
check "what it came to is recorded" grep -q '"call":"unlinkat".*"object":"[^"]*/disk/file".*"result":0' <<<"$(cat "$T"/j/journal-*.jsonl)"
check "and is so" test ! -e "$T/disk/file" -a "$(cat "$T/was/left")" = lost+found
check "the journal is closed" "$USHER" verify --closed "$T/j"
finish
