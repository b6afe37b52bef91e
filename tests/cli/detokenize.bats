#!/usr/bin/env bats
# gufo detokenize

# bats sets stderr; some commands are for another shell; cmp reads what tokenize read.
# shellcheck disable=SC2154,SC2016,SC2094

load common
load vocabularies

@test "detokenize: exactly the bytes" {
    make_spm m.gguf
    gufo detokenize m.gguf 271 272 258 13 >out
    printf 'hello w\xff\n' | cmp - out
    gufo detokenize m.gguf </dev/null >out
    [ ! -s out ]
}

@test "detokenize: ids in many forms" {
    make_spm m.gguf
    for ids in '271 272' '271,272' '[271, 272]' '271
272' ' [[271],[272]] ' '0271,,272'; do
        run -0 gufo detokenize m.gguf "$ids"
        same 'hello w'
        printf '%s' "$ids" >ids
        run -0 gufo detokenize m.gguf -f ids
        same 'hello w'
        run -0 gufo detokenize m.gguf <ids
        same 'hello w'
    done
    run -0 gufo detokenize m.gguf 271 '272, 262' '[]' 263
    same 'hello wlo'
}

@test "detokenize: gives back what tokenize was given" {
    make_spm m.gguf
    make_bpe b.gguf
    printf 'hello  w\xf0\x9f\x98\x80\t\x80 hell w\n\n' >text
    gufo tokenize --no-bos --ids m.gguf <text | gufo detokenize m.gguf | cmp - text
    printf 'hello whéa hell' >text
    gufo tokenize --ids b.gguf <text | gufo detokenize b.gguf | cmp - text
}

@test "detokenize: special tokens" {
    make_spm m.gguf kv tokenizer.ggml.add_eos_token bool 1
    run -0 gufo detokenize m.gguf 1 271 0 2
    same '<s> hello<unk></s>'
    run -0 gufo detokenize --skip-special m.gguf 1 271 0 2
    same ' hello'
    run -0 gufo detokenize --remove-special m.gguf 1 271 0 2
    same ' hello<unk>'
    run -0 gufo detokenize --remove-special --skip-special m.gguf 1 271 0 2 2
    same ' hello'
}

@test "detokenize: spaces before punctuation go where the vocabulary says so" {
    make_wpm w.gguf
    run -0 gufo detokenize w.gguf 3 4 5 6
    same ' hello world?'
}

@test "detokenize: --pieces, --json" {
    make_spm m.gguf
    run -0 gufo detokenize --pieces m.gguf 1 271 13
    same '<s>
 hello
\n'
    run -0 gufo detokenize --pieces --json m.gguf 271 258
    same '{"path":"m.gguf","tokens":[{"id":271,"piece":" hello"},{"id":258,"piece":{"base64":"/w=="}}],"count":2}'
    run -0 gufo detokenize --json m.gguf 271 272
    same '{"path":"m.gguf","text":"hello w"}'
    run -0 gufo detokenize --json m.gguf 271 258
    same '{"path":"m.gguf","text":{"base64":"aGVsbG//"}}'
    run -0 gufo detokenize --json m.gguf </dev/null
    same '{"path":"m.gguf","text":""}'
}

@test "detokenize --batch: a text for each list" {
    make_spm m.gguf
    printf '%s\n' '[271, 272]' '' '[258,257]' '[]' '[1,271]' >lines
    run -0 gufo detokenize --batch m.gguf <lines
    same '{"text":"hello w"}
{"base64":"//4="}
{"text":""}
{"text":"<s> hello"}'
    run -0 gufo detokenize --batch --skip-special -f lines m.gguf
    same '{"text":"hello w"}
{"base64":"//4="}
{"text":""}
{"text":" hello"}'
}

