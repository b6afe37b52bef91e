#!/usr/bin/env bats
# gufo ollama: models into the store of Ollama, and out of it.  What manifests may be is in
# tests/remote/test_ollama_manifest.c.

# bats sets stderr.
# shellcheck disable=SC2154

load common

needs() {
    export OLLAMA_MODELS=$BATS_TEST_TMPDIR/folder/store
}

library=store/manifests/registry.ollama.ai/library

# Every manifest names blobs that are there and have the right bytes.
check_store() {
    local manifest digest
    [ -d store/manifests ] || return 0
    while read -r manifest; do
        while read -r digest; do
            [ "$(sha256sum <"store/blobs/sha256-$digest")" = "$digest  -" ] ||
                { echo "$manifest: $digest is missing or damaged"; return 1; }
        done < <(grep -oE 'sha256:[0-9a-f]{64}' "$manifest" | cut -d: -f2)
    done < <(find store/manifests -type f)
}

# layer NAME ROLE: the bytes of a layer of $library/NAME.
layer() {
    local digest
    digest=$(grep -oE "image\.$2\",\"digest\":\"sha256:[0-9a-f]{64}" "$library/$1" | tail -c 65 | head -n 1)
    cat "store/blobs/sha256-$digest"
}

make_parts() {
    make_gguf mmproj.gguf kv general.architecture string clip kv general.type string mmproj tensor v.a 0 8 32
    make_gguf lora.gguf kv general.architecture string llama kv general.type string adapter \
        kv adapter.type string lora tensor a.lora_a 0 8 32
}

@test "ollama: a file becomes a blob as it is" {
    make_model m.gguf
    run -0 --separate-stderr gufo ollama import m.gguf --name tiny:q4
    same_error ''
    has 'tiny:q4 is in '
    has "$(sha256sum <m.gguf | cut -d' ' -f1)"
    check_store
    layer tiny/q4 model | cmp - m.gguf
    run -1 grep -E 'image\.(template|system|params|license)' "$library/tiny/q4"
    run -0 cat "store/blobs/sha256-$(grep -oE 'v1\+json","digest":"sha256:[0-9a-f]{64}' "$library/tiny/q4" | tail -c 65)"
    same '{"model_format":"gguf","model_family":"llama","model_families":["llama"],"model_type":"640","file_type":"F32","architecture":"amd64","os":"linux"}'
}

@test "ollama: shards become one file, that of gufo merge" {
    make_shards s
    gufo merge -q s-00001-of-00002.gguf -o merged.gguf
    run -0 gufo ollama import --json s-00001-of-00002.gguf --name s
    same "{\"path\":\"$OLLAMA_MODELS\",\"name\":\"s\",\"layers\":[{\"role\":\"model\",\"size\":$(stat -c %s merged.gguf),\"kept\":false,\"digest\":\"$(sha256sum <merged.gguf | cut -d' ' -f1)\"}]}"
    layer s/latest model | cmp - merged.gguf
    check_store
    same_list 2 "$(find store/blobs -type f | wc -l)"
    run -3 --separate-stderr gufo ollama import s-00002-of-00002.gguf --name t
    [ ! -e "$library/t" ]
}

@test "ollama: a projector and an adapter beside the model, in any order" {
    make_model m.gguf
    make_parts
    run -0 gufo ollama import lora.gguf mmproj.gguf m.gguf --name see
    check_store
    run -0 grep -oE 'image\.[a-z]+' "$library/see/latest"
    same $'image.v\nimage.model\nimage.projector\nimage.adapter'
    run -0 gufo ollama export see --settings -
    has '"model_families":["llama","clip"]'
    mkdir out
    run -0 gufo ollama export see out/see.gguf
    cmp m.gguf out/see.gguf
    cmp mmproj.gguf out/mmproj-see.gguf
    cmp lora.gguf out/see-adapter.gguf
}

@test "ollama: what does not go together is refused" {
    make_model m.gguf
    make_parts
    run -2 --separate-stderr gufo ollama import mmproj.gguf --name x
    same_error 'gufo: a model is missing: a projector or an adapter alone is none'
    run -2 --separate-stderr gufo ollama import m.gguf m.gguf --name x
    same_error 'gufo: m.gguf: is a second model; a name has one, with projectors and adapters beside it'
    make_gguf other.gguf kv general.architecture string qwen3 tensor a 0 8 32
    run -2 --separate-stderr gufo ollama import other.gguf lora.gguf --name x
    same_error 'gufo: lora.gguf: is an adapter for the architecture "llama", and the model has "qwen3"'
    make_gguf vocabulary.gguf kv general.architecture string llama
    run -2 --separate-stderr gufo ollama import vocabulary.gguf --name x
    same_error 'gufo: vocabulary.gguf: is neither a model with tensors nor a projector nor an adapter'
    [ ! -e store ]
}

