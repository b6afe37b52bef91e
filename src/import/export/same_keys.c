/* Files are checked by converting them, in memory. */
#include "import/export/same_keys.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "gufo/schema.h"
#include "import/conversion/conversion.h"
#include "import/typed_value.h"

static bool same_number(const gufo_value *a, const gufo_value *b)
{
    if (a->type == GUFO_VALUE_FLOAT32 || a->type == GUFO_VALUE_FLOAT64)
        return isnan(a->as.f) ? isnan(b->as.f)
                              : a->as.f == b->as.f && signbit(a->as.f) == signbit(b->as.f);
    return a->type == GUFO_VALUE_BOOL ? a->as.b == b->as.b : a->as.u == b->as.u;
}

static bool same_single(const gufo_value *a, const gufo_value *b)
{
    return a->type == b->type &&
           (a->type == GUFO_VALUE_STRING ? gufo_str_equal(a->as.str, b->as.str)
                                         : same_number(a, b));
}

/* Elements that are arrays themselves, which no reader uses, are taken for different. */
bool same_key_value(const gufo_value *a, const gufo_value *b)
{
    gufo_array_iter of_a, of_b;
    gufo_value x, y;

    if (a->type != GUFO_VALUE_ARRAY || b->type != GUFO_VALUE_ARRAY)
        return a->type != GUFO_VALUE_ARRAY && b->type != GUFO_VALUE_ARRAY && same_single(a, b);
    if (a->as.array.type != b->as.array.type || a->as.array.count != b->as.array.count ||
        a->as.array.type == GUFO_VALUE_ARRAY)
        return false;
    of_a = gufo_array_start(&a->as.array);
    of_b = gufo_array_start(&b->as.array);
    while (gufo_array_next(&of_a, &x))
        if (!gufo_array_next(&of_b, &y) || !same_single(&x, &y))
            return false;
    return !of_a.changed;
}

gufo_status try_files(const export_files *files, const json_t *metadata, json_t *failed,
                      gufo_document **out, gufo_error *error)
{
    memory_file list[EXPORT_FILES + 1];
    memory_files folder = {list, files->count};
    char *text = json_dumps(metadata, JSON_COMPACT | JSON_REAL_PRECISION(9));
    gufo_status status;

    if (text == NULL)
        return fail_memory(error);
    for (uint32_t i = 0; i < files->count; i++) {
        const export_file *file = &files->list[i];

        list[i] = (memory_file){file->name, {file->bytes != NULL ? file->bytes : "", file->size}};
    }
    list[folder.count++] = (memory_file){STORED_NAME, gufo_str_of(text)};
    status = conversion_try(&folder, failed, &default_allocator, out, error);
    free(text);
    return status;
}

static bool same_key(const gufo_model *model, const gufo_document *document, const char *key)
{
    gufo_document_entry got;
    gufo_entry wanted;
    bool there = gufo_key_entry(model, key, &wanted);

    if (!gufo_document_find(document, key, &got))
        return !there;
    return there && same_key_value(&wanted.value, &got.value);
}

/* The pre-tokenizer is kept by its name. */
static json_t *with_pre(const gufo_model *model)
{
    json_t *root = json_pack("{s:i, s:{}}", "version", STORED_VERSION, "keys");
    gufo_entry entry;

    if (gufo_key_entry(model, PRE_KEY, &entry))
        (void)json_object_set_new(json_object_get(root, "keys"), PRE_KEY,
                                  typed_value_json(&entry.value));
    return root;
}

gufo_status same_vocabulary(const gufo_model *model, const export_files *files, bool *same,
                            gufo_error *error)
{
    static const char *const keys[] = {"tokenizer.ggml.model", "tokenizer.ggml.tokens",
                                       "tokenizer.ggml.scores", "tokenizer.ggml.token_type",
                                       "tokenizer.ggml.merges"};
    json_t *failed = json_object(), *metadata = with_pre(model);
    gufo_document *document = NULL;
    gufo_status status = GUFO_E_MEMORY;

    if (failed != NULL && metadata != NULL)
        status = try_files(files, metadata, failed, &document, NULL);
    *same = status == GUFO_OK;
    for (size_t i = 0; *same && i < sizeof keys / sizeof *keys; i++)
        *same = same_key(model, document, keys[i]);
    gufo_document_free(document);
    json_decref(metadata);
    json_decref(failed);
    return status == GUFO_E_MEMORY ? fail_memory(error) : GUFO_OK;
}
