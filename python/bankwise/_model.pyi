"""The bank model, compiled: model.py documents it."""

from collections.abc import Mapping, Sequence
from typing import Any

class Prediction:
    def text(self, columns: int, /) -> str: ...
    def json(self) -> str: ...
    def svg(self) -> str: ...

def architectures() -> list[str]: ...
def cost(
    addresses: Sequence[int], mask: int, sources: Sequence[int], arch: str, op: str, width: int, space: str, /
) -> list[int]: ...
def costs(addresses: Any, masks: Any, sources: Any, arch: str, op: str, width: int, space: str, /) -> Any: ...
def explained(addresses: Sequence[int], mask: int, arch: str, op: str, width: int, space: str, /) -> Prediction: ...
def explained_index(
    index: str,
    array: str | None,
    block: Sequence[int],
    values: Mapping[str, int],
    mask: int | None,
    arch: str,
    op: str,
    width: int | None,
    space: str,
    /,
) -> Prediction: ...
