#!/usr/bin/env bats
# bats file_tags=plain
# gufo sign, and gufo verify --key

# bats sets stderr; some commands are for another shell.
# shellcheck disable=SC2154,SC2016

load common

make_signed() {
    gufo sign --generate k --no-password >/dev/null || skip "built without libsodium"
    make_gguf m.gguf tensor a 24 640 640 tensor b 24 64 64
    gufo hash --sha256 m.gguf >manifest || skip "built without libcrypto"
}

need_minisign() {
    command -v minisign >/dev/null || skip "minisign is missing"
}

@test "sign: a manifest, and what is changed afterwards" {
    make_signed
    run -0 gufo sign --key k.key manifest
    same 'manifest: signed in manifest.minisig'
    run -0 gufo verify --key k.pub m.gguf manifest
    [[ ${lines[0]} == 'manifest: good signature of key '*'file:manifest\thashed' ]]
    [ "${lines[1]}" = 'm.gguf: 2 tensors as in the manifest; all data together is the same  (sha256)' ]
    run -0 gufo verify --key k.pub manifest
    [ "${#lines[@]}" -eq 1 ]
    run -0 gufo verify --json --key k.pub m.gguf manifest
    has '"signature":{"verdict":"good","key":"'
    run -2 --separate-stderr gufo sign --key k.key manifest
    [[ $stderr == *'--force replaces it'* ]]
    # The model is not looked at if the manifest is not what was signed.
    echo >>manifest
    run -1 --separate-stderr gufo verify --key k.pub nothing.gguf manifest
    same_error 'gufo: manifest: this is not what was signed in manifest.minisig'
    same ''
    run -1 gufo verify --json --key k.pub nothing.gguf manifest
    has '"signature":{"verdict":"bad"'
}

@test "sign: a model gets a manifest of its own" {
    make_signed
    run -0 gufo sign --key k.key --comment 'first release' m.gguf
    same 'm.gguf.manifest: signed in m.gguf.manifest.minisig'
    cmp manifest m.gguf.manifest
    run -0 gufo verify --key k.pub m.gguf
    [[ ${lines[0]} == *': first release' ]]
    printf x | dd of=m.gguf bs=1 seek=$(($(stat -c %s m.gguf) - 10)) conv=notrunc status=none
    run -1 gufo verify --key k.pub m.gguf
    has 'differs  b  (sha256)'
    run -2 gufo sign --key k.key m.gguf
}

@test "sign: keys are private, and not replaced" {
    make_signed
    [ "$(stat -c %a k.key)" = 600 ]
    run -2 gufo sign --generate k --no-password
    chmod 644 k.key
    gufo sign --force --generate k --no-password >/dev/null
    [ "$(stat -c %a k.key)" = 600 ]
    run -0 gufo sign --json --generate other --no-password
    [[ $output =~ ^'{"key":"'[0-9A-F]{16}'","secret":"other.key","public":"other.pub"}'$ ]]
    gufo sign --key k.key manifest
    run -1 --separate-stderr gufo verify --key other.pub m.gguf manifest
    [[ $stderr == 'gufo: manifest.minisig: this signature was made with key '* ]]
    run -3 --separate-stderr gufo verify --key k.key m.gguf manifest
    same_error 'gufo: k.key: not a minisign public key'
    run -3 gufo sign --key k.pub --force manifest
    run -3 gufo verify --key k.pub --signature manifest m.gguf manifest
    run -3 gufo verify --key k.pub --signature nothing m.gguf manifest
}

@test "sign: nothing is left of half a pair, or of a manifest without signature" {
    make_signed
    touch half.pub whole.key m.gguf.manifest.minisig
    run -2 --separate-stderr gufo sign --generate half --no-password
    same_error 'gufo: half.pub: target exists already (--force replaces it)'
    [ ! -e half.key ]
    run -2 gufo sign --generate whole --no-password
    [ ! -e whole.pub ] && [ ! -s whole.key ]
    mkdir folder.key
    run -2 gufo sign --generate folder --no-password --force
    [ ! -e folder.pub ] && [ "$(stat -c %a folder.key)" != 600 ]
    run -2 gufo sign --key k.key m.gguf
    [ ! -e m.gguf.manifest ] && [ ! -s m.gguf.manifest.minisig ]
    run -3 gufo sign --key k.key -o /dev/full m.gguf
    [ ! -e m.gguf.manifest ]
    run -2 gufo sign --key k.key --comment $'two\nlines' -o sig m.gguf
    [ ! -e m.gguf.manifest ] && [ ! -e sig ]
    # What is signed, or signed with, is not replaced, not even with --force.
    for target in k.key manifest; do
        cp "$target" before
        run -2 --separate-stderr gufo sign --force --key k.key -o "$target" manifest
        same_error "gufo: $target: the output is the input; it would be lost"
        cmp before "$target"
    done
    run -2 gufo sign --force --key k.key -o m.gguf m.gguf
    [ "$(head -c 4 m.gguf)" = GGUF ]
}

