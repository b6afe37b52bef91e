#!/usr/bin/env bats
# Files beside ours that are not ours, and outputs that are inputs.

# bats sets stderr.
# shellcheck disable=SC2154

load common

# leave_journal FILE [SEED]: the journal of an interrupted edit, as its head shows.
leave_journal() {
    cp "$BATS_TEST_DIRNAME/../../fuzz/seeds_journal/${2:-overwrite}" "$1.gufo-journal"
}

# refused MESSAGE COMMAND...: exit status 2, and the message in what is said.
refused() {
    local message=$1
    shift
    run --separate-stderr gufo "$@"
    [ "$status" -eq 2 ] || { echo "$*: status $status, $stderr"; return 1; }
    [[ "$stderr" == *"$message"* ]] || { echo "$*: $stderr"; return 1; }
}

@test "no command replaces what it reads, through a symlink neither" {
    local lost="the output is the input; it would be lost"
    make_model model.gguf
    cp model.gguf before
    ln -s model.gguf link
    refused "$lost" get --force -o model.gguf model.gguf general.name
    refused "$lost" get --force -o link model.gguf general.name
    refused "$lost" get --force -o model.gguf link general.name
    refused "$lost" strip --force model.gguf -o link --no-tensors
    refused "$lost" endian --force --to=big model.gguf link
    refused "$lost" quantize --force model.gguf link Q8_0
    refused "$lost" edit --force model.gguf -o link --set a.b=1
    cmp model.gguf before
}

@test "a value does not replace a later shard of its model" {
    make_model model.gguf
    gufo split -q model.gguf set --max-tensors 1
    cp set-00002-of-*.gguf before
    refused "it would be lost" get --force -o set-00002-of-*.gguf set-00001-of-*.gguf general.name
    cmp set-00002-of-*.gguf before
}

# bats test_tags=plain
@test "quantize replaces no file that an option names, nor one that it makes" {
    local lost="the output is the input; it would be lost"
    local twice="this and another output are the same file"
    make_model model.gguf
    echo '.=Q8_0' >rules
    cp rules before
    ln -s rules link
    ln rules hard
    "$GUFO_TEST_BIN/make_imatrix" empty.dat dat chunks 7 dataset text entry a 3 1,2,0.5
    cp empty.dat none
    for out in rules link hard; do
        refused "$lost" quantize --force --tensor-type-file rules model.gguf "$out" Q8_0
        refused "$lost" quantize --force --tensor-type-file "$out" model.gguf rules Q8_0
        refused "$lost" quantize --force --tensor-type-file rules --report "$out" model.gguf o Q8_0
        refused "$lost" quantize --force --dry-run --tensor-type-file rules --report "$out" model.gguf Q8_0
    done
    # Of several files, all count.
    echo 'ffn=Q8_0' >more
    refused "$lost" quantize --force --tensor-type-file rules --tensor-type-file more model.gguf rules Q8_0
    # A file beside the output, while it works.
    ln rules o.part
    refused "it would be lost" quantize --force --tensor-type-file rules model.gguf o Q8_0
    rm o.part
    cmp rules before
    # A matrix of which nothing is used is read, too.
    refused "$lost" quantize --force --include-weights no --imatrix empty.dat model.gguf empty.dat Q8_0
    refused "$lost" quantize --force --include-weights no --imatrix empty.dat --report empty.dat model.gguf o Q8_0
    cmp empty.dat none
    # The report and the model: under the same name, through links, in another spelling.
    ln -s o soft
    mkdir folder
    for report in o ./o soft folder/../o; do
        refused "$twice" quantize --report "$report" model.gguf o Q8_0
        refused "$twice" quantize --force --report "$report" model.gguf o Q8_0
    done
    [ ! -e o ]
    gufo split -q model.gguf set --max-tensors 1
    refused "$twice" quantize --keep-split --report o-00002-of-00002.gguf \
        set-00001-of-*.gguf o-00001-of-00002.gguf Q8_0
    refused "$lost" quantize --force --report set-00002-of-00002.gguf set-00001-of-*.gguf o Q8_0
    [ ! -e o ]
}

