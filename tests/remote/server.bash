# What a test begins with that needs tests/remote/server.py.
# shellcheck shell=bash

# start_server FOLDER [OPTION...]: SERVER and OTHER are then the addresses of both hosts, without a slash at the end.
# stop_server ends it; a test that fails before leaves it to its end of life, 10 minutes.
start_server() {
    local try
    : >"$BATS_TEST_TMPDIR/ports"
    python3 "$BATS_TEST_DIRNAME/../remote/server.py" "$@" --log "$BATS_TEST_TMPDIR/requests.log" \
        >"$BATS_TEST_TMPDIR/ports" 2>"$BATS_TEST_TMPDIR/server.err" 3>&- &
    server_process=$!
    for ((try = 0; try < 200; try++)); do
        if [ "$(wc -l <"$BATS_TEST_TMPDIR/ports")" -ge 2 ]; then
            SERVER=http://127.0.0.1:$(sed -n 1p "$BATS_TEST_TMPDIR/ports")
            OTHER=http://localhost:$(sed -n 2p "$BATS_TEST_TMPDIR/ports")
            export SERVER OTHER
            return 0
        fi
        sleep 0.05
    done
    cat "$BATS_TEST_TMPDIR/server.err"
    return 1
}

stop_server() {
    if [ -n "${server_process:-}" ]; then
        kill "$server_process" 2>/dev/null || true
        wait "$server_process" 2>/dev/null || true
        server_process=
    fi
}

# requests EXPRESSION: prints EXPRESSION (Python) for each request so far, r being its line of the log.
requests() {
    python3 -c 'import json, sys
for r in map(json.loads, open(sys.argv[1])):
    print(eval(sys.argv[2]))' "$BATS_TEST_TMPDIR/requests.log" "$1"
}

# forget_requests: so that `requests` prints those from now on.  Faults go on counting.
forget_requests() {
    : >"$BATS_TEST_TMPDIR/requests.log"
}
