"""Reads GGUF files as the package gguf does, but opens them with one call.

A field has `parts`, arrays over the map of the file, and `data`, the indices of the parts that are its value:

    number or bool      [key length] [key] [type] [number]                                 data [3]
    string              [key length] [key] [type] [length] [bytes]                         data [4]
    array of numbers    [key length] [key] [type] [element type] [count] [number] ...      data [5, 6, ...]
    array of strings    [key length] [key] [type] [element type] [count] [length] [bytes] ...   data [6, 8, ...]

An array inside an array adds its element type and count.  Parts of arrays are made when they are asked for.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from operator import index as integer
from types import TracebackType
from typing import Any, Literal, NamedTuple, Optional, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from . import _core
from .constants import (
    GGML_QUANT_SIZES,
    GGUF_DEFAULT_ALIGNMENT,
    GGUF_VERSION,
    GGMLQuantizationType,
    GGUFEndian,
    GGUFValueType,
)

READER_SUPPORTED_VERSIONS = [2, GGUF_VERSION]

Array = npt.NDArray[Any]
Item = TypeVar("Item")
# As the extension lists tensors and entries.
_Row = tuple[bytes, int, tuple[int, ...], int, Optional[int], int, Optional[int], int]
_Entry = tuple[bytes, int, int, int, Optional[int], Optional[int], Optional[int]]

# Rules of the format that gguf does not check: a file that breaks no other is read.
_TOLERATED = {
    "G202", "G203", "G204",  # keys: empty, long, of any bytes
    "G209",  # a bool that is neither 0 nor 1
    "G302", "G303",  # names of tensors: long, with NUL
    "G308", "G310",  # data of tensors: not aligned, overlapping
}  # fmt: skip
_DUPLICATE_KEY = "G205"

_TYPES = {int(kind): kind for kind in GGMLQuantizationType}
_UINT8 = np.dtype(np.uint8)
# Types whose elements numpy has; the data of others are bytes.
_PLAIN: dict[int, np.dtype[Any]] = {
    int(kind): np.dtype(scalar)
    for kind, scalar in {
        GGMLQuantizationType.F32: np.float32,
        GGMLQuantizationType.F16: np.float16,
        GGMLQuantizationType.F64: np.float64,
        GGMLQuantizationType.I8: np.int8,
        GGMLQuantizationType.I16: np.int16,
        GGMLQuantizationType.I32: np.int32,
        GGMLQuantizationType.I64: np.int64,
    }.items()
}

_HEADER_KEYS = ("GGUF.version", "GGUF.tensor_count", "GGUF.kv_count")


class ReaderValueError(_core.Error, ValueError):
    """The file breaks the format: `offset` says where, `rule` which rule."""


class ReaderKeyError(_core.Error, KeyError):
    """A key is there twice."""


def _fault(kind: type[_core.Error], message: str, offset: int | None, rule: str | None = None) -> _core.Error:
    where = "" if offset is None else f"byte {offset}: "
    error = kind(where + message)
    error.offset, error.rule, error.message, error.code = offset, rule, message, "malformed"
    return error


# ---- sequences that are made on access ----------------------------------------------------------


def _equal(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b))


class _Lazy(Sequence[Item]):
    """A list whose items are made when they are asked for."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def _at(self, index: int) -> Item:
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        if isinstance(index, slice):
            return [self._at(i) for i in range(*index.indices(len(self)))]
        at = integer(index)
        if at < 0:
            at += len(self)
        if not 0 <= at < len(self):
            raise IndexError("list index out of range")
        return self._at(at)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, (str, bytes)):
            return NotImplemented
        return len(self) == len(other) and all(map(_equal, self, other))

    def __add__(self, other: Sequence[Item]) -> list[Item]:
        return [*self, *other]

    def __radd__(self, other: Sequence[Item]) -> list[Item]:
        return [*other, *self]

    def __repr__(self) -> str:
        return repr(list(self)) if len(self) <= 16 else f"[{', '.join(map(repr, self[:8]))}, ... {len(self)} items]"

    def __reduce__(self) -> tuple[type[list[Item]], tuple[list[Item]]]:
        return list, (list(self),)


