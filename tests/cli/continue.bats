#!/usr/bin/env bats
# What a kill leaves, the same command continues: where it is ours, of the same plan, and nobody works on it.

# bats sets stderr.
# shellcheck disable=SC2154
# bats file_tags=plain

load common

# continues OUT ARGUMENT...: is killed once OUT has begun; then the same command continues, and makes the bytes
# of ../expected.
continues() {
    local out=$1
    shift
    run -137 interrupt KILL "$out" "$@" --threads 1
    [ -e "$out.part" ] && [ -e "$out.part.journal" ] && [ ! -e "$out" ]
    run -0 --separate-stderr gufo "$@"
    [[ "$stderr" =~ 'gufo: '"$out"': continues an interrupted run at '[0-9]+' % ('.*' of '.*')' ]] || {
        echo "$stderr"
        return 1
    }
    cmp "$out" ../expected
    [ ! -e "$out.part" ] && [ ! -e "$out.part.journal" ]
    rm "$out"
}

@test "continue: quantize, quantize --to, lora merge" {
    make_large 8192
    gufo quantize -q large.gguf ../expected Q4_K
    continues out.gguf quantize large.gguf out.gguf Q4_K
    mkdir to
    mv large.gguf Large-34M-v1.0-F32.gguf
    continues to/Large-34M-v1.0-Q4_K_M.gguf quantize --to to Large-34M-v1.0-F32.gguf Q4_K
    mv Large-34M-v1.0-F32.gguf large.gguf
    make_gguf adapter.gguf kv general.architecture string llama kv general.type string adapter \
        kv adapter.type string lora kv adapter.lora.alpha float32 1 \
        tensor a.weight.lora_a 0 4096x1 16384 tensor a.weight.lora_b 0 1x8192 32768
    gufo edit -q large.gguf --set general.architecture=llama
    gufo lora merge -q large.gguf adapter.gguf --type Q4_K -o ../expected --force
    continues out.gguf lora merge large.gguf adapter.gguf --type Q4_K -o out.gguf
}

@test "continue: convert" {
    mkdir m
    "$GUFO_TEST_BIN/make_checkpoint" m layers 8 embd 512
    gufo convert -q m ../expected Q4_K_M
    continues out.gguf convert m out.gguf Q4_K_M
}

# bats test_tags=legacy
@test "continue: migrate" {
    "$GUFO_TEST_BIN/make_legacy" old.bin type q4_0 embd 1024 layers 8
    gufo migrate -q --dequantize F32 old.bin ../expected
    continues out.gguf migrate --yes --dequantize F32 old.bin out.gguf
}

@test "continue: an output that exists needs --force, and what is not ours or of another plan is in the way" {
    make_large 8192
    gufo quantize -q large.gguf ../expected Q4_K
    run -137 interrupt KILL out.gguf quantize --threads 1 large.gguf out.gguf Q4_K
    echo old >out.gguf
    run -2 --separate-stderr gufo quantize large.gguf out.gguf Q4_K
    same_error 'gufo: out.gguf: target exists already (--force replaces it)'
    [ "$(cat out.gguf)" = old ]
    rm out.gguf
    in_the_way() {
        run -2 --separate-stderr gufo quantize "$@"
        same_error 'gufo: out.gguf.part.journal: an interrupted run has left this journal (--resume continues it, --force starts over)'
        files large.gguf stderr out.gguf.part out.gguf.part.journal
    }
    in_the_way large.gguf out.gguf Q5_0
    in_the_way --override-kv a.b=int:1 large.gguf out.gguf Q4_K
    chmod g+w out.gguf.part.journal
    in_the_way large.gguf out.gguf Q4_K
    chmod g-w,o+w out.gguf.part.journal
    in_the_way large.gguf out.gguf Q4_K
    chmod o-w out.gguf.part.journal
    if [ "$(id -u)" -eq 0 ]; then
        chown 65534 out.gguf.part.journal
        run -2 --separate-stderr gufo quantize large.gguf out.gguf Q4_K
        same_error 'gufo: out.gguf.part.journal: what has the name of the journal cannot be replaced: it belongs to another user'
        chown 0 out.gguf.part.journal
    fi
    gufo quantize -q large.gguf out.gguf Q4_K
    cmp out.gguf ../expected
    # An input that was touched is another one.
    rm out.gguf
    run -137 interrupt KILL out.gguf quantize --threads 1 large.gguf out.gguf Q4_K
    touch large.gguf
    in_the_way large.gguf out.gguf Q4_K
    gufo quantize -q --force large.gguf out.gguf Q4_K
    cmp out.gguf ../expected
}

@test "continue: two runs never write one file" {
    make_large 8192
    gufo quantize -q large.gguf ../expected Q4_K
    begin out.gguf quantize --threads 1 large.gguf out.gguf Q4_K
    kill -s STOP "$job"
    for option in --threads=2 --resume --force; do
        run -3 --separate-stderr gufo quantize "$option" large.gguf out.gguf Q4_K
        same_error 'gufo: out.gguf.part.journal: another process is working on it: Device or resource busy'
    done
    kill -s CONT "$job"
    wait -f "$job"
    cmp out.gguf ../expected
    files large.gguf stderr out.gguf
}

@test "continue: many runs at once make one file" {
    make_large 8192
    gufo quantize -q large.gguf ../expected Q4_K
    jobs=() made=0
    for ((i = 0; i < 6; i++)); do
        "$GUFO" quantize -q --threads 1 large.gguf out.gguf Q4_K 2>"../err$i" &
        jobs+=($!)
    done
    for job in "${jobs[@]}"; do
        wait "$job" && made=$((made + 1))
    done
    [ "$made" -eq 1 ] || { cat ../err*; return 1; }
    cmp out.gguf ../expected
    files large.gguf out.gguf
}
