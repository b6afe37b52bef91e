/* Chat templates of a model folder: in tokenizer_config.json, or in files of their own. */
#include "import/tokenizers/special.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/text.h"

#define MAIN_KEY "tokenizer.chat_template"
#define FOLDER "additional_chat_templates"
#define SUFFIX ".jinja"

enum { MOST_TEMPLATES = 256 };

/* ---- templates with names ------------------------------------------------------------------- */

typedef struct name_list {
    const gufo_allocator *allocator;
    gufo_str *names; /* own copies */
    uint64_t count, room;
} name_list;

static bool is_before(const void *a, const void *b)
{
    const gufo_str *first = a, *second = b;
    size_t len = first->len < second->len ? first->len : second->len;
    int order = memcmp(first->data, second->data, len);

    return order != 0 ? order < 0 : first->len < second->len;
}

static void name_list_free(name_list *list)
{
    for (uint64_t i = 0; i < list->count; i++)
        mem_free(list->allocator, (char *)list->names[i].data);
    mem_free(list->allocator, list->names);
}

static gufo_status add_name(name_list *list, gufo_str name, gufo_error *error)
{
    gufo_str *names =
        mem_grow(list->allocator, list->names, list->count, &list->room, sizeof *names);
    char *own = mem_text(list->allocator, name);

    if (names != NULL)
        list->names = names;
    if (names == NULL || own == NULL) {
        mem_free(list->allocator, own);
        return fail_memory(error);
    }
    names[list->count++] = (gufo_str){own, name.len};
    return GUFO_OK;
}

/* Takes characters that keys do not have as "_". */
static gufo_status add_key_name(name_list *list, gufo_str name, gufo_error *error)
{
    gufo_status status = add_name(list, name, error);
    char *own = status == GUFO_OK ? (char *)list->names[list->count - 1].data : NULL;

    for (size_t i = 0; status == GUFO_OK && i < name.len; i++)
        if (!is_letter(own[i]) && !is_digit(own[i]))
            own[i] = '_';
    return status;
}

static gufo_status set_template(tokenizer_reading *r, name_list *list, gufo_str name, gufo_str text)
{
    gufo_status status;
    char *key;

    if (gufo_str_equal(name, gufo_str_of("default")))
        return gufo_document_set_str(r->document, MAIN_KEY, text, r->error);
    status = add_key_name(list, name, r->error);
    if (status != GUFO_OK)
        return status;
    key = mem_join(r->allocator, gufo_str_of(MAIN_KEY "."), list->names[list->count - 1]);
    status = key != NULL ? gufo_document_set_str(r->document, key, text, r->error)
                         : fail_memory(r->error);
    mem_free(r->allocator, key);
    return status;
}

static gufo_status set_names(tokenizer_reading *r, name_list *list)
{
    if (list->count == 0)
        return GUFO_OK;
    sort_items(list->names, (size_t)list->count, sizeof *list->names, is_before);
    return gufo_document_set_array(r->document, "tokenizer.chat_templates",
                                   &(gufo_items){GUFO_VALUE_STRING, list->count, list->names},
                                   r->error);
}

/* ---- in tokenizer_config.json --------------------------------------------------------------- */

static gufo_status take_list(tokenizer_reading *r, const json_t *value)
{
    name_list list = {.allocator = r->allocator};
    gufo_status status = GUFO_OK;
    size_t index, skipped = 0;
    json_t *entry;

    json_array_foreach(value, index, entry)
    {
        const json_t *name = json_object_get(entry, "name"),
                     *text = json_object_get(entry, "template");

        if (status != GUFO_OK)
            break;
        if (json_is_string(name) && json_is_string(text) && json_string_length(name) > 0)
            status = set_template(r, &list, json_str(name), json_str(text));
        else
            skipped++;
    }
    if (status == GUFO_OK && skipped > 0)
        status = import_warn(r->import, r->error,
                             "tokenizer_config.json: %s chat templates have no name or no text: "
                             "they are skipped",
                             GROUPED(skipped));
    if (status == GUFO_OK)
        status = set_names(r, &list);
    name_list_free(&list);
    return status;
}

