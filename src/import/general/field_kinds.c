/* Texts, numbers and lists of general.*, from the first of their sources that has one: the caller's
 * metadata, the model card or generation_config.json, ids, what is known. */
#include "base/buffer.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/general/sources.h"
#include "schema/syntax/syntax.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ==== looking values up in the caller's metadata and the card ================================== */

/* The value of a key in the caller's metadata.  *decided: the key is there, so that other sources do
 * not count; null says that the model has no such key. */
static const json_t *sources_metadata(const general_sources *s, const char *key, bool *decided)
{
    const json_t *value = json_object_get(s->metadata, key);

    *decided = value != NULL || json_object_get(s->decided, key) != NULL;
    return json_is_null(value) ? NULL : value;
}

static const json_t *member(const json_t *object, gufo_str name)
{
    return json_object_getn(object, name.data, name.len);
}

const json_t *sources_card(const general_sources *s, const char *fields, bool set, gufo_str *name)
{
    while (fields != NULL && *fields != '\0') {
        gufo_str field = str_piece(&fields, ' ');
        const json_t *value = member(s->card, field);

        if (name != NULL)
            *name = field;
        if (value != NULL && !(set && (json_is_null(value) ||
                                       (json_is_string(value) && json_string_length(value) == 0))))
            return value;
    }
    if (name != NULL)
        *name = (gufo_str){0};
    return NULL;
}

/* ==== parents ================================================================================== */

/* Models that a model was made of, and data sets that it was trained on, as numbered groups of keys:
 *
 *     base_model: example-org/Tiny-Base-v0
 *
 *     general.base_model.count            1
 *     general.base_model.0.name           Tiny Base v0
 *     general.base_model.0.version        v0
 *     general.base_model.0.organization   Example Org
 *     general.base_model.0.repo_url       https://huggingface.co/example-org/Tiny-Base-v0 */

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

static gufo_status write_parent_text(const parent_list *list, gufo_str text, gufo_error *error)
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
                                                : write_parent_text(list, json_str(parent), error);

    if (status == GUFO_OK && gufo_document_entry_count(document) > entries)
        list->count++;
    return status;
}

/* Sets PREFIXcount and PREFIX0.name ... of a list of ids, addresses and mappings, or of one of these.
 * null is an empty list. */
static gufo_status parents_write(const general_sources *s, const char *prefix, const json_t *given,
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

/* The value in the caller's metadata, or that of generation_config.json. */
static const json_t *find_given(const general_sources *s, const general_field *field, bool *decided)
{
    const json_t *value = sources_metadata(s, field_metadata_name(field), decided);

    if (*decided || field->generation == NULL)
        return value;
    return json_object_get(s->generation, field->generation);
}

static gufo_status set_text(const general_sources *s, const general_field *field, gufo_str text,
                            gufo_error *error)
{
    if (text.len == 0)
        return GUFO_OK;
    return gufo_document_set_str(s->import->document, field->key, text, error);
}

/* ==== the kinds ================================================================================ */

/* ---- texts ---------------------------------------------------------------------------------- */

/* What an id says, or what is known. */
static gufo_status write_inferred(const general_sources *s, const general_field *field,
                                  gufo_error *error)
{
    const char *part = s->ids[0].part[field->part];
    char text[ID_ROOM] = "";

    if (part[0] == '\0')
        part = s->ids[1].part[field->part];
    if (field->title)
        model_id_title(gufo_str_of(part), text);
    else
        strcpy(text, part);
    if (text[0] == '\0' && field->known != NULL)
        field->known(s, text);
    return set_text(s, field, gufo_str_of(text), error);
}

static bool is_text(const json_t *value)
{
    return json_is_string(value);
}

static bool is_texts(const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!json_is_string(json_array_get(value, i)))
            return false;
    return json_is_array(value);
}

static bool is_license(const json_t *value)
{
    return is_text(value) || is_texts(value);
}

/* The text, or another value given for it; NULL if there is neither; *done: the field stays empty. */
static const json_t *find_text(general_sources *s, const general_field *field, bool *done)
{
    const json_t *value = find_given(s, field, done);
    gufo_str name = {0};

    *done = *done && value == NULL;
    if (value == NULL && !*done)
        value = sources_card(s, field->card, true, &name);
    if (name.len > 0 && !field->kind->fits(value))
        s->odd_field = name;
    return value;
}

static gufo_status write_text(general_sources *s, const general_field *field, gufo_error *error)
{
    bool done;
    const json_t *value = find_text(s, field, &done);

    if (done)
        return GUFO_OK;
    return json_is_string(value) ? set_text(s, field, json_str(value), error)
                                 : write_inferred(s, field, error);
}

