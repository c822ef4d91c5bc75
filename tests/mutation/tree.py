# SPDX-License-Identifier: Apache-2.0
"""A copy of the sources under build/mutation with the changes in it, built once: what does not compile is taken out again."""
import hashlib
import re
import subprocess

import operators

# Each answers by itself and at once; what needs a control plane, a browser or minutes is not among them.
PROGRAMS = """apis_test core_test fleet_test observe_test queue_test cost_test advise_test disruption_test mig_test health_test policy_test
admission_test reconcilers_test dump_test preview_test explain_test page_test import_test metrics_test kstatus_test examples_test
runtime_test scenario_test rollout_test""".split()
EXPLORATION = "berth-sim"
MOST_ROUNDS = 12


class Tree:
    def __init__(self, source, jobs):
        self.source = source
        self.root = source / "build/mutation"
        self.build = self.root / "build/quick"
        self.broken = self.root / "build/broken.txt"
        self.jobs = str(jobs)

    def copy(self, changed):
        """Brings the copy up to the sources, but for what is about to be changed; files that are the same stay untouched, so that
        little is compiled again."""
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=self.source,
                                stdout=subprocess.PIPE, check=True).stdout.decode().split("\0")
        files = [name for name in listed if name and (self.source / name).is_file()]
        for name in files:
            if name not in changed:
                self._put(name, (self.source / name).read_bytes(), (self.source / name).stat().st_mode)
        kept = set(files)
        for path in [p for folder in ("apis", "controller", "tests") for p in (self.root / folder).rglob("*") if p.is_file()]:
            if str(path.relative_to(self.root)) not in kept:
                path.unlink()

    def _put(self, name, content, mode=None):
        path = self.root / name
        if path.is_file() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if mode is not None:
            path.chmod(mode)

    def instrument(self, numbered):
        """`numbered`: number -> mutant. Writes every file that has any, and leaves out of `numbered` what did not compile the last time;
        returns those."""
        self.texts = {path: (self.source / path).read_text() for path in {mutant.path for mutant in numbered.values()}}
        known = set(self.broken.read_text().splitlines()) if self.broken.is_file() else set()
        dropped = {number: mutant for number, mutant in numbered.items() if self._identity(mutant) in known}
        for number in dropped:
            del numbered[number]
        for path in sorted(self.texts):
            self._write(path, numbered)
        return dropped

    def _identity(self, mutant):
        return f"{hashlib.sha256(self.texts[mutant.path].encode()).hexdigest()[:12]} {mutant.start} {mutant.key()}"

    def _write(self, path, numbered):
        own = [(number, mutant) for number, mutant in numbered.items() if mutant.path == path]
        self._put(path, (operators.instrument(self.texts[path], own) if own else self.texts[path]).encode())

    def compile(self, numbered, programs, say):
        """Builds the programs, leaving out of `numbered` what does not compile; returns those."""
        if not (self.build / "build.ninja").is_file():
            # With the library's assertions: a change that looks into an empty optional ends the program, whatever lies there.
            subprocess.run(["cmake", "-S", self.root, "-B", self.build, "-G", "Ninja", "-Wno-dev", "-DCMAKE_BUILD_TYPE=Release",
                            "-DCMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS", "-DBERTH_QUICK=ON", "-DBERTH_UNITY=ON", "-DBERTH_BENCH=OFF"],
                           check=True, stdout=subprocess.DEVNULL)
        dropped = {}
        for _ in range(MOST_ROUNDS):
            built = subprocess.run(["ninja", "-C", self.build, "-j", self.jobs, "-k", "0", *programs],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
            if built.returncode == 0:
                return dropped
            wrong = self._blame(built.stdout, numbered)
            if not wrong:
                raise SystemExit(f"mutate: the build fails, and no change is to blame:\n{built.stdout[-4000:]}")
            say(f"{len(wrong)} do not compile")
            for number in wrong:
                dropped[number] = numbered.pop(number)
            with self.broken.open("a") as broken:
                broken.writelines(self._identity(dropped[number]) + "\n" for number in sorted(wrong))
            for path in {dropped[number].path for number in wrong}:
                self._write(path, numbered)
        raise SystemExit(f"mutate: still no build after {MOST_ROUNDS} rounds")

    def _blame(self, output, numbered):
        """The mutants on the lines where the compiler stumbles; all of a file, if there are none on the very lines."""
        wrong = set()
        for path, line in set(re.findall(r"^(?:\S*/)?((?:apis|controller)/\S+\.cc):(\d+):\d+: (?:fatal )?error", output, re.M)):
            own = {number: mutant for number, mutant in numbered.items() if mutant.path == path}
            hit = {number for number, mutant in own.items()
                   if mutant.line <= int(line) <= mutant.line + self.texts[path].count("\n", mutant.start, mutant.end)}
            wrong |= hit or set(own)
        return wrong
