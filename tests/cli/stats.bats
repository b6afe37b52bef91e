#!/usr/bin/env bats
# bats file_tags=plain
# gufo stats

# bats sets stderr; some commands are for another shell; reading a pipe is the point of `cat |`.
# shellcheck disable=SC2154,SC2016,SC2002

load common

# A model with an I8 tensor of rows 1 2 3 4 and -8 0 0 4, an F16 tensor of 2 x 2 ones with a NaN and
# an infinity, and one of a type that nobody knows.
make_numbers() {
    local at
    make_gguf "$1" kv general.architecture string x tensor blk.0.a.weight 24 4x2 8 \
        tensor blk.0.b.weight 1 2x2 8 tensor odd 57 4 8
    at=$(($(stat -c %s "$1") - 96))
    make_gguf "$1" kv general.architecture string x tensor blk.0.a.weight 24 4x2 8 \
        tensor blk.0.b.weight 1 2x2 8 tensor odd 57 4 8 \
        poke $at 01020304f8000004 poke $((at + 32)) 003c003c007e00fc
}

# value KEY: the member of that name in the JSON output.
value() {
    grep -oE "\"$1\":(\"[^\"]*\"|\{[^}]*\}|\[[^]]*\]|[^,}]*)" <<<"$output" | head -n 1 | cut -d: -f2-
}

@test "stats: a table, what is not finite, and totals" {
    make_numbers m.gguf
    run -0 --separate-stderr gufo stats m.gguf --tensors 'blk.*' --tensors odd
    same_error ''
    [ "${lines[0]}" = 'm.gguf' ]
    [ "${lines[1]}" = 'Tensors (3)' ]
    [ "${lines[2]}" = '  name            type     shape         min         max        mean        std     zeros  outliers' ]
    [ "${lines[3]}" = '  blk.0.a.weight  I8       4 x 2          -8           4        0.75      3.631      25 %         0' ]
    has '  blk.0.b.weight  F16      2 x 2           1           1           1          0       0 %         0
    NaN: 1, in row 1, column 0
    negative infinity: 1, in row 1, column 1
'
    has '  odd             type 57  4    
    tensor "odd" has element type 57, which is not known
'
    [ "${lines[-2]}" = '3 tensors, 12 values: 2 infinite or NaN, 0 outliers, 20 % zeros' ]
    [ "${lines[-1]}" = '1 tensor was not decoded' ]
}

@test "stats: a histogram, in blocks or in plain characters" {
    make_numbers m.gguf
    run -0 gufo stats m.gguf --tensors 'blk.0.a.*'
    # -8 1 2 3 once, 0 and 4 twice: half as high.
    has '
                                              █                    █
                                              █                    █
    █                                         █     █    █    █    █
    █                                         █     █    █    █    █
    -8                                                             4
'
    LC_ALL=C run -0 gufo stats m.gguf --tensors 'blk.0.a.*'
    has '
                                              #                    #
                                              #                    #
    #                                         #     #    #    #    #
    #                                         #     #    #    #    #
    -8                                                             4
'
}

@test "stats: figures that are nearly, but not quite, all or nothing" {
    make_gguf m.gguf tensor a 24 10000 10000
    at=$(($(stat -c %s m.gguf) - 10016))
    make_gguf m.gguf tensor a 24 10000 10000 poke $at "$(printf '00%.0s' {1..9996})"
    run -0 gufo stats m.gguf
    has '  >99.9 %'
    lacks '100 %'
    make_gguf m.gguf tensor a 0 1 4
    run -0 gufo stats m.gguf
    has '1 tensor, 1 value: '
    # -0 is 0
    at=$(($(stat -c %s m.gguf) - 32))
    make_gguf m.gguf tensor a 0 1 4 poke $at 00000080
    run -0 gufo stats m.gguf
    lacks '-0 '
    lacks $'-0\n'
    run -0 gufo stats --json m.gguf
    has '"minimum":0,'
    has '"low":0,"high":0,'
}

