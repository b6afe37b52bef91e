#!/usr/bin/env bats
# gufo template

# bats sets stderr; braces of templates are not for the shell.
# shellcheck disable=SC2154,SC2016

load common
load vocabularies

# A model with a template, and with one for tools.
make_model() {
    make_spm "$1"
    printf '%s' "$2" >template.jinja
    gufo edit --force "$1" --set-file tokenizer.chat_template=template.jinja
}

chat='{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{{ eos_token }}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}'
messages='[{"role":"user","content":"Hello"}]'

@test "template: the prompt of a model, with the tokens of its vocabulary" {
    make_model m.gguf "$chat"
    printf '%s' "$messages" >messages.json
    run -0 gufo template m.gguf --messages messages.json
    same '<s>[user]Hello</s>[assistant]'
    run -0 bash -c "printf '%s' '$messages' | $GUFO template m.gguf --messages - --no-generation-prompt"
    same '<s>[user]Hello</s>'
    run -0 gufo template m.gguf
    same '<s>[assistant]'
    run -0 gufo template --json m.gguf --messages messages.json
    same '{"path":"m.gguf","text":"<s>[user]Hello</s>[assistant]"}'
}

@test "template: messages as an operand, from standard input, and in an object with tools" {
    make_model m.gguf "$chat"
    printf '%s' "$messages" >messages.json
    run -0 gufo template m.gguf messages.json
    same '<s>[user]Hello</s>[assistant]'
    run -0 bash -c "$GUFO template m.gguf <messages.json"
    same '<s>[user]Hello</s>[assistant]'
    run -0 bash -c "cat messages.json | $GUFO template m.gguf"
    same '<s>[user]Hello</s>[assistant]'
    run -0 bash -c "$GUFO template m.gguf </dev/null"
    same '<s>[assistant]'
    run -0 bash -c "printf ' ' | $GUFO template m.gguf"
    same '<s>[assistant]'
    echo "{\"messages\":$messages,\"tools\":[{\"type\":\"function\"}],\"x\":1}" >all.json
    printf '{{ messages[0].content }} {{ tools | tojson }} {{ x }} {{ add_generation_prompt }}' >t.jinja
    run -0 gufo template t.jinja all.json
    same 'Hello [{"type": "function"}] 1 True'
    echo '[]' >none.json
    run -0 gufo template t.jinja --messages all.json --tools none.json
    same 'Hello [] 1 True'
    run -2 --separate-stderr gufo template m.gguf messages.json --messages all.json
    [[ $stderr == *'MESSAGES and --messages exclude each other'* ]]
}

@test "template: messages of a wrong shape are blamed, not the template" {
    make_model m.gguf "$chat"
    local want='expected a list of messages, or an object with "messages"'
    printf '"Hello"' >bad.json
    run -3 --separate-stderr gufo template m.gguf bad.json
    [ "$stderr" = "gufo: bad.json: byte 0: $want" ]
    printf '{"message":[]}' >bad.json
    run -3 --separate-stderr gufo template m.gguf bad.json
    [ "$stderr" = "gufo: bad.json: byte 0: $want" ]
    printf '{"messages":{}}' >bad.json
    run -3 --separate-stderr gufo template m.gguf bad.json
    [ "$stderr" = "gufo: bad.json: byte 12: $want" ]
    printf '[{"role":"user"},"Hello"]' >bad.json
    run -3 --separate-stderr gufo template m.gguf bad.json
    [[ $stderr == 'gufo: bad.json: byte 17: expected a message, an object such as'* ]]
    printf '' >bad.json
    run -3 --separate-stderr gufo template m.gguf --messages bad.json
    [[ $stderr == 'gufo: bad.json: '*'not JSON'* ]]
    : >empty.json
    run -3 --separate-stderr gufo template m.gguf empty.json
    same_error 'gufo: empty.json: line 1, column 1: not JSON: it ends too early'
}

