"""What one access costs, computed in this process."""

from __future__ import annotations

import html
import json
import operator
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from bankwise import _model

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.uint32]

Lanes = Sequence["int | None"]
Space = Literal["shared", "global"]

MAX_LANES = 64
NO_SOURCE = 0xFFFFFFFF


class Cost(NamedTuple):
    """The cost of one access to shared memory, in passes (NVIDIA: wavefronts).

    passes          cycles of the busiest bank
    ideal           passes without any conflict
    conflicts       passes - ideal; for atomic.cas half of that, since each conflict takes two passes
    passes_max, conflicts_max
                    the worst choice of the hardware, if it has one (compute capability 1.x); else equal to the above
    """

    passes: int
    ideal: int
    conflicts: int
    passes_max: int
    conflicts_max: int


class SectorCost(NamedTuple):
    """The cost of one access to global memory.

    sectors   sectors that the lanes touch (NVIDIA: 32 bytes); each moves as a whole
    ideal     the fewest sectors that could hold the bytes
    lines     cache lines
    bytes     different bytes that the lanes ask for
    """

    sectors: int
    ideal: int
    lines: int
    bytes: int


class Costs(NamedTuple):
    """The cost of many accesses to shared memory: the numbers of `Cost` as NumPy arrays, one element for each access."""

    passes: Numbers
    ideal: Numbers
    conflicts: Numbers
    passes_max: Numbers
    conflicts_max: Numbers


class SectorCosts(NamedTuple):
    """The cost of many accesses to global memory: the numbers of `SectorCost` as NumPy arrays."""

    sectors: Numbers
    ideal: Numbers
    lines: Numbers
    bytes: Numbers


def architectures() -> list[str]:
    """The names that `arch` takes. It also takes those of GPUs, for example "h100", and compute capabilities."""
    return _model.architectures()


def _dimensions(addresses: Any) -> int:
    if hasattr(addresses, "ndim"):
        return int(addresses.ndim)
    first = next(iter(addresses), 0)
    return 2 if isinstance(first, Iterable) else 1


def _lanes(addresses: Lanes, mask: int | None) -> tuple[list[int], int]:
    """The addresses, 0 for inactive lanes, and the mask of the active ones."""
    numbers = [None if address is None else operator.index(address) for address in addresses]
    if len(numbers) > MAX_LANES:
        raise ValueError(f"an access has at most {MAX_LANES} lanes, not {len(numbers)}; a row is one access")
    given = sum(1 << lane for lane, number in enumerate(numbers) if number is not None)
    active = given if mask is None else operator.index(mask)
    if active < 0 or active >> MAX_LANES:
        raise ValueError(f"the mask {active} does not have 64 bits")
    if active & ~given:
        raise ValueError(f"lane {(active & ~given).bit_length() - 1} is active and has no address")
    for lane, number in enumerate(numbers):
        if active >> lane & 1 and not 0 <= (number or 0) < 2**32:
            raise ValueError(f"the address {number} of lane {lane} is not in 0 to 2**32 - 1")
    return [(number or 0) if active >> lane & 1 else 0 for lane, number in enumerate(numbers)], active


def _array(values: Any, dtype: str, what: str) -> Any:
    """As a contiguous NumPy array of this type; nothing is cut off."""
    import numpy as np

    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{what} are integers, not {array.dtype}")
    limit = np.iinfo(dtype).max
    if array.size and (array.min() < 0 or array.max() > limit):
        raise ValueError(f"{what} are from 0 to {limit}, and one is {array.min() if array.min() < 0 else array.max()}")
    return np.ascontiguousarray(array, dtype=dtype)


def _many(addresses: Any, mask: Any, sources: Any, arch: str, op: str, width: int, space: str) -> Costs | SectorCosts:
    try:
        import numpy as np
    except ImportError:
        raise ValueError("two dimensions, accesses x lanes, need NumPy, which is not installed") from None
    matrix = _array(addresses, "uint32", "addresses")
    if matrix.ndim != 2 or not 0 < matrix.shape[1] <= MAX_LANES:
        raise ValueError(f"addresses have the dimensions accesses x lanes, 1 to {MAX_LANES} lanes, not {matrix.shape}")
    whole = (1 << matrix.shape[1]) - 1
    masks = _array(np.broadcast_to(np.asarray(whole if mask is None else mask, dtype="uint64"), matrix.shape[:1]),
                   "uint64", "masks")
    copied = None if sources is None else _array(sources, "uint32", "sources")
    if copied is not None and copied.shape != matrix.shape:
        raise ValueError(f"sources have the shape of addresses, {matrix.shape}, not {copied.shape}")
    numbers = _model.costs(matrix, masks, copied, arch, op, width, space)
    return (SectorCosts if space == "global" else Costs)(*numbers.T)


@overload
def cost(addresses: Lanes, width: int = ..., op: str = ..., arch: str = ..., space: Literal["shared"] = ...,
         *, mask: int | None = ..., sources: Lanes | None = ...) -> Cost: ...
