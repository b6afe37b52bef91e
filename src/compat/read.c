/* From an open file to a context, by the rules of ggml's reader or those of the specification.
 *
 * What gufo_model_open lets through with COMPAT_OPEN_FLAGS is more than ggml takes in some places (older
 * versions, the other byte order, arrays inside arrays, names of 64 bytes, gaps between tensors):
 * the rest of ggml's rules is here.  Which element types there are, and how large their blocks are,
 * is asked of the ggml that the program is linked with. */
#include "compat/context.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"

typedef compat_reader reader;

/* ---- metadata ------------------------------------------------------------------------------- */

static bool out_of_memory(const reader *r)
{
    (void)fail_memory(r->error);
    return false;
}

static bool as_specified(const reader *r)
{
    return r->rules == COMPAT_AS_SPECIFIED;
}

static bool check_encoding(const reader *r)
{
    uint32_t version = r->facts.version;

    if (as_specified(r))
        return true;
    if (version < 2)
        return fail_with(r->error, GUFO_E_VERSION, 4, "version 1 is not supported by this API") ==
               GUFO_OK;
    if (compat_swapped(r))
        return fail_with(r->error, GUFO_E_VERSION, 4,
                         "the file is %s-endian, unlike this machine; this API does not swap",
                         r->facts.byte_order == GUFO_BIG_ENDIAN ? "big" : "little") == GUFO_OK;
    return true;
}

/* Texts and terminators take no more than texts and lengths did. */
static bool read_strings(const reader *r, const gufo_entry *from, entry *to)
{
    gufo_array_iter iter = gufo_array_start(&from->value.as.array);
    gufo_value element;
    size_t index = 0;

    if (!to->is_array) {
        compat_entry_add_text(to, 0, from->value.as.str);
        return true;
    }
    for (; gufo_array_next(&iter, &element); index++)
        compat_entry_add_text(to, index, element.as.str);
    if (iter.changed || index < to->count)
        return fail_with(r->error, GUFO_E_CHANGED, from->offset,
                         "the file was changed while it was read") == GUFO_OK;
    return true;
}

/* The bytes of one value: through a double, a signalling NaN would become quiet. */
static bool read_numbers(const reader *r, const gufo_entry *from, entry *to)
{
    size_t size = compat_entry_size(to);

    if (to->is_array)
        return gufo_array_read(&from->value.as.array, 0, to->count, to->values, r->error) ==
               GUFO_OK;
    if (gufo_model_read_raw(r->file, from->value_offset, to->values, size, r->error) != GUFO_OK)
        return false;
    copy_numbers(to->values, to->values, 1, size, compat_swapped(r));
    return true;
}

static bool new_entry(const reader *r, const gufo_entry *from, uint64_t more, entry *to)
{
    const gufo_value *value = &from->value;
    bool is_array = value->type == GUFO_VALUE_ARRAY;
    gufo_value_type type = is_array ? value->as.array.type : value->type;
    uint64_t count = is_array ? value->as.array.count : 1;

    return (count <= SIZE_MAX &&
            compat_entry_new(to, from->key, (enum gguf_type)type, is_array, (size_t)count, more)) ||
           out_of_memory(r);
}

static bool read_arrays(const reader *r, const gufo_entry *from, entry *to)
{
    const gufo_array *array = &from->value.as.array;
    compat_extent extent;

    return compat_nested_measure(array, &extent, r->error) == GUFO_OK &&
           new_entry(r, from, extent.bytes, to) &&
           compat_nested_read(array, extent, to->values, r->error) == GUFO_OK;
}

static bool read_values(const reader *r, const gufo_entry *from, entry *to)
{
    const gufo_value *value = &from->value;
    bool is_array = value->type == GUFO_VALUE_ARRAY;
    gufo_value_type type = is_array ? value->as.array.type : value->type;
    uint64_t text = is_array ? value->as.array.size : 0;

    if (type == GUFO_VALUE_ARRAY)
        return read_arrays(r, from, to);
    if (value->type == GUFO_VALUE_STRING)
        text = (uint64_t)value->as.str.len + 1;
    if (!new_entry(r, from, type == GUFO_VALUE_STRING ? text : 0, to))
        return false;
    return (type == GUFO_VALUE_STRING ? read_strings : read_numbers)(r, from, to);
}

static bool read_entry(const reader *r, const gufo_entry *from)
{
    entry e = {0};

    if (memchr(from->key.data, '\0', from->key.len) != NULL)
        return fail_with(r->error, GUFO_E_MALFORMED, from->offset, "key %s holds a NUL byte",
                         QUOTED(from->key)) == GUFO_OK;
    if (!as_specified(r) && from->value.type == GUFO_VALUE_ARRAY &&
        from->value.as.array.type == GUFO_VALUE_ARRAY)
        return fail_with(r->error, GUFO_E_TYPE, from->offset,
                         "key %s holds arrays inside an array, which this API cannot show",
                         QUOTED(from->key)) == GUFO_OK;
    if (!read_values(r, from, &e)) {
        compat_entry_free(&e);
        return false;
    }
    if (e.type == GGUF_TYPE_BOOL)
        compat_make_bools(e.values, e.count);
    return compat_entries_put(r->ctx, &e) || out_of_memory(r);
}

static bool read_entries(const reader *r)
{
    gufo_entry from;

    for (uint64_t i = 0; gufo_model_entry_at(r->file, i, &from); i++)
        if (!read_entry(r, &from))
            return false;
    r->ctx->version = r->facts.version;
    r->ctx->alignment = r->facts.alignment;
    if (!as_specified(r) && (r->ctx->alignment & (r->ctx->alignment - 1)) != 0)
        return refuse(r->error, GUFO_E_MALFORMED,
                      "general.alignment is %zu, which is not a power of two",
                      r->ctx->alignment) == GUFO_OK;
    return true;
}

