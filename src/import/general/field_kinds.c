/* Texts, numbers and lists of general.*, from the first of their sources that has one: the caller's
 * metadata, the model card or generation_config.json, ids, what is known. */
#include "import/general/field_kinds.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/error.h"
#include "base/text.h"
#include "import/general/parents.h"
#include "schema/syntax/syntax.h"

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
