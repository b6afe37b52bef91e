"""Files of metadata and arrays that a program has.

>>> import numpy as np
>>> gufo.write(folder / "two.gguf", {"general.architecture": "llama"}, {"a.weight": np.ones((2, 32))})
>>> gufo.open(folder / "two.gguf").tensors["a.weight"].type
'F64'
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from gufo import _core
from gufo.given import metadata_rows
from gufo.models import Model, Path, need
from gufo.tensors import DTYPES, Tensor, bytes_of
from gufo.progress import Progress, shown

__all__ = ["write"]

Row = tuple[bytes, int, tuple[int, ...], Any]

TYPES = {row[1]: row for row in _core.types()}
# Types by the dtype of an array.
PLAIN = {dtype: name for name, dtype in DTYPES.items()}


def tensor_row(name: str, tensor: Tensor, byte_order: str) -> Row:
    """A tensor of a model; the file gets its bytes, in its own byte order."""
    data: Any = tensor.data
    if byte_order == "big":
        data = bytearray(data)
        _core.swap(tensor.type_id, data)
    return bytes_of(name), tensor.type_id, tuple(reversed(tensor.shape)), data


def blocks_row(name: str, blocks: Any, type: str | IntEnum) -> Row:
    import numpy as np

    type = type if isinstance(type, str) else type.name
    if type not in TYPES:
        raise ValueError(f"{name}: {type!r} is not an element type")
    number, _, elements, size, _ = TYPES[type]
    array = np.asarray(blocks)
    if array.dtype != np.uint8 or array.ndim == 0 or array.shape[-1] % size:
        raise ValueError(f"{name}: rows of {type} are uint8, of whole blocks of {size} bytes, as gufo.quantize gives them")
    shape = (*array.shape[:-1], array.shape[-1] // size * elements)
    return bytes_of(name), number, tuple(reversed(shape)), np.ascontiguousarray(array).reshape(-1)


def array_row(name: str, values: Any) -> Row:
    import numpy as np

    array = np.asarray(values)
    dtype = array.dtype.newbyteorder("<")
    if array.ndim == 0 or dtype.str[1:] not in PLAIN:
        what = "one number" if array.ndim == 0 else str(array.dtype)
        raise TypeError(f"{name}: {what} is not a tensor: arrays are of {', '.join(map(str, map(np.dtype, PLAIN)))}")
    shape = tuple(reversed(array.shape))
    number = TYPES[PLAIN[dtype.str[1:]]][0]
    return bytes_of(name), number, shape, np.ascontiguousarray(array, dtype=dtype).reshape(-1).view(np.uint8)


def row(name: str, data: Any) -> Row:
    if isinstance(data, Tensor):
        return tensor_row(name, data, data.byte_order)
    if isinstance(data, tuple) and len(data) == 2 and isinstance(data[1], (str, IntEnum)):
        return blocks_row(name, *data)
    return array_row(name, data)


def write(
    path: Path,
    metadata: Mapping[str, Any],
    tensors: Mapping[str, Any] | None = None,
    *,
    replace: bool = False,
    threads: int = 0,
    progress: Progress = None,
) -> None:
    """Writes a file, as a whole or not at all.

    `metadata` are keys and values, of the types that `Edit.set` gives them; or a model, whose entries
    are taken to the last bit.  A tensor is an array, whose dtype is its type; a pair of blocks and their
    type, as (gufo.quantize(values, Type.Q8_0), Type.Q8_0) or "Q8_0"; or one of a model, which keeps its type.  Keys that
    say which shard a file is are left out: this is one file.

    >>> gufo.write(folder / "new.gguf", model, {name: tensor for name, tensor in model.tensors.items()})
    >>> gufo.diff(model, folder / "new.gguf").same
    True
    """
    need("gufo.write")
    source = metadata.core if isinstance(metadata, Model) else None
    architecture = str(metadata.get("general.architecture", "")) if source is None else ""
    entries = [] if source else metadata_rows(metadata, None, architecture)
    rows = [row(name, data) for name, data in (tensors or {}).items()]
    with shown(progress, os.path.basename(os.fsdecode(path))) as call:
        flags = _core.JOB_REPLACE if replace else 0
        _core.write(os.fsencode(path), source, entries, rows, flags, threads, call)
