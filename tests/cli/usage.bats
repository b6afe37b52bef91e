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

@test "usage: what other programs call a command, an option or a file" {
    run -0 gufo -V
    [[ "${lines[0]}" == 'gufo '* ]]
    while IFS='~' read -r word means; do
        run -2 --separate-stderr gufo "$word" m.gguf
        [[ "$stderr" == "gufo: unknown command '$word'; 'gufo $means"*' (see gufo --help)' ]]
    done <<'END'
info~show FILE'
inspect~show FILE'
dump~show -v FILE'
check~validate FILE'
cat~get FILE KEY'
rm~edit --remove KEY FILE'
set~edit --set KEY=VALUE FILE'
version~--version'
END
    make_gguf model.gguf kv general.architecture string llama kv general.name string a
    run -2 --separate-stderr gufo edit model.gguf general.name=b
    same_error "gufo: 'general.name=b' is not an option; set a value with --set general.name=b (see gufo help edit)"
    for order in '--set general.name b model.gguf' 'model.gguf --set general.name b'; do
        # shellcheck disable=SC2086 # words
        run -2 --separate-stderr gufo edit $order
        same_error 'gufo: --set needs KEY=VALUE: --set general.name=b (see gufo help edit)'
    done
    run -3 --separate-stderr gufo show model.ggfu
    same_error 'gufo: model.ggfu: cannot open: No such file or directory (did you mean model.gguf?)'
    run -3 --separate-stderr gufo show "$PWD/modle.gguf"
    [[ "$stderr" == *"(did you mean $PWD/model.gguf?)" ]]
    run -3 --separate-stderr gufo show b.gguf
    same_error 'gufo: b.gguf: cannot open: No such file or directory'
    mkdir short
    touch short/a.gguf short/a.safetensors
    for order in a.ggf a A.gguf a.bin; do
        run -3 --separate-stderr gufo show "short/$order"
        same_error "gufo: short/$order: cannot open: No such file or directory (did you mean short/a.gguf?)"
    done
    run -2 --separate-stderr gufo quantize Q4_K_M model.gguf out.gguf
    same_error 'gufo: TYPE comes last: gufo quantize model.gguf out.gguf Q4_K_M (see gufo help quantize)'
    run -3 --separate-stderr gufo quantize model.gguf missing/out.gguf Q8_0
    same_error 'gufo: missing/out.gguf: the folder for it does not exist'
    run -2 --separate-stderr gufo lora model.gguf adapter.gguf
    same_error "gufo: unknown subcommand 'model.gguf'; use 'gufo lora merge BASE ADAPTER -o OUT' (see gufo help lora)"
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
