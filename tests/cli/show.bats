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
    has '"metadata":{"u8":{"type":"uint8","value":255},"i8":{"type":"int8","value":-128},"u16":{"type":"uint16","value":65535},"i16":{"type":"int16","value":-32768},"u32":{"type":"uint32","value":4294967295},"i32":{"type":"int32","value":-2147483648},"f32":{"type":"float32","value":0.1},"t":{"type":"bool","value":true},"f":{"type":"bool","value":false},"s":{"type":"string","value":"text"},"u64":{"type":"uint64","value":"18446744073709551615"},"i64":{"type":"int64","value":"-9223372036854775808"},"f64":{"type":"float64","value":0.1}}}'
}

@test "show --json: the whole object" {
    # Header 24, entry 8+1+4+1, infos 8+1+4+2*8+4+8 and 8+1+4+8+4+8: 112 bytes, aligned 128.
    make_gguf m.gguf kv k uint8 7 tensor a 0 4x2 32 tensor b 12 256 144
    run -0 gufo show --json m.gguf
    same '{"path":"m.gguf","schema_version":1,"file_size":320,"version":3,"byte_order":"little","alignment":32,"data_offset":128,"data_size":176,"summary":{"parameters":264,"quantization":"Q4_K","file_type":null,"element_types":{"F32":1,"Q4_K":1},"size":320,"tensor_size":176,"bits_per_weight":5.333333333333333,"tensor_count":2,"rope":{},"vocabulary":{},"special_tokens":{},"chat_template":false,"chat_templates":[],"base_models":[]},"metadata":{"k":{"type":"uint8","value":7}},"tensors":[{"name":"a","type":"F32","dims":[4,2],"elements":8,"offset":128,"size":32},{"name":"b","type":"Q4_K","dims":[256],"elements":256,"offset":160,"size":144}]}'
}

@test "show --json: the same file in other versions and byte orders" {
    for way in "version 1" "version 2" "version 3" "version 1 big" "version 2 big" "version 3 big"; do
        # shellcheck disable=SC2086
        make_gguf m.gguf $way kv k int32 -5 arr l string 2 one two tensor a 0 4x2 32
        run -0 gufo show --json m.gguf
        has '"metadata":{"k":{"type":"int32","value":-5},"l":{"type":"array","element_type":"string","count":2,"value":["one","two"]}},'
        has '"dims":[4,2],"elements":8,'
        has "\"version\":${way:8:1},"
        if [[ "$way" == *big ]]; then has '"byte_order":"big"'; else has '"byte_order":"little"'; fi
    done
}

@test "show --json: arrays, nested ones too" {
    make_gguf m.gguf arr empty float32 0 nested deep arr b bool 2 1 0
    run -0 gufo show --json --metadata m.gguf
    has '"metadata":{"empty":{"type":"array","element_type":"float32","count":0,"value":[]},"deep":{"type":"array","element_type":"array","count":2,"value":[{"type":"array","element_type":"uint8","count":2,"value":[1,2]},{"type":"array","element_type":"uint8","count":1,"value":[3]}]},"b":{"type":"array","element_type":"bool","count":2,"value":[true,false]}}}'
}

@test "show --json: floats in the shortest form of their width" {
    make_gguf m.gguf arr f float32 13 nan inf -inf -0.0 0 1e-5 1e-7 1e15 1e16 0.3 16777216 3.4028235e38 1e-45 \
        arr d float64 5 0.1 1e-300 -0.0 123456789.125 5e-324
    run -0 gufo show --json --metadata m.gguf
    has '"value":["nan","inf","-inf",-0.0,0,0.00001,1e-7,1000000000000000,1e16,0.3,16777216,3.4028235e38,1e-45]'
    has '"value":[0.1,1e-300,-0.0,123456789.125,5e-324]'
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
    has '"value":[{"base64":"//4="},{"base64":"//79"},{"base64":"7aCA"},"ok"]'
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
    has '"metadata":{'
    run -0 gufo show --json --tensors m.gguf
    lacks '"metadata":'
    has '"tensors":['
    run -0 gufo show --json --tensors='out*' --metadata='*.block_count' m.gguf
    has '"metadata":{"llama.block_count":{"type":"uint32","value":2}}'
    has '"tensors":[{"name":"output.weight",'
    lacks 'token_embd'
}

