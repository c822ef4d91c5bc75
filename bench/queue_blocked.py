# SPDX-License-Identifier: Apache-2.0
"""How long a pod that fits waits behind thousands that don't, on a control plane of its own: prints one JSON object.

2,000 pods hold the queue's GPUs, and 10,000 of forty kinds, all older, wait for some. Then pods that ask for a MIG instance, of which there is quota, are
created in the same queue, one after another. The clock starts with the reply to the POST, and stops with the watch's news that its gate is gone. Then
again with 20,000 that wait."""
import json, statistics, sys, time

sys.dont_write_bytecode = True
from queue_plane import MIG, PODS, Plane, Program, Watch, await_totals, controller, fill, mixed, pod, prepare, sized

PENDING, ADMITTED, PROBES = sized(10_000), sized(2_000), 9


def probe(plane, watch):
    name = plane.must("POST", PODS, pod(MIG))["metadata"]["name"]
    created = time.monotonic()
    return max(0.0, watch.wait(name=name) - created)


def main():
    seconds = []
    with Plane() as plane:
        prepare(plane, gpus=ADMITTED)
        with Program(*controller(sys.argv[1], plane)) as program:
            program.until("working")
            watch = Watch(plane)
            fill(plane, [pod()] * ADMITTED)
            watch.wait(ADMITTED)
            for pending, admitted in [(PENDING, ADMITTED), (2 * PENDING, ADMITTED + PROBES)]:
                fill(plane, map(mixed, range(PENDING)))
                await_totals(plane, pending=pending, admitted=admitted)
                seconds.append([])
                for _ in range(PROBES):
                    seconds[-1].append(probe(plane, watch))
                    time.sleep(1)  # the probes don't share a decision
    once, twice = map(statistics.median, seconds)
    print(json.dumps({"pending": PENDING, "blocked_s": round(once, 4), "worst_s": round(max(seconds[0]), 4), "x2_s": round(twice, 4),
                      "x2_worst_s": round(max(seconds[1]), 4), "growth": round(twice / once, 2)}))


main()
