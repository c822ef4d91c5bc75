# SPDX-License-Identifier: Apache-2.0
"""Who catches what: each test tells which changes it comes across, and a change is tried on those tests alone."""
import collections
import concurrent.futures
import math
import os
import re
import subprocess
import tempfile
import time

from tree import EXPLORATION

CAUGHT, SURVIVED = "caught", "survived"
QUICK = 0.2  # seconds: a test that takes longer is asked after all that take less
OUT_OF_TIME = 124
MEMORY = 6 << 30  # bytes of addresses: a loop that has lost its end may take memory rather than time
ARENA = 32 << 30  # of those that the exploration keeps for itself when it starts (tests/explore/arena.cc)


class Test:
    """One test of one program, with the changes it comes across and how long it takes."""

    def __init__(self, program, name, reached, seconds):
        self.program, self.name, self.reached, self.seconds = program, name, reached, seconds


class Judge:
    def __init__(self, tree, programs, jobs):
        self.build = tree.build
        self.programs = programs
        self.jobs = jobs
        self.explore_seconds = 0
        self.known = tree.root / "tests/explore/known.txt"
        self.tests = []

    def _run(self, command, limit, memory=MEMORY, **environment):
        """0: it passes. A crash is as good as a failure, and so is a loop that has used `limit` seconds of the processor. By the clock
        it has ten times as long, as others may be at work on the machine; OUT_OF_TIME, if it takes longer, says nothing of a change."""
        with tempfile.TemporaryDirectory(prefix="berth-mutation-") as scratch:
            try:
                done = subprocess.run(["prlimit", f"--cpu={math.ceil(limit)}", f"--as={memory}", "--", *command], cwd=self.build, timeout=60 + 10 * limit,
                                      env={**os.environ, "TMPDIR": scratch, **environment},
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            except subprocess.TimeoutExpired:
                return OUT_OF_TIME, f"{command[0]} does not end\n"
        return done.returncode, done.stdout.decode(errors="replace")

    def _run_tests(self, program, names, limit, **environment):
        """The names in a file: there may be more of them than an argument holds."""
        with tempfile.NamedTemporaryFile("w", prefix="berth-filter-") as flags:
            flags.write("--gtest_brief=1\n--gtest_fail_fast\n--gtest_filter=" + ":".join(names) + "\n")
            flags.flush()
            return self._run([self.build / program, f"--gtest_flagfile={flags.name}"], limit, **environment)

    def look(self, explore_seconds, say):
        """Runs every test without a change, and explores."""
        listed = [(program, name) for program in self.programs for name in self._list(program)]
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for test, output in pool.map(lambda named: self._look_at(*named), listed):
                if output is None:
                    self.tests.append(test)
                else:
                    say(f"{test.program} {test.name} fails without a change, and is left out:\n{output[-1500:]}")
        say(f"{len(self.tests)} tests take {sum(test.seconds for test in self.tests):.0f} s")
        self.explore_seconds = explore_seconds
        if explore_seconds > 0:
            code, output = self._explore(0)
            if code != 0:
                self.explore_seconds = 0
                say(f"{EXPLORATION} fails without a change, and is left out:\n{output[-1500:]}")

    def _list(self, program):
        suite = ""
        for line in self._run([self.build / program, "--gtest_list_tests"], 600)[1].splitlines():
            if re.match(r"[\w/]+\.( |$)", line):
                suite = line.split()[0]
            elif suite and line.startswith("  "):
                yield suite + line.split()[0]

    def _look_at(self, program, name):
        """The test, and what it printed if it failed."""
        with tempfile.NamedTemporaryFile("r", prefix="berth-reached-") as reached:
            start = time.monotonic()
            code, output = self._run_tests(program, [name], 600, BERTH_MUTANT="0", BERTH_MUTANTS_REACHED=reached.name)
            test = Test(program, name, {int(line) for line in reached.read().split()}, time.monotonic() - start)
        return test, None if code == 0 else output

    def judge(self, number, path):
        """CAUGHT or SURVIVED, and by whom or why. The folder's own tests are asked first, and of each program the quick ones."""
        own = f"{path.split('/')[-2]}_test"
        batches, unsure = collections.defaultdict(list), []
        for test in self.tests:
            if number in test.reached:
                batches[test.program, test.seconds > QUICK].append(test)
        cost = {batch: sum(test.seconds for test in tests) for batch, tests in batches.items()}
        for program, slow in sorted(batches, key=lambda batch: (batch[0] != own, cost[batch])):
            names = [test.name for test in batches[program, slow]]
            code = self._run_tests(program, names, 20 + 5 * cost[program, slow], BERTH_MUTANT=str(number))[0]
            if code == OUT_OF_TIME:
                unsure.append(program)
            elif code != 0:
                return CAUGHT, program
        if self.explore_seconds > 0:
            code = self._explore(number)[0]
            if code == OUT_OF_TIME:
                unsure.append(EXPLORATION)
            elif code != 0:
                return CAUGHT, EXPLORATION
        if unsure:
            return SURVIVED, f"{', '.join(unsure)} did not end in time"
        return SURVIVED, "no test comes across it" if not batches else ""

    def _explore(self, number):
        command = [self.build / EXPLORATION, "--all", "--seconds", str(self.explore_seconds),
                   "--crash-point-seconds", str(max(1, self.explore_seconds * 2 // 3)), "--jobs", "1", "--known", self.known]
        return self._run(command, 60 + 10 * self.explore_seconds, MEMORY + ARENA, BERTH_MUTANT=str(number))
