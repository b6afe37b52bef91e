# Completion of gufo for fish; 'gufo completion' prints it, too.

function __gufo_complete
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    # Of a word in quotes, the opening one alone is there.
    set -l plain (string unescape -- $token (string replace -r '^(["\'])(.*)$' '$1$2$1' -- $token))[1]
    set -l command $words[1]
    string match -q '~/*' -- $command; and set command $HOME(string sub -s 2 -- $command)
    command -sq $command; or return
    set -l answer ($command completion words $words[2..-1] "$plain" 2>/dev/null)
    set -l before (string match -r '^.*=' -- $plain)
    set -l rest (string replace -r '^.*=' '' -- $plain)
    switch "$answer[1]"
        case models
            # Folders, to go into, and model files; any file where there is no model.
            set -l paths (__fish_complete_path "$rest")
            set -l models (string match -r '^.*(?:/|\.gguf)(?:\t.*)?$' -- $paths)
            test -n "$models"; or set models $paths
            printf '%s\n' "$before"$models
        case files
            printf '%s\n' "$before"(__fish_complete_path "$rest")
        case folders
            printf '%s\n' "$before"(__fish_complete_directories "$rest")
    end
    for line in $answer[2..-1]
        echo "$before$line"
    end
end

complete -c gufo -f -a '(__gufo_complete)'
