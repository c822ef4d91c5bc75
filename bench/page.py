# SPDX-License-Identifier: Apache-2.0
"""What the page costs who looks at it, and who serves it, on a control plane of its own: prints one JSON object.

`--check` is the test that a browser draws what a real API server tells: it is left out where BERTH_CONTROL_PLANE names none, or there is no Chromium.

2,000 nodes of eight GPUs, every second one held by a pod, as `berth ui` shows them. A change is a node that is cordoned: the clock runs from before the PATCH until
Chromium has drawn the frame in which the page counts it. Viewers follow the events as browsers do, while once a second a node changes; the CPU time is berth's."""
import json, os, random, re, selectors, socket, statistics, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
from queue_plane import NAMESPACE, PODS, ROOT, Plane, Program, fill, poll, sized

sys.path.insert(0, str(ROOT / "tests" / "page"))
from chromium import PROGRAM, Chromium
from served_page import ask, page_files
from shown_page import settled

NODES, VIEWERS = sized(2_000), 200
CHANGES, WATCHED_S = (100, 20) if NODES == 2_000 else (10, 5)
TICK = os.sysconf("SC_CLK_TCK")
# When a frame has been drawn, and when the one in which so many nodes are out of service. The mosaic asked for its frame before this does.
NOTE = """window.outAt = {};
addEventListener("DOMContentLoaded", () => {
  const canvas = document.getElementById("canvas"), now = () => performance.timeOrigin + performance.now();
  if (!canvas) return;  // about:blank
  new MutationObserver(() => { window.drawnAt ??= now(); }).observe(canvas, { attributeFilter: ["data-drawn"] });
  new MutationObserver(() => requestAnimationFrame(() => { window.outAt[parseInt(/, (\\d+) out/.exec(document.getElementById("summary").textContent)?.[1])] ??= now(); }))
    .observe(document.getElementById("summary"), { childList: true });
});"""


def node(number):
    offers = {"nvidia.com/gpu": "8", "cpu": "128", "memory": "1024Gi", "pods": "110"}
    labels = {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", "nvidia.com/gpu.count": "8", "nvidia.com/gpu.memory": "81920"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{number}", "labels": labels},
            "status": {"capacity": offers, "allocatable": offers, "conditions": [{"type": "Ready", "status": "True"}]}}


def holder(number):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "train-"},
            "spec": {"nodeName": f"n{number}", "containers": [{"name": "main", "image": "example.com/train", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}}


def prepare(plane):
    plane.must("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda number: plane.must("POST", "/api/v1/nodes", node(number)), range(NODES)))
    fill(plane, map(holder, range(0, NODES, 2)))


def drawing(browser, address):
    """Milliseconds from the state's last byte to the first picture: the median of five visits."""
    took = []
    for _ in range(5):
        browser.open("about:blank")
        browser.open(address)
        settled(browser)
        took.append(browser.ask("drawnAt - performance.timeOrigin - performance.getEntriesByType('resource').find((e) => e.name.endsWith('/ui/state')).responseEnd"))
    return statistics.median(took)


def changes(plane, browser):
    """Milliseconds of each change until it can be seen; several may come in one picture."""
    begun, pause = [], random.Random(1)
    for number in range(CHANGES):
        begun.append(time.time() * 1000)
        plane.patch(f"/api/v1/nodes/n{number}", {"spec": {"unschedulable": True}})
        time.sleep(pause.uniform(0.1, 0.6))
    browser.wait_for(f"outAt[{CHANGES}]")
    seen = {int(out): at for out, at in browser.ask("outAt").items() if out.isdigit()}
    return sorted(min(at for out, at in seen.items() if out > number) - begun[number] for number in range(CHANGES))


class Viewers:
    """So many that follow the events, and read what they are told."""

    def __init__(self, address, count):
        host, since = re.search(r"//([^/]+)/", address).group(1), json.loads(ask(address, "/ui/state")[1])["id"]
        self.selector, self.open, self.bytes = selectors.DefaultSelector(), [], 0
        for _ in range(count):
            one = socket.create_connection((host.split(":")[0], int(host.split(":")[1])))
            one.sendall(f"GET /ui/events?since={since} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            self.open.append(one)
            self.selector.register(one, selectors.EVENT_READ)
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.read, daemon=True)

    def read(self):
        while not self.ended.is_set():
            for key, _ in self.selector.select(0.2):
                got = len(key.fileobj.recv(1 << 16))
                if got == 0:
                    raise RuntimeError("a viewer was cut off")
                self.bytes += got

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        for one in self.open:
            one.close()


def resident_mib(process):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text()).group(1)) / 1024


