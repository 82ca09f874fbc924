#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the stack of a caller costs: a recorded call with ten frames against one that is recorded without.

Prints a table; nothing is asserted. Needs USHER and BUILD in the environment."""
import os, statistics, subprocess, sys, tempfile

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

def main():
    with tempfile.TemporaryDirectory(prefix="usher-stack-") as d:
        with open(d + "/rules", "w") as f: f.write(RULES)
        os.chmod(d + "/rules", 0o600)
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

main()
