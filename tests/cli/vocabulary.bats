#!/usr/bin/env bats
# gufo vocab

# bats sets stderr; some commands are for another shell.
# shellcheck disable=SC2154,SC2016

load common
load vocabularies

# A byte-level vocabulary as Hugging Face has it.
hugging_face() {
    printf '%s' '{"added_tokens": [{"id": 3, "content": "<|end|>", "special": true, "normalized": false,' \
        '"single_word": false, "lstrip": false, "rstrip": false}],' \
        '"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true},' \
        '"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}}'
}

@test "vocab: what a vocabulary holds" {
    make_bpe m.gguf
    run -0 gufo vocab m.gguf
    same 'm.gguf

Vocabulary
  model          gpt2 (BPE)
  pre-tokenizer  gpt-2
  tokens         15: 14 normal, 1 control
  lengths        half of the written tokens have at most 1 byte, 90 % at most 2
  bos            14 "<|end|>"
  eos            14 "<|end|>"
  eot            14 "<|end|>"
  adds           nothing
  decoding       removes spaces before punctuation
  duplicates     none
  unreachable    none

Longest tokens (10 of 15)
  token   id  bytes  type    use
  "hell"  12      4  normal
  "he"    10      2  normal
  "ll"    11      2  normal
  " w"    13      2  normal
  "h"      0      1  normal
  "e"      1      1  normal
  "l"      2      1  normal
  "o"      3      1  normal
  "w"      4      1  normal
  " "      5      1  normal'
}

@test "vocab --text: bytes per token" {
    make_spm m.gguf
    printf 'hello world' >text
    run -0 gufo vocab --text=text m.gguf
    [[ $output == *'  text           11 bytes, '*' bytes per token'* ]]
    run -0 bash -c '"$GUFO" vocab --text=- m.gguf <text'
    [[ $output == *'  text           11 bytes, '* ]]
    run -0 gufo vocab --text=/dev/null m.gguf
    [[ $output == *'  text           0 bytes, no tokens'* ]]
    run -3 gufo vocab --text=missing m.gguf
    run -0 gufo vocab --json --text=text m.gguf
    [[ $output == *'"text":{"bytes":11,"tokens":'*'"bytes_per_token":'* ]]
}

@test "vocab --list: special tokens, duplicates, unreachable tokens" {
    make_gguf m.gguf kv tokenizer.ggml.model string gpt2 kv tokenizer.ggml.pre string gpt-2 \
        arr tokenizer.ggml.tokens string 6 a b a ba 'x\x1b[2J' '<|end|>' \
        arr tokenizer.ggml.token_type int32 6 1 1 1 1 4 3 \
        arr tokenizer.ggml.merges string 1 'a b' \
        kv tokenizer.ggml.bos_token_id uint32 5 kv tokenizer.ggml.eos_token_id uint32 5
    run -0 gufo vocab --list=special m.gguf
    same '  token         id  bytes  type          use
  "x\u{1b}[2J"   4      5  user-defined
  "<|end|>"      5      7  control       bos, eos, eot, ends generation'
    run -0 gufo vocab --list=duplicates m.gguf
    same '  token  id  bytes  type    use
  "a"     0      1  normal  the same as 2'
    run -0 gufo vocab --list=unreachable --json m.gguf
    same '{"path":"m.gguf","unreachable":[{"id":0,"text":"a","piece":"a","type":"normal","score":0,"ends_generation":false,"same_as":2},{"id":3,"text":"ba","piece":"ba","type":"normal","score":0,"ends_generation":false}]}'
    run -0 gufo vocab m.gguf
    [[ $output == *'  duplicates     1 (--list=duplicates)'* ]]
    [[ $output == *'  unreachable    2 of 5 (--list=unreachable)'* ]]
    run -0 gufo vocab --list=tokens m.gguf
    [ "${#lines[@]}" -eq 7 ]
    run -2 gufo vocab --list=everything m.gguf
}

@test "vocab: warnings, on standard error and in JSON" {
    make_bpe m.gguf
    gufo edit -q m.gguf --remove tokenizer.ggml.pre
    run -0 --separate-stderr gufo vocab m.gguf
    [[ $stderr == *'"tokenizer.ggml.pre" is missing'* ]]
    run -0 --separate-stderr gufo vocab --json m.gguf
    [[ $output == *'"warnings":["\"tokenizer.ggml.pre\" is missing'* ]]
    run -0 --separate-stderr gufo vocab --pre=gpt-2 m.gguf
    same_error ''
}

