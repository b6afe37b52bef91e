/* GGUF of version 1 or 2: every key and every byte stays, the lengths in the header become those of
 * version 3, and interleaved types that were removed become those that they were made from. */
#include <inttypes.h>

#include "base/error.h"
#include "codec/interleaved.h"
#include "gufo/schema.h"
#include "legacy/plan.h"

typedef struct gguf_import {
    gufo_import base; /* whose model is the file itself */
    char *path;
} gguf_import;

/* ---- removed types -------------------------------------------------------------------------- */

static const gufo_element_type *type_now(uint32_t id)
{
    const interleaved *layout = interleaved_find(id);

    return gufo_element_type_by_id(layout != NULL ? layout->plain : id);
}

/* Blocks of a group of rows can be taken apart only where the group is whole. */
static gufo_status check_groups(const gufo_document_tensor *tensor, const interleaved *layout,
                                gufo_error *error)
{
    uint64_t count = tensor->dims[1] * tensor->dims[2] * tensor->dims[3];

    if (count % layout->rows == 0)
        return GUFO_OK;
    return refuse(error, GUFO_E_MALFORMED,
                  "tensor %s has %s rows, but its blocks (%s) are of %" PRIu32 " rows each",
                  QUOTED(tensor->name), GROUPED(count), gufo_element_type_by_id(tensor->type)->name,
                  layout->rows);
}

static gufo_status retype_all(gguf_import *im, gufo_error *error)
{
    gufo_document_tensor tensor;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0;
         status == GUFO_OK && gufo_document_tensor_at(im->base.document, i, &tensor); i++) {
        const interleaved *layout = interleaved_find(tensor.type);

        if (layout == NULL)
            continue;
        status = check_groups(&tensor, layout, error);
        if (status == GUFO_OK)
            status = gufo_document_retype_str(im->base.document, tensor.name, type_now(tensor.type),
                                              error);
    }
    return status;
}

/* Removed types had file types of their own. */
static gufo_status set_file_type(gguf_import *im, gufo_error *error)
{
    const gufo_file_type *type, *now;
    gufo_document_entry entry;

    if (!gufo_document_find(im->base.document, "general.file_type", &entry) ||
        entry.value.type != GUFO_VALUE_UINT32)
        return GUFO_OK;
    type = gufo_file_type_by_id(entry.value.as.u);
    if (type == NULL || interleaved_find(type->base_type) == NULL)
        return GUFO_OK;
    now = gufo_file_type_by_name(type_now(type->base_type)->name);
    return now == NULL
               ? GUFO_OK
               : gufo_document_set_u32(im->base.document, "general.file_type", now->id, error);
}

/* ---- questions ------------------------------------------------------------------------------ */

static gufo_status plan(gufo_import *base, gufo_job *job, gufo_error *error)
{
    const gguf_import *im = (const gguf_import *)base;
    gufo_status status = job_add_shards(job, im->base.opened, error);

    return status == GUFO_OK ? job_add_document(job, base->document, error) : status;
}

static bool tensor_at(const gufo_import *base, uint64_t index, gufo_import_tensor *out)
{
    const gguf_import *im = (const gguf_import *)base;
    const gufo_element_type *type;
    gufo_tensor tensor;

    if (!gufo_model_tensor_at(im->base.opened, index, &tensor))
        return false;
    type = gufo_element_type_by_id(tensor.type);
    *out = (gufo_import_tensor){.source = tensor.name,
                                .name = tensor.name,
                                .from = type != NULL ? type->name : "unknown",
                                .to = type_now(tensor.type),
                                .measured = true,
                                .exact = true};
    return true;
}

static const char *part_at(const gufo_import *base, uint32_t index)
{
    return index == 0 ? ((const gguf_import *)base)->path : NULL;
}

static void close_import(gufo_import *base)
{
    gguf_import *im = (gguf_import *)base;
    gufo_allocator allocator = base->allocator;

    mem_free(&allocator, im->path);
    mem_free(&allocator, im);
}

static const import_kind gguf_kind = {plan, tensor_at, part_at, close_import};

/* ---- opening -------------------------------------------------------------------------------- */

static gufo_status open_file(gguf_import *im, const char *path, const gufo_legacy_options *options,
                             gufo_error *error)
{
    gufo_open_options open_options = {.allocator = &im->base.allocator};
    gufo_document_options document = {.allocator = &im->base.allocator};
    gufo_facts facts;
    gufo_status status;
    gufo_error reason = {.code = GUFO_OK};

    im->path = mem_text(&im->base.allocator, gufo_str_of(path));
    if (im->path == NULL)
        return fail_memory(error);
    im->base.opened = gufo_model_open(path, &open_options, &reason);
    if (im->base.opened == NULL)
        return fail_as(error, &reason);
    facts = gufo_model_facts(im->base.opened);
    if (facts.version >= 3)
        return fail_with(error, GUFO_E_ARGUMENT, 4,
                         "this is a GGUF file of version 3, which needs no migration");
    im->base.facts = (gufo_import_facts){.origin = GUFO_IMPORT_GGUF,
                                         .family = "gguf",
                                         .container = "GGUF",
                                         .version = facts.version,
                                         .generation = 2,
                                         .parts = 1,
                                         .size = facts.size};
    im->base.document = gufo_document_from(im->base.opened, &document, &reason);
    if (im->base.document == NULL)
        return fail_as(error, &reason);
    if (gufo_model_shard_count(im->base.opened) > 1) /* all of them become one file */
        gufo_document_remove_shard_keys(im->base.document);
    status = gufo_document_set_encoding(im->base.document, 3, facts.byte_order, error);
    if (status == GUFO_OK)
        status = retype_all(im, error);
    if (status == GUFO_OK)
        status = set_file_type(im, error);
    if (status == GUFO_OK)
        status = import_set_entries(&im->base, options->known, error);
    return status;
}

gufo_import *legacy_open_gguf(const char *path, const gufo_legacy_options *options,
                              gufo_error *error)
{
    gguf_import *im = mem_object(options->allocator, sizeof *im, error);

    if (im == NULL)
        return NULL;
    im->base.kind = &gguf_kind;
    if (open_file(im, path, options, error) == GUFO_OK)
        return &im->base;
    fail_in(error, GUFO_FILE_INPUT, 0, path);
    gufo_import_free(&im->base);
    return NULL;
}