@test "show --json: --max-array" {
    make_model m.gguf
    run -0 gufo show --json --metadata='tokenizer.ggml.tokens' m.gguf
    has '"count":10,"value":["a","b","c","d","e","f","g","h","i","j"]'
    run -0 gufo show --json --max-array 2 --metadata m.gguf
    has '"count":10,"value":["a","b"]'
    run -0 gufo show --json --max-array=0 --metadata m.gguf
    has '"count":10,"value":[]'
}

@test "show --json: several files give one line each, in order" {
    make_gguf a.gguf kv k uint8 1
    make_gguf b.gguf kv k uint8 2
    run -0 gufo show --json b.gguf a.gguf
    [ "${#lines[@]}" -eq 2 ]
    [[ "${lines[0]}" == '{"path":"b.gguf",'*'"value":2}},"tensors":[]}' ]]
    [[ "${lines[1]}" == '{"path":"a.gguf",'*'"value":1}},"tensors":[]}' ]]
}

@test "show --json: integers that a double cannot hold are strings" {
    make_gguf m.gguf arr u uint64 3 9007199254740992 9007199254740993 18446744073709551615 \
        arr i int64 4 9007199254740992 9007199254740993 -9007199254740992 -9007199254740993
    run -0 gufo show --json --metadata m.gguf
    has '"value":[9007199254740992,"9007199254740993","18446744073709551615"]'
    has '"value":[9007199254740992,"9007199254740993",-9007199254740992,"-9007199254740993"]'
    run -0 gufo get --json m.gguf u
    has '"value":[9007199254740992,"9007199254740993","18446744073709551615"]'
    # What comes out can be set again.
    gufo edit m.gguf --set-json 'u=uint64:[9007199254740992,"9007199254740993","18446744073709551614"]'
    run -0 gufo get m.gguf u
    same $'9007199254740992\n9007199254740993\n18446744073709551614'
}

@test "show --json: duplicates of a damaged file are apart, and so are keys that are not text" {
    make_gguf m.gguf kv k uint8 1 kv other uint8 2 kv k string again arr k uint8 2 3 4 kv '\xff' uint8 5
    run -3 gufo show --json m.gguf
    run -1 --separate-stderr gufo show --json --lenient --metadata m.gguf
    has '"metadata":{"k":{"type":"uint8","value":1},"other":{"type":"uint8","value":2}}'
    has '"duplicates":[{"key":"k","type":"string","value":"again"},{"key":"k","type":"array","element_type":"uint8","count":2,"value":[3,4]},{"key":{"base64":"/w=="},"type":"uint8","value":5}]'
    run -1 --separate-stderr gufo show --json --lenient --metadata=other m.gguf
    lacks duplicates
}

@test "show --json: keys of any text are members" {
    make_gguf m.gguf kv 'a"b\\c\n' uint8 1
    run -1 --separate-stderr gufo show --json --lenient --metadata m.gguf
    has '"a\"b\\c\n":{"type":"uint8","value":1}'
}

