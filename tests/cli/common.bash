# What every test of the command begins with.
#
# From the environment: GUFO, the command; GUFO_TEST_BIN, the folder with make_gguf.
# Every test runs in an empty folder of its own.
#
# The tag "plain" says: not with sanitizers, which see the same code elsewhere.  It belongs to tests whose time goes
# into work of the library on files that are as they should be (tests/ROOM has that with sanitizers), into waiting,
# killing or other programs, or into words of the command line alone.  What reads damaged or hostile files has no tag.
# The tag "legacy" says: reads a file of a format before GGUF, which -DGUFO_LEGACY=OFF leaves out.
#   # bats test_tags=plain   before a test
#   # bats file_tags=plain   before all of them
# shellcheck shell=bash
# shellcheck disable=SC2154  # bats sets output, stderr and lines

bats_require_minimum_version 1.8.0

# A file whose tests need what may be missing has a function `needs`, which skips them: a skip in setup_file is a failure
# for bats 1.8.
setup() {
    if declare -F needs >/dev/null; then
        needs
    fi
    : "${GUFO:?the path of the command}" "${GUFO_TEST_BIN:?the folder of the helper programs}"
    mkdir "$BATS_TEST_TMPDIR/folder" && cd "$BATS_TEST_TMPDIR/folder" || return 1
    unset NO_COLOR GUFO_CPU PAGER LESS COLUMNS
    export LC_ALL=C.UTF-8 GUFO_PAGER=
    locate_failures_only
}

# bats notes before every command where it is, in functions of the shell, which takes a quarter of the time of these
# tests.  bash says where a command is when it fails.
locate_failures_only() {
    if [ "${BATS_TRACE_LEVEL:-0}" -gt 0 ] || ! declare -F bats_capture_stack_trace bats_error_trap >/dev/null; then
        return 0
    fi
    trap - DEBUG
    trap locate_failure ERR
    BATS_DEBUG_LAST_STACK_TRACE=()
    BATS_DEBUG_LAST_STACK_TRACE_IS_VALID=1
}

locate_failure() {
    local status=$?
    bats_capture_stack_trace
    (exit "$status") || bats_error_trap
}

gufo() {
    "$GUFO" "$@"
}

make_gguf() {
    "$GUFO_TEST_BIN/make_gguf" "$@"
}

# rows LIST: what gufo list prints, without the names of columns.
rows() {
    gufo list "$@" | case $1 in *types) sed 1d ;; *) cat ;; esac
}

# same EXPECTED: the output of `run` is exactly that.
same() {
    if [ "$output" != "$1" ]; then
        printf 'expected: %s\n     got: %s\n' "$1" "$output"
        return 1
    fi
}

# same_error EXPECTED: what went to standard error (run --separate-stderr) is exactly that.
same_error() {
    if [ "$stderr" != "$1" ]; then
        printf 'expected: %s\n     got: %s\n' "$1" "$stderr"
        return 1
    fi
}

# has TEXT: the output contains it.
has() {
    if [[ "$output" != *"$1"* ]]; then
        printf 'not found: %s\n      in: %s\n' "$1" "$output"
        return 1
    fi
}

lacks() {
    if [[ "$output" == *"$1"* ]]; then
        printf 'found: %s\n   in: %s\n' "$1" "$output"
        return 1
    fi
}

same_list() {
    [ "$1" = "$2" ] || { printf 'expected: %s\n     got: %s\n' "$1" "$2"; return 1; }
}

# files NAME...: exactly these are in the folder.
files() {
    same_list "$(printf '%s\n' "$@" | sort)" "$(find . -mindepth 1 -printf '%P\n' | sort)"
}

# A small model with a bit of everything.
make_model() {
    make_gguf "$1" \
        kv general.architecture string llama \
        kv general.name string 'Tiny' \
        kv llama.context_length uint32 2048 \
        kv llama.block_count uint32 2 \
        kv llama.attention.head_count uint32 8 \
        kv llama.attention.head_count_kv uint32 4 \
        arr tokenizer.ggml.tokens string 10 a b c d e f g h i j \
        kv tokenizer.ggml.model string gpt2 \
        tensor token_embd.weight 0 32x10 1280 \
        tensor output.weight 1 32x10 640
}

# make_shards PREFIX: two shards of one model, with one tensor each.
make_shards() {
    make_gguf "$1-00001-of-00002.gguf" kv general.architecture string llama \
        kv split.no uint16 0 kv split.count uint16 2 kv split.tensors.count int32 2 \
        tensor a 0 8 32
    make_gguf "$1-00002-of-00002.gguf" kv general.architecture string llama \
        kv split.no uint16 1 kv split.count uint16 2 kv split.tensors.count int32 2 \
        tensor b 0 16 64
}

# make_whole PREFIX: whole.gguf, the model that make_shards has made shards of.
make_whole() {
    local first second
    first=$(tail -c 32 "$1-00001-of-00002.gguf" | od -An -v -tx1 | tr -d ' \n')
    second=$(tail -c 64 "$1-00002-of-00002.gguf" | od -An -v -tx1 | tr -d ' \n')
    make_gguf whole.gguf kv general.architecture string llama tensor a 0 8 32 tensor b 0 16 64
    local at=$(($(stat -c %s whole.gguf) - 96))
    make_gguf whole.gguf kv general.architecture string llama tensor a 0 8 32 tensor b 0 16 64 \
        poke "$at" "$first" poke $((at + 32)) "$second"
}

# on_terminal COMMAND...: runs it with a terminal as standard output, 80 columns wide.
on_terminal() {
    local quoted
    printf -v quoted '%q ' "$@"
    # The shell that quoted must be the one that reads it.
    SHELL=$BASH script --quiet --return --command "stty cols 80 rows 24; $quoted" /dev/null </dev/null
}

need_terminal() {
    command -v script >/dev/null || skip "script (util-linux) is missing"
    script --quiet --return --command true /dev/null </dev/null >/dev/null || skip "no terminal can be had"
}

# make_large [ROWS]: half a gigabyte that takes no room on the disk, and a while to read; a quarter of it where
# sanitizers make everything slow.
make_large() {
    local rows=${1:-32768}
    [ -z "${GUFO_SANITIZE:-}" ] || rows=8192
    make_gguf large.gguf nopad tensor a.weight 0 "4096x$rows" 0
    truncate -s "+$((4096 * rows * 4))" large.gguf
}

# begin OUT ARGUMENT...: starts gufo in the background, as $job, and waits until it has begun OUT.
begin() {
    local part=$1.part
    shift
    set -m # without job control SIGINT is ignored in the background
    "$GUFO" "$@" >/dev/null 2>stderr &
    job=$!
    for ((i = 0; i < 1000; i++)); do
        [ ! -s "$part.journal" ] || [ ! -e "$part" ] || break
        sleep 0.01
    done
}

# interrupt SIGNAL OUT ARGUMENT...: runs gufo until OUT has begun, then sends the signal; the exit status.
interrupt() {
    local signal=$1 status=0
    shift
    begin "$@"
    sleep 0.05
    kill -s "$signal" "$job"
    wait "$job" || status=$?
    return "$status"
}
