/* The content of an output: the metadata of the input, in its order, except the changes of
 * quantizing and of the user; and its tensors.
 *
 *     entry of the input        in the output
 *     ------------------        -------------
 *     overridden by the user    the user's value, in its place
 *     set by quantizing         the new value, in its place
 *     split.no, .count,         nothing, if the output is one file
 *     .tensors.count
 *     an array over layers      without the elements of layers that are left out
 *     anything else             bit for bit
 *
 * New keys come last. */
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/print.h"
#include "format/document/document.h"
#include "gufo/schema.h"
#include "quant/quantizer.h"

#include <stdio.h>
#include <string.h>

/* ---- layers that are left out ---------------------------------------------------------------- */

/* Layers that are left out.
 *
 *     blk.0  blk.1  blk.2  blk.3  blk.4        without 1 and 3:
 *     blk.0         blk.1         blk.2        the others move up */
bool layer_find(gufo_str name, uint64_t *layer, size_t *at, size_t *len)
{
    static const char prefix[] = "blk.";
    const size_t prefix_len = sizeof prefix - 1;

    for (size_t i = 0; i + prefix_len < name.len; i++) {
        size_t begin = i + prefix_len, digits;

        if (memcmp(name.data + i, prefix, prefix_len) != 0)
            continue;
        digits = str_digits(name, begin);
        if (digits == 0 || begin + digits == name.len || name.data[begin + digits] != '.')
            continue;
        *at = begin;
        *len = digits;
        return str_number((gufo_str){name.data + begin, digits}, layer);
    }
    return false;
}

bool layer_is_listed(const layer_list *pruned, uint64_t layer)
{
    for (size_t i = 0; i < pruned->count; i++)
        if (pruned->layers[i] == layer)
            return true;
    return false;
}

uint64_t layer_renumbered(const layer_list *pruned, uint64_t layer)
{
    uint64_t before = 0;

    while (before < pruned->count && pruned->layers[before] < layer)
        before++;
    return layer - before;
}

/* ---- metadata ------------------------------------------------------------------------------- */

enum { MOST_SETTINGS = 8 };

typedef struct setting {
    gufo_str key;
    gufo_value value;
} setting;

/* The values that differ from the input's.  Later ones win. */
typedef struct settings {
    setting *list;
    size_t count;
} settings;

static void set_value(settings *s, const char *key, gufo_value value)
{
    s->list[s->count++] = (setting){gufo_str_of(key), value};
}

static void set_u32(settings *s, const char *key, uint64_t number)
{
    set_value(s, key, (gufo_value){.type = GUFO_VALUE_UINT32, .as.u = number});
}

/* A path may be any bytes, a string of metadata is UTF-8: one that is not goes unsaid. */
static void set_str_if_valid(settings *s, const char *key, gufo_str text)
{
    if (text.len > 0 && gufo_utf8_valid_prefix(text) == text.len)
        set_value(s, key, (gufo_value){.type = GUFO_VALUE_STRING, .as.str = text});
}

static const setting *find_setting(const settings *s, gufo_str key)
{
    for (size_t i = s->count; i-- > 0;)
        if (gufo_str_equal(s->list[i].key, key))
            return &s->list[i];
    return NULL;
}

/* ---- what quantizing sets ------------------------------------------------------------------- */

static void set_importance(settings *s, const gufo_quantize_options *options)
{
    const gufo_imatrix *imatrix = options->importance;
    uint64_t chunks = gufo_imatrix_chunk_count(imatrix);
    gufo_str dataset;

    set_str_if_valid(s, "quantize.imatrix.file",
                     gufo_str_of(options->importance_name != NULL ? options->importance_name
                                                                  : options->importance_path));
    if (gufo_imatrix_dataset_at(imatrix, 0, &dataset))
        set_str_if_valid(s, "quantize.imatrix.dataset", dataset);
    set_u32(s, "quantize.imatrix.entries_count", gufo_imatrix_entry_count(imatrix));
    if (chunks > 0)
        set_u32(s, "quantize.imatrix.chunks_count", chunks);
}