# A model whose summary has every member.
make_rich() {
    make_gguf "$1" kv general.architecture string llama kv general.type string model \
        kv general.name string 'Owl 8x7B' kv general.file_type uint32 1 kv general.size_label string 8x7B \
        kv general.finetune string Instruct kv general.version string v1.0 kv general.author string Ann \
        kv general.organization string 'Owl Lab' kv general.quantized_by string Bo \
        kv general.description string 'An owl.' kv general.license string apache-2.0 \
        kv general.license.name string 'Apache 2.0' kv general.license.link string https://l.example \
        kv general.url string https://u.example kv general.repo_url string https://r.example \
        arr general.languages string 2 en de arr general.tags string 2 text-generation bird \
        arr general.datasets string 1 owls kv general.base_model.count uint32 2 \
        kv general.base_model.0.name string Egg kv general.base_model.0.organization string 'Nest Lab' \
        kv general.base_model.0.repo_url string https://huggingface.co/nest/egg \
        kv general.base_model.1.name string Tree \
        kv llama.context_length uint32 131072 kv llama.embedding_length uint32 64 \
        kv llama.block_count uint32 2 kv llama.feed_forward_length uint32 128 \
        kv llama.attention.head_count uint32 8 arr llama.attention.head_count_kv uint32 2 2 4 \
        kv llama.expert_count uint32 8 kv llama.expert_used_count uint32 2 \
        kv llama.expert_shared_count uint32 1 kv llama.rope.freq_base float32 500000 \
        kv llama.rope.dimension_count uint32 64 kv llama.rope.scaling.type string yarn \
        kv llama.rope.scaling.factor float32 4 kv llama.rope.scaling.original_context_length uint32 32768 \
        kv tokenizer.ggml.model string gpt2 kv tokenizer.ggml.pre string llama-bpe \
        arr tokenizer.ggml.tokens string 4 a b '<s>' '\xff' kv tokenizer.ggml.bos_token_id uint32 2 \
        kv tokenizer.ggml.eos_token_id uint32 3 kv tokenizer.ggml.padding_token_id uint32 9 \
        kv tokenizer.chat_template string '{{ x }}' kv tokenizer.chat_template.tool_use string '{{ y }}' \
        tensor token_embd.weight 1 64x4 512
}

@test "show --json: the summary" {
    make_rich m.gguf
    run -0 gufo show --json --summary m.gguf
    lacks '"metadata":'
    lacks '"tensors":'
    has '"summary":{"name":"Owl 8x7B","type":"model","architecture":"llama","parameters":256,"quantization":"F16","file_type":"F16","element_types":{"F16":1},'
    has '"context_length":131072,"embedding_length":64,"block_count":2,"feed_forward_length":128,"head_count":8,"head_count_kv":[2,4],"expert_count":8,"expert_used_count":2,"expert_shared_count":1,'
    has '"rope":{"freq_base":500000,"dimension_count":64,"scaling_type":"yarn","scaling_factor":4,"original_context_length":32768},'
    has '"vocabulary":{"size":4,"model":"gpt2","pre":"llama-bpe"},'
    has '"special_tokens":{"bos":{"id":2,"text":"<s>"},"eos":{"id":3,"text":{"base64":"/w=="}},"padding":{"id":9}},'
    has '"chat_template":true,"chat_templates":["tool_use"],'
    has '"languages":["en","de"],"tags":["text-generation","bird"],"datasets":["owls"],'
    has '"base_models":[{"name":"Egg","organization":"Nest Lab","url":"https://huggingface.co/nest/egg"},{"name":"Tree"}]}'
}

# bats test_tags=plain
@test "show --json: docs/json.md has every member" {
    python3 -c 'import jsonschema' 2>/dev/null || skip "jsonschema for python3 is missing"
    make_rich rich.gguf
    make_shards m
    make_gguf odd.gguf nested deep arr f float32 3 nan inf -0.5 kv u uint64 18446744073709551615 \
        kv s string '\xff' kv s string twice tensor 'n\xff' 57 8 4 tensor b 0 - 4 cut -2
    gufo show --json rich.gguf m-00001-of-00002.gguf >lines
    gufo show --json --single m-00001-of-00002.gguf >>lines
    run -1 gufo show -q --json --lenient odd.gguf
    printf '%s\n' "$output" >>lines
    run -0 python3 "$BATS_TEST_DIRNAME/check_schema.py" "$BATS_TEST_DIRNAME/../../docs/json.md" 'gufo show' <lines
    same '4 lines agree'
    # The checker sees a member that is not described.
    sed -i 's/"size":/"sizes":/' lines
    run -1 python3 "$BATS_TEST_DIRNAME/check_schema.py" "$BATS_TEST_DIRNAME/../../docs/json.md" 'gufo show' <lines
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
    has '"k":{"type":"uint8","value":7'
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
    has '"metadata":{"first":{"type":"uint8","value":1}}'
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
    same_error 'gufo: m-00001-of-00002.gguf: warning: shard m-00002-of-00002.gguf is missing; gufo reads only this file'
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
    has '2.47 GB'
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
    [ "${lines[2]}" = "  token_embd.weight  F32  32 x 10   576    1.28 KB" ]
    [ "${lines[3]}" = "  output.weight      F16  32 x 10  1856  640 bytes" ]
    run -0 gufo show --metadata='*count*' m.gguf
    [ "${lines[1]}" = "Metadata (3 of 8)" ]
    [ "${lines[2]}" = "  llama.block_count              uint32  2" ]
    [ "${lines[3]}" = "  llama.attention.head_count     uint32  8" ]
    [ "${lines[4]}" = "  llama.attention.head_count_kv  uint32  4" ]
}

