#!/usr/bin/env bats
# bats file_tags=plain
# gufo report --stats and --source, and --report FILE.html of other commands

# bats sets stderr.
# shellcheck disable=SC2154

load common

setup_file() {
    "$GUFO_EXAMPLES/make_sample" "$BATS_FILE_TMPDIR/sample.gguf"
    for type in Q8_0 Q4_1; do
        "$GUFO" quantize -q "$BATS_FILE_TMPDIR/sample.gguf" "$BATS_FILE_TMPDIR/$type.gguf" $type
    done
}

# The models, in the folder of the test.
bring() {
    ln "$BATS_FILE_TMPDIR"/*.gguf .
}

# page_has FILE TEXT, page_lacks FILE TEXT
page_has() {
    grep -qF -- "$2" "$1" || { echo "$1 lacks: $2"; return 1; }
}

page_lacks() {
    ! grep -qF -- "$2" "$1" || { echo "$1 has: $2"; return 1; }
}

@test "report: without --stats a line with the command, memory and tokenizer without it" {
    bring
    run -0 gufo report sample.gguf -o a.html
    page_has a.html '<code>gufo report --stats sample.gguf -o OUT.html</code>'
    page_lacks a.html 'id="numbers"'
    page_has a.html 'id="memory-context"'
    page_has a.html 'id="tokenizer"'
    page_lacks a.html 'id="losses"'
}

@test "report --stats: numbers, outliers, scales; the same with any number of threads" {
    bring
    run -0 gufo report --stats --threads 1 Q4_1.gguf -o a.html
    page_has a.html 'All 119,488 values are finite; the largest, '
    page_has a.html 'id="outliers"'
    page_has a.html 'Q4_1: no scale is lost or cut off.'
    page_lacks a.html 'gufo report --stats'
    run -0 gufo report --stats --threads 7 Q4_1.gguf -o b.html
    cmp a.html b.html
}

@test "report --stats: NaN, one tensor, unknown types" {
    bring
    make_gguf odd.gguf kv general.architecture string x tensor a 0 4 16 tensor b 57 4 8
    run -0 gufo report --stats odd.gguf -o a.html
    page_has a.html 'id="numbers"'
    page_lacks a.html 'id="memory"'
    make_gguf nan.gguf kv general.architecture string x tensor a 0 4 16
    at=$(($(stat -c %s nan.gguf) - 32))
    make_gguf nan.gguf kv general.architecture string x tensor a 0 4 16 \
        poke $at 0000c07f0000c07f0000c07f0000c07f
    run -0 gufo report --stats nan.gguf -o b.html
    page_has b.html 'No tensor has a finite value.'
    make_gguf none.gguf kv general.architecture string x
    run -0 gufo report --stats none.gguf -o c.html
    page_lacks c.html 'id="weights"'
}

@test "report --source: losses of one, and of several" {
    bring
    run -0 gufo report --source sample.gguf Q8_0.gguf -o a.html
    page_has a.html 'Most is lost in <code>'
    page_has a.html 'id="losses-worst"'
    run -0 gufo report --source sample.gguf Q8_0.gguf Q4_1.gguf -o b.html
    page_has b.html 'Q8_0.gguf loses '
    page_has b.html ' less than Q4_1.gguf'
    run -0 gufo report --source sample.gguf sample.gguf -o c.html
    page_has c.html 'No tensor loses anything.'
}

@test "report --source: what cannot be compared" {
    bring
    run -3 gufo report --source missing.gguf Q8_0.gguf -o a.html
    [ ! -e a.html ]
    head -c 1000 sample.gguf >cut.gguf
    run -3 gufo report --source cut.gguf Q8_0.gguf -o a.html
    [ ! -e a.html ]
    run -2 gufo report --source sample.gguf Q8_0.gguf -o sample.gguf --force
    gufo validate -q sample.gguf
}

@test "quantize --report FILE.html: the result, or the plan" {
    bring
    run -0 gufo quantize -q sample.gguf out.gguf Q8_0 --report a.html
    page_has a.html '<title>gufo sample'
    page_has a.html 'out.gguf'
    page_has a.html 'Most is lost in <code>'
    run -0 gufo quantize -q sample.gguf Q8_0,Q4_1 --to folder --report b.html
    page_has b.html ' less than '
    run -2 gufo quantize -q sample.gguf more.gguf Q8_0 --report a.html
    [ ! -e more.gguf ]
    run -0 gufo quantize -q sample.gguf --dry-run --target-size 100K --report c.html
    page_has c.html 'id="loss-size"'
    page_has c.html 'id="losses-map"'
}

@test "quantize --target-size --report FILE.html: the curve of plans, with the fixed mixtures" {
    bring
    run -0 gufo quantize -q sample.gguf out.gguf --target-size 100K --min none --report a.html
    page_has a.html 'fixed mixture'
    page_has a.html 'class="fxp"'
    page_has a.html 'class="ln lB"'
    run -0 gufo quantize -q sample.gguf again.gguf --target-size 100K --min none --report b.html
    same_curve() { grep -oE '<path class="ln lB"[^>]*>' "$1"; }
    [ "$(same_curve a.html)" = "$(same_curve b.html)" ]
}

@test "diff --values --report FILE.html" {
    bring
    run -1 gufo diff --values sample.gguf Q8_0.gguf Q4_1.gguf --report a.html
    page_has a.html 'id="losses-map"'
    run -0 gufo report --source sample.gguf Q8_0.gguf Q4_1.gguf -o b.html
    diff <(grep -oE 'worst tensors lose[^<]*' a.html) <(grep -oE 'worst tensors lose[^<]*' b.html)
    run -2 gufo diff sample.gguf Q8_0.gguf --report b.html
}

@test "estimate --report FILE.html" {
    bring
    run -0 gufo estimate --devices 1 sample.gguf --report a.html
    page_has a.html 'id="memory-context"'
    page_has a.html 'Bytes of the cache ='
    run -2 gufo estimate sample.gguf --report a.html
    run -2 gufo estimate sample.gguf --report a.txt
    has 'its name ends with .html'
    run -2 gufo estimate . --report b.html
    ln sample.gguf alias.html
    run -2 gufo estimate sample.gguf --report alias.html --force
    cmp sample.gguf Q8_0.gguf && return 1
    gufo validate -q sample.gguf
}