@overload
def cost(addresses: Lanes, width: int, op: str, arch: str, space: Literal["global"],
         *, mask: int | None = ..., sources: None = ...) -> SectorCost: ...
@overload
def cost(addresses: Lanes, width: int = ..., op: str = ..., arch: str = ..., *, space: Literal["global"],
         mask: int | None = ..., sources: None = ...) -> SectorCost: ...
@overload
def cost(addresses: Any, width: int = ..., op: str = ..., arch: str = ..., space: Space = ...,
         *, mask: Any = ..., sources: Any = ...) -> Any: ...
def cost(addresses: Any, width: int = 4, op: str = "load", arch: str = "sm_90", space: str = "shared",
         *, mask: Any = None, sources: Any = None) -> Any:
    """What one access of a warp costs, or each row of an array of accesses.

    addresses  byte offset of each lane in shared memory, or in global memory from the beginning of a cache line: a
               sequence of at most 64 integers, where None is an inactive lane; or a NumPy array, of one dimension, or
               of two, accesses x lanes. Multiples of the width (of 4 for a width of 12), below 2**32.
    width      bytes per lane: 1, 2, 4, 8, 12 or 16; 16, a row, for matrix operations
    op         "load", "store", "atomic", "atomic.inc", "atomic.cas" (on 32-bit integers), "ldmatrix.x1", "ldmatrix.x2",
               "ldmatrix.x4", "stmatrix.x1", ..., "cp.async", "cp.async.cg"
    arch       an architecture or a GPU: "sm_90", "gfx942", "h100"; `architectures()` lists them
    space      "shared", whose cost is passes, or "global", whose cost is sectors
    mask       active lanes, bit l is lane l; for two dimensions also one mask for each access. Default: all that have
               an address
    sources    of cp.async: the byte address in global memory of each lane, modulo any multiple of 128; None or
               2**32 - 1: the lane writes zeros

    Returns Cost or SectorCost; for two dimensions Costs or SectorCosts. Error: ValueError, where the architecture has
    no such access, or no rule for it is known.
    """
    if _dimensions(addresses) == 2:
        return _many(addresses, mask, sources, arch, op, width, space)
    offsets, active = _lanes(addresses, mask)
    copied = [] if sources is None else [NO_SOURCE if source is None else operator.index(source) for source in sources]
    numbers = _model.cost(offsets, active, copied, arch, op, width, space)
    return (SectorCost if space == "global" else Cost)(*numbers)


class Explanation:
    """One access with the picture of its banks, or of its sectors: `print` it, or show it in a notebook."""

    def __init__(self, prediction: _model.Prediction) -> None:
        self._prediction = prediction

    @property
    def numbers(self) -> dict[str, Any]:
        """What `bankcheck predict --json` prints: passes, lane groups, the rule's evidence and source."""
        numbers: dict[str, Any] = json.loads(self._prediction.json())
        return numbers

    @property
    def cost(self) -> Cost | SectorCost:
        numbers = self.numbers
        kind = SectorCost if numbers.get("space") == "global" else Cost
        return kind(*(numbers[name] for name in kind._fields))

    @property
    def svg(self) -> str:
        """The picture of the banks as SVG; "" for global memory, which has none."""
        return "" if self.numbers.get("space") == "global" else self._prediction.svg()

    def __str__(self) -> str:
        return self._prediction.text(shutil.get_terminal_size().columns)

    def __repr__(self) -> str:
        return f"<bankwise.Explanation: {self.cost}>"

    def _repr_html_(self) -> str:
        return self.svg or f"<pre>{html.escape(str(self))}</pre>"


def explain(access: str | Lanes, width: int | None = None, op: str = "load", arch: str = "sm_90",
            space: str = "shared", *, array: str | None = None, block: Sequence[int] = (),
            values: Mapping[str, int] | None = None, mask: int | None = None) -> Explanation:
    """Which bank serves which lane in which pass.

    access  the byte offset of each lane, as in `cost`; or the index of the element that each lane accesses, in CUDA or
            OpenCL C: "17*tid", "tile[threadIdx.x][3]", or a CuTe layout of the lanes
    width   bytes per lane; the default is that of an element of `array`, else 4 (16 for matrix operations)
    array   the declaration of the array in the index, for example "float tile[32][33]"
    block   threads of a block in x, y and z; lanes are the first of them. Default: one dimension
    values  of other names in the index and in the declaration
    op, arch, space, mask  as in `cost`

    Error: ValueError.
    """
    if isinstance(access, str):
        shape = [*block, 1, 1, 1][:3] if block else [0, 0, 0]
        return Explanation(
            _model.explained_index(access, array, shape, dict(values or {}), mask, arch, op, width, space)
        )
    offsets, active = _lanes(access, mask)
    usual = 16 if "matrix" in op else 4
    return Explanation(_model.explained(offsets, active, arch, op, width or usual, space))