@test "show: a pipe gets whole strings, and eight elements of arrays" {
    long=$(printf 'x%.0s' {1..2000})
    make_gguf m.gguf arr l uint8 10 1 2 3 4 5 6 7 8 9 10 kv s string "$long" arr e uint8 0 \
        arr w string 2 "$long" b
    run -0 gufo show --metadata m.gguf
    has '  l  uint8[]   [10] 1, 2, 3, 4, 5, 6, 7, 8, ...'
    has "  s  string    \"$long\""
    has "  w  string[]  [2] \"$long\", \"b\""
    has '  e  uint8[]   [0]'
    run -0 gufo show --metadata --max-array 3 m.gguf
    has '  l  uint8[]   [10] 1, 2, 3, ...'
    run -0 gufo show --metadata --max-array 100 m.gguf
    has '  l  uint8[]   [10] 1, 2, 3, 4, 5, 6, 7, 8, 9, 10'
    run -0 gufo show --metadata --full m.gguf
    has '  l  uint8[]   [10] 1, 2, 3, 4, 5, 6, 7, 8, 9, 10'
}

@test "show: --summary, and all that it says" {
    make_rich m.gguf
    run -0 gufo show --summary m.gguf
    same 'm.gguf
  Name              Owl 8x7B
  Architecture      llama
  Parameters        256
  Quantization      F16 (F16 1)
  Size              2.78 KB (2,784 bytes)
  Bits per weight   16.00
  Context length    131,072
  Embedding length  64
  Blocks            2
  Attention heads   8 (2 to 4 key/value, by block)
  Experts           8 (2 used, 1 shared)
  Rope              base 500,000, 64 dimensions, yarn scaling by 4 from 32,768
  Vocabulary        4 tokens (gpt2, pre-tokenizer llama-bpe)
  Special tokens    bos 2 "<s>"
                    eos 3 "\xff"
                    padding 9 (not in the vocabulary)
  Chat template     yes (7 bytes), tool_use
  Fine tune         Instruct
  Version           v1.0
  Author            Ann
  Organization      Owl Lab
  Quantized by      Bo
  Base model        Egg by Nest Lab
                    Tree
  License           apache-2.0
  Languages         en, de
  Tags              text-generation, bird
  Data sets         owls
  Repository        https://r.example
  Format            GGUF v3, little-endian, alignment 32'
}

# ---- terminals ----

# Blocks 0, 1, 2, 5 in the order in which names sort; one of another type, one of another shape.
make_blocks() {
    make_gguf "$1" tensor token_embd.weight 0 8x2 64 \
        tensor blk.1.a.weight 0 8 32 tensor blk.1.b.weight 0 8 32 \
        tensor blk.10.a.weight 0 8 32 tensor blk.10.b.weight 0 8 32 \
        tensor blk.2.a.weight 0 8 32 tensor blk.2.b.weight 1 8 16 \
        tensor blk.0.a.weight 0 8 32 tensor blk.0.b.weight 0 8 32 \
        tensor blk.5.a.weight 0 8 32 tensor blk.5.b.weight 0 8x2 64 \
        tensor blk.007.a.weight 0 8 32 tensor 7 0 8 32 tensor blk.3.exps.1.w 0 8 32 tensor blk.4.exps.1.w 0 8 32 \
        tensor blk.3.exps.2.w 0 8 32
}

