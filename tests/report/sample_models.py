#!/usr/bin/env python3
"""Writes models for tests of pages: `sample_models.py FOLDER [KIND...]`, or
`sample_models.py --table NAME.tensors.tsv NAME.kv.tsv OUT` for one that a table describes.

Their data is a hole of the file, so that they take no space.  The writer knows the format by itself, so that the library
is not its own judge."""

import struct
import sys
from pathlib import Path

# name: (id, elements of a block, bytes of a block)
TYPES = {
    "F32": (0, 1, 4), "F16": (1, 1, 2), "Q4_0": (2, 32, 18), "Q8_0": (8, 32, 34), "Q2_K": (10, 256, 84),
    "Q3_K": (11, 256, 110), "Q4_K": (12, 256, 144), "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210),
    "IQ4_XS": (23, 256, 136), "BF16": (30, 1, 2), "MXFP4": (39, 32, 17), "new": (99, 1, 1),
}
UINT32, FLOAT32, BOOL, STRING, ARRAY, INT32 = 4, 6, 7, 8, 9, 5


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(data)) + data


def scalar(value):
    if isinstance(value, bool):
        return BOOL, struct.pack("<?", value)
    if isinstance(value, int):
        return UINT32, struct.pack("<I", value)
    if isinstance(value, float):
        return FLOAT32, struct.pack("<f", value)
    return STRING, text(value)


def entry(key, value):
    if isinstance(value, list):
        kind = scalar(value[0])[0] if value else STRING
        return text(key) + struct.pack("<IIQ", ARRAY, kind, len(value)) + b"".join(scalar(v)[1] for v in value)
    kind, data = scalar(value)
    return text(key) + struct.pack("<I", kind) + data


def write(path, keys, tensors, cut=None):
    """`tensors` are (name, type, dims)."""
    metadata = b"".join(entry(*item) for item in keys)
    infos, at = [], 0
    for name, kind, dims in tensors:
        number, elements, size = TYPES[kind]
        infos.append(text(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims))
        infos.append(struct.pack("<IQ", number, at))
        count = 1
        for dim in dims:
            count *= dim
        at += (count // elements * size + 31) // 32 * 32
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)) + metadata + b"".join(infos)
    if tensors:
        header += b"\0" * (-len(header) % 32)
    with open(path, "wb") as file:
        file.write(header)
        file.truncate(cut if cut is not None else len(header) + at)


def vocabulary(count):
    tokens = ["<unk>", "<s>", "</s>"] + [f"▁token{i}" for i in range(count - 3)]
    return [
        ("tokenizer.ggml.model", "llama"), ("tokenizer.ggml.tokens", tokens),
        ("tokenizer.ggml.scores", [0.0] * count), ("tokenizer.ggml.token_type", [2, 3, 3] + [1] * (count - 3)),
        ("tokenizer.ggml.bos_token_id", 1), ("tokenizer.ggml.eos_token_id", 2),
        ("tokenizer.chat_template", "{% for message in messages %}\n{{ message.content }}\n{% endfor %}\n"),
    ]


def keys_of(arch, layers, width=4096, **more):
    keys = {
        "general.architecture": arch, "general.name": f"Sample {arch}", "general.license": "apache-2.0",
        "general.file_type": 15, "general.quantization_version": 2, f"{arch}.block_count": layers,
        f"{arch}.context_length": 40960, f"{arch}.embedding_length": width, f"{arch}.feed_forward_length": 3 * width,
        f"{arch}.attention.head_count": 32, f"{arch}.attention.head_count_kv": 8,
        f"{arch}.attention.layer_norm_rms_epsilon": 1e-6,
    }
    keys.update(more)
    return list(keys.items())


def uses_more_bits(layer, layers):
    return layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2


