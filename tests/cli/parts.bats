#!/usr/bin/env bats
# --part, gufo commit, gufo parts and gufo progress: any number of workers make what one process makes.

# bats sets stderr and lines.
# shellcheck disable=SC2154
# bats file_tags=plain

load common

# same_in_parts OUT ARGUMENT...: makes o/OUT with one worker, three, and workers that take what is next; each time all
# files of o/ and the JSON of the commit are those of a plain run.
same_in_parts() {
    local out=o/$1 how share shares cpu
    shift
    rm -rf o plain && mkdir o
    "$GUFO" "$@" -j >plain.json 2>/dev/null
    mv o plain
    for how in 1 3 next; do
        mkdir o
        case $how in
        1) shares=0/1 ;;
        3) shares='2/3 0/3 1/3' ;;
        next) shares='next next' ;;
        esac
        cpu=best
        for share in $shares; do
            GUFO_CPU=$cpu "$GUFO" "$@" -q --part "$share" --part-align 4K 2>/dev/null || return 1
            cpu=portable # kernels differ between machines
            [ -e "$out.parts/plan" ] || return 1
        done
        "$GUFO" commit "$out" -j >parts.json 2>/dev/null || return 1
        diff -r o plain && diff parts.json plain.json || return 1
        rm -r o
    done
}

# make_numbers OUT: a model with numbers, of some parts where the alignment is 4 KiB.
make_numbers() {
    mkdir numbers
    "$GUFO_TEST_BIN/make_checkpoint" numbers embd 256
    gufo convert -q numbers "$1" F16
    rm -r numbers
}

@test "parts: quantize, with shards, several types, an imatrix and a report" {
    make_numbers in.gguf
    "$GUFO_TEST_BIN/make_imatrix" m.dat dat chunks 1 entry blk.0.ffn_up.weight 1 "$(seq -s, 256)"
    same_in_parts out.gguf quantize in.gguf o/out.gguf Q4_K_M --imatrix m.dat --report o/report.csv
    ln in.gguf Tiny-1M-v1.0-F16.gguf
    same_in_parts Tiny-1M-v1.0-Q4_K_M.gguf quantize --to o Tiny-1M-v1.0-F16.gguf Q4_K_M,Q8_0
    same_in_parts out.gguf quantize in.gguf o/out.gguf Q5_0 --split-max-size 700K
}

@test "parts: split, merge, endian, extract" {
    make_numbers in.gguf
    same_in_parts s split --max-size 700K in.gguf o/s
    mv plain set
    same_in_parts out.gguf merge set/s-00001-of-*.gguf -o o/out.gguf
    same_in_parts out.gguf endian --to big in.gguf o/out.gguf
    same_in_parts out.npy extract in.gguf blk.0.ffn_down.weight --dtype f32 -o o/out.npy
}

@test "parts: convert, export, lora merge" {
    mkdir m
    "$GUFO_TEST_BIN/make_checkpoint" m embd 256
    same_in_parts out.gguf convert m o/out.gguf Q4_K_M
    gufo convert -q m out.gguf
    same_in_parts dir export out.gguf o/dir --shard-size 500K
    make_numbers in.gguf
    make_gguf adapter.gguf kv general.architecture string qwen3 kv general.type string adapter \
        kv adapter.type string lora kv adapter.lora.alpha float32 1 \
        tensor blk.0.attn_q.weight.lora_a 0 256x1 1024 tensor blk.0.attn_q.weight.lora_b 0 1x256 1024
    same_in_parts out.gguf lora merge in.gguf adapter.gguf --type Q8_0 -o o/out.gguf
}

# bats test_tags=legacy,plain
@test "parts: migrate checks its output after the commit" {
    "$GUFO_TEST_BIN/make_legacy" old.bin type q4_0
    same_in_parts out.gguf migrate --yes old.bin o/out.gguf
    grep -q '"valid":true' parts.json
    run -0 gufo migrate --yes old.bin out.gguf --part 0/2
    lacks valid
    # Without --yes all workers take the same values, on a terminal, too.
    [ "${lines[0]#out.gguf: made }" != "${lines[0]}" ]
}

