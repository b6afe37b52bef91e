#!/usr/bin/env bats
# gufo convert of a folder on a server: the same file as from disk, and no copy of the source on this one.  Which bytes are
# fetched is in tests/remote/test_remote_folders.c.

# bats sets stderr.
# shellcheck disable=SC2154,SC2030,SC2031

load common
load ../remote/server

needs() {
    command -v python3 >/dev/null || skip "python3 is missing"
    unset HF_HUB_CACHE HF_HOME HF_TOKEN HF_ENDPOINT
    export HOME=$PWD XDG_CACHE_HOME=$PWD/cache
}

teardown() {
    stop_server
}

@test "convert: a folder of a web server, and a repository" {
    mkdir -p data/org/tiny
    "$GUFO_TEST_BIN/make_checkpoint" data/org/tiny
    gufo convert -q data/org/tiny local.gguf Q8_0
    start_server data
    run -0 --separate-stderr gufo convert -q "$SERVER/ok/org/tiny" remote.gguf Q8_0
    cmp local.gguf remote.gguf
    # Each file is fetched once; that it has not changed meanwhile is one byte more.
    [ -z "$(requests 'r["path"] if r["sent"] > 1 else ""' | grep . | sort | uniq -d)" ]
    HF_ENDPOINT=$SERVER/hf run -0 --separate-stderr gufo convert -q hf://org/tiny hub.gguf F16
    # Called as a repository, as one in the cache is.
    mkdir -p hub/models--org--tiny/snapshots/0123456789abcdef0123456789abcdef01234567
    cp data/org/tiny/* hub/models--org--tiny/snapshots/0123456789abcdef0123456789abcdef01234567
    gufo convert -q hub/models--org--tiny/snapshots/* cached.gguf F16
    cmp hub.gguf cached.gguf
    [ -z "$(find . -name '*.safetensors' -not -path './data/*' -not -path './hub/*')" ]
}

@test "convert: an address without a model, and a server that fails" {
    mkdir -p data/empty data/org/tiny
    "$GUFO_TEST_BIN/make_checkpoint" data/org/tiny
    start_server data
    run -3 --separate-stderr gufo convert -q "$SERVER/ok/empty" out.gguf F16
    [[ $stderr == *'the server has no file of a model in this folder, such as config.json' ]]
    run -2 --separate-stderr gufo convert -q "$SERVER/ok/org/tiny?token=secret" out.gguf F16
    [[ $stderr != *secret* ]]
    [ ! -e out.gguf ]
    stop_server
    run -3 --separate-stderr gufo convert -q "$SERVER/ok/org/tiny" out.gguf F16
    [ ! -e out.gguf ]
}

# make_llama FOLDER: 60 MB of numbers, with rows of q and k that change places.
make_llama() {
    mkdir -p "$1"
    python3 - "$1" <<'PYTHON'
import json, random, struct, sys

width, wide, words, layers = 1024, 2816, 3000, 2
config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": width, "num_hidden_layers": layers,
          "intermediate_size": wide, "num_attention_heads": 16, "num_key_value_heads": 8, "vocab_size": words,
          "max_position_embeddings": 512, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "torch_dtype": "bfloat16"}
shapes = {"model.embed_tokens.weight": [words, width], "lm_head.weight": [words, width], "model.norm.weight": [width]}
for layer in range(layers):
    name = f"model.layers.{layer}."
    for part, shape in {"self_attn.q_proj": [width, width], "self_attn.k_proj": [width // 2, width],
                        "self_attn.v_proj": [width // 2, width], "self_attn.o_proj": [width, width],
                        "mlp.gate_proj": [wide, width], "mlp.up_proj": [wide, width], "mlp.down_proj": [width, wide],
                        "input_layernorm": [width], "post_attention_layernorm": [width]}.items():
        shapes[name + part + ".weight"] = shape
header, size = {}, 0
for name, shape in shapes.items():
    count = shape[0] * (shape[1] if len(shape) > 1 else 1)
    header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [size, size + 2 * count]}
    size += 2 * count
data = bytearray(random.Random(1).randbytes(size))
data[1::2] = bytes(b & 0x80 | 0x3c for b in data[1::2])
text = json.dumps(header).encode()
with open(sys.argv[1] + "/model.safetensors", "wb") as out:
    out.write(struct.pack("<Q", len(text)) + text + data)
with open(sys.argv[1] + "/config.json", "w") as out:
    json.dump(config, out)
PYTHON
}

# fetched: the bytes of tensors that were sent.
fetched() {
    requests 'r["sent"] if "safetensors" in r["path"] and r["status"] in (200, 206) else 0' |
        awk '{ sum += $1 } END { print sum + 0 }'
}

# What threads read ahead of each other has room for 24 MiB; what does not fit comes again.
# bats test_tags=plain
@test "convert: each range of a large file is fetched once, and an end is continued" {
    local size
    make_llama data/m
    size=$(stat -c %s data/m/model.safetensors)
    gufo convert -q --no-vocab data/m local.gguf Q8_0
    start_server data
    run -0 --separate-stderr gufo convert -q --no-vocab "$SERVER/ok/m" remote.gguf Q8_0
    cmp local.gguf remote.gguf
    [ "$(fetched)" -ge $((size * 99 / 100)) ]
    [ "$(fetched)" -le $((size * 107 / 100)) ]

    # One that a scheduler ends; the file is another one when it comes again.
    interrupt TERM slow.gguf convert -q --no-vocab "$SERVER/slow-4000000/m" slow.gguf Q8_0 || [ $? -eq 4 ]
    [ -e slow.gguf.part ]
    [ ! -e slow.gguf ]
    cp data/m/model.safetensors data/m/new && mv data/m/new data/m/model.safetensors
    run -2 --separate-stderr gufo convert --no-vocab --resume "$SERVER/slow-4000000/m" slow.gguf Q8_0
    [ -e slow.gguf.part ]
    run -0 --separate-stderr gufo convert -q --no-vocab --force "$SERVER/ok/m" slow.gguf Q8_0
    cmp local.gguf slow.gguf
    # The same one is continued.
    rm slow.gguf
    interrupt TERM slow.gguf convert -q --no-vocab "$SERVER/slow-4000000/m" slow.gguf Q8_0 || [ $? -eq 4 ]
    run -0 --separate-stderr gufo convert --no-vocab "$SERVER/slow-4000000/m" slow.gguf Q8_0
    [[ $stderr == *'continues an interrupted run'* ]]
    cmp local.gguf slow.gguf
}
