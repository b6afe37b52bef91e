#!/usr/bin/env bats
# gufo migrate, and what other commands do with files of formats before GGUF.
# bats file_tags=legacy

# bats sets stderr.
# shellcheck disable=SC2154

load common

make_legacy() {
    "$GUFO_TEST_BIN/make_legacy" "$@"
}

# data FILE TENSOR: its numbers as 32-bit floats, hashed.
data() {
    gufo extract -q "$1" "$2" --dtype f32 --format raw -o - | sha256sum
}

# bats test_tags=plain
@test "migrate: every container and type, exactly" {
    local container version type
    for container in ggml ggmf ggjt; do
        for version in 1 2 3; do
            [ "$container" = ggjt ] || [ "$version" = 1 ] || continue
            for type in f32 f16 q4_0 q8_0; do
                make_legacy old.bin container "$container" version "$version" type "$type"
                run -0 gufo migrate --force --yes -q old.bin new.gguf
                same ''
                run -0 gufo validate -q new.gguf
                run -0 gufo migrate --json --dry-run -q --force old.bin new.gguf
                has "\"family\":\"llama\",\"container\":\"${container^^}\",\"version\":$([ "$container" = ggml ] && echo 0 || echo "$version"),"
                lacks '"exact":false'
                has '{"source":"norm.weight","name":"output_norm.weight","from":"F32","to":"F32","exact":true,"max_abs_err":0}'
                has "{\"source\":\"layers.0.attention.wk.weight\",\"name\":\"blk.0.attn_k.weight\",\"from\":\"${type^^}\",\"to\":\"${type^^}\",\"exact\":true,\"max_abs_err\":0}"
            done
        done
    done
}

@test "migrate: OLD is needed beside --output" {
    run -2 gufo migrate -o new.gguf
    same 'gufo: OLD is needed (see gufo help migrate)'
}

@test "migrate: the report" {
    make_legacy old.bin type q4_0
    run -0 --separate-stderr gufo migrate old.bin new.gguf
    same_error ''
    [ "${lines[0]}" = 'old.bin: llama, GGJT version 1, 47.9 KB, 262 tokens' ]
    has '
  llama.embedding_length           OLD    64
'
    has '
Assumed (3)
  key                                     value  why
  llama.context_length                    2048 '
    has '
Tensors (12)
  from  to    tensors  exact  largest error
  Q4_0  Q4_0        9      9              0
  F32   F32         3      3              0
new.gguf: '
    has ' KB, 12 tensors
new.gguf: valid: 0 errors, '
    [[ "${lines[-1]}" == *' warning'* ]]
    # The file says what is a guess, and no longer what was given.
    run -0 gufo get new.gguf gufo.assumed
    same 'llama.context_length
llama.attention.layer_norm_rms_epsilon
llama.rope.freq_base'
    run -0 gufo validate -v new.gguf
    has 'key "llama.rope.freq_base" is assumed: the file that this one comes from does not say it'
    gufo migrate -q --force old.bin new.gguf --ctx 4096 --eps 1e-5
    run -0 gufo get new.gguf gufo.assumed
    same llama.rope.freq_base
    gufo migrate -q --force old.bin new.gguf --ctx 4096 --eps 1e-5 --set llama.rope.freq_base=1e4
    run -1 gufo get new.gguf gufo.assumed
}

