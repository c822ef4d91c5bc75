# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus on loopback, with the rules that the chart installs, until the `with` ends."""
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import yaml

RULES = pathlib.Path(__file__).resolve().parents[2] / "helm/berth/files/rules"


def program(name):
    """promtool or prometheus; without it the test is not run, and says so."""
    found = shutil.which(os.environ.get(name.upper()) or name)
    if found:
        return found
    print(f"NOT TESTED: no {name}; scripts/install-packages brings it")
    sys.exit(1 if os.environ.get("CI") == "true" else 77)


class Server:
    def __init__(self, url):
        self.url = url

    def get(self, path, **ask):
        with urllib.request.urlopen(f"{self.url}{path}?{urllib.parse.urlencode(ask)}", timeout=10) as reply:
            return json.load(reply)["data"]

    def query(self, expr):
        """[(labels, value)], now."""
        return [(row["metric"], float(row["value"][1])) for row in self.get("/api/v1/query", query=expr)["result"]]


@contextlib.contextmanager
def serving(jobs):
    prometheus = program("prometheus")
    with tempfile.TemporaryDirectory() as folder:
        config = {"global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
                  "rule_files": [str(RULES / "*.yaml")], "scrape_configs": jobs}
        pathlib.Path(folder, "prometheus.yaml").write_text(yaml.safe_dump(config))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        with open(pathlib.Path(folder, "log"), "w+") as log:
            process = subprocess.Popen([prometheus, f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/data",
                                        f"--web.listen-address={address}"], stdout=log, stderr=subprocess.STDOUT)
            try:
                server = Server(f"http://{address}")
                wait(lambda: process.poll() is not None or ready(server), "Prometheus to be ready")
                if process.poll() is not None:
                    log.seek(0)
                    raise RuntimeError(f"Prometheus ended:\n{log.read()[-2000:]}")
                yield server
            finally:
                process.terminate()
                process.wait()


def ready(server):
    try:
        urllib.request.urlopen(f"{server.url}/-/ready", timeout=5).close()
        return True
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def wait(condition, what, seconds=40):
    """What the condition says once it is true to Python; never longer than the deadline."""
    deadline = time.monotonic() + seconds
    while not (said := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds} s for {what}")
        time.sleep(0.1)
    return said
