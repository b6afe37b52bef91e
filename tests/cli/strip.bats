#!/usr/bin/env bats
# gufo strip.

# bats sets stderr and stderr_lines.
# shellcheck disable=SC2154

load common

@test "strip: what stays" {
    make_model m.gguf
    run -0 gufo strip m.gguf -o none.gguf --no-tensors
    [[ "$output" == 'none.gguf: '*', 0 tensors' ]]
    run -0 gufo validate --level structure none.gguf
    run -0 gufo get none.gguf general.name
    same Tiny
    run -0 gufo strip m.gguf -o some.gguf --tensors 'out*'
    [[ "$output" == 'some.gguf: '*', 1 tensor' ]]
    [ "$(gufo extract some.gguf output.weight -o - | cksum)" = "$(gufo extract m.gguf output.weight -o - | cksum)" ]
    gufo strip m.gguf -o - --tensors '*' | cmp - m.gguf
}

@test "strip: only the vocabulary" {
    "$GUFO_EXAMPLES/make_sample" sample.gguf
    gufo quantize -q sample.gguf q.gguf Q4_0
    run -0 gufo strip q.gguf -o v.gguf --vocab-only
    run -1 gufo get v.gguf general.file_type
    run -1 gufo get v.gguf general.quantization_version
    run -0 gufo get v.gguf tokenizer.ggml.model
    run -0 gufo get v.gguf llama.context_length
}

@test "strip: a set gives one file" {
    "$GUFO_EXAMPLES/make_sample" sample.gguf
    gufo split -q sample.gguf s --max-tensors 8
    gufo strip -q sample.gguf -o a.gguf --tensors 'blk.1.*'
    gufo strip -q s-00001-of-00003.gguf -o b.gguf --tensors 'blk.1.*'
    cmp a.gguf b.gguf
}

@test "strip: a pattern that nothing matches, and wrong usage" {
    make_model m.gguf
    run -1 --separate-stderr gufo strip m.gguf -o out.gguf --tensors 'blk.*'
    same_error "gufo: m.gguf: no tensor matches 'blk.*'"
    for wrong in "m.gguf --no-tensors" "m.gguf -o out.gguf" "-o out.gguf --no-tensors" \
        "m.gguf -o out.gguf --no-tensors --vocab-only" "m.gguf -o m.gguf --no-tensors --force"; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr gufo strip $wrong
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
    [ ! -e out.gguf ]
}
