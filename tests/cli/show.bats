#!/usr/bin/env bats
# gufo show

# bats sets stderr; some commands are for another shell; reading a pipe is the point of `cat |`.
# shellcheck disable=SC2154,SC2016,SC2002

load common

# ---- JSON ----

@test "show --json: every value type, exactly" {
    make_gguf m.gguf kv u8 uint8 255 kv i8 int8 -128 kv u16 uint16 65535 kv i16 int16 -32768 \
        kv u32 uint32 4294967295 kv i32 int32 -2147483648 kv f32 float32 0.1 kv t bool 1 \
        kv f bool 0 kv s string 'text' kv u64 uint64 18446744073709551615 \
        kv i64 int64 -9223372036854775808 kv f64 float64 0.1
    run -0 gufo show --json --metadata m.gguf
    has '"metadata":[{"key":"u8","type":"uint8","value":255},{"key":"i8","type":"int8","value":-128},{"key":"u16","type":"uint16","value":65535},{"key":"i16","type":"int16","value":-32768},{"key":"u32","type":"uint32","value":4294967295},{"key":"i32","type":"int32","value":-2147483648},{"key":"f32","type":"float32","value":0.1},{"key":"t","type":"bool","value":true},{"key":"f","type":"bool","value":false},{"key":"s","type":"string","value":"text"},{"key":"u64","type":"uint64","value":18446744073709551615},{"key":"i64","type":"int64","value":-9223372036854775808},{"key":"f64","type":"float64","value":0.1}]}'
}

@test "show --json: the whole object" {
    # Header 24, entry 8+1+4+1, infos 8+1+4+2*8+4+8 and 8+1+4+8+4+8: 112 bytes, aligned 128.
    make_gguf m.gguf kv k uint8 7 tensor a 0 4x2 32 tensor b 12 256 144
    run -0 gufo show --json m.gguf
    same '{"path":"m.gguf","file_size":320,"version":3,"byte_order":"little","alignment":32,"data_offset":128,"data_size":176,"parameters":264,"metadata":[{"key":"k","type":"uint8","value":7}],"tensors":[{"name":"a","type":"F32","dims":[4,2],"elements":8,"offset":128,"size":32},{"name":"b","type":"Q4_K","dims":[256],"elements":256,"offset":160,"size":144}]}'
}

@test "show --json: the same file in other versions and byte orders" {
    for way in "version 1" "version 2" "version 3" "version 1 big" "version 2 big" "version 3 big"; do
        # shellcheck disable=SC2086
        make_gguf m.gguf $way kv k int32 -5 arr l string 2 one two tensor a 0 4x2 32
        run -0 gufo show --json m.gguf
        has '"metadata":[{"key":"k","type":"int32","value":-5},{"key":"l","type":"array","element_type":"string","count":2,"values":["one","two"]}],'
        has '"dims":[4,2],"elements":8,'
        has "\"version\":${way:8:1},"
        if [[ "$way" == *big ]]; then has '"byte_order":"big"'; else has '"byte_order":"little"'; fi
    done
}

@test "show --json: arrays, nested ones too" {
    make_gguf m.gguf arr empty float32 0 nested deep arr b bool 2 1 0
    run -0 gufo show --json --metadata m.gguf
    has '"metadata":[{"key":"empty","type":"array","element_type":"float32","count":0,"values":[]},{"key":"deep","type":"array","element_type":"array","count":2,"values":[{"type":"array","element_type":"uint8","count":2,"values":[1,2]},{"type":"array","element_type":"uint8","count":1,"values":[3]}]},{"key":"b","type":"array","element_type":"bool","count":2,"values":[true,false]}]}'
}

@test "show --json: floats in the shortest form of their width" {
    make_gguf m.gguf arr f float32 13 nan inf -inf -0.0 0 1e-5 1e-7 1e15 1e16 0.3 16777216 3.4028235e38 1e-45 \
        arr d float64 5 0.1 1e-300 -0.0 123456789.125 5e-324
    run -0 gufo show --json --metadata m.gguf
    has '"values":["nan","inf","-inf",-0.0,0,0.00001,1e-7,1000000000000000,1e16,0.3,16777216,3.4028235e38,1e-45]'
    has '"values":[0.1,1e-300,-0.0,123456789.125,5e-324]'
}

@test "show --json: control characters and bidi controls are escaped" {
    make_gguf m.gguf kv s string 'a"\\/\n\t\x00\x1b\x7f\xc2\x80\xc2\x9f\xd8\x9c\xe2\x80\x8e\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9z\xc3\xa9'
    run -0 gufo show --json --metadata m.gguf
    has '"value":"a\"\\/\n\t\u0000\u001b\u007f\u0080\u009f\u061c\u200e\u2028\u2029\u202e\u2066\u2069zé"'
}

