"""Checks for every page of bankwise, by structure and not by pixels. Each script returns a list of what is wrong."""

import sys
import unittest
from pathlib import Path

from browser import Browser, skip_without_browser

STRUCTURE = r"""
const bad = [], all = s => [...document.querySelectorAll(s)];
if (all('h1').length != 1) bad.push(all('h1').length + ' h1');
let level = 1;
for (const h of all('h1,h2,h3,h4')) {
  if (+h.tagName[1] > level + 1) bad.push('heading after a gap: ' + h.textContent);
  level = +h.tagName[1];
}
const ids = all('[id]').map(e => e.id);
for (const id of ids) if (ids.indexOf(id) != ids.lastIndexOf(id)) bad.push('id twice: ' + id);
for (const a of all('a[href^="#"]')) if (!document.getElementById(a.hash.slice(1))) bad.push('no target: ' + a.hash);
for (const th of all('th')) if (!th.scope) bad.push('th without scope: ' + th.textContent);
for (const e of all('[role=region],[role=img],[role=group],nav'))
  if (!e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby')) bad.push('no label: ' + e.outerHTML.slice(0, 80));
for (const e of all('input,select,textarea'))
  if (!e.labels.length && !e.getAttribute('aria-label')) bad.push('no label: ' + e.outerHTML.slice(0, 80));
for (const e of all('button,summary')) if (!e.textContent.trim()) bad.push('no text: ' + e.outerHTML.slice(0, 80));
if (!document.documentElement.lang) bad.push('no language');
if (!document.title) bad.push('no title');
return bad;
"""

# The contrast of each text with the nearest background colour around it, as WCAG 2 defines it.
CONTRAST = r"""
const channel = v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
const light = c => .2126 * channel(c[0]) + .7152 * channel(c[1]) + .0722 * channel(c[2]);
const parts = text => text.match(/[\d.]+/g).map(Number);
const behind = e => {
  for (; e; e = e.parentElement) {
    const c = parts(getComputedStyle(e).backgroundColor);
    if (c.length == 3 || c[3] > 0) return c;
  }
  return [255, 255, 255];
};
const bad = new Set();
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node; node = walk.nextNode();) {
  const e = node.parentElement;
  if (!node.data.trim() || /STYLE|SCRIPT/.test(e.tagName) || e.closest('.hide') || !e.checkVisibility()) continue;
  const a = light(parts(getComputedStyle(e).color)), b = light(behind(e));
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < 4.5) bad.add(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2) + ': ' + node.data.trim().slice(0, 30));
}
return [...bad];
"""

LUMINANCE_OF_PAGE = r"""
return getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).slice(0, 3).map(Number)
  .reduce((a, b) => a + b) / 765;
"""


def focused(browser) -> str:
    """What the keyboard would act on: the tag and the text of the element."""
    return browser.run("const e = document.activeElement; return e.tagName + ' ' + e.textContent.trim().slice(0, 60);")


class PageTest(unittest.TestCase):
    """A test with a browser: `main` gives it the arguments of the program."""

    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(Browser())

    def setUp(self):
        self.browser.media()
        self.browser.resize(1400, 1000)
        self.browser.console()

    def check_structure(self, origins: set) -> None:
        """The page's structure; no message, and nothing loaded from elsewhere."""
        self.assertEqual(self.browser.run(STRUCTURE), [])
        self.assertEqual(self.browser.console(), [])
        loaded = self.browser.run("return performance.getEntriesByType('resource').map(e => new URL(e.name).origin + '/')")
        self.assertEqual(set(loaded), origins)

    def check_schemes(self, name: str) -> None:
        """The light and the dark page are light and dark, and have enough contrast. Saves screenshots of this name."""
        for scheme, least, most in ("light", 0.9, 1.0), ("dark", 0.0, 0.2):
            self.browser.media("", scheme)
            self.assertEqual(self.browser.run(CONTRAST), [], scheme)
            luminance = self.browser.run(LUMINANCE_OF_PAGE)
            self.assertTrue(least <= luminance <= most, f"{scheme}: {luminance}")
            if len(sys.argv) > 2:
                (Path(sys.argv[2]) / f"{name}_{scheme}.png").write_bytes(self.browser.screenshot())

    def check_narrow(self) -> None:
        for width in 320, 768:
            self.browser.resize(width, 700)
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width)


def main() -> None:
    skip_without_browser()
    unittest.main(argv=sys.argv[:1])
