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


def copy(source: Path, target: Path) -> None:
    reader = gguf.GGUFReader(source)
    architecture = reader.get_field(gguf.Keys.General.ARCHITECTURE)
    writer = gguf.GGUFWriter(target, str(architecture.contents()) if architecture else "llama", endianess=reader.endianess)
    for name, field in reader.fields.items():
        if field.types and field.types[0] is gguf.GGUFValueType.UINT32:
            writer.add_uint32(name, int(field.parts[field.data[0]][0]))
    for tensor in reader.tensors:
        shape = [int(dim) for dim in reversed(tensor.shape)]
        values = gguf.dequantize(tensor.data, tensor.tensor_type).reshape(shape)
        writer.add_tensor(tensor.name, gguf.quants.quantize(values, gguf.GGMLQuantizationType.Q6_K),
                          raw_dtype=gguf.GGMLQuantizationType.Q6_K)
    writer.add_head_count([8, 8])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file(progress=True)
    writer.close()


def special_tokens(folder: Path, writer: gguf.GGUFWriter) -> None:
    gguf.SpecialVocab(folder, load_merges=True, n_vocab=32000).add_to_gguf(writer)
