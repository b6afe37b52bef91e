#!/usr/bin/env bats
# gufo export.  What the files hold is in tests/import/test_export*.c.

# bats sets stderr.
# shellcheck disable=SC2154

load common
load vocabularies

# make_model FILE [TYPE]: a model with a tokenizer.
make_model() {
    mkdir -p source
    "$GUFO_TEST_BIN/make_checkpoint" source
    gufo convert -q source "$1" "${2:-BF16}"
}

# bats test_tags=plain
@test "export: there and back" {
    for type in F32 F16 BF16; do
        make_model a.gguf "$type"
        gufo export -q a.gguf back
        gufo convert -q back b.gguf "$type"
        gufo diff a.gguf b.gguf
        rm -r source back a.gguf b.gguf
    done
}

# A vocabulary has no tensors, and so no types: a conversion adds no key that says which.
@test "export: a vocabulary, there and back" {
    local kind
    for kind in spm bpe wpm; do
        "make_$kind" "$kind.gguf"
        gufo export -q "$kind.gguf" "$kind"
        gufo convert -q --vocab-only "$kind" back.gguf --force
        run -0 --separate-stderr gufo diff "$kind.gguf" back.gguf
    done
    make_model a.gguf
    gufo convert -q --vocab-only source b.gguf
    run -0 gufo get b.gguf general.quantization_version
    same 2
}

# bats test_tags=plain
@test "export: the same bytes whatever the threads and the memory" {
    make_model a.gguf Q8_0
    gufo export -q a.gguf one
    gufo export -q --threads 3 --memory 16Mi a.gguf two
    diff -r one two
    run -2 --separate-stderr gufo export -q --memory 1K a.gguf three
    [[ "$stderr" == *"bytes of memory, the limit is 1,024 (--memory)" ]]
    [ ! -e three ]
}

@test "export: the folder is made, and other files in it stay" {
    make_model a.gguf
    gufo export -q a.gguf -o new
    [ -f new/model.safetensors ]
    [ -f new/config.json ]
    echo mine >new/notes.txt
    run -2 --separate-stderr gufo export a.gguf new
    same_error 'gufo: new/model.safetensors: target exists already (--force replaces it)'
    gufo export -q --force a.gguf new
    [ "$(cat new/notes.txt)" = mine ]
}

@test "export: shards, and a folder that has those of another export" {
    make_model a.gguf
    gufo export -q --shard-size=50K a.gguf parts
    [ -f parts/model.safetensors.index.json ]
    ls parts/model-00001-of-*.safetensors
    gufo convert -q parts b.gguf BF16
    gufo diff a.gguf b.gguf
    run -2 --separate-stderr gufo export --force a.gguf parts
    [[ $stderr == 'gufo: parts: it has tensors of another model, in model'*': remove them first' ]]
    gufo convert -q --force parts b.gguf BF16
    gufo diff a.gguf b.gguf
}

@test "export: a folder that has a tokenizer, a template or a configuration of another model" {
    make_model a.gguf
    for name in chat_template.jinja vocab.json hf_quant_config.json adapter_config.json; do
        mkdir other
        echo '{}' >"other/$name"
        run -2 --separate-stderr gufo export --force a.gguf other
        same_error "gufo: other: it has a file of another model, $name, that readers would take for one of this: remove it first"
        same_list "$(ls other)" "$name"
        rm -r other
    done
}

@test "export: keys that no new file can have are lost, which is said" {
    make_gguf a.gguf kv general.architecture string llama kv llama. uint32 1 kv 'x y' uint32 2
    run -0 --separate-stderr gufo export a.gguf back
    [[ $stderr == *'the key "llama." cannot be kept: it is lost'* ]]
    [[ $stderr == *'the key "x y" cannot be kept: it is lost'* ]]
    [[ $(cat back/gguf-metadata.json) != *'"x y"'* ]]
}

