#!/usr/bin/env bats
# gufo validate --data

# bats sets stderr; some commands are for another shell; reading a pipe is the point of `cat |`.
# shellcheck disable=SC2154,SC2016,SC2002

load common

# The rules of the format; what models mean is in validate_model.bats.
gufo() {
    if [ "$1" = validate ]; then
        set -- validate --level structure "${@:2}"
    fi
    "$GUFO" "$@"
}

# make_data OUT TYPE DIMS SIZE OFFSET HEX: a model with a tensor `t` whose data, bytes of 1, has HEX at
# OFFSET.  Its data begins at $data.
make_data() {
    local out=$1 offset=$5 hex=$6 padded
    local words=(kv general.architecture string x kv general.quantization_version uint32 2
        tensor t "$2" "$3" "$4")
    padded=$((($4 + 31) / 32 * 32))
    make_gguf "$out" "${words[@]}"
    data=$(($(stat -c %s "$out") - padded))
    make_gguf "$out" "${words[@]}" poke $((data + offset)) "$hex"
}

@test "validate --data: values that are not finite" {
    make_data m.gguf 0 4x4 64 24 0000c07f0000807f
    run -0 gufo validate --strict m.gguf
    same 'm.gguf: valid'
    run -1 --separate-stderr gufo validate --data m.gguf
    same_error ''
    same "m.gguf: byte $((data + 24)): error G801 data-nonfinite: tensor \"t\": 2 values are infinite or NaN; the first, in row 1, column 2, is NaN
m.gguf: invalid: 1 error"
    run -1 gufo validate --data --json m.gguf
    has "{\"rule\":\"G801\",\"name\":\"data-nonfinite\",\"severity\":\"error\",\"offset\":$((data + 24)),\"subject\":\"t\","
    has '"valid":false,"errors":1,"warnings":0}'
    run -1 gufo validate --data -q m.gguf
    same ''
}

@test "validate --data: a sound file" {
    make_data m.gguf 0 4x4 64 0 00000000
    run -0 --separate-stderr gufo validate --data m.gguf
    same 'm.gguf: valid'
    same_error ''
    run -0 gufo validate --data - <m.gguf
    same '-: valid'
}

@test "validate --data: scales that are not finite" {
    make_data m.gguf 8 64x2 136 68 007c
    run -1 gufo validate --data m.gguf
    [ "${lines[0]}" = "m.gguf: byte $((data + 68)): error G802 scale-nonfinite: tensor \"t\" (Q8_0): 1 block has a scale that is infinite or NaN, in row 1, column 0; 32 values of the tensor are infinite or NaN" ]
    make_data m.gguf 39 32x2 34 17 ff
    run -1 gufo validate --data m.gguf
    has "byte $((data + 17)): error G802 scale-nonfinite: tensor \"t\" (MXFP4): 1 block has "
    make_data m.gguf 40 64 36 0 ffffffff
    run -0 gufo validate --data m.gguf
}

@test "validate --data: each shard, by its name" {
    make_shards m
    size=$(stat -c %s m-00002-of-00002.gguf)
    printf '\0\0\200\377' | dd of=m-00002-of-00002.gguf bs=1 seek=$((size - 4)) conv=notrunc status=none
    run -0 gufo validate m-00001-of-00002.gguf
    run -1 gufo validate --data m-00001-of-00002.gguf
    has "m-00002-of-00002.gguf: byte $((size - 4)): error G801 data-nonfinite: tensor \"b\": the value in row 0, column 15 is negative infinity"
    run -1 gufo validate --data --json m-00001-of-00002.gguf
    [[ "$output" =~ '"rule":"G801"'[^}]*',"shard":2}' ]]
}

@test "validate --data: a truncated file is looked at as far as it goes" {
    make_data m.gguf 0 16 64 0 0000c07f
    truncate -s -20 m.gguf
    run -1 gufo validate --data m.gguf
    has 'error G309 data-truncated: '
    has 'error G801 data-nonfinite: tensor "t": the value in row 0, column 0 is NaN'
}

@test "validate: a download that did not finish ends with zeros" {
    make_gguf m.gguf kv general.architecture string x tensor a 0 64x64 16384 tensor b 0 64x64 16384 tensor c 0 64x64 16384
    size=$(stat -c %s m.gguf)
    dd if=/dev/zero of=m.gguf bs=16384 seek=$((size - 16384)) oflag=seek_bytes count=1 conv=notrunc status=none
    run -0 gufo validate m.gguf
    has 'warning G517 data-zero: the data of tensor "c" seems to be all zero'
    dd if=/dev/zero of=m.gguf bs=40000 seek=$((size - 40000)) oflag=seek_bytes count=1 conv=notrunc status=none
    run -0 gufo validate m.gguf
    has 'warning G517 data-zero: the last 32 KB, with 2 of 3 tensors, seem to be zeros: did the download finish?'
    run -1 gufo validate --data m.gguf
    has "byte $((size - 40000)): error G804 data-missing: the last 40 KB, with 2 tensors, are zeros: the download did not finish"
    # One matrix and a norm behind it, as most models end.
    make_gguf m.gguf kv general.architecture string x tensor a 0 64x64 16384 tensor b 0 64x64 16384 tensor n 0 1024 4096
    size=$(stat -c %s m.gguf)
    dd if=/dev/zero of=m.gguf bs=20480 seek=$((size - 20480)) oflag=seek_bytes count=1 conv=notrunc status=none
    run -1 gufo validate --data m.gguf
    has "error G804 data-missing: the last 20 KB, with 2 tensors, are zeros: the download did not finish"
}

