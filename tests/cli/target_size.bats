#!/usr/bin/env bats
# gufo quantize --target-size and --target-bpw: types chosen for a size.

# bats sets stderr and stderr_lines.
# shellcheck disable=SC2154

load common

setup_file() {
    "$GUFO_EXAMPLES/make_sample" "$BATS_FILE_TMPDIR/sample.gguf"
}

sample() {
    cp "$BATS_FILE_TMPDIR/sample.gguf" .
}

# has_size FILE BYTES
has_size() {
    same_list "$2" "$(stat -c %s "$1")"
}

need_patterns() {
    run gufo quantize --dry-run --tensor-type 'a=Q8_0' "${1:-sample.gguf}" Q4_0
    [[ "$output" != *PCRE2* ]] || skip "built without PCRE2"
}

# number KEY: of the JSON object "plan" in the output.
number() {
    sed 's/.*"plan"://; s/.*"'"$1"'":\([-0-9.e]*\).*/\1/' <<<"$output"
}

# bats test_tags=plain
@test "target size: a file as large as was planned, and a report" {
    sample
    run -0 --separate-stderr gufo quantize --exact sample.gguf out.gguf --target-size 100K
    [ "${#stderr_lines[@]}" -eq 0 ]
    has 'Asked for     100,000 bytes (100 KB)'
    has 'Planned       99,968 bytes (100 KB), 32 fewer; 6.1435 bits per weight'
    has 'Written       99,968 bytes'
    has '% less than Q5_0, which is 2,336 bytes smaller'
    has 'Proof         optimal: no other choice'
    has 'Coefficients  built-in: token_embd 0.05, attn_q 0.12'
    has 'As expected   16 of 16 tensors'
    has_size out.gguf 99968
    run -0 gufo validate --level structure out.gguf
    run -0 gufo get out.gguf general.file_type
    same 8
    files sample.gguf out.gguf sample.gguf.losses
    run -0 gufo validate sample.gguf.losses
    same 'sample.gguf.losses: valid'
    run -0 gufo get sample.gguf.losses general.type
    same losses
    run -0 gufo get sample.gguf.losses gufo.losses.types
    [ "${#lines[@]}" -eq 80 ]
}

# bats test_tags=plain
@test "target size: the report on a terminal" {
    need_terminal
    sample
    run -0 on_terminal "$GUFO" quantize --exact --no-cache sample.gguf out.gguf --target-size 100K
    has 'Asked for     100,000 bytes (100 KB)'
    has 'Proof         optimal: no other choice'
    has 'As expected   16 of 16 tensors'
    run -0 on_terminal "$GUFO" quantize --dry-run --no-cache --force sample.gguf out.gguf --target-bpw 6
    has 'Asked for     6 bits per weight, '
    has 'Coefficients  built-in: token_embd 0.05, attn_q 0.12'
}

@test "target size: the same file with any number of threads, without measurements, and again" {
    sample
    gufo quantize -q sample.gguf a.gguf --target-size 90K --threads 1
    gufo quantize -q sample.gguf b.gguf --target-size 90K 2
    gufo quantize -q sample.gguf c.gguf --target-size 90K --no-cache --threads 3
    cmp a.gguf b.gguf
    cmp a.gguf c.gguf
    files sample.gguf a.gguf b.gguf c.gguf sample.gguf.losses
    # Measurements that are not those of the file are not used.
    printf 'nonsense\n' >sample.gguf.losses
    run -0 --separate-stderr gufo quantize sample.gguf d.gguf --target-size 90K
    [[ "$stderr" == *'./sample.gguf.losses: warning: measurements are not used: '* ]] ||
        [[ "$stderr" == *'sample.gguf.losses: warning: measurements are not used: '* ]]
    cmp a.gguf d.gguf
}

