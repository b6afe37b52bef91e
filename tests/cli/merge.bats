#!/usr/bin/env bats
# gufo merge.

# bats sets stderr and stderr_lines.
# shellcheck disable=SC2154

load common

shards() {
    "$GUFO_EXAMPLES/make_sample" sample.gguf
    gufo split -q sample.gguf s --max-tensors 8
}

# nothing_new: no output, and nothing temporary.
nothing_new() {
    [ ! -e out.gguf ] && [ -z "$(find . -name '.gufo-*')" ]
}

@test "merge: gives back the file that was split" {
    shards
    run -0 gufo merge s-00001-of-00003.gguf out.gguf
    same 'out.gguf: 241.9 KiB, 21 tensors'
    cmp out.gguf sample.gguf
    run -0 gufo merge --json --force s-00001-of-00003.gguf out.gguf
    has '"outputs":[{"path":"out.gguf","size":247744,"tensors":21}]'
    run -2 --separate-stderr gufo merge s-00001-of-00003.gguf out.gguf
    same_error 'gufo: out.gguf: target exists already (--force replaces it)'
    run -0 gufo merge --dry-run s-00001-of-00003.gguf never.gguf
    [ ! -e never.gguf ]
}

@test "merge: to standard output, a pipe and a device" {
    shards
    gufo merge s-00001-of-00003.gguf - | cmp - sample.gguf
    mkfifo pipe
    cmp pipe sample.gguf &
    run -0 gufo merge -q s-00001-of-00003.gguf pipe
    wait $!
    [ -p pipe ]
    run -0 gufo merge s-00001-of-00003.gguf /dev/null
    [ -c /dev/null ]
    run -3 --separate-stderr gufo merge s-00001-of-00003.gguf /dev/full
    [[ "$stderr" == *'No space left on device' ]]
    # Whoever reads no further has seen enough.
    gufo merge s-00001-of-00003.gguf - 2>errors | head -c 10 >/dev/null
    [ ! -s errors ]
}

@test "merge: a symlink is followed" {
    shards
    mkdir elsewhere
    echo old >elsewhere/target.gguf
    ln -s elsewhere/target.gguf link.gguf
    run -0 gufo merge -q --force s-00001-of-00003.gguf link.gguf
    [ -L link.gguf ]
    cmp elsewhere/target.gguf sample.gguf
}

@test "merge: a shard that is missing, doubled, foreign or truncated" {
    shards
    mv s-00002-of-00003.gguf away
    run -3 --separate-stderr gufo merge s-00001-of-00003.gguf out.gguf
    same_error 'gufo: s-00002-of-00003.gguf: shard 2 of 3 is missing'
    cp s-00003-of-00003.gguf s-00002-of-00003.gguf
    run -3 --separate-stderr gufo merge s-00001-of-00003.gguf out.gguf
    [[ "$stderr" == 'gufo: s-00002-of-00003.gguf: '*'split.no is 2, but should be 1'* ]]
    head -c 20000 away >s-00002-of-00003.gguf
    run -3 --separate-stderr gufo merge s-00001-of-00003.gguf out.gguf
    [[ "$stderr" == 'gufo: s-00002-of-00003.gguf: byte '* ]]
    # The same shapes and names, another model.
    gufo strip -q sample.gguf -o other.gguf --vocab-only
    sed 's/general.name/general.nome/' sample.gguf >other.gguf
    gufo split -q other.gguf o --max-tensors 8
    cp o-00002-of-00003.gguf s-00002-of-00003.gguf
    run -3 --separate-stderr gufo merge s-00001-of-00003.gguf out.gguf
    same_error 'gufo: s-00002-of-00003.gguf: shard 2 is of another set: its gufo.split.id differs from that of the first'
    nothing_new
}

@test "merge: what is not a set" {
    shards
    run -3 --separate-stderr gufo merge sample.gguf out.gguf
    [[ "$stderr" == 'gufo: sample.gguf: not part of a set: '* ]]
    run -3 --separate-stderr gufo merge s-00002-of-00003.gguf out.gguf
    same_error 'gufo: s-00002-of-00003.gguf: byte 69: the file is shard 2 of 3 of a model; to open the model, name its first shard, NAME-00001-of-00003.gguf'
    run -2 --separate-stderr gufo merge --force s-00001-of-00003.gguf s-00002-of-00003.gguf
    same_error 'gufo: s-00002-of-00003.gguf: the output is the input; it would be lost'
    nothing_new
}

@test "merge: metadata of later shards" {
    make_shards m
    make_gguf m-00002-of-00002.gguf kv general.architecture string llama kv own uint8 1 \
        kv split.no uint16 1 kv split.count uint16 2 kv split.tensors.count int32 2 tensor b 0 16 64
    run -0 --separate-stderr gufo merge m-00001-of-00002.gguf out.gguf
    [[ "$stderr" == *'metadata of shards after the first is dropped where the first one differs' ]]
    run -1 gufo get out.gguf split.count
    run -0 gufo get out.gguf general.architecture
    same llama
}