@test "migrate: the report as JSON" {
    make_legacy old.bin type q4_0 scale 0.1
    run -0 --separate-stderr gufo migrate --json --yes -q old.bin new.gguf --set general.license=mit --ctx 4096
    same_error ''
    [[ "$output" == '{"path":"old.bin","schema_version":1,"dry_run":false,"family":"llama","container":"GGJT","version":1,"generation":0,"parts":["old.bin"],"tokens":262,"doubt":null,"known":[{"key":"general.architecture","type":"string","value":"llama","why":null},'* ]]
    has '{"key":"llama.context_length","type":"uint32","value":4096,"why":"given"}'
    has '{"key":"llama.block_count","type":"uint32","value":1,"why":null}'
    has '{"key":"tokenizer.ggml.token_type","type":"array","element_type":"int32","count":262,"value":[2,3,3,6,6,6,6,6],"why":null}'
    has '],"assumed":[{"key":"llama.attention.layer_norm_rms_epsilon","type":"float32","value":5e-6,"why":"'
    has ',{"key":"llama.rope.freq_base","type":"float32","value":10000,"why":"'
    has '"}],"missing":[],"warnings":[],"tensors":[{"source":"tok_embeddings.weight","name":"token_embd.weight","from":"Q4_0","to":"Q4_0","exact":false,"max_abs_err":0.0'
    has "}],\"output\":{\"path\":\"new.gguf\",\"size\":$(stat -c %s new.gguf),\"tensors\":12,\"valid\":true,\"errors\":0,\"warnings\":"
}

# bats test_tags=plain
@test "migrate: docs/json.md has every member" {
    python3 -c 'import jsonschema' 2>/dev/null || skip "jsonschema for python3 is missing"
    make_legacy old.bin container ggml type q4_0 parts 2
    gufo migrate --json -q old.bin new.gguf >lines
    gufo migrate --json -q --dry-run --quantize Q8_0 old.bin new2.gguf >>lines
    run -0 python3 "$BATS_TEST_DIRNAME/check_schema.py" "$BATS_TEST_DIRNAME/../../docs/json.md" 'gufo migrate' <lines
    same '2 lines agree'
    gufo show --json -q old.bin >lines
    run -0 python3 "$BATS_TEST_DIRNAME/check_schema.py" "$BATS_TEST_DIRNAME/../../docs/json.md" 'gufo show' <lines
}

@test "migrate: --dry-run reports the same and writes nothing" {
    make_legacy old.bin type q8_0
    run -0 gufo migrate --dry-run old.bin new.gguf
    expected=$output
    files old.bin
    run -0 gufo migrate old.bin new.gguf
    same "$expected
${lines[-1]}"
    run -0 gufo migrate --dry-run old.bin new.gguf # that it exists is no matter
    same "$expected"
}

@test "migrate: a conforming name beside IN" {
    mkdir there
    make_legacy there/Tiny-Tales.bin type q8_0
    gufo migrate -q there/Tiny-Tales.bin
    run -0 bash -c 'ls there/*.gguf'
    run -0 gufo name "$output"
    gufo migrate -q --quantize Q4_0 there/Tiny-Tales.bin
    same_list "$(find there -name '*-Q8_0.gguf' | wc -l)" 1
    same_list "$(find there -name '*-Q4_0.gguf' | wc -l)" 1
}

@test "migrate: the name of the file without what is not the model's" {
    local name expected
    make_legacy made
    while read -r name expected; do
        cp made "$name"
        run -0 gufo migrate --dry-run --yes -q --json "$name"
        has "\"$expected-v1.0-F32.gguf\""
    done <<'EOF'
llama-7b.ggmlv3.q4_0.bin llama-71K
ggml-model-q4_0.bin ggml-model-71K
rwkv-4-pile-169m-f16.bin rwkv-4-pile-71K
Wizard-Vicuna-13B-Uncensored.bin Wizard-Vicuna-71K-Uncensored
EOF
}

@test "migrate: settings by options" {
    make_legacy old.bin
    gufo migrate -q old.bin new.gguf --set llama.rope.freq_base=500000 --set general.license=mit --eps 1e-5 --ctx 4096 \
        --gqa 2 --set general.tags='["a","b"]' --set general.quantized_by=string:7
    run -0 gufo show --metadata new.gguf
    has '  llama.rope.freq_base                    float32    500000'
    has '  llama.attention.layer_norm_rms_epsilon  float32    0.00001'
    has '  llama.context_length                    uint32     4096'
    has '  general.tags                            string[]   [2] "a", "b"'
    has '  general.quantized_by                    string     "7"'
    files old.bin new.gguf
    run -0 gufo migrate --force old.bin new.gguf --set general.license=mit
    has '
  general.license                  given  "mit"
'
    # What the old file says, too.
    cp "$BATS_TEST_DIRNAME/../../fuzz/seeds_legacy/mpt.bin" mpt.bin
    gufo migrate -q --yes mpt.bin mpt.gguf --ctx 77 --eps 1e-6 2>/dev/null
    run -0 gufo get mpt.gguf mpt.context_length
    same 77
    run -0 gufo get mpt.gguf mpt.attention.layer_norm_epsilon
    same 1e-6
}