# bats test_tags=plain
@test "target size: measurements of all rows do not change what samples choose, nor the other way round" {
    sample
    options=(sample.gguf --dry-run --target-bpw 5.5 --json)
    gufo quantize --no-cache "${options[@]}" >../sampled
    gufo quantize --no-cache --exact "${options[@]}" >../all
    run -1 cmp -s ../sampled ../all
    for run in all sampled all sampled; do
        flags=()
        [ "$run" = sampled ] || flags=(--exact)
        gufo quantize "${flags[@]}" "${options[@]}" >out
        cmp out "../$run"
    done
}

# bats test_tags=plain
@test "target size: bits per weight, and several sizes from one reading" {
    sample
    run -0 gufo quantize sample.gguf out.gguf --target-bpw 5.5
    has 'Asked for     5.5 bits per weight, 82,148 bytes (82.1 KB) of tensors'
    run -0 gufo quantize -q --to models sample.gguf --target-size 100K,120K
    run -0 ls models
    same $'gufo-sample-119K-v1.0-100K.gguf\ngufo-sample-119K-v1.0-120K.gguf\nsample.gguf.losses'
    gufo quantize -q sample.gguf alone.gguf --target-size 100K
    cmp alone.gguf models/gufo-sample-119K-v1.0-100K.gguf
    run -0 gufo quantize -q --to models sample.gguf --target-bpw 4.6
    [ -e models/gufo-sample-119K-v1.0-4_6bpw.gguf ]
    gufo quantize -q --exact sample.gguf --target-size 0.1M
    has_size gufo-sample-119K-v1.0-0_1M.gguf 99968
}

# bats test_tags=plain
@test "target size: a dry run has the plan, as a table and as JSON" {
    sample
    run -0 gufo quantize --dry-run --exact sample.gguf out.gguf --target-size 100K
    has 'Tensor                    Shape     From     To              Bytes  Coefficient'
    has 'Planned       99,968 bytes'
    lacks Written
    lacks 'As expected'
    files sample.gguf sample.gguf.losses
    run -0 gufo quantize --dry-run --exact --json sample.gguf out.gguf --target-size 100K
    same_list 99968 "$(number planned)"
    same_list 100000 "$(number asked)"
    has '"written":null'
    has '"proven":true'
    has '"coefficient":0.72,"loss":'
    run -0 gufo quantize --exact --json sample.gguf out.gguf --target-size 100K --report out.csv
    same_list 99968 "$(number written)"
    same_list 16 "$(number compared)"
    has '"actual_loss":'
    run -0 head -n 1 out.csv
    has ',target,coefficient,loss,standard_error,actual_loss'
}

# bats test_tags=plain
@test "target size: a plan that is saved makes the same file" {
    sample
    need_patterns
    gufo quantize -q --exact sample.gguf out.gguf --target-size 100K --save-plan plan.txt
    run -0 head -n 2 plan.txt
    same $'# gufo quantize --tensor-type-file THIS IN OUT Q5_0\n^token_embd\\.weight$=IQ4_NL'
    gufo quantize -q --tensor-type-file plan.txt sample.gguf again.gguf Q5_0
    cmp out.gguf again.gguf
    # Where floats are most of it, rules for types do not hold: another TYPE, and the file type by hand.
    gufo quantize -q --force sample.gguf out.gguf --target-size 200K --save-plan plan.txt
    run -0 head -n 1 plan.txt
    same '# gufo quantize --tensor-type-file THIS --override-kv general.file_type=int:1 IN OUT Q8_0'
    gufo quantize -q --force --tensor-type-file plan.txt --override-kv general.file_type=int:1 sample.gguf again.gguf Q8_0
    cmp out.gguf again.gguf
    # A plan is a result: it replaces nothing by itself, and no file that is read or written.
    run -2 gufo quantize -q sample.gguf other.gguf --target-size 100K --save-plan plan.txt
    run -2 gufo quantize -q --force sample.gguf other.gguf --target-size 100K --save-plan sample.gguf
    run -2 gufo quantize -q --force sample.gguf other.gguf --target-size 100K --save-plan other.gguf
    [ ! -e other.gguf ]
}

