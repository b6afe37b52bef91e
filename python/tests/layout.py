"""GGUF files made from a description, and what a reader must show of them: written from the format alone."""

from __future__ import annotations

import random
import string
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy

# Value types: number, letter of struct, numpy's name.
NUMBERS = {
    "UINT8": (0, "B", "u1"), "INT8": (1, "b", "i1"), "UINT16": (2, "H", "u2"), "INT16": (3, "h", "i2"),
    "UINT32": (4, "I", "u4"), "INT32": (5, "i", "i4"), "FLOAT32": (6, "f", "f4"), "BOOL": (7, "?", "?"),
    "UINT64": (10, "Q", "u8"), "INT64": (11, "q", "i8"), "FLOAT64": (12, "d", "f8"),
}  # fmt: skip
STRING, ARRAY = 8, 9
DTYPES = {letter: name for _, letter, name in NUMBERS.values()}
NUMBER_NAMES = {number: name for name, (number, _, _) in NUMBERS.items()}

# Element types: number, elements and bytes of a block, numpy's name of an element.
TENSORS = {
    "F32": (0, 1, 4, "f4"), "F16": (1, 1, 2, "f2"), "Q4_0": (2, 32, 18, None), "Q8_0": (8, 32, 34, None),
    "Q4_K": (12, 256, 144, None), "I8": (24, 1, 1, "i1"), "I16": (25, 1, 2, "i2"), "I32": (26, 1, 4, "i4"),
    "I64": (27, 1, 8, "i8"), "F64": (28, 1, 8, "f8"), "BF16": (30, 1, 2, None), "MXFP4": (39, 32, 17, None),
}  # fmt: skip


# A part: its offset, its dtype (with the byte order), the number of its elements.
Part = tuple[int, str, int]


@dataclass
class Field:
    """What a reader shows."""

    offset: int
    name: str
    parts: list[Part] = field(default_factory=list)
    data: list[int] = field(default_factory=list)
    types: list[int] = field(default_factory=list)
    contents: Any = None


@dataclass
class Tensor:
    field: Field
    kind: int
    dims: list[int]
    n_bytes: int
    data_offset: int
    dtype: str
    shape: tuple[int, ...]


