#!/usr/bin/env bats
# bats file_tags=plain
# gufo endian.

# bats sets stderr and stderr_lines.
# shellcheck disable=SC2154

load common

@test "endian: there and back" {
    "$GUFO_EXAMPLES/make_sample" sample.gguf
    run -0 gufo endian sample.gguf big.gguf --to big
    same 'big.gguf: 248 KB, 21 tensors'
    run -0 gufo validate --level structure big.gguf
    run -0 gufo show big.gguf
    has 'GGUF v3, big-endian'
    run -0 gufo endian -q big.gguf little.gguf --to other
    cmp little.gguf sample.gguf
    gufo endian big.gguf - --to little | cmp - sample.gguf
    run -2 --separate-stderr gufo endian big.gguf other.gguf --to big
    same_error 'gufo: big.gguf: the model is big-endian already'
    [ ! -e other.gguf ]
}

@test "endian: a quantized model decodes to the same numbers" {
    "$GUFO_EXAMPLES/make_sample" sample.gguf
    for type in Q4_0 Q8_0 Q4_1; do
        gufo quantize -q --force sample.gguf q.gguf "$type"
        gufo endian -q --force q.gguf b.gguf --to big
        gufo extract -q --force q.gguf '*' -o q.safetensors
        gufo extract -q --force b.gguf '*' -o b.safetensors
        cmp q.safetensors b.safetensors
    done
}

@test "endian: a set gives a set" {
    "$GUFO_EXAMPLES/make_sample" sample.gguf
    gufo split -q sample.gguf s --max-tensors 8
    run -2 --separate-stderr gufo endian s-00001-of-00003.gguf big.gguf --to big
    [[ "$stderr" == *'such as NAME-00001-of-00003.gguf' ]]
    run -0 gufo endian s-00001-of-00003.gguf b-00001-of-00003.gguf --to big
    [ "${#lines[@]}" -eq 3 ]
    gufo merge -q b-00001-of-00003.gguf b.gguf
    gufo endian b.gguf - --to little | cmp - sample.gguf
}

@test "endian: nothing is printed into the data, whatever standard output is called" {
    "$GUFO_EXAMPLES/make_sample" sample.gguf
    gufo endian --to other sample.gguf - >plain.gguf
    for name in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
        gufo endian --json --to other sample.gguf "$name" | cat >named.gguf
        cmp plain.gguf named.gguf
    done
}

@test "endian: a pipe that another user has put into a folder for all" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    "$GUFO_EXAMPLES/make_sample" sample.gguf
    mkdir -m 1777 shared
    mkfifo shared/pipe
    cat shared/pipe >read.gguf &
    chown 65534 shared/pipe
    run -2 --separate-stderr gufo endian --to other sample.gguf shared/pipe
    same_error 'gufo: shared/pipe: is a pipe of another user in a folder that everybody may write to'
    wait
    [ ! -s read.gguf ]
    # Our own serves.
    chown 0 shared/pipe
    cat shared/pipe >read.gguf &
    gufo endian -q --to other sample.gguf shared/pipe
    wait
    gufo endian --to other sample.gguf - | cmp - read.gguf
}

@test "endian: old versions become 3, and it says so" {
    for version in 1 2; do
        make_gguf old.gguf version $version kv general.architecture string llama tensor a 0 8 32
        run -0 --separate-stderr gufo endian --force old.gguf new.gguf --to big
        [[ "$stderr" == 'gufo: old.gguf: warning: '*'the version becomes 3' ]]
        run -0 gufo show new.gguf
        has 'GGUF v3, big-endian'
    done
}

@test "endian: unknown types" {
    make_gguf m.gguf kv general.architecture string llama tensor a 0 8 32 tensor b 57 8 32
    run -2 --separate-stderr gufo endian m.gguf out.gguf --to big
    [[ "$stderr" == 'gufo: m.gguf: byte '*'tensor "b" has element type 57, whose layout is not known: its byte order cannot be swapped' ]]
    make_gguf m.gguf kv general.architecture string llama tensor a 4 8 32
    run -2 --separate-stderr gufo endian m.gguf out.gguf --to big
    [[ "$stderr" == *'element type 4 (Q4_2)'* ]]
    [ ! -e out.gguf ]
}

@test "endian: wrong usage" {
    make_model m.gguf
    for wrong in "m.gguf out.gguf" "m.gguf --to big" "m.gguf out.gguf --to middle" "- out.gguf --to big"; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr gufo endian $wrong
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
    run -2 --separate-stderr gufo endian --force m.gguf m.gguf --to big
    same_error 'gufo: m.gguf: the output is the input; it would be lost'
    [ ! -e out.gguf ]
}
