# SPDX-License-Identifier: Apache-2.0
"""Who catches what: each suite tells which changes it comes across, and a change is tried on those suites alone."""
import collections
import os
import re
import subprocess
import tempfile
import time

from tree import EXPLORATION

CAUGHT, SURVIVED = "caught", "survived"


class Suite:
    """Tests of one program that run together, with what they reach and how long they take."""

    def __init__(self, program, name, reached, seconds):
        self.program, self.name, self.reached, self.seconds = program, name, reached, seconds


class Judge:
    def __init__(self, tree, programs):
        self.build = tree.build
        self.programs = programs
        self.known = tree.root / "tests/explore/known.txt"
        self.suites = []

    def _run(self, command, limit, **environment):
        """0: it passes. A hang and a crash are as good as a failure."""
        with tempfile.TemporaryDirectory(prefix="berth-mutation-") as scratch:
            try:
                done = subprocess.run(command, cwd=self.build, env={**os.environ, "TMPDIR": scratch, **environment}, timeout=limit,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            except subprocess.TimeoutExpired:
                return 124, ""
        return done.returncode, done.stdout.decode(errors="replace")

    def look(self, say):
        """Runs every suite without a change."""
        for program in self.programs:
            listed = self._run([self.build / program, "--gtest_list_tests"], 60)[1]
            for name in re.findall(r"^(\S+)\.\s*(?:#.*)?$", listed, re.M):
                with tempfile.NamedTemporaryFile("r", prefix="berth-reached-") as reached:
                    start = time.monotonic()
                    code, output = self._run(self._command(program, [name]), 600, BERTH_MUTANT="0", BERTH_MUTANTS_REACHED=reached.name)
                    seconds = time.monotonic() - start
                    if code != 0:
                        say(f"{program} {name} fails without a change, and is left out:\n{output[-1500:]}")
                        continue
                    self.suites.append(Suite(program, name, {int(line) for line in reached.read().split()}, seconds))
        say(f"{len(self.suites)} suites take {sum(suite.seconds for suite in self.suites):.0f} s")

    def _command(self, program, suites):
        return [self.build / program, "--gtest_brief=1", "--gtest_fail_fast", "--gtest_filter=" + ":".join(f"{name}.*" for name in suites)]

    def judge(self, number, path, explore_seconds):
        """CAUGHT or SURVIVED, and by whom or why."""
        folder = path.split("/")[-2]
        by_program = collections.defaultdict(list)
        for suite in self.suites:
            if number in suite.reached:
                by_program[suite.program].append(suite)
        cost = {program: sum(suite.seconds for suite in suites) for program, suites in by_program.items()}
        for program in sorted(by_program, key=lambda program: (program != f"{folder}_test", cost[program])):
            names = [suite.name for suite in by_program[program]]
            if self._run(self._command(program, names), 20 + 5 * cost[program], BERTH_MUTANT=str(number))[0] != 0:
                return CAUGHT, program
        if explore_seconds > 0 and self._explore(number, explore_seconds):
            return CAUGHT, EXPLORATION
        return SURVIVED, "no suite comes across it" if not by_program else ""

    def _explore(self, number, seconds):
        command = [self.build / EXPLORATION, "--all", "--seconds", str(seconds), "--jobs", "1", "--known", self.known]
        return self._run(command, 10 * seconds + 60, BERTH_MUTANT=str(number))[0] != 0