/* The number of layers, under the name that the model has for it; false if it has none. */
static bool find_block_count(const gufo_model *file, gufo_str *key, uint64_t *layers)
{
    gufo_entry entry;

    if (!gufo_model_key_entry(file, "{arch}.block_count", &entry))
        return false;
    *key = entry.key;
    return gufo_value_u64(&entry.value, layers, NULL) == GUFO_OK;
}

/* The number of layers that is left. */
static void set_block_count(settings *s, const gufo_model *file, const layer_list *pruned)
{
    gufo_str key;
    uint64_t layers;

    if (find_block_count(file, &key, &layers))
        s->list[s->count++] = (setting){
            key,
            {.type = GUFO_VALUE_UINT32, .as.u = layer_renumbered(pruned, layers)},
        };
}

/* The number of tensors of a set, in the type that it has. */
static void set_tensor_count(settings *s, const gufo_quantizer *q, size_t index)
{
    static const char key[] = "split.tensors.count";
    gufo_entry entry;

    if (!gufo_model_find(gufo_model_shard(q->input, index), key, &entry))
        return;
    if (entry.value.type == GUFO_VALUE_UINT64 || entry.value.type == GUFO_VALUE_UINT32 ||
        entry.value.type == GUFO_VALUE_UINT16)
        entry.value.as.u = q->tensor_count;
    else
        entry.value = (gufo_value){.type = GUFO_VALUE_INT32, .as.i = (int64_t)q->tensor_count};
    set_value(s, key, entry.value);
}

/* Readers take the types of an adapter's tensors as they are; it has no file type. */
static bool is_adapter(const gufo_model *file)
{
    gufo_str type;

    return gufo_model_get_str(file, "general.type", &type, NULL) == GUFO_OK &&
           gufo_str_equal(type, gufo_str_of("adapter"));
}

static void collect_settings(settings *s, const gufo_quantizer *q,
                             const gufo_quantize_target *target, size_t index,
                             const layer_list *pruned)
{
    const gufo_quantize_options *options = &q->options;
    bool has_types = q->tensor_count > 0; /* a vocabulary alone has none */

    if (has_types)
        set_u32(s, "general.quantization_version", GUFO_QUANTIZATION_VERSION);
    if (has_types && target->file_type != NULL && !is_adapter(q->input))
        set_u32(s, "general.file_type", target->file_type->id);
    if (options->importance != NULL)
        set_importance(s, options);
    if (pruned->count > 0)
        set_block_count(s, gufo_model_shard(q->input, 0), pruned);
    if (options->flags & GUFO_QUANTIZE_KEEP_SPLIT)
        set_tensor_count(s, q, index);
    for (size_t i = 0; i < options->override_count; i++)
        set_value(s, options->overrides[i].key, options->overrides[i].value);
}

/* ---- entries -------------------------------------------------------------------------------- */

/* What the output must not say: which shard it is if it is none, and a file type that is not its
 * own. */
static bool is_dropped(const gufo_quantizer *q, const gufo_quantize_target *target, gufo_str key)
{
    static const char *const split_keys[] = {"split.no", "split.count", "split.tensors.count"};

    if (!(q->options.flags & GUFO_QUANTIZE_KEEP_SPLIT))
        for (size_t i = 0; i < sizeof split_keys / sizeof *split_keys; i++)
            if (gufo_str_equal(key, gufo_str_of(split_keys[i])))
                return true;
    return (target->base_type != NULL || q->options.recipe.model_type != NULL) &&
           target->file_type == NULL && gufo_str_equal(key, gufo_str_of("general.file_type"));
}

/* Whether the value has one number per layer: its key begins with the architecture, its length is
 * the number of layers. */
static bool is_array_over_layers(const gufo_model *file, const gufo_entry *entry)
{
    const gufo_array *array = &entry->value.as.array;
    gufo_str architecture, key;
    uint64_t layers;

    return entry->value.type == GUFO_VALUE_ARRAY && gufo_value_type_size(array->type) > 0 &&
           find_block_count(file, &key, &layers) && array->count == layers &&
           gufo_model_get_str(file, "general.architecture", &architecture, NULL) == GUFO_OK &&
           entry->key.len > architecture.len && entry->key.data[architecture.len] == '.' &&
           memcmp(entry->key.data, architecture.data, architecture.len) == 0;
}

