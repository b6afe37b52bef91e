/* What is tried again, and when.
 *
 *     connection errors, timeouts, 408, 429, 500, 502, 503, 504     again
 *     any other status, certificates                                 not
 *
 * At most five attempts without progress, after 1, 2, 4 and 8 s times a number between 0 and 1 (full jitter), so that
 * those whom one failure has stopped do not come back at once; or as long as the server says (Retry-After), up to
 * 60 s.  Bytes that have come are progress: the count starts over, and the rest is asked for at once.  No call waits
 * longer than half a minute for a server that says nothing. */
#ifndef REMOTE_HTTP_RETRY_H
#define REMOTE_HTTP_RETRY_H

#include <stdbool.h>
#include <stdint.h>

/* Times in milliseconds; tests have shorter ones. */
typedef struct retry_pace {
    unsigned attempts;
    uint64_t first_wait;    /* before the second attempt, at most; doubled each time */
    uint64_t longest_after; /* of Retry-After */
    uint64_t connect, stall;
    uint64_t patience; /* no attempt begins later than this after the last progress */
    uint64_t progress; /* so many bytes are progress */
} retry_pace;

extern const retry_pace retry_usual_pace;

/* What has been tried. */
typedef struct retry_state {
    unsigned attempts; /* since the last progress */
    uint64_t since;    /* when that was */
    uint64_t granted;  /* waiting that servers have asked for since then */
} retry_state;

bool retry_has_status(int status);

/* Bytes have come, or the first attempt begins. */
void retry_progress(retry_state *state, uint64_t now);

/* Whether to try again, and *wait: how long to wait before.  `after` is what the server asks for, or
 * GUFO_NO_OFFSET; `chance` is any number, of which the jitter is made. */
bool retry_again(retry_state *state, const retry_pace *pace, uint64_t now, uint64_t after,
                 uint64_t chance, uint64_t *wait);

#endif
