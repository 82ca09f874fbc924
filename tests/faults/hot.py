#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hot.py [KIND...]: what usher calls for each system call of a program, by the ledger of shim.c: the same program makes FEW and MANY calls of
one KIND (of tests/bench/micro.c), and what MANY has more of, for each call more, is the hot path. Fails where anything is allocated there, and
where a lock is taken that is not the journal's."""
import collections, os, shutil, subprocess, sys, tempfile

from faults import BUILD, HEAD, LOCKS, PLACES, SLOT, USHER, places, where

MICRO = BUILD + "/tests/bench/micro"
KINDS = ["open", "open-relative", "open-deep", "open-link", "open-missing", "open-create", "mkdir", "rename", "unlink", "connect-tcp", "connect-unix"]
ALLOCATIONS = {"malloc", "calloc", "realloc", "reallocarray", "strdup", "strndup", "asprintf", "open_memstream"}
RULES = {"": "default allow\n", ", where some names may not be made": "default allow\ndeny create /nowhere/**\n"}
ALLOWED = {  # the functions that take locks there, and what keeps that from being one that all workers wait for
    "append journal.c",      # the journal's
    "procs_find procs.c",    # one of 64, by the caller's number
    "table_getfd procs.c",   # the same
}
MAKING = {"hold_now making.c"}  # makers of names share it, a rename takes it alone; where some names may not be made
FEW, MANY = 500, 4500
RARE = 0.01  # for each call: what a segment of the journal takes when it grows
SELDOM = 0.2  # a lock: a call that takes long, a connect, is watched, and its worker replaced


def counts(kind, rules, n):
    """{(place, function): calls}"""
    base = tempfile.mkdtemp(prefix="usher-hot.", dir=os.environ.get("TEST_TMP"))
    try:
        with open(os.open(base + "/rules", os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
            f.write(rules)
        with open(base + "/ledger", "wb") as f:
            f.truncate(HEAD.size + PLACES * SLOT.size)
        os.mkdir(base + "/p")
        env = dict(os.environ, USHER_FAULT_LEDGER=base + "/ledger", HOME=base)
        done = subprocess.run([USHER, "run", "-p", base + "/rules", "--journal", base + "/j", "--", MICRO, kind, str(n)],
                              cwd=base + "/p", env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"hot: {kind} ended with {done.returncode}: {done.stderr.strip()}")
        return places(open(base + "/ledger", "rb").read())
    finally:
        shutil.rmtree(base)


def each(kind, rules):
    """{(place, function): calls of it for each call of the program}"""
    few, many = counts(kind, rules, FEW), counts(kind, rules, MANY)
    more = {place: (many[place] - few.get(place, 0)) / (MANY - FEW) for place in many}
    return {place: n for place, n in more.items() if n > RARE}


def by_name(calls):
    total = collections.Counter()
    for (_, name), n in calls.items():
        total[name] += n
    return total


def takers(calls):
    """The functions of usher that take a lock, with their files: how often."""
    total = collections.Counter()
    for (offset, name), n in calls.items():
        if name in LOCKS and n > SELDOM:
            total[where(offset).rsplit(":", 1)[0]] += n
    return total


def listed(numbers):
    return ", ".join(f"{name} {n:.1f}" for name, n in sorted(numbers.items(), key=lambda c: -c[1]))


def look(kind, which, rules):
    """Prints what a call of KIND costs; how much of that is wrong."""
    calls = each(kind, rules)
    named, locks = by_name(calls), takers(calls)
    wrong = set(named) & ALLOCATIONS | set(locks) - ALLOWED - (MAKING if which else set())
    print(f"{'not ok' if wrong else 'ok'} {kind}{which}: {listed({n: c for n, c in named.items() if n not in LOCKS})}; locks: {listed(locks)}", flush=True)
    return len(wrong)


def main():
    wrong = sum(look(kind, which, rules) for kind in sys.argv[1:] or KINDS for which, rules in RULES.items())
    # What allocates and what locks is seen: an exec copies its arguments, and is handed over under a lock.
    control = each("spawn", RULES[""])
    if not ALLOCATIONS & set(by_name(control)):
        wrong += 1
        print("not ok control: no allocation of an exec is seen")
    if not set(takers(control)) - ALLOWED:
        wrong += 1
        print("not ok control: no lock of an exec is seen")
    sys.exit(bool(wrong))


main()
