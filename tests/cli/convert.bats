#!/usr/bin/env bats
# gufo convert.  What other commands do with models of training frameworks is in checkpoints.bats.

# bats sets stderr.
# shellcheck disable=SC2154

load common

# make_folder DIR [WORD VALUE]...
make_folder() {
    mkdir -p "$1"
    "$GUFO_TEST_BIN/make_checkpoint" "$@"
}

# is_valid FILE...: without a warning.
is_valid() {
    run -0 gufo validate --strict --level model -q "$@"
}

# type_of FILE TENSOR
type_of() {
    gufo show --json --tensors="$2" "$1" | sed 's/.*"tensors":\[{[^}]*"type":"\([A-Z0-9_]*\)".*/\1/'
}

# ---- operands -----------------------------------------------------------------------------------

# bats test_tags=plain
@test "convert: OUT and TYPE in any order" {
    make_folder m
    gufo convert -q m first.gguf Q8_0
    is_valid first.gguf
    gufo convert -q m Q8_0 a.gguf
    gufo convert -q m q8_0 -o b.gguf
    gufo convert -q m/ MOSTLY_Q8_0 --output=c.gguf 2
    gufo convert -q m Q8_0 ./d.gguf 1
    gufo convert -q m/model.safetensors e.gguf Q8_0
    (cd m && gufo convert -q . ../f.gguf Q8_0)
    for other in a b c d e f; do
        gufo diff first.gguf "$other.gguf"
    done
    cmp first.gguf a.gguf
    cmp first.gguf b.gguf
}

# bats test_tags=plain
@test "convert: a folder as OUT, and without OUT the model's" {
    make_folder Tiny-Tales
    mkdir there
    gufo convert -q Tiny-Tales there Q4_K_M
    same_list "$(ls there)" Tiny-Tales-107K-v1.0-Q4_K_M.gguf
    gufo convert -q Tiny-Tales
    same_list "$(ls Tiny-Tales/*.gguf)" Tiny-Tales/Tiny-Tales-107K-v1.0-BF16.gguf
    cd Tiny-Tales
    gufo convert -q . F32
    same_list "$(echo *.gguf)" 'Tiny-Tales-107K-v1.0-BF16.gguf Tiny-Tales-107K-v1.0-F32.gguf'
    run -2 --separate-stderr gufo convert -q . F32
    same_error 'gufo: ./Tiny-Tales-107K-v1.0-F32.gguf: target exists already (--force replaces it)'
    gufo convert -q . F32 --force
}

@test "convert: several types from one reading" {
    make_folder Tiny-Tales
    gufo convert -q Tiny-Tales --to made auto,F16,q4_k_m
    same_list "$(echo made/*)" 'made/Tiny-Tales-107K-v1.0-BF16.gguf made/Tiny-Tales-107K-v1.0-F16.gguf made/Tiny-Tales-107K-v1.0-Q4_K_M.gguf'
    gufo convert -q Tiny-Tales alone.gguf Q4_K_M
    cmp alone.gguf made/Tiny-Tales-107K-v1.0-Q4_K_M.gguf
    gufo convert -q Tiny-Tales alone.gguf --force F16
    cmp alone.gguf made/Tiny-Tales-107K-v1.0-F16.gguf
    run -2 gufo convert Tiny-Tales --to made F16,F16 --force
    run -2 gufo convert Tiny-Tales --to made x.gguf F16
}

# bats test_tags=plain
@test "convert: auto is the type of the model" {
    local type
    for type in bf16 f16 f32; do
        make_folder "$type" type "$type"
        gufo convert -q "$type" "$type.gguf"
        is_valid "$type.gguf"
    done
    same_list "$(type_of bf16.gguf output.weight)" BF16
    same_list "$(type_of f16.gguf output.weight)" F16
    same_list "$(type_of f32.gguf output.weight)" F16
    same_list "$(type_of bf16.gguf output_norm.weight)" F32
}

# bats test_tags=legacy
@test "convert: options as other converters have them, and files for other commands" {
    make_folder m
    gufo convert -q m a.gguf F32
    run -0 gufo convert -q m --outtype f32 --outfile b.gguf
    cmp a.gguf b.gguf
    run -0 gufo convert -q --outtype=f32 m c.gguf
    cmp a.gguf c.gguf
    run -2 --separate-stderr gufo convert m d.gguf F16 --outtype f32
    same_error "gufo: TYPE is given twice: by --outtype and as 'F16' (see gufo help convert)"
    run -3 --separate-stderr gufo convert a.gguf
    [[ "$stderr" == *"('gufo quantize' changes its types)" ]]
    "$GUFO_TEST_BIN/make_legacy" old.bin container ggjt version 1
    run -3 --separate-stderr gufo convert old.bin
    [[ "$stderr" == *"('gufo migrate' converts it)" ]]
}

@test "convert: wrong usage" {
    make_folder m
    while IFS='~' read -r arguments expected; do
        # shellcheck disable=SC2086 # words
        run -2 --separate-stderr gufo convert $arguments
        same_error "gufo: $expected (see gufo help convert)"
    done <<'END'
~DIR or FILE is needed
m x.gguf NOTYPE~unknown type 'NOTYPE'; 'gufo list filetypes' lists them
m x.gguf Q8_0 -o y.gguf~OUT is given twice: by --output and as 'x.gguf'
m x.gguf F16 Q8_0~several types are separated by commas: F16,Q8_0
m x.gguf F16,Q8_0~several types need --to DIR
m - F16~IN and OUT must be files, not '-'
- x.gguf F16~IN and OUT must be files, not '-'
m F16 4 5~'5' is an extra argument
END
    run -2 gufo convert m Q4_K_X
    run -2 --separate-stderr gufo convert m x.gguf --vocab-only --no-vocab
    same_error 'gufo: m: neither tensors nor a vocabulary are requested'
    run -2 --separate-stderr gufo convert m x.gguf --mmproj --vocab-only
    same_error 'gufo: m: the class alone says what a tower is, and it has no vocabulary'
    run -3 --separate-stderr gufo convert m x.gguf --mmproj
    [[ "$stderr" == *" is not known for a part that sees or hears" ]]
    files m m/config.json m/model.safetensors m/tokenizer.json m/tokenizer_config.json
}

