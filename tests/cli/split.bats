#!/usr/bin/env bats
# bats file_tags=plain
# gufo split.

# bats sets stderr and stderr_lines.
# shellcheck disable=SC2154

load common

sample() {
    "$GUFO_EXAMPLES/make_sample" sample.gguf
}

@test "split: by tensors and by size, and the sizes it reports" {
    sample
    run -0 gufo split sample.gguf s --max-tensors 8
    [ "${#lines[@]}" -eq 3 ]
    [[ "${lines[0]}" == "s-00001-of-00003.gguf: "*" KB, 8 tensors" ]]
    [[ "${lines[2]}" == *", 5 tensors" ]]
    run -0 gufo validate --level structure s-0000?-of-00003.gguf
    run -0 gufo split --json sample.gguf b --max-size 60K
    has '{"path":"b-00001-of-00005.gguf","size":57088,"tensors":5}'
    has '"normalised":[]'
    for shard in b-*.gguf; do
        [ "$(stat -c %s "$shard")" -le 60000 ]
    done
    run -0 gufo get b-00002-of-00005.gguf split.no --single
    same 1
}

@test "split: a folder is not a prefix, one shard is not a model" {
    sample
    mkdir out
    for wrong in '' out/; do
        run -2 --separate-stderr gufo split sample.gguf "$wrong" --max-tensors 8
        same_error "gufo: OUTPREFIX must end with the beginning of a file name, not '$wrong' (see gufo help split)"
    done
    files out sample.gguf
    gufo split -q sample.gguf out/s --max-tensors 8
    run -3 --separate-stderr gufo split out/s-00002-of-00003.gguf t --max-tensors 1
    same_error 'gufo: out/s-00002-of-00003.gguf: byte 69: the file is shard 2 of 3 of a model; to open the model, name its first shard, NAME-00001-of-00003.gguf'
    [ -z "$(find . -name 't-*')" ]
}

@test "split: --dry-run writes nothing and reports the same" {
    sample
    run -0 gufo split --dry-run sample.gguf s --max-size 100Ki
    expected=$output
    files sample.gguf
    run -0 gufo split sample.gguf s --max-size 100Ki
    same "$expected"
}

@test "split: units" {
    sample
    for pair in 61440:60Ki 60000:60K 1000000:1M 1048576:1Mi 1000000000:1G 1073741824:1Gi 61440:60KiB 1500000000:1.5gb; do
        run -0 gufo split --dry-run sample.gguf s --max-size "${pair%:*}"
        expected=$output
        run -0 gufo split --dry-run sample.gguf s --max-size "${pair#*:}"
        same "$expected"
    done
    for wrong in '' 0 K 1X 1.5 -1 60KiBB 99999999999999999999 99999999999G; do
        run -2 --separate-stderr gufo split sample.gguf s "--max-size=$wrong"
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
    files sample.gguf
}

@test "split: a first shard without tensors" {
    sample
    run -0 gufo split sample.gguf s --max-tensors 20 --no-tensor-first-split
    [[ "${lines[0]}" == "s-00001-of-00003.gguf: "*", 0 tensors" ]]
    [[ "${lines[1]}" == *", 20 tensors" ]]
    [[ "${lines[2]}" == *", 1 tensor" ]]
}

@test "split: a set as source" {
    sample
    gufo split -q sample.gguf a --max-tensors 3
    gufo split -q a-00001-of-00007.gguf b --max-tensors 10
    gufo split -q sample.gguf c --max-tensors 10
    for i in 1 2 3; do
        cmp "b-0000$i-of-00003.gguf" "c-0000$i-of-00003.gguf"
    done
    rm a-00004-of-00007.gguf
    run -3 --separate-stderr gufo split a-00001-of-00007.gguf d --max-tensors 10
    same_error 'gufo: a-00004-of-00007.gguf: shard 4 of 7 is missing'
}

