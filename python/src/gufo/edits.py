"""Edits: a file that is to become another one.

>>> with gufo.edit(copy) as edit:
...     edit["general.name"] = "Better"
>>> gufo.open(copy)["general.name"]
'Better'
"""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gufo import _core
from gufo.given import typed
from gufo.findings import Findings
from gufo.models import ARRAY, Path, Value, need
from gufo.tensors import bytes_of, text_of

if TYPE_CHECKING:
    from types import TracebackType

    from gufo.models import Model
    from gufo.progress import Progress

__all__ = ["Change", "Edit", "EditPlan", "edit", "recover"]

ABSENT = object()
IN_PLACE = {"if safe": 0, "always": 1, "never": 2}


@dataclass(frozen=True)
class Change:
    """One difference between the file and what it becomes.

    >>> with gufo.edit(copy) as edit:
    ...     edit["general.author"] = "A. Writer"
    ...     edit.changes()
    [Change(kind='added', old_name='general.author', new_name='general.author', old=None, new='A. Writer')]
    """

    #: "removed", "renamed", "changed", "added", "tensor renamed", "tensor removed" ...
    kind: str
    old_name: str
    new_name: str
    old: Value | None
    new: Value | None


@dataclass(frozen=True)
class EditPlan:
    """How an edit is written.

    >>> with gufo.edit(copy) as edit:
    ...     edit.plan().way
    'nothing'
    """

    #: "nothing", "overwrite", "insert" or "rewrite"
    way: str
    old_data_offset: int
    data_offset: int
    file_size: int
    padding: int
    relaid: bool
    #: Why the earlier ways are not used; a risk of the way.  "" for nothing.
    not_overwritten: str
    not_inserted: str
    warning: str


