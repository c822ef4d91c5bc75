# SPDX-License-Identifier: Apache-2.0
"""The page as people have it: served by the built berth, and, in Chromium, drawn, walked through by keys, looked at for
accessibility and spelling, and compared with the pictures in docs. check_page.py served|chromium BERTH; without Chromium the
second is skipped (exit code 77), but where CI=true it fails."""
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from chromium import PROGRAM, Chromium, Trouble
from fleet_checks import check_hostile, check_large, check_saved
from moving_checks import check_changes, check_plan, check_story
from served_page import ROOT, SNAPSHOT, ask, expect, page_files, served
from view_checks import check_pictures, check_starts, check_tab

LINE = ROOT / "examples/simulation/gang-in-line.yaml"
# What others made and berth carries: as npm has it (uplot 1.6.32).
VENDORED = {
    "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
}
SKIPPED = 77


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