# ---- results ------------------------------------------------------------------------------------

@test "convert: the report" {
    make_folder m
    run -0 --separate-stderr gufo convert m m.gguf q8_0
    [[ $stderr == 'gufo: m: warning: tokenizer.json gives other ids than readers of the GGUF file for 17 of 212 texts
gufo: m: warning: tokenizer.json, NFC: 17 of 212 texts, such as "'* ]]
    [ "${lines[0]}" = 'm as Q8_0, m.gguf: 215 KB of tensors become 115 KB' ]
    run -0 gufo convert m x.gguf q8_0 --dry-run
    has 'm as Q8_0, x.gguf: 215 KB of tensors become 115 KB'
    run -0 --separate-stderr gufo convert m x.gguf q8_0 --dry-run --json
    [[ "$output" == '{"path":"m","output":null,"type":"Q8_0",'* ]]
    has '{"name":"blk.0.attn_q.weight","dims":[64,64],"from":"BF16","to":"Q8_0",'
    [ ! -e x.gguf ]
    run -0 gufo convert m --dry-run --json
    has '"output":null,"type":"BF16"'
    run -0 gufo convert m -q --json y.gguf F16
    has '"output":"y.gguf","type":"F16"'
    run -0 gufo convert -q m z.gguf Q8_0 --report z.csv
    run -0 head -1 z.csv
    has tensor,shape,from,to
    same_list "$(wc -l <z.csv)" 26
}

# bats test_tags=plain
@test "convert: the same bytes whatever the threads, the memory and the shards" {
    make_folder m layers 3 embd 128
    for type in F16 Q4_K_M; do
        gufo convert -q m first.gguf "$type" --force --threads 1
        gufo convert -q m other.gguf "$type" --force --threads 4
        cmp first.gguf other.gguf
        gufo convert -q m other.gguf "$type" --force --memory 64Mi
        cmp first.gguf other.gguf
    done
    gufo convert -q m first.gguf --force
    gufo quantize -q first.gguf first8.gguf Q8_0
    gufo convert -q m m8.gguf Q8_0
    gufo diff first8.gguf m8.gguf
}

@test "convert: shards of tensors, and of outputs" {
    make_folder m shards 3
    make_folder one
    gufo convert -q m m.gguf F16
    is_valid m.gguf
    for way in 'tensors 10' 'size 100Ki'; do
        rm -f s-*.gguf
        # shellcheck disable=SC2086 # two words
        gufo convert -q m s.gguf F16 --split-max-${way% *} "${way#* }"
        [ -e s-00003-of-00003.gguf ]
        is_valid s-00001-of-00003.gguf
        gufo merge -q --force s-00001-of-00003.gguf -o merged.gguf
        cmp m.gguf merged.gguf
        gufo quantize -q --force m.gguf t.gguf COPY --split-max-${way% *} "${way#* }"
        gufo diff t-00001-of-00003.gguf m.gguf
        rm t-*.gguf
    done
    for file in s-*.gguf; do
        [ "$(stat -c %s "$file")" -le $((100 * 1024)) ]
    done
    # The files of a model do not matter.
    gufo convert -q one one.gguf F16 --set general.name=M
    gufo convert -q m two.gguf F16 --set general.name=M
    gufo diff one.gguf two.gguf
}

# bats test_tags=plain
@test "convert: an interrupted run is resumed" {
    [[ "${GUFO_SANITIZE:-}" != *memory* ]] || skip "too slow"
    make_folder m layers 8 embd 512
    gufo convert -q m whole.gguf Q4_K_M
    set -m
    "$GUFO" convert --threads 1 m out.gguf Q4_K_M 2>/dev/null &
    job=$!
    for ((i = 0; i < 1000; i++)); do
        [ ! -s out.gguf.part.journal ] || [ ! -e out.gguf.part ] || break
        sleep 0.01
    done
    kill -s KILL "$job"
    wait "$job" || true
    if [ ! -e out.gguf ]; then
        run -2 gufo convert -q m out.gguf Q5_K_M
        has '(--resume continues it, --force starts over)'
    else
        rm out.gguf # it was quicker
    fi
    gufo convert -q m out.gguf Q4_K_M
    cmp whole.gguf out.gguf
    [ ! -e out.gguf.part.journal ]
}

# ---- options ------------------------------------------------------------------------------------

@test "convert: a vocabulary of another length than the embedding" {
    make_folder m
    sed -i 's/"vocab_size": 259/"vocab_size": 300/' m/config.json
    run -3 --separate-stderr gufo convert m a.gguf
    same_error 'gufo: m/config.json: vocab_size (300): the embedding has 259 rows (--force-config converts it all the same)'
    run -0 --separate-stderr gufo convert m a.gguf --force-config
    [[ "$stderr" == *'the embedding has 259 rows, but the vocabulary has 300 tokens'* ]]
}

@test "convert: a configuration that contradicts the tensors" {
    make_folder m
    cp m/config.json sound.json
    sed 's/"hidden_size": 64/"hidden_size": 72/' sound.json >m/config.json
    run -3 --separate-stderr gufo convert m a.gguf
    same_error 'gufo: m/config.json: hidden_size (72): tensor "output.weight" has the shape [64, 259]; expected is [72, 259]: embedding_length 72, vocabulary 259 (--force-config converts it all the same)'
    sed 's/"num_hidden_layers": 2/"num_hidden_layers": 4000000000/' sound.json >m/config.json
    run -3 --separate-stderr gufo convert m a.gguf
    [[ "$stderr" == *'num_hidden_layers (4000000000): blocks blk.2 to blk.3999999999 have no tensors'* ]]
    [ ! -e a.gguf ]
    # Those who look see it, and its rules.
    run -0 gufo show m
    run -1 gufo validate m
    run -0 --separate-stderr gufo convert m a.gguf --force-config
    [[ "$stderr" == *'warning: num_hidden_layers (4000000000): '* ]]
    has '
--force-config accepted:
  num_hidden_layers (4000000000): '
    # It lists the errors alone, not other warnings.
    sed 's/"num_hidden_layers": 2/"num_hidden_layers": 2, "mlp_bias": true, "bos_token_id": 259/' sound.json >m/config.json
    run -0 --separate-stderr gufo convert m a.gguf --force --force-config --json
    [[ "$stderr" == *'warning: bos_token_id (259): '*'warning: mlp_bias'* || "$stderr" == *'warning: mlp_bias'*'warning: bos_token_id (259): '* ]]
    has ',"forced":["mlp_bias: the checkpoint has no biases of the feed-forward part"]}'
    cp sound.json m/config.json
    run -0 gufo convert m a.gguf --force --force-config
    lacks 'has let pass'
    run -0 gufo convert m a.gguf --force --json
    has ',"forced":[]}'
    sed 's/"num_hidden_layers": 2/"num_hidden_layers": 4000000000/' sound.json >m/config.json
    gufo convert -q m a.gguf --force --force-config
    run -1 gufo validate a.gguf
    sed 's/"vocab_size": 259/"vocab_size": 10/' sound.json >m/config.json
    run -3 --separate-stderr gufo convert m b.gguf
    same_error 'gufo: m/tokenizer.json: a token has id 258, but by vocab_size in the configuration the model has 10 tokens'
}

# bats test_tags=plain
@test "convert: the vocabulary alone, and tensors alone" {
    make_folder m
    gufo convert -q m vocab.gguf --vocab-only
    same_list "$(gufo show --json vocab.gguf | grep -c '"tensors":\[\]')" 1
    run -0 gufo tokenize --ids vocab.gguf hello
    expected=$output
    gufo convert -q m tensors.gguf --no-vocab
    run -1 gufo get tensors.gguf tokenizer.ggml.tokens
    gufo convert -q m both.gguf
    run -0 gufo tokenize --ids both.gguf hello
    same "$expected"
    gufo convert -q m taken.gguf --vocab-from vocab.gguf
    gufo diff taken.gguf both.gguf
    rm m/tokenizer.json
    gufo convert -q m taken.gguf --force --vocab-from vocab.gguf
    gufo diff taken.gguf both.gguf
    gufo convert -q m tensors2.gguf --no-vocab
    cmp tensors.gguf tensors2.gguf
    run -3 --separate-stderr gufo convert -q m none.gguf
    [[ "$stderr" == 'gufo: m'*token* ]]
    # The tokenizer alone needs no tensors.
    make_folder m
    rm m/model.safetensors
    gufo convert -q m vocab2.gguf --vocab-only
    gufo diff vocab.gguf vocab2.gguf
}

# make_pieces DIR CLASS [FIELDS]: a model whose vocabulary is one of SentencePiece as tokenizer.json has it, without tensors.
make_pieces() {
    local bytes=('<0x'{{0..9},{A..F}}{{0..9},{A..F}}'>') vocab='"<unk>":0,"<s>":1,"</s>":2' id=3 token
    for token in "${bytes[@]}" bc ab ▁ab a b c ▁; do
        vocab+=",\"$token\":$((id++))"
    done
    mkdir -p "$1"
    printf '{"normalizer":{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},
        {"type":"Replace","pattern":{"String":" "},"content":"▁"}]},"decoder":{"type":"Sequence","decoders":[]},
        "added_tokens":[{"id":1,"content":"<s>","special":true},{"id":2,"content":"</s>","special":true}],
        "post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>"}},{"Sequence":{"id":"A"}}],
            "pair":[],"special_tokens":{"<s>":{"id":"<s>","ids":[1],"tokens":["<s>"]}}},
        "model":{"type":"BPE","byte_fallback":true,"unk_token":"<unk>","vocab":{%s},
        "merges":["b c","a b","▁ ab"]}}' "$vocab" >"$1/tokenizer.json"
    printf '{"architectures":["%s"],"hidden_size":64,"intermediate_size":128,"num_hidden_layers":1,
        "num_attention_heads":4,"num_key_value_heads":4,"head_dim":16,"vocab_size":%s,"max_position_embeddings":128,
        "model_max_length":128,"rms_norm_eps":1e-5,"rope_theta":10000.0,"sliding_window":64%s}' "$2" "$id" "${3-}" >"$1/config.json"
}

