#!/usr/bin/env bats
# bats file_tags=plain
# The completion scripts, in the shells that they are for.

# $-signs of what other shells read are meant as they are; bats sets lines.
# shellcheck disable=SC2016,SC2088,SC2154

load common

need() {
    command -v "$1" >/dev/null || skip "$1 is missing"
}

# A folder to complete in, and gufo in the path; $home is a home folder without settings.
prepare() {
    home=$BATS_TEST_TMPDIR/home
    mkdir -p "$home/bin" && ln -s "$GUFO" "$home/bin/gufo"
    export HOME=$home PATH=$home/bin:$PATH TERM=xterm
    make_model model.gguf
    make_model 'with blanks.gguf'
    mkdir folder
    touch template.txt key.pub
}

# What each shell makes of a line, when its last word is completed: LINE, and the words that are offered (more
# than the test asks for may be).
cases=(
    'gufo quan|quantize'
    'gufo show mo|model.gguf'
    'gufo show with|with blanks.gguf'
    'gufo show fo|folder/'
    'gufo show --color=|--color=always --color=auto --color=never'
    'gufo imatrix me|merge'
    'gufo quantize --types-f|--types-from'
    'gufo quantize model.gguf out.gguf Q4_K_|Q4_K_M Q4_K_S'
    'gufo get model.gguf llama.context|llama.context_length'
    'gufo get with\ blanks.gguf llama.context|llama.context_length'
    'gufo edit model.gguf --set-file tokenizer.chat_template=te|tokenizer.chat_template=template.txt'
    'gufo verify --key=k|--key=key.pub'
    'gufo verify model.gguf te|template.txt'
    '~/bin/gufo quan|quantize'
    './nothing/gufo quan|'
    'gufo quantiz --|'
)

# Whether a list of words, one per line, has those of a case; and none where it has none.
offered() {
    local line=$1 wanted=$2 got=$3 word
    if [ -z "$wanted" ]; then
        [ -z "$got" ] || { printf '%s: %s\n' "$line" "$got"; return 1; }
    elif [[ $wanted == *.gguf ]]; then
        grep -qxF -- "$wanted" <<<"$got" || { printf '%s: %s\n' "$line" "$got"; return 1; }
    else
        for word in $wanted; do
            grep -qxF -- "$word" <<<"$got" || { printf '%s: %s\n' "$line" "$got"; return 1; }
        done
    fi
}

@test "completion: bash" {
    prepare
    gufo completion bash >script
    bash -n script
    cat >ask <<'EOF'
source ./script
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
line=$1
line=${line//=/ = }
line=${line//\\ /@}
read -r -a COMP_WORDS <<<"$line"
COMP_WORDS=("${COMP_WORDS[@]//@/\\ }")
[[ $line != *" = " ]] || COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_gufo "${COMP_WORDS[0]}"
printf '%s\n' "${COMPREPLY[@]}"
EOF
    for each in "${cases[@]}"; do
        wanted=${each#*|}
        # In bash what follows "=" is a word of its own, and folders get their slash from readline.
        wanted=${wanted//--color=/}
        wanted=${wanted##*=}
        offered "${each%%|*}" "${wanted%/}" "$(bash ask "${each%%|*}")"
    done
}

@test "completion: fish" {
    need fish
    prepare
    gufo completion fish >script
    fish --no-execute script
    {
        echo 'source ./script'
        for each in "${cases[@]}"; do
            line=${each%%|*}
            printf "complete -C '%s'\necho =end\n" "${line//\\/\\\\}"
        done
        printf 'complete -C "%s"\necho =end\n' 'gufo show \"wi' 'gufo '
    } >ask
    fish --no-config ask >answers 2>errors
    [ ! -s errors ] || { cat errors; return 1; }
    {
        for each in "${cases[@]}" 'gufo show "wi|with blanks.gguf' 'gufo |quantize show completion'; do
            answer=
            while read -r word && [ "$word" != =end ]; do
                answer+=${word%%$'\t'*}$'\n'
            done
            offered "${each%%|*}" "${each#*|}" "${answer%$'\n'}"
        done
    } <answers
}

# Of a terminal with zsh: what becomes of a line after a tab, where one word fits.
@test "completion: zsh" {
    need zsh
    need tmux
    prepare
    mkdir functions
    gufo completion zsh >functions/_gufo
    zsh -n functions/_gufo
    cat >.zshrc <<'EOF'
PROMPT='> '
fpath=($PWD/functions $fpath)
autoload -Uz compinit
compinit -u -D
report() { BUFFER=${BUFFER% }; print -r -- "$BUFFER" >>lines; BUFFER=; }
zle -N report
bindkey '^T' report
touch ready
EOF
    terminal() { tmux -L "gufo-$$-zsh" -f /dev/null "$@"; }
    terminal new-session -d -s zsh -x 100 -y 24 "ZDOTDIR=$PWD zsh -i"
    for ((i = 0; i < 250; i++)); do
        [ ! -e ready ] || break
        sleep 0.02
    done
    for each in "${cases[@]}"; do
        line=${each%%|*} wanted=${each#*|}
        [[ -n $wanted && ($wanted == *.gguf || $wanted != *' '*) ]] || continue
        terminal send-keys -t zsh -l "$line"
        terminal send-keys -t zsh Tab C-t
        printf '%s\n' "${line% *} ${wanted// /\\ }" >>expected
        for ((i = 0; i < 250; i++)); do
            [ "$(wc -l <expected)" != "$(wc -l 2>/dev/null <lines)" ] || break
            sleep 0.01
        done
    done
    terminal kill-server || true
    diff expected lines
}
