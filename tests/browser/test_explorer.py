#!/usr/bin/env python3
"""The explorer page in a browser: test_explorer.py PAGE [FOLDER FOR SCREENSHOTS]. Exit code 77: no browser."""

import json
import re
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True  # of the modules next to this file
from browser import TAB
from page_checks import PageTest, focused, main

PAGE = Path(sys.argv[1]).resolve()


class Explorer(PageTest):
    """Opened from disk: that is the harder way, without a server that loads more files."""

    def setUp(self):
        super().setUp()
        self.open("")

    def open(self, link: str):
        self.browser.open("about:blank")  # a link that differs only after # would not load the page again
        self.browser.open(PAGE.as_uri() + link)
        for _ in range(200):
            if self.browser.run("return document.body.dataset.ready"):
                return
            time.sleep(0.05)
        self.fail("the page did not load: " + "; ".join(self.browser.console()))

    def put(self, field: str, value: str):
        script = "const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event('input'))"
        self.browser.run(script, field, value)

    def value(self, field: str) -> str:
        return self.browser.run("return document.getElementById(arguments[0]).value", field)

    def text(self, field: str) -> str:
        return self.browser.run("return document.getElementById(arguments[0]).innerText", field)

    def click(self, selector: str):
        self.browser.run("document.querySelector(arguments[0]).click()", selector)

    def count(self, selector: str) -> int:
        return self.browser.run("return document.querySelectorAll(arguments[0]).length", selector)

    def costs(self) -> list:
        script = "return [...document.querySelectorAll('.costs tbody tr')].map(row => [...row.cells].slice(0, 4).map(c => c.innerText))"
        return self.browser.run(script)

    def test_structure(self):
        self.put("versus", "gfx942")
        self.click("#fix")
        self.check_structure(set())

    def test_the_answer_is_the_first_thing_seen(self):
        self.assertEqual(self.text("headline"), "32-way conflict: 32 passes instead of 1")
        self.assertEqual(self.browser.run("return document.title"), "32-way conflict: 32 passes instead of 1 · Bank conflict explorer")
        self.put("declaration", "float tile[32][33]")
        self.assertEqual(self.text("headline"), "No conflict: 1 pass")
        self.put("width", "16")
        self.assertEqual(self.text("headline"), "This access cannot be computed")  # rows of 132 bytes
        self.open("#i=tid&w=16")
        self.assertEqual(self.text("headline"), "No conflict: 4 passes, the fewest for 16 bytes per lane")
        for width, most in (400, 300), (900, 250), (1600, 250):
            self.browser.resize(width, 900)
            bottom = "return document.getElementById('headline').getBoundingClientRect().bottom"
            self.assertLess(self.browser.run(bottom), most)
            cut = "return [...document.querySelectorAll('#arch, #versus')].filter(e => e.clientWidth < 230).length"
            self.assertEqual(self.browser.run(cut), 0)

    def test_presets(self):
        expected = {  # on sm_90: passes, ideal, conflicts
            "a column of tile[32][32]": ["32", "1", "31"],
            "tile[32][33]: padding": ["1", "1", "0"],
            "an XOR swizzle": ["1", "1", "0"],
            "a block of 16 x 16": ["8", "1", "7"],
            "CuTe: (8,64):(64,1)": ["32", "4", "28"],
            "CuTe: Swizzle<3,3,3>": ["4", "4", "0"],
            "a row: neighbouring words": ["1", "1", "0"],
            "one word for all lanes": ["1", "1", "0"],
            "stride 2": ["2", "1", "1"],
            "an odd stride": ["1", "1", "0"],
            "reduction: one word per record": ["4", "1", "3"],
            "reduction: whole records": ["4", "4", "0"],
            "prefix sum, third level": ["8", "1", "7"],
            "the same level, padded": ["1", "1", "0"],
            "8-byte loads": ["2", "2", "0"],
        }
        names = self.browser.run("return [...document.querySelectorAll('#presets button')].map(e => e.innerText.trim())")
        self.assertEqual(set(expected) - set(names), set())
        for number, name in enumerate(names):
            self.click(f"#presets button:nth-child({number + 1})")
            self.assertEqual(self.text("error"), "", name)
            self.assertRegex(self.text("lesson"), r"[.:].* On sm_90 \(Hopper: H100, H200\)")
            self.assertEqual(self.browser.run("return document.querySelector('[aria-pressed=true]').innerText.trim()"), name)
            if name in expected:
                self.assertEqual(self.costs()[0], ["sm_90", *expected[name]], name)

    def test_global_memory(self):
        self.open("#i=1024*tid&s=global")
        self.assertEqual(self.text("headline"), "32 sectors instead of 4: of 1,024 bytes moved, used 12.5 %")
        self.assertEqual(self.text("why"), "Lanes 4,096 bytes apart (a column).")
        self.assertEqual(self.costs()[0], ["sm_90", "32", "32", "4"])
        self.assertEqual(self.count(".sectors tbody tr"), 32)
        self.assertFalse(self.browser.run("return document.getElementById('fix').checkVisibility()"))
        self.put("index", "tid")
        self.assertEqual(self.text("headline"), "No sector too many: 4 sectors, of 128 bytes moved, used 100.0 %")
        self.put("arch", "gfx942")
        self.assertEqual(self.costs()[0], ["gfx942", "2", "128", "2"])
        self.put("arch", "sm_20")
        self.assertIn("compute capability 2.x moves cache lines", self.text("error"))
        self.put("arch", "sm_90")
        self.put("space", "shared")
        self.assertEqual(self.text("headline"), "No conflict: 1 pass")

    def test_typing(self):
        self.put("declaration", "")
        self.browser.run("document.getElementById('index').focus(); document.getElementById('index').select()")
        self.browser.press(*"16*tid")
        self.assertEqual(self.costs(), [["sm_90", "16", "1", "15"]])
        self.assertEqual(self.count(".banks tbody tr"), 16)
        marked = self.browser.run("return [...document.querySelectorAll('.banks .clash')].map(e => e.cellIndex)")
        self.assertEqual(sorted(set(marked)), [1, 17])  # banks 0 and 16

    def test_code_declarations_blocks_and_variables(self):
        self.put("declaration", "__shared__ double tile[ROWS][COLUMNS + 1];")
        self.put("index", "sum += tile[threadIdx.x][k];")
        self.put("block", "16 x 16")
        names = self.browser.run("return [...document.querySelectorAll('#variables input')].map(e => [e.name, e.value])")
        self.assertEqual(names, [["COLUMNS", "32"], ["ROWS", "32"], ["k", "0"]])
        self.assertEqual(self.costs(), [["sm_90", "2", "2", "0"]])
        script = "const e = document.querySelector('#variables input'); e.focus(); e.value = 31; e.dispatchEvent(new Event('input'))"
        self.browser.run(script)
        self.assertEqual(self.costs(), [["sm_90", "32", "2", "30"]])
        self.assertTrue(focused(self.browser).startswith("INPUT"))
        self.assertIn("v=COLUMNS:31", self.browser.run("return location.hash"))
        self.open("#i=33*i")
        self.assertIn("i is taken for the number of the lane", self.text("variables"))
        self.open("#i=tile[tid%2B1][0]&d=float+tile[32][32]")
        self.assertEqual(self.text("headline"), "tid+1 reaches 32, but tile has 32 rows.")

    def test_the_array_in_the_colours_of_its_banks(self):
        cells = (
            "return [...document.querySelectorAll('.tile > rect[x]')].map(e => [e.getAttribute('fill'), e.textContent])"
            ".map(([fill, text]) => [fill, text.match(/bank (\\d+)/)[1]])"
        )
        found = self.browser.run(cells)
        self.assertEqual([int(bank) for _, bank in found], 32 * [*range(32)])
        self.assertEqual(len({fill for fill, _ in found}), 32)
        self.put("declaration", "float tile[32][33]")
        self.assertEqual([int(bank) for _, bank in self.browser.run(cells)], [i % 32 for i in range(32 * 33)])
        self.put("declaration", "half s = Swizzle<3,3,3> o (8,64):(64,1)")
        self.put("index", "(tid % 8, tid / 8 * 8)")
        expected = [((c // 8 ^ r) * 8 + c % 8 + 64 * r) * 2 // 4 % 32 for r in range(8) for c in range(64)]
        self.assertEqual([int(bank) for _, bank in self.browser.run(cells)], expected)

    def test_pass_by_pass(self):
        seen = "return [...document.querySelectorAll('.mark')].filter(e => e.getAttribute('opacity') == 1).map(e => e.dataset.lanes)"
        self.assertEqual(self.browser.run(seen), [str(lane) for lane in range(32)])
        for lane in range(3):
            self.click("#step")
            self.assertEqual(self.browser.run(seen), [str(lane)])
            self.assertEqual(self.text("pass_value"), f"{lane + 1} of 32")
            self.assertEqual(self.browser.run("return document.querySelector('.banks .now').rowIndex"), lane + 1)
        self.click("#back")
        self.assertEqual(self.browser.run(seen), ["1"])
        self.click("#play")
        time.sleep(1)
        self.assertNotIn(self.text("pass_value"), ["1 of 32", "1 to 32"])
        self.click("#play")
        stopped = self.text("pass_value")
        time.sleep(0.5)
        self.assertEqual(self.text("pass_value"), stopped)
        self.open("#i=tid*32&c=gfx942")  # each architecture has its own passes
        self.put("pass", "33")
        self.assertEqual(self.text("pass_value"), "33 of 64")
        self.assertEqual(self.browser.run(seen), ["32"])
        self.assertEqual(self.count(".now"), 1)
        self.put("index", "tid")
        self.put("versus", "")
        self.assertTrue(self.browser.run("return document.getElementById('player').hidden"))
        features = [{"name": "prefers-reduced-motion", "value": "reduce"}]
        self.browser.devtools("Emulation.setEmulatedMedia", media="", features=features)
        self.open("")
        self.assertTrue(self.browser.run("return document.getElementById('play').hidden"))
        self.assertFalse(self.browser.run("return document.getElementById('step').hidden"))

    def test_fix_it(self):
        self.click("#fix")
        fixes = self.browser.run("return [...document.querySelectorAll('#fixes article')].map(e => e.innerText)")
        self.assertEqual(len(fixes), 2)
        self.assertIn("tile[threadIdx.x][i ^ threadIdx.x]", fixes[0])
        self.assertIn("__shared__ float tile[32][32 + 1];", fixes[1])
        self.assertIn("1 pass instead of 32, 128 bytes more", fixes[1])
        self.click("#fixes article:nth-child(2) .main")
        self.assertEqual(self.value("declaration"), "float tile[32][32 + 1]")
        self.assertEqual((self.value("padding"), self.text("headline")), ("1", "No conflict: 1 pass"))
        self.assertTrue(self.browser.run("return document.getElementById('fix').hidden"))
        self.open("#i=tid+%25+4&o=atomic")
        self.click("#fix")
        self.assertIn("No layout helps", self.text("fixes"))

    def test_errors_in_the_words_of_the_page(self):
        self.put("declaration", "")
        cases = ("2*", "An operand is missing at the end."), ("tid/0", "divides by zero"), ("-1-tid", "negative"), ("", "It is empty.")
        for text, words in cases:
            self.put("index", text)
            self.assertIn(words, self.text("error"))
            self.assertNotIn("--", self.text("error"))
            self.assertEqual(self.costs(), [])
            self.assertEqual(self.browser.run("return document.getElementById('index').ariaInvalid"), "true")
        self.put("index", "tile[threadIdx.x][3]")
        self.assertEqual(self.text("error"), "Declare the array tile, for example as float tile[32][32].")
        self.put("declaration", "float other[4]")
        self.assertEqual(self.text("error"), "Declare the array tile, for example as float tile[32][32].")
        self.assertEqual(self.browser.run("return document.getElementById('declaration').ariaInvalid"), "true")
        self.put("index", "<img src=x onerror=hacked=1>")
        self.assertNotEqual(self.text("error"), "")
        self.put("declaration", "<img src=x onerror=hacked=1> x[3]")
        self.put("index", "x[<b>]")
        self.assertEqual(self.count("img, main b"), 0)
        self.put("declaration", "")
        self.put("index", "tid")
        self.assertEqual(self.text("error"), "")

    def test_an_index_that_leaves_its_dimension_has_no_verdict(self):
        self.put("index", "__shared__ float s[16][17]; s[threadIdx.x][threadIdx.y]")
        self.assertEqual((self.value("declaration"), self.value("index")), ("__shared__ float s[16][17]", "s[threadIdx.x][threadIdx.y]"))
        self.assertEqual(self.text("headline"), "threadIdx.x reaches 31, but s has 16 rows: set the block, for example 16 x 16.")
        self.assertEqual((self.browser.run("return document.getElementById('block').ariaInvalid"), self.costs()), ("true", []))
        self.put("block", "16 x 16")
        self.assertEqual(self.text("headline"), "2-way conflict: 2 passes instead of 1")
        self.assertEqual(self.text("why"), "Lanes 0 and 31 both need bank 0: 2 passes.")
        for text, words in ("banana", "'banana' is not a block"), ("64 x 64", "at most 1,024 threads, and this one 4,096"):
            self.put("block", text)
            self.assertIn(words, self.text("error"))
            self.assertEqual(self.browser.run("return document.getElementById('block').ariaInvalid"), "true")
        self.put("block", "dim3(8, 4)")
        self.assertEqual(self.text("error"), "")
        self.browser.run("const e = document.getElementById('arch'); e.value = 'gfx942'; e.dispatchEvent(new Event('change'))")
        self.assertEqual(self.costs()[0][0], "gfx942")
        self.put("index", "__shared__ float s[16][17];")
        self.assertIn("This declares s", self.text("error"))
        self.open("#i=s[tid]&d=float+s[16]")
        self.assertEqual(self.text("headline"), "tid reaches 31, but s has 16 elements.")

    def test_layouts(self):
        self.put("index", "Swizzle<3,3,3> o (8,64):(64,1)")  # the array left over is not used
        self.assertEqual(self.text("variables"), "Assumed: lane k accesses element k of the layout, 4 bytes, load.")
        self.click("#fix")
        self.assertEqual(self.text("fixes").count("Swizzle<"), 1)
        self.click("#fixes .main")
        self.assertEqual(self.text("headline"), "No conflict: 1 pass")
        self.browser.run("history.back()")
        time.sleep(0.3)
        self.assertEqual(self.value("index"), "Swizzle<3,3,3> o (8,64):(64,1)")
        self.click("#fix")
        self.click("#fix")
        self.assertEqual(self.text("fixes"), "")
        self.put("index", "tile[threadIdx.x][i]")
        self.put("declaration", "half s = (8,64):(64,1)")  # nor is the index
        self.assertEqual(self.text("variables"), "Assumed: lane k accesses element k of the layout, 2 bytes, load.")

    def test_sliders_write_the_code(self):
        self.put("padding", "1")
        self.assertEqual(self.value("declaration"), "float tile[32][32 + 1]")
        self.assertEqual(self.costs()[0][1], "1")
        self.put("padding", "0")
        self.assertEqual(self.costs()[0][1], "32")
        self.put("swizzle", "3")
        self.assertEqual(self.value("index"), "tile[threadIdx.x][i ^ (threadIdx.x & 7)]")
        self.assertEqual(self.costs()[0][1], "4")
        self.put("stride", "48")
        self.assertEqual((self.value("declaration"), self.value("swizzle")), ("float tile[32][48]", "3"))
        self.put("index", "s[threadIdx.y][threadIdx.x]")
        self.put("declaration", "__shared__ int s[8][40];")
        self.put("padding", "1")
        self.assertEqual((self.value("declaration"), self.value("index")), ("__shared__ int s[8][40 + 1];", "s[threadIdx.y][threadIdx.x]"))
        self.put("declaration", "")
        self.assertTrue(self.browser.run("return document.getElementById('sliders').hidden"))

    def test_a_link_carries_the_state(self):
        self.assertIn(self.browser.run("return location.hash"), ["", "#"])
        self.put("declaration", "half s = Swizzle<3,3,3> o (8,64):(64,1)")
        self.put("index", "(tid % 8 & 7, tid / 8 * 8)")
        self.put("width", "16")
        self.put("versus", "gfx942")
        link, costs = self.browser.run("return location.hash"), self.costs()
        self.assertEqual(len(costs), 2)
        self.assertLess(len(link), 130)
        self.open(link)
        self.assertEqual(self.costs(), costs)
        self.assertEqual(self.value("index"), "(tid % 8 & 7, tid / 8 * 8)")
        self.open("#a=nothing&w=7&i=%3Cb%3E&l=1e999")
        self.assertEqual((self.value("arch"), self.value("width")), ("sm_90", ""))
        self.assertIn("The link has “nothing” for Architecture, which this page does not know.", self.text("error"))

    def test_links_of_earlier_pages_work(self):
        for link, expected in (
            ("#versus=gfx942", [["sm_90", "32", "1", "31"], ["gfx942", "64", "2", "62"]]),
            ("#index=33*tid", [["sm_90", "1", "1", "0"]]),
            ("#index=tid&width=16&lanes=8", [["sm_90", "1", "1", "0"]]),
            ("#index=tid&width=8&arch=sm_70&operation=store", [["sm_70", "2", "2", "0"]]),
        ):
            self.open(link)
            self.assertEqual(self.costs(), expected, link)
            self.assertEqual(self.value("declaration"), "")

    def test_pictures_can_be_saved(self):
        self.browser.run(
            "window.texts = []; navigator.clipboard.writeText = async text => { texts.push(text); };"
            "for (const e of document.querySelectorAll('.small button:first-child')) e.click();"
        )
        tile, banks = self.browser.run("return texts")
        for text in tile, banks:
            parser = "return new DOMParser().parseFromString(arguments[0], 'image/svg+xml').documentElement.nodeName"
            self.assertEqual(self.browser.run(parser, text), "svg")
            self.assertNotIn("class=\"banks\"", text)
        self.assertIn("32-way conflict: 32 passes instead of 1 (sm_90)", tile)
        self.assertRegex(tile, r'<svg [^>]*width="[0-9]+" height="[0-9]+"')
        self.assertEqual(tile.count("<circle"), 32)
        self.click("#share")
        self.assertEqual(self.browser.run("return texts.at(-1)"), self.browser.run("return location.href"))

    def test_paste(self):
        addresses = [128 * lane for lane in range(32)]
        row = ",".join(["a", "store", "4", "ffffffff", *map(str, addresses)])
        pattern = {"record": "pattern", "operation": "store", "width": 4, "mask": "ffff", "address": 0, "step": 8}
        for text, expected in (row, ["32", "1", "31"]), (json.dumps(pattern), ["1", "1", "0"]):
            self.put("paste", text)
            self.assertEqual((self.text("error"), self.costs()), ("", [["sm_90", *expected]]))
            self.open(self.browser.run("return location.hash"))
            self.assertEqual(self.costs(), [["sm_90", *expected]])
        for text, words in ("a,b", "A row has the fields"), ("{", "neither a row"), ("a,load,4,ff,1,x", "'x' is not a number"):
            self.put("paste", text)
            self.assertIn(words, self.text("error"))
        self.put("index", "tid")
        self.assertEqual((self.value("paste"), self.text("error")), ("", ""))

    def test_without_script_the_page_says_what_it_needs(self):
        self.browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
        try:
            self.browser.open("about:blank")
            self.browser.open(PAGE.as_uri())
            document = self.browser.devtools("DOM.getDocument", depth=-1)
            node = self.browser.devtools("DOM.querySelector", nodeId=document["root"]["nodeId"], selector="#answer")
            html = self.browser.devtools("DOM.getOuterHTML", nodeId=node["nodeId"])["outerHTML"]
        finally:
            self.browser.devtools("Emulation.setScriptExecutionDisabled", value=False)
        self.assertIn("The page has not started", html)
        self.assertIn("JavaScript and WebAssembly", re.sub(r"\s+", " ", html))

    def test_keyboard_alone(self):
        seen = []
        for _ in range(60):
            self.browser.press(TAB)
            seen.append(self.browser.run("return document.activeElement.id"))
        for field in [
            *("fix", "share", "index", "declaration", "stride", "padding", "swizzle", "play", "step", "pass"),
            *("arch", "versus", "operation", "width", "block", "lanes"),
        ]:
            self.assertIn(field, seen)
        self.browser.run("document.getElementById('padding').focus()")
        self.browser.press("\ue014")  # the right arrow
        self.assertEqual(self.value("declaration"), "float tile[32][32 + 1]")
        self.assertTrue(focused(self.browser).startswith("INPUT"))

    def test_contrast_and_dark_mode(self):
        self.click("#fix")
        self.click("#step")
        self.check_schemes("explorer")

    def test_narrow_screen(self):
        self.browser.resize(400, 900)
        above = "const of = id => document.getElementById(id).getBoundingClientRect(); return of(arguments[0]).bottom < of('pictures').top"
        for field in "arch", "block":
            self.assertTrue(self.browser.run(above, field), field)
        self.click("#fix")
        self.check_narrow()


if __name__ == "__main__":
    main()
