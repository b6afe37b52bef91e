# Completion of gufo for fish; 'gufo completion' prints it, too.

function __gufo_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l answer ($words[1] completion words $words[2..-1] 2>/dev/null)
    set -l before (string match -r '^.*=' -- $words[-1])
    set -l rest (string replace -r '^.*=' '' -- $words[-1])
    switch "$answer[1]"
        case models files
            printf '%s\n' $before(__fish_complete_path $rest)
        case folders
            printf '%s\n' $before(__fish_complete_directories $rest)
    end
    for line in $answer[2..-1]
        echo $before$line
    end
end

complete -c gufo -f -a '(__gufo_complete)'
