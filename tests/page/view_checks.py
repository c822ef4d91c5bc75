# SPDX-License-Identifier: Apache-2.0
"""The moments that docs/pictures shows, in Chromium: the axis of who waits, the way by Tab, words and pictures."""
import pathlib
import re
import tempfile

import pictures
from chromium import Trouble
from served_page import expect
from shown_page import expect_accessible, expect_silent, expect_spelled, words_shown


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