@test "convert: a vocabulary of pieces in tokenizer.json, whatever the class" {
    local class fields
    for class in Llama Mistral Gemma Gemma2 Gemma3 Baichuan InternLM2 Arctic; do
        [ "$class" = Gemma2 ] && fields=',"attn_logit_softcapping":50.0,"final_logit_softcapping":30.0'
        make_pieces m "${class}ForCausalLM" "${fields-}"
        unset fields
        gufo convert -q --force --vocab-only m a.gguf 2>error
        same_list "$(cat error)" ''
        run -0 gufo get a.gguf tokenizer.ggml.model
        same llama
        run -0 gufo get a.gguf tokenizer.ggml.add_space_prefix
        same true
        run -0 gufo tokenize --ids a.gguf 'ab abc é'
        same '[1, 261, 265, 262, 259, 265, 198, 172]'
    done
}

# bats test_tags=plain
@test "convert: metadata of one's own" {
    make_folder m
    echo '{"general.name": "From File", "general.license": "mit", "general.description": "words"}' >given.json
    gufo convert -q m a.gguf --metadata given.json --set general.license=apache-2.0 --set general.tags='["a","b"]' --set some.count=uint16:7
    run -0 gufo get a.gguf general.name
    same 'From File'
    run -0 gufo get a.gguf general.license
    same apache-2.0
    run -0 gufo get a.gguf general.description
    same words
    run -0 gufo get a.gguf general.tags
    same 'a
b'
    run -0 gufo show --metadata=some.count a.gguf
    has 'some.count  uint16  7'
    run -2 gufo convert -q m b.gguf --set general.name
    run -3 gufo convert -q m b.gguf --metadata nothing.json
    has nothing.json
    echo '{' >bad.json
    run -3 gufo convert -q m b.gguf --metadata bad.json
    has bad.json
    # No output replaces what is read.
    run -2 gufo convert -q m given.json --force --metadata given.json F16
    has 'it would be lost'
    [ ! -e b.gguf ]
}

