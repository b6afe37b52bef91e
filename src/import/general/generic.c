/* The configuration of a model without rules, as keys:
 *
 *     {"width": 64, "block": {"kinds": ["a", "b"], "scale": null}}
 *
 *     NAME.width              64
 *     NAME.block.kinds        [a, b]
 *     NAME.json.block.scale   null
 *
 * What GGUF has no value for is a text of JSON. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/error.h"
#include "base/text.h"
#include "import/general/general.h"
#include "import/json_file.h"

/* A key for every field has the names of all objects around it. */
enum { MOST_LEVELS = 64, MOST_FIELDS = 1 << 18, LONGEST_KEY = 512 };

typedef struct generic_writer {
    gufo_import *import;
    size_t root;     /* of the key: NAME and the point behind it */
    buffer key;      /* up to the field that is being written */
    uint64_t fields; /* that were written */
    char same[64];   /* the beginning of a key that two fields become; "": none */
    gufo_error *error;
} generic_writer;

/* ---- keys ----------------------------------------------------------------------------------- */

static bool put(generic_writer *w, const char *bytes, size_t count)
{
    void *room = count > 0 ? buffer_extend(&w->key, count) : NULL;

    if (room != NULL)
        memcpy(room, bytes, count);
    return room != NULL || count == 0;
}

/* Appends the name of a field.  Characters that keys cannot have become "_", also points where they
 * would leave an empty segment. */
static bool put_field(generic_writer *w, const char *name)
{
    size_t len = strlen(name);

    if (!put(w, ".", w->key.len > w->root ? 1 : 0) || (len == 0 && !put(w, "_", 1)))
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = name[i];
        bool point = c == '.' && i > 0 && i + 1 < len && name[i - 1] != '.';
        bool fits = is_letter(c) || is_digit(c) || c == '_' || c == '-' || point;

        /* A point before an odd character is followed by its "_". */
        if (!put(w, fits ? &c : "_", 1))
            return false;
    }
    return true;
}

static gufo_str key_of(const generic_writer *w)
{
    return (gufo_str){(const char *)w->key.data, w->key.len};
}

/* Before a key is set.  Two fields may become one key, of which the later value counts. */
static gufo_status check_key(generic_writer *w)
{
    gufo_str key = key_of(w);

    if (key.len > LONGEST_KEY)
        return refuse(w->error, GUFO_E_LIMIT,
                      "config.json: a field whose key would have %s bytes: %s", GROUPED(key.len),
                      QUOTED(key));
    if (++w->fields > MOST_FIELDS)
        return refuse(w->error, GUFO_E_LIMIT, "config.json: more than %s fields",
                      GROUPED(MOST_FIELDS));
    if (w->same[0] == '\0' && gufo_document_find_str(w->import->document, key, NULL))
        (void)snprintf(w->same, sizeof w->same, "%.*s", (int)key.len, key.data);
    return GUFO_OK;
}

static gufo_status set_value(generic_writer *w, const gufo_value *value)
{
    gufo_status status = check_key(w);

    return status == GUFO_OK
               ? gufo_document_set_entry(w->import->document, key_of(w), value, w->error)
               : status;
}

static gufo_status set_items(generic_writer *w, const gufo_items *items)
{
    gufo_status status = check_key(w);
    char key[LONGEST_KEY + 1];

    if (status != GUFO_OK)
        return status;
    (void)snprintf(key, sizeof key, "%.*s", (int)w->key.len, (const char *)w->key.data);
    return gufo_document_set_array(w->import->document, key, items, w->error);
}

/* ---- values --------------------------------------------------------------------------------- */

/* The value of a scalar that GGUF has. */
static gufo_value scalar_of(const json_t *json)
{
    json_int_t whole = json_integer_value(json);
    double real = json_real_value(json);

    if (json_is_string(json))
        return (gufo_value){.type = GUFO_VALUE_STRING, .as.str = json_str(json)};
    if (json_is_boolean(json))
        return (gufo_value){.type = GUFO_VALUE_BOOL, .as.b = json_is_true(json)};
    if (json_is_real(json))
        return (gufo_value){.type = fabs(real) > (double)FLT_MAX ? GUFO_VALUE_FLOAT64
                                                                 : GUFO_VALUE_FLOAT32,
                            .as.f = real};
    if (whole >= 0 && whole <= UINT32_MAX)
        return (gufo_value){.type = GUFO_VALUE_UINT32, .as.u = (uint64_t)whole};
    return (gufo_value){.type = GUFO_VALUE_INT64, .as.i = whole};
}

