#!/usr/bin/env bats
# gufo estimate

# bats sets stderr.
# shellcheck disable=SC2154

load common

# Two layers with 4 heads of 32 elements, 2 for keys and values: 512 bytes for each token.
make_llama() {
    make_gguf m.gguf kv general.architecture string llama kv llama.vocab_size uint32 1000 \
        kv llama.context_length uint32 8192 kv llama.embedding_length uint32 128 \
        kv llama.block_count uint32 "${1:-2}" kv llama.feed_forward_length uint32 256 \
        kv llama.attention.head_count uint32 4 kv llama.attention.head_count_kv uint32 2
}

field() {
    grep -o "\"$1\":[^,}]*" <<<"$output" | head -n 1 | cut -d: -f2
}

@test "estimate: the cache of a context" {
    make_llama
    run -0 gufo estimate --json --ctx-size 1000 --parallel 3 m.gguf
    [ "$(field n_ctx)" = 1536 ]
    [ "$(field n_ctx_seq)" = 512 ]
    [ "$(field kv_token_bytes)" = 512 ]
    [ "$(field context_bytes)" = $((512 * 1536)) ]
    run -0 gufo estimate -c 1024 --cache-type-k q8_0 --cache-type-v q8_0 m.gguf
    [[ $output == *'context 1024,'* && $output == *' 278,528 '* && $output == *'~ compute on CPU'* ]]
}

@test "estimate: devices" {
    make_llama
    run -0 gufo estimate --json -c 256 --devices 2 --gpu-layers 2 --tensor-split 1,1 m.gguf
    [[ $output == *'"device":"DEV1"'* ]]
    [ "$(grep -o '"context_bytes":[1-9][0-9]*' <<<"$output" | grep -c ":$((256 * 256))")" = 2 ]
    run -0 gufo estimate --json --fit 10M m.gguf
    [ "$(field n_ctx)" -gt 0 ]
    run -1 --separate-stderr gufo estimate --host 1000 m.gguf
    [[ $stderr == *'nothing fits: '* ]]
}

@test "estimate: short options of llama.cpp" {
    make_llama
    run -0 gufo estimate --json -c 1000 -np 3 -ub 64 -ctk q8_0 -ctv q8_0 -fa on m.gguf
    [ "$(field n_ctx)" = 1536 ]
    [ "$(field n_ubatch)" = 64 ]
    [ "$(field kv_token_bytes)" = 272 ]
    run -0 gufo estimate --json -kvu -c 1000 -np 3 m.gguf
    [ "$(field n_ctx)" = 1024 ]
    run -0 gufo estimate --json -c 256 --devices 2 -ngl 2 -ts 0,1 -nkvo m.gguf
    [ "$(field context_bytes)" = $((512 * 256)) ]
}

@test "estimate: tensors on other devices" {
    make_gguf m.gguf kv general.architecture string llama kv llama.vocab_size uint32 10 \
        kv llama.context_length uint32 256 kv llama.embedding_length uint32 32 \
        kv llama.block_count uint32 1 kv llama.attention.head_count uint32 1 \
        tensor token_embd.weight 0 32x10 1280 tensor blk.0.attn_norm.weight 0 32 128 \
        tensor output_norm.weight 0 32 128 tensor output.weight 0 32x10 1280
    run -0 gufo estimate --json --devices 1 m.gguf
    [[ $output == *'"CPU","model_bytes":1280,'* && $output == *'"DEV0","model_bytes":1536,'* ]]
    [[ "$(gufo --version)" == *PCRE2* ]] || skip "built without PCRE2"
    run -0 gufo estimate --json --devices 1 -ot '^output=CPU' -ot 'attn=DEV0' m.gguf
    [[ $output == *'"CPU","model_bytes":2688,'* && $output == *'"DEV0","model_bytes":128,'* ]]
    run -2 gufo estimate --devices 1 -ot 'attn=DEV1' m.gguf
    run -2 gufo estimate --devices 1 -ot 'attn' m.gguf
    run -2 gufo estimate --devices 1 -ot '(=CPU' m.gguf
}

@test "estimate: what is refused" {
    make_llama
    run -2 --separate-stderr gufo estimate --cache-type-v q8_0 --flash-attn off m.gguf
    [[ $stderr == *'needs flash attention'* ]]
    run -2 gufo estimate --tensor-split 1,2 --devices 3 m.gguf
    run -2 gufo estimate --fit 1,much m.gguf
    run -2 gufo estimate --cache-type-k q9 m.gguf
    make_llama 513
    run -3 --separate-stderr gufo estimate m.gguf
    [[ $stderr == *'513 layers'* ]]
}

@test "estimate: an architecture without a rule is not known" {
    make_gguf m.gguf kv general.architecture string starfish
    run -1 --separate-stderr gufo estimate m.gguf
    [[ $stderr == *'not known: '* ]]
}
