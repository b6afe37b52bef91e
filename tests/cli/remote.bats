#!/usr/bin/env bats
# Models elsewhere: FILE and DIR as addresses.

# bats sets stderr; some commands are for another shell.
# shellcheck disable=SC2154,SC2016,SC2030,SC2031

load common
load ../remote/server

needs() {
    gufo --version | grep -q '^with:.*libcurl' || skip "without libcurl"
}

# A model, and a repository that has it.
prepare() {
    unset HF_HUB_CACHE HUGGINGFACE_HUB_CACHE HF_HOME XDG_CACHE_HOME LLAMA_CACHE HF_TOKEN HF_HUB_OFFLINE OLLAMA_MODELS
    unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY MS_ENDPOINT
    mkdir -p home files/org/repo/sub files/gated/repo files/private/repo
    export HOME=$PWD/home
    "$GUFO_EXAMPLES/make_sample" files/m.gguf
    cp files/m.gguf files/org/repo/tiny-Q4_K_M.gguf
    cp files/m.gguf files/gated/repo/m.gguf
    cp files/m.gguf files/private/repo/m.gguf
    printf '# A model\n' >files/org/repo/README.md
    printf '{}\n' >files/org/repo/sub/config.json
}

teardown() {
    stop_server
}

serve() {
    prepare
    start_server files "$@"
    export HF_ENDPOINT=$SERVER/hf MS_ENDPOINT=$SERVER/ms
}

# as_here COMMAND...: the command on @, which stands for the file here and for each address, prints the same but for its
# name.
as_here() {
    local address here there
    here=$(gufo "${@//@/files/m.gguf}" | sed 's|files/m.gguf|@|g')
    [ -n "$here" ]
    for address in "$SERVER/ok/m.gguf" hf://org/repo/tiny-Q4_K_M.gguf org/repo:q4_k_m hf://org/repo@main/tiny-Q4_K_M.gguf \
        ms://org/repo/tiny-Q4_K_M.gguf; do
        there=$(gufo "${@//@/$address}" | sed "s|$address|@|g")
        [ "$here" = "$there" ] || {
            printf 'gufo %s of %s:\n' "$*" "$address"
            diff <(echo "$here") <(echo "$there")
            return 1
        }
    done
}

@test "remote: commands print of an address what they print of the file" {
    serve
    as_here show --no-pager @
    as_here show --json @
    as_here get @ general.architecture
    as_here get @ tokenizer.ggml.tokens
    as_here validate @
    as_here validate --data --json @
    as_here stats @
    as_here stats --json @ blk.0.attn_q.weight
    as_here hash @
    as_here tokenize @ "Hello world"
    as_here vocab @
    as_here estimate --json --host 8G @
    run -0 gufo diff files/m.gguf "$SERVER/ok/m.gguf"
    run -0 gufo diff --values org/repo:Q4_K_M files/m.gguf
}

@test "remote: outputs made of an address are those of the file" {
    serve
    gufo quantize files/m.gguf here.gguf Q8_0
    gufo quantize hf://org/repo/tiny-Q4_K_M.gguf there.gguf Q8_0
    cmp here.gguf there.gguf
    gufo quantize "$SERVER/ok/m.gguf?signature=secret" query.gguf Q8_0
    cmp here.gguf query.gguf
    gufo extract files/m.gguf blk.0.attn_q.weight -o here.npy
    gufo extract org/repo:Q4_K_M blk.0.attn_q.weight -o there.npy
    cmp here.npy there.npy
    gufo split hf://org/repo/tiny-Q4_K_M.gguf parts --max-tensors 10
    run -0 gufo diff files/m.gguf parts-00001-of-00003.gguf
}

@test "remote: a set of shards is one model" {
    serve
    gufo split files/m.gguf files/org/repo/set-F16 --max-tensors 10
    as=$(gufo hash files/org/repo/set-F16-00001-of-00003.gguf | cut -c1-28)
    for address in hf://org/repo/set-F16-00001-of-00003.gguf org/repo:F16 \
        "$SERVER/ok/org/repo/set-F16-00001-of-00003.gguf" "$SERVER/ok/org/repo/set-F16-00001-of-00003.gguf?a=b"; do
        [ "$(gufo hash "$address" | cut -c1-28)" = "$as" ]
    done
    run -0 gufo validate org/repo:F16
    [[ $output == *"valid"* ]]
    run -0 --separate-stderr gufo show --no-pager --single hf://org/repo/set-F16-00001-of-00003.gguf
    [[ $output == *"Tensors (10)"* ]]
    rm files/org/repo/set-F16-00002-of-00003.gguf
    run -3 gufo stats org/repo:F16
    [[ $output == *"set-F16-00002-of-00003.gguf"* ]]
}

