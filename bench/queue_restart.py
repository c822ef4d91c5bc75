# SPDX-License-Identifier: Apache-2.0
"""berth's restart on a control plane of its own, on which 2,000 pods are admitted and 10,000 wait for quota: prints one JSON object.

berth is killed with -9, and while it is away an admitted pod is deleted. The clock starts with the start of berth's next process, and stops with the watch's
news that the pod which this made room for is let go: by then berth has read everything, claimed its epoch, decided, written the decision down and carried it out.
Apart from that, `takeover_s` is from the kill of a leader to the same news, when a standby waits for its lease (15 s unless renewed)."""
import contextlib, json, signal, statistics, sys, time
from pathlib import Path

sys.dont_write_bytecode = True
from queue_plane import PODS, Plane, Program, Watch, await_totals, controller, fill, mixed, pod, prepare, sized

PENDING, ADMITTED, ROUNDS = sized(10_000), sized(2_000), 5


def memory_of(process):
    """Resident MiB, files' pages among them, and those that are anonymous."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{process.pid}/status").read_text().splitlines())
    return [round(int(fields[name].split()[0]) / 1024, 1) for name in ("VmRSS", "RssAnon")]


def settled_memory(process):
    before = None
    while before != (now := memory_of(process)):
        before = now
        time.sleep(2)
    return now


def kill(plane, program, admitted, pending):
    """When it was killed, in peace, and a watch that begins with room for one."""
    await_totals(plane, admitted=ADMITTED, pending=pending)
    program.end(signal.SIGKILL)
    killed = time.monotonic()
    plane.must("DELETE", f"{PODS}/{admitted.pop()}")
    return killed, Watch(plane)


def main():
    seconds, memory, waiting = [], [], PENDING
    with Plane() as plane, contextlib.ExitStack() as programs:
        begin = lambda **flags: programs.enter_context(Program(*controller(sys.argv[1], plane, **flags)))
        prepare(plane, gpus=ADMITTED)
        berth = begin().until("working")
        watch = Watch(plane)
        admitted = fill(plane, [pod()] * ADMITTED)
        watch.wait(ADMITTED)
        fill(plane, map(mixed, range(PENDING)))
        for _ in range(ROUNDS):
            _, watch = kill(plane, berth, admitted, waiting)
            berth = begin()
            seconds.append(watch.wait() - berth.begun)
            waiting -= 1
            memory.append(settled_memory(berth.process))
        berth.end(signal.SIGTERM)
        leader = begin(leader_elect=True).until("working")
        begin(leader_elect=True).until("caches are synced")
        killed, watch = kill(plane, leader, admitted, waiting)
        takeover = watch.wait() - killed
    resident, anonymous = max(memory)
    print(json.dumps({"pending": PENDING, "admitted": ADMITTED, "restart_s": round(statistics.median(seconds), 3), "rounds_s": [round(s, 3) for s in seconds],
                      "restart_mib": resident, "anonymous_mib": anonymous, "takeover_s": round(takeover, 2)}))


main()
