#!/usr/bin/env bats
# gufo validate: what models mean (--level), and --fix

# bats sets stderr.
# shellcheck disable=SC2154

load common

# A vocabulary whose list of scores is too long, with a quantized tensor and without the version of
# quantization.
make_mendable() {
    make_gguf "$1" kv general.architecture string llama kv general.type string model \
        kv tokenizer.ggml.model string llama arr tokenizer.ggml.tokens string 3 a b c \
        arr tokenizer.ggml.scores float32 5 0 0 0 1 2 arr tokenizer.ggml.token_type int32 3 1 1 1 \
        tensor token_embd.weight 2 32x3 54
}

@test "validate --level: how far it looks" {
    make_mendable m.gguf
    run -0 gufo validate --level structure m.gguf
    lacks 'error '
    run -0 gufo validate --level standard m.gguf
    lacks 'error '
    run -1 gufo validate m.gguf
    has ' error M1'
    model=$output
    run -1 gufo validate --level=model m.gguf
    same "$model"
    run -2 --separate-stderr gufo validate --level deep m.gguf
    [[ "$stderr" == "gufo: --level is structure, standard or model, not 'deep'"* ]]
}

@test "validate: hints name the file" {
    make_mendable 'my model.gguf'
    run -0 gufo validate --level structure 'my model.gguf'
    has "    hint: 'gufo validate --fix \"my model.gguf\" -o OUT' fixes it"
    run -1 gufo validate --json 'my model.gguf'
    has "\"hint\":\"'gufo validate --fix \\\"my model.gguf\\\" -o OUT' fixes it\""
    # Of standard input there is no name.
    run -0 gufo validate --level structure - <'my model.gguf'
    has "    hint: 'gufo validate --fix FILE -o OUT' fixes it"
    # The command may be copied: nothing in a name is run.
    make_mendable '$(rm m.gguf)`"\.gguf'
    run -0 gufo validate --level structure '$(rm m.gguf)`"\.gguf'
    has "    hint: 'gufo validate --fix \"\\\$(rm m.gguf)\\\`\\\"\\\\.gguf\" -o OUT' fixes it"
}

@test "validate --fix: fixes faults with one right answer, and reports it" {
    make_mendable m.gguf
    cp m.gguf before
    run gufo validate --fix m.gguf -o out.gguf
    cmp m.gguf before
    has 'out.gguf: set general.quantization_version to 2'
    has 'out.gguf: shortened tokenizer.ggml.scores to the number of elements of the others: 3'
    [ "$(gufo get out.gguf general.quantization_version)" = 2 ]
    [ "$(gufo get out.gguf tokenizer.ggml.scores)" = "$(printf '0\n0\n0')" ]
    # Everything that it does not fix stays.
    run gufo validate out.gguf
    lacks 'G511'
    lacks 'tokenizer.ggml.scores'
    lacks 'fixes it'
    # Keys keep their order, new ones come last; tensors are the same.
    run gufo diff m.gguf out.gguf
    has 'general.quantization_version'
    lacks 'token_embd'
}

@test "validate --fix: two keys to one name, and keys that say how files are read" {
    make_gguf m.gguf kv general.architecture string llama kv general.type string model \
        kv llama.rope.freq_bas float32 2 kv llama.rope.freq_bse float32 3 kv split.cout uint16 2 \
        kv llama.context_lengt uint32 5
    run gufo validate --level standard --fix m.gguf -o out.gguf
    [ "$status" -eq 0 ]
    [ "$(grep -c 'S106 key-misspelt' <<<"$output")" -eq 4 ]
    [ "$(grep -c '^out.gguf: renamed' <<<"$output")" -eq 1 ]
    has 'out.gguf: renamed llama.context_lengt to llama.context_length'
    [ "$(gufo get out.gguf llama.rope.freq_bas llama.rope.freq_bse)" = "$(gufo get m.gguf llama.rope.freq_bas llama.rope.freq_bse)" ]
    # Nothing else is left to fix.
    run gufo validate --level standard --fix out.gguf -o again.gguf
    [ ! -e again.gguf ]
}