class Edit(MutableMapping[str, Value]):
    """The metadata that a file gets, as a mapping.  Leaving `with` writes it; an exception does not.

    The file is locked against other edits until then, and does not change before.  Tensor data
    stays where it is if possible.

    >>> with gufo.edit(copy) as edit:
    ...     edit["general.tags"] = ["small", "test"]
    ...     del edit["general.tags"]
    """

    def __init__(self, path: Path, *, model: Model | None = None, **options: Any) -> None:
        need("edits")
        self.path = os.fsdecode(path)
        self._model = model
        self._options = options
        self._core = _core.edit(os.fsencode(path), 0)
        self._applied: EditPlan | None = None
        self._packs = False  # a fix asks for a new layout

    # -- life

    def close(self) -> None:
        """Leaves the file as it is.

        >>> edit = gufo.edit(copy)
        >>> edit["general.name"] = "Nothing"
        >>> edit.close()
        """
        self._core.close()

    def __enter__(self) -> Edit:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None and self._applied is None:
                self.apply(**self._options)
        finally:
            self.close()

    # -- metadata

    def __getitem__(self, key: str) -> Value:
        found = self._core.find(bytes_of(key))
        if found is None:
            raise KeyError(key)
        value: Value = found[1]
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        self.set(key, value)

    def set(self, key: str, value: Any, type: str | None = None) -> None:
        """Gives a key a value.  Its type is `type`, as "uint8" or "array[float32]"; that of a value
        of numpy; the type that the key has; the one that the standard gives; or what fits.

        >>> with gufo.edit(copy) as edit:
        ...     edit.set("my.number", 7, "uint8")
        >>> gufo.open(copy).entry("my.number").type
        'uint8'
        """
        old = self._core.types(bytes_of(key))
        if old is not None and old[-1] == ARRAY:
            old = None  # of an empty array of arrays, whose elements have no type
        try:
            architecture = str(self.get("general.architecture", ""))
        except UnicodeDecodeError:
            architecture = ""
        types, plain = typed(key, value, type, old, architecture)
        self._core.set(bytes_of(key), types, plain)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._core.types(bytes_of(key)) is not None

    def pop(self, key: str, default: Any = ABSENT) -> Any:
        """Removes a key and returns its value; `default` without one, and for bytes that are not
        text.

        >>> with gufo.edit(copy) as edit:
        ...     edit["my.number"] = 7
        ...     edit.pop("my.number"), edit.pop("my.number", None)
        (7, None)
        """
        try:
            value: Any = self[key]
        except (KeyError, UnicodeDecodeError):
            if default is ABSENT:
                raise
            value = default
        if key in self:
            del self[key]
        return value

    def __delitem__(self, key: str) -> None:
        if not self._core.remove(bytes_of(key), False):
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter([text_of(row[0]) for row in self._core.entries()])

    def __len__(self) -> int:
        return len(self._core.entries())

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def rename(self, old: str, new: str) -> None:
        """Gives a key another name; it keeps its place.

        >>> with gufo.edit(copy) as edit:
        ...     edit["my.number"] = 7
        ...     edit.rename("my.number", "my.count")
        """
        self._core.rename(bytes_of(old), bytes_of(new), False)

    # -- tensors

    @property
    def tensors(self) -> list[str]:
        """Names of tensors.

        >>> with gufo.edit(copy) as edit:
        ...     edit.tensors[0]
        'token_embd.weight'
        """
        return [text_of(name) for name in self._core.tensors()]

    def rename_tensor(self, old: str, new: str) -> None:
        """Gives a tensor another name.

        >>> with gufo.edit(copy) as edit:
        ...     edit.rename_tensor("output.weight", "other.weight")
        ...     edit.rename_tensor("other.weight", "output.weight")
        """
        self._core.rename(bytes_of(old), bytes_of(new), True)

    def remove_tensor(self, name: str) -> None:
        """Leaves a tensor out.

        >>> edit = gufo.edit(copy)
        >>> edit.remove_tensor("output.weight")
        >>> edit.close()
        """
        if not self._core.remove(bytes_of(name), True):
            raise KeyError(name)

    # -- before it is written

    def changes(self) -> list[Change]:
        """What the edit changes.

        >>> with gufo.edit(copy) as edit:
        ...     edit.changes()
        []
        """
        return [
            Change(kind, text_of(old), text_of(new), before, after)
            for kind, old, new, before, after in self._core.changes()
        ]

    def check(self, level: str = "model") -> Findings:
        """What the edit breaks that the file does not break already.

        >>> with gufo.edit(copy) as edit:
        ...     edit["llama.block_count"] = 3
        ...     broken = edit.check()
        ...     edit["llama.block_count"] = 2
        >>> broken.errors[0].rule[0]
        'M'
        """
        return Findings(self._core.check(level))

    def fix(self, level: str = "model") -> Findings:
        """Fixes what has one right answer, and returns the findings that it has fixed.

        >>> with gufo.edit(copy) as edit:
        ...     len(edit.fix())
        0
        """
        fixed, self._packs = self._core.fix(level)
        return Findings(fixed)

    def _target(
        self, output: Path | None, replace: bool, in_place: str, reserve: int, pack: bool
    ) -> dict[str, Any]:
        if in_place not in IN_PLACE:
            raise ValueError(f"in_place is one of {', '.join(IN_PLACE)}, not {in_place!r}")
        return {
            "output": None if output is None else os.fsencode(output),
            "replace": replace,
            "in_place": IN_PLACE[in_place],
            "reserve": reserve,
            "pack": pack or self._packs,
        }

    def plan(
        self,
        output: Path | None = None,
        *,
        replace: bool = False,
        in_place: str = "if safe",
        reserve: int = 0,
        pack: bool = False,
    ) -> EditPlan:
        """How `apply` would write it, with the same options.

        >>> with gufo.edit(copy) as edit:
        ...     edit.plan(pack=True).way
        'rewrite'
        """
        target = self._target(output, replace, in_place, reserve, pack)
        return EditPlan(**self._core.write(target, True, 0, None))

    def apply(
        self,
        output: Path | None = None,
        *,
        replace: bool = False,
        in_place: str = "if safe",
        reserve: int = 0,
        pack: bool = False,
        threads: int = 0,
        progress: Progress = None,
    ) -> EditPlan:
        """Writes the edit, once: into the file, or as a new file `output`.

        Afterwards the file is the old or the new one, also after a crash.  `in_place` is "if safe",
        "always" or "never"; `reserve` leaves bytes of room for later edits.

        >>> with gufo.edit(copy) as edit:
        ...     edit["general.name"] = "Third"
        ...     edit.apply(folder / "third.gguf").way
        'rewrite'
        """
        from gufo.progress import shown

        target = self._target(output, replace, in_place, reserve, pack)
        model = self._model if output is None and self.changes() else None
        if model is not None:
            model.release()  # a file that is mapped cannot be changed in place
        try:
            with shown(progress, self.path) as call:
                self._applied = EditPlan(**self._core.write(target, False, threads, call))
        finally:
            if model is not None:
                model.reload()
        return self._applied

    def __repr__(self) -> str:
        return f"<gufo.Edit {self.path!r}>"


def edit(path: Path, **options: Any) -> Edit:
    """Begins to change a file; `options` are those of `Edit.apply`, which leaving `with` calls.

    >>> with gufo.edit(copy, reserve=4096) as edit:
    ...     edit["general.author"] = "Nobody"
    """
    return Edit(path, **options)


def recover(path: Path) -> str:
    """Completes or undoes an edit that a crash has interrupted: "nothing", "old" or "new".

    >>> gufo.recover(copy)
    'nothing'
    """
    need("edits")
    return str(_core.edit_recover(os.fsencode(path)))
