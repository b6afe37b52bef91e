#!/usr/bin/env bats
# gufo fetch: right bytes or an error, whatever the server, the disk or a signal does.

# bats sets stderr.
# shellcheck disable=SC2154

load common
load ../remote/server

needs() {
    command -v python3 >/dev/null || skip "no python3"
}

teardown() {
    stop_server
}

# random_file FILE BYTES: the same bytes every time, and none of them in blocks of zeros.
random_file() {
    python3 -c 'import random, sys
open(sys.argv[1], "wb").write(random.Random(sys.argv[1]).randbytes(int(sys.argv[2])))' "$1" "$2"
}

# serve [OPTION...]: the folder files.
serve() {
    mkdir -p files
    start_server files "$@"
}

# interrupted ADDRESS OUT [SIZE]: fetches until half a MiB and more is recorded, or the record has SIZE bytes, and is
# killed a little later.
interrupted() {
    "$GUFO" fetch -q "$1" "$2" & # a function would be another process
    local process=$! try
    for ((try = 0; try < 200; try++)); do
        if [ -e "$2.part.fetch" ] && [ "$(stat -c %s "$2.part.fetch")" -ge "${3:-240}" ]; then
            break
        fi
        sleep 0.05
    done
    sleep 0.2
    kill -KILL "$process"
    wait "$process" 2>/dev/null || true
    [ -e "$2.part" ]
}

# nothing_of OUT: neither the file nor what a download leaves.
nothing_of() {
    [ ! -e "$1" ] && [ ! -e "$1.part" ] && [ ! -e "$1.part.fetch" ]
}

@test "fetch: a file, under the name of its address, in a folder, and under another name" {
    serve
    random_file files/some.bin 3000000
    run -0 --separate-stderr gufo fetch "$SERVER/ok/some.bin?secret=1"
    same 'some.bin: 3.00 MB, no SHA-256 is known'
    same_error ''
    cmp files/some.bin some.bin
    mkdir folder
    run -0 gufo fetch -q "$SERVER/ok/some.bin" folder
    same ''
    run -0 gufo fetch -q "$SERVER/ok/some.bin" -o other.bin
    cmp files/some.bin folder/some.bin
    cmp files/some.bin other.bin
    nothing_of other.bin.part
}

@test "fetch: a file that exists is not touched without --force" {
    serve
    random_file files/some.bin 100000
    echo old >some.bin
    run -2 --separate-stderr gufo fetch "$SERVER/ok/some.bin"
    same_error 'gufo: some.bin: target exists already (--force replaces it)'
    [ "$(cat some.bin)" = old ]
    [ -z "$(requests "r['path']")" ]
    run -0 gufo fetch -q --force "$SERVER/ok/some.bin"
    cmp files/some.bin some.bin
}

@test "fetch: small and empty files take one request" {
    serve
    printf '{}' >files/config.json
    : >files/empty.json
    run -0 gufo fetch -q "$SERVER/ok/config.json"
    [ "$(cat config.json)" = '{}' ]
    run -0 gufo fetch -q "$SERVER/ok/empty.json"
    [ -e empty.json ] && [ ! -s empty.json ]
    [ "$(requests "r['path']" | wc -l)" -eq 2 ]
}

@test "fetch: JSON says what was fetched" {
    serve
    random_file files/some.bin 2000
    hash=$(sha256sum files/some.bin | cut -d ' ' -f 1)
    run -0 --separate-stderr gufo fetch --json --sha256="$hash" "$SERVER/ok/some.bin?secret=1" out.bin
    same "{\"file\":\"out.bin\",\"address\":\"$SERVER/ok/some.bin\",\"size\":2000,\"kept\":0,\"restarted\":false,\"sha256\":\"$hash\"}"
}

