/* The entries of the document, in the order that readers expect: what the model is, general.*, its
 * architecture, its vocabulary.  What the caller knows replaces all else. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "import/architectures/keys.h"
#include "import/conversion/conversion.h"
#include "import/general/general.h"
#include "import/json_file.h"
#include "import/tokenizers/tokenizers.h"
#include "quant/quantizer.h"

enum { METADATA_LIMIT = 64 << 20 };

/* ---- the vocabulary ------------------------------------------------------------------------- */

static gufo_status read_vocabulary(void *context, const char *readers, gufo_error *error)
{
    conversion *c = context;
    const tokenizer_request request = {
        .config = &c->config,
        .readers = readers,
        .pre = c->options.pre,
        .keep_json = (c->options.flags & GUFO_CHECKPOINT_KEEP_TOKENIZER) != 0};

    return tokenizers_write(&c->base, &request, error);
}

static bool is_tokenizer_key(void *context, gufo_str key)
{
    static const char prefix[] = "tokenizer.";

    (void)context;
    return key.len >= sizeof prefix - 1 && memcmp(key.data, prefix, sizeof prefix - 1) == 0;
}

static uint64_t count_tokens(const gufo_document *document)
{
    gufo_document_entry entry;

    return gufo_document_find(document, "tokenizer.ggml.tokens", &entry) &&
                   entry.value.type == GUFO_VALUE_ARRAY
               ? entry.value.as.array.count
               : 0;
}

/* An unknown architecture may come without a tokenizer. */
static gufo_status read_any_vocabulary(conversion *c, gufo_error *error)
{
    gufo_error reason;
    gufo_status status = read_vocabulary(c, NULL, &reason);

    if (status != GUFO_E_NOT_FOUND && status != GUFO_OK)
        return fail_as(error, &reason);
    return status == GUFO_OK ? GUFO_OK
                             : import_warn(&c->base, error, "no tokenizer: %s", reason.message);
}

gufo_status conversion_read_vocabulary(conversion *c, uint64_t *tokens, gufo_error *error)
{
    gufo_document *document = c->base.document;
    const keys_request request = {
        .config = &c->config, .read_vocabulary = read_vocabulary, .context = c};
    gufo_status status = GUFO_OK;

    *tokens = 0;
    if ((c->options.flags & GUFO_CHECKPOINT_NO_VOCABULARY) != 0)
        return GUFO_OK;
    c->base.document = c->vocabulary;
    if (c->options.vocabulary != NULL)
        status = gufo_document_copy_entries(c->vocabulary, c->options.vocabulary, is_tokenizer_key,
                                            NULL, NULL, error);
    else if ((c->options.flags & GUFO_CHECKPOINT_GENERIC) != 0)
        status = read_any_vocabulary(c, error);
    else
        status = keys_write(&c->base, &request, KEYS_VOCABULARY, error);
    c->base.document = document;
    *tokens = count_tokens(c->vocabulary);
    return status;
}

/* ---- all entries ---------------------------------------------------------------------------- */

static gufo_status set_general(conversion *c, gufo_error *error)
{
    general_request request = {.config = &c->config,
                               .metadata_name = c->options.metadata,
                               .vocabulary_only =
                                   (c->options.flags & GUFO_CHECKPOINT_VOCABULARY_ONLY) != 0};
    gufo_status status = GUFO_OK;

    if (c->options.metadata != NULL)
        status =
            json_file_read(NULL, c->options.metadata, METADATA_LIMIT, &request.metadata, error);
    if (status == GUFO_OK && c->options.metadata != NULL && request.metadata == NULL) {
        status = refuse(error, GUFO_E_IO, "the metadata file does not exist");
        fail_in(error, GUFO_FILE_INPUT, 0, c->options.metadata);
    }
    if (status == GUFO_OK)
        status = general_write(&c->base, &request, error);
    json_decref(request.metadata);
    return status;
}

/* The blocks that hold floats of 4 bits, after which a file is called whatever else is in it, or those
 * that most numbers are in; NULL: most are plain. */
