#!/usr/bin/env bats
# The progress bar in a terminal: one line at any width, also when the width changes, and nothing
# of it is left.
#
# A command works on files that are large and take no room.  It is stopped and continued all the
# time, so that it is slow on every machine and there is time to look; when all widths have been
# seen it is ended.

load common

setup_file() {
    command -v tmux >/dev/null || skip "tmux is missing"
}

terminal() {
    tmux -L "gufo-$$-$BATS_TEST_NUMBER" -f /dev/null "$@"
}

# Ends the command and its terminal.
finish() {
    [ -z "${throttle:-}" ] || kill "$throttle" 2>/dev/null || true
    throttle=
    [ ! -s pid ] || kill -KILL "$(<pid)" 2>/dev/null || true
    terminal kill-server 2>/dev/null || true
    rm -f pid
}

teardown() {
    finish
}

# large NAME GIGABYTES [KEY...]: a tensor of zeros.
large() {
    make_gguf "$1" nopad "${@:3}" tensor a.weight 0 "4096x$(($2 * 65536))" 0
    truncate -s "+$2G" "$1"
}

# slow_down PID: lets it work for a few milliseconds, again and again.
slow_down() {
    while kill -STOP "$1" 2>/dev/null; do
        sleep 0.02
        kill -CONT "$1" 2>/dev/null || return 0
        sleep 0.004
    done
}

# start COLUMNS ARGUMENT...: the command in a terminal, slowly.  Its standard output goes to
# $redirect, if that is set.  A shell is between it and tmux, which continues what is stopped.
start() {
    local columns=$1
    shift
    printf 'echo $BASHPID >pid; exec %q' "$GUFO" >run
    printf ' %q' "$@" >>run
    printf '%s\n' "${redirect:+ >$redirect}" >>run
    terminal new-session -d -x "$columns" -y 12 "echo before; bash run; echo after; sleep 60"
    for ((i = 0; i < 1000; i++)); do
        [ ! -s pid ] || break
        sleep 0.01
    done
    slow_down "$(<pid)" 3>&- &
    throttle=$!
}

# look COLUMNS PATTERN: waits for a bar that was drawn for this width, with the time that is left,
# and is the only one.
look() {
    local shown=
    terminal resize-window -x "$1"
    for ((i = 0; i < 150; i++)); do
        shown=$(terminal capture-pane -p)
        if grep -Eq "^ *[0-9]+ % \[$2\].* [0-9:]+ left\$" <<<"$shown"; then
            [ "$(sed '/^$/d; /^before$/d' <<<"$shown" | wc -l)" -eq 1 ] && return
        fi
        sleep 0.02
    done
    printf 'at %s columns:\n%s\n' "$1" "$shown"
    return 1
}

# widths ARGUMENT...: the command at 120, 80, 50 and 120 columns again; when it is interrupted, no
# bar is left.
widths() {
    start 120 "$@"
    look 120 '[# ]{30}'
    look 80 '[# ]{10,28}'
    look 50 '[# ]{10,28}'
    look 120 '[# ]{30}'
    finish
}

@test "progress: quantize" {
    large in.gguf 1
    widths quantize --threads 1 in.gguf out.gguf Q4_K_M
}

@test "progress: hash, verify" {
    large in.gguf 16
    widths hash --threads 1 in.gguf
    echo 'xxh64     a154097c802cbd60  in.gguf:a.weight' >manifest
    widths verify --threads 1 in.gguf manifest
}

@test "progress: stats, validate --data, diff" {
    large in.gguf 16
    redirect=/dev/null
    widths stats --threads 1 in.gguf
    widths validate --data --threads 1 in.gguf
    large other.gguf 16
    widths diff --threads 1 in.gguf other.gguf
}

# Split, merge, strip and extract share this one's code.  Numbers are swapped, so that no file
# system shares the blocks.
@test "progress: endian" {
    large in.gguf 1
    widths endian --to big --threads 1 in.gguf out.gguf
}
