#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The chart's alerts and dashboard about berth itself as Prometheus takes them: promtool reads all expressions and tries alerts.yaml on the alerts; no alert is
untried or undocumented, and nothing asks for a metric that berth has not.

Exits 77 where helm or promtool can't be had, unless CI=true."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

import check_chart

HERE = pathlib.Path(__file__).resolve().parent
TRIALS = HERE / "alerts.yaml"
METRICS = check_chart.ROOT / "docs/metrics.md"
RUNBOOKS = check_chart.ROOT / "docs/runbooks.md"
PLAIN = sorted((check_chart.CHART / "files/rules").glob("*.yaml"))
BOARDS = sorted((check_chart.CHART / "files/dashboards").glob("*.json"))
SWITCHES = ("--set", "metrics.prometheusRule.enabled=true", "--set", "metrics.prometheusRule.runbookURL=docs/runbooks.md")


def find_promtool():
    found = shutil.which(os.environ.get("PROMTOOL") or "promtool")
    if found:
        return found
    print("NOT TESTED: no promtool; scripts/install-packages brings it")
    sys.exit(1 if os.environ.get("CI") == "true" else 77)


def promtool(*args, cwd):
    run = subprocess.run([find_promtool(), *args], cwd=cwd, capture_output=True, text=True)
    return [] if run.returncode == 0 else [f"promtool {' '.join(args)}:\n{run.stdout}{run.stderr}"]


def rules(*values):
    """Those about berth itself, which depend on the release; the others are plain files."""
    return next(o["spec"] for o in check_chart.objects(*SWITCHES, *values)
                if o["kind"] == "PrometheusRule" and not any(o["metadata"]["name"].endswith(f"-{path.stem}") for path in PLAIN))


def changed_on_the_way():
    """Plain files that the chart does not install as they are; tests/prometheus tries the files."""
    rendered = {o["metadata"]["name"]: o["spec"] for o in check_chart.objects(*SWITCHES) if o["kind"] == "PrometheusRule"}
    boards = {name: text for o in check_chart.objects("--set", "metrics.dashboard.enabled=true") if "-dashboard-" in o["metadata"]["name"]
              for name, text in o["data"].items()}
    return ([f"the chart changes {path.name}" for path in PLAIN if rendered.get(f"berth-{path.stem}") != yaml.safe_load(path.read_text())] +
            [f"the chart changes {path.name}" for path in BOARDS if json.loads(boards.get(f"berth-{path.name}", "0")) != json.loads(path.read_text())])


def untried(alerts):
    """Alerts that no trial sees firing, or none sees silent while its series are there."""
    fires, silent = set(), set()
    for trial in yaml.safe_load(TRIALS.read_text())["tests"]:
        for look in trial["alert_rule_test"]:
            (fires if look["exp_alerts"] else silent).add(look["alertname"])
    return ([f"alerts.yaml: {name} is never seen firing" for name in alerts if name not in fires] +
            [f"alerts.yaml: {name} is never seen silent" for name in alerts if name not in silent])


def unexplained(alerts):
    """Alerts that lack what a person who is called needs, and sections of docs/runbooks.md about none."""
    sections = set(re.findall(r"^## (Berth\w+)$", RUNBOOKS.read_text(), re.M))
    out = [f"docs/runbooks.md has a section {name}, and the chart no such alert" for name in sorted(sections - alerts.keys())]
    for name, rule in alerts.items():
        if name not in sections or rule["annotations"].get("runbook_url") != f"docs/runbooks.md#{name.lower()}":
            out.append(f"{name} has no section in docs/runbooks.md, or does not name it")
    return out


def elsewhere():
    """Each alert of the chart names the runbooks where they are: at its home, of its version, or elsewhere."""
    chart = yaml.safe_load((check_chart.CHART / "Chart.yaml").read_text())
    out = []
    for value, page in (("", f"{chart['home']}/blob/v{chart['version']}/docs/runbooks.md"), ("https://w/r", "https://w/r")):
        told = [rule["annotations"]["runbook_url"] for o in check_chart.objects(*SWITCHES, "--set", f"metrics.prometheusRule.runbookURL={value}")
                if o["kind"] == "PrometheusRule" for group in o["spec"]["groups"] for rule in group["rules"] if "alert" in rule]
        out += [f"metrics.prometheusRule.runbookURL={value}: {url} is not at {page}" for url in told if not url.startswith(page + "#")]
    return out


