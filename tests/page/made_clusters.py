# SPDX-License-Identifier: Apache-2.0
"""Snapshots that nobody has: of names that nobody would give, and of thousands of nodes."""
import json

from served_page import SNAPSHOT

HOSTILE = ["<img src=x onerror=alert(1)>", "\u202eevil\u202c", "\x1b[31mred", "</script><b>", "n" * 253, "__proto__", "'\"`${7*7}"]


def hostile_cluster(folder):
    """The snapshot with names that nobody would give."""
    cluster = json.loads(SNAPSHOT.read_text())
    nodes = [item for item in cluster["items"] if item["kind"] == "Node"]
    renamed = {node["metadata"]["name"]: name for node, name in zip(nodes, HOSTILE)}
    for number, item in enumerate(cluster["items"]):
        if item["kind"] == "Node":
            item["metadata"]["name"] = renamed.get(item["metadata"]["name"], item["metadata"]["name"])
        if item["kind"] == "Pod":
            item["metadata"]["name"] = HOSTILE[number % len(HOSTILE)] + str(number)
            if "nodeName" in item.get("spec", {}):
                item["spec"]["nodeName"] = renamed.get(item["spec"]["nodeName"], item["spec"]["nodeName"])
    path = folder / "hostile.json"
    path.write_text(json.dumps(cluster))
    return path


def large_cluster(folder, count):
    cluster = json.loads(SNAPSHOT.read_text())
    node = next(item for item in cluster["items"] if item["kind"] == "Node")
    cluster["items"] = []
    for number in range(1, count + 1):
        one = json.loads(json.dumps(node).replace('"nvidia.com/gpu.count": "4"', '"nvidia.com/gpu.count": "8"'))
        one["metadata"]["name"] = f"gpu-node-{number}"
        one["metadata"]["uid"] = f"uid-{number}"
        one["status"]["allocatable"]["nvidia.com/gpu"] = one["status"]["capacity"]["nvidia.com/gpu"] = "8"
        cluster["items"].append(one)
    path = folder / "large.json"
    path.write_text(json.dumps(cluster))
    return path
