#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what a compiler does not: which folder includes which, that each source begins with its own header (so headers are
self-contained), that every file carries its SPDX line, that no header is dead, and that clang-format agrees."""
import pathlib
import re
import shutil
import subprocess
import sys

# The arrows of docs/architecture.md: folder -> folders it may include, beside itself.
DOMAIN = {"apis", "controller/core", "controller/fleet", "controller/disruption"}  # what all domains share
SHELL = {"apis", "controller/core", "controller/io", "controller/client"}
MAY_INCLUDE = {
    "apis": set(),
    "controller/core": {"apis"},
    "controller/history": {"apis", "controller/core"},
    "controller/report": {"apis", "controller/core"},
    "controller/fleet": {"apis", "controller/core"},
    "controller/observe": {"apis", "controller/core", "controller/fleet"},
    "controller/queue": {"apis", "controller/core", "controller/fleet", "controller/observe"},
    "controller/cost": {"apis", "controller/core", "controller/fleet", "controller/observe"},
    "controller/advise": {"apis", "controller/core", "controller/fleet", "controller/cost", "controller/mig"},
    "controller/disruption": {"apis", "controller/core", "controller/fleet", "controller/queue"},
    "controller/mig": DOMAIN | {"controller/queue"},
    "controller/health": DOMAIN | {"controller/mig"},
    "controller/policy": DOMAIN | {"controller/mig", "controller/health", "controller/observe", "controller/cost", "controller/queue"},
    "controller/admission": DOMAIN | {"controller/advise", "controller/mig", "controller/policy", "controller/queue"},
    "controller/reconcilers": DOMAIN | {"controller/mig", "controller/health", "controller/observe", "controller/cost", "controller/policy", "controller/queue", "controller/admission", "controller/history"},
    "controller/dump": {"apis", "controller/core"},
    "controller/preview": DOMAIN | {"controller/mig", "controller/policy", "controller/queue", "controller/reconcilers", "controller/dump"},
    "controller/explain": DOMAIN | {"controller/advise", "controller/mig", "controller/cost", "controller/policy", "controller/queue", "controller/admission", "controller/dump", "controller/preview"},
    "controller/page": DOMAIN | {"controller/dump", "controller/explain"},
    "controller/import": DOMAIN | {"controller/mig", "controller/preview"},
    "controller/io": set(),
    "controller/client": {"apis", "controller/io"},
    "controller/runtime": SHELL | {"controller/history"},
    "controller/certificates": SHELL,
    "controller/sampling": SHELL | {"controller/fleet", "controller/observe"},
    "controller/sim": {"apis", "controller/io"},
    "controller/scenario": SHELL | DOMAIN | {"controller/mig", "controller/admission", "controller/reconcilers", "controller/runtime",
                                             "controller/certificates", "controller/sampling", "controller/sim"},
    "controller/live": SHELL,
    "controller/server": SHELL | {"controller/admission", "controller/page", "controller/runtime", "controller/certificates", "controller/live"},
}
# The rooms of a folder, from the lowest to the highest: which rooms of the same folder each may include, beside itself. What lies in the folder
# itself is above them all.
ROOMS = {
    "controller/queue": {
        "facts": set(),
        "record": {"facts"},
        "budget": {"facts"},
        "cycle": {"facts"},
        "index": {"facts", "record", "budget"},
        "recall": {"facts", "record", "cycle", "index"},
        "starts": {"facts", "cycle", "index"},
        "status": {"facts", "record", "budget", "cycle", "index", "recall"},
        "admit": {"facts", "record", "cycle", "index", "recall", "starts", "status"}},
    "controller/sim": {"world": set(), "server": {"world"}, "kube": {"world", "server"}, "nvidia": {"world", "kube"}},
    "controller/cmd": {"line": set(), "input": set(), "cluster": {"line", "input"}, "commands": {"line", "input", "cluster"}},
    "apis": {"base": set(), "kinds": {"base"}, "codec": {"base", "kinds"}},
}
# What decides who begins, of plain values: nothing that they include, or that this includes, is one of these.
PLAIN = ("controller/queue/facts", "controller/queue/cycle")
NOT_PLAIN = ("apis/kinds", "apis/codec", "controller/core/snapshot.h", "controller/core/plan.h")
FOREIGN_TO_PURE = re.compile(r'#include\s+<(uv\.h|curl/|openssl/|spdlog/|boost/|CLI/|prometheus/|thread|fstream|random|mutex)')
PURE = ("apis", "controller/core", "controller/history", "controller/report", "controller/fleet", "controller/observe", "controller/cost", "controller/advise", "controller/disruption", "controller/mig", "controller/health", "controller/policy",
        "controller/queue", "controller/admission", "controller/reconcilers", "controller/dump", "controller/preview", "controller/explain",
        "controller/page", "controller/import")
OWN_REASON = re.compile(r'^namespace reasons \{|\breason = "[A-Z]\w+"|\bCause\{ ?"[A-Z]\w+"', re.M)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def folder_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "controller" else parts[0]


def room_of(path):
    """The room in which the file lies; None: its folder has none, or it lies in the folder itself."""
    folder = folder_of(path)
    room = path[len(folder) + 1:].split("/")[0]
    return room if room in ROOMS.get(folder, ()) else None


def room_complaints(name, includes):
    folder, room = folder_of(name), room_of(name)
    if folder in ROOMS and room is None and name.count("/") > folder.count("/") + 1:
        yield f"{name}: {folder} has no such room"
    for target in includes:
        to = room_of(target)
        if room and to and folder_of(target) == folder and to != room and to not in ROOMS[folder][room]:
            yield f"{name}: {folder}/{room} may not include {target}"


def plain_complaints(root, files):
    """The plain rooms reach no Kubernetes type, not even through other files."""
    includes = {path.relative_to(root).as_posix(): INCLUDE.findall(path.read_text()) for path in files}
    for name in includes:
        if not name.startswith(tuple(room + "/" for room in PLAIN)):
            continue
        way, todo = {name: None}, [name]
        while todo:
            at = todo.pop()
            if at.startswith(NOT_PLAIN):
                path = [at]
                while way[path[-1]]:
                    path.append(way[path[-1]])
                yield f"{name}: plain values reach {at} ({' < '.join(path)})"
                break
            for target in includes.get(at, ()):
                if target not in way:
                    way[target] = at
                    todo.append(target)


def complaints(root):
    files = [p for top in ("apis", "controller", "tests", "bench") for p in (root / top).rglob("*") if p.suffix in (".h", ".cc")]
    included = set()
    for path in files:
        name = path.relative_to(root).as_posix()
        text = path.read_text()
        includes = INCLUDE.findall(text)
        included.update(includes)
        if not text.startswith("// SPDX-License-Identifier: Apache-2.0\n"):
            yield f"{name}:1: does not begin with the SPDX line"
        folder = folder_of(name)
        for target in includes:
            if folder in MAY_INCLUDE and folder_of(target) not in MAY_INCLUDE[folder] | {folder}:
                yield f"{name}: {folder} may not include {target}"
        yield from room_complaints(name, includes)
        if folder in PURE and (match := FOREIGN_TO_PURE.search(text)):
            yield f"{name}: a pure folder includes <{match.group(1)}…>"
        if folder in PURE and (match := OWN_REASON.search(text)):
            yield f"{name}: a reason of its own ({match.group()}): all of them stand in apis/base/reasons.h, which docs/reasons.md is held to"
        if path.suffix == ".h" and "#include <nlohmann/json.hpp>" in text and folder not in ("tests", "bench"):
            yield f"{name}: headers include <nlohmann/json_fwd.hpp> only; json.hpp costs every includer seconds"
        own = name[: -len(".cc")] + ".h"
        if path.suffix == ".cc" and (root / own).exists() and (not includes or includes[0] != own):
            yield f"{name}: its first include is not its own header, so nothing shows that {own} is self-contained"
    for path in files:
        name = path.relative_to(root).as_posix()
        if path.suffix == ".h" and name not in included:
            yield f"{name}: no file includes this header"
    yield from plain_complaints(root, files)
    yield from reason_complaints(root)
    yield from format_complaints(root, files)


def reason_complaints(root):
    """Reasons are API: each has its line in docs/reasons.md, or in docs/why.md, and no other stands in the first."""
    code, page = root / "apis/base/reasons.h", root / "docs/reasons.md"
    known = set(re.findall(r'= "(\w+)"', code.read_text()))
    text = page.read_text()
    why = root / "docs/why.md"
    explained = text + (why.read_text() if why.exists() else "")
    for reason in sorted(known):
        if f"`{reason}`" not in explained:
            yield f"docs/reasons.md: does not explain {reason}"
    for reason in re.findall(r"^\| `(\w+)`[^|]*\|", text, re.M):
        if reason not in known and reason not in ("Ready", "Reconciling", "Stalled"):
            yield f"docs/reasons.md: explains {reason}, which nothing reports"


def format_complaints(root, files):
    tool = shutil.which("clang-format-14")
    if tool is None:
        yield "clang-format-14 is not installed: scripts/install-packages"
        return
    run = subprocess.run([tool, "--dry-run", "-Werror", *map(str, files)], cwd=root, capture_output=True, text=True)
    seen = set()
    for line in run.stderr.splitlines():
        if "code should be clang-formatted" in line:
            seen.add(line.split(":")[0])
    for name in sorted(seen):
        yield f"{pathlib.Path(name).relative_to(root) if pathlib.Path(name).is_absolute() else name}: clang-format would change it"


def main(root):
    found = list(complaints(pathlib.Path(root).resolve()))
    print("\n".join(found) if found else "the tree is as docs/architecture.md says")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
