"""Metadata values as the bytes of a GGUF file, in either byte order.

An array is packed in one go: a vocabulary has a hundred thousand strings, so nothing here calls a
function for each of them.
"""

from __future__ import annotations

import struct
from typing import Any, Callable, Iterable, Sequence, Union

import numpy as np

from . import _core
from .constants import GGUFValueType

String = Union[str, bytes, bytearray]

NUMBER_CODES = {
    GGUFValueType.UINT8: "B", GGUFValueType.INT8: "b",
    GGUFValueType.UINT16: "H", GGUFValueType.INT16: "h",
    GGUFValueType.UINT32: "I", GGUFValueType.INT32: "i",
    GGUFValueType.UINT64: "Q", GGUFValueType.INT64: "q",
    GGUFValueType.FLOAT32: "f", GGUFValueType.FLOAT64: "d",
    GGUFValueType.BOOL: "?",
}
_ANY_NUMBER = (GGUFValueType.BOOL, GGUFValueType.FLOAT32, GGUFValueType.FLOAT64)
_NUMPY_TYPES = {np.dtype(code): vtype for vtype, code in NUMBER_CODES.items()}


def check_type(key: str, value: Any, vtype: GGUFValueType) -> None:
    """Raises TypeError if a value of this class is never a `vtype`."""
    if vtype == GGUFValueType.STRING:
        fits = isinstance(value, (str, bytes, bytearray))
    elif vtype in _ANY_NUMBER:
        fits = _is_number(value)
    elif vtype in NUMBER_CODES:
        fits = hasattr(value, "__index__") and not isinstance(value, (bool, np.bool_))
    else:
        return
    if not fits:
        raise TypeError(f"key {key!r}: {value!r} is {_article(type(value).__name__)}, "
                        f"which cannot be stored as {vtype.name}")


def _is_number(value: Any) -> bool:
    return (hasattr(value, "__float__") or hasattr(value, "__index__")) \
        and not isinstance(value, (str, bytes, bytearray))


def _article(noun: str) -> str:
    return ("an " if noun[0].lower() in "aeiou" else "a ") + noun


def element_type(values: Iterable[Any]) -> GGUFValueType:
    """The one type of the elements of an array; ValueError if there is none."""
    found = {_class_type(cls) for cls in set(map(type, values))}
    if len(found) > 1:
        raise ValueError("the elements of an array must have one type, but have "
                         + " and ".join(sorted(vtype.name for vtype in found)))
    if not found:
        raise ValueError("an empty array has no element type; name one")
    return found.pop()


def _class_type(cls: type) -> GGUFValueType:
    for classes, vtype in (((bool, np.bool_), GGUFValueType.BOOL), ((int,), GGUFValueType.INT32),
                           ((float,), GGUFValueType.FLOAT32),
                           ((str, bytes, bytearray), GGUFValueType.STRING),
                           ((list, tuple, np.ndarray), GGUFValueType.ARRAY)):
        if issubclass(cls, classes):
            return vtype
    if issubclass(cls, np.generic) and np.dtype(cls) in _NUMPY_TYPES:
        return _NUMPY_TYPES[np.dtype(cls)]
    raise ValueError(f"no GGUF type holds a {cls.__name__}")


class ValuePacker:
    """Packs values in one byte order."""

    def __init__(self, big_endian: bool) -> None:
        self.big_endian = big_endian
        self.order = ">" if big_endian else "<"
        self.u32: Callable[[int], bytes] = struct.Struct(self.order + "I").pack
        self.u64: Callable[[int], bytes] = struct.Struct(self.order + "Q").pack

    def string(self, text: String) -> bytes:
        data = text.encode("utf-8") if isinstance(text, str) else bytes(text)
        return self.u64(len(data)) + data

    def entry(self, key: str, value: Any, vtype: GGUFValueType,
              sub_type: GGUFValueType | None = None) -> bytes:
        """A key and its value; errors name the key."""
        try:
            return self.string(key) + self.u32(vtype) + self.value(value, vtype, sub_type)
        except (struct.error, OverflowError, ValueError, TypeError) as error:
            if isinstance(error, UnicodeError):
                raise
            raise type(error)(f"key {key!r}: {error}") from None

    def value(self, value: Any, vtype: GGUFValueType,
              sub_type: GGUFValueType | None = None) -> bytes:
        if vtype in NUMBER_CODES:
            return struct.pack(self.order + NUMBER_CODES[vtype], value)
        if vtype == GGUFValueType.STRING:
            return self.string(value)
        if vtype == GGUFValueType.ARRAY:
            return self.array(value, sub_type)
        raise ValueError(f"{vtype!r} is not a type of metadata")

    def array(self, values: Any, sub_type: GGUFValueType | None = None) -> bytes:
        if isinstance(values, np.ndarray):
            return self._numpy_array(values, sub_type)
        if not isinstance(values, Sequence):
            raise ValueError(f"an array is made from a sequence, not from "
                             f"{_article(type(values).__name__)}")
        if sub_type is None:
            # bytes are numbers already; the elements of a bytearray are ints like any others
            sub_type = GGUFValueType.UINT8 if isinstance(values, bytes) and values \
                else element_type(values)
        return self.u32(sub_type) + self.u64(len(values)) + self._elements(values, sub_type)

    def _elements(self, values: Sequence[Any], sub_type: GGUFValueType) -> bytes:
        if sub_type in NUMBER_CODES:
            return struct.pack(f"{self.order}{len(values)}{NUMBER_CODES[sub_type]}", *values)
        if sub_type == GGUFValueType.STRING:
            return _core.pack_strings(values, self.big_endian)
        return b"".join(map(self.array, values))

    def _numpy_array(self, values: "np.ndarray[Any, Any]",
                     sub_type: GGUFValueType | None) -> bytes:
        own_type = _NUMPY_TYPES.get(values.dtype.newbyteorder("="))
        if values.ndim != 1 or own_type is None:
            return self.array(list(values) if values.ndim > 1 else values.tolist(), sub_type)
        if sub_type is not None and sub_type != own_type:
            return self.array(values.tolist(), sub_type)
        data = values.astype(values.dtype.newbyteorder(self.order), copy=False).tobytes()
        return self.u32(own_type) + self.u64(len(values)) + data
