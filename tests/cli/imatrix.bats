#!/usr/bin/env bats
# gufo imatrix

# bats sets stderr; some commands are for another shell; reading a pipe is the point of `cat |`.
# shellcheck disable=SC2154,SC2016,SC2002

load common

make_imatrix() {
    "$GUFO_TEST_BIN/make_imatrix" "$@"
}

# Two tensors, one of three experts of which the second was never reached.
make_both() {
    make_imatrix m.gguf gguf chunks 4 dataset a.txt dataset b.txt \
        entry blk.0.attn_q.weight 2048 1024,3072,4608 \
        entry blk.0.ffn_down_exps.weight 1000,0,1 1000,2000,0,0,3,4
    make_imatrix m.dat dat chunks 4 dataset a.txt entry blk.0.attn_q.weight 4 2,6,9
}

@test "imatrix show: facts and a line per tensor" {
    make_both
    run -0 gufo imatrix show m.gguf
    same 'm.gguf
  Format      gguf
  Chunks      4 of 512 tokens
  Datasets    a.txt
              b.txt
  Experts     2 of 3 reached

Entries (2)
  name                        shape  chunks               min      mean       max     top
  blk.0.attn_q.weight         3      4                    0.5      1.42      2.25       2
  blk.0.ffn_down_exps.weight  2 x 3  0 to 1.953             1       2.5         4       5
    never reached: 1 of 3 (1)'
    run -0 gufo imatrix show m.dat
    same 'm.dat
  Format      dat
  Chunks      4 of 512 tokens
  Datasets    a.txt

Entries (1)
  name                 shape  chunks               min      mean       max     top
  blk.0.attn_q.weight  3      4                    0.5      1.42      2.25       2'
}

@test "imatrix show: what cannot be used" {
    make_imatrix m.gguf gguf entry w 512,nan,-1,inf nan,-1,inf,3,1,1,1,1 entry v 1 1
    run -0 gufo imatrix show m.gguf
    has '  Unusable    1 of 2 entries'
    has '  w     2 x 4  1   '
    has $'\n    values that are NaN or infinite: 1\n    values that are negative: 1\n    counts that are NaN, infinite or negative: 3'
}

@test "imatrix show: many experts are cut, in JSON they are not" {
    local counts sums
    counts=$(printf '0%.0s,' {1..39})0
    sums=$(printf '1%.0s,' {1..39})1
    make_imatrix m.gguf gguf entry w "$counts" "$sums"
    run -0 gufo imatrix show m.gguf
    has 'never reached: 40 of 40 (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ...)'
    run -0 gufo imatrix show --json m.gguf
    has '36,37,38,39]'
}

@test "imatrix show --json: one object per file" {
    make_both
    run -0 gufo imatrix show --json m.gguf m.dat
    same '{"path":"m.gguf","format":"gguf","chunk_count":4,"chunk_size":512,"datasets":["a.txt","b.txt"],"entries":[{"name":"blk.0.attn_q.weight","columns":3,"matrices":1,"lowest_count":2048,"highest_count":2048,"unreached":[],"bad_counts":0,"nonfinite":0,"negative":0,"zeros":0,"minimum":0.5,"maximum":2.25,"mean":1.4166666666666667,"top":2},{"name":"blk.0.ffn_down_exps.weight","columns":2,"matrices":3,"lowest_count":0,"highest_count":1000,"unreached":[1],"bad_counts":0,"nonfinite":0,"negative":0,"zeros":0,"minimum":1,"maximum":4,"mean":2.5,"top":5}]}
{"path":"m.dat","format":"dat","chunk_count":4,"chunk_size":512,"datasets":["a.txt"],"entries":[{"name":"blk.0.attn_q.weight","columns":3,"matrices":1,"lowest_count":2048,"highest_count":2048,"unreached":[],"bad_counts":0,"nonfinite":0,"negative":0,"zeros":0,"minimum":0.5,"maximum":2.25,"mean":1.4166666666666667,"top":2}]}'
}

@test "imatrix show: names from files are escaped" {
    make_imatrix m.dat dat dataset $'\e[31m.txt' entry $'w\e[2J' 1 1
    run -0 gufo imatrix show m.dat
    lacks $'\e'
    has 'w\u{1b}[2J'
    has '\u{1b}[31m.txt'
}