@test "migrate: merges that are given are not missing" {
    cp "$BATS_TEST_DIRNAME/../../fuzz/seeds_legacy/bloom.bin" bloom.bin
    run -2 --separate-stderr gufo migrate -q bloom.bin new.gguf </dev/null
    [[ "$stderr" == *"'tokenizer.ggml.merges' is missing ("* ]]
    gufo migrate -q bloom.bin new.gguf --set tokenizer.ggml.merges='["a b"]' </dev/null
    run -0 gufo get new.gguf tokenizer.ggml.merges
    same 'a b'
}

@test "migrate: options that cannot be" {
    make_legacy old.bin
    local wrong
    while read -r wrong; do
        # shellcheck disable=SC2086 # words
        run -2 --separate-stderr gufo migrate old.bin new.gguf ${wrong%%:*}
        same_error "gufo: ${wrong#*: }"
    done <<'END'
--set general.license: --set needs KEY=VALUE, not 'general.license' (see gufo help migrate)
--set llama.context_length=x: --set llama.context_length=x: not a value of type uint32 (see gufo help migrate)
--set gpt2.context_length=7: --set gpt2.context_length: not a key of a model of this architecture (see gufo help migrate)
--gqa 4: old.bin: --gqa 4: there are 4 heads and, by the shapes of tensors, 2 key-value heads
--eps big: --eps big: not a value of type float32 (see gufo help migrate)
--arch foo: old.bin: no old file is of the architecture 'foo'
--quantize Q9: --quantize: unknown type 'Q9': 'gufo list filetypes' lists the types (see gufo help migrate)
--quantize Q8_0 --dequantize F32: --quantize and --dequantize exclude each other (see gufo help migrate)
-o x.gguf: OUT is given twice: by --output and as 'new.gguf' (see gufo help migrate)
END
    files old.bin
    run -2 --separate-stderr gufo migrate -
    same_error "gufo: OLD must be a file, not '-' (see gufo help migrate)"
}

@test "migrate: --yes lists the defaults that it takes" {
    make_legacy old.bin
    run -0 --separate-stderr gufo migrate --yes old.bin new.gguf --ctx 4096 --set llama.rope.freq_base=10000
    [[ "$stderr" == 'gufo: old.bin: warning: assumed: llama.attention.layer_norm_rms_epsilon = 5e-6 ('*')' ]]
}

@test "migrate: --known" {
    make_legacy old.bin container ggml type q4_0 parts 2
    local hash
    hash=$(cat old.bin old.bin.1 | sha256sum | cut -d' ' -f1)
    cat >known.json <<END
{"0000": {"settings": {"llama.context_length": 1}},
 "$hash": {"name": "Tiny", "settings": {"llama.context_length": 4096, "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "general.license": "mit", "general.languages": ["en"], "general.author": "1", "llama.expert_count": {"type": "uint32", "value": 3},
    "gpt2.context_length": 7}}}
END
    gufo migrate -q --known known.json old.bin new.gguf --eps 1e-6 --set general.license=isc
    run -0 gufo show --metadata new.gguf
    has '  llama.context_length                    uint32     4096'
    has '  llama.attention.layer_norm_rms_epsilon  float32    1e-6'
    has '"isc"'
    has '  general.languages                       string[]   [1] "en"'
    has '  general.author                          string     "1"'
    has '  llama.expert_count                      uint32     3'
    lacks gpt2.context_length
    make_legacy other.bin
    run -0 --separate-stderr gufo migrate --known known.json --dry-run other.bin
    same_error "gufo: known.json: warning: no settings for other.bin, whose SHA-256 is $(sha256sum other.bin | cut -d' ' -f1)"
}

