# shellcheck shell=bash
# Completion of gufo for bash.

# The options of a command, beside those that all share.
_gufo_options() {
    case $1 in
    show) echo --metadata --tensors --array-limit --lenient --single ;;
    get) echo --raw --output --single ;;
    validate) echo --strict --data --list-rules --single ;;
    stats) echo --tensors --lenient --single ;;
    quantize)
        echo --allow-requantize --leave-output-tensor --pure --imatrix --include-weights \
            --exclude-weights --output-tensor-type --token-embedding-type --tensor-type \
            --tensor-type-file --prune-layers --keep-split --override-kv --dry-run --no-fallback \
            --effort --keep-nonfinite --memory --resume --report
        ;;
    imatrix) echo --format --chunk-size ;;
    esac
    echo --json --quiet --verbose --color --threads --force --help
}

_gufo() {
    local commands="show get validate stats quantize imatrix help"
    local word=${COMP_WORDS[COMP_CWORD]} previous="" command="" i
    ((COMP_CWORD > 0)) && previous=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()

    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ " $commands " == *" ${COMP_WORDS[i]} "* ]]; then
            command=${COMP_WORDS[i]}
            break
        fi
    done

    # What an option wants.  "=" is a word of its own in bash.
    if [[ $word == "=" ]]; then
        word=""
    elif [[ $previous == "=" ]] && ((COMP_CWORD > 1)); then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case $previous in
    --format)
        mapfile -t COMPREPLY < <(compgen -W "gguf dat" -- "$word")
        return
        ;;
    --color)
        mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$word")
        return
        ;;
    --effort)
        mapfile -t COMPREPLY < <(compgen -W "reference high" -- "$word")
        return
        ;;
    --array-limit | --threads | --chunk-size | --memory | --prune-layers | --override-kv | --tensor-type) return ;;
    esac

    if [[ $word == -* ]]; then
        local options="--help --version"
        if [[ $command ]]; then
            options=$(_gufo_options "$command")
        fi
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    elif [[ ! $command || $command == help ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word")
    elif [[ $command == imatrix && $previous == imatrix ]]; then
        mapfile -t COMPREPLY < <(compgen -W "show merge convert" -- "$word")
    elif [[ $command == imatrix ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    else
        # Folders, to go into, and model files; any file where there is no model.
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "$word"; compgen -f -X '!*.gguf' -- "$word")
        if ((${#COMPREPLY[@]} == 0)); then
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
    fi
}

complete -F _gufo gufo
