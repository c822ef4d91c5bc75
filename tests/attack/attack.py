#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays attacks on a real `berth webhook` and `berth controller`, one after the other, and asks meanwhile what the API server and the
kubelet ask.

  attack.py BERTH [--long] [--json] [--figure] [--any-memory] [ATTACK…]    all attacks, or those named

Prints a row for each: what the attack tried, how soon reviews beside it were answered, the probes, the peak of memory, and how often the
program had to be started anew. Fails if a review or a probe is not answered, the program ends, or it takes more memory than the chart gives
it. How soon is reported and not judged: bench/run does that. Of a BERTH with sanitizers (--any-memory) the memory is not judged either: most
of it belongs to the sanitizers."""
import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True  # the tree stays clean
import crowds
import shapes
from cluster import Cluster
from legit import DEADLINE_S, Prober, Reviewer
from victim import PATIENCE_S, Victim, make_certificate

WEBHOOK = [*crowds.BODIES, *crowds.CROWDS, *crowds.UNREAD, *crowds.PROBED, shapes.http1_shapes, shapes.pipelines, shapes.placements,
           shapes.huge_reviews]
CONTROLLER = crowds.PROBED
# Of these bench/run tells how soon reviews are answered: they are to cost nothing but places, which are others'.
FIGURE = [*crowds.BODIES, *crowds.CROWDS, crowds.on_health, crowds.on_metrics, shapes.placements]


class Run:
    """What came of one attack on one program."""

    def __init__(self, victim, attack, any_memory):
        self.victim, self.attack, self.any_memory, self.took_ms, self.failures = victim, attack, any_memory, [], []

    def review(self, reviewer, number):
        try:
            self.took_ms.append(reviewer.took_ms(reviewer.ask_anew if number % 5 == 0 else reviewer.ask_kept))
        except Exception as error:  # whatever went wrong, no verdict came
            self.failures.append(f"review: {error!r}")

    def play(self, scale, folder):
        """The attack goes on in another process until the reviews have been asked, however long the answers take."""
        self.victim.forget_peak()
        prober = Prober(self.victim, ["/healthz", "/readyz"] if self.victim.name == "webhook" else ["/healthz"])
        stands, stop, attempts = multiprocessing.Event(), multiprocessing.Event(), multiprocessing.Value("l", 0)
        attacker = crowds.Attacker(self.victim.ports, stands, stop, attempts, scale)
        process = multiprocessing.Process(target=self.attack, args=(attacker,), daemon=True)
        process.start()
        stands.wait(PATIENCE_S)
        prober.start()
        number = 0
        reviewer = Reviewer(self.victim.ports["reviews"], folder) if self.victim.name == "webhook" else None
        began = time.monotonic()
        while number < scale.reviews or process.is_alive():
            number += 1
            if reviewer is not None:
                self.review(reviewer, number)
            time.sleep(0.01)
            if number >= scale.reviews or self.failures:
                stop.set()
            if len(self.failures) > 3 or time.monotonic() - began > 10 * DEADLINE_S:
                break
        prober.stop()
        process.join(DEADLINE_S)
        process.kill()
        self.judge(process, attempts.value, prober)

    def judge(self, process, attempts, prober):
        self.failures += prober.failures
        if process.exitcode not in (0, None):
            self.failures.append("the attack failed: see above")
        gone = self.victim.process.poll() is not None
        self.peak_mib = 0 if gone else self.victim.peak_mib()
        if gone:
            self.failures.append(f"{self.victim.name} ended")
        elif not self.any_memory and self.peak_mib > self.victim.limit_mib:
            self.failures.append(f"{self.peak_mib:.0f} MiB of {self.victim.limit_mib}")
        self.victim.revive()
        self.attempts, self.probes, self.late = attempts, prober.answered, prober.late

    def at(self, part):
        took = sorted(self.took_ms)
        return took[min(len(took) - 1, int(len(took) * part))] if took else float("nan")

    def row(self):
        return {"attack": self.attack.__name__, "on": self.victim.name, "attempts": self.attempts, "reviews": len(self.took_ms),
                "p50_ms": round(self.at(0.5), 1), "p99_ms": round(self.at(0.99), 1), "max_ms": round(self.at(1), 1), "probes": self.probes,
                "late_probes": self.late, "peak_mib": round(self.peak_mib, 1), "restarts": self.victim.restarts,
                "failures": self.failures[:5]}


def print_row(row):
    print(f"{row['attack'].replace('_', ' '):<40}{row['on']:<11}{row['attempts']:>9}{row['reviews']:>8}{row['p50_ms']:>8}{row['p99_ms']:>8}"
          f"{row['max_ms']:>8}{row['probes']:>7}{row['late_probes']:>5}{row['peak_mib']:>8}{row['restarts']:>9}", flush=True)
    for failure in row["failures"]:
        print(f"    NOT WELL: {failure}", flush=True)


def play_all(options):
    scale = crowds.LONG if options.long else crowds.SHORT
    with tempfile.TemporaryDirectory(prefix="berth-attack-") as folder, Cluster(scale.nodes) as cluster:
        make_certificate(folder)
        (Path(folder) / "kubeconfig").write_text(cluster.kubeconfig())
        for name, attacks in (("webhook", WEBHOOK), ("controller", CONTROLLER)):
            if options.figure:
                attacks = FIGURE if name == "webhook" else []
            chosen = [attack for attack in attacks if not options.attacks or attack.__name__ in options.attacks]
            if not chosen:
                continue
            victim = Victim(options.berth, name, folder, scale.max_requests)
            try:
                for attack in chosen:
                    run = Run(victim, attack, options.any_memory)
                    run.play(scale, folder)
                    yield run.row()
            finally:
                victim.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("berth")
    parser.add_argument("--long", action="store_true", help="all of it, for minutes; else a minute's worth")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each")
    parser.add_argument("--figure", action="store_true", help="only those of which bench/run tells how soon reviews are answered")
    parser.add_argument("--any-memory", action="store_true", help="do not judge the memory, which a program with sanitizers needs for them")
    parser.add_argument("attacks", nargs="*", metavar="ATTACK")
    options = parser.parse_intermixed_args()
    if not Path(options.berth).exists():
        print(f"attack: {options.berth} is not built", file=sys.stderr)
        return 77
    multiprocessing.set_start_method("fork")
    if not options.json:
        print(f"{'attack':<40}{'on':<11}{'attempts':>9}{'reviews':>8}{'p50 ms':>8}{'p99 ms':>8}{'max ms':>8}{'probes':>7}{'late':>5}"
              f"{'MiB':>8}{'restarts':>9}")
    well = True
    for row in play_all(options):
        well = well and not row["failures"]
        print(json.dumps(row), flush=True) if options.json else print_row(row)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
