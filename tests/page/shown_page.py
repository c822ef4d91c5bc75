# SPDX-License-Identifier: Apache-2.0
"""What a browser shows of the page: when it is drawn, its colours and words, and whether everybody can read it."""
import re
import subprocess

from served_page import HERE, expect

# Words of this trade that no dictionary has.
TRADE = set("""berth berth's cohort cordoned CPU dev GPU GPUs GPUQueue GPUs' init JSON kubectl MIG MIGLayout namespace nlp pre
    rollout rollouts UTC uncordoned""".split())


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