@test "imatrix convert: there and back, bit by bit" {
    make_imatrix m.dat dat chunks 7 dataset text.raw entry a 7 0.1,3e-39,1e30 entry b 3 1,2,0.333
    gufo imatrix convert m.dat x.gguf
    gufo imatrix convert x.gguf x.dat
    cmp m.dat x.dat
    gufo imatrix convert m.dat y.dat
    cmp m.dat y.dat
    make_both
    gufo imatrix convert m.gguf y.gguf
    cmp m.gguf y.gguf
}

@test "imatrix convert: the format follows the name, or --format" {
    make_both
    gufo imatrix convert m.dat out.imatrix
    cmp -n 4 out.imatrix m.gguf
    gufo imatrix convert --format dat m.dat other.gguf
    cmp other.gguf m.dat
    gufo imatrix convert --format=gguf m.gguf other.dat
    cmp other.dat m.gguf
    run -2 gufo imatrix convert --format zip m.dat out
    same "gufo: --format is gguf or dat, not 'zip' (see gufo help imatrix)"
}

@test "imatrix convert: what the old format cannot hold is reported" {
    make_imatrix m.gguf gguf chunks 1 dataset a dataset b entry none 0 1 entry some 512 512
    run -0 --separate-stderr gufo imatrix convert m.gguf m.dat
    same_error 'gufo: m.dat: warning: 1 entry without data is left out: the old format has no place for it
gufo: m.dat: warning: the old format keeps the name of one dataset, the last'
    make_imatrix expected.dat dat chunks 1 dataset b entry some 1 1
    cmp m.dat expected.dat
    run -0 --separate-stderr gufo imatrix convert -q --force m.gguf m.dat
    same_error ''
}

@test "imatrix convert: what is left out is counted as the counts are rounded" {
    make_imatrix m.gguf gguf chunks 1 entry none 0 1 entry next 0.3,0 1,2 entry some 0.7 512
    run -0 --separate-stderr gufo imatrix convert --json m.gguf m.dat
    same_error 'gufo: m.dat: warning: 2 entries without data are left out: the old format has no place for them'
    has '"entry_count":1,'
    run -0 gufo imatrix show m.dat
    has 'Entries (1)'
}

@test "imatrix convert: --chunk-size is the number of tokens of a chunk of a .dat" {
    make_both
    gufo imatrix convert --chunk-size 100 m.dat x.gguf
    make_imatrix expected.gguf gguf chunks 4 size 100 dataset a.txt entry blk.0.attn_q.weight 400 200,600,900
    cmp x.gguf expected.gguf
    run -2 gufo imatrix convert --chunk-size 0 m.dat y.gguf
    [ ! -e y.gguf ]
}

@test "imatrix merge: sums and counts add up" {
    make_both
    gufo imatrix merge sum.gguf m.gguf m.gguf m.dat
    make_imatrix expected.gguf gguf chunks 12 dataset a.txt dataset b.txt dataset a.txt dataset b.txt dataset a.txt \
        entry blk.0.attn_q.weight 6144 3072,9216,13824 \
        entry blk.0.ffn_down_exps.weight 2000,0,2 2000,4000,0,0,6,8
    cmp sum.gguf expected.gguf
    run -0 gufo imatrix merge --json one.gguf m.dat
    same '{"path":"one.gguf","format":"gguf","entry_count":1,"chunk_count":4,"chunk_size":512}'
}

@test "imatrix merge: of different models is refused" {
    make_imatrix a.gguf gguf entry w 512 1,2,3
    make_imatrix b.gguf gguf entry w 512 1,2,3,4
    run -3 gufo imatrix merge sum.gguf a.gguf b.gguf
    same 'gufo: b.gguf: the entry for "w" has 4 values in 1 matrices, but 3 in 1 before: these importance matrices were made from different models'
    [ ! -e sum.gguf ]
}

@test "imatrix: what would become infinite or could not be read again is refused" {
    make_imatrix m.gguf gguf entry w 512 3e38
    run -3 gufo imatrix merge sum.gguf m.gguf m.gguf
    same 'gufo: sum.gguf: a number of the entry for "w" is 6e+38, beyond the range of a float'
    make_imatrix m.dat dat entry w 1 1e38
    run -3 gufo imatrix convert m.dat sum.gguf
    has 'beyond the range of a float'
    make_imatrix long.gguf gguf dataset "$(printf 'd%.0s' {1..65536})" entry w 512 1
    run -3 gufo imatrix convert long.gguf long.dat
    same 'gufo: long.dat: the name of the last dataset has 65,536 bytes, more than 65,535'
    run ls -A
    same $'long.gguf\nm.dat\nm.gguf'
}

