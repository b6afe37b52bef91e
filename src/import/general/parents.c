/* Parents of a model, as numbered groups of keys:
 *
 *     base_model: example-org/Tiny-Base-v0
 *
 *     general.base_model.count            1
 *     general.base_model.0.name           Tiny Base v0
 *     general.base_model.0.version        v0
 *     general.base_model.0.organization   Example Org
 *     general.base_model.0.repo_url       https://huggingface.co/example-org/Tiny-Base-v0 */
#include "import/general/parents.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define HUB "https://huggingface.co/"

enum { KEY_ROOM = 64, URL_ROOM = sizeof HUB + 2 * ID_ROOM };

typedef struct parent_list {
    const general_sources *sources;
    const char *prefix;
    uint64_t count; /* that are written */
} parent_list;

/* "general.base_model.0.name" */
static gufo_status set_field(const parent_list *list, const char *field, gufo_str text,
                             gufo_error *error)
{
    char key[KEY_ROOM];

    if (text.len == 0)
        return GUFO_OK;
    (void)snprintf(key, sizeof key, "%s%" PRIu64 ".%s", list->prefix, list->count, field);
    return gufo_document_set_str(list->sources->import->document, key, text, error);
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* The id in the address of a repository; empty in any other. */
static gufo_str id_in_address(gufo_str address)
{
    size_t scheme = str_begins(address, "https://") ? strlen("https://") : strlen("http://");
    gufo_str path = str_from(address, scheme);
    const char *slash;

    if (!str_begins(path, "huggingface.co/"))
        return (gufo_str){0};
    path = str_from(path, strlen("huggingface.co/"));
    slash = path.len > 0 ? memchr(path.data, '/', path.len) : NULL;
    if (slash == NULL || slash == path.data || slash == path.data + path.len - 1 ||
        memchr(slash + 1, '/', path.len - (size_t)(slash + 1 - path.data)) != NULL)
        return (gufo_str){0};
    return path;
}

static gufo_status write_id(const parent_list *list, gufo_str text, gufo_str address,
                            gufo_error *error)
{
    char name[ID_ROOM], organization[ID_ROOM], hub[URL_ROOM];
    model_id id;
    gufo_status status;

    model_id_read(text, &list->sources->scale, &id);
    model_id_title(gufo_str_of(id.part[ID_NAME]), name);
    model_id_title(gufo_str_of(id.part[ID_ORGANIZATION]), organization);
    if (address.len == 0 && id.part[ID_NAME][0] != '\0' && id.part[ID_ORGANIZATION][0] != '\0') {
        (void)snprintf(hub, sizeof hub, HUB "%s/%s", id.part[ID_ORGANIZATION], id.part[ID_NAME]);
        address = gufo_str_of(hub);
    }
    status = set_field(list, "name", text.len > ID_LONGEST ? text : gufo_str_of(name), error);
    if (status == GUFO_OK)
        status = set_field(list, "version", gufo_str_of(id.part[ID_VERSION]), error);
    if (status == GUFO_OK)
        status = set_field(list, "organization", gufo_str_of(organization), error);
    return status == GUFO_OK ? set_field(list, "repo_url", address, error) : status;
}

static gufo_status write_text(const parent_list *list, gufo_str text, gufo_error *error)
{
    gufo_str id;

    if (str_begins(text, "ssh://"))
        return set_field(list, "repo_url", text, error);
    if (!str_begins(text, "https://") && !str_begins(text, "http://"))
        return write_id(list, text, (gufo_str){0}, error);
    id = id_in_address(text);
    return id.len > 0 ? write_id(list, id, text, error) : set_field(list, "repo_url", text, error);
}

/* ---- mappings ------------------------------------------------------------------------------- */

static gufo_status write_mapping(const parent_list *list, const json_t *mapping, gufo_error *error)
{
    static const char *const fields[] = {"name", "author", "version", "organization", "description",
                                         "url",  "doi",    "uuid",    "repo_url"};
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < sizeof fields / sizeof *fields && status == GUFO_OK; i++)
        status = set_field(list, fields[i], json_str(json_object_get(mapping, fields[i])), error);
    return status;
}

/* One that has no field is not counted. */
static gufo_status write_parent(parent_list *list, const json_t *parent, gufo_error *error)
{
    const gufo_document *document = list->sources->import->document;
    uint64_t entries = gufo_document_entry_count(document);
    gufo_status status = json_is_object(parent) ? write_mapping(list, parent, error)
                                                : write_text(list, json_str(parent), error);

    if (status == GUFO_OK && gufo_document_entry_count(document) > entries)
        list->count++;
    return status;
}

gufo_status parents_write(const general_sources *s, const char *prefix, const json_t *given,
                          gufo_error *error)
{
    parent_list list = {.sources = s, .prefix = prefix};
    char key[KEY_ROOM];
    gufo_status status;

    /* Before those that it counts. */
    (void)snprintf(key, sizeof key, "%scount", prefix);
    status = gufo_document_set_u32(s->import->document, key, 0, error);
    if (json_is_array(given)) {
        for (size_t i = 0; i < json_array_size(given) && status == GUFO_OK; i++)
            status = write_parent(&list, json_array_get(given, i), error);
    } else if (status == GUFO_OK) {
        status = write_parent(&list, given, error);
    }
    return status == GUFO_OK
               ? gufo_document_set_u32(s->import->document, key, (uint32_t)list.count, error)
               : status;
}
