"""Takes berth's figures: builds what scripts/release would publish, runs the programs, prints a table.

bench/run [--json] [--rounds N] [--build FOLDER] [FIGURE…]     all figures, or those named; a prefix names several ("memory")

--json prints one line per figure on stdout and nothing else. --build measures the programs of a folder as they are. bench/README.md says what each figure means.
"""
import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # the tree stays clean
import programs
from controller_memory import controller_memory
from informer_rounds import informer_figure, informer_rounds
from queue_figures import queue_figures
from webhook_rounds import attacked, webhook_figures, webhook_rounds

MIB = 1 << 20

# figure → unit, goal, whether a value holds it, the programs of ours it needs
FIGURES = {
    "informer.events.cpu_ratio": ("×", "≥ 6", lambda v: v >= 6, ["informer_bench"]),
    "informer.sync.cpu_ratio": ("×", "≥ 6", lambda v: v >= 6, ["informer_bench"]),
    "memory.idle_mib": ("MiB", "≤ 20, anonymous ≤ 6", lambda v: v <= 20, ["berth"]),
    "memory.pods10k_mib": ("MiB", "≤ 40", lambda v: v <= 40, ["berth"]),
    "memory.pods50k_mib": ("MiB", "≤ 80", lambda v: v <= 80, ["berth"]),
    "memory.pending50k_mib": ("MiB", "≤ 100", lambda v: v <= 100, ["queue_memory_bench"]),
    "memory.samples_mib": ("MiB", "≤ 24", lambda v: v <= 24, ["observe_bench"]),
    "observe.fleet_ms": ("ms", "≤ 50", lambda v: v <= 50, ["observe_bench"]),
    "plan.nodes2000_ms": ("ms", "≤ 20", lambda v: v <= 20, ["plan_bench"]),
    "plan.growth": ("×", "≤ 1.3", lambda v: v <= 1.3, ["plan_bench"]),
    "plan.add10k_ms": ("ms", "≤ 10", lambda v: v <= 10, ["plan_bench"]),
    "policy.nodes5000_ms": ("ms", "≤ 50", lambda v: v <= 50, ["policy_bench"]),
    "queue.core.admissions_per_s": ("/s", "≥ 500,000", lambda v: v >= 500_000, ["queue_core_bench"]),
    "queue.core.placed_per_s": ("/s", "≥ 50,000", lambda v: v >= 50_000, ["queue_core_bench"]),
    "queue.core.gang_pods_per_s": ("/s", "≥ 20,000", lambda v: v >= 20_000, ["queue_core_bench"]),
    "queue.core.large_gang_ms": ("ms", "≤ 50", lambda v: 0 < v <= 50, ["queue_core_bench"]),
    "queue.core.cycle_ms": ("ms", "≤ 20", lambda v: v <= 20, ["queue_core_bench"]),
    "queue.core.event_us": ("µs", "≤ 300", lambda v: v <= 300, ["queue_core_bench"]),
    "queue.core.armada_ms": ("ms", "≤ 300, ≤ 256 MiB", lambda v: v <= 300, ["queue_core_bench"]),
    "queue.core.growth": ("×", "≤ 1.3", lambda v: v <= 1.3, ["queue_core_bench"]),
    "queue.cannot_s": ("s", "≤ 1", lambda v: v <= 1, ["queue_preempt_bench"]),
    "queue.reclaim_s": ("s", "≤ 1", lambda v: v <= 1, ["queue_preempt_bench"]),
    "queue.day.lost_vs_priority_only": ("×", "≤ 0.5", lambda v: v <= 0.5, ["queue_day_bench"]),
    "queue.starts.held": ("", "≥ 0.9", lambda v: v >= 0.9, ["queue_starts_bench"]),
    "queue.estimates_ms": ("ms", "≤ 50", lambda v: v <= 50, ["queue_estimates_bench"]),
    "queue.release.vs_reference": ("×", "≥ 0.9", lambda v: v >= 0.9, ["berth", "ungater_bench"]),
    "queue.writes_per_pod": ("", "≤ 1.03", lambda v: v <= 1.03, ["berth", "ungater_bench"]),
    "queue.restart_s": ("s", "≤ 2", lambda v: v <= 2, ["berth"]),
    "queue.restart_mib": ("MiB", "≤ 64", lambda v: v <= 64, ["berth"]),
    "queue.blocked_s": ("s", "≤ 1", lambda v: v <= 1, ["berth"]),
    "queue.quiet_writes": ("", "0", lambda v: v == 0, ["berth"]),
    "queue.reaped_s": ("s", "≤ 3, status ≤ 6", lambda v: v <= 3, ["berth"]),
    "queue.shapes.jobs_s": ("s", "", lambda v: True, ["berth"]),
    "queue.shapes.cannot_s": ("s", "≤ 6", lambda v: v <= 6, ["berth"]),
    "queue.shapes.reclaim_s": ("s", "≤ 1 + grace", lambda v: v <= 1, ["berth"]),
    "queue.shapes.gang_s": ("s", "", lambda v: True, ["berth"]),
    "queue.shapes.notice_s": ("s", "≤ 1", lambda v: v <= 1, ["berth"]),
    "queue.fifth.vs_kueue": ("×", "≥ 2", lambda v: v >= 2, ["berth", "ungater_bench", "queue_fifth_bench"]),
    "webhook.mutate.rps_ratio": ("×", "≥ 20", lambda v: v >= 20, ["webhook_bench"]),
    "webhook.validate.rps_ratio": ("×", "≥ 8", lambda v: v >= 8, ["webhook_bench"]),
    "webhook.p99_ratio": ("×", "≥ 8", lambda v: v >= 8, ["webhook_bench"]),
    "webhook.rss_mib": ("MiB", "≤ 32", lambda v: v <= 32, ["webhook_bench"]),
    "webhook.attack_p99_ms": ("ms", "≤ 50", lambda v: v <= 50, ["berth"]),
    "page.wire_kib": ("KiB", "≤ 100", lambda v: v <= 100, ["berth"]),
    "page.draw_ms": ("ms", "≤ 300", lambda v: v <= 300, ["berth"]),
    "page.pixel_p99_ms": ("ms", "≤ 500", lambda v: v <= 500, ["berth"]),
    "page.resident_mib": ("MiB", "≤ 8", lambda v: v <= 8, ["berth"]),
    "page.viewers_core": ("%", "≤ 5", lambda v: v <= 5, ["berth"]),
    "rollout.overhead_p99_ms": ("ms", "≤ 5", lambda v: v <= 5, ["rollout_bench"]),
    "sim.schedules_per_min": ("/min", "≥ 3,334", lambda v: v >= 3334, []),
    "sim.time_ratio": ("×", "", lambda v: True, []),
    "binary.stripped_mib": ("MiB", "≤ 8", lambda v: v <= 8, ["berth"]),
}


