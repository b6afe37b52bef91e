#!/usr/bin/env bats
# bats file_tags=plain
# gufo verify

# bats sets stderr; some commands are for another shell.
# shellcheck disable=SC2154,SC2016

load common

make_verified() {
    make_gguf m.gguf kv general.architecture string llama \
        tensor 'tok:en' 0 32x10 1280 tensor 'out put' 1 32x10 640
    gufo hash --xxh64 m.gguf >manifest || skip "built without xxHash"
}

# damage FILE: changes the last tensor.
damage() {
    printf x | dd of="$1" bs=1 seek=$(($(stat -c %s "$1") - 10)) conv=notrunc status=none
}

@test "verify: the same" {
    make_verified
    run -0 --separate-stderr gufo verify m.gguf manifest
    same_error ''
    same 'm.gguf: 2 tensors as in the manifest; all data together is the same  (xxh64)'
    run -0 gufo verify -q m.gguf manifest
    same ''
    run -0 gufo verify -v m.gguf manifest
    same 'same     tok:en
same     out put
same     all data together
m.gguf: 2 tensors as in the manifest; all data together is the same  (xxh64)'
    mv m.gguf renamed.gguf
    run -0 gufo verify renamed.gguf manifest
    run -0 bash -c '"$GUFO" verify renamed.gguf - <manifest'
    sed -i 's/$/\r/' manifest
    run -0 gufo verify renamed.gguf manifest
}

@test "verify: a manifest beside the model, and a hash in place of one" {
    make_verified
    mv manifest m.gguf.manifest
    run -0 --separate-stderr gufo verify m.gguf
    same 'm.gguf: 2 tensors as in the manifest; all data together is the same  (xxh64)'
    sum=$(sha256sum <m.gguf)
    run -0 gufo verify m.gguf "${sum%% *}"
    [[ "$output" == *"m.gguf: all bytes match the hash"* ]]
    run -0 gufo verify m.gguf "$(tr a-f A-F <<<"${sum%% *}")"
    cp m.gguf other-00001-of-00002.gguf
    run -0 gufo verify other-00001-of-00002.gguf "${sum%% *}"
    run -2 gufo verify --key=k.pub m.gguf "${sum%% *}"
    damage m.gguf
    run -1 gufo verify m.gguf
    run -1 gufo verify m.gguf "${sum%% *}"
    has differs
}

@test "verify: a pipe beside a shard is not waited for" {
    make_gguf m-00001-of-00002.gguf kv general.architecture string llama
    sha256sum m-00001-of-00002.gguf >manifest
    sed 's/00001/00002/' manifest >>manifest
    mkfifo m-00002-of-00002.gguf
    run -3 timeout 20 "$GUFO" verify m-00001-of-00002.gguf manifest
    has 'm-00002-of-00002.gguf: not a regular file'
}

@test "verify: a pipe in the place of a manifest or a signature that nobody named is not waited for" {
    make_verified
    mkfifo m.gguf.manifest manifest.minisig
    run -3 --separate-stderr timeout 20 "$GUFO" verify m.gguf
    same_error 'gufo: m.gguf.manifest: not a regular file'
    gufo sign --generate k --no-password >/dev/null || skip 'built without libsodium'
    run -3 --separate-stderr timeout 20 "$GUFO" verify --key k.pub m.gguf
    same_error 'gufo: m.gguf.manifest: not a regular file'
    run -3 --separate-stderr timeout 20 "$GUFO" verify --key k.pub manifest
    same_error 'gufo: manifest.minisig: not a regular file'
    rm m.gguf.manifest
    mkfifo named
    (cat manifest >named) &
    run -0 gufo verify m.gguf named
}

@test "verify: what differs, is missing or is new" {
    make_verified
    sed -i '/out put/d' manifest
    damage m.gguf
    run -1 gufo verify m.gguf manifest
    same 'new      out put
differs  all data together  (xxh64)
m.gguf: 1 tensor as in the manifest, 1 new; all data together differs  (xxh64)'
    echo 'xxh64     8be2aab20fbed7f9  m.gguf:out put' >>manifest
    echo 'xxh64     8be2aab20fbed7f9  m.gguf:gone' >>manifest
    run -1 gufo verify m.gguf manifest
    same 'differs  out put  (xxh64)
missing  gone
differs  all data together  (xxh64)
m.gguf: 1 tensor as in the manifest, 1 differ, 1 missing; all data together differs  (xxh64)'
    run -1 gufo verify -q m.gguf manifest
    same ''
    run -1 gufo verify --json m.gguf manifest
    same '{"path":"m.gguf","manifest":"manifest","results":[{"tensor":"out put","verdict":"differs","algorithms":["xxh64"]},{"tensor":"gone","verdict":"missing"},{"tensor":null,"verdict":"differs","algorithms":["xxh64"]}],"file":"m.gguf","algorithms":["xxh64"],"tensors":{"same":1,"differs":1,"missing":1,"new":0},"all_data":"differs","agrees":false}'
}

