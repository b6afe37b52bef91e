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

# ended SIGNAL ARGUMENT...: gufo gets the signal when it writes the first piece of its output.
ended() {
    run -4 --separate-stderr env LD_PRELOAD="$GUFO_TEST_BIN/signal_files.so" GUFO_SIGNAL="$(kill -l "$1")" "$GUFO" \
        "${@:2}" --threads 1
}

# is_kept OUT: the command said so.
is_kept() {
    same_error "gufo: $1: interrupted; the finished part is kept beside it; the same command continues"
}

# nothing_is_left OUT: the command said so, and it is true.
nothing_is_left() {
    same_error "gufo: $1: interrupted; nothing was written"
    [ -z "$(ls -A out)" ] || { ls -A out; return 1; }
}

@test "continue: SIGTERM leaves what the same command continues; Ctrl-C leaves nothing" {
    [ -e "$GUFO_TEST_BIN/signal_files.so" ] || skip "no program can be ended at a place here"
    local out command
    make_gguf m.gguf kv general.architecture string llama tensor a 0 3000000 12000000 tensor b 0 3000000 12000000
    gufo split -q m.gguf set --max-tensors 1
    mkdir source
    "$GUFO_TEST_BIN/make_checkpoint" source layers 2 embd 512
    gufo convert -q source h.gguf F32
    while read -r out command; do
        read -ra command <<<"$command"
        rm -rf out ../expected
        mkdir out
        gufo "${command[@]}" -q
        mv out ../expected
        mkdir out
        ended INT "${command[@]}"
        nothing_is_left "$out"
        ended TERM "${command[@]}"
        is_kept "$out"
        run -0 --separate-stderr gufo "${command[@]}"
        [[ "$stderr" == "gufo: $out: continues an interrupted run at "* ]] || { echo "$stderr"; return 1; }
        diff -r out ../expected
    done <<'END'
out/s split m.gguf out/s --max-tensors 1
out/m.gguf merge set-00001-of-00002.gguf -o out/m.gguf
out/e.gguf endian --to=big m.gguf out/e.gguf
out/p.gguf strip m.gguf -o out/p.gguf --tensors=[ab]
out/x.npy extract m.gguf a -o out/x.npy
out/x.safetensors extract m.gguf a b -o out/x.safetensors
out/h export h.gguf out/h
END
}

@test "continue: Ctrl-C removes nothing that was there before; --force removes what it would not continue" {
    [ -e "$GUFO_TEST_BIN/signal_files.so" ] || skip "no program can be ended at a place here"
    make_gguf m.gguf kv general.architecture string llama tensor a 0 3000000 12000000
    mkdir out
    ended HUP endian --to=big m.gguf out/m.gguf
    is_kept out/m.gguf
    ended INT endian --to=big m.gguf out/m.gguf
    [[ "$stderr" == *"; the same command continues" ]]
    ended TERM --force endian --to=big m.gguf out/m.gguf
    nothing_is_left out/m.gguf
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