@test "parts: a worker says what it has made; the last one, what comes next" {
    make_numbers in.gguf
    run -0 gufo quantize in.gguf out.gguf Q8_0 --part 0/1 --part-align 4K
    [[ "$output" =~ ^out\.gguf:\ made\ ([0-9]+)\ of\ ([0-9]+)\ parts\ \(0-[0-9]+\),\ read\ [0-9.]+\ MB$ ]]
    count=${BASH_REMATCH[2]}
    [ "${BASH_REMATCH[1]}" = "$count" ]
    run -0 gufo quantize in.gguf out.gguf Q8_0 --part next
    same "out.gguf: made 0 of $count parts, read 0 bytes; all are complete: gufo commit out.gguf"
    run -0 gufo quantize -j in.gguf out.gguf Q8_0 --part 1/2
    [[ "$output" =~ ^\{\"path\":\"out.gguf\",\"parts\":[0-9]+,\"made\":\[\],\"complete\":[0-9]+,\"failed\":0,\"bytes\":0\}$ ]]
}

@test "parts: any N continues any other; missing parts are listed" {
    make_numbers in.gguf
    gufo quantize -q in.gguf plain.gguf Q4_0
    gufo quantize -q in.gguf out.gguf Q4_0 --part 1/3 --part-align 4K
    run -1 --separate-stderr gufo commit out.gguf
    [[ "$stderr" =~ ^gufo:\ out.gguf:\ [0-9]+\ of\ [0-9]+\ parts\ are\ not\ complete\;\ nothing\ is\ named$ ]]
    has waiting
    lacks complete
    [ ! -e out.gguf ]
    run -0 gufo parts --missing out.gguf
    [[ "${lines[0]}" =~ ^0/[0-9]+$ ]]
    gufo parts --missing out.gguf | xargs -n 1 "$GUFO" quantize -q in.gguf out.gguf Q4_0 --part
    run -0 gufo parts --missing out.gguf
    same ''
    gufo commit -q out.gguf
    cmp out.gguf plain.gguf
    files in.gguf plain.gguf out.gguf
}

@test "commit: again, without a plan, without anything" {
    make_numbers in.gguf
    gufo endian -q --to big in.gguf out.gguf --part next
    run -0 gufo commit --wait out.gguf
    has 'out.gguf: 2.64 MB, '
    mkdir out.gguf.parts # what a commit leaves that is stopped before its last step
    run -0 gufo commit out.gguf
    same 'gufo: out.gguf: it is complete, and has no parts any more'
    [ ! -e out.gguf.parts ]
    run -0 gufo progress out.gguf
    has 'it is complete'
    mkdir empty
    run -3 gufo commit empty
    : >'ab-00001-of-00002.gguf'
    run -3 gufo commit 'a*'
    for command in commit parts progress; do
        run -3 gufo $command none.gguf
        same 'gufo: none.gguf: neither the output nor its plan, none.gguf.parts/plan, is there'
    done
}

@test "commit: from another folder, by the options of the workers, with its own -j" {
    make_numbers in.gguf
    gufo -q quantize in.gguf out.gguf Q8_0 --keep-nonfinite --part next --split_max_size 700K
    mkdir elsewhere
    run -0 env -C elsewhere "$GUFO" commit ../out.gguf -j
    [[ "$output" =~ ^\{\"path\":\"in.gguf\" ]]
    ls out-00001-of-*.gguf
    [ ! -e out.gguf.parts ]
    run -0 gufo commit out.gguf
    has 'it is complete'
}

@test "commit: waits until a signal comes; replaces an output that has come meanwhile only with --force" {
    make_numbers in.gguf
    gufo quantize -q in.gguf plain.gguf Q8_0
    gufo quantize -q in.gguf out.gguf Q8_0 --part 0/2 --part-align 4K
    for out in out.gguf none.gguf; do
        run -4 timeout --preserve-status -s TERM 0.4 "$GUFO" commit --wait $out
        has "gufo: $out: interrupted; the same command continues"
    done
    gufo quantize -q in.gguf out.gguf Q8_0 --part 1/2
    cp in.gguf out.gguf
    run -2 gufo commit out.gguf
    has 'out.gguf: '
    cmp in.gguf out.gguf
    gufo commit -q --force out.gguf
    cmp plain.gguf out.gguf
    files in.gguf plain.gguf out.gguf
}

@test "commit: a plan that was moved away from its output names nothing" {
    make_numbers in.gguf
    gufo endian -q --to big in.gguf out.gguf --part next
    cp -r out.gguf.parts other.gguf.parts
    run -2 gufo commit other.gguf
    has 'other.gguf: the command of its plan writes to out.gguf instead'
    gufo commit -q out.gguf
}

@test "commit: killed at any moment, it can be repeated" {
    make_numbers in.gguf
    gufo quantize -q in.gguf plain.gguf Q4_0 --split-max-size 700K --report plain.csv
    for ((i = 0; i < 8; i++)); do
        rm -f out* report.csv
        gufo quantize -q in.gguf out.gguf Q4_0 --split-max-size 700K --report report.csv --part next
        timeout --foreground -s KILL "0.0$((i * 3 / 10))$((i * 3 % 10))" "$GUFO" commit -q out.gguf || true
        gufo commit -q out.gguf
        for file in plain-*.gguf; do
            cmp "$file" "out${file#plain}"
        done
        cmp plain.csv report.csv
        [ -z "$(find . -name '*.part*')" ]
    done
}

@test "commit: a report that exists is not replaced without --force" {
    make_numbers in.gguf
    for force in '' --force; do
        rm -f out.gguf
        gufo quantize -q in.gguf out.gguf Q8_0 --report report.csv --part next
        echo old >report.csv
        # shellcheck disable=SC2086
        run -0 gufo commit $force out.gguf
        if [ -z "$force" ]; then
            has 'report.csv: it exists, and is not replaced'
            grep -qx old report.csv
        else
            grep -q output.weight report.csv
        fi
        rm report.csv
    done
}

@test "commit: runs no command of a plan but one with --part, for that output" {
    make_numbers in.gguf
    cp in.gguf before.gguf
    plan() {
        rm -rf out.gguf.part*
        "$GUFO_TEST_BIN/make_plan" in.gguf out.gguf "$@"
    }
    plan gufo edit --set general.name=Other in.gguf
    run -2 gufo commit out.gguf
    has 'out.gguf: the command of its plan has no --part'
    plan gufo edit --set general.name=Other in.gguf --part next
    run -2 gufo commit out.gguf
    has "unknown option '--part'"
    plan gufo endian --to big in.gguf other.gguf --part next
    run -2 gufo commit out.gguf
    has 'out.gguf: the command of its plan writes to other.gguf instead'
    plan gufo quantize in.gguf out.gguf Q8_0 --part next
    run -2 gufo commit out.gguf
    has 'differs from the plan'
    plan
    run -2 gufo commit out.gguf
    plan gufo
    run -2 gufo commit out.gguf
    cmp in.gguf before.gguf
    [ ! -e out.gguf ] && [ ! -e other.gguf ]
    plan gufo endian --to big in.gguf out.gguf --part next
    run -0 gufo commit out.gguf
}

@test "parts: a report is beside the output, also one that a plan names" {
    make_numbers in.gguf
    mkdir there elsewhere
    ln -s ../elsewhere/report.csv there/linked.csv
    for report in elsewhere/report.csv there/linked.csv; do
        run -2 gufo quantize in.gguf there/out.gguf Q8_0 --part next --report $report
        has '--report must be in the folder of OUT'
        [ ! -e there/out.gguf.parts ]
    done
    "$GUFO_TEST_BIN/make_plan" in.gguf out.gguf gufo quantize in.gguf out.gguf Q8_0 --part next --report elsewhere/report.csv
    run -2 gufo commit --force out.gguf
    has '--report must be in the folder of OUT'
    [ -z "$(ls elsewhere)" ]
    gufo quantize -q in.gguf there/out.gguf Q8_0 --part next --report there/report.csv
    gufo commit -q there/out.gguf
    [ -s there/report.csv ]
}

@test "parts: one that fails ends no other; who waits for it does not wait forever" {
    make_numbers in.gguf
    printf '\377\377' | dd of=in.gguf bs=1 seek=1048576 conv=notrunc status=none # NaN
    for share in 0/1 next; do
        rm -rf out.gguf.part*
        run -3 --separate-stderr gufo quantize in.gguf out.gguf Q8_0 --part $share --part-align 4K
        [[ "$output" =~ made\ ([0-9]+)\ of\ ([0-9]+)\ parts\ .*\;\ ([0-9]+)\ parts?\ failed:\ gufo\ parts\ out\.gguf$ ]]
        failed=${BASH_REMATCH[3]}
        [ "$failed" -ge 1 ] && [ "${BASH_REMATCH[1]}" -eq $((BASH_REMATCH[2] - failed)) ] && [ "${BASH_REMATCH[1]}" -gt 1 ]
        [[ "$stderr" == 'gufo: '*'is NaN (--keep-nonfinite accepts it)' ]]
        [ "$(gufo parts --missing out.gguf | wc -l)" -eq "$failed" ]
    done
    run -3 --separate-stderr gufo quantize -j in.gguf out.gguf Q8_0 --part next
    [[ "$output" == *'"made":[],'*"\"failed\":$failed,"* ]]
    run -1 --separate-stderr timeout 60 "$GUFO" commit --wait out.gguf
    [[ "$stderr" == "gufo: out.gguf: $failed of "*'not complete; nothing is named' ]]
    has 'is NaN'
    [ ! -e out.gguf ]
}

@test "parts: eight workers at once" {
    make_numbers in.gguf
    gufo quantize -q in.gguf plain.gguf IQ4_XS
    workers=()
    for ((i = 0; i < 8; i++)); do
        gufo quantize -q in.gguf out.gguf IQ4_XS --threads 1 --part next --part-align 4K &
        workers+=($!)
    done
    gufo commit -q --wait out.gguf
    for worker in "${workers[@]}"; do
        wait "$worker" || [ "$?" = 2 ] # after the commit the output exists
    done
    cmp out.gguf plain.gguf
}

@test "parts: what cannot be made in parts" {
    make_numbers in.gguf
    refuse() {
        local says=$1
        shift
        run -2 gufo "$@" --part next
        has "$says"
        [ "${#lines[@]}" = 1 ]
        [ ! -e out.gguf.parts ] && [ ! -e out.gguf ]
    }
    mkfifo pipe
    refuse 'writes to files alone' merge in.gguf -o -
    refuse 'writes to files alone' endian --to big in.gguf pipe
    refuse 'writes to files alone' quantize in.gguf /dev/null Q8_0
    refuse '--part excludes --delete-input' split --delete-input --max-size 700K in.gguf out.gguf
    refuse '--part excludes --resume' quantize --resume in.gguf out.gguf Q8_0
    refuse 'measure once with --save-plan' quantize --target-size 1M in.gguf out.gguf
    refuse 'measure once with --save-plan' quantize --target-bpw 5 in.gguf out.gguf
    refuse '--part replaces no file, with --force neither' quantize --force in.gguf out.gguf Q8_0
    refuse "unknown option '--part'" edit --set general.name=x in.gguf
    refuse "unknown option '--part'" strip --no-tensors in.gguf out.gguf
    refuse 'must be a power of two' quantize in.gguf out.gguf Q8_0 --part-align 5K
    run -2 gufo quantize in.gguf out.gguf Q8_0 --part-align 4K
    has '--part-align needs --part'
    for wrong in 3 3/3 4/3 -1/3 0/0 a/b next/0 next/x nextx auto/x '' 1/99999999999; do
        run -2 gufo quantize in.gguf out.gguf Q8_0 --part "$wrong"
        has "--part is K/N, with K from 0 to N - 1, next, or auto, not '$wrong'"
    done
    touch out.gguf
    run -2 gufo quantize in.gguf out.gguf Q8_0 --part next
    has 'out.gguf: '
    has '--part replaces nothing: remove it before the workers start'
    # The output of a commit that was made meanwhile stays as it is, too.
    [ ! -s out.gguf ]
}

@test "parts: npz is refused" {
    mkdir m
    "$GUFO_TEST_BIN/make_checkpoint" m
    gufo convert -q m in.gguf
    run -2 gufo export in.gguf dir --format npz --part next
    [ ! -e dir.parts/plan ]
}

@test "parts: another option, type, imatrix or input is refused by name; another path is not" {
    make_numbers in.gguf
    "$GUFO_TEST_BIN/make_imatrix" m.dat dat chunks 1 entry blk.0.ffn_up.weight 1 "$(seq -s, 256)" entry blk.0.ffn_gate.weight 1 "$(seq -s, 256)"
    worker() {
        gufo quantize -q "$@" --part 0/2
    }
    worker in.gguf out.gguf Q4_K_M --imatrix m.dat
    run -2 worker in.gguf out.gguf Q5_K_M --imatrix m.dat
    same 'gufo: out.gguf: the work differs from the plan: the value of key "general.file_type" is "15" there, and "17" here'
    run -2 worker in.gguf out.gguf Q4_K_M
    same 'gufo: out.gguf: the work differs from the plan: input "m.dat" is in the plan alone'
    run -2 worker in.gguf out.gguf Q4_K_M --imatrix m.dat --pure
    has 'the work differs from the plan: the type of tensor "output.weight" is "Q6_K" there, and "Q4_K" here'
    # Options of which nothing else speaks.
    run -2 worker in.gguf out.gguf Q4_K_M --imatrix m.dat --keep-nonfinite
    same 'gufo: out.gguf: the work differs from the plan: option "keep-nonfinite" is "off" there, and "on" here'
    run -2 worker in.gguf out.gguf Q4_K_M --imatrix m.dat --exclude-weights ffn_up
    has 'the value of key "quantize.imatrix.entries_count" is "2" there, and "1" here'
    worker in.gguf other.gguf Q4_K_M --imatrix m.dat --include-weights ffn_up
    run -2 worker in.gguf other.gguf Q4_K_M --imatrix m.dat --include-weights ffn_gate
    same 'gufo: other.gguf: the work differs from the plan: the type of tensor "blk.0.ffn_gate.weight" is "Q4_K" there, and "Q4_K with importance" here'
    rm -r other.gguf.part*
    cp in.gguf other.gguf
    head -c 1000000 /dev/zero | dd of=other.gguf bs=4096 seek=200 conv=notrunc status=none
    run -2 worker other.gguf out.gguf Q4_K_M --imatrix m.dat
    has 'other.gguf'
    mkdir there
    cp in.gguf there/same.gguf
    cp m.dat there/n.dat
    run -0 worker there/same.gguf "$PWD/out.gguf" Q4_K_M --imatrix there/n.dat --threads 1 --memory 64M
    gufo quantize -q in.gguf out.gguf Q4_K_M --imatrix m.dat --part next
    gufo commit -q out.gguf
    run -0 gufo get out.gguf quantize.imatrix.file
    same m.dat
}

@test "parts: --dry-run shows the bytes of a share" {
    make_numbers in.gguf
    run -0 gufo split --dry-run --max-size 700K in.gguf s --part 0/2 --part-align 4K
    has 'Part'
    [ ! -e s.parts ]
    run -0 gufo -j quantize --dry-run in.gguf out.gguf Q8_0 --part 1/2 --part-align 4K
    [[ "$output" =~ ^\{\"path\":\"out.gguf\",\"dry_run\":true,\"part_count\":([0-9]+),\"parts\":\[\{\"part\":([0-9]+), ]]
    [ $((2 * BASH_REMATCH[2])) -ge "${BASH_REMATCH[1]}" ]
    [[ "$output" =~ \"ranges\":\[\{\"path\":\"out.gguf\",\"from\":[0-9]+,\"to\":[0-9]+\}\] ]]
    files in.gguf
    for command in 'merge in.gguf -o out.gguf' 'endian --to big in.gguf out.gguf' 'export in.gguf dir'; do
        # shellcheck disable=SC2086
        run gufo -j $command --dry-run --part next
        files in.gguf
    done
    gufo quantize -q in.gguf out.gguf Q8_0 --part 0/2
    run -0 gufo quantize --dry-run in.gguf out.gguf Q8_0 --part 0/2
    run -2 gufo quantize --dry-run in.gguf out.gguf Q4_0 --part 0/2
    has 'the work differs from the plan: the value of key "general.file_type"'
    mkdir elsewhere
    cd elsewhere
    run -0 gufo -j quantize --dry-run ../in.gguf ../out.gguf Q8_0 --part 0/2
    [[ "$output" =~ \"ranges\":\[\{\"path\":\"../out.gguf\", ]]
}

@test "parts: --part auto reads what engines say" {
    make_numbers in.gguf
    # share VARIABLE=VALUE... AUTO: the part of 64 and more that comes first.
    share() {
        env -u SLURM_PROCID "${@:1:$#-1}" "$GUFO" -j quantize --dry-run in.gguf out.gguf Q8_0 --part "${*: -1}" \
            --part-align 4K | grep -o '"part_count":[0-9]*,"parts":\[{"part":[0-9]*'
    }
    is() {
        run -0 share "${@:2}"
        same "$(share "$1")"
    }
    is 3/4 SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=4 auto
    is 2/3 OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=3 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 auto
    is 1/2 PMI_RANK=1 PMI_SIZE=2 auto
    is 4/5 SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_COUNT=5 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=4 \
        SLURM_PROCID=0 auto
    is 4/5 SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_COUNT=5 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=4 \
        SLURM_PROCID=0 SLURM_NTASKS=2 auto # the batch script
    is 5/6 SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=2 \
        SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 auto
    is 2/9 JOB_COMPLETION_INDEX=2 auto/9
    is 17/20 SLURM_ARRAY_TASK_ID=17 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=17 auto/20
    wrong() {
        run -2 env "${@:2:$#-2}" "$GUFO" quantize in.gguf out.gguf Q8_0 --part "${*: -1}"
        has "$1"
    }
    wrong 'the array goes from 3 to 17 and has 2 tasks' SLURM_ARRAY_TASK_ID=17 SLURM_ARRAY_TASK_COUNT=2 \
        SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=17 auto
    wrong 'none of these variables is set: JOB_COMPLETION_INDEX, SLURM_ARRAY_TASK_ID, OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID' X=1 auto
    wrong 'use --part auto/N' JOB_COMPLETION_INDEX=2 auto
    wrong 'SLURM_PROCID is 4, but there are 4 workers' SLURM_PROCID=4 SLURM_STEP_NUM_TASKS=4 auto
    wrong "PMI_SIZE is not a number: 'x'" PMI_RANK=1 PMI_SIZE=x auto
    wrong 'none of these variables is set' SLURM_PROCID=0 SLURM_NTASKS=4 auto # a batch script, without srun
}

@test "parts: names of a machine come from the plan" {
    mkdir Tiny-Llama other
    "$GUFO_TEST_BIN/make_checkpoint" Tiny-Llama
    cp Tiny-Llama/* other
    gufo convert -q Tiny-Llama plain.gguf
    gufo convert -q Tiny-Llama out.gguf --part 0/2 --part-align 4K
    gufo convert -q other out.gguf --part 1/2
    run -0 gufo commit -q out.gguf
    cmp out.gguf plain.gguf
    # The name of the output is known only when the folder is open.
    mkdir to
    gufo convert -q Tiny-Llama 'to/out-{ftype}.gguf' --part 0/2 --part-align 4K
    gufo convert -q other 'to/out-{ftype}.gguf' --part 1/2
    gufo commit -q to/out-bf16.gguf
    cmp to/out-bf16.gguf plain.gguf
    # Of two that begin at once one writes the plan.
    gufo convert -q other plain-other.gguf
    for ((i = 0; i < 5; i++)); do
        rm out.gguf
        gufo convert -q other out.gguf --part 1/2 &
        gufo convert -q Tiny-Llama out.gguf --part 0/2
        wait $!
        gufo commit -q out.gguf
        cmp out.gguf plain.gguf || cmp out.gguf plain-other.gguf
    done
}

# bats test_tags=legacy,plain
@test "parts: the name of a file before GGUF comes from the plan" {
    "$GUFO_TEST_BIN/make_legacy" one.bin type q4_0
    cp one.bin two.bin
    gufo migrate -q --yes one.bin plain.gguf
    gufo migrate -q --yes one.bin out.gguf --part 0/2 --part-align 4K
    gufo migrate -q --yes two.bin out.gguf --part 1/2
    gufo commit -q out.gguf
    cmp out.gguf plain.gguf
}

@test "parts, progress: tables and JSON" {
    make_numbers in.gguf
    gufo quantize -q in.gguf out.gguf Q8_0 --split-max-size 700K --part 0/2 --part-align 4K
    run -0 gufo parts out.gguf
    [[ "${lines[0]}" =~ ^[0-9]+\ parts:\ [0-9]+\ complete,\ [0-9]+\ waiting$ ]]
    has 'complete'
    has "$(hostname):"
    has $'\nout-00001-of-'
    run -0 gufo parts -j out.gguf
    [[ "$output" =~ ^\{\"path\":\"out.gguf\",\"part_count\":[0-9]+,\"complete\":[0-9]+,\"running\":0,\"silent\":0,\"failed\":0,\"waiting\":[0-9]+ ]]
    has '"ranges":[{"path":"out-00001-of-'
    has '"outputs":[{"path":"out-00001-of-'
    # Paths are those of who asks, not of the first worker.
    mkdir elsewhere
    (cd elsewhere && gufo parts -j ../out.gguf) >listed
    grep -q '"ranges":\[{"path":"../out-00001-of-.*"outputs":\[{"path":"../out-00001-of-' listed
    has '"complete":false'
    run -0 gufo progress out.gguf
    [[ "${lines[1]}" == *' % ['* ]]
    run -0 gufo progress -j out.gguf
    has '"parts":[]}'
    gufo quantize -q in.gguf out.gguf Q8_0 --split-max-size 700K --part next
    run -0 gufo parts -j out.gguf
    has '"complete":true}]}'
    gufo commit -q out.gguf
}

@test "parts: --advise says how long it takes with how many machines" {
    make_numbers in.gguf
    gufo quantize -q in.gguf out.gguf Q4_K_M --part 0/2 --part-align 4K
    run -0 gufo parts out.gguf --advise
    [[ "${lines[0]}" == Machines* ]]
    has '(--link) and for the file server (--server)'
    run -0 gufo parts out.gguf --advise --link 10M --server 10M --cores 64
    has 'One machine is enough'
    [[ "$output" != *--link* ]]
    run -0 gufo parts out.gguf --advise --link 10M --server 100G --cores 1 -j
    has '"one_is_enough":false,"workers":'
    has '"times":[{"workers":1,"seconds":'
    # Without --cores it is the processors that gufo may use.
    run -0 gufo parts out.gguf --advise -j --cores 1
    one=$output
    allowed=$(taskset -pc $$ | sed 's/.*: //; s/[,-].*//')
    run -0 taskset -c "$allowed" "$GUFO" parts out.gguf --advise -j
    same "$one"
}

# make_llama_70b OUT: 70 billion weights in F16, all of them holes.
make_llama_70b() {
    local words=(nopad kv general.architecture string llama kv llama.block_count uint32 80) offset=0 layer name
    tensor() { # NAME COLUMNS ROWS
        words+=(at "$offset" tensor "$1.weight" 1 "$2x$3" 0)
        offset=$((offset + 2 * $2 * $3))
    }
    tensor token_embd 8192 128256
    tensor output 8192 128256
    for layer in {0..79}; do
        for name in attn_q attn_output; do tensor "blk.$layer.$name" 8192 8192; done
        for name in attn_k attn_v; do tensor "blk.$layer.$name" 8192 1024; done
        for name in ffn_gate ffn_up; do tensor "blk.$layer.$name" 8192 28672; done
        tensor "blk.$layer.ffn_down" 28672 8192
    done
    make_gguf "$1" "${words[@]}"
    truncate -s "+$((offset + 32))" "$1"
}

@test "parts: docs/parts.md shows what --advise prints" {
    make_llama_70b in.gguf || skip "the file system has no files of that size"
    "$GUFO_TEST_BIN/make_plan" --quantize IQ3_XS in.gguf out.gguf
    # shellcheck disable=SC2154  # cmake sets GUFO_SOURCE
    awk '/^bytes and an estimate of the computing/ { wanted = 1 } wanted && /^```/ { if (inside) exit; inside = 1; next } inside' \
        "$GUFO_SOURCE/docs/parts.md" >expected
    gufo parts --advise --cores 16 out.gguf | diff expected -
}

@test "parts, progress: no line is wider than the terminal" {
    need_terminal
    make_numbers in.gguf
    gufo quantize -q in.gguf out.gguf Q8_0 --split-max-size 700K --part 0/2 --part-align 4K
    for columns in 40 80 120; do
        for command in 'parts out.gguf' 'split --dry-run --max-size 700K in.gguf s --part next'; do
            # shellcheck disable=SC2086
            on_terminal env COLUMNS=$columns "$GUFO" --color=never $command >shown
            awk -v columns=$columns '{ sub(/\r$/, "") } length($0) > columns { print; wide = 1 } END { exit wide || NR < 2 }' shown
        done
    done
    gufo quantize -q in.gguf out.gguf Q8_0 --split-max-size 700K --part next
    for columns in 40 80 120; do
        on_terminal env COLUMNS=$columns "$GUFO" --color=never progress out.gguf >shown
        awk -v columns=$columns '{ sub(/\r$/, ""); sub(/.*\033\[\?1049l/, "") } length($0) > columns { print; wide = 1 }
            END { exit wide || NR < 2 }' shown
    done
}

@test "progress: on a terminal, until all parts are complete" {
    need_terminal
    make_numbers in.gguf
    gufo quantize -q in.gguf out.gguf Q8_0 --part 0/2 --part-align 4K
    { sleep 0.5 && gufo quantize -q in.gguf out.gguf Q8_0 --part next; } &
    run -0 on_terminal "$GUFO" progress out.gguf
    wait
    has $'\033[?1049h'
    has $'\033[?1049l'
    has '100 % ['
    gufo commit -q out.gguf
}
