#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the health checks that docs/helm.md gives to Argo CD on objects in files: {"argo": WANTED, "object": {...}}.

  check_argo.py FILE...

Argo CD hands a check the object as `obj` and takes what it returns."""
import json
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "helm.md"


def checks():
    """Kind -> Lua, as the page's YAML has them."""
    import yaml

    found = {}
    for block in re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(), re.M | re.S):
        if "resource.customizations.health" not in block:
            continue
        for key, lua in yaml.safe_load(block).items():
            group, kind = key.removeprefix("resource.customizations.health.").rsplit("_", 1)
            assert group == "gpu.berth.dev", key
            found[kind] = lua
    return found


def table(value):
    """A Lua literal. Lists begin at 1 and null is left out, as in Argo CD."""
    if isinstance(value, dict):
        return "{" + ",".join(f"[{table(k)}]={table(v)}" for k, v in value.items() if v is not None) + "}"
    if isinstance(value, list):
        return "{" + ",".join(table(v) for v in value) + "}"
    if isinstance(value, str):
        return '"' + "".join(c if c.isalnum() or c == " " else "".join(f"\\{b:03d}" for b in c.encode()) for c in value) + '"'
    return json.dumps(value)


def health(lua, obj):
    script = f"obj = {table(obj)}\nlocal hs = (function()\n{lua}\nend)()\nio.write(hs.status, '\\n', hs.message or '', '\\n')\n"
    run = subprocess.run(["lua5.4", "-"], input=script, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return "no answer", run.stderr.strip()
    status, message = run.stdout.split("\n", 1)
    return status, message.strip()


def main(files):
    lua = checks()
    wrong = [] if files else ["no files"]
    for name in files:
        state = json.loads(pathlib.Path(name).read_text())
        obj = state["object"]
        if obj["kind"] not in lua:
            wrong.append(f"{name}: docs/helm.md has no check for {obj['kind']}")
            continue
        status, message = health(lua[obj["kind"]], obj)
        print(f"{status:12} {name}: {message}")
        if status != state["argo"] or not message:
            wrong.append(f"{name}: Argo CD would say {status} ({message}), and docs/helm.md promises {state['argo']}")
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
