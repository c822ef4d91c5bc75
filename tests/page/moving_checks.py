# SPDX-License-Identifier: Apache-2.0
"""What moves, in Chromium: a story, a plan, and a cluster that changes while one looks."""
import contextlib
import json
import re
import subprocess

from served_page import ROOT, SNAPSHOT, ask, expect, page_files, served
from shown_page import expect_accessible, expect_silent, settled
from told import Told

STORY = ROOT / "examples/simulation/headline.yaml"
PLAN = ROOT / "tests/golden/plan/rollout"
MOVE = "((m) => { m.value = %s; m.dispatchEvent(new Event('input')); })(document.getElementById('story-moment'))"


def check_story(browser, berth, folder):
    path = folder / "story.html"
    with path.open("w") as out:
        subprocess.run([berth, "simulate", "-f", STORY, "-o", "html"], stdout=out, check=True, timeout=300)
    for address in (path.as_uri(), None):
        with contextlib.ExitStack() as stack:
            browser.open(address or stack.enter_context(served(berth, "simulate", "-f", STORY, "--ui")))
            settled(browser)
            expect(browser.ask("!document.getElementById('story').hidden"), "a story without its bar")
            last = int(browser.ask("document.getElementById('story-moment').max"))
            expect(last > 20, f"a story of {last} frames")
            browser.ask(MOVE % last)
            end = browser.ask("document.getElementById('rollout-list').innerText")
            expect(f"{last} of {last}" in browser.ask("document.getElementById('story-time').textContent"), "the bar leads elsewhere")
            browser.ask(MOVE % (last // 2))
            middle = browser.ask("document.getElementById('rollout-list').innerText")
            expect(middle != end, "the middle looks like the end")
            browser.ask(MOVE % 0)
            browser.ask(MOVE % last)
            expect(browser.ask("document.getElementById('rollout-list').innerText") == end, "there and back is somewhere else")
            browser.ask(MOVE % 0)
            browser.ask("document.getElementById('story-speed').value = '1200'; document.getElementById('story-play').click()")
            browser.wait_for("Number(document.getElementById('story-moment').value) > 3")
            browser.ask("document.getElementById('story-play').click()")
            expect_accessible(browser, "a story")
    expect_silent(browser, "a story")


def check_plan(browser, berth, folder):
    """A change as a bar over the fleet: the further one is, the more nodes have been cut anew, and at its end all of them."""
    files = ("--snapshot", PLAN / "cluster.json", "-f", PLAN / "layout.yaml")
    path = folder / "plan.html"
    with path.open("w") as out:
        run = subprocess.run([berth, "plan", *files, "-o", "html"], stdout=out, timeout=300)
    expect(run.returncode == 2, f"a plan that changes nodes ends with {run.returncode}")
    for address in (path.as_uri(), None):
        with contextlib.ExitStack() as stack:
            browser.open("about:blank")
            browser.open(address or stack.enter_context(served(berth, "plan", *files, "--ui", ended=2)))
            settled(browser)
            last = int(browser.ask("document.getElementById('story-moment').max"))
            updated = []
            for place in (0, last // 3, 2 * last // 3, last):
                browser.ask(MOVE % place)
                told = browser.ask("document.getElementById('rollout-list').innerText")
                updated.append(int((re.search(r"(\d+) updated", told) or [0, 0])[1]))
            expect(0 == updated[0] < updated[1] < updated[2] < updated[3] == 8, f"of 8 nodes so many have been cut anew: {updated}")
    expect_silent(browser, "a plan")


# A point of the canvas that belongs to no tile: it stays as it is while single tiles are drawn.
MARK = """((c) => { const paper = c.getContext("2d"); %s })(document.getElementById("canvas"))"""
PUT, IS_THERE = (MARK % "paper.setTransform(1, 0, 0, 1, 0, 0); paper.fillStyle = '#010203'; paper.fillRect(c.width - 2, c.height - 2, 2, 2)",
                 MARK % "return paper.getImageData(c.width - 1, c.height - 1, 1, 1).data[2] === 3")
FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))"


def expect_drawn(browser, where, alone):
    """What was drawn tile by tile is what is drawn at once, and was drawn tile by tile where it could be."""
    expect(browser.ask(IS_THERE) == alone, f"{where}: {'everything was drawn anew' if alone else 'no more than single tiles was drawn'}")
    shown = "document.getElementById('canvas').toDataURL()"
    browser.ask(MARK % "paper.setTransform(1, 0, 0, 1, 0, 0); paper.clearRect(c.width - 2, c.height - 2, 2, 2)")
    before = browser.ask(shown)
    browser.ask("document.getElementById('shade').dispatchEvent(new Event('change'))")
    browser.ask(FRAMES)
    expect(browser.ask(shown) == before, f"{where}: drawn at once it looks other")


def check_changes(browser, berth, folder):
    """What changes is shown, and no more is drawn than that; who was cut off goes on where he was, or reads the state anew."""
    with served(berth, "ui", "--snapshot", SNAPSHOT) as address:
        files = {f"/ui/{name}": (answer.getheader("content-type"), body) for name in page_files(address) for answer, body in [ask(address, f"/ui/{name}")]}
        state = json.loads(ask(address, "/ui/state")[1])
    nodes = dict(state["nodes"])
    name, other = [one for one, node in sorted(nodes.items()) if node["service"] == "InService" and "rollout" not in node][:2]
    summary = "document.getElementById('summary').textContent"
    with Told(files, state) as told:
        browser.open(told.address)
        settled(browser)
        out = sum(node["service"] != "InService" for node in nodes.values())
        held = [dict(part, held=[["lab", "new", part["offered"]]]) for part in nodes[other]["parts"]]
        rollout = {"layout": "halves", "phase": "Draining", "since": "2026-11-21T12:00:00Z", "why": ""}
        changed = [
            ("a node is cordoned", True, {name: nodes[name] | {"service": "Cordoned"}}),
            ("somebody holds it", True, {other: nodes[other] | {"parts": held}}),
            ("a rollout begins", True, {one: nodes[one] | {"service": "Cordoned", "rollout": rollout} for one in (name, other)}),
            ("and ends", True, {other: nodes[other] | {"parts": held}}),
            ("a node comes", False, {"zz-new": dict(nodes[name])}),
            ("a node is of another pool", False, {other: nodes[other] | {"pool": "elsewhere"}}),
            ("a node goes", False, {"zz-new": None}),
        ]
        for number, (words, alone, things) in enumerate(changed):
            browser.ask(FRAMES)
            browser.ask(PUT)
            told.change(nodes=things, takenAt=f"2026-11-21T13:00:{number:02}Z")
            browser.wait_for(f"{summary}.includes('13:00:{number:02}')")
            browser.ask(FRAMES)
            expect_drawn(browser, words, alone)
        expect(f", {out + 1} out of service" in browser.ask(summary), f"{out} were out, one was cordoned, and the page says {browser.ask(summary)}")
        expect(browser.ask("document.getElementById('rollout-list').innerText").count("halves") == 1, "the rollout is not told")
        browser.wait_for("!document.getElementById('history').hidden")
        told.change(waiting={"Pod/lab/late": {"reason": "Unschedulable", "message": "no node", "remedies": []}})
        browser.wait_for("document.getElementById('waiting').innerText.includes('lab/late')")
        told.change(costs={"columns": ["NAMESPACE", "USED"], "rows": [["lab", "12.50"]]})
        browser.wait_for("/By team[^]*lab[^]*12.50/.test(document.getElementById('cost-tables').innerText)")
        waits = {"workload": "lab/large", "pods": 8, "position": 1, "reason": "WaitingForQuota", "message": "needs 64", "since": "2026-11-21T12:50:00Z", "reserved": "2026-11-21T13:30:00Z"}
        told.change(queues={"lab": {"cohort": "", "stop": "None", "admitted": 0, "waits": 1, "quotas": [], "pending": [waits]}})
        browser.wait_for("document.querySelector('#starts .kept') && document.getElementById('starts').innerText.includes('its place is free by 13:30')")
        changes = told.number
        told.cut()
        told.change(waiting={"Pod/lab/late": None}, takenAt="2026-11-21T14:00:00Z")
        browser.wait_for(f"!document.getElementById('waiting').innerText.includes('lab/late') && {summary}.includes('14:00:00') && !{summary}.includes('lost')")
        expect(told.asked == ["told-1", f"told-{changes}"], f"it went on from {told.asked}")
        told.cut()
        told.change(takenAt="2026-11-21T15:00:00Z")
        told.change(takenAt="2026-11-21T16:00:00Z")
        told.forget()
        browser.wait_for(f"{summary}.includes('16:00:00') && !{summary}.includes('lost')")
        told.change(nodes={name: None})
        browser.wait_for(f"{summary}.startsWith('{len(nodes) - 1} nodes')")
    said = [words for words in browser.said if "Failed to load" not in words and "ERR_" not in words]  # of connections that were cut
    expect(not said, f"changes: the console says {said}")
