/* Models elsewhere: the client, made of options and of the environment. */
#include "cli/core/files/remote.h"

#include "cli/core/files/path.h"
#include "cli/core/options/options.h"
#include "cli/core/terminal/report.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/values/array.h"
#include "gufo/find.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- what the environment says --------------------------------------------------------------- */

/* The first of these variables that is set. */
static const struct {
    size_t member; /* of gufo_remote_options */
    const char *names[4];
} variables[] = {
    {offsetof(gufo_remote_options, hf_endpoint), {"HF_ENDPOINT"}},
    {offsetof(gufo_remote_options, hf_token), {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}},
    {offsetof(gufo_remote_options, ms_endpoint), {"MS_ENDPOINT"}},
    {offsetof(gufo_remote_options, ms_token), {"MODELSCOPE_API_TOKEN"}},
    {offsetof(gufo_remote_options, ca_file), {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}},
    {offsetof(gufo_remote_options, https_proxy),
     {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}},
    /* In capitals, a server that runs programs (CGI) sets it for whoever asks. */
    {offsetof(gufo_remote_options, http_proxy), {"http_proxy", "all_proxy", "ALL_PROXY"}},
    {offsetof(gufo_remote_options, no_proxy), {"no_proxy", "NO_PROXY"}},
};

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && *value != '\0' ? value : NULL;
}

static void take_variables(gufo_remote_options *options)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = NULL;

        for (size_t n = 0; n < 4 && value == NULL && variables[i].names[n] != NULL; n++)
            value = variable(variables[i].names[n]);
        memcpy((char *)options + variables[i].member, &value, sizeof value);
    }
}

/* As the tools of Hugging Face read it. */
static bool is_on(const char *name)
{
    static const char *const words[] = {"1", "on", "yes", "true"};
    const char *value = variable(name);

    for (size_t i = 0; value != NULL && i < sizeof words / sizeof *words; i++)
        if (strcasecmp(value, words[i]) == 0)
            return true;
    return false;
}

/* Where the token is that was saved by a login. */
static const struct {
    const char *variable, *rest;
} token_places[] = {
    {"HF_TOKEN_PATH", ""},
    {"HF_HOME", "/token"},
    {"XDG_CACHE_HOME", "/huggingface/token"},
    {"HOME", "/.cache/huggingface/token"},
};

/* Its text, which the caller wipes; empty without one. */
static gufo_str read_token(void)
{
    enum { MOST_BYTES = 4096 };
    gufo_str token = {0};

    for (size_t i = 0; i < sizeof token_places / sizeof *token_places; i++) {
        const char *folder = variable(token_places[i].variable);
        char *path = folder != NULL ? path_format("%s%s", folder, token_places[i].rest) : NULL;

        if (path != NULL && path_exists(path))
            (void)small_file_read_beside(path, MOST_BYTES, "a token is not as long", &token);
        free(path);
        if (folder != NULL)
            break;
    }
    while (token.len > 0 && strchr(" \r\n\t", token.data[token.len - 1]) != NULL)
        ((char *)token.data)[--token.len] = '\0';
    return token;
}

/* ---- the caches of other programs ------------------------------------------------------------ */

/* Folders, which are kept until the client has copied them. */
typedef struct cache_folders {
    char *hub, *ollama;
    const char **others;
    size_t count; /* with the NULL at the end */
} cache_folders;

static const char *find_variable(void *context, const char *name)
{
    (void)context;
    return getenv(name);
}

static void take_folder(void *context, const char *cache, const char *path)
{
    cache_folders *folders = context;
    const char **other;
    char *copy;

    if (!path_is_folder(path) || (copy = path_with(path, "")) == NULL)
        return;
    if (strcmp(cache, "huggingface") == 0 && folders->hub == NULL)
        folders->hub = copy;
    else if (strcmp(cache, "ollama") == 0 && folders->ollama == NULL)
        folders->ollama = copy;
    else if ((other = array_add(&folders->others, &folders->count, sizeof *other)) != NULL)
        *other = copy;
    else
        free(copy);
}