class Maker:
    """Writes a file, and notes each piece as it is written."""

    def __init__(self, big: bool = False, version: int = 3) -> None:
        self.order = ">" if big else "<"
        self.wide = "I" if version == 1 else "Q"
        self.version = version
        self.body = bytearray()
        self.fields: list[Field] = []
        self.tensors: list[Tensor] = []
        self.places: list[tuple[int, Tensor]] = []
        self.alignment = 32
        self.head = 4 + 4 + 2 * struct.calcsize("=" + self.wide)
        self.count = 0

    def _number(self, letter: str, value: Any, field: Field) -> None:
        field.parts.append((self.head + len(self.body), self.order + DTYPES[letter], 1))
        self.body += struct.pack(self.order + letter, value)

    def _string(self, value: bytes, field: Field) -> None:
        self._number(self.wide, len(value), field)
        field.parts.append((self.head + len(self.body), "u1", len(value)))
        self.body += value

    def _value(self, kind: Any, value: Any, field: Field, first: bool = True) -> None:
        """kind: the name of a number's type, "STRING", or [kind of the elements]."""
        code = ARRAY if isinstance(kind, list) else STRING if kind == "STRING" else NUMBERS[kind][0]
        if first:
            field.types.append(code)
        if code == ARRAY:
            element = kind[0]
            inner = ARRAY if isinstance(element, list) else STRING if element == "STRING" else NUMBERS[element][0]
            self._number("I", inner, field)
            self._number(self.wide, len(value), field)
            for index, one in enumerate(value):
                self._value(element, one, field, first and index == 0)
            return
        if code == STRING:
            self._string(value.encode(), field)
        else:
            self._number(NUMBERS[kind][1], value, field)
        field.data.append(len(field.parts) - 1)

    def add(self, key: str, kind: Any, value: Any) -> None:
        made = Field(self.head + len(self.body), key)
        self._string(key.encode(), made)
        self._number("I", ARRAY if isinstance(kind, list) else STRING if kind == "STRING" else NUMBERS[kind][0], made)
        self._value(kind, value, made)
        made.contents = leaves(kind, value) if isinstance(kind, list) else value
        if key == "general.alignment":
            self.alignment = value
        self.fields.append(made)
        self.count += 1

    def add_tensor(self, name: str, kind: str, dims: list[int], data_at: int, n_bytes: int) -> None:
        number, block, block_bytes, plain = TENSORS[kind]
        made = Field(self.head + len(self.body), name, data=[1, 3, 4, 5])
        self._string(name.encode(), made)
        self._number("I", len(dims), made)
        made.parts.append((self.head + len(self.body), self.order + DTYPES[self.wide], len(dims)))
        self.body += struct.pack(f"{self.order}{len(dims)}{self.wide}", *dims)
        self._number("I", number, made)
        self._number("Q", data_at, made)
        shape = dims[::-1] if plain else [*dims[:0:-1], dims[0] // block * block_bytes]
        dtype = self.order + plain if plain else "u1"
        self.tensors.append(Tensor(made, number, dims, n_bytes, data_at, dtype, tuple(shape)))

    def content(self, seed: int = 0) -> bytes:
        head = b"GGUF" + struct.pack(f"{self.order}I2{self.wide}", self.version, len(self.tensors), self.count)
        made = head + self.body
        made += bytes(-len(made) % self.alignment)
        self.data_offset = len(made)
        size = max((tensor.data_offset + tensor.n_bytes for tensor in self.tensors), default=0)
        for tensor in self.tensors:
            tensor.data_offset += self.data_offset
        return bytes(made) + random.Random(seed).randbytes(size + -size % self.alignment)


def leaves(kind: Any, value: Any) -> list[Any]:
    """The elements of an array, and of arrays in it, one after the other."""
    if not isinstance(kind, list):
        return [value]
    return [leaf for one in value for leaf in leaves(kind[0], one)]


# ---- random files -------------------------------------------------------------------------------


def random_value(chance: random.Random, kind: Any, depth: int = 0) -> Any:
    if isinstance(kind, list):
        count = chance.choice([0, 1, 2, 3, 7]) if depth == 0 else chance.choice([1, 2, 3])
        return [random_value(chance, kind[0], depth + 1) for _ in range(count)]
    if kind == "STRING":
        return "".join(chance.choice(string.ascii_letters + "äß€🦉 ") for _ in range(chance.choice([0, 1, 5, 40])))
    if kind == "BOOL":
        return chance.random() < 0.5
    letter = NUMBERS[kind][1]
    if kind.startswith("FLOAT"):
        return struct.unpack(letter, struct.pack(letter, chance.uniform(-1e3, 1e3)))[0]
    size = struct.calcsize(letter)
    return int.from_bytes(chance.randbytes(size), "little", signed=letter.islower())


def random_file(seed: int, version: int | None = None) -> tuple[bytes, Maker]:
    chance = random.Random(seed)
    maker = Maker(big=seed % 2 == 1, version=version or chance.choice([2, 3]))
    kinds: list[Any] = [*NUMBERS, "STRING"]
    if chance.random() < 0.5:
        maker.add("general.alignment", "UINT32", chance.choice([8, 16, 32, 64, 256]))
    for index in range(chance.randrange(12)):
        kind = chance.choice(kinds)
        for _ in range(chance.choice([0, 0, 1, 1, 2, 3])):
            kind = [kind]
        maker.add(f"key.{index}", kind, random_value(chance, kind))
    at = 0
    for index in range(chance.randrange(8)):
        name = chance.choice(list(TENSORS))
        _, block, block_bytes, _ = TENSORS[name]
        dims = [block * chance.randrange(1, 3), *(chance.randrange(1, 4) for _ in range(chance.randrange(4)))]
        size = int(numpy.prod(dims)) // block * block_bytes
        maker.add_tensor(f"blk.{index}.weight", name, dims, at, size)
        at += size + -size % maker.alignment
    return maker.content(seed), maker


# ---- what is in a real file ---------------------------------------------------------------------


def parse(content: bytes) -> Maker:
    """The fields of a little-endian file of version 2 or 3 without tensors."""
    _, version, tensors, count = struct.unpack_from("<4sIQQ", content)
    assert tensors == 0
    maker = Maker(version=version)
    at = maker.head
    for _ in range(count):
        (length,) = struct.unpack_from("<Q", content, at)
        key = content[at + 8 : at + 8 + length].decode()
        (code,) = struct.unpack_from("<I", content, at + 8 + length)
        at += 12 + length
        kind, value, at = parse_value(content, at, code)
        maker.add(key, kind, value)
    assert maker.body == content[maker.head : at]
    return maker


def parse_value(content: bytes, at: int, code: int) -> tuple[Any, Any, int]:
    if code == STRING:
        (length,) = struct.unpack_from("<Q", content, at)
        return "STRING", content[at + 8 : at + 8 + length].decode(), at + 8 + length
    if code == ARRAY:
        element, count = struct.unpack_from("<IQ", content, at)
        at += 12
        values = []
        kind = NUMBER_NAMES.get(element, "STRING")
        for _ in range(count):
            kind, value, at = parse_value(content, at, element)
            values.append(value)
        return [kind], values, at
    letter = NUMBERS[NUMBER_NAMES[code]][1]
    (number,) = struct.unpack_from("<" + letter, content, at)
    return NUMBER_NAMES[code], number, at + struct.calcsize(letter)