@test "verify: every algorithm of a manifest" {
    make_verified
    gufo hash --all m.gguf >manifest 2>/dev/null || skip "built without libcrypto"
    run -0 gufo verify m.gguf manifest
    has '(xxh64, sha1, sha256, blake2b, uuid)'
    for algorithm in xxh64 sha1 sha256 blake2b uuid; do
        # One digit of one line is another one.
        awk -v a="$algorithm" '$1 == a { line = NR } { all[NR] = $0 } END {
            for (i = 1; i <= NR; i++) {
                if (i == line) {
                    c = substr(all[i], 12, 1)
                    all[i] = substr(all[i], 1, 11) (c == "0" ? "1" : "0") substr(all[i], 13)
                }
                print all[i]
            }
        }' manifest >other
        run -1 gufo verify m.gguf other
        has "differs  all data together  ($algorithm)"
    done
}

@test "verify: a set against the manifest of the whole" {
    make_shards s
    make_whole s
    gufo hash whole.gguf >manifest || skip "built without xxHash"
    run -0 gufo verify s-00001-of-00002.gguf manifest
    has '2 tensors as in the manifest'
    has 'all data together is the same'
}

@test "verify: several files in one manifest" {
    make_verified
    make_gguf n.gguf tensor a 24 4 4
    gufo hash n.gguf m.gguf >both
    run -0 gufo verify m.gguf both
    run -0 gufo verify n.gguf both
    mkdir d && cp m.gguf d
    run -0 gufo verify d/m.gguf both
    cp m.gguf o.gguf
    run -1 --separate-stderr gufo verify o.gguf both
    same_error 'gufo: both: the manifest is about several files, and none is named "o.gguf"'
    run -1 --separate-stderr gufo verify --json o.gguf both
    has '"results":[],"error":"the manifest is about several files, and none is named \"o.gguf\""}'
}

@test "verify: bad manifests and wrong usage" {
    make_verified
    echo 'md5 00 m.gguf' >>manifest
    run -3 --separate-stderr gufo verify m.gguf manifest
    same_error 'gufo: manifest: byte 120: line 4: "md5" is not an algorithm; a line is ALGORITHM HASH NAME, with xxh64, sha1, sha256, blake2b or uuid'
    : >empty
    run -3 --separate-stderr gufo verify m.gguf empty
    same_error 'gufo: empty: byte 0: this manifest has no line with a hash'
    run -3 gufo verify m.gguf m.gguf
    run -3 gufo verify m.gguf nothing
    run -2 gufo verify
    run -2 --separate-stderr gufo verify m.gguf
    same_error "gufo: no MANIFEST is given, and m.gguf.manifest does not exist (see gufo help verify)"
    run -2 gufo verify m.gguf manifest manifest
    run -2 gufo verify --signature x m.gguf manifest
}

@test "verify: files of sha256sum, about all bytes" {
    make_verified
    command -v sha256sum || skip 'no sha256sum'
    gufo hash --sha256 m.gguf >/dev/null || skip 'built without libcrypto'
    sha256sum m.gguf >gnu
    sha256sum --binary m.gguf >binary
    sha256sum --tag m.gguf >bsd
    sha256sum <m.gguf >nameless
    cut -d ' ' -f 1 gnu >bare
    sed 's/$/\r/; 1s/^/# a comment\n\n/' gnu >windows
    for sums in gnu binary bsd nameless bare windows; do
        run -0 --separate-stderr gufo verify m.gguf $sums
        same 'm.gguf: all bytes match the manifest  (sha256)'
    done
    run -0 bash -c '"$GUFO" verify m.gguf - <gnu'
    run -0 gufo verify -q m.gguf gnu
    same ''
    cp m.gguf renamed.gguf
    run -0 gufo verify renamed.gguf gnu
    cat manifest gnu >both
    run -0 gufo verify m.gguf both
    [ "${#lines[@]}" -eq 2 ]
    # Metadata and padding count, and nothing has to open.
    printf x | dd of=m.gguf bs=1 seek=30 conv=notrunc status=none
    for sums in gnu binary bsd nameless bare windows; do
        run -1 --separate-stderr gufo verify m.gguf $sums
        [ "${lines[0]}" = 'm.gguf: differs from the manifest  (sha256)' ]
    done
    run -1 gufo verify --json m.gguf gnu
    same '{"path":"m.gguf","manifest":"gnu","files":[{"file":"m.gguf","verdict":"differs","algorithms":["sha256"]}],"agrees":false}'
    echo text >m.gguf
    run -1 gufo verify m.gguf gnu
    run -3 gufo verify missing.gguf gnu
    run -2 bash -c '"$GUFO" verify - gnu <m.gguf'
}

