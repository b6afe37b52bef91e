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

@test "diff: bad files and wrong usage" {
    make_model a.gguf
    head -c 300 a.gguf >cut.gguf
    run -3 --separate-stderr gufo diff a.gguf cut.gguf
    [[ $stderr == 'gufo: cut.gguf: byte '* ]]
    run -3 gufo diff nothing a.gguf
    run -2 gufo diff a.gguf
    run -2 gufo diff
    run -2 --separate-stderr gufo diff a.gguf -
    same_error 'gufo: -: standard input cannot be compared; give a file'
    run -2 bash -c '"$GUFO" diff a.gguf <(cat a.gguf)'
}