# Each fault, and the exit status: 0 is the right bytes.  No fault leaves a target that is something else.
@test "fetch: whatever a server does, the bytes are right or there are none" {
    serve
    random_file files/some.bin 3000000
    while read -r fault status; do
        run "-$status" --separate-stderr timeout 60 "$GUFO" fetch -q "$SERVER/$fault/some.bin" out.bin
        if [ "$status" -eq 0 ]; then
            cmp files/some.bin out.bin
        else
            [ ! -e out.bin ]
            [ "${#stderr_lines[@]}" -eq 1 ]
        fi
        rm -f out.bin out.bin.part out.bin.part.fetch
    done <<'FAULTS'
ok 0
norange 0
short-1000000 0
reset-1200000 0
503x2 0
429x2 0
429 3
500 3
403 3
404 3
etag-changes-after-1 3
replaced-after-1 3
total-changes 3
total-unknown 0
total-huge 3
longer 3
wrong-range 3
multipart 3
gzip 3
416 3
html-200 3
chunked 0
no-etag 0
weak-etag 0
no-validators 0
no-etag/short-1200000 3
norange/no-validators/reset-2000000 3
norange/short-2000000 3
redirects-5 0
redirects-6 3
redirect-loop 3
redirect-relative 0
redirect-other-host 0
redirect-scheme 3
redirect-none 3
many-headers 3
disposition 0
FAULTS
}

@test "fetch: random faults give the right bytes or an error" {
    serve
    random_file files/some.bin 1500000
    for ((seed = 0; seed < ${GUFO_TEST_SEEDS:-25}; seed++)); do
        run --separate-stderr timeout 60 "$GUFO" fetch -q "$SERVER/random-$seed/some.bin" out.bin
        if [ "$status" -eq 0 ]; then
            cmp files/some.bin out.bin
        else
            [ "$status" -eq 3 ]
            [ ! -e out.bin ]
        fi
        rm -f out.bin out.bin.part out.bin.part.fetch
    done
}

# bats test_tags=plain
@test "fetch: a server that says nothing more is given up" {
    serve
    random_file files/some.bin 3000000
    run -3 --separate-stderr timeout 35 "$GUFO" fetch -q "$SERVER/stall-1500000/some.bin" out.bin
    [ ! -e out.bin ]
}

@test "fetch: names come from the address, never from an answer" {
    serve
    random_file files/some.bin 1000
    run -0 gufo fetch -q "$SERVER/disposition/some.bin"
    run -0 gufo fetch -q "$SERVER/redirect-relative/some.bin" folder-or-file
    [ "$(find . -type f -not -path './files/*' | sort | tr '\n' ' ')" = './folder-or-file ./some.bin ' ]
    for name in '' .hidden '..' '%2e%2e%2fsome.bin' 'a%0ab' 'a%00b' '%ff'; do
        run -2 --separate-stderr gufo fetch "$SERVER/ok/$name" || { echo "$name: $stderr" && return 1; }
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
    [ "$(find . -type f -not -path './files/*' | wc -l)" -eq 2 ]
}

@test "fetch: a file that is not a model ends the download after its first MiB" {
    serve
    { printf 'GGUF\3\0\0\0\1\0\0\0\0\0\0\0\377\377\377\377\377\377\377\177' && cat /dev/zero; } | head -c 20000000 >files/bad.gguf
    cp files/bad.gguf files/bad.bin
    echo '<!DOCTYPE html><html>' >files/page.gguf
    run -3 --separate-stderr gufo fetch -q "$SERVER/ok/bad.gguf"
    nothing_of bad.gguf
    [ "$(requests "r['headers']['range']")" = 'bytes=0-1048575' ]
    run -3 --separate-stderr gufo fetch -q "$SERVER/ok/page.gguf"
    [[ "$stderr" == *'an HTML page'* ]]
    nothing_of page.gguf
    run -0 gufo fetch -q "$SERVER/ok/bad.bin"
}

