#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Row 21: a denied file taken out by a move of a directory above it that usher could not look through: one without rights
# (given back behind the move), and one that is filled between the look and the move.
T=$(mktemp -d) || exit 1
trap 'chmod -R u+rwx "$T"; rm -rf "$T"' EXIT
export XDG_STATE_HOME=$T/state
# An ordinary user's usher cannot list it either; root's can.
user=()
[ "$(id -u)" != 0 ] || user=(setpriv --reuid 1000 --regid 1000 --clear-groups)
cat >"$T/unread" <<'P'
cd "$1" && chmod 000 top/sub && mv -T top w/t
chmod 700 w/t/sub top/sub
cat w/t/sub/key
P
cat >"$T/fill" <<'P'
import os, sys, threading, time
os.chdir(sys.argv[1])
end, on = time.monotonic() + float(os.environ.get("RACE_SECONDS", "3")), True
def move(a, b):
    try: os.rename(a, b)
    except OSError: return False
    return True
def fill():
    while on: move("o/sub", "top/sub"); move("top/sub", "o/sub")
t = threading.Thread(target=fill); t.start()
while on and time.monotonic() < end:
    if not move("top", "w/t"): continue
    try: print(open("w/t/sub/key").read()); on = False
    except OSError: move("w/t", "top")
on = False; t.join()
P
fresh() {
	chmod -R u+rwx "$T/d" 2>/dev/null
	rm -rf "$T/d" && mkdir -p "$T/d/top/$1" "$T/d/o/sub" "$T/d/w" && touch "$T"/d/top/{1..300}
	echo SECRET | tee "$T/d/o/sub/key" >"$T/d/top/$1/key"
	[ "$1" = sub ] || rm -r "$T/d/top/$1"
	printf 'default allow\ndeny read %s/d/*/*/key\n' "$T" >"$T/rules"
	[ ${#user[@]} = 0 ] || chown -R 1000:1000 "$T"
}
try() { # name, directory to begin with, command
	local name=$1 dir=$2
	shift 2
	fresh "$dir"
	[ "$("${user[@]}" "$@" "$T/d" 2>/dev/null)" ] || { echo "skip $name: not possible here"; return; }
	fresh "$dir"
	case $("${user[@]}" "${USHER:-build/usher}" run -p "$T/rules" --journal "$T/journal.$dir" -- "$@" "$T/d" 2>/dev/null) in
	*SECRET*) echo "not ok $name" ;;
	*) echo "ok $name" ;;
	esac
	[ -d "$T/journal.$dir" ] || echo "not ok $name: it ran"
}
try "row 21: moved with a directory that cannot be listed" sub sh "$T/unread"
try "row 21: filled between look and move" none /usr/bin/python3 "$T/fill"
