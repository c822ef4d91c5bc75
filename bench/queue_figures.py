# SPDX-License-Identifier: Apache-2.0
"""The figures of queues on a real API server."""
from programs import on_plane


def queue_figures(wanted, rounds):
    """Those on a real API server; the figures of one program share its run."""
    def some(*names):
        return any(f"queue.{name}" in wanted for name in names)

    if some("release.vs_reference", "writes_per_pod"):
        release = on_plane("queue_release", rounds)
        yield ("queue.release.vs_reference", release["vs_reference"],
               {key: release[key] for key in ("pods", "ratios", "berth_pods_per_s", "reference_pods_per_s")}, True)
        yield "queue.writes_per_pod", release["writes_per_pod"], {"pods": release["pods"]}, True
    if some("restart_s", "restart_mib"):
        restart = on_plane("queue_restart")
        sizes = {key: restart.pop(key) for key in ("pending", "admitted")}
        resident, anonymous = restart.pop("restart_mib"), restart.pop("anonymous_mib")
        yield "queue.restart_s", restart.pop("restart_s"), sizes | restart, True
        yield "queue.restart_mib", resident, sizes | {"anonymous_mib": anonymous}, True
    if some("blocked_s"):
        blocked = on_plane("queue_blocked")
        yield "queue.blocked_s", blocked.pop("blocked_s"), blocked, True
    if some("quiet_writes", "reaped_s"):
        quiet = on_plane("queue_quiet")
        yield "queue.quiet_writes", quiet["quiet_writes"], {key: quiet[key] for key in ("quiet_s", "pending", "admitted", "settling_writes", "written")}, True
        yield "queue.reaped_s", quiet["reaped_s"], {key: quiet[key] for key in ("reaped", "status_s")}, quiet["status_s"] <= 6
    if any(name.startswith("queue.shapes.") for name in wanted):
        yield from shapes_figures(on_plane("queue_shapes"))
    if some("fifth.vs_kueue"):
        fifth = on_plane("queue_fifth", 1)
        yield "queue.fifth.vs_kueue", fifth.pop("vs_kueue"), fifth, True


def shapes_figures(shapes):
    """Those of KAI-Scheduler's shapes beside what it took for them; of the reclaimed GPU without what the pod that had to go took for going."""
    kai = shapes["kai_s"]
    size = {"nodes": shapes["nodes"], "jobs": shapes["jobs"]}
    yield "queue.shapes.jobs_s", shapes["jobs_s"], size | {"kai_s": kai["jobs_s"]}, True
    yield "queue.shapes.cannot_s", shapes["cannot_worst_s"], size | {"guests": shapes["guests"], "mean_s": shapes["cannot_s"], "kai_mean_s": kai["cannot_s"]}, True
    yield ("queue.shapes.reclaim_s", max(0.0, shapes["reclaim_s"] - shapes["reclaim_grace_s"]),
           size | {"whole_s": shapes["reclaim_s"], "grace_s": shapes["reclaim_grace_s"], "kai_s": kai["reclaim_s"]}, True)
    yield ("queue.shapes.gang_s", shapes["gang_s"],
           size | {"pods": shapes["gang_pods"], "gpus": shapes["gang_pods"] * 8, "grace_s": shapes["gang_grace_s"], "kai_s": kai["gang_s"]}, True)
    yield "queue.shapes.notice_s", shapes["notice_s"], size, True
