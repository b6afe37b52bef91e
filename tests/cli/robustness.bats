#!/usr/bin/env bats
# What goes wrong around the command: full disks, closed pipes, hostile names, signals.

# bats sets stderr; some commands are for another shell; reading a pipe is the point of `cat |`.
# shellcheck disable=SC2154,SC2016,SC2002

load common
load ../remote/server

teardown() {
    stop_server
}

@test "robustness: a full standard output is status 3" {
    make_model m.gguf
    for arguments in "show m.gguf" "show --json m.gguf" "get m.gguf general.name" "validate m.gguf" \
        "--help" "--version" "validate --list-rules"; do
        # shellcheck disable=SC2086
        run -3 --separate-stderr bash -c '"$0" "$@" >/dev/full' "$GUFO" $arguments
        same_error 'gufo: standard output: No space left on device'
    done
}

@test "robustness: a closed standard output is status 3" {
    make_model m.gguf
    run -3 --separate-stderr bash -c '"$0" "$@" >&-' "$GUFO" show m.gguf
    same_error 'gufo: standard output: Bad file descriptor'
    run -0 --separate-stderr bash -c '"$0" "$@" >&-' "$GUFO" validate --level structure -q m.gguf
    same_error ''
}

@test "robustness: a pipe that is closed early is a quiet end" {
    # Far more than a pipe holds.
    make_gguf m.gguf arr l uint64 20000 $(seq 10000000000000000000 10000000000000019999)
    for arguments in "get m.gguf l" "show --json m.gguf" "show --max-array 20000 m.gguf"; do
        # shellcheck disable=SC2086
        bash -c '"$0" "$@" 2>err | head -c 1 >/dev/null; echo "${PIPESTATUS[0]}" >code' "$GUFO" $arguments
        [ ! -s err ] || { cat err; return 1; }
        [ "$(cat code)" -eq 0 ]
    done
}

@test "robustness: missing files and folders" {
    mkdir folder
    for command in show validate; do
        run -3 --separate-stderr gufo "$command" missing.gguf
        same ''
        same_error 'gufo: missing.gguf: cannot open: No such file or directory'
        run -3 --separate-stderr gufo "$command" ''
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
    run -3 --separate-stderr gufo stats folder
    [[ "$stderr" == 'gufo: folder: '*'Is a directory' ]]
    run -1 --separate-stderr gufo validate folder
    same_error 'gufo: folder: no models are in this folder'
    run -3 --separate-stderr gufo get missing.gguf key
    same_error 'gufo: missing.gguf: cannot open: No such file or directory'
}

@test "robustness: a file that may not be read" {
    [ "$(id -u)" -ne 0 ] || skip "root may read everything"
    make_model m.gguf
    chmod 0 m.gguf
    run -3 --separate-stderr gufo show m.gguf
    same_error 'gufo: m.gguf: cannot open: Permission denied'
}

@test "robustness: read-only files and folders suffice for reading" {
    mkdir folder
    make_model folder/m.gguf
    chmod 444 folder/m.gguf
    chmod 555 folder
    run -0 gufo show folder/m.gguf
    run -0 gufo validate --level structure folder/m.gguf
    chmod 755 folder
}

@test "robustness: several files are all treated, the highest status wins" {
    make_model good.gguf
    make_gguf bad.gguf kv k uint8 1 kv k uint8 1
    run -3 --separate-stderr gufo show missing.gguf good.gguf bad.gguf good.gguf
    [ "$(grep -c '^good.gguf$' <<<"$output")" -eq 2 ]
    [ "${#stderr_lines[@]}" -eq 2 ]
    [[ "${stderr_lines[0]}" == 'gufo: missing.gguf: '* ]]
    [[ "${stderr_lines[1]}" == 'gufo: bad.gguf: byte '* ]]
}