@test "split: wrong usage" {
    sample
    run -2 --separate-stderr gufo split sample.gguf s
    same_error 'gufo: either --max-size or --max-tensors is needed (see gufo help split)'
    run -2 --separate-stderr gufo split sample.gguf s --max-size 1M --max-tensors 3
    [ "${#stderr_lines[@]}" -eq 1 ]
    run -2 --separate-stderr gufo split sample.gguf --max-size 1M
    same_error 'gufo: FILE and OUTPREFIX are needed (see gufo help split)'
    run -2 --separate-stderr gufo split - s --max-size 1M
    run -2 --separate-stderr gufo split sample.gguf - --max-size 1M
    files sample.gguf
}

@test "split: outputs that exist, and the input" {
    sample
    echo precious >s-00002-of-00003.gguf
    run -2 --separate-stderr gufo split sample.gguf s --max-tensors 8
    same_error 'gufo: s-00002-of-00003.gguf: target exists already (--force replaces it)'
    files sample.gguf s-00002-of-00003.gguf
    [ "$(cat s-00002-of-00003.gguf)" = precious ]
    run -0 gufo split -q --force sample.gguf s --max-tensors 8
    files sample.gguf s-0000{1,2,3}-of-00003.gguf
    rm s-*
    mv sample.gguf s-00001-of-00003.gguf
    run -3 gufo split --force s-00001-of-00003.gguf s --max-tensors 8
    mv s-00001-of-00003.gguf in.gguf
    for name in 1 3; do
        ln -s in.gguf "s-0000$name-of-00003.gguf"
        run -2 --separate-stderr gufo split --force in.gguf s --max-tensors 8
        same_error "gufo: s-0000$name-of-00003.gguf: the output is the input; it would be lost"
        rm "s-0000$name-of-00003.gguf"
    done
    files in.gguf
}

@test "split: targets that are not files" {
    sample
    mkfifo s-00002-of-00003.gguf
    run -2 --separate-stderr gufo split --force sample.gguf s --max-tensors 8
    same_error 'gufo: s-00002-of-00003.gguf: target exists and is not a regular file'
    rm s-00002-of-00003.gguf
    mkdir s-00003-of-00003.gguf
    run -2 --separate-stderr gufo split --force sample.gguf s --max-tensors 8
    same_error 'gufo: s-00003-of-00003.gguf: target exists and is not a regular file'
    rmdir s-00003-of-00003.gguf
    run -3 --separate-stderr gufo split sample.gguf missing/s --max-tensors 8
    same_error 'gufo: missing/s-00001-of-00003.gguf: the folder for it does not exist'
    files sample.gguf
}

@test "split: a truncated file" {
    sample
    head -c 200000 sample.gguf >cut.gguf
    run -3 --separate-stderr gufo split cut.gguf s --max-tensors 8
    [[ "$stderr" == 'gufo: cut.gguf: byte '* ]]
    [ "${#stderr_lines[@]}" -eq 1 ]
    files sample.gguf cut.gguf
}

@test "split: a pipe has no data to divide" {
    sample
    mkfifo pipe
    cat sample.gguf >pipe &
    run -2 --separate-stderr gufo split pipe s --max-tensors 8
    same_error 'gufo: pipe: tensor data cannot be read from a pipe'
    wait
    files sample.gguf pipe
}

@test "split: says what was normalised" {
    make_gguf old.gguf version 1 kv general.architecture string llama tensor a 0 8 32 nopad
    run -0 --separate-stderr gufo split old.gguf s --max-tensors 1
    has 's-00001-of-00001.gguf'
    [ "$stderr" = 'gufo: old.gguf: warning: the output differs in form: the version becomes 3' ]
    make_gguf dirty.gguf kv general.architecture string llama tensor a 0 9 36 tail ff00
    run -0 --separate-stderr gufo split dirty.gguf d --max-tensors 1
    [[ "$stderr" == *'bytes after the end of the model are dropped' ]]
    run -0 --separate-stderr gufo split -q --force dirty.gguf d --max-tensors 1
    same_error ''
}

@test "split: Ctrl-C leaves nothing" {
    local status=0 job
    make_gguf m.gguf kv general.architecture string llama tensor a 24 20000000 20000000 \
        tensor b 24 20000000 20000000
    set -m # without job control SIGINT is ignored in the background
    "$GUFO" split m.gguf s --max-tensors 1 2>stderr >/dev/null &
    job=$!
    for ((i = 0; i < 1000; i++)); do
        [ ! -e s-00001-of-00002.gguf.part.journal ] || break
        sleep 0.001
    done
    kill -s INT "$job"
    wait "$job" || status=$?
    if [ "$status" -eq 0 ]; then # it was faster
        files m.gguf stderr s-0000{1,2}-of-00002.gguf
    else
        [ "$status" -eq 4 ]
        [ "$(cat stderr)" = 'gufo: s: interrupted; nothing was written' ]
        files m.gguf stderr
    fi
}

