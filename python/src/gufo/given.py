"""What a program gives: values of metadata and their types, sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from gufo import _core
from gufo.models import ARRAY, VALUE_TYPES
from gufo.tensors import bytes_of

if TYPE_CHECKING:
    from gufo.models import Model

BOOL, STRING, FLOAT32 = (VALUE_TYPES.index(name) for name in ("bool", "string", "float32"))
# Of a number alone the first that holds it, as `gufo edit` has it; of an array, as gguf has it.
INTEGERS = ("uint32", "int32", "uint64", "int64")
ELEMENTS = ("int32", "uint32", "int64", "uint64")


def types_named(name: str) -> tuple[int, ...]:
    """array[string] as numbers."""
    inner = name
    types: list[int] = []
    while inner.startswith("array[") and inner.endswith("]"):
        types.append(ARRAY)
        inner = inner[len("array[") : -1]
    if inner not in VALUE_TYPES or inner == "array":
        raise ValueError(
            f"{name!r} is not a type: types are {', '.join(VALUE_TYPES[:9])}, ... and array[TYPE]"
        )
    return (*types, VALUE_TYPES.index(inner))


def is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray))


def bounds(name: str) -> tuple[int, int]:
    bits = int(name.lstrip("uint"))
    return (0, 2**bits - 1) if name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def integer_type(least: int, most: int, names: Sequence[str]) -> int:
    for name in names:
        low, high = bounds(name)
        if low <= least and most <= high:
            return VALUE_TYPES.index(name)
    raise OverflowError(f"no type holds {least}" if least == most else f"no type holds {least} and {most}")


def guessed_element(values: Sequence[Any]) -> tuple[int, ...]:
    kinds = {bool if isinstance(value, bool) else type(value) for value in values}
    if kinds == {bool}:
        return (BOOL,)
    if kinds <= {int} and kinds:
        return (integer_type(min(values), max(values), ELEMENTS),)
    if kinds <= {int, float} and kinds:
        return (FLOAT32,)
    if kinds <= {str, bytes} and kinds:
        return (STRING,)
    if all(map(is_list, values)) and values:
        return (ARRAY, *guessed_element([element for value in values for element in value]))
    raise TypeError("the elements have no common type: say the type, as in array[int32]")


def guessed(value: Any) -> tuple[int, ...]:
    """The types of a value that says nothing else."""
    if isinstance(value, bool):
        return (BOOL,)
    if isinstance(value, int):
        return (integer_type(value, value, INTEGERS),)
    if isinstance(value, float):
        return (FLOAT32,)
    if isinstance(value, (str, bytes)):
        return (STRING,)
    if is_list(value):
        return (ARRAY, *guessed_element(value))
    raise TypeError(f"{type(value).__name__} is not a metadata value")


def plain(value: Any) -> tuple[Any, str | None]:
    """A value of numpy as one of Python, with its type; any other as it is."""
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return value, None
    if dtype.kind in "US":
        return value.tolist(), None
    name = "bool" if dtype.kind == "b" else str(dtype.newbyteorder("="))
    if name not in VALUE_TYPES:
        raise TypeError(f"{dtype} is not a type of metadata")
    if value.ndim == 0:
        return value.item(), name
    if value.ndim > 1:
        return value.tolist(), "array[" * value.ndim + name + "]" * value.ndim
    return value.astype(dtype.newbyteorder("=")).tobytes(), f"array[{name}]"


def fits(types: tuple[int, ...], value: Any) -> bool:
    """Whether a value can be of a type, by its kind."""
    if types[0] == ARRAY:
        return is_list(value)
    if types[0] in (BOOL, STRING):
        return isinstance(value, bool if types[0] == BOOL else (str, bytes))
    if isinstance(value, bool):
        return False
    return isinstance(value, (int, float) if VALUE_TYPES[types[0]].startswith("float") else int)


def known(key: str, architecture: str, value: Any) -> tuple[int, ...] | None:
    """What the registry says of a key."""
    info = _core.key_info(bytes_of(key), bytes_of(architecture))
    for name in info[0].split("|") if info else ():
        try:
            types = types_named(name)
        except ValueError:
            continue
        if fits(types, value):
            return types
    return None


def typed(
    key: str, value: Any, type: str | None, old: tuple[int, ...] | None, architecture: str
) -> tuple[tuple[int, ...], Any]:
    """A value with its types: those that are asked for, those of numpy, those that the key has,
    those of the registry, or what the value looks like."""
    try:
        value, own = plain(value)
        if type is not None or own is not None:
            return types_named(type or own or ""), value
        return old or known(key, architecture, value) or guessed(value), value
    except (OverflowError, TypeError) as error:
        raise error.__class__(f"{key}: {error}") from None


def metadata_rows(
    metadata: Mapping[str, Any], model: Model | None, architecture: str
) -> list[tuple[bytes, tuple[int, ...], Any]]:
    """Keys with types and values; a key that the model has keeps its type."""
    rows = []
    for key, value in metadata.items():
        old = None
        if model is not None and key in model:
            kind, element = model.core.entries()[model._rows[key]][1:3]
            old = None if element == ARRAY else (kind,) if element < 0 else (kind, element)
        types, given = typed(key, value, None, old, architecture)
        rows.append((bytes_of(key), types, given))
    return rows


# ---- sizes ---------------------------------------------------------------------------------------

PREFIXES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
BINARY = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
#: A number of bytes, or "24GiB".
Size = Union[int, str]


def bytes_in(size: Size) -> int:
    """Bytes of a size such as "24GiB" or "8G"."""
    if not isinstance(size, str):
        return int(size)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", size, re.ASCII | re.IGNORECASE)
    if match is None:
        raise ValueError(f"{size!r} is not a size: write a number of bytes, 24GiB or 24G")
    number, prefix, binary = match.groups()
    return int(float(number) * (BINARY if binary else PREFIXES)[prefix.lower()])
