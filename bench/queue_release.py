# SPDX-License-Identifier: Apache-2.0
"""Lets 2,000 gated pods go on a control plane of its own, by berth's queue and by the least that can do it (ungater_bench), in turn: prints one JSON
object. The clock starts with the queue's release from its hold, and stops with the watch's news of the last gate."""
import json, statistics, sys, time
from pathlib import Path

sys.dont_write_bytecode = True  # the tree stays clean
from queue_plane import PODS, QUEUE, Plane, Program, Watch, controller, fill, pod, prepare, sized

COUNT = sized(2000)


def hold(plane, policy):
    plane.patch(QUEUE, {"spec": {"stopPolicy": policy}})


def measure(plane, command, ready):
    """Seconds until all are let go, and what the program has said."""
    hold(plane, "Hold")
    plane.must("DELETE", PODS + "?gracePeriodSeconds=0")
    fill(plane, [pod()] * COUNT)
    with Program(*command) as program:
        program.until(ready)
        time.sleep(3)  # statuses and the epoch are written
        watch = Watch(plane)
        start = time.monotonic()
        hold(plane, "None")
        seconds = watch.wait(COUNT) - start
        time.sleep(1)
        return seconds, program.said()


def main():
    build, rounds = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3
    figures = {"reference_s": [], "berth_s": [], "writes": []}
    with Plane() as plane:
        prepare(plane, gpus=2 * COUNT, stop_policy="Hold")
        for _ in range(rounds):
            figures["reference_s"].append(measure(plane, [build / "ungater_bench", plane.kubeconfig], "synced")[0])
            seconds, said = measure(plane, controller(build, plane), "working")
            figures["berth_s"].append(seconds)
            figures["writes"].append(sum("write key=" in line for line in said.splitlines() if 'key="pool/' not in line))
    ratio = [r / b for r, b in zip(figures["reference_s"], figures["berth_s"])]
    print(json.dumps({"pods": COUNT, "vs_reference": round(statistics.median(ratio), 3), "ratios": [round(r, 3) for r in ratio],
                      "reference_pods_per_s": round(COUNT / statistics.median(figures["reference_s"]), 1),
                      "berth_pods_per_s": round(COUNT / statistics.median(figures["berth_s"]), 1),
                      "writes_per_pod": round(max(figures["writes"]) / COUNT, 4)}))


main()
