# SPDX-License-Identifier: Apache-2.0
"""What berth's queue does where there is nothing to do, and what is left of those who are gone, on a control plane of its own: prints one JSON object.

2,000 pods are admitted and 10,000 wait for quota, until the oldest hundred carry their reason and half a minute has passed without a write. Then berth's writes of ten
minutes are counted, its lease left out: by the API server's audit log, not by berth. What GPUs are held for goes on, so its checkpoint of once a minute is counted apart. Then 10,000 more come, and one that asks for all of the quota; then the other 22,000
are deleted. The clock starts with the reply to the last DELETE, and stops with the watch's news that this one is let go; `status_s` is until the queue's status counts
nobody else, which berth writes at most once in five seconds.
`--check` fails unless there was no other write, and no more checkpoints than minutes; BERTH_BENCH_QUIET_S is how long to count."""
import json, os, sys, time

sys.dont_write_bytecode = True
from queue_plane import LEDGER, PODS, Plane, Program, Watch, await_totals, controller, fill, mixed, pod, poll, prepare, sized, status

PENDING, ADMITTED, QUIET_S, STILL_S = sized(10_000), sized(2_000), int(os.environ.get("BERTH_BENCH_QUIET_S", "600")), 30
REASON, CHECKPOINT = "gpu.berth.dev/pending-reason", "/configmaps/berth-usage"


def is_told(plane):
    """Whether all that the status names carry their reason."""
    named = [waiting["workload"].split("/")[1] for waiting in status(plane, "pending") or []]
    return named and all(REASON in plane.must("GET", f"{PODS}/{name}")["metadata"].get("annotations", {}) for name in named)


def writes(plane, checkpoints=False):
    return [write for write in plane.writes() if write.endswith(CHECKPOINT) == checkpoints]


def await_quiet(plane):
    poll("the oldest are told why they wait", lambda: is_told(plane), seconds=600, pause=5)
    last, since = len(writes(plane)), time.monotonic()

    def is_still():
        nonlocal last, since
        if (now := len(writes(plane))) != last:
            last, since = now, time.monotonic()
        return time.monotonic() - since > STILL_S

    poll("berth stops writing", is_still, seconds=600, pause=1)
    return last


def delete_all(plane):
    """All pods but the one that stays."""
    selector = "?gracePeriodSeconds=0&labelSelector=stays%21%3Dyes"
    poll("all are deleted", lambda: plane.send("DELETE", PODS + selector)[0] < 300, seconds=600)  # one call ends after 34 s
    return time.monotonic()


def reap(plane):
    """Seconds until the last is let go, and until the status counts nothing else."""
    fill(plane, map(mixed, range(PENDING)))
    last = pod(count=ADMITTED)
    last["metadata"]["labels"]["stays"] = "yes"
    [name] = fill(plane, [last])
    await_totals(plane, admitted=ADMITTED, pending=2 * PENDING + 1)
    watch = Watch(plane)
    gone = delete_all(plane)
    let_go = watch.wait(name=name) - gone
    await_totals(plane, admitted=1, pending=0, used=f"{ADMITTED}/{ADMITTED}")
    told = time.monotonic() - gone
    poll("no entry is left in the ledger", lambda: not plane.must("GET", LEDGER).get("data"))
    return let_go, told


def main():
    if "--check" in sys.argv and not os.environ.get("BERTH_CONTROL_PLANE") and os.environ.get("CI") != "true":
        print("NOT TESTED on a real control plane: BERTH_CONTROL_PLANE names none")
        return 77
    with Plane(audit=True) as plane:
        prepare(plane, gpus=ADMITTED)
        with Program(*controller(sys.argv[1], plane, leader_elect=True)) as program:
            program.until("working")
            watch = Watch(plane)
            fill(plane, [pod()] * ADMITTED)
            watch.wait(ADMITTED)
            fill(plane, map(mixed, range(PENDING)))
            before, checkpoints = await_quiet(plane), len(writes(plane, checkpoints=True))
            time.sleep(QUIET_S)
            written, checkpoints = writes(plane)[before:], len(writes(plane, checkpoints=True)) - checkpoints
            let_go, told = reap(plane)
    print(json.dumps({"pending": PENDING, "admitted": ADMITTED, "quiet_s": QUIET_S, "settling_writes": before, "quiet_writes": len(written), "written": sorted(set(written))[:5],
                      "checkpoints": checkpoints, "reaped": ADMITTED + 2 * PENDING, "reaped_s": round(let_go, 3), "status_s": round(told, 3)}))
    return 1 if "--check" in sys.argv and (written or checkpoints > QUIET_S // 60 + 1) else 0


sys.exit(main())
