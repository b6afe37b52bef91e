#!/usr/bin/env bats
# Looking at a file needs the right to read it, no more, and leaves it and its folder as they were.

# bats sets status.
# shellcheck disable=SC2154

load common

# Root may write everywhere, and proves nothing: then the commands run as somebody else.
as_reader() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
    else
        "$@"
    fi
}

# A model that may only be read, in a folder that may only be read.
make_scene() {
    reading=$(mktemp -d)
    make_model "$reading/m.gguf"
    chmod 444 "$reading/m.gguf"
    chmod 555 "$reading"
    as_reader test -x "$GUFO" || skip "the build folder cannot be entered by others"
}

teardown() {
    [ -z "${reading-}" ] || { chmod 755 "$reading" && rm -rf "$reading"; }
}

@test "read only: the right to read is enough" {
    make_scene
    run as_reader touch "$reading/m.gguf"
    [ "$status" -ne 0 ]
    run as_reader touch "$reading/new"
    [ "$status" -ne 0 ]
    run -0 as_reader "$GUFO" show "$reading/m.gguf"
    run -0 as_reader "$GUFO" show --json "$reading/m.gguf"
    run -0 as_reader "$GUFO" show --lenient "$reading/m.gguf"
    run -0 as_reader "$GUFO" get "$reading/m.gguf" general.architecture
    run -0 as_reader "$GUFO" validate --level structure "$reading/m.gguf"
}

@test "read only: nothing is changed or left behind" {
    make_scene
    before=$(cd "$reading" && stat -c '%n %s %Y %Z %a' . ./* && sha256sum ./*)
    as_reader "$GUFO" show "$reading/m.gguf" >/dev/null
    as_reader "$GUFO" get "$reading/m.gguf" general.architecture >/dev/null
    as_reader "$GUFO" validate --level structure "$reading/m.gguf" >/dev/null
    after=$(cd "$reading" && stat -c '%n %s %Y %Z %a' . ./* && sha256sum ./*)
    [ "$before" = "$after" ]
}

@test "read only: the command of a fix writes somewhere else" {
    make_scene
    chmod 755 "$reading"
    rm -f "$reading/m.gguf"
    make_gguf "$reading/m.gguf" kv general.architecture string llama kv general.license string "Apache 2"
    chmod 444 "$reading/m.gguf"
    chmod 555 "$reading"
    run -0 as_reader "$GUFO" validate "$reading/m.gguf"
    has "    fix: gufo edit $reading/m.gguf --set-string=general.license=Apache-2.0 -o OUT"
}
