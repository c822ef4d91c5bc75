#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_version.py CMAKE: which version cmake/BerthVersion.cmake makes of a tagged tree, of one beside a tag, of one that was changed, of an
archive and of files alone."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CMAKE = sys.argv[1]


def git(folder, *args):
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"]
    return subprocess.run(["git", *who, "-C", folder, *args], check=True, capture_output=True, text=True).stdout.strip()


def told(folder, *flags):
    run = subprocess.run([CMAKE, f"-DBERTH_SOURCE={folder}", "-DBERTH_RELEASE=1.2.0", *flags, "-P", ROOT / "cmake/BerthVersion.cmake"],
                         check=True, capture_output=True, text=True)
    return run.stdout.split()


def main():
    complaints = []

    def expect(what, have, *want):
        for i, part in enumerate(want):
            if have[i] != part:
                complaints.append(f"{what}: {have}, expected {want}")
                return

    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        clone = scratch / "clone"
        (clone / "cmake").mkdir(parents=True)
        shutil.copy(ROOT / "cmake/archive-stamp.txt", clone / "cmake")
        shutil.copy(ROOT / ".gitattributes", clone)
        git(clone, "init", "-q")
        git(clone, "add", ".")
        git(clone, "commit", "-qm", "one")
        one = git(clone, "rev-parse", "HEAD")
        expect("without any tag", told(clone), f"1.2.0-dev.g{one[:7]}", one)
        git(clone, "tag", "-am", "one", "v1.2.0")
        expect("tagged", told(clone), "1.2.0", one, git(clone, "log", "-1", "--format=%cI"), "clean")

        (scratch / "archive").mkdir()
        tar = subprocess.run(["git", "-C", clone, "archive", "HEAD"], check=True, capture_output=True).stdout
        subprocess.run(["tar", "x", "-C", scratch / "archive"], input=tar, check=True)
        expect("an archive of the tag", told(scratch / "archive"), "1.2.0", one)

        git(clone, "commit", "-qm", "two", "--allow-empty")
        two = git(clone, "rev-parse", "HEAD")
        expect("a commit past the tag", told(clone), f"1.2.0-dev.1.g{two[:7]}", two)
        (clone / ".gitattributes").write_text("")
        expect("changed", told(clone), f"1.2.0-dev.1.g{two[:7]}.dirty", two)
        expect("by a stamp", told(clone, f"-DBERTH_STAMP=v1.2.0 {one} 2026-01-01T00:00:00Z"), "1.2.0", one, "2026-01-01T00:00:00Z", "clean")

        shutil.rmtree(clone / ".git")
        expect("files alone", told(clone), "1.2.0", "unknown", "unknown", "unknown")
        stamp = subprocess.run([ROOT / "scripts/version-stamp"], capture_output=True, text=True)
        if stamp.returncode == 0:  # of a clone
            expect("what scripts/version-stamp prints", told(clone, f"-DBERTH_STAMP={stamp.stdout.strip()}")[1:], git(ROOT, "rev-parse", "HEAD"))
    print("\n".join(complaints) if complaints else "each is told apart")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