class _Indices(_Lazy[int]):
    """Which parts of an array are leaves."""

    __slots__ = ("_numbers",)

    def __init__(self, numbers: range | Array) -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def _at(self, index: int) -> int:
        return int(self._numbers[index])

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers if isinstance(self._numbers, range) else self._numbers.tolist())


class _Parts(_Lazy[Array]):
    """The parts of an array: five of its head, then those of its elements."""

    __slots__ = ("_head",)

    def __init__(self, head: list[Array]) -> None:
        self._head = head

    def _at(self, index: int) -> Array:
        return self._head[index] if index < len(self._head) else self._element(index - len(self._head))

    def _element(self, index: int) -> Array:
        raise NotImplementedError

    def contents(self, which: int | slice) -> Any:
        raise NotImplementedError

    def data(self) -> Sequence[int]:
        """`data` of the field: the indices of the leaves."""
        raise NotImplementedError


class _Numbers(_Parts):
    """Of an array of numbers: one part for each."""

    __slots__ = ("_values",)

    def __init__(self, head: list[Array], values: Array) -> None:
        super().__init__(head)
        self._values = values

    def __len__(self) -> int:
        return len(self._head) + len(self._values)

    def _element(self, index: int) -> Array:
        return self._values[index : index + 1]

    def __iter__(self) -> Iterator[Array]:
        yield from self._head
        yield from self._values.reshape(-1, 1)

    def contents(self, which: int | slice) -> Any:
        return self._values[which].tolist()

    def data(self) -> Sequence[int]:
        return _Indices(range(len(self._head), len(self)))


class _Pieces(_Parts):
    """Of an array of strings or arrays, whose pieces are where they are: the extension lists them."""

    __slots__ = ("_file", "_index", "_found")
    _RECORD = np.dtype([("offset", "=u8"), ("count", "=u8"), ("type", "=u4"), ("leaf", "=u4")])
    _TEXT = 2

    def __init__(self, head: list[Array], file: _File, index: int) -> None:
        super().__init__(head)
        self._file = file
        self._index = index
        self._found: Array | None = None

    @property
    def _pieces(self) -> Array:
        if self._found is None:
            self._found = np.frombuffer(self._file.model.parts(self._index), self._RECORD)
        return self._found

    def __len__(self) -> int:
        return len(self._head) + len(self._pieces)

    def _element(self, index: int) -> Array:
        offset, count, kind, _ = self._pieces[index].item()
        return self._file.view(offset, kind, count)

    def __iter__(self) -> Iterator[Array]:
        yield from self._head
        for offset, count, kind, _ in self._pieces.tolist():
            yield self._file.view(offset, kind, count)

    def _leaf(self, piece: int) -> Any:
        part = self._element(piece)
        return str(part.tobytes(), "utf-8") if self._pieces[piece]["leaf"] == self._TEXT else part.item()

    def contents(self, which: int | slice) -> Any:
        leaves = np.flatnonzero(self._pieces["leaf"])[which]
        if isinstance(which, slice):
            return [self._leaf(piece) for piece in leaves.tolist()]
        return self._leaf(int(leaves))

    def data(self) -> Sequence[int]:
        return _Indices(np.flatnonzero(self._pieces["leaf"]) + len(self._head))


class _Strings(_Pieces):
    """Of an array of strings: a length and the bytes of each."""

    __slots__ = ("_count",)

    def __init__(self, head: list[Array], file: _File, index: int, count: int) -> None:
        super().__init__(head, file, index)
        self._count = count

    def __len__(self) -> int:
        return len(self._head) + 2 * self._count

    def contents(self, which: int | slice) -> Any:
        if which == slice(None):
            return self._file.model.strings(self._index)
        return super().contents(which)

    def data(self) -> Sequence[int]:
        return _Indices(range(len(self._head) + 1, len(self), 2))


# ---- fields and tensors -------------------------------------------------------------------------


