#!/usr/bin/env bats
# Files whose alignment is far above that of any writer: nothing takes memory or disk for it.

# bats sets stderr.
# shellcheck disable=SC2154

load common

# make_aligned FILE: two tensors of 16 bytes, 2 GiB apart; all but three blocks are holes.
make_aligned() {
    make_gguf "$1" kv general.architecture string x kv general.alignment uint32 2147483648 \
        tensor a 0 4 0 at 2147483648 tensor b 0 4 0 nopad
    truncate -s 4294967312 "$1"
    printf '\0\0\200?\0\0\0@\0\0@@\0\0\200@' >data
    for gigabytes in 2 4; do
        dd if=data of="$1" bs=16 seek=$((gigabytes << 26)) conv=notrunc status=none
    done
    rm data
    [ "$(du -k "$1" | cut -f1)" -lt 1000 ] || skip "the file system has no holes"
}

# is_small FILE...: together they have less than 40 MiB on the disk.
is_small() {
    [ "$(du -ck "$@" | tail -n 1 | cut -f1)" -lt 40000 ]
}

@test "alignment: what is read of a file aligned to 2 GiB" {
    make_aligned m.gguf
    run -0 gufo show --json m.gguf
    has '"alignment":2147483648,"data_offset":2147483648,'
    has '{"name":"b","type":"F32","dims":[4],"elements":4,"offset":4294967296,"size":16}'
    gufo validate --level structure --data -q m.gguf
    cmp <(gufo extract m.gguf b -o -) <(printf '\0\0\200?\0\0\0@\0\0@@\0\0\200@')
    gufo diff m.gguf m.gguf
    poke=$((2147483648 - 4096)) # in the padding, far behind the first hole
    printf x | dd of=m.gguf bs=1 seek=$poke conv=notrunc status=none
    run gufo validate --level structure m.gguf
    has "byte $poke: "
    has "padding holds byte 0x78, not 0"
}

@test "alignment: an edit, a split and a merge keep the holes" {
    make_aligned m.gguf
    cp --sparse=always m.gguf before.gguf
    gufo edit m.gguf --set general.name=longer
    is_small m.gguf
    run -2 --separate-stderr gufo edit m.gguf --in-place=yes --set general.name=x
    [[ "$stderr" == *"the alignment is so large that the journal would be, too" ]]
    run -1 gufo diff m.gguf before.gguf
    has "tensors: 2 same, 0 added, 0 removed, 0 changed"
    gufo split -q m.gguf s --max-tensors 1
    gufo merge -q s-00001-of-00002.gguf whole.gguf
    is_small s-*.gguf whole.gguf
    gufo edit -q m.gguf --remove general.alignment
    [ "$(stat -c %s m.gguf)" -lt 1000 ]
    run -1 gufo diff m.gguf before.gguf
    has "tensors: 2 same, 0 added, 0 removed, 0 changed"
}

@test "alignment: a small file gets no gigabytes of padding" {
    make_gguf m.gguf kv general.architecture string x kv general.alignment uint32 4294967288
    cp m.gguf before.gguf
    run -3 --separate-stderr gufo edit m.gguf --set general.name=x
    [[ "$stderr" == "gufo: m.gguf: general.alignment is 4294967288, which needs "*" bytes of padding; set an alignment up to 16777216" ]]
    cmp m.gguf before.gguf
    gufo edit -q m.gguf --set general.name=x --set general.alignment=64
    run -0 gufo get m.gguf general.name
    same x
    run -2 --separate-stderr gufo edit m.gguf --set general.alignment=33554432
    [[ "$stderr" == *"general.alignment is 33554432; it must be a multiple of 8, up to 16777216" ]]
}

# is_aligned FILE ALIGNMENT: each tensor is at a multiple of it, and the numbers are those of m.gguf.
is_aligned() {
    run -0 gufo validate --level structure -q "$1"
    run -0 gufo show --json "$1"
    has "\"alignment\":$2,"
    for offset in $(grep -o '"offset":[0-9]*' <<<"$output" | cut -d: -f2); do
        [ $((offset % $2)) -eq 0 ]
    done
    run -1 gufo diff m.gguf "$1"
    has "tensors: 21 same, 0 added, 0 removed, 0 changed"
}

# bats test_tags=plain
@test "alignment: every multiple of 8, and back" {
    "$GUFO_EXAMPLES/make_sample" m.gguf
    cp m.gguf e.gguf
    for alignment in 24 40 8 1000; do
        run -0 --separate-stderr gufo edit e.gguf --set general.alignment=$alignment
        [ $alignment -eq 8 ] || same_error "gufo: e.gguf: warning: general.alignment $alignment is not a power of two: programs that use ggml refuse the file"
        is_aligned e.gguf "$alignment"
        # Over the old metadata, with more room in front of the data, and in a new file.
        for edit in yes:1 auto:9000 no:20; do
            gufo edit -q --in-place="${edit%:*}" e.gguf --set-string a.note="$(head -c "${edit#*:}" /dev/zero | tr '\0' x)"
            is_aligned e.gguf "$alignment"
        done
    done
    gufo edit -q e.gguf --remove general.alignment --remove a.note
    gufo edit -q e.gguf --no-padding
    run -0 gufo diff m.gguf e.gguf
    for alignment in 0 4 12 20 31 33; do
        run -2 --separate-stderr gufo edit m.gguf --set general.alignment=$alignment
        [[ "$stderr" == *"general.alignment is $alignment; it must be a multiple of 8, up to 16777216" ]]
    done
}
