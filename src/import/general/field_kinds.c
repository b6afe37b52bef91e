/* Texts, numbers and lists of general.*, from the first of their sources that has one: the caller's
 * metadata, the model card or generation_config.json, ids, what is known. */
#include "import/general/field_kinds.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/general/parents.h"

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

/* Appends a text, and a comma before it if it is not the first one. */
static bool append(buffer *joined, gufo_str text)
{
    size_t comma = joined->len > 0;
    char *room = buffer_extend(joined, text.len + comma);

    if (room == NULL)
        return false;
    room[0] = ',';
    memcpy(room + comma, text.data, text.len);
    return true;
}

/* Several licenses are one text. */
static gufo_status write_joined(const general_sources *s, const general_field *field,
                                const json_t *list, gufo_error *error)
{
    buffer joined = {.allocator = &s->import->allocator};
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < json_array_size(list) && status == GUFO_OK; i++) {
        gufo_str text = json_str(json_array_get(list, i));

        if (text.len > 0 && !append(&joined, text))
            status = fail_memory(error);
    }
    if (status == GUFO_OK)
        status = set_text(s, field, (gufo_str){(const char *)joined.data, joined.len}, error);
    buffer_free(&joined);
    return status;
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

static gufo_status write_text(general_sources *s, const general_field *field, gufo_error *error)
{
    bool decided;
    const json_t *value = find_given(s, field, &decided);
    gufo_str name = {0};

    if (decided && value == NULL)
        return GUFO_OK;
    if (value == NULL)
        value = sources_card(s, field->card, true, &name);
    if (json_is_string(value))
        return set_text(s, field, json_str(value), error);
    if (json_is_array(value) && field->kind->fits == is_license)
        return write_joined(s, field, value, error);
    if (name.len > 0)
        s->odd_field = name;
    return write_inferred(s, field, error);
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

/* A number of generation_config.json that makes no sense is none. */
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

/* Appends the texts of a list, or a text, to `texts`, which has room for them. */
static uint64_t add_texts(const json_t *value, gufo_str *texts, uint64_t count)
{
    gufo_str text = json_str(value);

    if (text.len > 0)
        texts[count++] = text;
    for (size_t i = 0; i < json_array_size(value); i++) {
        text = json_str(json_array_get(value, i));
        if (text.len > 0)
            texts[count++] = text;
    }
    return count;
}

static gufo_status write_list(general_sources *s, const general_field *field, gufo_error *error)
{
    const json_t *values[MOST_LISTS];
    size_t lists = find_lists(s, field, values);
    uint64_t room = lists, count = 0;
    gufo_status status = GUFO_OK;
    gufo_str *texts;

    for (size_t i = 0; i < lists; i++)
        room += json_array_size(values[i]);
    texts = mem_array(&s->import->allocator, room, sizeof *texts);
    if (texts == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < lists; i++)
        count = add_texts(values[i], texts, count);
    if (count > 0)
        status = gufo_document_set_array(s->import->document, field->key,
                                         &(gufo_items){GUFO_VALUE_STRING, count, texts}, error);
    mem_free(&s->import->allocator, texts);
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
const field_kind card_license = {write_text, is_license, "a text or a list of texts"};
const field_kind card_list = {write_list, is_texts, "a list of texts"};
const field_kind card_whole = {write_whole, is_whole, "a whole number of 32 bits"};
const field_kind card_real = {write_real, is_real, "a number that a float32 holds"};
const field_kind field_parents = {write_parents, is_parents,
                                  "a list of objects whose values are texts"};
