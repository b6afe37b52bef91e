#!/usr/bin/env bats
# bats file_tags=plain
# gufo list

# bats sets stderr; some commands are for another shell.
# shellcheck disable=SC2154,SC2016

load common

# rows_of TABLE: the rows of a table of the registry, or of one that its pages become.
rows_of() {
    if [ -e "$GUFO_SOURCE/registry/$1.tsv" ]; then
        grep -v '^#' "$GUFO_SOURCE/registry/$1.tsv"
    else
        grep -v '^#' "$GUFO_TABLES/$1.tsv"
    fi
}

count() {
    rows_of "$1" | wc -l
}

# lines_of LIST... is NUMBER
lines_of() {
    local wanted=${*: -1} got
    got=$(rows "${@:1:$#-1}" | wc -l)
    [ "$got" -eq "$wanted" ] || { echo "$*: $got lines"; return 1; }
}

# without PATTERN: no line of standard input matches.
without() {
    if grep -E -e "$1"; then
        return 1
    fi
}

@test "list: as many lines as there are rows" {
    lines_of keys "$(count keys)"
    lines_of archs "$(count architectures)"
    lines_of tensors "$(count tensors)"
    lines_of tokenizers "$(count tokenizer_models)"
    lines_of pretokenizers "$(count pretokenizers)"
    lines_of types "$(grep -c '^GUFO_ELEMENT_TYPE(' "$GUFO_SOURCE/include/gufo/element_types.def")"
    lines_of filetypes "$(grep -c '^GUFO_FILE_TYPE(' "$GUFO_SOURCE/include/gufo/file_types.def")"
    lines_of rules "$(grep -c '^RULE(' "$GUFO_SOURCE/src/format/rules/rules.def")"
}