@test "a signature and its manifest, and the keys of a pair, are two files" {
    gufo sign --generate k --no-password -q || skip "no libsodium"
    make_model model.gguf
    refused "this and another output are the same file" \
        sign --key k.key -o model.gguf.manifest model.gguf
    [ ! -e model.gguf.manifest ]
    ln -s one p.key
    ln -s one p.pub
    refused "this and another output are the same file" sign --generate p --no-password
    [ ! -e one ]
}

@test "shards that lead to one file are refused" {
    make_model model.gguf
    gufo split -q model.gguf a --max-tensors 1
    count=$(printf '%s\n' a-*.gguf | wc -l)
    [ "$count" -ge 2 ]
    for shard in a-*.gguf; do
        ln -s target "b${shard#a}"
    done
    refused "this and another output are the same file" split --force model.gguf b --max-tensors 1
    [ ! -e target ]
    echo old >target
    refused "this and another output are the same file" split --force model.gguf b --max-tensors 1
    [ "$(cat target)" = old ]
}

@test "nothing is written beside the journal of an interrupted edit" {
    local journal="the journal of an interrupted edit is beside the output"
    make_model model.gguf
    make_model general.gguf
    leave_journal quantized.gguf
    refused "interrupted" quantize --force model.gguf quantized.gguf Q8_0
    gufo split -q model.gguf set --max-tensors 1
    shards=(set-*.gguf)
    rm "${shards[@]}"
    leave_journal "${shards[1]}"
    refused "$journal" split model.gguf set --max-tensors 1
    [ ! -e "${shards[0]}" ]
    leave_journal out.gguf
    refused "$journal" endian --to=big model.gguf out.gguf
    refused "$journal" strip model.gguf -o out.gguf --no-tensors
    refused "$journal" edit model.gguf -o out.gguf --set a.b=1
    new=$(gufo name --suggest model.gguf)
    leave_journal "$new"
    refused "$journal" name --rename model.gguf
    [ -e model.gguf ] && [ ! -e "$new" ]
}

@test "an importance matrix is not written beside a journal either" {
    "$GUFO_TEST_BIN/make_imatrix" m.dat dat chunks 7 dataset text entry a 3 1,2,0.5
    leave_journal out.gguf
    refused "the journal of an interrupted edit is beside the output" \
        imatrix convert m.dat out.gguf
}

@test "journals of other versions are refused" {
    make_model model.gguf
    leave_journal model.gguf other-version
    run --separate-stderr gufo show model.gguf
    [ "$status" -eq 3 ]
    same_error "gufo: model.gguf: an edit of it was interrupted; 'gufo edit --recover model.gguf' repairs it"
    run --separate-stderr gufo edit --recover model.gguf
    [ "$status" -eq 3 ]
    [[ "$stderr" == *"another version of gufo"* ]]
    [ -e model.gguf.gufo-journal ]
}

@test "what cannot be a journal does not prevent reading" {
    make_model model.gguf
    mkdir model.gguf.gufo-journal
    gufo show model.gguf >/dev/null
    rmdir model.gguf.gufo-journal
    ln -s /dev/zero model.gguf.gufo-journal
    gufo show model.gguf >/dev/null
    rm model.gguf.gufo-journal
    if [ "$(id -u)" -eq 0 ]; then # root reads everything, but does not believe it
        leave_journal model.gguf
        chown 65534 model.gguf.gufo-journal
        gufo show model.gguf >/dev/null
        run --separate-stderr gufo edit --recover model.gguf
        [ "$status" -eq 3 ]
        [[ "$stderr" == *"it belongs to another user" ]]
    fi
}

@test "a file that only has the name of a journal stays" {
    make_model model.gguf
    echo 'my notes' >model.gguf.gufo-journal
    cp model.gguf.gufo-journal before
    gufo show model.gguf >/dev/null
    run --separate-stderr gufo edit --recover model.gguf
    [ "$status" -eq 0 ]
    [ "$output" = 'model.gguf: no edit was interrupted' ]
    gufo edit -q model.gguf --set general.name=Other
    [ "$(gufo get model.gguf general.name)" = Other ]
    cmp model.gguf.gufo-journal before
    run --separate-stderr gufo edit --in-place=yes model.gguf --set general.name=Third
    [ "$status" -ne 0 ]
    [[ "$stderr" == *"cannot create the journal: File exists"* ]]
    cmp model.gguf.gufo-journal before
}

