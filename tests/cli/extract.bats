#!/usr/bin/env bats
# gufo extract.

# bats sets stderr and stderr_lines.
# shellcheck disable=SC2154

load common

# Four numbers: 1, 2, 3, -1 in float32.
numbers() {
    make_gguf m.gguf kv general.architecture string llama tensor a 0 2x2 16 tensor b.c 30 4 8 \
        tensor 'a*' 24 3 3
    local at
    at=$(gufo show --json m.gguf | tr '{' '\n' | sed -n 's/^"name":"a",.*"offset":\([0-9]*\),.*/\1/p')
    printf '\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\xbf' |
        dd of=m.gguf bs=1 seek="$at" conv=notrunc status=none
}

hex() {
    od -An -v -tx1 "$@" | tr -d ' \n'
}

@test "extract: raw bytes, and decoded ones" {
    numbers
    run -0 gufo extract m.gguf a
    same 'a.raw: 16 bytes, 1 tensor'
    [ "$(hex a.raw)" = 0000803f0000004000004040000080bf ]
    [ "$(gufo extract m.gguf a --dtype f16 -o - | hex)" = 003c0040004200bc ]
    [ "$(gufo extract m.gguf a --dtype bf16 -o - | hex)" = 803f0040404080bf ]
    for name in F16 GGML_TYPE_F16; do
        [ "$(gufo extract m.gguf a --dtype "$name" -o - | hex)" = 003c0040004200bc ]
    done
    gufo endian -q m.gguf big.gguf --to big
    [ "$(gufo extract big.gguf a -o - | hex)" = 3f8000004000000040400000bf800000 ]
    [ "$(gufo extract big.gguf a --dtype f32 -o - | hex)" = 0000803f0000004000004040000080bf ]
}

@test "extract: npy" {
    numbers
    run -0 gufo extract m.gguf a -o a.npy
    [ "$(head -c 8 a.npy | hex)" = 934e554d50590100 ]
    [ "$(stat -c %s a.npy)" -eq 144 ]
    [[ "$(tail -c +11 a.npy | head -c 117 | tr -d '\0')" == "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"* ]]
    [ "$(tail -c 16 a.npy | hex)" = 0000803f0000004000004040000080bf ]
    run -2 --separate-stderr gufo extract m.gguf b.c --format npy
    [[ "$stderr" == *'NumPy does not have (--dtype f32, or --format safetensors)' ]]
    run -0 gufo extract m.gguf b.c --format npy --dtype f32
    [ -e b.c.npy ]
    if command -v python3 >/dev/null && python3 -c 'import numpy' 2>/dev/null; then
        python3 -c 'import numpy; assert numpy.load("a.npy").tolist() == [[1, 2], [3, -1]]'
    fi
}

@test "extract: an element type that cannot be decoded" {
    make_gguf m.gguf tensor a 99 16 64
    run -2 --separate-stderr gufo extract m.gguf a -o a.npy
    same_error 'gufo: m.gguf: tensor "a" has element type 99, which cannot be decoded (--format raw without --dtype copies its bytes as they are)'
    run -2 --separate-stderr gufo extract m.gguf a --dtype f32
    [[ "$stderr" == *'cannot be decoded (--format raw '* ]]
    run -0 gufo extract m.gguf a
    [ "$(stat -c %s a.raw)" -eq 64 ]
}

@test "extract: safetensors, by names and patterns" {
    numbers
    run -0 gufo extract m.gguf a b.c -o two.safetensors
    same 'two.safetensors: 152 bytes, 2 tensors'
    run -0 tail -c +9 two.safetensors
    has '{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"b.c":{"dtype":"BF16","shape":[4],"data_offsets":[16,24]}}'
    run -0 gufo extract --json m.gguf '?*' -o all.safetensors
    has '"tensors":3'
    # A name is that tensor alone, even if it looks like a pattern.
    run -0 gufo extract m.gguf 'a*' -o one.safetensors
    has ', 1 tensor'
    run -2 --separate-stderr gufo extract m.gguf '?*' -o all.raw
    [[ "$stderr" == *'safetensors holds several' ]]
    run -1 --separate-stderr gufo extract m.gguf a nothing -o x.safetensors
    same_error "gufo: m.gguf: no tensor matches 'nothing'"
    make_gguf w.gguf tensor blk.0.attn_q.weight 0 8 32
    run -1 --separate-stderr gufo extract w.gguf blk.0.attn_q
    same_error "gufo: w.gguf: no tensor matches 'blk.0.attn_q'; did you mean 'blk.0.attn_q.weight'?"
    [ ! -e x.safetensors ]
}

@test "extract: names that are not good names for files" {
    make_gguf m.gguf kv general.architecture string llama tensor ../a 0 8 32 tensor .b 0 8 32 \
        tensor -c 0 8 32 tensor 'd\n' 0 8 32 tensor x/y 0 8 32
    for name in ../a .b -c $'d\n' x/y; do
        run -2 --separate-stderr gufo extract m.gguf -- "$name"
        [[ "$stderr" == *'-o OUT is needed'* ]]
        run -0 gufo extract m.gguf --force -o out -- "$name"
    done
    [ "$(find . -mindepth 1 | wc -l)" -eq 2 ]
    [ ! -e ../a.raw ]
}

@test "extract: several need a name for the output" {
    numbers
    run -2 --separate-stderr gufo extract m.gguf a b.c --format safetensors
    [[ "$stderr" == *'-o OUT is needed for several tensors'* ]]
    for wrong in "m.gguf" "m.gguf a --format zip" "m.gguf a --dtype f64" "- a"; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr gufo extract $wrong
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
}

@test "extract: outputs that exist" {
    numbers
    echo precious >a.raw
    run -2 --separate-stderr gufo extract m.gguf a
    same_error 'gufo: a.raw: target exists already (--force replaces it)'
    run -2 --separate-stderr gufo extract --force m.gguf a -o m.gguf
    same_error 'gufo: m.gguf: the output is the input; it would be lost'
    run -0 gufo extract -q --force m.gguf a
    [ "$(stat -c %s a.raw)" -eq 16 ]
}
