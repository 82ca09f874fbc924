#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hot.py [KIND...]: what usher calls for each system call of a program, by the ledger of shim.c: the same program makes FEW and MANY calls of
one KIND (of tests/bench/micro.c), and what MANY has more of, for each call more, is the hot path. Fails where anything is allocated there."""
import collections, os, shutil, subprocess, sys, tempfile

from faults import BUILD, HEAD, PLACES, ROWS, SLOT, USHER

MICRO = BUILD + "/tests/bench/micro"
KINDS = ["open", "open-relative", "open-deep", "open-missing", "open-create", "mkdir", "rename", "unlink", "connect-tcp", "connect-unix"]
ALLOCATIONS = {"malloc", "calloc", "realloc", "reallocarray", "strdup", "strndup", "asprintf", "open_memstream"}
FEW, MANY = 500, 4500
RARE = 0.01  # for each call: what a segment of the journal takes when it grows


def counts(kind, n):
    base = tempfile.mkdtemp(prefix="usher-hot.", dir=os.environ.get("TEST_TMP"))
    try:
        with open(os.open(base + "/rules", os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
            f.write("default allow\n")
        with open(base + "/ledger", "wb") as f:
            f.truncate(HEAD.size + PLACES * SLOT.size)
        os.mkdir(base + "/p")
        env = dict(os.environ, USHER_FAULT_LEDGER=base + "/ledger", HOME=base)
        done = subprocess.run([USHER, "run", "-p", base + "/rules", "--journal", base + "/j", "--", MICRO, kind, str(n)],
                              cwd=base + "/p", env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"hot: {kind} ended with {done.returncode}: {done.stderr.strip()}")
        ledger, out = open(base + "/ledger", "rb").read(), collections.Counter()
        for i in range(PLACES):
            _, row, calls = SLOT.unpack_from(ledger, HEAD.size + i * SLOT.size)
            out[ROWS[row][0]] += calls
        return out
    finally:
        shutil.rmtree(base)


def each(kind):
    few, many = counts(kind, FEW), counts(kind, MANY)
    more = {name: (many[name] - few[name]) / (MANY - FEW) for name in many}
    return {name: n for name, n in more.items() if n > RARE}


def main():
    wrong = 0
    for kind in sys.argv[1:] or KINDS:
        calls = each(kind)
        allocated = {name for name in calls if name in ALLOCATIONS}
        wrong += bool(allocated)
        text = ", ".join(f"{name} {n:.1f}" for name, n in sorted(calls.items(), key=lambda c: -c[1]))
        print(f"{'not ok' if allocated else 'ok'} {kind}: {text}", flush=True)
    # What allocates is seen: an exec copies its arguments.
    if not ALLOCATIONS & set(each("spawn")):
        wrong += 1
        print("not ok control: no allocation of an exec is seen")
    sys.exit(bool(wrong))


main()
