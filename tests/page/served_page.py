# SPDX-License-Identifier: Apache-2.0
"""The page as a built berth serves it: started, asked, and ended."""
import contextlib
import http.client
import pathlib
import re
import signal
import subprocess

from chromium import Trouble

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SNAPSHOT = ROOT / "tests/golden/why/pods/cluster.json"


def expect(true, words):
    if not true:
        raise Trouble(words)


@contextlib.contextmanager
def served(berth, *arguments, ended=0):
    """A berth that shows its page, and then ends so; yields the page's address."""
    process = subprocess.Popen([berth, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:\d+/ui/", line):
                yield found.group(0)
                break
        else:
            raise Trouble(f"{arguments[0]} names no page")
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        expect(process.wait(30) == ended, f"{arguments[0]} ended with {process.returncode}")
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def ask(address, path, method="GET", **heads):
    host = re.search(r"//([^/]+)/", address).group(1)
    connection = http.client.HTTPConnection(host, timeout=30)
    connection.putrequest(method, path, skip_host="Host" in heads, skip_accept_encoding=True)
    for name, value in heads.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def page_files(address):
    """By name, the page itself first."""
    names, new = {""}, [""]
    while new:
        text = ask(address, f"/ui/{new.pop()}")[1].decode()
        for name in re.findall(r'(?:src|href)="([\w.]+)"|from "\./([\w.]+)"', text):
            if (found := name[0] or name[1]) not in names:
                names.add(found)
                new.append(found)
    return sorted(names)
