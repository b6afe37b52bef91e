#!/usr/bin/env bats
# Arrays that are nested deeper than usual: --max-depth.

# bats sets stderr.
# shellcheck disable=SC2154

load common

# make_deep FILE DEPTH: an array of one array of ... of the bool true.
make_deep() {
    make_gguf "$1" kv general.architecture string x entries 2 raw 040000000000000064656570 \
        raw 09000000 repeat $(($2 - 1)) 090000000100000000000000 raw 07000000010000000000000001
}

@test "depth: 16 levels, or as many as are asked for" {
    make_deep m.gguf 16
    run -0 gufo show m.gguf
    make_deep m.gguf 17
    run -3 --separate-stderr gufo show m.gguf
    same_error 'gufo: m.gguf: byte 273: arrays of key "deep" are nested more than 16 deep (--max-depth sets the limit, up to 1024)'
    run -0 gufo get --max-depth=17 m.gguf deep
    has '"value":[true]}'
    run -1 gufo validate --level structure m.gguf
    has 'byte 273: error G208 array-depth: arrays of key "deep" are nested more than 16 deep'
    has '    hint: --max-depth sets the limit, up to 1024'
    run -1 gufo validate --json --level structure m.gguf
    has '"hint":"--max-depth sets the limit, up to 1024"'
    run -0 gufo validate --max-depth=17 --level structure m.gguf
    lacks hint
    run -2 --separate-stderr gufo show --max-depth=1025 m.gguf
    same_error "gufo: --max-depth needs a whole number from 1 to 1024, not '1025' (see gufo help show)"
}

# bats test_tags=plain
@test "depth: 1024 levels in a stack of 64 KiB, for every command" {
    make_deep m.gguf 1024
    make_deep deeper.gguf 1025
    run -3 gufo show --max-depth=1024 deeper.gguf
    ulimit -S -s 64
    run -0 gufo show --max-depth=1024 m.gguf
    has "[[[[[[[["
    run -0 gufo show --json --max-depth=1024 m.gguf
    [ "$(grep -o '"count":1' <<<"$output" | wc -l)" -eq 1024 ]
    run -0 gufo show --json --max-array=0 --max-depth=1024 m.gguf
    [ "$(grep -o '"count":1' <<<"$output" | wc -l)" -eq 1 ]
    gufo validate --level structure --max-depth=1024 m.gguf
    gufo endian -q --to big --max-depth=1024 m.gguf big.gguf
    run -0 gufo diff --max-depth=1024 m.gguf big.gguf
    gufo edit --max-depth=1024 big.gguf --set general.name=x
    run -3 gufo edit big.gguf --set general.name=y
    run -0 gufo get --max-depth=1024 big.gguf general.name
    same x
    gufo strip -q --no-tensors --max-depth=1024 big.gguf -o out.gguf
    run -1 gufo diff --max-depth=1024 m.gguf out.gguf
    has "keys: 2 same, 1 added, 0 removed, 0 changed"
}
