#!/usr/bin/env bats
# Models of training frameworks where other commands take a GGUF file.

# bats sets stderr.
# shellcheck disable=SC2154

load common

# make_folder DIR [WORD VALUE]...
make_folder() {
    mkdir -p "$1"
    "$GUFO_TEST_BIN/make_checkpoint" "$@"
}

note() {
    echo "gufo: $1: warning: this is a ${2:-Hugging Face model}; gufo reads it as the GGUF file that 'gufo convert' would write"
}

@test "checkpoints: show, get, template, tokenize, hash, stats" {
    make_folder m shards 2
    gufo convert -q m m.gguf
    for path in m m/ ./m m/model.safetensors.index.json; do
        run -0 --separate-stderr gufo get "$path" qwen3.embedding_length
        same 64
        same_error "$(note "$path")"
    done
    run -0 --separate-stderr gufo get -q m qwen3.embedding_length
    same_error ''
    run -0 --separate-stderr gufo show m
    same_error "$(note m)"
    has '  Architecture      qwen3'
    has "alignment 32, once 'gufo convert m' has written it"
    same_list "$(cd m && gufo show -q --json . | sed 's/"path":"."//')" "$(gufo show -q --json m | sed 's/"path":"m"//')"
    run -0 gufo template -q m
    expected=$output
    run -0 gufo template m.gguf
    same "$expected"
    run -0 gufo tokenize -q m hello
    expected=$output
    run -0 gufo tokenize m.gguf hello
    same "$expected"
    same_list "$(gufo vocab -q --tokenizer ggml m | sed 1d)" "$(gufo vocab m.gguf | sed 1d)"
    same_list "$(gufo hash -q m | sed 's/m:/m.gguf:/; s/m$/m.gguf/')" "$(gufo hash m.gguf)"
    same_list "$(gufo stats -q --json m | sed 's/.*"tensors":/"tensors":/')" "$(gufo stats --json m.gguf | sed 's/.*"tensors":/"tensors":/')"
}

@test "checkpoints: a file of tensors alone" {
    make_folder m
    mv m/model.safetensors lone.safetensors
    run -0 --separate-stderr gufo show lone.safetensors
    [ "${stderr_lines[0]}" = "$(note lone.safetensors 'safetensors file')" ]
    [ "${#stderr_lines[@]}" -eq 2 ]
    has 'model.layers.0.mlp.up_proj.weight'
    gufo quantize -q lone.safetensors q.gguf Q8_0
    gufo extract -q lone.safetensors model.norm.weight -o norm.npy
    run -3 gufo validate lone.safetensors
}

@test "checkpoints: validate judges the model that it becomes" {
    make_folder m
    run -0 --separate-stderr gufo validate --data --strict m
    same 'm: valid'
    same_error "$(note m)"
    run -0 gufo validate -q --json m/
    same '{"path":"m/","findings":[],"valid":true,"errors":0,"warnings":0}'
    sed -i 's/"max_position_embeddings": 2048/"max_position_embeddings": 0/' m/config.json
    run gufo validate -q --strict --level model m
    [ "$status" -ne 0 ]
    run -3 --separate-stderr gufo validate --fix m -o x.gguf
    same_error "gufo: m: this is a Hugging Face model, not a GGUF file; 'gufo convert' converts it"
    mkdir empty
    run -1 gufo validate empty
}

@test "checkpoints: numbers that are not finite" {
    make_folder m
    # The last number of the data.
    printf '\200\177' | dd of=m/model.safetensors bs=1 seek=$(($(stat -c %s m/model.safetensors) - 2)) conv=notrunc status=none
    run -0 gufo validate -q m
    run gufo validate --data m
    has output.weight
    run -3 gufo convert -q m m.gguf Q8_0
    has output.weight
    [ ! -e m.gguf ]
}

@test "checkpoints: extract" {
    make_folder m shards 2
    gufo convert -q m m.gguf
    for format in raw npy safetensors; do
        for type in f32 f16; do
            gufo extract -q m blk.1.attn_q.weight --dtype $type --format $format -o "a.$format"
            gufo extract -q m.gguf blk.1.attn_q.weight --dtype $type --format $format -o "b.$format"
            cmp "a.$format" "b.$format"
            rm "a.$format" "b.$format"
        done
    done
    gufo extract -q m '*' -o a.safetensors
    gufo extract -q m.gguf '*' -o b.safetensors
    cmp a.safetensors b.safetensors
    run -2 --separate-stderr gufo extract -q m output.weight --force -o m/model-00001-of-00002.safetensors
    same_error 'gufo: m/model-00001-of-00002.safetensors: in the folder of the model this name is that of one of its files'
    # What was extracted is a model again.
    run -0 gufo show -q --tensors a.safetensors
    has output.weight
}

