#!/usr/bin/env bats
# gufo edit: metadata.

# bats sets stderr and stderr_lines.
# shellcheck disable=SC2154

load common

# data FILE: the bytes of its tensors.
data() {
    tail -c 1920 "$1"
}

# value KEY: what the file has there.
value() {
    gufo get model.gguf "$1"
}

# type KEY: its type.
type_of() {
    gufo get --json model.gguf "$1" | sed 's/.*"type":"\([a-z0-9]*\)".*/\1/'
}

@test "a value is changed, and the tensor data stays" {
    make_model model.gguf
    cp model.gguf before.gguf
    run --separate-stderr gufo edit model.gguf --set general.name=Other
    [ "$status" -eq 0 ] && [ -z "$output" ] && [ -z "$stderr" ]
    [ "$(value general.name)" = Other ]
    cmp <(data model.gguf) <(data before.gguf)
    gufo validate --level structure -q model.gguf
    [ "$(ls -A)" = "$(printf 'before.gguf\nmodel.gguf')" ]
}

@test "new keys get a type by what they look like" {
    make_model model.gguf
    gufo edit model.gguf --set a.bool=true --set a.u32=7 --set a.i32=-7 --set a.u64=4294967296 \
        --set a.i64=-2147483649 --set a.f32=0.5 --set a.f32e=1e-5 --set a.string=hello \
        --set a.url=http://x --set a.big=18446744073709551615 --set a.plus=+5 --set a.empty=
    [ "$(for key in bool u32 i32 u64 i64 f32 f32e string url big plus empty; do
        type_of "a.$key"
    done | tr '\n' ' ')" = "bool uint32 int32 uint64 int64 float32 float32 string string uint64 string string " ]
    [ "$(value a.i64)" = -2147483649 ] && [ "$(value a.url)" = http://x ]
    [ "$(value a.big)" = 18446744073709551615 ]
}

@test "a type before the value counts, and an existing key keeps its own" {
    make_model model.gguf
    gufo edit model.gguf --set a.b=uint8:7 --set a.s=string:uint8:7 --set llama.context_length=9 \
        --set general.name=12
    [ "$(type_of a.b)" = uint8 ] && [ "$(value a.s)" = uint8:7 ]
    [ "$(type_of llama.context_length)" = uint32 ] && [ "$(value llama.context_length)" = 9 ]
    [ "$(type_of general.name)" = string ] && [ "$(value general.name)" = 12 ]
    gufo edit model.gguf --set llama.context_length=uint64:9
    [ "$(type_of llama.context_length)" = uint64 ]
    # Its place is the same.
    run gufo show --json model.gguf
    [[ "$output" == *'"llama.context_length"'*'"llama.block_count"'* ]]
}

@test "a value that does not fit is wrong usage, and nothing is touched" {
    make_model model.gguf
    cp model.gguf before.gguf
    for change in llama.context_length=-1 llama.context_length=x llama.context_length=4294967296 \
        a.b=uint8:256 a.b=int8:-129 a.b=float32:1e39 a.b=bool:1 tokenizer.ggml.tokens=5 \
        a.b=array:5 =5 nothing 'bad key=5' gufo.padding=x; do
        run --separate-stderr gufo edit model.gguf --set "$change"
        [ "$status" -eq 2 ] || { echo "$change: $status"; return 1; }
        [ "${#stderr_lines[@]}" -le 2 ]
    done
    cmp model.gguf before.gguf
}

@test "text, files and JSON" {
    make_model model.gguf
    printf 'line\nother\n' >text
    gufo edit model.gguf --set-string a.text=uint8:5 --set-file a.file=text \
        --set-json 'a.big=uint64:[18446744073709551615, 0]' \
        --set-json 'a.nested=int8:[[1],[],[-128,127]]' --set-json 'a.empty=string:[]' \
        --set-json 'a.tokens=string:["a\u00e9\ud83d\ude00\n", {"base64": "/w=="}]' \
        --set-json 'a.float=float32:[1.5, "nan", "-inf"]' --set-json 'a.bool=bool:[true,false]' \
        --set-json 'a.scalar=string:"x"'
    [ "$(value a.text)" = uint8:5 ]
    gufo get --raw model.gguf a.file | cmp - text
    [ "$(value a.big | tr '\n' ' ')" = "18446744073709551615 0 " ]
    run gufo get --json model.gguf a.nested
    has '"value":[{"type":"array","element_type":"int8","count":1,"value":[1]}'
    run gufo get --json model.gguf a.tokens
    has '"value":["aé😀\n",{"base64":"/w=="}]'
    run gufo get --json model.gguf a.float
    has '"value":[1.5,"nan","-inf"]'
    [ "$(type_of a.scalar)" = string ]
}

@test "a new key has the type of the registry, whatever the value looks like" {
    make_model model.gguf
    gufo edit model.gguf --set llama.rope.freq_base=500000 --set llama.expert_count=8 --set llama.expert_used_count=2 \
        --set tokenizer.ggml.add_bos_token=true --set general.name=12 --set general.version=3 \
        --set llama.attention.layer_norm_rms_epsilon=1e-5 --set general.base_model.0.version=2 \
        --set general.file_type=1 --set llama.attention.sliding_window=512
    [ "$(for key in llama.rope.freq_base llama.expert_count tokenizer.ggml.add_bos_token general.name \
        general.version llama.attention.layer_norm_rms_epsilon general.base_model.0.version; do
        type_of "$key"
    done | tr '\n' ' ')" = "float32 uint32 bool string string float32 string " ]
    [ "$(value llama.rope.freq_base)" = 500000 ] && [ "$(value general.version)" = 3 ]
    # What an edit set wrong before is set right.
    gufo edit -q --as-is model.gguf --set llama.rope.freq_base=uint32:500000
    [ "$(type_of llama.rope.freq_base)" = uint32 ]
    gufo edit model.gguf --set llama.rope.freq_base=500000
    [ "$(type_of llama.rope.freq_base)" = float32 ]
    # In a file of another architecture, too, and where that is set by the same edit.
    make_gguf other.gguf kv general.name string x
    gufo edit other.gguf -q --as-is --set general.architecture=qwen2 --set qwen2.rope.freq_base=7
    run gufo get --json other.gguf qwen2.rope.freq_base
    has '"type":"float32"'
}

@test "a value that does not fit the type of the registry is refused, and the type is named" {
    make_model model.gguf
    cp model.gguf before.gguf
    run --separate-stderr gufo edit model.gguf --set llama.rope.freq_base=much
    [ "$status" -eq 2 ]
    same_error "gufo: --set llama.rope.freq_base=much: not a value of type float32 (see gufo help edit)"
    run --separate-stderr gufo edit model.gguf --set tokenizer.ggml.add_bos_token=1
    [ "$status" -eq 2 ]
    [[ "$stderr" == *"not a value of type bool"* ]]
    run --separate-stderr gufo edit model.gguf --set llama.expert_count=5000000000
    [ "$status" -eq 2 ]
    [[ "$stderr" == *"not a value of type uint32"* ]]
    run --separate-stderr gufo edit model.gguf --set general.tags=chat
    [ "$status" -eq 2 ]
    same_error "gufo: --set general.tags=chat: the key takes array[string], as in general.tags=[...] with JSON (see gufo help edit)"
    cmp model.gguf before.gguf
}

# refused SUGGESTION CHANGE...: the edit is refused in one line, and nothing is touched.
refused() {
    local suggestion=$1
    shift
    run --separate-stderr gufo edit model.gguf "$@"
    [ "$status" -eq 2 ] && [ "${#stderr_lines[@]}" -eq 1 ] || {
        echo "$*: $status $stderr"
        return 1
    }
    [[ "$stderr" == "gufo: model.gguf: "*"$suggestion"*"(or use --as-is)" ]] || {
        echo "$*: $stderr"
        return 1
    }
    cmp model.gguf before.gguf
    gufo edit -q --as-is model.gguf -o - "$@" >as_is.gguf
    ! cmp -s as_is.gguf model.gguf
}

@test "keys that are nearly known ones are refused with the suggestion" {
    make_model model.gguf
    cp model.gguf before.gguf
    run --separate-stderr gufo edit model.gguf --set general.nmae=x
    [ "$status" -eq 2 ]
    same_error "gufo: model.gguf: key 'general.nmae' is not known; did you mean 'general.name'? (or use --as-is)"
    refused "did you mean 'llama.context_length'?" --set lama.context_length=5
    refused "key 'name' has no namespace; did you mean 'general.name'?" --set name=x
    refused "did you mean 'tokenizer.ggml.eos_token_id'?" --set eos=1
    refused "did you mean 'llama.context_length'?" --set context_length=5
    refused "key 'mine' has no namespace; begin it with the name of its owner, as in 'my_team.mine'" --set mine=1
    refused "key 'Bad-Key.X' is not written in lower-case letters and underscores; did you mean 'bad_key.x'?" \
        --set Bad-Key.X=1
    refused "did you mean 'llama.rope.freq_base'?" --set llama.rope.freqbase=5
    refused "did you mean 'tokenizer.ggml.eos_token_id'?" --set tokenizer.ggml.eos_token=5
    refused "did you mean 'llama.expert_count'?" --set qwen2.expert_count=5
    refused "did you mean 'general.license'?" --set-string general.licence=mit
    refused "did you mean 'general.name'?" --rename general.name=general.nam
    refused "did you mean 'llama.rope.scaling.factor'?" --set llama.rope.scale_linear=2
    # One that is there already may stay, and be changed and removed.
    gufo edit --as-is model.gguf --set general.nmae=x
    gufo edit model.gguf --set general.nmae=y
    gufo edit model.gguf --set llama.context_length=5
    gufo edit model.gguf --remove general.nmae
    # Names of communities are not like any of the standard.
    gufo edit model.gguf --set a.name=x --set community.note=y
}

@test "values that validate would reject are refused" {
    make_model model.gguf
    gufo edit model.gguf --set llama.embedding_length=32
    cp model.gguf before.gguf
    run --separate-stderr gufo edit model.gguf --set tokenizer.ggml.eos_token_id=10
    [ "$status" -eq 2 ]
    same_error 'gufo: model.gguf: "tokenizer.ggml.eos_token_id" is 10, but there are 10 tokens (or use --as-is)'
    refused "did you mean 'Apache-2.0'?" --set general.license=apache2
    refused "did you mean 'llama'?" --set general.architecture=lama
    refused 'has type uint32, not float32' --set llama.rope.freq_base=uint32:5
    refused 'does not divide the embedding length' --set llama.attention.head_count=12
    refused '' --set llama.block_count=0
    refused '' --remove llama.block_count
    refused '' --set-json 'tokenizer.ggml.token_type=int32:[1]'
    refused '' --rename-tensor token_embd.weight=embd.weight
    # What is only odd is reported.
    run --separate-stderr gufo edit model.gguf --set general.name=
    [ "$status" -eq 0 ]
    same_error 'gufo: model.gguf: warning: key "general.name" is present, but empty'
}

@test "faults that were there before do not prevent an edit" {
    make_model model.gguf
    gufo edit -q --as-is model.gguf --set tokenizer.ggml.eos_token_id=10 --set general.license=apache2 \
        --set general.nmae=x --set llama.attention.head_count=7 --set llama.rope.freq_base=uint32:5
    run --separate-stderr gufo edit model.gguf --set general.description=x --set llama.context_length=7
    [ "$status" -eq 0 ] && [ -z "$stderr" ]
    # A fault stays one in another value, and a fix is one.
    run --separate-stderr gufo edit model.gguf --set tokenizer.ggml.eos_token_id=11
    [ "$status" -eq 2 ]
    run --separate-stderr gufo edit model.gguf --set tokenizer.ggml.eos_token_id=9 \
        --set general.license=apache-2.0 --set llama.attention.head_count=8
    [ "$status" -eq 0 ] && [ -z "$stderr" ]
}

@test "many reasons are counted" {
    local change changes=()
    make_model model.gguf
    for change in {1..14}; do
        changes+=(--set "general.nmae$change=x")
    done
    run --separate-stderr gufo edit model.gguf "${changes[@]}"
    [ "$status" -eq 2 ] && [ "${#stderr_lines[@]}" -eq 11 ]
    [ "${stderr_lines[10]}" = "gufo: model.gguf: there are 4 more reasons like these" ]
}

@test "arrays where the key takes them" {
    make_model model.gguf
    gufo edit model.gguf --set 'general.tags=["chat", "a\u00e9"]' \
        --set 'tokenizer.ggml.tokens=["a","b","c","d","e","f","g","h","i","jj"]' \
        --set 'general.name=[x]' --set 'a.note=[1]' --set 'llama.feed_forward_length=[64, 128]' \
        --set-json 'general.languages=["en"]' --set-json 'a.list=int8:[[1]]'
    [ "$(value general.tags | tr '\n' ' ')" = "chat aé " ]
    [ "$(value tokenizer.ggml.tokens | tail -n 1)" = jj ]
    [ "$(value general.name)" = '[x]' ] && [ "$(type_of a.note)" = string ]
    run gufo get --json model.gguf llama.feed_forward_length
    has '"element_type":"int32","count":2,"value":[64,128]'
    # An array that is there keeps its type, however deep.
    gufo edit model.gguf --set 'a.list=[[2],[-3]]'
    run gufo get --json model.gguf a.list
    has '"element_type":"int8","count":1,"value":[-3]'
    run --separate-stderr gufo edit model.gguf --set 'general.tags=[chat]'
    [ "$status" -eq 2 ]
    same_error "gufo: --set general.tags: character 2: expected a string (see gufo help edit)"
    run --separate-stderr gufo edit model.gguf --set 'llama.rope.freq_base=[1]'
    [ "$status" -eq 2 ]
}

# bats test_tags=plain
@test "one element of an array" {
    local changes
    make_model model.gguf
    gufo edit model.gguf --set-json 'a.list=int8:[1,2,3]' --set-json 'a.deep=int8:[[1]]'
    cp model.gguf before.gguf
    gufo edit model.gguf --set 'a.list[1]=-7' --set 'tokenizer.ggml.tokens[9]=jjj' \
        --set-string 'tokenizer.ggml.tokens[0]=uint8:5' --set 'a.list[0]=3' --set 'a.list[0]=4'
    [ "$(value a.list | tr '\n' ' ')" = "4 -7 3 " ]
    [ "$(value tokenizer.ggml.tokens | tr '\n' ' ')" = "uint8:5 b c d e f g h i jjj " ]
    # In the order given, with what else happens to the array.
    gufo edit model.gguf --set 'a.list[0]=5' --rename a.list=b.list --set 'b.list[2]=6' \
        --set-json 'b.list=[7,8]' --set 'b.list[1]=9'
    [ "$(value b.list | tr '\n' ' ')" = "7 9 " ]
    gufo edit model.gguf --set 'b.list[0]=1' --remove 'b.*'
    run gufo get model.gguf b.list
    [ "$status" -eq 1 ]
    cp before.gguf model.gguf
    for change in 'a.list[3]=1' 'a.list[-1]=1' 'a.list[]=1' 'a.list[x]=1' 'a.list[0=1' 'a.list[0]x=1' \
        'a.list[0]=300' 'a.list[0]=int8:1' 'a.list[99999999999999999999]=1' 'general.name[0]=x' \
        'a.deep[0]=1' 'a.missing[0]=1' '[0]=1'; do
        run --separate-stderr gufo edit model.gguf --set "$change"
        [ "$status" -eq 2 ] && [ "${#stderr_lines[@]}" -eq 1 ] || { echo "$change: $status"; return 1; }
    done
    run --separate-stderr gufo edit model.gguf --set 'a.list[3]=1'
    same_error "gufo: --set a.list[3]=1: the array has 3 elements, counted from 0 (see gufo help edit)"
    cmp model.gguf before.gguf
    # Many at once.
    mapfile -t changes < <(seq 0 2999 |
        awk '{ printf "--set\na.list[%d]=%d\n--set\na.x%d=1\n", $1 % 3, $1 % 100, $1 }')
    gufo edit model.gguf "${changes[@]}"
    [ "$(value a.list | tr '\n' ' ')" = "97 98 99 " ]
}

# bats test_tags=plain
@test "tokens by their text" {
    make_model model.gguf
    gufo edit -q model.gguf --set 'tokenizer.ggml.tokens=["a","<|im_end|>","c","12","c","f","g","h","i","j"]'
    cp model.gguf before.gguf
    gufo edit model.gguf --set tokenizer.ggml.eos_token_id='<|im_end|>' --set a.b=1 \
        --set tokenizer.ggml.bos_token_id=9
    [ "$(value tokenizer.ggml.eos_token_id)" = 1 ] && [ "$(type_of tokenizer.ggml.eos_token_id)" = uint32 ]
    [ "$(value tokenizer.ggml.bos_token_id)" = 9 ]
    # In the vocabulary as the edit leaves it.
    gufo edit model.gguf --set tokenizer.ggml.eot_token_id=new --set 'tokenizer.ggml.tokens[5]=new' \
        --rename tokenizer.ggml.eot_token_id=tokenizer.ggml.eom_token_id \
        --set-json 'tokenizer.ggml.eos_token_ids=[1,2]' --set 'tokenizer.ggml.eos_token_ids[1]=g'
    [ "$(value tokenizer.ggml.eom_token_id)" = 5 ]
    [ "$(value tokenizer.ggml.eos_token_ids | tr '\n' ' ')" = "1 6 " ]
    # The first of several.
    run --separate-stderr gufo edit model.gguf --set tokenizer.ggml.eos_token_id=c
    [ "$status" -eq 0 ] && [ "$(value tokenizer.ggml.eos_token_id)" = 2 ]
    same_error "gufo: model.gguf: warning: --set tokenizer.ggml.eos_token_id=c: 2 tokens have this text; 2 is the first"
    cp before.gguf model.gguf
    run --separate-stderr gufo edit model.gguf --set tokenizer.ggml.eos_token_id='<|imend|>'
    [ "$status" -eq 2 ]
    same_error "gufo: model.gguf: --set tokenizer.ggml.eos_token_id=<|imend|>: the vocabulary has no such token; did you mean '<|im_end|>' (1)?"
    run --separate-stderr gufo edit --as-is model.gguf --set tokenizer.ggml.eos_token_id=nothing
    [ "$status" -eq 2 ]
    same_error "gufo: model.gguf: --set tokenizer.ggml.eos_token_id=nothing: the vocabulary has no such token"
    # Numbers are ids, whatever the vocabulary has.
    for change in 12 -1 1.5 ''; do
        run --separate-stderr gufo edit model.gguf --set tokenizer.ggml.eos_token_id="$change"
        [ "$status" -eq 2 ] || { echo "$change"; return 1; }
    done
    cmp model.gguf before.gguf
    # Among the ids of an array, even by another text than JSON's usual one.
    key=tokenizer.ggml.eos_token_ids
    gufo edit -q model.gguf --set "$key"='["<|im_end|>", 9, "8", "f", "<\u007cim_end|\u003e"]'
    [ "$(value "$key" | tr '\n' ' ')" = "1 9 8 5 1 " ] && [[ "$(gufo get --json model.gguf "$key")" == *'"element_type":"int32"'* ]]
    printf '["g", "f"]' >ids.json
    gufo edit -q model.gguf --set-json "$key"=@ids.json --set 'tokenizer.ggml.tokens[2]=new' \
        --set "$key[1]=new" --set-json tokenizer.ggml.suppress_tokens=uint32:'["new"]'
    [ "$(value "$key" | tr '\n' ' ')" = "6 2 " ] && [ "$(value tokenizer.ggml.suppress_tokens)" = 2 ]
    cp before.gguf model.gguf
    run --separate-stderr gufo edit model.gguf --set "$key"='["<|im_end|>","<|imend|>"]'
    [ "$status" -eq 2 ]
    same_error "gufo: model.gguf: --set $key=<|imend|>: the vocabulary has no such token; did you mean '<|im_end|>' (1)?"
    run --separate-stderr gufo edit model.gguf --set-json "$key"='["nothing"]'
    same_error "gufo: model.gguf: --set-json $key=nothing: the vocabulary has no such token"
    for change in "$key=[\"\"]" "$key=[[\"f\"]]" "$key=[\"f\"" "$key=[\"f]" "$key=[1.5]" "$key=[\"f\",{}]" 'a.list=["f"]'; do
        run --separate-stderr gufo edit model.gguf --set-json "$change"
        [ "$status" -eq 2 ] || { echo "$change"; return 1; }
    done
    cmp model.gguf before.gguf
    gufo edit -q model.gguf --as-is --remove tokenizer.ggml.tokens
    run --separate-stderr gufo edit model.gguf --set tokenizer.ggml.eos_token_id=c
    [ "$status" -eq 2 ]
    same_error "gufo: model.gguf: --set tokenizer.ggml.eos_token_id=c: the file has no vocabulary (tokenizer.ggml.tokens) to look this up in"
}

@test "JSON from a file" {
    make_model model.gguf
    cp model.gguf before.gguf
    printf '[\n  "x",\n  "y"\n]\n' >tags.json
    gufo edit model.gguf --set-json general.tags=@tags.json --set-json a.list=uint8:@<(printf '[1,2]')
    [ "$(value general.tags | tr '\n' ' ')" = "x y " ] && [ "$(value a.list | tr '\n' ' ')" = "1 2 " ]
    cp before.gguf model.gguf
    printf '[\n  "x",\n  y\n]\n' >wrong.json
    run --separate-stderr gufo edit model.gguf --set-json general.tags=@wrong.json
    [ "$status" -eq 2 ]
    same_error "gufo: wrong.json: line 3, character 3: expected a string"
    printf '["x\0"]' >nul.json
    run --separate-stderr gufo edit model.gguf --set-json general.tags=@nul.json
    [ "$status" -eq 2 ]
    same_error "gufo: nul.json: byte 3 is NUL, which JSON does not allow"
    run --separate-stderr gufo edit model.gguf --set-json general.tags=@missing.json
    [ "$status" -eq 3 ]
    same_error "gufo: missing.json: No such file or directory"
    gufo edit model.gguf --set-json general.tags=@- --set-file a.text=/dev/null <<<'["from", "a pipe"]'
    [ "$(value general.tags | tr '\n' ' ')" = "from a pipe " ]
    printf 'text' | gufo edit model.gguf --set-file a.text=-
    [ "$(value a.text)" = text ]
    cp before.gguf model.gguf
    run -2 gufo edit --force model.gguf -o tags.json --set-json general.tags=@tags.json
    cmp model.gguf before.gguf
}

@test "JSON that is none" {
    make_model model.gguf
    cp model.gguf before.gguf
    for change in 'a=uint8:[256]' 'a=uint8:[1,]' 'a=uint8:[1' 'a=uint8:[1] 2' 'a=uint8:[[1],2]' \
        'a=string:["x]' 'a=string:["\x"]' 'a=string:["\ud800"]' 'a=string:[1]' 'a=[1]' 'a=array:[1]' \
        'a=string:[{"base64":"?"}]' 'a=bool:[1]' 'a=uint8:' "a=uint8:$(printf '[%.0s' {1..40})"; do
        run --separate-stderr gufo edit model.gguf --set-json "$change"
        [ "$status" -eq 2 ] || { echo "$change: $status"; return 1; }
    done
    cmp model.gguf before.gguf
}

# bats test_tags=plain
@test "keys and tensors are removed and renamed, in the order given" {
    make_model model.gguf
    gufo edit model.gguf --set a.x=1 --set b.x=2 --remove 'a.*' --rename b.x=a.x \
        --rename-tensor output.weight=out.weight
    [ "$(value a.x)" = 2 ]
    run gufo get model.gguf b.x
    [ "$status" -eq 1 ]
    run gufo show model.gguf
    has out.weight
    lacks output.weight
    run --separate-stderr gufo edit model.gguf --rename a.x=general.name
    [ "$status" -eq 2 ]
    same_error 'gufo: model.gguf: --rename a.x=general.name: key "general.name" exists already'
    # Not found: what else there is to do is done, except a rename.
    run -1 --separate-stderr gufo edit model.gguf --rename-tensor x=y
    run -1 --separate-stderr gufo edit model.gguf --rename x=y.z
    run -1 --separate-stderr gufo edit model.gguf --set-string general.name=found --copy-from model.gguf 'nothing*'
    [ "$(value general.name)" = found ]
    run -1 --separate-stderr gufo edit model.gguf --remove 'nothing*'
    same_error "gufo: model.gguf: warning: --remove nothing*: no key matches"
}

@test "a dry run refuses what an edit would" {
    make_model model.gguf
    echo old >old.gguf
    run -2 gufo edit --dry-run model.gguf --remove general.name -o model.gguf
    run -0 gufo edit --dry-run model.gguf --remove general.name -o old.gguf # that it exists is no matter
    [ "$(cat old.gguf)" = old ]
}

@test "keys are copied from another file" {
    make_model model.gguf
    make_gguf other.gguf kv general.name string Copy kv general.license string mit kv x.y uint8 1
    gufo edit --copy-from other.gguf 'general.*' model.gguf
    [ "$(value general.name)" = Copy ] && [ "$(value general.license)" = mit ]
    run gufo get model.gguf x.y
    [ "$status" -eq 1 ]
    run gufo edit model.gguf --copy-from other.gguf
    [ "$status" -eq 2 ]
}

@test "a dry run shows the differences and changes nothing" {
    make_model model.gguf
    cp -p model.gguf before.gguf
    run --separate-stderr gufo edit model.gguf --dry-run --as-is --set llama.context_length=4096 \
        --set a.b=true --remove general.name --rename llama.block_count=llama.blocks \
        --in-place=no --rename-tensor output.weight=o
    [ "$status" -eq 0 ]
    has '- general.name: string "Tiny"'
    has '~ llama.context_length: uint32 2048 -> uint32 4096'
    has '> llama.block_count -> llama.blocks'
    has '+ a.b: bool true'
    has '> tensor output.weight -> o'
    has 'rewrite: a new file of'
    cmp model.gguf before.gguf
    [ "$(stat -c %Y model.gguf)" = "$(stat -c %Y before.gguf)" ]
    run gufo edit model.gguf --json --dry-run --in-place=no --set a.b=true
    has '"dry_run":true,"way":"rewrite"'
    has '"changes":[{"change":"added","old":null,"new":{"key":"a.b","type":"bool","value":true}}]'
}

@test "-v shows the way" {
    make_model model.gguf
    run --separate-stderr gufo edit -v model.gguf --set llama.context_length=4096
    [ "$status" -eq 0 ]
    [[ "$output" == *overwrite:* || "$output" == *rewrite:* ]] # leases are not to be had everywhere
    run gufo edit -v model.gguf --set llama.context_length=4096
    has "nothing: the file already has these values"
    run gufo edit -v model.gguf --in-place=no --set llama.context_length=1
    has "no overwrite: a new file was asked for"
}

# bats test_tags=plain
@test "another alignment moves every tensor" {
    make_model model.gguf
    cp model.gguf before.gguf
    gufo edit model.gguf --set general.alignment=256
    gufo validate --level structure -q model.gguf
    gufo edit model.gguf --remove general.alignment
    gufo edit model.gguf --in-place=no # takes padding out
    cmp model.gguf before.gguf
    run --separate-stderr gufo edit model.gguf --set general.alignment=7
    [ "$status" -eq 2 ]
    run --separate-stderr gufo edit model.gguf --in-place=yes --set general.alignment=256
    [ "$status" -eq 2 ]
    same_error "gufo: model.gguf: the file cannot be edited in place: the alignment changes, and every tensor with it"
}

@test "outputs: new files, streams, and what is refused" {
    make_model model.gguf
    cp model.gguf before.gguf
    gufo edit model.gguf -o new.gguf --set a.b=1
    cmp model.gguf before.gguf
    [ "$(gufo get new.gguf a.b)" = 1 ]
    cmp <(data new.gguf) <(data model.gguf)
    run --separate-stderr gufo edit model.gguf -o new.gguf --set a.b=2
    [ "$status" -eq 2 ]
    gufo edit --force model.gguf -o new.gguf --set a.b=2
    gufo edit model.gguf -o - --set a.b=2 | cmp - new.gguf
    mkfifo pipe
    cat pipe >streamed &
    gufo edit model.gguf -o pipe --set a.b=2
    wait
    cmp streamed new.gguf
    run --separate-stderr gufo edit --force model.gguf -o model.gguf --set a.b=2
    [ "$status" -eq 2 ]
    same_error "gufo: model.gguf: the output is the input; it would be lost"
    run gufo edit pipe --set a.b=2
    [ "$status" -eq 2 ]
    run gufo edit - --set a.b=2
    [ "$status" -eq 2 ]
    run gufo edit model.gguf
    [ "$status" -eq 2 ]
    run gufo edit missing.gguf --set a.b=2
    [ "$status" -eq 3 ]
    cmp model.gguf before.gguf
}

# bats test_tags=plain
@test "a stream whose reader goes away or waits" {
    make_model model.gguf
    # More than a pipe holds.
    gufo edit model.gguf --in-place=no --set-file a.b=<(printf '%200000s' x)
    gufo edit model.gguf -o - --set a.c=1 2>errors | head -c 10 >/dev/null
    [ "${PIPESTATUS[0]}" -eq 0 ] && [ ! -s errors ]
    mkfifo pipe
    exec 9<>pipe
    "$GUFO" edit model.gguf -o pipe --set a.c=1 9<&- &
    writer=$!
    head -c 10 <&9 >/dev/null
    kill -TERM "$writer"
    code=0
    wait "$writer" || code=$?
    exec 9<&-
    [ "$code" -eq 4 ]
}

@test "a file that may not be written is replaced, keeping its rights" {
    make_model model.gguf
    chmod 0440 model.gguf
    gufo edit model.gguf --in-place=no --set a.b=1
    [ "$(stat -c %a model.gguf)" = 440 ]
    [ "$(value a.b)" = 1 ]
    [ "$(ls -A)" = model.gguf ]
}

# bats test_tags=plain
@test "hard links and symlinks" {
    make_model model.gguf
    ln model.gguf other.gguf
    cp model.gguf before.gguf
    gufo edit model.gguf --set a.b=1
    cmp other.gguf before.gguf
    [ "$(value a.b)" = 1 ]
    ln -s model.gguf link.gguf
    run --separate-stderr gufo edit link.gguf --set a.b=2
    [ "$status" -eq 0 ] && [ -L link.gguf ] && [ "$(value a.b)" = 2 ]
    [[ "$stderr" == *"warning: this is a symlink; gufo changes its target "*/model.gguf ]]
}

# bats test_tags=plain
@test "room that is reserved is used, and the padding goes again" {
    make_model model.gguf
    gufo edit model.gguf --in-place=no --reserve 4Ki --set a.b=1
    size=$(stat -c %s model.gguf)
    [ "$(gufo get --raw model.gguf gufo.padding | tr -d ' ' | wc -c)" = 0 ]
    gufo edit model.gguf --in-place=yes --set a.text="$(printf '%3000s' x)"
    [ "$(stat -c %s model.gguf)" = "$size" ]
    gufo edit model.gguf --in-place=no --remove a.text
    run gufo get model.gguf gufo.padding
    [ "$status" -eq 1 ]
    run gufo edit model.gguf --reserve 4X --set a.b=1
    [ "$status" -eq 2 ]
    cp model.gguf before.gguf
    run --separate-stderr gufo edit model.gguf --in-place=no --reserve 20G
    [ "$status" -eq 2 ]
    same_error "gufo: model.gguf: at most 64 MiB can be reserved for later edits"
    cmp model.gguf before.gguf
}

# bats test_tags=plain
@test "no room is left where none is wanted" {
    make_model model.gguf
    cp model.gguf before.gguf
    gufo edit model.gguf --in-place=no --reserve 4Ki --set a.b=1
    gufo get --raw model.gguf gufo.padding >/dev/null
    run gufo edit -v --no-padding model.gguf
    [ "$status" -eq 0 ]
    has "rewrite: a new file of"
    run gufo get model.gguf gufo.padding
    [ "$status" -eq 1 ]
    run gufo edit -v --no-padding model.gguf
    has "nothing: the file already has these values"
    gufo edit --no-padding model.gguf --remove a.b
    cmp model.gguf before.gguf
    run --separate-stderr gufo edit --no-padding --reserve 4Ki model.gguf
    [ "$status" -eq 2 ]
    same_error "gufo: --reserve and --no-padding exclude each other (see gufo help edit)"
}

@test "an empty file and a pipe are values" {
    make_model model.gguf
    gufo edit model.gguf --set-file a.b=/dev/null --set-file a.c=<(printf text)
    [ "$(value a.b)" = "" ] && [ "$(value a.c)" = text ]
}

# bats test_tags=plain
@test "a file without an end is not a value" {
    local change
    make_model model.gguf
    cp model.gguf before.gguf
    for change in --set-file=a.b=/dev/zero --set-json=general.tags=@/dev/zero; do
        run --separate-stderr gufo edit model.gguf "$change"
        [ "$status" -eq 3 ]
        same_error "gufo: /dev/zero: the value has more than 256 MiB, the limit for a key"
    done
    cmp model.gguf before.gguf
}

@test "shards" {
    make_shards set
    run --separate-stderr gufo edit set-00001-of-00002.gguf --set split.count=3
    [ "$status" -eq 2 ]
    run --separate-stderr gufo edit set-00001-of-00002.gguf --set general.alignment=64
    [ "$status" -eq 2 ]
    run --separate-stderr gufo edit set-00001-of-00002.gguf --set general.name=Set
    [ "$status" -eq 0 ]
    same_error "gufo: set-00001-of-00002.gguf: warning: this is shard 1 of 2; only its own metadata is changed"
    gufo validate --level structure -q set-00001-of-00002.gguf
    run --separate-stderr gufo edit -q --force set-00002-of-00002.gguf --rename split.no=split.number
    [ "$status" -eq 2 ]
    same_error "gufo: 'split.no' links the shards of a set; --as-is changes it (see gufo help edit)"
    gufo edit -q --as-is set-00002-of-00002.gguf --rename split.no=split.number
    run gufo edit --as-is set-00001-of-00002.gguf --remove general.architecture
    has "without key 'general.architecture' programs will not load the model"
}

@test "one edit at a time" {
    make_model model.gguf
    run --separate-stderr flock model.gguf "$GUFO" edit model.gguf --set a.b=1
    [ "$status" -eq 3 ]
    same_error "gufo: model.gguf: another process is editing the file: Device or resource busy"
}

# half_edit FILE: leaves the file and the journal of an edit that was killed in between.
half_edit() {
    local end=$((SECONDS + 20))
    cp "$1" whole
    while [ ! -e "$1.gufo-journal" ] || [ "$(head -c 4 "$1" | tr -d '\0')" = GGUF ]; do
        cp whole "$1"
        rm -f "$1.gufo-journal"
        "$GUFO" edit -q "$1" --set general.name="$(printf '%3000s' x)" &
        local pid=$!
        read -rt "0.00$((RANDOM % 10))$((RANDOM % 10))" <>"$BATS_TEST_TMPDIR/never" || true
        kill -9 "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
        [ "$SECONDS" -lt "$end" ] || skip "edits are too fast here to be killed in between"
    done
}

# bats test_tags=plain
@test "commands that read a half edited file name what repairs it, and the next edit does" {
    local command words
    mkfifo "$BATS_TEST_TMPDIR/never"
    make_model model.gguf
    half_edit model.gguf
    for command in "show" "validate" "stats" "edit --dry-run --set a.b=1"; do
        read -ra words <<<"$command"
        run --separate-stderr gufo "${words[@]}" model.gguf
        [ "$status" -eq 3 ] || { echo "$command: $status"; return 1; }
        same_error "gufo: model.gguf: an edit of it was interrupted; 'gufo edit --recover model.gguf' repairs it"
    done
    run --separate-stderr flock model.gguf "$GUFO" show model.gguf
    [ "$status" -eq 3 ]
    same_error "gufo: model.gguf: is being edited"
    run --separate-stderr gufo quantize model.gguf q.gguf Q8_0
    [ "$status" -eq 3 ]
    # Nor is it replaced: its journal would be taken for one of the new file.
    make_model other.gguf
    for command in "quantize --force other.gguf model.gguf Q8_0" \
        "get --force -o model.gguf other.gguf general.name" \
        "strip --force other.gguf -o model.gguf --no-tensors"; do
        read -ra words <<<"$command"
        run --separate-stderr gufo "${words[@]}"
        [ "$status" -eq 2 ] || { echo "$command: $status $stderr"; return 1; }
        [[ "$stderr" == 'gufo: '*model.gguf:*interrupted* ]]
    done
    run --separate-stderr gufo edit model.gguf --set a.b=1
    [ "$status" -eq 0 ]
    same_error "gufo: model.gguf: warning: the interrupted edit is complete now"
    [ "$(value general.name)" = "$(printf '%3000s' x)" ] && [ "$(value a.b)" = 1 ]
    [ ! -e model.gguf.gufo-journal ]
    gufo validate --level structure -q model.gguf
}

# kill_at_random NAME: an edit that is killed at a random moment.
kill_at_random() {
    "$GUFO" edit -q model.gguf --set general.name="$1" &
    local pid=$!
    read -rt "0.00$((RANDOM % 10))$((RANDOM % 10))" <>"$BATS_TEST_TMPDIR/never" || true
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}

# bats test_tags=plain
@test "killed at any moment, the file is the old or the new one after recovery" {
    local name other moment pending=0
    mkfifo "$BATS_TEST_TMPDIR/never"
    make_model model.gguf
    cp model.gguf before.gguf
    name=$(value general.name)
    for ((moment = 0; moment < ${GUFO_KILLS:-30}; moment++)); do
        other=$(printf '%*s' $((RANDOM % 6000 + 1)) "$moment")
        kill_at_random "$other"
        if [ -e model.gguf.gufo-journal ]; then
            run --separate-stderr gufo show model.gguf
            if [ "$status" -eq 3 ]; then
                pending=$((pending + 1))
                same_error "gufo: model.gguf: an edit of it was interrupted; 'gufo edit --recover model.gguf' repairs it"
            fi
            gufo edit --recover model.gguf >/dev/null
        fi
        now=$(value general.name)
        [ "$now" = "$name" ] || [ "$now" = "$other" ]
        name=$now
        [ ! -e model.gguf.gufo-journal ]
        cmp <(data model.gguf) <(data before.gguf)
    done
    echo "# $moment moments, $pending times to be recovered"
    gufo validate --level structure -q model.gguf
}

@test "recovery of nothing, of a torn journal, and of a file that was replaced" {
    make_model model.gguf
    run gufo edit --recover model.gguf
    [ "$status" -eq 0 ]
    same "model.gguf: no edit was interrupted"
    printf 'GUFO-EDJ%092d' 1 >model.gguf.gufo-journal
    gufo show model.gguf >/dev/null
    run gufo edit --recover model.gguf
    [ "$status" -eq 0 ] && [ ! -e model.gguf.gufo-journal ]
    truncate -s 1T model.gguf.gufo-journal # nothing but its first bytes is read
    chmod 600 model.gguf.gufo-journal
    gufo show model.gguf >/dev/null
    gufo edit -q --recover model.gguf && [ ! -e model.gguf.gufo-journal ]
    mkdir model.gguf.gufo-journal
    run --separate-stderr gufo edit --recover model.gguf
    [ "$status" -eq 3 ]
    same_error "gufo: model.gguf: \"model.gguf.gufo-journal\" is not accepted as the journal of an interrupted edit: it is not a regular file"
    rmdir model.gguf.gufo-journal
    run gufo edit --recover missing.gguf
    [ "$status" -eq 3 ]
    run gufo edit --recover model.gguf --set a.b=1
    [ "$status" -eq 2 ]
}

@test "edit: room for later edits shows as a number of spaces" {
    make_model m.gguf
    gufo edit -q --set general.name=longer --reserve 4Ki m.gguf -o r.gguf
    run -0 gufo show --metadata r.gguf
    [[ $output =~ gufo\.padding\ +string\ +\([3-5],[0-9]{3}\ spaces\) ]]
    lacks '                                                '
    run -0 gufo get r.gguf gufo.padding
    has '                                                '
}
