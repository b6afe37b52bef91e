/* Vocabularies that a model holds in the form of another program: read into a document, which a made
 * model shows. */
#include "text/formats/source.h"

#include "base/error.h"
#include "base/memory.h"
#include "text/formats/rwkv_world.h"
#include "text/vocabulary/vocabulary.h"

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

    return gufo_model_open_provider(&provider, &options, error);
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

gufo_status source_text(const gufo_model *model, const char *key, gufo_str *text, gufo_error *error)
{
    gufo_entry entry;

    return gufo_model_find(model, key, &entry)
               ? gufo_value_str(&entry.value, text, error)
               : refuse(error, GUFO_E_NOT_FOUND, "the model has no vocabulary (%s)", key);
}

gufo_status source_check(const gufo_vocab_source *source, const gufo_vocab *vocab,
                         gufo_error *error)
{
    gufo_status status = reserved_check(source->reserved, "gufo_vocab_source", error);

    if (status == GUFO_OK && source->model == NULL &&
        (vocab->pipeline == NULL || source->json.len == 0))
        status = refuse(error, GUFO_E_ARGUMENT, "gufo_vocab_source: the %s is missing",
                        vocab->pipeline == NULL ? "model" : "tokenizer.json");
    return status;
}

gufo_status source_json(const gufo_vocab_source *source, gufo_str *text, gufo_error *error)
{
    if (source->model != NULL)
        return source_text(source->model, "tokenizer.huggingface.json", text, error);
    *text = source->json;
    return GUFO_OK;
}

gufo_status source_world(const gufo_model *model, const gufo_allocator *allocator,
                         gufo_model **made, gufo_error *error)
{
    gufo_document_options options = {.allocator = mem_allocator(allocator)};
    gufo_error reason = {.code = GUFO_OK};
    gufo_document *document;
    gufo_str text;
    gufo_status status = source_text(model, "tokenizer.rwkv.world", &text, error);

    if (status != GUFO_OK)
        return status;
    document = gufo_document_new(&options, error);
    if (document == NULL)
        return fail_memory(error);
    status = rwkv_world_document(text, 0, options.allocator, document, error);
    if (status != GUFO_OK) {
        gufo_document_free(document);
        return status;
    }
    *made = source_of_document(document, options.allocator, &reason);
    return *made != NULL ? GUFO_OK : fail_as(error, &reason);
}
