# SPDX-License-Identifier: Apache-2.0
"""The programs that are measured: where they are, how they are built and run."""
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = ROOT / "build" / "lto"  # or what --build names
PEERS = BUILD / "peers"
SCHEDULES = 5_000


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def call(*command, **options):
    """Runs a command whose chatter goes to stderr; returns nothing, fails loudly."""
    subprocess.run([str(c) for c in command], check=True, stdout=sys.stderr, **options)


def output(*command, **options):
    return subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE, text=True, **options).stdout.strip()


def build(targets):
    say(f"building {', '.join(targets)} (lto)")
    call("cmake", "--preset", "lto", "-Wno-dev", cwd=ROOT)
    call(ROOT / "scripts" / "build", "lto", *targets, cwd=ROOT)


def build_peers():
    go = output(ROOT / "scripts" / "go-toolchain")
    PEERS.mkdir(parents=True, exist_ok=True)
    say("building the peers' programs")
    environment = dict(os.environ, PATH=f"{go}:{os.environ['PATH']}", CGO_ENABLED="0")
    call("go", "build", "-trimpath", "-o", f"{PEERS}/", "./...", cwd=HERE / "peers", env=environment)


def stripped(folder):
    binary = Path(folder) / "berth"
    call("strip", "-o", binary, BUILD / "berth")
    return binary


def explore():
    """A fair sample of the fault exploration, as ctest runs it whole."""
    say("fault exploration")
    call("cmake", "--preset", "release", "-Wno-dev", cwd=ROOT)
    call(ROOT / "scripts" / "build", "explore", cwd=ROOT)
    return json.loads(output(ROOT / "build" / "release" / "berth-sim", "--all", "--budget", SCHEDULES, "--no-days", "--json"))


def on_plane(program, *arguments):
    """What a program says that measures the queue on a control plane of its own."""
    say(program)
    return json.loads(output("/usr/bin/python3", HERE / f"{program}.py", BUILD, *map(str, arguments)))
