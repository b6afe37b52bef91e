#!/usr/bin/env bats
# Every command that makes files makes the same bytes on machines that differ in all that the command can see.
#
# GUFO_OTHER, another build of gufo (another compiler, another C library), is a further machine.

# bats file_tags=plain

load common

setup_file() {
    local base=$BATS_FILE_TMPDIR wide=$BATS_FILE_TMPDIR/wide counts
    "$GUFO_EXAMPLES/make_sample" "$base/sample.gguf"
    mkdir "$wide" "$base/packed"
    "$GUFO_TEST_BIN/make_checkpoint" "$wide" embd 256 shards 2 type f16
    "$GUFO_TEST_BIN/make_checkpoint" "$base/packed" packed gptq
    "$GUFO_TEST_BIN/make_legacy" "$base/old.bin" type q4_0 container ggml parts 2
    counts=$(seq -s , 1 256)
    "$GUFO_TEST_BIN/make_imatrix" "$base/wide.imatrix" gguf chunks 4 dataset d.txt \
        entry blk.0.attn_q.weight 4 "$counts" entry blk.0.ffn_up.weight 4 "$counts"
    "$GUFO_TEST_BIN/make_imatrix" "$base/wide.dat" dat chunks 4 dataset d.txt entry blk.1.attn_q.weight 4 "$counts"
    "$GUFO_TEST_BIN/make_gguf" "$base/adapter.gguf" kv general.architecture string llama \
        kv general.type string adapter kv adapter.type string lora kv adapter.lora.alpha float32 2 \
        tensor blk.0.attn_q.weight.lora_a 0 64x2 512 tensor blk.0.attn_q.weight.lora_b 0 2x64 512
}

# make_all OPTION...: makes files of all kinds from the inputs in `in`, with these options of all commands.
make_all() {
    gufo convert -q "$@" in/wide wide.gguf --split-max-tensors 9
    gufo convert -q "$@" in/packed packed.gguf
    gufo convert -q "$@" in/wide vocab.gguf --vocab-only --keep-tokenizer-json
    [ ! -e in/old.bin ] || gufo migrate -q "$@" in/old.bin old.gguf
    gufo quantize -q "$@" in/wide q.gguf Q4_K_M --imatrix in/wide.imatrix
    gufo quantize -q "$@" in/wide --to types IQ3_S,Q3_K_M,Q8_0 --imatrix in/wide.imatrix
    gufo quantize -q "$@" in/sample.gguf high.gguf Q4_1 --effort high --report high.csv
    gufo quantize -q "$@" in/sample.gguf sized.gguf --target-size 90K --save-plan plan.txt
    gufo strip -q "$@" in/sample.gguf - --tensors 'blk.0.*' | cat >piped.gguf
    gufo imatrix merge "$@" both.gguf in/wide.imatrix in/wide.dat
    gufo imatrix convert "$@" in/wide.imatrix wide.dat
    gufo lora merge "$@" -q in/sample.gguf in/adapter.gguf -o lora.gguf
    gufo split -q "$@" --max-tensors 5 in/sample.gguf part
    gufo merge -q "$@" part-00001-of-0000?.gguf -o merged.gguf
    gufo endian -q "$@" --to big in/sample.gguf big.gguf
    gufo export -q "$@" q.gguf exported
    gufo export -q "$@" q.gguf arrays --format npz --dtype f16
    gufo extract -q "$@" q.gguf blk.0.ffn_up.weight -o one.npy
    gufo extract -q "$@" q.gguf 'blk.0.*' -o some.safetensors
    gufo strip -q "$@" in/sample.gguf stripped.gguf --tensors 'blk.1.*'
    cp in/sample.gguf edited.gguf
    gufo edit -q "$@" edited.gguf --no-padding --set general.x=float32:0.1
    gufo vocab -q "$@" vocab.gguf --export vocab.txt -o vocab.txt
    gufo vocab -q "$@" vocab.gguf --export tokenizer.json -o tokenizer.json
}

# on_machine FOLDER DATE NAMES OPTION...: makes all files there, from inputs that are copied in this order and have
# this date, and prints their hashes.
on_machine() (
    mkdir -p "$1/in" && cd "$1" || exit
    for name in $3; do
        cp -r "$BATS_FILE_TMPDIR/$name" in
    done
    find in -exec touch -d "$2" {} +
    make_all "${@:4}"
    rm -r in
    find . -type f ! -name '*.losses' | LC_ALL=C sort | xargs sha256sum
)

@test "determinism: the same bytes on machines that differ in all but the inputs" {
    there='sample.gguf wide packed old.bin old.bin.1 wide.imatrix wide.dat adapter.gguf'
    back='adapter.gguf wide.dat wide.imatrix old.bin.1 old.bin packed wide sample.gguf'
    on_machine a 2024-01-31 "$there" >a.sums
    # Another place and order of names in folders, other rights, processor, memory that was used before, and variables.
    (
        umask 077
        export LANG=de_DE.UTF-8 LC_NUMERIC=de_DE.UTF-8 LANGUAGE=de TZ=Asia/Kathmandu GUFO_CPU=portable \
            MALLOC_PERTURB_=165 HOME=/nowhere HF_HOME=/nowhere TMPDIR=/nowhere COLUMNS=40 \
            GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX2_Usable,-AVX512F
        on_machine other/place 1999-12-31 "$back" --threads 7 >b.sums
    )
    diff a.sums b.sums
    # Another file system.
    if other=$(mktemp -d /dev/shm/gufo.XXXXXX); then
        (
            trap 'rm -r "$other"' EXIT
            export LC_ALL=C MALLOC_ARENA_MAX=1
            on_machine "$other" 2030-06-01 "$back" --threads 1 >c.sums
        )
        diff a.sums c.sums
    fi
    [ -z "${GUFO_OTHER:-}" ] || GUFO=$GUFO_OTHER on_machine d 2024-01-31 "$there" | diff a.sums -
}
