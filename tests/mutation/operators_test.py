#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every change that scripts/mutate knows, on a program in which each one shows: with none it behaves as before, with each otherwise."""
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import operators  # noqa: E402

PROGRAM = r"""// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

// if (a == b) return; none of this is code: x < y
struct Pair {
  int a, b;
};

bool equal(const Pair& p) {
  return p.a == p.b;
}

bool between(int low, int x, int high) {
  if (low <= x && x < high) return true;
  return false;
}

bool either(const std::vector<int>& values, bool other) {
  return values.empty() ||
         other;
}

std::optional<int> half(int x) {
  if (const int rest = x % 2; rest != 0) return std::nullopt;
  return x / 2;
}

void count_up(int& total, int to) {
  if (to > 5) return;
  for (int i = 0; i < to; ++i) {
    if (i == 1) continue;
    if (i == 4)
      break;
    total += i;
  }
  total = total * 2;
}

int main() {
  int total = 1;
  count_up(total, 5);
  count_up(total, 6);
  count_up(total, 0);
  std::string text = R"(x == y && "z";)";
  text.push_back('"');
  text.reserve(100);
  for (int a = 0; a < 2; ++a)
    std::printf("%d %d", equal({a, 1}), either({}, a == 0));
  for (int x = 0; x < 4; ++x) std::printf("%d", between(1, x, 3));
  for (const bool other : {false, true}) std::printf("%d", either({1}, other));
  for (int x = 0; x < 4; ++x) std::printf(" %d", half(x).value_or(-1));
  std::printf(" %d %s\n", total, text.c_str());
}

// Switched off in this build, or over before it runs: not worth a change.
static_assert(sizeof(char) <= 1);
#define seeded(bug) false
void switched_off(int& total) {
  if (seeded(kOne)) total = 0;
  if (seeded(kTwo)) {
    total = 1;
  }
}
"""
EXPECTED = """
13 == is !=: p.a == p.b
13 returns the opposite: p.a == p.b
17 < is <=: x < high
17 <= is <: low <= x
17 negated: low <= x && x < high
17 returns the opposite: true
17 side of && dropped: low <= x
17 side of && dropped: x < high
18 returns the opposite: false
22 returns the opposite: values.empty() || other
22 side of || dropped: values.empty()
23 side of || dropped: other
27 != is ==: rest != 0
27 negated: rest != 0
28 returns nothing: return x / 2;
32 > is >=: to > 5
32 early return dropped: return;
32 negated: to > 5
33 < is <=: i < to
34 == is !=: i == 1
34 dropped: continue;
34 negated: i == 1
35 == is !=: i == 4
35 negated: i == 4
36 dropped: break;
37 dropped: total += i;
39 dropped: total = total * 2;
44 dropped: count_up(total, 5);
45 dropped: count_up(total, 6);
46 dropped: count_up(total, 0);
48 dropped: text.push_back('"');
50 < is <=: a < 2
51 == is !=: a == 0
51 dropped: std::printf("%d %d", equal({a, 1}), either({}, a == 0));
52 < is <=: x < 4
52 dropped: std::printf("%d", between(1, x, 3));
53 dropped: std::printf("%d", either({1}, other));
54 < is <=: x < 4
54 dropped: std::printf(" %d", half(x).value_or(-1));
55 dropped: std::printf(" %d %s\\n", total, text.c_str());
"""
# count_up does nothing for 6, stops at 4 and adds 0 at first; an empty vector is `either` whatever the other says.
SAME = {"33 < is <=: i < to", "45 dropped: count_up(total, 6);", "51 == is !=: a == 0"}


def main(compiler, source):
    found = operators.find_mutants("program.cc", PROGRAM)
    told = [f"{mutant.line} {mutant.kind}: {mutant.text}" for mutant in found]
    wanted = EXPECTED.strip().splitlines()
    faults = [f"not found: {line}" for line in wanted if line not in told] + [f"found: {line}" for line in told if line not in wanted]

    with tempfile.TemporaryDirectory(prefix="berth-mutation-") as folder:
        path = pathlib.Path(folder)
        (path / "program.cc").write_text(operators.instrument(PROGRAM, list(enumerate(found, 1))))
        subprocess.run([compiler, "-std=c++20", "-I", source, "-o", path / "program", path / "program.cc"], check=True)

        def run(number, reached="/dev/null"):
            return subprocess.run([path / "program"], env={"BERTH_MUTANT": str(number), "BERTH_MUTANTS_REACHED": str(reached)},
                                  stdout=subprocess.PIPE, timeout=60).stdout

        plain = run(0, path / "reached")
        if plain != b'0 11 1011001 0 -1 1 -1 24 x == y && "z";"\n':
            faults.append(f"without a change it prints {plain}")
        for number, mutant in enumerate(found, 1):
            line = f"{mutant.line} {mutant.kind}: {mutant.text}"
            if (run(number) == plain) != (line in SAME):
                faults.append(f"as before with, or otherwise though it should not be: {line}")
        reached = {int(line) for line in (path / "reached").read_text().split()}
        if reached != set(range(1, len(found) + 1)):
            faults.append(f"not come across: {set(range(1, len(found) + 1)) - reached}")
    print("\n".join(faults) or f"{len(found)} changes, each as it should be")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