@test "export: numbers that F16 does not hold are refused" {
    make_gguf a.gguf kv general.architecture string llama tensor token_embd.weight 0 2x2 16 \
        tensor output_norm.weight 0 2 8
    offset=$(gufo show --json a.gguf | tr ',' '\n' | sed -n 's/^"offset":\([0-9]*\).*/\1/p' | head -n 1)
    printf '\0\0\0\107' | dd of=a.gguf bs=1 seek="$offset" conv=notrunc status=none # 32768
    gufo export -q --dtype=f16 a.gguf good
    printf '\0\0\200\107' | dd of=a.gguf bs=1 seek="$offset" conv=notrunc status=none # 65536
    for format in safetensors npz; do
        run -3 --separate-stderr gufo export --dtype=f16 --format="$format" a.gguf back
        [[ $stderr == *'"model.embed_tokens.weight": the value 65536 is too large for F16' ]]
        [ ! -e back ]
    done
}

@test "export: a key that is missing is said of the model" {
    make_gguf a.gguf kv general.architecture string llama tensor blk.0.attn_q.weight 0 4x4 64
    run -3 --separate-stderr gufo export a.gguf back
    same_error 'gufo: a.gguf: config.json that its keys give: none of num_attention_heads, n_heads'
    [ ! -e back ]
}

@test "export: a quantized model is decoded, which is said" {
    make_model a.gguf Q8_0
    run -0 --separate-stderr gufo export a.gguf back
    [[ $stderr == *'tensors are quantized: they are decoded to BF16'* ]]
    gufo convert -q back b.gguf F16
    run -0 --separate-stderr gufo export -q --dtype=f32 a.gguf exact
    [ -z "$stderr" ]
    gufo convert -q --force exact b.gguf F32
    gufo quantize -q --allow-requantize a.gguf c.gguf F32
    gufo diff b.gguf c.gguf
}

@test "export: a dry run lists files and tensors, and writes nothing" {
    make_model a.gguf
    run -0 gufo export --dry-run a.gguf new
    [[ ${lines[0]} == new/model.safetensors:* ]]
    [[ $output == *'  model.embed_tokens.weight  BF16 '*' of token_embd.weight'* ]]
    [ ! -e new ]
    run -0 gufo export --dry-run --json a.gguf new
    [[ $output == '{"path":"a.gguf","dry_run":true,"outputs":[{"path":"new/model.safetensors",'* ]]
    [[ $output == *'"tensors":[{"name":"'* ]]
    [[ $output == *'"warnings":[]}' ]]
    [ ! -e new ]
}

@test "export: an archive of NumPy" {
    make_model a.gguf
    gufo export -q --format=npz a.gguf arrays
    [ "$(head -c 2 arrays/model.npz)" = PK ]
    [ ! -e arrays/model.safetensors ]
    run -2 gufo export --format=npz --dtype=bf16 a.gguf more
    [ ! -e more ]
}

@test "export: what cannot be exported leaves nothing" {
    make_model a.gguf
    cp a.gguf adapter.gguf
    gufo edit -q --as-is --set general.type=adapter adapter.gguf
    run -2 --separate-stderr gufo export adapter.gguf new
    [[ $stderr == 'gufo: adapter.gguf: '*'general.type is "adapter": only models can be exported' ]]
    run -2 gufo export a.gguf -
    run -2 gufo export a.gguf
    run -2 gufo export --format=gguf a.gguf new
    run -3 gufo export missing.gguf new
    run -3 gufo export a.gguf missing/new
    run -3 gufo export a.gguf a.gguf
    [ ! -e new ]
}

@test "export: links are not followed out of the folder" {
    make_model a.gguf
    mkdir new
    echo victim >victim
    ln -s ../victim new/config.json
    run -2 --separate-stderr gufo export --force a.gguf new
    [[ $stderr == 'gufo: new/config.json: it is a link, which is not followed' ]]
    [ "$(cat victim)" = victim ]
    [ "$(ls new)" = config.json ]
}

@test "convert: gguf-metadata.json cannot make a model a shard" {
    make_model a.gguf
    gufo export -q a.gguf back
    sed -i 's/"keys": {/&"split.count": {"type": "uint16", "value": 5},/' back/gguf-metadata.json
    run -3 --separate-stderr gufo convert back b.gguf
    same_error 'gufo: back/gguf-metadata.json: split.count follows from the model: it cannot be given'
    [ ! -e b.gguf ]
}
