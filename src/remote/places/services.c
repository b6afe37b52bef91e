/* The table of services, and their addresses. */
#include "remote/places/services.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"

static const listing_shape tree_of_hf = {.path = "path",
                                         .size = "size",
                                         .kind = "type",
                                         .file = "file",
                                         .large = "lfs",
                                         .sha256 = "oid"};
static const listing_shape files_of_ms = {.within = {"Data", "Files"},
                                          .path = "Path",
                                          .size = "Size",
                                          .kind = "Type",
                                          .file = "blob",
                                          .sha256 = "Sha256"};

#define OPTION(member) offsetof(gufo_remote_options, member)

static const place_service services[] = {
    {.name = "hf",
     .title = "Hugging Face",
     .form = ADDRESS_OF_REPOSITORY,
     .prefixes = {"hf://"},
     .bare = {"hf.co/", "huggingface.co/"},
     .pages = {"https://huggingface.co/", "https://hf.co/", "https://www.huggingface.co/"},
     .endpoint = "https://huggingface.co",
     .option = OPTION(hf_endpoint),
     .revision = "main",
     .file = "{endpoint}/{type}{owner}/{name}/resolve/{revision}/{path}",
     .list = "{endpoint}/api/{types}{owner}/{name}/tree/{revision}?recursive=true",
     .shape = &tree_of_hf,
     .page = "{endpoint}/{type}{owner}/{name}",
     .spelling = "hf://{type}{owner}/{name}@{revision}/{path}",
     .token = "HF_TOKEN"},
    {.name = "ms",
     .title = "ModelScope",
     .form = ADDRESS_OF_REPOSITORY,
     .prefixes = {"ms://"},
     .pages = {"https://modelscope.cn/", "https://www.modelscope.cn/"},
     .endpoint = "https://www.modelscope.cn",
     .option = OPTION(ms_endpoint),
     .revision = "master",
     .file = "{endpoint}/{types}{owner}/{name}/resolve/{revision}/{path}",
     .list =
         "{endpoint}/api/v1/{types}{owner}/{name}/repo/files?Revision={revision}&Recursive=true",
     .shape = &files_of_ms,
     .page = "{endpoint}/{types}{owner}/{name}",
     .spelling = "ms://{owner}/{name}@{revision}/{path}",
     .token = "MODELSCOPE_API_TOKEN"},
    {.name = "ollama",
     .title = "the registry",
     .form = ADDRESS_OF_MODEL,
     .prefixes = {"ollama://"},
     .pages = {"https://ollama.com/"},
     .endpoint = "https://registry.ollama.ai",
     .option = OPTION(ollama_endpoint),
     .host = "registry.ollama.ai",
     .revision = "latest",
     .list = "{endpoint}/v2/{owner}/{name}/manifests/{tag}",
     .blob = "{endpoint}/v2/{owner}/{name}/blobs/{digest}",
     .list_accepts = "application/vnd.docker.distribution.manifest.v2+json"},
    {.name = "https",
     .title = "the server",
     .form = ADDRESS_OF_WEB,
     .prefixes = {"https://", "http://"}},
};

static const repository_type types[] = {
    {"models/", "", "models--"},
    {"datasets/", "datasets/", "datasets--"},
    {"spaces/", "spaces/", "spaces--"},
};

const place_service *service_at(size_t index)
{
    return index < sizeof services / sizeof *services ? &services[index] : NULL;
}

const place_service *service_named(const char *name)
{
    for (size_t i = 0; i < sizeof services / sizeof *services; i++)
        if (strcmp(services[i].name, name) == 0)
            return &services[i];
    return NULL;
}

const repository_type *repository_type_at(size_t index)
{
    return index < sizeof types / sizeof *types ? &types[index] : NULL;
}

const char *service_revision(const address *a)
{
    const char *given = a->service->form == ADDRESS_OF_MODEL ? a->tag : a->revision;

    return given[0] != '\0' ? given : a->service->revision;
}

/* ---- addresses ------------------------------------------------------------------------------ */

#define ENDPOINT "{endpoint}"

/* How a part is written into an address: sentences have all as they are. */
typedef enum part_form {
    PART_AS_IT_IS, /* it is checked, and has no bytes to escape */
    PART_ESCAPED,
    PART_OF_PATH, /* slashes divide */
} part_form;

