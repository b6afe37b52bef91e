#!/usr/bin/env bats
# bats file_tags=plain
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
    [ ! -e out.gguf ] && [ -z "$(find . -name '.gufo-*' -o -name '*.part*')" ]
}

@test "merge: gives back the file that was split" {
    shards
    run -0 gufo merge s-00001-of-00003.gguf out.gguf
    same 'out.gguf: 248 KB, 21 tensors'
    cmp out.gguf sample.gguf
    run -0 gufo merge --json --force s-00001-of-00003.gguf -o out.gguf
    has '"outputs":[{"path":"out.gguf","size":247744,"tensors":21}]'
    run -2 --separate-stderr gufo merge s-00001-of-00003.gguf -o out.gguf
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
    run -2 --separate-stderr gufo merge --force s-00001-of-00003.gguf -o s-00002-of-00003.gguf
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

@test "merge: shards in any order, and never an existing GGUF file as the output by its place" {
    shards
    # What a shell makes of s-0000*.gguf.
    run -2 --separate-stderr gufo merge s-00001-of-00003.gguf s-00002-of-00003.gguf s-00003-of-00003.gguf
    same_error 'gufo: s-00003-of-00003.gguf: this is an input; give the output with -o OUT'
    cp sample.gguf out.gguf
    for force in '' --force; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr gufo merge $force s-00001-of-00003.gguf out.gguf
        same_error "gufo: out.gguf: this is a GGUF file, so gufo does not take it for the output; '-o out.gguf --force' replaces it"
    done
    run -2 --separate-stderr gufo merge s-00001-of-00003.gguf
    same_error 'gufo: s-00001-of-00003.gguf: this is an input; give the output with -o OUT'
    run -2 --separate-stderr gufo merge -o new.gguf
    same_error 'gufo: the shards and -o OUT are needed (see gufo help merge)'
    rm out.gguf
    mv s-00002-of-00003.gguf second
    run -0 gufo merge -q s-00003-of-00003.gguf second s-00001-of-00003.gguf out.gguf
    cmp out.gguf sample.gguf
    run -0 gufo merge -q --force -o out.gguf second s-00001-of-00003.gguf s-00003-of-00003.gguf
    cmp out.gguf sample.gguf
    # All of them, each once.
    run -3 --separate-stderr gufo merge second s-00001-of-00003.gguf -o new.gguf
    same_error 'gufo: second: shard 3 of 3 is not given'
    run -3 --separate-stderr gufo merge second second s-00001-of-00003.gguf -o new.gguf
    same_error 'gufo: second: shard 2 is given twice: second is the same shard'
    run -3 --separate-stderr gufo merge second sample.gguf -o new.gguf
    [[ "$stderr" == 'gufo: sample.gguf: not part of a set: '* ]]
    gufo split -q sample.gguf t --max-tensors 20
    run -3 --separate-stderr gufo merge second t-00001-of-00002.gguf -o new.gguf
    same_error 'gufo: t-00001-of-00002.gguf: this shard belongs to a set of 2, others belong to a set of 3'
    [ ! -e new.gguf ]
}

@test "merge --dry-run: refuses what merging would refuse" {
    shards
    echo old >out.gguf
    run -0 gufo merge --dry-run s-00001-of-00003.gguf -o out.gguf # that it exists is no matter
    run -2 gufo merge --dry-run s-00001-of-00003.gguf -o s-00001-of-00003.gguf
    run -3 gufo merge --dry-run s-00001-of-00003.gguf -o .
    [ "$(cat out.gguf)" = old ]
}

@test "merge --delete-input: nothing is left but the output, and it says so before" {
    shards
    run -0 --separate-stderr gufo merge --delete-input s-0000*.gguf -o out.gguf
    same_error 'gufo: s-00001-of-00003.gguf: warning: all 3 files of the model are deleted, one by one, while the output is written; this cannot be undone, but the same command continues it'
    cmp out.gguf sample.gguf
    files out.gguf sample.gguf
}

@test "merge --delete-input: what it refuses, before anything is written" {
    shards
    local refuse=(gufo merge --delete-input s-00001-of-00003.gguf -o)
    run -2 --separate-stderr "${refuse[@]}" -
    same_error 'gufo: -: the input is not deleted for an output that is not a file'
    run -2 "${refuse[@]}" /dev/null
    echo old >out.gguf
    run -2 "${refuse[@]}" out.gguf
    rm out.gguf
    ln s-00002-of-00003.gguf linked
    run -2 --separate-stderr "${refuse[@]}" out.gguf
    same_error 'gufo: s-00002-of-00003.gguf: cannot be deleted: it has other hard links'
    mv linked elsewhere && rm s-00002-of-00003.gguf && ln -s elsewhere s-00002-of-00003.gguf
    run -2 --separate-stderr "${refuse[@]}" out.gguf
    same_error 'gufo: s-00002-of-00003.gguf: cannot be deleted: it is a symbolic link; name the file itself'
    run -2 "${refuse[@]}" out.gguf --dry-run
    rm s-00002-of-00003.gguf && mv elsewhere s-00002-of-00003.gguf
    run -2 --separate-stderr "${refuse[@]}" out.moved
    same_error 'gufo: out.moved: names that end in .moved are reserved for what is left of the inputs'
    echo mine >s-00002-of-00003.gguf.moved
    run -2 --separate-stderr "${refuse[@]}" out.gguf
    same_error 'gufo: s-00002-of-00003.gguf: s-00002-of-00003.gguf.moved is in the way'
    rm s-00002-of-00003.gguf.moved
    run -0 "${refuse[@]}" out.gguf --dry-run
    files sample.gguf s-00001-of-00003.gguf s-00002-of-00003.gguf s-00003-of-00003.gguf
    gufo merge -q s-00001-of-00003.gguf whole.gguf
    cmp whole.gguf sample.gguf
}

# big_set: a set of eight shards of 4 MiB each, and the model.
big_set() {
    local tensors=()
    for number in 1 2 3 4 5 6 7 8; do tensors+=(tensor "t$number" 0 1048576 4194304); done
    make_gguf big.gguf kv general.architecture string llama "${tensors[@]}"
    gufo split -q big.gguf b --max-tensors 1
    mkdir kept
    mv big.gguf kept
}

# kill_at_random MICROSECONDS COMMAND...: kills it after that time.
kill_at_random() {
    local after=$1 pid
    shift
    "$GUFO" "$@" >/dev/null 2>&1 &
    pid=$!
    sleep "$after"
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}

@test "merge --delete-input: killed at any moment, the same command finishes" {
    big_set
    local killed=0 lost=0
    for round in 1 2 3 4 5 6 7 8; do
        for try in 1 2 3; do
            kill_at_random "0.00$((round * try % 10))$try" merge --delete-input b-00001-of-00008.gguf -o out.gguf
            [ -e out.gguf ] || killed=$((killed + 1))
        done
        [ -e b-00001-of-00008.gguf ] || lost=$((lost + 1))
        if [ -e b-00001-of-00008.gguf.moved ] && [ ! -e b-00001-of-00008.gguf ]; then
            # Its name is gone: nothing that has lost data opens.
            run -3 gufo merge b-00001-of-00008.gguf -o never.gguf
            has 'an interrupted run has moved data of the model to its output'
        fi
        if [ -e b-00008-of-00008.gguf ] || [ -e b-00001-of-00008.gguf.moved ]; then
            run gufo merge -q --delete-input b-00001-of-00008.gguf -o out.gguf
            [ "$status" -eq 0 ]
        fi
        cmp out.gguf kept/big.gguf
        [ -z "$(find . -name 'b-*' -o -name '*.part*')" ]
        rm out.gguf
        gufo split -q kept/big.gguf b --max-tensors 1
    done
    [ "$killed" -gt 0 ] || skip 'merging is too fast here to be killed in between'
}
