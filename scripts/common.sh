# shellcheck shell=bash
# What the scripts share: step headings with times, and packages of Debian.  Sourced, not run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Where builds go; one folder each.
# shellcheck disable=SC2034
builds=${GUFO_BUILDS:-$root/build}
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
        echo "packages are missing, and neither root nor sudo is at hand: $*" >&2
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
        echo "no Debian system: taking for granted that these are installed: $*" >&2
        return 0
    fi
    mapfile -t missing < <(missing_packages "$@")
    if [ ${#missing[@]} -eq 0 ]; then
        return 0
    fi
    echo "installing: ${missing[*]}" >&2
    for architecture in $(printf '%s\n' "${missing[@]}" | sed -n 's/.*://p' | sort -u); do
        as_root dpkg --add-architecture "$architecture" >&2
    done
    # A list that cannot be fetched need not be one that matters: installing tells.
    as_root apt-get -qq update >&2 || echo "some package lists could not be fetched" >&2
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -y --no-install-recommends install "${missing[@]}" >&2
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
