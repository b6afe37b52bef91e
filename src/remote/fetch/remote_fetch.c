/* gufo_remote_fetch: what an address means, and fetching it. */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "codec/run.h"
#include "remote/fetch/fetch.h"
#include "remote/fetch/hub_cache.h"
#include "remote/http/url.h"

static gufo_status check_options(const gufo_fetch_options *options, gufo_error *error)
{
    const uint32_t known = GUFO_FETCH_REPLACE | GUFO_FETCH_SINGLE | GUFO_FETCH_INTO_CACHE;
    gufo_status status = flags_check(options->flags, known, "gufo_fetch_options", error);

    if (status == GUFO_OK)
        status = reserved_check(options->reserved, "gufo_fetch_options", error);
    return status == GUFO_OK ? reserved_check(options->reserved + 4, "gufo_fetch_options", error)
                             : status;
}

/* Writes it in lower case. */
static gufo_status read_sha256(const char *text, char out[SHA256_HEX + 1], gufo_error *error)
{
    size_t len = 0;

    for (; len < SHA256_HEX && is_hex(text[len]); len++)
        out[len] = to_lower(text[len]);
    out[len] = '\0';
    return len == SHA256_HEX && text[len] == '\0'
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT,
                        "gufo_fetch_options.sha256 is not 64 hexadecimal digits");
}

static gufo_status want_sha256(const gufo_fetch_options *options, wanted *w, gufo_error *error)
{
    if (options->sha256 == NULL)
        return GUFO_OK;
    if (w->count != 1)
        return refuse(error, GUFO_E_ARGUMENT,
                      "gufo_fetch_options.sha256 is of one file, and these are %zu", w->count);
    return read_sha256(options->sha256, w->files[0].sha256, error);
}

static bool goes_into_cache(const gufo_fetch_options *options)
{
    return (options->flags & GUFO_FETCH_INTO_CACHE) != 0;
}

static gufo_status check_cached(const gufo_fetch_options *options, const char *out,
                                gufo_error *error)
{
    if (!goes_into_cache(options) || (out == NULL && options->check == NULL))
        return GUFO_OK;
    return refuse(error, GUFO_E_ARGUMENT,
                  "GUFO_FETCH_INTO_CACHE has places of its own, and checks by hashes alone");
}

/* A failure that is about no file is about the address, which has secrets that no message shows. */
static void fail_at(const char *address, gufo_error *error)
{
    char shown[HTTP_URL_SIZE];

    if (address != NULL)
        fail_in(error, GUFO_FILE_INPUT, 0, url_shown(address, shown));
}

gufo_status gufo_remote_fetch(gufo_remote *remote, const char *address, const char *out,
                              const gufo_fetch_options *options, const gufo_run *run,
                              bool *mismatch, gufo_error *error)
{
    static const gufo_fetch_options usual = {0};
    wanted w = {.allocator = run_allocator(run_of(run))};
    gufo_error ignored;
    bool differs = false;
    gufo_status status;

    error = error != NULL ? error : &ignored;
    options = options != NULL ? options : &usual;
    status = run_check(run_of(run), error);
    if (status == GUFO_OK && (remote == NULL || address == NULL))
        status = refuse(error, GUFO_E_ARGUMENT, "the %s is missing",
                        remote == NULL ? "client" : "address");
    if (status == GUFO_OK)
        status = check_options(options, error);
    if (status == GUFO_OK)
        status = check_cached(options, out, error);
    if (status == GUFO_OK)
        status =
            wanted_find(remote, address, out, (options->flags & GUFO_FETCH_SINGLE) != 0, &w, error);
    if (status == GUFO_OK)
        status = want_sha256(options, &w, error);
    if (status == GUFO_OK)
        status = goes_into_cache(options)
                     ? hub_cache_fetch(remote, &w, options, run, &differs, error)
                     : fetch_files(remote, w.files, w.count, options, run, &differs, error);
    wanted_free(&w);
    if (status != GUFO_OK)
        fail_at(address, error);
    if (mismatch != NULL)
        *mismatch = differs;
    return status;
}
