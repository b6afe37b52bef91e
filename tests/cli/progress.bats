#!/usr/bin/env bats
# The progress bar in a terminal: one line at any width, also when the width changes.
#
# Commands work on files that are large and take no room, in a terminal of each width at the same
# time, until the bar was seen; then they are ended.

load common

setup_file() {
    command -v tmux >/dev/null || skip "tmux is missing"
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
    rm -f pid.*
    server=$((server + 1))
}

# large NAME GIGABYTES: a tensor of zeros.
large() {
    make_gguf "$1" nopad tensor a.weight 0 "4096x$(($2 * 65536))" 0
    truncate -s "+$2G" "$1"
}

# start COLUMNS ARGUMENT...: the command in a terminal of that width.  @ is the width in arguments; standard
# output goes to $redirect, if that is set.
start() {
    local columns=$1
    shift
    printf 'echo $BASHPID >pid.%s; exec %q' "$columns" "$GUFO" >"run.$columns"
    printf ' %q' "${@//@/$columns}" >>"run.$columns"
    printf '%s\n' "${redirect:+ >$redirect}" >>"run.$columns"
    terminal new-session -d -s "w$columns" -x "$columns" -y 12 \
        "echo before; bash run.$columns; echo after; sleep 60"
}

# look NAME PATTERN: waits for a bar of that look, with the time that is left; it is the only line.
look() {
    local shown=
    for ((i = 0; i < 1000; i++)); do
        shown=$(terminal capture-pane -p -t "w$1")
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
    look 80 '[# ]{10,28}'
    look 50 '[# ]{10,28}'
    finish
}

@test "progress: quantize" {
    large in.gguf 8
    widths quantize --threads 1 in.gguf out.@.gguf Q4_K_M
}

@test "progress: hash, verify" {
    large in.gguf 64
    widths hash --threads 1 in.gguf
    echo 'xxh64     a154097c802cbd60  in.gguf:a.weight' >manifest
    widths verify --threads 1 in.gguf manifest
}

@test "progress: stats, validate --data, diff" {
    large in.gguf 64
    redirect=/dev/null
    widths stats --threads 1 in.gguf
    widths validate --data --threads 1 in.gguf
    large other.gguf 64
    widths diff --threads 1 in.gguf other.gguf
}

# Numbers are swapped, so that no file system shares the blocks.  Split, merge, strip and extract show the same
# bar, but a file without blocks is copied at once.
@test "progress: endian" {
    large in.gguf 4
    widths endian --to big --threads 1 in.gguf out.@.gguf
}

@test "progress: a bar stays one line when the terminal is resized" {
    large in.gguf 64
    start 120 hash --threads 1 in.gguf
    look 120 '[# ]{30}'
    terminal resize-window -t w120 -x 50
    look 120 '[# ]{10,28}'
    terminal resize-window -t w120 -x 120
    look 120 '[# ]{30}'
}
