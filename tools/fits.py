"""The tables of docs/results/fit.md: programs of public repositories, and what `bankcheck cuda --measure` changed in them
(docs/results/<device>/fit_programs.csv, by fit_corpus.py)."""

import re
from collections import Counter
from operator import itemgetter

from reports import RESULTS, by_key, csv_rows, grouped, markdown

APPLIED = ("faster", "equal within the noise", "slower")  # results of kernels whose change was timed
UNCHANGED = ("no layout", "refused", "not timed")


def state_of(row: dict) -> str:
    """What became of a kernel with conflicts."""
    if row["result"] in APPLIED:
        return row["result"]
    if all(re.match("no layout|an access reaches", reason) for reason in row["result"].split("; ")):
        return "no layout"
    is_refused = not row["passes_predicted"] and re.search(r"\bline \d|declaration", row["result"])
    return "refused" if is_refused else "not timed"


def fitted_kernels(device: str) -> dict:
    """The rows of the kernels with conflicts, by what became of them; instances of a template are kernels."""
    rows = by_key(filter(itemgetter("kernel"), csv_rows(RESULTS / device / "fit_programs.csv")), state_of)
    return {state: rows.get(state, []) for state in (*UNCHANGED, *APPLIED)}


def as_predicted(row: dict) -> bool | None:
    """Whether the passes that were watched again are in the predicted range; nothing if that is not known."""
    most = row.get("passes_most") or row["passes_predicted"]
    return None if most == "?" else int(row["passes_predicted"]) <= int(row["passes_again"]) <= int(most)


def fitted_table(device: str) -> str:
    """By repository: kernels with conflicts, and what became of them."""
    kernels = fitted_kernels(device)
    programs = {(row["repository"], row["program"]) for rows in kernels.values() for row in rows}
    programs_of = Counter(repository for repository, _ in programs)
    small = [name for name, count in programs_of.items() if count < 5]
    groups = {name: [name] for name, _ in programs_of.most_common() if name not in small}
    body = []
    for name, repositories in (groups | {f"{len(small)} others": small, "all": list(programs_of)}).items():
        own = {state: [row for row in rows if row["repository"] in repositories] for state, rows in kernels.items()}
        predicted = [as_predicted(row) for rows in own.values() for row in rows if row["passes_again"]]
        known = f"{sum(filter(None, predicted))} of {len(predicted)}"
        unknown = f", {predicted.count(None)} not known" if None in predicted else ""
        count = len({row["program"] for rows in own.values() for row in rows})
        body.append([name, count, *map(len, own.values()), known + unknown])
    return markdown(["repository", "programs", *kernels, "as predicted"], body)


def timed_table(device: str) -> str:
    """The kernels whose change was timed: the greatest gains, and all that lost; the others are counted."""
    rows = sorted((row for state in APPLIED for row in fitted_kernels(device)[state]), key=lambda row: -float(row["speedup"]))
    shown = [row for row in rows if float(row["speedup"]) >= 1.3 or row["result"] == "slower"]

    def instance_of(row: dict) -> tuple:
        program = row["program"].rsplit("/", 1)[-1].removesuffix("-cuda").removesuffix(".cu")
        return program, row["kernel"].split("<")[0], row["result"]

    body = []
    for (program, kernel, _), same in by_key(shown, instance_of).items():
        count = f", {len(same)} instances" if len(same) > 1 else ""
        row = same[-1]  # the slowest
        time = f"{float(row['ns_before']) / 1000:,.2f}"
        passes = f"{int(row['passes_before']) / int(row['passes_again']):.2f}"
        most = f"{float(row['at_most']):.2f} ×" if row["at_most"] else "–"
        factors = " to ".join(f"{float(row['speedup']):.2f}" for row in (same if count == "" else [same[-1], same[0]]))
        body.append([program, f"`{kernel}`{count}", passes, time, f"{factors} ×", most])
    others = Counter(row["result"] for row in rows if row not in shown)
    counted = ", ".join(f"{n} {result}" for result, n in others.items())
    head = ["program", "kernel", "passes before ÷ after", "µs before", "speedup", "at most"]
    return markdown(head, body, 2) + f"\nBetween these: {counted}.\n"


def unpredicted_table(device: str) -> str:
    """The changed kernels whose passes are not the predicted ones, also where the prediction said that it lacks accesses."""
    body = []
    for row in csv_rows(RESULTS / device / "fit_programs.csv"):
        if row["passes_again"] and not as_predicted(row) and row["passes_again"] != row["passes_predicted"]:
            passes = (grouped(row[key]) for key in ("passes_before", "passes_predicted", "passes_again"))
            body.append([row["program"].rsplit("/", 1)[-1], f"`{row['kernel']}`", *passes])
    return markdown(["program", "kernel", "before", "predicted", "watched again"], body, 2)


def unchanged_table(device: str) -> str:
    """Why kernels with conflicts were not changed: bankcheck's sentences without lines and advice, the commonest first."""
    reasons, kernels = Counter(), fitted_kernels(device)
    for row in (row for state in UNCHANGED for row in kernels[state]):
        state, sentences = state_of(row), row["result"].split("; ")
        said = (text for text in sentences if state == "no layout" or not text.startswith("no "))
        reason = re.sub(r"^(.*?: )?line \d+: ", "", next(said, "no layout pays"))
        reasons[state, re.sub(r".*(the declaration of) \S+", r"\1 the array", reason)] += 1
    body = [[state, reason, n] for (state, reason), n in reasons.most_common() if n > 1]
    body.append(["", "each another reason", list(reasons.values()).count(1)])
    return markdown(["", "why", "kernels"], body, 2)