@test "vocab diff: settings, tokens, merges" {
    make_bpe a.gguf
    cp a.gguf b.gguf
    run -0 gufo vocab diff a.gguf b.gguf
    same ''
    gufo edit -q b.gguf --set 'tokenizer.ggml.tokens[7]=õ' --set 'tokenizer.ggml.merges[3]=e l' \
        --set tokenizer.ggml.pre=starcoder --set 'tokenizer.ggml.token_type[9]=4'
    run -1 gufo vocab diff a.gguf b.gguf
    same 'Settings
  pre-tokenizer  gpt-2 -> starcoder

Tokens: 1 removed, 1 added, 1 of another type
  - 7       "\xc3"
  ! 9       "a"  normal -> user-defined
  + 7       "\xf5"

Merges: 4 and 4; they differ from rank 3 on'
    run -1 gufo vocab diff -q a.gguf b.gguf
    same ''
    run -1 gufo vocab diff --json a.gguf b.gguf
    same '{"a":"a.gguf","b":"b.gguf","settings":[{"name":"pre-tokenizer","a":"gpt-2","b":"starcoder"}],"counts":{"removed":1,"added":1,"moved":0,"type":1,"score":0},"tokens":[{"change":"removed","text":"Ã","a":7,"b":null},{"change":"type","text":"a","a":9,"b":9,"a_type":"normal","b_type":"user-defined"},{"change":"added","text":"õ","a":null,"b":7}],"merges":{"a":4,"b":4,"first_difference":3},"same":false}'
    run -0 gufo vocab diff --json a.gguf a.gguf
    [[ $output == *'"first_difference":null},"same":true}' ]]
}

@test "vocab diff: a long list is cut, unless -v" {
    make_bpe a.gguf
    make_spm b.gguf
    run -1 gufo vocab diff b.gguf a.gguf
    [[ $output == *'more: -v shows all'* ]]
    run -1 gufo vocab diff -v b.gguf a.gguf
    [[ $output != *'more: -v shows all'* ]]
    [[ $output == *'  + 14      "<|end|>"'* ]]
}

@test "vocab: a model that has a tokenizer.json alone" {
    make_gguf m.gguf kv general.architecture string gpt2 \
        kv tokenizer.huggingface.json string "$(hugging_face)"
    run -0 gufo vocab m.gguf
    [[ $output == *'  model          huggingface (BPE)'*'  tokens         4: 3 normal, 1 control'*'  unreachable    none'* ]]
    gufo vocab --export tokenizer.json -o - m.gguf | cmp - <(hugging_face)
    run -0 gufo tokenize --ids m.gguf 'ab<|end|>ba'
    same '[2, 3, 1, 0]'
    make_gguf bad.gguf kv tokenizer.huggingface.json string '{"model": {"type": "WordLevel"}}'
    run -3 gufo vocab bad.gguf
    has 'gufo: bad.gguf: '
}

@test "vocab: tokens of a tokenizer.json that stand inside words are reachable" {
    make_gguf m.gguf kv tokenizer.huggingface.json string '{"added_tokens": [], "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true}, "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0, "a": 1, "##b": 2, "a b": 3}}}'
    run -0 gufo vocab --list=unreachable m.gguf
    has '"a b"'
    [[ $output != *'##b'* ]]
}

@test "vocab: a model that has a vocabulary of RWKV World alone" {
    make_gguf m.gguf kv tokenizer.rwkv.world string "1 'a' 1\\n2 'ab' 2\\n3 b'\\\\xe4' 1\\n"
    run -0 gufo vocab m.gguf
    [[ $output == *'  model          rwkv (RWKV)'*'  tokens         4: 3 normal, 1 control'* ]]
    make_gguf bad.gguf kv tokenizer.rwkv.world string "1 'a' 2\\n"
    run -3 gufo vocab bad.gguf
    [[ $output == *'line 1'*'another length'* ]]
}

@test "vocab: an id that RWKV World has twice is reported, then refused" {
    make_gguf m.gguf kv general.architecture string rwkv \
        kv tokenizer.rwkv.world string "1 'a' 1\\n2 'ab' 2\\n1 'c' 1\\n"
    run gufo validate m.gguf
    [[ $output == *'S215'*'tokenizer.rwkv.world: line 3 has id 1, as line 1 has'* ]]
    run -3 gufo tokenize m.gguf a
    same 'gufo: m.gguf: RWKV World vocabulary: line 3, at byte 17, has id 1, as line 1 has'
}

