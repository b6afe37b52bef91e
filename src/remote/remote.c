/* Making and freeing a client.
 *
 * Its options are copied: a table has each text, its default, and what it has to be. */
#include "remote/remote.h"

#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "remote/http/session.h"

#define OWN_NAME "gufo/" GUFO_VERSION_STRING

typedef enum text_kind {
    ANY_TEXT,
    HEADER_TEXT,   /* goes into a header: no line ends */
    ENDPOINT_TEXT, /* an address, of which slashes at the end do not matter */
} text_kind;

static const struct {
    const char *name;
    size_t offset; /* in gufo_remote_options */
    text_kind kind;
    const char *usual; /* NULL: none */
} texts[] = {
#define TEXT(member, kind, usual)                                   \
    {                                                               \
#member, offsetof(gufo_remote_options, member), kind, usual \
    }
    TEXT(user_agent, HEADER_TEXT, OWN_NAME),
    TEXT(ca_file, ANY_TEXT, NULL),
    TEXT(https_proxy, ANY_TEXT, NULL),
    TEXT(http_proxy, ANY_TEXT, NULL),
    TEXT(no_proxy, ANY_TEXT, NULL),
    TEXT(hf_endpoint, ENDPOINT_TEXT, "https://huggingface.co"),
    TEXT(hf_token, HEADER_TEXT, NULL),
    TEXT(hf_cache, ANY_TEXT, NULL),
    TEXT(ollama_endpoint, ENDPOINT_TEXT, "https://registry.ollama.ai"),
    TEXT(ollama_models, ANY_TEXT, NULL),
    TEXT(ms_endpoint, ENDPOINT_TEXT, "https://www.modelscope.cn"),
    TEXT(ms_token, HEADER_TEXT, NULL),
    TEXT(cache, ANY_TEXT, NULL),
#undef TEXT
};

/* ---- texts ----------------------------------------------------------------------------------- */

/* A copy that lives as long as the client; NULL without memory. */
static char *keep_text(gufo_remote *remote, gufo_str begin, gufo_str end)
{
    char **grown = mem_grow(&remote->allocator, remote->texts, remote->text_count,
                            &remote->text_room, sizeof *grown);
    char *copy;

    if (grown == NULL)
        return NULL;
    remote->texts = grown;
    copy = mem_join(&remote->allocator, begin, end);
    if (copy != NULL)
        remote->texts[remote->text_count++] = copy;
    return copy;
}

static bool is_header_text(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    return true;
}

static gufo_status check_text(size_t row, gufo_str *text, gufo_error *error)
{
    char whole[HTTP_URL_SIZE];
    url_origin origin;

    if (texts[row].kind == HEADER_TEXT && !is_header_text(text->data))
        return refuse(error, GUFO_E_ARGUMENT,
                      "gufo_remote_options.%s has a control character or a line end, which no "
                      "header can hold",
                      texts[row].name);
    if (texts[row].kind != ENDPOINT_TEXT)
        return GUFO_OK;
    if (url_read(text->data, whole, &origin, NULL) != GUFO_OK || strpbrk(text->data, "?#") != NULL)
        return refuse(error, GUFO_E_ARGUMENT,
                      "gufo_remote_options.%s is not an address as https://host/path",
                      texts[row].name);
    while (text->len > 0 && text->data[text->len - 1] == '/')
        text->len--;
    return GUFO_OK;
}

static gufo_status copy_text(gufo_remote *remote, size_t row, const gufo_remote_options *given,
                             gufo_error *error)
{
    const char *value;
    gufo_str text;
    gufo_status status;

    memcpy(&value, (const char *)given + texts[row].offset, sizeof value);
    text = gufo_str_of(value != NULL && *value != '\0' ? value : texts[row].usual);
    if (text.data == NULL)
        return GUFO_OK;
    if ((status = check_text(row, &text, error)) != GUFO_OK)
        return status;
    value = keep_text(remote, text, gufo_str_of(""));
    if (value == NULL)
        return fail_memory(error);
    memcpy((char *)&remote->options + texts[row].offset, &value, sizeof value);
    return GUFO_OK;
}

