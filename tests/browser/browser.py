"""A headless Chromium, driven by the WebDriver protocol with Python's standard library."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

SKIPPED = 77
TAB, ENTER, SPACE = "\ue004", "\ue007", " "


def skip_without_browser() -> None:
    """Ends the test as skipped if there is no browser that it could drive."""
    for names, reason in (
        (["chromedriver"], "no chromedriver (Debian: chromium-driver)"),
        (["chromium", "google-chrome"], "no Chromium (Debian: chromium)"),
    ):
        if not any(map(shutil.which, names)):
            print(f"skipped: {reason}")
            sys.exit(SKIPPED)


class Browser:
    """A window of 1400 x 1000 pixels: `with Browser() as browser`."""

    def __enter__(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                self.url = f"http://127.0.0.1:{found[1]}"
                break
        else:
            raise RuntimeError("chromedriver ended without naming its port")
        arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")  # which does not work for root
        options = {"goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}}
        try:
            session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": options}})
        except Exception:
            self.driver.kill()
            raise
        self.url += f"/session/{session['sessionId']}"
        self.resize(1400, 1000)
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(10)

    def call(self, method: str, path: str, body: dict | None = None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def devtools(self, command: str, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, address: Path | str) -> None:
        """A file, or a URL."""
        url = address.resolve().as_uri() if isinstance(address, Path) else address
        self.call("POST", "/url", {"url": url})

    def run(self, script: str, *arguments):
        """The value that a script returns."""
        return self.call("POST", "/execute/sync", {"script": script, "args": arguments})

    def console(self) -> list:
        """The messages since the last call."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def resize(self, width: int, height: int) -> None:
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, kind: str = "", scheme: str = "light") -> None:
        """`kind`: print, or "" for the screen."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.devtools("Emulation.setEmulatedMedia", media=kind, features=features)

    def press(self, *keys: str) -> None:
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def screenshot(self) -> bytes:
        return base64.b64decode(self.call("GET", "/screenshot"))
