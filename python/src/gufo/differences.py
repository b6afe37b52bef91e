"""How two models differ.

>>> gufo.diff(path, path).same
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gufo import _core
from gufo import models
from gufo.models import Model, Value
from gufo.tensors import text_of
from gufo.progress import shown

if TYPE_CHECKING:
    from gufo.progress import Progress

__all__ = ["Diff", "EntryDiff", "TensorDiff", "ValuesDiff", "diff"]

NOTES = ("key order", "tensor order", "version", "byte order", "shards")  # gufo_compare_notes


@dataclass(frozen=True)
class EntryDiff:
    """A key that differs.

    >>> gufo.diff(path, other).entries[0].kind
    'changed'
    """

    #: "added", "removed", "changed"
    kind: str
    key: str
    #: Values; None where there is none, or it is not text.
    a: Value | None
    b: Value | None
    #: Of two arrays: the first element that differs.
    first: int | None


@dataclass(frozen=True)
class ValuesDiff:
    """How far apart the numbers of two tensors are.

    >>> gufo.diff(path, other, values=True).tensors[0].values.cosine > 0.99
    True
    """

    compared: int
    unequal: int
    nonfinite: int
    largest: float
    largest_at: int
    rmse: float
    relative: float
    cosine: float


@dataclass(frozen=True)
class TensorDiff:
    """A tensor that differs.

    >>> gufo.diff(path, other).tensors[0].type
    True
    """

    kind: str
    name: str
    #: What differs.
    type: bool
    shape: bool
    data: bool
    #: The types; None where there is no tensor.
    old_type: str | None
    new_type: str | None
    values: ValuesDiff | None


@dataclass(frozen=True)
class Diff:
    """What changes from one model to another: true where something does.

    >>> bool(gufo.diff(path, other))
    True
    """

    entries: list[EntryDiff]
    tensors: list[TensorDiff]
    #: What differs although it makes no difference: "key order", "byte order" ...
    notes: list[str]
    same: bool

    def __bool__(self) -> bool:
        return not self.same

    def _repr_html_(self) -> str:
        from gufo.notebook import diff_html

        return diff_html(self)


def entry_diff(row: dict[str, Any]) -> EntryDiff:
    row["key"] = text_of(row["key"])
    return EntryDiff(**row)


def tensor_diff(row: dict[str, Any]) -> TensorDiff:
    row["name"] = text_of(row["name"])
    for name in ("old_type", "new_type"):
        if isinstance(row[name], int):
            row[name] = f"type {row[name]}"
    if row["values"] is not None:
        row["values"] = ValuesDiff(**row["values"])
    return TensorDiff(**row)


def diff(
    a: Any, b: Any, *, values: bool = False, threads: int = 0, progress: Progress = None
) -> Diff:
    """Compares two models, or what `gufo.open` opens, by content and not by how files store it.

    `values`: also says how far apart the numbers of tensors are.

    >>> [difference.key for difference in gufo.diff(path, other).entries]
    ['general.name', 'general.quantization_version', 'general.file_type']
    """
    models.need("comparisons")
    pair = [one if isinstance(one, Model) else models.open(one) for one in (a, b)]
    flags = _core.COMPARE_VALUES if values else 0
    with shown(progress, "diff") as call:
        entries, tensors, notes, same = _core.compare(
            pair[0].core, pair[1].core, flags, threads, call
        )
    named = [name for bit, name in enumerate(NOTES) if notes >> bit & 1]
    return Diff([entry_diff(row) for row in entries], [tensor_diff(row) for row in tensors], named, same)
