# SPDX-License-Identifier: Apache-2.0
"""Both informers, client-go's and berth's, on the same recording of a cluster."""
import json
import shutil
import statistics
import subprocess
import tempfile

import programs

EVENTS_RECORDED, REPEATS = 20_000, 5


class Replay:
    """Serves the recording, or a cluster without objects, for as long as the block runs."""

    def __init__(self, recording, nodes=0, pods=0):
        self.folder = tempfile.mkdtemp(prefix="berth-bench-")
        self.kubeconfig = f"{self.folder}/kubeconfig"
        self.command = [str(programs.PEERS / "replay"), "-dir", str(recording or ""), "-kubeconfig", self.kubeconfig,
                        "-nodes", str(nodes), "-pods", str(pods), "-repeats", str(REPEATS)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        if not self.process.stdout.readline():
            raise SystemExit("bench: replay did not start")
        return self.kubeconfig

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)


def informer_rounds(recording, rounds):
    """Both informers in turn: [(client-go's report, berth's report)]."""
    events = EVENTS_RECORDED * REPEATS
    pairs = []
    for number in range(1, rounds + 1):
        programs.say(f"informers, round {number} of {rounds}")
        with Replay(recording) as kubeconfig:
            peer = json.loads(programs.output(programs.PEERS / "informer", "-kubeconfig", kubeconfig, "-events", events))
        with Replay(recording) as kubeconfig:
            ours = json.loads(programs.output(programs.BUILD / "informer_bench", kubeconfig, events))
        if (peer["pods"], peer["nodes"]) != (ours["pods"], ours["nodes"]):
            raise SystemExit(f"bench: the two saw different clusters: {peer} and {ours}")
        pairs.append((peer, ours))
    return pairs


def informer_figure(pairs, field):
    ratio = statistics.median(peer[field] / ours[field] for peer, ours in pairs)
    middle = lambda side, name: round(statistics.median(pair[side][name] for pair in pairs), 3)
    names = [field] + (["sync_wall_s", "sync_rss_mib", "settled_rss_mib"] if field == "sync_cpu_s" else ["events_per_s"])
    params = {"rounds": len(pairs), "pods": pairs[0][1]["pods"], "nodes": pairs[0][1]["nodes"],
              "client_go": {n: middle(0, n) for n in names}, "berth": {n: middle(1, n) for n in names}}
    return ratio, params