# bats test_tags=plain
@test "convert: tokenizer.json is kept where it is wanted" {
    make_folder m
    gufo convert -q m a.gguf --keep-tokenizer-json
    gufo get --raw -q a.gguf tokenizer.huggingface.json -o kept.json
    cmp kept.json m/tokenizer.json
    gufo convert -q m b.gguf
    run -1 gufo get b.gguf tokenizer.huggingface.json
}

@test "convert: the vocabulary of RWKV World is kept where it is wanted" {
    local file=m/rwkv_vocab_v20230424.txt
    mkdir m
    printf '%s\n' "1 'a' 1" "2 b'\\xff' 1" >"$file"
    echo '{"architectures":["Rwkv6ForCausalLM"],"hidden_size":64,"num_hidden_layers":1,"vocab_size":8,
        "head_size":32,"layer_norm_epsilon":1e-5,"rescale_every":6}' >m/config.json
    gufo convert -q --vocab-only m a.gguf --keep-rwkv-world
    is_valid a.gguf
    gufo get --raw -q a.gguf tokenizer.rwkv.world -o kept.txt
    cmp kept.txt "$file"
    gufo convert -q --vocab-only m b.gguf
    run -1 gufo get b.gguf tokenizer.rwkv.world
    gufo export -q a.gguf back
    gufo convert -q --vocab-only back c.gguf
    gufo diff a.gguf c.gguf
    echo "1 'b' 1" >>"$file"
    refused 3 "$file: RWKV World vocabulary: line 3, at byte 20, has id 1, as line 1 has" m d.gguf --vocab-only
}

@test "convert: an unknown pre-tokenizer needs --pre" {
    make_folder m
    sed -i 's/"Regex": "[^"]*"/"Regex": "[a-c]+|[d-z]|."/' m/tokenizer.json
    run -3 --separate-stderr gufo convert -q m a.gguf
    [[ "$stderr" == 'gufo: m'*--pre* ]]
    refused 2 'm: no pre-tokenizer is called "nosuch"' m a.gguf --pre nosuch
    gufo convert -q m a.gguf --pre qwen2
    run -0 gufo get a.gguf tokenizer.ggml.pre
    same qwen2
    run -0 gufo show -q m
    has 'Architecture      qwen3'
}

# bats test_tags=plain
@test "convert: an architecture without rules" {
    make_folder m
    sed -i 's/Qwen3ForCausalLM/StrangeForCausalLM/; s/"qwen3"/"strange"/' m/config.json
    run -3 --separate-stderr gufo convert m a.gguf
    [[ "$stderr" == 'gufo: m/config.json: no rules for the class "StrangeForCausalLM"'*--generic* ]]
    [ ! -e a.gguf ]
    run -2 gufo convert m a.gguf --generic
    gufo convert -q m a.gguf --arch strange --generic
    run -0 gufo get a.gguf general.architecture
    same strange
    run -0 gufo validate a.gguf
    run -0 gufo show --tensors='model.layers.0.mlp.up_proj.weight' a.gguf
    has '64 x 128'
    # The user knows what it is.
    gufo convert -q m b.gguf --arch qwen3
    is_valid b.gguf
    # shown as far as it is understood
    run -0 --separate-stderr gufo show m
    [[ "$stderr" == *'no rules for the class'*'the model is shown without it' ]]
    run -3 gufo validate m
}

# bats test_tags=plain
@test "convert: options of quantize" {
    make_folder m embd 256
    gufo convert -q m a.gguf Q4_K_M --tensor-type 'attn_v=Q8_0' --output-tensor-type F16 --token-embedding-type Q5_0
    same_list "$(type_of a.gguf blk.0.attn_v.weight)" Q8_0
    same_list "$(type_of a.gguf output.weight)" F16
    same_list "$(type_of a.gguf token_embd.weight)" Q5_0
    gufo convert -q m b.gguf Q6_K --pure
    same_list "$(type_of b.gguf blk.0.attn_v.weight)" Q6_K
    "$GUFO_TEST_BIN/make_imatrix" m.dat dat chunks 1 entry blk.0.ffn_up.weight 1 "$(seq -s, 256)"
    gufo convert -q m c.gguf Q4_K_M --imatrix m.dat
    gufo convert -q m d.gguf Q4_K_M
    run -1 gufo diff -q c.gguf d.gguf
    gufo convert -q m f.gguf
    gufo quantize -q f.gguf e.gguf Q4_K_M --imatrix m.dat
    gufo diff c.gguf e.gguf
}