@test "fetch: a model whose header is longer than its first MiB is checked in the end" {
    serve
    python3 -c 'import struct, sys
sys.stdout.buffer.write(struct.pack("<4sIQQQ1sIIQ", b"GGUF", 3, 0, 1, 1, b"l", 9, 10, 200000) + bytes(1600000))' >files/long.gguf
    run -0 gufo fetch -q "$SERVER/ok/long.gguf"
    cmp files/long.gguf long.gguf
    head -c 1500000 files/long.gguf >files/cut.gguf
    run -3 --separate-stderr gufo fetch -q "$SERVER/ok/cut.gguf"
    nothing_of cut.gguf
}

@test "fetch: a hash that differs is status 1, and nothing is left" {
    serve
    random_file files/some.bin 3000000
    hash=$(sha256sum files/some.bin | cut -d ' ' -f 1)
    run -0 gufo fetch "$SERVER/ok/some.bin" --sha256="${hash^^}"
    same 'some.bin: 3.00 MB, the SHA-256 agrees'
    rm some.bin
    run -1 --separate-stderr gufo fetch -q "$SERVER/ok/some.bin" --sha256="${hash//[0-9]/a}"
    [[ "$stderr" == *"SHA-256 $hash"* ]]
    nothing_of some.bin
    run -2 gufo fetch -q "$SERVER/ok/some.bin" --sha256=abc
    # Other bytes than the server says they are.
    run -1 --separate-stderr gufo fetch -q "$SERVER/lying-range/some.bin" --sha256="$hash" --connections=1 || [ "$status" -eq 3 ]
    [ ! -e some.bin ]
}

@test "fetch: manifests, of files and of tensors" {
    serve
    make_model files/m.gguf
    (cd files && sha256sum m.gguf >../sums && "$GUFO" hash m.gguf >../tensors)
    for manifest in sums tensors; do
        run -0 gufo fetch -q "$SERVER/ok/m.gguf" --manifest="$manifest"
        rm m.gguf
        sed 's/[0-9a-f]\{8\}  /00000000  /' "$manifest" >wrong
        run -1 --separate-stderr gufo fetch -q "$SERVER/ok/m.gguf" --manifest=wrong
        nothing_of m.gguf
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
    echo 'no manifest' >wrong
    run -3 gufo fetch -q "$SERVER/ok/m.gguf" --manifest=wrong
    run -3 gufo fetch -q "$SERVER/ok/m.gguf" --manifest=missing
    nothing_of m.gguf
}

# bats test_tags=plain
@test "fetch: killed at any moment, the same command goes on" {
    run -0 timeout 250 python3 "$BATS_TEST_DIRNAME/../remote/fetch_kills.py" "$GUFO" \
        --kills "${GUFO_TEST_KILLS:-6}" --size "${GUFO_TEST_KILLS_SIZE:-20000000}"
}

@test "fetch: a file that was replaced meanwhile is never mixed with the old one" {
    serve
    for prefix in ok no-etag no-validators weak-etag norange; do
        random_file files/some.bin 6000000
        touch -d '2024-01-01 00:00:00' files/some.bin
        interrupted "$SERVER/slow-2000000/$prefix/some.bin" out.bin 120
        random_file files/other 6000000
        mv files/other files/some.bin
        touch -d '2024-01-01 00:00:00' files/some.bin
        run -0 --separate-stderr gufo fetch "$SERVER/slow-2000000/$prefix/some.bin" out.bin
        [ "$prefix" != ok ] || [[ "$stderr" == *'another one than an interrupted download had begun with'* ]]
        cmp files/some.bin out.bin
        nothing_of out.bin.part
        rm out.bin
    done
}

@test "fetch: with the same ETag an interrupted download goes on" {
    serve
    random_file files/some.bin 6000000
    interrupted "$SERVER/slow-2000000/some.bin" out.bin
    forget_requests
    run -0 --separate-stderr gufo fetch --json "$SERVER/slow-2000000/some.bin" out.bin
    cmp files/some.bin out.bin
    [[ "$output" != *'"kept":0,'* ]]
    [ "$(requests "r['sent']" | paste -sd+ | bc)" -lt 5600000 ]
    nothing_of out.bin.part
}

