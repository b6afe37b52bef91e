#!/usr/bin/env bats
# gufo tokenize and detokenize with a tokenizer.json, by its own rules

# bats sets stderr.
# shellcheck disable=SC2154,SC2016

load common
load vocabularies

# make_json: tokenizer.json in the folder m, with what no GGUF file can say: a normalizer NFC, words in
# lower case, and a token that takes the space before it.
make_json() {
    mkdir -p m
    cat >m/tokenizer.json <<'JSON'
{"version": "1.0", "truncation": null, "padding": null,
 "added_tokens": [{"id": 6, "content": "<b>", "special": true, "normalized": false, "single_word": false,
                   "lstrip": true, "rstrip": false}],
 "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]},
 "pre_tokenizer": {"type": "WhitespaceSplit"},
 "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<b>", "type_id": 0}},
     {"Sequence": {"id": "A", "type_id": 0}}], "pair": [],
     "special_tokens": {"<b>": {"id": "<b>", "ids": [6], "tokens": ["<b>"]}}},
 "decoder": null,
 "model": {"type": "WordLevel", "unk_token": "?",
           "vocab": {"?": 0, "hello": 1, "w\u00f6rld": 2, "a": 3, "\u0000": 4, "<s>": 5}}}
JSON
}

@test "tokenize: a tokenizer.json, and the folder that it is in, by its own rules" {
    make_json
    run -0 gufo tokenize --ids m $'HELLO wo\xcc\x88rld <b>a x'
    same '[6, 1, 2, 6, 3, 0]'
    run -0 gufo tokenize --ids m/tokenizer.json $'HELLO wo\xcc\x88rld <b>a x'
    same '[6, 1, 2, 6, 3, 0]'
    run -0 gufo tokenize --ids --no-bos m 'a'
    same '[3]'
    run -0 gufo tokenize --ids --no-bos --no-special m 'a <b>'
    same '[3, 0]'
}

@test "tokenize --json: what each token stands for, in bytes" {
    make_json
    run -0 gufo tokenize --json m $'HELLO wo\xcc\x88rld <b>a'
    same '{"path":"m","tokens":[{"id":6,"piece":"<b>","span":[0,0]},{"id":1,"piece":"hello","span":[0,5]},{"id":2,"piece":"wörld","span":[6,13]},{"id":6,"piece":"<b>","span":[13,17]},{"id":3,"piece":"a","span":[17,18]}],"count":5}'
}

@test "tokenize: tokenizer_config.json adds tokens, and says what is put around texts" {
    make_json
    cat >m/tokenizer_config.json <<'JSON'
{"added_tokens_decoder": {"7": {"content": "[x]", "lstrip": false, "normalized": false, "rstrip": true,
     "single_word": false, "special": true}},
 "bos_token": "<s>", "eos_token": "[x]", "add_bos_token": true, "add_eos_token": true,
 "model_max_length": 1000000000000000019884624838656}
JSON
    run -0 gufo tokenize --ids m 'hello [x] a'
    same '[5, 1, 7, 3, 7]'
    run -0 gufo tokenize --ids m/tokenizer.json 'hello [x] a'
    same '[6, 1, 0, 3]'
}

@test "detokenize: by the decoder of the file" {
    make_json
    run -0 gufo detokenize m 6 1 2
    same '<b> hello wörld'
    run -0 gufo detokenize --skip-special m 6 1 2
    same 'hello wörld'
    run -0 gufo detokenize --remove-special m/tokenizer.json 6 1 2
    same 'hello wörld'
}

@test "tokenize --tokenizer: of a file that has several" {
    make_json
    make_bpe m.gguf kv tokenizer.huggingface.json string "$(sed 's/\\/\\\\/g' m/tokenizer.json)"
    run -0 gufo tokenize --ids m.gguf 'hell'
    same '[12]'
    run -0 gufo tokenize --ids --tokenizer ggml m.gguf 'hell'
    same '[12]'
    run -0 gufo tokenize --ids --tokenizer huggingface m.gguf 'hello'
    same '[6, 1]'
    run -0 gufo tokenize --ids --original m.gguf 'hello'
    same '[6, 1]'
    run -0 gufo detokenize --tokenizer huggingface m.gguf 1 2
    same 'hello wörld'
    run -3 gufo tokenize --ids --tokenizer rwkv m.gguf 'hello'
    same 'gufo: m.gguf: the model has no vocabulary (tokenizer.rwkv.world)'
    run -2 gufo tokenize --ids --tokenizer python m.gguf 'hello'
    [[ $output == *ggml*huggingface*rwkv* ]]
}

@test "tokenize: what is wrong with a tokenizer.json, and where" {
    mkdir m
    echo '{"version": "1.0", "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"a": }}}' >m/tokenizer.json
    run -3 gufo tokenize m a
    [[ $output == 'gufo: m/tokenizer.json: byte 83: '* ]]
    echo '{"version": "1.0", "normalizer": {"type": "Uppercase"}, "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}}}' >m/tokenizer.json
    run -3 gufo tokenize m a
    same 'gufo: m/tokenizer.json: byte 33: normalizer, step "Uppercase": no normalizer has this type'
    echo '{"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": 1}]}, "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}}}' >m/tokenizer.json
    run -3 gufo tokenize m a
    same 'gufo: m/tokenizer.json: byte 57: pre_tokenizer, step "Digits": "individual_digits" is neither true nor false'
    echo '{"decoder": true, "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}}}' >m/tokenizer.json
    run -3 gufo tokenize m a
    same 'gufo: m/tokenizer.json: byte 12: decoder: a step is not an object'
    rm m/tokenizer.json
    ln -s /etc/hostname m/tokenizer.json
    run -3 gufo tokenize m a
    [[ $output == *'leads out of'* ]]
}

