# SPDX-License-Identifier: Apache-2.0
"""The API server that fills berth's caches: lists, and watches on which nothing happens."""
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

VERSION = "1000"


def node(number):
    """One of a fleet in four pools, as NVIDIA's feature discovery labels them."""
    labels = {"kubernetes.io/hostname": f"n{number}", "pool": f"p{number % 4}", "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
              "nvidia.com/gpu.count": "8", "topology.kubernetes.io/zone": f"z{number % 3}"}
    resources = {"cpu": "96", "memory": "1Ti", "nvidia.com/gpu": "8"}
    return {"metadata": {"name": f"n{number}", "uid": f"node-{number}", "resourceVersion": VERSION, "labels": labels},
            "spec": {}, "status": {"capacity": resources, "allocatable": resources}}


def policy():
    """A pool by each label, the last of which is closed to the namespace that asks."""
    pools = [{"name": f"p{number}", "nodeSelector": {"matchLabels": {"pool": f"p{number}"}}} for number in range(4)]
    pools[-1]["eligibleNamespaces"] = {"matchLabels": {"tier": "gold"}}
    return {"apiVersion": "gpu.berth.dev/v1alpha1", "kind": "GPUClusterPolicy",
            "metadata": {"name": "cluster", "uid": "policy", "resourceVersion": VERSION, "generation": 1}, "spec": {"pools": pools}}


def namespace(name):
    return {"metadata": {"name": name, "uid": name, "resourceVersion": VERSION, "labels": {"gpu.berth.dev/managed": "true"}}}


class Cluster:
    """Serves by HTTP/1.1, on loopback, for as long as the block runs."""

    def __init__(self, nodes):
        objects = {"nodes": [node(number) for number in range(nodes)], "namespaces": [namespace("team-a")],
                   "gpuclusterpolicies": [policy()]}
        self.over = threading.Event()
        cluster = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                url = urlsplit(self.path)
                query, resource = parse_qs(url.query), url.path.rpartition("/")[2]
                if "sendInitialEvents" in query:  # as servers without WatchList say
                    self.answer(422, {"kind": "Status", "status": "Failure", "code": 422, "reason": "Invalid"})
                elif "watch" in query:
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Transfer-Encoding", "chunked")
                    self.end_headers()
                    cluster.over.wait()
                else:
                    self.answer(200, {"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": VERSION},
                                      "items": objects.get(resource, [])})

            def answer(self, status, body):
                text = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # a client that has gone
        self.server.daemon_threads = True

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.server.shutdown()

    def kubeconfig(self):
        return ("apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                f"clusters: [{{name: c, cluster: {{server: 'http://127.0.0.1:{self.server.server_port}'}}}}]\n"
                "users: [{name: u, user: {}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n")
