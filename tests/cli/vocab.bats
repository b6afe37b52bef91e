#!/usr/bin/env bats
# bats file_tags=plain
# The vocabularies of real models: what the command shows is what is in the files.

# bats sets stderr; some commands are for another shell; reading a pipe is the point of `cat |`.
# shellcheck disable=SC2154,SC2016,SC2002

load common

need_vocabularies() {
    shopt -s nullglob
    files=("${GUFO_SHARED:-$BATS_TEST_DIRNAME/../../../shared}"/data/vocab/*.gguf)
    [ "${#files[@]}" -gt 0 ] || skip "no files in \$GUFO_SHARED/data/vocab"
}

need_python() {
    command -v python3 >/dev/null || skip "python3 is missing"
}

@test "vocabularies: show --json has every key, type and value" {
    need_vocabularies
    need_python
    run -0 python3 "$BATS_TEST_DIRNAME/check_vocab.py" "$GUFO" "${files[@]}"
    [ "${#lines[@]}" -eq "${#files[@]}" ]
}

@test "vocabularies: the checker sees a difference" {
    need_python
    make_gguf m.gguf kv f float32 0.1 arr t string 2 one two
    run -0 python3 "$BATS_TEST_DIRNAME/check_vocab.py" "$GUFO" m.gguf
    same 'm.gguf: 2 entries, 2 array elements agree'
    for change in 's/0\.1/0.10001/' 's/"two"/"twO"/' 's/"count":2/"count":3/' 's/float32/float64/'; do
        printf '#!/bin/sh\n"%s" "$@" | sed %q\n' "$GUFO" "$change" >changed
        chmod +x changed
        run -1 python3 "$BATS_TEST_DIRNAME/check_vocab.py" ./changed m.gguf
    done
}

@test "vocabularies: all are valid" {
    need_vocabularies
    run -0 gufo validate "${files[@]}"
    [ "$(grep -cE ': valid(: 1 warning)?$' <<<"$output")" -eq "${#files[@]}" ]
    # One does not say how text is cut, and readers only guess.
    [ "$(grep -c ' warning ' <<<"$output")" -eq "$(grep -c 'gpt-neox.*M113' <<<"$output")" ]
    run -0 gufo validate --strict --level structure "${files[@]}"
}

@test "vocabularies: get prints as many lines as there are tokens" {
    need_vocabularies
    for file in "${files[@]}"; do
        gufo get --json "$file" tokenizer.ggml.tokens >tokens.json
        # Control characters are escaped: the count is the only number between these two words.
        count=$(head -c 500 tokens.json | sed 's/.*"count":\([0-9]*\),"value".*/\1/;q')
        newlines=$(grep -o '\\n' tokens.json | wc -l)
        printed=$(gufo get "$file" tokenizer.ggml.tokens | wc -l)
        [ "$printed" -ge "$count" ]
        [ "$printed" -le "$((count + newlines))" ]
    done
}
