#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the pages in Markdown: every link to a file of the tree finds it, every anchor a heading (by GitHub's rules for anchors), every
page under docs/ is listed in docs/README.md, and no line of prose is longer than 120 characters in the pages that promise it."""
import pathlib
import re
import subprocess
import sys
import unicodedata

FENCE = re.compile(r"^\s*(```|~~~)")
LINK = re.compile(r"\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
CODE = re.compile(r"`[^`]*`")
MOST = 120
WRAPPED = ("README.md", "SECURITY.md", *("docs/" + name for name in (
    "README.md", "admission.md", "architecture.md", "concepts.md", "faq.md", "getting-started.md", "gpuclusterpolicy.md", "importing.md", "miglayout.md",
    "simulation.md", "troubleshooting.md", "webhook.md")))


def prose(text):
    """Numbered lines outside of fenced blocks."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchor(heading):
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    kept = [c for c in text if c in "-_ " or unicodedata.category(c)[0] in "LN"]
    return "".join(kept).replace(" ", "-")


def anchors(path):
    found, seen = set(), {}
    for _, line in prose(path.read_text()):
        if match := re.match(r"#{1,6}\s+(.*?)\s*#*$", line):
            name = anchor(match.group(1))
            count = seen.get(name, 0)
            seen[name] = count + 1
            found.add(f"{name}-{count}" if count else name)
    return found


def pages(root):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=root, capture_output=True, text=True)
    names = listed.stdout.split() if listed.returncode == 0 else []
    return [root / name for name in names] or [p for p in root.rglob("*.md") if "build" not in p.parts]


def link_complaints(root, page):
    name = page.relative_to(root)
    for number, line in prose(page.read_text()):
        for target in LINK.findall(CODE.sub("", line)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, fragment = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                yield f"{name}:{number}: links to {path}, which does not exist"
            elif fragment and file.suffix == ".md" and fragment not in anchors(file):
                yield f"{name}:{number}: links to {target}, which has no such heading"


def width_complaints(root, page):
    for number, line in prose(page.read_text()):
        if len(line) > MOST and not line.startswith("|") and "](http" not in line:
            yield f"{page.relative_to(root)}:{number}: has {len(line)} characters; wrap prose at {MOST}"


def complaints(root):
    for page in pages(root):
        yield from link_complaints(root, page)
        if page.relative_to(root).as_posix() in WRAPPED:
            yield from width_complaints(root, page)
    index = root / "docs/README.md"
    if index.exists():
        text = index.read_text()
        for page in sorted((root / "docs").glob("*.md")):
            if page != index and f"({page.name})" not in text:
                yield f"docs/README.md: does not list {page.name}"


def main(root):
    found = list(complaints(pathlib.Path(root).resolve()))
    print("\n".join(found) if found else "every link and anchor resolves")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
