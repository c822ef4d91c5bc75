# SPDX-License-Identifier: Apache-2.0
"""Attacks by connections: many of them, and what they say, if anything. An attack gets an Attacker, and goes on until it is told to stop."""
import os
import selectors
import socket
import ssl
import time
from dataclasses import dataclass

from legit import review

MIB = 1 << 20  # bodies are announced as large as they may be
TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
TLS.check_hostname, TLS.verify_mode = False, ssl.CERT_NONE


@dataclass(frozen=True)
class Scale:
    max_requests: int  # the webhook's flag
    connections: int   # of the largest crowd
    reviews: int       # asked beside each attack
    nodes: int
    full: bool

    @property
    def places(self):
        """For connections, as berth has them."""
        return 2 * self.max_requests + 16


LONG = Scale(256, 10_000, 1000, 10_000, True)  # as the chart has it by default
SHORT = Scale(48, 600, 25, 20, False)


class Attacker:
    """Runs in a process of its own. `attempts` counts connections, requests or frames, whichever the attack is made of."""

    def __init__(self, ports, stands, stop, attempts, scale, source="127.0.0.2"):
        self.ports, self.scale, self.source = ports, scale, source  # another pod's address, or the API server's
        self.stands, self.stop, self.attempts = stands, stop, attempts

    def over(self):
        return self.stop.is_set()

    def stand(self):
        """What it is about has been reached: from here on others are asked how they fare."""
        self.stands.set()

    def tcp(self, port="reviews"):
        connection = socket.socket()
        connection.setsockopt(socket.IPPROTO_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT: or ports would be used up
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.bind((self.source, 0))
        connection.settimeout(20)
        connection.connect(("127.0.0.1", self.ports[port]))
        self.attempts.value += 1
        return connection

    def tls(self):
        return TLS.wrap_socket(self.tcp())


def post(length, body=b"", path="/validate", more=""):
    return (f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{more}\r\n").encode() + body


def hold(attacker, count, open_one, tick=lambda connection: None, pause_s=0.2):
    """Keeps so many connections; one that is closed is opened anew, and each gets a tick now and then."""
    selector = selectors.DefaultSelector()
    ticked = time.monotonic()

    def fill():
        while len(selector.get_map()) < count and not attacker.over():
            try:
                selector.register(open_one(), selectors.EVENT_READ)
            except (OSError, ValueError):
                return
    fill()
    attacker.stand()
    while not attacker.over():
        for key, _ in selector.select(pause_s):
            try:
                if key.fileobj.recv(65536):
                    continue
            except (ssl.SSLWantReadError, BlockingIOError):
                continue
            except OSError:
                pass
            selector.unregister(key.fileobj)
            key.fileobj.close()
        if time.monotonic() - ticked > pause_s:
            ticked = time.monotonic()
            for key in list(selector.get_map().values()):
                try:
                    tick(key.fileobj)
                except OSError:
                    pass
        fill()


def saying(attacker, text, connect):
    """Opens connections that begin by saying this."""
    def open_one():
        connection = connect()
        connection.sendall(text)
        connection.setblocking(False)
        return connection
    return open_one


def announced_bodies(attacker):
    hold(attacker, 12, saying(attacker, post(4 * MIB - 1, b"{"), attacker.tls))


def small_bodies(attacker):
    hold(attacker, attacker.scale.max_requests + 32, saying(attacker, post(2, b"{"), attacker.tls))


def stuck_bodies(attacker):
    hold(attacker, 8, saying(attacker, post(4 * MIB - 1, b" " * (4 * MIB - 2)), attacker.tls))


def dripping_bodies(attacker):
    hold(attacker, 64, saying(attacker, post(60000, b"{"), attacker.tls), lambda connection: connection.send(b" "))


def silent_after_handshake(attacker):
    hold(attacker, attacker.scale.places + 32, saying(attacker, b"", attacker.tls))


def silent_after_handshake_same_address(attacker):
    attacker.source = "127.0.0.1"
    silent_after_handshake(attacker)


def asked_once(attacker):
    hold(attacker, attacker.scale.places + 32, saying(attacker, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", attacker.tls))


def without_handshake(attacker):
    hold(attacker, attacker.scale.places + 200, saying(attacker, b"", attacker.tcp))


def as_many_as_can_be(attacker):
    hold(attacker, attacker.scale.connections, saying(attacker, b"", attacker.tcp))


def on_health(attacker):
    hold(attacker, 264, saying(attacker, b"", lambda: attacker.tcp("health")))


def on_metrics(attacker):
    hold(attacker, 264, saying(attacker, b"", lambda: attacker.tcp("metrics")))


def unread_metrics(attacker):
    hold_unread(attacker, 64, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 50, lambda: attacker.tcp("metrics"))


def unread_answers(attacker):
    body = review()
    hold_unread(attacker, 64, post(len(body), body) * 200, attacker.tls)


def hold_unread(attacker, count, text, connect):
    """Asks over and over and never reads: who is closed for it comes again."""
    connections = []
    while not attacker.over():
        if len(connections) == count:
            attacker.stand()
            time.sleep(0.05)
        for connection in list(connections):
            try:
                connection.send(text)
            except (ssl.SSLWantWriteError, BlockingIOError):
                pass
            except OSError:
                connections.remove(connection)
                connection.close()
        if len(connections) < count:
            try:
                connections.append(connect())
                connections[-1].setblocking(False)
            except OSError:
                pass
    for connection in connections:
        connection.close()


def slow_heads(attacker):
    hold(attacker, attacker.scale.places - 8, saying(attacker, b"POST /validate HTTP/1.1\r\nHost: x\r\n", attacker.tls), lambda connection: connection.send(b"a: b\r\n"),
         1)


def half_closed(attacker):
    def open_one():
        connection = saying(attacker, b"POST /validate HT", attacker.tcp)()
        connection.shutdown(socket.SHUT_WR)
        return connection
    hold(attacker, attacker.scale.places // 2, open_one)


def over_and_over(attacker, once):
    """As fast as it goes."""
    while not attacker.over():
        for _ in range(10):
            try:
                once()
            except OSError:
                pass
        attacker.stand()


def handshakes(attacker):
    over_and_over(attacker, lambda: attacker.tls().close())


def garbage(attacker):
    def once():
        with attacker.tcp() as connection:
            connection.sendall(os.urandom(200))
    over_and_over(attacker, once)


def knocks(attacker):
    """Connections that are gone as soon as they stand."""
    over_and_over(attacker, lambda: attacker.tcp().close())


BODIES = [announced_bodies, small_bodies, stuck_bodies, dripping_bodies]
CROWDS = [silent_after_handshake, silent_after_handshake_same_address, asked_once, without_handshake, as_many_as_can_be, slow_heads,
          half_closed, handshakes, garbage, knocks]
UNREAD = [unread_answers]
PROBED = [on_health, on_metrics, unread_metrics]
