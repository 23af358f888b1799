"""Generates the table that compares the results with the project's targets.

Reached values are rounded in the unfavourable direction, so that a missed target never looks met.
"""

import math  # noqa: I001
from dataclasses import dataclass
from statistics import median

from reports import PAIRS, STUDIES, cpu_shaped, fastest, markdown, model_totals
from reports import power, report, rows, size_text, sizes, software, words


@dataclass(frozen=True)
class Goal:
    """The target and the stretch target of a ratio; None: no target."""

    unit: str  # printed after the number
    target: float | None
    stretch: float | None
    at_most: bool = False

    def asked(self, value: float | None) -> str:
        return "" if value is None else f"{'≤' if self.at_most else '≥'} {value:.2f} {self.unit}"

    def reached(self, value: float) -> str:
        cents = math.ceil(100 * value - 1e-9) if self.at_most else math.floor(100 * value + 1e-9)
        return f"{cents / 100:.2f} {self.unit}"

    def met(self, value: float, wanted: float | None) -> bool:
        return wanted is None or (value <= wanted if self.at_most else value >= wanted)


def line(what: str, goals: list, places: list) -> list:
    """A row of the table. `places`: pairs of a place and the values of all goals there."""
    worst = [(max if g.at_most else min)(((v[i], at) for at, v in places), key=lambda pair: pair[0]) for i, g in enumerate(goals)]
    met = all(goal.met(value, goal.target) for goal, (value, _) in zip(goals, worst))
    more = met and all(goal.met(value, goal.stretch) for goal, (value, _) in zip(goals, worst))
    reached = ", ".join(goal.reached(value) + (f" at {where}" if where else "") for goal, (value, where) in zip(goals, worst))
    asked = [", ".join(filter(None, texts)) for texts in zip(*((g.asked(g.target), g.asked(g.stretch)) for g in goals))]
    return [what, *asked, reached, "stretch" if more else "yes" if met else "no"]


MEASURES = {
    "speed": lambda best, at: at["library"]["time_median_s"] / best["time_median_s"],
    "time": lambda best, at: best["time_median_s"] / at["library"]["time_median_s"],
    "copy": lambda best, at: best["of_copy"],
}
PORT = Goal("× CUDA", 0.97, 0.99)
OPENMP = Goal("× OpenMP", 0.9, 1.0)
MODEL, MODEL_STRETCH = 0.10, 0.05  # allowed relative difference between a measured ratio and the model's
FROM_MEMORY = 1 << 27  # bytes in and out: larger than the caches of the measured CPUs
CPU_VARIANTS = {case: study["for_cpus"] for case, study in STUDIES.items() if "for_cpus" in study}


def variants(best: list) -> str:
    return ", ".join(f"`{name}`" for name in dict.fromkeys(row["variant"] for row in best))


def of_fastest(case: str, where: str, found: list, goals: dict, one: bool = False) -> list:
    """A row for the fastest bankwise variant at each size."""
    best = [fastest(at) for at in found]
    places = [("" if one else size_text(row, case), [MEASURES[m](row, at) for m in goals]) for row, at in zip(best, found)]
    return line(f"{case} {variants(best)}, {where}", list(goals.values()), places)


def sizes_lines(device: str) -> list:
    body = []
    for case, targets in ((case, targets) for case, study in STUDIES.items() for targets in study.get("targets", [])):
        goals = {measure: Goal(*targets[measure]) for measure in targets if measure in MEASURES}
        found = sizes(device, case, "cuda")
        if "words" in targets:  # exponents of the first and the last size
            first, last = targets["words"]
            found = [at for at in found if 2**first <= words(at["copy"], case) <= 2**last]
            body.append(of_fastest(case, f"{power(first)}…{power(last)} words", found, goals))
        else:
            body += [of_fastest(case, size_text(at["copy"], case), [at], goals, one=True) for at in found]
    return body


