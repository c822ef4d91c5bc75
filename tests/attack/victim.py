# SPDX-License-Identifier: Apache-2.0
"""A berth program under attack: started as the chart starts it, started anew if it ends, and its memory watched."""
import http.client
import json
import subprocess
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
MIB = 1 << 20
PATIENCE_S = 60


def memory_limits():
    """MiB that the chart gives each program."""
    values = yaml.safe_load((ROOT / "helm" / "berth" / "values.yaml").read_text())
    mib = lambda resources: int(resources["limits"]["memory"].removesuffix("Mi"))
    return {"webhook": mib(values["webhook"]["resources"]), "controller": mib(values["resources"])}


def make_certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{folder}/tls.key", "-out",
                    f"{folder}/tls.crt"], check=True, stderr=subprocess.DEVNULL)


class Victim:
    """Held to the chart's memory by looking: the kernel keeps the peak, which needs no right to make a cgroup."""

    def __init__(self, berth, name, folder, max_requests):
        # The webhook's probes have a port of their own, as in the chart; the controller's share one with metrics, which must do as well.
        flags = {"webhook": ["--webhook-bind-address=127.0.0.1:0", f"--cert-dir={folder}", "--namespace=berth-system",
                             "--agents-namespace=gpu-operator", f"--max-requests={max_requests}", "--health-probe-bind-address=127.1:0"],
                 "controller": ["--dry-run", "--leader-elect=false", "--health-probe-bind-address=127.0.0.1:0"]}
        self.name, self.limit_mib = name, memory_limits()[name]
        self.command = [berth, name, f"--kubeconfig={folder}/kubeconfig", "--log-format=json", "--metrics-bind-address=127.0.0.1:0",
                        *flags[name]]
        self.log = Path(folder) / f"{name}.log"
        self.restarts = 0
        self.start()

    def start(self):
        self.ports = {}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)
        deadline = time.monotonic() + PATIENCE_S
        while not self.well():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"attack: {self.name} does not start:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.05)

    def well(self):
        """Whether it serves: the webhook once its caches are synced; the controller has no cluster to become ready on."""
        for line in self.log.read_text().splitlines():
            if line.startswith("{") and (said := json.loads(line)).get("message") == "listening":
                self.ports.update(dict.fromkeys(said["what"].split(" and "), int(said["port"])))
        try:
            return "health" in self.ports and self.probe("/readyz" if self.name == "webhook" else "/healthz", 5)
        except OSError:
            return False

    def probe(self, path, timeout_s):
        connection = http.client.HTTPConnection("127.0.0.1", self.ports["health"], timeout=timeout_s)
        try:
            connection.request("GET", path, headers={"Connection": "close"})
            return connection.getresponse().status == 200
        finally:
            connection.close()

    def revive(self):
        """Counts its end as the kubelet would, and starts it anew."""
        if self.process.poll() is not None:
            self.restarts += 1
            self.start()

    def forget_peak(self):
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def peak_mib(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM:"))

    def stop(self):
        self.process.kill()
        self.process.wait()