@test "validate --fix: padding, gaps, order, what follows, and old versions" {
    make_gguf old.gguf version 1 kv general.architecture string llama tensor b 0 8 32 tensor a 0 8 32
    run gufo validate --level structure --fix old.gguf -o out.gguf
    [ "$status" -eq 0 ]
    has 'out.gguf: laid out again, with zeros as padding'
    [ "${lines[-1]}" = 'out.gguf: valid' ]
    make_gguf gap.gguf kv general.architecture string llama at 64 tensor b 0 8 32 at 0 tensor a 0 8 32 \
        tail ff00
    run -0 gufo validate --level structure gap.gguf
    has 'G505'
    has 'G506'
    run -0 gufo validate --level structure --fix gap.gguf -o tight.gguf
    [ "${lines[-1]}" = 'tight.gguf: valid' ]
    run -0 gufo validate --strict --level structure tight.gguf
    for tensor in a b; do
        cmp <(gufo extract gap.gguf "$tensor" -o -) <(gufo extract tight.gguf "$tensor" -o -)
    done
}

@test "validate --fix: JSON" {
    make_mendable m.gguf
    run gufo validate --json --level structure --fix m.gguf -o out.gguf
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 1 ]
    has '"fixes":[{"action":"set","key":"general.quantization_version","value":2}],"output":{"path":"out.gguf","valid":true,"errors":0,"warnings":0}}'
}

@test "validate --fix: nothing to fix, nothing written" {
    make_model m.gguf
    run -0 gufo validate --level structure --fix m.gguf -o out.gguf
    same 'm.gguf: valid'
    files m.gguf
}

@test "validate --fix: what is refused" {
    make_mendable m.gguf
    run -2 --separate-stderr gufo validate --fix m.gguf
    [[ "$stderr" == 'gufo: --fix needs -o OUT'* ]]
    run -2 gufo validate -o out.gguf m.gguf
    run -2 gufo validate --fix m.gguf m.gguf -o out.gguf
    run -2 --separate-stderr gufo validate --fix - -o out.gguf <m.gguf
    [[ "$stderr" == 'gufo: --fix needs a file'* ]]
    run -2 --separate-stderr gufo validate --fix m.gguf -o - </dev/null
    [[ "$stderr" == 'gufo: --fix writes a file, not standard output'* ]]
    [ ! -e ./- ]
    touch there.gguf
    run -2 --separate-stderr gufo validate -q --fix m.gguf -o there.gguf
    [[ "$stderr" == *'(--force replaces it)' ]]
    [ ! -s there.gguf ]
    run gufo validate -q --fix --force m.gguf -o there.gguf
    [ -s there.gguf ]
    cp m.gguf before
    run -2 gufo validate -q --fix --force m.gguf -o m.gguf
    cmp m.gguf before
    run -3 gufo validate -q --fix m.gguf -o missing/out.gguf
    # Damage that no edit fixes: the file is read as strictly as for any other command.
    make_gguf bad.gguf kv k uint8 1 kv k uint8 1 tensor t 2 32 18
    run -3 gufo validate --fix bad.gguf -o bad-out.gguf
    [ ! -e bad-out.gguf ]
    make_gguf two.gguf kv general.architecture string llama tensor a 0 8 32 tensor b 0 8 32
    gufo split -q two.gguf s --max-tensors 1
    run -2 gufo validate --fix s-00001-of-00002.gguf -o out.gguf
}

@test "validate: a set is judged as one model" {
    make_gguf m.gguf kv general.architecture string llama tensor a 0 8 32 tensor b 0 8 32 tensor c 0 8 32
    gufo split -q m.gguf s --max-tensors 1
    run gufo validate s-00001-of-00003.gguf
    one=$(grep -c 'M3' <<<"$output" || true)
    run gufo validate m.gguf
    [ "$(grep -c 'M3' <<<"$output" || true)" -eq "$one" ]
}
