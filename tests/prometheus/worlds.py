#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The played exporter and a real Prometheus that scrapes its twelve worlds, until SIGTERM. Prints the worlds' names, and Prometheus' URL once it
has them all."""
import signal
import sys
import threading

import played_exporter
import server


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    exporter = played_exporter.Exporter()
    print("worlds", *played_exporter.WORLDS, flush=True)
    with server.serving([played_exporter.scrape(world, exporter.address) for world in played_exporter.WORLDS]) as prometheus:
        server.wait(lambda: len(prometheus.query('DCGM_FI_DEV_FB_USED{gpu="0"}')) == len(played_exporter.WORLDS), "all worlds to be scraped")
        print("url", prometheus.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
