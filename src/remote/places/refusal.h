/* What to do when a service refuses: sentences for people. */
#ifndef REMOTE_PLACES_REFUSAL_H
#define REMOTE_PLACES_REFUSAL_H

#include "remote/http/http.h"
#include "remote/places/address.h"

/* Puts into a failure of http_get what the service means by its answer; a failure without an answer, or with
 * one that nothing is known of, stays as it is.  GUFO_E_NOT_FOUND where the service has no such thing.
 * Returns the code. */
gufo_status refusal_explain(const address *a, const gufo_remote_options *options,
                            const http_answer *answer, gufo_error *error);

#endif
