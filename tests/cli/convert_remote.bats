#!/usr/bin/env bats
# gufo convert of a folder on a server: the same file as from disk, and no copy of the source on this one.  Which bytes are
# fetched is in tests/remote/test_remote_folders.c.

# bats sets stderr.
# shellcheck disable=SC2154,SC2030,SC2031

load common
load ../remote/server

needs() {
    command -v python3 >/dev/null || skip "python3 is missing"
    unset HF_HUB_CACHE HF_HOME HF_TOKEN HF_ENDPOINT
    export HOME=$PWD XDG_CACHE_HOME=$PWD/cache
}

teardown() {
    stop_server
}

@test "convert: a folder of a web server, and a repository" {
    mkdir -p data/org/tiny
    "$GUFO_TEST_BIN/make_checkpoint" data/org/tiny
    gufo convert -q data/org/tiny local.gguf Q8_0
    start_server data
    run -0 --separate-stderr gufo convert -q "$SERVER/ok/org/tiny" remote.gguf Q8_0
    cmp local.gguf remote.gguf
    # Each file is fetched once; that it has not changed meanwhile is one byte more.
    [ -z "$(requests 'r["path"] if r["sent"] > 1 else ""' | grep . | sort | uniq -d)" ]
    HF_ENDPOINT=$SERVER/hf run -0 --separate-stderr gufo convert -q hf://org/tiny hub.gguf F16
    # Called as a repository, as one in the cache is.
    mkdir -p hub/models--org--tiny/snapshots/0123456789abcdef0123456789abcdef01234567
    cp data/org/tiny/* hub/models--org--tiny/snapshots/0123456789abcdef0123456789abcdef01234567
    gufo convert -q hub/models--org--tiny/snapshots/* cached.gguf F16
    cmp hub.gguf cached.gguf
    [ -z "$(find . -name '*.safetensors' -not -path './data/*' -not -path './hub/*')" ]
}

@test "convert: an address without a model, and a server that fails" {
    mkdir -p data/empty data/org/tiny
    "$GUFO_TEST_BIN/make_checkpoint" data/org/tiny
    start_server data
    run -3 --separate-stderr gufo convert -q "$SERVER/ok/empty" out.gguf F16
    [[ $stderr == *'the server has no file of a model in this folder, such as config.json' ]]
    run -2 --separate-stderr gufo convert -q "$SERVER/ok/org/tiny?token=secret" out.gguf F16
    [[ $stderr != *secret* ]]
    [ ! -e out.gguf ]
    stop_server
    run -3 --separate-stderr gufo convert -q "$SERVER/ok/org/tiny" out.gguf F16
    [ ! -e out.gguf ]
}
