# SPDX-License-Identifier: Apache-2.0
"""Who catches what: each test tells which changes it comes across, and a change is tried on those tests alone."""
import collections
import concurrent.futures
import os
import re
import subprocess
import tempfile
import time

from tree import EXPLORATION

CAUGHT, SURVIVED = "caught", "survived"
QUICK = 0.2  # seconds: a test that takes longer is asked after all that take less


class Test:
    """One test of one program, with the changes it comes across and how long it takes."""

    def __init__(self, program, name, reached, seconds):
        self.program, self.name, self.reached, self.seconds = program, name, reached, seconds


class Judge:
    def __init__(self, tree, programs, jobs):
        self.build = tree.build
        self.programs = programs
        self.jobs = jobs
        self.known = tree.root / "tests/explore/known.txt"
        self.tests = []

    def _run(self, command, limit, **environment):
        """0: it passes. A hang and a crash are as good as a failure."""
        with tempfile.TemporaryDirectory(prefix="berth-mutation-") as scratch:
            try:
                done = subprocess.run(command, cwd=self.build, env={**os.environ, "TMPDIR": scratch, **environment}, timeout=limit,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            except subprocess.TimeoutExpired:
                return 124, ""
        return done.returncode, done.stdout.decode(errors="replace")

    def _run_tests(self, program, names, limit, **environment):
        """The names in a file: there may be more of them than an argument holds."""
        with tempfile.NamedTemporaryFile("w", prefix="berth-filter-") as flags:
            flags.write("--gtest_brief=1\n--gtest_fail_fast\n--gtest_filter=" + ":".join(names) + "\n")
            flags.flush()
            return self._run([self.build / program, f"--gtest_flagfile={flags.name}"], limit, **environment)

    def look(self, say):
        """Runs every test without a change."""
        listed = [(program, name) for program in self.programs for name in self._list(program)]
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for test, output in pool.map(lambda named: self._look_at(*named), listed):
                if output is None:
                    self.tests.append(test)
                else:
                    say(f"{test.program} {test.name} fails without a change, and is left out:\n{output[-1500:]}")
        say(f"{len(self.tests)} tests take {sum(test.seconds for test in self.tests):.0f} s")

    def _list(self, program):
        suite = ""
        for line in self._run([self.build / program, "--gtest_list_tests"], 60)[1].splitlines():
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

    def judge(self, number, path, explore_seconds):
        """CAUGHT or SURVIVED, and by whom or why. The folder's own tests are asked first, and of each program the quick ones."""
        own = f"{path.split('/')[-2]}_test"
        batches = collections.defaultdict(list)
        for test in self.tests:
            if number in test.reached:
                batches[test.program, test.seconds > QUICK].append(test)
        cost = {batch: sum(test.seconds for test in tests) for batch, tests in batches.items()}
        for program, slow in sorted(batches, key=lambda batch: (batch[0] != own, cost[batch])):
            names = [test.name for test in batches[program, slow]]
            if self._run_tests(program, names, 20 + 5 * cost[program, slow], BERTH_MUTANT=str(number))[0] != 0:
                return CAUGHT, program
        if explore_seconds > 0 and self._explore(number, explore_seconds):
            return CAUGHT, EXPLORATION
        return SURVIVED, "no test comes across it" if not batches else ""

    def _explore(self, number, seconds):
        command = [self.build / EXPLORATION, "--all", "--seconds", str(seconds), "--jobs", "1", "--known", self.known]
        return self._run(command, 10 * seconds + 60, BERTH_MUTANT=str(number))[0] != 0
