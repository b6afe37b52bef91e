"""Models on this machine: in folders, and in the caches of Hugging Face, llama.cpp, Ollama and LM Studio.

>>> [found.quantization for found in gufo.find(path)]
['F32']
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from gufo import _core
from gufo.models import need
from gufo.progress import shown

if TYPE_CHECKING:
    from gufo.models import Path
    from gufo.progress import Progress

__all__ = ["Found", "find"]


@dataclass(frozen=True)
class Found:
    """A model, of which only the header was read.

    >>> found, = gufo.find(path)
    >>> found.architecture, found.shards, found.fault
    ('llama', 1, None)
    """

    #: For gufo.open: the file, the first one of a set of shards, or a folder.
    path: str
    #: What its cache calls it, as Ollama does: "llama3:8b"; else None.
    name: str | None
    #: "huggingface", "llama.cpp", "ollama", "lmstudio"; None of what is in a folder.
    cache: str | None
    shards: int
    #: Bytes of all files.
    size: int
    #: The last change of a file; None where nothing is there, and after the year 9999.
    date: datetime | None
    #: general.name and general.architecture, of which 4,096 bytes are kept.
    title: str | None
    architecture: str | None
    #: The file type, or else the type of most elements; None without tensors.
    quantization: str | None
    #: None where they are not known.
    parameters: int | None
    context: int | None
    #: Why the file cannot be read, or not all of it; None: it is sound.
    fault: _core.Error | None


def _text(name: bytes | None) -> str | None:
    return None if name is None else os.fsdecode(name)


def _fault(row: tuple[bytes, str, int | None] | None) -> _core.Error | None:
    if row is None:
        return None
    file, message, offset = row
    error = _core.Error(f"{os.fsdecode(file)}: {message}")
    error.file, error.message, error.offset = os.fsdecode(file), message, offset
    return error


def _time(seconds: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, timezone.utc) if seconds else None
    except (OSError, OverflowError, ValueError):  # a year that datetime does not have
        return None


def _found(row: tuple[Any, ...]) -> Found:
    path, name, cache, shards, size, date, title, architecture, quantization, parameters, context, fault = row
    return Found(os.fsdecode(path), _text(name), _text(cache), shards, size,
                 _time(date), _text(title), _text(architecture),
                 quantization, parameters or None, context or None, _fault(fault))  # fmt: skip


def find(
    path: Path | None = None, *, recursive: bool = False, caches: bool = False, threads: int = 0,
    progress: Progress = None
) -> list[Found]:  # fmt: skip
    """The models in a folder, or with caches=True in the caches of other programs, or in both.

    A set of shards is one model, and so are several links to one file.  A file that cannot be read is a model with a
    fault; a folder that cannot is a warning.

    >>> len(gufo.find(path, recursive=True))
    1
    """
    need("lists of models")
    if path is None and not caches:
        path = "."
    with shown(progress, "find") as call:
        models, faults = _core.find(None if path is None else os.fsencode(path), recursive, caches, threads, call)
    for fault in faults:
        warnings.warn(str(_fault(fault)), stacklevel=2)
    return [_found(row) for row in models]