@test "migrate: files of settings that cannot be" {
    make_legacy old.bin
    local hash wrong
    hash=$(sha256sum old.bin | cut -d' ' -f1)
    while IFS='~' read -r wrong expected; do
        printf '%s' "${wrong//HASH/$hash}" >known.json
        run -3 --separate-stderr gufo migrate --known known.json old.bin new.gguf
        same_error "gufo: known.json: ${expected//HASH/$hash}"
    done <<'END'
[]~not a JSON object of settings by hash
{"HASH": {}}~HASH: "settings" is not an object
{"HASH": {"settings": {"llama.context_length": "x"}}}~settings of this file: 'llama.context_length': not a value of type uint32
{"HASH": {"settings": {"llama.context_length": null}}}~settings of this file: 'llama.context_length': expected a value, or {"type": ..., "value": ...}
{"HASH": {"settings": {"a.b": []}}}~settings of this file: 'a.b': its type is not known: {"type": ..., "value": ...}
{"HASH": {"settings": {"a.b": {"type": "uint33", "value": 3}}}}~settings of this file: 'a.b': its type is not known: {"type": ..., "value": ...}
{"HASH": {"settings": {"a b": 3}}}~settings of this file: 'a b': key "a b" holds ' '; letters, digits, '_', '.' and '-' are allowed
END
    truncate -s 9M known.json
    run -3 --separate-stderr gufo migrate --known known.json old.bin new.gguf
    same_error 'gufo: known.json: the settings have more than 8 MiB'
    printf '{' >known.json
    run -3 --separate-stderr gufo migrate --known known.json old.bin new.gguf
    [[ "$stderr" == 'gufo: known.json: line 1: '* ]]
    files known.json old.bin
}

@test "migrate: questions on a terminal" {
    need_terminal
    make_legacy old.bin
    # The first answer is refused, the second one counts; Enter takes a default, a value replaces one.
    printf 'many\n20\00048\n4096\n\n500000\nTiny Tales\n\n' >answers
    # shellcheck disable=SC2016 # of the inner shell
    SHELL=$BASH run -0 script --quiet --return --command "'$GUFO' migrate -q old.bin new.gguf" /dev/null <answers
    has 'llama.context_length (uint32): '
    has '[2048]> '
    has 'a value cannot hold a NUL'
    has 'not a value of type uint32'
    has '[5e-6]> '
    run -0 gufo get new.gguf llama.context_length
    same 4096
    run -0 gufo get new.gguf llama.attention.layer_norm_rms_epsilon
    same 5e-6
    run -0 gufo get new.gguf llama.rope.freq_base
    same 500000
    run -0 gufo get new.gguf general.name
    same 'Tiny Tales'
    run -1 gufo get new.gguf general.license
    # No more questions about what is given.
    SHELL=$BASH run -0 script --quiet --return --command "'$GUFO' migrate -q old.bin given.gguf --ctx 2048 --eps 1e-5 --set llama.rope.freq_base=1e4 --set general.name=A --set general.license=mit </dev/tty" /dev/null </dev/null
    lacks '> '
}

@test "migrate: without an answer nothing is written" {
    need_terminal
    make_legacy old.bin
    SHELL=$BASH run -2 script --quiet --return --command "'$GUFO' migrate -q old.bin new.gguf" /dev/null </dev/null
    has 'old.bin: no answer; nothing was written'
    files old.bin
}