@test "robustness: names, keys and strings cannot command the terminal" {
    need_terminal
    make_gguf $'m\033]0;x\007.gguf' kv general.architecture string 'a\x1b[2J' \
        kv general.name string '\x1b]52;c;x\x07\xe2\x80\xae\xc2\x9b31m' \
        arr tokens string 2 '\x1b[1m' '\x9b' tensor 'w\x1b[0m\x08\x0d' 0 1 4
    for command in show validate; do
        run on_terminal "$GUFO" "$command" --color=never -v $'m\033]0;x\007.gguf'
        [ "$status" -le 1 ]
        lacks $'\033'
        lacks $'\007'
        lacks $'\b'
        lacks $'\302\233'
        lacks $'\342\200\256'
        has 'm\u{1b}]0;x\u{7}.gguf'
    done
    run gufo show $'m\033]0;x\007.gguf'
    lacks $'\033'
    has '\u{1b}]52;c;x\u{7}\u{202e}\u{9b}31m'
    has 'w\u{1b}[0m\u{8}\r'
    run gufo show $'missing\033[2J\n.gguf'
    same 'gufo: missing\u{1b}[2J\n.gguf: cannot open: No such file or directory'
    run gufo $'sh\033ow'
    lacks $'\033'
    run gufo show --max-array=$'\033' x
    lacks $'\033'
    run gufo get --raw $'m\033]0;x\007.gguf' $'k\033'
    lacks $'\033'
}

@test "robustness: every prefix of a file fails cleanly" {
    make_gguf whole.gguf kv general.architecture string x arr l string 2 a b nested d tensor a 0 4 16 nopad
    size=$(stat -c %s whole.gguf)
    for ((len = 0; len < size; len += 16)); do # the unit tests take every one
        head -c "$len" whole.gguf >m.gguf
        run gufo show m.gguf
        [ "$status" -eq 3 ] || { echo "prefix $len: show: status $status"; return 1; }
        run gufo validate -q m.gguf
        [ "$status" -eq 1 ] || { echo "prefix $len: validate: status $status"; return 1; }
        run gufo show --lenient --json m.gguf
        [ "$status" -eq 1 ] || [ "$status" -eq 3 ] || { echo "prefix $len: lenient: $status"; return 1; }
    done
}

@test "robustness: claims that no file could hold are refused at once" {
    make_gguf m.gguf kv k uint8 1 entries 0x1000000000000000
    run -3 gufo show m.gguf
    run -1 gufo validate m.gguf
    make_gguf m.gguf kv k uint8 1 tensors 0x1000000000000000
    run -3 gufo show m.gguf
    run -1 gufo validate m.gguf
    # A string of 2^62 bytes.
    make_gguf m.gguf kv k string text poke 37 0000000000000040
    run -3 gufo show m.gguf
    run -1 gufo validate m.gguf
}

@test "robustness: thousands of faults are told without end of memory" {
    (ulimit -v 200000; gufo --version >/dev/null 2>&1) || skip "sanitizers need more address space"
    make_gguf m.gguf kv general.architecture string x arr l uint8 1 1 entries 5000 \
        repeat 4998 0100000000000000610700000002
    run -1 bash -c 'ulimit -v 200000; "$0" validate --json "$1"' "$GUFO" m.gguf
    has '"errors":9995,'
    has '4,977 more findings like the ones before'
}

@test "robustness: interrupted while it waits is status 4" {
    mkfifo pipe
    sleep 60 >pipe &
    writer=$!
    "$GUFO" show pipe 2>err &
    reader=$!
    sleep 0.5
    kill -TERM "$reader"
    code=0
    wait "$reader" || code=$?
    kill "$writer"
    [ "$code" -eq 4 ]
}

@test "robustness: an output that grows too large leaves nothing behind" {
    make_gguf m.gguf kv s string "$(printf 'x%.0s' {1..5000})"
    echo old >out
    run -3 --separate-stderr bash -c 'ulimit -f 1; exec "$0" get --force -o out m.gguf s' "$GUFO"
    [[ "$stderr" == 'gufo: out: '*'File too large' ]]
    [ "$(cat out)" = old ]
    [ "$(find . | wc -l)" -eq 3 ]
}

