#!/usr/bin/env bats
# gufo ls

# bats sets stderr; some commands are for another shell.
# shellcheck disable=SC2154,SC2016,SC2030,SC2031

load common

# No cache of the user who runs the tests.
clean_home() {
    unset HF_HUB_CACHE HUGGINGFACE_HUB_CACHE HF_HOME XDG_CACHE_HOME LLAMA_CACHE
    mkdir -p home
    export HOME=$PWD/home TZ=UTC OLLAMA_MODELS=$PWD/home/none
}

# small FILE NAME SIZE: a model with SIZE x 10 parameters.
small() {
    make_gguf "$1" kv general.architecture string "${4:-llama}" kv general.name string "$2" \
        kv "${4:-llama}.context_length" uint32 "$((1024 * $3))" tensor a.weight 0 "10x$3" "$((40 * $3))"
    TZ=UTC touch -d "2026-03-0$3 12:00" "$1"
}

# names ARGUMENT...: the first column, without its head.
names() {
    gufo ls "$@" 2>/dev/null | sed '1d; s/  .*//'
}

@test "ls: one line a model" {
    export TZ=UTC
    mkdir in
    small b.gguf Bee 1 qwen2
    small a.GGUF Ant 2
    small in/c.gguf Cat 3
    touch notes.txt
    run -0 gufo ls
    same 'name    arch   params  quant       size  context        date
a.GGUF  llama      20  F32    288 bytes    2,048  2026-03-02
b.gguf  qwen2      10  F32    256 bytes    1,024  2026-03-01'
    same_list "$(names .)" "$(names)"
    same_list $'./a.GGUF\n./b.gguf' "$(names ./)"
    same_list $'a.GGUF\nb.gguf\nin/c.gguf' "$(names -r)"
    same_list $'b.gguf\nin/c.gguf' "$(names in b.gguf)"
    run -0 gufo show in
    has 'in/c.gguf  llama'
    run -0 gufo show in --json
    [[ "$output" == '{"path":"in/c.gguf","schema_version":1,'* ]]
}

@test "ls: sorted" {
    small m1.gguf One 3
    small m2.gguf Two 1
    small m3.gguf Three 2
    same_list $'m1.gguf\nm2.gguf\nm3.gguf' "$(names)"
    for order in size parameters context date; do
        same_list $'m1.gguf\nm3.gguf\nm2.gguf' "$(names --sort=$order)"
    done
    run -2 gufo ls --sort=colour
}

@test "ls --json: a line per model" {
    small m.gguf $'\xc3\xa9 "x"' 1
    run -0 gufo ls --json
    same '{"path":"m.gguf","schema_version":1,"shard_count":1,"name":"é \"x\"","architecture":"llama","parameters":10,"quantization":"F32","size":256,"context_length":1024,"date":"2026-03-01T12:00:00Z"}'
}

@test "ls: a shard set is one model" {
    make_shards m
    size=$(($(stat -c %s m-00001-of-00002.gguf) + $(stat -c %s m-00002-of-00002.gguf)))
    run -0 gufo ls --json
    [ "${#lines[@]}" -eq 1 ]
    has "{\"path\":\"m-00001-of-00002.gguf\",\"schema_version\":1,\"shard_count\":2,\"name\":null,\"architecture\":\"llama\",\"parameters\":24,\"quantization\":\"F32\",\"size\":$size,"
    run -0 gufo ls --json m-00001-of-00002.gguf
    has '"parameters":24'
    run -0 gufo ls --json m-0000*
    [ "${#lines[@]}" -eq 2 ]
    # An argument that is a later shard is just that file.
    run -0 gufo ls --json m-00002-of-00002.gguf
    has '"shard_count":1,'
    has '"parameters":16'
    # Sets of other counts and names are others.
    cp m-00001-of-00002.gguf m-00001-of-00003.gguf
    cp m-00002-of-00002.gguf n-00002-of-00002.gguf
    run -3 --separate-stderr gufo ls
    [ "${#lines[@]}" -eq 4 ]
    [[ "$stderr" == *'gufo: m-00002-of-00003.gguf: No such file or directory'* ]]
    [[ "$stderr" == *'gufo: n-00001-of-00002.gguf: No such file or directory'* ]]
}

