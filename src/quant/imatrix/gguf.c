/* The GGUF format of importance matrices.
 *
 *     general.type          "imatrix"
 *     imatrix.datasets      strings
 *     imatrix.chunk_count   uint32
 *     imatrix.chunk_size    uint32: tokens
 *
 *     NAME.in_sum2          float32 [columns, matrices]    the sums
 *     NAME.counts           float32 [1, matrices]          the counts */
#include "quant/imatrix/imatrix.h"

#include <string.h>

#include "base/error.h"
#include "format/model/model.h"

static const char sums_suffix[] = ".in_sum2";
static const char counts_suffix[] = ".counts";

/* NAME of "NAME" followed by `suffix`. */
static bool strip(gufo_str name, const char *suffix, gufo_str *out)
{
    size_t len = strlen(suffix);

    if (name.len <= len || memcmp(name.data + name.len - len, suffix, len) != 0)
        return false;
    *out = (gufo_str){name.data, name.len - len};
    return true;
}

static bool find_with_suffix(const gufo_model *file, gufo_str name, const char *suffix,
                             gufo_tensor *out)
{
    char text[GUFO_MAX_NAME];
    size_t len = strlen(suffix);

    if (name.len + len > sizeof text)
        return false;
    memcpy(text, name.data, name.len);
    memcpy(text + name.len, suffix, len);
    return gufo_tensor_find_str(file, (gufo_str){text, name.len + len}, out);
}

/* ---- tensors -------------------------------------------------------------------------------- */

static gufo_status check_pair(const gufo_tensor *sums, const gufo_tensor *counts, gufo_str name,
                              gufo_error *error)
{
    if (sums->type != GUFO_TYPE_F32 || counts->type != GUFO_TYPE_F32)
        return fail_with(error, GUFO_E_MALFORMED, sums->info_offset,
                         "sums and counts of %s are not both of type F32", QUOTED(name));
    if (sums->elements == 0 || counts->elements == 0)
        return fail_with(error, GUFO_E_MALFORMED, sums->info_offset, "%s has no %s", QUOTED(name),
                         sums->elements == 0 ? "sums" : "counts");
    if (sums->elements % counts->elements != 0)
        return fail_with(error, GUFO_E_MALFORMED, sums->info_offset,
                         "%s has %s sums, which is not a multiple of its %s counts", QUOTED(name),
                         GROUPED(sums->elements), GROUPED(counts->elements));
    return GUFO_OK;
}

static gufo_status add_pair(gufo_imatrix *m, const gufo_tensor *sums, gufo_str name,
                            gufo_error *error)
{
    gufo_tensor counts;
    imatrix_entry *entry;
    gufo_status status;

    if (!find_with_suffix(m->file, name, counts_suffix, &counts))
        return fail_with(error, GUFO_E_MALFORMED, sums->info_offset, "%s has sums but no counts",
                         QUOTED(name));
    status = check_pair(sums, &counts, name, error);
    if (status == GUFO_OK)
        status = imatrix_add(m, name, sums->info_offset, &entry, error);
    if (status != GUFO_OK)
        return status;
    entry->values = sums->elements;
    entry->matrices = counts.elements;
    entry->sums_at = sums->offset;
    entry->counts_at = counts.offset;
    return GUFO_OK;
}

static gufo_status add_tensors(gufo_imatrix *m, gufo_error *error)
{
    gufo_tensor tensor, sums;
    gufo_status status = GUFO_OK;
    gufo_str name;

    for (uint64_t i = 0; status == GUFO_OK && i < gufo_tensor_count(m->file); i++) {
        status = model_tensor_at(m->file, i, &tensor, error);
        if (status != GUFO_OK)
            return status;
        if (strip(tensor.name, sums_suffix, &name))
            status = add_pair(m, &tensor, name, error);
        else if (strip(tensor.name, counts_suffix, &name) &&
                 !find_with_suffix(m->file, name, sums_suffix, &sums))
            status = fail_with(error, GUFO_E_MALFORMED, tensor.info_offset,
                               "%s has counts but no sums", QUOTED(name));
    }
    return status;
}

/* ---- metadata ------------------------------------------------------------------------------- */

/* Keys that are absent or of another type say nothing. */
static uint32_t read_u32(const gufo_model *file, const char *key, uint32_t otherwise)
{
    uint64_t value;

    return gufo_get_u64(file, key, &value, NULL) == GUFO_OK && value <= UINT32_MAX && value > 0
               ? (uint32_t)value
               : otherwise;
}

static gufo_status add_datasets(gufo_imatrix *m, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_array array;
    gufo_value value;

    if (gufo_get_array(m->file, "imatrix.datasets", GUFO_VALUE_STRING, &array, NULL) != GUFO_OK)
        return GUFO_OK;
    gufo_array_iter iter = gufo_array_start(&array);

    while (status == GUFO_OK && gufo_array_next(&iter, &value))
        status = imatrix_add_dataset(m, value.as.str, error);
    return status;
}

gufo_status imatrix_read_gguf(gufo_imatrix *m, gufo_error *error)
{
    gufo_status status = add_tensors(m, error);

    if (status == GUFO_OK && m->entries.count == 0)
        return refuse(error, GUFO_E_MALFORMED,
                      "not an importance matrix: no tensor has a name that ends in %s",
                      sums_suffix);
    m->chunk_count = read_u32(m->file, "imatrix.chunk_count", 0);
    m->chunk_size = read_u32(m->file, "imatrix.chunk_size", m->chunk_size);
    return status == GUFO_OK ? add_datasets(m, error) : status;
}
