"""Files that the tests make."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any, Union

import numpy as np

TYPES = {"uint8": (0, "B"), "uint32": (4, "I"), "int32": (5, "i"), "float32": (6, "f"), "bool": (7, "?")}
STRING, ARRAY = 8, 9


def text(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def typed(kind: str, value: Any) -> bytes:
    """The number of a type, and a value of it."""
    if kind.startswith("array["):
        rows = [typed(kind[6:-1], one) for one in value]
        number = rows[0][:4] if rows else struct.pack("<I", 8)
        return struct.pack("<I", ARRAY) + number + struct.pack("<Q", len(rows)) + b"".join(row[4:] for row in rows)
    if kind == "string":
        return struct.pack("<I", STRING) + text(value)
    number, code = TYPES[kind]
    return struct.pack("<I", number) + struct.pack("<" + code, value)


Entries = list[tuple[Union[str, bytes], str, Any]]


def padded(size: int) -> int:
    return -(-size // 32) * 32


def head(entries: Entries, tensors: list[tuple[str, int, list[int], int]]) -> bytes:
    """What comes before the data; tensors are (name, type, dimensions, bytes)."""
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries))
    for key, kind, value in entries:
        out += text(key) + typed(kind, value)
    offset = 0
    for name, number, dims, size in tensors:
        out += text(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims)
        out += struct.pack("<IQ", number, offset)
        offset += padded(size)
    return out + b"\0" * (-len(out) % 32)


def gguf(entries: Entries, tensors: list[tuple[str, int, list[int], bytes]]) -> bytes:
    """A file of version 3; tensors are (name, type, dimensions, data)."""
    begin = head(entries, [(name, number, dims, len(data)) for name, number, dims, data in tensors])
    return begin + b"".join(data.ljust(padded(len(data)), b"\0") for _, _, _, data in tensors)


SPM = ["<unk>", "<s>", "</s>", "a", "b", "ab", "\u2581ab", "\u2581a", "\u2581", "<0x0A>"]
TEMPLATE = "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"


def vocabulary() -> Entries:
    tokens = SPM + [f"<0x{byte:02X}>" for byte in range(256) if byte != 10]
    types = [2, 3, 3] + [1] * 6 + [6] * 256
    return [
        ("tokenizer.ggml.model", "string", "llama"),
        ("tokenizer.ggml.tokens", "array[string]", tokens),
        ("tokenizer.ggml.scores", "array[float32]", [0.0] * 3 + [-1.0, -2.0, -0.5, -0.25, -0.4, -3.0] + [0.0] * 256),
        ("tokenizer.ggml.token_type", "array[int32]", types),
        ("tokenizer.ggml.bos_token_id", "uint32", 1),
        ("tokenizer.ggml.eos_token_id", "uint32", 2),
        ("tokenizer.ggml.unknown_token_id", "uint32", 0),
        ("tokenizer.chat_template", "string", TEMPLATE),
    ]


def settings(name: str, layers: int, width: int) -> Entries:
    return [
        ("general.architecture", "string", "llama"),
        ("general.name", "string", name),
        ("llama.block_count", "uint32", layers),
        ("llama.context_length", "uint32", 4096),
        ("llama.embedding_length", "uint32", width),
        ("llama.feed_forward_length", "uint32", 2 * width),
        ("llama.attention.head_count", "uint32", 4),
        ("llama.attention.head_count_kv", "uint32", 4),
        ("llama.attention.layer_norm_rms_epsilon", "float32", 1e-5),
        ("llama.rope.dimension_count", "uint32", width // 4),
    ]


def shapes(layers: int, width: int, words: int) -> list[tuple[str, list[int]]]:
    found = [("token_embd.weight", [width, words]), ("output_norm.weight", [width]), ("output.weight", [width, words])]
    for layer in range(layers):
        parts = [("attn_norm", [width]), ("ffn_norm", [width])]
        parts += [(f"attn_{which}", [width, width]) for which in ("q", "k", "v", "output")]
        parts += [("ffn_gate", [width, 2 * width]), ("ffn_up", [width, 2 * width]), ("ffn_down", [2 * width, width])]
        found += [(f"blk.{layer}.{part}.weight", dims) for part, dims in parts]
    return found


def product(dims: list[int]) -> int:
    return math.prod(dims)


def llama(name: str = "Small", layers: int = 2, width: int = 32, words: bool = True) -> bytes:
    """A whole model, of which each number is known: tensors count from 0 to 4095, again and again."""
    tensors = [
        (tensor, 0, dims, (np.arange(product(dims)) % 4096).astype("<f4").tobytes())
        for tensor, dims in shapes(layers, width, len(SPM) + 255)
    ]
    return gguf(settings(name, layers, width) + (vocabulary() if words else []), tensors)


def checkpoint(folder: Path, width: int = 32, layers: int = 2) -> Path:
    """A model as transformers saves it, without a tokenizer."""
    folder.mkdir()
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": width,
        "intermediate_size": 2 * width, "num_hidden_layers": layers, "num_attention_heads": 4,
        "num_key_value_heads": 4, "vocab_size": 64, "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "torch_dtype": "float16", "tie_word_embeddings": False,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    shapes = {"model.embed_tokens.weight": [64, width], "model.norm.weight": [width], "lm_head.weight": [64, width]}
    for layer in range(layers):
        at = f"model.layers.{layer}."
        shapes |= {at + "input_layernorm.weight": [width], at + "post_attention_layernorm.weight": [width]}
        shapes |= {f"{at}self_attn.{which}_proj.weight": [width, width] for which in "qkvo"}
        shapes |= {f"{at}mlp.{which}_proj.weight": [2 * width, width] for which in ("gate", "up")}
        shapes[at + "mlp.down_proj.weight"] = [width, 2 * width]
    header, blobs, place = {}, [], 0
    for seed, (name, shape) in enumerate(shapes.items()):
        data = np.random.default_rng(seed).standard_normal(shape).astype("<f2").tobytes()
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [place, place + len(data)]}
        blobs.append(data)
        place += len(data)
    head = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + b"".join(blobs))
    return folder


def tokenizer_json(folder: Path) -> Path:
    """A folder with a tokenizer of bytes and three merges."""
    folder.mkdir()
    alphabet = [chr(code) for code in [*range(33, 127), *range(161, 173), *range(174, 256)]]
    alphabet += [chr(256 + extra) for extra in range(68)]
    words = ["a", "b", "ab", "\u0120", "\u0120a"]
    words += [one for one in alphabet if one not in words]
    model = {
        "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
        "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
        "vocab": {word: number for number, word in enumerate(words)}, "merges": ["a b", "\u0120 a"],
    }  # fmt: skip
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}
    whole = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": byte_level, "post_processor": None, "decoder": byte_level, "model": model,
    }  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(whole))
    config = {"chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


def imatrix(rows: list[tuple[str, int]], text: str = "a.txt") -> bytes:
    """An importance matrix of tensors with so many columns."""
    tensors = []
    for name, columns in rows:
        sums = np.linspace(4, 36, columns, dtype="<f4")
        tensors.append((name + ".in_sum2", 0, [columns, 1], sums.tobytes()))
        tensors.append((name + ".counts", 0, [1, 1], np.array([4], "<f4").tobytes()))
    entries: Entries = [
        ("general.type", "string", "imatrix"),
        ("imatrix.datasets", "array[string]", [text]),
        ("imatrix.chunk_count", "uint32", 1),
        ("imatrix.chunk_size", "uint32", 512),
    ]
    return gguf(entries, tensors)


def matrices(layers: int = 2, width: int = 32) -> list[tuple[str, int]]:
    """Tensors of two dimensions of `llama`, and their columns."""
    return [(name, dims[0]) for name, dims in shapes(layers, width, 265) if len(dims) == 2]


def adapter(width: int = 32, rank: int = 4) -> bytes:
    """A LoRA adapter of one tensor of `llama`."""
    chance = np.random.default_rng(1)
    a, b = (chance.standard_normal(shape).astype("<f4") for shape in ((rank, width), (width, rank)))
    entries: Entries = [
        ("general.architecture", "string", "llama"), ("general.type", "string", "adapter"),
        ("adapter.type", "string", "lora"), ("adapter.lora.alpha", "float32", 8.0),
    ]  # fmt: skip
    name = "blk.0.attn_q.weight"
    return gguf(entries, [(name + ".lora_a", 0, [width, rank], a.tobytes()), (name + ".lora_b", 0, [rank, width], b.tobytes())])