# bats test_tags=plain
@test "migrate: --dequantize, --quantize" {
    make_legacy old.bin type q4_0 scale 0.1
    gufo migrate -q --dequantize F32 old.bin f32.gguf
    gufo migrate -q --dequantize F16 old.bin f16.gguf
    gufo migrate -q old.bin same.gguf
    run -0 gufo show --tensors --json f32.gguf
    lacks '"type":"Q4_0"'
    [ "$(data f32.gguf output.weight)" != "$(data same.gguf output.weight)" ]
    # Straight from the exact numbers.
    gufo migrate -q --quantize q8_0 old.bin made.gguf
    gufo quantize -q f32.gguf Q8_0 -o other.gguf
    gufo diff made.gguf other.gguf
    run -0 gufo migrate --json --yes -q --force --quantize q8_0 old.bin made.gguf
    has '"from":"Q4_0","to":"Q8_0","exact":false,"max_abs_err":0.'
    lacks '"to":"Q4_0"'
    make_legacy wide.bin type q4_0 embd 256
    run -2 --separate-stderr gufo migrate -q --quantize IQ2_XXS --dry-run wide.bin none.gguf
    [[ "$stderr" == 'gufo: wide.bin: '*importance* ]]
}

@test "migrate: --vocab-from" {
    make_legacy old.bin
    local tokens
    read -ra tokens < <(seq -s ' ' 262)
    make_gguf words.gguf kv general.architecture string llama kv tokenizer.ggml.model string gpt2 \
        arr tokenizer.ggml.tokens string 262 "${tokens[@]}" arr tokenizer.ggml.merges string 1 '1 2'
    gufo migrate -q --vocab-from words.gguf old.bin new.gguf
    run -0 gufo get new.gguf tokenizer.ggml.model
    same gpt2
    run -0 gufo get new.gguf tokenizer.ggml.merges
    same '1 2'
    run -3 --separate-stderr gufo migrate -q --vocab-from nothing.gguf old.bin
    same_error 'gufo: nothing.gguf: cannot open: No such file or directory'
}

@test "migrate: what is refused" {
    make_model new.gguf
    run -3 --separate-stderr gufo migrate new.gguf
    same_error 'gufo: new.gguf: byte 4: this is a GGUF file of version 3, which needs no migration'
    make_legacy old.bin
    head -c -1 old.bin >short.bin
    run -3 --separate-stderr gufo migrate short.bin
    [[ "$stderr" == 'gufo: short.bin: byte '*': the file ends inside the data of a tensor: '* ]]
    printf 'algg\1\0\0\0\10\0\0\0\20\0\0\0' >lora.bin
    run -3 --separate-stderr gufo migrate lora.bin
    same_error 'gufo: lora.bin: the adapter has no pairs (lora_A, lora_B)'
    files lora.bin new.gguf old.bin short.bin
}

@test "migrate: no output replaces what is read" {
    make_legacy old.bin container ggml parts 2
    make_legacy one.bin
    cp old.bin.1 before
    echo '{}' >known.json
    for output in old.bin old.bin.1 known.json; do
        run -2 gufo migrate --yes -q --force --known known.json old.bin "$output"
        has 'it would be lost'
    done
    cmp old.bin.1 before
}

@test "old files: no output replaces one of their parts" {
    make_legacy old.bin container ggml parts 2
    make_legacy one.bin
    cp old.bin.1 before
    run -2 --separate-stderr gufo quantize -q old.bin --allow-requantize Q8_0 --force -o old.bin.1
    same_error 'gufo: old.bin.1: the output is the input; it would be lost'
    run -2 gufo quantize -q old.bin --allow-requantize Q8_0 --report old.bin.1 --force -o new.gguf
    run -2 gufo quantize -q one.bin --allow-requantize Q8_0 --types-from old.bin --force -o old.bin.1
    run -2 gufo get -q old.bin general.name --raw --force -o old.bin.1
    run -2 gufo migrate -q --yes one.bin --vocab-from old.bin --force old.bin.1
    cmp old.bin.1 before
}

