"""From the names that tensors have in the frameworks to those that they have in GGUF files."""

from __future__ import annotations

from typing import ClassVar, Iterable, Mapping

from .constants import MODEL_ARCH, MODEL_TENSOR, MODEL_TENSORS, TENSOR_NAMES
from .hf_names import ARCH_BLOCK_NAMES, BLOCK_NAMES, MODEL_NAMES

_Names = dict[MODEL_TENSOR, tuple[str, ...]]


class TensorNameMap:
    """The names of all tensors of one architecture with so many blocks; names go without .weight and .bias."""

    mappings_cfg: ClassVar[_Names] = MODEL_NAMES
    block_mappings_cfg: ClassVar[_Names] = BLOCK_NAMES
    arch_block_mappings_cfg: ClassVar[dict[MODEL_ARCH, _Names]] = ARCH_BLOCK_NAMES

    mapping: dict[str, tuple[MODEL_TENSOR, str]]

    def __init__(self, arch: MODEL_ARCH, n_blocks: int) -> None:
        has = set(MODEL_TENSORS.get(arch, ()))
        block_names = {**self.block_mappings_cfg, **self.arch_block_mappings_cfg.get(arch, {})}
        self.mapping = {}
        self._add(self.mappings_cfg, has, "{bid}")
        for block in range(n_blocks):
            self._add(block_names, has, str(block))

    def _add(self, names: Mapping[MODEL_TENSOR, tuple[str, ...]], has: set[MODEL_TENSOR], block: str) -> None:
        """Adds every name of the tensors that there are, that in GGUF files first."""
        for tensor in names:
            if tensor in has:
                found = tensor, TENSOR_NAMES[tensor].replace("{bid}", block)
                self.mapping[found[1]] = found
                for name in names[tensor]:
                    self.mapping[name.replace("{bid}", block)] = found

    def get_type_and_name(self, key: str, try_suffixes: Iterable[str] = ()) -> tuple[MODEL_TENSOR, str] | None:
        """The tensor, and its name with the suffix that the key has; None where the key is not a name."""
        found = self.mapping.get(key)
        if found is not None:
            return found
        for suffix in try_suffixes:
            if key.endswith(suffix):
                found = self.mapping.get(key[:len(key) - len(suffix)])
                if found is not None:
                    return found[0], found[1] + suffix
        return None

    def get_name(self, key: str, try_suffixes: Iterable[str] = ()) -> str | None:
        found = self.get_type_and_name(key, try_suffixes)
        return found[1] if found else None

    def get_type(self, key: str, try_suffixes: Iterable[str] = ()) -> MODEL_TENSOR | None:
        found = self.get_type_and_name(key, try_suffixes)
        return found[0] if found else None

    def __getitem__(self, key: str) -> str:
        return self.mapping[key][1]

    def __contains__(self, key: str) -> bool:
        return key in self.mapping

    def __repr__(self) -> str:
        return repr(self.mapping)


def get_tensor_name_map(arch: MODEL_ARCH, n_blocks: int) -> TensorNameMap:
    return TensorNameMap(arch, n_blocks)
