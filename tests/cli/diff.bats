#!/usr/bin/env bats
# gufo diff

# bats sets stderr; some commands are for another shell.
# shellcheck disable=SC2154,SC2016

load common

@test "diff: the same, and what makes no difference" {
    make_model a.gguf
    cp a.gguf b.gguf
    run -0 --separate-stderr gufo diff a.gguf b.gguf
    same_error ''
    same 'a.gguf and b.gguf are the same'
    run -0 gufo diff -q a.gguf b.gguf
    same ''
    run -0 gufo diff --json a.gguf b.gguf
    same '{"a":"a.gguf","b":"b.gguf","metadata":[],"tensors":[],"metadata_counts":{"same":8,"added":0,"removed":0,"changed":0},"tensor_counts":{"same":2,"added":0,"removed":0,"changed":0},"notes":[],"same":true}'
    make_gguf c.gguf kv x uint32 1 kv y uint32 2 tensor a 24 4 4
    make_gguf d.gguf version 2 kv y uint32 2 kv gufo.padding string ppp kv x uint32 1 tensor a 24 4 4
    run -0 gufo diff c.gguf d.gguf
    same 'c.gguf and d.gguf are the same
(keys are in another order)
(versions of the format differ)'
}

@test "diff: a set and the whole model" {
    make_shards s
    make_whole s
    run -0 gufo diff whole.gguf s-00001-of-00002.gguf
    same 'whole.gguf and s-00001-of-00002.gguf are the same
(numbers of shards differ)'
    run -0 gufo diff --json s-00001-of-00002.gguf whole.gguf
    has '"a_shards":["s-00001-of-00002.gguf","s-00002-of-00002.gguf"]'
    rm s-00002-of-00002.gguf
    run -3 gufo diff whole.gguf s-00001-of-00002.gguf
}

@test "diff: metadata" {
    make_gguf a.gguf kv gone string text kv number uint32 1 kv type uint32 1 \
        arr list string 5 a b c d e arr short uint8 2 1 2
    make_gguf b.gguf kv number uint32 2 kv type int32 1 \
        arr list string 5 a b c x e arr short uint8 3 1 2 3 kv new bool 1
    run -1 gufo diff a.gguf b.gguf
    same 'Metadata
- gone  string  "text"
! number  uint32  1 -> uint32  2
! type  uint32  1 -> int32  1
! list  string[]  [5]  from element 3 on: "d" -> "x"
! short  uint8[]  [2] -> [3]  from element 2 on: none -> 3
+ new  bool  true

a.gguf and b.gguf differ
keys: 0 same, 1 added, 1 removed, 4 changed
tensors: 0 same, 0 added, 0 removed, 0 changed'
    run -1 gufo diff --json a.gguf b.gguf
    has '{"key":"list","difference":"changed","a":{"key":"list","type":"array","element_type":"string","count":5,"value":["a","b","c","d","e"]}'
    has '"first":3,"first_a":"d","first_b":"x"}'
    has '"first":2,"first_a":null,"first_b":3}'
}

