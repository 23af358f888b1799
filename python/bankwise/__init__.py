"""Bank conflicts of GPU shared memory: what an access costs, why, and which layout removes the conflicts.

    >>> import bankwise
    >>> bankwise.cost([32 * 4 * lane for lane in range(32)])
    Cost(passes=32, ideal=1, conflicts=31, passes_max=32, conflicts_max=31)

`cost` and `explain` compute; `check`, `read`, `fit` and `layout` run the program bankcheck, which is part of the
package. The docstrings have the units. Errors are `ValueError` for arguments, otherwise `BankwiseError`.
"""

from bankwise.model import Cost, Costs, Explanation, SectorCost, SectorCosts, architectures, cost, explain
from bankwise.program import BankwiseError, NothingToRun
from bankwise.reports import ArrayFit, Kernel, Layout, Line, Report, check, fit, layout, read
from bankwise.watching import watch

__all__ = [
    "ArrayFit",
    "BankwiseError",
    "Cost",
    "Costs",
    "Explanation",
    "Kernel",
    "Layout",
    "Line",
    "NothingToRun",
    "Report",
    "SectorCost",
    "SectorCosts",
    "architectures",
    "check",
    "cost",
    "explain",
    "fit",
    "layout",
    "read",
    "watch",
]