# bats test_tags=plain
@test "checkpoints: diff --values proves a conversion" {
    make_folder m embd 256
    gufo convert -q m same.gguf
    for pair in 'm same.gguf' 'same.gguf m/' 'm m/model.safetensors'; do
        # shellcheck disable=SC2086 # two words
        run -0 gufo diff --values -q $pair
    done
    gufo convert -q m f32.gguf F32
    run -1 gufo diff --values m f32.gguf
    has 'BF16  256 x 259 -> F32  256 x 259
    values: largest difference 0; RMSE 0, relative RMSE 0, cosine 1'
    lacks 'largest difference 0.'
    gufo convert -q m q4.gguf Q4_K_M
    run -1 gufo diff --values m q4.gguf
    has '! blk.0.ffn_up.weight  BF16  256 x 512 -> Q4_K  256 x 512
    values: largest difference 0.'
    lacks 'attn_norm'
    lacks 'general.name'
    run -1 gufo diff --values m f32.gguf q4.gguf m
    has 'From 2 to 3: '
    run -2 --separate-stderr gufo diff -q --values --force --report m/model.safetensors m f32.gguf
    same_error 'gufo: m/model.safetensors: the output is the input; it would be lost'
    # Another model.
    cp -r m n
    sed -i 's/"rope_theta": 1000000/"rope_theta": 10000/' n/config.json
    run -1 gufo diff m n
    has qwen3.rope.freq_base
}

# bats test_tags=plain
@test "checkpoints: quantize is convert in two steps" {
    make_folder m
    gufo convert -q m m.gguf
    for type in Q8_0 Q4_K_M; do
        gufo quantize -q --force m a.gguf $type
        gufo quantize -q --force m.gguf b.gguf $type
        gufo diff a.gguf b.gguf
    done
    gufo quantize -q m --to there F16,Q8_0
    same_list "$(find there -name '*.gguf' | wc -l)" 2
    gufo quantize -q m.gguf c.gguf --types-from m
    gufo diff c.gguf m.gguf
}

@test "checkpoints: commands that write files again name what helps" {
    make_folder m
    for command in 'edit m --set a.b=1' 'split m s --max-tensors 1' 'strip m x.gguf --no-tensors' 'endian m x.gguf --to big' \
        'merge m x.gguf' 'name --rename m'; do
        # shellcheck disable=SC2086 # words
        run -3 --separate-stderr gufo $command
        same_error "gufo: m: this is a Hugging Face model, not a GGUF file; 'gufo convert' converts it"
    done
    files m m/config.json m/model.safetensors m/tokenizer.json m/tokenizer_config.json
}

@test "checkpoints: ls shows a folder as a model" {
    make_folder a/m shards 2
    make_folder b type f16
    gufo convert -q a/m a/x.gguf
    gufo convert -q b b/y.gguf Q8_0
    run -0 --separate-stderr gufo ls -r
    same_error ''
    [ "${#lines[@]}" -eq 5 ]
    [[ "${lines[1]}" =~ ^a/m\ +qwen3\ +107\ K\ +BF16\ .*\ 2,048\  ]]
    [[ "${lines[2]}" =~ ^a/x.gguf\ +qwen3\ .*\ BF16\  ]]
    [[ "${lines[3]}" =~ ^b\ +qwen3\ .*\ F16\  ]]
    [[ "${lines[4]}" =~ ^b/y.gguf\ +qwen3\ .*\ Q8_0\  ]]
    run -0 gufo ls --json a/m
    has '{"path":"a/m","schema_version":1,"shard_count":1,"name":"M","architecture":"qwen3",'
    has "\"size\":$(cat a/m/*.safetensors | wc -c),"
    run -0 gufo ls a
    [ "${#lines[@]}" -eq 2 ]
    run -0 gufo ls b/model.safetensors
    [[ "${lines[1]}" =~ ^b/model.safetensors\ +qwen3\  ]]
    # One that is broken spoils one line.
    rm a/m/model-00002-of-00002.safetensors
    run -3 --separate-stderr gufo ls -r
    [ "${#lines[@]}" -eq 5 ]
    [[ "${lines[1]}" =~ ^a/m\ .*\ broken\  ]]
    [[ "$stderr" == 'gufo: a/m/model.safetensors.index.json: the shard '* ]]
    # A folder without a configuration is one of files.
    mkdir c
    cp b/model.safetensors c
    run -1 gufo ls c
    # The tokenizer is not read for a list.
    printf '{' >b/tokenizer.json
    run -0 gufo ls b
    # show of a folder that is not a model is its list
    run -0 gufo show a
    [[ "${lines[1]}" =~ ^a/x.gguf\  ]]
}

# bats test_tags=plain
@test "checkpoints: every delivered folder, as other commands see it" {
    local folder=$GUFO_SHARED/data/convert/hf
    [ -d "$folder" ] || skip "no shared folder"
    for model in "$folder"/*/; do
        run -0 gufo validate -q --level model "$model"
        gufo convert -q "$model" m.gguf Q8_0 --force
        run -0 gufo validate -q --level model m.gguf
        # Every number of F16 and BF16 is one of F32.
        gufo convert -q "$model" m.gguf F32 --force
        gufo diff --values "$model" m.gguf >differences 2>/dev/null || true
        grep -q '^tensors: .* 0 added, 0 removed' differences || grep -q 'are the same$' differences
        run -1 grep 'largest difference [^0]\|largest difference 0\.' differences
    done
}
