#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes the played exporter in its twelve worlds of labels, and berth's metrics: the rules say the same in all of them, an
XID that changes is told, and every panel of every dashboard has an answer.

Exits 77 where Prometheus can't be had, unless CI=true."""
import sys

import boards
import played_exporter
import server

HELD = ("namespace", "pod")
DEVICE = ("gpu", "gpu_instance", "profile")
# What each world has to say, whatever its labels: {recorded: {labels: value}}.
PODS = {("0", "", "", "research", "train-0"), ("1", "", "", "", ""), ("2", "1", "1g.10gb", "research", "small-0"),
        ("3", "", "", "serving", "chat-0"), ("3", "", "", "serving", "chat-1")}
MIB = 1048576


def of_each(values):
    return {pod: values[int(pod[0])] for pod in PODS if values[int(pod[0])] is not None}


def expected(prof):
    """A MIG instance is measured by the profiling counters alone. The power of the second GPU is blank."""
    return {
        "berth:gpu_utilization:ratio": (DEVICE + HELD, of_each((0.42, 0, 0.25 if prof else None, 0.7))),
        "berth:gpu_memory_used:bytes": (DEVICE + HELD, of_each([v * MIB for v in (30720, 4, 5120, 61440)])),
        "berth:gpu_memory_free:bytes": (DEVICE + HELD, of_each([v * MIB for v in (50400, 81116, 4608, 19680)])),
        "berth:gpu_temperature:celsius": (("gpu",), {("0",): 61, ("1",): 33, ("2",): 48, ("3",): 70}),
        "berth:gpu_power:watts": (("gpu",), {("0",): 240.5, ("2",): 120, ("3",): 310}),
        "berth:gpu_xid:last": (("gpu",), {("0",): 0, ("1",): 0, ("2",): 0, ("3",): 0}),
        "node:berth_gpus:count": ((), {(): 4}),
    }


def differs(prometheus, world):
    """What a world's recorded series say that they should not."""
    out = []
    for name, (labels, want) in expected(played_exporter.WORLDS[world][2]).items():
        rows = prometheus.query(f'{name}{{node="{world}"}}')
        got = {tuple(row.get(label, "") for label in labels): round(value, 6) for row, value in rows}
        if got != want or len(rows) != len(want):
            out.append(f"{world}: {name} says {got} and not {want}")
        out += [f"{world}: {name} has the uuid {row.get('uuid')} for GPU {row['gpu']}" for row, _ in rows
                if "gpu" in row and row.get("uuid") != f"GPU-{world}-{row['gpu']}"]
    return out


def no_strangers(prometheus):
    """Every normal series is about a node that there is: no exporter's pod stands for one."""
    return [f"{row} is about no node" for row, _ in prometheus.query("node:berth_gpus:count") if row.get("node") not in played_exporter.WORLDS]


def silent(prometheus):
    """Panels and variables without an answer."""
    out = []
    for name, board in boards.boards().items():
        for where, expr, label in boards.queries(board):
            if not any(label is None or row.get(label) for row, _ in prometheus.query(expr)):
                out.append(f"{name}: {where} has no answer: {expr}")
    return out


def ill(prometheus):
    return [f"{rule['name']}: {rule['lastError']}" for group in prometheus.get("/api/v1/rules")["groups"] for rule in group["rules"]
            if rule["health"] != "ok"]


def settled(check, what):
    """What the check still finds at its deadline: at first the rules have not been asked."""
    found = [None]

    def once():
        found[0] = check()
        return not found[0]
    try:
        server.wait(once, what)
    except TimeoutError:
        return found[0]
    return []


def main():
    exporter = played_exporter.Exporter()
    jobs = [played_exporter.scrape(world, exporter.address) for world in played_exporter.WORLDS]
    jobs.append({"job_name": "berth-metrics", "metrics_path": "/berth/metrics",
                 "static_configs": [{"targets": [exporter.address], "labels": {"namespace": "berth-system", "pod": "berth-a"}}]})
    found = [text for name, board in boards.boards().items() for text in boards.complaints(name, board)]
    with server.serving(jobs) as prometheus:
        found += settled(lambda: [text for world in played_exporter.WORLDS for text in differs(prometheus, world)], "the recorded series")
        found += no_strangers(prometheus)
        found += settled(lambda: silent(prometheus), "the panels' answers")
        exporter.set("DEV_XID_ERRORS", 0, 79)
        found += settled(lambda: told(prometheus), "the alert of an XID")
        found += ill(prometheus)
    exporter.stop()
    print("\n".join(found) if found else f"{len(played_exporter.WORLDS)} worlds, {len(boards.PATHS)} dashboards: all answer")
    return 1 if found else 0


def told(prometheus):
    rows = prometheus.query('ALERTS{alertname="GPUXid",alertstate="firing"}')
    missing = played_exporter.WORLDS.keys() - {row.get("node") for row, _ in rows if row.get("gpu") == "0"}
    return [f"{world}: no alert of its XID" for world in sorted(missing)]


if __name__ == "__main__":
    sys.exit(main())
