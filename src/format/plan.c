/* The plan of a file: what will be in it.
 *
 * Entries are encoded as they are added; a failed addition takes back what it encoded.  New content
 * has to satisfy the specification; with GUFO_WRITER_AS_READ only what gufo_open asks for, so that
 * any file that can be opened can be written again. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "format/content.h"
#include "format/model.h"
#include "format/value.h"
#include "format/writer.h"

static gufo_str planned_key_of(const void *owner, uint64_t index)
{
    const gufo_writer *w = owner;
    const planned_key *key = records_at(&w->keys, index);

    return (gufo_str){(const char *)w->metadata.out.data + key->at, key->len};
}

gufo_str planned_name(const gufo_writer *w, const planned_tensor *tensor)
{
    return (gufo_str){(const char *)w->tensor_names.data + tensor->name_at, tensor->name_len};
}

static gufo_str planned_name_of(const void *owner, uint64_t index)
{
    const gufo_writer *w = owner;

    return planned_name(w, writer_tensor(w, index));
}

/* ---- life ----------------------------------------------------------------------------------- */

static gufo_status check_options(const gufo_writer_options *options, gufo_error *error)
{
    if (options->version != 0 && options->version != 2 && options->version != 3)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "version %" PRIu32 " cannot be written; choose 2 or 3", options->version);
    if (options->version == 2 && options->byte_order == GUFO_BIG_ENDIAN &&
        !(options->flags & GUFO_WRITER_AS_READ))
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "version 2 has no big-endian files; choose 3");
    return GUFO_OK;
}

gufo_writer *gufo_writer_new(const gufo_writer_options *options, gufo_error *error)
{
    static const gufo_writer_options standard = {0};
    const gufo_allocator *allocator;
    gufo_writer *w;

    if (options == NULL)
        options = &standard;
    if (check_options(options, error) != GUFO_OK)
        return NULL;
    allocator = options->allocator != NULL ? options->allocator : &default_allocator;
    w = mem_zero(allocator, sizeof *w);
    if (w == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    w->allocator = *allocator;
    w->version = options->version == 0 ? 3 : options->version;
    w->as_read = (options->flags & GUFO_WRITER_AS_READ) != 0;
    w->alignment = GUFO_DEFAULT_ALIGNMENT;
    w->metadata.big = w->header.big = options->byte_order == GUFO_BIG_ENDIAN;
    w->metadata.out.allocator = w->header.out.allocator = w->tensor_names.allocator = &w->allocator;
    w->keys.size = sizeof(planned_key);
    w->tensors.size = sizeof(planned_tensor);
    w->key_index = (name_index){.name_of = planned_key_of, .owner = w};
    w->tensor_index = (name_index){.name_of = planned_name_of, .owner = w};
    w->file.fd = w->stream = -1;
    w->written.allocator = &w->allocator;
    w->written_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    return w;
}

void gufo_writer_free(gufo_writer *w)
{
    gufo_allocator allocator;

    if (w == NULL)
        return;
    allocator = w->allocator;
    output_discard(&w->file);
    ranges_free(&w->written);
    (void)pthread_mutex_destroy(&w->written_lock);
    buffer_free(&w->metadata.out);
    buffer_free(&w->header.out);
    buffer_free(&w->tensor_names);
    records_free(&w->keys, &allocator);
    records_free(&w->tensors, &allocator);
    name_index_free(&w->key_index, &allocator);
    name_index_free(&w->tensor_index, &allocator);
    mem_free(&allocator, w);
}

static gufo_status check_planning(const gufo_writer *w, gufo_error *error)
{
    if (w->laid_out)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "the layout is final; nothing can be added any more");
    return GUFO_OK;
}

/* ---- keys ----------------------------------------------------------------------------------- */

static content_rules rules_of(const gufo_writer *w)
{
    return w->as_read ? CONTENT_AS_READ : CONTENT_NEW;
}

/* An entry that is being added, and what to go back to if that fails. */
typedef struct new_entry {
    size_t metadata_len; /* before it */
    gufo_str key;
} new_entry;

/* Encodes key and type of a new entry. */
static gufo_status begin_entry(gufo_writer *w, gufo_str key, gufo_value_type type, new_entry *entry,
                               gufo_error *error)
{
    gufo_status status = check_planning(w, error);

    entry->metadata_len = w->metadata.out.len;
    entry->key = key;
    if (status == GUFO_OK)
        status = content_check_key(key, rules_of(w), error);
    if (status == GUFO_OK &&
        !(encode_string(&w->metadata, key) && encode_u32(&w->metadata, (uint32_t)type)))
        status = fail_memory(error);
    return status;
}

