# SPDX-License-Identifier: Apache-2.0
"""What goes on beside an attack: the API server's reviews, and the kubelet's probes."""
import http.client
import json
import ssl
import threading
import time

# Far beyond what is well; the test is whether an answer comes at all, and the figures are how soon.
DEADLINE_S = 30
# The chart's probes, by the seconds after which a kubelet counts them as failed; here, on a busy machine, they have more.
PROBES = {"/readyz": 1, "/healthz": 5}
PROBE_DEADLINE_S = 10


def review(kind="Pod", group="", spec=None, operation="CREATE"):
    resource = {"Pod": "pods", "Job": "jobs", "MIGLayout": "miglayouts"}[kind]
    of = {"group": group, "version": "v1" if group in ("", "batch") else "v1alpha1"}
    version = "/".join(filter(None, of.values()))
    return json.dumps({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "kind": of | {"kind": kind}, "resource": of | {"resource": resource},
        "namespace": "team-a", "operation": operation, "userInfo": {"username": "system:serviceaccount:team-a:default"},
        "object": {"kind": kind, "apiVersion": version, "metadata": {"name": "p", "namespace": "team-a"}, "spec": spec or {}},
    }}, separators=(",", ":")).encode()


class Reviewer:
    """As the API server asks: a connection that is kept, and now and then a new one."""

    def __init__(self, port, folder):
        self.port, self.context = port, ssl.create_default_context(cafile=f"{folder}/tls.crt")
        self.kept = self.connect()
        self.body = review()

    def connect(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=DEADLINE_S, context=self.context)

    def ask(self, connection):
        connection.request("POST", "/validate", body=self.body, headers={"Content-Type": "application/json"})
        response = connection.getresponse()
        said = response.read()
        if response.status != 200 or not json.loads(said)["response"]["allowed"]:
            raise ValueError(f"{response.status} {said[:200]!r}")

    def ask_kept(self):
        try:
            self.ask(self.kept)
        except (http.client.RemoteDisconnected, ConnectionError):  # it was closed while idle: Go's client asks again too
            self.kept.close()
            self.ask(self.kept)

    def ask_anew(self):
        connection = self.connect()
        try:
            self.ask(connection)
        finally:
            connection.close()

    def took_ms(self, ask):
        began = time.monotonic()
        ask()
        return (time.monotonic() - began) * 1000


class Prober(threading.Thread):
    """Asks what the kubelet asks, more often than it does, until it is stopped."""

    def __init__(self, victim, paths):
        super().__init__(daemon=True)
        self.victim, self.paths = victim, paths
        self.answered, self.late, self.failures = 0, 0, []
        self.over = threading.Event()

    def run(self):
        while True:
            for path in self.paths:
                began = time.monotonic()
                try:
                    well = self.victim.probe(path, PROBE_DEADLINE_S)
                    self.answered += well
                    if not well:
                        self.failures.append(f"{path} was not 200")
                except (OSError, http.client.HTTPException) as error:
                    self.failures.append(f"{path}: {error!r}")
                self.late += time.monotonic() - began > PROBES[path]
            if self.over.wait(0.2):
                return

    def stop(self):
        self.over.set()
        self.join()
