"""Writes gufo/gguf_writer_methods.py: writer_methods.py REGISTRY TABLES HEADERS OUT."""

from __future__ import annotations

from typing import NamedTuple

from tables import Registry, from_arguments

HEAD = '''\
# Made of the registry by python/generate/writer_methods.py.
"""Methods of the writer that add one key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from .constants import {enums}


def _number(member: Any) -> Any:
    """The number of a member of an enum; a number is its own."""
    return getattr(member, "value", member)


class WriterMethods:
    arch: str

    if TYPE_CHECKING:
        def add_array(self, key: str, val: Sequence[Any]) -> None: ...
        def add_key_value(self, key: str, val: Any, vtype: GGUFValueType) -> None: ...
        def add_string(self, key: str, val: str) -> None: ...
'''
FIELDS = {"-": ("", ""), "arch": ("", ".format(arch=self.arch)"),
          "id": ("source_id: int, ", ".format(id=source_id)")}
BODIES = {
    "scalar": "        self.add_{type}({key}, {parameter})\n",
    "array": "        self.add_{type}({key}, {parameter})\n",
    "member": "        self.add_{type}({key}, _number({parameter}))\n",
    "either": "        add: Any = self.add_{type} if isinstance({parameter}, int) else self.add_array\n"
              "        add({key}, {parameter})\n",
}

VALUE = """
    def add_{name}(self, key: str, val: {hint}) -> None:
        self.add_key_value(key, val, GGUFValueType.{member})
"""


def of_value(member: str) -> str:
    """The method that adds a number with this type."""
    hint = "bool" if member == "BOOL" else "float" if member.startswith("FLOAT") else "int"
    return VALUE.format(name=member.lower(), hint=hint, member=member)


class Row(NamedTuple):
    method: str
    key: str
    type: str
    kind: str
    fields: str
    parameter: str
    hint: str

    def source(self) -> str:
        first, arguments = FIELDS[self.fields]
        body = BODIES[self.kind].format(type=self.type, key=f"Keys.{self.key}{arguments}",
                                        parameter=self.parameter)
        return (f"\n    def {self.method}(self, {first}{self.parameter}: {self.hint}) -> None:\n"
                f"{body}")


def module(registry: Registry) -> str:
    values = [row[0] for row in registry.enums["GGUFValueType"] if row[0] not in ("ARRAY", "STRING")]
    methods = [Row(*row) for row in registry.writer_methods]
    enums = sorted(["GGUFValueType", "Keys"] + [row.hint for row in methods if row.kind == "member"])
    return HEAD.format(enums=", ".join(enums)) + "".join(map(of_value, values)) + "".join(row.source() for row in methods)


if __name__ == "__main__":
    registry, out = from_arguments()
    out.write_text(module(registry), encoding="utf-8")
