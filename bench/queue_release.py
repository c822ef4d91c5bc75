# SPDX-License-Identifier: Apache-2.0
"""Lets 2,000 gated pods go on a control plane of its own, by berth's queue and by the least that can do it (ungater_bench), in turn: prints one JSON
object. Only etcd and kube-apiserver run, so that nobody else takes part. The clock starts with the queue's release from its hold, and stops with the
watch's news of the last gate."""
import concurrent.futures, http.client, json, os, secrets, shutil, signal, socket, ssl, statistics, subprocess, sys, tempfile, threading, time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PODS, NAMESPACE = int(os.environ.get("BERTH_BENCH_PODS", "2000")), "bench"
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "web-", "labels": {"gpu.berth.dev/queue": "bench"}},
       "spec": {"schedulingGates": [{"name": "gpu.berth.dev/queue"}],
                "containers": [{"name": "main", "image": "example.com/web", "resources": {"limits": {"nvidia.com/gpu": "1", "cpu": "1", "memory": "1Gi"}}}]}}
QUEUE = {"apiVersion": "gpu.berth.dev/v1alpha1", "kind": "GPUQueue", "metadata": {"name": "bench"},
         "spec": {"stopPolicy": "Hold", "namespaceSelector": {}, "quotas": [{"resource": "nvidia.com/gpu", "pool": "*", "nominalQuota": 2 * PODS}]}}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Plane:
    """etcd and kube-apiserver in a folder that goes with it."""

    def __init__(self):
        binaries = Path(subprocess.run([ROOT / "tests/apiserver/build-tools"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip())
        self.work, self.token, self.port, self.processes = Path(tempfile.mkdtemp()), secrets.token_hex(8), free_port(), []
        etcd, peer, w = free_port(), free_port(), self.work
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", w / "tls.key", "-out", w / "tls.crt"], check=True, stderr=subprocess.DEVNULL)
        subprocess.run(["openssl", "genrsa", "-out", w / "accounts.key", "2048"], check=True, stderr=subprocess.DEVNULL)
        (w / "tokens.csv").write_text(f"{self.token},admin,admin,system:masters\n")
        self.kubeconfig = w / "kubeconfig"
        self.kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{self.port}", "certificate-authority": str(w / "tls.crt")}}],
            "users": [{"name": "u", "user": {"token": self.token}}]}))
        self.start("etcd", binaries / "etcd", "--data-dir", w / "etcd", "--listen-client-urls", f"http://127.0.0.1:{etcd}", "--advertise-client-urls", f"http://127.0.0.1:{etcd}",
                   "--listen-peer-urls", f"http://127.0.0.1:{peer}", "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}", "--initial-cluster", f"default=http://127.0.0.1:{peer}",
                   "--unsafe-no-fsync", "--log-level", "error")
        self.start("apiserver", binaries / "kube-apiserver", "--etcd-servers", f"http://127.0.0.1:{etcd}", "--bind-address", "127.0.0.1", "--secure-port", str(self.port), "--cert-dir", w,
                   "--tls-cert-file", w / "tls.crt", "--tls-private-key-file", w / "tls.key", "--token-auth-file", w / "tokens.csv", "--service-account-key-file", w / "accounts.key",
                   "--service-account-signing-key-file", w / "accounts.key", "--service-account-issuer", "https://localhost", "--service-cluster-ip-range", "10.0.0.0/24",
                   "--authorization-mode", "RBAC", "--endpoint-reconciler-type", "none", "--disable-admission-plugins", "ServiceAccount,TaintNodesByCondition")
        self.tls = ssl.create_default_context(cafile=str(w / "tls.crt"))
        self.local = threading.local()
        for _ in range(240):
            try:
                if self.send("GET", "/readyz")[0] == 200:
                    break
            except OSError:
                pass
            time.sleep(0.5)
        else:
            raise RuntimeError((w / "apiserver.log").read_text()[-2000:])
        subprocess.run([binaries / "kubectl", "--kubeconfig", self.kubeconfig, "apply", "-f", ROOT / "crds"], check=True, stdout=subprocess.DEVNULL)

    def start(self, name, *command):
        log = open(self.work / f"{name}.log", "w")
        self.processes.append(subprocess.Popen([str(c) for c in command], stdout=log, stderr=log))

    def connect(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=120)

    def send(self, method, path, body=None, kind="application/json"):
        """Status and JSON; each thread has a connection of its own."""
        if not hasattr(self.local, "connection"):
            self.local.connection = self.connect()
        try:
            self.local.connection.request(method, path, None if body is None else json.dumps(body), {"Authorization": f"Bearer {self.token}", "Content-Type": kind})
            reply = self.local.connection.getresponse()
            text = reply.read()
        except (OSError, http.client.HTTPException):
            del self.local.connection
            raise
        return reply.status, json.loads(text) if text.startswith(b"{") else text

    def must(self, method, path, body=None, kind="application/json"):
        status, reply = self.send(method, path, body, kind)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status} {reply}")
        return reply

    def stop(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGKILL)
            process.wait()
        shutil.rmtree(self.work)


