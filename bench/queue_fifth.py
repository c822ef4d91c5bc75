# SPDX-License-Identifier: Apache-2.0
"""Kueue's own performance test at a fifth of its size, end to end and in one call: 3,000 pieces of work of 30 queues in five cohorts, by berth with pods, by the least that
can let pods go (ungater_bench: no quota, no order: what the API server allows), and by Kueue's test programs, with Workloads and no pods: prints one JSON object.
Each has a control plane of its own, and a client limit of 300 requests a second, 500 at once. `usage` is GPUs × declared run ÷ (quota × wall)."""
import json, os, re, shutil, statistics, subprocess, sys, tempfile
from datetime import datetime
from pathlib import Path

sys.dont_write_bytecode = True
from queue_plane import GPU, QUEUE, ROOT, Plane, Program, binaries, controller, prepare

PRIORITIES = {"small": 50, "medium": 100, "large": 200}
COUNTS = {"350": "70", "100": "20", "50": "10"}  # of each class in a queue: a fifth
KUEUE = "sigs.k8s.io/kueue"
NOMINAL = 30 * 20  # GPUs
USEFUL = 30 * (70 * 0.2 + 20 * 0.5 * 5 + 10 * 1 * 20)  # GPU seconds


def queue(name, cohort):
    return {"apiVersion": "gpu.berth.dev/v1alpha1", "kind": "GPUQueue", "metadata": {"name": name},
            "spec": {"cohortName": cohort, "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
                     "quotas": [{"resource": GPU, "pool": "*", "nominalQuota": 20, "borrowingLimit": 100}],
                     "preemption": {"reclaimWithinCohort": "Any", "withinQueue": "LowerPriority"}}}


def by(build, program, ready):
    with Plane() as plane:
        prepare(plane, gpus=1_000_000)
        for name, value in PRIORITIES.items():
            plane.must("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": name}, "value": value})
        for cohort in range(5):
            for i in range(6):
                name = f"queue-{cohort}-{i}"
                plane.must("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
                plane.must("POST", QUEUE.rsplit("/", 1)[0], queue(name, f"cohort-{cohort}"))
        with Program(*program(plane)) as running:
            running.until(ready)
            teams = subprocess.run([Path(build) / "queue_fifth_bench", plane.kubeconfig], stdout=subprocess.PIPE, text=True, check=True, timeout=900)
            return json.loads(teams.stdout)


def kueue():
    """Builds Kueue's programs as they are released, but for the client's limit, and runs them; None where Go or the module is not to be had."""
    try:
        go = subprocess.run([ROOT / "scripts" / "go-toolchain"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        environment = dict(os.environ, PATH=f"{go}:{os.environ['PATH']}", CGO_ENABLED="0", GOFLAGS="-mod=mod")
        version = re.search(rf"{KUEUE} (v\S+)", (ROOT / "tests/kueue/judge/go.mod").read_text())[1]
        told = subprocess.run(["go", "mod", "download", "-json", f"{KUEUE}@{version}"], check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"queue_fifth: Kueue can't be built here: {error}", file=sys.stderr)
        return None
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kueue"
        shutil.copytree(json.loads(told)["Dir"], source)
        subprocess.run(["chmod", "-R", "u+w", source], check=True)
        scheduler = source / "test/performance/scheduler"
        main = scheduler / "minimalkueue/main.go"
        main.write_text(main.read_text().replace("QPS = 50", "QPS = 300").replace("Burst = 100", "Burst = 500"))
        config = scheduler / "configs/baseline/generator.yaml"
        config.write_text(re.sub(r"- count: (350|100|50)$", lambda found: f"- count: {COUNTS[found[1]]}", config.read_text(), flags=re.M))
        (source / "Makefile").touch()  # the runner looks for it, to know where it is
        subprocess.run(["go", "build", "-o", "bin/", "./test/performance/scheduler/minimalkueue", "./test/performance/scheduler/runner"], check=True, cwd=source, env=environment, stdout=sys.stderr)
        (source / "out").mkdir()
        with open(source / "out/log", "w+") as log:
            done = subprocess.run(["bin/runner", "--o", "out", "--crds=config/components/crd/bases", "--minimalKueue=bin/minimalkueue", "--withLogs=true", "--logToFile=true",
                                   f"--generatorConfig={config.relative_to(source)}"], cwd=source, stdout=log, stderr=log, env=dict(environment, KUBEBUILDER_ASSETS=str(binaries())))
            if done.returncode != 0:
                log.seek(0)
                raise RuntimeError(f"Kueue's runner: {log.read()[-2000:]}")
        return told_by_kueue((source / "out/summary.yaml").read_text())


def told_by_kueue(summary):
    def values(key):
        return re.findall(rf"^ +{key}: (.*)$", summary, re.M)

    first, last = (datetime.fromisoformat(values(key)[0].strip('"')) for key in ("firstEventTime", "lastEventTime"))
    wall = (last - first).total_seconds()
    names = re.findall(r"^  (\w+):$", summary.split("workloadClasses:")[1], re.M)
    means = dict(zip(names, (int(ms) / 1000 for ms in values("averageTimeToAdmissionMs"))))
    return {"wall_s": wall, "workloads": sum(map(int, values("count"))), "usage": round(USEFUL / (NOMINAL * wall), 3), "evictions": sum(map(int, values("totalEvictions"))),
            "classes": {name: {"mean_s": mean} for name, mean in means.items()}}


def main():
    build, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    told = {"berth": [], "reference": [], "kueue": []}
    for _ in range(rounds):
        told["kueue"] += filter(None, [kueue()])
        told["berth"].append(by(build, lambda plane: controller(build, plane), "working"))
        told["reference"].append(by(build, lambda plane: [Path(build) / "ungater_bench", plane.kubeconfig], "synced"))
    walls = {name: statistics.median(run["wall_s"] for run in runs) for name, runs in told.items() if runs}
    ratios = {f"vs_{name}": round(wall / walls["berth"], 3) for name, wall in walls.items() if name != "berth"}
    print(json.dumps(ratios | told))


main()
