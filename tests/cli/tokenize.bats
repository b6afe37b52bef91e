#!/usr/bin/env bats
# gufo tokenize

# bats sets stderr; some commands are for another shell.
# shellcheck disable=SC2154,SC2016,SC2094

load common
load vocabularies

@test "tokenize: ids and pieces, in a table that fits the vocabulary" {
    make_spm m.gguf
    run -0 gufo tokenize m.gguf $'hello\n\xff"'
    same '  1  "<s>"
271  " hello"
 13  "\n"
258  "\xff"
 37  "\""'
}

@test "tokenize: --ids, --pieces, --count" {
    make_spm m.gguf
    run -0 gufo tokenize --ids m.gguf 'hello w'
    same '[1, 271, 272]'
    run -0 gufo tokenize --pieces m.gguf $'hello\tw'
    same '<s>
 hello
\t
w'
    run -0 gufo tokenize --count m.gguf 'hello w'
    same '3'
    run -0 gufo tokenize --ids --no-bos m.gguf ''
    same '[]'
    run -0 gufo tokenize --count --no-bos m.gguf ''
    same '0'
}

@test "tokenize: a TEXT that is the name of a file warns" {
    make_spm m.gguf
    run -0 --separate-stderr gufo tokenize --count m.gguf p.txt
    same_error ''
    echo hello >p.txt
    run -0 --separate-stderr gufo tokenize --count m.gguf p.txt
    same_error 'gufo: p.txt: warning: the name of the file is tokenized as text; -f p.txt reads the file'
    run -0 --separate-stderr gufo tokenize --count m.gguf - <p.txt
    same_error "gufo: warning: '-' is tokenized as text; without TEXT gufo reads standard input"
}

@test "tokenize --json: what each token stands for; bytes that are not UTF-8 as base64" {
    make_spm m.gguf
    run -0 gufo tokenize --json m.gguf $'hello\xff'
    same '{"path":"m.gguf","tokens":[{"id":1,"piece":"<s>","span":[0,0]},{"id":271,"piece":" hello","span":[0,5]},{"id":258,"piece":{"base64":"/w=="},"span":[5,6]}],"count":3}'
    run -0 gufo tokenize --json --no-bos m.gguf ''
    same '{"path":"m.gguf","tokens":[],"count":0}'
}

@test "tokenize: the text from an argument, a file or standard input" {
    make_spm m.gguf
    printf 'hello w' >text
    for form in "gufo tokenize --ids m.gguf 'hello w'" 'gufo tokenize --ids -f text m.gguf' \
        'gufo tokenize --ids m.gguf <text' 'cat text | gufo tokenize --ids -f - m.gguf' \
        'gufo tokenize --ids - "hello w" <m.gguf' 'cat m.gguf | gufo tokenize --ids - -f text'; do
        run -0 bash -c "gufo() { $GUFO \"\$@\"; }; $form"
        same '[1, 271, 272]'
    done
}

@test "tokenize: special tokens, by the flags of the vocabulary and by options" {
    make_spm m.gguf
    make_spm eos.gguf kv tokenizer.ggml.add_bos_token bool 0 kv tokenizer.ggml.add_eos_token bool 1
    run -0 gufo tokenize --ids m.gguf 'h</s>h'
    same '[1, 259, 260, 2, 259, 260]'
    run -0 gufo tokenize --ids --no-bos m.gguf 'h</s>'
    same '[259, 260, 2]'
    run -0 gufo tokenize --ids --no-special m.gguf 'h</s>'
    same '[1, 259, 260, 63, 50, 118, 65]'
    run -0 gufo tokenize --ids eos.gguf h
    same '[259, 260, 2]'
    run -0 gufo tokenize --ids --no-bos eos.gguf h
    same '[259, 260]'
    run -0 gufo tokenize --ids --llama-tokenize eos.gguf h
    same '[259, 260]'
    run -0 gufo tokenize --ids --llama-tokenize m.gguf h
    same '[1, 259, 260]'
}

@test "tokenize --explain: pieces, merges and tokens" {
    make_spm m.gguf
    run -0 gufo tokenize --explain m.gguf 'hello'
    same 'special  "<s>"  1
piece    "▁hello"
  merge  "h" + "e"  score -1
  merge  "l" + "l"  score -2
  merge  "he" + "ll"  score -3
  merge  "hell" + "o"  score -4
  merge  "▁" + "hello"  score -5
  token  "▁hello"  271'
    make_bpe b.gguf
    run -0 gufo tokenize --explain b.gguf 'hello w<|end|>'
    same 'piece    "hello"
  merge  "h" + "e"  rank 0
  merge  "l" + "l"  rank 1
  merge  "he" + "ll"  rank 2
  token  "hell"  12
  token  "o"  3
piece    "Ġw"
  merge  "Ġ" + "w"  rank 3
  token  "Ġw"  13
special  "<|end|>"  14'
    run -0 gufo tokenize --explain --json b.gguf 'he'
    same '{"path":"b.gguf","steps":[{"step":"piece","text":"he","span":[0,2]},{"step":"merge","text":"he","left":"h","right":"e","rank":0,"span":[0,2]},{"step":"token","text":"he","id":10,"span":[0,2]}],"count":1}'
}

@test "tokenize --batch: a line of ids for each line of JSON" {
    make_spm m.gguf
    printf '%s\n' '{"text": "hello w"}' '' '{"cat": 1, "base64": "aGVsbG/\/"}' '{"text": ""}' \
        '{"text": "a\u0000\u00e9"}' '{"base64": "aA=="}' >lines
    run -0 gufo tokenize --batch m.gguf -f lines
    same '[1, 271, 272]
[1, 271, 258]
[1]
[1, 259, 100, 3, 198, 172]
[1, 259, 260]'
    run -0 gufo tokenize --batch --no-bos m.gguf <<<'{"text": "h"}'
    same '[259, 260]'
}