@test "diff: tensors, and their values" {
    make_gguf a.gguf tensor same 24 4 4 tensor gone 24 4 4 tensor data 24 4x2 8 tensor type 24 4 4 \
        tensor shape 24 4x2 8
    make_gguf b.gguf tensor same 24 4 4 tensor new 24 4 4 tensor data 24 4x2 8 tensor type 25 4 8 \
        tensor shape 24 2x4 8
    local at_a at_b
    at_a=$(($(stat -c %s a.gguf) - 96)) at_b=$(($(stat -c %s b.gguf) - 96))
    # data: 1 2 3 4 5 6 7 8 and 1 2 3 4 5 6 9 8; type: 1 2 3 4 as I8 and as I16
    make_gguf a.gguf tensor same 24 4 4 tensor gone 24 4 4 tensor data 24 4x2 8 tensor type 24 4 4 \
        tensor shape 24 4x2 8 poke $at_a 0102030405060708 poke $((at_a + 32)) 01020304
    make_gguf b.gguf tensor same 24 4 4 tensor new 24 4 4 tensor data 24 4x2 8 tensor type 25 4 8 \
        tensor shape 24 2x4 8 poke $at_b 0102030405060908 poke $((at_b + 32)) 0100020003000400
    run -1 gufo diff a.gguf b.gguf
    same 'Tensors
- gone  I8  4
! data  I8  4 x 2  data differs from byte 6 on
! type  I8  4 -> I16  4
! shape  I8  4 x 2 -> I8  2 x 4
+ new  I8  4

a.gguf and b.gguf differ
keys: 0 same, 0 added, 0 removed, 0 changed
tensors: 1 same, 1 added, 1 removed, 3 changed'
    run -1 gufo diff --values a.gguf b.gguf
    has '! data  I8  4 x 2  data differs from byte 6 on
    values: largest difference 2 in row 1, column 2; RMSE 0.7071, relative RMSE 0.14, cosine 0.9935401
! type  I8  4 -> I16  4
    values: largest difference 0; RMSE 0, relative RMSE 0, cosine 1
! shape  I8  4 x 2 -> I8  2 x 4
    values: not compared, because the shapes differ
+ new  I8  4'
    run -1 gufo diff --values --json a.gguf b.gguf
    has '"first_byte":6,"values":{"compared":8,"unequal":1,"nonfinite":0,"max_abs":2,"max_abs_at":{"matrix":0,"row":1,"column":2}'
    [ "$(gufo diff --values --json --threads 1 a.gguf b.gguf)" = "$output" ]
}

# An original and candidates with a value that differs, and with tensors that cannot be compared.
make_candidates() {
    local original=(tensor all 24 4x2 8 tensor shape 24 4x2 8 tensor "=gone" 24 4 4 tensor float 0 2 8)
    local first=(tensor all 24 4x2 8 tensor shape 24 2x4 8 tensor float 0 2 8 tensor new 24 4 4)
    local second=(tensor all 57 4x2 8 tensor shape 25 4x2 16 tensor "=gone" 24 4 4 tensor float 0 2 8)
    make_gguf a.gguf "${original[@]}" && make_gguf b.gguf "${first[@]}"
    local a b
    a=$(($(stat -c %s a.gguf) - 128)) b=$(($(stat -c %s b.gguf) - 128))
    # all: 1 ... 8 and 1 2 3 4 5 6 9 8; float: 1 nan and 1.5 nan
    make_gguf a.gguf "${original[@]}" poke $a 0102030405060708 poke $((a + 32)) 0000000000000000 \
        poke $((a + 96)) 0000803f0000c07f
    make_gguf b.gguf "${first[@]}" poke $b 0102030405060908 poke $((b + 64)) 0000c03f0000c07f
    make_gguf c.gguf "${second[@]}" poke $((a + 32)) 01000000 poke $((a + 96)) 0000803f0000c07f
}

# bats test_tags=legacy
@test "diff: a tensor of a model that is not a GGUF file has no offset" {
    "$GUFO_TEST_BIN/make_legacy" old.bin type q4_0
    gufo migrate -q old.bin m.gguf
    gufo quantize -q --allow-requantize m.gguf n.gguf Q8_0
    run -1 --separate-stderr gufo diff --json old.bin n.gguf
    has '"a":{"type":"Q4_0","dims":[64,262],"offset":null,"size":9432},"b":{"type":"Q8_0"'
    run -1 --separate-stderr gufo diff --json --values old.bin n.gguf n.gguf
    has '"name":"token_embd.weight","type":"Q4_0","dims":[64,262],"offset":null,'
}