class ReaderField(NamedTuple):
    """A key with its value, or the description of a tensor."""

    offset: int
    name: str
    parts: Sequence[Array] = []
    data: Sequence[int] = [-1]
    types: list[GGUFValueType] = []

    def contents(self, index_or_slice: int | slice = slice(None)) -> Any:
        """The value: text, number, bool, or a list; of an array the elements that the argument picks."""
        if not self.types:
            return None
        if self.types[0] == GGUFValueType.STRING:
            return _text(self.parts[-1])
        if self.types[0] != GGUFValueType.ARRAY:
            return self.parts[-1].item()
        if isinstance(self.parts, _Parts):
            return self.parts.contents(index_or_slice)
        leaf: Callable[[Array], Any] = _text if self.types[-1] == GGUFValueType.STRING else _number
        picked = self.data[index_or_slice]
        return leaf(self.parts[picked]) if isinstance(picked, int) else [leaf(self.parts[i]) for i in picked]


def _text(part: Array) -> str:
    return str(part.tobytes(), "utf-8")


def _number(part: Array) -> Any:
    return part.item()


class ReaderTensor(NamedTuple):
    """A tensor; `shape` is in the order of the file, that of `data` is reversed.

    tensor_type is an int where the enum has no name for it; `data` then is bytes.
    """

    name: str
    tensor_type: GGMLQuantizationType
    shape: npt.NDArray[np.uint64]
    n_elements: int
    n_bytes: int
    data_offset: int
    data: Array
    field: ReaderField


# ---- the file -----------------------------------------------------------------------------------


def _numpy_types() -> dict[GGUFValueType, type[np.generic]]:
    return {
        GGUFValueType.UINT8: np.uint8,
        GGUFValueType.INT8: np.int8,
        GGUFValueType.UINT16: np.uint16,
        GGUFValueType.INT16: np.int16,
        GGUFValueType.UINT32: np.uint32,
        GGUFValueType.INT32: np.int32,
        GGUFValueType.FLOAT32: np.float32,
        GGUFValueType.UINT64: np.uint64,
        GGUFValueType.INT64: np.int64,
        GGUFValueType.FLOAT64: np.float64,
        GGUFValueType.BOOL: np.bool_,
    }


