#!/usr/bin/env bats
# The programs of examples/, as docs/library.md shows them.

# bats sets stderr; braces of templates are not for the shell.
# shellcheck disable=SC2154,SC2016

load common
load vocabularies

# commands FILE: the commands of a document, each as a line "$ COMMAND", with the lines of its output behind it.
commands() {
    awk '/^```/ { inside = !inside; shown = 0; next }
         inside && /^\$ / { shown = 1 }
         inside && shown { print }' "$1"
}

# check COMMAND OUTPUT: runs an example program.
check() {
    local words
    eval "words=($1)"
    [ -x "$GUFO_EXAMPLES/${words[0]}" ]
    run "$GUFO_EXAMPLES/${words[0]}" "${words[@]:1}"
    same "$2"
}

@test "examples: docs/library.md shows what its programs print" {
    local line command='' output='' count=0
    "$GUFO_EXAMPLES/make_sample" sample.gguf
    cp "$GUFO_SOURCE/README.md" .
    while IFS= read -r line; do
        if [[ $line = '$ '* ]]; then
            [ -z "$command" ] || check "$command" "${output%$'\n'}"
            command=${line#'$ '} output='' count=$((count + 1))
        else
            output+=$line$'\n'
        fi
    done < <(commands "$GUFO_SOURCE/docs/library.md")
    check "$command" "${output%$'\n'}"
    [ "$count" -ge 5 ]
}

@test "examples: a conversation to ids, as gufo template gives them" {
    make_spm m.gguf
    printf '%s' '{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{{ eos_token }}{% endfor %}' >t
    gufo edit --force m.gguf --set-file tokenizer.chat_template=t
    local messages='[{"role": "user", "content": "hello"}]'
    printf '%s' "$messages" >m.json
    run -0 gufo template --ids m.gguf m.json
    local ids=${output//[],[]/}
    run -0 "$GUFO_EXAMPLES/chat_tokens" m.gguf "$messages"
    same "$ids"
    run -1 --separate-stderr "$GUFO_EXAMPLES/chat_tokens" m.gguf '[1]'
    [[ $stderr = 'expected a message, an object such as'* ]]
}

@test "examples: what is written is valid, and decodes" {
    "$GUFO_EXAMPLES/write_tensors" t.gguf
    run -0 gufo validate -q t.gguf
    "$GUFO_EXAMPLES/make_sample" sample.gguf
    run -0 "$GUFO_EXAMPLES/decode_tensors" sample.gguf
    [ "${#lines[@]}" -eq 21 ]
    run -1 "$GUFO_EXAMPLES/decode_tensors" none.gguf
}

@test "examples: shards of any names are one model" {
    "$GUFO_EXAMPLES/make_sample" sample.gguf
    gufo split --max-tensors=8 sample.gguf part
    local i
    for i in 1 2 3; do mv part-0000$i-of-00003.gguf $i; done
    run -0 "$GUFO_EXAMPLES/join_shards" 1 2 3
    [ "${lines[0]}" = "1: $(stat -c %s 1) bytes" ]
    [[ ${lines[3]} = '259 tokens, the last one is "'* ]]
    run -1 "$GUFO_EXAMPLES/join_shards" 1 3
    run -1 "$GUFO_EXAMPLES/join_shards" none
    run -1 "$GUFO_EXAMPLES/join_shards"
}