@test "ls: broken files are marked, with what can be read of them" {
    small good.gguf Good 1
    make_gguf half.gguf kv general.architecture string llama tensor a 0 8 32 cut -10
    echo '<html>' >page.gguf
    : >empty.gguf
    ln -s nowhere dangling.gguf
    run -3 --separate-stderr gufo ls
    [[ "$(tr -s ' ' <<<"${lines[1]}")" == 'dangling.gguf - - - - - broken -' ]]
    [[ "$(tr -s ' ' <<<"${lines[2]}")" == 'empty.gguf - - - 0 bytes - broken '* ]]
    [[ "$(tr -s ' ' <<<"${lines[3]}")" == 'good.gguf llama 10 F32 256 bytes 1,024 2026-03-01' ]]
    [[ "$(tr -s ' ' <<<"${lines[4]}")" == 'half.gguf llama 8 F32 '*' broken '* ]]
    [[ "$(tr -s ' ' <<<"${lines[5]}")" == 'page.gguf - - - '*' broken '* ]]
    [[ "$stderr" == *'gufo: dangling.gguf: No such file or directory'* ]]
    [[ "$stderr" == *'gufo: half.gguf: byte '* ]]
    [[ "$stderr" == *'gufo: page.gguf: byte 0: not a GGUF file: it is an HTML page'* ]]
    run -3 --separate-stderr gufo ls --json
    same_error ''
    [ "${#lines[@]}" -eq 5 ]
    has '"broken":{"offset":null,"message":"No such file or directory"}'
    has '"broken":{"offset":0,"message":"not a GGUF file'
    run -0 gufo ls good.gguf
}

@test "ls: names are shortened in the middle where a terminal is narrow, and nowhere else" {
    need_terminal
    mkdir -p a-folder-with-a-rather-long-name/and-another-one
    long=a-folder-with-a-rather-long-name/and-another-one/$(printf 'x%.0s' {1..100})-Q4_K_M.gguf
    small "$long" M 1
    NO_COLOR=1 run -0 on_terminal "$GUFO" ls -r
    for line in "${lines[@]}"; do
        line=${line%$'\r'}
        [ "${#line}" -le 80 ] || { printf '%s: %d columns\n' "$line" "${#line}"; return 1; }
    done
    has 'a-f'
    has '.gguf  llama'
    run -0 gufo ls -r
    has "$long  llama"
}

@test "ls: nothing there, and nothing to read" {
    run -1 --separate-stderr gufo ls
    same ''
    same_error 'gufo: warning: no model was found; -r searches subfolders, too'
    run -1 gufo ls --json -q
    same ''
    run -3 --separate-stderr gufo ls missing
    same_error 'gufo: missing: No such file or directory'
    small m.gguf M 1
    run -3 --separate-stderr gufo ls missing .
    has m.gguf
}

@test "ls: links and hard links to one file are one model" {
    mkdir a b
    small a/m.gguf M 1
    ln -s ../a/m.gguf b/link.gguf
    ln a/m.gguf b/hard.gguf
    same_list 'a/m.gguf' "$(names -r)"
    same_list './a/m.gguf' "$(names a/m.gguf a/m.gguf ./a)"
    same_list 'b/hard.gguf' "$(names b)"
}

@test "ls: hostile folders" {
    small m.gguf $'\e[31m\nred' 1
    cp m.gguf $'\e[2Jevil\n.gguf'
    mkfifo pipe.gguf
    mkdir folder.gguf
    ln -s . loop
    ln -s loop2 loop2
    ln -s /dev/zero zero.gguf
    mkdir -p "$(printf 'd/%.0s' {1..70})"
    run -3 --separate-stderr gufo ls -r
    [ "${#lines[@]}" -eq 3 ]
    has '\u{1b}[2Jevil\n.gguf  llama'
    lacks $'\e'
    [[ "$stderr" == 'gufo: d/'*': folders are nested too deep; this one is left out' ]]
    rm -r d
    run -0 gufo ls -r
    # A pipe is not opened as an argument either.
    run -3 --separate-stderr timeout 10 "$GUFO" ls pipe.gguf zero.gguf
    [[ "$stderr" == *'gufo: pipe.gguf: not a regular file'* ]]
    [[ "$stderr" == *'gufo: zero.gguf: not a regular file'* ]]
    make_gguf bad.gguf kv general.architecture string $'\xff\x1b[31m\xc3\xa9' kv k uint8 1
    run -0 gufo ls bad.gguf
    has 'bad.gguf  ??[31m??'
}

@test "ls: a folder that may not be read" {
    [ "$(id -u)" -ne 0 ] || skip "root reads everything"
    mkdir closed
    small m.gguf M 1
    chmod 0 closed
    run -3 --separate-stderr gufo ls -r
    chmod 700 closed
    has m.gguf
    same_error 'gufo: closed: Permission denied'
}

