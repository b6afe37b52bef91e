#!/usr/bin/env bats
# bats file_tags=plain
# gufo hash

# bats sets stderr; some commands are for another shell.
# shellcheck disable=SC2154,SC2016

load common

# A model with two tensors: 1280 bytes of one pattern, 640 of another.
make_hashed() {
    make_gguf "${1:-m.gguf}" kv general.architecture string llama \
        tensor 'tok:en' 0 32x10 1280 tensor 'out put' 1 32x10 640
}

need_hashes() {
    gufo hash --all --no-tensors "$1" >/dev/null || skip "built without xxHash or libcrypto"
}

@test "hash: lines as the established tool writes them" {
    make_hashed
    need_hashes m.gguf
    run -0 --separate-stderr gufo hash m.gguf
    same_error ''
    same 'xxh64     a154097c802cbd60  m.gguf:tok:en
xxh64     8be2aab20fbed7f9  m.gguf:out put
xxh64     847495dc52df0983  m.gguf'
    run -0 gufo hash --uuid --sha1 --xxh64 m.gguf
    same 'xxh64     a154097c802cbd60  m.gguf:tok:en
sha1      e7883d8cffebf8b3a88a1a6053c046920953b7be  m.gguf:tok:en
xxh64     8be2aab20fbed7f9  m.gguf:out put
sha1      46b383423801f2081181e0a2dc265751eb94b95b  m.gguf:out put
xxh64     847495dc52df0983  m.gguf
sha1      3cd07c348684b9e8eb8b0d79136ad2f4f9b5d21a  m.gguf
uuid      2a302b72-bf5b-5d8d-8a09-ec7e78a9ed87  m.gguf'
    run -0 gufo hash --uuid m.gguf
    same 'uuid      2a302b72-bf5b-5d8d-8a09-ec7e78a9ed87  m.gguf'
}

@test "hash: as sha256sum and b2sum have it" {
    local at
    make_gguf n.gguf tensor a 24 640 640 tensor b 24 64 64
    need_hashes n.gguf
    at=$(($(stat -c %s n.gguf) - 704))
    tail -c +$((at + 1)) n.gguf >data
    run -0 gufo hash --sha256 --blake2b n.gguf
    [ "${lines[0]}" = "sha256    $(head -c 640 data | sha256sum | cut -d' ' -f1)  n.gguf:a" ]
    [ "${lines[1]}" = "blake2b   $(head -c 640 data | b2sum | cut -d' ' -f1)  n.gguf:a" ]
    [ "${lines[2]}" = "sha256    $(tail -c 64 data | sha256sum | cut -d' ' -f1)  n.gguf:b" ]
    [ "${lines[4]}" = "sha256    $(sha256sum <data | cut -d' ' -f1)  n.gguf" ]
    [ "${lines[5]}" = "blake2b   $(b2sum <data | cut -d' ' -f1)  n.gguf" ]
    [ "${#lines[@]}" -eq 6 ]
}

@test "hash: all, without tensors, JSON, several files" {
    make_hashed
    need_hashes m.gguf
    cp m.gguf n.gguf
    run -0 gufo hash --all --no-tensors m.gguf n.gguf
    [ "${#lines[@]}" -eq 10 ]
    has 'blake2b   429878e4aa2e37916276c91ce452419b507ab8f39b38855b861ddef496cb1ebb74555e2927ca05dec96b5471c4bd0f2708db808e6ecf9cea0058e5f444d6f4a4  n.gguf'
    run -0 gufo hash --json --xxh64 --uuid m.gguf n.gguf
    [ "${lines[0]}" = '{"path":"m.gguf","tensors":[{"name":"tok:en","xxh64":"a154097c802cbd60"},{"name":"out put","xxh64":"8be2aab20fbed7f9"}],"xxh64":"847495dc52df0983","uuid":"2a302b72-bf5b-5d8d-8a09-ec7e78a9ed87"}' ]
    [ "${#lines[@]}" -eq 2 ]
    run -0 gufo hash --json --no-tensors m.gguf
    same '{"path":"m.gguf","xxh64":"847495dc52df0983"}'
}

@test "hash: a set has one manifest, and --single takes one shard of it" {
    make_shards s
    need_hashes s-00002-of-00002.gguf
    run -0 gufo hash s-00001-of-00002.gguf
    [ "${#lines[@]}" -eq 3 ]
    [[ ${lines[0]} == *'  s-00001-of-00002.gguf:a' ]]
    [[ ${lines[1]} == *'  s-00001-of-00002.gguf:b' ]]
    [[ ${lines[2]} == *'  s-00001-of-00002.gguf' ]]
    # The same hashes as those of the shards by themselves.
    [ "${lines[0]:0:26}" = "$(gufo hash --single s-00001-of-00002.gguf | head -n 1 | cut -c 1-26)" ]
    [ "${lines[1]:0:26}" = "$(gufo hash s-00002-of-00002.gguf | head -n 1 | cut -c 1-26)" ]
    run -0 gufo hash --json s-00001-of-00002.gguf
    has '"shards":["s-00001-of-00002.gguf","s-00002-of-00002.gguf"]'
    run -0 gufo hash --single s-00001-of-00002.gguf
    [ "${#lines[@]}" -eq 2 ]
    rm s-00002-of-00002.gguf
    run -3 gufo hash s-00001-of-00002.gguf
}

@test "hash: names that would break a line are escaped" {
    make_gguf m.gguf tensor 'a\nb' 24 4 4 tensor 'c\\d' 24 4 4
    need_hashes m.gguf
    run -0 gufo hash m.gguf
    [[ ${lines[0]} == '\xxh64 '*'  m.gguf:a\nb' ]]
    [[ ${lines[1]} == 'xxh64 '*'  m.gguf:c\d' ]]
    [ "${#lines[@]}" -eq 3 ]
    gufo hash m.gguf >manifest
    run -0 gufo verify m.gguf manifest
}

@test "hash: wrong usage and bad files" {
    make_hashed
    need_hashes m.gguf
    run -2 --separate-stderr gufo hash
    same_error "gufo: no FILE is given (see gufo help hash)"
    head -c 1000 m.gguf >cut.gguf
    run -3 --separate-stderr gufo hash cut.gguf m.gguf
    [[ $stderr == 'gufo: cut.gguf: byte '* ]]
    [ "${#lines[@]}" -eq 3 ]
    run -2 --separate-stderr bash -c 'cat m.gguf | "$GUFO" hash -'
    same_error 'gufo: -: the data of a pipe cannot be hashed; give a file'
    run -3 gufo hash nothing.gguf
    run -0 bash -c '"$GUFO" hash - <m.gguf'
    [[ ${lines[2]} == *'  -' ]]
}
