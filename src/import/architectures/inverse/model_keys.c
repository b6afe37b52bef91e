/* Keys and tensors of a model, cut at their dots: expressions find fields of objects. */
#include "import/architectures/inverse/inverse.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "gufo/schema.h"
#include "import/typed_value.h"
#include "quant/quantizer.h"

/* Of names of tensors in blocks, and of blocks. */
enum { MOST_ELEMENTS = 1 << 16, MOST_NAMES = 256, MOST_BLOCKS = 1 << 12, MOST_PARTS = 32 };

/* ---- paths ----------------------------------------------------------------------------------- */

/* The object at a part of a path, made if it is missing; NULL without memory, or if another value is
 * there. */
static json_t *object_at(json_t *root, gufo_str part, bool *memory)
{
    json_t *inner = json_object_getn(root, part.data, part.len);

    if (inner == NULL) {
        inner = json_object();
        *memory = inner != NULL && json_object_setn_new(root, part.data, part.len, inner) == 0;
        return *memory ? inner : NULL;
    }
    return json_is_object(inner) ? inner : NULL;
}

/* Objects inside one another are freed by recursion, and no table has a path of so many parts. */
static bool is_too_deep(gufo_str path)
{
    size_t dots = 0;

    for (size_t i = 0; i < path.len; i++)
        dots += path.data[i] == '.';
    return dots >= MOST_PARTS;
}

