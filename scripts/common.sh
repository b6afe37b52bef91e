# shellcheck shell=bash
# What the scripts share: step headings with times, and packages of Debian.  Sourced, not run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Where builds go; one folder each.
# shellcheck disable=SC2034
builds=${GUFO_BUILDS:-$root/build}
# What building needs in Debian; README.md has the same list (scripts/documents).
# shellcheck disable=SC2034
build_packages=(gcc libc6-dev make cmake pkg-config libxxhash-dev libssl-dev libsodium-dev libpcre2-dev libutf8proc-dev
    libjansson-dev libyaml-dev libcurl4-openssl-dev)
jobs=$(nproc 2>/dev/null || echo 2)
step_name=""
step_start=0

finish_step() {
    if [ -n "$step_name" ]; then
        printf -- '-- %s: %d s\n' "$step_name" $((SECONDS - step_start)) >&2
    fi
    step_name=""
}

# step NAME: ends the step before, if any, and announces this one.
step() {
    finish_step
    step_name=$1
    step_start=$SECONDS
    printf '\n== %s\n' "$step_name" >&2
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "packages are missing, and this needs root or sudo to install them: $*" >&2
        return 1
    fi
}

# Names those of the given packages that are not installed.
missing_packages() {
    local package states
    for package in "$@"; do
        states=$(dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null) || true
        if ! grep -qx installed <<<"$states"; then
            echo "$package"
        fi
    done
}

# install_packages PACKAGE...: installs what is missing.  PACKAGE:ARCH means that of another machine.
install_packages() {
    local missing architecture
    if ! command -v dpkg-query >/dev/null; then
        echo "not a Debian system: assuming that these are installed: $*" >&2
        return 0
    fi
    mapfile -t missing < <(missing_packages "$@")
    if [ ${#missing[@]} -eq 0 ]; then
        return 0
    fi
    echo "installing: ${missing[*]}" >&2
    for architecture in $(printf '%s\n' "${missing[@]}" | sed -n 's/.*://p' | sort -u); do
        if ! { dpkg --print-architecture && dpkg --print-foreign-architectures; } | grep -qx "$architecture"; then
            echo "adding the architecture $architecture to dpkg (undo: dpkg --remove-architecture $architecture)" >&2
            as_root dpkg --add-architecture "$architecture" >&2
        fi
    done
    # A list that cannot be fetched need not be one that matters: installing tells.
    as_root apt-get -qq update >&2 || echo "some package lists could not be fetched" >&2
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -y --no-install-recommends install "${missing[@]}" >&2
}

# foreign_libraries ARCH PACKAGE...: libraries of another machine in archives, in BUILDS/foreign/ARCH.  They are
# not installed: Debian wants all machines' versions of a library to be the same, and fixes reach some machines later.
foreign_libraries() {
    local folder=$builds/foreign/$1 package needed=()
    mkdir -p "$folder"
    for package in "${@:2}"; do
        if ! compgen -G "$folder/${package}_*.deb" >/dev/null; then
            needed+=("$package:$1")
        fi
    done
    # All at once: apt takes two seconds to read its lists.
    if [ ${#needed[@]} -gt 0 ]; then
        (cd "$folder" && apt-get -qq -o APT::Sandbox::User=root download "${needed[@]}" >&2)
    fi
    for package in "${@:2}"; do
        dpkg-deb --fsys-tarfile "$folder/${package}"_*.deb |
            tar -x -C "$folder" --wildcards --strip-components=4 './usr/lib/*.a'
    done
}

# Configures with Ninja where it is there.  configure FOLDER ARGUMENT...
configure() {
    local folder=$1 generator=()
    shift
    if command -v ninja >/dev/null && [ ! -e "$folder/CMakeCache.txt" ]; then
        generator=(-G Ninja)
    fi
    cmake -S "$root" -B "$folder" "${generator[@]}" --log-level=NOTICE "$@" >&2
}

build() {
    cmake --build "$1" -j "$jobs" "${@:2}" >&2
}

# ---- stages, several at a time ----------------------------------------------------------------

# run_stages NAME[:AFTER...]...: runs check_NAME of each, two at a time, each on half of the processors: what
# one of them does on a single one (configuring, the last of its tests) does not leave the others
# idle.  A stage begins when all AFTER have ended; of those that can, the first one begins.  Says what each
# took, and when it ended.  What it printed is in BUILDS/NAME.log; what
# matters of it is shown if it fails, which ends all.
run_stages() {
    local waiting=("$@") lanes=2 ended=" " stage pid status
    declare -gA stages_running=()
    if [ "$jobs" -lt 2 ]; then
        lanes=1
    fi
    jobs=$((jobs / lanes))
    mkdir -p "$builds"
    set -m # each in a group of processes of its own, which can be ended
    trap stop_stages EXIT
    while [ ${#waiting[@]} -gt 0 ] || [ ${#stages_running[@]} -gt 0 ]; do
        while [ ${#stages_running[@]} -lt "$lanes" ] && next_stage; do
            printf '== %s\n' "$stage" >&2
            run_stage "$stage" >"$builds/$stage.log" 2>&1 </dev/null &
            stages_running[$!]=$stage
        done
        status=0
        wait -n -p pid || status=$?
        stage=${stages_running[$pid]}
        unset "stages_running[$pid]"
        if [ "$status" -ne 0 ]; then
            grep -vE '^\[ *[0-9]+[/%]|^ +Start +[0-9]+:|Passed +[0-9.]+ sec$' "$builds/$stage.log" >&2
            printf '\nFAILED: %s (%s)\n' "$stage" "$builds/$stage.log" >&2
            return 1
        fi
        printf '%s, ended at %d s\n' "$(tail -n 1 "$builds/$stage.log")" "$SECONDS" >&2
        ended+="$stage "
    done
}

# Takes the first stage that need not wait out of `waiting`: `stage`.
next_stage() {
    local i name words
    for i in "${!waiting[@]}"; do
        IFS=: read -ra words <<<"${waiting[i]}"
        stage=${words[0]}
        for name in "${words[@]:1}"; do
            [[ $ended == *" $name "* ]] || continue 2
        done
        unset "waiting[$i]"
        return 0
    done
    return 1
}

run_stage() {
    local TIMEFORMAT="-- $1: %0R s, processors %0U + %0S s"
    time "check_$1"
}

stop_stages() {
    local pid
    for pid in "${!stages_running[@]}"; do
        kill -- "-$pid" 2>/dev/null || true
    done
}