@test "verify: names in files of sha256sum" {
    make_verified
    command -v sha256sum || skip 'no sha256sum'
    gufo hash --sha256 m.gguf >/dev/null || skip 'built without libcrypto'
    local strange=$'a\nb\\c (x) = y.gguf'
    mkdir d && cp m.gguf "$strange" && cp m.gguf ' two  spaces.gguf' && cp m.gguf d/
    printf x >d/other.gguf
    sha256sum "$strange" ' two  spaces.gguf' d/m.gguf d/other.gguf >gnu
    sha256sum --tag "$strange" ' two  spaces.gguf' d/m.gguf d/other.gguf >bsd
    for sums in gnu bsd; do
        run -0 gufo verify "$strange" $sums
        run -0 gufo verify ' two  spaces.gguf' $sums
        run -0 gufo verify m.gguf $sums
        run -0 gufo verify d/m.gguf $sums
        run -1 gufo verify manifest $sums
        same 'manifest: not in the manifest'
    done
    { sha256sum d/m.gguf; sha256sum m.gguf | sed 's/  /  e\//'; } >ambiguous
    run -1 --separate-stderr gufo verify m.gguf ambiguous
    same_error 'gufo: ambiguous: lines 1 and 2 are about several files named "m.gguf"'
    { sha256sum m.gguf; sha256sum m.gguf | tr 0-9 9876543210; } >contradiction
    run -3 --separate-stderr gufo verify m.gguf contradiction
    same_error 'gufo: contradiction: lines 1 and 2 give different hashes for the same name'
    for line in 'SHA256 (m.gguf) = 12' 'SHA256 m.gguf' 'MD5 (m.gguf) = d41d8cd98f00b204e9800998ecf8427e' \
        'd41d8cd98f00b204e9800998ecf8427e  m.gguf'; do
        echo "$line" >broken
        run -3 gufo verify m.gguf broken
    done
}

@test "verify: every shard of a set in a file of sha256sum" {
    command -v sha256sum || skip 'no sha256sum'
    make_shards s
    sha256sum s-*.gguf >sums
    run -0 gufo verify s-00001-of-00002.gguf sums
    same 's-00001-of-00002.gguf: all bytes match the manifest  (sha256)
s-00002-of-00002.gguf: all bytes match the manifest  (sha256)'
    damage s-00002-of-00002.gguf
    run -1 gufo verify s-00001-of-00002.gguf sums
    [ "${lines[1]}" = 's-00002-of-00002.gguf: differs from the manifest  (sha256)' ]
    run -0 gufo verify --single s-00001-of-00002.gguf sums
    sed -i 2d sums
    run -1 gufo verify s-00001-of-00002.gguf sums
    [ "${lines[1]}" = 's-00002-of-00002.gguf: not in the manifest' ]
}

@test "verify: a manifest alone is about all files that it names" {
    make_verified
    command -v sha256sum || skip 'no sha256sum'
    gufo hash --sha256 m.gguf >/dev/null || skip 'built without libcrypto'
    mkdir d && cp m.gguf 'd/b:c d.gguf' && echo text >notes
    sha256sum notes m.gguf 'd/b:c d.gguf' >sums
    sha1sum m.gguf >>sums
    run -0 --separate-stderr gufo verify sums
    same 'notes: all bytes match the manifest  (sha256)
m.gguf: all bytes match the manifest  (sha1, sha256)
d/b:c d.gguf: all bytes match the manifest  (sha256)'
    run -0 bash -c '"$GUFO" verify - <sums'
    [ "${#lines[@]}" -eq 3 ]
    # Lines of gufo hash are about tensors, whose names may have colons, too.
    gufo hash --xxh64 m.gguf 'd/b:c d.gguf' >hashes
    run -0 gufo verify hashes
    same 'm.gguf: 2 tensors as in the manifest; all data together is the same  (xxh64)
d/b:c d.gguf: 2 tensors as in the manifest; all data together is the same  (xxh64)'
    cat hashes sums >both
    run -0 gufo verify both
    [ "${#lines[@]}" -eq 5 ]
    # All are checked, whatever becomes of the first ones.
    damage m.gguf
    run -1 gufo verify hashes
    [ "${lines[0]}" = 'differs  out put  (xxh64)' ]
    has 'd/b:c d.gguf: 2 tensors as in the manifest'
    run -1 gufo verify --json sums
    same '{"path":"sums","manifest":"sums","files":[{"file":"notes","verdict":"same","algorithms":["sha256"]},{"file":"m.gguf","verdict":"differs","algorithms":["sha1","sha256"]},{"file":"d/b:c d.gguf","verdict":"same","algorithms":["sha256"]}],"agrees":false}'
    rm notes
    run -3 --separate-stderr gufo verify sums
    same_error 'gufo: notes: cannot open: No such file or directory'
    [ "${#lines[@]}" -eq 2 ]
    (cd d && run -3 gufo verify ../hashes)
    sha256sum <m.gguf >nameless
    run -2 --separate-stderr gufo verify nameless
    same_error 'gufo: nameless: hashes without a name: give FILE before the manifest'
    run -3 --separate-stderr gufo verify d/missing
    [[ "$stderr" == 'gufo: d/missing: No such file or directory' ]]
}
