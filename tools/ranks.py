"""The tables of docs/several_gpus.md, from the reports of `script/bench --ranks` (docs/results/<device>/ranks.json and
ranks_largest.json)."""

import math

from reports import CASES, markdown, power, report

ONLY_RATES = ("copy", "peer_copy", "alone")
GPUS_OF_NODE = 8
BETWEEN_NODES = 50e9  # bytes per second and GPU in each direction: one 400 Gb/s adapter per GPU
HOP_IN_NODE, HOP_BETWEEN_NODES = 1e-6, 5e-6  # seconds added to a small exchange whenever the ranks double


def runs(device: str, ranks: int) -> list:
    return [run for run in report(device, "ranks")["runs"] if len(run["ranks"]) == ranks]


def max_ranks(device: str) -> int:
    return max(len(run["ranks"]) for run in report(device, "ranks")["runs"])


def words(run: dict) -> int:
    return sum(rank["input_words"] for rank in run["ranks"])


def measured(run: dict) -> dict:
    return {row["variant"]: row for row in run["results"] if row["time_median_s"]}


def amount(count: float) -> str:
    exponent = math.log2(count)
    return power(int(exponent)) if exponent.is_integer() else f"{count:.0f}"


def size_of(run: dict) -> str:
    return f"{run['height']} × {run['width']}" if "height" in run else amount(words(run))


def run_of(device: str, ranks: int, case: str, cache: str, largest: bool) -> dict:
    """The run of a case study with the largest size, or the smallest."""
    found = [run for run in runs(device, ranks) if run["case"] == case and run["cache"] == cache]
    return (max if largest else min)(found, key=words)


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 9.995e-3 else f"{seconds * 1e3:.1f} ms"


def duration(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else milliseconds(seconds)


def percent(fraction: float | None) -> str:
    return "–" if fraction is None else f"{100 * fraction:.1f} %"


def rate(amount: int, seconds: float) -> str:
    return "–" if amount < 1e6 else f"{amount / seconds * 1e-9:.0f}"


def large_table(device: str) -> str:
    """The variants at the largest problem of each case study."""
    body = []
    for case in CASES:
        run = run_of(device, max_ranks(device), case, "cold", True)
        for name, row in measured(run).items():
            if name not in ("copy", "peer_copy"):
                label = f"`{row['alone']}` on each GPU's share alone" if name == "alone" else f"`{name}`"
                time = row["time_median_s"]
                rates = [rate(row[key], time) for key in ("memory_bytes", "link_bytes")]
                parts = [percent(row[key]) for key in ("of_floor", "weak_scaling")]
                body.append([f"{case}, {size_of(run)} words", label, milliseconds(time), *rates, *parts])
    head = ["problem", "variant", "time", "memory, GB/s", "link, GB/s", "of floor", "weak scaling"]
    return markdown(head, body, 2)


def sizes_table(device: str) -> str:
    """The prefix sum's variants, size by size. The floor is that of the variants that read each word twice."""
    found = [*runs(device, max_ranks(device)), *report(device, "ranks_largest")["runs"]]
    found = sorted((run for run in found if run["case"] == "prefix_sum" and run["cache"] == "cold"), key=words)
    names = [name for name in measured(found[0]) if name not in ONLY_RATES]
    body = []
    for run in found:
        rows = measured(run)
        times = [duration(rows[name]["time_median_s"]) if name in rows else "–" for name in names]
        body.append([amount(words(run) / len(run["ranks"])), duration(rows["ring"]["floor_s"]), *times])
    return markdown(["words per GPU", "floor, 3 n", *(f"`{name}`" for name in names)], body)


class Model:
    """Expected times from the measured rates of a copy within a GPU and between two, and NCCL's smallest exchange."""

    def __init__(self, device: str):
        ranks = max_ranks(device)
        rows = measured(run_of(device, ranks, "transpose", "cold", True))
        self.memory = rows["copy"]["memory_bytes"] / rows["copy"]["time_median_s"]
        self.link = rows["peer_copy"]["link_bytes"] / rows["peer_copy"]["time_median_s"]
        small = {case: measured(run_of(device, ranks, case, "hot", False)).values() for case in CASES}
        self.smallest = {case: next(filter(None, (row["exchanges_s"] for row in small[case]))) for case in CASES}

    def latency(self, case: str, ranks: int) -> float:
        in_node = math.log2(min(ranks, GPUS_OF_NODE) / 2)
        between = math.log2(max(ranks, GPUS_OF_NODE) / GPUS_OF_NODE)
        return self.smallest[case] + HOP_IN_NODE * in_node + HOP_BETWEEN_NODES * between

    def transfer(self, share: int, ranks: int) -> float:
        """The longer of both ways on which a rank's data leaves: to its own node, and to other nodes."""
        of_node = min(ranks, GPUS_OF_NODE)
        inside, outside = share * (of_node - 1) / ranks, share * (ranks - of_node) / ranks
        return max(inside / self.link, outside / BETWEEN_NODES)

    def seconds(self, case: str, variant: str, share: int, ranks: int) -> float:
        """`share`: bytes of input per rank."""
        if case != "transpose":
            return (1 if case == "reduction" else 3) * share / self.memory + self.latency(case, ranks)
        if variant == "direct":
            return max(2 * share / self.memory, self.transfer(share, ranks))
        return 4 * share / self.memory + self.transfer(share, ranks)


MODELLED = (("reduction", "all_reduce"), ("prefix_sum", "ring"), ("transpose", "packed"), ("transpose", "direct"))


def model_table(device: str) -> str:
    model, ranks, body = Model(device), max_ranks(device), []
    for case, variant in MODELLED:
        run = run_of(device, ranks, case, "cold", True)
        share = 4 * run["ranks"][0]["input_words"]
        real, expected = measured(run)[variant]["time_median_s"], model.seconds(case, variant, share, ranks)
        cells = [f"{case} `{variant}`", milliseconds(real), milliseconds(expected), f"{expected / real:.2f}"]
        for more in (8, 64, 512):
            possible = variant != "direct" or more <= GPUS_OF_NODE
            cells.append(milliseconds(model.seconds(case, variant, share, more)) if possible else "not between nodes")
        body.append(cells)
    head = ["variant", f"{ranks} GPUs, measured", "expected", "ratio", "8 GPUs", "64 GPUs", "512 GPUs"]
    return markdown(head, body)
