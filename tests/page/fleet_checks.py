# SPDX-License-Identifier: Apache-2.0
"""A fleet that stands still, in Chromium: drawn as it is told, walked through by keys, whatever its names and however large."""
import json

from made_clusters import HOSTILE, hostile_cluster, large_cluster
from served_page import SNAPSHOT, ask, expect, served
from shown_page import colours, expect_accessible, expect_silent, settled


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
