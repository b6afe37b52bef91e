#!/usr/bin/env bats
# bats file_tags=plain
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
    [[ "$stderr" == "gufo: --level is structure, standard, model or spec, not 'deep'"* ]]
}

@test "validate: hints name the file" {
    make_mendable 'my model.gguf'
    run -0 gufo validate --level structure 'my model.gguf'
    has "    fix: gufo edit 'my model.gguf' --set=general.quantization_version=uint32:2"
    run -1 gufo validate --json 'my model.gguf'
    has '"fix":{"action":"set","key":"general.quantization_version","value":2,"certain":true,'
    has "\"command\":\"gufo edit 'my model.gguf' --set=general.quantization_version=uint32:2\"}"
    # Standard input has no name.
    run -0 gufo validate --level structure - <'my model.gguf'
    lacks "fix:"
    # The command may be copied: nothing in a name is run.
    make_mendable '$(rm m.gguf)`"\.gguf'
    run -0 gufo validate --level structure '$(rm m.gguf)`"\.gguf'
    has "    fix: gufo edit '\$(rm m.gguf)\`\"\\.gguf' --set=general.quantization_version=uint32:2"
}

@test "validate --level=spec: what the specification requires is an error" {
    # What readers do without, or take otherwise: no error for them.
    make_gguf m.gguf kv general.File-Type uint32 2 kv llama.context_length int64 8 \
        kv general.alignment uint32 4 align 4 arr tokenizer.ggml.token_type uint32 0 \
        tensor t.weight 2 32 18
    run -0 gufo validate m.gguf
    run -1 gufo validate --level=spec m.gguf
    has 'error G502 key-case'
    has 'error G510 architecture-missing'
    has 'error G511 quantization-version-missing'
    has 'error G516 alignment-eight'
    has 'error S110 key-type-specified: key "llama.context_length" has type int64; in the specification it is uint64'
    run -1 gufo validate --level=spec --json m.gguf
    has '"name":"alignment-eight","severity":"error"'
    has '"errors":5,'
    # Every key of a section, the version, padding, the one version of RWKV.
    make_gguf m.gguf version 2 kv general.architecture string rwkv \
        kv rwkv.architecture_version uint32 5 kv rwkv.context_length uint64 8
    run -1 gufo validate --level=spec m.gguf
    has 'error G512 version-old'
    has 'error M212 rwkv-version'
    make_gguf m.gguf kv general.architecture string mpt kv mpt.context_length uint64 8 \
        kv mpt.embedding_length uint64 8 kv mpt.block_count uint64 1 \
        kv mpt.attention.head_count uint64 1 kv mpt.attention.layer_norm_epsilon float32 1e-5 \
        tensor x 0 8 32
    run -1 gufo validate m.gguf
    has 'warning M213 key-specified: key "mpt.attention.clip_kqv" is missing'
    run -1 gufo validate --level=spec m.gguf
    has 'error M213 key-specified: key "mpt.attention.clip_kqv" is missing'
}

@test "validate --level=spec: values are those of the specification" {
    model=(kv general.architecture string llama kv general.file_type uint32 99
        kv general.license string https://example.org/LICENSE arr general.languages string 2 en deu
        kv llama.tensor_data_layout string jploski kv llama.rope.scaling.type string su
        kv tokenizer.ggml.model string piece arr tokenizer.ggml.tokens string 3 a b c
        arr tokenizer.ggml.token_type int32 3 0 1 7)
    make_gguf m.gguf "${model[@]}"
    run -1 gufo validate --level=spec m.gguf
    for rule in S201 S202 S211 S213 M101 M105 M209; do
        has ": error $rule "
    done
    run -0 gufo validate m.gguf
    lacks ': error '
    # What programs have added is a warning: no file of these models does without.
    make_gguf command.gguf kv general.architecture string command-r \
        kv command-r.context_length uint32 8 kv general.file_type uint32 32
    run -0 gufo validate --level=spec command.gguf
    has 'warning S112 unspecified: architecture "command-r" has other characters than a-z and 0-9'
    has 'warning S112 unspecified: key "general.file_type" is 32 (BF16), which programs know'
    has 'warning M505 name-convention: '
    lacks G502
    # Names of a section of the specification are not old.
    make_gguf mpt.gguf kv general.architecture string mpt kv mpt.attention.clip_kqv float32 8
    run -0 gufo validate --level=spec -v mpt.gguf
    has 'info S113 key-unread: key "mpt.attention.clip_kqv" has a name of the specification; programs know it as "mpt.attention.clamp_kqv"'
    lacks S104
}

