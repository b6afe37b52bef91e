#!/usr/bin/env bats
# bats file_tags=plain
# scripts/demo: the main job on a folder, on a file, and on a model that it makes.

load common

demo() {
    # shellcheck disable=SC2154  # cmake sets GUFO_SOURCE
    TMPDIR=$PWD/temporary GUFO=$GUFO "$GUFO_SOURCE/scripts/demo" "$@"
}

needs() {
    [ -x "${GUFO%/*}/examples/make_sample" ] || skip 'this build has no examples'
}

# shows_all: the output has every step after the conversion, and nothing is left behind.
shows_all() {
    has 'small.gguf: valid'
    has '  Quantization      Q4_K_M'
    has 'llama-server -m small.gguf'
    has "\$ gufo tokenize small.gguf 'Hello, world'"
    has 'Next steps:'
    [ -z "$(ls temporary)" ]
}

@test "demo: a model of its own" {
    mkdir temporary
    run -0 demo
    has '$ gufo convert --quiet sample model.gguf'
    has 'tensors: 21 same, 0 added, 0 removed, 0 changed'
    has 'tensors: 5 same, 0 added, 0 removed, 16 changed'
    shows_all
}

@test "demo: a folder, whose files are kept" {
    mkdir temporary 'a folder'
    "$GUFO_TEST_BIN/make_checkpoint" 'a folder'
    run -0 demo --keep kept 'a folder'
    has 'a folder and model.gguf are the same'
    shows_all
    same_list "$(ls kept)" "$(printf '%s\n' model.gguf small.gguf)"
    run -2 demo --keep kept 'a folder'
    has 'kept: the folder is not empty'
}

@test "demo: a GGUF file" {
    mkdir temporary
    "${GUFO%/*}/examples/make_sample" own.gguf
    run -0 demo own.gguf
    lacks 'gufo convert'
    shows_all
    run -0 gufo quantize -q own.gguf quantized.gguf Q8_0
    run -0 demo quantized.gguf
    shows_all
}

@test "demo: what is wrong with its arguments" {
    mkdir temporary
    run -3 demo missing.gguf
    has 'missing.gguf: no such file or folder'
    run -2 demo a b
    has 'usage: scripts/demo'
    echo no >no.gguf
    run -3 demo no.gguf
    has 'not a GGUF file'
    [ -z "$(ls temporary)" ]
}