# ---- bad input ----------------------------------------------------------------------------------

# refused CODE TEXT ARGUMENT...: one line with the text, and nothing is left behind.
refused() {
    local code=$1 text=$2 before
    before=$(find . | sort)
    run "-$code" --separate-stderr gufo convert -q "${@:3}"
    [[ "$stderr" == "gufo: $text"* && "$stderr" != *$'\n'* ]] || {
        printf 'expected: %s\n     got: %s\n' "$text" "$stderr"
        return 1
    }
    same ''
    same_list "$(find . | sort)" "$before"
}

@test "convert: files that are missing or lie" {
    make_folder m shards 3
    mv m/model-00002-of-00003.safetensors kept
    refused 3 'm/model.safetensors.index.json: the shard "model-00002-of-00003.safetensors" is missing: the index lists 8 tensors in it: ' m out.gguf
    mkfifo m/model-00002-of-00003.safetensors
    refused 3 'm/model-00002-of-00003.safetensors: ' m out.gguf
    rm m/model-00002-of-00003.safetensors
    mkdir m/model-00002-of-00003.safetensors
    refused 3 'm/model-00002-of-00003.safetensors: ' m out.gguf
    rmdir m/model-00002-of-00003.safetensors
    ln -s nowhere m/model-00002-of-00003.safetensors
    refused 3 'm/model' m out.gguf
    rm m/model-00002-of-00003.safetensors
    cp kept m/model-00002-of-00003.safetensors
    sed -i 's/"lm_head.weight": "model-00003/"lm_head.weight": "model-00001/' m/model.safetensors.index.json
    refused 3 'm/model.safetensors.index.json: the index and its files disagree: ' m out.gguf
    make_folder m shards 3
    truncate -s -100 m/model-00003-of-00003.safetensors
    refused 3 'm/model-00003-of-00003.safetensors: byte ' m out.gguf
    truncate -s 20 m/model-00003-of-00003.safetensors
    refused 3 'm/model-00003-of-00003.safetensors: byte ' m --to made F16,Q8_0
    : >m/model-00003-of-00003.safetensors
    refused 3 'm/model-00003-of-00003.safetensors: ' m
    make_folder m shards 3
    for bad in '{' '[]' '' '{"weight_map": {}}' '{"weight_map": {"a": "../../x"}}'; do
        printf '%s' "$bad" >m/model.safetensors.index.json
        refused 3 'm/model.safetensors.index.json: ' m out.gguf
    done
}

@test "convert: configurations that cannot be" {
    make_folder m
    cp m/config.json good
    for bad in '{' '[]' '' 'null' '{"architectures": ["Qwen3ForCausalLM"], "hidden_size": NaN}'; do
        printf '%s' "$bad" >m/config.json
        refused 3 'm/config.json: ' m out.gguf
    done
    rm m/config.json
    refused 3 'm/config.json: no such file' m out.gguf
    for change in 's/"hidden_size": 64/"hidden_size": -1/' 's/"num_hidden_layers": 2/"num_hidden_layers": 1e300/' \
        's/"hidden_size": 64/"hidden_size": "x"/'; do
        sed "$change" good >m/config.json
        run --separate-stderr gufo convert -q m out.gguf
        [ "$status" -eq 3 ] || { echo "$change: $status"; false; }
        [[ "$stderr" == 'gufo: m'* && "$stderr" != *$'\n'* ]]
    done
    cp good m/config.json
    printf '{' >m/tokenizer.json
    refused 3 'm/tokenizer.json: ' m out.gguf
}

@test "convert: what is not a model of a framework" {
    mkfifo pipe
    refused 3 'pipe: is not a regular file' pipe out.gguf
    refused 3 '/dev/null: is not a regular file' /dev/null out.gguf
    refused 3 'nothing: cannot open: No such file or directory' nothing out.gguf
    mkdir empty
    refused 3 'empty: the folder has no file model*.safetensors' empty out.gguf
    refused 3 'empty: ' empty
    make_model m.gguf
    refused 3 'm.gguf: ' m.gguf out.gguf
    "$GUFO_TEST_BIN/make_legacy" old.bin
    refused 3 'old.bin: ' old.bin out.gguf
    make_folder m
    if [ "$(id -u)" -ne 0 ]; then
        chmod a-r m/model.safetensors
        refused 3 'm/model.safetensors: ' m out.gguf
    fi
}