static gufo_status find_folders(cache_folders *folders, gufo_error *error)
{
    const gufo_find_options options = {.variable = find_variable, .context = folders};
    gufo_status status = gufo_cache_folders(&options, take_folder, error);
    const char **last = array_add(&folders->others, &folders->count, sizeof *last);

    if (last != NULL)
        *last = NULL;
    return status == GUFO_OK && last == NULL ? error_set(error, GUFO_E_MEMORY, 0, "out of memory")
                                             : status;
}

static void free_folders(cache_folders *folders)
{
    for (size_t i = 0; i < folders->count; i++)
        free((char *)folders->others[i]);
    free(folders->others);
    free(folders->ollama);
    free(folders->hub);
}

/* ---- the client ------------------------------------------------------------------------------ */

static bool goes_on(void *context, uint64_t done, uint64_t total)
{
    (void)context, (void)done, (void)total;
    return !signals_stopped();
}

/* The folder of headers that were read before, which is freed. */
static char *header_cache(void)
{
    const char *caches = variable("XDG_CACHE_HOME"), *home = variable("HOME");

    return caches != NULL ? path_format("%s/gufo/remote", caches)
           : home != NULL ? path_format("%s/.cache/gufo/remote", home)
                          : NULL;
}

static gufo_remote *make_client(gufo_error *error)
{
    gufo_remote_options options = {.flags = options_remote(), .progress = goes_on};
    cache_folders folders = {.hub = NULL};
    gufo_str token = {0};
    char *cache = header_cache();
    gufo_remote *client = NULL;

    take_variables(&options);
    if (is_on("HF_HUB_OFFLINE"))
        options.flags |= GUFO_REMOTE_OFFLINE;
    if (options.hf_token == NULL && !is_on("HF_HUB_DISABLE_IMPLICIT_TOKEN")) {
        token = read_token();
        options.hf_token = token.data;
    }
    options.cache = cache;
    if (find_folders(&folders, error) == GUFO_OK) {
        options.hf_cache = folders.hub;
        options.ollama_models = folders.ollama;
        options.folders = folders.others;
        client = gufo_remote_new(&options, error);
    }
    free_folders(&folders);
    small_file_free(&token);
    free(cache);
    return client;
}

static gufo_remote *client;

static void free_client(void)
{
    gufo_remote_free(client);
    client = NULL;
}

