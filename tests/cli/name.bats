#!/usr/bin/env bats
# bats file_tags=plain
# gufo name.

# bats sets stderr and stderr_lines.
# shellcheck disable=SC2154

load common

# make_named FILE: a model whose metadata says all parts of a name.
make_named() {
    make_gguf "$1" kv general.architecture string llama \
        kv general.basename string Llama-3.1 \
        kv general.size_label string 8B \
        kv general.finetune string 'Instruct (it)' \
        kv general.version string 1.2 \
        kv general.file_type uint32 15 \
        tensor a 12 256 144
}

# make_unnamed_shards PREFIX: two shards; the size is counted from both.
make_unnamed_shards() {
    make_gguf "$1-00001-of-00002.gguf" kv general.architecture string llama \
        kv general.name string Tiny \
        kv split.no uint16 0 kv split.count uint16 2 kv split.tensors.count int32 2 \
        tensor a 0 8 32
    make_gguf "$1-00002-of-00002.gguf" \
        kv split.no uint16 1 kv split.count uint16 2 kv split.tensors.count int32 2 \
        tensor b 0 16 64
}

@test "name: a name that conforms" {
    run -0 gufo name Mixtral-8x7B-v0.1-KQ2.gguf
    same "Mixtral-8x7B-v0.1-KQ2.gguf: conforms
  base name   Mixtral
  size label  8x7B
  version     v0.1
  encoding    KQ2"
    run -0 gufo name --json somewhere/Grok-100B-v1.0-Q4_0-00003-of-00009.gguf
    same '{"path":"somewhere/Grok-100B-v1.0-Q4_0-00003-of-00009.gguf","name":"Grok-100B-v1.0-Q4_0-00003-of-00009.gguf","conforming":true,"sidecar":null,"base_name":"Grok","size_label":"100B","fine_tune":null,"version":"v1.0","encoding":"Q4_0","type":null,"shard":"00003-of-00009","expert_count":0,"parameter_count":100000000000,"shard_number":3,"shard_count":9}'
    run -0 gufo name --json mmproj-a-7B-x-v1-F16-LoRA.gguf
    same '{"name":"mmproj-a-7B-x-v1-F16-LoRA.gguf","conforming":true,"sidecar":"mmproj","base_name":"a","size_label":"7B","fine_tune":"x","version":"v1","encoding":"F16","type":"LoRA","shard":null,"expert_count":0,"parameter_count":7000000000,"shard_number":null,"shard_count":null}'
}

@test "name: names that do not conform" {
    run -1 gufo name Hermes-2-Pro-Llama-3-8B-F16.gguf
    same 'Hermes-2-Pro-Llama-3-8B-F16.gguf: does not conform: the version is missing after "8B"; v1.0 is assumed
  base name   Hermes-2-Pro-Llama-3
  size label  8B
  version     v1.0 (assumed)
  encoding    F16'
    run -1 gufo name --json Hermes-2-Pro-Llama-3-8B-F16.gguf
    same '{"name":"Hermes-2-Pro-Llama-3-8B-F16.gguf","conforming":false,"sidecar":null,"base_name":"Hermes-2-Pro-Llama-3","size_label":"8B","fine_tune":null,"version":"v1.0","encoding":"F16","type":null,"shard":null,"expert_count":0,"parameter_count":8000000000,"shard_number":null,"shard_count":null,"reason":"the version is missing after \"8B\"; v1.0 is assumed"}'
    run -1 gufo name --json not-a-known-arrangement.gguf
    same '{"name":"not-a-known-arrangement.gguf","conforming":false,"sidecar":null,"base_name":null,"size_label":null,"fine_tune":null,"version":null,"encoding":null,"type":null,"shard":null,"expert_count":null,"parameter_count":null,"shard_number":null,"shard_count":null,"reason":"a size label such as 7B or 8x7B and a version such as v1.0 are missing"}'
    run -1 gufo name ''
    same ': does not conform: the name does not end in .gguf'
    run -1 gufo name $'a\n-7B-v1'
    same 'a\n-7B-v1: does not conform: the name does not end in .gguf'
}

@test "name: several names, one line each, and the worst exit status" {
    touch a-7B-v1.gguf
    run -1 gufo name --json a-7B-v1.gguf b.gguf c-7B-v1.gguf
    [ "${#lines[@]}" -eq 3 ]
    [[ "${lines[0]}" == '{"path":"a-7B-v1.gguf","name":"a-7B-v1.gguf","conforming":true,'* ]]
    [[ "${lines[1]}" == '{"name":"b.gguf","conforming":false,'* ]]
    [[ "${lines[2]}" == '{"name":"c-7B-v1.gguf","conforming":true,'* ]]
}