# bats test_tags=plain
@test "ls: thousands of models, some of them broken" {
    small m.gguf M 1
    mkdir many
    # shellcheck disable=SC2046
    head -c 100 m.gguf | tee $(seq -f "many/%.0f.gguf" 1000 2999) >/dev/null
    tee $(seq -f "many/%.0f.gguf" 1000 1049) <m.gguf >/dev/null
    for threads in 1 8; do
        run -3 --separate-stderr gufo ls --threads $threads many
        [ "${#lines[@]}" -eq 2001 ]
        [ "$(grep -c broken <<<"$output")" -eq 1950 ]
        [[ "${lines[1]}" == 'many/1000.gguf  llama '* ]]
    done
    run -3 gufo ls --json many
    [ "${#lines[@]}" -eq 2000 ]
}

# bats test_tags=plain
@test "ls --json: docs/json.md has every member" {
    python3 -c 'import jsonschema' 2>/dev/null || skip "jsonschema for python3 is missing"
    clean_home
    mkdir -p store/blobs
    printf -v digest '%064d' 1
    small "store/blobs/sha256-$digest" A 1
    manifest store/manifests/h/n/m/t "model:sha256:$digest"
    make_shards m
    rm m-00002-of-00002.gguf
    make_gguf bad.gguf kv general.architecture string '\xff' kv k uint8 1
    : >empty.gguf
    export OLLAMA_MODELS=$PWD/store
    run -3 --separate-stderr gufo ls --json --caches .
    [ "${#lines[@]}" -eq 4 ]
    run -0 python3 "$BATS_TEST_DIRNAME/check_schema.py" "$BATS_TEST_DIRNAME/../../docs/json.md" 'gufo ls' <<<"$output"
    same '4 lines agree'
}

@test "ls: only headers are read" {
    make_gguf m.gguf kv general.architecture string llama tensor w 1 1024x1024x51200 0
    truncate -s 100G m.gguf || skip "no file of 100 GB"
    truncate -s "+$(($(gufo show --lenient --json m.gguf | grep -o '"data_offset":[0-9]*' | cut -d: -f2)))" m.gguf
    run -0 timeout 10 "$GUFO" ls --json
    has '"parameters":53687091200,"quantization":"F16",'
}

# ---- caches ----

@test "ls --caches: Hugging Face, by its variables" {
    clean_home
    hub=home/.cache/huggingface/hub/models--owl--egg
    mkdir -p $hub/blobs $hub/snapshots/1/sub $hub/snapshots/2
    small $hub/blobs/abcdef M 1
    make_shards m
    mv m-00001-of-00002.gguf $hub/blobs/s1
    mv m-00002-of-00002.gguf $hub/blobs/s2
    for revision in 1 2; do
        ln -s ../../blobs/abcdef $hub/snapshots/$revision/egg.gguf
        for n in 1 2; do
            ln -s ../../blobs/s$n $hub/snapshots/$revision/m-0000$n-of-00002.gguf
        done
    done
    run -0 gufo ls --caches --json
    [ "${#lines[@]}" -eq 2 ]
    [[ "${lines[0]}" == "{\"path\":\"$HOME/.cache/huggingface/hub/models--owl--egg/snapshots/1/egg.gguf\",\"schema_version\":1,\"cache\":\"huggingface\",\"shard_count\":1,"* ]]
    [[ "${lines[1]}" == *'/snapshots/1/m-00001-of-00002.gguf",'*'"shard_count":2,'*'"parameters":24,'* ]]
    mkdir -p xdg/huggingface hf
    cp -r home/.cache/huggingface/hub xdg/huggingface/hub
    rm -r home/.cache
    run -1 gufo ls --caches
    XDG_CACHE_HOME=$PWD/xdg run -0 gufo ls --caches
    has "$PWD/xdg/huggingface/hub"
    mv xdg/huggingface/hub hf/hub
    XDG_CACHE_HOME=$PWD/xdg HF_HOME=$PWD/hf run -0 gufo ls --caches
    has "$PWD/hf/hub"
    for variable in HF_HUB_CACHE HUGGINGFACE_HUB_CACHE; do
        run -0 env $variable="$PWD/hf/hub" HF_HOME="$PWD/none" "$GUFO" ls --caches
        has "$PWD/hf/hub"
        run -1 env $variable="$PWD/none" HF_HOME="$PWD/hf" "$GUFO" ls --caches
    done
}