@test "list: the names are those of the registry" {
    for pair in keys:keys archs:architectures tensors:tensors tokenizers:tokenizer_models \
        pretokenizers:pretokenizers; do
        same_list "$(rows_of "${pair#*:}" | cut -f1)" \
            "$(gufo list "${pair%:*}" | cut -d' ' -f1)"
    done
}

@test "list: columns are aligned" {
    gufo list types >lines
    [[ "$(head -n 1 lines)" == 'type '*' bits_per_weight  encoding '*' advice' ]]
    sed -i 1d lines
    # The second column ends at one place, and so does every number.
    [ "$(sed -E 's/^([^ ]+ +[0-9]+) .*/\1/' lines | awk '{ print length }' | sort -u | wc -l)" -eq 1 ]
    grep -qE '^Q4_0 +2 +32 +18 +4.5  quantized +older; ' lines
    grep -qE '^F32 +0 +1 +4 +32  plain numbers +full' lines
    # Where nothing is known there is a dash, and no line ends in a blank.
    for list in keys archs tensors types filetypes tokenizers pretokenizers rules; do
        without ' $|\(null\)' < <(gufo list "$list")
    done
    gufo list tokenizers | grep -qE '^no_vocab +no tokenizer +- +- +- +- +- +- +-$'
}

@test "list --json: one object with a member for every column" {
    run -0 --separate-stderr gufo list --json types
    [ "${#lines[@]}" -eq 1 ]
    [[ "$output" == '{"types":[{"type":"F32","id":0,"block_elements":1,"block_bytes":4,"bits_per_weight":32,"encoding":"plain numbers","advice":"full precision; for norms and small tensors"},'* ]]
    [[ "$output" == *'}]}' ]]
    for list in keys archs tensors types filetypes tokenizers pretokenizers rules; do
        run -0 gufo list --json "$list"
        [[ "$output" == "{\"$list\":[{"* ]]
        # Each row begins with a brace and a quote, and so does the whole.
        same_list $(($(rows "$list" | wc -l) + 1)) "$(tr '{' '\n' <<<"$output" | grep -c '^"')"
    done
    run -0 gufo list --json tokenizers
    has '{"tokenizer":"gpt2","algorithm":"byte-level BPE","arrays":"tokens token_type merges","bos":11,"eos":11,"unknown":null,'
}

@test "list keys --arch: what an architecture uses, and how much it needs it" {
    of() {
        awk -F'\t' -v arch="$1" '$1 == arch' "$GUFO_TABLES/arch_keys.tsv" | wc -l
    }
    for arch in llama mamba whisper qwen3; do
        lines_of keys --arch "$arch" "$(of "$arch")"
    done
    run -0 gufo list keys --arch=llama
    grep -qE '^llama.context_length +required +uint32 +- +[A-Z]' <<<"$output"
    grep -qE '^llama.rope.freq_base +optional +float32 +10000 ' <<<"$output"
    run -0 gufo list --json keys --arch llama
    has '{"key":"llama.context_length","need":"required","type":"uint32","default":null,"summary":"'
    # Every key of every architecture is one that is known.
    for arch in $(gufo list archs | cut -d' ' -f1); do
        without '"type":null' < <(gufo list --json keys --arch "$arch")
    done
}

@test "list tensors --arch" {
    lines_of tensors --arch llama \
        "$(awk -F'\t' '$1 == "llama"' "$GUFO_TABLES/arch_tensors.tsv" | wc -l)"
    run -0 gufo list tensors --arch llama
    grep -qE '^blk.\{bid\}.attn_q +required +embedding_length,head_count\*key_length +' <<<"$output"
    run -0 gufo list --json tensors --arch llama
    has '{"tensor":"blk.{bid}.attn_q","need":"required","shape":"embedding_length,head_count*key_length",'
    # Nothing is known of them.
    run -0 gufo list tensors --arch rwkv
    same ''
    run -0 gufo list --json tensors --arch rwkv
    same '{"tensors":[]}'
}

@test "list: an architecture that is not known" {
    run -1 --separate-stderr gufo list keys --arch lama
    same ''
    same_error "gufo: unknown architecture 'lama'; did you mean 'llama'?"
    run -1 --separate-stderr gufo list keys --arch ''
    run -1 --separate-stderr gufo list keys --arch $'\e[31m\n'
    same_error "gufo: unknown architecture '\\u{1b}[31m\\n'; 'gufo list archs' lists them"
}

@test "list: wrong usage" {
    run -2 --separate-stderr gufo list
    same ''
    [[ "$stderr" == 'gufo: one of keys, archs, '* ]]
    run -2 --separate-stderr gufo list llamas
    same_error "gufo: unknown list 'llamas' (see gufo help list)"
    run -2 gufo list keys archs
    run -2 gufo list keys --arch
    run -2 --separate-stderr gufo list types --arch llama
    same_error 'gufo: --arch is for keys and tensors, not for types (see gufo help list)'
    run -2 --separate-stderr gufo list $'\e[31m'
    same_error "gufo: unknown list '\\u{1b}[31m' (see gufo help list)"
}

@test "list: the rules are those of validate --list-rules" {
    same_list "$(gufo validate --list-rules)" "$(gufo list rules)"
    same_list "$(gufo validate --json --list-rules)" "$(gufo list --json rules)"
    # No id and no name comes twice.
    [ -z "$(gufo list rules | awk '{ print $1; print $3 }' | sort | uniq -d)" ]
}

@test "list: the rules are those of docs/validate.md" {
    # Where they are not: the last lines of that page are what this writes.
    same_list "$(gufo list rules | sed -E 's/ {2,}/ | /g; s/.*/| & |/')" \
        "$(grep -E '^\| [A-Z][0-9]{3} \|' "$GUFO_SOURCE/docs/validate.md")"
}

@test "list: a full disk and a closed pipe" {
    if [ -w /dev/full ]; then
        run -3 --separate-stderr "$BASH" -c '"$GUFO" list keys >/dev/full'
        [ "${#stderr_lines[@]}" -eq 1 ]
        run -3 --separate-stderr "$BASH" -c '"$GUFO" list --json keys >/dev/full'
    fi
    run -0 --separate-stderr "$BASH" -c 'set -o pipefail; "$GUFO" list tensors | head -n 1'
    [ "${#lines[@]}" -eq 1 ]
    same_error ''
    run -0 --separate-stderr "$BASH" -c 'set -o pipefail; "$GUFO" list --json tensors | head -c 1'
    same '{'
}

@test "list: names in tables fit a terminal" {
    command -v script >/dev/null || skip 'script is not installed'
    make_gguf m.gguf kv general.architecture string llama \
        tensor blk.0.a_very_long_name_of_a_tensor_that_somebody_gave.weight 0 2 8
    shown=$(COLUMNS=60 script -qec "$GUFO stats m.gguf" /dev/null </dev/null)
    [[ "$shown" == *'blk.0.'*...*'weight'* ]]
    [[ "$shown" != *somebody* ]]
    run -0 gufo stats m.gguf
    has blk.0.a_very_long_name_of_a_tensor_that_somebody_gave.weight
}

@test "list: lines fit a terminal, and a sentence that does not fit is below" {
    need_terminal
    local words line
    for words in types filetypes; do
        NO_COLOR=1 run -0 on_terminal "$GUFO" list "$words"
        for line in "${lines[@]}"; do
            line=${line%$'\r'}
            [ "${#line}" -le 80 ] || { printf '%s: %d columns\n' "$line" "${#line}"; return 1; }
        done
        has '    hardly different from F16'
    done
    run -0 gufo list types
    has '  quantized      hardly different from F16'
}
