# shellcheck shell=bash
# Completion of gufo for bash; 'gufo completion' prints it, too.

# A word without its quotes, in $word.
_gufo_plain() {
    word=$1
    case $word in
    [\'\"]*)
        [[ ${#word} -eq 1 || $word != *"${word:0:1}" ]] || word=${word%?}
        word=${word#?}
        ;;
    *) word=${word//\\/} ;;
    esac
}

_gufo() {
    local words=() answer=() word i glue=""
    # "=" is a word of its own in bash.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        _gufo_plain "${COMP_WORDS[i]}"
        if [[ ${#words[@]} -gt 0 && ($word == "=" || $glue) ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
        glue=""
        [[ $word != "=" ]] || glue=yes
    done
    [[ $word != "=" ]] || word=""
    mapfile -t answer < <("${1/#\~/$HOME}" completion words "${words[@]/#\~\//$HOME/}" 2>/dev/null)
    COMPREPLY=()
    case ${answer[0]-} in
    models)
        # Folders, to go into, and model files; any file where there is no model.
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "$word"; compgen -f -X '!*.gguf' -- "$word")
        ((${#COMPREPLY[@]})) || mapfile -t COMPREPLY < <(compgen -f -- "$word")
        ;;
    files | folders)
        local kind=-f
        [[ ${answer[0]} == files ]] || kind=-d
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen $kind -- "$word")
        ;;
    esac
    for ((i = 1; i < ${#answer[@]}; i++)); do
        COMPREPLY+=("${answer[i]%%$'\t'*}")
    done
}

complete -F _gufo gufo