# bats test_tags=plain
@test "target size: names with marks in a saved plan" {
    make_gguf odd.gguf kv general.architecture string llama \
        tensor 'a b=c.*(x)[y]+{z}$|^?#.weight' 0 32x8 1024 tensor 'a bXc.*(x)[y]+{z}$|^?#.weight' 0 32x8 1024
    run gufo quantize --dry-run --tensor-type 'a=Q8_0' odd.gguf Q4_0
    [[ "$output" != *PCRE2* ]] || skip "built without PCRE2"
    gufo quantize -q odd.gguf out.gguf --target-bpw 7.5 --types Q4_0,Q8_0 --save-plan plan.txt
    run -0 sed -n '2p' plan.txt
    same '^a\x20b\=c\.\*\(x\)\[y\]\+\{z\}\$\|\^\?\#\.weight$=Q4_0'
    gufo quantize -q --tensor-type-file plan.txt odd.gguf again.gguf Q4_0
    cmp out.gguf again.gguf
}

# bats test_tags=plain
@test "target size: a name that is not UTF-8, a type that needs importance" {
    make_gguf bytes.gguf kv general.architecture string llama tensor $'\xff.weight' 0 256x2 2048
    run -2 gufo quantize bytes.gguf no.gguf --target-bpw 7.5 --save-plan no.txt
    has 'the name of tensor "\xff.weight" is not UTF-8: no pattern of --save-plan would match it'
    files bytes.gguf
    run -2 gufo quantize bytes.gguf no.gguf --target-bpw 7.5 --types IQ2_XXS
    has 'tensor "\xff.weight" cannot become any of the types without importance data (--imatrix)'
    gufo quantize -q bytes.gguf out.gguf --target-bpw 7.5
}

# bats test_tags=plain
@test "target size: files that cannot be written are found before the work" {
    sample
    printf 'mine\n' >mine
    for arguments in 'mine' 'o.gguf --save-plan mine' 'o.gguf --report mine' 'no/o.gguf' 'o.gguf --save-plan no/p' \
        'o.gguf --save-plan p --report p' 'o.gguf --save-plan sample.gguf.losses' 'o.gguf --report sample.gguf.losses' \
        'o.gguf --report o.gguf' 'sample.gguf --force'; do
        # shellcheck disable=SC2086
        run -"$([[ $arguments == *no/* ]] && echo 3 || echo 2)" gufo quantize sample.gguf --target-size 90K $arguments
        files sample.gguf mine
    done
    same_list mine "$(cat mine)"
}

# bats test_tags=plain
@test "target size: shards, an input without a file type, an adapter" {
    sample
    run -0 gufo quantize --json sample.gguf s.gguf --target-size 103K --split-max-size 30K
    has_size s-00004-of-00004.gguf "$(($(number planned) - $(cat s-0000[123]* | wc -c)))"
    [ "$(cat s-*.gguf | wc -c)" -le 103000 ]
    gufo split -q --split-max-tensors 8 sample.gguf t
    run -0 gufo quantize --json --keep-split t-00001-of-00003.gguf k.gguf --target-size 103K
    same_list "$(number planned)" "$(cat k-*.gguf | wc -c)"
    [ "$(number planned)" -le 103000 ]
    cp sample.gguf bare.gguf
    gufo edit -q bare.gguf --remove general.file_type
    run -0 gufo quantize --json bare.gguf b.gguf --target-size 90K
    has_size b.gguf "$(number planned)"
}

