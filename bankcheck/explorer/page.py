#!/usr/bin/env python3
"""Makes one file of the page docs/explorer, its scripts and the WebAssembly, so that it also works opened from disk.

    page.py FOLDER MODEL.WASM OUT.html [URL OF THE PAGE] [URL OF THE REPOSITORY]
"""

import base64
import hashlib
import re
import sys
from pathlib import Path

MODULES = ("model.js", "presets.js", "link.js", "pictures.js", "explorer.js")  # each imports from those before it


def joined(folder: Path) -> str:
    """One module of all: names are distinct, so imports and exports can go."""
    text = ""
    for name in MODULES:
        code = re.sub(r"^import .*?;\n", "", (folder / name).read_text(), flags=re.M | re.S)
        text += re.sub(r"^export ", "", code, flags=re.M)
    return text


def source_of(text: str) -> str:
    """How a Content-Security-Policy names the text of a script or style."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def page(folder: Path, wasm: bytes, url: str, repository: str) -> str:
    script, style = joined(folder), (folder / "explorer.css").read_text()
    text = (folder / "index.html").read_text().replace("{url}", url)
    text = text.replace("{repository}", repository) if repository else re.sub(r"<a id=home .*?</a>", "", text)
    text = text.replace("style-src 'self'", "style-src " + source_of(style))
    text = text.replace("script-src 'self'", "script-src " + source_of(script))
    text = text.replace("<link rel=stylesheet href=explorer.css>", f"<style>{style}</style>")
    model = f'<script type="application/wasm;base64" id=model>{base64.b64encode(wasm).decode()}</script>\n'
    return text.replace("<script type=module src=explorer.js></script>", f"{model}<script type=module>{script}</script>")


def main() -> None:
    if len(sys.argv) not in (4, 5, 6):
        sys.exit(__doc__)
    folder, wasm, out = map(Path, sys.argv[1:4])
    url, repository = (sys.argv[4:] + ["", ""])[:2]
    out.write_text(page(folder, wasm.read_bytes(), url, repository))


if __name__ == "__main__":
    main()
