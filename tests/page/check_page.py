# SPDX-License-Identifier: Apache-2.0
"""The page as people have it: served by the built berth, and, in Chromium, drawn, walked through by keys, looked at for
accessibility and spelling, and compared with the pictures in docs. check_page.py served|chromium BERTH; without Chromium the
second is skipped (exit code 77), but where CI=true it fails."""
import contextlib
import gzip
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import pictures
from chromium import PROGRAM, Chromium, Trouble
from told import Told

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SNAPSHOT = ROOT / "tests/golden/why/pods/cluster.json"
STORY = ROOT / "examples/simulation/headline.yaml"
LINE = ROOT / "examples/simulation/gang-in-line.yaml"
PLAN = ROOT / "tests/golden/plan/rollout"
HOSTILE = ["<img src=x onerror=alert(1)>", "\u202eevil\u202c", "\x1b[31mred", "</script><b>", "n" * 253, "__proto__", "'\"`${7*7}"]
# What others made and berth carries: as npm has it (uplot 1.6.32).
VENDORED = {
    "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
}
# Words of this trade that no dictionary has.
TRADE = set("""berth berth's cohort cordoned CPU dev GPU GPUs GPUQueue GPUs' init JSON kubectl MIG MIGLayout namespace nlp pre
    rollout rollouts UTC uncordoned""".split())
SKIPPED = 77
MOVE = "((m) => { m.value = %s; m.dispatchEvent(new Event('input')); })(document.getElementById('story-moment'))"


def expect(true, words):
    if not true:
        raise Trouble(words)