@test "fetch: an address with another secret is the same one, and no secret is kept" {
    serve
    random_file files/some.bin 6000000
    interrupted "$SERVER/slow-2000000/some.bin?sig=hush1" out.bin
    run -1 grep -c hush out.bin.part.fetch
    run -0 --separate-stderr gufo fetch --json "$SERVER/slow-2000000/some.bin?sig=hush2" out.bin
    [[ "$output$stderr" != *hush* ]]
    [[ "$output" != *'"kept":0,'* ]]
    run -3 --separate-stderr gufo fetch "$SERVER/404/some.bin?sig=hush3" other.bin
    [[ "$output$stderr" != *hush* ]]
}

@test "fetch: what another download has left is replaced only with --force" {
    serve
    random_file files/some.bin 6000000
    random_file files/other.bin 6000000
    interrupted "$SERVER/slow-2000000/some.bin" out.bin
    run -2 --separate-stderr gufo fetch "$SERVER/ok/other.bin" out.bin
    [[ "$stderr" == *'another address'*'--force'* ]]
    run -0 gufo fetch -q --force "$SERVER/ok/other.bin" out.bin
    cmp files/other.bin out.bin
}

@test "fetch: files that are not its own are neither used nor replaced" {
    serve
    random_file files/some.bin 3000000
    echo precious >precious
    ln -s precious out.bin.part
    run -2 --separate-stderr gufo fetch "$SERVER/ok/some.bin" out.bin
    run -2 --separate-stderr gufo fetch --force "$SERVER/ok/some.bin" out.bin
    rm out.bin.part
    ln precious out.bin.part
    run -2 --separate-stderr gufo fetch --force "$SERVER/ok/some.bin" out.bin
    rm out.bin.part
    ln -s precious out.bin.part.fetch
    run ! gufo fetch --force "$SERVER/ok/some.bin" out.bin
    rm out.bin.part.fetch
    echo mine >out.bin.part
    run -2 --separate-stderr gufo fetch "$SERVER/ok/some.bin" out.bin
    [ "$(cat out.bin.part)" = mine ]
    rm out.bin.part
    echo 'not a journal' >out.bin.part.fetch
    run -2 --separate-stderr gufo fetch "$SERVER/ok/some.bin" out.bin
    [ "$(cat precious)" = precious ]
    [ ! -e out.bin ]
}

