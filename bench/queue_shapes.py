# SPDX-License-Identifier: Apache-2.0
"""KAI-Scheduler's own scale tests, by shape, end to end on a control plane of its own: prints one JSON object.

Beside etcd and kube-apiserver run the Job controller, kube-scheduler and kwok, which plays the kubelets of 500 nodes of eight GPUs: it runs what is bound
there, and lets go at once of what is deleted, so that there is hardly any grace. One queue owns all GPUs and lends them. In turn
- 4,000 Jobs of one GPU come to a queue that borrows: from before the first of them is made until the last one's pod runs;
- ten Jobs of eight GPUs come, and all is taken: from the reply to the POST until the queue's status says of each why it waits;
- a Job of one GPU comes to the owner, once all that came before is told: from the reply to the POST until its pod runs in the place of the one that had to go;
- and one of 250 pods of eight GPUs: until the last of these runs in the place of 2,000 Jobs.
Last a node's cloud gives notice (a taint of AWS' termination handler): from the reply to the PATCH until a Job that runs there is suspended, to begin elsewhere.
`queue_shapes.py BUILD`; with --check it is a test, that nobody yields who could be spared and nobody begins for whom there is nothing."""
import concurrent.futures, json, os, statistics, sys, time

sys.dont_write_bytecode = True
from queue_plane import GPU, NAMESPACE, PODS, QUEUE, Plane, Program, Watch, controller, poll, sized

NODES, GPUS_OF_NODE, GANG, GUESTS = sized(500), 8, sized(250), 10
JOBS, QUEUES = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs", QUEUE.removesuffix("/bench")
# kwok's stages; without its own that ends the pods of Jobs as soon as they run.
STAGES = ["node/fast/node-initialize.yaml", "pod/fast/pod-ready.yaml", "pod/fast/pod-delete.yaml"]
# What its own run took (docs/scale-tests/example-results.json of 2026-07-03): with 500 kwok nodes too, on larger machines.
KAI_S = {"jobs_s": 398, "cannot_s": 249.5, "reclaim_s": 13.9, "gang_s": 102}


class Running(Watch):
    """Notes when the news comes that a pod runs, is told to go and is gone."""

    def __init__(self, plane):
        self.told_to_go, self.gone = {}, {}
        super().__init__(plane)

    @staticmethod
    def is_open(pod):
        return pod["status"].get("phase") == "Running"

    def hear(self, line, name):
        if line.startswith(b'{"type":"DELETED"'):
            self.gone.setdefault(name, time.monotonic())
        elif b'"deletionTimestamp"' in line:
            self.told_to_go.setdefault(name, time.monotonic())
        elif b'"phase":"Running"' in line:
            self.note(name)

    def grace(self):
        """Seconds from when the last was told to go until the last was gone."""
        return max(0.0, max(self.gone.values(), default=0.0) - max(self.told_to_go.values(), default=0.0))


def start_controllers(plane):
    """What makes pods of Jobs, binds them and runs them."""
    config, scheduler, stages = (plane.work / name for name in ("admin.kubeconfig", "scheduler.json", "stages.yaml"))
    plane.write_kubeconfig(config, plane.token)
    scheduler.write_text(json.dumps({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "leaderElection": {"leaderElect": False},
                                     "clientConnection": {"kubeconfig": str(config), "qps": 300, "burst": 500}}))
    stages.write_text("\n---\n".join((plane.binaries / "kwok-stages" / stage).read_text() for stage in STAGES))
    plane.start("kube-controller-manager", "--kubeconfig", config, "--controllers=job-controller", "--leader-elect=false", "--secure-port=0",
                "--kube-api-qps=300", "--kube-api-burst=500")
    plane.start("kube-scheduler", "--config", scheduler, "--secure-port=0")
    plane.start("kwok", "--kubeconfig", config, "--manage-all-nodes=true", "--node-lease-duration-seconds=3600", "--config", stages)


def send_all(send, bodies):
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        return list(pool.map(send, bodies))


