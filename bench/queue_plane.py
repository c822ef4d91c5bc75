# SPDX-License-Identifier: Apache-2.0
"""What the programs that measure berth's queue on a real API server share: a control plane of its own, on which only etcd and kube-apiserver run, so that
nobody else takes part; one GPUQueue with pods at its gate; a watch that notes when each is let go; and the programs that let them go.
BERTH_BENCH_PART=20 measures with a twentieth of the pods, BERTH_CONTROL_PLANE is the folder of the plane's programs."""
import concurrent.futures, http.client, json, os, secrets, shutil, signal, socket, ssl, subprocess, sys, tempfile, threading, time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMESPACE = "bench"
PODS, QUEUE, LEDGER = f"/api/v1/namespaces/{NAMESPACE}/pods", "/apis/gpu.berth.dev/v1alpha1/gpuqueues/bench", f"/api/v1/namespaces/{NAMESPACE}/configmaps/berth-admissions"
GPU, MIG = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"
# Of what `berth` does, each write is a line of the audit log, and nothing else.
AUDIT = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
         "rules": [{"level": "None", "verbs": ["get", "list", "watch"]}, {"level": "Metadata", "users": ["berth"]}, {"level": "None"}]}


def sized(count):
    return count // int(os.environ.get("BERTH_BENCH_PART", "1"))


