#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""model.py [BENCH.json]    opens a second on machines with more cores than this one, and what they wait for

A discrete-event model. Callers sit one on each core and open files, with THINK between two of them. A call costs its
caller the trap; a receiver takes it, works, holds the journal's lock for its record, and answers. The listener has one lock, which
RECV, ID_VALID, ADDFD and SEND take, and one list of waiting calls, which they walk; a call wakes every receiver that is
parked. Receivers are arranged as supervisor/arrange.c does. Times of the worker's steps come from BENCH.json (make bench), and so does the
switch between caller and receiver: what is left of the time of an open in a loop. The others are the constants below. Two callers, which
are measured too, show what the model is worth; two cores that share an execution unit are slower by what two threads natively lose."""
import heapq, json, sys

TRAP = 1200        # the caller's way into the notification and out of it, and its close; ns
LISTENER = 150     # one operation under the listener's lock; six for a call, that of the caller among them
WALK = 3           # for each waiting call, in each of these operations: a third of the worker's time beside 512 callers (docs/PERFORMANCE.md, A flood)
HERD = 1000        # a parked receiver that is woken for a call it does not get
JOURNAL = 940      # the journal's lock, for one record: tests/bench/journal.c with 8 threads
ANSWER = 1500      # ADDFD, close and SEND beside the lock
SWITCH = 1400      # from the caller to the receiver, or back, where nothing is measured
STEPS = {"caller": 450, "read": 780, "resolve": 150, "decide": 260, "record": 1740, "perform": 1180}
PINNED_MOST, CROWD_MOST = 8, 4  # as in supervisor/arrange.c


def receivers(cores, callers):
    if cores == 1 or callers == 1:
        return 1
    if callers > cores:
        return max(1, min(CROWD_MOST, cores // 4))
    return min(callers, PINNED_MOST)


def phases(steps):
    """What a call goes through: under the listener's lock, by the receiver alone, under the journal's lock."""
    before = sum(steps[s] for s in ("caller", "read", "resolve", "decide")) + max(0, steps["record"] - JOURNAL)
    return ([("work", steps["switch"]), ("listener", 0), ("listener", 0), ("work", before), ("journal", JOURNAL), ("work", steps["perform"] + ANSWER)] +
            [("listener", 0)] * 3 + [("work", steps["switch"])])


class Model:
    def __init__(self, cores, callers, think, steps):
        self.cores, self.think, self.phases = cores, think, phases(steps)
        self.n = receivers(cores, callers)
        self.idle = list(range(self.n))   # receivers that are parked; the core of receiver K is K * cores // n
        self.queue = []                   # calls that no receiver has taken yet
        self.waiting = self.done = self.order = 0
        self.free = {"listener": 0.0, "journal": 0.0}
        self.used = {"receivers": 0.0, "listener's lock": 0.0, "journal's lock": 0.0, "woken for nothing": 0.0}
        self.stolen = [0.0] * cores       # what receivers took from the caller on this core
        self.events = []
        for i in range(callers):
            self.at(i * 37.0 % 1000, self.call, i)

    def at(self, time, what, *args):
        self.order += 1
        heapq.heappush(self.events, (time, self.order, what, args))

    def core(self, receiver):
        return receiver * self.cores // self.n

    def lock(self, name, now, time):
        self.free[name] = max(now, self.free[name]) + time
        self.used[name + "'s lock"] += time
        return self.free[name]

    def listener(self, now):
        return self.lock("listener", now, LISTENER + WALK * self.waiting)

    def call(self, now, who):
        self.waiting += 1
        self.at(self.listener(now + TRAP / 2), self.arrive, who)

    def arrive(self, now, who):
        here = [k for k in self.idle if self.core(k) == who % self.cores]
        for k in self.idle:
            if k != (here or self.idle)[0]:
                self.stolen[self.core(k)] += HERD
                self.used["woken for nothing"] += HERD
        if self.idle:
            k = (here or self.idle)[0]
            self.idle.remove(k)
            self.step(now, k, who, 0, now)
        else:
            self.queue.append(who)

    def step(self, now, k, who, i, begin):
        if i == len(self.phases):
            return self.answered(now, k, who, begin)
        kind, time = self.phases[i]
        end = self.listener(now) if kind == "listener" else self.lock("journal", now, time) if kind == "journal" else now + time
        self.at(end, self.step, k, who, i + 1, begin)

    def answered(self, now, k, who, begin):
        self.used["receivers"] += now - begin
        if self.core(k) != who % self.cores:
            self.stolen[self.core(k)] += now - begin
        self.waiting -= 1
        self.done += 1
        c = who % self.cores
        stolen = min(self.stolen[c], self.think) if self.think else 0.0
        self.stolen[c] -= stolen
        self.at(now + TRAP / 2 + self.think + stolen, self.call, who)
        if self.queue:
            self.step(now, k, self.queue.pop(0), 0, now)
        else:
            self.idle.append(k)


def simulate(cores, callers, think, steps, until=20e6):
    m = Model(cores, callers, think, steps)
    while m.events[0][0] <= until:
        now, _, what, args = heapq.heappop(m.events)
        what(now, *args)
    of = {"receivers": m.n, "woken for nothing": cores}
    return m.done / until * 1e3, m.n, {k: v / until / of.get(k, 1) for k, v in m.used.items()}


def calibrate(measured, steps):
    """The switch, from the time of one open of one caller: all else is known. Returns what the model says of two callers, and what was measured."""
    one, two = (measured["rows"].get(r, {}) for r in ("open + close", "open, 2 threads"))
    if "usher" not in one or "usher" not in two:
        return None
    steps["switch"] = 0
    alone = 1e6 / simulate(1, 1, 0, steps)[0]
    steps["switch"] = max(0, (one["usher"][0] * 1e9 - alone / 1e3) / 2)
    slower = max(1, 2 * two["native"][0] / one["native"][0])
    return simulate(2, 2, 0, steps)[0] * 1e3 / slower, 1e-3 / two["usher"][0], slower


def main(args):
    steps = dict(STEPS, switch=SWITCH)
    if args:
        with open(args[0]) as f:
            measured = json.load(f)
        steps.update({k: v for k, v in measured.get("steps_ns", {}).get("open + close", {}).items() if k in STEPS})
        check = calibrate(measured, steps)
        if check:
            print(f"a switch takes {steps['switch']:.0f} ns; two callers on two cores, each {check[2]:.2f} times slower beside the other: "
                  f"{check[1]:.0f} thousand opens a second measured, {check[0]:.0f} by the model")
    print(f"{'cores, callers':<16}{'between opens':>14}{'receivers':>11}{'thousand/s':>12}   in use, of the whole time")
    for think in (0, 20000, 200000):
        for cores in (2, 4, 8, 16, 32, 64):
            rate, n, used = simulate(cores, cores, think, steps)
            most = sorted(used.items(), key=lambda x: -x[1])
            print(f"{cores:<16}{think / 1000:>11.0f} us{n:>11}{rate * 1e3:>12.0f}   " + ", ".join(f"{k} {v * 100:.0f} %" for k, v in most if v > 0.02))


if __name__ == "__main__":
    main(sys.argv[1:])