def prepare(plane):
    """Nodes, and three queues of one cohort: the one that owns all GPUs, and two that own none."""
    plane.must("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    has = {GPU: str(GPUS_OF_NODE), "cpu": "64", "memory": "512Gi", "pods": "110"}
    status = {"capacity": has, "allocatable": has, "conditions": [{"type": "Ready", "status": "True"}]}
    send_all(lambda number: plane.must("POST", "/api/v1/nodes", {"metadata": {"name": f"n{number}", "labels": {"nvidia.com/gpu.present": "true"}}}), range(NODES))
    send_all(lambda number: plane.patch(f"/api/v1/nodes/n{number}/status", {"status": status}), range(NODES))
    for name, nominal in [("owner", NODES * GPUS_OF_NODE), ("tenant", 0), ("guest", 0)]:
        queue = {"apiVersion": "gpu.berth.dev/v1alpha1", "kind": "GPUQueue", "metadata": {"name": name},
                 "spec": {"cohortName": "shapes", "namespaceSelector": {}, "quotas": [{"resource": GPU, "pool": "*", "nominalQuota": nominal}],
                          "placementTimeout": "1h", "preemption": {"reclaimWithinCohort": "Any" if nominal else "Never"}}}
        poll("GPUQueues are served", lambda queue=queue: plane.send("POST", QUEUES, queue)[0] < 300)


def job(queue, gpus=1, pods=1):
    main = {"name": "main", "image": "example.com/train", "resources": {"limits": {GPU: str(gpus), "cpu": "1", "memory": "1Gi"}}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": f"{queue}-", "labels": {"gpu.berth.dev/queue": queue}},
            "spec": {"suspend": True, "parallelism": pods, "completions": pods, "template": {"spec": {"restartPolicy": "Never", "containers": [main]}}}}


def submit(plane, body):
    return plane.must("POST", JOBS, body)["metadata"]["name"]


def run_jobs(plane):
    """Seconds until all that there is room for run."""
    watch, begun = Running(plane), time.monotonic()
    send_all(lambda body: submit(plane, body), [job("tenant")] * (NODES * GPUS_OF_NODE))
    return watch.wait(NODES * GPUS_OF_NODE, seconds=1200) - begun


def tell_guests(plane):
    """Of each of ten that find no room, the seconds until it is told so."""
    posted = {f"{NAMESPACE}/{name}": time.monotonic() for name in send_all(lambda body: submit(plane, body), [job("guest", GPUS_OF_NODE)] * GUESTS)}
    told = {}

    def all_are_told():
        for waits in plane.must("GET", f"{QUEUES}/guest").get("status", {}).get("pending", []):
            if waits["reason"] == "WaitingForQuota":
                told.setdefault(waits["workload"], time.monotonic())
        return posted.keys() <= told.keys()

    poll("all guests are told why they wait", all_are_told, pause=0.02)
    send_all(lambda name: plane.must("DELETE", f"{JOBS}/{name.split('/')[1]}?propagationPolicy=Background"), posted)
    return [told[name] - at for name, at in posted.items()]


def is_told(job):
    """Its controller has written down which of its pods run. It writes 300 times a second: after thousands of Jobs it is behind for long, and whoever is
    suspended then ends later by so much."""
    status, spec = job.get("status", {}), job["spec"]
    return not status.get("active") if spec["suspend"] else status.get("ready") == spec["parallelism"]


def rest(plane):
    """What came before is over: all Jobs' statuses tell it, and berth's."""
    poll("all Jobs' statuses are up to date", lambda: all(map(is_told, plane.must("GET", JOBS)["items"])), seconds=300, pause=1)
    time.sleep(2)


def reclaim(plane, gpus, pods):
    """Seconds until the owner's Job runs whole, and how many of them those who went took for going."""
    rest(plane)
    watch = Running(plane)
    submit(plane, job("owner", gpus, pods))
    posted = time.monotonic()
    return watch.wait(pods, seconds=1200) - posted, watch.grace()


def notice(plane):
    """Seconds from a cloud's notice that it takes a node back until a Job that runs there is suspended."""
    rest(plane)
    pod = next(pod for pod in plane.must("GET", PODS)["items"] if Running.is_open(pod) and "deletionTimestamp" not in pod["metadata"])
    plane.patch(f"/api/v1/nodes/{pod['spec']['nodeName']}", {"spec": {"taints": [{"key": "aws-node-termination-handler/spot-itn", "effect": "NoSchedule"}]}})
    given, name = time.monotonic(), pod["metadata"]["labels"]["batch.kubernetes.io/job-name"]
    poll("its Job is suspended", lambda: plane.must("GET", f"{JOBS}/{name}")["spec"]["suspend"], pause=0.02)
    return time.monotonic() - given


def displaced(plane):
    """How many have been displaced, of those that there are."""
    jobs = plane.must("GET", f"{JOBS}?labelSelector=gpu.berth.dev/queue%3Dtenant")["items"]
    return sum(job["spec"]["suspend"] and "gpu.berth.dev/preempted" in job["metadata"].get("annotations", {}) for job in jobs)


def say(text):
    print(f"queue_shapes: {text}", file=sys.stderr, flush=True)


def expect_displaced(plane, wanted):
    if (found := displaced(plane)) != wanted:
        raise RuntimeError(f"{found} have been displaced, and not {wanted}")


def main():
    if "--check" in sys.argv and not os.environ.get("BERTH_CONTROL_PLANE") and os.environ.get("CI") != "true":
        print("NOT TESTED on a real control plane: BERTH_CONTROL_PLANE names none")
        return 77
    with Plane() as plane:
        prepare(plane)
        start_controllers(plane)
        with Program(*controller(sys.argv[1], plane)) as program:
            program.until("working")
            jobs_s = run_jobs(plane)
            say(f"all Jobs ran after {jobs_s:.2f} s")
            guests_s = tell_guests(plane)
            say(f"guests were told after {max(guests_s):.3f} s")
            expect_displaced(plane, 0)
            one_s, one_grace_s = reclaim(plane, 1, 1)
            say(f"one GPU was taken back after {one_s:.3f} s")
            expect_displaced(plane, 1)
            gang_s, gang_grace_s = reclaim(plane, GPUS_OF_NODE, GANG)
            say(f"the gang ran after {gang_s:.2f} s")
            expect_displaced(plane, 1 + GANG * GPUS_OF_NODE)
            notice_s = notice(plane)
    print(json.dumps({"nodes": NODES, "jobs": NODES * GPUS_OF_NODE, "jobs_s": round(jobs_s, 2), "guests": GUESTS, "cannot_s": round(statistics.mean(guests_s), 3),
                      "cannot_worst_s": round(max(guests_s), 3), "reclaim_s": round(one_s, 3), "reclaim_grace_s": round(one_grace_s, 3),
                      "gang_pods": GANG, "gang_s": round(gang_s, 2), "gang_grace_s": round(gang_grace_s, 2), "notice_s": round(notice_s, 3), "kai_s": KAI_S}))
    return 0


sys.exit(main())
