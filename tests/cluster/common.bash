# What the tests of docs/cluster.md begin with: each runs a recipe of the page as it stands there, with the engine that it
# is for, and is skipped where that is not installed.  `scripts/cluster --install` installs all.
# shellcheck shell=bash
# shellcheck source=tests/cli/common.bash
. "$BATS_TEST_DIRNAME/../cli/common.bash"

here=$BATS_TEST_DIRNAME

# need PROGRAM...: skips what cannot run without them.
need() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null || skip "$program is not installed: scripts/cluster --install"
    done
}

# What tests/cluster/nodes needs.
need_nodes() {
    [ "$(id -u)" -eq 0 ] || skip "a cluster of namespaces needs root"
    need unshare nsenter ip ssh ssh-keygen /usr/sbin/sshd
    unshare --net --mount --uts --pid --fork true 2>/dev/null || skip "no namespaces can be made here"
}

# nodes [--slurm] COMMAND...: runs it on a cluster of two machines.
nodes() {
    rm -rf "$BATS_TEST_TMPDIR/cluster"
    mkdir "$BATS_TEST_TMPDIR/cluster"
    timeout 120 "$here/nodes" "$BATS_TEST_TMPDIR/cluster" "$@"
}

# recipe NAME: a block of docs/cluster.md.
recipe() {
    awk -v name="$1" '
        $0 ~ "^<!-- recipe " name "(: [^ ]*)? -->$" { wanted = 1; next }
        wanted && /^```/ { if (inside) exit; inside = 1; next }
        inside { print; found = 1 }
        END { exit !found }' "$GUFO_SOURCE/docs/cluster.md"
}

# run_recipe NAME [--slurm]: a block of commands, on a cluster of two machines.
run_recipe() {
    recipe "$1" >recipe.sh
    nodes "${@:2}" bash -eu recipe.sh
}

# recipe_file NAME: the block as the file that the page names; its name.
recipe_file() {
    local name
    name=$(sed -n "s/^<!-- recipe $1: \([^ ]*\) -->$/\1/p" "$GUFO_SOURCE/docs/cluster.md")
    recipe "$1" >"${name:?}"
    echo "$name"
}

# begin_recipe: what the recipes start from: model.gguf, nodes, and gufo on the PATH.  expected.gguf is what one process makes.
begin_recipe() {
    mkdir "$BATS_TEST_TMPDIR/bin"
    ln -s "$GUFO" "$BATS_TEST_TMPDIR/bin/gufo"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
    printf '%s\n' node1 node2 >nodes
    make_weights model.gguf
    "$GUFO" quantize model.gguf expected.gguf Q4_K_M >/dev/null
}

# make_weights OUT: a model of 24 MB, 6 MB as Q4_K_M, which is several parts of 1 MiB.  Its numbers are random and finite.
make_weights() {
    local tensors=() i
    for i in 0 1 2; do
        tensors+=(at $((i * 8388608)) tensor "blk.$i.ffn_up.weight" 1 2048x2048 0)
    done
    make_gguf "$1" nopad kv general.architecture string llama kv llama.block_count uint32 3 \
        kv llama.context_length uint32 64 kv llama.embedding_length uint32 2048 \
        kv llama.attention.head_count uint32 8 kv llama.feed_forward_length uint32 2048 "${tensors[@]}"
    head -c 25165824 /dev/zero | openssl enc -aes-128-ctr -K 00 -iv 00 2>/dev/null |
        LC_ALL=C tr '\174-\177\374-\377' '\060-\063\260-\263' >>"$1"
}

# made: the recipe has made what one process makes, and left nothing else.
made() {
    cmp small.gguf expected.gguf
    [ ! -e small.gguf.part ]
    [ ! -e small.gguf.parts ]
}

# fail_first NUMBER STATUS: the first runs of gufo with --part end with that status (137: killed), and have made nothing.
fail_first() {
    rm -rf "$BATS_TEST_TMPDIR/bin/gufo" "$BATS_TEST_TMPDIR/failures"
    mkdir "$BATS_TEST_TMPDIR/failures"
    cat >"$BATS_TEST_TMPDIR/bin/gufo" <<EOF
#!/bin/bash
for ((i = 0; i < $1; i++)); do
    if [[ " \$* " = *" --part"* ]] && mkdir "$BATS_TEST_TMPDIR/failures/\$i" 2>/dev/null; then
        [ $2 -ne 137 ] || kill -KILL \$\$
        exit $2
    fi
done
exec "$GUFO" "\$@"
EOF
    chmod +x "$BATS_TEST_TMPDIR/bin/gufo"
}

failures() {
    find "$BATS_TEST_TMPDIR/failures" -mindepth 1 | wc -l
}