/* null, and arrays of several kinds, go below NAME.json. */
static gufo_status write_json(generic_writer *w, const json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);
    buffer path = w->key;
    gufo_value value = {.type = GUFO_VALUE_STRING, .as.str = gufo_str_of(text)};
    gufo_status status;

    w->key = (buffer){.allocator = path.allocator};
    status = text != NULL && put(w, (const char *)path.data, w->root) && put(w, "json.", 5) &&
                     put(w, (const char *)path.data + w->root, path.len - w->root)
                 ? set_value(w, &value)
                 : fail_memory(w->error);
    buffer_free(&w->key);
    w->key = path;
    free(text);
    return status;
}

/* The kind of a value as arrays have it: all whole numbers are one. */
static json_type kind_of(const json_t *json)
{
    return json_is_boolean(json) ? JSON_TRUE : json_typeof(json);
}

static bool is_uniform(const json_t *array)
{
    json_type kind = kind_of(json_array_get(array, 0));

    for (size_t i = 0; i < json_array_size(array); i++)
        if (kind_of(json_array_get(array, i)) != kind)
            return false;
    return kind == JSON_STRING || kind == JSON_INTEGER || kind == JSON_REAL || kind == JSON_TRUE;
}

/* A type that holds all elements: u32 unless one of them is an i64, f32 unless one is an f64. */
static gufo_value_type element_type(const json_t *array)
{
    gufo_value_type type = scalar_of(json_array_get(array, 0)).type;

    for (size_t i = 1; i < json_array_size(array); i++) {
        gufo_value_type next = scalar_of(json_array_get(array, i)).type;

        if (next == GUFO_VALUE_INT64 || next == GUFO_VALUE_FLOAT64)
            type = next;
    }
    return type;
}

static void store_element(void *items, size_t index, gufo_value_type type, const json_t *json)
{
    gufo_value value = scalar_of(json);

    if (type == GUFO_VALUE_STRING)
        ((gufo_str *)items)[index] = value.as.str;
    else if (type == GUFO_VALUE_BOOL)
        ((bool *)items)[index] = value.as.b;
    else if (type == GUFO_VALUE_UINT32)
        ((uint32_t *)items)[index] = (uint32_t)value.as.u;
    else if (type == GUFO_VALUE_INT64)
        ((int64_t *)items)[index] = json_integer_value(json);
    else if (type == GUFO_VALUE_FLOAT32)
        ((float *)items)[index] = (float)value.as.f;
    else
        ((double *)items)[index] = value.as.f;
}

static gufo_status write_array(generic_writer *w, const json_t *array)
{
    size_t count = json_array_size(array);
    gufo_value_type type;
    gufo_status status;
    void *items;

    if (count == 0)
        return GUFO_OK;
    if (!is_uniform(array))
        return write_json(w, array);
    type = element_type(array);
    items = mem_array(&w->import->allocator, count, sizeof(gufo_str));
    if (items == NULL)
        return fail_memory(w->error);
    for (size_t i = 0; i < count; i++)
        store_element(items, i, type, json_array_get(array, i));
    status = set_items(w, &(gufo_items){type, count, items});
    mem_free(&w->import->allocator, items);
    return status;
}

static gufo_status write_fields(generic_writer *w, json_t *object, unsigned levels);

static gufo_status write_value(generic_writer *w, json_t *json, unsigned levels)
{
    gufo_value value;

    if (json_is_object(json))
        return write_fields(w, json, levels);
    if (json_is_array(json))
        return write_array(w, json);
    if (json_is_null(json))
        return write_json(w, json);
    value = scalar_of(json);
    return set_value(w, &value);
}

/* `levels`: how many objects may be inside one another from here on. */
static gufo_status write_fields(generic_writer *w, json_t *object, unsigned levels)
{
    gufo_status status = GUFO_OK;
    size_t len = w->key.len;
    const char *name;
    json_t *value;

    if (levels == 0)
        return refuse(w->error, GUFO_E_LIMIT, "config.json: more than %d nested objects",
                      MOST_LEVELS);
    json_object_foreach(object, name, value)
    {
        if (status != GUFO_OK)
            break;
        status = put_field(w, name) ? write_value(w, value, levels - 1) : fail_memory(w->error);
        w->key.len = len;
    }
    return status;
}

gufo_status general_write_generic(gufo_import *import, const model_config *config, const char *name,
                                  gufo_error *error)
{
    generic_writer w = {.import = import, .key = {.allocator = &import->allocator}, .error = error};
    gufo_status status =
        put(&w, name, strlen(name)) && put(&w, ".", 1) ? GUFO_OK : fail_memory(error);

    w.root = w.key.len;
    if (status == GUFO_OK && json_is_object(config->raw))
        status = write_fields(&w, config->raw, MOST_LEVELS);
    if (status == GUFO_OK && w.same[0] != '\0')
        status =
            import_warn(import, error,
                        "config.json: two fields become the key %s; the later one counts", w.same);
    buffer_free(&w.key);
    return status;
}
