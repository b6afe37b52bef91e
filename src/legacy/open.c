/* gufo_import_legacy: an old file, from its first bytes to the model that it becomes. */
#include <string.h>

#include "base/error.h"
#include "base/files/source_folder.h"
#include "base/memory.h"
#include "legacy/plan.h"

/* ---- the plan ------------------------------------------------------------------------------- */

static gufo_status plan(gufo_import *base, gufo_job *job, gufo_error *error)
{
    const legacy_import *im = (const legacy_import *)base;
    gufo_status status = GUFO_OK;
    gufo_document_tensor tensor;
    uint32_t number;

    for (uint32_t i = 0; i < im->file.part_count && status == GUFO_OK; i++) {
        const legacy_part *part = &im->file.parts[i];
        job_input input = {.role = GUFO_FILE_INPUT,
                           .index = i,
                           .name = part->path,
                           .source = &part->source,
                           .head = part->head};

        status = job_add_input(job, &input, &number, error);
    }
    if (status == GUFO_OK)
        status = job_add_document_target(job, base->document, &number, error);
    for (uint64_t i = 0; i < im->tensor_count && status == GUFO_OK; i++) {
        (void)gufo_document_tensor_at(base->document, i, &tensor);
        status = legacy_add_piece(job, &im->tensors[i], tensor.offset, error);
    }
    return status;
}

/* ---- questions ------------------------------------------------------------------------------ */

/* What the chosen type loses. */
static legacy_loss loss_of(const legacy_tensor *t)
{
    const legacy_layout *layout = t->record_count > 0 ? first_record(t)->layout : NULL;

    if (layout == NULL || layout->block_length == 1 || t->type->id == GUFO_TYPE_F32)
        return (legacy_loss){0};
    return t->type->id == layout->today ? t->same_name : t->f16;
}

/* Nothing is lost, whatever the numbers are. */
static bool is_lossless(const legacy_tensor *t)
{
    return t->record_count == 0 || t->type->id == GUFO_TYPE_F32 ||
           (first_record(t)->layout->same_bytes && t->type->id == first_record(t)->layout->today);
}

static bool tensor_at(const gufo_import *base, uint64_t index, gufo_import_tensor *out)
{
    const legacy_import *im = (const legacy_import *)base;
    const legacy_tensor *t;
    legacy_loss loss;

    if (index >= im->tensor_count)
        return false;
    t = &im->tensors[index];
    loss = loss_of(t);
    *out = (gufo_import_tensor){.source = t->source,
                                .name = gufo_str_of(t->name),
                                .from = t->record_count > 0 ? first_record(t)->layout->name : "F32",
                                .to = t->type,
                                .measured = t->measured || is_lossless(t),
                                .exact = is_lossless(t) || (t->measured && !loss.inexact),
                                .max_abs_err = loss.max_abs_err};
    return true;
}

static const char *part_at(const gufo_import *base, uint32_t index)
{
    const legacy_import *im = (const legacy_import *)base;

    return index < im->file.part_count ? im->file.parts[index].path : NULL;
}

static void close_import(gufo_import *base)
{
    legacy_import *im = (legacy_import *)base;
    gufo_allocator allocator = base->allocator;

    legacy_file_close(&im->file);
    mem_free(&allocator, im->tensors);
    mem_free(&allocator, im->called);
    mem_free(&allocator, im);
}

static const import_kind legacy_kind = {plan, tensor_at, part_at, close_import};

/* ---- opening -------------------------------------------------------------------------------- */

/* One head of keys has the same rows in both orders of q, k and v. */
static bool is_in_doubt(const legacy_file *file, uint32_t flags)
{
    return field_of(file, FIELD_HEAD_KV) > 1 && (flags & GUFO_LEGACY_FALCON_GROUPED) == 0;
}

static void set_facts(legacy_import *im, uint32_t flags)
{
    const legacy_file *file = &im->file;

    im->base.facts.family = file->family->name;
    im->base.facts.container = file->form->container == CONTAINER_RWKV
                                   ? "GGMF"
                                   : legacy_container_name(file->form->container);
    im->base.facts.version = file->version;
    im->base.facts.generation = file->generation;
    im->base.facts.parts = file->part_count;
    im->base.facts.vocabulary = file->parts[0].vocabulary.count;
    im->base.facts.doubt = is_in_doubt(file, flags) ? file->form->doubt : NULL;
    for (uint32_t i = 0; i < file->part_count; i++)
        im->base.facts.size += file->parts[i].source.size;
}

static gufo_status open_file(legacy_import *im, const char *path,
                             const gufo_legacy_options *options, gufo_error *error)
{
    gufo_document_options document = {.allocator = &im->base.allocator};
    gufo_status status;

    im->file.allocator = &im->base.allocator;
    status = legacy_file_open(&im->file, path, options->arch, error);
    if (status == GUFO_OK)
        status = legacy_check_shapes(&im->file, &im->shapes, error);
    if (status == GUFO_OK && (options->flags & GUFO_LEGACY_MEASURE) != 0)
        status = legacy_check_copies(&im->file, error);
    if (status != GUFO_OK)
        return status;
    set_facts(im, options->flags);
    im->base.document = gufo_document_new(&document, error);
    if (im->base.document == NULL)
        return GUFO_E_MEMORY;
    status = legacy_plan_tensors(im, options, error);
    if (status == GUFO_OK)
        status = legacy_set_keys(im, options, error);
    return status == GUFO_OK ? import_open_model(&im->base, error) : status;
}

/* Whether a file begins with these four bytes. */
static bool begins_with(const char *path, const char *magic)
{
    char bytes[4];
    source s;
    bool yes = source_folder_open(&source_folder_anywhere, path, &default_allocator, &s, NULL) ==
                   GUFO_OK &&
               source_read(&s, 0, bytes, sizeof bytes, NULL) == GUFO_OK &&
               memcmp(bytes, magic, sizeof bytes) == 0;

    source_close(&s);
    return yes;
}

static gufo_status check_options(const char *path, const gufo_legacy_options *options,
                                 gufo_error *error)
{
    if (path == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the path is missing");
    if (options->keep > GUFO_LEGACY_F32)
        return refuse(error, GUFO_E_ARGUMENT,
                      "gufo_legacy_options.keep is %d, which does not exist", (int)options->keep);
    if (flags_check(options->flags, GUFO_LEGACY_MEASURE | GUFO_LEGACY_FALCON_GROUPED,
                    "gufo_legacy_options", error) != GUFO_OK)
        return GUFO_E_ARGUMENT;
    return reserved_check(options->reserved, "gufo_legacy_options", error);
}

gufo_import *gufo_import_legacy(const char *path, const gufo_legacy_options *options,
                                gufo_error *error)
{
    static const gufo_legacy_options none = {0};
    legacy_import *im;

    if (options == NULL)
        options = &none;
    if (check_options(path, options, error) != GUFO_OK)
        return NULL;
    if (begins_with(path, "GGUF"))
        return legacy_open_gguf(path, options, error);
    if (begins_with(path, "algg"))
        return legacy_open_adapter(path, options, error);
    im = mem_object(options->allocator, sizeof *im, error);
    if (im == NULL)
        return NULL;
    im->base.kind = &legacy_kind;
    if (open_file(im, path, options, error) == GUFO_OK)
        return &im->base;
    fail_in(error, GUFO_FILE_INPUT, 0, path);
    gufo_import_free(&im->base);
    return NULL;
}
