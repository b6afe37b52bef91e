/* Why a request failed, in a sentence: which host, what it has said, and what can be done.  All fill the error of
 * the transfer and return its code.  No text of a server is shown without its control characters escaped. */
#ifndef REMOTE_HTTP_FAILURE_H
#define REMOTE_HTTP_FAILURE_H

#include "remote/http/transfer.h"

/* The file is another one than before. */
gufo_status fail_changed(const transfer *t);
/* The server has sent all, where a part was asked for. */
gufo_status fail_without_ranges(const transfer *t);
/* `what` the server does against the rules of HTTP, or against ours: "sends ..." */
gufo_status fail_protocol(const transfer *t, const char *what);
/* A status other than success, with the beginning of the page. */
gufo_status fail_status(const transfer *t);
/* The body ended early. */
gufo_status fail_short(const transfer *t, CURLcode result);
/* There was no answer. */
gufo_status fail_connection(const transfer *t, CURLcode result, bool forbids_private);
/* Less than 1 KiB/s for too long. */
gufo_status fail_stalled(const transfer *t);

#endif
