# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window, driven over a pipe by its own protocol: no driver, no WebSocket, no packages."""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time


class Trouble(Exception):
    """What a page or Chromium did wrong, as a sentence."""


# The first is what scripts/install-packages brings: without windows, and with them no more than it needs.
PROGRAM = shutil.which("chromium-headless-shell") or shutil.which("chromium")


class Chromium:
    """One browser with one page. `said` collects what the page says on its console, and errors nobody caught."""

    def __init__(self, width=1200, height=900):
        self.home = tempfile.mkdtemp(prefix="berth-chromium-")
        to_read, self.to_write = os.pipe()
        self.to_hear, to_say = os.pipe()
        self.process = subprocess.Popen(
            ["bash", "-c", f"exec \"$0\" \"$@\" 3<&{to_read} 4>&{to_say}", PROGRAM, "--headless", "--no-sandbox", "--disable-gpu",
             "--remote-debugging-pipe", "--no-first-run", "--disable-background-networking", "--disable-component-update",
             "--disable-dev-shm-usage", f"--user-data-dir={self.home}", f"--window-size={width},{height}", "about:blank"],
            env=os.environ | {"FONTCONFIG_FILE": str(pathlib.Path(__file__).resolve().parent / "fonts.conf")}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(to_read, to_say))
        os.close(to_read)
        os.close(to_say)
        self.number, self.buffer, self.said, self.session = 0, b"", [], None
        page = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to_write)
        os.close(self.to_hear)
        shutil.rmtree(self.home, ignore_errors=True)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session and not method.startswith("Target."):
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._hear(60)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Trouble(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _hear(self, patience):
        until = time.monotonic() + patience
        while b"\0" not in self.buffer:
            if not select.select([self.to_hear], [], [], max(0, until - time.monotonic()))[0]:
                raise Trouble("Chromium does not answer")
            got = os.read(self.to_hear, 1 << 20)
            if not got:
                raise Trouble("Chromium has ended")
            self.buffer += got
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        self._note(message)
        return message

    def _note(self, message):
        params = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.said.append(details.get("exception", {}).get("description") or details["text"])
        elif message.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.said.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif message.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.said.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")

    def open(self, url):
        self.call("Page.navigate", url=url)

    def ask(self, expression):
        """The value of an expression in the page; a promise's, once it is there."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Trouble(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def wait_for(self, expression, patience=30):
        """Until the expression is true; what it is then."""
        until = time.monotonic() + patience
        while True:
            try:
                if value := self.ask(expression):
                    return value
            except Trouble:
                if time.monotonic() > until:
                    raise
            if time.monotonic() > until:
                raise Trouble(f"it never came to: {expression}; the page: {self.ask('document.body?.innerText.slice(0, 600)')!r}")
            time.sleep(0.05)

    def press(self, key, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, text=text if kind == "keyDown" else "",
                      windowsVirtualKeyCode={"Enter": 13, "Tab": 9, "Escape": 27, "ArrowRight": 39, "ArrowDown": 40, "End": 35}.get(key, 0))

    def resize(self, width, height, ratio=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=width < 600)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self):
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
