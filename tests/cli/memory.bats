#!/usr/bin/env bats
# Memory follows what is in a file, whatever the file announces.  bench/bench_hostile measures the same.

# bats sets stderr; the shell within a limit expands its own variables; bytes are made by format strings.
# shellcheck disable=SC2016,SC2059,SC2154

load common

LIMIT=200000 # KiB of address space, program and libraries included

needs_limit() {
    (ulimit -v $LIMIT; gufo --version >/dev/null 2>&1) || skip "sanitizers need more address space"
}

# refused TEXT ARGUMENT...: gufo ends with status 3 and says so, within the limit.
refused() {
    local text=$1
    shift
    run -3 bash -c "ulimit -v $LIMIT; "'exec "$0" "$@"' "$GUFO" "$@"
    has "$text"
    lacks 'out of memory'
}

# make_folder DIR: a model as Hugging Face's libraries save it.
make_folder() {
    mkdir "$1" && "$GUFO_TEST_BIN/make_checkpoint" "$1"
}

# ---- JSON ---------------------------------------------------------------------------------------

# objects N: [{},{},...]
objects() {
    printf '['
    yes '{},' | head -n "$1" | tr -d '\n'
    printf '{}]'
}

@test "memory: values of JSON take no more than 32 bytes for each byte of their file" {
    needs_limit
    make_folder m
    for file in config.json tokenizer_config.json tokenizer.json generation_config.json; do
        [ ! -e m/$file ] || mv m/$file kept
        { printf '{"x":' && objects 1000000 && printf '}'; } >m/$file
        # What generation_config.json says is taken where it can be read.
        [ $file = generation_config.json ] || refused "m/$file: the values of this JSON take up to 2" show m
        run bash -c "ulimit -v $LIMIT; "'exec "$0" ls m' "$GUFO"
        lacks 'out of memory'
        [ ! -e kept ] || mv kept m/$file
    done
    { printf '{"weight_map":{},"x":' && objects 1000000 && printf '}'; } >m/model.safetensors.index.json
    refused 'm/model.safetensors.index.json: the values of this JSON take up to 2' show m
    rm m/model.safetensors.index.json
    { printf '{"version":1,"keys":{},"x":' && objects 1000000 && printf '}'; } >m/gguf-metadata.json
    refused 'm/gguf-metadata.json: the values of this JSON take up to 2' convert m --dry-run
    mv m/gguf-metadata.json more.json
    refused 'more.json: the values of this JSON take up to 2' convert m --dry-run --metadata more.json
}

@test "memory: all JSON of a model takes no more than --memory" {
    make_folder m
    run -3 gufo convert m --dry-run --memory 10K
    has 'may be used (--memory SIZE lets it use more)'
    gufo convert -q m --dry-run --memory 10M
}

@test "memory: a file that many keys of gguf-metadata.json name is read once, and its copies are counted" {
    needs_limit
    make_folder m
    head -c 2000000 /dev/zero | tr '\0' a >m/big.txt
    keys() {
        printf '{"version":1,"keys":{"x.k0":{"type":"string","file":"big.txt"}'
        for ((i = 1; i < $1; i++)); do printf ',"x.k%d":{"type":"string","file":"big.txt"}' "$i"; done
        printf '}}'
    }
    keys 500 >m/gguf-metadata.json
    refused 'm/gguf-metadata.json: 8,000,000 more bytes of memory are needed' convert m --dry-run --memory 60M
    keys 3 >m/gguf-metadata.json
    gufo convert -q m out.gguf
    gufo get out.gguf x.k2 | cmp - <(cat m/big.txt && echo)
}

# ---- holes --------------------------------------------------------------------------------------

# sparse FILE WORD...: makes a file of 100 GB, of which only the header is on the disk.
sparse() {
    make_gguf "$@"
    truncate -s 100G "$1" || skip "this file system has no such files"
}

@test "memory: tensors and entries in a hole, which have no names, are refused at the second" {
    needs_limit
    sparse m.gguf tensors 0x40000000
    refused 'byte 48: tensor "" occurs twice; the first is at byte 24' show m.gguf
    sparse m.gguf version 1 tensors 0x40000000
    refused 'byte 36: tensor "" occurs twice; the first is at byte 16' show m.gguf
    sparse m.gguf kv general.architecture string x tensors 0x40000000
    refused 'tensor "" occurs twice' show m.gguf
    sparse m.gguf entries 0x40000000
    refused 'byte 24: a key is empty' show m.gguf
}