@test "show --json: what is not UTF-8 is base64" {
    make_gguf $'\xffm.gguf' kv s string '\xff' arr l string 4 '\xff\xfe' '\xff\xfe\xfd' '\xed\xa0\x80' 'ok' \
        tensor 'n\xff' 0 1 4
    run -0 gufo show --json $'\xffm.gguf'
    has '{"path":{"base64":"/20uZ2d1Zg=="},'
    has '"type":"string","value":{"base64":"/w=="}}'
    has '"values":[{"base64":"//4="},{"base64":"//79"},{"base64":"7aCA"},"ok"]'
    has '{"name":{"base64":"bv8="},"type":"F32"'
}

@test "show --json: unknown and removed types, scalars and empty tensors" {
    make_gguf m.gguf tensor a 57 8 4 tensor s 0 - 4 tensor z 0 0x4 0 tensor r 31 32 18
    run -0 gufo show --json m.gguf
    has '{"name":"a","type":"type 57","dims":[8],"elements":8,'
    has '{"name":"s","type":"F32","dims":[],"elements":1,'
    has '{"name":"z","type":"F32","dims":[0,4],"elements":0,'
    has '{"name":"r","type":"Q4_0_4_4","dims":[32],"elements":32,'
}

@test "show --json: only one part" {
    make_model m.gguf
    run -0 gufo show --json --metadata m.gguf
    lacks '"tensors":'
    has '"metadata":['
    run -0 gufo show --json --tensors m.gguf
    lacks '"metadata":'
    has '"tensors":['
    run -0 gufo show --json --tensors='out*' --metadata='*.block_count' m.gguf
    has '"metadata":[{"key":"llama.block_count","type":"uint32","value":2}]'
    has '"tensors":[{"name":"output.weight",'
    lacks 'token_embd'
}

@test "show --json: --array-limit" {
    make_model m.gguf
    run -0 gufo show --json --metadata='tokenizer.ggml.tokens' m.gguf
    has '"count":10,"values":["a","b","c","d","e","f","g","h","i","j"]'
    run -0 gufo show --json --array-limit 2 --metadata m.gguf
    has '"count":10,"values":["a","b"]'
    run -0 gufo show --json --array-limit=0 --metadata m.gguf
    has '"count":10,"values":[]'
}

@test "show --json: several files give one line each, in order" {
    make_gguf a.gguf kv k uint8 1
    make_gguf b.gguf kv k uint8 2
    run -0 gufo show --json b.gguf a.gguf
    [ "${#lines[@]}" -eq 2 ]
    [[ "${lines[0]}" == '{"path":"b.gguf",'*'"value":2}],"tensors":[]}' ]]
    [[ "${lines[1]}" == '{"path":"a.gguf",'*'"value":1}],"tensors":[]}' ]]
}

@test "show --json: shared options may come before the command" {
    make_gguf m.gguf kv k uint8 1
    run -0 gufo --json show m.gguf
    [ "${output:0:9}" = '{"path":"' ]
}

# ---- damaged files ----

@test "show --lenient: a truncated file" {
    make_gguf m.gguf kv k uint8 7 tensor a 0 8 32 tensor b 0 8 32 cut -10
    run -3 --separate-stderr gufo show --json m.gguf
    same ''
    [[ "$stderr" == 'gufo: m.gguf: byte '*': '* ]]
    run -1 --separate-stderr gufo show --json --lenient m.gguf
    [[ "$output" =~ '"damaged":{"offset":'[0-9]+',"message":"' ]]
    has '"key":"k","type":"uint8","value":7'
    has '"name":"b"'
    same_error ''
    run -1 --separate-stderr gufo show --lenient m.gguf
    has 'Complete          1 of 2 tensors: the file is damaged'
    has '10 bytes missing'
    [[ "$stderr" == 'gufo: m.gguf: byte '*': '* ]]
}

@test "show --lenient: a sound file is not damaged" {
    make_model m.gguf
    run -0 gufo show --json --lenient m.gguf
    lacks damaged
}

@test "show --lenient: a file that ends inside its metadata" {
    make_gguf m.gguf kv first uint8 1 kv second string 'a long text' cut 60
    run -1 --separate-stderr gufo show --json --lenient m.gguf
    has '"metadata":[{"key":"first","type":"uint8","value":1}]'
    has '"damaged":{'
}

# ---- shard sets ----

