/* A table of refusals: the first row that fits is what is said. */
#include "remote/places/refusal.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "remote/places/services.h"

typedef struct refusal {
    const char *service;
    int status;
    const char *code; /* X-Error-Code; NULL: any */
    const char *text; /* a pattern of service_text */
    gufo_status means;
} refusal;

static const refusal refusals[] = {
    {"hf", 401, "GatedRepo",
     "{owner}/{name} is open to those alone who have accepted its conditions: do that at {page}, "
     "and set "
     "{token} to a token of that account",
     GUFO_E_IO},
    {"hf", 403, "GatedRepo",
     "{owner}/{name} is open to those alone who have accepted its conditions: do that at {page}, "
     "and set "
     "{token} to a token of that account",
     GUFO_E_IO},
    {"hf", 401, NULL,
     "there is no repository {owner}/{name}, or it is private: set {token} to a token that may "
     "read it",
     GUFO_E_IO},
    {"hf", 404, "RepoNotFound", "there is no repository {owner}/{name} at {page}",
     GUFO_E_NOT_FOUND},
    {"hf", 404, "RevisionNotFound", "{owner}/{name} has no revision {revision}", GUFO_E_NOT_FOUND},
    {"hf", 404, "EntryNotFound", "{owner}/{name} has no file {path} in revision {revision}",
     GUFO_E_NOT_FOUND},
    {"hf", 404, NULL, "{page} has no such file or revision", GUFO_E_NOT_FOUND},
    {"hf", 429, NULL,
     "the service refuses further requests for a while; with {token} set to a token it allows more",
     GUFO_E_IO},
    {"ms", 401, NULL,
     "there is no repository {owner}/{name}, or it is private: set {token} to a token that may "
     "read it",
     GUFO_E_IO},
    {"ms", 403, NULL, "{owner}/{name} may not be read without a token: set {token}", GUFO_E_IO},
    {"ms", 404, NULL, "{page} has no such file or revision", GUFO_E_NOT_FOUND},
    {"ollama", 401, NULL,
     "{owner}/{name}:{tag} does not exist, or is private: gufo reads public models alone",
     GUFO_E_IO},
    {"ollama", 403, NULL, "{owner}/{name}:{tag} is private: gufo reads public models alone",
     GUFO_E_IO},
    {"ollama", 404, NULL, "the registry has no model {owner}/{name}:{tag}", GUFO_E_NOT_FOUND},
    {"ollama", 412, NULL, "the registry wants a newer program for {owner}/{name}:{tag}", GUFO_E_IO},
};

static const refusal *find(const address *a, const http_answer *answer)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (strcmp(refusals[i].service, a->service->name) == 0 &&
            refusals[i].status == answer->status &&
            (refusals[i].code == NULL || strcmp(refusals[i].code, answer->error_code) == 0))
            return &refusals[i];
    return NULL;
}

/* {page} is a pattern of the service itself: it is put in first. */
static bool write_text(const address *a, const char *pattern, const char *endpoint, gufo_text *out)
{
    static const char word[] = "{page}";
    const char *page = strstr(pattern, word);
    gufo_text whole = {0};
    bool written;

    if (page == NULL)
        return service_text(a, pattern, endpoint, out);
    written = text_add(&whole, pattern, (size_t)(page - pattern)) &&
              text_add(&whole, a->service->page, strlen(a->service->page)) &&
              text_add(&whole, page + sizeof word - 1, strlen(page + sizeof word - 1)) &&
              text_add(&whole, "", 1) && service_text(a, whole.data, endpoint, out);
    gufo_text_free(&whole);
    return written;
}

gufo_status refusal_explain(const address *a, const gufo_remote_options *options,
                            const http_answer *answer, gufo_error *error)
{
    const refusal *row = find(a, answer);
    gufo_error own = {0};
    gufo_text text = {0};
    gufo_status status = error != NULL ? error->code : GUFO_E_IO;

    if (row == NULL)
        return status;
    if (write_text(a, row->text, service_endpoint(a->service, options), &text)) {
        status = refuse(&own, row->means, "%.*s", (int)text.len, text.data);
        if (error != NULL) {
            own.system = error->system;
            *error = own;
        }
    }
    gufo_text_free(&text);
    return status;
}