@test "a run is not resumed with another user's files" {
    make_model model.gguf
    head -c 100 /dev/zero >other
    ln other out.gguf.part.journal
    refused "cannot resume with this journal: it has other hard links" \
        quantize --resume model.gguf out.gguf Q8_0
    [ ! -e out.gguf ]
}

@test "keys of a model that only look like those of a split survive split and merge" {
    make_gguf m.gguf kv general.architecture string llama kv gufo.split.mine string x \
        tensor a 0 8 32 tensor b 0 8 32
    gufo split -q m.gguf set --max-tensors 1
    gufo merge -q set-00001-of-00002.gguf whole.gguf
    cmp m.gguf whole.gguf
    gufo edit -q whole.gguf --set gufo.split.mine=y
    run gufo diff m.gguf whole.gguf
    [ "$status" -eq 1 ]
    has gufo.split.mine
}

@test "recovery shows a name without its control characters" {
    make_model $'a\x1bb.gguf'
    run gufo edit --recover $'a\x1bb.gguf'
    [ "$status" -eq 0 ]
    same 'a\u{1b}b.gguf: no edit was interrupted'
}

@test "keys and signatures are read to 64 KiB" {
    make_model model.gguf
    head -c 70000 /dev/zero >long
    run --separate-stderr gufo sign --key long model.gguf
    [ "$status" -eq 3 ] || [[ "$stderr" == *"without libsodium"* ]]
    [[ "$stderr" == *"too long"* ]] || [[ "$stderr" == *"without libsodium"* ]]
}

@test "text cells of a report that begin like a formula get an apostrophe" {
    make_gguf m.gguf kv general.architecture string llama tensor '=1+1' 0 32x2 256 \
        tensor '@a' 0 32x2 256 tensor 'a=b' 0 32x2 256
    gufo quantize -q --report r.csv m.gguf q.gguf Q8_0
    run cut -d, -f1 r.csv
    has "\"'=1+1\""
    has "\"'@a\""
    has '"a=b"'
}

@test "killed between the names of a set, no mixture is left and the command finishes it" {
    local shards
    make_model model.gguf
    gufo split -q model.gguf set --max-tensors 1
    shards=(set-*.gguf)
    gufo quantize -q --keep-split "${shards[0]}" "out${shards[0]#set}" F16
    gufo quantize -q --keep-split "${shards[0]}" "new${shards[0]#set}" Q8_0
    command -v strace >/dev/null || skip "no strace"
    strace -f -e trace=rename -e inject=rename:signal=KILL:when=3 \
        "$GUFO" quantize -q --force --keep-split "${shards[0]}" "out${shards[0]#set}" Q8_0 \
        2>/dev/null || true
    [ ! -e "out${shards[0]#set}" ]
    gufo quantize -q --force --keep-split "${shards[0]}" "out${shards[0]#set}" Q8_0
    for shard in "${shards[@]}"; do
        cmp "out${shard#set}" "new${shard#set}"
    done
    ! ls .gufo-*.old 2>/dev/null
}

@test "standard input and what options read are inputs, too" {
    make_model m.gguf
    cp m.gguf kept.gguf
    run -2 gufo get --force -o m.gguf - general.architecture <m.gguf
    cmp m.gguf kept.gguf
    cp m.gguf other.gguf
    run -2 gufo edit --force -o other.gguf --copy-from other.gguf 'general.*' m.gguf
    cmp other.gguf kept.gguf
    echo text >words
    run -2 gufo edit --force -o words --set-file general.name=words m.gguf
    [ "$(cat words)" = text ]
}

# shared LINK TARGET: a symlink of another user in a folder where everybody may create files.
shared() {
    mkdir -p shared
    chmod 1777 shared
    chown 65533 shared
    ln -s "$2" "shared/$1"
    chown -h 65534 "shared/$1"
}

