#!/usr/bin/env bats
# gufo validate

# bats sets stderr; some commands are for another shell; reading a pipe is the point of `cat |`.
# shellcheck disable=SC2154,SC2016,SC2002

load common

# The rules of the format; what models mean is in validate_model.bats.
gufo() {
    if [ "$1" = validate ]; then
        set -- validate --level structure "${@:2}"
    fi
    "$GUFO" "$@"
}

@test "validate: a sound file" {
    make_model m.gguf
    run -0 --separate-stderr gufo validate m.gguf
    same 'm.gguf: valid'
    same_error ''
    run -0 gufo validate --json m.gguf
    same '{"path":"m.gguf","findings":[],"valid":true,"errors":0,"warnings":0}'
    run -0 gufo validate -q m.gguf
    same ''
}

@test "validate: every fault, not just the first" {
    make_gguf m.gguf kv general.architecture string x kv dup uint8 1 kv dup uint8 2 kv b bool 2 \
        tensor t 0 8 32 tensor t 0 8 32
    run -1 gufo validate m.gguf
    has ': error G205 key-duplicate: '
    has ': error G209 bool-value: '
    has ': error G304 name-duplicate: '
    [ "${lines[-1]}" = 'm.gguf: invalid: 3 errors' ]
    [ "${#lines[@]}" -eq 4 ]
}

@test "validate: findings look like a compiler's, with the byte" {
    # Header 24; key 8+12, type 4, string 8+1; the entry of `dup` begins at 57, the second at 73.
    make_gguf m.gguf kv general.architecture string x
    size=$(stat -c %s m.gguf)
    make_gguf m.gguf kv general.architecture string x kv dup uint8 1 kv dup uint8 2
    run -1 gufo validate m.gguf
    [[ "${lines[0]}" =~ ^'m.gguf: byte '([0-9]+)': error G205 key-duplicate: '.+ ]]
    [ "${BASH_REMATCH[1]}" -ge $((size + 16)) ]
    [ "${BASH_REMATCH[1]}" -lt $((size + 32)) ]
}

@test "validate --json: the findings" {
    make_gguf m.gguf kv general.architecture string x kv dup uint8 1 kv dup uint8 2
    run -1 gufo validate --json m.gguf
    [[ "$output" =~ ^'{"path":"m.gguf","findings":[{"rule":"G205","name":"key-duplicate","severity":"error","offset":'[0-9]+',"subject":"dup","message":"'[^\"]+'"}],"valid":false,"errors":1,"warnings":0}'$ || "$output" == *'"subject":"dup"'*'"valid":false,"errors":1,"warnings":0}' ]]
    [ "${#lines[@]}" -eq 1 ]
}

@test "validate: warnings do not fail, unless --strict" {
    make_gguf m.gguf kv key uint8 1
    run -0 gufo validate m.gguf
    has 'warning G510 architecture-missing: '
    [ "${lines[-1]}" = 'm.gguf: valid: 1 warning' ]
    run -1 gufo validate --strict m.gguf
    [ "${lines[-1]}" = 'm.gguf: invalid: 1 warning' ]
    run -0 gufo validate --json m.gguf
    has '"severity":"warning","offset":null,'
    has '"valid":true,"errors":0,"warnings":1}'
    run -1 gufo validate --strict --json m.gguf
    has '"valid":false,"errors":0,"warnings":1}'
}

@test "validate: remarks are shown with -v, and always in JSON" {
    make_gguf m.gguf kv general.architecture string x nested deep
    run -0 gufo validate m.gguf
    same 'm.gguf: valid'
    run -0 gufo validate -v m.gguf
    has ': info G601 compat-ggml: '
    [ "${lines[-1]}" = 'm.gguf: valid' ]
    run -0 gufo validate --strict m.gguf
    run -0 gufo validate --json m.gguf
    has '"rule":"G601","name":"compat-ggml","severity":"info"'
    has '"valid":true,"errors":0,"warnings":0}'
}

