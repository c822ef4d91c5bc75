# SPDX-License-Identifier: Apache-2.0
"""What `berth controller` holds in memory on a recorded cluster."""
import subprocess
import tempfile
import time
from pathlib import Path

import programs
from informer_rounds import Replay


def memory_of(process):
    fields = dict(line.split(":") for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:])
    mib = lambda name: int(fields[name].split()[0]) / 1024
    return mib("Rss"), mib("Anonymous")


def controller_memory(binary, recording, nodes, pods):
    """Resident and anonymous MiB of `berth controller` once its caches are full and it has settled."""
    programs.say(f"berth controller with {pods or 'all' if recording else 0} pods")
    command = [str(binary), "controller", "--dry-run", "--leader-elect=false", "--log-format=json",
               "--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=127.0.0.1:0"]
    with Replay(recording, nodes, pods) as kubeconfig, tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen([*command, "--kubeconfig", kubeconfig], stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + 120
            while not is_working(log):
                if process.poll() is not None or time.monotonic() > deadline:
                    log.seek(0)
                    raise SystemExit(f"bench: berth controller did not get to work:\n{log.read()[-2000:]}")
                time.sleep(0.1)
            before = None
            while before != (now := memory_of(process.pid)):  # still moving
                before = now
                time.sleep(2)
            return now
        finally:
            process.kill()
            process.wait()


def is_working(log):
    log.seek(0)
    return '"working"' in log.read()
