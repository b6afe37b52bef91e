/* The life of a document, and how the file encodes numbers and lengths. */
#include "format/document/document.h"

#include <inttypes.h>

#include "base/error.h"

/* ---- life ----------------------------------------------------------------------------------- */

static content_rules rules_for(uint32_t flags)
{
    if (flags & GUFO_DOCUMENT_AS_GGML)
        return CONTENT_AS_GGML;
    return flags & GUFO_DOCUMENT_AS_READ ? CONTENT_AS_READ : CONTENT_NEW;
}

gufo_document *gufo_document_new(const gufo_document_options *options, gufo_error *error)
{
    static const gufo_document_options standard = {0};
    const uint32_t known = GUFO_DOCUMENT_AS_READ | GUFO_DOCUMENT_AS_GGML;
    const gufo_allocator *allocator;
    gufo_document *document;

    options = options != NULL ? options : &standard;
    if (flags_check(options->flags, known, "gufo_document_options", error) != GUFO_OK ||
        reserved_check(options->reserved, "gufo_document_options", error) != GUFO_OK)
        return NULL;
    allocator = mem_allocator(options->allocator);
    document = mem_zero(allocator, sizeof *document);
    if (document == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    document->allocator = *allocator;
    document->rules = rules_for(options->flags);
    document->encoding = (gufo_encoding){3, GUFO_LITTLE_ENDIAN};
    document->models.size = sizeof(const gufo_model *);
    document->shapes.list.size = GUFO_MAX_DIMS * sizeof(uint64_t);
    named_list_init(&document->entries, sizeof(document_entry), "key", &document->allocator);
    named_list_init(&document->tensors, sizeof(document_tensor), "tensor", &document->allocator);
    document->entries.owner = document->tensors.owner = document;
    document->entries.drop = document_drop_entry;
    document->tensors.drop = document_drop_tensor;
    return document;
}

gufo_document *gufo_document_from(const gufo_model *model, const gufo_document_options *options,
                                  gufo_error *error)
{
    gufo_document *document = NULL;
    gufo_status status;

    if (model == NULL)
        (void)refuse(error, GUFO_E_ARGUMENT, "the model is missing");
    else
        document = gufo_document_new(options, error);
    if (document == NULL)
        return NULL;
    document->source = model;
    document->encoding.byte_order = (uint8_t)gufo_model_facts(model).byte_order;
    if (gufo_model_facts(model).version == 2)
        document->encoding.version = 2;
    status = document_note_model(document, model, error);
    if (status == GUFO_OK)
        status = document_load_entries(document, error);
    if (status == GUFO_OK)
        status = gufo_document_copy_tensors(document, model, NULL, NULL, NULL, error);
    if (status == GUFO_OK)
        return document;
    (void)model_fail(model, status, error);
    gufo_document_free(document);
    return NULL;
}

void gufo_document_free(gufo_document *document)
{
    gufo_allocator allocator;

    if (document == NULL)
        return;
    allocator = document->allocator;
    document_touch(document);
    named_list_free(&document->entries);
    named_list_free(&document->tensors);
    shapes_free(&document->shapes, &allocator);
    records_free(&document->models, &allocator);
    mem_free(&allocator, document);
}

/* ---- encoding ------------------------------------------------------------------------------- */

gufo_status gufo_document_set_encoding(gufo_document *document, uint32_t version,
                                       gufo_byte_order order, gufo_error *error)
{
    gufo_status status;

    if (version != 2 && version != 3)
        return refuse(error, GUFO_E_ARGUMENT,
                      "version %" PRIu32 " cannot be written; choose 2 or 3", version);
    if (order != GUFO_LITTLE_ENDIAN && order != GUFO_BIG_ENDIAN)
        return refuse(error, GUFO_E_ARGUMENT, "byte order %d does not exist", (int)order);
    if (version == 2 && order == GUFO_BIG_ENDIAN && document->rules == CONTENT_NEW)
        return refuse(error, GUFO_E_ARGUMENT, "version 2 has no big-endian files; choose 3");
    status = document_check_order(document, order, error);
    if (status != GUFO_OK)
        return status;
    document_touch(document);
    document->encoding = (gufo_encoding){(uint8_t)version, (uint8_t)order};
    return GUFO_OK;
}

uint32_t gufo_document_version(const gufo_document *document)
{
    return document->encoding.version;
}

gufo_byte_order gufo_document_byte_order(const gufo_document *document)
{
    return (gufo_byte_order)document->encoding.byte_order;
}
