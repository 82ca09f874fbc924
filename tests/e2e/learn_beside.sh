#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usher desk review rules: names drawn by lot, of which a rule knows the next one, do not open the directory they were made in.
. "$(dirname "$0")/lib.sh"
need python3

mkdir -p "$T/w/app" "$T/w/out"
cd "$T/w" || exit 1
echo 'workers = 2' >app/conf
rules all.rules <<'R'
ask read,write,exec ** review
ask net tcp:*:* udp:*:* unix:/** unix:@** review
R
# As gunicorn writes its number.
cat >serve.py <<'P'
import os, sys, tempfile
open("app/conf").read()
for i in range(3):
    fd, name = tempfile.mkstemp(dir="app")
    os.write(fd, b"1\n")
    os.rename(name, "app/pid")
    os.chmod("app/pid", 0o644)
os.unlink("app/pid")
for i in range(5): open("out/%s%d" % (sys.argv[1], i), "w").close()
print("served")
P
under() { "$USHER" run -p "$T/etc/$1.rules" --ask=deny --journal "$T/$2.j" -- "${@:3}" 2>/dev/null; }
same "on trial" served "$(under all first /usr/bin/python3 -S serve.py a)"
same "and again" served "$(under all second /usr/bin/python3 -S serve.py b)"
"$USHER" desk review rules --journal="$T/first.j" --journal="$T/second.j" >"$T/etc/made.rules"
chmod 600 "$T/etc/made.rules"
for i in 1 2 3 4 5; do same "later, with other letters ($i)" served "$(under made "later$i" /usr/bin/python3 -S serve.py c)"; done
attack='import sys
for name in sys.argv[1:]:
    try: open(name, "a").close(); print("written")
    except OSError as e: print(e.strerror)'
try() { "$@" /usr/bin/python3 -S -c "$attack" app/conf app/other out/other | tr '\n' /; }
same "control: all are written natively" written/written/written/ "$(try env)"
rm app/other out/other
same "what the service reads beside is not changed, nor another made; where names are steady one is" \
	"Permission denied/Permission denied/written/" "$(try under made attack)"
finish
