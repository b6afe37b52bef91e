/* Connections: what libcurl calls a multi handle, of which each call of http_get has one for itself.
 *
 *     session_take    one that nobody uses, with its open connections, or a new one
 *     session_give    back, for the next call */
#ifndef REMOTE_HTTP_SESSION_H
#define REMOTE_HTTP_SESSION_H

#include <curl/curl.h>

#include "remote/remote.h"

/* So many requests of one call are on their way at once. */
enum { SESSION_MOST = 4 };

typedef struct session {
    CURLM *multi;
    CURL *easy[SESSION_MOST];
    struct session *next;
} session;

/* Makes libcurl usable. GUFO_E_IO: it is not. */
gufo_status session_library_begin(gufo_error *error);

session *session_take(gufo_remote *remote, gufo_error *error);
void session_give(gufo_remote *remote, session *session);
void sessions_free(gufo_remote *remote);

#endif
