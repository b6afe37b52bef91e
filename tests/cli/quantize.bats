#!/usr/bin/env bats
# bats file_tags=plain
# gufo quantize.

# bats sets stderr and stderr_lines.
# shellcheck disable=SC2154

load common

sample() {
    "$GUFO_EXAMPLES/make_sample" sample.gguf
}

# type_of FILE TENSOR: its element type.
type_of() {
    gufo show --json "$1" | tr '{' '\n' | sed -n "s/^\"name\":\"$2\",\"type\":\"\([^\"]*\)\".*/\1/p"
}

# is_type FILE TENSOR TYPE
is_type() {
    local type
    type=$(type_of "$1" "$2")
    [ "$type" = "$3" ] || { echo "$2 is $type, not $3"; return 1; }
}

need_patterns() {
    run gufo quantize --dry-run --tensor-type 'a=Q8_0' sample.gguf Q4_0
    [[ "$output" != *PCRE2* ]] || skip "built without PCRE2"
}

@test "quantize: makes a valid file of the type" {
    sample
    run -0 --separate-stderr gufo quantize sample.gguf out.gguf Q8_0
    [ "${#stderr_lines[@]}" -eq 0 ]
    has 'sample.gguf as Q8_0, out.gguf: 240 KB of tensors become'
    has 'Relative RMSE'
    run -0 gufo validate --level structure out.gguf
    same 'out.gguf: valid'
    is_type out.gguf blk.0.attn_q.weight Q8_0
    is_type out.gguf blk.0.attn_norm.weight F32
    run -0 gufo get out.gguf general.file_type
    same 7
    run -0 gufo get out.gguf general.quantization_version
    same 2
    files sample.gguf out.gguf
}

@test "quantize: type names, numbers and case" {
    sample
    for type in q8_0 7 Q8_0; do
        run -0 gufo quantize -q --force sample.gguf out.gguf "$type"
        same ''
        is_type out.gguf blk.0.attn_q.weight Q8_0
    done
    run -0 gufo quantize -q --force --pure sample.gguf out.gguf Q4_0
    is_type out.gguf output.weight Q4_0
    run -0 gufo quantize -q --force sample.gguf out.gguf F32
    is_type out.gguf output.weight F32
}

@test "quantize: the format's own names of types" {
    sample
    run -0 gufo quantize -q sample.gguf plain.gguf Q4_0
    for type in MOSTLY_Q4_0 LLAMA_FTYPE_MOSTLY_Q4_0 mostly_q4_0; do
        run -0 gufo quantize -q --force sample.gguf out.gguf "$type"
        cmp plain.gguf out.gguf
    done
    # An element type is no mixture.
    run -0 gufo quantize -q --pure sample.gguf pure.gguf Q4_0
    run -0 gufo quantize -q --force sample.gguf out.gguf GGML_TYPE_Q4_0
    cmp pure.gguf out.gguf
    run -0 gufo quantize -q --force --output-tensor-type ggml_type_f16 sample.gguf out.gguf MOSTLY_Q4_0
    is_type out.gguf output.weight F16
    run -0 gufo quantize -q --to . sample.gguf MOSTLY_Q5_0,GGML_TYPE_Q8_0
    run -2 --separate-stderr gufo quantize sample.gguf out.gguf MOSTLY_Q4_K_X
    [[ "$stderr" == *"unknown type 'MOSTLY_Q4_K_X'"* ]]
    run -2 --separate-stderr gufo quantize --output-tensor-type MOSTLY_Q4_0 sample.gguf out.gguf Q4_0
    [[ "$stderr" == *"--output-tensor-type: unknown type 'MOSTLY_Q4_0'"* ]]
    need_patterns
    run -0 gufo quantize -q --force --tensor-type 'ffn_up=GGML_TYPE_Q8_0' sample.gguf out.gguf Q4_0
    is_type out.gguf blk.0.ffn_up.weight Q8_0
}

@test "quantize: types in any case, with or without underscores, and what there is for a number of bits" {
    sample
    run -0 gufo quantize -q sample.gguf plain.gguf Q4_K_M
    for type in q4km Q4-K-M; do
        run -0 gufo quantize -q --force sample.gguf out.gguf "$type"
        cmp plain.gguf out.gguf
    done
    run -0 gufo quantize -q --force --pure --output-tensor-type q80 sample.gguf out.gguf q40
    is_type out.gguf output.weight Q8_0
    run -0 gufo explain q4km
    has 'Q4_K_M'
    for vague in 4bit Q4 int4 4-bit; do
        run -2 --separate-stderr gufo quantize sample.gguf new.gguf "$vague"
        [[ "$stderr" == "gufo: unknown type '$vague'; there are "*"Q4_0, "*"Q4_K_M, "*"IQ4_XS"*" (see gufo help quantize)" ]]
        [[ "$stderr" != *Q5* ]]
    done
    run -2 --separate-stderr gufo quantize --output-tensor-type Q8 sample.gguf new.gguf Q4_0
    [[ "$stderr" == "gufo: --output-tensor-type: unknown type 'Q8'; there are Q8_0"* ]]
}