@test "validate --data: an adapter whose training has not begun is no fault" {
    make_gguf m.gguf kv general.architecture string x tensor a.lora_a 0 64x64 16384 tensor b.lora_a 0 64x64 16384 \
        tensor a.lora_b 0 64x64 16384 tensor b.lora_b 0 64x64 16384
    size=$(stat -c %s m.gguf)
    dd if=/dev/zero of=m.gguf bs=32768 seek=$((size - 32768)) oflag=seek_bytes count=1 conv=notrunc status=none
    run -0 gufo validate --data m.gguf
    lacks 'G804'
    lacks 'G517'
    # With zeros in A, too, the file is cut.
    dd if=/dev/zero of=m.gguf bs=65536 seek=$((size - 65536)) oflag=seek_bytes count=1 conv=notrunc status=none
    run -1 gufo validate --data m.gguf
    has 'G804'
}

@test "validate --data: biases that are zero are no fault" {
    make_gguf m.gguf kv general.architecture string x tensor a 0 64x64 16384 tensor b 0 1024 4096 tensor c 0 1024 4096
    size=$(stat -c %s m.gguf)
    dd if=/dev/zero of=m.gguf bs=8192 seek=$((size - 8192)) oflag=seek_bytes count=1 conv=notrunc status=none
    run -0 gufo validate --data m.gguf
    lacks 'G804'
}

@test "validate: what a server has sent in place of a file is named" {
    printf 'Invalid username or password.' >a.gguf
    run -1 gufo validate a.gguf
    has 'an answer of the Hub: the model needs a login, or does not exist'
    printf '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>' >b.gguf
    run -3 gufo show b.gguf
    has 'an XML document, perhaps an error message of the store'
    # A ZIP archive is PyTorch's where it has data.pkl.
    printf 'PK\003\004%026dPK\005\006%012d\036%05d' 0 0 0 | tr 0 '\000' >c.gguf
    run -3 gufo show c.gguf
    same 'gufo: c.gguf: byte 0: not a GGUF file: it is a ZIP archive'
}

@test "validate --data: what cannot be decoded is reported with -v" {
    make_gguf m.gguf kv general.architecture string x tensor odd 57 4 8
    run -0 gufo validate --data m.gguf
    lacks 'G803'
    run -0 gufo validate --data -v m.gguf
    has 'info G803 data-unchecked: tensor "odd" has element type 57, which is not known: its data was not checked'
}

@test "validate --data: a pipe is wrong usage" {
    make_data m.gguf 0 4x4 64 0 00000000
    cat m.gguf | {
        run -2 --separate-stderr gufo validate --data -
        same ''
        same_error 'gufo: -: the data of a pipe cannot be checked: it can be read only once'
    }
    cat m.gguf | { run -0 gufo validate -; }
}

@test "validate --data: a file that is none" {
    printf 'nothing' >m.gguf
    run -1 gufo validate --data m.gguf
    has 'error G101 magic: '
    run -3 gufo validate --data missing.gguf
    GUFO_CPU=abacus run -2 gufo validate --data m.gguf
}

@test "validate: without --data it is never read" {
    # A terabyte that takes no room.
    make_gguf m.gguf kv general.architecture string x tensor t 24 1099511627776 0
    truncate -s 1099511627808 m.gguf 2>/dev/null || skip "no large files here"
    truncate -s "$(($(gufo show --lenient --json m.gguf | grep -o '"data_offset":[0-9]*' | cut -d: -f2) + 1099511627776))" m.gguf
    run -0 timeout 20 "$GUFO" validate --level structure m.gguf
    same 'm.gguf: valid'
}

@test "validate --data: a byte that two tensors claim is read once" {
    make_gguf m.gguf kv general.architecture string x tensor a 0 8 32 at 0 tensor b 0 8 32 \
        at 32 tensor c 0 8 32
    size=$(stat -c %s m.gguf)
    printf '\0\0\300\177' | dd of=m.gguf bs=1 seek=$((size - 64)) conv=notrunc status=none
    printf '\0\0\300\177' | dd of=m.gguf bs=1 seek=$((size - 32)) conv=notrunc status=none
    run -1 gufo validate --data m.gguf
    has 'error G310 data-overlap: data of tensor "b" begins at byte'
    has 'error G801 data-nonfinite: tensor "a"'
    has 'error G801 data-nonfinite: tensor "c"'
    lacks 'data-nonfinite: tensor "b"'
}