gufo_remote *remote_client(gufo_error *error)
{
    if (client == NULL && (client = make_client(error)) != NULL)
        (void)atexit(free_client);
    return client;
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* Whether something is here that an argument without a scheme could mean: the file, or its folder, in which a
 * name may be misspelt. */
static bool is_here(const char *path)
{
    char folder[PATH_MAX];

    return path_exists(path) || (path_folder(path, folder) && path_is_folder(folder));
}

/* The flags of an address; 0 for any other argument. */
static uint32_t address_of(const char *path)
{
    const uint32_t flags = gufo_remote_address(path);

    return (flags & GUFO_ADDRESS_OR_PATH) != 0 && is_here(path) ? 0 : flags;
}

bool remote_is(const char *path)
{
    return address_of(path) != 0;
}

bool remote_is_folder(const char *path)
{
    return (address_of(path) & GUFO_ADDRESS_FOLDER) != 0;
}

/* What texts of addresses mean: those of a type what they were found to be, and those without a query for
 * what has one. */
typedef struct spelled {
    char *given, *full;
} spelled;

static spelled *spellings;
static size_t spelling_count;

static void free_spellings(void)
{
    for (size_t i = 0; i < spelling_count; i++) {
        free(spellings[i].given);
        free(spellings[i].full);
    }
    free(spellings);
}

static spelled *find_spelling(const char *path)
{
    for (size_t i = 0; i < spelling_count; i++)
        if (strcmp(spellings[i].given, path) == 0)
            return &spellings[i];
    return NULL;
}

/* Takes over both texts, which may be NULL; NULL without memory. */
static const spelled *add_spelling(char *given, char *full)
{
    spelled *known = given != NULL && full != NULL ? find_spelling(given) : NULL;

    if (known != NULL) { /* the latest one counts */
        free(given);
        free(known->full);
        known->full = full;
        return known;
    }
    known = given != NULL && full != NULL ? array_add(&spellings, &spelling_count, sizeof *known)
                                          : NULL;
    if (known == NULL) {
        free(given);
        free(full);
        return NULL;
    }
    *known = (spelled){given, full};
    if (spelling_count == 1)
        (void)atexit(free_spellings);
    return known;
}

/* Only these need a look: what follows the last slash has a colon. */
static bool has_type(const char *path)
{
    return strchr(path_name(path), ':') != NULL && strncasecmp(path, "ollama:", 7) != 0 &&
           strncasecmp(path, "http", 4) != 0;
}

const char *remote_spelled(const char *path)
{
    const spelled *known = find_spelling(path);
    gufo_remote *from;
    gufo_place place;

    if (known != NULL)
        return known->full;
    if (!has_type(path) || !remote_is(path) || (from = remote_client(NULL)) == NULL ||
        gufo_remote_find(from, path, &place, NULL) != GUFO_OK)
        return path;
    known = add_spelling(path_with(path, ""), path_with(place.address, ""));
    return known != NULL ? known->full : path;
}

const char *remote_shown(const char *path)
{
    const size_t len = strcspn(path, "?");
    const spelled *known;

    if (path[len] == '\0' || !remote_is(path) || strncasecmp(path, "http", 4) != 0)
        return path;
    known = add_spelling(path_format("%.*s", (int)len, path), path_with(path, ""));
    return known != NULL ? known->given : path;
}

bool remote_refuse_edit(const char *path)
{
    const bool refused = remote_is(path);

    if (refused)
        report_message(remote_shown(path),
                       "a model elsewhere cannot be edited; 'gufo fetch' brings it here");
    return refused;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* With -v: where it is. */
static void note_place(gufo_remote *from, const char *path)
{
    gufo_place place;

    if (!report_is_verbose() || gufo_remote_find(from, path, &place, NULL) != GUFO_OK)
        return;
    if (place.is_local)
        report_note(remote_shown(path), "read from the cache of %s: %s", place.cache, place.path);
    else
        report_note(remote_shown(path), "read from %s: %s", place.service, place.path);
}

/* What would help, behind the message. */
static void advise(const char *path, gufo_error *error)
{
    const size_t len = strlen(error->message);
    const char *advice = NULL;

    if (error->code == GUFO_E_ARGUMENT && strncasecmp(path, "http://", 7) == 0 &&
        (options_remote() & GUFO_REMOTE_PLAIN_HTTP) == 0)
        advice = "--insecure-http allows it";
    else if (remote_is_folder(path))
        advice = "'gufo ls' lists them";
    else if (error->code == GUFO_E_NOT_FOUND && strncasecmp(path, "http", 4) != 0)
        advice = "'gufo ls' lists the files of a repository";
    if (advice != NULL)
        (void)snprintf(error->message + len, sizeof error->message - len, " (%s)", advice);
}

gufo_model *remote_open(const char *path, const gufo_open_options *options, gufo_error *error)
{
    gufo_remote *from = remote_client(error);
    const char *full = remote_spelled(path);
    gufo_model *model = from != NULL ? gufo_remote_model_open(from, full, options, error) : NULL;

    if (model != NULL)
        note_place(from, full);
    else
        advise(full, error);
    return model;
}

gufo_status remote_list(const char *path, gufo_remote_file_fn *use, void *context,
                        uint64_t *left_out, gufo_error *error)
{
    gufo_remote *from = remote_client(error);

    return from != NULL
               ? gufo_remote_list(from, remote_spelled(path), use, context, left_out, error)
               : error->code;
}

size_t remote_begin(const char *path, void *bytes, size_t size)
{
    gufo_remote *from = remote_client(NULL);
    gufo_source source;
    size_t got = 0;

    if (from == NULL || gufo_remote_source(from, remote_spelled(path), &source, NULL) != GUFO_OK)
        return 0;
    if (source.size < size)
        size = (size_t)source.size;
    if (source.read(source.context, 0, bytes, size, &(gufo_error){0}) == GUFO_OK)
        got = size;
    if (source.close != NULL)
        source.close(source.context);
    return got;
}