bool set_at_path(json_t *root, gufo_str path, json_t *value)
{
    bool memory = value != NULL;
    const char *dot;

    if (is_too_deep(path))
        root = NULL;
    while (memory && root != NULL && (dot = memchr(path.data, '.', path.len)) != NULL) {
        gufo_str part = {path.data, (size_t)(dot - path.data)};

        root = object_at(root, part, &memory);
        path = str_from(path, part.len + 1);
    }
    /* What is an object already stays one. */
    if (!memory || root == NULL || json_is_object(json_object_getn(root, path.data, path.len))) {
        json_decref(value);
        return memory;
    }
    return json_object_setn_new(root, path.data, path.len, value) == 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* JSON has no infinite numbers: the largest is written instead, as conversion does. */
static json_t *real_value(double number, bool is_float)
{
    if (isinf(number))
        return json_real(copysign(DBL_MAX, number));
    return isfinite(number) ? json_real(is_float ? shortest_real((float)number) : number) : NULL;
}

static json_t *array_value(const gufo_array *array)
{
    gufo_array_iter iter = gufo_array_start(array);
    json_t *list = array->count <= MOST_ELEMENTS ? json_array() : NULL;
    gufo_value element;

    while (list != NULL && gufo_array_next(&iter, &element))
        if (element.type == GUFO_VALUE_ARRAY ||
            json_array_append_new(list, model_key_value(&element)) != 0) {
            json_decref(list);
            list = NULL;
        }
    return list;
}

json_t *model_key_value(const gufo_value *value)
{
    int64_t integer;
    double real;

    if (value->type == GUFO_VALUE_BOOL)
        return json_boolean(value->as.b);
    if (value->type == GUFO_VALUE_STRING)
        return json_stringn(value->as.str.data, value->as.str.len);
    if (value->type == GUFO_VALUE_ARRAY)
        return array_value(&value->as.array);
    if (gufo_value_i64(value, &integer, NULL) == GUFO_OK)
        return json_integer(integer);
    if (gufo_value_f64(value, &real, NULL) == GUFO_OK)
        return real_value(real, value->type == GUFO_VALUE_FLOAT32);
    return NULL;
}

/* ---- keys ------------------------------------------------------------------------------------ */

gufo_str model_text(const gufo_model *model, const char *key)
{
    gufo_str text = {"", 0};

    (void)gufo_model_key_str(model, key, &text, NULL);
    return text;
}

/* Takes the architecture off the front of a key; false if it is not there. */
static bool strip_architecture(gufo_str *key, gufo_str architecture)
{
    bool own = key->len > architecture.len && key->data[architecture.len] == '.' &&
               memcmp(key->data, architecture.data, architecture.len) == 0;

    if (own)
        *key = str_from(*key, architecture.len + 1);
    return own;
}

/* The path of a key of a file, or of the registry. */
static gufo_str path_of(gufo_str key, gufo_str architecture)
{
    if (!strip_architecture(&key, gufo_str_of("{arch}")))
        (void)strip_architecture(&key, architecture);
    return key;
}

/* The path of an entry is that of the key of today, which has the value that counts. */
static gufo_str path_of_entry(const gufo_model *model, gufo_str architecture, gufo_entry *entry)
{
    const gufo_key_info *info = gufo_key_today_str(entry->key, architecture);
    gufo_entry found;

    if (info == NULL || !gufo_model_key_entry(model, info->key, &found))
        return path_of(entry->key, architecture);
    *entry = found;
    return path_of(gufo_str_of(info->key), architecture);
}

/* What readers take where a key is missing. */
static bool add_fallbacks(json_t *root, const gufo_model *model, gufo_str architecture)
{
    json_t *fallbacks = json_object();
    bool memory = fallbacks != NULL;
    const gufo_key_info *info;
    gufo_value value;

    for (size_t i = 0; memory && (info = gufo_key_at(i)) != NULL; i++) {
        json_t *json = NULL;

        if (info->fallback[0] != '\0' && !gufo_model_key_entry(model, info->key, NULL) &&
            gufo_model_key_value(model, info->key, &value))
            json = model_key_value(&value);
        if (json != NULL)
            memory = set_at_path(fallbacks, path_of(gufo_str_of(info->key), architecture), json);
    }
    return json_object_set_new(root, "fallback", fallbacks) == 0 && memory;
}

static bool add_keys(json_t *root, const gufo_model *model, gufo_str architecture)
{
    gufo_entry entry;
    gufo_array tokens;

    for (uint64_t i = 0; gufo_model_entry_at(model, i, &entry); i++) {
        gufo_str path = path_of_entry(model, architecture, &entry);
        json_t *value = model_key_value(&entry.value);

        if (value != NULL && !set_at_path(root, path, value))
            return false;
    }
    if (gufo_model_key_array(model, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, &tokens, NULL) ==
        GUFO_OK)
        return json_object_set_new(root, "tokens", json_integer((json_int_t)tokens.count)) == 0;
    return true;
}

/* ---- tensors --------------------------------------------------------------------------------- */

static json_t *dims_of(const gufo_tensor *t)
{
    json_t *dims = json_array();

    for (uint32_t d = 0; dims != NULL && d < t->n_dims; d++)
        if (json_array_append_new(dims, json_integer((json_int_t)t->dims[d])) != 0) {
            json_decref(dims);
            dims = NULL;
        }
    return dims;
}

/* The list of a name, which is made if it is missing; NULL: there are too many, or no memory. */
static json_t *list_at(json_t *root, gufo_str name)
{
    json_t *list = json_object_getn(root, name.data, name.len);

    if (list != NULL || json_object_size(root) >= MOST_NAMES)
        return list;
    list = json_array();
    return list != NULL && json_object_setn_new(root, name.data, name.len, list) == 0 ? list : NULL;
}

/* Notes that a block has the tensor of this name. */
static bool note_block(json_t *blocks, gufo_str name, uint64_t block)
{
    json_t *list = list_at(blocks, name);

    if (list == NULL)
        return json_object_size(blocks) >= MOST_NAMES;
    while (json_array_size(list) <= block)
        if (json_array_append_new(list, json_false()) != 0)
            return false;
    return json_array_set_new(list, (size_t)block, json_true()) == 0;
}

static bool add_tensor(json_t *tensors, json_t *blocks, const gufo_tensor *t)
{
    uint64_t block;
    size_t at, len;

    if (!set_at_path(tensors, t->name, dims_of(t)))
        return false;
    if (!layer_find(t->name, &block, &at, &len) || block >= MOST_BLOCKS ||
        at + len + 1 >= t->name.len)
        return true;
    return note_block(blocks, str_from(t->name, at + len + 1), block);
}

/* in_blocks.NAME: lists of equal length.  Names with dots become paths. */
static bool add_blocks(json_t *root, json_t *blocks, uint64_t count)
{
    json_t *all = json_object(), *list;
    const char *name;
    bool memory = all != NULL;

    json_object_foreach(blocks, name, list)
    {
        while (memory && json_array_size(list) < count)
            memory = json_array_append_new(list, json_false()) == 0;
        memory = memory && set_at_path(all, gufo_str_of(name), json_incref(list));
    }
    return json_object_set_new(root, "in_blocks", all) == 0 && memory;
}

static bool add_tensors(json_t *root, const gufo_model *model)
{
    json_t *tensors = json_object(), *blocks = json_object(), *list;
    bool memory = tensors != NULL && blocks != NULL;
    uint64_t count = 0;
    gufo_tensor t;
    const char *name;

    for (uint64_t i = 0; memory && gufo_model_tensor_at(model, i, &t); i++)
        memory = add_tensor(tensors, blocks, &t);
    json_object_foreach(blocks, name, list)
    {
        if (json_array_size(list) > count)
            count = json_array_size(list);
    }
    memory = memory && add_blocks(root, blocks, count);
    json_decref(blocks);
    return json_object_set_new(root, "tensors", tensors) == 0 && memory;
}

json_t *model_keys(const gufo_model *model, gufo_str architecture)
{
    json_t *root = json_object();

    if (root != NULL && add_keys(root, model, architecture) &&
        add_fallbacks(root, model, architecture) && add_tensors(root, model))
        return root;
    json_decref(root);
    return NULL;
}