@test "detokenize --batch: the first line that is wrong ends it" {
    make_spm m.gguf
    while read -r line; do
        run -3 --separate-stderr bash -c 'printf "%s\n" "[271]" "$2" "[271]" |
            "$0" detokenize --batch "$1"' "$GUFO" m.gguf "${line% => *}"
        same '{"text":"hello"}'
        same_error "gufo: -: line 2: ${line#* => }"
    done <<'END'
[1, 274] => element 2 of the list is not one of the ids 0 to 273 of the vocabulary
[-1] => character 2: expected a value of type uint32
["x"] => character 2: expected a value of type uint32
[1.0] => character 2: expected a value of type uint32
{"ids": [1]} => character 1: expected a value of type uint32
1 => an array of ids is expected
[[1]] => an array of ids is expected
END
    printf '[271]\n[271]\0\n' | { run -3 gufo detokenize --batch m.gguf; printf '%s\n' "$output" >out; }
    grep -qx 'gufo: -: line 2 holds a NUL' out
    printf '[271]\n[271,\n' | { run -3 gufo detokenize --batch m.gguf; printf '%s\n' "$output" >out; }
    grep -q '^gufo: -: line 2: ' out # the library says what is wrong
}

@test "detokenize: text comes as soon as its characters are complete" {
    make_spm m.gguf
    coproc "$GUFO" detokenize m.gguf
    local pid=$COPROC_PID
    printf '260 198 ' >&"${COPROC[1]}" # h and the first byte of é
    read -r -t 20 -N 1 -u "${COPROC[0]}" text
    same_list "$text" h
    printf '172 ' >&"${COPROC[1]}"
    read -r -t 20 -N 1 -u "${COPROC[0]}" text
    same_list "$text" é
    eval "exec ${COPROC[1]}>&-"
    wait "$pid"
}

@test "detokenize: control characters do not reach a terminal" {
    need_terminal
    make_spm m.gguf
    run -0 on_terminal "$GUFO" detokenize m.gguf 30 260 13 260
    [ "$output" = $'\\u{1b}h\r\nh\r' ] || [ "$output" = $'\\u{1b}h\r\nh' ]
}

@test "detokenize: ids that are wrong" {
    make_spm m.gguf
    run -2 --separate-stderr gufo detokenize m.gguf 271 274
    same ''
    same_error 'gufo: ID 2: no token 274: the vocabulary has 274 tokens (see gufo help detokenize)'
    run -2 --separate-stderr gufo detokenize m.gguf 271 '272 2x'
    same ''
    same_error "gufo: ID 2: '2x' is not the id of a token (see gufo help detokenize)"
    run -2 --separate-stderr gufo detokenize m.gguf 18446744073709551617
    has ''
    [[ "$stderr" == 'gufo: ID 1: '* ]]
    printf '271\n272, 1.5' >ids
    run -3 --separate-stderr gufo detokenize m.gguf -f ids
    same 'hello w'
    same_error "gufo: ids: line 2, column 6: '1.5' is not the id of a token"
    printf '271 4294967296 1' >ids
    run -3 --separate-stderr gufo detokenize m.gguf <ids
    same_error "gufo: -: line 1, column 5: no token 4294967296: the vocabulary has 274 tokens"
    printf '%0100d' 1 >ids
    run -3 gufo detokenize m.gguf <ids
}

@test "detokenize: wrong usage, and what cannot be read" {
    make_spm m.gguf
    touch ids
    for words in '' 'm.gguf 1 -f ids' 'm.gguf --batch 1' 'm.gguf --batch --pieces' \
        'm.gguf --pieces --skip-special 1' '-' '- -f -'; do
        # shellcheck disable=SC2086  # several words
        run -2 gufo detokenize $words </dev/null
        has '(see gufo help detokenize)'
    done
    make_gguf none.gguf kv general.architecture string llama
    run -3 gufo detokenize none.gguf 1
    has 'gufo: none.gguf: '
    run -3 gufo detokenize . 1
    run -3 --separate-stderr gufo detokenize -f absent m.gguf
    same_error 'gufo: absent: No such file or directory'
    run -3 --separate-stderr gufo detokenize -f . m.gguf
    same_error 'gufo: .: Is a directory'
}
