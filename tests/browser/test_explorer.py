#!/usr/bin/env python3
"""The explorer page in a browser: test_explorer.py FOLDER-OF-THE-PAGE [FOLDER FOR SCREENSHOTS]. Exit code 77: no browser."""

import functools
import http.server
import json
import sys
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True  # of the modules next to this file
from browser import TAB
from page_checks import PageTest, focused, main


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Explorer(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        handler = functools.partial(Quiet, directory=Path(sys.argv[1]).resolve())
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.url = f"http://127.0.0.1:{server.server_port}/"

    def setUp(self):
        super().setUp()
        self.open("")

    def open(self, link: str):
        self.browser.open("about:blank")  # a link that differs only after # would not load the page again
        self.browser.open(self.url + "index.html" + link)
        for _ in range(200):
            if self.browser.run("return document.body.dataset.ready"):
                return
            time.sleep(0.05)
        self.fail("the page did not load: " + "; ".join(self.browser.console()))

    def put(self, field: str, value: str):
        script = "const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event('input'))"
        self.browser.run(script, field, value)

    def costs(self) -> list:
        script = "return [...document.querySelectorAll('.costs tbody tr')].map(row => [...row.cells].slice(0, 4).map(c => c.innerText))"
        return self.browser.run(script)

    def error(self) -> str:
        return self.browser.run("return document.getElementById('error').innerText")

    def test_structure(self):
        self.put("arch", "sm_90")
        self.put("versus", "gfx942")
        self.check_structure({self.url})

    def test_presets(self):
        expected = {  # on sm_90: passes, ideal, conflicts
            "a row: neighbouring words": ["1", "1", "0"],
            "one word for all lanes (broadcast)": ["1", "1", "0"],
            "stride 2": ["2", "1", "1"],
            "an odd stride": ["1", "1", "0"],
            "a column of tile[32][32]": ["32", "1", "31"],
            "a column of tile[32][33] (padding)": ["1", "1", "0"],
            "a column with an XOR swizzle": ["1", "1", "0"],
            "reduction tree: one word of each 16-byte record": ["4", "1", "3"],
            "prefix sum: up-sweep, third level": ["8", "1", "7"],
            "8-byte loads (LDS.64)": ["2", "2", "0"],
            "16-byte loads (LDS.128)": ["4", "4", "0"],
            "ldmatrix, rows of 128 bytes": ["32", "4", "28"],
            "ldmatrix, rows of 144 bytes": ["4", "4", "0"],
        }
        options = self.browser.run("return [...document.getElementById('preset').options].map(e => e.text)")
        self.assertEqual(set(expected) - set(options), set())
        for number, name in enumerate(options[1:]):
            self.put("preset", str(number))
            self.assertEqual(self.error(), "", name)
            self.assertNotEqual(self.browser.run("return document.getElementById('lesson').innerText"), "")
            if name in expected:
                self.assertEqual(self.costs()[0], ["sm_90", *expected[name]], name)

    def test_typing(self):
        self.browser.run("document.getElementById('index').focus(); document.getElementById('index').select()")
        self.browser.press(*"16*tid")
        self.assertEqual(self.costs(), [["sm_90", "16", "1", "15"]])
        self.assertEqual(self.browser.run("return document.querySelectorAll('.banks tbody tr').length"), 16)
        marked = self.browser.run("return [...document.querySelectorAll('.banks .clash')].map(e => e.cellIndex)")
        self.assertEqual(sorted(set(marked)), [1, 17])  # banks 0 and 16

    def test_errors_in_the_expression(self):
        for text, words in ("2*", "--index '2*'"), ("tid/0", "divides by zero"), ("-1-tid", "negative"):
            self.put("index", text)
            self.assertIn(words, self.error())
            self.assertEqual(self.costs(), [])
            self.assertEqual(self.browser.run("return document.getElementById('index').ariaInvalid"), "true")
        self.put("index", "<img src=x onerror=hacked=1>")
        self.assertIn("<img", self.error())
        self.assertEqual(self.browser.run("return document.querySelectorAll('img').length"), 0)
        self.put("index", "tid")
        self.assertEqual(self.error(), "")

    def test_sliders_write_the_expression(self):
        self.put("padding", "1")
        self.assertEqual(self.browser.run("return document.getElementById('index').value"), "33*tid")
        self.assertEqual(self.costs()[0][1], "1")
        self.put("padding", "0")
        self.assertEqual(self.costs()[0][1], "32")
        self.put("swizzle", "5")
        self.assertEqual(self.costs()[0][1], "1")

    def test_a_link_carries_the_state(self):
        self.put("index", "tid * 2 + 1 & 63")
        self.put("width", "8")
        self.put("versus", "gfx942")
        link, costs = self.browser.run("return location.hash"), self.costs()
        self.assertEqual(len(costs), 2)
        self.open(link)
        self.assertEqual(self.costs(), costs)
        self.assertEqual(self.browser.run("return document.getElementById('index').value"), "tid * 2 + 1 & 63")
        self.open("#arch=nothing&width=7&index=%3Cb%3E&lanes=1e999")
        self.assertEqual(self.browser.run("return document.getElementById('arch').value"), "sm_90")

    def test_paste(self):
        addresses = [128 * lane for lane in range(32)]
        row = ",".join(["a", "store", "4", "ffffffff", *map(str, addresses)])
        pattern = {"record": "pattern", "operation": "store", "width": 4, "mask": "ffff", "address": 0, "step": 8}
        for text, expected in (row, ["32", "1", "31"]), (json.dumps(pattern), ["1", "1", "0"]):
            self.put("paste", text)
            self.assertEqual((self.error(), self.costs()), ("", [["sm_90", *expected]]))
            self.open(self.browser.run("return location.hash"))
            self.assertEqual(self.costs(), [["sm_90", *expected]])
        for text, words in ("a,b", "a row has the fields"), ("{", "neither a row"), ("a,load,4,ff,1,x", "'x' is not a number"):
            self.put("paste", text)
            self.assertIn(words, self.error())

    def test_keyboard_alone(self):
        seen = []
        for _ in range(30):
            self.browser.press(TAB)
            seen.append(self.browser.run("return document.activeElement.id"))
        for field in ["preset", "index", "stride", "padding", "swizzle", "width", "operation", "lanes", "arch", "versus", "share"]:
            self.assertIn(field, seen)
        self.browser.run("document.getElementById('stride').focus()")
        self.browser.press("\ue014")  # the right arrow
        self.assertEqual(self.browser.run("return document.getElementById('index').value"), "33*tid")
        self.assertTrue(focused(self.browser).startswith("INPUT"))

    def test_contrast_and_dark_mode(self):
        self.check_schemes("explorer")

    def test_narrow_screen(self):
        self.check_narrow()


if __name__ == "__main__":
    main()
