#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does not show in single calls: how usher's memory grows with the processes of a tree, whether many of them keep all cores busy with their
own work, and whether an open behind a journal of a gigabyte takes as long as one at its beginning. With --quick the first alone.

Prints a table; nothing is asserted. Needs USHER and BUILD in the environment."""
import os, statistics, subprocess, sys, tempfile

USHER, BUILD = os.environ.get("USHER", ""), os.environ.get("BUILD", "")
PROCESSES, ROUNDS, GIGABYTE = 64, 5, 1 << 30
SLEEPERS = """
for n; do
    while [ $n -gt 0 ]; do sleep 1000 & pids="$pids $!"; n=$((n - 1)); done
    sleep 0.5
    echo
    read -r go
done
kill $pids
"""
CORES = len(os.sched_getaffinity(0))

def output(words, d):
    return subprocess.run(words, cwd=d, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=1200, check=True).stdout

def own_memory(pid):
    """KiB of PID's that no file holds."""
    return sum(int(l.split()[1]) for l in open(f"/proc/{pid}/status") if l.startswith(("RssAnon", "RssShmem")))

def tree(d):
    few, more = 50, 250
    p = subprocess.Popen([USHER, "run", "-p", d + "/allow", "--ask=deny", "--journal", d + "/tree", "--", "sh", "-c", SLEEPERS, "sh", str(few), str(more)],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    took = []
    for _ in range(2):
        p.stdout.readline()
        took.append(own_memory(p.pid))
        p.stdin.write("\n"); p.stdin.flush()
    p.wait()
    print(f"usher's own memory with {few} processes in the tree {took[0]} KiB, with {few + more} {took[1]}: {(took[1] - took[0]) / more:.1f} KiB for each (must: under 4)")

def idle():
    """Seconds that all cores together were idle."""
    f = open("/proc/stat").readline().split()
    return (int(f[4]) + int(f[5])) / os.sysconf("SC_CLK_TCK")

def crowd(prefix, d, count):
    """Microseconds of the clock for each computation with its open, and the part of that in which a core was idle."""
    before = idle()
    took = float(output([*prefix, f"{BUILD}/tests/bench/micro", "work", str(count), f"p{PROCESSES}"], d)) / 1000
    return took, max(0.0, idle() - before) / (took * 1e-6 * count * PROCESSES * CORES)

def many(d):
    alone = min(float(output([f"{BUILD}/tests/bench/micro", "work", "500"], d)) / 1000 for _ in range(3))
    count = max(20, int(2e6 / alone / PROCESSES))
    runs = []
    for i in range(ROUNDS):
        usher = [USHER, "run", "-p", d + "/allow", "--ask=deny", "--journal", f"{d}/m{i}", "--"]
        runs.append((crowd([], d, count), crowd([f"{BUILD}/tests/bench/bare", "inject"], d, count), crowd(usher, d, count)))
    print(f"{PROCESSES} processes on {CORES} cores, each computing {alone:.0f} us before each open")
    for k, name in enumerate(("natively", "bare notifier", "usher")):
        took, spare = (statistics.median(r[k][i] for r in runs) for i in range(2))
        print(f"  {name:<16}the cores' time for their own work {min(1.0, alone / took / CORES) * 100:5.1f} %, idle {spare * 100:4.1f} %")

def long_journal(d):
    micro, journal = f"{BUILD}/tests/bench/micro", d + "/long"
    size = lambda: sum(os.path.getsize(os.path.join(journal, f)) for f in os.listdir(journal) if f.startswith("journal-"))
    script = f"{micro} open 20000; {micro} open 20000; {micro} open $1; {micro} open 20000; {micro} open 20000"
    run = lambda n: [float(x) / 1000 for x in output([USHER, "run", "-p", d + "/allow", "--ask=deny", "--journal", journal, "--", "sh", "-c", script, "sh", str(n)], d).split()]
    run(1)
    record = size() / 80001
    subprocess.run(["rm", "-rf", journal], check=True)
    got, long = run(int(GIGABYTE / record)), size()
    subprocess.run(["rm", "-rf", journal], check=True)
    new = run(1)  # the machine may be another by then
    print(f"an open and close in a session whose journal grows to {long / 1e9:.2f} GB, us")
    print(f"  at its beginning {got[0]:.2f} and {got[1]:.2f}, on the way {got[2]:.2f}, behind it {got[3]:.2f} and {got[4]:.2f}; in a new session then {new[0]:.2f} and {new[1]:.2f}")

def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMP"), prefix="usher-bench-") as d:
        with open(d + "/allow", "w") as f: f.write("default allow\n")
        os.chmod(d + "/allow", 0o600)
        tree(d)
        if "--quick" in sys.argv: return
        many(d)
        long_journal(d)

if __name__ == "__main__":
    sys.exit(main())