@test "template --ids: the tokens of the prompt, with one BOS" {
    make_model m.gguf "$chat"
    printf '%s' "$messages" >messages.json
    gufo template m.gguf messages.json >prompt
    run -0 gufo tokenize --ids --no-bos -f prompt m.gguf
    local ids=$output
    [[ $ids == '[1, '* ]]
    run -0 gufo template --ids m.gguf messages.json
    same "$ids"
    run -0 gufo template --ids --json m.gguf messages.json
    same "{\"path\":\"m.gguf\",\"text\":\"<s>[user]Hello</s>[assistant]\",\"ids\":${ids//, /,}}"
    make_model n.gguf "${chat/'{{ bos_token }}'/}"
    run -0 gufo template --ids n.gguf messages.json
    [[ $output == '[1, '* && $output != '[1, 1, '* ]]
    run -2 --separate-stderr gufo template --ids prompt messages.json
    [[ $stderr == *'--ids needs the vocabulary of a model'* ]]
}

@test "tokenize: a prompt that begins with BOS gets a second one with a warning" {
    make_model m.gguf "$chat"
    run -0 --separate-stderr gufo tokenize --ids m.gguf '<s>Hello'
    [[ $output == '[1, 1, '* ]]
    [ "$stderr" = 'gufo: m.gguf: warning: the text begins with BOS, and BOS is added: --no-bos adds none' ]
    run -0 --separate-stderr bash -c "printf '<s>Hello' | $GUFO tokenize --ids m.gguf"
    [[ $stderr == *'begins with BOS'* ]]
    run -0 --separate-stderr gufo tokenize --ids --no-bos m.gguf '<s>Hello'
    [[ $output == '[1, '* && $output != '[1, 1, '* && -z $stderr ]]
    run -0 --separate-stderr gufo tokenize --ids --no-special m.gguf '<s>Hello'
    [ -z "$stderr" ]
}

@test "template: a template in a file, and its variables" {
    printf '{{ a }}|{{ tools is none }}|{{ messages | length }}|{{ x is defined }}' >t.jinja
    run -0 gufo template t.jinja --set 'a={"b":[1,null]}'
    same "{'b': [1, None]}|True|0|False"
    echo '{"a":1,"messages":[1,2],"tools":[]}' >all.json
    run -0 gufo template t.jinja --context all.json --set x=0
    same '1|False|2|True'
    echo '[{"type":"function"}]' >tools.json
    printf '{{ tools | tojson }}' >u.jinja
    run -0 gufo template u.jinja --tools tools.json
    same '[{"type": "function"}]'
    run -0 bash -c "printf '{{ 1 + 1 }}' | $GUFO template -"
    same '2'
}

@test "template --now: the time, in UTC" {
    printf '{{ strftime_now("%%Y-%%m-%%d %%H:%%M:%%S %%A %%j") }}' >t.jinja
    run -0 env TZ=Asia/Tokyo "$GUFO" template t.jinja --now 2026-01-02T03:04:05
    same '2026-01-02 03:04:05 Friday 002'
    run -0 gufo template t.jinja --now 2024-12-31
    same '2024-12-31 00:00:00 Tuesday 366'
    run -0 gufo template t.jinja
    [[ $output == 20* ]]
    run -2 --separate-stderr gufo template t.jinja --now yesterday
    [[ $stderr == *"'yesterday' is not a time"* ]]
}

@test "template --name: one of several templates" {
    make_model m.gguf 'plain'
    printf 'tools' >tools.jinja
    gufo edit --force m.gguf --set-file tokenizer.chat_template.tool_use=tools.jinja
    run -0 gufo template m.gguf
    same plain
    run -0 gufo template m.gguf --name tool_use
    same tools
    run -3 --separate-stderr gufo template m.gguf --name rag
    [[ $stderr == *"no chat template is called 'rag': --name takes tool_use" ]]
    make_spm none.gguf
    run -3 --separate-stderr gufo template none.gguf
    [[ $stderr == "gufo: none.gguf: the model has no chat template" ]]
    run -2 --separate-stderr gufo template tools.jinja --name x
    [[ $stderr == *"--name is for a model"* ]]
}

