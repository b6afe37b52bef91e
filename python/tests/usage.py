"""Typed use of the packages; mypy --strict checks it, and nobody runs it."""

from __future__ import annotations

from pathlib import Path

import gguf
import gufo
from gguf.constants import GGMLQuantizationType
from gguf.tensor_mapping import get_tensor_name_map


def names_and_numbers(name: str) -> tuple[str | None, int]:
    kind: GGMLQuantizationType = gguf.GGMLQuantizationType.Q4_K
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    key: str = gguf.Keys.Attention.HEAD_COUNT.format(arch=gguf.MODEL_ARCH_NAMES[gguf.MODEL_ARCH.QWEN3])
    names: gguf.TensorNameMap = get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, 32)
    value: gufo.GGUFValueType = gufo.GGUFValueType.get_type(key)
    return names.get_name(name, (".weight", ".bias")), elements * size + value


def metadata(folder: Path) -> gufo.Metadata:
    found: gguf.Metadata = gguf.Metadata.load(model_path=folder, total_params=7_000_000_000)
    found.size_label = gguf.size_label(7_000_000_000, 0, 0, 0)
    return found


def tensors(file: Path) -> dict[str, bytes]:
    with gguf.SafetensorsLocal(file) as local:
        return {name: tensor.mmap_bytes().tobytes() for name, tensor in local.items()}
