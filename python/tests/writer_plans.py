"""Random files to write, and an encoder of their bytes that shares no code with the package."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

# value type: number, code of struct
NUMBERS = {"UINT8": (0, "B"), "INT8": (1, "b"), "UINT16": (2, "H"), "INT16": (3, "h"),
           "UINT32": (4, "I"), "INT32": (5, "i"), "FLOAT32": (6, "f"), "BOOL": (7, "?"),
           "UINT64": (10, "Q"), "INT64": (11, "q"), "FLOAT64": (12, "d")}
# element type: number, elements and bytes of a block
PLAIN = {"F32": (0, "f4"), "F16": (1, "f2"), "I8": (24, "i1"), "I16": (25, "i2"),
         "I32": (26, "i4"), "I64": (27, "i8"), "F64": (28, "f8")}
BLOCKS = {"Q4_0": (2, 32, 18), "Q8_0": (8, 32, 34), "Q6_K": (14, 256, 210), "BF16": (30, 1, 2)}


@dataclass
class Tensor:
    name: str
    type: str
    data: np.ndarray[Any, Any]
    dims: tuple[int, ...]          # of elements, outermost first

    @property
    def number(self) -> int:
        return (PLAIN.get(self.type) or BLOCKS[self.type])[0]


@dataclass
class Plan:
    arch: str
    big: bool = False
    alignment: int = 32
    values: list[tuple[str, str, Any]] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)
    max_tensors: int = 0
    max_size: int = 0
    small_first: bool = False
    temp_file: bool = False
    one_by_one: bool = False


def random_plan(seed: int) -> Plan:
    dice = random.Random(seed)
    plan = Plan(arch=dice.choice(["llama", "bert", "gemma3", "é"]), big=dice.random() < 0.5,
                alignment=dice.choice([8, 16, 32, 64, 128, 256]))
    plan.values = [_value(dice, f"key.{i}.{dice.choice('abcö')}") for i in range(dice.randrange(12))]
    plan.tensors = [_tensor(dice, f"blk.{i}.{dice.choice(['weight', 'ffn_exps.weight'])}")
                    for i in range(dice.randrange(9))]
    split = dice.randrange(4)
    plan.max_tensors = dice.randrange(1, 4) if split == 1 else 0
    plan.max_size = dice.randrange(1, 2000) if split == 2 else 0
    plan.small_first = split > 0 and dice.random() < 0.4
    plan.temp_file = split == 0 and dice.random() < 0.3
    plan.one_by_one = not plan.temp_file and dice.random() < 0.3
    return plan


def _number(dice: random.Random, name: str) -> Any:
    if name == "BOOL":
        return dice.random() < 0.5
    if name.startswith("FLOAT"):
        value = dice.choice([0.0, -0.0, 1e-40, float("inf"), dice.gauss(0, 1000), 3.0])
        return float(np.float32(value)) if name == "FLOAT32" else value
    bits = int(name.lstrip("UINT"))
    low = 0 if name[0] == "U" else -(1 << (bits - 1))
    return dice.choice([low, low + (1 << bits) - 1, low + dice.randrange(1 << bits)])


def _text(dice: random.Random) -> str:
    return "".join(dice.choice("ab \n\x00éΩ😀\"\\") for _ in range(dice.randrange(1, 30)))


def _value(dice: random.Random, key: str) -> tuple[str, str, Any]:
    kind = dice.choice(list(NUMBERS) + ["STRING"] + ["ARRAY"] * 6)
    if kind in NUMBERS:
        return key, kind, _number(dice, kind)
    if kind == "STRING":
        text = _text(dice)
        return key, kind, dice.choice([text, text.encode()])
    return key, kind, _array(dice, 0)


def _array(dice: random.Random, depth: int) -> Any:
    count = dice.randrange(1, 40)
    kind = dice.randrange(7 if depth < 2 else 5)
    if kind == 0:
        return [_number(dice, "INT32") for _ in range(count)]
    if kind == 1:
        floats = [_number(dice, "FLOAT32") for _ in range(count)]
        return tuple(floats) if depth == 0 else floats
    if kind == 2:
        return [dice.random() < 0.5 for _ in range(count)]
    if kind == 3:
        return [dice.choice([str, str.encode])(_text(dice)) for _ in range(count)]
    if kind == 4:
        return bytes(dice.randrange(256) for _ in range(count)) if depth == 0 else ["x"]
    return [_array(dice, depth + 1) for _ in range(dice.randrange(1, 4))]


def _tensor(dice: random.Random, name: str) -> Tensor:
    kind = dice.choice(list(PLAIN) + list(BLOCKS))
    dims = tuple(dice.randrange(1, 5) for _ in range(dice.randrange(0, 3)))
    numbers = np.random.default_rng(dice.randrange(1 << 30))
    if kind in PLAIN:
        dims = dims + (dice.randrange(1, 9),) if dice.random() < 0.9 else dims
        data = numbers.integers(-100, 100, dims).astype(PLAIN[kind][1])
        return Tensor(name, kind, data, dims)
    _, elements, size = BLOCKS[kind]
    blocks = dice.randrange(1, 3)
    data = numbers.integers(0, 256, dims + (blocks * size,), dtype=np.uint8)
    return Tensor(name, kind, data, dims + (blocks * elements,))


def write(plan: Plan, gguf: ModuleType, path: Path) -> list[Path]:
    """Writes the plan with a package; the files that came out."""
    writer = gguf.GGUFWriter(
        path, plan.arch, use_temp_file=plan.temp_file,
        endianess=gguf.GGUFEndian.BIG if plan.big else gguf.GGUFEndian.LITTLE,
        split_max_tensors=plan.max_tensors, split_max_size=plan.max_size,
        small_first_shard=plan.small_first)
    if plan.alignment != 32:
        writer.add_custom_alignment(plan.alignment)
    for key, kind, value in plan.values:
        writer.add_key_value(key, value, gguf.GGUFValueType[kind])
    for tensor in plan.tensors:
        raw = gguf.GGMLQuantizationType[tensor.type] if tensor.type in BLOCKS else None
        if plan.one_by_one:
            writer.add_tensor_info(tensor.name, tensor.data.shape, tensor.data.dtype,
                                   tensor.data.nbytes, raw_dtype=raw)
        else:
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=raw)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    if plan.one_by_one:
        writer.write_ti_data_to_file()
        for tensor in plan.tensors:
            writer.write_tensor_data(tensor.data)
    else:
        writer.write_tensors_to_file()
    writer.close()
    return sorted(path.parent.iterdir())


def expected(plan: Plan) -> list[bytes]:
    """The bytes of the files, in order of their names."""
    shards: list[list[Tensor]] = [[], []] if plan.small_first else [[]]
    for tensor in plan.tensors:
        size = sum(other.data.nbytes for other in shards[-1])
        if shards[-1] and (plan.max_tensors and len(shards[-1]) >= plan.max_tensors
                           or plan.max_size and size + tensor.data.nbytes > plan.max_size):
            shards.append([])
        shards[-1].append(tensor)
    values = [("general.architecture", "STRING", plan.arch)]
    if plan.alignment != 32:
        values.append(("general.alignment", "UINT32", plan.alignment))
    files = []
    for number, tensors in enumerate(shards):
        entries = values + plan.values if number == 0 else []
        if len(shards) > 1:
            entries = entries + [("split.no", "UINT16", number),
                                 ("split.count", "UINT16", len(shards)),
                                 ("split.tensors.count", "INT32", len(plan.tensors))]
        files.append(_file(plan, entries, tensors))
    return files


def _file(plan: Plan, entries: list[tuple[str, str, Any]], tensors: list[Tensor]) -> bytes:
    order = ">" if plan.big else "<"

    def number(code: str, value: Any) -> bytes:
        return struct.pack(order + code, value)

    def text(value: Any) -> bytes:
        data = value.encode() if isinstance(value, str) else value
        return number("Q", len(data)) + data

    def array(value: Any) -> bytes:
        if isinstance(value, bytes):
            return number("I", 0) + number("Q", len(value)) + value
        first = value[0]
        if isinstance(first, bool):
            kind, one = 7, lambda x: number("?", x)
        elif isinstance(first, int):
            kind, one = 5, lambda x: number("i", x)
        elif isinstance(first, float):
            kind, one = 6, lambda x: number("f", x)
        elif isinstance(first, (str, bytes)):
            kind, one = 8, text
        else:
            kind, one = 9, array
        return number("I", kind) + number("Q", len(value)) + b"".join(map(one, value))

    def padding(count: int) -> bytes:
        return bytes(-count % plan.alignment)

    out = b"GGUF" + number("I", 3) + number("Q", len(tensors)) + number("Q", len(entries))
    for key, kind, value in entries:
        if kind == "STRING":
            out += text(key) + number("I", 8) + text(value)
        elif kind == "ARRAY":
            out += text(key) + number("I", 9) + array(value)
        else:
            out += text(key) + number("I", NUMBERS[kind][0]) + number(NUMBERS[kind][1], value)
    data = b""
    for tensor in tensors:
        out += text(tensor.name) + number("I", len(tensor.dims))
        out += b"".join(number("Q", size) for size in reversed(tensor.dims))
        out += number("I", tensor.number) + number("Q", len(data))
        # only numbers have an order; blocks are bytes
        raw = tensor.data.astype(tensor.data.dtype.newbyteorder(order)).tobytes()
        data += raw + padding(len(raw))
    if tensors or not plan.one_by_one:
        out += padding(len(out))
    return out + data