# A file whose faults have a fix of each kind; the arguments come first.
make_fixable() {
    make_gguf "$@" kv general.architecture string lama kv general.license string 'Apache 2' \
        kv general.url string "it's.example/a b" kv general.name string '' \
        kv general.autor string Name kv general.file_type float32 2 \
        kv tokenizer.ggml.add_bos_token uint8 1 \
        kv tokenizer.ggml.model string llama arr tokenizer.ggml.tokens string 3 a b c \
        arr tokenizer.ggml.scores float32 5 0 0 0 1 2 arr tokenizer.ggml.token_type int32 3 1 1 1 \
        kv tokenizer.chat_template string '{{ x.__class__ }}' \
        tensor blk.00.attn_q.weight 2 32x3 54 tail 00
}

fixes_of() {
    gufo validate "$@" | sed -n 's/^    fix: //p'
}

# Each command that is given for FILE in the present folder does what it says: its finding is gone.
every_fix_works() {
    local command before after folder=$PWD
    echo hello >"$BATS_TEST_TMPDIR/path"
    fixes_of "$1" >"$BATS_TEST_TMPDIR/fixes"
    [ -s "$BATS_TEST_TMPDIR/fixes" ]
    while read -r command; do
        rm -rf ../copy
        cp -a "$folder" ../copy
        cd ../copy
        before=$(gufo validate "$1" | grep -c -xF "    fix: $command")
        command=${command// OUT/ ../out.gguf}
        command=${command/=TEXT/=x} command=${command/=PATH/=$BATS_TEST_TMPDIR/path}
        rm -f ../out.gguf
        echo "# $command"
        eval "${command/:VALUE/:7}" || [[ $command == "gufo validate"* && $? -eq 1 ]]
        after=$1
        [ ! -e ../out.gguf ] || after=../out.gguf
        [ "$before" -ge 1 ]
        ! gufo validate "$after" | grep -qxF "    fix: $command" || false
        cd "$folder"
    done <"$BATS_TEST_TMPDIR/fixes"
}

@test "validate: the command of a fix works on that very file" {
    mkdir here && cd here
    make_fixable m.gguf
    every_fix_works m.gguf
    [ "$(fixes_of m.gguf | sed 's/.*--\([a-z-]*\).*/\1/' | sort -u | tr '\n' ' ')" = \
        "fix remove rename rename-tensor set set-file set-string " ] ||
        { fixes_of m.gguf && false; }
    for kind in 'version 1' 'version 2' big; do
        rm m.gguf
        # shellcheck disable=SC2086
        make_fixable "it's a [model] \$HOME.gguf" $kind
        every_fix_works "it's a [model] \$HOME.gguf"
        mv it* m.gguf
    done
    mv m.gguf ./-m.gguf
    run fixes_of -- -m.gguf
    has "gufo edit ./-m.gguf --"
    # One shard of a set, and one whose siblings are missing.
    rm ./-m.gguf
    make_fixable m-00001-of-00002.gguf kv split.no uint16 0 kv split.count uint16 2 \
        kv split.tensors.count int32 2 kv general.alignment uint32 131072 align 131072
    make_gguf m-00002-of-00002.gguf align 131072 kv split.no uint16 1 kv split.count uint16 2 \
        kv split.tensors.count int32 2 kv general.alignment uint32 131072 tensor a 0 8 32
    every_fix_works m-00001-of-00002.gguf
    rm m-00002-of-00002.gguf
    every_fix_works m-00001-of-00002.gguf
}

@test "validate: a value that fits the right type gets it" {
    make_gguf m.gguf kv general.architecture string llama kv llama.context_length string 4096 \
        kv llama.rope.freq_base uint32 500000 kv tokenizer.ggml.add_bos_token int32 1 \
        kv llama.block_count float32 2.5 kv llama.vocab_size string many \
        arr tokenizer.ggml.token_type float32 3 1 1 6 arr tokenizer.ggml.tokens string 3 a b c \
        kv tokenizer.ggml.model string gpt2
    run -1 gufo validate --json m.gguf
    [ "$(grep -o '"rule":"S103"' <<<"$output" | wc -l)" -eq 6 ]
    [ "$(grep -o '"rule":"S103"[^}]*"fix":{[^}]*"certain":true' <<<"$output" | wc -l)" -eq 4 ]
    run -1 gufo validate --fix m.gguf -o fixed.gguf
    has 'fixed.gguf: set llama.context_length to 4096'
    has 'fixed.gguf: set tokenizer.ggml.add_bos_token to true'
    has 'fixed.gguf: elements of tokenizer.ggml.token_type are now of type int32'
    run -1 gufo validate fixed.gguf
    [ "$(grep -c ' S103 ' <<<"$output")" -eq 2 ]
    for want in llama.context_length=uint32=4096 llama.rope.freq_base=float32=500000.0 \
        tokenizer.ggml.add_bos_token=bool=true tokenizer.ggml.token_type=array=1,1,6; do
        IFS== read -r key type value <<<"$want"
        run -0 gufo get --json fixed.gguf "$key"
        has "\"type\":\"$type\""
        run -0 gufo get fixed.gguf "$key"
        [ "$(paste -sd, <<<"$output")" = "${value%.0}" ]
    done
}

@test "validate --fix: all faults of a rule, not only those that are listed" {
    mapfile -t keys < <(awk -F'\t' '$2 == "uint32" && $3 == "" && $1 ~ /^[{]arch[}][.][a-z_.]*$/ { print $1 }' \
        "$GUFO_SOURCE/registry/keys.tsv" | sed 's/{arch}/llama/' | head -n 60)
    [ "${#keys[@]}" -eq 60 ]
    make_gguf m.gguf kv general.architecture string llama kv general.auther string a \
        kv general.autor string b $(printf 'kv %s uint64 1 ' "${keys[@]}")
    run -0 gufo validate --level=standard m.gguf
    has 'S109 key-type-read: 40 more findings like the ones before are not listed'
    run -0 gufo validate --level=standard --fix m.gguf -o fixed.gguf
    [ "$(grep -c '^fixed.gguf: set ' <<<"$output")" -eq 60 ]
    [ "$(grep -c ' S109 ' <<<"$output")" -eq 21 ]
    # Which of two keys is right is not known.
    lacks 'fixed.gguf: renamed general'
    run -0 gufo validate --level=standard fixed.gguf
    lacks S109
}

@test "validate: no command for a file that other commands refuse" {
    make_fixable m.gguf kv general.license string MIT
    run -1 gufo validate m.gguf
    has 'G205 key-duplicate'
    has 'G506 trailing-bytes'
    lacks 'fix:'
    run -1 gufo validate --json m.gguf
    has '"fix":{"action":"rewrite","certain":true}'
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

@test "validate --fix: no number changes to fit into another type" {
    make_gguf m.gguf kv general.architecture string llama kv llama.vocab_size uint64 4294967296 \
        kv llama.expert_count int64 -2147483649 kv llama.rope.freq_base float64 1e300 \
        kv tokenizer.ggml.bos_token_id uint64 4294967295 \
        arr tokenizer.ggml.token_type int64 2 1 2147483648 arr tokenizer.ggml.scores float64 1 1e300 \
        arr llama.attention.head_count uint64 2 1 2147483647
    run gufo validate m.gguf
    has 'key "llama.vocab_size" has type uint64; readers take uint32'
    lacks '--set=llama.vocab_size'
    lacks '--set=llama.expert_count'
    lacks '--set=llama.rope.freq_base'
    has '--set=tokenizer.ggml.bos_token_id=uint32:4294967295'
    run gufo validate --fix m.gguf -o out.gguf
    run -0 gufo show --metadata out.gguf
    has 'uint64     4294967296'
    has '-2147483649'
    has '2147483648'
    has 'float64    1e300'
    has 'float64[]  [1] 1e300'
    has 'int32[]    [2] 1, 2147483647'
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

@test "validate: fixes do not rename what is there under the right name, too" {
    "$GUFO_EXAMPLES/make_sample" m.gguf
    gufo edit --as-is -q --set llama.hidden_size=64 \
        --rename-tensor blk.0.attn_k.weight=blk.0.attn_qq.weight m.gguf
    run -1 gufo validate m.gguf
    has '    fix: gufo edit m.gguf --remove=llama.hidden_size'
    has 'warning M306 tensor-unknown: tensor "blk.0.attn_qq.weight"'
    lacks 'rename'
}