/* ---- licenses ------------------------------------------------------------------------------- */

static bool append(buffer *out, gufo_str text)
{
    char *room = buffer_extend(out, text.len);

    if (room != NULL)
        memcpy(room, text.data, text.len);
    return room != NULL;
}

static bool is_license_character(char c)
{
    return is_letter(c) || is_digit(c) || c == '-' || c == '.';
}

/* A name that SPDX does not list as the reference that its expressions have for such. */
static bool append_reference(buffer *out, gufo_str name)
{
    size_t begin = out->len + strlen("LicenseRef-");

    if (!append(out, gufo_str_of("LicenseRef-")) || !append(out, name))
        return false;
    for (size_t i = begin; i < out->len; i++)
        if (!is_license_character((char)out->data[i]))
            out->data[i] = '-';
    return true;
}

/* A license, alone by the name that model cards have for it, such as llama3.1, or as a part of an
 * expression. */
static bool append_license(buffer *out, gufo_str text, bool several)
{
    syntax_verdict verdict = syntax_license(text).verdict;

    if (!several && syntax_is_hub_license(text))
        return append(out, text);
    if (verdict != SYNTAX_OK && verdict != SYNTAX_DEPRECATED)
        return append_reference(out, text);
    several = several && memchr(text.data, ' ', text.len) != NULL;
    return append(out, gufo_str_of(several ? "(" : "")) && append(out, text) &&
           append(out, gufo_str_of(several ? ")" : ""));
}

/* Spec, general.license: an SPDX expression.  All of several licenses hold.  The text of the caller's
 * metadata is his. */