@contextlib.contextmanager
def served(berth, *arguments, ended=0):
    """A berth that shows its page, and then ends so; yields the page's address."""
    process = subprocess.Popen([berth, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:\d+/ui/", line):
                yield found.group(0)
                break
        else:
            raise Trouble(f"{arguments[0]} names no page")
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        expect(process.wait(30) == ended, f"{arguments[0]} ended with {process.returncode}")
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def ask(address, path, method="GET", **heads):
    host = re.search(r"//([^/]+)/", address).group(1)
    connection = http.client.HTTPConnection(host, timeout=30)
    connection.putrequest(method, path, skip_host="Host" in heads, skip_accept_encoding=True)
    for name, value in heads.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


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


def check_served(berth, folder):
    with served(berth, "ui", "--snapshot", SNAPSHOT) as address:
        answer, body = ask(address, "/ui/")
        expect(answer.status == 200 and body.startswith(b"<!doctype html>"), f"/ui/ answers {answer.status}")
        for name in re.findall(r'(?:src|href)="([\w.]+)"', body.decode()):
            expect(ask(address, f"/ui/{name}")[0].status == 200, f"the page loads {name}, which is not there")
        answer, small = ask(address, "/ui/state", Accept_Encoding="gzip")
        state = json.loads(gzip.decompress(small))
        expect("t1" in state["nodes"], f"the state has no node t1: {sorted(state['nodes'])}")
        answer, body = ask(address, "/ui/state", If_None_Match=answer.getheader("etag"))
        expect((answer.status, body) == (304, b""), f"the same state again is answered {answer.status}")
        for host in ("evil.example", "127.0.0.1.evil.example:80"):
            expect(ask(address, "/ui/state", Host=host)[0].status == 421, f"whoever calls it {host} is answered")
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            expect(ask(address, "/ui/state", method)[0].status == 405, f"{method} is taken")
        answer, body = ask(address, "/ui/", "HEAD")
        expect((answer.status, body) == (200, b""), "HEAD of the page is not its head alone")
        wire = sum(len(ask(address, f"/ui/{name}", Accept_Encoding="gzip")[1]) for name in page_files(address))
        print(f"page.wire_kib {wire / 1024:.1f}")
        expect(wire <= 100 << 10, f"the page is {wire} bytes on the wire")
    run = subprocess.run([berth, "ui", "--port", "70000"], capture_output=True, text=True, timeout=60)
    expect(run.returncode == 1 and "--port" in run.stderr, f"--port 70000: {run.returncode} {run.stderr}")


def page_files(address):
    """By name, the page itself first."""
    names, new = {""}, [""]
    while new:
        text = ask(address, f"/ui/{new.pop()}")[1].decode()
        for name in re.findall(r'(?:src|href)="([\w.]+)"|from "\./([\w.]+)"', text):
            if (found := name[0] or name[1]) not in names:
                names.add(found)
                new.append(found)
    return sorted(names)


def check_vendored():
    folder = ROOT / "controller/page/uplot"
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    expect(found == VENDORED, f"{folder} is not what npm has: {found}")


def check_frames(berth):
    """A frame of a story has what changed by its own time, and nothing of what its next lines tell."""
    page = subprocess.run([berth, "simulate", "-f", LINE, "-o", "html"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, timeout=300).stdout
    frames = json.loads(re.search(rb'id="state">(.*?)</script>', page, re.S).group(1))["story"]["frames"]

    def waits(frame, queue):
        return [one["workload"] for one in frame["change"].get("set", {}).get("queues", {}).get(queue, {}).get("pending", [])]

    for queue, workload, asked in ("vision", "vision/pretrain", 60), ("nlp", "nlp/probe", 120), ("vision", "vision/evaluate", 120):
        first = next((frame["at"] for frame in frames if workload in waits(frame, queue)), None)
        expect(first is not None and asked <= first / 1000 < asked + 5, f"{workload}, asked for after {asked} s, waits from {first} ms on")


def settled(browser):
    browser.wait_for("document.getElementById('canvas')?.dataset.drawn && document.getElementById('summary').textContent.includes('as of')")


def expect_silent(browser, where):
    expect(not browser.said, f"{where}: the console says {browser.said}")


def expect_accessible(browser, where):
    browser.ask((HERE / "axe/axe.min.js").read_text() + ";1")
    found = browser.ask("axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes.slice(0, 2).map(n => n.html).join(' | ')))")
    expect(not found, f"{where}: axe finds {found}")


def words_shown(browser):
    """What the page itself says: names and what berth tells of them stand in isolates of their own."""
    return set(re.findall(r"[A-Za-z][a-z']+", browser.ask("""(() => {
      const said = [...document.querySelectorAll("[aria-label], [placeholder]")].filter((e) => !e.closest(".line, #starts, .share"))
        .flatMap((e) => [e.getAttribute("aria-label") ?? "", e.getAttribute("placeholder") ?? ""]);
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (walk.nextNode()) if (!walk.currentNode.parentElement.closest("bdi, pre, script, style, #story")) said.push(walk.currentNode.data);
      return said.join(" "); })()""")))


def expect_spelled(words):
    run = subprocess.run(["hunspell", "-d", "en_GB", "-l"], input="\n".join(sorted(words)), stdout=subprocess.PIPE, text=True, check=True)
    wrong = set(run.stdout.split()) - TRADE
    expect(len(words) > 80, f"only {len(words)} words were found")
    expect(not wrong, f"hunspell does not know: {', '.join(sorted(wrong))}")


def colours(browser):
    """How many points of the canvas have each colour."""
    return browser.ask("""(() => { const c = document.getElementById('canvas'), counts = {};
      const data = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
      for (let i = 0; i < data.length; i += 4) { const k = data.slice(i, i + 3).join(); counts[k] = (counts[k] ?? 0) + 1; }
      return counts; })()""")


def check_saved(browser, berth, folder):
    with served(berth, "ui", "--snapshot", SNAPSHOT) as address:
        browser.open(address)
        settled(browser)
        held, free = colours(browser).get("11,92,173", 0), colours(browser).get("211,219,227", 0)
        state = json.loads(ask(address, "/ui/state")[1])
        sizes = [(part["units"] * min(sum(h[2] for h in part["held"]), part["offered"]), part["units"] * part["offered"])
                 for node in state["nodes"].values() for part in node["parts"] if part["units"]]
        told = sum(held for held, _ in sizes) / sum(all for _, all in sizes)
        drawn = held / max(1, held + free)
        expect(abs(drawn - told) < 0.15, f"{told:.2f} is held, and {drawn:.2f} of the picture says so")
        # By keys alone: to the mosaic, along it, into a node, and out of it.
        browser.ask("document.getElementById('canvas').focus()")
        browser.press("ArrowRight")
        named = browser.ask("document.querySelector('#pointed bdi').textContent")
        browser.press("Enter", "\r")
        browser.wait_for("!document.getElementById('one').hidden")
        expect(browser.ask("location.hash") == f"#node/{named}", "Enter opens another node than is pointed at")
        expect(browser.ask("document.activeElement.id") == "one-title", "what has opened has no focus")
        expect_accessible(browser, "a node")
        browser.press("Escape")
        browser.wait_for("document.getElementById('one').hidden")
        browser.press("/", "/")
        expect(browser.ask("document.activeElement.id") == "search", "/ leads to the search")
        before = browser.ask("document.querySelectorAll('#waiting details').length")
        browser.ask("const s = document.getElementById('search'); s.value = 'vision/full-0'; s.dispatchEvent(new Event('input'))")
        expect(0 < browser.ask("document.querySelectorAll('#waiting details').length") < before, "search narrows nothing")
        # A link to a pod that waits says why, with lines to copy.
        browser.open(address + "#pod/vision/full-0")
        browser.wait_for("document.querySelector('#detail .line pre') !== null")
        for scheme, width, height, ratio in (("light", 1200, 900, 1), ("dark", 1200, 900, 1), ("light", 390, 800, 2)):
            browser.prefer(scheme)
            browser.resize(width, height, ratio)
            browser.ask("new Promise(requestAnimationFrame)")
            expect_accessible(browser, f"{scheme}, {width} wide")
            wide = browser.ask("document.documentElement.scrollWidth")
            expect(wide <= width, f"{wide} points where {width} are to be had")
    expect_silent(browser, "a saved cluster")


def check_hostile(browser, berth, folder):
    with served(berth, "ui", "--snapshot", hostile_cluster(folder)) as address:
        browser.open(address)
        settled(browser)
        expect(browser.ask("document.querySelectorAll('img, b > b, main script').length") == 0, "a name has become an element")
        browser.resize(390, 800, 2)
        for name in HOSTILE:
            browser.ask(f"location.hash = 'node/' + encodeURIComponent({json.dumps(name)})")
            browser.wait_for(f"document.querySelector('#one-title bdi')?.textContent === {json.dumps(name)}")
            wide = browser.ask("document.documentElement.scrollWidth")
            expect(wide <= 390, f"{name!r} makes the page {wide} points wide on a phone")
        expect_accessible(browser, "hostile names")
    expect_silent(browser, "hostile names")


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


FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))"
# A point of the canvas that belongs to no tile: it stays as it is while single tiles are drawn.
MARK = """((c) => { const paper = c.getContext("2d"); %s })(document.getElementById("canvas"))"""
PUT, IS_THERE = (MARK % "paper.setTransform(1, 0, 0, 1, 0, 0); paper.fillStyle = '#010203'; paper.fillRect(c.width - 2, c.height - 2, 2, 2)",
                 MARK % "return paper.getImageData(c.width - 1, c.height - 1, 1, 1).data[2] === 3")


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


def check_large(browser, berth, folder):
    with served(berth, "ui", "--snapshot", large_cluster(folder, 2000)) as address:
        browser.resize(1200, 900)
        browser.open(address)
        settled(browser)
        print("page.draw_ms", browser.ask("document.getElementById('canvas').dataset.drawn"))
        browser.ask("document.getElementById('canvas').focus()")
        browser.press("End")
        browser.wait_for("document.querySelector('#pointed bdi')?.textContent === 'gpu-node-2000'")
        browser.wait_for("scrollY > 500")
        expect(len(colours(browser)) > 2, "nothing is drawn at the far end")
    expect_silent(browser, "2000 nodes")


def check_kept(browser):
    """Where a place is kept, a mark stands at the time that the row tells, as the axis has it; others have none."""
    def minutes(words):
        return sum(unit * int(part) for unit, part in zip((60, 1), words.split(":")))

    middle = "((e) => { const box = e.getBoundingClientRect(); return (box.left + box.right) / 2; })"
    ticks = browser.ask(f"[...document.querySelectorAll('#starts .scale span')].map((e) => [e.textContent, {middle}(e)])")
    rows = browser.ask(f"[...document.querySelectorAll('#starts tbody tr')].map((r) => [r.cells[2].textContent, [...r.querySelectorAll('.kept')].map({middle})])")
    (told, marks), (other, none) = rows
    kept = re.search(r"place is free by (\d\d:\d\d)", told)
    expect(kept and len(marks) == 1, f"whose place is kept is told {told!r}, with {len(marks)} marks")
    expect("place" not in other and not none, f"whose place is not kept is told {other!r}, with {len(none)} marks")
    (first, left), (second, right) = [(minutes(words), at) for words, at in (ticks[0], ticks[-1])]
    there, minute = left + (right - left) * (minutes(kept.group(1)) - first) / (second - first), (right - left) / (second - first)
    expect(there - 1 <= marks[0] <= there + minute + 1, f"{kept.group(1)} is at {there}, and the mark at {marks[0]}")


def check_starts(browser, berth, folder):
    """Who waits stands on the axis of time, from where his queue says to where it says; search narrows that too."""
    pictures.show(browser, berth, pictures.VIEWS["queues"], folder)
    shown = browser.ask("""[...document.querySelectorAll("#starts tbody tr")].map((row) => {
      const box = (name) => row.querySelector(name).getBoundingClientRect();
      return [row.cells[1].textContent, box(".waited").right, box(".now").left, box(".begins").left, box(".begins").right, box(".track").right]; })""")
    expect([name for name, *_ in shown] == ["vision/pretrain", "vision/evaluate"], f"on the axis stand {shown}")
    for name, waited, now, begins, ends, right in shown:
        expect(abs(waited - now) < 2 and now - 2 <= begins <= ends <= right, f"{name} waits to {waited}, now is {now}, it begins in {begins} to {ends}")
    expect(shown[0][4] > shown[1][4] + 20, "who begins later stands no further to the right")
    check_kept(browser)
    browser.ask("const s = document.getElementById('search'); s.value = 'evaluate'; s.dispatchEvent(new Event('input'))")
    expect(browser.ask("document.querySelectorAll('#starts tbody tr').length") == 1, "search leaves others on the axis")
    values = browser.ask("[...document.querySelectorAll('.u-legend .u-value')].map((e) => e.textContent)")
    expect(values[0].startswith("00:08") and values[1] == "32" and values[4] == "2", f"the history says of this moment: {values}")
    browser.ask("document.getElementById('theme').value = 'dark'; document.getElementById('theme').dispatchEvent(new Event('change'))")
    expect_accessible(browser, "queues")
    expect_silent(browser, "queues")


def check_tab(browser, berth, folder):
    """By Tab alone one gets to everything that does something, in the order in which it stands there, and it is seen where one is."""
    pictures.show(browser, berth, pictures.VIEWS["fleet"], folder)
    browser.ask("scrollTo(0, 0); document.activeElement.blur()")
    reachable = browser.ask("[...document.querySelectorAll('a[href], button, input, select, summary, #canvas')].filter((e) => e.checkVisibility()).length")
    seen, last = 0, -1
    for _ in range(reachable + 40):
        browser.press("Tab", "\t")
        place, does, outlined = browser.ask("""(() => { const e = document.activeElement;
          return [[...document.querySelectorAll("*")].indexOf(e), e.matches("a, button, input, select, summary, #canvas"), getComputedStyle(e).outlineStyle !== "none"]; })()""")
        if place <= last:
            break
        expect(outlined, f"nothing shows that the focus is on element {place}")
        seen, last = seen + does, place
    expect(seen == reachable, f"Tab leads to {seen} of {reachable}")
    expect_silent(browser, "the walk")


def check_pictures(browser, berth, folder):
    shown, words = {}, set()
    for name, view in pictures.VIEWS.items():
        pictures.show(browser, berth, view, folder)
        shown[name] = browser.picture()
        words |= words_shown(browser)
    expect_silent(browser, "the pictures' views")
    expect_spelled(words)
    browser.open("about:blank")
    expect(pictures.difference(browser, shown["fleet"], shown["node"]) > pictures.MOST_FAR, "a node and the fleet are taken for the same picture")
    expect({path.stem for path in pictures.FOLDER.glob("*.png")} == set(shown), "docs/pictures has other pictures than tests/page/pictures.py makes")
    for name, picture in shown.items():
        known = (pictures.FOLDER / f"{name}.png").read_bytes()
        expect(len(known) <= pictures.MOST_BYTES, f"docs/pictures/{name}.png has {len(known)} bytes")
        far = pictures.difference(browser, known, picture)
        if far > pictures.MOST_FAR:
            (pathlib.Path(tempfile.gettempdir()) / f"berth-page-{name}.png").write_bytes(picture)
            raise Trouble(f"{far:.1%} of docs/pictures/{name}.png is other now ({tempfile.gettempdir()}/berth-page-{name}.png); "
                          "if it is meant to be: tests/page/pictures.py BERTH")


def main(what, berth):
    with tempfile.TemporaryDirectory(prefix="berth-page-") as name:
        folder = pathlib.Path(name)
        if what == "served":
            check_vendored()
            check_served(berth, folder)
            check_frames(berth)
            return 0
        if missing := [name for name, found in (("Chromium", PROGRAM), ("hunspell", shutil.which("hunspell"))) if not found]:
            print(f"{'NOT TESTED' if os.environ.get('CI') == 'true' else 'SKIPPED'}: scripts/install-packages brings {' and '.join(missing)}")
            return 1 if os.environ.get("CI") == "true" else SKIPPED
        for check in (check_saved, check_hostile, check_story, check_plan, check_changes, check_large, check_starts, check_tab, check_pictures):
            with Chromium() as browser:
                check(browser, berth, folder)
            print(check.__name__, "ok", flush=True)
    return 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    try:
        sys.exit(main(sys.argv[1], sys.argv[2]))
    except Trouble as trouble:
        print(f"check_page: {trouble}")
        sys.exit(1)