@test "migrate: parts that are not what they should be" {
    make_legacy old.bin container ggml parts 2
    mv old.bin.1 part
    while IFS='~' read -r made expected; do
        rm -rf old.bin.1
        eval "$made"
        run -3 --separate-stderr gufo migrate --dry-run old.bin
        same_error "gufo: old.bin.1: $expected"
    done <<'END'
ln old.bin old.bin.1~is the same file as part 0
ln -s old.bin old.bin.1~is the same file as part 0
mkfifo old.bin.1~is not a regular file
ln -s /dev/zero old.bin.1~is not a regular file
mkdir old.bin.1~cannot read: Is a directory
: >old.bin.1~byte 0: the file ends inside the magic number: 4 bytes are needed here, 0 are left
(printf fmgg; tail -c +5 part) >old.bin.1~byte 0: the magic number or the version is not that of the first part
END
    mkfifo pipe
    run -3 --separate-stderr gufo migrate pipe
    same_error 'gufo: pipe: is not a regular file'
    rm old.bin.1
    mkfifo old.bin.1
    run -3 --separate-stderr gufo ls old.bin
    same_error 'gufo: old.bin.1: is not a regular file'
}

@test "migrate: keys that would break the model" {
    make_legacy old.bin
    while IFS='~' read -r code setting expected; do
        run "-$code" --separate-stderr gufo migrate --yes -q old.bin new.gguf --set "$setting"
        same_error "gufo: $expected"
    done <<'END'
2~split.count=uint16:2~--set split.count=uint16:2: the result is one file; 'gufo split' divides it (see gufo help migrate)
2~general.architecture=gpt2~--set general.architecture=gpt2: --arch says what the file is (see gufo help migrate)
3~tokenizer.ggml.tokens=["a","b"]~old.bin: tokenizer.ggml.tokens has 2 elements, but the model has 262 tokens
3~tokenizer.ggml.scores=[1]~old.bin: tokenizer.ggml.scores has 1 elements, but the model has 262 tokens
END
    local tokens
    read -ra tokens < <(seq -s ' ' 262)
    make_gguf words.gguf kv general.architecture string llama arr tokenizer.ggml.tokens string 262 "${tokens[@]}" \
        arr tokenizer.ggml.token_type int32 2 1 1
    run -3 --separate-stderr gufo migrate --yes -q old.bin new.gguf --vocab-from words.gguf
    same_error 'gufo: old.bin: tokenizer.ggml.token_type has 2 elements, but the model has 262 tokens'
    make_gguf words.gguf kv general.architecture string llama arr tokenizer.ggml.tokens uint8 262 "${tokens[@]/#*/7}"
    run -3 --separate-stderr gufo migrate --yes -q old.bin new.gguf --vocab-from words.gguf
    same_error 'gufo: old.bin: tokenizer.ggml.tokens is not an array of type string'
    files old.bin words.gguf
}

@test "old files: sessions are no models, and nothing else is said" {
    printf 'nsgg\1\0\0\0\10\0\0\0\20\0\0\0' >session.bin
    run -3 --separate-stderr gufo show session.bin
    same_error 'gufo: session.bin: byte 0: not a GGUF file: it is a llama.cpp session file'
    run -3 --separate-stderr gufo edit session.bin --set a.b=1
    same_error 'gufo: session.bin: byte 0: not a GGUF file: it is a llama.cpp session file'
    run -1 gufo validate session.bin
    lacks 'gufo migrate'
}

@test "migrate: to standard output, and to a pipe" {
    make_legacy old.bin
    gufo migrate -q old.bin new.gguf
    gufo migrate --yes old.bin - 2>/dev/null | cmp - new.gguf
    mkfifo pipe
    cat pipe >streamed &
    gufo migrate -q old.bin pipe
    wait $!
    cmp streamed new.gguf
}

# bats test_tags=plain
@test "migrate: an interrupted run continues" {
    make_legacy old.bin type q4_0 embd 1024 layers 4
    gufo migrate -q --dequantize F32 old.bin whole.gguf
    local code=0
    timeout -s INT 0.05 "$GUFO" migrate -q --threads 1 --dequantize F32 old.bin new.gguf 2>/dev/null || code=$?
    [ "$code" -eq 124 ] || [ "$code" -eq 0 ]
    [ "$code" -eq 0 ] || [ ! -e new.gguf ]
    [ -e new.gguf ] || gufo migrate -q --dequantize F32 old.bin new.gguf
    cmp whole.gguf new.gguf
    files old.bin whole.gguf new.gguf
}

