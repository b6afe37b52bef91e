#!/usr/bin/env bats
# bats file_tags=plain
# The progress bar in a terminal: one line at any width, also when the width changes; and gufo progress, likewise.
#
# Commands work on files that are large and take no room, on a disk that is slow (slow_files.c), in a terminal of
# each width at the same time, until the bar was seen; then they are ended.

# The inner shell expands.
# shellcheck disable=SC2016

load common

needs() {
    command -v tmux >/dev/null || skip "tmux is missing"
    [ -e "$GUFO_TEST_BIN/slow_files.so" ] || skip "no program can be made slow here"
}

# A server of its own for every command: the one before may still be ending.
server=0
terminal() {
    tmux -L "gufo-$$-$BATS_TEST_NUMBER-$server" -f /dev/null "$@"
}

teardown() {
    finish
}

# Ends the commands and their terminals.
finish() {
    cat pid.* 2>/dev/null | xargs -r kill -KILL 2>/dev/null || true
    terminal kill-server 2>/dev/null || true
    rm -f pid.* out.* # of an interrupted run, too
    server=$((server + 1))
}

# large NAME GIGABYTES: a tensor of zeros, with the wrong file type.
large() {
    make_gguf "$1" nopad kv general.architecture string llama kv general.file_type uint32 7 \
        tensor a.weight 0 "4096x$(($2 * 65536))" 0
    truncate -s "+$2G" "$1"
}

# start COLUMNS ARGUMENT...: the command in a terminal of that width.  @ is the width in arguments; standard
# output goes to $redirect, if that is set.
start() {
    local columns=$1
    shift
    printf 'echo $BASHPID >pid.%s; LD_PRELOAD=%q exec %q' "$columns" "$GUFO_TEST_BIN/slow_files.so" \
        "$GUFO" >"run.$columns"
    printf ' %q' "${@//@/$columns}" >>"run.$columns"
    printf '%s\n' "${redirect:+ >$redirect}" >>"run.$columns"
    terminal new-session -d -s "w$columns" -x "$columns" -y 12 \
        "echo before; bash run.$columns; echo after; sleep 60"
}

# look NAME PATTERN: waits for a bar of that look, with the time that is left; it is the only line.
look() {
    local shown=
    for ((i = 0; i < 1000; i++)); do
        shown=$(terminal capture-pane -p -t "w$1" 2>/dev/null)
        if [[ "$shown" =~ (^|$'\n')\ *[0-9]+\ %\ \[$2\][^$'\n']*\ [0-9:]+\ left($|$'\n') ]]; then
            [ "$(sed '/^$/d; /^before$/d' <<<"$shown" | wc -l)" -eq 1 ] && return
        fi
        sleep 0.02
    done
    printf 'in terminal %s:\n%s\n' "$1" "$shown"
    return 1
}

widths() {
    start 120 "$@"
    start 80 "$@"
    start 50 "$@"
    look 120 '[# ]{30}'
    look 80 '[# ]{10,30}'
    look 50 '[# ]{10,28}'
    finish
}

# each: the commands of a table.
each() {
    local line
    while read -r line; do
        eval "widths $line" </dev/null
    done
}

@test "progress: commands that write" {
    large in.gguf 4
    gufo split -q --max-tensors=1 in.gguf set
    for width in 50 80 120; do cp --sparse=always in.gguf "copy.$width.gguf"; done
    each <<'EOF'
quantize --threads 1 in.gguf out.@.gguf Q4_K_M
endian --to=big --threads 1 in.gguf out.@.gguf
split --max-tensors=1 in.gguf out.@
merge set-00001-of-00001.gguf -o out.@.gguf
strip --tensors='a*' in.gguf out.@.gguf
extract in.gguf a.weight -o out.@.raw
edit --in-place=no --set general.name=a copy.@.gguf
edit --set general.name=a in.gguf -o out.@.gguf
EOF
    redirect=/dev/null # the verdict on the input comes first
    widths validate --fix in.gguf -o out.@.gguf
}