@test "vocab: a gpt2 vocabulary without merges has atomic tokens" {
    make_bpe m.gguf
    gufo edit -q m.gguf --remove tokenizer.ggml.merges
    run -0 --separate-stderr gufo tokenize --ids m.gguf 'hell he hello'
    same '[12, 5, 0, 1, 5, 0, 1, 2, 2, 3]'
    [[ $stderr == *'"tokenizer.ggml.merges" is missing: tokens are atomic'* ]]
    run -0 --separate-stderr gufo detokenize m.gguf 12 5 0 1
    same 'hell he'
    run -0 --separate-stderr gufo vocab m.gguf
    [[ $output == *'tokens         15: 14 normal, 1 control'*'unreachable    none'* ]]
    gufo vocab --export tokenizer.json m.gguf
    grep -q '"ignore_merges": true' tokenizer.json
}

@test "vocab: added tokens are found in texts, and kept" {
    make_bpe m.gguf
    gufo edit -q m.gguf --set 'tokenizer.ggml.added_tokens=["hell","<|end|>"]'
    run -0 gufo tokenize --ids m.gguf 'ohell'
    same '[3, 12]'
    run -0 gufo vocab --list=special m.gguf
    same '  token      id  bytes  type          use
  "hell"     12      4  user-defined
  "<|end|>"  14      7  control       bos, eos, eot, ends generation'
    gufo vocab --export tokenizer.json m.gguf
    [[ $(tr -d ' \n' <tokenizer.json) == *'"added_tokens":[{"id":12,"content":"hell"'* ]]
    run -0 gufo edit m.gguf --set tokenizer.ggml.padding_token_id=14
    run -0 gufo get m.gguf tokenizer.ggml.added_tokens
    [[ $output == *hell*end* ]]
    gufo edit -q m.gguf --set 'tokenizer.ggml.added_tokens=["none"]'
    run -0 --separate-stderr gufo tokenize --ids m.gguf 'ohell'
    same '[3, 12]'
    [[ $stderr == *'1 of "tokenizer.ggml.added_tokens" are not in the list of tokens'* ]]
    run gufo validate --level=model m.gguf
    [[ $output == *'M118'*'added token "none" is not in tokenizer.ggml.tokens'* ]]
}

@test "tokenize --original: added tokens of U+2581 are found in a text that has it" {
    make_spm m.gguf
    gufo edit -q m.gguf --set 'tokenizer.ggml.added_tokens=["▁hello"]'
    run -0 gufo tokenize --ids --no-bos m.gguf '▁hello'
    same '[259, 271]'
    run -0 gufo tokenize --ids --no-bos --original m.gguf '▁hello'
    same '[271]'
    run -0 gufo vocab m.gguf
    has '  original       the original tokenizer finds added tokens of U+2581'
    run gufo validate --level=model m.gguf
    [[ $output != *M118* ]]
}

@test "vocab --export tokenizer.json: what it was made from" {
    make_bpe m.gguf
    run -0 gufo vocab --export tokenizer.json m.gguf
    same ''
    make_gguf back.gguf kv tokenizer.huggingface.json string "$(sed 's/\\/\\\\/g' tokenizer.json)"
    for text in 'hello' ' hell he<|end|>o' ''; do
        run -0 gufo tokenize --ids m.gguf "$text"
        expected=$output
        run -0 gufo tokenize --ids back.gguf "$text"
        same "$expected"
    done
    gufo vocab --export tokenizer.json -o - back.gguf | cmp - <(printf %s "$(cat tokenizer.json)")
    run -2 gufo vocab --export tokenizer.json m.gguf
    same "gufo: tokenizer.json: target exists already (--force replaces it)"
    gufo vocab --force --export tokenizer.json m.gguf
    gufo vocab --export tokenizer.json -o - m.gguf | cmp - tokenizer.json
    gufo vocab --export tokenizer.json -o other.json m.gguf
    cmp other.json tokenizer.json
}

@test "vocab --export tokenizer.json: scores become merges, and merges scores" {
    make_spm m.gguf
    gufo vocab --export tokenizer.json m.gguf
    make_gguf back.gguf kv tokenizer.huggingface.json string "$(sed 's/\\/\\\\/g' tokenizer.json)"
    for text in 'hello world' 'hehello  wor' $'\n\t low' ''; do
        run -0 gufo tokenize --ids m.gguf "$text"
        expected=$output
        run -0 gufo tokenize --ids back.gguf "$text"
        same "$expected"
    done
}

