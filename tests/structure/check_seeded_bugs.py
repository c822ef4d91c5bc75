#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the switches of controller/core/seeded_bugs.h are in no release: a source that asks for them is compiled as a release
compiles it and must hold nothing of them (and must, with BERTH_SEEDED_BUGS, or this would show nothing); so must the release binary,
where one has been built, while berth-sim, made of the same objects, must hold them."""
import pathlib
import subprocess
import sys
import tempfile

MARK = b"seeded_bug"


def compiled(compiler, root, *flags):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "object.o"
        subprocess.run([compiler, "-std=c++20", "-O2", f"-I{root}", *flags, "-c", "-o", out, root / "controller/mig/situation.cc"],
                       check=True)
        return out.read_bytes()


def main(compiler, root):
    root = pathlib.Path(root).resolve()
    if MARK not in compiled(compiler, root, "-DBERTH_SEEDED_BUGS"):
        return "with BERTH_SEEDED_BUGS the object holds no switch: this check looks for the wrong thing"
    if MARK in compiled(compiler, root):
        return "an object of a release holds the switch"
    binary = root / "build/release/berth"
    if binary.exists() and MARK in binary.read_bytes():
        return f"{binary} holds the switch"
    simulation = root / "build/release/berth-sim"
    if simulation.exists() and MARK not in simulation.read_bytes():
        return f"{simulation} holds no switch: it was not made of the sources that ask for them"
    return None


if __name__ == "__main__":
    complaint = main(*sys.argv[1:])
    print(complaint or "no seeded bug is in a release")
    sys.exit(1 if complaint else 0)
