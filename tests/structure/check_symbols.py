#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the symbols that the pure archives leave undefined and fails on any that reaches into the world.

A reconciler is a function of its snapshot: no clock, no environment, no randomness, no files, no network, no threads. Linking
would not catch a stray getenv(); this does. What the C++ runtime itself needs is on the allow-list below."""
import re
import subprocess
import sys

FORBIDDEN = re.compile(
    r"""^(
      uv_\w+ | curl_\w+ | SSL_\w+ | lws_\w+ | spdlog::.* |
      clock_gettime | gettimeofday | time | localtime(_r)? | gmtime(_r)? | nanosleep | usleep | sleep |
      getenv | secure_getenv | setenv | putenv |
      rand | srand | random | rand_r | drand48 | getrandom | getentropy | std::random_device::.* |
      open | open64 | openat | fopen | fopen64 | read | write | stat | opendir | unlink |
      socket | connect | bind | listen | accept | send | sendto | recv | recvfrom | getaddrinfo |
      pthread_create | std::thread::.* | std::this_thread::.* | fork | execv\w* | popen | system |
      std::chrono::_V2::(system|steady)_clock::now.* |
      std::basic_[io]?fstream.* | std::basic_filebuf.*
    )$""",
    re.VERBOSE,
)


def undefined_symbols(archive):
    out = subprocess.run(["nm", "-uC", archive], capture_output=True, text=True, check=True).stdout
    member = "?"
    for line in out.splitlines():
        if line.endswith(":"):
            member = line[:-1]
        elif match := re.match(r"\s+[Uw] (.*)", line):
            # glibc decorates with @VERSION; arguments are not part of the name.
            name = match.group(1).split("@")[0]
            yield member, re.sub(r"\(.*", "", name) if not name.startswith("std::basic_") else name


def main(archives):
    bad = [(a, m, s) for a in archives for m, s in undefined_symbols(a) if FORBIDDEN.match(s)]
    for archive, member, symbol in bad:
        print(f"{archive}({member}): the pure core calls {symbol}")
    print(f"{len(archives)} archives read, {len(bad)} forbidden symbols")
    return 1 if bad or not archives else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
