"""Writes gufo/hf_names.py: tensor_mapping.py REGISTRY TABLES HEADERS OUT."""

from __future__ import annotations

from collections import Counter
from graphlib import TopologicalSorter
from typing import Iterable, Iterator

from tables import Registry, from_arguments

HEAD = '''\
# Made of the registry by python/generate/tensor_mapping.py.
"""What tensors are called in the frameworks.  Where two tensors have a name in common, the later one counts."""

from __future__ import annotations

from .constants import MODEL_ARCH, MODEL_TENSOR
'''

Names = dict[str, tuple[str, ...]]


def names_of(registry: Registry, arch: str) -> Iterator[tuple[str, str]]:
    """The names that tensors of an architecture have, with the tensor; of two with one name the later row counts."""
    members: dict[str, list[str]] = {}
    for member in registry.arch_tensors[arch]:
        members.setdefault(registry.tensors[member], []).append(member)
    for row in registry.names:
        if row.counts_for(arch):
            same = members.get(row.tensor, [])
            yield from ((member, row.name) for member in same if means(registry, member, row.name, same))


def means(registry: Registry, member: str, name: str, same: list[str]) -> bool:
    """Whether a name means this one of several members that name one tensor."""
    if member in registry.own_names:
        return name in registry.own_names[member]
    return not any(name in registry.own_names.get(other, ()) for other in same)


def usual_and_other(names: dict[str, Names]) -> tuple[Names, dict[str, Names]]:
    """For each tensor the names it has in most architectures; and for the others theirs."""
    counts: dict[str, Counter[tuple[str, ...]]] = {}
    for tensors in names.values():
        for member, own in tensors.items():
            counts.setdefault(member, Counter())[own] += 1
    usual = {member: count.most_common(1)[0][0] for member, count in counts.items()}
    other = {arch: {member: own for member, own in tensors.items() if own != usual[member]}
             for arch, tensors in names.items()}
    return usual, {arch: tensors for arch, tensors in other.items() if tensors}


def in_order(tensors: Iterable[str], pairs: dict[str, list[tuple[str, str]]]) -> list[str]:
    """The tensors so that, where two have a name in common, the one comes later whose row comes later."""
    graph: TopologicalSorter[str] = TopologicalSorter({member: () for member in tensors})
    for of_arch in pairs.values():
        last: dict[str, str] = {}
        for member, name in of_arch:
            graph.add(member, *({last[name]} - {member} if name in last else ()))
            last[name] = member
    return list(graph.static_order())


def dict_lines(names: dict[str, list[str]], indent: str = "    ") -> Iterator[str]:
    for member, own in names.items():
        yield f"{indent}MODEL_TENSOR.{member}: ("
        yield from (f'{indent}    "{name}",' for name in own)
        yield f"{indent}),"


def of_group(registry: Registry, names: Names, order: list[str], in_block: bool) -> dict[str, list[str]]:
    """The names with a number of a block, or those without, of tensors that have such names or are called so."""
    groups = {member: [name for name in names.get(member, ()) if ("{bid}" in name) == in_block] for member in order}
    called = {member for member in names if registry.tensors[member] and ("{bid}" in registry.tensors[member]) == in_block}
    return {member: own for member, own in groups.items() if own or member in called}


def lines(registry: Registry) -> Iterator[str]:
    pairs = {arch: list(names_of(registry, arch)) for arch in registry.arch_tensors}
    names: dict[str, Names] = {arch: dict.fromkeys(has, ()) for arch, has in registry.arch_tensors.items()}
    for arch, of_arch in pairs.items():
        for member, name in of_arch:
            names[arch][member] += (name,)
    usual, other = usual_and_other(names)
    order = in_order(usual, pairs)
    members = {arch: member for member, arch in registry.archs.items()}
    yield HEAD
    for name, in_block in (("MODEL", False), ("BLOCK", True)):
        yield f"{name}_NAMES: dict[MODEL_TENSOR, tuple[str, ...]] = {{"
        yield from dict_lines(of_group(registry, usual, order, in_block))
        yield "}\n"
    yield "ARCH_BLOCK_NAMES: dict[MODEL_ARCH, dict[MODEL_TENSOR, tuple[str, ...]]] = {"
    for arch, tensors in other.items():
        yield f"    MODEL_ARCH.{members[arch]}: {{"
        yield from dict_lines(of_group(registry, tensors, order, True), "        ")
        yield "    },"
    yield "}"


def main() -> None:
    registry, out = from_arguments()
    out.write_text("\n".join(lines(registry)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