class _File:
    """The map, and the model over it: what all lazy parts share."""

    __slots__ = ("bytes", "model", "facts", "swapped", "length", "length_bytes", "_dtypes")

    def __init__(self, data: np.memmap[Any, Any]) -> None:
        self.bytes = data.view(np.ndarray)
        self.model = _open(data)
        self.facts = self.model.facts()
        self.swapped = self.facts["byte_order"] != sys.byteorder
        # Lengths, counts and dimensions have 32 bits in version 1.
        self.length = GGUFValueType.UINT32 if self.facts["version"] == 1 else GGUFValueType.UINT64
        self.length_bytes = 4 if self.facts["version"] == 1 else 8
        self._dtypes: dict[int, np.dtype[Any]] = {
            int(kind): self.dtype(np.dtype(scalar)) for kind, scalar in GGUFReader.gguf_scalar_to_np.items()
        }

    def dtype(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """The type in the byte order of the file."""
        return dtype.newbyteorder("S") if self.swapped else dtype

    def view(self, offset: int, kind: int, count: int = 1) -> Array:
        """`count` numbers of a value type."""
        return np.ndarray((count,), self._dtypes[kind], self.bytes, offset)


def _open(data: np.memmap[Any, Any]) -> _core.Model:
    """Opens what gguf accepts, with its exceptions."""
    if data[:4].tobytes() == b"FUGG":  # some writers swap this word with all others
        data = np.memmap(cast(str, data.filename), mode="c")
        data[:4] = np.frombuffer(b"GGUF", np.uint8)
    flags = _core.OPEN_INCOMPLETE | _core.OPEN_AS_GGML
    try:
        return _core.open(data, flags=flags)
    except _core.Error as error:
        if error.rule not in _TOLERATED:
            if error.rule == _DUPLICATE_KEY:
                raise _fault(ReaderKeyError, error.message or "", error.offset, error.rule) from None
            raise
    findings: list[dict[str, Any]] = []
    model = _core.open(data, flags=flags | _core.OPEN_LENIENT, findings=findings)
    for finding in findings:
        if finding["fatal"] and finding["rule"] not in _TOLERATED:
            kind = ReaderKeyError if finding["rule"] == _DUPLICATE_KEY else ReaderValueError
            raise _fault(kind, finding["message"], finding["offset"], finding["rule"])
    return model


class GGUFReader:
    """A file that is mapped: its keys in `fields`, its tensors in `tensors`.

    mode: "r" reads; "r+" writes what is assigned to parts and data to the file; "c" keeps it in memory.
    unknown_types: list tensors of types that have no name in GGMLQuantizationType; False: ValueError.
    """

    byte_order: Literal["I", "S"] = "I"  # that of this machine, or swapped
    alignment: int = GGUF_DEFAULT_ALIGNMENT
    data_offset: int
    data: np.memmap[Any, Any]
    endianess: GGUFEndian
    fields: OrderedDict[str, ReaderField]
    _file: _File
    _rows: list[_Row]
    _names: list[str]
    gguf_scalar_to_np: dict[GGUFValueType, type[np.generic]] = _numpy_types()

    def __init__(
        self,
        path: os.PathLike[str] | str,
        mode: Literal["r", "r+", "c"] = "r",
        *,
        unknown_types: bool = True,
    ) -> None:
        self._read(np.memmap(path, mode=mode))
        if not unknown_types:
            self._refuse_unknown_types()

    def get_field(self, key: str) -> ReaderField | None:
        """The field with this key, or None."""
        return self.fields.get(key)

    def get_tensor(self, idx: int) -> ReaderTensor:
        """Tensor `idx` of the list."""
        return self.tensors[idx]

    @cached_property
    def tensors(self) -> list[ReaderTensor]:
        return [self._tensor(name, row) for name, row in zip(self._names, self._rows)]

    # ---- closing ----

    def __enter__(self) -> GGUFReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Lets go of the map, which lasts as long as arrays over it."""
        self._drop()

    def close(self) -> None:
        """Closes the map; BufferError if arrays over it, or fields, are alive outside the reader."""
        if self._file is None:
            return
        name, mode = self.data.filename, self.data.mode
        # Arrays hold the map, but do not keep it from being closed: so it is left to its last reference.
        left = weakref.ref(self.data._mmap)  # type: ignore[attr-defined]
        self._drop()
        map_ = left()
        if map_ is not None:
            again = np.frombuffer(map_, np.uint8).view(np.memmap)
            again._mmap, again.filename, again.mode = map_, name, mode  # type: ignore[attr-defined]
            self._read(again)
            raise BufferError(f"cannot close {name}: arrays over its map are alive")

    def _drop(self) -> None:
        self.fields = OrderedDict()
        self.data = self._file = None  # type: ignore[assignment]
        self._rows, self._names = [], []
        vars(self).pop("tensors", None)

    # ---- reading ----

    def _read(self, data: np.memmap[Any, Any]) -> None:
        self.data = data
        self._file = _File(data)
        facts = self._file.facts
        self.byte_order = "S" if self._file.swapped else "I"
        self.endianess = GGUFEndian.BIG if facts["byte_order"] == "big" else GGUFEndian.LITTLE
        self.fields = OrderedDict()
        self._add_header()
        for index, entry in enumerate(self._file.model.entries()):
            self._add(self._field(index, entry))
        self._take_alignment()
        self.data_offset = facts["data_offset"]
        self._rows = self._file.model.tensors()
        self._names = [str(row[0], "utf-8") for row in self._rows]

    def _add(self, field: ReaderField) -> None:
        if field.name in self.fields:
            raise _fault(ReaderKeyError, f'key "{field.name}" occurs twice', field.offset, _DUPLICATE_KEY)
        self.fields[field.name] = field

    def _add_header(self) -> None:
        """Three fields that no file has, for what its first bytes say."""
        file, at = self._file, 4
        for name, kind in zip(_HEADER_KEYS, (GGUFValueType.UINT32, file.length, file.length)):
            part = file.view(at, kind)
            self._add(ReaderField(at, name, [part], [0], [kind]))
            at += part.nbytes

    def _field(self, index: int, entry: _Entry) -> ReaderField:
        key, kind, element, count, offset, value_offset, _ = entry
        file = self._file
        assert offset is not None and value_offset is not None
        at = offset + file.length_bytes
        parts = [file.view(offset, file.length), file.view(at, GGUFValueType.UINT8, len(key))]
        at += len(key)
        parts.append(file.view(at, GGUFValueType.UINT32))
        at += 4
        name = str(key, "utf-8")
        if kind == GGUFValueType.ARRAY:
            parts += [file.view(at, GGUFValueType.UINT32), file.view(at + 4, file.length)]
            lazy = self._elements(parts, index, element, count, value_offset)
            return ReaderField(offset, name, lazy, lazy.data(), self._array_types(element, count, value_offset))
        if kind == GGUFValueType.STRING:
            parts += [file.view(at, file.length), file.view(value_offset, GGUFValueType.UINT8, count)]
        else:
            parts.append(file.view(at, kind))
        return ReaderField(offset, name, parts, [len(parts) - 1], [GGUFValueType(kind)])

    def _elements(self, head: list[Array], index: int, element: int, count: int, offset: int) -> _Parts:
        if element == GGUFValueType.STRING:
            return _Strings(head, self._file, index, count)
        if element == GGUFValueType.ARRAY:
            return _Pieces(head, self._file, index)
        return _Numbers(head, self._file.view(offset, element, count))

    def _array_types(self, element: int, count: int, offset: int) -> list[GGUFValueType]:
        """ARRAY for each level, and what the first element is."""
        types, file = [GGUFValueType.ARRAY], self._file
        while element == GGUFValueType.ARRAY and count > 0:
            types.append(GGUFValueType.ARRAY)
            element = int(file.view(offset, GGUFValueType.UINT32)[0])
            count = int(file.view(offset + 4, file.length)[0])
            offset += 4 + file.length_bytes
        return [*types, GGUFValueType(element)] if count > 0 else types

    def _take_alignment(self) -> None:
        field = self.fields.get("general.alignment")
        if field is None:
            return
        self.alignment = field.parts[-1][0]
        if self.alignment & (self.alignment - 1) != 0:
            text = f"general.alignment is {self.alignment}, which is not a power of two"
            raise _fault(ReaderValueError, text, field.offset)

    def _refuse_unknown_types(self) -> None:
        for name, (_, kind, _, _, _, _, offset, _) in zip(self._names, self._rows):
            if kind not in _TYPES:
                text = f'tensor "{name}" has the element type {kind}, which has no name'
                raise _fault(ReaderValueError, text, offset)

    def _tensor(self, name: str, row: _Row) -> ReaderTensor:
        raw_name, kind, dims, elements, offset, size, info_offset, _ = row
        assert offset is not None and info_offset is not None
        file = self._file
        field = self._tensor_field(name, len(raw_name), len(dims), info_offset)
        dtype: np.dtype[Any] = _UINT8
        shape: tuple[int, ...] = (size,)
        if kind in _TYPES:
            block, block_bytes = GGML_QUANT_SIZES[_TYPES[kind]]
            if elements * block_bytes // block > size:
                raise _fault(ReaderValueError, f'the data of tensor "{name}" is not in the file', info_offset)
            size = elements * block_bytes // block
            dtype = _PLAIN.get(kind, _UINT8)
            shape = dims[::-1] if kind in _PLAIN else _byte_shape(dims[::-1], block, block_bytes)
        data: Array = np.ndarray(shape, file.dtype(dtype), file.bytes, offset)
        return ReaderTensor(
            name, _TYPES.get(kind, kind), field.parts[3], elements, size, offset, data, field  # type: ignore[arg-type]
        )

    def _tensor_field(self, name: str, name_bytes: int, n_dims: int, offset: int) -> ReaderField:
        """[name length] [name] [number of dimensions] [dimensions] [type] [offset]"""
        file, at = self._file, offset
        parts: list[Array] = []
        for kind, count in (
            (file.length, 1),
            (GGUFValueType.UINT8, name_bytes),
            (GGUFValueType.UINT32, 1),
            (file.length, n_dims),
            (GGUFValueType.UINT32, 1),
            (GGUFValueType.UINT64, 1),
        ):
            parts.append(file.view(at, kind, count))
            at += parts[-1].nbytes
        return ReaderField(offset, name, parts, [1, 3, 4, 5])


def _byte_shape(shape: tuple[int, ...], block: int, block_bytes: int) -> tuple[int, ...]:
    return (*shape[:-1], shape[-1] // block * block_bytes) if shape else (block_bytes // block,)
