# SPDX-License-Identifier: Apache-2.0
"""The changes that are made to a source, each as text put in before and behind a piece of it, so that they can all stand in one file."""
import dataclasses
import re

from source import COMPARISONS, ENDS, Source

# Nothing that shows: a switch that is off in this build, room made in advance, a check of berth's own faults.
UNSEEN = re.compile(r"\bseeded\(|\breserve\(|\bbug\(|static_assert|\bconstexpr\b")
KEYWORDS = set(
    """return co_return if else for while switch case default do using static const constexpr auto struct class enum namespace public
    private protected template typedef throw delete goto friend extern operator""".split()
)
OTHER = {" == ": " != ", " != ": " == ", " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > "}
EMPTY = re.compile(r"\bstd::(optional|vector|string|map|set)\b|\*$|^Result<void>$|^Plan$")


@dataclasses.dataclass(frozen=True)
class Mutant:
    path: str
    line: int
    kind: str
    text: str  # what is changed, on one line
    start: int
    end: int
    before: str  # "{}" stands for the number
    behind: str

    def key(self):
        return f"{self.path} | {self.kind} | {self.text}"


def find_mutants(path, text):
    source = Source(text)
    off = list(_switched_off(source))
    found = {}
    for kind, start, end, before, behind in [
        *_comparisons(source), *_conditions(source), *_operands(source), *_returns(source), *_statements(source)
    ]:
        if UNSEEN.search(source.code, start, end) or not text[start:end].strip() or any(a <= start < b for a, b in off):
            continue
        shown = " ".join(text[start:end].split())
        mutant = Mutant(path, source.line(start), kind, shown, start, end, before, behind)
        found.setdefault((kind, start, end), mutant)
    return [found[key] for key in sorted(found, key=lambda key: (key[1], key[2], key[0]))]


def _switched_off(source):
    """What stands behind `if (seeded(…))`, which never runs in this build, and in a static_assert, which runs before there is one."""
    for match in re.finditer(r"\bstatic_assert(\()", source.code):
        yield match.start(), source.partner.get(match.start(1), match.end())
    for match in re.finditer(r"\bif (\()seeded(\()", source.code):
        close = source.partner.get(match.start(1))
        if close is None or source.partner.get(match.start(2)) != close - 1:
            continue
        body = source.skip_space(close + 1)
        end = source.partner[body] + 1 if source.code[body] == "{" else source.statement_end(body)
        if end is not None:
            yield body, end


def _comparisons(source):
    for match in re.finditer(r"(?<=[\s])(==|!=|<=|>=|<|>)(?=[\s])", source.code):
        operator = f" {match.group()} "
        ends = ENDS + [" && ", " || "]
        start = source.left_of(match.start() - 1, ends)
        end = source.right_of(match.end(), ends)
        left, right = source.code[start : match.start()], source.code[match.end() : end]
        if any(c.strip() in f"{left} {right}".split() for c in COMPARISONS) or 'R"' in source.text[start:end]:
            continue
        if operator in (" == ", " != "):
            yield f"{operator.strip()} is {OTHER[operator].strip()}", start, end, "(mutant({}) != static_cast<bool>(", "))"
        else:
            whole = " ".join(source.text[start : match.start()].split()) + OTHER[operator] + " ".join(source.text[match.end() : end].split())
            if "//" in whole:
                continue
            yield f"{operator.strip()} is {OTHER[operator].strip()}", start, end, "(mutant({}) ? (" + _escaped(whole) + ") : (", "))"


def _escaped(text):
    return text.replace("{", "{{").replace("}", "}}")


def _conditions(source):
    for match in re.finditer(r"\bif (\()", source.code):
        close = source.partner.get(match.start(1))
        if close is None:
            continue
        inside = source.spaced[match.end() : close]
        start = source.skip_space(match.end() + inside.rfind(";") + 1)
        if " = " in source.spaced[start:close]:  # a declaration, or an assignment in a lambda
            continue
        yield "negated", start, close, "mutant({}) != static_cast<bool>(", ")"


def _operands(source):
    for match in re.finditer(r"(?<=\s)(&&|\|\|)(?=\s)", source.code):
        ends = ENDS + ([" && ", " || "] if match.group() == "&&" else [" || "])
        before = "(mutant({}) || (" if match.group() == "&&" else "(!mutant({}) && ("
        kind = f"side of {match.group()} dropped"
        yield kind, source.left_of(match.start() - 1, ends), match.start() - 1, before, "))"
        start = source.skip_space(match.end())
        yield kind, start, source.right_of(start, ends), before, "))"


def _returns(source):
    for match in re.finditer(r"\breturn\b", source.code):
        end = source.statement_end(match.end())
        if end is None:
            continue
        returned, value = source.return_type(match.start()), source.skip_space(match.end())
        if value == end - 1:
            yield "early return dropped", match.start(), end, "{{ if (!mutant({})) ", " }}"
        elif returned == "bool":
            yield "returns the opposite", value, end - 1, "mutant({}) != static_cast<bool>(", ")"
        elif EMPTY.search(returned) and source.text[value : end - 1] not in ("{}", '""', "std::nullopt", "nullptr"):
            yield "returns nothing", match.start(), end, "{{ if (mutant({})) return {{}}; ", " }}"


def _statements(source):
    for start in source.statement_starts():
        word = re.compile(r"(\+\+|--|\*)?([A-Za-z_][\w:]*)").match(source.code, start)
        if word is None or word.group(2) in KEYWORDS:
            continue
        end = source.statement_end(start)
        if end is not None and _does_something(source, word, end):
            yield "dropped", start, end, "{{ if (!mutant({})) ", " }}"


def _does_something(source, word, end):
    """A call, an assignment, a step; no declaration, which is two words."""
    if word.group(2) in ("break", "continue"):
        return word.end() == end - 1
    at, does = word.end(), word.group(1) in ("++", "--")
    while at < end:
        c = source.code[at]
        if c in "([":
            does = does or c == "("
            at = source.partner.get(at, end) + 1
            continue
        member = re.compile(r"\s*(?:\.|->)\s*\w+").match(source.code, at, end)
        if member is None:
            break
        at = member.end()
    rest = source.spaced[at:end]
    return bool(re.match(r" ?(\+|-|\||&|\*|/)?= | ?(\+\+|--);", rest)) or (does and rest.strip() == ";")


def instrument(text, numbered):
    """The text with each mutant of `numbered` (number, mutant) in it; all on their lines."""
    puts = []
    for number, mutant in numbered:
        length = mutant.end - mutant.start
        puts.append((mutant.start, 1, -length, mutant.before.format(number)))
        puts.append((mutant.end, 0, length, mutant.behind.format()))
    out, at = ['#include "tests/mutation/mutant.inc" '], 0
    for where, _, _, what in sorted(puts, key=lambda put: put[:3]):
        out += [text[at:where], what]
        at = where
    return "".join(out + [text[at:]])
