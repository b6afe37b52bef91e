#!/usr/bin/env bats
# bats file_tags=plain
# What gufo writes keeps to the specification, and is called by its naming convention.

load common

# keep_to_letter FILE...: no errors at the level of the specification, and names that conform.
keep_to_letter() {
    local file
    for file; do
        run -0 gufo validate --level=spec "$file"
        run -0 gufo name "$file"
    done
}

# make_adapter DIR: a pair of rank 2 for a matrix of the model that make_checkpoint makes.
make_adapter() {
    local module=base_model.model.model.layers.0.self_attn.k_proj
    mkdir "$1"
    printf '{"peft_type": "LORA", "r": 2, "lora_alpha": 4}' >"$1/adapter_config.json"
    printf '\0\2\0\0\0\0\0\0%-512s' '{
        "'$module'.lora_A.weight": {"dtype": "F32", "shape": [2, 64], "data_offsets": [0, 512]},
        "'$module'.lora_B.weight": {"dtype": "F32", "shape": [32, 2], "data_offsets": [512, 768]}}' \
        >"$1/adapter_model.safetensors"
    head -c 768 /dev/zero >>"$1/adapter_model.safetensors"
}

@test "specification: converted, quantized, exported and converted again" {
    mkdir Tiny-Tales out more
    "$GUFO_TEST_BIN/make_checkpoint" Tiny-Tales
    printf -- '---\nlicense: my-own-1\nlanguage: [eng, code]\n---\n' >Tiny-Tales/README.md
    gufo convert -q Tiny-Tales --to out F32,F16,BF16,Q8_0,Q4_K_M
    keep_to_letter out/*.gguf
    for row in license=LicenseRef-my-own-1 languages=en tags=code; do
        run -0 gufo get out/*-F16.gguf "general.${row%=*}"
        same "${row#*=}"
    done
    gufo quantize -q out/*-F32.gguf --to more Q4_0,IQ4_NL,MXFP4_MOE
    keep_to_letter more/*.gguf
    gufo export -q out/*-F16.gguf again
    gufo convert -q again --to more F16
    keep_to_letter more/*.gguf
}

@test "specification: a license by its name on the Hub is an error at this level alone" {
    mkdir Tiny-Tales
    "$GUFO_TEST_BIN/make_checkpoint" Tiny-Tales layers 1
    printf -- '---\nlicense: llama3.1\n---\n' >Tiny-Tales/README.md
    gufo convert -q Tiny-Tales hub.gguf
    run -0 gufo get hub.gguf general.license
    same llama3.1
    run -0 gufo validate --strict hub.gguf
    run -1 gufo validate --level=spec hub.gguf
    [ "$(grep -c ': error ' <<<"$output")" -eq 1 ]
    has ' error S201 license: '
    gufo convert -q Tiny-Tales spdx.gguf --set general.license=LicenseRef-llama3.1
    run -0 gufo validate --level=spec spdx.gguf
}

@test "specification: adapters, and models with them" {
    mkdir base out merged
    "$GUFO_TEST_BIN/make_checkpoint" base
    make_adapter adapter
    gufo convert -q base out
    gufo convert -q adapter --base base out
    keep_to_letter out/*.gguf
    gufo lora merge -q out/*-BF16.gguf out/*-LoRA.gguf -o merged
    keep_to_letter merged/*.gguf
}

# bats test_tags=legacy
@test "specification: files of before GGUF" {
    for model in "$BATS_TEST_DIRNAME"/../../fuzz/seeds_legacy/*.bin; do
        case $model in *gguf-v* | *ggla* | *bad* | *damaged*) continue ;; esac
        rm -rf old && mkdir old
        cp "$model" old/Old-Model.bin
        gufo migrate -q --yes old/Old-Model.bin 2>/dev/null || continue
        for file in old/*.gguf; do
            run -0 gufo validate --level=spec "$file"
            case $file in *vocab*) ;; *) run -0 gufo name "$file" ;; esac
        done
        echo "$model" >>migrated
    done
    [ "$(wc -l <migrated)" -gt 10 ]
    # What gufo adds begins with its name.
    "$GUFO_TEST_BIN/make_legacy" llama.bin type q4_0
    gufo migrate -q --yes llama.bin out.gguf 2>/dev/null
    run -0 gufo get out.gguf gufo.source.format
    same 'GGJT version 1'
    run -0 gufo get out.gguf gufo.source.file
    same llama.bin
}