@test "tokenize: steps that would take all memory" {
    local bytes='{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": false}' steps
    mkdir m
    steps=$(printf "%s, " "${bytes}"{,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,})
    printf '{"pre_tokenizer": {"type": "Sequence", "pretokenizers": [%s]}, "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}}}' \
        "${steps%, }" >m/tokenizer.json
    run -3 gufo tokenize m hello
    same 'gufo: m: the pre-tokenizer makes more than 67,109,024 bytes of a text'
    steps=$(printf '{"type": "NFC"}%.0s, ' {1..300})
    printf '{"normalizer": {"type": "Sequence", "normalizers": [%s]}, "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}}}' \
        "${steps%, }" >m/tokenizer.json
    run -3 gufo tokenize m hello
    [[ $output == *'normalizer, step "NFC": there are more than 256 steps' ]]
}

@test "tokenize --explain: merges of a tokenizer.json" {
    mkdir m
    cat >m/tokenizer.json <<'JSON'
{"model": {"type": "BPE", "continuing_subword_prefix": "##",
           "vocab": {"a": 0, "##a": 1, "##b": 2, "aa": 3, "##ab": 4, "aab": 5},
           "merges": ["##a ##b", "a ##ab"]}}
JSON
    run -0 gufo tokenize --explain m aab
    same 'piece    "aab"
  merge  "##a" + "b"  rank 0
  merge  "a" + "ab"  rank 1
  token  "aab"  5'
    run -0 gufo tokenize --explain --json m ab
    same '{"path":"m","steps":[{"step":"piece","text":"ab","span":[0,2]},{"step":"token","text":"a","id":0,"span":[0,1]},{"step":"token","text":"b","id":2,"span":[1,2]}],"count":2}'
    run -0 gufo tokenize --explain --json m aab
    [[ $output == *'{"step":"merge","text":"##ab","left":"##a","right":"b","rank":0,"span":[1,3]}'* ]]
}

@test "tokenize: an error in a folder names the file" {
    mkdir m
    printf '{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a a"]' >m/tokenizer.json
    run -3 --separate-stderr gufo tokenize m a
    [ "$stderr" = "gufo: m/tokenizer.json: byte 62: the JSON ends where ',' is expected" ]
    printf '{"model": {"type": "BPX", "vocab": {"a": 0}}}' >m/tokenizer.json
    run -3 --separate-stderr gufo detokenize m 0
    [ "$stderr" = 'gufo: m/tokenizer.json: byte 10: no model is called "BPX"' ]
    make_json
    echo '{"added_tokens_decoder": {' >m/tokenizer_config.json
    run -3 --separate-stderr gufo tokenize m a
    [[ $stderr = 'gufo: m/tokenizer_config.json: byte '* ]]
}

@test "vocab: a tokenizer.json, and the folder that it is in" {
    make_json
    run -0 gufo vocab --json m
    [[ $output == '{"path":"m","model":"huggingface","algorithm":"WordLevel","pre":null,"size":7,'* ]]
    run -0 gufo vocab --list=special m/tokenizer.json
    [[ $output == *'"<b>"   6'* ]]
    run -0 gufo vocab diff m m/tokenizer.json
    gufo vocab --export tokenizer.json -o copy.json m
    cmp copy.json m/tokenizer.json
    run -2 gufo vocab --export tokenizer.json --force -o m/tokenizer.json m/tokenizer.json
    same 'gufo: m/tokenizer.json: the output is the input; it would be lost'
    make_bpe m.gguf kv tokenizer.huggingface.json string "$(sed 's/\\/\\\\/g' m/tokenizer.json)"
    run -0 gufo vocab --json --tokenizer huggingface m.gguf
    [[ $output == *'"algorithm":"WordLevel"'* ]]
    run -3 gufo vocab --tokenizer ggml m/tokenizer.json
    [[ $output == *'not a GGUF file'* ]]
    echo '{"added_tokens_decoder": {' >m/tokenizer_config.json
    run -3 gufo vocab m
    [[ $output == 'gufo: m/tokenizer_config.json: byte '* ]]
}

@test "vocab diff: merges of a tokenizer.json" {
    mkdir a b
    echo '{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "ba": 3}, "merges": ["a b", "b a"]}}' >a/tokenizer.json
    echo '{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "ba": 3}, "merges": [["a", "b"], ["b", "b"]]}}' >b/tokenizer.json
    sed -i 's/"ba": 3/"ba": 3, "bb": 4/' a/tokenizer.json b/tokenizer.json
    run -1 gufo vocab diff a b
    same 'Merges: 2 and 2; they differ from rank 1 on'
    sed -i 's/\["b", "b"\]/["b", "a"]/' b/tokenizer.json
    run -0 gufo vocab diff a b
    same ''
}