# bats test_tags=plain
@test "an output folder that is another user's symlink is refused as a file is" {
    [ "$(id -u)" -eq 0 ] || skip "only root can make links of another user"
    local planted="a folder of the target is another user's symlink in a folder where everybody may create files"
    make_model model.gguf
    mkdir victim
    echo mine >victim/old.gguf
    shared link ../victim
    refused "$planted" quantize model.gguf shared/link/out.gguf Q8_0
    refused "$planted" quantize --force model.gguf shared/link/old.gguf Q8_0
    refused "$planted" quantize --to shared/link model.gguf Q8_0
    refused "$planted" quantize --to shared/link/new model.gguf Q8_0
    refused "$planted" strip model.gguf -o shared/link/out.gguf --no-tensors
    refused "$planted" edit model.gguf -o shared/link/out.gguf --set a.b=1
    refused "$planted" split model.gguf shared/link/set --max-tensors 1
    refused "$planted" get -o shared/link/name model.gguf general.name
    refused "$planted" quantize --report shared/link/r.csv model.gguf out.gguf Q8_0
    refused "$planted" endian --to=big model.gguf shared/../shared/link/out.gguf
    mkdir m
    "$GUFO_TEST_BIN/make_checkpoint" m
    refused "$planted" convert m shared/link
    refused "$planted" convert m shared/link/out.gguf
    gufo convert -q m c.gguf
    refused "$planted" export c.gguf shared/link
    same_list old.gguf "$(ls victim)"
    [ "$(cat victim/old.gguf)" = mine ]
    [ ! -e out.gguf ]
    # Our own links are followed, and what the folder's owner has made.
    ln -s ../victim shared/own
    gufo quantize -q model.gguf shared/own/a.gguf Q8_0
    chown -h 65533 shared/link
    gufo quantize -q model.gguf shared/link/b.gguf Q8_0
    cmp victim/a.gguf victim/b.gguf
}

# bats test_tags=plain
@test "a symlink in the place of measurements is a warning" {
    "$GUFO_EXAMPLES/make_sample" sample.gguf
    echo mine >mine
    gufo quantize -q --no-cache sample.gguf expected.gguf --target-size 90K
    for target in mine nowhere sample.gguf.losses; do
        ln -s "$target" sample.gguf.losses
        run -0 --separate-stderr gufo quantize sample.gguf out.gguf --target-size 90K
        same_error 'gufo: sample.gguf.losses: warning: measurements are neither read nor kept: it is a symlink'
        cmp out.gguf expected.gguf
        files mine sample.gguf expected.gguf out.gguf sample.gguf.losses
        [ "$(cat mine)" = mine ]
        rm out.gguf sample.gguf.losses
    done
    [ "$(id -u)" -eq 0 ] || return 0
    mkdir -p shared
    shared sample.gguf.losses ../mine
    run -0 --separate-stderr gufo quantize sample.gguf shared/out.gguf --target-size 90K
    same_error 'gufo: shared/sample.gguf.losses: warning: measurements are neither read nor kept: it is a symlink'
    cmp shared/out.gguf expected.gguf
    [ "$(cat mine)" = mine ]
}

# is_harmless NAME: one line without control characters of any kind that does not begin as an option or a hidden file.
is_harmless() {
    [[ "$1" == *.gguf && "$1" != [-.]* ]] &&
        ! LC_ALL=C grep -qa $'[\x01-\x09\x0b-\x1f\x7f]\\|\xc2[\x80-\x9f]\\|\xe2\x80[\x8e\x8f\xa8-\xae]\\|\xe2\x81[\xa6-\xa9]\\|\xd8\x9c' <<<"$1"
}

# bats test_tags=plain
@test "names of outputs have nothing of a model's name that a terminal obeys, and no option or hidden file" {
    mkdir m
    "$GUFO_TEST_BIN/make_checkpoint" m
    for name in $'-rf \u202egpj\u2066x\u009b31mC\u200f\u061c' '../../.hidden' $'.\u2028--\x1b[31mred' $'\u202e' '--' '.'; do
        printf -- '---\nmodel_name: "%s"\nbase_model: x\n---\n' "$name" >m/README.md
        mkdir out
        gufo convert -q m out 2>/dev/null
        run -0 ls -A out
        is_harmless "$output" || { printf '%q: %q\n' "$name" "$output"; return 1; }
        rm -r out
        gufo convert -q m c.gguf 2>/dev/null
        mkdir out
        gufo quantize -q --to out c.gguf Q8_0
        run -0 ls -A out
        is_harmless "$output" || { printf '%q: %q\n' "$name" "$output"; return 1; }
        rm -r out c.gguf
    done
}
