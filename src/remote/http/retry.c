/* What is tried again, and when; retry.h has the rules. */
#include "remote/http/retry.h"

#include "base/checked.h"
#include "gufo/base.h"

const retry_pace retry_usual_pace = {.attempts = 5,
                                     .first_wait = 1000,
                                     .longest_after = 60000,
                                     .connect = 10000,
                                     .stall = 30000,
                                     .patience = 30000,
                                     .progress = 16 * 1024};

bool retry_has_status(int status)
{
    static const int again[] = {408, 429, 500, 502, 503, 504};

    for (size_t i = 0; i < sizeof again / sizeof *again; i++)
        if (again[i] == status)
            return true;
    return false;
}

void retry_progress(retry_state *state, uint64_t now)
{
    *state = (retry_state){.since = now};
}

bool retry_again(retry_state *state, const retry_pace *pace, uint64_t now, uint64_t after,
                 uint64_t chance, uint64_t *wait)
{
    const uint64_t waited = now - state->since;
    const uint64_t own = waited > state->granted ? waited - state->granted : 0;

    if (++state->attempts >= pace->attempts)
        return false;
    if (after != GUFO_NO_OFFSET) {
        *wait = after;
        state->granted = capped_add(state->granted, after);
        return after <= pace->longest_after && own <= pace->patience;
    }
    *wait = chance % ((pace->first_wait << (state->attempts - 1)) + 1);
    return own + *wait <= pace->patience;
}
