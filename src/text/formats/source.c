/* Vocabularies that a model holds in the form of another program: read into a document, which a made
 * model shows. */
#include "text/formats/source.h"

#include "base/error.h"
#include "base/memory.h"
#include "gufo/schema.h"
#include "text/formats/rwkv_world.h"
#include "text/formats/tokenizer_json.h"

/* ---- the model ------------------------------------------------------------------------------ */

static bool entry_at(void *context, uint64_t index, gufo_entry *out)
{
    gufo_document_entry entry;

    if (!gufo_document_entry_at(context, index, &entry))
        return false;
    out->key = entry.key;
    out->value = entry.value;
    return true;
}

static void close_document(void *context)
{
    gufo_document_free(context);
}

static gufo_model *open_document(gufo_document *document, void (*close)(void *context),
                                 const gufo_allocator *allocator, gufo_error *error)
{
    const gufo_provider provider = {.context = document,
                                    .entry_count = gufo_document_entry_count(document),
                                    .entry_at = entry_at,
                                    .close = close};
    const gufo_open_options options = {.allocator = allocator};

    return gufo_open_provider(&provider, &options, error);
}

gufo_model *source_over_document(gufo_document *document, const gufo_allocator *allocator,
                                 gufo_error *error)
{
    return open_document(document, NULL, allocator, error);
}

gufo_model *source_of_document(gufo_document *document, const gufo_allocator *allocator,
                               gufo_error *error)
{
    return open_document(document, close_document, allocator, error);
}

/* ---- formats -------------------------------------------------------------------------------- */

static gufo_status read_json(gufo_str text, const gufo_allocator *allocator,
                             gufo_document *document, gufo_error *error)
{
    tokenizer_json_options options = {.allocator = allocator};

    return tokenizer_json_read(text, &options, document, error);
}

static gufo_status read_world(gufo_str text, const gufo_allocator *allocator,
                              gufo_document *document, gufo_error *error)
{
    return rwkv_world_document(text, 0, allocator, document, error);
}

static const struct {
    const char *key;
    gufo_status (*read)(gufo_str text, const gufo_allocator *allocator, gufo_document *document,
                        gufo_error *error);
} formats[] = {
    {"tokenizer.huggingface.json", read_json},
    {"tokenizer.rwkv.world", read_world},
};

typedef gufo_status read_format(gufo_str text, const gufo_allocator *allocator,
                                gufo_document *document, gufo_error *error);

gufo_status source_text(const gufo_model *model, const char *key, gufo_str *text, gufo_error *error)
{
    gufo_entry entry;

    return gufo_metadata_find(model, key, &entry)
               ? gufo_value_str(&entry.value, text, error)
               : refuse(error, GUFO_E_NOT_FOUND, "the model has no vocabulary (%s)", key);
}

/* What a text says, as a model. */
static gufo_status read_text(gufo_str text, read_format *read, const gufo_allocator *allocator,
                             gufo_model **made, gufo_error *error)
{
    gufo_document_options options = {.allocator = mem_allocator(allocator)};
    gufo_error reason = {.code = GUFO_OK};
    gufo_document *document = gufo_document_new(&options, error);
    gufo_status status;

    if (document == NULL)
        return fail_memory(error);
    status = read(text, options.allocator, document, error);
    if (status != GUFO_OK) {
        gufo_document_free(document);
        return status;
    }
    *made = source_of_document(document, options.allocator, &reason);
    return *made != NULL ? GUFO_OK : fail_as(error, &reason);
}

gufo_status source_world(const gufo_model *model, const gufo_allocator *allocator,
                         gufo_model **made, gufo_error *error)
{
    gufo_str text;
    gufo_status status = source_text(model, "tokenizer.rwkv.world", &text, error);

    return status == GUFO_OK ? read_text(text, read_world, allocator, made, error) : status;
}

gufo_status vocab_source(const gufo_model *model, const gufo_allocator *allocator,
                         gufo_model **made, gufo_error *error)
{
    gufo_str text;
    gufo_status status;
    size_t i = 0;

    *made = NULL;
    if (gufo_key_entry(model, "tokenizer.ggml.tokens", NULL))
        return GUFO_OK;
    while (i < sizeof formats / sizeof *formats && !gufo_metadata_find(model, formats[i].key, NULL))
        i++;
    if (i == sizeof formats / sizeof *formats)
        return GUFO_OK;
    status = source_text(model, formats[i].key, &text, error);
    return status == GUFO_OK ? read_text(text, formats[i].read, allocator, made, error) : status;
}