@test "robustness: a file that is truncated while it is read is status 3" {
    # More than a pipe holds: the command waits in the middle of the array.
    make_gguf m.gguf arr l uint64 40000 $(seq 10000000000000000000 10000000000000039999)
    mkfifo pipe
    "$GUFO" get m.gguf l >pipe 2>err &
    reader=$!
    exec 5<pipe
    head -c 1 <&5 >/dev/null
    truncate -s 4096 m.gguf
    cat <&5 >/dev/null
    exec 5<&-
    code=0
    wait "$reader" || code=$?
    [ "$code" -eq 3 ]
    [ "$(cat err)" = 'gufo: m.gguf: changed while it was being read (truncated?)' ]
}

# refused_space FOLDER WORD COMMAND...: one sentence with that word, exit status 3, and everything in the folder is as
# it was.
refused_space() {
    local folder=$1 word=$2 before
    shift 2
    before=$(cd "$folder" && find . -type f -exec cksum {} + | sort)
    run -3 --separate-stderr "$@"
    [[ "$stderr" == 'gufo: '*"$word" && "$stderr" != *$'\n'* ]] ||
        { printf '%s: %s\n' "$*" "$stderr"; return 1; }
    same_list "$before" "$(cd "$folder" && find . -type f -exec cksum {} + | sort)"
}