@test "ollama: parameters from keys, and given ones in their place" {
    make_gguf m.gguf kv general.architecture string llama kv general.sampling.temp float32 0.7 \
        kv general.sampling.top_k int32 40 kv general.sampling.min_p float32 inf \
        kv general.sampling.top_p float32 0.5 kv general.sampling.penalty_repeat string high \
        arr tokenizer.ggml.tokens string 3 a '</s>' '"<|eot|>"' kv tokenizer.ggml.eos_token_id uint32 1 \
        kv tokenizer.ggml.eot_token_id uint32 2 kv tokenizer.ggml.eom_token_id uint32 2 tensor a 0 8 32
    gufo ollama import -q m.gguf --name a
    run -0 layer a/latest params
    same '{"stop":["\"<|eot|>\"","</s>"],"temperature":0.7,"top_k":40,"top_p":0.5}'
    gufo ollama import -q m.gguf --name a --force --param stop=x --param stop='y"' --param temperature=1.5e0 \
        --param temperature=2 --param num_ctx=8192 --param use_mmap=false
    run -0 layer a/latest params
    same '{"num_ctx":8192,"stop":["x","y\""],"temperature":2,"top_k":40,"top_p":0.5,"use_mmap":false}'
    check_store
}

@test "ollama: parameters that are none, or of another kind" {
    make_model m.gguf
    refuses() {
        run -2 --separate-stderr gufo ollama import m.gguf --name x --param "$1"
        same_error "gufo: $2"
        [ ! -e store ]
    }
    refuses temprature=1 '"temprature" is not a parameter of Ollama; did you mean temperature?'
    refuses $'\e[2J=1' '"\u{1b}[2J" is not a parameter of Ollama, such as temperature, num_ctx or stop'
    refuses num_ctx=1.5 'parameter num_ctx needs a whole number, not "1.5"'
    refuses num_ctx= 'parameter num_ctx needs a whole number, not ""'
    refuses temperature=nan 'parameter temperature needs a number, not "nan"'
    refuses top_k=01 'parameter top_k needs a whole number, not "01"'
    refuses use_mmap=1 'parameter use_mmap needs true or false, not "1"'
    refuses stop= 'parameter stop needs a text, not ""'
    refuses num_ctx 'a parameter is NAME=VALUE, not "num_ctx"'
}

@test "ollama: texts beside the model, and out again as JSON" {
    make_model m.gguf
    printf '{{ .Prompt }}' >go
    printf 'MIT\n' >one
    printf 'Apache \e[2J' >two
    gufo ollama import -q m.gguf --name me/m:1 --template go --system 'Be "kind"' --license one --license two
    check_store
    run -0 --separate-stderr gufo ollama export me/m:1 --settings -
    [ "${output%%,\"config\"*}" = '{"name":"me/m:1","template":"{{ .Prompt }}","system":"Be \"kind\"","licenses":["MIT\n","Apache \u001b[2J"]' ]
    [ ! -e m-1.gguf ]
    run -0 gufo ollama export -q me/m:1 --settings m.json
    cmp m.gguf m-1.gguf
    grep -q '"system":"Be' m.json
    printf '{%% for m in messages %%}' >jinja
    run -2 --separate-stderr gufo ollama import m.gguf --name x --template jinja
    [[ $stderr == 'gufo: the template is one of Jinja, '* ]]
    printf '\xff' >bytes
    run -2 --separate-stderr gufo ollama import m.gguf --name x --license bytes
    same_error 'gufo: bytes: it is not text: UTF-8 without NUL bytes'
}