@test "template: exit status 1 for raise_exception, 3 for other failures" {
    printf '{{ raise_exception("roles must alternate") }}' >t.jinja
    run -1 --separate-stderr gufo template t.jinja
    [ "$output" = '' ]
    [ "$stderr" = 'gufo: t.jinja: roles must alternate' ]
    printf 'a\n{%% if x %%}{{ a b }}{%% endif %%}' >t.jinja
    run -3 --separate-stderr gufo template t.jinja
    [ "$stderr" = "gufo: t.jinja: line 2, column 16: expected '}}', found \"b\"" ]
    printf 'a\n  {{ x.y.z }}' >t.jinja
    run -3 --separate-stderr gufo template t.jinja
    [ "$output" = '' ]
    [ "$stderr" = "gufo: t.jinja: line 2, column 8: 'x' is undefined" ]
    printf '{%% macro f() %%}{{ f() }}{%% endmacro %%}{{ f() }}' >t.jinja
    run -3 --separate-stderr gufo template t.jinja
    [[ $stderr == *"nested macros"* ]]
    printf '{{ "a" * 10**12 }}' >t.jinja
    run -3 --separate-stderr gufo template t.jinja
    [[ $stderr == *"column 8: a text of more than"* ]]
}

@test "template: input that is not JSON, and wrong usage" {
    printf 'x' >t.jinja
    printf '[1,\n2' >bad.json
    run -3 --separate-stderr gufo template t.jinja --messages bad.json
    [[ $stderr == "gufo: bad.json: line 2, column 2: not JSON: it ends too early"* ]]
    run -3 --separate-stderr gufo template t.jinja --context bad.json
    run -3 --separate-stderr gufo template t.jinja --messages missing.json
    run -2 --separate-stderr gufo template t.jinja --set x
    run -2 --separate-stderr gufo template t.jinja --set x=y
    run -2 --separate-stderr gufo template - --messages -
    run -2 --separate-stderr gufo template --lint t.jinja --set x=1
    run -2 --separate-stderr gufo template
    run -3 --separate-stderr gufo template missing.jinja
}

@test "template --lint" {
    printf 'a\n{{ x.__class__ }}{%% include "b" %%}' >t.jinja
    run -1 gufo template --lint t.jinja
    same 't.jinja:2:6: danger: "__class__" has one of Python'"'"'s own names, a way from the template to what runs it
t.jinja:2:21: danger: "include" reads another template'
    run -1 gufo template --lint --json t.jinja
    [[ $output == '{"path":"t.jinja","findings":[{"dangerous":true,"line":2,"column":6,"offset":7,"message":'* ]]
    printf '{%% if x %%}' >t.jinja
    run -1 gufo template --lint t.jinja
    same "t.jinja:1:4: fault: the template ends before the 'endif' of this tag"
    printf '{{ messages }}' >t.jinja
    run -0 gufo template --lint t.jinja
    same ''
}

@test "validate: the template is judged by the same parser" {
    make_model m.gguf $'a\n{{ messages | nothing }}'
    run gufo validate m.gguf
    [[ $output == *'S302 template-syntax: "tokenizer.chat_template", line 2, column 15: no filter is called "nothing"'* ]]
}

@test "template: control characters do not reach a terminal" {
    need_terminal
    printf 'a\033[31m{{ x }}\u202e\n\tb' >t.jinja
    run -0 on_terminal "$GUFO" template t.jinja --set 'x="\u001b]0;title\u0007\u009b"'
    clean='a\u{1b}[31m\u{1b}]0;title\u{7}\u{9b}\u{202e}'
    same "$clean"$'\r\n\tb'
    # A pipe gets the bytes.
    gufo template t.jinja --set 'x="\u001b"' >out
    same_list "$(od -An -c out | tr -d ' \n')" 'a033[31m033342200256\n\tb'
}

@test "template: integers of any size, and a seed for what is picked" {
    printf '{{ x * 10 }} {{ 2 ** 100 }}' >t.jinja
    run -0 gufo template t.jinja --set 'x=-9223372036854775809'
    same '-92233720368547758090 1267650600228229401496703205376'
    printf '{%% for i in range(5) %%}{{ range(10)|random }}{%% endfor %%}' >t.jinja
    run -0 gufo template t.jinja
    first=$output
    run -0 gufo template t.jinja --seed 0
    same "$first"
    run -0 gufo template t.jinja --seed 7
    [ "$output" != "$first" ]
    run -2 gufo template t.jinja --lint --seed 7
}
