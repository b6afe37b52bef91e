# shellcheck shell=bash
# Completion of gufo for bash.

# The options of a command, beside those that all share.
_gufo_options() {
    case $1 in
    show) echo --metadata --tensors --array-limit --lenient --single ;;
    get) echo --raw --output --single ;;
    validate) echo --level --strict --data --fix --output --list-rules --single ;;
    stats) echo --tensors --lenient --single ;;
    quantize)
        echo --allow-requantize --leave-output-tensor --pure --imatrix --include-weights \
            --exclude-weights --output-tensor-type --token-embedding-type --tensor-type \
            --tensor-type-file --prune-layers --keep-split --override-kv --dry-run --no-fallback \
            --effort --keep-nonfinite --memory --resume --report
        ;;
    edit)
        echo --set --set-string --set-file --set-json --remove --rename --rename-tensor --copy-from \
            --output --in-place --reserve --dry-run --recover
        ;;
    split) echo --max-size --max-tensors --no-tensor-first-split --dry-run ;;
    merge) echo --dry-run ;;
    endian) echo --to --dry-run ;;
    extract) echo --format --dtype --output ;;
    strip) echo --vocab-only --no-tensors --tensors --dry-run --output ;;
    name) echo --suggest --rename --single ;;
    list) echo --arch ;;
    imatrix) echo --format --chunk-size ;;
    diff) echo --values ;;
    hash) echo --xxh64 --sha1 --sha256 --blake2b --uuid --all --no-tensors --single ;;
    verify) echo --key --signature --single ;;
    sign)
        echo --key --password-file --comment --output --generate --no-password --single
        ;;
    esac
    echo --json --quiet --verbose --color --threads --force --help
}

_gufo() {
    local commands="show get validate stats quantize edit imatrix diff hash verify sign split merge endian extract strip name explain list help"
    local lists="keys archs tensors types filetypes tokenizers pretokenizers rules"
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
        local formats="gguf dat"
        [[ $command != extract ]] || formats="raw npy safetensors"
        mapfile -t COMPREPLY < <(compgen -W "$formats" -- "$word")
        return
        ;;
    --dtype)
        mapfile -t COMPREPLY < <(compgen -W "f32 f16 bf16" -- "$word")
        return
        ;;
    --to)
        mapfile -t COMPREPLY < <(compgen -W "little big other" -- "$word")
        return
        ;;
    --level)
        mapfile -t COMPREPLY < <(compgen -W "structure standard model" -- "$word")
        return
        ;;
    --in-place)
        mapfile -t COMPREPLY < <(compgen -W "auto yes no" -- "$word")
        return
        ;;
    --key | --signature | --password-file)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
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
    --array-limit | --max-size | --max-tensors | --threads | --chunk-size | --memory | --prune-layers | --override-kv | --tensor-type | --arch) return ;;
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
    elif [[ $command == list ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$lists" -- "$word")
    elif [[ $command == explain ]]; then
        :
    elif [[ $command == imatrix || $command == verify || $command == sign ]]; then
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
