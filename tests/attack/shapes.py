# SPDX-License-Identifier: Apache-2.0
"""Attacks by what is said: requests that are none, and reviews that are huge."""
import http.client
import json
import socket

from crowds import MIB, TLS, over_and_over, post
from legit import DEADLINE_S, review

HOST = b"Host: x\r\n"
LINE = b"POST /validate HTTP/1.1\r\n"

# what is said → the statuses that are right; b"" for a connection that is closed without an answer
HTTP1 = [
    (LINE + HOST + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {400}),
    (LINE + HOST + b"Content-Length: 1\r\nTransfer-Encoding: xchunked\r\n\r\nx", {400}),
    (LINE + HOST + b"Content-Length: 1\r\nTransfer-Encoding: identity\r\n\r\nx", {400}),
    (LINE + HOST + b"Content-Length: 1\r\nTransfer-Encoding: chunked, identity\r\n\r\nx", {400}),
    (LINE + HOST + b"Content-Length: 1\r\nTransfer-Encoding : chunked\r\n\r\nx", {400}),
    (LINE + HOST + b"Transfer-Encoding: gzip\r\n\r\n", {501}),
    (LINE + HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n", {501}),
    (LINE + HOST + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", {411}),
    (LINE + HOST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nx", {400}),
    (LINE + HOST + b"Content-Length: 18446744073709551616\r\n\r\n", {400}),
    (LINE + HOST + b"Content-Length: 18446744073709551615\r\n\r\n", {400, 413}),
    (LINE + HOST + b"Content-Length: -1\r\n\r\n", {400}),
    (LINE + HOST + b"Content-Length: +1\r\n\r\nx", {400}),
    (LINE + HOST + b"Content-Length: 0x1\r\n\r\nx", {400}),
    (LINE + HOST + b"Content-Length: 8388608\r\n\r\n", {413}),
    (LINE + HOST + b"\r\n", {411}),
    (LINE + HOST + b"Host: y\r\nContent-Length: 1\r\n\r\nx", {400}),
    (LINE + b"Content-Length: 1\r\n\r\nx", {400}),
    (LINE + HOST + b"X: a\r\n b\r\nContent-Length: 1\r\n\r\nx", {400, 415}),
    (LINE + HOST + b"X: a\0b\r\nContent-Length: 1\r\n\r\nx", {400}),
    (LINE + HOST + b"X: " + b"y" * 8192 + b"\r\n\r\n", {431}),
    (b"POST /validate HTTP/1.1\n" + b"Host: x\nContent-Length: 1\n\nx", {400}),
    (b"POST  /validate HTTP/1.1\r\n" + HOST + b"\r\n", {400}),
    (b"POST /validate HTTP/9.9\r\n" + HOST + b"\r\n", {400}),
    (b"PUT /validate HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\n\r\nx", {405}),
    (b"CONNECT x:1 HTTP/1.1\r\n" + HOST + b"\r\n", {405}),
    (b"GET /validate HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\n\r\nx", {400}),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", {400}),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400}),
]


def status_of(connection, said):
    """Of the answer; nothing if the connection was closed without one."""
    connection.settimeout(DEADLINE_S)
    connection.sendall(said)
    with connection.makefile("rb") as answer:
        line = answer.readline()
    return int(line.split()[1]) if line.startswith(b"HTTP/1.1 ") else None


def http1_shapes(attacker):
    wrong = []
    for said, right in HTTP1:
        with attacker.tls() as connection:
            status = status_of(connection, said)
        if status not in right:
            wrong.append(f"{status} to {said[:120]!r}")
    attacker.stand()
    if wrong:
        raise AssertionError("; ".join(wrong))


def pipelines(attacker):
    body = review()
    def once():
        with attacker.tls() as connection:
            connection.settimeout(DEADLINE_S)
            connection.sendall(post(len(body), body) * 50 + post(len(body), body, more="Connection: close\r\n"))
            while connection.recv(65536):
                pass
    over_and_over(attacker, once)


def huge(kind, group, around, item, size):
    """A review of about so many bytes, nearly all of which is one list of this item."""
    mark = "@"
    spec = json.loads(json.dumps(around).replace('"@"', '["@"]'))
    text = review(kind, group, spec)
    room = size - len(text)
    return text.replace(f'"{mark}"'.encode(), b",".join([item] * (room // (len(item) + 1))))


GPU = b'{"name":"c","image":"i","resources":{"limits":{"nvidia.com/gpu":"1"}}}'
SHAPES = [
    ("Pod", "", {"tolerations": "@"}, b"{}"),
    ("Pod", "", {"containers": "@"}, b"{}"),
    ("Pod", "", {"containers": "@"}, GPU),
    ("Pod", "", {"initContainers": "@"}, GPU),
    ("Pod", "", {"volumes": "@"}, b"{}"),
    ("Pod", "", {"containers": [{"name": "c", "env": "@"}]}, b"{}"),
    ("Pod", "", {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": "@"}}}}, b"{}"),
    ("Job", "batch", {"template": {"spec": {"containers": "@"}}}, GPU),
    ("MIGLayout", "gpu.berth.dev", {"devices": "@"}, b"{}"),
]


def huge_reviews(attacker):
    """As large as any may be, and larger, by each path. Whatever the answer is, there is one."""
    def send(path, body):
        connection = http.client.HTTPSConnection("127.0.0.1", attacker.ports["reviews"], timeout=60, context=TLS,
                                                 source_address=(attacker.source, 0))
        attacker.attempts.value += 1
        try:
            connection.request("POST", path, body=body, headers={"Content-Type": "application/json"})
            connection.getresponse().read()
        except (http.client.HTTPException, OSError, socket.timeout):
            pass  # it lost its place, or was refused while it was still sending
        finally:
            connection.close()
    attacker.stand()
    for size in ([64 << 10, 2 * MIB] if attacker.scale.full else []) + [4 * MIB - 100, 7 * MIB]:
        for kind, group, around, item in SHAPES:
            for path in ("/mutate", "/validate"):
                send(path, huge(kind, group, around, item, size))


def terms(count, expression):
    """A pod for one GPU that may land where any of these says: each is held against every node."""
    spread = {"nodeSelectorTerms": [{"matchExpressions": [expression(number)]} for number in range(count)]}
    return review(spec={"containers": [json.loads(GPU)],
                        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": spread}}})


PLACEMENTS = [
    terms(500, lambda number: {"key": "pool", "operator": "In", "values": [f"x{number}"]}),
    terms(500, lambda number: {"key": "kubernetes.io/hostname", "operator": "In", "values": [f"n{number}"]}),
    terms(340, lambda number: {"key": "nvidia.com/gpu.count", "operator": "Gt", "values": [str(1000 + number)]}),
]


def placements(attacker):
    """Sixteen senders of pods whose affinities are work, as fast as they are answered."""
    senders = [http.client.HTTPSConnection("127.0.0.1", attacker.ports["reviews"], timeout=DEADLINE_S, context=TLS,
                                           source_address=(attacker.source, 0)) for _ in range(16)]
    asked = 0
    while not attacker.over():
        for sender in senders:
            asked += 1
            sender.request("POST", "/validate", body=PLACEMENTS[asked % len(PLACEMENTS)], headers={"Content-Type": "application/json"})
        attacker.stand()
        for sender in senders:
            answer = sender.getresponse()
            said = answer.read()
            attacker.attempts.value += 1
            if answer.status != 200:
                raise AssertionError(f"{answer.status} {said[:200]!r}")
    for sender in senders:
        sender.close()