@test "name: what is suggested" {
    make_named m.gguf
    run -0 gufo name --suggest m.gguf
    same Llama-3-1-8B-Instruct-it-v1.2-Q4_K_M.gguf
    run -0 gufo name --suggest - <m.gguf
    same Llama-3-1-8B-Instruct-it-v1.2-Q4_K_M.gguf
    [ -e m.gguf ]
    run -0 gufo name --suggest --json m.gguf
    same '{"path":"m.gguf","name":"m.gguf","conforming":false,"sidecar":null,"base_name":null,"size_label":null,"fine_tune":null,"version":null,"encoding":null,"type":null,"shard":null,"expert_count":null,"parameter_count":null,"shard_number":null,"shard_count":null,"reason":"a size label such as 7B or 8x7B and a version such as v1.0 are missing","suggested":"Llama-3-1-8B-Instruct-it-v1.2-Q4_K_M.gguf"}'
    run -0 gufo name "$(gufo name --suggest m.gguf)"
    run -3 --separate-stderr gufo name --suggest m.gguf missing.gguf
    same Llama-3-1-8B-Instruct-it-v1.2-Q4_K_M.gguf
    same_error "gufo: missing.gguf: cannot open: No such file or directory"
}

@test "name: a size that people round, and a version at the end of the name" {
    make_gguf m.gguf kv general.architecture string nomic-bert \
        kv general.name string 'nomic-embed 1.1M v1.5' tensor a 8 1024x1016 1105408
    run -0 gufo name --suggest m.gguf
    same nomic-embed-1.1M-v1.5-Q8_0.gguf
    make_gguf m.gguf kv general.name string embed-v1.5 tensor a 0 10x104 4160
    run -0 gufo name --suggest m.gguf
    same embed-1K-v1.5-F32.gguf
    make_gguf m.gguf tensor a 0 10x104 4160
    run -0 gufo name --suggest m.gguf
    same model-1K-v1.0-F32.gguf
}

