#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""promtool reads the rules that the chart installs and tries alerts.yaml on them; no alert is untried, or without severity and runbook, or
unknown to docs/monitoring.md, no dashboard either, and nothing asks for a metric that berth has not.

Exits 77 where promtool can't be had, unless CI=true."""
import pathlib
import re
import subprocess
import sys

import yaml

import boards
import server

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs"


def promtool(*args):
    run = subprocess.run([server.program("promtool"), *map(str, args)], capture_output=True, text=True)
    return [] if run.returncode == 0 else [f"promtool {' '.join(map(str, args))}:\n{run.stdout}{run.stderr}"]


def untried(alerts):
    """Alerts that no trial sees both firing and not, in one course of events."""
    tried = set()
    for trial in yaml.safe_load((HERE / "alerts.yaml").read_text())["tests"]:
        looks = [set(re.findall(r'alertname="(\w+)"', " ".join(sample["labels"] for sample in look["exp_samples"])))
                 for look in trial["promql_expr_test"]]
        tried |= {name for name in set().union(*looks) if any(name not in look for look in looks)}
    return [f"alerts.yaml: {name} is not seen both firing and silent" for name in alerts if name not in tried]


def unexplained(alerts):
    """Alerts that lack what a person who is called needs."""
    page = (DOCS / "runbooks.md").read_text()
    sections = set(re.findall(r"^## (GPU\w+)$", page, re.M))
    out = [f"docs/runbooks.md tells of {name}, which there is not" for name in sections - alerts.keys()]
    for name, rule in alerts.items():
        if name not in sections or rule["annotations"].get("runbook_url") != f"docs/runbooks.md#{name.lower()}":
            out.append(f"{name} has no section in docs/runbooks.md, or does not name it")
        if rule["labels"].get("severity") not in ("info", "warning", "critical"):
            out.append(f"{name} has no severity")
        if not {"summary", "description"} <= rule["annotations"].keys():
            out.append(f"{name} lacks a summary or a description")
    return out


def listed(alerts):
    """What docs/monitoring.md lists and there is not, or the other way round: a dashboard or an alert that went missing is noticed."""
    page = (DOCS / "monitoring.md").read_text()
    there = {path.relative_to(boards.FILES).as_posix() for path in boards.PATHS} | alerts.keys()
    told = set(re.findall(r"^\| `(dashboard[\w/-]*\.json)` \|", page, re.M)) | set(re.findall(r"^\| \[`(\w+)`\]", page, re.M))
    return [f"docs/monitoring.md and the chart differ about {name}" for name in sorted(told ^ there)]


def misnamed(exprs, recorded):
    """Metrics of berth and recorded series that somebody asks for and nobody makes."""
    known = set(re.findall(r"^\| `([a-z0-9_]+)` \| (?:counter|gauge|histogram)", (DOCS / "metrics.md").read_text(), re.M)) | recorded
    return [f"{where} asks for {name}, which nobody makes" for where, expr in exprs
            for name in re.findall(r"\b(?:berth_\w+|(?:berth|gpu|node|namespace|sharing):[\w:]+)", re.sub(r'"[^"]*"', "", expr))
            if name not in known and name.removesuffix("_bucket") not in known]


def main():
    paths = sorted(server.RULES.glob("*.yaml"))
    rules = [rule for path in paths for group in yaml.safe_load(path.read_text())["groups"] for rule in group["rules"]]
    alerts = {rule["alert"]: rule for rule in rules if "alert" in rule}
    recorded = {rule["record"] for rule in rules if "record" in rule}
    exprs = [(rule.get("alert") or rule["record"], rule["expr"]) for rule in rules]
    exprs += [(f"{name}: {where}", expr) for name, board in boards.boards().items() for where, expr, _ in boards.queries(board)]
    found = promtool("check", "rules", "--lint=all", "--lint-fatal", *paths)
    found += promtool("test", "rules", HERE / "alerts.yaml")
    found += untried(alerts) + unexplained(alerts) + listed(alerts) + misnamed(exprs, recorded)
    print("\n".join(found) if found else f"{len(alerts)} alerts, {len(rules) - len(alerts)} recording rules: as they should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
