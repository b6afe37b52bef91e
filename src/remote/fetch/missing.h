/* The bytes of a download. */
#ifndef REMOTE_FETCH_MISSING_H
#define REMOTE_FETCH_MISSING_H

#include "gufo/run.h"
#include "remote/fetch/download.h"

/* The progress of several downloads in turn. */
typedef struct fetch_progress {
    const gufo_run *run;
    uint64_t done, total; /* bytes of all; a total of 0: not known */
} fetch_progress;

/* Fetches all bytes of `d` that are missing, with so many requests at a time, and syncs them; where a SHA-256
 * is to be compared it is computed meanwhile.  GUFO_E_STOPPED if progress asks for it; GUFO_E_CHANGED
 * if the file was replaced at the server; else as http_get. */
gufo_status missing_fetch(download *d, unsigned requests, fetch_progress *progress,
                          gufo_error *error);

#endif