# each_writer FOLDER WORD: all commands that write files, into a folder that has no room for them.
each_writer() {
    local command
    while read -r command; do
        # shellcheck disable=SC2086
        refused_space "$1" "$2" gufo ${command//@/$1}
    done <<'EOF'
quantize -q sample.gguf @/o.gguf F32
quantize -q --to @/new sample.gguf F32,F16
edit -q sample.gguf -o @/o.gguf --set general.name=a
split -q sample.gguf @/o --max-tensors=8
merge -q s-00001-of-00002.gguf -o @/o.gguf
extract -q sample.gguf token_embd.weight --dtype=f32 -o @/o.npy
extract -q sample.gguf token_embd.weight -o @/o.raw
strip -q --tensors=token* sample.gguf @/o.gguf
endian -q --to=big sample.gguf @/o.gguf
EOF
    [ ! -e "$1/new" ]
}

prepare_writers() {
    "$GUFO_EXAMPLES/make_sample" sample.gguf
    gufo split -q --max-tensors=11 sample.gguf s
}

@test "robustness: a file that may not grow" {
    prepare_writers
    mkdir into
    ulimit -f 4
    each_writer into 'File too large'
}

# bats test_tags=legacy
@test "robustness: a disk that is full" {
    mkdir disk
    mount -t tmpfs -o size=64k none disk 2>/dev/null || skip "only root can mount a small disk"
    prepare_writers
    gufo strip -q --no-tensors sample.gguf disk/small.gguf
    cat /dev/zero >disk/fill 2>/dev/null || true
    each_writer disk 'No space left on device'
    refused_space disk 'No space left on device' gufo edit -q disk/small.gguf --set general.name=b
    umount disk
}

# The reports of all commands; the status of each is 0, or 1 where the answer is no.
reports() {
    cat <<'EOF'
show sample.gguf
show -v --layers sample.gguf
show --tensors s-00001-of-00002.gguf
ls -r folder
get sample.gguf tokenizer.ggml.tokens
stats sample.gguf
stats -v --tensors=output.weight sample.gguf
estimate sample.gguf
report sample.gguf -o -
estimate --fit 1G,1G --host 1G --bandwidth 1G sample.gguf
estimate --table --fit 4G sample.gguf
estimate --plot --fit 4G sample.gguf
diff sample.gguf small.gguf
diff --values sample.gguf small.gguf
diff --values --layers --sums --sort=loss --top=3 sample.gguf small.gguf small.gguf
validate -v --data sample.gguf broken.gguf
name sample.gguf a-7B-v1.0-Q8_0.gguf
hash sample.gguf
verify sample.gguf manifest
verify sample.gguf other
sign --generate k --no-password
sign --key k.key sample.gguf
verify --key k.pub sample.gguf
edit --dry-run sample.gguf --set general.name=other
edit sample.gguf -o edited.gguf --set general.name=other
split --dry-run --max-tensors=8 sample.gguf part
merge --dry-run s-00001-of-00002.gguf whole.gguf
strip --dry-run sample.gguf vocab.gguf --vocab-only
extract sample.gguf output_norm.weight -o w.npy
endian --dry-run --to big sample.gguf big.gguf
convert --dry-run folder a.gguf
convert folder b.gguf Q8_0
migrate --dry-run old.bin old.gguf
export --dry-run sample.gguf exported
quantize --dry-run sample.gguf Q4_K_M
quantize -v sample.gguf c.gguf Q4_K_M
quantize --no-cache sample.gguf d.gguf --target-size 100K
quantize --no-cache --to e sample.gguf --target-bpw 5,6
quantize sample.gguf parts.gguf Q4_K_M --part 0/2 --part-align 4K
parts parts.gguf
parts --advise parts.gguf
commit parts.gguf
quantize sample.gguf parts.gguf Q4_K_M --part next
progress parts.gguf
commit parts.gguf
imatrix show i.gguf
lora merge --dry-run base.gguf lora.gguf -o merged.gguf
tokenize sample.gguf hello
tokenize --explain sample.gguf hello
detokenize --pieces sample.gguf 1 2 3
vocab sample.gguf
vocab diff sample.gguf base.gguf
template --lint chat.jinja
fetch SERVER/ok/sample.gguf fetched.gguf --force
ollama import sample.gguf --name sample:f16 --store store --force
explain Q4_K_M general.file_type llama.context_length token_embd.weight G309
list types
list keys --arch=llama
help
completion bash
EOF
}

# bats test_tags=legacy
@test "robustness: every report on a terminal, with sanitizers" {
    local command
    [ -n "${GUFO_SANITIZE:-}" ] || skip "this build would not see what is wrong"
    need_terminal
    prepare_writers
    gufo quantize -q sample.gguf small.gguf Q4_0
    head -c 100000 sample.gguf >broken.gguf
    gufo hash sample.gguf >manifest
    sed 's/  [0-9a-f]/  0/' manifest >other
    mkdir folder
    "$GUFO_TEST_BIN/make_checkpoint" folder
    gufo convert -q folder base.gguf 2>/dev/null
    make_gguf lora.gguf kv general.architecture string qwen3 kv general.type string adapter \
        kv adapter.type string lora kv adapter.lora.alpha float32 2 \
        tensor blk.0.attn_q.weight.lora_a 0 64x2 512 tensor blk.0.attn_q.weight.lora_b 0 2x64 512
    "$GUFO_TEST_BIN/make_legacy" old.bin type q4_0
    "$GUFO_TEST_BIN/make_imatrix" i.gguf gguf chunks 4 dataset d.txt entry blk.0.attn_q.weight 1000,0 1000,2000
    echo '{{ x }}{% if %}' >chat.jinja
    for command in $(gufo completion words '' | sed -n 's/\t.*//p'); do
        reports | grep -q "^$command" || { echo "$command has no report here"; return 1; }
    done
    start_server .
    reports | sed "s,SERVER,$SERVER," >table
    on_terminal bash -c 'while read -r command; do
        "$0" --color=always $command </dev/null
        printf "\n= %s %s\n" $? "$command"
    done <table' "$GUFO" >shown
    grep -a '^= [^01]' shown && return 1
    same_list "$(reports | wc -l)" "$(grep -ac '^= [01]' shown)"
    run -1 grep -aE 'Sanitizer|runtime error' shown
}

teardown() {
    umount disk 2>/dev/null || true
}