/* Registers the key of an entry whose value is encoded.  The key is found in the encoded bytes. */
static gufo_status register_key(gufo_writer *w, const new_entry *entry, gufo_error *error)
{
    char quoted[GUFO_QUOTE_SIZE];
    gufo_status status = name_index_grow(&w->key_index, w->keys.count, &w->allocator, error);
    planned_key *key;
    uint64_t first;

    if (status != GUFO_OK)
        return status;
    if (w->keys.count >= GUFO_MAX_COUNT)
        return rule_failure(error, RULE_COUNT_LIMIT, "too many metadata entries");
    key = records_add(&w->keys, &w->allocator);
    if (key == NULL)
        return fail_memory(error);
    *key = (planned_key){entry->metadata_len + 8, entry->key.len};
    if (name_index_add(&w->key_index, w->keys.count - 1, &first))
        return GUFO_OK;
    w->keys.count--;
    return rule_failure(error, RULE_KEY_DUPLICATE, "key %s was added before",
                        quote_name(quoted, entry->key));
}

/* Completes an entry, or takes back what was encoded of it. */
static gufo_status end_entry(gufo_writer *w, const new_entry *entry, gufo_status status,
                             gufo_error *error)
{
    if (status == GUFO_OK)
        status = register_key(w, entry, error);
    if (status != GUFO_OK && !w->laid_out)
        w->metadata.out.len = entry->metadata_len;
    return status;
}

/* ---- values --------------------------------------------------------------------------------- */

static bool is_alignment_key(gufo_str key)
{
    return gufo_str_equal(key, gufo_str_of(GUFO_ALIGNMENT_KEY));
}

static gufo_status encode_value(gufo_writer *w, const gufo_value *value, gufo_error *error)
{
    bool done;

    if (value->type == GUFO_VALUE_ARRAY)
        return encode_array(&w->metadata, &value->as.array, 1, error);
    done = value->type == GUFO_VALUE_STRING ? encode_string(&w->metadata, value->as.str)
                                            : encode_number(&w->metadata, value);
    return done ? GUFO_OK : fail_memory(error);
}

gufo_status gufo_writer_add_value(gufo_writer *w, gufo_str key, const gufo_value *value,
                                  gufo_error *error)
{
    gufo_status status;
    new_entry entry;

    if (value_form_of((uint32_t)value->type) == NULL)
        return content_check_value(key, value, rules_of(w), error);
    status = begin_entry(w, key, value->type, &entry, error);
    if (status == GUFO_OK)
        status = content_check_value(key, value, rules_of(w), error);
    if (status == GUFO_OK)
        status = encode_value(w, value, error);
    status = end_entry(w, &entry, status, error);
    if (status == GUFO_OK && is_alignment_key(key))
        w->alignment = (uint32_t)value->as.u;
    return status;
}

gufo_status gufo_writer_add_array(gufo_writer *w, const char *key, const gufo_items *items,
                                  gufo_error *error)
{
    const gufo_value value = {.type = GUFO_VALUE_ARRAY};
    gufo_str name = gufo_str_of(key);
    new_entry entry;
    gufo_status status = begin_entry(w, name, GUFO_VALUE_ARRAY, &entry, error);

    if (status == GUFO_OK)
        status = content_check_value(name, &value, rules_of(w), error);
    if (status == GUFO_OK)
        status = encode_items(&w->metadata, items, 1, error);
    return end_entry(w, &entry, status, error);
}

#define DEFINE_ADDER(name, c_type, value_type, member)                                          \
    gufo_status gufo_writer_add_##name(gufo_writer *w, const char *key, c_type v,               \
                                       gufo_error *error)                                       \
    {                                                                                           \
        return gufo_writer_add_value(w, gufo_str_of(key),                                       \
                                     &(gufo_value){.type = value_type, .as.member = v}, error); \
    }

DEFINE_ADDER(u8, uint8_t, GUFO_VALUE_UINT8, u)
DEFINE_ADDER(i8, int8_t, GUFO_VALUE_INT8, i)
DEFINE_ADDER(u16, uint16_t, GUFO_VALUE_UINT16, u)
DEFINE_ADDER(i16, int16_t, GUFO_VALUE_INT16, i)
DEFINE_ADDER(u32, uint32_t, GUFO_VALUE_UINT32, u)
DEFINE_ADDER(i32, int32_t, GUFO_VALUE_INT32, i)
DEFINE_ADDER(f32, float, GUFO_VALUE_FLOAT32, f)
DEFINE_ADDER(u64, uint64_t, GUFO_VALUE_UINT64, u)
DEFINE_ADDER(i64, int64_t, GUFO_VALUE_INT64, i)
DEFINE_ADDER(f64, double, GUFO_VALUE_FLOAT64, f)
DEFINE_ADDER(bool, bool, GUFO_VALUE_BOOL, b)
DEFINE_ADDER(str, gufo_str, GUFO_VALUE_STRING, str)

gufo_status gufo_writer_add_text(gufo_writer *w, const char *key, const char *text,
                                 gufo_error *error)
{
    return gufo_writer_add_str(w, key, gufo_str_of(text), error);
}

/* Copies a number with its bits as they are: through a double, a signalling NaN would become quiet.
 */