@test "migrate: GGUF of version 1 and 2, with every key and byte" {
    for version in 1 2; do
        make_gguf old.gguf version "$version" kv general.architecture string llama kv general.name string Tiny \
            kv llama.context_length uint32 7 arr a.b uint16 2 1 2 tensor a.weight 0 8x2 64 tensor b.weight 1 16 32
        run -0 gufo migrate -q --json old.gguf new.gguf --force
        has "\"container\":\"GGUF\",\"version\":$version,"
        has '"assumed":[],"missing":[],'
        run -0 gufo diff old.gguf new.gguf
        run -0 gufo show --json --summary new.gguf
        has '"version":3,'
        run -2 --separate-stderr gufo migrate old.gguf new.gguf --force --set general.license=mit
        same_error "gufo: old.gguf: a GGUF file keeps its keys; 'gufo edit' changes them afterwards"
        run -2 --separate-stderr gufo migrate old.gguf new.gguf --force --dequantize F32
        same_error 'gufo: old.gguf: --arch, --falcon-grouped and --dequantize are for files before GGUF'
    done
}

@test "migrate: a removed type gives its file type to the one it becomes" {
    make_gguf old.gguf version 2 kv general.architecture string llama kv general.file_type uint32 33 tensor a.weight 31 32x4 72
    gufo migrate -q old.gguf new.gguf 2>/dev/null
    run -0 gufo get new.gguf general.file_type
    same 2
}

@test "migrate: shards of GGUF version 2 become one file" {
    make_gguf s-00001-of-00002.gguf version 2 kv general.architecture string llama \
        kv split.no uint16 0 kv split.count uint16 2 kv split.tensors.count int32 2 tensor a 0 8 32
    make_gguf s-00002-of-00002.gguf version 2 kv general.architecture string llama \
        kv split.no uint16 1 kv split.count uint16 2 kv split.tensors.count int32 2 tensor b 0 16 64
    gufo migrate -q s-00001-of-00002.gguf
    files llama-0.024K-v1.0-F32.gguf s-00001-of-00002.gguf s-00002-of-00002.gguf
    gufo diff s-00001-of-00002.gguf llama-0.024K-v1.0-F32.gguf
    run -3 --separate-stderr gufo migrate s-00002-of-00002.gguf
    [[ "$stderr" == 'gufo: s-00002-of-00002.gguf: byte '*': the file is shard 2 of 2 of a model; '* ]]
}

# bats test_tags=plain
@test "old files: other commands see the GGUF file that they become" {
    make_legacy old.bin type q4_0
    gufo migrate -q old.bin new.gguf
    local note="gufo: old.bin: warning: this is a GGJT version 1 file; gufo reads it as the GGUF file that 'gufo migrate' would write"
    run -0 --separate-stderr gufo get old.bin llama.embedding_length
    same 64
    same_error "$note"
    run -0 --separate-stderr gufo get -q old.bin llama.embedding_length
    same_error ''
    run -0 --separate-stderr gufo diff old.bin new.gguf
    same_error "$note"
    same_list "$(gufo hash -q old.bin | sed 's/old.bin/new.gguf/')" "$(gufo hash new.gguf)"
    same_list "$(gufo stats -q --json old.bin | sed 's/.*"tensors":/"tensors":/')" "$(gufo stats --json new.gguf | sed 's/.*"tensors":/"tensors":/')"
    for format in raw safetensors; do
        gufo extract -q old.bin output.weight --format "$format" -o "a.$format"
        gufo extract -q new.gguf output.weight --format "$format" -o "b.$format"
        cmp "a.$format" "b.$format"
    done
    run -2 gufo extract -q old.bin output.weight --force -o old.bin
    gufo quantize -q old.bin --allow-requantize Q8_0 -o a.gguf
    gufo quantize -q new.gguf --allow-requantize Q8_0 -o b.gguf
    cmp a.gguf b.gguf
    run -2 --separate-stderr gufo quantize -q --force old.bin --allow-requantize Q8_0 -o old.bin
    same_error 'gufo: old.bin: the output is the input; it would be lost'
    run -0 gufo name -q --suggest old.bin
    same "$(gufo name --suggest new.gguf)"
}