@test "show --json: the first shard means the set" {
    make_shards m
    run -0 gufo show --json m-00001-of-00002.gguf
    has '"shards":["m-00001-of-00002.gguf","m-00002-of-00002.gguf"]'
    has '"parameters":24'
    has '{"name":"a","type":"F32","dims":[8],"elements":8,"offset":192,"size":32,"shard":1}'
    has '{"name":"b","type":"F32","dims":[16],"elements":16,"offset":192,"size":64,"shard":2}'
    has "\"file_size\":$(($(stat -c %s m-00001-of-00002.gguf) + $(stat -c %s m-00002-of-00002.gguf))),"
    has '"data_size":96,'
    run -0 gufo show m-00001-of-00002.gguf
    has 'in 2 shards'
}

@test "show: --single and other shards are just that file" {
    make_shards m
    run -0 gufo show --json --single m-00001-of-00002.gguf
    lacks '"shards"'
    lacks '"shard":'
    has '"parameters":8'
    run -0 gufo show --json m-00002-of-00002.gguf
    lacks '"shards"'
    has '"parameters":16'
}

@test "show: a missing sibling is a warning" {
    make_shards m
    rm m-00002-of-00002.gguf
    run -0 --separate-stderr gufo show --json m-00001-of-00002.gguf
    has '"parameters":8'
    lacks '"shards"'
    same_error 'gufo: m-00001-of-00002.gguf: warning: shard m-00002-of-00002.gguf is missing; only this file is looked at'
    run -0 --separate-stderr gufo show -q --json m-00001-of-00002.gguf
    same_error ''
    run -0 --separate-stderr gufo show --single --json m-00001-of-00002.gguf
    same_error ''
}

@test "show: shards that do not belong together are an error" {
    make_shards m
    make_gguf m-00002-of-00002.gguf kv split.no uint16 1 kv split.count uint16 3 \
        kv split.tensors.count int32 2 tensor b 0 16 64
    run -3 --separate-stderr gufo show m-00001-of-00002.gguf
    same ''
    [[ "$stderr" == 'gufo: m-00002-of-00002.gguf: '*'split.count'* ]]
}

# ---- text ----

@test "show: what a person wants to know first" {
    make_model m.gguf
    run -0 gufo show m.gguf
    [ "${lines[0]}" = "m.gguf" ]
    [ "${lines[1]}" = "  Name              Tiny" ]
    [ "${lines[2]}" = "  Architecture      llama" ]
    [ "${lines[3]}" = "  Parameters        640" ]
    [ "${lines[4]}" = "  Quantization      F16 1, F32 1" ]
    has "  Bits per weight   24.00"
    has "  Context length    2,048"
    has "  Blocks            2"
    has "  Attention heads   8 (4 key/value)"
    has "  Vocabulary        10 tokens (gpt2)"
    has "  Format            GGUF v3, little-endian, alignment 32"
    lacks "Embedding"
    has "Metadata (8)"
    has "Tensors (2)"
    lacks $'\033'
}

@test "show: numbers for people" {
    make_gguf m.gguf kv general.file_type uint32 15 tensor w 1 1000x1000x1235 0
    run -1 --separate-stderr gufo show --lenient m.gguf
    has '  Parameters        1.24 B (1,235,000,000)'
    has '  Quantization      Q4_K_M (F16 1)'
    has '  Bits per weight   16.00'
    has '2.3 GiB'
}

@test "show: heads by block" {
    make_gguf m.gguf kv general.architecture string x arr x.attention.head_count uint32 3 4 16 8 \
        arr x.attention.head_count_kv uint32 2 4 4
    run -0 gufo show m.gguf
    has "  Attention heads   4 to 16, by block (4 key/value)"
}

@test "show: an architecture that is too long or odd causes no trouble" {
    make_gguf m.gguf kv general.architecture string "$(printf 'a%.0s' {1..300})" kv k uint8 1
    run -0 gufo show m.gguf
    has 'Metadata (2)'
}

@test "show: tables are aligned" {
    make_model m.gguf
    run -0 gufo show --tensors m.gguf
    [ "${lines[0]}" = "m.gguf" ]
    [ "${lines[1]}" = "Tensors (2)" ]
    [ "${lines[2]}" = "  token_embd.weight  F32  32 x 10   576    1.2 KiB" ]
    [ "${lines[3]}" = "  output.weight      F16  32 x 10  1856  640 bytes" ]
    run -0 gufo show --metadata='*count*' m.gguf
    [ "${lines[1]}" = "Metadata (3 of 8)" ]
    [ "${lines[2]}" = "  llama.block_count              uint32  2" ]
    [ "${lines[3]}" = "  llama.attention.head_count     uint32  8" ]
    [ "${lines[4]}" = "  llama.attention.head_count_kv  uint32  4" ]
}

