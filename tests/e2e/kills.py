#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kills [ROUNDS]: kill -9 of usher run at random moments under load. After each, the journal must verify (by usher and by
tests/verify.py), jq's reader of JSON must read every line, every effect on disk must have a record or an intent, and
what was recorded as done must be there."""
import importlib.util, json, glob, os, random, shutil, subprocess, sys, tempfile, time

USHER, BUILD = os.environ["USHER"], os.environ["BUILD"]
HERE = os.path.dirname(os.path.abspath(__file__))
CHURN = os.environ.get("BIN", BUILD + "/tests/e2e") + "/churn"
PROCESSES, FILES = 3, 150
sys.dont_write_bytecode = True
SECOND = os.environ.get("VERIFY_PY", HERE + "/../verify.py")
verify = None
if os.access(SECOND, os.R_OK):  # a staged copy of the tests may be run by a user who cannot reach the tree
    spec = importlib.util.spec_from_file_location("verify", SECOND)
    verify = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(verify)


def names(record, out):
    for o in [record] + record.get("objects", []):
        if "object" in o:
            for op in o["op"]:
                out.add((op, os.path.basename(o["object"])))


def missing(project, journal):
    """Effects on disk that no record and no intent tells of, and how many there are."""
    told = set()
    for file in glob.glob(journal + "/*.jsonl"):
        for line in open(file, "rb"):
            if line.startswith(b"{"):
                names(json.loads(line), told)
    effects = set()
    there = set(os.listdir(project))
    for p in range(PROCESSES):
        for i in range(FILES):
            v, m = f"v{p}-{i}", f"m{p}-{i}"
            if v not in there:
                effects.add(("delete", v))
            if os.stat(project + "/" + m).st_mode & 0o777 != 0o600:
                effects.add(("attr", m))
    effects |= {("create", n) for n in there if n[0] in "crld"}
    return effects - told, len(effects)


def untrue(project, journal):
    """Records that tell of an effect that is not on disk."""
    there, wrong = set(os.listdir(project)), []
    for file in glob.glob(journal + "/journal-*.jsonl"):
        for line in open(file, "rb"):
            if not line.startswith(b"{"): continue
            r = json.loads(line)
            if r.get("intent") or not isinstance(r.get("result"), int): continue
            for o in [r] + r.get("objects", []):
                name = os.path.basename(o.get("object", ""))
                if not name[1:2].isdigit() or name[0] not in "crldvm" or os.path.dirname(o["object"]) != os.path.realpath(project): continue
                if "create" in o["op"] and name not in there and "r" + name[1:] not in there: wrong.append(("create", name))
                if "delete" in o["op"] and name in there: wrong.append(("delete", name))
                if "attr" in o["op"] and os.stat(f"{project}/{name}").st_mode & 0o777 == 0o600: wrong.append(("attr", name))
    return wrong


def first_effect(project, child):
    """Waits for the first effect on disk: a slow usher is to be killed among them as well."""
    while not any(n.startswith(("c", "r")) for n in os.listdir(project)) and child.poll() is None:
        time.sleep(0.001)


def one(base, delay):
    """Kills usher DELAY seconds after its start; with None after its first effect. Returns what is wrong, the number of effects, and how long it ran."""
    project, journal = base + "/p", base + "/j"
    os.mkdir(project)
    for p in range(PROCESSES):
        for i in range(FILES):
            for kind in "vm":
                os.close(os.open(f"{project}/{kind}{p}-{i}", os.O_CREAT | os.O_WRONLY, 0o600))
    rules = base + "/allow.rules"
    with open(os.open(rules, os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
        f.write("default allow\n")
    child = subprocess.Popen([USHER, "run", "-p", rules, "--journal", journal, "--", CHURN, str(PROCESSES)], cwd=project,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    start = time.monotonic()
    time.sleep(delay) if delay is not None else first_effect(project, child)
    ran = time.monotonic() - start
    child.kill()
    child.wait()
    child.stdout.read()  # the end comes when the last process of the tree is gone
    child.stdout.close()
    lost, effects = missing(project, journal)
    wrong = [f"no record of {sorted(lost)[:3]}"] if lost else []
    if told := untrue(project, journal):
        wrong.append(f"recorded, but not there: {told[:3]}")
    if glob.glob(journal + "/journal-*"):
        done = subprocess.run([USHER, "verify", journal], capture_output=True, text=True)
        try:
            second = verify.verify(journal) if verify else "whole, not closed"
        except verify.Damage as why:
            second = f"damaged: {why}"
        begun = os.path.getsize(journal + "/journal-000001.jsonl") and open(journal + "/journal-000001.jsonl", "rb").read(1) == b"{"
        if begun and (done.returncode or second != "whole, not closed"):
            wrong.append(f"verify {done.returncode}, verify.py: {second}: {done.stdout}")
    return wrong, effects, ran


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else int(os.environ.get("KILLS", "30"))
    seed = int(os.environ.get("SEED", time.time()))
    random.seed(seed)
    with tempfile.TemporaryDirectory(prefix="usher-kills.", dir=os.environ.get("TEST_TMP")) as base:
        longest = float(os.environ.get("LONGEST", "0")) or max(0.06, 3 * one(base, None)[2])
    failed = total = busy = 0
    for n in range(rounds):
        base = tempfile.mkdtemp(prefix="usher-kills.", dir=os.environ.get("TEST_TMP"))
        delay = random.random() * longest
        wrong, effects, _ = one(base, delay)
        total, busy = total + effects, busy + (effects > 0)
        if wrong:
            failed += 1
            print(f"not ok round {n}, killed after {delay * 1000:.1f} ms (SEED={seed}; kept {base})", *wrong, sep="\n    ")
        else:
            shutil.rmtree(base)
    print(f"{'not ok' if failed or not busy else 'ok'} {rounds} kills, {busy} of them among effects: "
          f"{total} effects on disk, {failed} rounds with one that no record tells of or a journal that does not verify")
    return 1 if failed or not busy else 0


sys.exit(main())
