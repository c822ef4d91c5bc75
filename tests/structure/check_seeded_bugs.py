#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the switches of controller/core/seeded_bugs.h are in no release. A source that asks for them, compiled as a release
compiles it, must hold nothing of them. With BERTH_SEEDED_BUGS it must hold them, or this would show nothing; so must berth-sim, which the
tests run. tests/package/check-image looks for them in the release binary."""
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


def main(compiler, root, simulation):
    root = pathlib.Path(root).resolve()
    if MARK not in compiled(compiler, root, "-DBERTH_SEEDED_BUGS"):
        return "with BERTH_SEEDED_BUGS the object holds no switch: this check looks for the wrong thing"
    if MARK in compiled(compiler, root):
        return "an object of a release holds the switch"
    if MARK not in pathlib.Path(simulation).read_bytes():
        return f"{simulation} holds no switch: it was not built with BERTH_SEEDED_BUGS"
    return None


if __name__ == "__main__":
    complaint = main(*sys.argv[1:])
    print(complaint or "no seeded bug is in a release")
    sys.exit(1 if complaint else 0)