static const gufo_element_type *main_blocks(const conversion *c)
{
    static const uint32_t types[] = {GUFO_TYPE_F32, GUFO_TYPE_Q4_0, GUFO_TYPE_Q4_1, GUFO_TYPE_Q8_0};
    uint64_t numbers[sizeof types / sizeof *types] = {0};
    size_t most = 0;

    for (uint64_t i = 0; i < c->plan.count; i++) {
        const planned_tensor *t = &c->plan.tensors[i];
        size_t k = sizeof types / sizeof *types - 1;

        if (t->comes_first && t->type->block_elements > 1)
            return t->type;
        while (k > 0 && types[k] != t->type->id)
            k--;
        numbers[k] += t->dims[0] * t->dims[1] * t->dims[2] * t->dims[3];
        most = numbers[k] > numbers[most] ? k : most;
    }
    return most == 0 ? NULL : gufo_element_type_by_id(types[most]);
}

static uint32_t file_type(const conversion *c)
{
    const gufo_element_type *blocks = main_blocks(c);
    const char *name = blocks != NULL ? blocks->name : gufo_import_main_type(&c->base)->name;
    gufo_quantize_target target;

    if (blocks != NULL && blocks->id == GUFO_TYPE_MXFP4)
        return GUFO_FILE_TYPE_MXFP4_MOE;
    return gufo_quantize_target_by_name(name, false, &target) && target.file_type != NULL
               ? target.file_type->id
               : 0;
}

/* The keys of the architecture. */
static gufo_status set_architecture(conversion *c, gufo_error *error)
{
    const keys_request request = {.config = &c->config, .file_type = file_type(c)};

    return (c->options.flags & GUFO_CHECKPOINT_GENERIC) != 0
               ? general_write_generic(&c->base, &c->config, c->config.architecture, error)
               : keys_write(&c->base, &request, KEYS_PARAMETERS, error);
}

static gufo_status set_tensor_keys(conversion *c, gufo_error *error)
{
    const keys_request request = {.config = &c->config, .file_type = file_type(c)};

    return (c->options.flags & GUFO_CHECKPOINT_GENERIC) != 0
               ? GUFO_OK
               : keys_write(&c->base, &request, KEYS_TENSORS, error);
}

static gufo_status set_version(conversion *c, gufo_error *error)
{
    return gufo_document_set_u32(c->base.document, "general.quantization_version",
                                 GUFO_QUANTIZATION_VERSION, error);
}

/* The number of layers that have tensors. */
static uint64_t count_layers(const conversion *c)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < c->plan.count; i++) {
        gufo_str name = gufo_str_of(c->plan.tensors[i].name);
        uint64_t layer;
        size_t at, len;

        if (layer_find(name, &layer, &at, &len) && layer >= count)
            count = layer + 1;
    }
    return count;
}

/* Readers look for the tensors of all layers. */
static gufo_status check_layers(conversion *c, gufo_error *error)
{
    uint64_t layers = count_layers(c), said = 0;
    char key[GUFO_KEY_NAME_SIZE];
    gufo_document_entry entry;

    (void)snprintf(key, sizeof key, "%s.block_count", c->config.architecture);
    if (layers == 0 || !gufo_document_find(c->base.document, key, &entry) ||
        gufo_value_u64(&entry.value, &said, NULL) != GUFO_OK || said <= layers)
        return GUFO_OK;
    return import_warn(&c->base, error,
                       "the configuration says %" PRIu64 " layers, but only %" PRIu64
                       " have tensors",
                       said, layers);
}

gufo_status conversion_set_keys(conversion *c, gufo_error *error)
{
    static gufo_status (*const steps[])(conversion * c, gufo_error * error) = {
        set_tensor_keys, set_general, set_architecture, check_layers, set_version};
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == GUFO_OK; i++)
        status = steps[i](c, error);
    if (status == GUFO_OK)
        status = import_set_entries(&c->base, c->vocabulary, error);
    return status == GUFO_OK ? import_set_entries(&c->base, c->options.known, error) : status;
}
