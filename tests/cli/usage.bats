#!/usr/bin/env bats
# bats file_tags=plain
# The command line: help, version, wrong usage.

# bats sets stderr; some commands are for another shell; reading a pipe is the point of `cat |`.
# shellcheck disable=SC2154,SC2016,SC2002

load common

@test "usage: --version" {
    run -0 --separate-stderr gufo --version
    version=$(sed -n 's/^#define GUFO_VERSION_STRING "\(.*\)"/\1/p' "$GUFO_SOURCE/include/gufo/base.h")
    [ "${lines[0]}" = "gufo $version" ]
    for library in xxHash libcrypto libsodium PCRE2 Jansson utf8proc; do has "$library"; done
    [ "${#lines[@]}" -le 3 ]
    same_error ''
}

@test "usage: gufo alone shows its help, as an error" {
    run -2 --separate-stderr gufo
    same ''
    [[ "$stderr" == 'Usage: gufo '* ]]
}

@test "usage: --help and help are the same, -h is short" {
    run -0 --separate-stderr gufo --help
    help=$output
    [ "${lines[0]}" = 'Usage: gufo [OPTION...] COMMAND [OPTION...] FILE...' ]
    for command in show get validate help; do has "  $command  "; done
    for group in 'Inspect models' 'Check models' 'Change models'; do has "$group:"; done
    run -0 gufo help
    same "$help"
    run -0 --separate-stderr gufo -h
    for command in show validate quantize; do has "  $command  "; done
    lacks '  stats  '
    has 'gufo help: all commands and options'
    run -0 gufo quantize -jh
    has 'gufo help quantize: all options'
}

@test "usage: -h of every command fits a screen, examples first" {
    for command in '' $(gufo completion words '' | sed -n 's/\t.*//p'); do
        # shellcheck disable=SC2086
        run -0 gufo $command -h
        [ "${#lines[@]}" -ge 3 ]
        awk -v command="$command" '
            length($0) >= 80 { print command ": " $0; exit wide = 1 }
            /^Examples:/ { examples = NR }
            /^Options:/ && !examples { print command ": no examples above"; exit wide = 1 }
            END { if (NR > 23) print command ": " NR " lines"; exit wide || NR > 23 }' <<<"$output"
    done
    # What a command does with most of its options is in the long help alone.
    run -0 gufo quantize -h
    has '--target-size=SIZE,...'
    lacks '--sensitivity'
    run -0 gufo ls -h
    has '--caches'
}

@test "usage: every command explains itself" {
    for command in show get validate quantize sign help; do
        run -0 --separate-stderr gufo help "$command"
        help=$output
        [[ "${lines[0]}" == "Usage: gufo $command "* ]]
        has '--json'
        lacks 'corresponding short options'
        same_error ''
        run -0 gufo "$command" --help
        same "$help"
    done
}