# bats test_tags=plain
@test "old files: commands that write them again name what helps" {
    make_legacy old.bin
    for command in 'edit old.bin --set a.b=1' 'split old.bin s --max-tensors 1' 'strip old.bin x.gguf --no-tensors' 'endian old.bin x.gguf --to big' \
        'merge old.bin x.gguf' 'name --rename old.bin' 'validate --fix old.bin -o x.gguf'; do
        # shellcheck disable=SC2086 # words
        run -3 --separate-stderr gufo $command
        same_error "gufo: old.bin: this is a GGJT version 1 file, not a GGUF file; 'gufo migrate' converts it"
    done
    run -1 gufo validate old.bin
    same "old.bin: byte 0: error G101 magic: not a GGUF file: it is a legacy GGJT model
    hint: this is a GGJT version 1 file; 'gufo migrate' converts it
    fix: gufo migrate old.bin
old.bin: invalid: 1 error"
    run -1 gufo validate --json old.bin
    has '"fix":{"action":"migrate","command":"gufo migrate old.bin"}'
    files old.bin
}

@test "old files: ls lists them by what they hold" {
    make_legacy old.bin type q4_0
    make_legacy parts.bin container ggml parts 2
    head -c -1 old.bin >short.bin
    printf 'PK\3\4 and so on' >pytorch_model.bin
    : >empty.bin
    run -3 --separate-stderr gufo ls .
    [ "${#lines[@]}" -eq 4 ]
    [[ "${lines[1]}" =~ ^old.bin\ +llama\ .*\ Q4_0\ .*\ 2,048\  ]]
    [[ "${lines[2]}" =~ ^parts.bin\ +llama\ .*\ F32\  ]]
    [[ "${lines[3]}" =~ ^short.bin\ .*\ broken\  ]]
    [[ "$stderr" == 'gufo: short.bin: byte '*': the file ends inside the data of a tensor: '* ]]
    run -0 gufo ls --json parts.bin
    has "\"size\":$(cat parts.bin parts.bin.1 | wc -c),"
}

# bats test_tags=plain
@test "migrate: real files" {
    local folder=$GUFO_SHARED/data/convert/legacy/real
    [ -d "$folder" ] || skip "no shared folder"
    run -0 gufo migrate --json -q --yes "$folder/tiny-rwkv-4v0-660K-Q5_1.bin" rwkv.gguf
    has '"family":"rwkv","container":"GGMF",'
    has '"valid":true,'
    run -0 gufo migrate --json -q --yes "$folder/for-tests-ggml-base.en.bin" whisper.gguf
    has '"family":"whisper","container":"GGML",'
    has '"valid":true,'
    # What only a person has: the merges that cannot be found.
    run -2 --separate-stderr gufo migrate "$folder/for-tests-ggml-base.en.bin" other.gguf </dev/null
    [[ "$stderr" == *"'tokenizer.ggml.merges' is missing ("*"): --vocab-from OTHER.gguf sets it, --yes continues without it" ]]
}

# bats test_tags=plain
@test "migrate: a gufo that is built without the formats before GGUF" {
    GUFO=$GUFO_TEST_BIN/gufo_without_legacy
    run -0 gufo --version
    [ "${lines[2]}" = 'without: formats before GGUF' ]
    make_legacy old.bin
    make_gguf old.gguf version 2
    for file in old.bin old.gguf; do
        run -3 --separate-stderr gufo migrate "$file"
        same_error "gufo: $file: this gufo is built without the formats before GGUF and GGUF 1 and 2"
    done
    run -3 --separate-stderr gufo convert old.bin
    same_error 'gufo: old.bin: byte 2: this is a format before GGUF, which this gufo is built without'
    run -3 --separate-stderr gufo show old.bin
    same_error 'gufo: old.bin: byte 0: not a GGUF file: it is a legacy GGJT model'
    files old.bin old.gguf
}
