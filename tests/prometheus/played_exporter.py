#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays dcgm-exporter: one fleet of four GPUs, told in twelve worlds of labels at /worlds/NAME/metrics on a port of loopback, and berth's own
metrics, as docs/metrics.md lists them, at /berth/metrics.

Each world has its own node, so that one Prometheus holds them all. A fault is played through `set`, or over HTTP while it runs:
  curl -X PUT 'http://127.0.0.1:PORT/values?field=DEV_XID_ERRORS&gpu=0' -d 79"""
import contextlib
import http.server
import itertools
import pathlib
import re
import sys
import threading
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]

# field: type, help, value of each GPU; as dcgm-exporter's default list has them, and its commented lines on ECC, NVLink and clocks.
# 2^47 is one of DCGM's blanks.
FIELDS = {
    "DEV_GPU_UTIL": ("gauge", "GPU utilization (in %).", (42, 0, 0, 70)),
    "PROF_GR_ENGINE_ACTIVE": ("gauge", "Ratio of time the graphics engine is active.", (0.42, 0, 0.25, 0.7)),
    "DEV_FB_USED": ("gauge", "Framebuffer memory used (in MiB).", (30720, 4, 5120, 61440)),
    "DEV_FB_FREE": ("gauge", "Framebuffer memory free (in MiB).", (50400, 81116, 4608, 19680)),
    "DEV_GPU_TEMP": ("gauge", "GPU temperature (in C).", (61, 33, 48, 70)),
    "DEV_POWER_USAGE": ("gauge", "Power draw (in W).", (240.5, 2.0**47, 120, 310)),
    "DEV_XID_ERRORS": ("gauge", "Value of the last XID error encountered.", (0, 0, 0, 0)),
    "DEV_ECC_DBE_VOL_TOTAL": ("counter", "Total number of double-bit volatile ECC errors.", (0, 0, 0, 0)),
    "DEV_UNCORRECTABLE_REMAPPED_ROWS": ("counter", "Number of remapped rows for uncorrectable errors", (0, 0, 0, 0)),
    "DEV_ROW_REMAP_FAILURE": ("gauge", "Whether remapping of rows has failed", (0, 0, 0, 0)),
    "DEV_PCIE_REPLAY_COUNTER": ("counter", "Total number of PCIe retries.", (0, 0, 0, 0)),
    "DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": ("counter", "Total number of NVLink flow-control CRC errors.", (0, 0, 0, 0)),
    "DEV_CLOCK_THROTTLE_REASONS": ("gauge", "Current clock throttle reasons (bitmask).", (0, 0, 0, 0)),
}
# Who holds each GPU; the third is cut by MIG, the fourth is shared.
HOLDERS = ([("research", "train-0")], [None], [("research", "small-0")], [("serving", "chat-0"), ("serving", "chat-1")])
MIG = {2: ("1", "1g.10gb")}

# How the node's name is said, who wins over the labels of a scrape, and whether the profiling module is there.
NODE_SAID = ("Hostname", "hostname", "node")
WORLDS = {f"{said.lower() if said != 'hostname' else 'newer'}-{'honor' if honor else 'exported'}-{'prof' if prof else 'plain'}": (said, honor, prof)
          for said, honor, prof in itertools.product(NODE_SAID, (True, False), (True, False))}


class Exporter:
    """Serves until stop(); `url` is where."""

    def __init__(self):
        self.values = {}
        exporter = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                world = re.fullmatch(r"/worlds/([a-z-]+)/metrics", self.path)
                if self.path == "/berth/metrics":
                    self.answer(200, played_berth())
                elif world and world[1] in WORLDS:
                    self.answer(200, exporter.exposition(world[1]))
                else:
                    self.answer(404, "")

            def do_PUT(self):
                ask = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                try:
                    exporter.set(ask["field"][0], int(ask["gpu"][0]), float(body))
                    self.answer(204, "")
                except (KeyError, ValueError) as wrong:
                    self.answer(400, f"{wrong}\n")

            def answer(self, code, text):
                self.send_response(code)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                with contextlib.suppress(ConnectionError):  # who asked may be gone
                    self.end_headers()
                    self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()

    def set(self, field, gpu, value):
        """What a GPU says from now on, in all worlds."""
        if field not in FIELDS:
            raise KeyError(f"no field {field}")
        self.values[field, gpu] = value

    def exposition(self, world):
        said, _, prof = WORLDS[world]
        lines = []
        for field, (kind, text, values) in FIELDS.items():
            if field.startswith("PROF_") and not prof:
                continue
            name = f"DCGM_FI_{field}"
            lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
            for gpu, value in enumerate(values):
                if gpu in MIG and field.endswith("_UTIL"):
                    continue  # it does not exist for instances
                for holder in HOLDERS[gpu]:
                    labels = gpu_labels(world, said, field, gpu)
                    if holder:
                        labels |= {"container": "main", "namespace": holder[0], "pod": holder[1]}
                    lines.append(f"{name}{{{', '.join(f'{k}={quote(v)}' for k, v in labels.items())}}} {self.values.get((field, gpu), value)}")
        return "\n".join(lines) + "\n"


def gpu_labels(world, said, field, gpu):
    uuid, model = f"GPU-{world}-{gpu}", "NVIDIA A100-SXM4-80GB"
    names = ("gpu_uuid", "model_name") if "NVLINK" in field else ("UUID", "modelName")
    labels = {"gpu": str(gpu), names[0]: uuid, "pci_bus_id": f"00000000:{gpu + 7:02X}:00.0", "device": f"nvidia{gpu}", names[1]: model}
    if gpu in MIG:
        labels |= {"GPU_I_PROFILE": MIG[gpu][1], "GPU_I_ID": MIG[gpu][0]}
    # Where relabelling names the node, the exporter is one that nobody told its node's name, and says its own pod's.
    labels["hostname" if said == "hostname" else "Hostname"] = exporter_pod(world) if said == "node" else world
    return labels | {"DCGM_FI_DRIVER_VERSION": "550.90.07"}


def exporter_pod(world):
    return f"nvidia-dcgm-exporter-{world}"


def scrape(world, address):
    """The job that finds this world, as a ServiceMonitor would write it; its target's own labels are those of the exporter's pod."""
    said, honor, _ = WORLDS[world]
    target = {"pod": exporter_pod(world), "namespace": "gpu-operator", "container": "nvidia-dcgm-exporter", "service": "nvidia-dcgm-exporter"}
    if said == "node":
        target["node"] = world
    return {"job_name": world, "honor_labels": honor, "metrics_path": f"/worlds/{world}/metrics",
            "static_configs": [{"targets": [address], "labels": target}]}


def played_berth():
    """All metrics of docs/metrics.md, which the tests keep equal to the code, each with every value that it names for a label."""
    lines = []
    for name, kind, labels in re.findall(r"^\| `([a-z0-9_]+)` \| (counter|gauge|histogram) \| (.*?) \|",
                                         (ROOT / "docs/metrics.md").read_text(), re.M):
        known = {label: [v.strip() for v in values.split(",")] if values else SAMPLES.get(label, ["one"])
                 for label, values in re.findall(r"`(\w+)`(?: \(([^)]*)\))?", labels)}
        lines.append(f"# TYPE {name} {kind}")
        for values in itertools.product(*known.values()):
            said = [f"{k}={quote(v)}" for k, v in zip(known, values)]
            if kind != "histogram":
                lines.append(f"{name}{braced(said)} 3")
                continue
            for le, count in (("1", 2), ("60", 3), ("+Inf", 4)):
                lines.append(f"{name}_bucket{braced([*said, f'le={quote(le)}'])} {count}")
            lines += [f"{name}_sum{braced(said)} 70", f"{name}_count{braced(said)} 4"]
    return "\n".join(lines) + "\n"


# Of labels whose values the page does not list, those that a query asks for.
SAMPLES = {"resource": ["nvidia.com/gpu", "nvidia.com/mig-1g.10gb"], "currency": ["USD"], "name": ["berth"],
           "type": ["Ready", "Stalled"], "status": ["true", "false"], "state": ["in_service", "failed", "watching"]}


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def braced(labels):
    return "{" + ",".join(labels) + "}" if labels else ""


if __name__ == "__main__":
    played = Exporter()
    print(f"http://{played.address}", *(f"/worlds/{world}/metrics" for world in WORLDS), "/berth/metrics", sep="\n", flush=True)
    threading.Event().wait()
