#!/usr/bin/env bats
# One shard of a model: what works on one file takes it, what needs the whole model does not.

# bats sets stderr.
# shellcheck disable=SC2154

load common

lone_shards() {
    "$GUFO_EXAMPLES/make_sample" sample.gguf
    gufo split -q sample.gguf s --max-tensors 8
    mkdir first later
    cp s-00001-of-00003.gguf first/renamed.gguf
    cp s-00002-of-00003.gguf later/
}

@test "lone shards: what needs the whole model refuses them" {
    lone_shards
    local -A shard=([first/renamed.gguf]=1 [later/s-00002-of-00003.gguf]=2)
    for file in "${!shard[@]}"; do
        for command in "quantize $file out.gguf Q8_0" "diff $file sample.gguf" "endian --to big $file out.gguf" \
            "strip $file -o out.gguf --no-tensors" "extract $file output.weight -o out.npy" "merge $file out.gguf" "split $file t --max-tensors 1"; do
            # shellcheck disable=SC2086
            run -3 --separate-stderr gufo $command
            [[ "$stderr" == "gufo: $file: byte "*": the file is shard ${shard[$file]} of 3 of a model; to open the model, name its first shard, NAME-00001-of-00003.gguf" ]]
        done
        [ ! -e out.gguf ]
    done
    run -3 --separate-stderr gufo diff sample.gguf first/renamed.gguf
    [[ "$stderr" == 'gufo: first/renamed.gguf: byte '* ]]
}

@test "lone shards: a later one whose siblings are missing is looked at with a warning" {
    lone_shards
    local file=later/s-00002-of-00003.gguf
    local warning="gufo: $file: warning: shard later/s-00001-of-00003.gguf is missing; gufo reads only this file"
    for command in "show $file" "show --json $file" "get $file split.count" "stats $file" \
        "hash $file"; do
        # shellcheck disable=SC2086
        run -0 --separate-stderr gufo $command
        same_error "$warning"
        # shellcheck disable=SC2086
        run -0 --separate-stderr gufo $command --single
        same_error ''
        # With all of them there, one is meant and looked at.
        # shellcheck disable=SC2086
        run -0 --separate-stderr gufo ${command/later\//}
        same_error ''
    done
    cp s-00001-of-00003.gguf later/
    run -0 --separate-stderr gufo show "$file"
    same_error "${warning/00001-of-00003.gguf is/00003-of-00003.gguf is}"
    # A file that is not there is no shard that lacks others.
    run -3 --separate-stderr gufo show later/t-00002-of-00003.gguf
    [[ $stderr == 'gufo: later/t-00002-of-00003.gguf: cannot open: No such file or directory'* ]]
    run -3 --separate-stderr gufo hash later/t-00002-of-00003.gguf
    [[ $stderr == 'gufo: later/t-00002-of-00003.gguf: cannot open: No such file or directory'* ]]
}

@test "lone shards: show says that sums are those of one file" {
    lone_shards
    for file in later/s-00002-of-00003.gguf first/renamed.gguf; do
        run -0 --separate-stderr gufo show "$file"
        has ' of 3: parameters, types and sizes are those of this file alone'
        run -0 --separate-stderr gufo show --tensors --json "$file" --single
        has '"partial":{"number":'
        has ',"of":3}'
    done
    run -0 --separate-stderr gufo show later/s-00002-of-00003.gguf
    has '  Shard             2 of 3: '
    for option in --summary --json; do
        run -0 --separate-stderr gufo show $option s-00001-of-00003.gguf
        lacks alone
        lacks partial
    done
}

@test "lone shards: what works on one file takes them" {
    lone_shards
    for file in first/renamed.gguf later/s-00002-of-00003.gguf; do
        run -0 gufo show "$file"
        run -0 gufo show - <"$file"
        run -0 --separate-stderr gufo get "$file" split.count
        [ "$output" = 3 ]
        run -0 gufo validate -q --level structure "$file"
        run -0 gufo stats -q "$file"
        run -0 gufo edit -q "$file" --set a.b=u32:1
        run -0 --separate-stderr gufo get "$file" a.b
    done
    run -0 gufo hash later/s-00002-of-00003.gguf
    # It is read, and has no metadata.
    run -1 gufo edit -q --copy-from later/s-00002-of-00003.gguf general.architecture sample.gguf
}
