# SPDX-License-Identifier: Apache-2.0
"""The chart's dashboards: what their panels ask, and what Grafana would miss in them."""
import json
import pathlib
import re

FILES = pathlib.Path(__file__).resolve().parents[2] / "helm/berth/files"
PATHS = [FILES / "dashboard.json", *sorted((FILES / "dashboards").glob("*.json"))]


def boards():
    return {path.name: json.loads(path.read_text()) for path in PATHS}


def panels(board):
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def variables(board):
    return [variable for variable in board["templating"]["list"] if variable["type"] == "query"]


def queries(board):
    """(where, expression, label that the answer must have) of all panels and variables, with the variables at a value of theirs."""
    out = [(panel["title"], target["expr"], None) for panel in panels(board) for target in panel["targets"]]
    for variable in variables(board):
        metric, label = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]).groups()
        out.append((f"variable {variable['name']}", metric, label))
    for name, value in [("__rate_interval", "1m"), ("namespace", "berth-system"), *((v["name"], ".*") for v in variables(board))]:
        out = [(where, expr.replace(f"${name}", value), label) for where, expr, label in out]
    return out


def complaints(name, board):
    """By the rules that dashboards for many installations keep: a uid that stays, no numbers of one Grafana's database, the data source a
    variable, windows of rates that follow the zoom, units."""
    out = []
    if not re.fullmatch(r"berth(-[a-z]+)?", board.get("uid", "")):
        out.append("its uid is not one of berth's")
    if "id" in board:
        out.append("it has an id of one Grafana's database")
    if board.get("schemaVersion", 0) < 38:
        out.append("its schemaVersion is too old")
    if not any(v["name"] == "datasource" and v["type"] == "datasource" for v in board["templating"]["list"]):
        out.append("it has no variable for the data source")
    for part in [*panels(board), *variables(board), *(t for p in panels(board) for t in p["targets"])]:
        if part["datasource"] != {"type": "prometheus", "uid": "${datasource}"}:
            out.append(f"{part.get('title') or part.get('name') or part['expr']}: its data source is not the variable")
    for panel in panels(board):
        if "unit" not in panel["fieldConfig"]["defaults"]:
            out.append(f"{panel['title']}: it has no unit")
        place = panel["gridPos"]
        if place["x"] + place["w"] > 24:
            out.append(f"{panel['title']}: it is wider than the page")
        for target in panel["targets"]:
            if re.search(r"rate\([^\[]*\[[0-9]+[sm]\]", target["expr"]):
                out.append(f"{panel['title']}: its window does not follow $__rate_interval")
    out += [f"{where}: a variable that nobody sets: {expr}" for where, expr, _ in queries(board) if "$" in expr]
    return [f"{name}: {text}" for text in out]