@test "usage: no line of a help is too long, ends in a blank or begins where none should" {
    gufo --help >helps
    mapfile -t commands < <(sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' helps)
    [ "${#commands[@]}" -gt 20 ]
    for command in "${commands[@]}"; do gufo help "$command" >>helps; done
    run -1 grep -nE '^.{80}| $|^[a-z]+$' helps
    same ''
}

# bats test_tags=legacy
@test "usage: an unknown command suggests the nearest" {
    run -2 --separate-stderr gufo my.gguf
    same_error "gufo: 'my.gguf' is not a command; did you mean 'gufo show my.gguf'? (see gufo --help)"
    run -2 --separate-stderr gufo shwo m.gguf
    same ''
    same_error "gufo: unknown command 'shwo'; did you mean 'show'? (see gufo --help)"
    run -2 --separate-stderr gufo validat
    [[ "$stderr" == *"did you mean 'validate'?"* ]]
    run -2 --separate-stderr gufo help gte
    [[ "$stderr" == *"did you mean 'get'?"* ]]
    run -2 --separate-stderr gufo xylophone
    same_error "gufo: unknown command 'xylophone' (see gufo --help)"
}

# make_near: the files that the table of near misses names.
make_near() {
    "$GUFO_EXAMPLES/make_sample" model.gguf
    gufo edit -q model.gguf -o chat.gguf \
        --set-string 'tokenizer.chat_template={% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}'
    mkdir dir short
    "$GUFO_TEST_BIN/make_checkpoint" dir
    gufo convert -q dir base.gguf 2>/dev/null
    make_gguf lora.gguf kv general.architecture string qwen3 kv general.type string adapter \
        kv adapter.type string lora kv adapter.lora.alpha float32 2 \
        tensor blk.0.attn_q.weight.lora_a 0 64x2 512 tensor blk.0.attn_q.weight.lora_b 0 2x64 512
    "$GUFO_TEST_BIN/make_legacy" old.bin type q4_0
    touch short/a.gguf short/a.safetensors
    echo '[{"role": "user", "content": "hi"}]' >list.json
    echo '{"messages": [{"role": "user", "content": "hi"}], "tools": []}' >object.json
    echo '{"role": "user", "content": "hi"}' >shape.json
    echo '[{"role": "user", "content": "hi"}, 7]' >member.json
    echo hello >p.txt
    gufo hash --sha256 --no-tensors model.gguf >model.gguf.manifest
    sum=$(sha256sum model.gguf)
    sum=${sum%% *}
}

# Each line: exit status, command, and words of what it says, of which '*' is any part.
# bats test_tags=legacy
@test "usage: near misses name what was meant, or do it" {
    local status command words said code
    make_near
    while IFS='~' read -r status command words; do
        words=${words//SUM/$sum}
        said=$(eval "${command//SUM/$sum}" 2>&1 </dev/null) && code=0 || code=$?
        # shellcheck disable=SC2053 # a pattern
        [[ $code = "$status" && $said == *$words* ]] || { echo "$command: $code, $said"; return 1; }
    done <<'END'
0~gufo quantize --dry-run model.gguf q4km~model.gguf as Q4_K_M,
0~gufo quantize --dry-run model.gguf Q4KM~model.gguf as Q4_K_M,
0~gufo quantize --dry-run model.gguf q4_k_m~model.gguf as Q4_K_M,
0~gufo quantize --dry-run model.gguf iq4nl~model.gguf as IQ4_NL,
0~gufo quantize --dry-run model.gguf q80~model.gguf as Q8_0,
0~gufo quantize --dry-run model.gguf Bf16~model.gguf as BF16,
0~gufo explain q4km~file_type       Q4_K_M
2~gufo quantize model.gguf 4bit~unknown type '4bit'; there are Q4_0, Q4_1, Q4_K_S, Q4_K_M,
2~gufo quantize model.gguf 4-bit~unknown type '4-bit'; there are Q4_0,
2~gufo quantize model.gguf int8~unknown type 'int8'; there are Q8_0
2~gufo quantize model.gguf Q4~unknown type 'Q4'; there are Q4_0,
2~gufo quantize model.gguf q5~unknown type 'q5'; there are Q5_0,
2~gufo quantize model.gguf fp16~unknown type 'fp16'; did you mean 'F16'?
2~gufo quantize model.gguf Q4_K_X~unknown type 'Q4_K_X'; did you mean 'Q4_K_M'?
2~gufo quantize Q4_K_M model.gguf out.gguf~TYPE comes last: gufo quantize model.gguf out.gguf Q4_K_M (see
0~gufo quantize --dry-run model.gguf Q8_0 out.gguf~model.gguf as Q8_0, out.gguf: 
2~gufo edit model.gguf general.name=b~'general.name=b' is not an option; set a value with --set general.name=b (see
2~gufo edit --set general.name b model.gguf~--set needs KEY=VALUE: --set general.name=b (see
2~gufo edit model.gguf --set general.name b~--set needs KEY=VALUE: --set general.name=b (see
2~gufo edit model.gguf --set name=b~key 'name' has no namespace; did you mean 'general.name'? (or use --as-is)
2~gufo edit model.gguf --set license=mit~did you mean 'general.license'?
2~gufo edit model.gguf --set eos=2~did you mean 'tokenizer.ggml.eos_token_id'?
2~gufo edit model.gguf --set Bad-Key.X=2~key 'Bad-Key.X' is not written in lower-case letters and underscores; did you mean 'bad_key.x'?
0~gufo edit --dry-run --as-is model.gguf --set Bad-Key.X=2~+ Bad-Key.X: 
2~gufo info model.gguf~unknown command 'info'; 'gufo show FILE'
2~gufo inspect model.gguf~unknown command 'inspect'; 'gufo show FILE'
2~gufo dump model.gguf~unknown command 'dump'; 'gufo show -v FILE'
2~gufo check model.gguf~unknown command 'check'; 'gufo validate FILE'
2~gufo cat model.gguf~unknown command 'cat'; 'gufo get FILE KEY'
2~gufo rm model.gguf~unknown command 'rm'; 'gufo edit --remove KEY FILE'
2~gufo set model.gguf~unknown command 'set'; 'gufo edit --set KEY=VALUE FILE'
2~gufo merge-lora base.gguf lora.gguf~unknown command 'merge-lora'; 'gufo lora merge BASE ADAPTER -o OUT' merges
2~gufo serve model.gguf~unknown command 'serve'; gufo does not run models; 'gufo estimate FILE' prints
2~gufo meta model.gguf~unknown command 'meta'; 'gufo show FILE'
2~gufo best model.gguf~unknown command 'best' (see gufo --help)
2~gufo sl~unknown command 'sl'; did you mean 'ls'?
2~gufo quant model.gguf Q8_0~unknown command 'quant'; 'gufo quantize FILE TYPE'
2~gufo gguf-dump model.gguf~unknown command 'gguf-dump'; 'gufo show -v FILE'
2~gufo gguf_dump.py model.gguf~unknown command 'gguf_dump.py'; 'gufo show -v FILE'
2~gufo convert_hf_to_gguf.py dir~unknown command 'convert_hf_to_gguf.py'; 'gufo convert DIR'
2~gufo types~unknown command 'types'; 'gufo list types'
2~gufo keys~unknown command 'keys'; 'gufo list keys'
2~gufo rules~unknown command 'rules'; 'gufo list rules'
2~gufo md5 model.gguf~unknown command 'md5'; 'gufo hash FILE'
2~gufo size model.gguf~unknown command 'size'; 'gufo show FILE'
2~gufo version~unknown command 'version'; 'gufo --version'
0~gufo -V~gufo 0.
2~gufo model.gguf~'model.gguf' is not a command; did you mean 'gufo show model.gguf'?
2~gufo quantise model.gguf Q8_0~unknown command 'quantise'; did you mean 'quantize'?
3~gufo convert old.bin~('gufo migrate' converts it)
3~gufo convert model.gguf~this is a GGUF file ('gufo quantize' changes its types)
3~gufo convert model.gguf Q8_0~this is a GGUF file ('gufo quantize' changes its types)
0~gufo convert dir --outtype q8_0 --outfile out.gguf --dry-run~dir as Q8_0, out.gguf: 
0~gufo convert dir --vocab-only --dry-run~dir as dir/Dir-0B-v1.0-vocab.gguf: no tensors
2~gufo lora base.gguf lora.gguf~unknown subcommand 'base.gguf'; use 'gufo lora merge BASE ADAPTER -o OUT'
2~gufo lora merg base.gguf lora.gguf -o out.gguf~unknown subcommand 'merg'; did you mean 'merge'?
2~gufo dir~'dir' is not a command; did you mean 'gufo show dir'?
2~gufo edit model.gguf --set tokenizer.chat_template=@p.txt~the value would be the text '@p.txt'; --set-file tokenizer.chat_template=p.txt takes what the file holds
2~gufo lora merge base.gguf lora.gguf out.gguf~-o gives the output: -o out.gguf
2~gufo lora~the subcommand is missing: merge
2~gufo lora merge base.gguf lora.gguf~-o OUT is needed
0~gufo lora merge --dry-run base.gguf lora.gguf Q8_0~base.gguf with 1 adapter as Q8_0: 
2~gufo imatrix shwo old.bin~unknown subcommand 'shwo'; did you mean 'show'?
2~gufo imatrix old.bin~unknown subcommand 'old.bin'; use show, merge or convert
3~gufo quantize model.gguf missing/out.gguf Q8_0~missing/out.gguf: the folder for it does not exist
3~gufo show model.ggfu~cannot open: No such file or directory (did you mean model.gguf?)
3~gufo show $PWD/modle.gguf~(did you mean *folder/model.gguf?)
3~gufo show short/a.ggf~(did you mean short/a.gguf?)
3~gufo show short/a~(did you mean short/a.gguf?)
3~gufo show short/A.gguf~(did you mean short/a.gguf?)
3~gufo show short/a.bin~(did you mean short/a.gguf?)
3~gufo show ""~gufo: a FILE has an empty name
3~gufo ls ""~gufo: '': 
3~gufo show xyz.gguf~xyz.gguf: cannot open: No such file or directory
0~gufo template chat.gguf list.json~<user>hi
0~gufo template chat.gguf <list.json~<user>hi
0~gufo template chat.gguf object.json~<user>hi
0~cat list.json | gufo template chat.gguf~<user>hi
0~gufo template --ids chat.gguf list.json~1
3~gufo template chat.gguf shape.json~shape.json: 
3~gufo template chat.gguf member.json~member.json: 
2~gufo template chat.gguf '[{"role": "user", "content": "hi"}]'~JSON comes from a file, or from standard input as -: echo * | gufo template FILE - (see
2~gufo template chat.gguf --messages ' {"messages": []}'~JSON comes from a file
2~gufo template chat.gguf list.json --tools "[$(printf '%0600d' 1)]"~JSON comes from a file
0~cp list.json '[1]'; gufo template chat.gguf '[1]'~<user>hi
0~gufo tokenize model.gguf p.txt~p.txt: warning: the name of the file is tokenized as text; -f p.txt reads the file
0~gufo tokenize model.gguf hello~"h"
0~gufo verify model.gguf SUM~model.gguf: all bytes match
0~gufo verify model.gguf sha256:SUM~model.gguf: all bytes match
0~gufo verify model.gguf SHA256:SUM~model.gguf: all bytes match
2~gufo verify model.gguf d41d8cd98f00b204e9800998ecf8427e~'d41d8cd98f00b204e9800998ecf8427e' is not a hash that gufo makes, nor a file; hashes are xxh64 with 16, sha1 with 40, sha256 with 64, blake2b with 128 hex digits
2~gufo verify model.gguf md5:d41d8cd98f00b204e9800998ecf8427e~'md5:d41d8cd98f00b204e9800998ecf8427e' is not a hash
2~gufo verify model.gguf sha1:SUM~is not a hash that gufo makes
3~gufo verify model.gguf d41d8cd98f00~d41d8cd98f00: No such file
1~gufo verify model.gguf 0000000000000000000000000000000000000000000000000000000000000000~model.gguf: *differ
0~gufo verify model.gguf~model.gguf: *same
2~gufo verify chat.gguf~no MANIFEST is given, and chat.gguf.manifest does not exist
2~gufo estimate model.gguf --host 8~--host 8 has no unit, and would be 8 bytes; 8G is 8 GiB
2~gufo estimate model.gguf --gpu 24G~unknown option '--gpu'; --fit 24G is the memory of a device
2~gufo estimate model.gguf --vram 24G~unknown option '--vram'; --fit 24G is the memory of a device
END
}

@test "usage: an alias of an option takes its value with a blank or after an equals sign" {
    table=$(sed -n '/^static command_alias/,/^};/s/^ *{"\(-[^"]*\)", "\(--[^"]*\)"},$/\1 \2/p' \
        "$GUFO_SOURCE"/src/cli/*/*.c)
    [ "$(wc -l <<<"$table")" -gt 10 ]
    while read -r alias name; do
        for form in '=' ' '; do
            # shellcheck disable=SC2086 # words
            run gufo estimate $name$form% missing.gguf
            expected=$output code=$status
            # shellcheck disable=SC2086
            run gufo estimate $alias$form% missing.gguf
            [ "$status" = "$code" ]
            same "$expected"
            lacks 'unknown option'
        done
    done <<<"$table"
    run -2 gufo estimate --n-gpu-layers=% missing.gguf
    has "not '%'"
}

@test "usage: of names that are equally near, the first by its bytes is suggested" {
    for order in 'f c a b d e' 'b c d e f a'; do
        mkdir "$order"
        for letter in $order; do : >"$order/model-$letter.gguf"; done
        run -3 gufo show "$order/model-x.gguf"
        has "(did you mean $order/model-a.gguf?)"
    done
}

@test "usage: every command has a line in the list, a text, its operands and an example" {
    for command in $(gufo completion words '' | sed -n 's/\t.*//p'); do
        run -0 gufo help "$command"
        [[ "${lines[0]}" == "Usage: gufo $command [OPTION...]"* ]]
        [ "$command" = help ] || has "
Examples:
  gufo $command " || has "
  source <(gufo $command "
    done
    run -0 gufo help quantize
    has Q4_K_M
    has 'gufo list'
}

@test "usage: an unknown option suggests the nearest" {
    while read -r nearest arguments; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr gufo $arguments
        same ''
        [[ "$stderr" == "gufo: unknown option '"*"'; did you mean '$nearest'? (see gufo"*')' ]] ||
            { echo "$arguments: $stderr"; return 1; }
    done <<'END'
--quiet show --qiet m.gguf
--quiet --quite show m.gguf
--max-array show m.gguf --max-aray=3
--version --verison
--tensor-type quantize --tenser-type x=y m.gguf Q8_0
--set-string edit m.gguf --set_strng=a=b
END
    run -2 --separate-stderr gufo show m.gguf --xylophone
    same_error "gufo: unknown option '--xylophone' (see gufo help show)"
    run -2 --separate-stderr gufo show m.gguf -jx
    same_error "gufo: unknown option '-jx' (see gufo help show)"
}

@test "usage: a word of a list that is not known suggests the nearest" {
    run -2 --separate-stderr gufo list kyes
    same_error "gufo: unknown list 'kyes'; did you mean 'keys'? (see gufo help list)"
    run -1 --separate-stderr gufo list keys --arch=lama
    same_error "gufo: unknown architecture 'lama'; did you mean 'llama'?"
    run -2 --separate-stderr gufo validate --level=standrad m.gguf
    [[ "$stderr" == *"not 'standrad'; did you mean 'standard'? (see gufo help validate)" ]]
}

@test "usage: an argument that looks like an option is an argument" {
    make_model m.gguf
    run -0 gufo edit -q --set-string general.name=x m.gguf --threads 2
    run -1 --separate-stderr gufo edit --remove --qiet m.gguf
    same_error 'gufo: m.gguf: warning: --remove --qiet: no key matches'
    run -1 --separate-stderr gufo edit -q --copy-from m.gguf '--none*' m.gguf
    same_error ''
    run -0 gufo --thr=2 show --tens m.gguf
}

@test "usage: an error is one line and status 2" {
    make_model m.gguf
    while read -r arguments; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr gufo $arguments
        same ''
        [ "${#stderr_lines[@]}" -eq 1 ] || { echo "$arguments: $stderr"; return 1; }
        [[ "$stderr" == 'gufo: '* ]]
    done <<'END'
--frobnicate
show
show --frobnicate m.gguf
show --max-array m.gguf
show --max-array=x m.gguf
show --max-array=-1 m.gguf
show --max-array=18446744073709551616 m.gguf
show --color=blue m.gguf
show --threads=0 m.gguf
show --threads=many m.gguf
get
get m.gguf
validate
help show get
END
}

@test "usage: all commands take the shared options" {
    make_model m.gguf
    for option in --json --quiet -q --verbose -v --color=never --threads=2 --force; do
        run -0 gufo show "$option" m.gguf
        run -0 gufo get "$option" m.gguf general.name
        run -0 gufo validate --level structure "$option" m.gguf
        run -0 gufo "$option" validate --level structure m.gguf
    done
}

@test "usage: after -- everything is a FILE" {
    make_model ./--json
    run -0 gufo validate --level structure -- --json
    same '--json: valid'
}

@test "usage: an unknown option cannot act on the terminal" {
    run --separate-stderr gufo show $'--\033[31mred'
    [ "$status" -eq 2 ]
    same_error "gufo: unknown option '--\\u{1b}[31mred' (see gufo help show)"
}

@test "usage: the name of a file that is near cannot act on the terminal" {
    : >$'model\033[31m.gguf'
    run -3 --separate-stderr gufo show $'model\033[31m.ggu'
    same_error 'gufo: model\u{1b}[31m.ggu: cannot open: No such file or directory (did you mean model\u{1b}[31m.gguf?)'
}

@test "usage: --output gives what is else the operand OUT" {
    "$GUFO_EXAMPLES/make_sample" m.gguf
    gufo endian -q m.gguf a.gguf --to big
    gufo endian -q m.gguf -o b.gguf --to big
    cmp a.gguf b.gguf
    gufo strip -q m.gguf c.gguf --no-tensors
    gufo strip -q --output=d.gguf m.gguf --no-tensors
    cmp c.gguf d.gguf
    gufo split -q m.gguf -o s --max-tensors 8
    gufo merge -q s-00001-of-00003.gguf -o e.gguf
    cmp e.gguf m.gguf
    gufo quantize -q m.gguf f.gguf Q8_0
    gufo quantize -q m.gguf -o g.gguf Q8_0 1
    cmp f.gguf g.gguf
    "$GUFO_TEST_BIN/make_imatrix" m.dat dat chunks 4 entry w 4 2,6,9
    gufo imatrix merge h.gguf m.dat
    gufo imatrix merge -o i.gguf m.dat
    cmp h.gguf i.gguf
    gufo imatrix convert m.dat -o j.gguf
    cmp h.gguf j.gguf
    run -2 --separate-stderr gufo imatrix show -o x m.gguf
    [ ! -e x ]
    run -2 --separate-stderr gufo endian m.gguf -o b.gguf --to big
    [[ "$stderr" == *exists* ]]
}

@test "usage: OUT is given once" {
    "$GUFO_EXAMPLES/make_sample" m.gguf
    while read -r arguments; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr gufo $arguments
        [[ "$stderr" == *"OUT is given twice: by --output and as 'two.gguf'"* ]]
        files m.gguf
    done <<'END'
endian m.gguf two.gguf -o one.gguf --to big
strip m.gguf two.gguf --no-tensors -o one.gguf
merge m.gguf two.gguf -o one.gguf
split m.gguf two.gguf -o one --max-tensors 3
quantize m.gguf two.gguf Q8_0 -o one.gguf
imatrix convert m.gguf two.gguf -o one.gguf
END
}
