# SPDX-License-Identifier: MIT
"""Checks for every page of bankwise, by structure and not by pixels. Each returns a list of what is wrong."""

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


def check_schemes(test, browser, save) -> None:
    """The light and the dark page are light and dark, and have enough contrast. `save` gets a name and a screenshot."""
    for scheme, least, most in ("light", 0.9, 1.0), ("dark", 0.0, 0.2):
        browser.media("", scheme)
        test.assertEqual(browser.run(CONTRAST), [], scheme)
        luminance = browser.run(LUMINANCE_OF_PAGE)
        test.assertTrue(least <= luminance <= most, f"{scheme}: {luminance}")
        save(f"{scheme}.png", browser.screenshot())