@test "memory: of a hole a lenient look shows the beginning" {
    needs_limit
    for what in entries tensors; do
        sparse m.gguf kv k uint8 1 $what 0x40000000
        run -1 bash -c "ulimit -v $LIMIT; "'exec "$0" validate m.gguf' "$GUFO"
        has 'could not be read'
        lacks 'out of memory'
        run -1 bash -c "ulimit -v $LIMIT; "'exec "$0" show --lenient m.gguf | tail -5; exit ${PIPESTATUS[0]}' "$GUFO"
        lacks 'out of memory'
    done
}

# bats test_tags=legacy
@test "memory: an old file whose vocabulary is a hole" {
    needs_limit
    # GGJT 1: 2^24 tokens.
    printf 'tjgg\1\0\0\0\0\0\0\1\100\0\0\0\40\0\0\0\4\0\0\0\1\0\0\0\20\0\0\0\0\0\0\0' >old.bin
    truncate -s 1G old.bin
    refused 'old.bin: byte 524332: more than 65,536 tokens have no text' migrate old.bin --dry-run
    refused 'old.bin: byte 524332: more than 65,536 tokens have no text' show old.bin
}

# ---- names --------------------------------------------------------------------------------------

@test "memory: a name that is too long for any file is shortened before it is escaped" {
    local name
    name=$(head -c 200000 /dev/zero | tr '\0' a)
    {
        printf 'GGUF\3\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\100\15\3\0\0\0\0\0%s' "$name"
        printf '\1\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
        head -c 100 /dev/zero
    } >m.gguf
    gufo show --lenient m.gguf >shown 2>warned || [ $? -eq 1 ]
    [ "$(wc -c <shown)" -lt 70000 ]
    grep -q 'aaa\.\.\.  F32' shown
    [ "$(wc -c <warned)" -lt 2000 ]
    # JSON has all of it.
    gufo show --lenient --json m.gguf >shown 2>warned || [ $? -eq 1 ]
    [ "$(wc -c <shown)" -gt 200000 ]
}

# ---- tensors ------------------------------------------------------------------------------------

# safetensors COUNT: a file of so many tensors of two bytes.
safetensors() {
    local header size
    header=$(seq 0 $(($1 - 1)) | awk '{ printf("%s\"x%d\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[%d,%d]}",
        (NR > 1 ? "," : "{"), $1, 2 * $1, 2 * $1 + 2) } END { printf("}") }')
    size=${#header}
    printf "\\x$(printf %02x $((size & 255)))\\x$(printf %02x $((size >> 8 & 255)))"
    printf "\\x$(printf %02x $((size >> 16 & 255)))\\0\\0\\0\\0\\0%s" "$header"
    head -c $((2 * $1)) /dev/zero
}

@test "memory: a checkpoint of many tensors is planned in little memory for each" {
    needs_limit
    mkdir m
    safetensors 50000 >m/model.safetensors
    printf '{"architectures":["Unknown"]}' >m/config.json
    run -0 bash -c "ulimit -v $LIMIT; "'exec "$0" convert m out.gguf --arch x --generic --dry-run' "$GUFO"
    has '50,000'
}

@test "memory: ls reads files with long metadata one after the other" {
    (ulimit -v 450000; gufo --version >/dev/null 2>&1) || skip "sanitizers need more address space"
    # Forty million texts without a byte, in a hole.
    printf 'GGUF\3\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0a.b\11\0\0\0\10\0\0\0\0\132\142\2\0\0\0\0' >a.gguf
    truncate -s 400M a.gguf
    cp --sparse=always a.gguf b.gguf
    run -3 --separate-stderr bash -c 'ulimit -v 450000; exec "$0" ls --threads 2 a.gguf b.gguf' "$GUFO"
    [ "$(grep -c 'metadata is longer than 268,435,456 bytes' <<<"$stderr")" -eq 2 ]
}