@test "remote: a repository lists its files" {
    serve --page 2
    mkdir proc
    printf 'MemTotal: 2000000 kB\nMemAvailable: 2000000 kB\n' >proc/meminfo
    truncate -s 3M files/org/repo/set-BF16-0000{1,2}-of-00002.gguf
    GUFO_ROOT=$PWD run -0 gufo ls hf://org/repo
    same 'file                          shards  type        size  fits
README.md                             text    10 bytes  -
set-BF16-00001-of-00002.gguf       2  BF16     6.29 MB  yes
sub/config.json                       JSON     3 bytes  -
tiny-Q4_K_M.gguf                      Q4_K_M    248 KB  yes'
    listed=$output
    for address in hf.co/org/repo hf://org/repo/ hf://models/org/repo@main; do
        GUFO_ROOT=$PWD run -0 gufo show --no-pager "$address"
        same "$listed"
    done
    printf 'MemTotal: 700000 kB\nMemAvailable: 700000 kB\n' >proc/meminfo
    GUFO_ROOT=$PWD run -0 gufo ls --json hf://org/repo
    [[ $output == *'"file":"set-BF16-00001-of-00002.gguf","shard_count":2,"type":"BF16","size":6291456,"fits":true}'* ]]
    printf 'MemTotal: 3000 kB\nMemAvailable: 3000 kB\n' >proc/meminfo
    GUFO_ROOT=$PWD run -0 gufo ls --json hf://org/repo
    [[ $output == *'"file":"set-BF16-00001-of-00002.gguf","shard_count":2,"type":"BF16","size":6291456,"fits":false}'* ]]
    run -0 gufo ls hf://org/repo/sub/
    [[ $output != *README* && $output == *sub/config.json* ]]
    run -0 gufo ls "$SERVER/ok/m.gguf"
    [[ $output == *$'\nm.gguf'* ]]
    run -3 gufo get hf://org/repo general.name
    [[ $output == *"names a repository"*"'gufo ls' lists them"* ]]
}

@test "remote: refusals say what helps" {
    serve
    rows=0
    while IFS='|' read -r address words; do
        run -3 gufo show --no-pager "${address//SERVER/$SERVER}"
        [[ $output == *"$words"* ]] || {
            echo "$address: $output"
            return 1
        }
        rows=$((rows + 1))
    done <<'END'
hf://gated/repo/m.gguf|accepted its conditions: do that at
hf://private/repo/m.gguf|set HF_TOKEN to a token
hf://org/none/m.gguf|there is no repository org/none
hf://org/repo/none.gguf|org/repo has no file none.gguf in revision main
hf://org/repo@v9/m.gguf|org/repo has no revision v9
org/repo:Q9_0|no GGUF file of type "Q9_0", but "tiny-Q4_K_M.gguf"
hf://org/none|there is no repository org/none
hf://../../etc/passwd|is not the name of a user or an organization
hf://org/repo/../../x.gguf|is not a path in a repository
SERVER/html-200/m.gguf|an HTML page: the download returned a web page, not the file; it came from 127.0.0.1
SERVER/404/m.gguf|404
http://example.org/m.gguf|--insecure-http allows it
https://user:secret@example.org/m.gguf|with a user or a password is refused
END
    [ "$rows" -eq 13 ]
}

@test "remote: a pointer of LFS suggests the address of the file" {
    serve
    mkdir -p files/raw/main
    printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 247744\n' 0 >files/raw/main/m.gguf
    run -3 gufo show "$SERVER/ok/raw/main/m.gguf"
    [[ $output == *"a Git LFS pointer"*"resolve/ in the place of raw/"* ]]
}

