#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the journal costs: appending, verifying, and questions to a million records, without and with an index. Medians; a table for people."""
import os, re, shutil, statistics, subprocess, sys, tempfile, time

USHER, BENCH = os.environ["USHER"], os.environ.get("BIN") or os.environ["BUILD"] + "/tests/bench"


def output(*cmd):
    return subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout


def seconds(*cmd, rounds):
    took = []
    for _ in range(rounds):
        begin = time.monotonic()
        subprocess.run(cmd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        took.append(time.monotonic() - begin)
    return statistics.median(took)


def main():
    quick = "--quick" in sys.argv
    rounds, records, behind = (1, 100_000, 0) if quick else (3, 1_000_000, 2_200_000)
    work = tempfile.mkdtemp(prefix="usher-bench-", dir=os.environ.get("TEST_TMP"))
    try:
        got = {}
        for n in range(rounds):
            for line in output(BENCH + "/journal", f"{work}/a", "100000" if quick else "400000", str(behind)).splitlines():
                if re.fullmatch(r"\w+=[0-9]+", line) and (behind or "behind" not in line): got.setdefault(line.split("=")[0], []).append(int(line.split("=")[1]))
            shutil.rmtree(f"{work}/a")
        print("the journal: records of 400 bytes")
        for k, v in got.items(): print(f"  {k.replace('_', ' '):<40}{statistics.median(v):>10.0f}")
        session = f"{work}/s"
        output(BENCH + "/session", session, str(records))
        name = re.search(r'"op":\["create"\],"object":"([^"]*)"', output(USHER, "log", session, "--json", "call:rename"))[1]
        questions = [["who-touched", name], ["denied"], ["path:" + name], ["path:/tmp/cc0000*"], ["by:git", "denied"], ["pid:1543"], ["explain", str(records // 2)]]
        plain = [seconds(USHER, "log", session, *q, rounds=rounds) for q in questions]
        made = seconds(USHER, "log", session, "index", rounds=rounds)
        indexed = [seconds(USHER, "log", session, *q, rounds=3 * rounds) for q in questions]
        print(f"questions to {records} records, ms: without and with an index, which is made in {made:.2f} s")
        for q, a, b in zip(questions, plain, indexed): print(f"  {' '.join(q)[:60]:<62}{a * 1000:>8.0f}{b * 1000:>8.1f}")
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