static gufo_status take_value(tokenizer_reading *r, const json_t *value, const char *file)
{
    if (json_is_string(value))
        return gufo_document_set_str(r->document, MAIN_KEY, json_str(value), r->error);
    if (json_is_array(value))
        return take_list(r, value);
    return reading_fail(r, GUFO_E_MALFORMED, file, "\"chat_template\" is neither text nor a list");
}

/* ---- files ---------------------------------------------------------------------------------- */

/* A file of the folder as the template of a name. */
static gufo_status take_file(tokenizer_reading *r, name_list *list, gufo_str name, const char *file,
                             bool *found)
{
    buffer bytes = {.allocator = r->allocator};
    gufo_status status = reading_file(r, file, &bytes, found);
    gufo_str text = {bytes.len > 0 ? (const char *)bytes.data : "", bytes.len};

    if (status == GUFO_OK && *found)
        status = gufo_utf8_valid_prefix(text) == text.len
                     ? set_template(r, list, name, text)
                     : reading_fail(r, GUFO_E_MALFORMED, file, "the template is not UTF-8");
    buffer_free(&bytes);
    return status;
}

static gufo_status take_named_file(tokenizer_reading *r, name_list *list, const char *name)
{
    gufo_str stem = {name, strlen(name) - strlen(SUFFIX)};
    char *file = mem_join(r->allocator, gufo_str_of(FOLDER "/"), gufo_str_of(name));
    gufo_status status;
    bool found;

    status = file != NULL ? take_file(r, list, stem, file, &found) : fail_memory(r->error);
    mem_free(r->allocator, file);
    return status;
}

typedef struct template_files {
    tokenizer_reading *reading;
    name_list names;
} template_files;

static gufo_status visit_file(void *context, gufo_str name, gufo_error *error)
{
    template_files *files = context;

    if (name.len <= strlen(SUFFIX) || !str_ends(name, SUFFIX) || name.data[0] == '.')
        return GUFO_OK;
    return files->names.count < MOST_TEMPLATES
               ? add_name(&files->names, name, error)
               : reading_fail(files->reading, GUFO_E_LIMIT, FOLDER, "more than %d templates",
                              (int)MOST_TEMPLATES);
}

/* In the order of their names: that of the folder differs between machines. */
static gufo_status take_folder(tokenizer_reading *r, name_list *list)
{
    template_files files = {r, {.allocator = r->allocator}};
    name_list *names = &files.names;
    gufo_status status =
        source_folder_list(&r->config->folder, FOLDER, visit_file, &files, r->error);

    if (status != GUFO_OK)
        reading_name_file(r, FOLDER);
    if (status == GUFO_OK && names->count > 0)
        sort_items(names->names, (size_t)names->count, sizeof *names->names, is_before);
    for (uint64_t i = 0; i < names->count && status == GUFO_OK; i++)
        status = take_named_file(r, list, names->names[i].data);
    name_list_free(names);
    return status;
}

static gufo_status take_files(tokenizer_reading *r, bool *found)
{
    name_list list = {.allocator = r->allocator};
    gufo_status status = take_file(r, &list, gufo_str_of("default"), "chat_template" SUFFIX, found);

    if (status == GUFO_OK && *found)
        status = take_folder(r, &list);
    if (status == GUFO_OK)
        status = set_names(r, &list);
    name_list_free(&list);
    return status;
}

static gufo_status take_json_file(tokenizer_reading *r)
{
    json_t *json;
    gufo_status status = reading_json(r, "chat_template.json", &json);
    const json_t *value = json_member(json, "chat_template");

    if (status == GUFO_OK && value != NULL)
        status = take_value(r, value, "chat_template.json");
    json_decref(json);
    return status;
}

gufo_status templates_write(tokenizer_reading *r)
{
    const json_t *value = json_member(r->config->tokenizer, "chat_template");
    gufo_status status;
    bool found;

    if (value != NULL)
        return take_value(r, value, "tokenizer_config.json");
    status = take_files(r, &found);
    return status == GUFO_OK && !found ? take_json_file(r) : status;
}