@test "diff: several candidates" {
    make_candidates
    run -1 --separate-stderr gufo diff --values a.gguf b.gguf c.gguf
    same_error ''
    same 'Candidate 1: b.gguf
Candidate 2: c.gguf

Tensor  Shape  Type  Bytes  Type 1  Bytes 1     Loss 1     RMSE 1  Type 2   Bytes 2     Loss 2     RMSE 2
all     4 x 2  I8        8  I8            8     0.0196     0.7071  type 57       32    unknown          -
shape   4 x 2  I8        8  I8            8      shape          -  I16           16   infinite      445.1
=gone   4      I8        4  -             -    missing          -  I8             4       same          0
float   2      F32       8  F32           8      0.25*        0.5  F32            8       same          0
new     4      -         -  I8            4      added          -  -              -          -          -
(* without pairs in which a value is infinite or NaN)

Candidate  No.        Size  Bits/weight       Loss  Same  Added  Removed  Changed  Unmeasured
b.gguf       1    28 bytes        10.18       0.27     0      1        1        3           1
c.gguf       2    60 bytes        21.82          0     2      0        0        2           2

From 1 to 2: 32 bytes more, loss 0.25 less, 7.81e+03 per MB'
    for threads in 1 3; do
        [ "$(gufo diff --threads $threads --values a.gguf b.gguf c.gguf)" = "$output" ]
    done
    run -1 gufo diff -q --values a.gguf b.gguf a.gguf
    same ''
    run -0 --separate-stderr gufo diff --values a.gguf a.gguf ./a.gguf
    same_error ''
    has 'From 1 to 2: 0 bytes more, loss 0 less'
    # The numbers are those of two files.
    local pair
    pair=$(gufo diff --json --values a.gguf b.gguf | grep -o '"values":{[^}]*}[^}]*}')
    run -1 gufo diff --json --values a.gguf b.gguf c.gguf
    [ "$(grep -o '"values":{[^}]*}[^}]*}' <<<"$output" | sed 2d)" = "$pair" ]
    has '{"original":"a.gguf","candidates":[{"path":"b.gguf"},{"path":"c.gguf"}],"tensors":[{"name":"all","type":"I8"'
    has '"name":"new","candidates":[{"difference":"added","type":"I8","dims":[4],"offset":288,"size":4,"loss":null},null]}]'
    has '"totals":[{"size":28,"bits_per_weight":10.181818181818182,"loss":0.2696078431372549,"tensor_counts":{"same":0,"added":1,"removed":1,"changed":3},"unmeasured":1,"nonfinite":1,"same":false}'
    has '"steps":[{"from":0,"to":1,"bytes":32,"loss":0.25,"best":[]}],"same":false}'
}