@test "stats: histograms of many tensors only with -v" {
    make_gguf m.gguf tensor a 24 4 4 tensor b 24 4 4 tensor c 24 4 4 tensor d 24 4 4 tensor e 24 4 4
    run -0 gufo stats m.gguf
    lacks '█'
    [ "${#lines[@]}" -eq 9 ]
    run -0 gufo stats -v m.gguf
    [ "$(grep -c '█' <<<"$output")" -eq 20 ]
    has '    min in row 0, column 0
    max in row 0, column 0
'
    run -0 gufo stats m.gguf --tensors '[abcd]'
    [ "$(grep -c '█' <<<"$output")" -eq 16 ]
}

@test "stats: a tensor without finite numbers has a dash in each column" {
    make_gguf m.gguf kv general.architecture string x tensor empty 0 0x5 0
    run -0 gufo stats m.gguf
    [ "${lines[3]}" = '  empty  F32   0 x 5           -           -           -          -         -         -' ]
}

@test "stats: patterns select tensors, and may match nothing" {
    make_numbers m.gguf
    run -0 gufo stats m.gguf --tensors='*.a.*'
    has 'Tensors (1 of 3)'
    lacks 'blk.0.b.weight'
    run -1 --separate-stderr gufo stats m.gguf --tensors nothing
    same ''
    same_error "gufo: m.gguf: no tensor matches 'nothing'"
    run -1 --separate-stderr gufo stats --json m.gguf --tensors nothing --tensors 'x*'
    same ''
    same_error "gufo: m.gguf: no tensor matches 'nothing' or the other patterns"
    make_gguf empty.gguf kv general.architecture string x
    run -0 gufo stats empty.gguf
    has 'Tensors (0)'
}

@test "stats --json: one object with every figure" {
    make_numbers m.gguf
    run -0 --separate-stderr gufo stats --json m.gguf --tensors 'blk.0.a.*'
    same_error ''
    [ "${#lines[@]}" -eq 1 ]
    has '{"path":"m.gguf","tensors":[{"name":"blk.0.a.weight","type":"I8","dims":[4,2],"elements":8,"looked_at":8,"finite":8,"nan":{"count":0},"positive_infinity":{"count":0},"negative_infinity":{"count":0},"bad_scales":{"count":0},"zeros":2,"minimum":-8,"minimum_at":{"matrix":0,"row":1,"column":0},"maximum":4,"maximum_at":{"matrix":0,"row":0,"column":3},"mean":0.75,"standard_deviation":3.6314597615834874,'
    has '"root_mean_square":3.7080992435478315,"peak":2.157439559882375,"top_energy":0.5818181818181818,'
    lacks '"scales"'
    has '"outliers_below":0,"outliers_above":0,"histogram":{"low":-8,"high":4,"counts":[1,0,'
    has '],"totals":{"tensors":1,"undecoded":0,"looked_at":8,"finite":8,"bad_scales":0,"zeros":2,"outliers":0}}'
    [ "$(value counts | tr ',' '\n' | wc -l)" -eq 64 ]
    size=$(stat -c %s m.gguf)
    run -0 gufo stats --json m.gguf
    has "\"nan\":{\"count\":1,\"first\":{\"matrix\":0,\"row\":1,\"column\":0},\"offset\":$((size - 60))}"
    has '"elements":4,"error":"tensor \"odd\" has element type 57, which is not known"}'
}

@test "stats: scales of blocks" {
    "$GUFO_EXAMPLES/make_sample" sample.gguf
    gufo quantize -q sample.gguf q.gguf Q4_1 --pure
    run -0 gufo stats --json q.gguf --tensors blk.0.ffn_down.weight
    has '"scales":{"count":320,"zeros":0,"negative":0,"subnormal":0,"saturated":0,"nonfinite":0,"exponents":[0,0,'
    has '"minimums":{"count":320,"zeros":0,"negative":320,"subnormal":0,'
    [ "$(value exponents | tr ',' '\n' | wc -l)" -eq 64 ]
    # Of Q8_0, three scales of 0 and a subnormal one.
    make_gguf m.gguf tensor a 8 32x4 136
    at=$(($(stat -c %s m.gguf) - 160)) # with padding
    make_gguf m.gguf tensor a 8 32x4 136 poke $at 0000 poke $((at + 34)) 0100 poke $((at + 68)) 0000 \
        poke $((at + 102)) 0000
    run -0 gufo stats -v m.gguf
    has '    scales of 4 blocks: 3 zero, 1 subnormal, 0 saturated'
    run -0 gufo stats m.gguf
    lacks 'saturated'
}

