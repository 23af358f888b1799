"""run.py TOOL ARGUMENTS...: runs a tool that is a Python module. Exit codes: the tool's; 77 if it is not installed."""

import importlib.util
import subprocess
import sys

tool, *arguments = sys.argv[1:]
if importlib.util.find_spec(tool) is None:
    print(f"skipped: {sys.executable} has no {tool} (pip install {tool})")
    sys.exit(77)
sys.exit(subprocess.run([sys.executable, "-B", "-m", tool, *arguments]).returncode)