def severities():
    """Where managed pods are refused, or where nobody leads, somebody is called."""
    critical = {"BerthDown", "BerthHistoryWentBack", "BerthWithoutLeader", "BerthStandsBy", "BerthWebhookDown"}
    out = []
    for policy, wanted in (("Fail", critical), ("Ignore", critical - {"BerthWebhookDown"})):
        found = {rule["alert"] for group in rules("--set", f"webhook.failurePolicy={policy}")["groups"] for rule in group["rules"]
                 if rule["labels"]["severity"] == "critical"}
        if found != wanted:
            out.append(f"failurePolicy {policy}: {sorted(found ^ wanted)} should be critical, or should not")
    return out


def misnamed(exprs):
    """Metrics that an expression asks for and that docs/metrics.md, which is the code's word, does not have."""
    known = set(re.findall(r"^\| `([a-z0-9_]+)` \| (?:counter|gauge|histogram)", METRICS.read_text(), re.M))
    return [f"{name} asks for {metric}, which nobody exports" for name, expr in exprs
            for metric in re.findall(r"\b(?:berth|workqueue|leader_election|process|rest_client)_\w+", re.sub(r'"[^"]*"', "", expr))
            if metric not in known and metric.removesuffix("_bucket") not in known]


def dashboard():
    """What the panels ask for, by title, with the variables at a value of theirs; and what a panel lacks."""
    text = next(o for o in check_chart.objects("--set", "metrics.dashboard.enabled=true")
                if o["metadata"]["name"] == "berth-dashboard")["data"]["berth.json"]
    board = json.loads(text)
    exprs = [(panel["title"], target["expr"]) for panel in board["panels"] for target in panel.get("targets", [])]
    exprs += [(f"variable {v['name']}", match[1]) for v in board["templating"]["list"] if (match := re.match(r"label_values\((.*), \w+\)$", v["query"]))]
    for variable, value in (("$namespace", "berth-system"), ("$layout", ".*"), ("$__rate_interval", "5m")):
        exprs = [(title, expr.replace(variable, value)) for title, expr in exprs]
    return exprs, [f"dashboard: {title} has a variable nobody sets: {expr}" for title, expr in exprs if "$" in expr]


def as_rules(exprs):
    """As recording rules, the one form in which promtool looks at an expression alone."""
    return {"groups": [{"name": "panels", "rules": [{"record": f"panel:{i}", "expr": expr} for i, (_, expr) in enumerate(exprs)]}]}


def main():
    rendered = rules()
    whole = {rule["alert"]: rule for group in rendered["groups"] for rule in group["rules"]}
    alerts = {name: rule["expr"] for name, rule in whole.items()}
    documented = {name for name, severity in re.findall(r"^\| \[`(Berth\w+)`\].*\| (\w+) \|$", METRICS.read_text(), re.M)
                  if whole.get(name, {"labels": {"severity": severity}})["labels"]["severity"] == severity}
    complaints = [f"docs/metrics.md does not tell of {name}" for name in alerts if name not in documented]
    complaints += [f"docs/metrics.md tells of {name}, which the chart has not" for name in documented - alerts.keys()]
    panels, lacking = dashboard()
    complaints += untried(alerts) + misnamed([*alerts.items(), *panels]) + lacking + changed_on_the_way()
    complaints += unexplained(whole) + elsewhere() + severities()
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "rules.yaml").write_text(yaml.safe_dump(rendered, allow_unicode=True))
        shutil.copy(TRIALS, folder)
        complaints += promtool("check", "rules", "--lint=all", "--lint-fatal", "rules.yaml", cwd=folder)
        complaints += promtool("test", "rules", "alerts.yaml", cwd=folder)
        # Other names and limits are rules as well.
        other = rules("--set", "fullnameOverride=gpus,webhook.enabled=false,metrics.prometheusRule.nodeUnavailableHours=6")
        pathlib.Path(folder, "other.yaml").write_text(yaml.safe_dump(other, allow_unicode=True))
        complaints += promtool("check", "rules", "--lint=all", "--lint-fatal", "other.yaml", cwd=folder)
        pathlib.Path(folder, "panels.yaml").write_text(yaml.safe_dump(as_rules(panels)))
        complaints += promtool("check", "rules", "--lint=none", "panels.yaml", cwd=folder)
    print("\n".join(complaints) if complaints else f"{len(alerts)} alerts, {len(panels)} panels: as they should be")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