@test "ls --caches: llama.cpp and LM Studio" {
    clean_home
    mkdir -p home/.cache/llama.cpp home/.cache/lm-studio/models/a/b home/.lmstudio/models/a/b \
        home/Library/Caches/llama.cpp moved/models
    small home/.cache/llama.cpp/l.gguf L 1
    small home/Library/Caches/llama.cpp/mac.gguf L 1
    small home/.cache/lm-studio/models/a/b/old.gguf S 2
    small home/.lmstudio/models/a/b/new.gguf S 3
    small moved/models/m.gguf S 4
    run -0 gufo ls --caches --json
    [ "$(grep -o '"path":"[^"]*/\|"cache":"[^"]*"' <<<"$output" | sed "s|$HOME||" | sort | tr '\n' ' ')" = \
        '"cache":"llama.cpp" "cache":"llama.cpp" "cache":"lmstudio" "cache":"lmstudio" "path":"/.cache/llama.cpp/ "path":"/.cache/lm-studio/models/a/b/ "path":"/.lmstudio/models/a/b/ "path":"/Library/Caches/llama.cpp/ ' ]
    printf '%s\n' "$PWD/moved" >home/.lmstudio-home-pointer
    run -0 gufo ls --caches
    has "$PWD/moved/models/m.gguf"
    LLAMA_CACHE=$PWD/home/.cache/lm-studio run -0 gufo ls --caches
    lacks l.gguf
    # Arguments come on top, and this folder does not.
    small here.gguf H 5
    run -0 gufo ls --caches
    lacks here.gguf
    run -0 gufo ls --caches here.gguf
    has here.gguf
    has new.gguf
}

# manifest PATH LAYER...: each LAYER is TYPE:DIGEST.
manifest() {
    local layers="" layer
    mkdir -p "${1%/*}"
    for layer in "${@:2}"; do
        layers+=",{\"mediaType\":\"application/vnd.ollama.image.${layer%%:*}\",\"digest\":\"${layer#*:}\",\"size\":1}"
    done
    printf '{"schemaVersion":2,"mediaType":"application/vnd.docker.distribution.manifest.v2+json","config":{"mediaType":"application/vnd.docker.container.image.v1+json","digest":"sha256:%064d","size":5},"layers":[%s]}' \
        0 "${layers#,}" >"$1"
}

@test "ls --caches: Ollama, by the names of its manifests" {
    clean_home
    export OLLAMA_MODELS=$PWD/store
    mkdir -p store/blobs
    hosts=store/manifests
    for n in 1 2 3 4; do printf -v "d$n" '%064d' "$n"; done
    small "store/blobs/sha256-$d1" A 1
    small "store/blobs/sha256-$d2" P 2 clip
    small "store/blobs/sha256-$d4" Orphan 4
    echo text >"store/blobs/sha256-$d3"
    manifest $hosts/registry.ollama.ai/library/owl/3b "model:sha256:$d1" "projector:sha256:$d2" \
        "license:sha256:$d3"
    manifest $hosts/registry.ollama.ai/library/owl/latest "model:sha256:$d1"
    manifest $hosts/registry.ollama.ai/ann/egg/7b "model:sha256:$d1"
    manifest $hosts/hf.co/nest/egg-GGUF/Q4_K_M "model:sha256:$d1"
    run -0 gufo ls --caches
    same_list $'ann/egg:7b\nowl:3b projector' "$(names --caches)"
    run -0 gufo ls --caches --json
    has "{\"path\":\"$PWD/store/blobs/sha256-$d1\",\"schema_version\":1,\"cache\":\"ollama\",\"tag\":\"ann/egg:7b\","
    # What a manifest says is neither a path nor endless.
    manifest $hosts/registry.ollama.ai/library/bad/1 'model:sha256:../../m' "model:sha256:${d1}0" "model:$d1"
    manifest $hosts/registry.ollama.ai/library/bad/2 "model:sha256:$(printf '%064d' 9)"
    printf '{"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:' >$hosts/cut
    truncate -s 2M $hosts/large
    mkfifo $hosts/pipe
    ln -s . $hosts/loop
    run -3 --separate-stderr gufo ls --caches
    [ "${#lines[@]}" -eq 4 ]
    has 'bad:2 '
    [[ "$stderr" == "gufo: $PWD/store/blobs/sha256-"*'9: No such file or directory' ]]
    # Blobs in a folder are models if they are GGUF files, and else nothing.
    run -0 gufo ls --json store/blobs
    [ "${#lines[@]}" -eq 3 ]
}

@test "ls --caches: no cache" {
    clean_home
    run -1 --separate-stderr gufo ls --caches
    [[ "$stderr" == *'no model was found'* ]]
}
