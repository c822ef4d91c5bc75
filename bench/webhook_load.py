"""A webhook under load: one server on one core, h2load on another.

Each server is a program that prints its port and then answers AdmissionReviews over TLS at /mutate and /validate.
"""
import base64
import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

from admission_review import patched

SERVER_CORE, LOAD_CORE = 0, 1
CONNECTIONS = 64
SECONDS = 5
RATE = 512  # a second, of all connections together
HANDSHAKES_TAKE_US = 1_500_000


def load(url, review, *how):
    """Posts the review over and over by HTTP/1.1 on all connections; how many were answered well."""
    said = subprocess.run(["taskset", "-c", str(LOAD_CORE), "h2load", "--h1", "-t", "1", "-c", str(CONNECTIONS), "-d", str(review),
                           "-H", "content-type: application/json", *map(str, how), url],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    good, failed = (int(n) for n in re.search(r"(\d+) succeeded, (\d+) failed", said).groups())
    if good == 0 or failed > 0:
        raise SystemExit(f"bench: {url} failed:\n{said}")
    return good


def make_certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", f"{folder}/tls.key", "-out",
                    f"{folder}/tls.crt"], check=True, stderr=subprocess.DEVNULL)


class Webhook:
    """Serves for as long as the block runs, pinned to one core."""

    def __init__(self, command, environment=()):
        self.command, self.environment = [str(part) for part in command], dict(os.environ, **dict(environment))

    def __enter__(self):
        self.process = subprocess.Popen(["taskset", "-c", str(SERVER_CORE), *self.command], stdout=subprocess.PIPE, text=True,
                                        env=self.environment)
        self.port = int(self.process.stdout.readline() or 0)
        deadline = time.monotonic() + 20
        while self.port == 0 or not self.answers():
            if self.port == 0 or time.monotonic() > deadline:
                raise SystemExit(f"bench: {self.command[0]} does not serve")
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def url(self, path):
        return f"https://127.0.0.1:{self.port}/{path}"

    def answers(self):
        return subprocess.run(["curl", "-sk", "-o", "/dev/null", self.url("nothing")]).returncode == 0

    def cpu_s(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def decision(self, review, path):
        """What the answer makes of the pod, or why it is refused."""
        said = subprocess.run(["curl", "-sk", "--http1.1", "-H", "Content-Type: application/json", "--data-binary", f"@{review}",
                               self.url(path)], check=True, stdout=subprocess.PIPE, text=True).stdout
        response = json.loads(said)["response"]
        if not response["allowed"]:
            return response["status"]["message"]
        pod = json.loads(Path(review).read_text())["request"]["object"]
        return patched(pod, json.loads(base64.b64decode(response.get("patch", "")) or "[]"))

    def closed_loop(self, review, path):
        """Requests a second of one core: those answered by each second of CPU time."""
        before = self.cpu_s()
        answered = load(self.url(path), review, "-D", SECONDS)
        return answered / (self.cpu_s() - before)

    def fixed_rate(self, review, path):
        """p99 in ms at a rate that every server can keep, without the time of the handshakes."""
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log"
            load(self.url(path), review, "-D", SECONDS + 2, f"--rps={RATE // CONNECTIONS}", f"--log-file={log}")
            rows = [tuple(map(int, line.split())) for line in log.read_text().splitlines()]
        begin = min(row[0] for row in rows)
        took = sorted(row[2] for row in rows if row[0] - begin > HANDSHAKES_TAKE_US)
        return took[int((len(took) - 1) * 0.99)] / 1000