def poll(what, found, seconds=120, pause=0.2):
    """What `found` returns, once that is true."""
    deadline = time.monotonic() + seconds
    while not (value := found()):
        if time.monotonic() > deadline:
            raise RuntimeError(f"not within {seconds} s: {what}")
        time.sleep(pause)
    return value


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def binaries():
    return Path(os.environ.get("BERTH_CONTROL_PLANE") or subprocess.run([ROOT / "tests/apiserver/build-tools"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip())


class Plane:
    """etcd and kube-apiserver in a folder that goes with them. What is measured is the user `berth`."""

    def __init__(self, audit=False):
        self.binaries = binaries()
        self.work, self.token, self.port, self.processes = Path(tempfile.mkdtemp()), secrets.token_hex(8), free_port(), []
        self.kubeconfig, self.local = self.work / "kubeconfig", threading.local()
        try:
            self.make_credentials()
            self.boot(audit)
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def make_credentials(self):
        w, token = self.work, secrets.token_hex(8)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", w / "tls.key", "-out", w / "tls.crt"], check=True, stderr=subprocess.DEVNULL)
        subprocess.run(["openssl", "genrsa", "-out", w / "accounts.key", "2048"], check=True, stderr=subprocess.DEVNULL)
        (w / "tokens.csv").write_text(f"{self.token},admin,admin,system:masters\n{token},berth,berth,system:masters\n")
        self.write_kubeconfig(self.kubeconfig, token)
        self.tls = ssl.create_default_context(cafile=str(w / "tls.crt"))

    def write_kubeconfig(self, file, token):
        file.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{self.port}", "certificate-authority": str(self.work / "tls.crt")}}],
            "users": [{"name": "u", "user": {"token": token}}]}))

    def boot(self, audit):
        etcd, peer, w = free_port(), free_port(), self.work
        (w / "audit.json").write_text(json.dumps(AUDIT))
        self.start("etcd", "--data-dir", w / "etcd", "--listen-client-urls", f"http://127.0.0.1:{etcd}", "--advertise-client-urls", f"http://127.0.0.1:{etcd}",
                   "--listen-peer-urls", f"http://127.0.0.1:{peer}", "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}", "--initial-cluster", f"default=http://127.0.0.1:{peer}",
                   "--unsafe-no-fsync", "--log-level", "error")
        self.start("kube-apiserver", "--etcd-servers", f"http://127.0.0.1:{etcd}", "--bind-address", "127.0.0.1", "--secure-port", str(self.port), "--cert-dir", w,
                   "--tls-cert-file", w / "tls.crt", "--tls-private-key-file", w / "tls.key", "--token-auth-file", w / "tokens.csv", "--service-account-key-file", w / "accounts.key",
                   "--service-account-signing-key-file", w / "accounts.key", "--service-account-issuer", "https://localhost", "--service-cluster-ip-range", "10.0.0.0/24",
                   "--authorization-mode", "RBAC", "--endpoint-reconciler-type", "none", "--disable-admission-plugins", "ServiceAccount,TaintNodesByCondition",
                   "--delete-collection-workers", "16", *(["--audit-policy-file", w / "audit.json", "--audit-log-path", w / "audit.log"] if audit else []))
        poll("the API server is ready", self.is_ready)
        subprocess.run([self.binaries / "kubectl", "--kubeconfig", self.kubeconfig, "apply", "-f", ROOT / "crds"], check=True, stdout=subprocess.DEVNULL)

    def is_ready(self):
        if self.processes[-1].poll() is not None:
            raise RuntimeError((self.work / "kube-apiserver.log").read_text()[-2000:])
        try:
            return self.send("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def start(self, name, *arguments):
        with open(self.work / f"{name}.log", "w") as log:
            self.processes.append(subprocess.Popen([str(self.binaries / name), *map(str, arguments)], stdout=log, stderr=log))

    def connect(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=120)

    def send(self, method, path, body=None, kind="application/json"):
        """Status and JSON; each thread has a connection of its own, which the server ends when nothing was asked for a while."""
        kept = hasattr(self.local, "connection")
        if not kept:
            self.local.connection = self.connect()
        try:
            self.local.connection.request(method, path, None if body is None else json.dumps(body), {"Authorization": f"Bearer {self.token}", "Content-Type": kind})
            reply = self.local.connection.getresponse()
            text = reply.read()
        except (OSError, http.client.HTTPException):
            del self.local.connection
            if kept and method in ("GET", "DELETE"):
                return self.send(method, path, body, kind)
            raise
        return reply.status, json.loads(text) if text.startswith(b"{") else text

    def must(self, method, path, body=None, kind="application/json"):
        status, reply = self.send(method, path, body, kind)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status} {reply}")
        return reply

    def patch(self, path, body):
        self.must("PATCH", path, body, "application/merge-patch+json")

    def writes(self):
        """Of berth until now, leases left out: what the API server's audit log has of them."""
        log = self.work / "audit.log"
        events = map(json.loads, log.read_text().split("\n")[:-1]) if log.exists() else []  # the last line may not be whole
        return [f"{event['verb']} {event['requestURI'].split('?')[0]}" for event in events if event["objectRef"]["resource"] != "leases"]

    def stop(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()
        shutil.rmtree(self.work)


def prepare(plane, gpus, stop_policy="None"):
    """A node with room for all, and a queue that has quota for `gpus` of its GPUs and for any MIG instance."""
    plane.must("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    plane.must("POST", "/api/v1/nodes", {"metadata": {"name": "n", "labels": {"nvidia.com/gpu.present": "true"}}})
    many = {GPU: "1000000", MIG: "1000000", "cpu": "1000000", "memory": "1000000Gi", "pods": "1000000"}
    plane.patch("/api/v1/nodes/n/status", {"status": {"capacity": many, "allocatable": many, "conditions": [{"type": "Ready", "status": "True"}]}})
    queue = {"apiVersion": "gpu.berth.dev/v1alpha1", "kind": "GPUQueue", "metadata": {"name": "bench"},
             "spec": {"stopPolicy": stop_policy, "namespaceSelector": {},
                      "quotas": [{"resource": GPU, "pool": "*", "nominalQuota": gpus}, {"resource": MIG, "pool": "*", "nominalQuota": 1000000}]}}
    poll("GPUQueues are served", lambda: plane.send("POST", QUEUE.removesuffix("/bench"), queue)[0] < 300)


def pod(resource=GPU, count=1, cpus=1):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "web-", "labels": {"gpu.berth.dev/queue": "bench"}},
            "spec": {"schedulingGates": [{"name": "gpu.berth.dev/queue"}],
                     "containers": [{"name": "main", "image": "example.com/web", "resources": {"limits": {resource: str(count), "cpu": str(cpus), "memory": "1Gi"}}}]}}


def mixed(number):
    """Forty kinds of pods, that ask for one to eight GPUs."""
    return pod(count=1 + number % 8, cpus=1 + number % 5)


