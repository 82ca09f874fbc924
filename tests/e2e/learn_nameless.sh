#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usher desk review rules: what a service does to its sockets, pipes and memfds, which no directory has, is in the rules as well.
. "$(dirname "$0")/lib.sh"
need python3

mkdir -p "$T/w"
cd "$T/w" || exit 1
rules all.rules <<'R'
ask read,write,exec ** review
ask net tcp:*:* udp:*:* unix:/** unix:@** review
R
cat >serve.py <<'P'
import os, select, socket
def tried(name, what):
    try: print(name, what() or "done")
    except OSError as e: print(name, e.strerror)
s = socket.socket(socket.AF_UNIX)
s.bind("\0usher-nameless-%d" % os.getpid())
r, w = os.pipe()
e = select.epoll()
m = os.memfd_create("we*ird [a]/b")
for name, fd in ("socket", s.fileno()), ("pipe", r), ("memfd", m), ("epoll", e.fileno()):
    tried(name + " mode", lambda: os.fchmod(fd, 0o600))
    tried(name + " owner", lambda: os.fchown(fd, os.getuid(), os.getgid()))
    tried(name + " times", lambda: os.utime(fd))
    tried(name + " attribute", lambda: os.setxattr(fd, "user.a", b"1"))
tried("memfd again", lambda: os.close(os.open("/proc/self/fd/%d" % m, os.O_RDWR)))
P
cat >other.py <<'P'
import os
m = os.memfd_create("weXird a/b")
for what in lambda: os.fchmod(m, 0o600), lambda: os.open("/proc/self/fd/%d" % m, os.O_RDWR):
    try: print(what() or "done")
    except OSError as e: print(e.strerror)
P
serve() { "$@" /usr/bin/python3 -S serve.py; }
under() { serve "$USHER" run -p "$T/etc/$1.rules" --ask=deny --journal "$T/$2.j" -- 2>/dev/null; }

native=$(serve env)
same "control: natively they are changed" 11 "$(grep -c done <<<"$native")"
same "and on trial" "$native" "$(under all learn)"
"$USHER" desk review rules --journal="$T/learn.j" >"$T/etc/made.rules"
chmod 600 "$T/etc/made.rules"
same "all of it is in the rules" 0 "$(grep -c '^# Of what has no name' "$T/etc/made.rules")"
check "which are right" "$USHER" check "$T/etc/made.rules"
same "under them as well" "$native" "$(under made later)"
cp other.py serve.py
same "control: a memfd of another name, on trial" done/N/ "$(under all control | sed 's/[0-9]\+/N/' | tr '\n' /)"
same "is not in the rules" "Permission denied/Permission denied/" "$(under made other | tr '\n' /)"
# What is in a memfd whoever made it can change: that one ran makes no rule.
cat >serve.py <<'P'
import os
m = os.memfd_create("payload", 0)
os.write(m, open("/usr/bin/true", "rb").read())
os.execve(m, ["payload"], {})
P
{ echo 'ask exec memfd: review'; cat "$T/etc/all.rules"; } >"$T/etc/runs.rules"
chmod 600 "$T/etc/runs.rules"
check "a memfd is run where a rule says so" under runs ran
"$USHER" desk review rules --journal="$T/ran.j" >"$T/ran"
same "which is said" 1 "$(grep -c '^# Of what has no name, or none that a rule can be on: 1 call,' "$T/ran")"
same "and no rule" 0 "$(grep -c 'exec[a-z,]* "memfd:' "$T/ran")"
finish