/* Leaves the elements of the layers that stay. */
static gufo_status prune_array(gufo_document *document, const gufo_entry *entry,
                               const layer_list *pruned, gufo_error *error)
{
    const gufo_array *array = &entry->value.as.array;
    size_t width = gufo_value_type_size(array->type);
    gufo_value view = {.type = GUFO_VALUE_ARRAY, .as.array = *array};
    uint8_t *elements = mem_alloc(&document->allocator, (size_t)array->size + 1);
    uint64_t kept = 0;
    gufo_status status;

    if (elements == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < array->count; i++)
        if (!layer_is_listed(pruned, i))
            memcpy(elements + kept++ * width, array->data + i * width, width);
    view.as.array.data = elements;
    view.as.array.count = kept;
    view.as.array.size = kept * width;
    status = document_set_by(document, entry->key, &view, CONTENT_AS_READ, error);
    mem_free(&document->allocator, elements);
    return status;
}

static gufo_status prune_arrays(gufo_document *document, const gufo_model *file, const settings *s,
                                const layer_list *pruned, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_entry entry;

    for (uint64_t i = 0; pruned->count > 0 && i < gufo_model_entry_count(file) && status == GUFO_OK;
         i++) {
        status = model_entry_at(file, i, &entry, error);
        if (status == GUFO_OK && find_setting(s, entry.key) == NULL &&
            is_array_over_layers(file, &entry))
            status = prune_array(document, &entry, pruned, error);
    }
    return status;
}

/* What cannot be written is a mistake of the caller, not of the file.  What the user sets is new:
 * it has to keep the stricter rules, which bind no key that the input has. */
static gufo_status apply_setting(gufo_document *document, const setting *from, bool is_new,
                                 gufo_error *error)
{
    gufo_status status = document_set_by(document, from->key, &from->value,
                                         is_new ? CONTENT_NEW : CONTENT_AS_READ, error);

    if (status == GUFO_OK || status == GUFO_E_MEMORY)
        return status;
    if (error != NULL)
        error->code = GUFO_E_ARGUMENT;
    return GUFO_E_ARGUMENT;
}

/* New keys come into the first output: the metadata of a model is that of its first shard. */
static gufo_status apply_settings(const gufo_quantizer *q, gufo_document *document, size_t index,
                                  const settings *s, gufo_error *error)
{
    size_t own = s->count - q->options.override_count;
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < s->count && status == GUFO_OK; i++) {
        gufo_str key = s->list[i].key;

        if (find_setting(s, key) == &s->list[i] &&
            (index == 0 || gufo_document_find_str(document, key, NULL)))
            status = apply_setting(document, &s->list[i], i >= own, error);
    }
    return status;
}

/* What is dropped, unless the user sets it. */
typedef struct dropping {
    const gufo_quantizer *q;
    const gufo_quantize_target *target;
    const settings *settings;
} dropping;

static bool drop(void *context, gufo_str key)
{
    const dropping *d = context;

    return is_dropped(d->q, d->target, key) && find_setting(d->settings, key) == NULL;
}

/* The file of the input that an output takes its entries from. */
static const gufo_model *origin_of(const gufo_quantizer *q, size_t index)
{
    return gufo_model_shard(q->input, q->shard_ids != NULL ? 0 : index);
}

static gufo_status set_metadata(const gufo_quantizer *q, size_t target, size_t index,
                                const layer_list *pruned, gufo_error *error)
{
    const gufo_model *file = origin_of(q, index);
    gufo_document *document = quant_document_of(q, target, index);
    settings s = {0};
    dropping d = {q, &q->targets[target], &s};
    gufo_status status;

    s.list = mem_array(&q->allocator, q->options.override_count + MOST_SETTINGS, sizeof *s.list);
    if (s.list == NULL)
        return fail_memory(error);
    collect_settings(&s, q, &q->targets[target], index, pruned);
    gufo_document_remove(document, drop, &d, NULL);
    status = model_fail(file, prune_arrays(document, file, &s, pruned, error), error);
    if (status == GUFO_OK && index == 0)
        status = merged_set_keys(q, document, error);
    if (status == GUFO_OK)
        status = apply_settings(q, document, index, &s, error);
    mem_free(&q->allocator, s.list);
    return status;
}

