#!/usr/bin/env bats
# gufo get

# bats sets stderr; some commands are for another shell; reading a pipe is the point of `cat |`.
# shellcheck disable=SC2154,SC2016,SC2002

load common

@test "get: scalars" {
    make_gguf m.gguf kv u uint64 18446744073709551615 kv i int64 -9223372036854775808 kv t bool 1 \
        kv f bool 0 kv x float32 0.1 kv y float64 0.1 kv z float32 -0.0 kv n float64 nan \
        kv s string 'some text'
    for pair in u=18446744073709551615 i=-9223372036854775808 t=true f=false x=0.1 y=0.1 z=-0.0 n=nan \
        's=some text'; do
        run -0 gufo get m.gguf "${pair%%=*}"
        same "${pair#*=}"
    done
}

@test "get: a value ends with one newline" {
    make_gguf m.gguf kv s string 'two\nlines\n' kv n uint8 1 kv e string ''
    gufo get m.gguf s >out
    printf 'two\nlines\n\n' | cmp - out
    gufo get m.gguf n >out
    printf '1\n' | cmp - out
    gufo get m.gguf e >out
    printf '\n' | cmp - out
}

@test "get: array elements, one per line" {
    make_gguf m.gguf arr s string 3 'one' 'two words' '' arr n int8 2 -1 5 arr b bool 2 1 0 arr e uint8 0
    gufo get m.gguf s >out
    printf 'one\ntwo words\n\n' | cmp - out
    run -0 gufo get m.gguf n
    same $'-1\n5'
    run -0 gufo get m.gguf b
    same $'true\nfalse'
    run -0 gufo get m.gguf e
    same ''
}

@test "get: nested arrays are JSON, one per line" {
    make_gguf m.gguf nested deep
    run -0 gufo get m.gguf deep
    same '{"type":"array","element_type":"uint8","count":2,"value":[1,2]}
{"type":"array","element_type":"uint8","count":1,"value":[3]}'
}

@test "get --json: the metadata object" {
    make_gguf m.gguf kv n uint32 7 arr l string 2 a '\xff' kv s string 'q"'
    run -0 gufo get --json m.gguf n
    same '{"key":"n","type":"uint32","value":7}'
    run -0 gufo get m.gguf l --json
    same '{"key":"l","type":"array","element_type":"string","count":2,"value":["a",{"base64":"/w=="}]}'
    run -0 gufo get --json m.gguf s
    same '{"key":"s","type":"string","value":"q\""}'
}

@test "get: raw bytes when piped, escaped on a terminal" {
    need_terminal
    make_gguf m.gguf kv s string '\x1b[31m\x7f\xc2\x9b\xff\nnext' arr l string 1 'a\nb\x1b'
    gufo get m.gguf s >out
    printf '\033[31m\177\302\233\377\nnext\n' | cmp - out
    run -0 on_terminal "$GUFO" get m.gguf s
    [ "${lines[0]%$'\r'}" = '\u{1b}[31m\u{7f}\u{9b}\xff' ]
    [ "${lines[1]%$'\r'}" = 'next' ]
    run -0 on_terminal "$GUFO" get m.gguf l
    same $'a\\nb\\u{1b}\r'
}

@test "get --raw: exactly the bytes" {
    make_gguf m.gguf kv s string 'a\x00b\xff\n' kv e string ''
    gufo get --raw m.gguf s >out
    printf 'a\0b\377\n' | cmp - out
    gufo get --raw m.gguf e >out
    [ ! -s out ]
}

@test "get --raw: only strings have raw bytes" {
    make_gguf m.gguf kv n uint8 1 arr l string 1 a
    run -2 --separate-stderr gufo get --raw m.gguf n
    same ''
    same_error "gufo: --raw and -o write the bytes of a string, but 'n' is of type uint8"
    run -2 --separate-stderr gufo get -o out m.gguf l
    [ ! -e out ]
}

@test "get -o: writes a file, and only with --force a second time" {
    make_gguf m.gguf kv s string 'new text'
    run -0 gufo get -o out m.gguf s
    same ''
    printf 'new text' | cmp - out
    echo old >out
    run -2 --separate-stderr gufo get -o out m.gguf s
    [[ "$stderr" == 'gufo: out: '*'--force'* ]]
    [ "$(cat out)" = old ]
    run -0 gufo get --force -o out m.gguf s
    printf 'new text' | cmp - out
    [ "$(find . -type f | wc -l)" -eq 2 ]
}

@test "get -o: follows a link, keeps the mode" {
    make_gguf m.gguf kv s string 'new'
    echo old >target
    chmod 640 target
    ln -s target link
    run -0 gufo get --force -o link m.gguf s
    [ -L link ]
    [ "$(cat target)" = new ]
    [ "$(stat -c %a target)" = 640 ]
}

@test "get -o: devices and pipes are written directly" {
    make_gguf m.gguf kv s string 'text'
    run -0 gufo get -o /dev/null m.gguf s
    [ -c /dev/null ]
    mkfifo pipe
    cat pipe >got &
    run -0 gufo get -o pipe m.gguf s
    wait
    [ "$(cat got)" = text ]
    [ -p pipe ]
    run -0 gufo get -o - m.gguf s
    same text
}

@test "get -o: a folder that cannot be written, a full device" {
    make_gguf m.gguf kv s string 'text'
    run -3 --separate-stderr gufo get -o missing/out m.gguf s
    [[ "$stderr" == 'gufo: missing/out: '* ]]
    run -3 --separate-stderr gufo get -o . m.gguf s
    [[ "$stderr" == 'gufo: .: '* ]]
    run -3 --separate-stderr gufo get -o /dev/full m.gguf s
    [[ "$stderr" == 'gufo: /dev/full: '* ]]
}

@test "get: no such key, and the one that may be meant" {
    make_model m.gguf
    run -1 --separate-stderr gufo get m.gguf llama.block_cuont
    same ''
    same_error "gufo: m.gguf: no key is named 'llama.block_cuont'; did you mean 'llama.block_count'?"
    run -1 --separate-stderr gufo get m.gguf context_length
    same_error "gufo: m.gguf: no key is named 'context_length'; did you mean 'llama.context_length'?"
    run -1 --separate-stderr gufo get m.gguf completely.different
    same_error "gufo: m.gguf: no key is named 'completely.different'"
    make_gguf old.gguf kv general.architecture string llama kv llama.rope.scale_linear float32 4
    run -1 --separate-stderr gufo get old.gguf llama.rope.scaling.factor
    same_error "gufo: old.gguf: no key is named 'llama.rope.scaling.factor'; did you mean 'llama.rope.scale_linear'?"
    run -1 --separate-stderr gufo get m.gguf ''
    [[ "$stderr" == "gufo: m.gguf: no key is named ''"* ]]
}

@test "get: a set has the metadata of its first shard" {
    make_shards m
    run -0 gufo get m-00001-of-00002.gguf split.no
    same 0
    rm m-00002-of-00002.gguf
    run -0 --separate-stderr gufo get m-00001-of-00002.gguf split.count
    same 2
    [[ "$stderr" == *'is missing; gufo reads only this file' ]]
}

@test "get: from standard input" {
    make_model m.gguf
    run -0 gufo get - general.name <m.gguf
    same Tiny
    cat m.gguf | { run -0 gufo get - general.name; same Tiny; }
}

@test "get: wrong usage" {
    make_model m.gguf
    run -2 --separate-stderr gufo get m.gguf
    same_error 'gufo: FILE and KEY are needed, and nothing else (see gufo help get)'
    run -2 gufo get m.gguf a b
    run -2 gufo get --json --raw m.gguf general.name
}