# kill_at_random MICROSECONDS ARGUMENT...: starts gufo, and kills it within that time.
kill_at_random() {
    local job
    "$GUFO" "${@:2}" >/dev/null 2>&1 &
    job=$!
    sleep "$(printf '0.%06d' $((RANDOM * 30 % ($1 * 5 / 4))))"
    kill -9 "$job" 2>/dev/null || true
    wait "$job" 2>/dev/null || true
}

# How long a split takes here, in microseconds.
microseconds() {
    local begun=${EPOCHREALTIME/[.,]/}
    "$GUFO" "$@" >/dev/null
    echo $((${EPOCHREALTIME/[.,]/} - begun))
}

@test "split and merge: kills leave whole files under final names, and a rerun goes through" {
    [[ "${GUFO_SANITIZE:-}" != *memory* ]] || skip "too slow"
    local attempt shard time
    sample
    time=$(microseconds split sample.gguf whole --max-tensors 4)
    for ((attempt = 0; attempt < ${GUFO_KILLS:-30}; attempt++)); do
        kill_at_random "$time" split sample.gguf s --max-tensors 4
        for shard in s-*.gguf; do
            [ ! -e "$shard" ] || cmp "$shard" "whole${shard#s}"
        done
        # A whole set is in the way, anything less is not.
        [ -e s-00001-of-00006.gguf ] || gufo split -q sample.gguf s --max-tensors 4
        rm -f s-*.gguf*
        kill_at_random "$time" merge whole-00001-of-00006.gguf m.gguf
        [ ! -e m.gguf ] || cmp m.gguf sample.gguf
        [ -e m.gguf ] || gufo merge -q whole-00001-of-00006.gguf m.gguf
        rm -f m.gguf*
    done
    echo "# $attempt moments of each"
    # A run that nobody kills removes what was put aside.  Kills leave temporary files, and nothing else.
    gufo split -q sample.gguf s --max-tensors 4
    gufo merge -q whole-00001-of-00006.gguf m.gguf
    rm -f s-*.gguf m.gguf
    [ -z "$(find . -name '*.gguf' ! -name 'whole-*' ! -name sample.gguf)" ]
    [ -z "$(find . -mindepth 1 ! -name '*.gguf' ! -name '.gufo-*.tmp')" ]
}

@test "split and merge: more shards than files may be open by default" {
    local arguments=()
    for ((i = 0; i < 300; i++)); do
        arguments+=(tensor "t$i" 0 8 32)
    done
    make_gguf m.gguf kv general.architecture string x "${arguments[@]}"
    (
        ulimit -Sn 200
        gufo split -q m.gguf s --max-tensors 1
        gufo merge -q s-00001-of-00300.gguf out.gguf
    )
    cmp m.gguf out.gguf
}

@test "split --delete-input: nothing is left but the shards" {
    sample
    cp sample.gguf model.gguf
    run -0 --separate-stderr gufo split --delete-input model.gguf s --max-tensors 8
    same_error 'gufo: model.gguf: warning: the file is deleted while the output is written; this cannot be undone, but the same command continues it'
    files sample.gguf s-00001-of-00003.gguf s-00002-of-00003.gguf s-00003-of-00003.gguf
    gufo merge -q s-00001-of-00003.gguf whole.gguf
    cmp whole.gguf sample.gguf
    # A set is split again: its files are deleted one by one.
    run -0 gufo split -q --delete-input s-00001-of-00003.gguf t --max-tensors 4
    files sample.gguf whole.gguf t-0000{1,2,3,4,5,6}-of-00006.gguf
    gufo merge -q t-00001-of-00006.gguf -o whole.gguf --force
    cmp whole.gguf sample.gguf
    ln -s whole.gguf link.gguf
    run -2 --separate-stderr gufo split --delete-input link.gguf u --max-tensors 8
    same_error 'gufo: link.gguf: cannot be deleted: it is a symbolic link; name the file itself'
}

