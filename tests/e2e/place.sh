#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The working directory in the record of each exec is the one the program really began in, however it was started and whoever moved before.
. "$(dirname "$0")/lib.sh"
need python3
fresh
mkdir -p "$T/project/top"
"$BIN/place" all "$T/project/top" >"$T/native" 2>"$T/err"
same "natively" 0 $?
rm -rf "$T/project/top"; mkdir -p "$T/project/top"
"$USHER" run -p "$T/etc/allow.rules" --journal "$T/j" -- "$BIN/place" all "$T/project/top" >"$T/said" 2>"$T/err"
same "under usher" 0 $?
same "as many starts, in the same places" "$(sed 's/^[0-9]* //' "$T/native" | sort)" "$(sed 's/^[0-9]* //' "$T/said" | sort)"
records "$T/j" >"$T/rec"
python3 - "$T/rec" "$T/said" <<'P'
import json, sys
where = {}
for l in open(sys.argv[1]):
    r = json.loads(l)
    if r["type"] == "call" and r.get("call", "").startswith("execve") and r.get("cwd") is not None:
        where[r["pid"]] = r["cwd"]  # the last one: its own
said = [l.rstrip("\n").split(" ", 1) for l in open(sys.argv[2])]
wrong = [f"pid {p} was in {at}, recorded {where.get(int(p))}" for p, at in said if where.get(int(p)) != at]
print(f"ok {len(said)} records say where" if said and not wrong else "not ok where")
for w in wrong: print("   ", w)
P
# A thread with a umask of its own execs: its new image goes by the first thread's number, and by its own umask.
cat >"$T/etc/umask.py" <<'P'
import ctypes, os, sys, threading
def make(name):
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o666))
    return oct(os.stat(name).st_mode & 0o777)
if len(sys.argv) > 1:
    print("image", make("new"))
    sys.exit()
CLONE_FS, go, done = 0x200, threading.Event(), threading.Event()
def own():
    print("apart", ctypes.CDLL(None).unshare(CLONE_FS))
    os.umask(0o077)
    print("thread", make("thread"))
    go.set(); done.wait()
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, sys.argv[0], "new"])
threading.Thread(target=own).start()
go.wait()
for i in range(3): print("first", make(f"first{i}"))
done.set()
threading.Event().wait()
P
fresh; native=$(timeout 30 python3 "$T/etc/umask.py" 2>&1)
same "another thread's umask (native)" "image 0o600" "$(tail -n 1 <<<"$native")"
fresh; same "another thread's umask" "$native" "$(supervise allow timeout 30 python3 "$T/etc/umask.py" 2>&1)"
finish