@test "imatrix: an output that exists is kept, or replaced as a whole" {
    make_both
    echo old >out.gguf
    run -2 gufo imatrix convert m.dat out.gguf
    same 'gufo: out.gguf: target exists already (--force replaces it)'
    [ "$(cat out.gguf)" = old ]
    gufo imatrix convert --force m.gguf out.gguf
    cmp m.gguf out.gguf
    gufo imatrix merge --force out.gguf out.gguf
    cmp m.gguf out.gguf
    run ls -A
    same $'m.dat\nm.gguf\nout.gguf'
}

@test "imatrix: to standard output and to a pipe" {
    make_both
    gufo imatrix convert m.gguf - | cmp - m.gguf
    gufo imatrix convert --format dat m.dat - | cmp - m.dat
    mkfifo pipe
    gufo imatrix merge pipe m.gguf &
    cmp pipe m.gguf
    wait $!
    run -2 gufo imatrix convert --json m.gguf -
    same "gufo: --json and '-' as output exclude each other (see gufo help imatrix)"
}

@test "imatrix: no space left leaves nothing behind" {
    make_both
    run -3 gufo imatrix convert m.gguf /dev/full
    has 'No space left on device'
    (ulimit -f 0 && run -3 gufo imatrix convert m.gguf big.gguf)
    run ls -A
    same $'m.dat\nm.gguf'
}

@test "imatrix: input that not an importance matrix" {
    make_model model.gguf
    run -3 gufo imatrix show model.gguf
    same 'gufo: model.gguf: not an importance matrix: no tensor has a name that ends in .in_sum2'
    echo '<!DOCTYPE html><html>' >page.dat
    run -3 gufo imatrix show page.dat
    has 'page.dat: byte 0: not an importance matrix, but an HTML page'
    run -3 gufo imatrix merge out.gguf page.dat
    [ ! -e out.gguf ]
    make_both
    head -c 50 m.dat >cut.dat
    run -3 gufo imatrix show cut.dat m.dat
    has 'cut.dat: byte 47: the file ends inside the number of chunks'
    has 'blk.0.attn_q.weight'
    run -3 gufo imatrix show missing.gguf
    has 'missing.gguf: cannot open: No such file or directory'
}

@test "imatrix: standard input must be a file" {
    make_both
    run -0 gufo imatrix show - <m.dat
    has 'Entries (1)'
    run -2 bash -c 'cat m.dat | "$GUFO" imatrix show -'
    has 'which a pipe does not allow'
}

@test "imatrix: wrong usage" {
    make_both
    run -2 gufo imatrix
    same 'gufo: the subcommand is missing: show, merge or convert (see gufo help imatrix)'
    run -2 gufo imatrix shwo m.dat
    same "gufo: unknown subcommand 'shwo'; did you mean 'show'? (see gufo help imatrix)"
    run -2 gufo imatrix show
    run -2 gufo imatrix merge out.gguf
    run -2 gufo imatrix convert m.dat
    run -2 gufo imatrix convert m.dat a b
    run -2 gufo imatrix convert --bogus m.dat a
    [ ! -e out.gguf ]
    [ ! -e a ]
}

@test "imatrix show: more matrices than are read at a time" {
    "$GUFO_TEST_BIN/make_many" matrices 3000 m.gguf
    run -0 gufo imatrix show m.gguf
    has "blk.0.ffn_up_exps.weight  1 x 3000"
    has "never reached: 3,000 of 3,000 (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ...)"
    size=$(stat -c %s m.gguf)
    at() { printf '\0\0\200?' | dd of=m.gguf bs=1 seek=$((size - 12000 + 4 * $1)) conv=notrunc status=none; }
    at 1024 && at 2047
    run -0 gufo imatrix show --json m.gguf
    has ',1023,1025,1026,'
    has ',2046,2048,2049,'
    has ',2999],"bad_counts":0,'
    run -0 gufo imatrix show m.gguf
    has "never reached: 2,998 of 3,000 (0, 1,"
}

@test "imatrix: a shard of several is refused, the first one, too" {
    for number in 1 2; do
        make_gguf "m-0000$number-of-00002.gguf" kv split.no uint16 $((number - 1)) \
            kv split.count uint16 2 kv split.tensors.count int32 2 tensor "t$number" 0 8 32
        run -3 --separate-stderr gufo imatrix show "m-0000$number-of-00002.gguf"
        same_error "gufo: m-0000$number-of-00002.gguf: the file is one of several shards; an importance matrix is a single file"
    done
}
