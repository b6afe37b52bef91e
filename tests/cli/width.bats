#!/usr/bin/env bats
# bats file_tags=plain
# Tables on terminals from 40 columns on: no line is wider.

# bats sets lines; $-signs of inner commands are meant as they are.
# shellcheck disable=SC2154,SC2016

load common

# fits COLUMNS COMMAND...: prints the first line that is too wide.
fits() {
    local columns=$1
    shift
    on_terminal env COLUMNS="$columns" "$GUFO" --color=never "$@" >"shown.$columns" || true
    awk -v columns="$columns" -v command="$*" '
        { sub(/\r$/, ""); sub(/.*\033\[\?7h/, ""); sub(/.*\033\[J/, "") }
        length($0) > columns && !/^gufo: / { print command " at " columns ": " $0; exit wide = 1 }
        END { if (NR < 2) print command ": nothing"; exit wide || NR < 2 }' "shown.$columns"
}

each_width() {
    for width in 40 50 60 80; do
        fits "$width" "$@"
    done
}

long=ffn_gate_exps_with_a_long_name.weight

make_wide() {
    make_gguf "$1" kv general.architecture string llama \
        kv general.name string "A name that is quite long, and has several words in it, so that it wraps" \
        kv general.file_type uint32 15 kv general.base_model.count uint32 1 \
        kv general.base_model.0.name string "Another model with a long name that goes on" \
        kv general.base_model.0.organization string "An organization with a name as long as that" \
        kv llama.context_length uint32 131072 kv llama.block_count uint32 32 \
        kv llama.attention.layer_norm_rms_epsilon float32 0.00001 \
        arr tokenizer.ggml.tokens string 3 a b '<|a_special_token_with_a_long_name|>' \
        kv tokenizer.ggml.bos_token_id uint32 2 \
        tensor token_embd.weight 0 32x10 1280 tensor blk.0.$long 1 32x10x4 2560 \
        tensor blk.2.$long 1 32x10x4 2560
}

# bats test_tags=legacy
@test "width: models, metadata, tensors" {
    need_terminal
    mkdir models
    make_wide "models/Some-Model-With-A-Long-Name-8B-Instruct-Q4_K_M.gguf"
    head -c 700 models/*.gguf >models/broken.gguf
    mv models/Some* .
    cp Some* a.gguf
    cp Some* models/
    each_width ls models
    grep -q broken shown.40
    each_width show a.gguf
    each_width show --metadata a.gguf
    each_width show --tensors a.gguf
    each_width show --summary a.gguf
    each_width stats a.gguf
    each_width quantize -q --dry-run a.gguf b.gguf Q4_K_M
    "$GUFO_TEST_BIN/make_legacy" old.bin type q4_0
    each_width migrate --dry-run old.bin b.gguf
    each_width sign --generate a-key-with-a-long-name --no-password --force
    # What a model is made of has its size, however narrow the terminal is.
    "$GUFO_EXAMPLES/make_sample" s.gguf
    fits 40 show s.gguf
    grep -A 1 '^  blk.0-1.attn_output.weight' shown.40 | grep -qE '^    F16  64 x 64   2 tensors    16.4 KB'
    fits 40 show --tensors s.gguf
    grep -qE '^  blk.0.attn_q.weight     F16    8.19 KB' shown.40
}

@test "width: what differs" {
    need_terminal
    make_wide a.gguf
    gufo edit -q a.gguf -o b.gguf --set general.name=other --remove general.file_type
    each_width diff a.gguf b.gguf
    gufo quantize -q a.gguf c.gguf Q8_0
    each_width diff --values a.gguf b.gguf c.gguf c.gguf
    gufo hash --sha256 a.gguf | sed 's/  [0-9a-f]/  0/' >manifest
    each_width verify a.gguf manifest
    "$GUFO_TEST_BIN/make_imatrix" i.gguf gguf chunks 4 dataset "a-dataset-with-a-very-long-name-that-somebody-gave-it.txt" \
        entry blk.0.$long 1000,0,1 1000,2000,0,0,3,4
    each_width imatrix show i.gguf
    # Numbers are not cut.
    "$GUFO_TEST_BIN/make_imatrix" j.gguf gguf chunks 4 entry a 1000 "$(printf '1,%.0s' {1..1234})9"
    fits 80 imatrix show j.gguf
    grep -qE '^  a .*    1234.?$' shown.80
}

@test "width: vocabularies" {
    need_terminal
    printf -v word '%070d' 0
    make_gguf a.gguf kv tokenizer.ggml.model string gpt2 kv tokenizer.ggml.pre string llama-bpe \
        arr tokenizer.ggml.tokens string 4 a "$word" '<|a_special_token_with_a_name_that_is_longer_than_a_line|>' c \
        arr tokenizer.ggml.token_type int32 4 1 4 3 1 arr tokenizer.ggml.merges string 0 \
        kv tokenizer.ggml.bos_token_id uint32 2 kv tokenizer.ggml.eos_token_id uint32 2
    gufo edit -q a.gguf -o b.gguf --set "tokenizer.ggml.tokens[1]=1$word" --set 'tokenizer.ggml.token_type[3]=4' \
        --set tokenizer.ggml.pre=a-name-that-gufo-does-not-know-and-that-is-longer-than-a-line
    each_width vocab --text a.gguf a.gguf
    each_width vocab --list tokens a.gguf
    each_width vocab --list special a.gguf
    each_width vocab diff a.gguf b.gguf
}

@test "width: words that gufo knows" {
    need_terminal
    for list in keys archs tensors types filetypes valuetypes tokenizers pretokenizers rules; do
        each_width list $list
    done
    each_width explain Q4_K_M general.file_type llama.context_length token_embd.weight
    fits 60 explain gemma2
    fits 45 explain gemma2
    grep -q '^    attention.layer_norm_rms_epsilon' shown.45
}

# as_piped COMMAND...: on a wide terminal it prints what a pipe gets.
as_piped() {
    gufo "$@" >piped 2>/dev/null || true
    on_terminal env COLUMNS=1000 "$GUFO" --color=never "$@" 2>/dev/null |
        sed 's/\r$//; s/.*\x1b\[?7h//; s/.*\x1b\[J//; /^gufo: /d' >shown
    [ -s piped ] || { echo "$*: nothing"; return 1; }
    diff piped shown || { echo "$*"; return 1; }
}

@test "width: memory that a model needs" {
    need_terminal
    make_gguf m.gguf kv general.architecture string llama kv llama.vocab_size uint32 1000 \
        kv llama.context_length uint32 131072 kv llama.embedding_length uint32 4096 \
        kv llama.block_count uint32 32 kv llama.feed_forward_length uint32 14336 \
        kv llama.attention.head_count uint32 32 kv llama.attention.head_count_kv uint32 8
    for width in 40 80 120; do
        fits $width estimate m.gguf
        fits $width estimate --fit 3G,2G --host 64G --bandwidth 1000G --host-bandwidth 60G m.gguf
        fits $width estimate --fit 8G --draft m.gguf m.gguf
        fits $width estimate --table --fit 4G,4G m.gguf
        LC_ALL=C fits $width estimate --plot --fit 4G,4G m.gguf
    done
    # The narrowest terminal has the answer.
    fits 40 estimate --fit 8G m.gguf
    grep -q 'device  layers  *total  *left' shown.40
    grep -q 'DEV0    32+out .* GiB .* MiB' shown.40
}

# names WIDTH COMMAND...: the first column of rows about layers.
names() {
    COLUMNS=$1 on_terminal "$GUFO" --color=never "${@:2}" 2>/dev/null | sed -n 's/.*\x1b\[J//; s/^ *\(blk[^ ]*\).*/\1/p'
}

@test "width: names that are shortened stay apart" {
    need_terminal
    "$GUFO_EXAMPLES/make_sample" a.gguf
    gufo quantize -q a.gguf b.gguf Q4_0
    for command in 'diff --values a.gguf b.gguf b.gguf' 'stats a.gguf' 'quantize --dry-run a.gguf c.gguf Q8_0'; do
        # shellcheck disable=SC2086
        run -0 names 40 $command
        [ "${#lines[@]}" -ge 18 ]
        same_list 18 "$(printf '%s\n' "${lines[@]:0:18}" | sort -u | wc -l)"
        has blk.1.attn_q
    done
    run -0 on_terminal env COLUMNS=40 "$GUFO" stats a.gguf
    has '  blk.0.attn_output.weight ' # columns of numbers are left out before names are shortened
    run -0 on_terminal env COLUMNS=40 "$GUFO" quantize --dry-run a.gguf c.gguf Q8_0
    has 'Tensor (.weight) '
    run -0 on_terminal env COLUMNS=40 "$GUFO" quantize --dry-run a.gguf c.gguf --target-size 100K
    has 'Tensor (.weight) '
    run -0 on_terminal env COLUMNS=40 "$GUFO" show --metadata a.gguf
    has 'bos_token_id '
    has 'eos_token_id '
}

# bats test_tags=legacy
@test "width: a wide terminal gets the reports of a pipe" {
    need_terminal
    "$GUFO_EXAMPLES/make_sample" a.gguf
    gufo quantize -q a.gguf b.gguf Q4_0
    gufo quantize -q a.gguf c.gguf Q8_0
    gufo hash --sha256 a.gguf >manifest
    "$GUFO_TEST_BIN/make_legacy" old.bin type q4_0
    "$GUFO_TEST_BIN/make_imatrix" i.gguf gguf chunks 4 dataset d.txt entry blk.0.attn_q.weight 1000,0 1000,2000
    as_piped quantize --dry-run a.gguf d.gguf --target-size 100K
    as_piped quantize --force a.gguf d.gguf --target-bpw 6 --no-cache
    as_piped quantize --force -v a.gguf d.gguf Q4_0
    as_piped show --metadata a.gguf
    as_piped stats a.gguf
    as_piped estimate --fit 1G a.gguf
    as_piped diff a.gguf b.gguf
    as_piped diff --values a.gguf b.gguf c.gguf
    as_piped validate -v a.gguf
    as_piped verify b.gguf manifest
    as_piped edit --dry-run a.gguf --set general.name=other
    as_piped migrate --dry-run old.bin e.gguf
    as_piped imatrix show i.gguf
    as_piped vocab a.gguf
    as_piped name a.gguf
}

@test "width: the least important columns are left out first, names become short before" {
    need_terminal
    make_model Some-Model-With-A-Long-Name-8B-Q4_K_M.gguf
    touch -d 2026-01-02 Some*
    run -0 on_terminal env COLUMNS=80 "$GUFO" ls .
    has 'Some-Model-Wi...-Q4_K_M.gguf  llama     640  F32    2.50 KB    2,048  2026-01-02'
    run -0 on_terminal env COLUMNS=64 "$GUFO" ls .
    has 'Some-Model-...4_K_M.gguf  llama     640  F32    2.50 KB    2,048'
    run -0 on_terminal env COLUMNS=40 "$GUFO" ls .
    has 'Some-Mo...M.gguf     640  F32    2.50 KB'
}

@test "width: help breaks between words, whatever argp is asked for" {
    need_terminal
    gufo completion words '' | sed -n 's/\t.*//p' >commands
    for width in 40 80 120; do
        # The shell would take the width of the terminal.
        on_terminal bash -c 'export ARGP_HELP_FMT=rmargin=39,long-opt-col=2,opt-doc-col=8
            each() { env COLUMNS="$width" "$gufo" --color=never "$@"; }
            gufo=$0 width=$1; each --help; while read -r c; do each help "$c"; each "$c" -h; done <commands' \
            "$GUFO" "$width" | sed 's/\r$//' >"help.$width"
        run -1 grep -nE "^.{$width}" "help.$width"
        same ''
        tr -s ' ,|\n' '\n' <"help.$width" >"words.$width"
    done
    [ "$(wc -l <help.40)" -gt 2000 ]
    # Only the ends of lines differ.
    diff words.40 words.120
    diff words.80 words.120
    grep -q '^    keys|archs|tensors|types|filetypes|$' help.40
}

@test "width: errors and warnings break between words" {
    need_terminal
    head -c 700 /dev/zero >a-file-of-zeros.gguf
    run -3 on_terminal env COLUMNS=40 "$GUFO" --color=never show a-file-of-zeros.gguf missing.gguf
    shown=$(printf '%s' "$output" | tr -d '\r')
    run -1 grep -E '^.{41}' <<<"$shown"
    run -3 --separate-stderr gufo show a-file-of-zeros.gguf missing.gguf
    [ "${#stderr_lines[@]}" -eq 2 ]
    # Only the ends of lines differ.
    same_list "$(tr -s ' \n' '\n\n' <<<"$stderr")" "$(tr -s ' \n' '\n\n' <<<"$shown")"
}

@test "width: findings, verdicts, outputs and ways of an edit break between words" {
    need_terminal
    make_wide a.gguf
    "$GUFO_EXAMPLES/make_sample" sample-with-a-long-name.gguf
    for command in 'validate a.gguf' 'edit a.gguf --dry-run --set general.name=abc' 'name a.gguf' \
        'validate sample-with-a-long-name.gguf' 'split --dry-run --max-tensors 1 a.gguf part' \
        'export --dry-run sample-with-a-long-name.gguf exported'; do
        # shellcheck disable=SC2086 # words
        run gufo $command
        tr -s ' \n' '\n\n' <<<"$output" | grep . >expected
        for width in 50 60 80; do
            # shellcheck disable=SC2086
            on_terminal env COLUMNS="$width" "$GUFO" --color=never $command |
                sed 's/\r$//; s/.*\x1b\[?7h//; s/.*\x1b\[J//' >shown
            # The same words as in a pipe; commands to copy stay whole.
            tr -s ' \n' '\n\n' <shown | grep . | diff expected -
            run grep -vE "^.{0,$width}\$|^ *fix: " shown
            same ''
        done
    done
}