@test "stats: the same with any number of threads and every processor level" {
    "$GUFO_EXAMPLES/make_sample" sample.gguf
    run -0 gufo stats --json --threads 1 sample.gguf
    first=$output
    run -0 gufo stats --json --threads 7 sample.gguf
    same "$first"
    GUFO_CPU=portable run -0 gufo stats --json sample.gguf
    same "$first"
    GUFO_CPU=abacus run -2 gufo stats sample.gguf
}

@test "stats: what cannot be read" {
    run -3 --separate-stderr gufo stats missing.gguf
    same_error 'gufo: missing.gguf: cannot open: No such file or directory'
    same ''
    make_gguf m.gguf tensor a 24 8x4 32 tensor b 24 8x4 32 cut -10
    run -3 --separate-stderr gufo stats m.gguf
    same ''
    [[ "$stderr" == 'gufo: m.gguf: byte '*'10 bytes missing'* ]]
    run -1 gufo stats --lenient m.gguf
    has '    only 22 of 32 values are there'
    has '2 tensors, 54 values'
    run -2 gufo stats
    run -2 gufo stats m.gguf --tensors
    make_numbers good.gguf
    run -3 gufo stats missing.gguf good.gguf
    has '  blk.0.a.weight  I8 '
}

@test "stats: tensors with the same data are not looked at again" {
    make_gguf m.gguf tensor a 0 8 32 tensor b 0 8 0 tensor c 0 8 64
    run -1 --separate-stderr gufo stats --lenient m.gguf
    has '3 tensors, 16 values'
    has '1 tensor was not decoded'
    has 'its data begins inside that of another tensor'
    run -1 --separate-stderr gufo stats --lenient --tensors=b m.gguf
    has '1 tensor, 8 values'
    lacks 'inside'
    run -1 --separate-stderr gufo stats --lenient --json m.gguf
    has '"undecoded":1,"looked_at":16,'
    # All data of this file would be 60 GB; it is a few MB.
    "$GUFO_TEST_BIN/make_many" overlaps 40000 many.gguf
    run -1 --separate-stderr gufo stats --lenient --json many.gguf
    has '"totals":{"tensors":40000,"undecoded":39999,'
}

@test "stats: a set, and a set that lacks a shard" {
    make_shards m
    run -0 --separate-stderr gufo stats m-00001-of-00002.gguf
    same_error ''
    has 'Tensors (2)'
    run -0 gufo stats --json m-00001-of-00002.gguf
    has '"shards":["m-00001-of-00002.gguf","m-00002-of-00002.gguf"],"tensors":[{'
    has '"elements":16,"shard":2,'
    rm m-00002-of-00002.gguf
    run -3 --separate-stderr gufo stats m-00001-of-00002.gguf
    same ''
    [[ "$stderr" == *'m-00002-of-00002.gguf'* ]]
    run -0 --separate-stderr gufo stats --single m-00001-of-00002.gguf
    same_error ''
    has 'Tensors (1)'
}

@test "stats: standard input must be a file" {
    make_numbers m.gguf
    run -0 gufo stats - <m.gguf
    has 'blk.0.a.weight'
    cat m.gguf | { run -2 --separate-stderr gufo stats -; same ''; [[ "$stderr" == *'pipe'* ]]; }
}

@test "stats: names are made safe, progress is for terminals" {
    make_gguf m.gguf tensor 'a\x1b[31m' 24 4 4
    run -0 --separate-stderr gufo stats m.gguf
    has '  a\u{1b}[31m  I8 '
    same_error ''
    need_terminal
    run -0 on_terminal "$GUFO" stats --color=never m.gguf
    has 'I8'
}
