#!/usr/bin/env python3
"""Writes docs/pictures/html_report.png, the HTML report of the program in docs/checking_opencl.md, and explorer.png, and
docs/explorer/preview.png.

    tools/screenshots.py build/default

Needs bankcheck with Oclgrind, a C compiler, the target explorer, Chromium and chromedriver. Exit codes: 0 ok, 3 a program
or the explorer is missing, or failed, 77 no browser.
"""

import base64
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True  # of the modules that are imported here
sys.path.append(str(ROOT / "tests/browser"))
from browser import Browser, skip_without_browser

EXAMPLE = ROOT / "tests/bankcheck/opencl/example"
WIDTH, SCALE = 1400, 0.72


def report(bankcheck: Path, folder: Path) -> Path:
    """The page for the tutorial's program."""
    for name in ("matmul.cl", "test_matmul.c"):
        (folder / name).write_text((EXAMPLE / name).read_text())
    page = folder / "report.html"
    for command in (
        ["cc", "test_matmul.c", "-lOpenCL", "-o", "test_matmul"],
        [bankcheck, "opencl", "--arch", "sm_90,gfx942", "--fit", "--html", page, "--", "./test_matmul"],
    ):
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    return page


def save(browser: Browser, name: str, top: float, bottom: float) -> None:
    clip = {"x": 0, "y": top, "width": WIDTH, "height": bottom - top, "scale": SCALE}
    shot = browser.devtools("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
    (ROOT / "docs/pictures" / name).write_bytes(base64.b64decode(shot["data"]))


def show_report(browser: Browser, page: Path) -> None:
    """From the top to the end of the first picture of banks."""
    browser.open(page)
    bottom = browser.run("return document.querySelector('.banks').getBoundingClientRect().bottom + scrollY")
    save(browser, "html_report.png", 0, bottom + 16)


def show_explorer(browser: Browser, page: Path) -> None:
    """The column of a tile, with its fix; and what other sites show of a link to the page."""
    browser.open(page)
    for _ in range(100):
        if browser.run("return document.body.dataset.ready"):
            break
        time.sleep(0.1)
    browser.run("document.getElementById('fix').click()")
    save(browser, "explorer.png", 0, browser.run("return document.getElementById('costs').getBoundingClientRect().top + scrollY"))
    wide, high = 1200, 630  # what og:image is shown at
    browser.resize(wide, high)
    browser.run("location.hash = '#i=tile[threadIdx.x][i]&d=float+tile[32][32]'; document.getElementById('presets').hidden = true")
    clip = {"x": 0, "y": 0, "width": wide, "height": high, "scale": 1}
    shot = browser.devtools("Page.captureScreenshot", format="png", clip=clip)
    (ROOT / "docs/explorer/preview.png").write_bytes(base64.b64decode(shot["data"]))


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    skip_without_browser()
    build = Path(sys.argv[1]).resolve()
    if not (build / "explorer/index.html").exists():
        print("screenshots.py: the target explorer is not built", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as name, Browser() as browser:
        browser.media()
        browser.resize(WIDTH, 1000)
        browser.devtools("Emulation.setScrollbarsHidden", hidden=True)
        try:
            show_report(browser, report(build / "bankcheck", Path(name)))
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"screenshots.py: {error}", file=sys.stderr)
            return 3
        show_explorer(browser, build / "explorer/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