@test "sign: the secret key goes to a file that nobody else may read" {
    mkfifo pipe.key
    run -2 --separate-stderr gufo sign --generate pipe --no-password --force
    same_error 'gufo: pipe.key: secrets are written to regular files only'
    [ ! -e pipe.pub ]
    echo old >loose.key
    chmod 666 loose.key
    if [ "$(id -u)" = 0 ]; then chown 65534 loose.key; fi
    gufo sign --generate loose --no-password --force >/dev/null
    [ "$(stat -c '%a %u' loose.key)" = "600 $(id -u)" ]
}

@test "sign: a manifest that comes through a pipe is signed from its first byte" {
    make_signed
    run -0 bash -c '"$GUFO" sign --key k.key -o sig <(cat manifest)'
    run -0 gufo verify --key k.pub --signature sig manifest
    run -0 bash -c '"$GUFO" verify --key k.pub --signature sig <(cat manifest)'
}

@test "sign: comments as long as minisign reads them, and of its characters" {
    make_signed
    need_minisign
    longest=$(printf %08173d 0)
    gufo sign --key k.key --comment "$longest" manifest
    minisign -V -q -p k.pub -m manifest
    for bad in "${longest}0" $'\e[31m' $'\xff'; do
        run -2 gufo sign --force --key k.key --comment "$bad" manifest
    done
    cp manifest $'odd\e\xff\u00e9'
    run -0 gufo sign --key k.key $'odd\e\xff\u00e9'
    run -0 gufo verify --key k.pub $'odd\e\xff\u00e9'
    has $'file:odd??\u00e9'
}

@test "sign: the trusted comment is signed, too" {
    make_signed
    gufo sign --key k.key --comment honest -o sig manifest
    run -0 gufo verify --key k.pub --signature sig manifest
    run -0 bash -c '"$GUFO" verify --key k.pub --signature sig m.gguf - <manifest'
    sed -i 's/honest/forged/' sig
    run -1 --separate-stderr gufo verify --key k.pub --signature sig manifest
    same_error 'gufo: sig: the trusted comment is not what was signed'
    same ''
}

@test "sign: with a password" {
    make_signed
    echo secret >right && echo wrong >wrong
    # The cost of guessing is part of a key; that of this one is small.
    cat >p.key <<'END'
untrusted comment: minisign encrypted secret key
RWRTY0IyXK4uQ25R+uuyxp08e1mQIQ6cuYXit49XUhebO9B1SKcAgAAAAAAAAAAAAAEAAAAAZ4ZnNANZPt3KOCE4aX5KWnLv2LNOFrfakl0iiEU/50/aTZ5rTEL9fJvV0AH69HQBUZLFxX02PStLj4IuxAFSt8FDAOUTQBsbJ2NK6KDea3RS4DOZRaNPLCk9BRwHjy1/NItErMfqrIk=
END
    cat >p.pub <<'END'
untrusted comment: minisign public key 468DF72611D28546
RWRGhdIRJveNRqIl139cy5rBiOHzF7Ybnhqh/NU+aUC+fEptH7K9SiyR
END
    run -0 gufo sign --key p.key --password-file right manifest
    run -0 gufo verify --key p.pub manifest
    run -3 --separate-stderr gufo sign --force --key p.key --password-file wrong manifest
    same_error 'gufo: p.key: the password of this secret key is wrong'
    # Without a terminal there is no way to ask.
    run -3 --separate-stderr setsid "$GUFO" sign --force --key p.key manifest
    same_error 'gufo: cannot ask for the password without a terminal; give --password-file'
}

@test "sign: a password costs as much to guess as minisign's" {
    [ -z "${GUFO_SANITIZE:-}" ] || skip "takes as long as libsodium wants it to"
    make_signed
    # tests/digest has that such a key is read again.
    echo secret >right
    gufo sign --generate p --password-file right
    run -0 bash -c 'sed -n 2p p.key | base64 -d | od -An -v -tx1 -j38 -N16 | tr -d " \n"'
    same 00000002000000000000004000000000
}

@test "sign: minisign accepts our keys and signatures" {
    make_signed
    need_minisign
    gufo sign --key k.key m.gguf manifest
    minisign -V -q -p k.pub -m m.gguf.manifest
    minisign -V -q -p k.pub -m manifest
    minisign -S -s k.key -m manifest
    run -0 gufo verify --key k.pub m.gguf manifest
    echo >>manifest
    run ! minisign -V -q -p k.pub -m manifest
}

@test "sign: we accept those of minisign" {
    make_signed
    need_minisign
    minisign -G -W -p their.pub -s their.key
    minisign -S -s their.key -m manifest -t 'new kind'
    run -0 gufo verify --key their.pub m.gguf manifest
    has ': new kind'
    minisign -S -l -s their.key -m manifest -t 'old kind'
    run -0 gufo verify --key their.pub m.gguf manifest
    has ': old kind'
    gufo sign --force --key their.key manifest
    minisign -V -q -p their.pub -m manifest
}

@test "sign: wrong usage" {
    run -2 gufo sign
    run -2 gufo sign manifest
    run -2 gufo sign --key k.key
    run -2 gufo sign --generate
    run -2 gufo sign --generate a b
    run -2 gufo sign --generate --key k.key a
    run -2 gufo sign --key k.key -
    run -2 gufo sign --key k.key -o out a b
}
