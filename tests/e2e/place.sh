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
finish
