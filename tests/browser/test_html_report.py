#!/usr/bin/env python3
"""The HTML report in a browser: test_html_report.py BANKCHECK [FOLDER FOR SCREENSHOTS]. Exit code 77: no browser."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # of the modules next to this file
from browser import ENTER, TAB
from page_checks import CONTRAST, LUMINANCE_OF_PAGE, STRUCTURE, PageTest, focused, main

EVIL = "<img src=x onerror=hacked=1><script>hacked=1</script>\"'><svg onload=hacked=1>&amp;\u202egnp.exe"
CLOSERS = "</code></td></tr></table></section></style></title><script>hacked=1</script><iframe src=//x.y></iframe>"


def trace_of(names: dict) -> str:
    """A trace of two kernels: 32 conflicts per access, none, and, with gaps, lanes that get fewer from level to level."""
    records = [
        {"bankwise_trace": 1, "maker": "bankcheck emulate", "revision": "0", "command": ["./program", names["argument"]]},
        {"record": "source", "source": 0, "text": names["source"]},
        {"record": "kernel", "kernel": 0, "name": "calm", "options": "", "warp": 64, "splits": True, "knows_code": True},
        {"record": "kernel", "kernel": 1, "name": names["kernel"], "options": names["options"], "source": 0, "warp": 64,
         "splits": True, "knows_code": True},
    ]  # fmt: skip
    for kernel in range(2):
        file = names["file"] if kernel else "/no/such/calm.cl"
        records.append({"record": "site", "kernel": kernel, "site": 0, "file": file, "line": 2, "column": 7, "function": ""})
        records.append({"record": "array", "kernel": kernel, "array": 0, "name": names["array"], "offset": 0, "bytes": 8192})
    full, half = "ffffffffffffffff", "00000000ffffffff"
    access = {"record": "pattern", "site": 0, "array": 0, "operation": "store", "width": 4, "address": 0}
    records += [
        {**access, "kernel": 0, "pattern": 0, "level": 0, "mask": full, "step": 4},
        {**access, "kernel": 1, "pattern": 0, "level": 0, "mask": full, "step": 128},
        {**access, "kernel": 1, "pattern": 1, "level": 1, "mask": half, "step": 8},
    ]
    shape = [[[64, 1, 1], [64, 1, 1], 1]]
    records += [
        {"record": "launch", "kernel": 0, "patterns": [[0, 1, 0, 0, 0, 0]], "shapes": shape, "blocks": 1, "levels": 1,
         "participants": [[0, full, 1]]},
        {"record": "launch", "kernel": 1, "patterns": [[0, 3, 0, 0, 0, 0], [1, 2, 0, 0, 0, 1]], "shapes": shape, "blocks": 1,
         "levels": 2, "participants": [[0, full, 3], [1, half, 2]]},
    ]  # fmt: skip
    records.append({"record": "end", "lines": len(records)})
    return "".join(json.dumps(record) + "\n" for record in records)


PLAIN = {"argument": "--fast", "kernel": "column", "options": "-D N=64", "array": "tile", "file": "/tmp/input.cl",
         "source": "kernel void column() {\n  tile[32 * i] = i;\n}\n"}  # fmt: skip
NASTY = {"argument": EVIL, "kernel": EVIL, "options": EVIL, "array": EVIL, "file": CLOSERS + EVIL,
         "source": f"{CLOSERS}\n{EVIL}\n"}  # fmt: skip


class HtmlReport(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def page(self, names: dict, *options: str) -> Path:
        trace, page = self.folder / "trace.jsonl", self.folder / "report.html"
        trace.write_text(trace_of(names))
        command = [Path(sys.argv[1]).resolve(), "report", "--arch", "sm_90,gfx942", "--html", page, *options, trace]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder)
        self.browser.open(page)
        return page

    def table(self, selector: str) -> list:
        """The texts of the cells of each row in the body of a table."""
        return self.browser.run(
            "return [...document.querySelector(arguments[0]).tBodies].flatMap(body => [...body.rows]"
            ".map(row => [...row.cells].map(cell => cell.innerText)))",
            selector,
        )

    def test_structure(self):
        self.page(PLAIN)
        self.check_structure(set())
        self.assertEqual(self.browser.run("return document.compatMode"), "CSS1Compat")

    def test_numbers_are_those_of_json(self):
        page = self.page(PLAIN, "--json", str(self.folder / "report.json"))
        kernels = json.loads((page.parent / "report.json").read_text())["kernels"]
        kernels.sort(key=lambda kernel: -kernel["architectures"][0]["conflicts"])
        expected = [
            [kernel["kernel"], str(kernel["launches"])]
            + [str(kernel["architectures"][0][key]) for key in ("passes", "ideal_passes", "conflicts")]
            for kernel in kernels
        ]  # the second architecture has the same
        rows = [[cell for cell in row if cell and "%" not in cell] for row in self.table("table.numbers")]
        self.assertEqual(rows, expected)
        self.assertEqual(rows[0][0], "column")

    def test_pictures_place_each_lane_in_its_bank(self):
        self.page(PLAIN)
        title, *rows = self.table(".kernel .banks")
        self.assertEqual(title, ["lanes 0-31: 32 passes"])
        folded = rows.pop(5)
        self.assertEqual(folded, ["…", "26 more passes, with 1 of 32 banks busy in each"])
        lanes = [0, 1, 2, 3, 4, 31]
        self.assertEqual([row[:2] for row in rows], [[f"pass {lane + 1}", str(lane)] for lane in lanes])
        columns = self.browser.run(
            "return [...document.querySelectorAll('.banks tr')].map(row => [...row.cells].reduce((n, c) => n + c.colSpan, 0))"
        )
        self.assertEqual(set(columns), {33})

    def test_levels_show_which_lanes_are_active(self):
        self.page(PLAIN)
        cells = self.browser.run(
            "return [...document.querySelectorAll('#k1 .levels')].map(table => [...table.tBodies[0].rows]"
            ".map(row => [...row.querySelectorAll('td[title]')].map(cell => cell.title + ' ' + cell.className)))"
        )
        self.assertEqual(cells[0], [["lanes 0-31: 6 of 6 warps a4"], ["lanes 0-31: 2 of 2 warps a4"]])
        self.assertEqual(cells[1][1], ["lanes 0-31: 2 of 2 warps a4", "lanes 32-63: 0 of 2 warps a0"])

    def test_markup_in_names_is_text(self):
        self.page(NASTY)
        self.assertIsNone(self.browser.run("return window.hacked ?? null"))
        self.assertEqual(self.browser.run("return document.querySelectorAll('img,script,iframe,svg').length"), 0)
        shown = EVIL.replace("\u202e", "[U+202E]")
        self.assertEqual(self.browser.run("return document.querySelector('#k1 h2').textContent"), shown)
        self.assertIn(CLOSERS + shown, self.browser.run("return document.querySelector('.source').textContent"))
        self.assertIn(shown.replace("'", r"'\''"), self.browser.run("return document.title"))
        self.assertEqual(self.browser.run(STRUCTURE), [])
        self.assertEqual(self.browser.run("return document.querySelectorAll('body > main > section').length"), 6)

    def test_contrast_and_dark_mode(self):
        self.page(PLAIN)
        self.browser.run("for (const e of document.querySelectorAll('details')) e.open = true")
        self.check_schemes("report")

    def test_keyboard_alone(self):
        self.page(PLAIN)
        seen = []
        for _ in range(60):
            self.browser.press(TAB)
            seen.append(focused(self.browser))
            if seen[-1] == "A column":
                self.browser.press(ENTER)
                self.assertEqual(self.browser.run("return location.hash"), "#k1")
            if seen[-1].startswith("SUMMARY 4-byte"):
                break
        self.assertIn("A column", seen)
        self.assertTrue(seen[-1].startswith("SUMMARY"), seen)
        state = "return document.activeElement.parentElement.open"
        was_open = self.browser.run(state)
        self.browser.press(ENTER)
        self.assertNotEqual(self.browser.run(state), was_open)
        outline = self.browser.run("return getComputedStyle(document.activeElement).outlineStyle")
        self.assertEqual(outline, "solid")

    def test_print_shows_everything(self):
        self.page(PLAIN)
        hidden = (
            "return [...document.querySelectorAll('.banks, .addresses')]"
            ".filter(e => !e.checkVisibility() || !e.getBoundingClientRect().height).length"
        )
        self.browser.run("for (const e of document.querySelectorAll('details')) e.open = false")
        self.assertGreater(self.browser.run(hidden), 0)
        self.browser.media("print")
        self.assertEqual(self.browser.run(hidden), 0)
        self.assertEqual(self.browser.run(CONTRAST), [])
        self.browser.media("print", "dark")
        self.assertGreater(self.browser.run(LUMINANCE_OF_PAGE), 0.9)

    def test_narrow_screen(self):
        self.page(NASTY)
        self.check_narrow()
        cut = "return [...document.querySelectorAll('table')].filter(e => !e.closest('.scroll')).length"
        self.assertEqual(self.browser.run(cut), 0)


if __name__ == "__main__":
    main()