@test "tokenize --batch: the first line that is wrong ends it" {
    make_spm m.gguf
    while read -r line; do
        run -3 --separate-stderr bash -c 'printf "%s\n" "{\"text\":\"h\"}" "$2" "{\"text\":\"h\"}" |
            "$0" tokenize --batch "$1"' "$GUFO" m.gguf "${line% => *}"
        same '[1, 259, 260]'
        same_error "gufo: -: line 2: ${line#* => }"
    done <<'END'
{"text": 7} => character 10: expected a string
{"base64": null} => character 12: expected a string
{"base64": "abc"} => character 17: not base64
{"base64": "a=bc"} => character 18: not base64
{"base64": "===="} => character 18: not base64
{"txt": "x"} => character 13: expected an object with "text" or "base64"
{"txt": tru} => character 9: expected a value
{"text": "x", "base64": ""} => character 24: the text is there twice
["x"] => an object with "text" or "base64" is expected
END
    printf '{"text":"h"}\n{"text": "h\n' | { run -3 gufo tokenize --batch m.gguf; printf '%s\n' "$output" >out; }
    grep -q '^gufo: -: line 2: ' out # the library says what is wrong
}

@test "tokenize --batch: an answer comes before the next line does" {
    make_spm m.gguf
    coproc "$GUFO" tokenize --batch m.gguf
    local pid=$COPROC_PID
    for text in h hello; do
        printf '{"text": "%s"}\n' "$text" >&"${COPROC[1]}"
        read -r -t 20 -u "${COPROC[0]}" answer
        same_list "$answer" "$(gufo tokenize --ids m.gguf "$text")"
    done
    eval "exec ${COPROC[1]}>&-"
    wait "$pid"
}

@test "tokenize: a text of any length needs little memory" {
    (ulimit -v 300000; gufo --version >/dev/null 2>&1) || skip "sanitizers need more address space"
    make_spm m.gguf
    yes 'hello hell w' | head -c 39000000 |
        (ulimit -v 300000; gufo tokenize --threads 2 --count m.gguf) >count
    [ "$(cat count)" -eq 15000001 ]
}

@test "tokenize: a reader that has seen enough ends it quietly" {
    make_spm m.gguf
    yes hello | gufo tokenize m.gguf | head -n 2 >out
    printf '  1  "<s>"\n271  " hello"\n' | cmp - out
}

@test "tokenize: what cannot be read" {
    make_spm m.gguf
    make_gguf none.gguf kv general.architecture string llama
    make_gguf plamo.gguf kv tokenizer.ggml.model string plamo2 \
        arr tokenizer.ggml.tokens string 1 a
    run -3 gufo tokenize none.gguf x
    has 'gufo: none.gguf: '
    run -3 gufo tokenize plamo.gguf x
    has 'plamo2'
    run -3 gufo tokenize absent.gguf x
    has 'absent.gguf: cannot open'
    run -3 gufo tokenize . x
    has 'gufo: .: '
    run -3 --separate-stderr gufo tokenize --ids -f absent m.gguf
    same_error 'gufo: absent: No such file or directory'
    run -3 --separate-stderr gufo tokenize --ids -f . m.gguf
    same_error 'gufo: .: Is a directory'
}

@test "tokenize: wrong usage" {
    make_spm m.gguf
    touch text
    for words in '' 'm.gguf a b' 'm.gguf a -f text' 'm.gguf --ids --count a' 'm.gguf --json --ids a' \
        'm.gguf --batch a' 'm.gguf --batch --explain' 'm.gguf --no-bos --llama-tokenize a' '-' \
        '- -f -'; do
        # shellcheck disable=SC2086  # several words
        run -2 gufo tokenize $words </dev/null
        has '(see gufo help tokenize)'
    done
}

@test "tokenize --pre: a pre-tokenizer by name" {
    make_bpe m.gguf
    run -0 gufo tokenize --ids --pre llama-bpe m.gguf hell
    same '[14, 12]'
    run -2 --separate-stderr gufo tokenize --pre no-such-name m.gguf hell
    same_error 'gufo: m.gguf: no pre-tokenizer is called "no-such-name"'
}

@test "tokenize: warnings of the vocabulary" {
    make_gguf m.gguf kv tokenizer.ggml.model string gpt2 arr tokenizer.ggml.tokens string 2 a b \
        arr tokenizer.ggml.merges string 0
    run -0 --separate-stderr gufo tokenize --ids m.gguf ab
    same '[0, 1]'
    [[ "$stderr" == 'gufo: m.gguf: warning: '*pre* ]]
    run -0 --separate-stderr gufo tokenize --ids --pre gpt-2 m.gguf ab
    same_error ''
    run -0 --separate-stderr gufo tokenize -q --ids m.gguf ab
    same_error ''
}

@test "tokenize: a real vocabulary" {
    shared_vocabulary llama-spm
    vocabulary=$shared_vocabulary
    run -0 gufo tokenize --ids "$vocabulary" 'Hello world'
    same '[1, 15043, 3186]'
    text=$GUFO_SHARED/data/text/tokens_large/mixed_100k.txt
    [ -e "$text" ] || skip "no $text"
    gufo tokenize --ids --no-bos -f "$text" "$vocabulary" | gufo detokenize "$vocabulary" | cmp - "$text"
}