@test "progress: commands that read" {
    large in.gguf 4
    large other.gguf 4
    echo 'xxh64     a154097c802cbd60  in.gguf:a.weight' >manifest
    each <<'EOF'
hash --threads 1 in.gguf
verify --threads 1 in.gguf manifest
EOF
    redirect=/dev/null
    each <<'EOF'
stats --threads 1 in.gguf
validate --data --threads 1 in.gguf
diff --threads 1 in.gguf other.gguf
EOF
}

@test "progress: sign" {
    gufo sign -q --generate --no-password key || skip "this gufo cannot sign"
    large in.gguf 4
    widths sign --key=key.key in.gguf
}

@test "progress: a bar stays one line when the terminal is resized" {
    large in.gguf 4
    start 120 hash --threads 1 in.gguf
    look 120 '[# ]{30}'
    terminal resize-window -t w120 -x 50
    look 120 '[# ]{10,28}'
    terminal resize-window -t w120 -x 120
    look 120 '[# ]{30}'
}

@test "progress: the bar is gone when the result is written" {
    make_gguf in.gguf nopad tensor a.weight 0 4096x16384 0
    truncate -s +256M in.gguf
    start 80 extract in.gguf a.weight -o out.raw
    look 80 '[# ]{10,30}'
    for ((i = 0; i < 1000; i++)); do
        shown=$(terminal capture-pane -p -t w80)
        [[ $shown != *after* ]] || break
        sleep 0.02
    done
    [ "$shown" = $'before\nout.raw: 268 MB, 1 tensor\nafter' ]
}

@test "progress: no bar where a terminal takes nothing but text" {
    need_terminal
    make_large 8192
    run -0 on_terminal env TERM=xterm LD_PRELOAD="$GUFO_TEST_BIN/slow_files.so" "$GUFO" hash --color=never large.gguf
    has $'\033[?7l'
    run -0 on_terminal env TERM=dumb LD_PRELOAD="$GUFO_TEST_BIN/slow_files.so" "$GUFO" hash large.gguf
    lacks $'\033'
}

# shows PATTERN: waits until the terminal of gufo progress shows that, at the end of a line.
shows() {
    for ((i = 0; i < 1000; i++)); do
        shown=$(terminal capture-pane -p -t parts 2>/dev/null)
        [[ ! "$shown"$'\n' =~ $1$'\n' ]] || return 0
        sleep 0.02
    done
    printf '%s\n' "$shown"
    return 1
}

@test "progress: of parts, one screen whatever the width; ^C leaves the last one" {
    mkdir numbers
    "$GUFO_TEST_BIN/make_checkpoint" numbers embd 256
    gufo convert -q numbers in.gguf F16
    gufo quantize -q in.gguf out.gguf Q8_0 --part 0/2 --part-align 4K
    terminal new-session -d -s parts -x 100 -y 12 \
        "bash -c 'trap : INT; echo before; \"$GUFO\" progress out.gguf; echo status=\$?; sleep 60'"
    shows '\[#+\ +\][^\n]*'
    wide=$(grep -c '' <<<"$shown")
    [[ "$shown" != *before* ]]
    for columns in 60 40 100; do
        terminal resize-window -t parts -x $columns
        for ((i = 0; i < 150; i++)); do # it is drawn every second
            bar=$(terminal capture-pane -p -t parts | grep '% \[')
            [ "${#bar}" -gt $((columns * 3 / 4)) ] && [ "${#bar}" -lt "$columns" ] && break
            sleep 0.02
        done
        shown=$(terminal capture-pane -p -t parts)
        [ "$(grep -c '% \[' <<<"$shown")" -eq 1 ] && [ "$(grep -c '^out.gguf: ' <<<"$shown")" -eq 1 ]
    done
    [ "$wide" -ge 2 ]
    terminal send-keys -t parts C-c
    shows 'status=4'
    [[ "$shown" == before$'\n''out.gguf: '*'% ['* ]]
    [ "$(grep -c '% \[' <<<"$shown")" -eq 1 ]
}