def settled_mib(process):
    """What it holds once that is the same for two seconds."""
    seen = []

    def is_still():
        seen.append(resident_mib(process))
        return len(seen) > 10 and seen[-1] == seen[-11]

    poll("the caches are full", is_still)
    return seen[-1]


def cpu_s(process):
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def watched(plane, program, address, viewers):
    """Percent of a core, and bytes to each viewer. The nodes that change are out of service at first: one viewer sees them return."""
    with Viewers(address, viewers) as all_of_them:
        time.sleep(1)
        before, begun = cpu_s(program.process.pid), time.monotonic()
        for number in range(WATCHED_S):
            plane.patch(f"/api/v1/nodes/n{number}", {"spec": {"unschedulable": viewers > 1}})
            time.sleep(max(0, begun + number + 1 - time.monotonic()))
        percent = 100 * (cpu_s(program.process.pid) - before) / (time.monotonic() - begun)
        if all_of_them.bytes < 100 * viewers * WATCHED_S:
            raise RuntimeError(f"{viewers} viewers were told {all_of_them.bytes} bytes in {WATCHED_S} s")
        return percent, all_of_them.bytes // viewers


def main():
    if "--check" in sys.argv and os.environ.get("CI") != "true" and not (PROGRAM and os.environ.get("BERTH_CONTROL_PLANE")):
        print("NOT TESTED with a browser on a real control plane: BERTH_CONTROL_PLANE names none, or there is no Chromium")
        return 77
    with Plane() as plane:
        prepare(plane)
        with Program(Path(sys.argv[1]) / "berth", "ui", "--kubeconfig", plane.kubeconfig) as program:
            program.until("/ui/")
            address = re.search(r"http://\S+/ui/", program.said()).group(0)
            poll("berth knows the nodes", lambda: ask(address, f"/ui/why?subject=node/n{NODES - 1}")[0].status == 200)
            before = settled_mib(program.process.pid)  # nobody has looked at a page yet
            poll("the page knows the cluster", lambda: ask(address, "/ui/state")[0].status == 200)
            wire = sum(len(ask(address, f"/ui/{name}", Accept_Encoding="gzip")[1]) for name in page_files(address))
            with Chromium() as browser:
                browser.call("Page.addScriptToEvaluateOnNewDocument", source=NOTE)
                draw_ms = drawing(browser, address)
                took = changes(plane, browser)
                if browser.said:
                    raise RuntimeError(f"the console says {browser.said}")
            alone, _ = watched(plane, program, address, 1)
            together, told = watched(plane, program, address, VIEWERS)
            resident = resident_mib(program.process.pid) - before
    print(json.dumps({"nodes": NODES, "pods": (NODES + 1) // 2, "wire_kib": round(wire / 1024, 1), "draw_ms": round(draw_ms, 1), "changes": CHANGES,
                      "pixel_p50_ms": round(took[CHANGES // 2], 1), "pixel_p99_ms": round(took[CHANGES * 99 // 100 - 1], 1), "pixel_max_ms": round(took[-1], 1),
                      "resident_mib": round(resident, 2), "viewers": VIEWERS, "viewers_core": round(together, 2), "one_viewer_core": round(alone, 2), "told_bytes": told}))
    return 0


sys.exit(main())
