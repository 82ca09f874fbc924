#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the stack of a caller costs (a recorded call with ten frames against one that is recorded without), and what part of a build the
supervision of its execs is (against notifications that are let go on).

Prints a table; nothing is asserted. Needs USHER and BUILD in the environment."""
import os, shutil, statistics, subprocess, sys, tempfile, time

USHER, BUILD = os.environ.get("USHER", ""), os.environ.get("BUILD", "")
QUICK = "--quick" in sys.argv
COUNT, ROUNDS = (300, 3) if QUICK else (1000, 7)
# Nothing but the stack differs: an unlink that is allowed, recorded, and fails, as what it names is a directory.
RULES = "allow delete **/stacked stack\ndefault allow\n"

def frames(journal):
    """How many frames the last stack in the journal has, and whether it is complete."""
    n, how = 0, "none"
    for f in sorted(os.listdir(journal)):
        if not f.startswith("journal-"): continue
        for line in open(os.path.join(journal, f), "rb"):
            if b'"stack":[' in line:
                n, how = line.count(b'"offset":'), "complete" if b'"unwind":"complete"' in line else "partial"
    return n, how

def one(d, i, name, extra):
    journal = f"{d}/j{i}"
    p = subprocess.run([USHER, "run", "-p", d + "/rules", "--ask=deny", "--journal", journal, "--", f"{BUILD}/tests/bench/stack", str(COUNT), name, *extra],
                       cwd=d, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=120, check=True)
    return float(p.stdout) / 1000, journal

def spawn(prefix, d):
    """Microseconds of one posix_spawn and wait."""
    out = subprocess.run([*prefix, f"{BUILD}/tests/bench/micro", "spawn", "100" if QUICK else "400"], cwd=d, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, timeout=120, check=True).stdout
    return float(out) / 1000

def compilers(prefix, d, n):
    """Seconds for N runs of the compiler, each of which is three programs."""
    t = time.monotonic()
    subprocess.run([*prefix, "sh", "-c", f"i=0; while [ $i -lt {n} ]; do gcc -O1 -c -o x.o x.c; i=$((i+1)); done"], cwd=d, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=600, check=True)
    return time.monotonic() - t

SOURCE = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" + "".join(f"int f{i}(int a) {{ int s = 0; for (int i = 0; i < a; i++) s += i * {i + 1}; printf(\"%d\", s); return s; }}\n" for i in range(40))

def build(d):
    """Of 2,000 compilers: the time that execs cost more under usher than where they are only notified."""
    with open(d + "/x.c", "w") as f: f.write(SOURCE)
    runs = []
    for i in range(ROUNDS):
        usher = [USHER, "run", "-p", d + "/allow", "--ask=deny", "--journal", f"{d}/b{i}", "--"]
        runs.append((spawn([], d), spawn([f"{BUILD}/tests/bench/bare", "continue", "-c", "-x"], d), spawn(usher, d)))
    native, notified, ours = (statistics.median(r[k] for r in runs) for k in range(3))
    n = 20 if QUICK else 60
    one = compilers([USHER, "run", "-p", d + "/allow", "--ask=deny", "--journal", d + "/bb", "--"], d, n) / n * 1e6 / 3
    print("execs")
    print(f"  posix_spawn and wait: {native:.0f} us natively, {notified:.0f} notified only, {ours:.0f} under usher ({ours / native:.2f}x)")
    print(f"  2,000 compilers: {2000 * one / 1e6:.1f} s under usher, of which the supervision of execs is {max(0.0, ours - notified) / one * 100:.1f} %")

def main():
    with tempfile.TemporaryDirectory(prefix="usher-stack-") as d:
        with open(d + "/rules", "w") as f: f.write(RULES)
        os.chmod(d + "/rules", 0o600)
        with open(d + "/allow", "w") as f: f.write("default allow\n")
        os.chmod(d + "/allow", 0o600)
        for name in ("plain", "stacked"): os.mkdir(f"{d}/{name}")
        i, rows = 0, []
        for label, extra in (("unwound while it waits", []), ("stopped for its registers", ["frames"])):
            cost, seen = [], (0, "none")
            for _ in range(ROUNDS):
                bare, _ = one(d, i, "plain", extra)
                full, j = one(d, i + 1, "stacked", extra)
                seen = frames(j)
                cost.append(full - bare)
                i += 2
            rows.append((label, statistics.median(cost), seen))
        print("the stack of a caller")
        for label, us, (n, how) in rows: print(f"  {label:<28}{us:8.1f} us   {n} frames, {how}")
        if shutil.which("gcc"): build(d)

main()
