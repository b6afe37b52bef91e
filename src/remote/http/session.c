/* Connections; session.h has the idea. */
#include "remote/http/session.h"

#include "base/error.h"
#include "base/memory.h"

#if LIBCURL_VERSION_NUM < 0x075500
#error "libcurl 7.85 or later is needed (CURLOPT_PROTOCOLS_STR, curl_global_init of any thread)"
#endif

enum { CONNECTIONS = 8 }; /* that a session keeps open */

gufo_status session_library_begin(gufo_error *error)
{
    /* Counts its calls, of any thread.  It is never undone: the program may use libcurl, too. */
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK
               ? GUFO_OK
               : refuse(error, GUFO_E_IO, "libcurl cannot be used");
}

static void session_free(gufo_remote *remote, session *s)
{
    for (size_t i = 0; i < SESSION_MOST; i++)
        curl_easy_cleanup(s->easy[i]);
    if (s->multi != NULL)
        (void)curl_multi_cleanup(s->multi);
    mem_free(&remote->allocator, s);
}

static session *session_new(gufo_remote *remote)
{
    session *s = mem_zero(&remote->allocator, sizeof *s);
    bool is_whole;

    if (s == NULL)
        return NULL;
    s->multi = curl_multi_init();
    is_whole = s->multi != NULL &&
               curl_multi_setopt(s->multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS) == CURLM_OK;
    for (size_t i = 0; i < SESSION_MOST; i++)
        is_whole = (s->easy[i] = curl_easy_init()) != NULL && is_whole;
    if (is_whole)
        return s;
    session_free(remote, s);
    return NULL;
}

session *session_take(gufo_remote *remote, gufo_error *error)
{
    session *s;

    mutex_lock(&remote->lock);
    s = remote->sessions;
    if (s != NULL)
        remote->sessions = s->next;
    mutex_unlock(&remote->lock);
    if (s == NULL)
        s = session_new(remote);
    if (s == NULL)
        (void)fail_memory(error);
    return s;
}

void session_give(gufo_remote *remote, session *s)
{
    mutex_lock(&remote->lock);
    s->next = remote->sessions;
    remote->sessions = s;
    mutex_unlock(&remote->lock);
}

void sessions_free(gufo_remote *remote)
{
    while (remote->sessions != NULL) {
        session *s = remote->sessions;

        remote->sessions = s->next;
        session_free(remote, s);
    }
}