# Eight tensors of 2 MiB each, of random bytes: a byte that is lost is seen.
@test "split --delete-input: killed at any moment, the same command finishes, and no byte is lost" {
    [[ "${GUFO_SANITIZE:-}" != *memory* ]] || skip "too slow"
    local tensors=() number round time killed=0 holes=0
    for number in 1 2 3 4 5 6 7 8; do tensors+=(tensor "t$number" 0 524288 2097152); done
    make_gguf kept.gguf kv general.architecture string llama "${tensors[@]}"
    truncate -s -16M kept.gguf
    head -c 16M /dev/urandom >>kept.gguf
    cp kept.gguf in.gguf
    time=$(microseconds split -q --delete-input in.gguf s --max-tensors 2)
    [ ! -e in.gguf ] || skip "no holes can be punched here"
    rm -f s-*
    for ((round = 0; round < ${GUFO_KILLS:-10}; round++)); do
        cp kept.gguf in.gguf
        for _ in 1 2 3; do
            [ -e s-00001-of-00004.gguf ] ||
                kill_at_random "$time" split --delete-input in.gguf s --max-tensors 2
            [ -e s-00001-of-00004.gguf ] || killed=$((killed + 1))
        done
        [ ! -e in.gguf.moved ] || holes=$((holes + 1))
        # As long as the input has its name, it is whole.
        [ ! -e in.gguf ] || cmp in.gguf kept.gguf
        if [ -e in.gguf ] || [ -e in.gguf.moved ] || [ -e s-00001-of-00004.gguf.part.journal ]; then
            run gufo split -q --delete-input in.gguf s --max-tensors 2
            [ "$status" -eq 0 ] || { echo "$output"; ls -la; return 1; }
        fi
        gufo merge -q s-00001-of-00004.gguf out.gguf
        cmp out.gguf kept.gguf
        rm -f s-*.gguf out.gguf
        files kept.gguf
    done
    echo "# $killed kills, $holes of them after the first hole"
    [ "$killed" -gt 0 ]
}

@test "split --delete-input: what is in the way" {
    sample
    cp sample.gguf model.gguf
    echo mine >model.gguf.moved.tmp
    run -2 --separate-stderr gufo split -q --delete-input model.gguf s --max-tensors 8
    same_error 'gufo: model.gguf: model.gguf.moved.tmp is in the way: it is not of an interrupted run'
    [ "$(cat model.gguf.moved.tmp)" = mine ]
    cmp model.gguf sample.gguf
}

@test "split: the options of llama-gguf-split" {
    sample
    run -0 gufo split --split_max_tensors=8 --dry-run sample.gguf s
    run -0 gufo split --split --split-max-tensors 8 sample.gguf s
    [ "${#lines[@]}" -eq 3 ]
    run -0 gufo split --split-max-size 1M --no-tensor-first-split sample.gguf m --dry-run
    has 'm-00001-of-00002.gguf: '
    run -0 gufo split --split sample.gguf d
    has 'd-00001-of-00001.gguf: '
    has ', 21 tensors'
    run -0 gufo split --merge s-00001-of-00003.gguf out.gguf
    cmp out.gguf sample.gguf
    run -2 --separate-stderr gufo split --merge s-00001-of-00003.gguf out.gguf
    same_error 'gufo: out.gguf: target exists already (--force replaces it)'
    run -2 gufo split --merge --force s-00001-of-00003.gguf s-00002-of-00003.gguf
    run -2 gufo split --merge --split s-00001-of-00003.gguf out.gguf
    run -2 gufo split --merge --split-max-tensors 3 s-00001-of-00003.gguf out.gguf
    run -2 gufo split --split-max-tensors 3 --split-max-size 1G sample.gguf t
    run -2 gufo split sample.gguf t
}

@test "split --dry-run: outputs may exist" {
    sample
    echo old >s-00002-of-00003.gguf
    run -0 gufo split --dry-run sample.gguf s --max-tensors 8
    [ "$(cat s-00002-of-00003.gguf)" = old ]
}
