#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no page, example or CRD says of a field that berth only stores it, where a reconciler reads the field. docs/cli.md is what
`berth help` prints, so it stands for that text. A sentence is about the fields that it names: in backquotes, or, of the first level of a spec,
as a plain word; a comment of an example is about the keys of the line that it precedes; a description is about its own field."""
import pathlib
import re
import sys

import yaml

DENIAL = re.compile(
    r"\bnot\s+(yet\s+)?acted\s+(up)?on\b|\b(stored|kept|checked|validated|accepted|read)\s*,?\s+(and|but)\s+(is\s+|are\s+)?not\b|"
    r"\bonly\s+(stored|kept|checked|validated|stores|keeps|checks)\b|\b(stores|keeps)\s+only\b|\bin\s+this\s+version\b|"
    r"\bno\s+effect\s+(yet|so\s+far)\b|\bnot\s+implemented\b|\bignored\s+(for\s+now|so\s+far)\b", re.I)
SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n\s*\n|\n\s*(?=[-*|#])")
READERS = ("admission", "cost", "disruption", "fleet", "health", "mig", "observe", "policy", "queue", "reconcilers", "sampling")


def member_of(field):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", field).lower()


def fields_of(schema, out, depth=0):
    """Name of each field under a spec -> the level at which it is first met."""
    for name, child in (schema.get("properties") or {}).items():
        out[name] = min(depth, out.get(name, depth))
        fields_of(child, out, depth + 1)
    for inner in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(inner, dict):
            fields_of(inner, out, depth)


def specs(root):
    for path in sorted((root / "crds").glob("*.yaml")):
        crd = yaml.safe_load(path.read_text())
        yield path, crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]


def read_members(root):
    sources = "".join(path.read_text() for folder in READERS for path in sorted((root / "controller" / folder).rglob("*.cc")))
    return set(re.findall(r"(?:\.|->)(\w+)", sources))


class Claims:
    def __init__(self, root):
        self.root = root
        self.level = {}
        for _, spec in specs(root):
            fields_of(spec, self.level)
        read = read_members(root)
        self.read = {field for field in self.level if member_of(field) in read}

    def denied(self, sentence):
        """The fields that berth reads and that the sentence says it does not act on."""
        if not DENIAL.search(sentence):
            return set()
        quoted = {name.split(".")[-1] for code in re.findall(r"`([^`]*)`", sentence) for name in re.split(r"[^\w.]+", code)}
        words = {word.lower() for word in re.findall(r"\w+", re.sub(r"`[^`]*`", "", sentence))}
        return {field for field in self.read if field in quoted or (self.level[field] == 0 and field in words)}

    def of_page(self, path):
        text = path.read_text()
        for sentence in SENTENCE.split(text):
            for field in sorted(self.denied(sentence)):
                yield text.count("\n", 0, text.find(sentence)) + 1, field, " ".join(sentence.split())

    def of_example(self, path):
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines, 1):
            code, _, comment = line.partition("#")
            if not DENIAL.search(comment):
                continue
            rest = [code] if code.strip() else [later for later in lines[number:] if not later.lstrip().startswith("#")][:1]
            keys = set(re.findall(r"(\w+):", " ".join(rest))) & self.read
            for field in sorted(keys):
                yield number, field, comment.strip()

    def of_schema(self, schema, path="spec"):
        text = " ".join(str(schema.get("description", "")).split())
        if DENIAL.search(text) and path.split(".")[-1] in self.read:
            yield path, text
        for sentence in SENTENCE.split(text):
            for field in sorted(self.denied(sentence) - {path.split(".")[-1]}):
                yield f"{path} of {field}", text
        for name, child in (schema.get("properties") or {}).items():
            yield from self.of_schema(child, f"{path}.{name}")
        if isinstance(schema.get("items"), dict):
            yield from self.of_schema(schema["items"], path)


def complaints(root):
    claims = Claims(root)
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    for path in pages:
        for line, field, text in claims.of_page(path):
            yield f"{path.relative_to(root)}:{line}: says of {field} that berth does not act on it, and a reconciler reads it: {text}"
    for path in sorted((root / "examples").rglob("*.yaml")):
        for line, field, text in claims.of_example(path):
            yield f"{path.relative_to(root)}:{line}: says of {field} that berth does not act on it, and a reconciler reads it: {text}"
    for path, spec in specs(root):
        for where, text in claims.of_schema(spec):
            yield f"{path.relative_to(root)}: {where}: says that berth does not act on it, and a reconciler reads it: {text}"
    for field in ("health", "idle", "pools", "quotas"):
        if (root / "apis").exists() and field not in claims.read:
            yield f"no reconciler seems to read {field}: this check looks for the wrong thing"


def main(root):
    found = list(complaints(pathlib.Path(root).resolve()))
    print("\n".join(found) if found else "no page denies a field that berth acts on")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
