#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of the page in docs/pictures: each is a moment of an example as Chromium shows it. pictures.py BERTH makes them all
anew; check_page.py compares what a berth shows with what is there."""
import base64
import pathlib
import subprocess
import sys
import tempfile
from typing import NamedTuple

sys.dont_write_bytecode = True
from chromium import Chromium, Trouble

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "docs/pictures"
MOST_BYTES = 60 << 10
ROLLOUT, LINE = "examples/simulation/headline.yaml", "examples/simulation/gang-in-line.yaml"
OPEN_ALL = "for (const one of document.querySelectorAll('#queue-list details')) one.open = true"


class View(NamedTuple):
    story: str
    moment: str  # of the story, as its lines tell it: the last that is no later
    scheme: str = "light"
    width: int = 880
    height: int = 520
    steps: str = ""  # JavaScript that leads there
    part: str = ""  # what is then at the upper edge; empty: the page's begin


VIEWS = {
    "fleet": View(ROLLOUT, "00:04:30", part="fleet"),
    "node": View(ROLLOUT, "00:02:30", steps="location.hash = 'node/n3'", part="one-title"),
    "rollout": View(ROLLOUT, "00:02:30", scheme="dark", part="rollouts"),
    "queues": View(LINE, "00:08:30", steps=OPEN_ALL, part="queues"),
    "use": View(LINE, "00:08:30", scheme="dark", part="use"),
    "phone": View(LINE, "00:08:30", scheme="dark", width=390, height=720),
}

# Whole pages are compared as eighths: what a font's edges or a border do is gone, what is missing, moved or of another colour is not.
SMALLER, FAR, MOST_FAR = 8, 48, 0.005
COMPARE = """(async (first, second) => {
  const shrunk = async (data) => {
    const image = new Image();
    image.src = "data:image/png;base64," + data;
    await image.decode();
    const paper = new OffscreenCanvas(Math.ceil(image.width / %d), Math.ceil(image.height / %d)).getContext("2d", { willReadFrequently: true });
    paper.imageSmoothingQuality = "high";
    paper.drawImage(image, 0, 0, paper.canvas.width, paper.canvas.height);
    return [image.width, image.height, paper.getImageData(0, 0, paper.canvas.width, paper.canvas.height).data];
  };
  const [wide, high, one] = await shrunk(first), [width, height, other] = await shrunk(second);
  if (wide !== width || high !== height) return 1;
  let far = 0;
  for (let i = 0; i < one.length; i += 4) far += [0, 1, 2].some((k) => Math.abs(one[i + k] - other[i + k]) > %d);
  return far / (one.length / 4);
})(%r, %r)"""


def difference(browser, first, second):
    """Which part of two pictures is not alike: in parts of one; 1 where they differ in size."""
    text = [base64.b64encode(picture).decode() for picture in (first, second)]
    return browser.ask(COMPARE % (SMALLER, SMALLER, FAR, *text))


def told_story(berth, story, folder):
    path = pathlib.Path(folder) / (pathlib.Path(story).stem + ".html")
    if not path.exists():
        with path.open("w") as out:
            subprocess.run([berth, "simulate", "-f", ROOT / story, "-o", "html"], stdout=out, stderr=subprocess.DEVNULL, check=True, timeout=300)
    return path.as_uri()


def show(browser, berth, view, folder):
    """Leads the browser there."""
    browser.prefer(view.scheme)
    browser.resize(view.width, view.height)
    browser.open("about:blank")
    browser.open(told_story(berth, view.story, folder))
    browser.wait_for("document.getElementById('canvas')?.dataset.drawn")
    browser.ask("""(() => { const bar = document.getElementById("story-moment");
      const told = () => document.getElementById("story-time").textContent.slice(0, 8);
      const move = (to) => { bar.value = to; bar.dispatchEvent(new Event("input")); };
      let to = 0;
      for (move(1); to < Number(bar.max) && told() <= "%s"; move(to + 1)) ++to;
      move(to); })()""" % view.moment)
    if view.steps:
        browser.ask(view.steps)
    if view.part:
        browser.ask(f"document.getElementById('{view.part}').scrollIntoView()")
    browser.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def main(berth):
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="berth-pictures-") as folder, Chromium() as browser:
        for name, view in VIEWS.items():
            show(browser, berth, view, folder)
            picture = browser.picture()
            (FOLDER / f"{name}.png").write_bytes(picture)
            print(f"docs/pictures/{name}.png {len(picture) / 1024:.0f} KiB")
            if len(picture) > MOST_BYTES:
                raise Trouble(f"{name} has more than {MOST_BYTES >> 10} KiB")


if __name__ == "__main__":
    main(sys.argv[1])
