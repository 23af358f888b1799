#!/usr/bin/env python3
"""The negative controls of the checks in tools/: each change to a copy of the repository must be noticed, and named."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True
from check_pages import tracked

DEVICE, SEVERAL = "nvidia_h200", "nvidia_h200_x2"
PORT = "packaging/vcpkg/ports/bankwise/vcpkg.json"
PICTURE = f"docs/pictures/{DEVICE}_reduction_ladder.svg"
COMMON, NEW_ROOM = "common/bankwise", "common/bankwise/new_room/new.hpp"
GRAPH, CYCLE, SUPPORT_TEST = "include_graph.py --check", "include_graph.py: a cycle of ", "tests/support/test_support.cpp"
UPWARDS = f"{COMMON}/support/table.hpp:1: {COMMON}/support must not know {COMMON}/banks: "
NUMBER = r">[1-8](\d\d[1-9])</text>"  # in a bar: those of the axis are round


def edit(name: str, pattern: str, to: str):
    """A change in one place; the pattern `^` inserts before the first line."""

    def change(root: Path) -> None:
        text, count = re.subn(pattern, to, (root / name).read_text(encoding="utf-8"), count=1)
        assert count == 1, f"{name} has no {pattern}"
        (root / name).write_text(text, encoding="utf-8")

    return change


def slower(results: str, variant: str):
    """Each result of a variant in a file, by a tenth."""

    def change(root: Path) -> None:
        path = root / "docs/results" / results
        report = json.loads(path.read_text())
        for row in (row for run in report.get("runs", [report]) for row in run["results"]):
            if row["variant"] == variant and row["time_median_s"]:
                row["time_median_s"] *= 1.1
                if "bytes_per_s" in row:
                    row["bytes_per_s"] /= 1.1
        path.write_text(json.dumps(report))

    return change


def forged(root: Path) -> None:
    """A number next to a bar, and the digest of the picture, too."""
    edit(PICTURE, NUMBER, r">9\1</text>")(root)
    text = (root / PICTURE).read_text(encoding="utf-8")
    digest = hashlib.sha256(text[: text.index("<!-- plots.py")].encode()).hexdigest()
    edit(PICTURE, r"picture \w{64}", f"picture {digest}")(root)


def cpu_results(root: Path) -> None:
    """The slowest run of three sizes is 0.90 of the faster OpenMP version."""
    speeds = {"chunked/1": 9.1, "openmp/1": 8, "openmp_vectors/1": 10, "chunked/2": 9, "openmp/2": 10, "openmp_vectors/2": 9}
    kind = {"run_type": "iteration"}
    timed = [kind | {"run_name": f"reduction_{name}/real_time", "bytes_per_second": speed} for name, speed in speeds.items()]
    (root / "docs/results/pocl_epyc/cpu_shaped.json").write_text(json.dumps({"benchmarks": timed}))
    subprocess.run([sys.executable, root / "tools/tables.py"], capture_output=True, check=True)
    page = (root / "docs/results/README.md").read_text(encoding="utf-8")
    assert re.search(r"reduction `chunked`, PoCL .* \| 0\.90 × OpenMP at 2¹ elements \| yes \|", page)


def bounds(root: Path) -> None:
    """A case study with bounds, and a program: a kernel with conflicts, one without, and one that was not timed."""
    path = root / "docs/results" / DEVICE / "transpose.block.json"
    report = json.loads(path.read_text())
    for row in (row for row in report["results"] if row["time_median_s"]):
        row |= {"bound": 20.0, "shared_busy": 0.5, "least_time_s": row["time_median_s"] / 2}
    path.write_text(json.dumps(report))
    kernels = []
    for name, bound in (("k<int>(int*)", 3), ("j(int*)", None)):
        pipes = [{"pipe": "DRAM", "least_ns": 500, "busy": 0.3}, {"pipe": "shared memory", "least_ns": 200, "busy": 0.1}]
        busy = {"bound": {"without_conflicts": bound, "without_extra_sectors": None}, "busy": {"pipes": pipes}}
        kernels.append({"kernel": name, "time": {"launches": 5}, "architectures": [busy]})
    (root / "json").mkdir(exist_ok=True)
    (root / "json/p.before.json").write_text(json.dumps({"kernels": kernels}))
    pair = {"program": "p", "kind": "conflicts", "before_ns": 300, "after_ns": 200, "noise": 0.01}
    times = [pair | {"pair": f"p:{name}", "kernel": name, "kernel_after": "j"} for name in ("k", "j", "i")]
    (root / "pairs_times.json").write_text(json.dumps(times))
    done = subprocess.run([sys.executable, root / "tools/bounds.py", path.parent, root], capture_output=True, text=True, check=True)
    rows = {",".join(line.split(",")[:2]): ",".join([line.split(",")[2], *line.split(",")[6:]]) for line in done.stdout.splitlines()}
    assert rows["transpose: tile32 -> tile32_padded,block cuda"] == "conflicts,0.5000,20.0000,13.9768,1.4309"
    assert rows["transpose: swizzled -> vectorized,block cuda"] == "other,0.5000,2.0626,1.0313,2.0000"
    assert rows["p:k,program"] == "conflicts,0.1333,3.0000,1.5000,2.0000"
    assert rows["p:j,program"] == "other,0.1333,3.0000,1.5000,2.0000"  # 300 ns and 500 ns of DRAM in five launches
    assert rows["p:i,program"] == "other,,3.0000,1.5000,2.0000"
    assert "reduction: naive -> packed, block cuda" in done.stderr


def programs(folder: Path, texts: dict) -> dict:
    """Python programs in a new folder. Returns an environment that finds them."""
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(f"#!{sys.executable}\nimport sys\n{text}\n")
        (folder / name).chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


def published(root: Path) -> None:
    """The owner is filled in everywhere by packaging/github.sh."""
    command = ["bash", root / "packaging/github.sh", "octocat/bankwise"]
    subprocess.run(command, env=programs(root / "fake_gh", {"gh": ""}), check=True)
    left = subprocess.run(["grep", "-rlE", "OWNER/(homebrew-)?bankwise", root], capture_output=True, text=True, check=False).stdout
    assert not left and "octocat/bankwise@v1" in (root / "docs/checking_your_kernel.md").read_text(encoding="utf-8"), left


def arbitrated(root: Path) -> None:
    """Each case study launches a kernel, and a library's: 7 passes and conflicts of each kind by the data pipe, 5 passes
    by instruction, and 4 conflicts by arbitration."""
    counts = "names = sys.argv[sys.argv.index('--metrics') + 1].split(',')\n"
    counts += "kernel = {'./reduction': 'reduce_naive', './prefix_sum': 'scan_naive', './transpose': 'transpose_naive'}\n"
    counts += "kernel = next(kernel[name] for name in sys.argv if name in kernel)\n"
    counts += "numbers = ['5' if 'sass' in name else '4' if 'arbitration' in name else '7' for name in names]\n"
    counts += "launched = ([name + '(int*)', *numbers] for name in (kernel, 'void ' + kernel))\n"
    counts += "for row in (['Kernel Name', *names], ['', *names], *launched):\n"
    counts += """    print('"' + '","'.join(row) + '"')"""
    studies = dict.fromkeys(("reduction", "prefix_sum", "transpose"), "print('variant\\nnaive')")
    environment = programs(root / "fake_build", {"ncu": counts, **studies})
    command = [sys.executable, root / "tools/counters.py", "arbitration", root / "fake_build"]
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert "reduction,reduce_naive,1,4194304,7,7,7,7,7,7,4,5,5,5\n" in printed
    assert "transpose,transpose_naive,4096,4096,7," in printed
    (root / "docs/results" / DEVICE / "arbitration.csv").write_text(printed)
    subprocess.run([sys.executable, root / "tools/tables.py"], capture_output=True, check=True)
    page = (root / "docs/faq.md").read_text(encoding="utf-8")
    assert "| `scan_naive` | 15 | 6 | 4 | 0 of 1 |" in page and "| all | 45 | 18 | 12 | 0 of 3 |" in page


def counted(root: Path) -> None:
    """A program of two kernels, of which ncu counts 5 of each; in k bankcheck sees a load, copies, a wgmma and a TMA load, of
    j only copies."""
    folder = root / "fake"
    copies = [{"operation": "cp.async", "passes": 1, "conflicts": 0}, {"operation": "cp.async.cg", "passes": 4, "conflicts": 2}]
    lines = [{"operation": "load", "passes": 5, "conflicts": 1}, {"operation": "ldmatrix.x4", "passes": 2, "conflicts": 0}, *copies]
    engines = [{"engine": "wgmma", "passes": 6, "conflicts": 0}, {"engine": "TMA load", "passes": 1, "conflicts": 0}]
    costs = {"lines": lines, "engine_lines": engines, "all_accesses": 9, "without_cost": {"cp.async.cg with ZFILL": 4, "TMA stores": None}}
    kernels = [{"kernel": "a::k<1>(int*)", "architectures": [costs]}]
    kernels += [{"kernel": "j", "architectures": [{"lines": copies, "engine_lines": [], "all_accesses": 2, "without_cost": {}}]}]
    report = json.dumps({"kernels": kernels})
    counts = "names = sys.argv[sys.argv.index('--metrics') + 1].split(',')\n"
    counts += "for row in (['Kernel Name', *names], ['', *names], ['void a::k<1>', *'5' * len(names)], ['j', *'5' * len(names)]):\n"
    texts = {"ncu": counts + """    print('"' + '","'.join(row) + '"')"""}
    texts["bankcheck"] = f"open(sys.argv[sys.argv.index('--json') + 1], 'w').write({report!r})"
    environment = programs(folder, texts)
    options = ["--repeat", "2", "--costs", folder / "costs.csv"]
    command = [sys.executable, root / "tools/counters.py", "program", folder / "bankcheck", "p", *options, "--", "x"]
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert "p,k,ld,1,5,1,5,5,5,5\n" in printed and "p,k,ldsm,1,2,0,5,5,,\n" in printed and "p,k,gmma,1,6,0,5,5,5,5\n" in printed
    assert "p,k,ldgsts,1,,,5,5,,\n" in printed and "p,j,ldgsts,1,5,2,5,5,,\n" in printed  # some of k have no cost
    # shared + ldgsts + dshared + tma_ld + tma_st, and a quarter of the wgmma in `shared`: 5 × (5 - 3/4)
    assert (folder / "costs.csv").read_text() == "p,j,21,2,0,\np,k,21,9,4,cp.async.cg with ZFILL 4; TMA stores ?\n"


def no_matplotlib(root: Path) -> None:
    (root / "tools/matplotlib.py").write_text("raise ModuleNotFoundError(name='matplotlib')\n")


def new_room(root: Path) -> None:
    (root / NEW_ROOM).parent.mkdir()
    (root / NEW_ROOM).write_text("")


def nothing(_: Path) -> None:
    pass


# A command, the change to the copy, the exit code, and the beginning of a line that must be printed.
CONTROLS = (
    ("tables.py --check", nothing, 0, ""),
    ("tables.py --check", slower(f"{DEVICE}/reduction.memory.json", "packed"), 1, "reduction/README.md"),
    ("tables.py --check", slower(f"{DEVICE}/transpose.sizes.json", "library"), 1, "docs/results/README.md"),
    ("tables.py --check", slower(f"{SEVERAL}/ranks.json", "cyclic"), 1, "docs/several_gpus.md"),
    ("tables.py --check", edit(f"docs/results/{DEVICE}/bankcheck_cuda.csv", r"(_naive,ld,1),\d+", r"\1,7"), 1, "docs/checking_cuda.md"),
    ("tables.py --check", edit(f"docs/results/{DEVICE}/limits.csv", r"_tma,(\d+),\d", r"_tma,\1,1"), 1, "docs/bottlenecks.md"),
    ("tables.py --check", edit(f"docs/results/{DEVICE}/bounds.csv", r"(naive -> padded,memory .*),", r"\1,9"), 1, "docs/bottlenecks.md"),
    ("tables.py --check", edit(f"docs/results/{DEVICE}/bankcheck_cuda_costs.csv", r"(Kernel,)\d", r"\g<1>8"), 1, "docs/checking_cuda.md"),
    ("tables.py --check", edit(f"docs/results/{DEVICE}/arbitration.csv", r"(_naive,1,\d+,)\d", r"\g<1>9"), 1, "docs/faq.md"),
    ("tables.py", counted, 0, ""),
    ("tables.py", arbitrated, 0, ""),
    ("tables.py", bounds, 0, ""),
    ("tables.py --check", edit("docs/results/README.md", r"\| (yes|stretch|no) \|", "| of course |"), 1, "docs/results/README.md"),
    ("tables.py --check", cpu_results, 0, ""),
    ("plots.py --check", nothing, 0, ""),
    ("plots.py --check", slower(f"{DEVICE}/reduction.memory.json", "packed"), 1, PICTURE),
    ("plots.py --check", forged, 1, PICTURE),
    ("plots.py", no_matplotlib, 3, "matplotlib is missing"),
    (GRAPH, nothing, 0, ""),
    ("include_graph.py", nothing, 0, "transpose: "),
    ("include_graph.py --dot", nothing, 0, '  "transpose" -> '),
    (GRAPH, edit(f"{COMMON}/support/table.hpp", "^", "#include <bankwise/banks/units.hpp>\n"), 1, UPWARDS),
    (GRAPH, edit(f"{COMMON}/banks/access.hpp", "^", "#include <bankwise/banks/cost.hpp>\n"), 1, CYCLE + f"files: {COMMON}/banks/"),
    (GRAPH, edit("bankcheck/main.cpp", "^", '#include "bankwise/banks/cost.hpp"\n'), 1, "bankcheck/main.cpp:1: bankwise/banks/cost.hpp"),
    (GRAPH, new_room, 1, f"{NEW_ROOM}: the table of rooms has no room for it"),
    (GRAPH, edit("tools/rooms.txt", "knows banks, support\n", "knows banks, support, study\n"), 1, CYCLE + "the rooms of rooms.txt: "),
    ("check_pages.py", nothing, 0, ""),
    ("check_pages.py", edit("README.md", r"\]\(docs/", "](documents/"), 1, "README.md: there is no documents/"),
    ("check_pages.py", edit("transpose/tma.cuh", "(// Needs: .*)\n(// No .*)\n", r"\2\n\1\n"), 1, "transpose/tma.cuh: No Op"),
    ("check_pages.py", edit("CMakeLists.txt", "VERSION 1.0.0", "VERSION 9.8"), 1, "CHANGELOG.md does not have the version 9.8"),
    ("check_pages.py", edit(PORT, "OWNER", "octocat"), 1, f"{PORT}: the owner of the repository is octocat"),
    ("check_pages.py", published, 0, ""),
    ("check_pages.py", edit("transpose/naive.cuh", "^", f"// {'columns ' * 16}\n"), 1, "transpose/naive.cuh:1: more than 120"),
    ("check_pages.py", edit(SUPPORT_TEST, r'TEST_CASE\("', 'TEST_CASE("a sentence about '), 1, f"{SUPPORT_TEST}: the name"),
    ("check_pages.py", edit("docs/tutorial/matmul.cu", "^", "\n"), 1, "docs/checking_your_kernel.md differs"),
)


CREATED = ("json/p.before.json", "pairs_times.json", "docs/results/pocl_epyc/cpu_shaped.json", "tools/matplotlib.py", NEW_ROOM)


def modified(path: Path) -> int | None:
    return path.stat().st_mtime_ns if path.exists() else None


def fault_of(command: str, change, code: int, printed: str, root: Path) -> str:
    change(root)
    program, *flags = command.split()
    done = subprocess.run([sys.executable, root / "tools" / program, *flags], capture_output=True, text=True, check=False)
    lines = (done.stdout + done.stderr).splitlines()
    if done.returncode == code and (not printed or any(line.startswith(printed) for line in lines)):
        return ""
    return f"{command}: exit code {done.returncode}, and not {code} with {printed}: {' '.join(lines)[:500]}"


def main() -> int:
    names = [name for name in tracked(ROOT) if not name.startswith("tests/fuzz/corpus/")]
    faults = []
    with tempfile.TemporaryDirectory() as scratch:
        root, copied = Path(scratch), {}
        for control in CONTROLS:
            for name in names:  # all of them at first, then those that the last control has changed
                if name not in copied or copied[name] != modified(root / name):
                    (root / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(ROOT / name, root / name)
                    copied[name] = modified(root / name)
            faults.append(fault_of(*control, root))
            for path in CREATED:
                (root / path).unlink(missing_ok=True)
    faults = [fault for fault in faults if fault]
    print("\n".join(faults) or f"{len(CONTROLS)} controls behave as expected")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