# bats test_tags=plain
@test "convert: no output replaces or joins the model" {
    make_folder m shards 2
    refused 2 'm/model-00002-of-00002.safetensors: ' m m/model-00002-of-00002.safetensors F16 --force
    for name in model.safetensors model-00003.safetensors pytorch_model.bin config.json tokenizer.json tokenizer_config.json README.md; do
        refused 2 "m/$name: in the folder of the model this name is that of one of its files" m "m/$name" F16 --force
        refused 2 "./m/$name: in the folder of the model" m/model.safetensors.index.json "./m/$name" F16 --force
        run -2 gufo quantize -q m "m/$name" F16 --force
        (cd m && run -2 gufo convert -q . "$name" F16 --force)
    done
    ln -s m/config.json link.gguf
    refused 2 'link.gguf: in the folder of the model' m link.gguf F16 --force
    # Files of which no tensor comes: a vocabulary alone, a report, what other commands write.
    cp -r m before
    mkdir words
    cp m/*.json words
    refused 2 'words/config.json: in the folder of the model' words words/config.json --vocab-only --force
    refused 2 'm/config.json: the output is the input' m out.gguf F16 --force --report m/config.json
    run -2 gufo get --force -o m/tokenizer.json m general.name
    run -2 gufo extract --force -o m/config.json m output_norm.weight
    diff -r m before
    # A GGUF file may be there.
    gufo convert -q m m/model.gguf F16
    gufo convert -q m m/model.gguf F16 --force
    is_valid m/model.gguf
}

# ---- quantized sources ----------------------------------------------------------------------------

# make_packed DIR METHOD [FIELD...]: two weights of I8, of which one has a scale that F16 has, too.
make_packed() {
    local header='{"a.weight":{"dtype":"I8","shape":[2,32],"data_offsets":[0,64]},'
    local folder=$1 method=$2
    shift 2
    header+='"a.weight_scale":{"dtype":"F32","shape":[1],"data_offsets":[64,68]},'
    header+='"b.weight":{"dtype":"I8","shape":[2,32],"data_offsets":[68,132]},'
    header+='"b.weight_scale":{"dtype":"F32","shape":[1],"data_offsets":[132,136]},'
    header+='"b.input_scale":{"dtype":"F32","shape":[1],"data_offsets":[136,140]}}'
    mkdir -p "$folder"
    {
        # shellcheck disable=SC2059 # the length, as bytes
        printf "\\x$(printf %02x $((${#header} % 256)))\\x$(printf %02x $((${#header} / 256)))"
        printf '\0\0\0\0\0\0%s' "$header"
        printf 'The thirty-two bytes of row zero....and of row one of the matrix'
        printf '\0\0\200\072'
        printf 'Another thirty-two bytes of numbers, and thirty-two more: b/one.'
        printf '\315\314\314\075\0\0\200\077'
    } >"$folder/model.safetensors"
    echo "{\"quantization_config\": {\"quant_method\": \"$method\"$*}}" >"$folder/config.json"
}

int8=', "format": "int-quantized", "config_groups": {"g": {"weights": {"num_bits": 8}}}'

@test "convert: of a quantized source, what blocks hold is repacked, the rest unpacked" {
    make_packed m compressed-tensors "$int8"
    run -0 --separate-stderr gufo convert m o.gguf --generic --arch thing
    same_list "$(tail -n 3 <<<"$output")" 'Quantized as Tensors How      To        Relative RMSE  Largest error
8-bit              1 repacked Q8_0                  0              0
8-bit              1 unpacked BF16            0.00191          0.025'
    [ "$(type_of o.gguf a.weight)" = Q8_0 ]
    [ "$(type_of o.gguf b.weight)" = BF16 ]
    [ "$(gufo show --json o.gguf | grep -c input_scale)" = 0 ]
    gufo convert -q m f.gguf F32 --generic --arch thing
    [ "$(type_of f.gguf a.weight)" = F32 ]
    run -0 --separate-stderr gufo convert m j.gguf Q4_0 --generic --arch thing --json
    [[ $output == *'"quantized_source":{"method":"compressed-tensors","weights":[{"from":"8-bit","to":"Q4_0","repacked":false,"tensors":2,"relative_rmse":0'* ]]
    run -0 --separate-stderr gufo convert m --generic --arch thing --dry-run
    [[ $output == *'8-bit              1 unpacked BF16                  -              -' ]]
    run -0 --separate-stderr gufo show m
    [[ $stderr == *'its weights are quantized (compressed-tensors): 1 become blocks without loss, 1 are unpacked'* ]]
}

@test "convert: a quantized source that is not read, or makes no sense, leaves nothing behind" {
    make_packed m hqq
    run -3 --separate-stderr gufo convert m o.gguf --generic --arch thing
    [[ $stderr == 'gufo: m/model.safetensors: byte '*': quantized source ("hqq"): tensor "a.weight" is part of a weight, and gufo does not read this method'* ]]
    make_packed m compressed-tensors "${int8/int-/other-}"
    run -3 --separate-stderr gufo convert m o.gguf --generic --arch thing
    [[ $stderr == *'quantized source ("compressed-tensors", "other-quantized"): '* ]]
    make_packed m compressed-tensors "${int8/'"num_bits": 8'/'"num_bits": 8, "group_size": 5'}"
    run -3 --separate-stderr gufo convert m o.gguf --generic --arch thing
    [[ $stderr == *'weight "a" (8-bit): groups of 5 do not divide rows of 32 numbers'* ]]
    make_packed m compressed-tensors "$int8"
    printf '\0\0\0\0' | dd of=m/model.safetensors bs=1 conv=notrunc status=none \
        seek=$(($(wc -c <m/model.safetensors) - 8))
    run -3 --separate-stderr gufo convert m o.gguf --generic --arch thing
    [[ $stderr == *'weight "b" (8-bit): a scale is zero, but its numbers are not'* ]]
    [ "$(echo o.gguf*)" = 'o.gguf*' ]
}

# ---- programs -------------------------------------------------------------------------------------

# both_ways FOLDER [TYPE]: gufo_import_quantize writes the bytes that the command writes.
both_ways() {
    "$GUFO_EXAMPLES/convert_folder" "$1" library.gguf ${2:+"$2"} >/dev/null
    gufo convert -q "$1" command.gguf ${2:+"$2"} --force
    cmp library.gguf command.gguf
}

# bats test_tags=plain
@test "convert: a program that calls the library writes the same bytes" {
    local folder type
    make_folder plain layers 1
    make_folder half layers 1 type f16
    make_folder gptq layers 1 packed gptq
    make_folder mxfp4 layers 1 packed mxfp4
    make_folder nvfp4 layers 1 packed nvfp4
    for type in auto F16 F32 Q8_0 Q4_K_M mxfp4_moe; do both_ways plain "$type"; done
    for folder in gptq mxfp4 nvfp4; do
        for type in F16 Q4_0 Q8_0; do both_ways "$folder" "$type"; done
    done
    both_ways half
    both_ways gptq
    [ "$(type_of command.gguf blk.0.attn_q.weight)" = Q4_0 ]
    both_ways mxfp4
    [ "$(type_of command.gguf blk.0.attn_q.weight)" = MXFP4 ]
    both_ways nvfp4
    [ "$(type_of command.gguf blk.0.attn_q.weight)" = NVFP4 ]
    make_packed packed hqq
    run -1 --separate-stderr "$GUFO_EXAMPLES/convert_folder" packed o.gguf
    [ ! -e o.gguf ]
}

# ---- adapters -----------------------------------------------------------------------------------

# make_adapter DIR [SETTINGS]: a pair of rank 2 for a matrix of 8 rows and 64 columns; SETTINGS begin with a comma.
make_adapter() {
    local module=base_model.model.model.layers.0.self_attn.k_proj
    mkdir -p "$1"
    printf '{"peft_type": "LORA", "r": 2, "lora_alpha": 4%s}' "${2:-}" >"$1/adapter_config.json"
    printf '\0\2\0\0\0\0\0\0%-512s' '{
        "'$module'.lora_A.weight": {"dtype": "F32", "shape": [2, 64], "data_offsets": [0, 512]},
        "'$module'.lora_B.weight": {"dtype": "F32", "shape": [32, 2], "data_offsets": [512, 768]}}' \
        >"$1/adapter_model.safetensors"
    head -c 768 /dev/zero >>"$1/adapter_model.safetensors"
}

@test "convert: an adapter, by the rules of its base" {
    make_folder base
    make_adapter lora
    run -3 --separate-stderr gufo convert lora lora.gguf
    same_error 'gufo: lora/adapter_config.json: the base of the adapter is not known: no base_model_name_or_path (--base names the model that the adapter is for)'
    gufo convert -q lora --base base lora.gguf
    gufo convert -q base base.gguf
    is_valid lora.gguf
    # A base is named, and by its weights where they are there.
    gufo convert -q lora --base base.gguf other.gguf
    run -0 gufo get other.gguf gufo.base_model.weights
    [ ${#output} -eq 16 ]
    [ "$(gufo get lora.gguf gufo.base_model.weights)" = "$output" ]
    [ "$(gufo get lora.gguf general.base_model.0.name)" = "$(gufo get base.gguf general.name)" ]
    mkdir config
    cp base/config.json config
    run -0 --separate-stderr gufo convert -q lora --base config alone.gguf
    same_error ''
    run -1 gufo get alone.gguf gufo.base_model.weights
    cp base/model.safetensors config
    truncate -s -1 config/model.safetensors
    run -0 --separate-stderr gufo convert lora --base config --force alone.gguf
    [[ $stderr == *'warning: the adapter does not say which weights its base has: '* ]]
    # Two adapters that are each other's base.
    cp -r lora loop
    cp base/config.json loop
    run -0 --separate-stderr gufo convert lora --base loop --force alone.gguf
    [[ $stderr == *'its base has: it is an adapter itself' ]]
    [ "$(gufo get other.gguf general.base_model.0.name)" = "$(gufo get base.gguf general.name)" ]
    run -0 gufo validate -q other.gguf --base base.gguf
    [ "$(gufo hash --no-tensors lora.gguf | cut -d' ' -f1)" = "$(gufo hash --no-tensors other.gguf | cut -d' ' -f1)" ]
    run -2 --separate-stderr gufo convert --force lora --base base.gguf base.gguf
    same_error 'gufo: base.gguf: the output is the input; it would be lost'
    run -0 gufo validate -q lora.gguf --base base.gguf
    run -0 gufo get lora.gguf adapter.lora.alpha
    same 4
    run -0 gufo show lora.gguf
    has blk.0.attn_k.weight.lora_a
    run -1 gufo get lora.gguf general.file_type
    make_adapter named ', "base_model_name_or_path": "org/base"'
    mkdir out
    gufo convert -q named out F16
    same_list "$(ls out)" Named-2K-v1.0-F16-LoRA.gguf
    run -0 --separate-stderr gufo ls named
    has named
}

@test "convert: adapters that are refused leave nothing behind" {
    make_folder base
    make_adapter dora ', "use_dora": true'
    run -3 --separate-stderr gufo convert dora --base base out.gguf
    same_error 'gufo: dora/adapter_config.json: this is a DoRA adapter (use_dora): its magnitudes have no place in GGUF'
    run -2 --separate-stderr gufo convert base --base base out.gguf
    same_error 'gufo: base: only an adapter has a base; this is not an adapter'
    same_list "$(ls)" $'base\ndora'
}

# ---- names in the folder of a stranger ----------------------------------------------------------

# leads_out FILE: this file of m, as a symlink to elsewhere, is refused, and read with --follow.
leads_out() {
    local out="gufo: m/$1: a symlink leads out of the model's folder (--follow reads it)"
    mkdir -p elsewhere
    mv "m/$1" elsewhere/file
    ln -s "$(realpath --relative-to="m/$(dirname "$1")" elsewhere)/file" "m/$1"
    for command in "convert -q m out.gguf" "show m" "stats m" "diff m m" "validate m"; do
        # shellcheck disable=SC2086
        run --separate-stderr gufo $command
        [ "$status" -eq 3 ] || [ "$command" = "validate m" ] || { echo "$command: $status"; return 1; }
        [[ "$stderr$output" == *"${out#gufo: }"* ]] || { echo "$command: $stderr$output"; return 1; }
    done
    [ ! -e out.gguf ]
    gufo convert -q --follow m out.gguf
    gufo show --follow m >/dev/null 2>&1
    rm out.gguf "m/$1"
    mv elsewhere/file "m/$1"
}

# bats test_tags=plain
@test "convert: names in a folder do not lead out of it, unless --follow says so" {
    make_folder m shards 2
    gufo convert -q m ../whole.gguf
    leads_out config.json
    leads_out tokenizer.json
    leads_out model-00002-of-00002.safetensors
    leads_out model.safetensors.index.json
    # A folder, and an absolute path.
    make_folder m
    rm m/model-0* m/*.index.json
    sed -i 's/"chat_template"/"old_template"/' m/tokenizer_config.json
    mkdir elsewhere/templates
    printf '{{ messages }}' | tee m/chat_template.jinja >elsewhere/templates/tool_use.jinja
    ln -s "$PWD/elsewhere/templates" m/additional_chat_templates
    refused 3 "m/additional_chat_templates: a symlink leads out of the model's folder (--follow reads it)" m out.gguf
    gufo convert -q --follow m out.gguf
    run -0 gufo get out.gguf tokenizer.chat_template.tool_use
    same '{{ messages }}'
    rm out.gguf m/additional_chat_templates
    # A file that gguf-metadata.json names.
    printf secret >secret
    printf '{"version":1,"keys":{"x.y":{"type":"string","file":"value.txt"}}}' >m/gguf-metadata.json
    ln -s ../secret m/value.txt
    refused 3 "m/value.txt: a symlink leads out of the model's folder (--follow reads it)" m out.gguf
    # A link to a file in the folder is one of its files.
    rm m/value.txt
    printf mine >m/mine.txt
    ln -s mine.txt m/value.txt
    gufo convert -q m out.gguf
    run -0 gufo get out.gguf x.y
    same mine
}

# The folder of the base, beside that of the adapter, has a name that a stranger gave.
# bats test_tags=plain
@test "convert: an adapter's base that is a symlink is read where --follow or --base says so" {
    mkdir elsewhere
    make_folder elsewhere/real
    make_adapter lora ', "base_model_name_or_path": "org/base"'
    ln -s elsewhere/real base
    run -3 --separate-stderr gufo convert lora out.gguf
    [[ $stderr == *"the folder named like the adapter's base is a symlink (--follow reads it)" ]]
    [ ! -e out.gguf ]
    gufo convert -q --follow lora out.gguf
    run -0 gufo get out.gguf gufo.base_model.weights
    gufo convert -q --base base lora named.gguf
    same "$(gufo get named.gguf gufo.base_model.weights)"
}

# bats test_tags=plain
@test "convert: a file that the user names may be anywhere, but not those beside it" {
    make_folder m
    gufo convert -q m whole.gguf
    mkdir elsewhere
    mv m/model.safetensors elsewhere
    ln -s ../elsewhere/model.safetensors m/model.safetensors
    refused 3 "m/model.safetensors: a symlink leads out of the model's folder (--follow reads it)" m out.gguf
    gufo convert -q m/model.safetensors out.gguf
    cmp out.gguf whole.gguf
    rm out.gguf
    mv m/config.json elsewhere
    ln -s ../elsewhere/config.json m/config.json
    refused 3 "m/config.json: a symlink leads out of the model's folder (--follow reads it)" m/model.safetensors out.gguf
    # The folder itself is what the user names.
    rm m/*
    mv elsewhere/* m
    "$GUFO_TEST_BIN/make_checkpoint" m
    ln -s m link
    gufo convert -q link out.gguf
}

# bats test_tags=plain
@test "convert: the cache of Hugging Face's tools needs no option" {
    repository=hub/models--org--Tiny-7B
    mkdir -p "$repository/blobs" "$repository/snapshots/8f3a"
    make_folder m shards 2
    for file in m/*; do
        hash=$(sha256sum "$file" | cut -c 1-40)
        cp "$file" "$repository/blobs/$hash"
        ln -s "../../blobs/$hash" "$repository/snapshots/8f3a/${file#m/}"
    done
    run -0 --separate-stderr gufo convert "$repository/snapshots/8f3a" out.gguf
    [ "$(wc -l <<<"$stderr")" -eq 2 ] # what tokenizer.json says that GGUF cannot
    run -0 gufo get out.gguf general.name
    same 'Tiny 7B'
    (cd "$repository/snapshots/8f3a" && gufo convert -q . ../../../../again.gguf)
    cmp out.gguf again.gguf
    rm out.gguf
    # Of the blobs alone.
    rm "$repository/snapshots/8f3a/config.json"
    cp m/config.json "$repository/config.json"
    ln -s ../../config.json "$repository/snapshots/8f3a/config.json"
    refused 3 "$repository/snapshots/8f3a/config.json: a symlink leads out of the model's folder (--follow reads it)" \
        "$repository/snapshots/8f3a" out.gguf
    if [ "$(id -u)" -eq 0 ]; then
        rm "$repository/snapshots/8f3a/config.json"
        cp m/config.json "$repository/blobs/theirs"
        chown 65534 "$repository/blobs/theirs"
        ln -s ../../blobs/theirs "$repository/snapshots/8f3a/config.json"
        refused 3 "$repository/snapshots/8f3a/config.json: a symlink leads out of the model's folder (--follow reads it)" \
            "$repository/snapshots/8f3a" out.gguf
    fi
}