def prepare(plane):
    plane.must("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    plane.must("POST", "/api/v1/nodes", {"metadata": {"name": "n", "labels": {"nvidia.com/gpu.present": "true"}}})
    many = {"nvidia.com/gpu": str(2 * PODS), "cpu": str(10 * PODS), "memory": f"{10 * PODS}Gi", "pods": str(2 * PODS)}
    plane.must("PATCH", "/api/v1/nodes/n/status", {"status": {"capacity": many, "allocatable": many, "conditions": [{"type": "Ready", "status": "True"}]}},
               "application/merge-patch+json")
    for _ in range(60):
        if plane.send("POST", "/apis/gpu.berth.dev/v1alpha1/gpuqueues", QUEUE)[0] < 300:
            return
        time.sleep(0.5)
    raise RuntimeError("the API server does not serve GPUQueues")


def hold(plane, policy):
    plane.must("PATCH", "/apis/gpu.berth.dev/v1alpha1/gpuqueues/bench", {"spec": {"stopPolicy": policy}}, "application/merge-patch+json")


def fill(plane, workers=16):
    path = f"/api/v1/namespaces/{NAMESPACE}/pods"
    plane.must("DELETE", path + "?gracePeriodSeconds=0")
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda _: plane.must("POST", path, POD), range(PODS)))


class Watch(threading.Thread):
    """Counts pods whose gate has gone, and the ledger's versions."""

    def __init__(self, plane):
        super().__init__(daemon=True)
        path = f"/api/v1/namespaces/{NAMESPACE}/pods"
        version = plane.must("GET", path + "?limit=1")["metadata"]["resourceVersion"]
        self.connection = plane.connect()
        self.connection.request("GET", f"{path}?watch=1&resourceVersion={version}", headers={"Authorization": f"Bearer {plane.token}"})
        self.reply, self.open, self.done, self.all = self.connection.getresponse(), 0, None, threading.Event()
        self.start()

    def run(self):
        for line in self.reply:
            if b'"schedulingGates"' in line or not line.startswith(b'{"type":"MODIFIED"'):
                continue
            self.open += 1
            if self.open == PODS:
                self.done = time.monotonic()
                self.all.set()
                return


def measure(plane, command, ready):
    """Seconds until all are let go, and what the program has said."""
    hold(plane, "Hold")
    fill(plane)
    with tempfile.TemporaryFile("w+") as said:
        program = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=said, stderr=said)
        try:
            for _ in range(600):
                said.seek(0)
                if ready(said.read()):
                    break
                time.sleep(0.1)
            else:
                raise RuntimeError(f"{command[0]} does not get ready")
            time.sleep(3)  # statuses and the epoch are written
            watch = Watch(plane)
            start = time.monotonic()
            hold(plane, "None")
            if not watch.all.wait(240):
                said.seek(0)
                raise RuntimeError(f"{watch.open} of {PODS} after 240 s: {said.read()[-2000:]}")
            time.sleep(1)
            said.seek(0)
            return watch.done - start, said.read()
        finally:
            program.send_signal(signal.SIGTERM)
            program.stdin.close()
            program.wait(30)


def main():
    build, rounds = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3
    plane = Plane()
    try:
        prepare(plane)
        berth = [build / "berth", "controller", "--kubeconfig", plane.kubeconfig, "--leader-elect=false", "--namespace", NAMESPACE, "--agents-namespace", NAMESPACE,
                 "--metrics-bind-address", "0", "--health-probe-bind-address", "0"]
        figures = {"reference_s": [], "berth_s": [], "writes": []}
        for _ in range(rounds):
            figures["reference_s"].append(measure(plane, [build / "ungater_bench", plane.kubeconfig], lambda said: "synced" in said)[0])
            seconds, said = measure(plane, berth, lambda text: "working" in text)
            figures["berth_s"].append(seconds)
            figures["writes"].append(sum("write key=" in line for line in said.splitlines() if 'key="pool/' not in line))
        ratio = [r / b for r, b in zip(figures["reference_s"], figures["berth_s"])]
        print(json.dumps({"pods": PODS, "vs_reference": round(statistics.median(ratio), 3), "ratios": [round(r, 3) for r in ratio],
                          "reference_pods_per_s": round(PODS / statistics.median(figures["reference_s"]), 1),
                          "berth_pods_per_s": round(PODS / statistics.median(figures["berth_s"]), 1),
                          "writes_per_pod": round(max(figures["writes"]) / PODS, 4)}))
    finally:
        plane.stop()


main()