/* Appends bytes of which only those stay that mean nothing else in an address (RFC 3986, 2.3). */
static bool add_escaped(gufo_text *out, gufo_str bytes, const char *more)
{
    if (!text_reserve(out, 3 * bytes.len))
        return false;
    for (size_t i = 0; i < bytes.len; i++) {
        char c = bytes.data[i], digits[2];

        if (is_letter(c) || is_digit(c) || (c != '\0' && strchr(more, c) != NULL)) {
            text_put_byte(out, c);
            continue;
        }
        (void)hex_put(digits, (uint8_t)c, true);
        text_put_byte(out, '%');
        text_put_byte(out, digits[0]);
        text_put_byte(out, digits[1]);
    }
    return true;
}

/* What replaces {WORD}. */
typedef struct part {
    const char *word, *value;
    part_form form;
} part;

static bool add_part(gufo_text *out, gufo_str word, const part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        gufo_str value = gufo_str_of(parts[i].value);

        if (gufo_str_equal(word, gufo_str_of(parts[i].word)))
            return parts[i].form == PART_AS_IT_IS
                       ? text_add(out, value.data, value.len)
                       : add_escaped(out, value, parts[i].form == PART_OF_PATH ? "-._~/" : "-._~");
    }
    return true;
}

/* Appends the pattern, of whose braces each pair is closed. */
static bool fill(gufo_text *out, const char *pattern, const part *parts, size_t count)
{
    while (*pattern != '\0') {
        size_t plain = strcspn(pattern, "{"), word;

        if (!text_add(out, pattern, plain))
            return false;
        pattern += plain;
        if (*pattern == '\0')
            break;
        word = strcspn(++pattern, "}");
        if (!add_part(out, (gufo_str){pattern, word}, parts, count))
            return false;
        pattern += word + 1;
    }
    return true;
}

/* Whether a host, perhaps with a port, is this machine: registries there have no certificates. */
static bool is_here(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1"};
    gufo_str name = {host, strcspn(host, ":")};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gufo_str_equal(name, gufo_str_of(names[i])))
            return true;
    return false;
}

static bool fill_parts(const address *a, const char *pattern, const char *endpoint,
                       const char *digest, bool escaped, gufo_text *out)
{
    const part_form plain = escaped ? PART_ESCAPED : PART_AS_IT_IS;
    char host[ADDRESS_HOST + 8];
    const part parts[] = {
        {"endpoint", endpoint != NULL ? endpoint : a->service->endpoint, PART_AS_IT_IS},
        {"host", host, PART_AS_IT_IS},
        {"type", a->type != NULL ? a->type->folder : "", PART_AS_IT_IS},
        {"types", a->type != NULL ? a->type->word : "", PART_AS_IT_IS},
        {"owner", a->owner, plain},
        {"name", a->name, plain},
        {"revision", service_revision(a), plain},
        {"tag", service_revision(a), plain},
        {"path", a->path, escaped ? PART_OF_PATH : PART_AS_IT_IS},
        {"digest", digest != NULL ? digest : "", PART_AS_IT_IS},
        {"token", a->service->token, PART_AS_IT_IS},
    };
    const size_t count = sizeof parts / sizeof *parts;

    (void)snprintf(host, sizeof host, "%s://%s", is_here(a->host) ? "http" : "https", a->host);
    if (a->host[0] != '\0' && str_begins(gufo_str_of(pattern), ENDPOINT)) {
        if (!fill(out, "{host}", parts, count))
            return false;
        pattern += strlen(ENDPOINT);
    }
    return fill(out, pattern, parts, count);
}

gufo_status service_url(const address *a, const char *pattern, const char *endpoint,
                        const char *digest, gufo_text *out, gufo_error *error)
{
    return fill_parts(a, pattern, endpoint, digest, true, out) ? GUFO_OK : fail_memory(error);
}

bool service_text(const address *a, const char *pattern, const char *endpoint, gufo_text *out)
{
    return fill_parts(a, pattern, endpoint, NULL, false, out);
}

const char *service_endpoint(const place_service *service, const gufo_remote_options *options)
{
    const char *given = NULL;

    if (service->option > 0)
        memcpy(&given, (const char *)options + service->option, sizeof given);
    return given != NULL ? given : service->endpoint;
}