def fill(plane, pods, workers=16):
    """Creates them, and returns their names."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return [made["metadata"]["name"] for made in pool.map(lambda each: plane.must("POST", PODS, each), pods)]


def status(plane, name="totals"):
    return plane.must("GET", QUEUE).get("status", {}).get(name, {})


def await_totals(plane, **wanted):
    poll(f"the queue's status says {wanted}", lambda: wanted.items() <= status(plane).items(), seconds=300)


class Watch(threading.Thread):
    """Notes when the news comes that a pod's gate has gone. The API server ends a watch whose reader falls behind: then it looks who is open, and watches on."""

    def __init__(self, plane):
        super().__init__(daemon=True)
        self.plane, self.open, self.news = plane, {}, threading.Condition()
        self.before, version = self.opened()
        self.reply = self.follow(version)
        self.start()

    def opened(self):
        """Whose gate has gone, by name, and as of which version."""
        pods = self.plane.must("GET", PODS)
        return {pod["metadata"]["name"] for pod in pods["items"] if self.is_open(pod)}, pods["metadata"]["resourceVersion"]

    @staticmethod
    def is_open(pod):
        return "schedulingGates" not in pod["spec"]

    def hear(self, line, name):
        if line.startswith(b'{"type":"MODIFIED"') and b'"schedulingGates"' not in line and b'"deletionTimestamp"' not in line:
            self.note(name)

    def follow(self, version):
        connection = self.plane.connect()
        connection.request("GET", f"{PODS}?watch=1&resourceVersion={version}", headers={"Authorization": f"Bearer {self.plane.token}"})
        return connection.getresponse()

    def run(self):
        while True:
            try:
                for line in self.reply:
                    self.hear(line, line.partition(b'"name":"')[2].partition(b'"')[0].decode())
            except (OSError, ValueError, AttributeError, http.client.HTTPException):
                pass  # ended, or nothing new for long
            try:
                opened, version = self.opened()
                self.reply = self.follow(version)
            except (OSError, RuntimeError, http.client.HTTPException):
                return  # the plane has stopped
            for name in opened - self.before:
                self.note(name)

    def note(self, name):
        if name in self.before:
            return  # other news of it
        with self.news:
            self.open.setdefault(name, time.monotonic())
            self.news.notify()

    def wait(self, count=1, name=None, seconds=240):
        """When the last of `count`, or `name`, was let go."""
        with self.news:
            if not self.news.wait_for(lambda: name in self.open if name else len(self.open) >= count, seconds):
                raise RuntimeError(f"{len(self.open)} pods were let go within {seconds} s, and not {name or count}")
            return self.open[name] if name else sorted(self.open.values())[count - 1]


class Program:
    """What lets pods go, for as long as the block runs. `begun` is when it was started."""

    def __init__(self, *command):
        self.log = tempfile.TemporaryFile("w+")
        self.begun = time.monotonic()
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=self.log, stderr=self.log)

    def __enter__(self):
        return self

    def __exit__(self, failure, *_):
        if failure:
            ended = self.process.poll()
            print(f"the program {'still ran' if ended is None else f'had ended with {ended}'}, and last said:\n{self.said()[-6000:]}", file=sys.stderr)
        self.end(signal.SIGTERM)
        self.log.close()

    def end(self, how):
        self.process.send_signal(how)
        self.process.stdin.close()
        self.process.wait(30)

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def until(self, word):
        """Waits until it has said so."""
        poll(f"the program says “{word}”", lambda: word in self.said() or self.process.poll() is not None, pause=0.1)
        if self.process.poll() is not None:
            raise RuntimeError(self.said()[-2000:])
        return self


def controller(build, plane, leader_elect=False):
    """The command of `berth controller` on the plane."""
    return [Path(build) / "berth", "controller", "--kubeconfig", plane.kubeconfig, f"--leader-elect={str(leader_elect).lower()}", "--namespace", NAMESPACE,
            "--agents-namespace", NAMESPACE, "--metrics-bind-address", "0", "--health-probe-bind-address", "0"]