@test "fetch: without room nothing is left" {
    serve
    random_file files/some.bin 3000000
    run -3 --separate-stderr bash -c 'ulimit -f 1000; "$0" fetch -q "$1" out.bin' "$GUFO" "$SERVER/ok/some.bin"
    [[ "$stderr" == *'cannot reserve 3,000,000 bytes'* ]]
    nothing_of out.bin
    run -3 --separate-stderr gufo fetch -q "$SERVER/ok/some.bin" nowhere/out.bin
    [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "fetch: Ctrl-C ends it soon, and the same command goes on" {
    serve
    random_file files/some.bin 6000000
    "$GUFO" fetch "$SERVER/slow-1000000/some.bin?hidden" out.bin 2>err &
    process=$!
    for ((try = 0; try < 200; try++)); do
        [ ! -e out.bin.part.fetch ] || [ "$(stat -c %s out.bin.part.fetch)" -lt 240 ] || break
        sleep 0.05
    done
    kill -TERM "$process" # a background process of a shell ignores SIGINT
    wait "$process" || code=$?
    [ "$code" -eq 4 ]
    grep -F "$SERVER/slow-1000000/some.bin: interrupted; the same command goes on from there" err
    [ -e out.bin.part ] && [ ! -e out.bin ]
    run -0 --separate-stderr gufo fetch --json "$SERVER/slow-1000000/some.bin" out.bin
    [[ "$output" != *'"kept":0,'* ]]
    cmp files/some.bin out.bin
}

@test "fetch: two at once do not disturb each other" {
    serve
    random_file files/some.bin 6000000
    "$GUFO" fetch -q "$SERVER/slow-1000000/some.bin" out.bin &
    process=$!
    for ((try = 0; try < 200; try++)); do
        [ ! -e out.bin.part ] || break
        sleep 0.05
    done
    run -3 --separate-stderr gufo fetch "$SERVER/slow-1000000/some.bin" out.bin
    [[ "$stderr" == *'another process'* ]]
    wait "$process"
    cmp files/some.bin out.bin
}

# hugging_face: files/org/repo and what else is in files, as Hugging Face has it.
hugging_face() {
    serve
    export HF_ENDPOINT=$SERVER/hf HF_TOKEN=good-token HF_HUB_CACHE=$PWD/hub
    mkdir -p hub
}

# No host but the endpoint's sees the token.
check_token() {
    [ "$(requests "r['headers'].get('authorization')" | sort -u | tr '\n' ' ')" = 'Bearer good-token None ' ]
    [ -z "$(requests "r['path'] if ('authorization' in r['headers']) != r['path'].startswith('/hf/') else ''" | grep .)" ]
}

@test "fetch: Hugging Face says the hash, and the host behind it does not see the token" {
    mkdir -p files/org/repo files/expiring/repo files/gated/repo
    make_model files/org/repo/m.gguf
    random_file files/expiring/repo/big.gguf 9000000
    { printf 'GGUF\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' && cat files/expiring/repo/big.gguf; } >files/big
    mv files/big files/expiring/repo/big.gguf
    cp files/org/repo/m.gguf files/gated/repo
    hugging_face
    run -0 --separate-stderr gufo fetch hf://org/repo/m.gguf
    [[ "$output" == 'm.gguf: '*', the SHA-256 agrees' ]]
    cmp files/org/repo/m.gguf m.gguf
    run -0 --separate-stderr gufo fetch -q hf://expiring/repo/big.gguf
    cmp files/expiring/repo/big.gguf big.gguf
    check_token
    run -1 --separate-stderr gufo fetch -q hf://org/repo/m.gguf --sha256="$(printf 'a%.0s' {1..64})" other.gguf
    nothing_of other.gguf
    unset HF_TOKEN
    export HF_HUB_DISABLE_IMPLICIT_TOKEN=1
    run -3 --separate-stderr gufo fetch -q hf://gated/repo/m.gguf gated.gguf
    [[ "$stderr" == *gated* ]]
    run -3 --separate-stderr gufo fetch -q hf://org/repo/missing.gguf
    nothing_of missing.gguf
}

@test "fetch: a set of Hugging Face, whole or not at all" {
    mkdir -p files/org/repo
    make_shards files/org/repo/s
    hugging_face
    mkdir out
    run -0 --separate-stderr gufo fetch hf://org/repo/s-00001-of-00002.gguf out
    [ "${#lines[@]}" -eq 2 ]
    run -0 gufo validate -q --level structure out/s-00001-of-00002.gguf
    run -2 --separate-stderr gufo fetch hf://org/repo/s-00001-of-00002.gguf out
    run -2 --separate-stderr gufo fetch hf://org/repo/s-00001-of-00002.gguf whole.gguf
    [[ "$stderr" == *'begins a set of 2 files'* ]]
    run -0 gufo fetch -q --single hf://org/repo/s-00001-of-00002.gguf one.gguf
    cmp files/org/repo/s-00001-of-00002.gguf one.gguf
    rm files/org/repo/s-00002-of-00002.gguf
    run -3 gufo fetch -q hf://org/repo/s-00001-of-00002.gguf t-00001-of-00002.gguf
    [ ! -e t-00001-of-00002.gguf ]
}

@test "fetch: into the cache of Hugging Face, where its programs and gufo find it" {
    mkdir -p files/org/repo/sub
    make_shards files/org/repo/sub/s
    printf '{}' >files/org/repo/config.json
    hugging_face
    repository=hub/models--org--repo commit=0123456789abcdef0123456789abcdef01234567
    run -0 --separate-stderr gufo fetch --into-cache hf://org/repo/sub/s-00001-of-00002.gguf
    [[ "$output" == *"$repository/snapshots/$commit/sub/s-00002-of-00002.gguf: "* ]]
    [ "$(cat $repository/refs/main)" = "$commit" ]
    for file in sub/s-00001-of-00002.gguf sub/s-00002-of-00002.gguf; do
        [ "$(readlink $repository/snapshots/$commit/$file)" = "../../../blobs/$(sha256sum <files/org/repo/$file | cut -d ' ' -f 1)" ]
        cmp files/org/repo/$file $repository/snapshots/$commit/$file
    done
    run -0 gufo fetch -q --into-cache hf://org/repo/config.json
    [ "$(readlink $repository/snapshots/$commit/config.json)" = ../../blobs/9e26dfeeb6e641a33dae4961196235bdb965b21b ]
    [ "$(find hub -name '*.part*' | wc -l)" -eq 0 ]
    # From there without asking anybody.
    forget_requests
    run -0 --separate-stderr env HF_HUB_OFFLINE=1 "$GUFO" fetch hf://org/repo/sub/s-00001-of-00002.gguf .
    [ -z "$(requests "r['path']")" ]
    cmp files/org/repo/sub/s-00002-of-00002.gguf s-00002-of-00002.gguf
    run -2 gufo fetch --into-cache hf://org/repo/config.json out.json
    run -2 gufo fetch --into-cache "$SERVER/ok/org/repo/config.json"
}

@test "fetch: a blob that another program makes is left to it" {
    mkdir -p files/org/repo
    make_model files/org/repo/m.gguf
    hugging_face
    hash=$(sha256sum <files/org/repo/m.gguf | cut -d ' ' -f 1)
    mkdir -p hub/.locks/models--org--repo
    run -3 --separate-stderr flock "hub/.locks/models--org--repo/$hash.lock" "$GUFO" fetch --into-cache hf://org/repo/m.gguf
    [[ "$stderr" == *'another program'* ]]
    run -0 gufo fetch -q --into-cache hf://org/repo/m.gguf
}

@test "fetch: no message has a secret of an address" {
    for address in 'https://user:hidden@127.0.0.1/a.bin' 'https://127.0.0.1:1/a.bin?hidden' 'https://127.0.0.1:1/?hidden' \
        'https://a b/a.bin?hidden' $'https://a\tb/a.bin?hidden' 'https://127.0.0.1:1/%00?hidden' \
        'http://a.invalid/a.bin?hidden' \
        "https://127.0.0.1:1/a.bin?$(printf 'a%.0s' {1..9000})hidden"; do
        code=0
        "$GUFO" fetch "$address" >out 2>&1 || code=$?
        [ "$code" -eq 2 ] || [ "$code" -eq 3 ]
        if grep hidden out; then
            return 1
        fi
    done
}

@test "fetch: a list of files that goes on at another host is not followed" {
    mkdir -p files/org/repo
    for name in a-Q4_0.gguf b.txt c.txt d-Q8_0.gguf; do
        make_model "files/org/repo/$name"
    done
    hugging_face
    run -0 gufo fetch -q hf://org/repo:Q8_0
    forget_requests
    export HF_ENDPOINT=$SERVER/link-other-host/hf
    run -3 --separate-stderr gufo fetch -q hf://org/repo:Q8_0 other.gguf
    [[ "$stderr" == *'the list of files goes on at "'*'", another place, which is not asked' ]]
    [ "$(requests "r['port']" | sort -u | wc -l)" -eq 1 ]
}

@test "fetch: a branch that gets another file meanwhile leaves no blob under a name that is not its own" {
    mkdir -p files/org/repo
    make_model files/org/repo/m.gguf
    hugging_face
    export HF_ENDPOINT=$SERVER/linked-etag-lies-1/hf
    run -1 --separate-stderr gufo fetch -q --into-cache hf://org/repo/m.gguf
    [ "$(find hub -path '*blobs/*' | wc -l)" -eq 0 ]
    run -0 gufo fetch -q --into-cache hf://org/repo/m.gguf
    [ "$(find hub -path '*blobs/*' | wc -l)" -eq 1 ]
}