@test "show: on a terminal, tensors that differ in a number share a line" {
    need_terminal
    make_blocks m.gguf
    NO_COLOR=1 run -0 on_terminal "$GUFO" show m.gguf
    output=${output//$'\r'/}
    has 'Tensors (16)
  token_embd.weight      F32  8 x 2              64 bytes
  blk.0-2,5,10.a.weight  F32  8      5 tensors  160 bytes
  blk.0-1,10.b.weight    F32  8      3 tensors   96 bytes
  blk.2.b.weight         F16  8                  16 bytes
  blk.5.b.weight         F32  8 x 2              64 bytes
  blk.007.a.weight       F32  8                  32 bytes
  7                      F32  8                  32 bytes
  blk.3-4.exps.1.w       F32  8      2 tensors   64 bytes
  blk.3.exps.2.w         F32  8                  32 bytes'
    for option in --tensors --full; do
        NO_COLOR=1 run -0 on_terminal "$GUFO" show $option m.gguf
        has '  blk.10.b.weight'
        lacks ' tensors '
    done
    run -0 gufo show m.gguf
    has '  blk.10.b.weight'
}

@test "show: on a terminal, a list of numbers that is too long has lines of its own" {
    need_terminal
    tensors=""
    for i in {0..60..2}; do tensors+=" tensor blk.$i.ffn_down.weight 0 8 32"; done
    # shellcheck disable=SC2086
    make_gguf m.gguf tensor a.weight 0 8 32 $tensors \
        kv "a.$(printf 'long_%.0s' {1..20}).key" string "$(printf 'v%.0s' {1..100})"
    NO_COLOR=1 run -0 on_terminal "$GUFO" show m.gguf
    output=${output//$'\r'/}
    has "
  blk.$(seq -s, 0 2 50),
    $(seq -s, 52 2 60).ffn_down.weight
  "
    has '  a.long_long_'
    has '_long_.key  string  "vvv'
}

@test "show: whole values on a terminal with --full" {
    need_terminal
    long=$(printf 'x%.0s' {1..200})
    make_gguf m.gguf kv s string "$long" arr l string 12 "$long" b c d e f g h i j k last \
        kv w string 'a text of several words, which break between them'
    NO_COLOR=1 run -0 on_terminal "$GUFO" show --metadata m.gguf
    has '..." (200 bytes)'
    lacks last
    NO_COLOR=1 run -0 on_terminal "$GUFO" show --full --metadata m.gguf
    # Below its first line a value is indented; lines break between words.
    [[ "$(tr -d ' \r\n' <<<"$output")" == *"\"$long\""* ]]
    has '"last"'
    NO_COLOR=1 run -0 on_terminal env COLUMNS=40 "$GUFO" show --full --metadata=w m.gguf
    has "  w  string  \"a text of several words,"$'\r\n'"             which break between them\""
}

# ---- the pager ----

@test "show: a pager on a terminal, and nowhere else" {
    need_terminal
    make_model m.gguf
    export GUFO_PAGER='sed s/^/paged:/' PAGER='sed s/^/other:/'
    run -0 on_terminal "$GUFO" show m.gguf
    has 'paged:  Architecture      llama'
    has 'paged:  output.weight'
    GUFO_PAGER= run -0 on_terminal "$GUFO" show m.gguf
    lacks 'other:'
    unset GUFO_PAGER
    run -0 on_terminal "$GUFO" show m.gguf
    has 'other:  Architecture      llama'
    for option in --no-pager --json; do
        run -0 on_terminal "$GUFO" show $option m.gguf
        lacks 'other:'
    done
    run -0 gufo show m.gguf
    lacks 'other:'
}

@test "show: the pager is less as git calls it, or none where it is missing" {
    need_terminal
    make_model m.gguf
    unset GUFO_PAGER
    mkdir bin
    printf '#!/bin/sh\necho "less with $LESS and $# arguments"\nexec cat\n' >bin/less
    chmod +x bin/less
    TERM=xterm PATH="$PWD/bin:$PATH" run -0 on_terminal "$GUFO" show m.gguf
    has 'less with FRX and 0 arguments'
    has 'Architecture'
    LESS=Q TERM=xterm PATH="$PWD/bin:$PATH" run -0 on_terminal "$GUFO" show m.gguf
    has 'less with Q and'
    TERM=dumb PATH="$PWD/bin:$PATH" run -0 on_terminal "$GUFO" show m.gguf
    lacks 'less with'
    TERM=xterm run -0 on_terminal env PATH="$PWD" "$(command -v "$GUFO")" show m.gguf
    has 'Architecture'
}

# bats test_tags=plain
@test "show: a pager that ends early, late or not at all well" {
    need_terminal
    make_blocks m.gguf
    GUFO_PAGER='head -n 1' run -0 on_terminal "$GUFO" show m.gguf
    [ "${#lines[@]}" -eq 1 ]
    GUFO_PAGER=true run -0 on_terminal "$GUFO" show m.gguf
    same ''
    GUFO_PAGER='cat >/dev/null; sleep 0.2; echo end' run -0 on_terminal "$GUFO" show m.gguf
    same $'end\r'
    GUFO_PAGER='exit 5' run -0 on_terminal "$GUFO" show m.gguf
    GUFO_PAGER=no-such-program NO_COLOR=1 run -3 on_terminal "$GUFO" show m.gguf
    has "gufo: cannot run the pager 'no-such-program'; --no-pager shows the output"
    # Its status is not that of the command.
    make_gguf half.gguf kv k uint8 7 tensor a 0 8 32 cut -10
    GUFO_PAGER='sed s/^/paged:/' NO_COLOR=1 run -1 on_terminal "$GUFO" show --lenient half.gguf
    has 'paged:gufo: half.gguf: byte '
}

@test "show: nothing from a file reaches the shell of the pager" {
    need_terminal
    make_gguf '$(touch bad);`touch bad`.gguf' kv general.name string '$(touch bad)`touch bad`' \
        kv general.architecture string ';touch bad'
    GUFO_PAGER='cat' run -0 on_terminal "$GUFO" show './$(touch bad);`touch bad`.gguf'
    GUFO_PAGER='cat; :' run -0 on_terminal "$GUFO" show './$(touch bad);`touch bad`.gguf'
    has 'touch bad'
    [ ! -e bad ]
}

# ---- Markdown ----

@test "show --markdown: a model card" {
    make_rich m.gguf
    run -0 gufo show --markdown m.gguf
    [[ "$output" == '---
license: apache-2.0
license_name: "Apache 2.0"
license_link: "https://l.example"
language:
- en
- de
datasets:
- owls
base_model:
- nest/egg
quantized_by: Bo
tags:
- gguf
- text-generation
- bird
---

# Owl 8x7B

An owl.

| | |
|---|---|
| Name | Owl 8x7B |
| Architecture | llama |
'* ]]
    has '| Special tokens | bos 2 "\<s\>"<br>eos 3 "\\xff"<br>padding 9 (not in the vocabulary) |'
    lacks '## '
    run -0 gufo show --markdown --metadata='*rope.freq*' --tensors m.gguf
    same '
## Metadata

| key | type | value |
|---|---|---|
| llama.rope.freq\_base | float32 | 500000 |

## Tensors

| name | type | shape | tensors | size |
|---|---|---|--:|--:|
| token\_embd.weight | F16 | 64 x 4 | 1 | 512 bytes |'
}

@test "show --markdown: what a file says is text, and never markup" {
    make_gguf m.gguf kv general.name string '<script>x</script>\n# **y** | `z` [a](b) &lt; $m$' \
        kv general.license string 'no' kv general.quantized_by string 'a: "b"\n---\nc' \
        arr general.tags string 4 'yes' '1.5' 'gguf' '\xff' arr general.languages string 2 no en \
        tensor 'a|b' 0 8 32
    run -0 gufo show --markdown m.gguf
    has '
# \<script\>x\</script\>\\n\# \*\*y\*\* \| \`z\` \[a\](b) \&lt; \$m\$
'
    has 'license: "no"
language:
- "no"
- en
quantized_by: "a: \"b\"\n---\nc"
tags:
- gguf
- "yes"
- "1.5"
---'
    run -0 gufo show --markdown --tensors m.gguf
    has '| a\|b | F32 |'
    # YAML takes these for true, false and nothing in any case.
    make_gguf m.gguf arr general.tags string 4 No TRUE Null Norway
    run -0 gufo show --markdown m.gguf
    has $'- "No"\n- "TRUE"\n- "Null"\n- Norway\n---'
    for text in '- a:\- a' '    a:a' '---:\---' '1. a:1\. a' '12) a:12\) a' '1.5:1\.5' '+:\+' '7:7' 'a - 1.:a - 1.'; do
        make_gguf m.gguf kv general.description string "${text%%:*}"
        run -0 gufo show --markdown m.gguf
        [ "${lines[$(($(printf '%s\n' "${lines[@]}" | grep -n '^# ' | cut -d: -f1)))]}" = "${text#*:}" ]
    done
    run -2 gufo show --markdown --json m.gguf
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

@test "show: a pattern that nothing matches is reported, and exits with 1" {
    make_model m.gguf
    run -1 gufo show --metadata='none.*' --tensors='none.*' m.gguf
    has "m.gguf: no key matches 'none.*'"
    has "m.gguf: no tensor matches 'none.*'"
    run -1 gufo show --json --tensors='none.*' m.gguf
    has '"tensors":[]'
    run -0 gufo show --metadata='general.*' --tensors m.gguf
}

@test "show: a map of types" {
    "$GUFO_EXAMPLES/make_sample" a.gguf
    run -0 gufo show --layers a.gguf
    has 'layer  0 F32 F16 F16 F16 F16 F32 F16 F16 F16'
    has '  token_embd F16, output_norm F32, output F16'
    lacks 'from: '
    run -0 gufo show --color=always --layers a.gguf
    has '  bits per weight, from: '
    has $'\e[48;5;196;38;5;231mF32\e[0m'
    run -2 gufo show --layers --json a.gguf
    # Names of a stranger; layers and roles without number.
    make_gguf b.gguf nopad tensor $'blk.0.\e[31m' 0 8 32 tensor blk.99999999999999999999.a 0 8 32 tensor blk.5000.a 0 8 32 \
        tensor blk.1. 0 8 32 tensor blk. 0 8 32 tensor blk.2.a.weight 0 8 32 tensor blk.2.a 0 8 32
    run gufo show --lenient --layers b.gguf
    has '\u{1b}[31m'
    has '1 tensor more not shown'
    # Empty layers: a few are rows, many share a line.
    make_gguf d.gguf nopad tensor blk.0.a 0 8 32 tensor blk.4.a 0 8 32 tensor blk.1023.a 0 8 32
    run -0 gufo show --layers d.gguf
    [ "${#lines[@]}" = 9 ]
    has $'       4 F32\n  layers 5 to 1022: nothing\n     1023 F32'
    make_gguf d.gguf nopad tensor blk.4.a 0 8 32
    run -0 gufo show --layers d.gguf
    has $'  layers 0 to 3: nothing\n       4 F32'
    # A model without tensors.
    make_gguf c.gguf kv general.architecture string llama
    run -0 gufo show --layers c.gguf
    same 'c.gguf'
}

@test "show: help, heads and errors in colour, on a terminal alone" {
    need_terminal
    run -0 gufo help --color=always show
    has $'\e[1mUsage:\e[0m gufo show'
    run -0 gufo help show
    lacks $'\e'
    make_model a.gguf
    run -0 on_terminal env TERM=xterm "$GUFO" ls .
    has $'\e[2mname '
    run -3 on_terminal env TERM=xterm "$GUFO" show missing.gguf
    has $'\e[1;31mgufo:\e[0m missing.gguf'
    run -3 on_terminal env TERM=xterm NO_COLOR=1 "$GUFO" show missing.gguf
    lacks $'\e[1;31m'
    run -3 gufo --color=always show missing.gguf
    same 'gufo: missing.gguf: cannot open: No such file or directory'
}