def take(wanted, rounds, built):
    """Yields (figure, value, params, further condition) for each wanted figure, sharing runs between them."""
    targets = sorted({program for name in wanted for program in FIGURES[name][3]})
    if targets and not built:
        programs.build(targets)
    recording = None
    reviews = [name for name in wanted if name.startswith("webhook.") and name != "webhook.attack_p99_ms"]
    if reviews or any(name.startswith(("informer.", "memory.pods")) for name in wanted):
        programs.build_peers()
    if any(name.startswith(("informer.", "memory.pods")) for name in wanted):
        recording = programs.output(programs.HERE / "make-recording", programs.PEERS)

    if any(name.startswith("informer.") for name in wanted):
        pairs = informer_rounds(recording, rounds)
        for name, field in {"informer.events.cpu_ratio": "events_cpu_s_per_100k", "informer.sync.cpu_ratio": "sync_cpu_s"}.items():
            yield name, *informer_figure(pairs, field), True

    with tempfile.TemporaryDirectory() as folder:
        if any(name.startswith(("memory.idle", "memory.pods", "binary.")) for name in wanted):
            binary = programs.stripped(folder)
            yield "binary.stripped_mib", binary.stat().st_size / MIB, {}, True
        for name, source, nodes, pods in [("memory.idle_mib", None, 0, 0), ("memory.pods10k_mib", recording, 1000, 10_000),
                                          ("memory.pods50k_mib", recording, 2000, 50_000)]:
            if name in wanted:
                resident, anonymous = controller_memory(binary, source, nodes, pods)
                yield (name, resident, {"nodes": nodes, "pods": pods, "anonymous_mib": round(anonymous, 2)},
                       name != "memory.idle_mib" or anonymous <= 6)

    if any(name.startswith("plan.") for name in wanted):
        programs.say("plan")
        plan = json.loads(programs.output(programs.BUILD / "plan_bench"))
        yield "plan.nodes2000_ms", plan["ms"], {"nodes": 2000, "pods": 20_000, "ms_x2": plan["ms_x2"], "ms_x4": plan["ms_x4"]}, True
        yield "plan.growth", plan["growth"], {"from_nodes": 2000, "to_nodes": 8000}, True
        yield "plan.add10k_ms", plan["add10k_ms"], {"objects": 10_000, "steps": 20_000}, True

    if "policy.nodes5000_ms" in wanted:
        programs.say("policy")
        policy = json.loads(programs.output(programs.BUILD / "policy_bench"))
        yield ("policy.nodes5000_ms", policy["ms"], {"nodes": 5000, "pods": 50_000, "pools": 4, "writes": policy["writes"]},
               policy["writes"] == 0)

    if {"memory.samples_mib", "observe.fleet_ms"} & set(wanted):
        programs.say("samples")
        observed = json.loads(programs.output(programs.BUILD / "observe_bench"))
        size = {"nodes": 2000, "gpus": 16_000, "pods": 16_000, "told_idle": observed["told"]}
        yield "memory.samples_mib", observed["samples_mib"], size, True
        yield "observe.fleet_ms", observed["fleet_ms"], size, True

    if "memory.pending50k_mib" in wanted:
        waiting = json.loads(programs.output(programs.BUILD / "queue_memory_bench"))
        yield ("memory.pending50k_mib", waiting["resident_mib"],
               {"nodes": 2000, "pending": waiting["pending"], "queues": 300, "anonymous_mib": waiting["anonymous_mib"]}, True)

    yield from queue_figures(wanted, rounds)

    if any(name.startswith("queue.core.") for name in wanted):
        programs.say("queue")
        queue = json.loads(programs.output(programs.BUILD / "queue_core_bench"))
        yield ("queue.core.admissions_per_s", queue["admissions_per_s"],
               {"nodes": 10_000, "pending": 200_000, "queues": 300, "placement": "None", "admitted": queue["admitted"]}, True)
        yield "queue.core.placed_per_s", queue["placed_per_s"], {"nodes": 10_000, "pending": 200_000, "queues": 300}, True
        yield "queue.core.gang_pods_per_s", queue["gang_pods_per_s"], {"nodes": 5000, "racks": 50, "pods": 16, "level": "required"}, True
        yield "queue.core.large_gang_ms", queue["large_gang_ms"], {"nodes": 5000, "racks": 50, "pods": 10_000}, True
        yield "queue.core.cycle_ms", queue["cycle_ms"], {"nodes": 10_000, "pending": 100_000, "queues": 300, "admitted": 0}, True
        yield "queue.core.event_us", queue["event_us"], {"nodes": 10_000, "pending": 100_000}, True
        yield ("queue.core.armada_ms", queue["armada_ms"],
               {"nodes": 1000, "pending": 320_000, "queues": 10, "admitted": queue["armada_admitted"], "mib": queue["armada_mib"]},
               queue["armada_mib"] <= 256)
        yield ("queue.core.growth", max(queue["cycle_growth"], queue["admissions_growth"]),
               {name: queue[name] for name in ("cycle_growth", "admissions_growth")}, True)

    if "queue.cannot_s" in wanted or "queue.reclaim_s" in wanted:
        programs.say("preemption")
        preempt = json.loads(programs.output(programs.BUILD / "queue_preempt_bench"))
        yield ("queue.cannot_s", max(preempt["funded_s"], preempt["too_little_s"]),
               {"nodes": 500, "running": 4000, "classes": 40, **{name: preempt[name] for name in ("funded_s", "too_little_s")}}, True)
        yield ("queue.reclaim_s", max(preempt["reclaim_one_s"], preempt["reclaim_gang_s"]),
               {"nodes": 500, "running": 4000, **{name: preempt[name] for name in ("reclaim_one_s", "reclaim_gang_s", "gang_displaced")}}, True)
    if "queue.day.lost_vs_priority_only" in wanted:
        programs.say("day")
        day = json.loads(programs.output(programs.BUILD / "queue_day_bench"))
        yield ("queue.day.lost_vs_priority_only", day.pop("lost_vs_priority_only"), day,
               day["unplaced"] == 0 and day["restless"] == 0)

    if "queue.starts.held" in wanted:
        programs.say("starts")
        starts = json.loads(programs.output(programs.BUILD / "queue_starts_bench"))
        yield ("queue.starts.held", min(case["berth"]["first"]["held"] for case in starts.values()), starts, True)
    if "queue.estimates_ms" in wanted:
        programs.say("estimates")
        estimates = json.loads(programs.output(programs.BUILD / "queue_estimates_bench"))
        longest = max(case[part] for case in estimates.values() for part in ("turn_ms", "tell_ms"))
        yield "queue.estimates_ms", longest, estimates, all(case["ranges"] for name, case in estimates.items() if name != "undeclared")

    if reviews:
        yield from webhook_figures(webhook_rounds(rounds))
    if "webhook.attack_p99_ms" in wanted:
        worst, well = attacked()
        names = ("attack", "attempts", "reviews", "p50_ms", "max_ms", "peak_mib")
        yield "webhook.attack_p99_ms", worst["p99_ms"], {name: worst[name] for name in names}, well

    if any(name.startswith("page.") for name in wanted):
        page = programs.on_plane("page")
        size = {name: page[name] for name in ("nodes", "pods")}
        yield "page.wire_kib", page["wire_kib"], {}, True
        yield "page.draw_ms", page["draw_ms"], size, True
        yield "page.pixel_p99_ms", page["pixel_p99_ms"], size | {name: page[name] for name in ("changes", "pixel_p50_ms", "pixel_max_ms")}, True
        yield "page.resident_mib", page["resident_mib"], size | {"viewers": page["viewers"]}, True
        yield "page.viewers_core", page["viewers_core"], size | {name: page[name] for name in ("viewers", "one_viewer_core", "told_bytes")}, True

    if any(name.startswith("sim.") for name in wanted):
        sim = programs.explore()
        params = {name: sim[name] for name in ("schedules", "scenarios", "seconds")}
        yield "sim.schedules_per_min", sim["per_min"], params, sim["failures"] == 0
        yield "sim.time_ratio", sim["time_ratio"], params, True

    if "rollout.overhead_p99_ms" in wanted:
        programs.say("rollout")
        rollout = json.loads(programs.output(programs.BUILD / "rollout_bench"))
        yield "rollout.overhead_p99_ms", rollout.pop("p99_ms"), {"nodes": 2000, "pods": 20_000, **rollout}, True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=3, help="of each comparison with a peer, at least 3")
    parser.add_argument("--build", type=Path, metavar="FOLDER", help="measure the programs there, as they are, and build none")
    parser.add_argument("figures", nargs="*", metavar="FIGURE")
    options = parser.parse_args()
    for name in options.figures:
        if not any(figure.startswith(name) for figure in FIGURES):
            parser.error(f"no figure is called {name}; there are {', '.join(FIGURES)}")
    wanted = [f for f in FIGURES if not options.figures or any(f.startswith(n) for n in options.figures)]
    if options.build:
        programs.BUILD = options.build.resolve()
    if not options.json:
        print(f"{'figure':<28}{'value':>10} {'unit':<5}{'goal':<22}holds")
    for name, value, params, condition in take(wanted, max(3, options.rounds), options.build is not None):
        if name not in wanted:
            continue
        unit, goal, holds_for, _ = FIGURES[name]
        holds = holds_for(value) and condition
        if options.json:
            print(json.dumps({"figure": name, "value": round(value, 3), "unit": unit, "goal": goal, "holds": holds,
                              "params": params}, ensure_ascii=False), flush=True)
        else:
            print(f"{name:<28}{value:>10.2f} {unit:<5}{goal:<22}{'yes' if holds else 'NO':<6}{json.dumps(params)}", flush=True)


if __name__ == "__main__":
    main()