@test "show: arrays and long strings are cut, and their length is shown" {
    make_gguf m.gguf arr l uint8 10 1 2 3 4 5 6 7 8 9 10 kv s string "$(printf 'x%.0s' {1..2000})" \
        arr e uint8 0
    run -0 gufo show --metadata m.gguf
    has '  l  uint8[]  [10] 1, 2, 3, 4, 5, 6, 7, 8, ...'
    has '..." (2,000 bytes)'
    has '  e  uint8[]  [0]'
    run -0 gufo show --metadata --array-limit 3 m.gguf
    has '  l  uint8[]  [10] 1, 2, 3, ...'
    run -0 gufo show --metadata --array-limit 100 m.gguf
    has '  l  uint8[]  [10] 1, 2, 3, 4, 5, 6, 7, 8, 9, 10'
}

@test "show: columns hold with wide and combining characters" {
    make_gguf m.gguf tensor '\xe6\xbc\xa2\xe5\xad\x97' 0 1 4 tensor 'e\xcc\x81' 0 1 4 tensor abcd 0 1 4
    run -0 gufo show --tensors m.gguf
    [ "${lines[2]}" = $'  \xe6\xbc\xa2\xe5\xad\x97  F32  1  160  4 bytes' ]
    [ "${lines[3]}" = $'  e\xcc\x81     F32  1  192  4 bytes' ]
    [ "${lines[4]}" = $'  abcd  F32  1  224  4 bytes' ]
}

@test "show: colour when it is asked for" {
    make_model m.gguf
    run -0 gufo show --color=always m.gguf
    [ "${lines[0]}" = $'\033[1mm.gguf\033[0m' ]
    NO_COLOR=1 run -0 gufo show --color m.gguf
    has $'\033'
    run -0 gufo show --color=auto m.gguf
    lacks $'\033'
}

@test "show: colour on a terminal, unless NO_COLOR is set" {
    need_terminal
    make_model m.gguf
    TERM=xterm run -0 on_terminal "$GUFO" show m.gguf
    has $'\033[1mm.gguf\033[0m'
    TERM=xterm NO_COLOR=1 run -0 on_terminal "$GUFO" show m.gguf
    lacks $'\033'
    TERM=dumb run -0 on_terminal "$GUFO" show m.gguf
    lacks $'\033'
}

@test "show: lines fit a terminal" {
    need_terminal
    make_gguf m.gguf kv general.architecture string llama kv s string "$(printf 'long text %.0s' {1..50})" \
        arr l string 9 alpha beta gamma delta epsilon zeta eta theta iota \
        arr n uint32 9 1000000 1000001 1000002 1000003 1000004 1000005 1000006 1000007 1000008
    NO_COLOR=1 run -0 on_terminal "$GUFO" show m.gguf
    for line in "${lines[@]}"; do
        line=${line%$'\r'}
        [ "${#line}" -le 80 ] || { printf '%s: %d columns\n' "$line" "${#line}"; return 1; }
    done
    has '(500 bytes)'
    has '"alpha", "beta"'
}

@test "show: from standard input" {
    make_model m.gguf
    run -0 gufo show --json m.gguf
    whole=${output/\"path\":\"m.gguf\"/\"path\":\"-\"}
    run -0 gufo show --json - <m.gguf
    same "$whole"
    cat m.gguf | { run -0 gufo show --json -; same "$whole"; }
}

@test "show: an offset that a damaged file does not record is null, and unread entries are counted" {
    make_gguf model.gguf kv general.architecture string llama tensor a 0 8 32 tensor b 0 8 32 cut 120
    run --separate-stderr gufo show --lenient --json model.gguf
    [ "$status" -eq 1 ]
    has '"name":"a","type":"F32","dims":[8],"elements":8,"offset":null'
    run --separate-stderr gufo show --lenient model.gguf
    [ "$status" -eq 1 ]
    has 'Tensors (1 of 2)'
}

@test "show: a value that is not a number leaves no hole in the summary" {
    make_gguf model.gguf kv general.architecture string llama \
        kv llama.attention.head_count uint32 4 arr llama.attention.head_count_kv uint32 0 \
        kv llama.expert_count string many kv llama.expert_used_count uint32 2
    run gufo show model.gguf
    [ "$status" -eq 0 ]
    lacks '('' key/value)'
    lacks '(2 used)'
}
