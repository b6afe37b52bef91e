#!/usr/bin/env bats
# What all commands that write do with the name of their output: names of their own, dry runs, and what is in the way.

# bats sets stderr.
# shellcheck disable=SC2154

load common

# make_inputs: a folder `in` with a model of each kind; each row of a table works on a copy of it.
make_inputs() {
    mkdir in in/out in/my-model
    cd in
    "$GUFO_TEST_BIN/make_checkpoint" my-model
    gufo convert -q my-model ggml-model-f16.gguf F16 2>/dev/null
    gufo split -q ggml-model-f16.gguf set --max-tensors 20
    make_gguf lora.gguf kv general.architecture string qwen3 kv general.type string adapter \
        kv adapter.type string lora kv adapter.lora.alpha float32 2 \
        tensor blk.0.attn_q.weight.lora_a 0 64x2 512 tensor blk.0.attn_q.weight.lora_b 0 2x64 512
    "$GUFO_TEST_BIN/make_legacy" old.bin type f16
    cd ..
}

# fresh: a copy of the inputs is the current folder.
fresh() {
    cd "$BATS_TEST_TMPDIR/folder"
    rm -rf work
    cp -rp in work
    cd work
}

# Everything in this folder, and when it was written.
state() {
    find . -printf '%p %y %s %T@\n' | sort
}

# bats test_tags=plain,legacy
@test "outputs: every name that a command finds is by the naming convention, and reported" {
    local -a command
    local row name names
    make_inputs
    for row in \
        'convert my-model' \
        'convert my-model out' \
        'convert --vocab-only my-model' \
        'convert --vocab-only my-model out' \
        'convert my-model out Q8_0,Q4_0' \
        'convert my-model --target-bpw 6' \
        'quantize ggml-model-f16.gguf Q4_K_M' \
        'quantize ggml-model-f16.gguf out Q4_0' \
        'quantize --to out ggml-model-f16.gguf Q4_0,Q8_0' \
        'quantize --to made ggml-model-f16.gguf COPY' \
        'quantize ggml-model-f16.gguf --target-bpw 5' \
        'quantize --to out ggml-model-f16.gguf --target-bpw 5,6' \
        'quantize set-00001-of-00002.gguf Q4_0' \
        'lora merge ggml-model-f16.gguf lora.gguf --to out' \
        'lora merge ggml-model-f16.gguf lora.gguf --to out Q8_0' \
        'migrate old.bin' \
        'name --rename ggml-model-f16.gguf'; do
        fresh
        read -ra command <<<"$row"
        find . -name '*.gguf' | sort >../before
        run -0 gufo "${command[@]}"
        names=$(find . -name '*.gguf' | sort | comm -13 ../before -)
        [ -n "$names" ] || { echo "$row: no file"; return 1; }
        while read -r name; do
            gufo name -q "$name" >../report || { echo "$row: $name"; cat ../report; return 1; }
            [[ $output == *"$(basename "$name")"* ]] || { echo "$row does not say $name: $output"; return 1; }
        done <<<"$names"
    done
}

# What a dry run gets for OUT, and what its command gets.
# bats test_tags=plain,legacy
@test "outputs: a dry run writes nothing, and ends as its command would" {
    local -a command
    local row place before dry dry_stderr
    make_inputs
    for row in \
        'convert my-model OUT.gguf Q8_0' \
        'quantize ggml-model-f16.gguf OUT.gguf Q4_0' \
        'quantize ggml-model-f16.gguf OUT.gguf --target-bpw 6 --no-cache' \
        'lora merge ggml-model-f16.gguf lora.gguf -o OUT.gguf' \
        'migrate old.bin OUT.gguf' \
        'merge set-00001-of-00002.gguf -o OUT.gguf' \
        'split ggml-model-f16.gguf OUT --max-tensors 8' \
        'strip ggml-model-f16.gguf OUT.gguf --vocab-only' \
        'endian --to other ggml-model-f16.gguf OUT.gguf' \
        'edit ggml-model-f16.gguf --set general.name=x -o OUT.gguf' \
        'export ggml-model-f16.gguf OUT'; do
        for place in new missing/folder/new; do
            fresh
            read -ra command <<<"${row/OUT/$place}"
            before=$(state)
            run --separate-stderr gufo "${command[@]}" --dry-run
            dry=$status dry_stderr=$stderr
            [ "$before" = "$(state)" ] || { echo "$row --dry-run writes"; diff <(echo "$before") <(state); return 1; }
            run --separate-stderr gufo "${command[@]}"
            [ "$dry" = "$status" ] || { echo "$row at $place: $dry, not $status"; echo "$dry_stderr"; return 1; }
            [ "$status" = 0 ] || [ "${stderr##*$'\n'}" = "${dry_stderr##*$'\n'}" ] ||
                { echo "$row at $place: $dry_stderr, not $stderr"; return 1; }
            if [ "$place" = new ]; then
                [ "$status" = 0 ]
                before=$(state) # that the output exists now is no matter
                gufo "${command[@]}" --dry-run >../report 2>&1 || { echo "$row, again"; cat ../report; return 1; }
                [ "$before" = "$(state)" ]
            else
                [[ $status == 3 && $stderr == *'missing/folder'*': the folder for it does not exist' ]] ||
                    { echo "$row: $stderr"; return 1; }
            fi
        done
    done
}

# bats test_tags=legacy
@test "outputs: what is not a file, and what is the input, is refused before any work" {
    local -a command
    local row dry
    make_inputs
    for row in \
        'migrate old.bin out|old.bin' \
        'merge set-00001-of-00002.gguf -o out|set-00001-of-00002.gguf' \
        'strip ggml-model-f16.gguf out --vocab-only|ggml-model-f16.gguf' \
        'endian --to other ggml-model-f16.gguf out|ggml-model-f16.gguf' \
        'edit ggml-model-f16.gguf --set general.name=x -o out|ggml-model-f16.gguf'; do
        for dry in '' --dry-run; do
            fresh
            read -ra command <<<"${row%|*} $dry"
            run -3 --separate-stderr gufo "${command[@]}"
            same_error 'gufo: out: cannot open: Is a directory'
            read -ra command <<<"${row%|*} --force $dry"
            command=("${command[@]/#out/${row#*|}}")
            run -2 --separate-stderr gufo "${command[@]}"
            [[ $stderr == *': the output is the input; it would be lost' ]] || { echo "${command[@]}: $stderr"; return 1; }
            cmp ../in/"${row#*|}" "${row#*|}"
        done
    done
}

@test "outputs: quantize refuses an input whose metadata gives no name that conforms" {
    make_gguf 模型.gguf kv general.architecture string llama kv general.name string 模型 \
        tensor output.weight 0 256x4 4096
    cp 模型.gguf before
    run -2 --separate-stderr gufo quantize 模型.gguf Q8_0
    same_error 'gufo: 模型.gguf: its metadata gives no name for the output; write one before TYPE'
    gufo quantize -q 模型.gguf named.gguf Q8_0
    [ -f named.gguf ]
    cmp before 模型.gguf
    [ ! -e Q8_0.gguf ]
}