@test "diff: the file of --report" {
    make_candidates
    run -1 gufo diff -q --values --report r.csv a.gguf b.gguf c.gguf
    same ''
    [ "$(tr -d '\r' <r.csv)" = 'tensor,shape,type,bytes,"type b.gguf","bytes b.gguf","relative_squared_error b.gguf","rmse b.gguf","note b.gguf","type c.gguf","bytes c.gguf","relative_squared_error c.gguf","rmse c.gguf","note c.gguf"
"all",4x2,I8,8,I8,8,0.0196078431372549,0.7071067811865476,,type 57,32,,,unknown
"shape",4x2,I8,8,I8,8,,,shape,I16,16,,445.1371979513732,infinite
"'"'"'=gone",4,I8,4,,,,,missing,I8,4,0,0,same
"float",2,F32,8,F32,8,0.25,0.5,nonfinite,F32,8,0,0,same
"new",4,,,I8,4,,,added,,,,,' ]
    run -2 gufo diff --values --report r.csv a.gguf a.gguf
    run -0 gufo diff -q --values --force --report r.csv a.gguf a.gguf
    [ "$(wc -l <r.csv)" = 5 ]
    run -2 --separate-stderr gufo diff --values --force --report b.gguf a.gguf b.gguf c.gguf
    same_error 'gufo: b.gguf: the output is the input; it would be lost'
    run -2 gufo diff --report s.csv a.gguf b.gguf
    run -2 --separate-stderr gufo diff --values --report - a.gguf b.gguf
    same_error 'gufo: -: the report is written to a file; give its name'
    run -3 gufo diff --values --report folder/s.csv a.gguf b.gguf
    head -c 200 c.gguf >cut.gguf
    run -3 gufo diff --values --report s.csv a.gguf b.gguf cut.gguf
    [ ! -e s.csv ]
}

@test "diff: what a candidate does not say" {
    # Squares that are too large, and pairs that all have a NaN.
    make_gguf a.gguf tensor large 28 2 16 tensor $'\tnan' 0 2 8
    local at
    at=$(($(stat -c %s a.gguf) - 64))
    make_gguf a.gguf tensor large 28 2 16 tensor $'\tnan' 0 2 8 poke $at 0000000000007069000000000000f03f
    make_gguf b.gguf tensor large 28 2 16 tensor $'\tnan' 0 2 8 poke $at 00000000000070690000000000000040 \
        poke $((at + 32)) 0000c07f0000c07f
    run -1 gufo diff --values --report r.csv a.gguf b.gguf
    has 'large   2      F64      16  F64          16   infinite     0.7071'
    has '\tnan   2      F32       8  F32           8  nonfinite          -'
    [ "$(tr -d '\r' <r.csv | tail -n 2)" = '"large",2,F64,16,F64,16,,0.7071067811865476,infinite
"'"'"$'\t'"nan"'",2,F32,8,F32,8,,,nonfinite' ]
}

@test "diff: where bytes were spent best" {
    make_gguf a.gguf tensor x 0 2 8 tensor y 0 2 8
    local at
    at=$(($(stat -c %s a.gguf) - 64))
    make_gguf a.gguf tensor x 0 2 8 tensor y 0 2 8 poke $at 0000803f00000000 poke $((at + 32)) 0000803f00000000
    # The smaller file comes first.  In the larger one x becomes exact.
    make_gguf big.gguf tensor x 0 2 8 tensor y 25 2 4 poke $at 0000803f00000000 poke $((at + 32)) 00000000
    make_gguf small.gguf tensor x 24 2 2 tensor y 25 2 4 poke $at 0000 poke $((at + 32)) 00000000
    run -1 gufo diff --values a.gguf big.gguf small.gguf
    has 'From 2 to 1: 6 bytes more, loss 1 less, 1.67e+05 per MB
  Tensor  From  To    More bytes  Less loss     Per MB
  x       I8    F32            6          1   1.67e+05'
    run -1 gufo diff --json --values a.gguf big.gguf small.gguf
    has '"steps":[{"from":1,"to":0,"bytes":6,"loss":1,"best":[{"name":"x","from":"I8","to":"F32","bytes":6,"loss":1}]}]'
}

@test "diff: bad files and wrong usage" {
    make_model a.gguf
    head -c 300 a.gguf >cut.gguf
    run -3 --separate-stderr gufo diff a.gguf cut.gguf
    [[ $stderr == 'gufo: cut.gguf: byte '* ]]
    run -3 gufo diff nothing a.gguf
    run -2 gufo diff a.gguf
    run -2 gufo diff
    run -2 --separate-stderr gufo diff a.gguf a.gguf a.gguf
    same_error 'gufo: gufo diff compares two models, but 3 are given; --values compares several with the first (see gufo help diff)'
    local many=(a.gguf)
    while [ ${#many[@]} -lt 34 ]; do many+=(a.gguf); done
    run -2 --separate-stderr gufo diff --values "${many[@]}"
    same_error 'gufo: gufo diff compares at most 32 models with the first, but 33 are given (see gufo help diff)'
    run -3 gufo diff --values a.gguf a.gguf cut.gguf
    run -2 gufo diff --values a.gguf a.gguf -
    run -2 bash -c '"$GUFO" diff --values a.gguf a.gguf <(cat a.gguf)'
    run -2 --separate-stderr gufo diff a.gguf -
    same_error 'gufo: -: standard input cannot be compared; give a file'
    run -2 bash -c '"$GUFO" diff a.gguf <(cat a.gguf)'
}

@test "diff: what lost most" {
    "$GUFO_EXAMPLES/make_sample" a.gguf
    gufo quantize -q a.gguf b.gguf Q4_0
    gufo quantize -q a.gguf c.gguf Q8_0
    run -1 gufo diff --values --sort loss a.gguf b.gguf
    [[ "${lines[2]}" == blk.* ]]
    # Losses never grow from row to row, and unchanged tensors are last.
    awk 'NR > 2 && NF >= 8 && /weight/ { v = $9 == "same" ? 0 : $9; if (n++ && v > last) exit 1; last = v } END { exit n < 20 }' <<<"$output"
    run -1 gufo diff --values --top 3 a.gguf b.gguf c.gguf
    [ "$(grep -c '^[a-z].*weight .*Q' <<<"$output")" = 3 ]
    has '(18 tensors more)'
    run -1 gufo diff --values --sums a.gguf b.gguf
    [[ "${lines[0]}" =~ ^Role\ *Tensors\ *Loss\ 1\ *Share\ 1$ ]]
    grep -qE '^attn_q +2 +0.0042 +[0-9.]+ %$' <<<"$output"
    grep -qE '^Layer +Tensors +Loss 1 +Share 1$' <<<"$output"
    grep -qE '^0 +9 +0.0041' <<<"$output"
    # Shares add up to everything.
    awk '/^Layer/ { exit } NR > 1 && NF { sum += $(NF - 1) } END { exit sum < 99.5 || sum > 100.5 }' <<<"$output"
    same_list "$output" "$(gufo diff --values --sums --threads 1 a.gguf b.gguf)"
    run -1 gufo diff --values --layers a.gguf b.gguf c.gguf
    has 'layer  0 '
    lacks 'from: '
    [ "$(grep -c '^layer  0' <<<"$output")" = 2 ]
    for option in --sums --layers '--top 1' '--sort loss'; do
        # shellcheck disable=SC2086
        run -2 gufo diff $option a.gguf b.gguf
        # shellcheck disable=SC2086
        run -2 gufo diff --values --json $option a.gguf b.gguf
    done
    run -1 gufo diff -q --values --layers a.gguf b.gguf
    same ''
}

@test "diff: a pager on a terminal, once the work is done" {
    need_terminal
    "$GUFO_EXAMPLES/make_sample" a.gguf
    gufo quantize -q a.gguf b.gguf Q4_0
    export GUFO_PAGER='sed s/^/paged:/' NO_COLOR=1
    for option in '' --values '--values --sums' '--values --report=r.csv --force'; do
        # shellcheck disable=SC2086
        run -1 on_terminal "$GUFO" diff $option a.gguf b.gguf
        has paged:
        [ "$(grep -cv paged: <<<"$output")" = 0 ]
    done
    for option in '--values --no-pager' '--values --json' '--values --quiet'; do
        # shellcheck disable=SC2086
        run -1 on_terminal "$GUFO" diff $option a.gguf b.gguf
        lacks paged:
    done
    GUFO_PAGER='exec sed -n 1p' run -1 on_terminal "$GUFO" diff --values a.gguf b.gguf
    [ "${#lines[@]}" = 1 ]
    GUFO_PAGER=no-such-program run -3 on_terminal "$GUFO" diff --values a.gguf b.gguf
    has "cannot run the pager 'no-such-program'; --no-pager shows the output"
    has 'tensors: ' # what the work found is not lost
    # A failure is a line of its own, without a pager.
    run -3 on_terminal "$GUFO" diff a.gguf none.gguf
    lacks paged:
    # less is missing: everything is there all the same.
    unset GUFO_PAGER
    mkdir bin
    ln -s "$(command -v cat)" bin/cat
    TERM=xterm run -1 on_terminal env PATH="$PWD/bin" "$(command -v "$GUFO")" diff a.gguf b.gguf
    has 'a.gguf and b.gguf differ'
}

@test "diff: a map on a narrow terminal, in colour, and without blocks" {
    need_terminal
    "$GUFO_EXAMPLES/make_sample" a.gguf
    gufo quantize -q a.gguf b.gguf Q4_0
    run on_terminal env COLUMNS=40 NO_COLOR=1 "$GUFO" diff --values --layers a.gguf b.gguf
    has '         a  b  c  d  e  f  g  h  i'
    has 'layer  0 ·· ██ ██'
    has '  loss, from: '
    has 'a=attn_norm, b=attn_q, c=attn_k,'
    run on_terminal env COLUMNS=40 LC_ALL=C "$GUFO" --color=never diff --values --layers a.gguf b.gguf
    has 'layer  0 .. @@ @@'
    run on_terminal env COLUMNS=40 "$GUFO" --color=always diff --values --layers a.gguf b.gguf
    has $'\e[48;5;196;38;5;231m  \e[0m'
}

@test "diff: colours of lines" {
    make_model a.gguf
    gufo edit -q a.gguf -o b.gguf --set general.name=Other --set general.author=me --remove llama.attention.head_count_kv
    run -1 gufo diff --color=always a.gguf b.gguf
    has $'\e[31m- llama.attention.head_count_kv'
    has $'\e[32m+ general.author'
    has $'\e[33m! general.name'
    run -1 gufo diff a.gguf b.gguf
    lacks $'\e'
}
