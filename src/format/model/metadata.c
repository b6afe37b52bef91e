/* Metadata of a model: by number, by key, and as C types. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "format/model/model.h"

uint64_t gufo_model_entry_count(const gufo_model *model)
{
    return model->made != NULL ? model->made->provider.entry_count : model->file->entries.count;
}

bool gufo_model_entry_at(const gufo_model *model, uint64_t index, gufo_entry *out)
{
    gufo_entry unwanted;

    if (out == NULL)
        out = &unwanted;
    if (model->made != NULL)
        return made_entry_at(model->made, index, out);
    return file_entry_at(model->file, index, out);
}

gufo_status model_entry_at(const gufo_model *model, uint64_t index, gufo_entry *out,
                           gufo_error *error)
{
    if (gufo_model_entry_at(model, index, out))
        return GUFO_OK;
    return model_fail(
        model,
        refuse(error, GUFO_E_CHANGED, "the model does not give entry %" PRIu64 " any more", index),
        error);
}

bool gufo_model_find_str(const gufo_model *model, gufo_str key, gufo_entry *out)
{
    gufo_entry unwanted;

    if (out == NULL)
        out = &unwanted;
    if (model->made != NULL)
        return made_entry_find(model->made, key, out);
    return file_entry_find(model->file, key, out);
}

bool gufo_model_find(const gufo_model *model, const char *key, gufo_entry *out)
{
    return gufo_model_find_str(model, gufo_str_of(key), out);
}

/* ---- typed access --------------------------------------------------------------------------- */

static gufo_status fail_absent(gufo_str key, gufo_error *error)
{
    if (error == NULL) /* the caller only asks whether it exists */
        return GUFO_E_NOT_FOUND;
    return refuse(error, GUFO_E_NOT_FOUND, "no key %s", QUOTED(key));
}

/* The entry whose key is the architecture, then `rest`. */
static gufo_status find_below_architecture(const gufo_model *model, gufo_str rest,
                                           gufo_entry *entry, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_entry architecture;
    gufo_str key, arch;
    char *text;

    if (!gufo_model_find(model, "general.architecture", &architecture))
        return fail_absent(gufo_str_of("general.architecture"), error);
    if (gufo_value_str(&architecture.value, &arch, NULL) != GUFO_OK)
        return fail_with(error, GUFO_E_NOT_FOUND, architecture.value_offset,
                         "key \"general.architecture\" is not a string");
    text = mem_alloc(&model->allocator, arch.len + rest.len);
    if (text == NULL)
        return fail_memory(error);
    if (arch.len > 0)
        memcpy(text, arch.data, arch.len);
    memcpy(text + arch.len, rest.data, rest.len);
    key = (gufo_str){text, arch.len + rest.len};
    if (!gufo_model_find_str(model, key, entry))
        status = fail_absent(key, error);
    mem_free(&model->allocator, text);
    return status;
}

gufo_status model_find_entry(const gufo_model *model, const char *key, gufo_entry *entry,
                             gufo_error *error)
{
    static const char placeholder[] = "{arch}.";
    const size_t dot = sizeof placeholder - 2;

    if (key[0] == '{' && strncmp(key, placeholder, dot + 1) == 0)
        return model_fail(
            model, find_below_architecture(model, gufo_str_of(key + dot), entry, error), error);
    if (gufo_model_find(model, key, entry))
        return GUFO_OK;
    return model_fail(model, fail_absent(gufo_str_of(key), error), error);
}

gufo_status model_fail_value(const gufo_model *model, gufo_status status, const gufo_entry *entry,
                             gufo_error *error)
{
    gufo_error reason;

    if (status == GUFO_OK || error == NULL)
        return status;
    reason = *error;
    return model_fail(model,
                      fail_with(error, status, entry->value_offset, "key %s: %.200s",
                                QUOTED(entry->key), reason.message),
                      error);
}

MODEL_GETTER(gufo_model_get, model_find_entry, u64, uint64_t)
MODEL_GETTER(gufo_model_get, model_find_entry, i64, int64_t)
MODEL_GETTER(gufo_model_get, model_find_entry, f64, double)
MODEL_GETTER(gufo_model_get, model_find_entry, bool, bool)
MODEL_GETTER(gufo_model_get, model_find_entry, str, gufo_str)
MODEL_ARRAY_GETTER(gufo_model_get, model_find_entry)