@test "quantize: arguments as llama-quantize reads them" {
    mkdir models
    sample
    mv sample.gguf models/m.gguf
    run -0 gufo quantize models/m.gguf Q8_0 # without OUT the name conforms, and the report has it
    has 'models/gufo-sample-119K-v1.0-Q8_0.gguf'
    run -0 gufo name models/gufo-sample-119K-v1.0-Q8_0.gguf
    run -0 gufo quantize -q models/m.gguf q4_0 2
    [ -f models/gufo-sample-119K-v1.0-Q4_0.gguf ]
    run -0 gufo quantize -q models/m.gguf out.gguf Q5_1 2
    run -2 --separate-stderr gufo quantize models/m.gguf out2.gguf Q5_1 two
    [[ "$stderr" == "gufo: THREADS needs a whole number"* ]]
    run -2 --separate-stderr gufo quantize models/m.gguf out2.gguf Q5_1 2 3
    [ "${#stderr_lines[@]}" -eq 1 ]
    run -2 --separate-stderr gufo quantize models/m.gguf
    [ "${#stderr_lines[@]}" -eq 1 ]
    run -2 --separate-stderr gufo quantize - out2.gguf Q8_0
    [ "${#stderr_lines[@]}" -eq 1 ]
    run -2 --separate-stderr gufo quantize models/m.gguf - Q8_0
    [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "quantize: unknown words and the nearest known one" {
    sample
    run -2 --separate-stderr gufo quantize sample.gguf out.gguf Q4_X_M
    same_error "gufo: unknown type 'Q4_X_M'; did you mean 'Q4_K_M'? (see gufo help quantize)"
    run -2 --separate-stderr gufo quantize --output-tensor-type q8_k0 sample.gguf out.gguf Q8_0
    [[ "$stderr" == "gufo: --output-tensor-type: unknown type 'q8_k0'; did you mean 'Q8_"* ]]
    run -2 --separate-stderr gufo quantize --output-tensor-type Q4_2 sample.gguf out.gguf Q8_0
    [[ "$stderr" == *"Q4_2 can no longer be made"* ]]
    run -2 --separate-stderr gufo quantize sample.gguf out.gguf nothing_like_a_type
    [[ "$stderr" != *"did you mean"* ]]
    for wrong in "--effort=much" "--memory=much" "--memory=0" "--memory=12X" "--prune-layers=1,x" \
        "--prune-layers=" "--override-kv=key" "--override-kv=key=5" "--override-kv==int:5"; do
        run -2 --separate-stderr gufo quantize "$wrong" sample.gguf out.gguf Q8_0
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
    files sample.gguf
}

@test "quantize: an output that exists, and one that is the input" {
    sample
    echo precious >out.gguf
    run -2 --separate-stderr gufo quantize sample.gguf out.gguf Q8_0
    same_error 'gufo: out.gguf: target exists already (--force replaces it)'
    [ "$(cat out.gguf)" = precious ]
    cp sample.gguf before
    ln sample.gguf hard.gguf
    ln -s sample.gguf soft.gguf
    for same in sample.gguf hard.gguf soft.gguf; do
        run -2 --separate-stderr gufo quantize --force sample.gguf "$same" Q8_0
        [[ "$stderr" == "gufo: $same: the output is the input"* ]]
    done
    cmp before sample.gguf
    run -0 gufo quantize -q --force sample.gguf out.gguf Q8_0
    files sample.gguf before hard.gguf soft.gguf out.gguf
}

@test "quantize: rows that do not fill blocks" {
    sample
    run -0 --separate-stderr gufo quantize -q sample.gguf quiet.gguf Q4_K_M
    same_error ''
    run -0 --separate-stderr gufo quantize sample.gguf out.gguf Q4_K_M
    [[ "${stderr_lines[0]}" == "gufo: sample.gguf: warning: 13 tensors get Q5_0 instead of Q4_K ("*" bytes more" ]]
    is_type out.gguf blk.0.attn_q.weight Q5_0
    run -2 --separate-stderr gufo quantize --no-fallback sample.gguf other.gguf Q4_K_M
    [[ "$stderr" == 'gufo: sample.gguf: tensor "token_embd.weight" has rows of 64'* ]]
    [ ! -e other.gguf ]
}

@test "quantize: what is quantized already" {
    sample
    gufo quantize -q sample.gguf q.gguf Q8_0
    run -2 --separate-stderr gufo quantize q.gguf out.gguf Q4_0
    [[ "$stderr" == *'is quantized already'*'(--allow-requantize accepts it)' ]]
    run -0 gufo quantize -q --allow-requantize q.gguf out.gguf Q4_0
    is_type out.gguf blk.0.attn_q.weight Q4_0
    run -0 gufo quantize -q --allow-requantize q.gguf f.gguf F16
    is_type f.gguf blk.0.attn_q.weight F16
    # A copy is the same tensors again.
    run -0 gufo quantize -q q.gguf copy.gguf COPY
    cmp <(tail -c 60000 q.gguf) <(tail -c 60000 copy.gguf)
}

@test "quantize: types by name" {
    sample
    need_patterns
    run -0 gufo quantize -q --tensor-type 'attn_[qk]\.=Q4_1' --tensor-type 'attn_q=Q5_1' \
        --tensor-type '^ATTN=F16' --output-tensor-type f16 --token-embedding-type q5_0 \
        sample.gguf out.gguf Q4_0
    is_type out.gguf blk.0.attn_q.weight Q4_1
    is_type out.gguf blk.1.attn_k.weight Q4_1
    is_type out.gguf blk.0.attn_v.weight Q4_0
    is_type out.gguf output.weight F16
    is_type out.gguf token_embd.weight Q5_0
    printf 'attn_q=Q5_1\n\n  attn_k=Q8_0 \t ffn(?=_up)=F16\n' >types
    run -0 gufo quantize -q --tensor-type-file types sample.gguf two.gguf Q4_0
    is_type two.gguf blk.0.attn_q.weight Q5_1
    is_type two.gguf blk.0.attn_k.weight Q8_0
    is_type two.gguf blk.0.ffn_up.weight F16
    is_type two.gguf blk.0.ffn_gate.weight Q4_0
    run -0 gufo quantize -q --leave-output-tensor sample.gguf three.gguf Q4_0
    is_type three.gguf output.weight F16
    run -2 --separate-stderr gufo quantize --tensor-type 'a(=Q8_0' sample.gguf four.gguf Q4_0
    [[ "$stderr" == "gufo: --tensor-type: pattern 'a(': "*"at character 3" ]]
    run -2 --separate-stderr gufo quantize --tensor-type 'a' sample.gguf four.gguf Q4_0
    [[ "$stderr" == "gufo: --tensor-type needs PATTERN=TYPE"* ]]
    run -2 --separate-stderr gufo quantize --tensor-type 'a=' sample.gguf four.gguf Q4_0
    same_error "gufo: --tensor-type: unknown type '' (see gufo help quantize)"
    printf 'attn_q=Q5_1\r\nattn_k\r\n' >types
    run -2 --separate-stderr gufo quantize --tensor-type-file types sample.gguf four.gguf Q4_0
    same_error 'gufo: types: line 2: PATTERN=TYPE is needed, not "attn_k"'
    run -2 --separate-stderr gufo quantize --tensor-type-file missing sample.gguf four.gguf Q4_0
    same_error 'gufo: missing: No such file or directory'
    printf 'attn_k=Q8_0\n\0' >zero
    run -2 --separate-stderr gufo quantize --tensor-type-file zero sample.gguf four.gguf Q4_0
    same_error "gufo: zero: it has a NUL, and is not a list of patterns"
    run -2 --separate-stderr gufo quantize \
        --tensor-type '^(([a-z0-9_.])+)+[!?]=Q8_0' sample.gguf four.gguf Q4_0
    [[ "$stderr" == *"takes too many steps"* ]]
    run -1 --separate-stderr gufo quantize --tensor-type '^ATTN=Q8_0' sample.gguf four.gguf Q4_0
    [[ "$stderr" == *"sample.gguf: warning: no tensor matches '^ATTN'"* ]]
    [[ "$stderr" == *"no tensor matches a --tensor-type pattern; nothing was written" ]]
    run -1 gufo quantize -q --dry-run --tensor-type '^ATTN=Q8_0' sample.gguf Q4_0
    [ ! -e four.gguf ]
}

@test "quantize: metadata that is overridden" {
    sample
    run -0 gufo quantize -q --override-kv general.name=str:New:name=x \
        --override-kv llama.context_length=int:77 --override-kv my.float=float:0.5 \
        --override-kv my.bool=bool:true --override-kv my.negative=int:-5 \
        --override-kv my.large=int:5000000000 sample.gguf out.gguf Q8_0
    for pair in "general.name New:name=x" "llama.context_length 77" "my.float 0.5" "my.bool true" \
        "my.negative -5" "my.large 5000000000"; do
        run -0 gufo get out.gguf "${pair%% *}"
        same "${pair#* }"
    done
    run -0 gufo get --json out.gguf llama.context_length
    has '"type":"uint32"'
    run -0 gufo get --json out.gguf my.negative
    has '"type":"int32"'
    for wrong in a=int:x a=bool:yes a=float:1x a=float:1e300 a=float:1e999 \
        a=int:99999999999999999999 a=word:1; do
        run -2 --separate-stderr gufo quantize --override-kv "$wrong" sample.gguf two.gguf Q8_0
        [[ "$stderr" == "gufo: --override-kv a: "* ]]
    done
    run -2 --separate-stderr gufo quantize --override-kv general.alignment=int:7 \
        sample.gguf two.gguf Q8_0
    [[ "$stderr" == "gufo: sample.gguf: general.alignment is 7; "* ]]
    run -2 --separate-stderr gufo quantize --override-kv 'bad key=int:7' sample.gguf two.gguf Q8_0
    [[ "$stderr" == 'gufo: sample.gguf: key "bad key" holds'* ]]
    files sample.gguf out.gguf
}

@test "quantize: a type that cannot be decoded" {
    make_gguf m.gguf tensor a.weight 37 64x4 160 tensor b.weight 0 64x4 1024
    run -0 --separate-stderr gufo quantize m.gguf out.gguf Q8_0
    same_error 'gufo: m.gguf: warning: a.weight: its type cannot be decoded, so it is kept'
    [ "${lines[1]}" = 'Type       Tensors       Size  Bits/weight  Relative RMSE  Largest error' ]
    [[ "${lines[2]}" == 'IQ4_NL_4_8       1  160 bytes '* ]]
    run -0 gufo quantize -q --dry-run m.gguf Q8_0
    [ "${lines[0]}" = 'Tensor    Shape   From        To                 Bytes  Why' ]
    [ "${lines[1]}" = 'a.weight  64 x 4  IQ4_NL_4_8  IQ4_NL_4_8           160  unknown type' ]
    [ "${lines[2]}" = 'b.weight  64 x 4  F32         Q8_0                 272  target' ]
}

@test "quantize: layers that are left out" {
    sample
    run -0 gufo quantize -q --prune-layers 0 sample.gguf out.gguf Q8_0
    run -0 gufo get out.gguf llama.block_count
    same 1
    is_type out.gguf blk.0.attn_q.weight Q8_0
    run -1 gufo show -q --tensors='blk.1.*' out.gguf
    has 'Tensors (0 of 12)'
    run -2 --separate-stderr gufo quantize --prune-layers 9 sample.gguf two.gguf Q8_0
    same_error 'gufo: sample.gguf: the model has no layer 9 to leave out'
}

@test "quantize: a dry run writes nothing" {
    sample
    run -0 --separate-stderr gufo quantize --dry-run sample.gguf Q4_K_M
    has 'Why'
    has 'blk.0.attn_q.weight       64 x 64   F16      Q5_0'
    has 'rows do not fill blocks of Q4_K'
    run -0 gufo quantize --dry-run sample.gguf out.gguf Q4_K_M
    run -0 gufo quantize --dry-run --json sample.gguf Q8_0
    has '"output":null'
    files sample.gguf
    echo old >out.gguf
    run -0 gufo quantize --dry-run sample.gguf out.gguf Q4_K_M # that it exists is no matter
    [ "$(cat out.gguf)" = old ]
}

# What cannot be made can be looked at: that does not take an importance matrix yet.
@test "quantize: a dry run of what needs importance" {
    make_gguf m.gguf tensor a.weight 0 256x4 4096
    run -0 --separate-stderr gufo quantize --dry-run m.gguf IQ1_S
    same_error 'gufo: m.gguf: warning: a.weight: this type cannot be made without importance data (--imatrix)'
    [[ "${lines[1]}" == 'a.weight  256 x 4  F32      IQ1_S '* ]]
    run -2 --separate-stderr gufo quantize m.gguf out.gguf IQ1_S
    [[ "$stderr" == 'gufo: m.gguf: tensor "a.weight" cannot become IQ1_S: '*' (--imatrix)' ]]
    files m.gguf
}

@test "quantize: JSON and the report" {
    sample
    run -0 --separate-stderr gufo quantize --json --report r.csv sample.gguf out.gguf Q8_0
    has '{"path":"sample.gguf","output":"out.gguf","type":"Q8_0","output_size":'
    has '"types":[{"type":"Q8_0","tensors":16,'
    has '{"name":"blk.0.attn_norm.weight","dims":[64],"from":"F32","to":"F32","wanted":"F32",'
    [ "$(wc -l <r.csv)" -eq 22 ]
    grep -q '^"blk.0.attn_q.weight",64x64,F16,Q8_0,Q8_0,"[^"]*",0,8192,4352,0,0\.00' r.csv
    run -2 --separate-stderr gufo quantize --report r.csv sample.gguf two.gguf Q8_0
    same_error 'gufo: r.csv: target exists already (--force replaces it)'
    mkdir folder
    for report in folder folder/; do
        run -2 --separate-stderr gufo quantize --force --report "$report" sample.gguf two.gguf Q8_0
        same_error "gufo: $report: target exists and is not a regular file"
        [ ! -e two.gguf ]
    done
    run -3 --separate-stderr gufo quantize --force --report '' sample.gguf two.gguf Q8_0
    [ ! -e two.gguf ]
    run -2 --separate-stderr gufo quantize --force --report sample.gguf sample.gguf two.gguf Q8_0
    same_error 'gufo: sample.gguf: the output is the input; it would be lost'
    for report in two.gguf ./two.gguf; do
        run -2 --separate-stderr gufo quantize --force --report "$report" sample.gguf two.gguf Q8_0
        same_error "gufo: $report: this and another output are the same file"
    done
    [ ! -e two.gguf ]
    run -3 --separate-stderr gufo quantize --report none/r.csv sample.gguf two.gguf Q8_0
    same_error 'gufo: none/r.csv: the folder for it does not exist'
    [ ! -e two.gguf ]
    run -0 gufo quantize -q --report /dev/stdout --dry-run sample.gguf Q8_0
    has 'tensor,shape,from,to'
    run -0 gufo validate --level structure sample.gguf
}

@test "quantize: GUFO_CPU" {
    sample
    GUFO_CPU=portable run -0 gufo quantize -q sample.gguf a.gguf Q8_0
    GUFO_CPU='' run -0 gufo quantize -q sample.gguf b.gguf Q8_0
    cmp a.gguf b.gguf
    GUFO_CPU=fast run -2 --separate-stderr gufo quantize sample.gguf c.gguf Q8_0
    [[ "$stderr" == "gufo: GUFO_CPU must be portable, avx2, avx512, neon or best, not 'fast'" ]]
    [ ! -e c.gguf ]
}

@test "quantize: threads and memory change nothing" {
    sample
    gufo quantize -q --threads 1 sample.gguf a.gguf Q4_0
    gufo quantize -q --threads 5 --memory 64M sample.gguf b.gguf Q4_0
    cmp a.gguf b.gguf
    run -2 --separate-stderr gufo quantize --memory 1Mi sample.gguf c.gguf Q4_0
    [[ "$stderr" == *"bytes of memory, the limit is 1,048,576 (--memory)" ]]
}

@test "quantize: values that are not finite" {
    make_gguf m.gguf tensor a.weight 0 64x4 1024
    size=$(stat -c %s m.gguf)
    make_gguf m.gguf tensor a.weight 0 64x4 1024 poke $((size - 1024 + 4 * (64 + 5))) 0000c07f
    run -3 --separate-stderr gufo quantize m.gguf out.gguf Q8_0
    same_error "gufo: m.gguf: tensor \"a.weight\": the value in row 1, column 5 is NaN (--keep-nonfinite accepts it)"
    files m.gguf
    run -0 gufo quantize -q --keep-nonfinite m.gguf out.gguf Q8_0
}

@test "quantize: a value that is too large for its new type" {
    # 3e38 in the second block of row 2: the other values of the block are lost with it.
    make_gguf m.gguf tensor a.weight 0 64x4 1024
    size=$(stat -c %s m.gguf)
    make_gguf m.gguf tensor a.weight 0 64x4 1024 poke $((size - 1024 + 4 * (128 + 37))) e6b1617f
    run -3 --separate-stderr gufo quantize m.gguf out.gguf Q8_0
    same_error 'gufo: m.gguf: tensor "a.weight": the value 3.00000001e+38 in row 2, column 37 is too large for Q8_0 (--keep-nonfinite accepts it)'
    files m.gguf
}

@test "quantize: interleaved rows that are not whole groups" {
    make_gguf m.gguf tensor a.weight 31 32x6 108
    run -2 --separate-stderr gufo quantize m.gguf out.gguf COPY
    same_error 'gufo: m.gguf: tensor "a.weight" has 6 rows; Q4_0_4_4 merges 4 at a time'
    make_gguf m.gguf tensor a.weight 31 32x8 144
    run -0 gufo quantize -q m.gguf out.gguf COPY
    is_type out.gguf a.weight Q4_0
}

@test "quantize: errors of the importance matrix name it" {
    make_gguf m.gguf tensor a.weight 0 32x4 512
    "$GUFO_TEST_BIN/make_imatrix" bad.dat dat chunks 1 entry a.weight 1 "nan$(printf ',1%.0s' {1..31})"
    run -3 --separate-stderr gufo quantize --imatrix bad.dat m.gguf out.gguf Q4_0
    [[ "$stderr" == 'gufo: bad.dat: the importance of column 0 '*'"a.weight" is nan' ]]
    files m.gguf bad.dat
    "$GUFO_TEST_BIN/make_imatrix" other.dat dat chunks 1 entry a.weight 1 1,2,3
    run -2 --separate-stderr gufo quantize --imatrix other.dat m.gguf out.gguf Q4_0
    [[ "$stderr" == 'gufo: m.gguf: importance matrix "other.dat": the entry for "a.weight" has 3 values'* ]]
    files m.gguf bad.dat other.dat
}

@test "quantize: a set of shards" {
    make_gguf s-00001-of-00002.gguf kv general.name string set \
        kv split.no uint16 0 kv split.count uint16 2 kv split.tensors.count int32 2 \
        tensor a.weight 0 64x4 1024
    make_gguf s-00002-of-00002.gguf \
        kv split.no uint16 1 kv split.count uint16 2 kv split.tensors.count int32 2 \
        tensor b.weight 0 64x8 2048
    run -0 gufo quantize -q s-00001-of-00002.gguf one.gguf Q8_0
    is_type one.gguf b.weight Q8_0
    run -1 gufo get one.gguf split.count
    run -0 gufo quantize -q --keep-split s-00001-of-00002.gguf two.gguf Q8_0
    run -0 gufo validate --level structure two-00001-of-00002.gguf
    run -2 gufo quantize --force --report s-00002-of-00002.gguf s-00001-of-00002.gguf x.gguf Q8_0
    run -0 gufo validate --level structure s-00001-of-00002.gguf
    rm s-00002-of-00002.gguf
    run -3 --separate-stderr gufo quantize s-00001-of-00002.gguf three.gguf Q8_0
    [[ "$stderr" == "gufo: s-00002-of-00002.gguf: "* ]]
    make_gguf s-00001-of-00001.gguf \
        kv split.no uint16 0 kv split.count uint16 1 kv split.tensors.count int32 2 \
        tensor blk.0.a.weight 0 64x4 1024 tensor blk.1.a.weight 0 64x4 1024
    run -0 gufo quantize -q --keep-split --prune-layers 0 s-00001-of-00001.gguf four.gguf Q8_0
    run -0 gufo get four.gguf split.tensors.count
    same 1
}

@test "quantize: missing and damaged input" {
    run -3 --separate-stderr gufo quantize missing.gguf out.gguf Q8_0
    same_error 'gufo: missing.gguf: cannot open: No such file or directory'
    sample
    head -c 100000 sample.gguf >half.gguf
    run -3 --separate-stderr gufo quantize half.gguf out.gguf Q8_0
    [[ "$stderr" == "gufo: half.gguf: byte 100000: "* ]]
    run -3 --separate-stderr gufo quantize --imatrix missing sample.gguf out.gguf Q8_0
    [[ "$stderr" == "gufo: missing: "*"No such file or directory" ]]
    run -2 --separate-stderr gufo quantize --include-weights a --exclude-weights b \
        sample.gguf out.gguf Q8_0
    [ "${#stderr_lines[@]}" -eq 1 ]
    run -3 --separate-stderr gufo quantize sample.gguf none/out.gguf Q8_0
    [ "${#stderr_lines[@]}" -eq 1 ]
    run -3 gufo quantize sample.gguf '' Q8_0
    files sample.gguf half.gguf
    mkdir folder
    run -2 --separate-stderr gufo quantize sample.gguf /dev/null Q8_0
    same_error "gufo: /dev/null: target exists and is not a regular file"
    echo mine >out.gguf.part
    run -2 --separate-stderr gufo quantize -q --resume sample.gguf out.gguf Q8_0
    same_error 'gufo: out.gguf: its .part file exists already (--force replaces it)'
    files sample.gguf half.gguf folder out.gguf.part
}

@test "quantize: no progress bar unless on a terminal" {
    sample
    run -0 --separate-stderr gufo quantize sample.gguf out.gguf Q8_0
    same_error ''
    need_terminal
    run -0 on_terminal sh -c "'$GUFO' quantize --force sample.gguf out.gguf Q8_0 >/dev/null"
    has ' % ['
    has ' of 240 KB'
    run -0 on_terminal sh -c "'$GUFO' quantize -q --force sample.gguf out.gguf Q8_0"
    lacks ' % ['
}

@test "quantize: a signal leaves what can be resumed" {
    [[ "${GUFO_SANITIZE:-}" != *memory* ]] || skip "too slow"
    make_large 8192
    gufo quantize -q large.gguf other.gguf Q4_K
    for signal in INT TERM; do
        run -4 interrupt "$signal" out.gguf quantize --threads 1 large.gguf out.gguf Q4_K
        [ "$(cat stderr)" = "gufo: out.gguf: interrupted; the finished part is kept beside it; the same command continues" ]
        files large.gguf other.gguf stderr out.gguf.part out.gguf.part.journal
        run -2 --separate-stderr gufo quantize large.gguf out.gguf Q5_K
        same_error 'gufo: out.gguf.part.journal: an interrupted run has left this journal (--resume continues it, --force starts over)'
        run -2 --separate-stderr gufo quantize --resume large.gguf out.gguf Q5_K
        same_error 'gufo: out.gguf.part.journal: cannot resume: it was begun with other options, or with another importance matrix'
        run -0 --separate-stderr gufo quantize --resume large.gguf out.gguf Q4_K
        [[ "$stderr" =~ ^'gufo: out.gguf: continues an interrupted run at '[0-9]+' % ('.*' of '.*')'$ ]]
        files large.gguf other.gguf stderr out.gguf
        cmp out.gguf other.gguf
        # What was to be replaced is there until the end; --force alone starts over.
        run -4 interrupt "$signal" out.gguf quantize --threads 1 --force large.gguf out.gguf Q4_K
        [ "$(cat stderr)" = "gufo: out.gguf: interrupted; the finished part is kept beside it; the same command with --resume continues" ]
        cmp out.gguf other.gguf
        run -0 --separate-stderr gufo quantize --force --resume large.gguf out.gguf Q4_K
        [[ "$stderr" == 'gufo: out.gguf: continues an interrupted run at '* ]]
        cmp out.gguf other.gguf
        rm out.gguf
    done
}

# ---- several types ------------------------------------------------------------------------------

@test "quantize --to: each output is that of a run for its type alone" {
    sample
    mkdir models
    run -0 --separate-stderr gufo quantize sample.gguf --to models Q4_K_M,q8_0,F32 2
    has 'sample.gguf as Q4_K_M, models/gufo-sample-119K-v1.0-Q4_K_M.gguf: 240 KB of tensors become'
    has 'sample.gguf as Q8_0, models/gufo-sample-119K-v1.0-Q8_0.gguf: '
    [[ "$stderr" == *'warning: Q4_K_M: 13 tensors get Q5_0 instead of Q4_K ('* ]]
    cd models
    files gufo-sample-119K-v1.0-Q4_K_M.gguf gufo-sample-119K-v1.0-Q8_0.gguf \
        gufo-sample-119K-v1.0-F32.gguf
    cd ..
    for type in Q4_K_M Q8_0 F32; do
        gufo quantize -q sample.gguf alone.gguf $type --force
        cmp alone.gguf models/gufo-sample-119K-v1.0-$type.gguf
    done
}

@test "quantize --to: options are about all types" {
    sample
    mkdir models
    "$GUFO_TEST_BIN/make_imatrix" i.dat dat chunks 1 \
        entry blk.0.attn_q.weight 1 "1$(printf ',%s' {2..64})"
    options=(--imatrix i.dat --leave-output-tensor --override-kv my.key=int:7 --prune-layers 1)
    run -0 gufo quantize -q "${options[@]}" --to models sample.gguf Q4_0,Q5_1
    for type in Q4_0 Q5_1; do
        gufo quantize -q "${options[@]}" sample.gguf alone.gguf $type --force
        cmp alone.gguf models/*-$type.gguf
    done
}

# Names are those of the input with another encoding, if its own conforms.
@test "quantize --to: names" {
    sample
    cp sample.gguf Some-Model-7B-Chat-v2.1-F16.gguf
    run -0 gufo quantize -q --to . Some-Model-7B-Chat-v2.1-F16.gguf Q8_0,MXFP4
    [ -f Some-Model-7B-Chat-v2.1-Q8_0.gguf ]
    [ -f Some-Model-7B-Chat-v2.1-MXFP4.gguf ]
    run -2 --separate-stderr gufo quantize --to . Some-Model-7B-Chat-v2.1-F16.gguf Q4_0,COPY
    [[ "$stderr" == *'Some-Model-7B-Chat-v2.1-F16.gguf: the output is the input'* ]]
    [ ! -e Some-Model-7B-Chat-v2.1-Q4_0.gguf ]
    run -2 --separate-stderr gufo quantize --to . sample.gguf Q4_K,Q8_0,Q4_K_M
    same_error 'gufo: two of the types would have the same output, ./gufo-sample-119K-v1.0-Q4_K_M.gguf (see gufo help quantize)'
    run -0 gufo quantize -q --to . --dry-run --json sample.gguf Q4_0,Q8_0
    [ "${#lines[@]}" -eq 2 ]
    [[ "${lines[1]}" == '{"path":"sample.gguf","output":null,"type":"Q8_0",'* ]]
    mkdir models
    run -0 gufo quantize -q Some-Model-7B-Chat-v2.1-F16.gguf models Q8_0
    [ -f models/Some-Model-7B-Chat-v2.1-Q8_0.gguf ]
}

@test "quantize --to: all or nothing" {
    sample
    mkdir models
    echo old >models/gufo-sample-119K-v1.0-Q5_0.gguf
    run -2 --separate-stderr gufo quantize -q --to models sample.gguf Q4_0,Q5_0
    same_error 'gufo: models/gufo-sample-119K-v1.0-Q5_0.gguf: target exists already (--force replaces it)'
    [ "$(cat models/*)" = old ]
    run -0 gufo quantize -q --force --report r.csv --to models sample.gguf Q4_0,Q5_0
    [ "$(wc -l <r.csv)" -eq 43 ]
    [ "$(grep -c ',Q5_0.$' r.csv)" -eq 21 ]
    run -2 --separate-stderr gufo quantize --force --report models/gufo-sample-119K-v1.0-Q5_0.gguf \
        --to models sample.gguf Q4_0,Q5_0
    [[ "$stderr" == *'this and another output are the same file' ]]
}

@test "quantize --to: the folder is made, and goes again if nothing comes into it" {
    sample
    run -0 gufo quantize -q --dry-run --to made sample.gguf Q4_0
    [ ! -e made ]
    run -0 gufo quantize -q --report made/report.csv --to made sample.gguf Q4_0
    [ -f made/gufo-sample-119K-v1.0-Q4_0.gguf ]
    [ -f made/report.csv ]
    run -2 gufo quantize -q --to other sample.gguf Q4_K,Q4_K_M
    [ ! -e other ]
    run -3 --separate-stderr gufo quantize -q --to missing/made sample.gguf Q4_0
    same_error 'gufo: missing/made: No such file or directory'
    [ ! -e missing ]
}

@test "quantize --to: wrong usage" {
    sample
    mkdir models
    run -2 --separate-stderr gufo quantize sample.gguf out.gguf Q4_0,Q8_0
    same_error 'gufo: several types need --to DIR (see gufo help quantize)'
    run -2 --separate-stderr gufo quantize --to models sample.gguf Q4_0 Q8_0
    same_error 'gufo: several types are separated by commas: Q4_0,Q8_0 (see gufo help quantize)'
    run -2 --separate-stderr gufo quantize --to models sample.gguf out.gguf Q4_0,Q8_0
    same_error 'gufo: --to DIR takes no OUT; types are separated by commas (see gufo help quantize)'
    run -2 --separate-stderr gufo quantize --to models sample.gguf Q4_0,
    same_error "gufo: unknown type '' (see gufo help quantize)"
    run -2 --separate-stderr gufo quantize --to models sample.gguf Q4_0,Q8_X
    [[ "$stderr" == "gufo: unknown type 'Q8_X'; did you mean 'Q8_0'?"* ]]
    run -2 --separate-stderr gufo quantize --to sample.gguf sample.gguf Q4_0,Q8_0
    same_error 'gufo: sample.gguf: not a folder'
    run -2 gufo quantize --to models sample.gguf "Q8_0$(printf ',Q8_0%.0s' {1..32})"
    rmdir models
}

@test "quantize --to: an interrupted run is resumed with the same types" {
    [[ "${GUFO_SANITIZE:-}" != *memory* ]] || skip "too slow"
    make_large 8192
    mv large.gguf Large-34M-v1.0-F32.gguf
    gufo quantize -q --to . Large-34M-v1.0-F32.gguf Q4_K,Q8_0
    mkdir ../expected
    mv Large-34M-v1.0-Q* ../expected
    run -4 interrupt INT Large-34M-v1.0-Q4_K_M.gguf quantize --threads 1 --to . Large-34M-v1.0-F32.gguf Q4_K,Q8_0
    files Large-34M-v1.0-F32.gguf stderr Large-34M-v1.0-Q4_K_M.gguf.part \
        Large-34M-v1.0-Q4_K_M.gguf.part.journal Large-34M-v1.0-Q8_0.gguf.part
    run -2 gufo quantize -q --resume --to . Large-34M-v1.0-F32.gguf Q4_K,Q5_0
    run -0 gufo quantize -q --resume --to . Large-34M-v1.0-F32.gguf Q4_K,Q8_0
    cmp Large-34M-v1.0-Q4_K_M.gguf ../expected/Large-34M-v1.0-Q4_K_M.gguf
    cmp Large-34M-v1.0-Q8_0.gguf ../expected/Large-34M-v1.0-Q8_0.gguf
    files Large-34M-v1.0-F32.gguf stderr Large-34M-v1.0-Q4_K_M.gguf Large-34M-v1.0-Q8_0.gguf
}

# ---- types from another model -------------------------------------------------------------------

@test "quantize --types-from: the types of another model" {
    sample
    gufo quantize -q sample.gguf mixed.gguf Q4_K_M
    run -0 --separate-stderr gufo quantize sample.gguf --types-from mixed.gguf out.gguf
    same_error ''
    has 'sample.gguf as mixed.gguf, out.gguf: 240 KB of tensors become 94.0 KB'
    cmp mixed.gguf out.gguf
    run -0 gufo quantize -q --dry-run --types-from mixed.gguf sample.gguf none.gguf
    has 'blk.0.attn_q.weight       64 x 64   F16      Q5_0'
    has 'given for this tensor'
    # Also tensors that a recipe would keep.
    make_gguf a.gguf tensor norm.weight 0 64 256 tensor w 0 64x2 512
    make_gguf b.gguf tensor norm.weight 1 64 128 tensor w 8 64x2 136
    run -0 gufo quantize -q -o c.gguf --types-from b.gguf a.gguf
    is_type c.gguf norm.weight F16
    is_type c.gguf w Q8_0
    run -2 --separate-stderr gufo quantize -q --force --types-from b.gguf a.gguf b.gguf
    [[ "$stderr" == 'gufo: b.gguf: the output is'* ]]
}

@test "quantize --types-from: tensors that the other model lacks, and rows that do not fit" {
    make_gguf a.gguf kv general.file_type uint32 0 tensor one.weight 0 64x2 512 \
        tensor two.weight 0 32x2 256 tensor three.weight 0 64x2 512
    make_gguf b.gguf tensor one.weight 1 64x2 256 tensor two.weight 14 256x2 420
    run -0 --separate-stderr gufo quantize --types-from b.gguf a.gguf out.gguf
    [ "${stderr_lines[0]}" = 'gufo: a.gguf: warning: 1 tensor gets Q8_0 instead of Q6_K (rows do not fill its blocks): 16 bytes more' ]
    [ "${stderr_lines[1]}" = 'gufo: a.gguf: warning: three.weight: it is not in the model of --types-from' ]
    is_type out.gguf one.weight F16
    is_type out.gguf two.weight Q8_0
    is_type out.gguf three.weight F32
    run -1 gufo get out.gguf general.file_type # b.gguf has none
    run -0 gufo quantize -q --types-from b.gguf a.gguf out2.gguf Q4_0
    is_type out2.gguf three.weight Q4_0
    is_type out2.gguf one.weight F16
    run -0 gufo get out2.gguf general.file_type
    same 2
}

@test "quantize --types-from: wrong usage" {
    sample
    mkdir d
    run -2 --separate-stderr gufo quantize --types-from sample.gguf sample.gguf
    same_error 'gufo: --types-from needs OUT (see gufo help quantize)'
    run -2 --separate-stderr gufo quantize --types-from sample.gguf --to d sample.gguf Q8_0
    same_error 'gufo: --types-from needs OUT (see gufo help quantize)'
    run -2 gufo quantize --types-from sample.gguf --to d sample.gguf Q8_0,Q4_0
    run -3 --separate-stderr gufo quantize --types-from missing sample.gguf out.gguf
    same_error 'gufo: missing: cannot open: No such file or directory'
    gufo quantize -q sample.gguf q.gguf Q8_0
    gufo quantize -q sample.gguf r.gguf Q4_0
    run -2 --separate-stderr gufo quantize --types-from r.gguf q.gguf out.gguf
    [[ "$stderr" == *'is quantized already'*'(--allow-requantize accepts it)' ]]
    [ ! -e out.gguf ]
}

@test "quantize --types-from: what the other model may have" {
    make_gguf a.gguf tensor one.weight 0 64x2 512 tensor two.weight 26 32x2 256
    # like WORD...: the other model; and what one.weight becomes.
    like() {
        local type=$1
        shift
        rm -f out.gguf
        make_gguf b.gguf "$@" tensor two.weight 26 32x2 256
        run -0 --separate-stderr gufo quantize --types-from b.gguf a.gguf out.gguf
        is_type out.gguf one.weight "$type"
        is_type out.gguf two.weight I32
        gufo validate -q --level=structure --data out.gguf
    }
    # A type that is not known, and one that is no longer part of the format.
    like F32 tensor one.weight 77 64x2 512
    same_error 'gufo: a.gguf: warning: one.weight: its type in the model of --types-from is not known'
    like Q4_0 tensor one.weight 31 64x2 72
    same_error ''
    # Other shapes, in which the blocks would not even fit.
    like Q8_0 tensor one.weight 8 32 34
    like F16 tensor one.weight 1 7x3 42
    like F32 tensor other.weight 1 64x2 256
    same_error 'gufo: a.gguf: warning: one.weight: it is not in the model of --types-from'
    # The file type is a number that means nothing, or none.
    like F16 kv general.file_type uint64 18446744073709551615 tensor one.weight 1 64x2 256
    run -1 gufo get out.gguf general.file_type
    like F16 kv general.file_type string x tensor one.weight 1 64x2 256
    run -1 gufo get out.gguf general.file_type
}

@test "quantize --types-from: models that are damaged, and shards that are missing" {
    make_gguf a.gguf tensor one.weight 0 64x2 512
    refused() {
        run -3 --separate-stderr gufo quantize -q --types-from "$1" a.gguf out.gguf
        [[ "$stderr" == "gufo: $2"* ]] || { echo "$stderr"; return 1; }
        [ "${#stderr_lines[@]}" -eq 1 ]
        [ ! -e out.gguf ] && [ ! -e out.gguf.part ]
    }
    make_gguf twice.gguf tensor one.weight 1 64x2 256 tensor one.weight 8 64x2 136
    refused twice.gguf 'twice.gguf: byte 74: tensor "one.weight" occurs twice'
    make_gguf over.gguf tensor one.weight 8 64x2 136 at 0 tensor two.weight 8 32x2 68
    refused over.gguf 'over.gguf: byte 116: data of tensor "two.weight" begins'
    make_gguf cut.gguf tensor one.weight 8 64x2 136 cut -30
    refused cut.gguf 'cut.gguf: byte '
    echo hello >text.gguf
    refused text.gguf 'text.gguf: byte 0: not a GGUF file'
    mkdir folder
    refused folder 'folder: cannot read: Is a directory'
    shard() {
        make_gguf "s-0000$1-of-00002.gguf" kv split.no uint16 $(($1 - 1)) kv split.count uint16 2 \
            kv split.tensors.count int32 2 tensor "$2" 1 64x2 256
    }
    shard 1 one.weight
    refused s-00001-of-00002.gguf 's-00002-of-00002.gguf: shard 2 of 2 is missing'
    shard 2 one.weight
    refused s-00001-of-00002.gguf 's-00002-of-00002.gguf: '
    shard 2 two.weight
    refused s-00002-of-00002.gguf 's-00002-of-00002.gguf: byte '
    run -0 gufo quantize -q --types-from s-00001-of-00002.gguf a.gguf out.gguf
    is_type out.gguf one.weight F16
}

@test "quantize --types-from: no output replaces the other model" {
    make_gguf a.gguf tensor one.weight 0 64x2 512
    make_gguf b.gguf tensor one.weight 1 64x2 256
    ln b.gguf hard.gguf
    ln -s b.gguf soft.gguf
    for number in 1 2; do
        make_gguf "s-0000$number-of-00002.gguf" kv split.no uint16 $((number - 1)) \
            kv split.count uint16 2 kv split.tensors.count int32 2 tensor "t$number" 1 64x2 256
    done
    sha256sum ./*.gguf >before
    for out in b.gguf hard.gguf soft.gguf ./b.gguf; do
        run -2 --separate-stderr gufo quantize -q --force --types-from b.gguf a.gguf "$out"
        [[ "$stderr" == "gufo: $out: the output is the input"* ]]
    done
    # Nor one of its shards.
    for out in s-00001-of-00002.gguf s-00002-of-00002.gguf; do
        run -2 --separate-stderr gufo quantize -q --force --types-from s-00001-of-00002.gguf a.gguf "$out"
        run -2 --separate-stderr gufo quantize -q --force --types-from s-00001-of-00002.gguf \
            --report "$out" a.gguf out.gguf
    done
    sha256sum --quiet -c before
}

# ---- the order of operands ----------------------------------------------------------------------

@test "quantize: TYPE before OUT, and no TYPE at all" {
    sample
    gufo quantize -q sample.gguf out.gguf Q8_0
    run -0 gufo quantize -q sample.gguf Q8_0 out2.gguf
    cmp out.gguf out2.gguf
    run -0 gufo quantize -q sample.gguf Q8_0 ./out3 2
    cmp out.gguf out3
    run -2 --separate-stderr gufo quantize -q sample.gguf Q8_0 out.gguf
    same_error 'gufo: out.gguf: target exists already (--force replaces it)'
    run -2 --separate-stderr gufo quantize sample.gguf out4.gguf
    same_error "gufo: TYPE is missing: 'gufo list filetypes' lists the types (see gufo help quantize)"
    run -2 --separate-stderr gufo quantize sample.gguf out4.gguf -o out5.gguf Q8_0
    [[ "$stderr" == 'gufo: OUT is given twice: '* ]]
    files sample.gguf out.gguf out2.gguf out3
}