def port_lines(device: str) -> list:
    """Rows that compare OpenCL's fastest variant at each size with the same variant in CUDA."""
    body = []
    for case in CPU_VARIANTS:
        pairs = [(cuda, fastest(opencl)) for cuda, opencl in zip(sizes(device, case, "cuda"), sizes(device, case, "opencl"), strict=True)]
        ratios = [cuda[best["variant"]]["time_median_s"] / best["time_median_s"] for cuda, best in pairs]
        places = [(size_text(best, case), [ratio]) for (_, best), ratio in zip(pairs, ratios)]
        body.append(line(f"{case} {variants([best for _, best in pairs])} in OpenCL, all sizes", [PORT], places))
    return body


def pair_lines(device: str) -> list:
    """Rows that compare the measured speedup of each fix in shared memory with the ratio of the model's passes."""
    body = []
    for case, before, after in PAIRS:
        found, totals = rows(device, case, "cuda")["block"], model_totals(device, case)
        measured = found[before]["time_median_s"] / found[after]["time_median_s"]
        model = totals[before]["passes"] / totals[after]["passes"]
        off = measured / model - 1
        sign, percent = "+" if off > 0 else "−", math.ceil(100 * abs(off) - 1e-9)
        asked = [f"the model's {model:.2f} × ± {100 * MODEL:.0f} %", f"± {100 * MODEL_STRETCH:.0f} %"]
        met = "stretch" if abs(off) <= MODEL_STRETCH else "yes" if abs(off) <= MODEL else "no"
        body.append([f"{case} `{before}` → `{after}`, inside the block", *asked, f"{measured:.2f} ×, {sign}{percent} %", met])
    return body


def cpu_lines() -> list:
    """Rows that compare the variants for CPUs with OpenMP: its fastest version, and the median of the runs."""
    body = []
    for folder, jobs in (cpu_shaped() or {"": {}}).items():
        for case, variant in CPU_VARIANTS.items():
            found: dict = {"from memory": [], "from the cache": []}
            for (at, size), ways in jobs.get(case, {}).items():
                speeds = {way: median(runs) for way, runs in ways.items()}
                openmp = [speed for way, speed in speeds.items() if way.startswith("openmp")]
                if variant in speeds and openmp:
                    found["from memory" if size >= FROM_MEMORY else "from the cache"].append((at, [speeds[variant] / max(openmp)]))
            for place, values in found.items():
                if values:
                    on = report(folder, f"{case}.memory")["devices"][0]
                    name = f"{case} `{variant}`, PoCL {on['driver'].split('+')[0]} on {on['compute_units']} cores, {place}"
                    body.append(line(name, [OPENMP], values))
            if not any(found.values()):
                asked = [OPENMP.asked(OPENMP.target), OPENMP.asked(OPENMP.stretch)]
                body.append([f"{case} `{variant}`, PoCL on a CPU", *asked, "not measured", "–"])
    return body


def revisions(device: str) -> list:
    """The revisions of bankwise in the reports. If there are several, each is listed with its runs."""
    found: dict = {}
    for case in CPU_VARIANTS:
        for kind, where in (("block", "inside the block"), ("sizes", "from memory")):
            for run in report(device, f"{case}.{kind}").get("runs", [report(device, f"{case}.{kind}")]):
                found.setdefault(run["revision"].split("-")[-1], {})[f"{case} {where}"] = None
    if len(found) == 1:
        return [f"revision {revision}" for revision in found]
    return [f"revision {revision} ({', '.join(what)})" for revision, what in found.items()]


def target_table(device: str) -> str:
    """The table: each row shows the worst result in its range of sizes."""
    body = sizes_lines(device) + port_lines(device) + pair_lines(device) + cpu_lines()
    measured = (row for case in CPU_VARIANTS for run in report(device, f"{case}.sizes")["runs"] for row in run["results"])
    libraries = dict.fromkeys(row["library"] for row in measured if row["library"])
    where = ", ".join([*software(device), *libraries, *revisions(device)])
    return f"{where}:\n\n" + markdown(["what", "target", "stretch", "reached", "met"], body, 5)
