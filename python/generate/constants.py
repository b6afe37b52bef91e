"""Writes gufo/constants.py: constants.py REGISTRY TABLES HEADERS OUT."""

from __future__ import annotations

from typing import Iterable, Iterator

from tables import Registry, from_arguments

HEAD = '''\
# Made of the registry by python/generate/constants.py.
"""Numbers and names of the format: keys, types, architectures, tensors."""

from __future__ import annotations

from enum import Enum, IntEnum

GGUF_MAGIC = 0x46554747
GGUF_VERSION = 3
GGUF_DEFAULT_ALIGNMENT = 32
GGML_QUANT_VERSION = 2
GGML_MAX_DIMS = 4
QK_K = 256
'''

GET_TYPE = '''\

    @staticmethod
    def get_type(val: object) -> GGUFValueType:
        """The type that a value gets where none is given; ValueError where none fits."""
        for kinds, name in _VALUE_TYPES:
            if isinstance(val, kinds):
                return GGUFValueType[name]
        raise ValueError(f"a value of {type(val)} has no type in GGUF: give the type")


_VALUE_TYPES: tuple[tuple[tuple[type, ...], str], ...] = (
    ((str, bytes, bytearray), "STRING"),
    ((list,), "ARRAY"),
    ((float,), "FLOAT32"),
    ((bool,), "BOOL"),
    ((int,), "INT32"),
)
'''

TABLES_HEAD = '''

def _members(text: str) -> list[MODEL_TENSOR]:
    return [_tensor[name] for name in text.split()]


_tensor = MODEL_TENSOR.__members__
'''

BASES = {
    "GGUFType": "",
    "VisionProjectorType": "",
    "RopeScalingType": "(Enum)",
}


def literal(value: str) -> str:
    """A number as it is, any other value as a string."""
    return value if value.isdecimal() else f'"{value}"'


def class_lines(name: str, members: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield f"\n\nclass {name}{BASES.get(name, '(IntEnum)')}:"
    for member, value in members:
        yield f"    {member} = {value}"


def key_lines(registry: Registry) -> Iterator[str]:
    yield "\n\nclass Keys:"
    inside = ""
    for path, key in registry.keys:
        *classes, member = path.split(".")
        if ".".join(classes) != inside:
            inside = ".".join(classes)
            yield "" if member else ""
            yield f"{'    ' * len(classes)}class {classes[-1]}:"
        yield f'{"    " * (len(classes) + 1)}{member} = "{key}"'
    yield ""
    for name, path in registry.key_names:
        yield f"{name} = Keys.{path}"


def element_types(registry: Registry) -> list[tuple[str, str, str]]:
    """Member, number, and elements and bytes of a block; removed types have none."""
    types = [(name, number, f"{elements}, {size}") for number, name, elements, size, flags, _ in registry.element_types
             if "R" not in flags.split(" | ")]
    more = registry.enums["GGMLQuantizationType"]
    return types + [(member, number, ", ".join(block.split())) for member, number, block in more]


def file_types(registry: Registry) -> list[tuple[str, str]]:
    types = [("ALL_F32" if name == "F32" else f"MOSTLY_{name}", number)
             for number, name, _, flags in registry.file_types if flags != "R"]
    return types + [(row[0], row[1]) for row in registry.enums["LlamaFileType"]]


def enum_lines(registry: Registry) -> Iterator[str]:
    types = element_types(registry)
    yield from class_lines("GGMLQuantizationType", ((member, number) for member, number, _ in types))
    yield from class_lines("LlamaFileType", file_types(registry))
    for name, members in registry.enums.items():
        if name not in ("GGMLQuantizationType", "LlamaFileType"):
            yield from class_lines(name, ((row[0], literal(row[1])) for row in members))
            if name == "GGUFValueType":
                yield GET_TYPE
    yield from class_lines("MODEL_ARCH", ((member, str(i)) for i, member in enumerate(registry.archs, 1)))
    yield from class_lines("MODEL_TENSOR", ((member, str(i)) for i, member in enumerate(registry.tensors, 1)))
    yield "\n\nGGML_QUANT_SIZES: dict[GGMLQuantizationType, tuple[int, int]] = {"
    yield from (f"    GGMLQuantizationType.{member}: ({block})," for member, _, block in types)
    yield "}"


def name_lines(table: str, enum: str, names: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield f"\n{table}: dict[{enum}, str] = {{"
    yield from (f'    {enum}.{member}: "{name}",' for member, name in names if name)
    yield "}"


def arch_lines(table: str, registry: Registry, tensors: dict[str, list[str]]) -> Iterator[str]:
    yield f"\n{table}: dict[MODEL_ARCH, list[MODEL_TENSOR]] = {{"
    for member, arch in registry.archs.items():
        if arch in tensors:
            yield f'    MODEL_ARCH.{member}: _members("{" ".join(tensors[arch])}"),'
    yield "}"


def lines(registry: Registry) -> Iterator[str]:
    yield HEAD.rstrip("\n")
    yield from key_lines(registry)
    yield from enum_lines(registry)
    yield from name_lines("MODEL_ARCH_NAMES", "MODEL_ARCH", registry.archs.items())
    projectors = ((row[0], row[2] if len(row) > 2 else "") for row in registry.enums["VISION_PROJECTOR_TYPE"])
    yield from name_lines("VISION_PROJECTOR_TYPE_NAMES", "VISION_PROJECTOR_TYPE", projectors)
    yield from name_lines("TENSOR_NAMES", "MODEL_TENSOR", registry.tensors.items())
    yield TABLES_HEAD.rstrip("\n")
    yield from arch_lines("MODEL_TENSORS", registry, registry.arch_tensors)
    yield from arch_lines("MODEL_TENSOR_SKIP", registry, registry.skips)


def main() -> None:
    registry, out = from_arguments()
    out.write_text("\n".join(lines(registry)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
