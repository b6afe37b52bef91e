#!/usr/bin/env bats
# gufo lora, and gufo validate --base.

# bats sets stderr and status.
# shellcheck disable=SC2154,SC2030,SC2031

load common

# make_with DATA OUT WORD...: a file whose data ends with the bytes DATA.
make_with() {
    local data=$1 size
    shift
    make_gguf "$@"
    size=$(stat -c %s "$1")
    make_gguf "$@" poke $((size - ${#data} / 2)) "$data"
}

# A matrix of two columns and two rows, all of them 1.
make_base() {
    make_with "$(printf '0000803f%.0s' 1 2 3 4)$(printf '00%.0s' {1..48})" base.gguf \
        kv general.architecture string llama kv general.file_type uint32 0 \
        tensor blk.0.attn_q.weight 0 2x2 16 tensor w 0 8 32
}

# make_adapter OUT [ARCHITECTURE [NAME [RANK]]]: A is 1 2, B is 3 4 and alpha is 2.
make_adapter() {
    local rank=${4:-1} name=${3:-blk.0.attn_q.weight}
    make_with "0000803f00000040$(printf '00%.0s' {1..24})0000404000008040$(printf '00%.0s' {1..24})" \
        "$1" kv general.architecture string "${2:-llama}" kv general.type string adapter \
        kv adapter.type string lora kv adapter.lora.alpha float32 "${ALPHA:-2}" \
        kv general.base_model.count uint32 1 kv general.base_model.0.name string 'Tiny Llama' \
        tensor "$name.lora_a" 0 2x1 8 tensor "$name.lora_b" 0 "${rank}x2" $((8 * rank))
}

# numbers FILE: the bytes of the floats of the first tensor.
numbers() {
    gufo extract "$1" blk.0.attn_q.weight --format raw -o - | od -An -v -tx4 --endian=little |
        tr -s ' \n' ' '
}

@test "lora merge: base + S * (alpha / rank) * B A" {
    make_base
    make_adapter a.gguf
    run -0 --separate-stderr gufo lora merge base.gguf a.gguf -o out.gguf
    [ -z "$stderr" ]
    has 'base.gguf with 1 adapter, out.gguf: 48 bytes of tensors become 48 bytes'
    files base.gguf a.gguf out.gguf
    run -0 numbers out.gguf
    same ' 40e00000 41500000 41100000 41880000 ' # 7 13 9 17
    run -0 gufo get out.gguf general.file_type
    same 0
    run -1 gufo get out.gguf adapter.type
    run -0 gufo lora merge -q --force base.gguf a.gguf a.gguf --scale 0.5 --scale -2 -o out.gguf
    same ''
    run -0 numbers out.gguf
    same ' c1000000 c1880000 c1300000 c1b80000 ' # -8 -17 -11 -23
    run -0 gufo lora merge -q --force base.gguf a.gguf a.gguf --scale 0.5 -o out.gguf
    run -0 numbers out.gguf
    same ' 40e00000 41500000 41100000 41880000 ' # 7 13 9 17
}

@test "lora merge: another type, names, JSON" {
    make_base
    make_adapter a.gguf
    run -0 gufo lora merge base.gguf a.gguf --type F16 -o out.gguf
    has 'base.gguf with 1 adapter as F16, out.gguf: '
    run -0 gufo get out.gguf general.file_type
    same 1
    run -0 gufo lora merge -q base.gguf a.gguf f16 -o last.gguf # TYPE as the last word
    cmp out.gguf last.gguf
    rm last.gguf
    run -0 gufo lora merge --json --force base.gguf a.gguf --type F16 -o out.gguf
    has '"adapters":1'
    run -0 gufo lora merge --dry-run base.gguf a.gguf --type F16
    has 'target; adapter merged'
    run -0 gufo lora merge --dry-run base.gguf a.gguf
    has 'type kept; adapter merged'
    files base.gguf a.gguf out.gguf
}

# refused EXPECTED ADAPTER: neither merged nor valid, and nothing is left.
refused() {
    run -3 --separate-stderr gufo lora merge base.gguf "$2" -o out.gguf
    same_error "gufo: $2: $1"
    [ ! -e out.gguf ] && [ ! -e out.gguf.part ]
    run gufo validate "$2" --base base.gguf
    [ "$status" -eq "${3:-1}" ]
    has "${1#byte *: }"
}

@test "lora merge: adapters that do not fit, which validate --base knows, too" {
    make_base
    make_adapter a.gguf
    run -0 gufo validate a.gguf --base base.gguf
    same 'a.gguf: valid'
    make_adapter qwen.gguf qwen2
    refused 'the adapter is for models of architecture "qwen2", its base is "llama"; it was made for "Tiny Llama"' qwen.gguf
    make_adapter other.gguf llama blk.7.attn_q.weight
    refused 'the base has none of the tensors that the adapter changes; it was made for "Tiny Llama"' other.gguf
    make_adapter rank.gguf llama blk.0.attn_q.weight 3
    run -3 --separate-stderr gufo lora merge base.gguf rank.gguf -o out.gguf
    [[ $stderr == *'the adapter of "blk.0.attn_q.weight" has rank 1 in lora_a and 3 in lora_b' ]]
    ALPHA=0 make_adapter zero.gguf
    run -3 --separate-stderr gufo lora merge base.gguf zero.gguf -o out.gguf
    [[ $stderr == *'adapter.lora.alpha is 0: the adapter would change nothing' ]]
    ALPHA=nan make_adapter nan.gguf
    run -3 --separate-stderr gufo lora merge base.gguf nan.gguf -o out.gguf
    [[ $stderr == *'adapter.lora.alpha is not a number' ]]
    refused 'the file is not an adapter: general.type is not "adapter"' base.gguf
}

@test "lora merge: half of a pair, DoRA, invocation tokens" {
    make_base
    make_gguf half.gguf kv general.architecture string llama kv general.type string adapter \
        kv adapter.type string lora kv adapter.lora.alpha float32 2 \
        tensor blk.0.attn_q.weight.lora_a 0 2x1 8
    run -3 --separate-stderr gufo lora merge base.gguf half.gguf -o out.gguf
    [[ $stderr == *'is present, but not "blk.0.attn_q.weight.lora_b"' ]]
    make_gguf dora.gguf kv general.architecture string llama kv general.type string adapter \
        kv adapter.type string lora kv adapter.lora.alpha float32 2 \
        tensor blk.0.attn_q.weight.lora_a 0 2x1 8 tensor blk.0.attn_q.weight.lora_b 0 1x2 8 \
        tensor blk.0.attn_q.weight.lora_magnitude_vector 0 2 8
    run -3 --separate-stderr gufo lora merge base.gguf dora.gguf -o out.gguf
    [[ $stderr == *'is a magnitude of DoRA'* ]]
    make_gguf alora.gguf kv general.architecture string llama kv general.type string adapter \
        kv adapter.type string lora kv adapter.lora.alpha float32 2 \
        arr adapter.alora.invocation_tokens uint32 2 5 6 \
        tensor blk.0.attn_q.weight.lora_a 0 2x1 8 tensor blk.0.attn_q.weight.lora_b 0 1x2 8
    run -3 --separate-stderr gufo lora merge base.gguf alora.gguf -o out.gguf
    [[ $stderr == *'acts only on what follows its invocation tokens'* ]]
    run -0 gufo validate alora.gguf --base base.gguf
    has 'M416 adapter-activated'
    files base.gguf half.gguf dora.gguf alora.gguf
}

@test "lora merge: outputs that exist, and wrong usage" {
    make_base
    make_adapter a.gguf
    echo kept >out.gguf
    run -2 --separate-stderr gufo lora merge base.gguf a.gguf -o out.gguf
    same_error 'gufo: out.gguf: target exists already (--force replaces it)'
    [ "$(cat out.gguf)" = kept ]
    for input in base.gguf a.gguf; do
        cp $input copy
        run -2 gufo lora merge --force base.gguf a.gguf -o $input
        has 'it would be lost'
        cmp $input copy
    done
    run -2 gufo lora merge base.gguf a.gguf
    has 'merge: -o OUT is needed'
    run -2 gufo lora merge base.gguf -o x.gguf
    has 'merge: BASE and ADAPTER are needed'
    run -2 gufo lora fold base.gguf a.gguf -o x.gguf
    has "unknown subcommand 'fold'"
    for scale in 0 nan inf 1x ''; do
        run -2 gufo lora merge base.gguf a.gguf -o x.gguf --scale="$scale"
        has '--scale needs a number other than 0'
    done
    run -2 gufo lora merge base.gguf a.gguf -o x.gguf --scale 1 --scale 2
    has '--scale is given 2 times for 1 adapters'
    run -3 gufo lora merge base.gguf missing.gguf -o x.gguf
    run -2 gufo validate --level standard a.gguf --base base.gguf
    run -3 gufo validate a.gguf --base missing.gguf
    [ ! -e x.gguf ]
}

@test "lora merge: an adapter from a pipe is named" {
    make_base
    make_adapter a.gguf
    run -2 --separate-stderr gufo lora merge base.gguf <(cat a.gguf) -o out.gguf
    [[ $stderr == 'gufo: /dev/fd/'*': the data of a pipe cannot be merged; give a file' ]]
    [ ! -e out.gguf ]
}

@test "lora: an adapter knows its base, and a merge says what it is made of" {
    make_base
    gufo edit -q base.gguf --set general.name='Tiny Llama' \
        --set general.uuid=11111111-2222-4333-8444-555555555555
    make_adapter a.gguf
    gufo edit -q a.gguf --set general.name=Poet
    run -0 gufo lora merge -q base.gguf a.gguf -o out.gguf
    uuid=$(gufo get out.gguf general.uuid)
    [[ $uuid == ????????-????-8???-[89ab]???-???????????? ]]
    run -0 gufo get out.gguf general.base_model.0.name
    same 'Tiny Llama'
    run -0 gufo get out.gguf general.base_model.0.uuid
    same 11111111-2222-4333-8444-555555555555
    run -0 gufo get out.gguf general.base_model.1.name
    same Poet
    run -0 gufo get out.gguf general.base_model.count
    same 2
    run gufo validate out.gguf
    [[ $output != *general.uuid* && $output != *base_model* ]]
    # The same merge has the same UUID, whatever its type; another scale is another model.
    gufo lora merge -q base.gguf a.gguf --type F16 -o half.gguf
    [ "$(gufo get half.gguf general.uuid)" = "$uuid" ]
    gufo lora merge -q base.gguf a.gguf --scale 2 -o twice.gguf
    [ "$(gufo get twice.gguf general.uuid)" != "$uuid" ]
    gufo lora merge -q base.gguf a.gguf --override-kv general.uuid=str:x -o named.gguf
    [ "$(gufo get named.gguf general.uuid)" = x ]

    # Another base, by its UUID and by its weights.
    gufo edit -q a.gguf --set general.base_model.0.uuid=99999999-2222-4333-8444-555555555555
    run -1 gufo validate a.gguf --base base.gguf
    has 'M417 adapter-other-base: the base is not the model that the adapter was made for: '
    run -3 gufo lora merge base.gguf a.gguf -o x.gguf
    has 'general.base_model.0.uuid is "99999999-2222-4333-8444-555555555555", the base'
    run -0 gufo lora merge -q --any-base base.gguf a.gguf -o x.gguf
    gufo edit -q a.gguf --remove general.base_model.0.uuid --set gufo.base_model.weights=0123456789abcdef
    run -3 gufo lora merge base.gguf a.gguf -o y.gguf
    weights=$(sed -n 's/.*own is "\([0-9a-f]*\)".*/\1/p' <<<"$output")
    [ ${#weights} -eq 16 ]
    gufo edit -q a.gguf --set gufo.base_model.weights="$weights"
    run -0 gufo lora merge -q base.gguf a.gguf -o y.gguf
    run -0 gufo validate a.gguf --base base.gguf
    # A base of another type and another name is the same one; one with other vectors is not.
    gufo quantize -q base.gguf half-base.gguf F16
    gufo edit -q half-base.gguf --set general.name=Half
    run -0 gufo validate a.gguf --base half-base.gguf
    cp base.gguf other.gguf
    printf '\x01' | dd of=other.gguf bs=1 seek=$(($(stat -c %s other.gguf) - 1)) conv=notrunc status=none
    run -1 gufo validate a.gguf --base other.gguf
    has 'M417 adapter-other-base'
}

@test "lora: show names the command that merges an adapter" {
    make_adapter 'an adapter.gguf'
    run -0 --separate-stderr gufo show 'an adapter.gguf'
    has "  Merged by         gufo lora merge BASE 'an adapter.gguf' -o OUT"
    run -0 gufo show - <'an adapter.gguf'
    has '  Merged by         gufo lora merge BASE ADAPTER -o OUT'
    make_base
    run -0 gufo show base.gguf
    lacks 'Merged by'
}