@test "ollama: a name that is taken, and blobs that are there" {
    make_model m.gguf
    gufo ollama import -q m.gguf --name a
    cp "$library/a/latest" before
    run -2 --separate-stderr gufo ollama import m.gguf --name a --system x
    [[ $stderr == *'/library/a/latest: a model of this name exists in the store (--force replaces it)' ]]
    cmp before "$library/a/latest"
    touch -d '2 days ago' store/blobs/*
    run -0 gufo ollama import --json m.gguf --name b
    has '"kept":true'
    # Ollama removes old blobs that no manifest names: one that is kept is new again.
    [ -z "$(find store/blobs -name "sha256-$(sha256sum <m.gguf | cut -d' ' -f1)" -mmin +60)" ]
    # One with other bytes, of the same size, is not kept.
    blob=store/blobs/sha256-$(sha256sum <m.gguf | cut -d' ' -f1)
    printf X | dd of="$blob" bs=1 seek=100 conv=notrunc status=none
    run -0 gufo ollama import --json m.gguf --name c
    has '"kept":false'
    cmp m.gguf "$blob"
    # Nor is one that was cut short.
    truncate -s 100 "$blob"
    run -0 gufo ollama import --json m.gguf --name d
    has '"kept":false'
    cmp m.gguf "$blob"
    check_store
}

@test "ollama: names are checked before they are paths" {
    make_model m.gguf
    for name in '' ../x a/../../b .x 'a b' 'a\b' a:.. a/b/c/d $'a\e[2J' https://h/a/b; do
        run -2 --separate-stderr gufo ollama import m.gguf --name "$name"
        [[ $stderr == *'is not a name of Ollama'* ]]
        [ "${#stderr_lines[@]}" -eq 1 ]
        run -2 --separate-stderr gufo ollama export "$name"
        [[ $stderr == *'is not a name of Ollama'* ]]
    done
    [ ! -e store ]
    gufo ollama import -q m.gguf --name localhost:5000/me/m:1
    [ -f store/manifests/localhost:5000/me/m/1 ]
    run -0 gufo ollama export -q localhost:5000/me/m:1
    cmp m.gguf m-1.gguf
}

@test "ollama: where the store is" {
    make_model m.gguf
    gufo ollama import -q m.gguf --name a --store other
    [ -f other/manifests/registry.ollama.ai/library/a/latest ]
    unset OLLAMA_MODELS
    HOME=$PWD/home gufo ollama import -q m.gguf --name a
    [ -f home/.ollama/models/manifests/registry.ollama.ai/library/a/latest ]
    run -3 --separate-stderr env -u HOME "$GUFO" ollama import m.gguf --name a
    same_error 'gufo: the store of Ollama is not known: give --store, or set OLLAMA_MODELS'
    echo x >file
    run -3 --separate-stderr gufo ollama import m.gguf --name a --store file
    [[ $stderr == 'gufo: file/'* ]]
}

@test "ollama: wrong usage" {
    make_model m.gguf
    for arguments in "" "import" "import m.gguf" "import - --name a" "import m.gguf --name a -o x" "export" \
        "export a b c" "export a -" "export a b -o c" "export a --system x" "exprt a"; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr gufo ollama $arguments
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
    [ ! -e store ]
}

@test "ollama export: a link, and files that exist" {
    make_model m.gguf
    make_model n.gguf
    gufo ollama import -q m.gguf --name a
    run -0 gufo ollama export --json a out.gguf --link
    has '"linked":true'
    same_list 2 "$(stat -c %h out.gguf)"
    run -2 --separate-stderr gufo ollama export a n.gguf --link
    same_error 'gufo: n.gguf: target exists already (--force replaces it)'
    run -2 --separate-stderr gufo ollama export a n.gguf
    same_error 'gufo: n.gguf: target exists already (--force replaces it)'
    run -0 gufo ollama export -q a n.gguf --link --force
    same_list 3 "$(stat -c %h n.gguf)"
    # Onto itself, which is a second name of the blob.
    run -0 gufo ollama export -q a n.gguf --link --force
    same_list 3 "$(stat -c %h n.gguf)"
    run -2 --separate-stderr gufo ollama export a n.gguf --force
    [[ $stderr == *'the output is the input; it would be lost' ]]
    run -3 --separate-stderr gufo ollama export a missing/n.gguf
    [[ $stderr == 'gufo: missing/n.gguf: the folder for it does not exist'* ]]
    [ -z "$(find . -name '.gufo-*')" ]
}

@test "ollama export: damaged and hostile stores" {
    local blob
    make_model m.gguf
    gufo ollama import -q m.gguf --name a
    blob=store/blobs/sha256-$(sha256sum <m.gguf | cut -d' ' -f1)
    run -3 --separate-stderr gufo ollama export nope
    [[ $stderr == *'no model "nope:latest" is in this store of Ollama' ]]
    printf x | dd of="$blob" bs=1 seek=200 conv=notrunc status=none
    run -3 --separate-stderr gufo ollama export a
    [[ $stderr == *"$blob: the blob is damaged: the SHA-256 of its bytes is "* ]]
    [ ! -e a-latest.gguf ]
    truncate -s 100 "$blob"
    run -3 --separate-stderr gufo ollama export a
    [[ $stderr == *"$blob: the blob has 100 bytes, and the manifest says "* ]]
    rm "$blob"
    run -3 --separate-stderr gufo ollama export a
    [[ $stderr == *"$blob: cannot open: No such file or directory" ]]
    mkfifo "$blob"
    run -3 --separate-stderr gufo ollama export a
    [[ $stderr == *"$blob: is not a regular file" ]]
    for text in '' '{}' '[1' '{"layers":[{"mediaType":"application/vnd.ollama.image.model","size":1,"digest":"sha256:../../../m.gguf"}]}'; do
        echo "$text" >"$library/a/latest"
        run -3 --separate-stderr gufo ollama export a
        [[ $stderr == *"$library/a/latest: "* ]]
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
    printf '{"layers":[{"mediaType":"application/vnd.ollama.image.tensor","size":1,"digest":"sha256:%064d","name":"t"}]}' 0 >"$library/a/latest"
    run -3 --separate-stderr gufo ollama export a
    same_error 'gufo: a: its tensors are files of their own, as safetensors has them: it has no GGUF file'
    [ ! -e a-latest.gguf ]
}

@test "ollama export: params that are not JSON" {
    make_model m.gguf
    gufo ollama import -q m.gguf --name a --param stop=x
    params=$(printf '{"a":\e}')
    digest=$(printf '%s' "$params" | sha256sum | cut -d' ' -f1)
    printf '%s' "$params" >"store/blobs/sha256-$digest"
    sed -i -E "s/(image\.params\",\"digest\":\"sha256:)[0-9a-f]{64}\",\"size\":[0-9]+/\1$digest\",\"size\":${#params}/" "$library/a/latest"
    run -3 --separate-stderr gufo ollama export a --settings -
    same ''
    [[ $stderr == *"sha256-$digest: byte 5: "* ]]
}

# bats test_tags=plain
@test "ollama: an end at any moment leaves no manifest without its blobs" {
    local kill
    make_gguf m.gguf nopad kv general.architecture string llama tensor a.weight 0 4096x2048 0
    truncate -s "+$((4096 * 2048 * 4))" m.gguf
    gufo split -q --max-tensors=1 m.gguf s 2>/dev/null || true
    for ((kill = 1; kill <= ${GUFO_KILLS:-20}; kill++)); do
        rm -rf store
        "$GUFO" ollama import m.gguf --name a >/dev/null 2>&1 &
        job=$!
        sleep "0.$(printf '%03d' $((kill * 5)))"
        kill -9 "$job" 2>/dev/null || true
        wait "$job" 2>/dev/null || true
        check_store
        [ ! -e "$library/a/latest" ] || [ "$(layer a/latest model | sha256sum)" = "$(sha256sum <m.gguf)" ]
    done
    gufo ollama import -q m.gguf --name a --force
    check_store
}

# bats test_tags=plain
@test "ollama: Ctrl-C leaves nothing but the store's folders" {
    make_large
    set -m
    "$GUFO" ollama import large.gguf --name a >/dev/null 2>stderr &
    job=$!
    for ((i = 0; i < 1000; i++)); do
        [ -z "$(find store/blobs -name '.gufo-*' 2>/dev/null)" ] || break
        sleep 0.01
    done
    kill -s INT "$job"
    status=0
    wait "$job" || status=$?
    [ "$status" -eq 4 ]
    [ "$(cat stderr)" = 'gufo: a: interrupted; nothing was imported' ]
    [ -z "$(find store -type f)" ]
}

@test "ollama: a manifest that names one large blob many times takes no memory" {
    local digest layers
    make_model m.gguf
    gufo ollama import -q m.gguf --name a
    head -c 5000000 /dev/zero | tr '\0' '\001' >large
    digest=$(sha256sum <large | cut -d' ' -f1)
    mv large "store/blobs/sha256-$digest"
    layers=
    for _ in 1 2 3 4; do
        layers+=,'{"mediaType":"application/vnd.ollama.image.license","digest":"sha256:'$digest'","size":5000000}'
    done
    sed -i "s|]}\$|$layers]}|" "$library/a/latest"
    run -3 --separate-stderr gufo ollama export a --settings -
    [[ "$stderr" == *'its settings have 20,000'*' bytes, more than 16,777,216'* ]]
}