static gufo_status write_license(general_sources *s, const general_field *field, gufo_error *error)
{
    buffer out = {.allocator = &s->import->allocator};
    gufo_status status = GUFO_OK;
    bool done, given;
    const json_t *value = find_text(s, field, &done);
    size_t count = json_is_array(value) ? json_array_size(value) : 1;

    (void)find_given(s, field, &given);
    if (given && json_is_string(value))
        return set_text(s, field, json_str(value), error);
    for (size_t i = 0; i < count && status == GUFO_OK && !done; i++) {
        gufo_str text = json_str(json_is_array(value) ? json_array_get(value, i) : value);

        if (text.len > 0 && (!append(&out, gufo_str_of(out.len > 0 ? " AND " : "")) ||
                             !append_license(&out, text, count > 1)))
            status = fail_memory(error);
    }
    if (status == GUFO_OK)
        status = set_text(s, field, (gufo_str){(const char *)out.data, out.len}, error);
    buffer_free(&out);
    return status;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static bool is_real(const json_t *value)
{
    return json_is_number(value) && fabs(json_number_value(value)) <= (double)FLT_MAX;
}

static bool is_whole(const json_t *value)
{
    double number = json_number_value(value);

    return json_is_number(value) && fabs(number) <= INT32_MAX && number == floor(number);
}

static gufo_status write_whole(general_sources *s, const general_field *field, gufo_error *error)
{
    bool decided;
    const json_t *value = find_given(s, field, &decided);

    return is_whole(value) ? gufo_document_set_i32(s->import->document, field->key,
                                                   (int32_t)json_number_value(value), error)
                           : GUFO_OK;
}

static gufo_status write_real(general_sources *s, const general_field *field, gufo_error *error)
{
    bool decided;
    const json_t *value = find_given(s, field, &decided);

    return is_real(value) ? gufo_document_set_f32(s->import->document, field->key,
                                                  (float)json_number_value(value), error)
                          : GUFO_OK;
}

/* ---- lists ---------------------------------------------------------------------------------- */

enum { MOST_LISTS = 2 };

/* The values that a list is made of. */
static size_t find_lists(const general_sources *s, const general_field *field,
                         const json_t *values[MOST_LISTS])
{
    const char *names = field->card;
    size_t count = 0;
    bool decided;

    values[0] = find_given(s, field, &decided);
    if (decided)
        return values[0] != NULL;
    while (*names != '\0' && count < MOST_LISTS) {
        gufo_str name = str_piece(&names, ' ');

        values[count] = json_object_getn(s->card, name.data, name.len);
        count += values[count] != NULL;
    }
    return count;
}

/* The texts that a list is made of; to be freed. */
typedef struct text_list {
    gufo_str *texts;
    uint64_t count;
    bool once; /* a text is there once; for few different ones */
    const gufo_allocator *allocator;
} text_list;

/* What becomes of a text of a list; empty: nothing. */
typedef gufo_str text_change(gufo_str text);

static bool has_text(const text_list *list, gufo_str text)
{
    for (uint64_t i = 0; i < list->count; i++)
        if (gufo_str_equal(list->texts[i], text))
            return true;
    return false;
}

static void add_text(text_list *list, gufo_str text)
{
    if (text.len > 0 && !(list->once && has_text(list, text)))
        list->texts[list->count++] = text;
}

/* Appends the texts of a list, or a text, for which there is room. */
static void add_texts(text_list *list, const json_t *value, text_change *change)
{
    if (json_is_string(value))
        add_text(list, change(json_str(value)));
    for (size_t i = 0; i < json_array_size(value); i++)
        add_text(list, change(json_str(json_array_get(value, i))));
}

/* Appends what the sources have for a field. */
static gufo_status add_lists(const general_sources *s, const general_field *field,
                             text_change *change, text_list *list, gufo_error *error)
{
    const json_t *values[MOST_LISTS];
    size_t lists = find_lists(s, field, values);
    uint64_t room = list->count + lists;
    gufo_str *texts;

    for (size_t i = 0; i < lists; i++)
        room += json_array_size(values[i]);
    texts = mem_array(list->allocator, room, sizeof *texts);
    if (texts == NULL)
        return fail_memory(error);
    if (list->count > 0)
        memcpy(texts, list->texts, (size_t)list->count * sizeof *texts);
    mem_free(list->allocator, list->texts);
    list->texts = texts;
    for (size_t i = 0; i < lists; i++)
        add_texts(list, values[i], change);
    return GUFO_OK;
}

static gufo_status write_texts(const general_sources *s, const general_field *field,
                               text_list *list, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    if (list->count > 0)
        status = gufo_document_set_array(s->import->document, field->key,
                                         &(gufo_items){GUFO_VALUE_STRING, list->count, list->texts},
                                         error);
    mem_free(list->allocator, list->texts);
    return status;
}

static gufo_str keep_text(gufo_str text)
{
    return text;
}

/* Spec, general.languages: a language has a code of two letters. */
static gufo_str keep_language(gufo_str text)
{
    return language_code(text);
}

/* What has none, such as "code" and "multilingual", is a word to search for. */
static gufo_str keep_other_language(gufo_str text)
{
    const gufo_str none = {.data = NULL};

    return language_code(text).len > 0 ? none : text;
}

static gufo_status write_languages(general_sources *s, const general_field *field,
                                   gufo_error *error)
{
    text_list list = {.once = true, .allocator = &s->import->allocator};
    gufo_status status = add_lists(s, field, keep_language, &list, error);

    return status == GUFO_OK ? write_texts(s, field, &list, error) : status;
}

static gufo_status write_tags(general_sources *s, const general_field *field, gufo_error *error)
{
    static const general_field languages = {.card = GENERAL_CARD_LANGUAGES,
                                            .metadata = "general.languages"};
    text_list list = {.allocator = &s->import->allocator};
    gufo_status status = add_lists(s, field, keep_text, &list, error);

    if (status == GUFO_OK)
        status = add_lists(s, &languages, keep_other_language, &list, error);
    if (status == GUFO_OK)
        return write_texts(s, field, &list, error);
    mem_free(list.allocator, list.texts);
    return status;
}

/* ---- parents -------------------------------------------------------------------------------- */

/* A mapping of texts. */
static bool is_parent(const json_t *value)
{
    for (void *at = json_object_iter((json_t *)value); at != NULL;
         at = json_object_iter_next((json_t *)value, at))
        if (!json_is_string(json_object_iter_value(at)) &&
            !json_is_null(json_object_iter_value(at)))
            return false;
    return json_is_object(value) || json_is_string(value);
}

static bool is_parents(const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!is_parent(json_array_get(value, i)))
            return false;
    return json_is_array(value);
}

/* A field of the card that is null is an empty list, null in the caller's metadata is none. */
static gufo_status write_parents(general_sources *s, const general_field *field, gufo_error *error)
{
    bool decided;
    const json_t *list = find_given(s, field, &decided);

    if (!decided)
        list = sources_card(s, field->card, false, NULL);
    return list == NULL ? GUFO_OK : parents_write(s, field->key, list, error);
}

const field_kind card_text = {write_text, is_text, "a text"};
const field_kind card_license = {write_license, is_license, "a text or a list of texts"};
const field_kind card_tags = {write_tags, is_texts, "a list of texts"};
const field_kind card_languages = {write_languages, is_texts, "a list of texts"};
const field_kind card_whole = {write_whole, is_whole, "a whole number of 32 bits"};
const field_kind card_real = {write_real, is_real, "a number that a float32 holds"};
const field_kind field_parents = {write_parents, is_parents,
                                  "a list of objects whose values are texts"};