@test "name: vocabularies of real models lack nothing but a size" {
    [ -d "${GUFO_SHARED:-}/data/vocab" ] || skip "no real model files"
    for file in "$GUFO_SHARED"/data/vocab/*.gguf; do
        name=$(gufo name --suggest -q "$file")
        lacks -- <<<"$name"
        run gufo name "$name"
        [ "$status" -eq 0 ] || has "the size label is missing before the version"
    done
}

@test "name: scales and shards that the expression lets through" {
    run -1 gufo name a-7b-v1.0.gguf
    same 'a-7b-v1.0.gguf: does not conform: "7b" at byte 2 does not end in a scale: K, M, B, T or Q, for thousand, million, billion, trillion or quadrillion
  base name   a
  size label  7b
  version     v1.0'
    run -1 gufo name --json a-7B-v1.0-00004-of-00003.gguf
    has '"shard":"00004-of-00003","expert_count":0,"parameter_count":7000000000,"shard_number":4,"shard_count":3,"reason":"\"00004-of-00003\" at byte 10 is not a shard: shards are numbered from 00001 to their count"}'
    run -0 gufo name a-7B-v1.0-00003-of-00003.gguf
}

@test "name: letters outside ASCII stay, a vocabulary has no parameters, an unknown size leaves no second hyphen" {
    make_gguf m.gguf kv general.name string 'Modèle 7b Été' tensor a 0 4 16
    run -0 --separate-stderr gufo name --suggest m.gguf
    same Modèle-0.004K-Été-v1.0-F32.gguf
    same_error "gufo: m.gguf: warning: Modèle-0.004K-Été-v1.0-F32.gguf does not conform: \"è\" at byte 3 is refused: a base name begins with ASCII letters, digits and blanks"
    make_gguf m.gguf kv general.name string '通义千问'
    run -0 gufo name --suggest -q m.gguf
    same 通义千问-0B-v1.0-vocab.gguf
    run -0 gufo name --rename -q m.gguf
    [ "$(ls -A)" = 通义千问-0B-v1.0-vocab.gguf ]
    make_gguf m.gguf kv general.name string Foo
    run -0 --separate-stderr gufo name --suggest --json m.gguf
    has '"suggested":"Foo-0B-v1.0-vocab.gguf"}'
    make_gguf m.gguf kv general.type string mmproj kv general.name string Foo tensor a 0 4 16
    run -0 --separate-stderr gufo name --suggest --json m.gguf
    has '"suggested":"mmproj-Foo-v1.0-F32.gguf","suggested_reason":"the size label is missing before the version, such as 7B or 8x7B"}'
}

@test "name: renaming one file" {
    mkdir sub
    make_named sub/m.gguf
    run -0 gufo name --rename sub/m.gguf
    same 'sub/m.gguf -> sub/Llama-3-1-8B-Instruct-it-v1.2-Q4_K_M.gguf'
    [ "$(ls -A sub)" = Llama-3-1-8B-Instruct-it-v1.2-Q4_K_M.gguf ]
    run -0 gufo name --rename sub/*.gguf
    same 'Llama-3-1-8B-Instruct-it-v1.2-Q4_K_M.gguf: the file already has that name'
    mv sub/*.gguf m.gguf
    run -0 gufo name --rename --json m.gguf
    has '"suggested":"Llama-3-1-8B-Instruct-it-v1.2-Q4_K_M.gguf","renamed":[{"from":"m.gguf","to":"Llama-3-1-8B-Instruct-it-v1.2-Q4_K_M.gguf"}]}'
    has '{"path":"m.gguf",'
    [ ! -e m.gguf ]
}

@test "name: a name that is taken" {
    make_named m.gguf
    echo other >Llama-3-1-8B-Instruct-it-v1.2-Q4_K_M.gguf
    run -2 --separate-stderr gufo name --rename m.gguf
    same_error "gufo: Llama-3-1-8B-Instruct-it-v1.2-Q4_K_M.gguf: exists already (--force replaces it)"
    [ "$(cat Llama*)" = other ] && [ -e m.gguf ]
    run -0 gufo name --rename --force --quiet m.gguf
    same ''
    [ "$(gufo get Llama*.gguf general.basename)" = Llama-3.1 ]
    [ "$(ls -A)" = Llama-3-1-8B-Instruct-it-v1.2-Q4_K_M.gguf ]
    mv Llama* m.gguf
    mkdir Llama-3-1-8B-Instruct-it-v1.2-Q4_K_M.gguf
    run -2 --separate-stderr gufo name --rename --force m.gguf
    same_error "gufo: Llama-3-1-8B-Instruct-it-v1.2-Q4_K_M.gguf: exists already, and is not a file"
}

@test "name: two files of one command do not get one name" {
    make_named a.gguf
    make_named b.gguf
    run -2 --separate-stderr gufo name --rename --force --quiet a.gguf b.gguf
    same_error "gufo: Llama-3-1-8B-Instruct-it-v1.2-Q4_K_M.gguf: is another file of this command, which would be lost"
    [ "$(ls)" = 'Llama-3-1-8B-Instruct-it-v1.2-Q4_K_M.gguf
b.gguf' ]
}

@test "name: a set is renamed together, or not at all" {
    make_unnamed_shards s
    run -0 gufo name --suggest s-00001-of-00002.gguf
    same Tiny-0.024K-v1.0-F32-00001-of-00002.gguf
    touch Tiny-0.024K-v1.0-F32-00002-of-00002.gguf
    run -2 --separate-stderr gufo name --rename s-00001-of-00002.gguf
    same_error "gufo: Tiny-0.024K-v1.0-F32-00002-of-00002.gguf: exists already (--force replaces it)"
    [ -e s-00001-of-00002.gguf ] && [ -e s-00002-of-00002.gguf ]
    rm Tiny*
    run -0 gufo name --rename s-00001-of-00002.gguf
    same 's-00001-of-00002.gguf -> Tiny-0.024K-v1.0-F32-00001-of-00002.gguf
s-00002-of-00002.gguf -> Tiny-0.024K-v1.0-F32-00002-of-00002.gguf'
    gufo merge -q Tiny-0.024K-v1.0-F32-00001-of-00002.gguf whole.gguf
    [ "$(ls -A | wc -l)" -eq 3 ]
}

@test "name: all files of a set may be named" {
    make_unnamed_shards s
    make_gguf z.gguf kv general.architecture string x
    run -0 --separate-stderr gufo name --rename *.gguf
    [ "${#lines[@]}" -eq 3 ]
    [ "$(ls -A | wc -l)" -eq 3 ]
    [ -e Tiny-0.024K-v1.0-F32-00002-of-00002.gguf ]
}

@test "name: a shard that does not say enough" {
    make_unnamed_shards s
    run -3 --separate-stderr gufo name --suggest s-00002-of-00002.gguf
    same_error "gufo: s-00002-of-00002.gguf: this is not the first shard of its set, which has the metadata that a name is made from"
    run -3 --separate-stderr gufo name --suggest --single s-00001-of-00002.gguf
    has_size="general.size_label is missing, and one shard of 2 does not show the size"
    same_error "gufo: s-00001-of-00002.gguf: $has_size"
    rm s-00002-of-00002.gguf
    run -3 gufo name --rename s-00001-of-00002.gguf
    [ "$(ls -A)" = s-00001-of-00002.gguf ]
}

@test "name: wrong usage" {
    make_named m.gguf
    for wrong in "" "--rename -" "--single m.gguf" "--rename --single m.gguf"; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr gufo name $wrong
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
    [ "$(ls -A)" = m.gguf ]
}
