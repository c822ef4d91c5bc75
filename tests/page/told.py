# SPDX-License-Identifier: Apache-2.0
"""The page as a berth serves it, of a cluster that a test makes up and changes: the files are berth's, and what they ask for is told here."""
import http.server
import json
import threading
import urllib.parse


KINDS = ("nodes", "queues", "layouts", "waiting", "why")


class Told:
    """Serves `files`, by path as (type, bytes), and a state with what changes of it. `asked` has from where on it was followed."""

    def __init__(self, files, state):
        self.files, self.state, self.number, self.journal, self.asked = files, state, 1, {}, []
        self.news, self.cuts = threading.Condition(), 0
        told = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                told.answer(self, urllib.parse.urlsplit(self.path))

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_port}/ui/"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.cut()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, client, asked):
        if asked.path == "/ui/events":
            return self.follow(client, dict(urllib.parse.parse_qsl(asked.query))["since"])
        with self.news:
            document = self.state | {"id": f"told-{self.number}"}
        kind, body = ("application/json", json.dumps(document).encode()) if asked.path == "/ui/state" else self.files.get(asked.path, (None, b""))
        client.send_response(200 if kind else 404)
        client.send_header("content-type", kind or "text/plain")
        client.send_header("content-length", str(len(body)))
        client.end_headers()
        client.wfile.write(body)

    def follow(self, client, since):
        """Until somebody cuts it, or the client has gone."""
        client.send_response(200)
        client.send_header("content-type", "text/event-stream")
        client.end_headers()
        has = int(since.removeprefix("told-"))
        with self.news:
            self.asked.append(since)
            mine = self.cuts
            while mine == self.cuts:
                if has != self.number and has + 1 not in self.journal:
                    client.wfile.write(f"event: again\nid: told-{self.number}\ndata: {{}}\n\n".encode())
                    has = self.number
                while has < self.number:
                    has += 1
                    client.wfile.write(f"id: told-{has}\ndata: {json.dumps(self.journal[has])}\n\n".encode())
                client.wfile.flush()
                self.news.wait()

    def change(self, **kinds):
        """Things by kind and name, None: gone; and values."""
        change = {"set": {}, "gone": {}, "values": {}}
        with self.news:
            for kind, things in kinds.items():
                if kind not in KINDS:
                    change["values"][kind] = self.state[kind] = things
                    continue
                for name, thing in things.items():
                    if thing is None:
                        change["gone"].setdefault(kind, []).append(name)
                        del self.state[kind][name]
                    else:
                        change["set"].setdefault(kind, {})[name] = self.state[kind][name] = thing
            self.number += 1
            self.journal[self.number] = change
            self.news.notify_all()

    def cut(self):
        """All connections that follow."""
        with self.news:
            self.cuts += 1
            self.news.notify_all()

    def forget(self):
        """Whatever changed up to now."""
        with self.news:
            self.journal.clear()