/* ---- the document --------------------------------------------------------------------------- */

/* The first tensor of an output, or behind those of outputs before it: they are in the order of outputs. */
static uint64_t first_tensor(const gufo_quantizer *q, size_t index)
{
    uint64_t low = 0, high = q->tensor_count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (q->tensors[middle].output < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static gufo_status add_tensors(const gufo_quantizer *q, size_t target, size_t index,
                               gufo_error *error)
{
    gufo_document *document = quant_document_of(q, target, index);
    gufo_status status = GUFO_OK;

    for (uint64_t i = first_tensor(q, index);
         i < q->tensor_count && q->tensors[i].output == index && status == GUFO_OK; i++) {
        const quant_tensor *t = &q->tensors[i];
        const quant_result *r = quant_result_of(q, target, i);
        const gufo_tensor input = quant_source(q, t);

        status = document_lend_tensor(document, quant_name(q, t), quant_type_id(r), input.n_dims,
                                      input.dims, r->size, error);
    }
    return status;
}

/* The header is encoded while the input is known to be as it was opened. */
static gufo_status finish_document(gufo_document *document, gufo_error *error)
{
    gufo_status status = gufo_document_layout(document, NULL, NULL, error);
    const void *header;
    size_t size;

    return status == GUFO_OK ? gufo_document_header(document, &header, &size, error) : status;
}

/* Only the first of new shards has all keys; readers look for the alignment in every one. */
static bool is_carried(const gufo_quantizer *q, size_t index, gufo_str key)
{
    return q->shard_ids == NULL || index == 0 ||
           gufo_str_equal(key, gufo_str_of(GUFO_ALIGNMENT_KEY));
}

/* All entries as they are, also room that an edit has left: this is a copy. */
static gufo_status copy_entries(const gufo_quantizer *q, gufo_document *document, size_t index,
                                gufo_error *error)
{
    const gufo_model *file = origin_of(q, index);
    gufo_status status = GUFO_OK;
    document_value value;
    gufo_entry entry;

    for (uint64_t i = 0; status == GUFO_OK && i < gufo_model_entry_count(file); i++) {
        status = model_entry_at(file, i, &entry, error);
        if (status != GUFO_OK)
            return status;
        if (!is_carried(q, index, entry.key))
            continue;
        if (gufo_document_find_str(document, entry.key, NULL))
            return fail_with(error, GUFO_E_MALFORMED, entry.offset, "key %s occurs twice",
                             QUOTED(entry.key));
        status = document_value_view(&value, file, &entry, error);
        if (status == GUFO_OK)
            status = document_put(document, entry.key, false, &value, error);
    }
    return status;
}

gufo_status settings_make_document(gufo_quantizer *q, size_t target, size_t index,
                                   const layer_list *pruned, gufo_error *error)
{
    const gufo_document_options options = {.flags = GUFO_DOCUMENT_AS_READ,
                                           .allocator = &q->allocator};
    const gufo_model *file = origin_of(q, index);
    gufo_document *document = gufo_document_new(&options, error);
    gufo_status status;

    if (document == NULL)
        return GUFO_E_MEMORY;
    q->documents[target * q->output_count + index] = document;
    status = gufo_document_set_encoding(document, 3, gufo_model_facts(file).byte_order, error);
    if (status == GUFO_OK)
        status = model_fail(file, copy_entries(q, document, index, error), error);
    if (status == GUFO_OK)
        status = set_metadata(q, target, index, pruned, error);
    if (status == GUFO_OK && q->shard_ids != NULL)
        status = gufo_document_set_shard(document, index, q->output_count, q->tensor_count,
                                         q->shard_ids[target], error);
    if (status == GUFO_OK)
        status = model_fail(file, add_tensors(q, target, index, error), error);
    return status == GUFO_OK ? finish_document(document, error) : status;
}
