"""Reads the tables of the registry, and the .def files of the library, for the generators beside this file."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple


def rows(path: Path) -> list[list[str]]:
    """The rows of a table; cells are separated by tabs, and comments begin with #."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def definitions(path: Path, macro: str) -> list[list[str]]:
    """The arguments of every MACRO(...) in a .def file."""
    calls = re.findall(rf"^{macro}\((.*)\)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return [[argument.strip() for argument in call.split(",")] for call in calls]


class Row(NamedTuple):
    """A row of hf_tensor_names.tsv: a name in the frameworks, the tensor, and the architectures it counts for."""

    name: str
    tensor: str
    only: str

    def counts_for(self, arch: str) -> bool:
        if self.only.startswith("!"):
            return arch not in self.only[1:].split(",")
        return not self.only or arch in self.only.split(",")


class Registry:
    """What the generators take from the registry: one attribute for each thing."""

    def __init__(self, registry: Path, tables: Path, headers: Path) -> None:
        self.keys = rows(registry / "python" / "keys.tsv")
        self.key_names = rows(registry / "python" / "key_names.tsv")
        self.writer_methods = rows(registry / "python" / "writer_methods.tsv")
        self.element_types = definitions(headers / "element_types.def", "GUFO_ELEMENT_TYPE")
        self.file_types = definitions(headers / "file_types.def", "GUFO_FILE_TYPE")
        self.names = [Row(*(row + [""])[:3]) for row in rows(tables / "hf_tensor_names.tsv")]

        self.enums: dict[str, list[list[str]]] = {}
        for name, *row in rows(registry / "python" / "enums.tsv"):
            self.enums.setdefault(name, []).append(row)
        self._read_architectures(registry, tables)
        self._read_tensors(registry)
        self._read_arch_tensors(registry, tables)
        self._check(registry, tables)

    def _check(self, registry: Path, tables: Path) -> None:
        """Stops where a table of registry/python names what the registry does not have."""
        keys = {row[0] for table in ("keys", "key_aliases") for row in rows(registry / f"{table}.tsv")}
        keys |= {re.sub(r"dense_\d", "{dense}", key) for key in keys}
        unknown = {
            "arch_enum": set(self.archs.values()) - {row[0] for row in rows(tables / "architectures.tsv")},
            "tensor_enum": set(self.tensors.values()) - {row[0] for row in rows(registry / "tensors.tsv")} - {""},
            "keys": {key for _, key in self.keys} - keys,
            "key_names": {path for _, path in self.key_names} - {path for path, _ in self.keys},
        }
        for table, names in unknown.items():
            if names:
                sys.exit(f"registry/python/{table}.tsv: the registry has no {', '.join(sorted(names))}")

    def _read_architectures(self, registry: Path, tables: Path) -> None:
        """Members of MODEL_ARCH: those that have a name there, then all others under the name that follows."""
        self.archs = {member: arch for member, arch in rows(registry / "python" / "arch_enum.tsv")}
        known = set(self.archs.values())
        for arch, *_ in rows(tables / "architectures.tsv"):
            if arch not in known:
                self.archs[re.sub(r"[^A-Z0-9]", "_", arch.upper())] = arch

    def _read_tensors(self, registry: Path) -> None:
        self.tensors: dict[str, str] = {}
        self.own_names: dict[str, set[str]] = {}
        for row in rows(registry / "python" / "tensor_enum.tsv"):
            member, tensor, names = (row + ["", ""])[:3]
            self.tensors[member] = tensor
            if names:
                self.own_names[member] = set(names.split())

    def _read_arch_tensors(self, registry: Path, tables: Path) -> None:
        first: dict[str, str] = {}
        for member, tensor in self.tensors.items():
            first.setdefault(tensor, member)
        members: dict[str, set[str]] = {arch: set() for arch in self.archs.values()}
        for arch, tensor, *_ in rows(tables / "arch_tensors.tsv"):
            if tensor in first:
                members[arch].add(first[tensor])
        for has in members.values():
            if "ATTN_Q" in has:
                has.discard("ATTN_QKV")
        self.skips: dict[str, list[str]] = {}
        for arch, what, names in rows(registry / "python" / "arch_tensors.tsv"):
            named = names.split()
            if what == "skips":
                self.skips[arch] = named
            elif what == "lacks":
                members[arch] -= set(named)
            elif what == "has":
                members[arch] -= {first[self.tensors[name]] for name in named if self.tensors[name]}
                members[arch] |= set(named)
            else:
                sys.exit(f"registry/python/arch_tensors.tsv: {what} is none of has, lacks, skips")
        order = list(self.tensors)
        self.arch_tensors = {arch: sorted(has, key=order.index) for arch, has in members.items()}


def from_arguments() -> tuple[Registry, Path]:
    """The registry and the output that the command line names: REGISTRY TABLES HEADERS OUT."""
    if len(sys.argv) != 5:
        sys.exit(f"use: {sys.argv[0]} REGISTRY TABLES HEADERS OUT")
    registry, tables, headers, out = map(Path, sys.argv[1:])
    return Registry(registry, tables, headers), out