/* ---- tensors -------------------------------------------------------------------------------- */

static bool tensor_failure(const reader *r, const gufo_tensor *from, const char *what)
{
    return fail_with(r->error, GUFO_E_MALFORMED, from->info_offset, "tensor %s %s",
                     QUOTED(from->name), what) == GUFO_OK;
}

/* Whether sizes that ggml computes from this shape stay within those of memory.  A dim of zero must
 * not hide that others overflow. */
static bool sizes_fit(const gufo_tensor *from, uint64_t block_bytes)
{
    uint64_t bytes = block_bytes;

    for (int i = 0; i < GGML_MAX_DIMS; i++)
        if (!checked_mul(bytes, from->dims[i] > 0 ? from->dims[i] : 1, &bytes) ||
            bytes > PTRDIFF_MAX)
            return false;
    return true;
}

/* What keeps ggml from describing this tensor; NULL if nothing does. */
static const char *missing_layout(const gufo_tensor *from)
{
    if (from->type >= GGML_TYPE_COUNT)
        return "has an element type that ggml does not know";
    return ggml_blck_size((enum ggml_type)from->type) == 0
               ? "has an element type that ggml has removed"
               : NULL;
}

static bool shape_without_layout(const reader *r, const gufo_tensor *from, tensor_info *to)
{
    if (!sizes_fit(from, 1) || from->size > PTRDIFF_MAX)
        return tensor_failure(r, from, "is too large");
    to->no_layout = true;
    to->size = from->size;
    return true;
}

static bool shape_with_layout(const reader *r, const gufo_tensor *from, struct ggml_tensor *to)
{
    if (!sizes_fit(from, ggml_type_size(to->type)))
        return tensor_failure(r, from, "is too large");
    if (from->dims[0] % (uint64_t)ggml_blck_size(to->type) != 0)
        return tensor_failure(r, from, "has rows that do not fill whole blocks");
    compat_set_strides(to);
    return true;
}

static bool shape_tensor(const reader *r, const gufo_tensor *from, tensor_info *to)
{
    const char *missing = missing_layout(from);
    size_t len = from->name.len < GGML_MAX_NAME ? from->name.len : GGML_MAX_NAME - 1;

    if (len < from->name.len && !as_specified(r))
        return tensor_failure(r, from, "has a name of more than 63 bytes");
    if (missing != NULL && !as_specified(r))
        return tensor_failure(r, from, missing);
    memcpy(to->tensor.name, from->name.data, len);
    to->tensor.type = (enum ggml_type)from->type;
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        to->tensor.ne[i] = (int64_t)from->dims[i];
    return missing != NULL ? shape_without_layout(r, from, to)
                           : shape_with_layout(r, from, &to->tensor);
}

/* ggml wants data in the order of the infos, with nothing but padding between. */
static bool place_packed(reader *r, const gufo_tensor *from, const tensor_info *info)
{
    if (info->offset != r->data_size)
        return tensor_failure(r, from, "does not begin where the tensor before it ends");
    if (!checked_add(r->data_size, compat_tensor_size(info), &r->data_size) ||
        !checked_align(r->data_size, r->ctx->alignment, &r->data_size) ||
        r->data_size > PTRDIFF_MAX)
        return tensor_failure(r, from, "is too large, with those before it");
    return true;
}

/* The specification lets it be anywhere. */
static bool place_anywhere(reader *r, const gufo_tensor *from, const tensor_info *info)
{
    uint64_t end;

    if (!checked_add(info->offset, compat_tensor_size(info), &end) || end > PTRDIFF_MAX)
        return tensor_failure(r, from, "is too far from the start of the data");
    if (end > r->data_size)
        r->data_size = end;
    return true;
}

static bool read_tensor(reader *r, const gufo_tensor *from)
{
    tensor_info info = {.offset = from->offset - r->facts.data_offset};

    if (!shape_tensor(r, from, &info) ||
        !(as_specified(r) ? place_anywhere : place_packed)(r, from, &info))
        return false;
    return compat_tensors_add(r->ctx, from->name, &info) || out_of_memory(r);
}

static bool read_tensors(reader *r)
{
    uint64_t end, padded;
    gufo_tensor from;

    for (uint64_t i = 0; gufo_model_tensor_at(r->file, i, &from); i++)
        if (!read_tensor(r, &from))
            return false;
    end = padded = r->start + r->facts.infos_end; /* inside the file */
    if (r->ctx->tensors.count > 0 &&
        (!checked_align(end, r->ctx->alignment, &padded) || padded - r->start > r->facts.size))
        return fail_with(r->error, GUFO_E_TRUNCATED, r->facts.size,
                         "the file ends before the place where tensor data begins") == GUFO_OK;
    r->ctx->data_offset = (size_t)padded;
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------ */

struct gguf_context *compat_read(const gufo_model *file, compat_rules rules, uint64_t start,
                                 struct gguf_init_params params, uint64_t *end, gufo_error *error)
{
    reader r = {.file = file,
                .rules = rules,
                .facts = gufo_model_facts(file),
                .start = start,
                .ctx = gguf_init_empty(),
                .error = error};
    bool loads = params.ctx != NULL && !params.no_alloc;

    if (r.ctx == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    r.ctx->scattered = as_specified(&r);
    if (!check_encoding(&r) || !read_entries(&r) || !read_tensors(&r) ||
        (params.ctx != NULL && !compat_load(&r, params))) {
        gguf_free(r.ctx);
        return NULL;
    }
    *end = loads ? r.ctx->data_offset + r.data_size : start + r.facts.infos_end;
    return r.ctx;
}