static gufo_status copy_number(gufo_writer *w, const gguf_file *file, const gufo_entry *entry,
                               gufo_error *error)
{
    const uint8_t *at = file->source.base + entry->value_offset;
    size_t size = gufo_value_type_size(entry->value.type);
    uint8_t bits[8];
    bool reversed = (file->encoding.byte_order == GUFO_BIG_ENDIAN) != w->metadata.big;
    new_entry added;
    gufo_status status = begin_entry(w, entry->key, entry->value.type, &added, error);

    for (size_t i = 0; i < size; i++)
        bits[i] = at[reversed ? size - 1 - i : i];
    if (status == GUFO_OK && entry->value.type == GUFO_VALUE_BOOL && bits[0] > 1)
        status = rule_failure(error, RULE_BOOL_VALUE, "a bool is %u; only 0 and 1 can be written",
                              bits[0]);
    if (status == GUFO_OK && !encode_bytes(&w->metadata, bits, size))
        status = fail_memory(error);
    return end_entry(w, &added, status, error);
}

gufo_status gufo_writer_copy_entry(gufo_writer *w, const gufo_model *model, uint64_t index,
                                   gufo_error *error)
{
    gufo_entry entry;

    if (!gufo_metadata_at(model, index, &entry))
        return fail_with(error, GUFO_E_RANGE, GUFO_NO_OFFSET, "no metadata entry %" PRIu64, index);
    if (gufo_value_type_size(entry.value.type) == 0 || is_alignment_key(entry.key) ||
        model->made != NULL)
        return gufo_writer_add_value(w, entry.key, &entry.value, error);
    return copy_number(w, model->file, &entry, error);
}

gufo_status gufo_writer_copy_metadata(gufo_writer *w, const gufo_model *model, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; status == GUFO_OK && i < gufo_metadata_count(model); i++)
        status = gufo_writer_copy_entry(w, model, i, error);
    return status;
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* Lists a tensor whose facts are checked. */
static gufo_status register_tensor(gufo_writer *w, gufo_str name, const planned_tensor *facts,
                                   gufo_error *error)
{
    char quoted[GUFO_QUOTE_SIZE];
    size_t names_len = w->tensor_names.len;
    gufo_status status = name_index_grow(&w->tensor_index, w->tensors.count, &w->allocator, error);
    planned_tensor *tensor;
    uint64_t first;
    void *kept;

    if (status != GUFO_OK)
        return status;
    if (w->tensors.count >= GUFO_MAX_COUNT)
        return rule_failure(error, RULE_COUNT_LIMIT, "too many tensors");
    tensor = records_add(&w->tensors, &w->allocator);
    if (tensor == NULL)
        return fail_memory(error);
    kept = buffer_extend(&w->tensor_names, name.len);
    if (kept == NULL) {
        w->tensors.count--;
        return fail_memory(error);
    }
    if (name.len > 0)
        memcpy(kept, name.data, name.len);
    *tensor = *facts;
    tensor->name_at = names_len;
    tensor->name_len = name.len;
    if (name_index_add(&w->tensor_index, w->tensors.count - 1, &first))
        return GUFO_OK;
    w->tensors.count--;
    w->tensor_names.len = names_len;
    return rule_failure(error, RULE_NAME_DUPLICATE, "tensor %s was added before",
                        quote_name(quoted, name));
}

gufo_status gufo_writer_add_tensor(gufo_writer *w, gufo_str name, uint32_t type, uint32_t n_dims,
                                   const uint64_t *dims, uint64_t size, gufo_error *error)
{
    planned_tensor tensor = {.type = type, .n_dims = n_dims, .size = size};
    gufo_status status = check_planning(w, error);

    if (status == GUFO_OK)
        status = content_check_name(name, rules_of(w), error);
    if (status == GUFO_OK)
        status = content_check_shape(name, type, n_dims, dims, &tensor.size, rules_of(w), error);
    if (status != GUFO_OK)
        return status;
    for (uint32_t i = 0; i < n_dims; i++)
        tensor.dims[i] = dims[i];
    return register_tensor(w, name, &tensor, error);
}

/* A lenient open shows it, but nobody can tell what its bytes are. */
static bool is_damaged(const gufo_model *model, const gufo_tensor *tensor, uint64_t index)
{
    const gufo_model *holder = model_holding(model, tensor);
    uint64_t own = index - holder->first;

    if (holder == model)
        own = index;
    return holder->file != NULL && (file_tensor(holder->file, own)->flags & TENSOR_UNUSABLE) != 0;
}

gufo_status gufo_writer_copy_tensors(gufo_writer *w, const gufo_model *model, gufo_error *error)
{
    char quoted[GUFO_QUOTE_SIZE];
    gufo_status status = GUFO_OK;
    gufo_tensor tensor;

    for (uint64_t i = 0; status == GUFO_OK && gufo_tensor_at(model, i, &tensor); i++)
        status = is_damaged(model, &tensor, i)
                     ? fail_with(error, GUFO_E_MALFORMED, tensor.info_offset,
                                 "tensor %s is damaged and cannot be copied",
                                 quote_name(quoted, tensor.name))
                     : gufo_writer_add_tensor(w, tensor.name, tensor.type, tensor.n_dims,
                                              tensor.dims, tensor.size, error);
    return status;
}