@test "vocab --export vocab.txt: a line for each token" {
    make_gguf m.gguf kv tokenizer.ggml.model string gpt2 kv tokenizer.ggml.pre string gpt-2 \
        arr tokenizer.ggml.tokens string 5 a 'b\n' 'c\\' 'd\xff' '<|end|>' \
        arr tokenizer.ggml.token_type int32 5 1 4 4 4 3 arr tokenizer.ggml.merges string 0
    run -0 gufo vocab --export vocab.txt -o - m.gguf
    same 'a
b\n
c\\
d\xff
<|end|>'
    gufo vocab --export vocab.txt m.gguf
    [ "$(wc -l <vocab.txt)" -eq 5 ]
}

@test "vocab --export: a terminal gets no control characters of a stranger" {
    need_terminal
    make_gguf m.gguf kv tokenizer.ggml.model string gpt2 kv tokenizer.ggml.pre string gpt-2 \
        arr tokenizer.ggml.tokens string 2 '\x1b[31ma' '\xc2\x9b\xe2\x80\xae' \
        arr tokenizer.ggml.token_type int32 2 4 3 arr tokenizer.ggml.merges string 0
    gufo vocab --export vocab.txt -o - m.gguf | cmp - <(printf '\033[31ma\n\302\233\342\200\256\n')
    run -0 on_terminal "$GUFO" vocab --export vocab.txt -o - m.gguf
    [ "${lines[0]%$'\r'}" = '\u{1b}[31ma' ]
    [ "${lines[1]%$'\r'}" = '\u{9b}\u{202e}' ]
    run -0 on_terminal "$GUFO" vocab --export tokenizer.json -o - m.gguf
    has '\u001B[31ma'
    has '\u{9b}\u{202e}'
    [[ $output != *$'\x1b'* && $output != *$'\u009b'* && $output != *$'\u202e'* ]]
}

@test "vocab --export: what has no such form" {
    make_bpe m.gguf
    gufo edit -q m.gguf --set tokenizer.ggml.pre=kimi-k2
    run -3 gufo vocab --export tokenizer.json m.gguf
    same 'gufo: m.gguf: the pre-tokenizer "kimi-k2" has no form in tokenizer.json'
    [ ! -e tokenizer.json ]
    make_gguf r.gguf kv tokenizer.ggml.model string rwkv arr tokenizer.ggml.tokens string 2 a b
    run -3 gufo vocab --export tokenizer.json r.gguf
    same 'gufo: r.gguf: a vocabulary of the model "rwkv" has no tokenizer.json'
    make_bpe n.gguf
    gufo edit -q n.gguf --set 'tokenizer.ggml.tokens[1]=h'
    run -3 gufo vocab --export tokenizer.json n.gguf
    same 'gufo: n.gguf: token 1, "h", occurs twice, which tokenizer.json does not allow'
    cp m.gguf same
    run -2 gufo vocab --force --export vocab.txt -o m.gguf m.gguf
    cmp m.gguf same
}

@test "vocab: wrong usage" {
    make_bpe m.gguf
    run -2 gufo vocab
    run -2 gufo vocab m.gguf m.gguf
    run -2 gufo vocab diff m.gguf
    run -2 gufo vocab diff - -
    run -2 gufo vocab --list=tokens --text=m.gguf m.gguf
    run -2 gufo vocab diff --list=tokens m.gguf m.gguf
    run -2 gufo vocab -o out m.gguf
    run -2 gufo vocab --json --export=vocab.txt m.gguf
    run -2 gufo vocab --export=vocab.json m.gguf
    run -2 gufo vocab --text=- -
    make_gguf none.gguf kv general.architecture string llama
    run -3 gufo vocab none.gguf
    run -3 gufo vocab diff m.gguf none.gguf
}

@test "vocab: real vocabularies" {
    for name in llama-spm gpt-2 starcoder deepseek-coder; do
        shared_vocabulary "$name"
        file=$shared_vocabulary
        run -0 gufo vocab --json "$file"
        [[ $output == *'"duplicates":[]'* ]]
        gufo vocab --force --export tokenizer.json "$file"
        grep -q '"version": "1.0"' tokenizer.json
    done
}