@test "validate: of one rule a few findings are listed, and the others counted" {
    for kind in same-keys:G205 same-names:G304 overlaps:G310; do
        "$GUFO_TEST_BIN/make_many" "${kind%:*}" 5000 many.gguf
        run -1 gufo validate --level=structure many.gguf
        [ "$(grep -c " ${kind#*:} " <<<"$output")" -eq 21 ]
        has "${kind#*:} $(gufo list rules | awk -v id="${kind#*:}" '$1 == id { print $3 }'): 4,979 more findings like the ones before are not listed"
        run -1 gufo validate --json --level=structure many.gguf
        [ "$(grep -o "\"rule\":\"${kind#*:}\"" <<<"$output" | wc -l)" -eq 21 ]
        [ "${#output}" -lt 20000 ]
    done
    # All are counted, and each shard has its own.
    "$GUFO_TEST_BIN/make_many" same-keys 22 a.gguf
    run -1 gufo validate --level=structure a.gguf
    has 'G205 key-duplicate: 1 more findings'
    has 'a.gguf: invalid: 21 errors'
    cp a.gguf m-00001-of-00002.gguf
    cp a.gguf m-00002-of-00002.gguf
    run -1 gufo validate --level=structure m-00001-of-00002.gguf
    [ "$(grep -c 'G205 key-duplicate: 1 more findings' <<<"$output")" -eq 2 ]
}

@test "validate: a truncated file says what is there" {
    make_gguf m.gguf kv general.architecture string x tensor a 0 8 32 tensor b 0 8 32 cut -10
    run -1 gufo validate m.gguf
    has '1 of 2 tensors'
    has '10 bytes'
}

@test "validate: a file that is not a GGUF file is named for what it is" {
    printf '<!DOCTYPE html>\n<html><body>404</body></html>\n' >page.gguf
    run -1 gufo validate page.gguf
    has 'error G101 magic: '
    has 'HTML'
    printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' >lfs.gguf
    run -1 gufo validate lfs.gguf
    has 'LFS'
    head -c 5000 /dev/zero >zeros.gguf
    run -1 gufo validate zeros.gguf
    has 'zero'
    : >empty.gguf
    run -1 gufo validate empty.gguf
    has 'invalid: '
}

@test "validate: a malformed file is an answer, a missing one an error" {
    make_model good.gguf
    make_gguf bad.gguf kv k uint8 1 kv k uint8 1
    run -3 --separate-stderr gufo validate missing.gguf
    same ''
    same_error 'gufo: missing.gguf: cannot open: No such file or directory'
    run -3 --separate-stderr gufo validate bad.gguf missing.gguf good.gguf
    has 'bad.gguf: invalid'
    has 'good.gguf: valid'
    run -1 gufo validate good.gguf bad.gguf
    run -3 gufo validate --json missing.gguf good.gguf
    has '"path":"good.gguf"'
}

@test "validate: a set, its shards and whether they belong together" {
    make_shards m
    run -0 gufo validate m-00001-of-00002.gguf
    same 'm-00001-of-00002.gguf: valid'
    run -0 gufo validate --json m-00001-of-00002.gguf
    same '{"path":"m-00001-of-00002.gguf","findings":[],"shards":["m-00001-of-00002.gguf","m-00002-of-00002.gguf"],"valid":true,"errors":0,"warnings":0}'
    make_gguf m-00002-of-00002.gguf kv general.architecture string llama kv split.no uint16 1 \
        kv split.count uint16 2 kv split.tensors.count int32 2 kv k bool 7 tensor a 0 16 64
    run -1 gufo validate m-00001-of-00002.gguf
    has 'm-00002-of-00002.gguf: byte '
    has 'error G209 bool-value'
    has 'error G701 shard-set'
    [ "${lines[-1]}" = 'm-00001-of-00002.gguf: invalid: 2 errors' ]
    run -1 gufo validate --json m-00001-of-00002.gguf
    [[ "$output" =~ '"rule":"G209"'[^}]*',"shard":2}' ]]
    [[ "$output" =~ '"rule":"G701"'[^}]*',"shard":2}' ]]
}

@test "validate: the verdict on a shard alone says that it is one of several" {
    make_shards m
    local finding='warning G702 shard-missing: shard m-00002-of-00002.gguf is missing; gufo checks only this file'
    # All are there: nothing is missing, but a later one is judged by itself.
    run -0 --separate-stderr gufo validate --strict m-00002-of-00002.gguf
    same 'm-00002-of-00002.gguf: valid (1 of 2 shards checked)'
    same_error ''
    mv m-00002-of-00002.gguf other.gguf
    run -0 --separate-stderr gufo validate m-00001-of-00002.gguf
    same "m-00001-of-00002.gguf: $finding"$'\n''m-00001-of-00002.gguf: valid: 1 warning (1 of 2 shards checked)'
    same_error ''
    run -1 gufo validate --strict m-00001-of-00002.gguf
    [ "${lines[-1]}" = 'm-00001-of-00002.gguf: invalid: 1 warning (1 of 2 shards checked)' ]
    run -1 gufo validate --strict -q m-00001-of-00002.gguf
    same ''
    run -1 gufo validate --strict --json m-00001-of-00002.gguf
    has '{"rule":"G702","name":"shard-missing","severity":"warning","offset":null,"subject":"shards",'
    has '],"shards_judged":1,"shard_count":2,"valid":false,"errors":0,"warnings":1}'
    # It is what was asked for.
    run -0 --separate-stderr gufo validate --strict --single m-00001-of-00002.gguf
    same 'm-00001-of-00002.gguf: valid (1 of 2 shards checked)'
    same_error ''
    # The keys say it, too.
    run -1 gufo validate --strict other.gguf
    has 'shard-missing: the file is one of 2 shards, but is not named like one; gufo checks only this file'
    run -1 gufo validate --strict - <other.gguf
    [ "${lines[-1]}" = '-: invalid: 1 warning (1 of 2 shards checked)' ]
}

@test "validate --list-rules" {
    run -0 gufo validate --list-rules
    has 'G205  error    key-duplicate'
    for severity in info warning error; do has "  $severity "; done
    count=${#lines[@]}
    run -0 gufo validate --list-rules --json
    [ "${#lines[@]}" -eq 1 ]
    has '{"rule":"G101","severity":"error","name":"magic","clause":"gguf_header_t.magic","summary":"'
    [ "$(grep -oE '"rule":"[GSM]' <<<"$output" | wc -l)" -eq "$count" ]
    run -2 gufo validate --list-rules m.gguf
}

@test "validate: colour when it is asked for" {
    make_gguf m.gguf kv k uint8 1 kv k uint8 1
    run -1 gufo validate --color=always m.gguf
    has $'\033[31merror\033[0m G205'
    has $'\033[31minvalid\033[0m'
    run -1 gufo validate m.gguf
    lacks $'\033'
}

@test "validate: from standard input" {
    make_model m.gguf
    run -0 gufo validate - <m.gguf
    same '-: valid'
    cat m.gguf | { run -0 gufo validate -; same '-: valid'; }
    make_gguf m.gguf tensor a 0 8 32 cut -1
    cat m.gguf | { run -1 gufo validate -; has 'invalid: 1 error'; }
}

@test "validate: what a pipe claims beyond the limit of memory is an answer, too" {
    # A string of 2^40 bytes, of which 300 million come.
    make_gguf head.gguf entries 1 raw 01000000000000006b080000000000000000010000
    run bash -c '(head -c 45 head.gguf; head -c 300000000 /dev/zero) | "$GUFO" validate --json -' \
        env GUFO="$GUFO"
    [ "$status" -eq 1 ]
    has '"name":"memory-limit"'
    has '"valid":false'
}

@test "validate: a good set has no warnings" {
    make_gguf m-00001-of-00002.gguf kv general.architecture string llama \
        kv general.quantization_version uint32 2 \
        kv split.no uint16 0 kv split.count uint16 2 kv split.tensors.count int32 2 \
        tensor a 2 32 18
    make_gguf m-00002-of-00002.gguf kv split.no uint16 1 kv split.count uint16 2 \
        kv split.tensors.count int32 2 tensor b 2 32 18
    run gufo validate --strict m-00001-of-00002.gguf
    [ "$status" -eq 0 ]
    same 'm-00001-of-00002.gguf: valid'
}

@test "validate: a set is quantized if any of its shards is" {
    make_gguf m-00001-of-00002.gguf kv general.architecture string llama \
        kv split.no uint16 0 kv split.count uint16 2 kv split.tensors.count int32 1
    make_gguf m-00002-of-00002.gguf kv split.no uint16 1 kv split.count uint16 2 \
        kv split.tensors.count int32 1 tensor b 2 32 18
    run gufo validate --strict m-00001-of-00002.gguf
    [ "$status" -eq 1 ]
    has 'm-00001-of-00002.gguf: warning G511 quantization-version-missing'
    has 'm-00001-of-00002.gguf: invalid: 1 warning'
}

@test "validate: the models in a folder" {
    mkdir models
    make_model models/b.gguf
    make_shards models/a
    head -c 100 models/b.gguf >models/c.gguf
    printf 'text' >models/readme.txt
    run -1 --separate-stderr gufo validate --level structure models
    has 'models/a-00001-of-00002.gguf: valid'
    has 'models/b.gguf: valid'
    lacks 00002-of-00002.gguf
    lacks readme
    rm models/c.gguf
    run -0 gufo validate --json --level structure models models/b.gguf
    [ "${#lines[@]}" = 3 ]
    run -2 --separate-stderr gufo validate --fix models -o out.gguf
    same_error 'gufo: --fix takes one FILE (see gufo help validate)'
    files models models/a-00001-of-00002.gguf models/a-00002-of-00002.gguf models/b.gguf models/readme.txt
}