static gufo_status copy_folders(gufo_remote *remote, const char *const *folders, gufo_error *error)
{
    size_t count = 0;
    char **list;

    while (folders != NULL && folders[count] != NULL)
        count++;
    if (count == 0)
        return GUFO_OK;
    /* The list itself is kept as a text, too: it is freed in the same way. */
    list = mem_array(&remote->allocator, count + 1, sizeof *list);
    remote->options.folders = (const char *const *)list;
    for (size_t i = 0; list != NULL && i < count; i++)
        if ((list[i] = keep_text(remote, gufo_str_of(folders[i]), gufo_str_of(""))) == NULL)
            return fail_memory(error);
    return list != NULL ? GUFO_OK : fail_memory(error);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static gufo_status set_token(gufo_remote *remote, remote_token *token, const char *endpoint,
                             const char *secret, gufo_error *error)
{
    char whole[HTTP_URL_SIZE];

    if (secret == NULL)
        return GUFO_OK;
    token->header = keep_text(remote, gufo_str_of("Authorization: Bearer "), gufo_str_of(secret));
    return token->header != NULL ? url_read(endpoint, whole, &token->origin, error)
                                 : fail_memory(error);
}

static gufo_status copy_options(gufo_remote *remote, const gufo_remote_options *given,
                                gufo_error *error)
{
    gufo_remote_options *own = &remote->options;
    gufo_status status = GUFO_OK;

    own->flags = given->flags;
    own->progress = given->progress;
    own->progress_context = given->progress_context;
    own->allocator = &remote->allocator;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && status == GUFO_OK; i++)
        status = copy_text(remote, i, given, error);
    if (status == GUFO_OK)
        status = copy_folders(remote, given->folders, error);
    if (status == GUFO_OK)
        status = set_token(remote, &remote->tokens[0], own->hf_endpoint, own->hf_token, error);
    if (status == GUFO_OK)
        status = set_token(remote, &remote->tokens[1], own->ms_endpoint, own->ms_token, error);
    return status;
}

/* ---- the client ------------------------------------------------------------------------------ */

static gufo_status check_options(const gufo_remote_options *options, gufo_error *error)
{
    const uint32_t known = GUFO_REMOTE_OFFLINE | GUFO_REMOTE_PLAIN_HTTP | GUFO_REMOTE_NO_CACHE |
                           GUFO_REMOTE_FORBID_PRIVATE;
    gufo_status status = flags_check(options->flags, known, "gufo_remote_options", error);

    if (status == GUFO_OK)
        status = reserved_check(options->reserved, "gufo_remote_options", error);
    if (status == GUFO_OK)
        status = reserved_check(options->reserved + 4, "gufo_remote_options", error);
    return status;
}

gufo_remote *gufo_remote_new(const gufo_remote_options *options, gufo_error *error)
{
    static const gufo_remote_options none = {0};
    gufo_remote *remote;

    options = options != NULL ? options : &none;
    if (check_options(options, error) != GUFO_OK || session_library_begin(error) != GUFO_OK)
        return NULL;
    remote = mem_object(options->allocator, sizeof *remote, error);
    if (remote == NULL)
        return NULL;
    mutex_init(&remote->lock);
    mutex_init(&remote->asking);
    mutex_init(&remote->chunks.lock);
    remote->pace = retry_usual_pace;
    remote->chance = hash_key_new().k0 | 1;
    if (copy_options(remote, options, error) != GUFO_OK) {
        gufo_remote_free(remote);
        return NULL;
    }
    return remote;
}

/* Secrets are not left behind in memory that others get. */
static void wipe(char *text)
{
    for (volatile char *c = text; *c != '\0'; c++)
        *c = '\0';
}

void gufo_remote_free(gufo_remote *remote)
{
    gufo_allocator allocator;

    if (remote == NULL)
        return;
    allocator = remote->allocator;
    sessions_free(remote);
    mutex_destroy(&remote->lock);
    mutex_destroy(&remote->asking);
    mutex_destroy(&remote->chunks.lock);
    for (size_t i = 0; i < remote->text_count; i++) {
        wipe(remote->texts[i]);
        mem_free(&allocator, remote->texts[i]);
    }
    mem_free(&allocator, remote->texts);
    mem_free(&allocator, (void *)remote->options.folders);
    mem_free(&allocator, remote);
}
