# SPDX-License-Identifier: Apache-2.0
"""C++ as far as a mutation needs it: text without comments and literals, brackets, expressions, statements.

clang-format decides the layout that this relies on: binary operators have a space on either side, template brackets none.
"""
import re

OPEN, CLOSE = "([{", ")]}"
CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])*'|^[ \t]*\#[^\n]*""",
    re.S | re.M,
)
# What ends the operand of a comparison, of && and of ||, on either side and outside of brackets.
ENDS = [";", ",", "?", " : ", "return", " = ", " += ", " -= ", " |= ", " &= "]
COMPARISONS = [" == ", " != ", " < ", " <= ", " > ", " >= ", " <=> "]


def mask(text):
    """The text with comments blank and each literal a row of 'x', letter for letter."""

    def blank(match):
        found = match.group()
        if found[0] in "/#" or found.lstrip()[:1] == "#":
            return re.sub(r"[^\n]", " ", found)
        return '"' + re.sub(r"[^\n]", "x", found[1:-1]) + '"'

    return CODE.sub(blank, text)


class Source:
    """One file: `code` is its text, masked, with every run of white space told as it stands."""

    def __init__(self, text):
        self.text = text
        self.code = mask(text)
        self.spaced = re.sub(r"\s", " ", self.code)
        self.partner = self._pair_brackets()

    def _pair_brackets(self):
        partner, stack = {}, []
        for i, c in enumerate(self.code):
            if c in OPEN:
                stack.append(i)
            elif c in CLOSE and stack:
                partner[i] = stack.pop()
                partner[partner[i]] = i
        return partner

    def line(self, at):
        return self.text.count("\n", 0, at) + 1

    def skip_space(self, at):
        while at < len(self.code) and self.code[at].isspace():
            at += 1
        return at

    def _ends_at(self, i, ends):
        return next((end for end in ends if self.spaced.startswith(end, i) and self._is_word(i, end)), None)

    def _is_word(self, i, end):
        if not end[0].isalpha():
            return True
        return not (self.code[i - 1].isalnum() or self.code[i - 1] == "_" or self.code[i + len(end)].isalnum())

    def left_of(self, at, ends):
        """Where the operand begins that ends at `at`."""
        i = at
        while i > 0:
            c = self.code[i - 1]
            if c in CLOSE:
                if c == "}" and self.code[self.partner.get(i - 1, 0) - 1].isspace():
                    break  # the end of a block
                i = self.partner.get(i - 1, 0)
                continue
            if c in OPEN:
                break
            stop = next((e for e in ends if self.spaced.endswith(e, 0, i) and self._is_word(i - len(e), e)), None)
            if stop:
                break
            i -= 1
        return self.skip_space(i)

    def right_of(self, at, ends):
        """Where the operand ends that begins at `at`."""
        i = at
        while i < len(self.code):
            c = self.code[i]
            if c in CLOSE or self._ends_at(i, ends):
                break
            i = self.partner.get(i, i) + 1 if c in OPEN else i + 1
        while self.code[i - 1].isspace():
            i -= 1
        return i

    def statement_end(self, at):
        """Behind the semicolon of the statement at `at`; None if a bracket closes first."""
        i = at
        while i < len(self.code):
            c = self.code[i]
            if c == ";":
                return i + 1
            if c in CLOSE:
                return None
            i = self.partner.get(i, len(self.code)) + 1 if c in OPEN else i + 1
        return None

    def statement_starts(self):
        """Where statements may begin: some of these are none."""
        for i, c in enumerate(self.code):
            if c in ";{}":
                yield self.skip_space(i + 1)
        for match in re.finditer(r"\b(?:if(?: constexpr)?|for|while) (\()", self.code):
            yield self.skip_space(self.partner.get(match.start(1), match.start(1)) + 1)
        for match in re.finditer(r"\belse\b|\bcase [^;{}]*?[^:]:(?!:)|\bdefault:", self.code):
            yield self.skip_space(match.end())

    def return_type(self, at):
        """Of the function around `at`, as it is written; empty if that is not seen."""
        head = None
        for match in FUNCTION.finditer(self.code, 0, at):
            head = match
        return re.sub(r"\b(static|inline|constexpr)\b|\[\[\w+\]\]", "", head["type"]).strip() if head else ""


FUNCTION = re.compile(r"^(?:  )?(?!return\b|else\b|using\b|namespace\b|struct\b|class\b|enum\b|case\b)(?P<type>(?:[\w:]+(?:<[^;{}()]*>)?[ *&]+)+)[\w:~]+\((?=[^;]*\{)", re.M)
