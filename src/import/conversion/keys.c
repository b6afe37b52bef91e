/* The entries of the document, in the order that readers expect: what the model is, general.*, its
 * architecture, its vocabulary.  What the caller knows replaces all else. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "import/architectures/configuration/keys.h"
#include "import/conversion/conversion.h"
#include "import/general/general.h"
#include "import/json_file.h"
#include "import/tokenizers/tokenizers.h"
#include "quant/quantizer.h"
#include "text/tokenizers/pretokenizer.h"

#define TOKENIZER "tokenizer."
#define GENERAL "general."

enum { METADATA_LIMIT = 64 << 20, PRE_SIZE = 64 };

/* ---- the vocabulary ------------------------------------------------------------------------- */

/* tokenizer.ggml.pre of gguf-metadata.json; NULL: it says none. */
static const char *stored_pre(const conversion *c, char out[PRE_SIZE])
{
    gufo_document_entry entry;

    if (c->stored.entries == NULL ||
        !gufo_document_find(c->stored.entries, "tokenizer.ggml.pre", &entry) ||
        entry.value.type != GUFO_VALUE_STRING || entry.value.as.str.len >= PRE_SIZE)
        return NULL;
    memcpy(out, entry.value.as.str.data, entry.value.as.str.len);
    out[entry.value.as.str.len] = '\0';
    return pre_rules_find(gufo_str_of(out)) != NULL ? out : NULL;
}

static gufo_status read_vocabulary(void *context, const char *readers, gufo_error *error)
{
    conversion *c = context;
    char pre[PRE_SIZE];
    const tokenizer_request request = {
        .config = &c->config,
        .readers = readers,
        .pre = c->options.pre != NULL ? c->options.pre : stored_pre(c, pre),
        .compare = (c->options.flags & GUFO_CHECKPOINT_NO_CHECK) == 0,
        .keep_json = (c->options.flags & GUFO_CHECKPOINT_KEEP_TOKENIZER) != 0,
        .keep_world = (c->options.flags & GUFO_CHECKPOINT_KEEP_WORLD) != 0};

    return tokenizers_write(&c->base, &request, error);
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

/* What all phases of keys are asked for. */
static keys_request request_of(const conversion *c)
{
    return (keys_request){.config = &c->config,
                          .file_type = file_type(c),
                          .decided = stored_keys(&c->stored),
                          .values = c->stored.entries,
                          .failed = c->failed,
                          .origins = c->origins};
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

/* The vocabulary of the files, as gguf-metadata.json changes it; where that has the tokens, or says that
 * the model has none, no file is read. */
static gufo_status read_files(conversion *c, gufo_error *error)
{
    keys_request request = request_of(c);
    gufo_status status = GUFO_OK;
    bool has_value;

    request.read_vocabulary = read_vocabulary;
    request.context = c;
    if (stored_decides(&c->stored, "tokenizer.ggml.tokens", &has_value))
        status = GUFO_OK;
    else if ((c->options.flags & GUFO_CHECKPOINT_GENERIC) != 0)
        status = read_any_vocabulary(c, error);
    else
        status = keys_write(&c->base, &request, KEYS_VOCABULARY, error);
    return status == GUFO_OK ? stored_set(&c->base, &c->stored, TOKENIZER, NULL, NULL, error)
                             : status;
}

gufo_status conversion_read_vocabulary(conversion *c, uint64_t *tokens, gufo_error *error)
{
    gufo_document *document = c->base.document;
    gufo_status status;

    *tokens = 0;
    if ((c->options.flags & GUFO_CHECKPOINT_NO_VOCABULARY) != 0)
        return GUFO_OK;
    c->base.document = c->vocabulary;
    status = c->options.vocabulary != NULL
                 ? import_copy_vocabulary(c->vocabulary, c->options.vocabulary, error)
                 : read_files(c, error);
    c->base.document = document;
    *tokens = count_tokens(c->vocabulary);
    return status;
}

/* ---- all entries ---------------------------------------------------------------------------- */

/* Reads what the caller says. */
static gufo_status read_metadata(conversion *c, gufo_error *error)
{
    const char *name = c->options.metadata;
    gufo_status status = GUFO_OK;

    if (name != NULL)
        status = json_file_read(&source_folder_anywhere, name, METADATA_LIMIT, &c->bounds,
                                &c->metadata, error);
    if (status != GUFO_OK || name == NULL || c->metadata != NULL)
        return status;
    status = refuse(error, GUFO_E_IO, "the metadata file does not exist");
    fail_in(error, GUFO_FILE_INPUT, 0, name);
    return status;
}

static gufo_status set_general(conversion *c, gufo_error *error)
{
    const model_config own = {.folder = c->place.folder, .raw = c->adapter.settings};
    const general_request request = {.config = c->is_adapter ? &own : &c->config,
                                     .metadata = c->metadata,
                                     .decided = stored_keys(&c->stored),
                                     .metadata_name = c->options.metadata,
                                     .vocabulary_only =
                                         (c->options.flags & GUFO_CHECKPOINT_VOCABULARY_ONLY) != 0,
                                     .adapter = c->is_adapter,
                                     .weights = c->adapter.parameters,
                                     .base = c->adapter.base};
    gufo_status status = general_write(&c->base, &request, error);

    return status == GUFO_OK ? stored_set(&c->base, &c->stored, GENERAL, NULL, c->metadata, error)
                             : status;
}

/* The keys of the architecture. */
static gufo_status set_architecture(conversion *c, gufo_error *error)
{
    const keys_request request = request_of(c);

    return (c->options.flags & GUFO_CHECKPOINT_GENERIC) != 0
               ? general_write_generic(&c->base, &c->config, c->config.architecture, error)
               : keys_write(&c->base, &request, KEYS_PARAMETERS, error);
}

static gufo_status set_tensor_keys(conversion *c, gufo_error *error)
{
    const keys_request request = request_of(c);

    return (c->options.flags & GUFO_CHECKPOINT_GENERIC) != 0
               ? GUFO_OK
               : keys_write(&c->base, &request, KEYS_TENSORS, error);
}

static gufo_status set_version(conversion *c, gufo_error *error)
{
    return gufo_document_set_u32(c->base.document, "general.quantization_version",
                                 GUFO_QUANTIZATION_VERSION, error);
}

gufo_status conversion_set_keys(conversion *c, gufo_error *error)
{
    typedef gufo_status step(conversion * c, gufo_error * error);
    static step *const of_models[] = {read_metadata,    set_tensor_keys, set_general,
                                      set_architecture, set_version,     NULL};
    static step *const of_adapters[] = {read_metadata, set_general, conversion_set_adapter_keys,
                                        set_version, NULL};
    step *const *steps = c->is_adapter ? of_adapters : of_models;
    gufo_status status = GUFO_OK;

    for (; *steps != NULL && status == GUFO_OK; steps++)
        status = (*steps)(c, error);
    if (status == GUFO_OK)
        status = import_set_entries(&c->base, c->vocabulary, error);
    if (status == GUFO_OK)
        status = stored_set(&c->base, &c->stored, "", TOKENIZER, c->metadata, error);
    return status == GUFO_OK ? import_set_entries(&c->base, c->options.known, error) : status;
}