# bats test_tags=plain
@test "target size: constraints" {
    sample
    need_patterns
    run -0 gufo quantize --json --dry-run sample.gguf --target-size 85K --types Q4_0,Q5_0,Q8_0 --min 'attn_=Q5_0' \
        --max 'ffn=Q5_0' --tie 'ffn_(gate|up)'
    lacks '"to":"IQ4_NL"'
    [[ ! "$output" =~ \"name\":\"blk\.0\.attn_q\.weight\",[^}]*\"to\":\"Q4_0\" ]]
    [[ ! "$output" =~ \"name\":\"blk\.0\.ffn_down\.weight\",[^}]*\"to\":\"Q8_0\" ]]
    has '"tied":2'
    run -0 gufo quantize --json --dry-run sample.gguf --target-size 120K --tensor-type 'attn_v=Q4_1' --output-tensor-type F16
    [[ "$output" =~ \"name\":\"blk\.1\.attn_v\.weight\",[^}]*\"to\":\"Q4_1\",[^}]*\"why\":\"override\" ]]
    [[ "$output" =~ \"name\":\"output\.weight\",[^}]*\"to\":\"F16\",[^}]*\"why\":\"output\ type\" ]]
    run -2 gufo quantize --dry-run sample.gguf --target-size 85K --types Q4_0 --min 'attn_q=Q8_0'
    has 'no type is left for tensor "blk.0.attn_q.weight": it must have at least Q8_0, and it may become Q4_0'
    run -2 gufo quantize --dry-run sample.gguf --target-size 85K --tensor-type 'attn_v=Q4_1' --tensor-type 'attn_q=Q8_0' \
        --tie 'attn_[qv]'
    has 'are tied, and may not become the same type'
}

@test "target size: coefficients of a file, or none" {
    sample
    need_patterns
    run -0 gufo quantize --dry-run sample.gguf --target-size 90K --sensitivity none
    has 'Coefficients  all 1: token_embd 1, attn_q 1'
    printf '# of my own\n\nffn\t0.25\r\ndown\t9\nattn_q\t0\n' >my.tsv
    run -0 gufo quantize --dry-run sample.gguf --target-size 90K --sensitivity my.tsv
    has 'Coefficients  of the file: token_embd 0.05, attn_q 0, attn_k 0.1, attn_v 0.72, attn_output 0.36, ffn_gate 0.25'
    for line in 'ffn 0.25' $'ffn\t' $'ffn\tx' $'ffn\t-1' $'ffn\tnan' $'ffn\tinf' $'\t1' $'ff(n\t1'; do
        printf '%s\n' "$line" >bad.tsv
        run -2 gufo quantize --dry-run sample.gguf --target-size 90K --sensitivity bad.tsv
    done
    printf 'ffn\t1\0002\n' >bad.tsv
    run -2 gufo quantize --dry-run sample.gguf --target-size 90K --sensitivity bad.tsv
    has 'bad.tsv: line 1 has a NUL'
    printf '#\n' >bad.tsv
    run -2 gufo quantize --dry-run sample.gguf --target-size 90K --sensitivity bad.tsv
    has 'bad.tsv: no line has a coefficient'
    run -2 gufo quantize --dry-run sample.gguf --target-size 90K --sensitivity missing.tsv
    run -2 gufo quantize --dry-run sample.gguf --target-size 90K --sensitivity /dev/zero
    has 'more than 16 MiB of patterns'
    printf 'zzz\t1\n' >bad.tsv
    run -1 gufo quantize --dry-run sample.gguf --target-size 90K --sensitivity bad.tsv
    has 'no tensor matches a --sensitivity pattern'
}

# bats test_tags=plain
@test "target size: an importance matrix weighs" {
    sample
    "$GUFO_TEST_BIN/make_imatrix" m.imatrix dat chunks 1 entry blk.0.ffn_up.weight 1 "$(seq -s , 1 64)"
    run -0 gufo quantize -q --json --imatrix m.imatrix sample.gguf out.gguf --target-size 90K
    has '"importance":true'
    has_size out.gguf "$(number planned)"
}

# bats test_tags=plain
@test "target size: wrong usage" {
    sample
    wrong() {
        local text=$1
        shift
        run -2 --separate-stderr gufo quantize sample.gguf "$@"
        [[ "$stderr" == *"$text"* ]] || { echo "$stderr"; return 1; }
        files sample.gguf
    }
    wrong 'TYPE (Q4_K_M) and --target-size exclude each other' out.gguf Q4_K_M --target-size 100K
    wrong 'TYPE (Q4_K_M) and --target-bpw exclude each other' Q4_K_M --target-bpw 4
    wrong 'such as 5.8G (10^9 bytes) or 5.8Gi (2^30 bytes)' out.gguf --target-size 5.8
    wrong "not '0'" out.gguf --target-size 0
    wrong "not ''" out.gguf --target-size ''
    wrong "not ''" out.gguf --target-size 100K,
    wrong "not '1X'" out.gguf --target-size 100K,1X
    wrong 'exclude each other' out.gguf --target-size 100K --target-bpw 4
    for bits in nan inf -4 0 65 0x4 4,5x '' 1e400 4.5G; do
        wrong 'bits per weight above 0 and at most 64' out.gguf --target-bpw "$bits"
    done
    wrong 'several sizes need --to DIR' out.gguf --target-size 100K,120K
    wrong "unknown type 'Q4_Z'" out.gguf --target-size 100K --types Q4_0,Q4_Z
    wrong "unknown type ''" out.gguf --target-size 100K --types Q4_0,
    wrong 'has Q4_0 twice' out.gguf --target-size 100K --types Q4_0,q4_0
    wrong '--min needs --target-size or --target-bpw' out.gguf Q4_0 --min none
    wrong '--exact needs --target-size or --target-bpw' out.gguf Q4_0 --exact
    wrong '--types-from and a size exclude each other' out.gguf --target-size 100K --types-from sample.gguf
    wrong '--pure and a size exclude each other' out.gguf --target-size 100K --pure
    wrong '--save-plan writes one plan' --to . --target-size 100K,120K --save-plan plan.txt
    wrong "is an extra argument" out.gguf 2 3 --target-size 100K
    run -2 gufo quantize sample.gguf out.gguf --target-size 50K
    has '50,000 bytes are asked for, and the least possible are 76,512: "token_embd.weight" takes 9,324 as Q4_0'
    [ ! -e out.gguf ]
}

# bats test_tags=plain
@test "target size: more than the model has" {
    sample
    run -0 gufo quantize sample.gguf out.gguf --target-size 1G
    has 'every tensor has the best of its types; more bytes gain nothing'
    has 'Loss          0; F16 loses nothing, which is as large'
}

# bats test_tags=plain
@test "target size: a pattern that matches nothing" {
    sample
    need_patterns
    for option in min=zzz=Q8_0 max=zzz=Q8_0 tie=zzz tensor-type=zzz=Q8_0; do
        run -1 gufo quantize sample.gguf out.gguf --target-size 90K "--${option%%=*}" "${option#*=}"
        has "no tensor matches a --${option%%=*} pattern; nothing was written"
    done
    files sample.gguf
}

@test "target size: measurements replace no file of somebody else" {
    sample
    cp sample.gguf in
    mkdir in.losses
    run -0 gufo quantize in out.gguf --target-size 90K
    has 'in.losses: warning: measurements are not kept'
    rmdir in.losses
    rm out.gguf
    printf 'mine\n' >mine
    ln -s mine in.losses
    run -0 --separate-stderr gufo quantize in out.gguf --target-size 90K
    same_list mine "$(cat mine)"
    cp sample.gguf a.gguf
    "$GUFO_TEST_BIN/make_imatrix" a.gguf.losses dat chunks 1 entry blk.0.ffn_up.weight 1 "$(seq -s , 1 64)"
    run -2 gufo quantize --imatrix a.gguf.losses a.gguf out2.gguf --target-size 90K --force
    rm a.gguf.losses
    run -2 gufo quantize a.gguf a.gguf.losses --target-size 90K --force
    [ ! -e a.gguf.losses ]
}

# bats test_tags=plain
@test "target size: an interrupted run can be resumed" {
    sample
    gufo quantize -q sample.gguf whole.gguf --target-size 90K
    rm sample.gguf.losses
    gufo quantize -q sample.gguf out.gguf --target-size 90K --resume
    cmp whole.gguf out.gguf
}

# bats test_tags=plain
@test "target size: an interrupted run leaves no plan, and the command that it names makes the same files" {
    make_large 8192
    need_patterns large.gguf
    arguments=(large.gguf out.gguf --exact --types Q4_K,Q5_K --target-bpw 4.6)
    gufo quantize -q "${arguments[@]}" --save-plan ../plan.txt
    mv out.gguf ../expected.gguf
    rm large.gguf.losses
    arguments+=(--save-plan plan.txt)
    for signal in INT TERM KILL; do
        code=$([ "$signal" = KILL ] && echo 137 || echo 4)
        # While it measures: there is no file yet that would say so.
        set -m
        "$GUFO" quantize --threads 1 "${arguments[@]}" >/dev/null 2>stderr &
        sleep 0.1
        kill -s "$signal" $!
        run wait $!
        [ ! -e plan.txt ]
        if [ "$status" -eq 4 ] && [ ! -e out.gguf.part ]; then
            [ "$(cat stderr)" = 'gufo: large.gguf: interrupted while it was measured; the same command continues' ]
        fi
        rm -f out.gguf*
        run -"$code" interrupt "$signal" out.gguf quantize --threads 1 "${arguments[@]}"
        [ "$signal" = KILL ] ||
            [ "$(cat stderr)" = 'gufo: out.gguf: interrupted; the finished part is kept beside it; the same command continues' ]
        files large.gguf large.gguf.losses stderr out.gguf.part out.gguf.part.journal
        run -0 --separate-stderr gufo quantize "${arguments[@]}"
        [[ "$stderr" == 'gufo: out.gguf: continues an interrupted run at '* ]]
        cmp out.gguf ../expected.gguf
        cmp plan.txt ../plan.txt
        # An older plan and an older output stay until there are new ones.
        printf 'mine\n' | tee plan.txt >out.gguf
        run -"$code" interrupt "$signal" out.gguf quantize --force --threads 1 "${arguments[@]}"
        [ "$signal" = KILL ] ||
            [ "$(cat stderr)" = 'gufo: out.gguf: interrupted; the finished part is kept beside it; the same command with --resume continues' ]
        same_list mine "$(cat plan.txt)"
        same_list mine "$(cat out.gguf)"
        gufo quantize -q --force --resume "${arguments[@]}"
        cmp out.gguf ../expected.gguf
        cmp plan.txt ../plan.txt
        rm out.gguf plan.txt large.gguf.losses
    done
}

# bats test_tags=plain
@test "target size: a run that fails leaves no plan, and the one that was there" {
    sample
    need_patterns sample.gguf
    run -3 bash -c 'ulimit -f 50; "$GUFO" quantize sample.gguf out.gguf --target-size 100K --save-plan plan.txt'
    has 'out.gguf: cannot'
    files sample.gguf sample.gguf.losses
    printf 'mine\n' >plan.txt
    run -3 bash -c 'ulimit -f 50; "$GUFO" quantize --force sample.gguf out.gguf --target-size 100K --save-plan plan.txt'
    same_list mine "$(cat plan.txt)"
    files sample.gguf sample.gguf.losses plan.txt
    # A dry run has a plan, too.
    gufo quantize -q --dry-run --force sample.gguf out.gguf --target-size 100K --save-plan plan.txt
    gufo quantize -q sample.gguf out.gguf --target-size 100K --save-plan other.txt
    cmp plan.txt other.txt
}

# bats test_tags=plain
@test "target size: convert and lora merge" {
    sample
    mkdir m
    "$GUFO_TEST_BIN/make_checkpoint" m
    run -0 --separate-stderr gufo convert --json m c.gguf --target-size 150K
    has_size c.gguf "$(number planned)"
    need_patterns
    gufo convert -q m d.gguf --target-bpw 5 --save-plan plan.txt
    run -0 head -n 1 plan.txt
    same '# gufo convert --tensor-type-file THIS IN OUT IQ4_NL'
    gufo convert -q --tensor-type-file plan.txt m e.gguf IQ4_NL
    cmp d.gguf e.gguf
    run -2 gufo convert m f.gguf Q8_0 --target-size 150K
    has 'TYPE (Q8_0) and --target-size exclude each other'
}