@test "remote: a token goes to its host alone" {
    serve
    HF_TOKEN=good-token run -0 gufo get hf://private/repo/m.gguf general.architecture
    same llama
    requests 'r["port"], r["headers"].get("authorization")' >asked
    grep -q good-token asked
    other=${OTHER##*:}
    run -1 grep "($other, .*good-token" asked
    # Other hosts, and what a login has saved.
    forget_requests
    mkdir -p home/.cache/huggingface
    printf 'good-token\n' >home/.cache/huggingface/token
    run -0 gufo get hf://private/repo/m.gguf general.architecture
    run -3 env HF_HUB_DISABLE_IMPLICIT_TOKEN=1 "$GUFO" get hf://private/repo/m.gguf general.architecture
    printf 'x' >home/other
    run -3 env HF_TOKEN_PATH="$HOME/other" "$GUFO" get hf://private/repo/m.gguf general.architecture
    forget_requests
    run -0 env HF_TOKEN=good-token HF_ENDPOINT=https://huggingface.co "$GUFO" get "$SERVER/ok/m.gguf" general.architecture
    run -1 grep -r good-token "$BATS_TEST_TMPDIR/requests.log"
}

@test "remote: caches of other programs come first, and offline they are all" {
    serve
    hub=home/.cache/huggingface/hub/models--org--cached
    commit=0123456789abcdef0123456789abcdef01234567
    mkdir -p "$hub/refs" "$hub/blobs" "$hub/snapshots/$commit" "$hub/.no_exist/$commit"
    printf %s "$commit" >"$hub/refs/main"
    cp files/m.gguf "$hub/blobs/aa"
    ln -s ../../blobs/aa "$hub/snapshots/$commit/m-Q4_K_M.gguf"
    : >"$hub/.no_exist/$commit/none.json"
    forget_requests
    run -0 --separate-stderr gufo -v get hf://org/cached/m-Q4_K_M.gguf general.architecture
    same llama
    [[ $stderr == *"read from the cache of huggingface: "*"$commit/m-Q4_K_M.gguf" ]]
    run -0 gufo get org/cached:Q4_K_M general.architecture
    [ ! -s "$BATS_TEST_TMPDIR/requests.log" ]
    for offline in --offline -q; do
        HF_HUB_OFFLINE=1 run -0 gufo $offline ls hf://org/cached
        [[ $output == *m-Q4_K_M.gguf* ]]
        HF_HUB_OFFLINE=1 run -3 gufo $offline get hf://org/repo/tiny-Q4_K_M.gguf general.architecture
        [[ $output == *"no cache of this machine"*"offline"* ]]
        HF_HUB_OFFLINE=1 run -3 gufo $offline get hf://org/cached/none.json general.architecture
        [[ $output == *"has no such file"* ]]
    done
    run -3 gufo --offline get "$SERVER/ok/m.gguf" general.architecture
    [ ! -s "$BATS_TEST_TMPDIR/requests.log" ]
    # Ollama.
    digest=$(sha256sum files/m.gguf | cut -d' ' -f1)
    mkdir -p store/blobs store/manifests/registry.ollama.ai/library/tiny
    cp files/m.gguf "store/blobs/sha256-$digest"
    printf '{"schemaVersion":2,"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:%s","size":%d}]}' \
        "$digest" "$(stat -c %s files/m.gguf)" >store/manifests/registry.ollama.ai/library/tiny/latest
    OLLAMA_MODELS=$PWD/store run -0 gufo --offline get ollama://tiny general.architecture
    same llama
    [ ! -s "$BATS_TEST_TMPDIR/requests.log" ]
}

@test "remote: paths that look like addresses are paths" {
    serve
    mkdir -p org
    cp files/m.gguf org/x:Q4_0
    run -0 gufo get org/x:Q4_0 general.architecture
    run -3 gufo get org/y:Q4_0 general.architecture
    [[ $output == *"No such file"* ]]
    mkdir -p hf.co/a
    cp files/m.gguf hf.co/a/b
    run -0 gufo get hf.co/a/b general.architecture
    [ ! -s "$BATS_TEST_TMPDIR/requests.log" ]
}

@test "remote: what is behind a question mark is never printed" {
    serve
    address="$SERVER/ok/m.gguf?signature=SECRET"
    for command in "show --no-pager" "show --json" validate "validate --json" stats "stats --json" hash "ls" "ls --json" \
        "estimate" "vocab" "get -v" "report -o r.html --force" "edit --set a=b" convert; do
        last=
        [ "$command" = "get -v" ] && last=general.name
        # shellcheck disable=SC2086
        gufo $command "$address" $last >out 2>&1 || true
        [ -s out ] || [ "$command" = "report -o r.html --force" ] || [ "$command" = convert ]
        if cat out r.html 2>/dev/null | grep SECRET >leaks; then
            echo "gufo $command: $(head -3 leaks)"
            return 1
        fi
    done
    run -3 gufo show "$SERVER/404/m.gguf?signature=SECRET"
    [[ $output != *SECRET* ]]
    run -1 grep -r SECRET home
}

@test "remote: a model elsewhere is not edited" {
    serve
    run -3 gufo edit hf://org/repo/tiny-Q4_K_M.gguf --set general.name=x
    [[ $output == *"cannot be edited"* ]]
}