def dense(layers, width=4096, rows=32000):
    """The mixture Q4_K_M."""
    tensors = [("output.weight", "Q6_K", (width, rows)), ("output_norm.weight", "F32", (width,)),
               ("token_embd.weight", "Q4_K", (width, rows))]
    for i in range(layers):
        more = "Q6_K" if uses_more_bits(i, layers) else "Q4_K"
        tensors += [
            (f"blk.{i}.attn_k.weight", "Q4_K", (width, width // 4)), (f"blk.{i}.attn_k_norm.weight", "F32", (128,)),
            (f"blk.{i}.attn_norm.weight", "F32", (width,)), (f"blk.{i}.attn_output.weight", "Q4_K", (width, width)),
            (f"blk.{i}.attn_q.weight", "Q4_K", (width, width)), (f"blk.{i}.attn_q_norm.weight", "F32", (128,)),
            (f"blk.{i}.attn_v.weight", more, (width, width // 4)), (f"blk.{i}.ffn_down.weight", more, (3 * width, width)),
            (f"blk.{i}.ffn_gate.weight", "Q4_K", (width, 3 * width)), (f"blk.{i}.ffn_norm.weight", "F32", (width,)),
            (f"blk.{i}.ffn_up.weight", "Q4_K", (width, 3 * width)),
        ]
    return tensors


def experts(layers, width=2048, count=128):
    tensors = dense(0, width)
    for i in range(layers):
        tensors += [
            (f"blk.{i}.attn_norm.weight", "F32", (width,)), (f"blk.{i}.attn_q.weight", "Q8_0", (width, 2 * width)),
            (f"blk.{i}.attn_k.weight", "Q8_0", (width, 512)), (f"blk.{i}.attn_v.weight", "Q8_0", (width, 512)),
            (f"blk.{i}.attn_output.weight", "Q8_0", (2 * width, width)), (f"blk.{i}.ffn_norm.weight", "F32", (width,)),
            (f"blk.{i}.ffn_gate_inp.weight", "F32", (width, count)),
            (f"blk.{i}.ffn_gate_exps.weight", "IQ4_XS", (width, 768, count)),
            (f"blk.{i}.ffn_up_exps.weight", "IQ4_XS", (width, 768, count)),
            (f"blk.{i}.ffn_down_exps.weight", "Q5_K" if i % 4 == 0 else "IQ4_XS", (768, width, count)),
        ]
    return tensors


HOSTILE = "</td><script>alert(1)</script>"
KINDS = {
    "dense": lambda path: write(path, keys_of("qwen3", 36) + vocabulary(2000), dense(36)),
    "deep": lambda path: write(path, keys_of("qwen3", 128, 2048), dense(128, 2048)),
    "many": lambda path: write(path, keys_of("qwen3", 111, 1024), dense(111, 1024)[:1220]),
    "thousand": lambda path: write(path, keys_of("qwen3", 91, 1024), dense(91, 1024)[:1000]),
    "experts": lambda path: write(path, keys_of("qwen3moe", 48, 2048, **{
        "qwen3moe.expert_count": 128, "qwen3moe.expert_used_count": 8}), experts(48)),
    "mixed": lambda path: write(path, keys_of("jamba", 8, 1024), [
        (name, kind, dims) for name, kind, dims in dense(8, 1024) if ".attn_" not in name or name.startswith("blk.3.")
    ] + [(f"blk.{i}.ssm_in.weight", "Q4_K", (1024, 4096)) for i in range(8) if i != 3]),
    "one": lambda path: write(path, [("general.architecture", "llama")], [("weights", "F16", (64, 64))]),
    "empty": lambda path: write(path, [], []),
    "vocabulary": lambda path: write(path, keys_of("llama", 4) + vocabulary(500), []),
    "unknown": lambda path: write(path, keys_of("llama", 2, 256), dense(2, 256) + [
        (f"blk.{i}.attn_new.weight", "new", (256, 256)) for i in range(2)]),
    "truncated": lambda path: write(path, keys_of("qwen3", 36) + vocabulary(2000), dense(36), cut=2_000_000_000),
    "hostile": lambda path: write(path, [
        ("general.architecture", "llama"), ("general.name", f"\"'&{HOSTILE}\u202etxt"), ("general.license", HOSTILE),
        ("x." + "k" * 64000, "long"), ("x." + HOSTILE, HOSTILE), ("x.bytes", b"\xff\xfe\x1b[31mred\x00"),
        ("x.lines", "one\ntwo\u2028three"), ("tokenizer.chat_template", "</pre>" + HOSTILE),
        ("x.long", "long " * 20000), ("x.not_a_number", float("nan")), ("x.list", [HOSTILE] * 20),
    ], [(f"blk.{i}.{HOSTILE}{'x' * 20}", "F16", (8, 8)) for i in range(3)] + [
        ("blk.0.\u202egnp.weight", "F16", (8, 8)), (b"blk.1.\xff\xfe", "F32", (8,)), ("blk.999999999.a", "F32", (8,)),
        ("blk.1000.a.weight", "F32", (8, 8)), ("-->", "F32", (8,)), ("]]>", "F32", (8,))]),
}


def from_tables(tensor_table, key_table, out):
    rows = [line.split("\t") for line in Path(tensor_table).read_text().splitlines()[1:]]
    pairs = [line.split("\t") for line in Path(key_table).read_text().splitlines()[1:]]
    keys = [(key, int(value) if value.isdigit() else value) for key, value in pairs]
    write(out, keys, [(row[0], row[1], tuple(int(d) for d in row[2].split("x"))) for row in rows])


if __name__ == "__main__":
    if sys.argv[1] == "--table":
        from_tables(*sys.argv[2:])
    else:
        for name in sys.argv[2:] or KINDS:
            KINDS[name](f"{sys.argv[1]}/{name}.gguf")
