/* The tensors of the GGUF model: names, dimensions, types. */
#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "legacy/plan.h"

#include <stdio.h>
#include <string.h>

/* ---- types ---------------------------------------------------------------------------------- */

static const gufo_element_type *type_of(uint32_t id)
{
    return gufo_element_type_by_id(id);
}

/* F16, or F32 where a number is too large for that. */
static const gufo_element_type *plain_type(const legacy_tensor *t)
{
    return type_of(t->f16.overflows ? GUFO_TYPE_F32 : GUFO_TYPE_F16);
}

static const gufo_element_type *choose_type(const legacy_tensor *t, gufo_legacy_keep keep)
{
    const legacy_layout *layout = first_record(t)->layout;

    if (layout->block_length == 1)
        return type_of(layout->today);
    if (keep == GUFO_LEGACY_F32)
        return type_of(GUFO_TYPE_F32);
    if (keep == GUFO_LEGACY_F16 || layout->today == LEGACY_NO_ID)
        return plain_type(t);
    return type_of(t->same_name.overflows ? GUFO_TYPE_F32 : layout->today);
}

/* ---- one tensor ----------------------------------------------------------------------------- */

/* The order that has to be changed in this file. */
static legacy_order order_of(const legacy_import *im, const legacy_name *row,
                             const legacy_record *r, uint32_t flags)
{
    const legacy_file *file = &im->file;
    bool grouped =
        (file->form->flags & FORM_GROUPED) != 0 || (flags & GUFO_LEGACY_FALCON_GROUPED) != 0;

    switch (row != NULL ? row->order : ORDER_AS_IS) {
    case ORDER_FLIPPED:
        return im->shapes.flipped && r->n_dims == 2 ? ORDER_FLIPPED : ORDER_AS_IS;
    case ORDER_GROUPS: /* with one head of keys both orders are the same */
        return grouped && field_of(file, FIELD_HEAD_KV) > 1 ? ORDER_GROUPS : ORDER_AS_IS;
    default:
        return row != NULL ? row->order : ORDER_AS_IS;
    }
}

/* By the letters of the row; the numbers are as many as before. */
static gufo_status set_named_dims(const legacy_import *im, legacy_tensor *t, const legacy_record *r,
                                  gufo_error *error)
{
    uint64_t before = t->record_count, after = 1;

    for (int i = 0; i < LEGACY_MAX_DIMS; i++)
        before *= r->ne[i];
    t->n_dims = (uint32_t)strlen(t->row->dims);
    for (uint32_t i = 0; i < GUFO_MAX_DIMS; i++)
        t->dims[i] = i < t->n_dims ? im->shapes.size[(unsigned char)t->row->dims[i]] : 1;
    for (uint32_t i = 0; i < GUFO_MAX_DIMS; i++)
        if (!checked_mul(after, t->dims[i], &after))
            after = 0;
    if (after != before)
        return fail_with(error, GUFO_E_MALFORMED, r->header, "tensor %s has %s numbers, not %s",
                         QUOTED(r->name), GROUPED(before), GROUPED(after));
    /* Blocks stay in their rows; single numbers may get any. */
    if (r->layout->block_length == 1 || t->dims[0] % r->ne[0] == 0)
        return GUFO_OK;
    return fail_with(error, GUFO_E_TYPE, r->header,
                     "tensor %s is quantized in rows of %s numbers, not of %s", QUOTED(r->name),
                     GROUPED(r->ne[0]), GROUPED(t->dims[0]));
}

static gufo_status set_dims(const legacy_import *im, legacy_tensor *t, const legacy_record *r,
                            gufo_error *error)
{
    uint64_t ne[LEGACY_MAX_DIMS];

    if (t->row != NULL && t->row->dims != NULL)
        return set_named_dims(im, t, r, error);
    legacy_whole(&im->file, r, t->row, ne);
    t->n_dims = r->n_dims > 0 ? r->n_dims : 1;
    memcpy(t->dims, ne, sizeof t->dims);
    if (t->order == ORDER_FLIPPED) {
        t->dims[0] = ne[1];
        t->dims[1] = ne[0];
    }
    if (t->order == ORDER_ONE_KV) { /* rows, or the numbers of a bias: all q, one k, one v */
        uint64_t embedding = (uint64_t)field_of(&im->file, FIELD_EMBD);

        t->dims[r->n_dims - 1] =
            embedding + 2 * (embedding / (uint64_t)field_of(&im->file, FIELD_HEAD));
    }
    return GUFO_OK;
}

static gufo_status add_tensor(legacy_import *im, const legacy_tensor *t, gufo_error *error)
{
    legacy_tensor *list = mem_grow(&im->base.allocator, im->tensors, im->tensor_count,
                                   &im->tensor_room, sizeof *list);

    if (list == NULL)
        return fail_memory(error);
    im->tensors = list;
    list[im->tensor_count++] = *t;
    return GUFO_OK;
}

/* Of tensors that become one, the first one brings the others along: *skip for those. */
static gufo_status stack(const legacy_import *im, legacy_tensor *t, uint64_t layer, bool *skip,
                         gufo_error *error)
{
    const legacy_part *part = &im->file.parts[0];
    const legacy_record *r = first_record(t);

    t->record_count = 0;
    for (const legacy_name *row = im->file.family->names; row->old_name != NULL; row++) {
        char name[LEGACY_MAX_NAME];
        const legacy_record *other;

        if (row->order != ORDER_STACKED || strcmp(row->name, t->row->name) != 0)
            continue;
        legacy_name_write_old(row, layer, name, sizeof name);
        other = legacy_record_find(part, name);
        if (other == NULL || t->record_count == LEGACY_SOURCES)
            return fail_with(error, GUFO_E_MALFORMED, r->header, "tensor %s is missing beside %s",
                             name, QUOTED(r->name));
        if (other->size != r->size || other->layout != r->layout || r->layout->block_length != 1)
            return fail_with(error, GUFO_E_MALFORMED, r->header,
                             "tensor %s differs from %s, with which it is merged", name,
                             QUOTED(r->name));
        t->records[t->record_count++] = (uint32_t)(other - part->records);
    }
    *skip = first_record(t) != r;
    t->source = first_record(t)->name;
    return GUFO_OK;
}

/* The same numbers as another tensor. */
static gufo_status add_copy(legacy_import *im, const legacy_tensor *t, gufo_error *error)
{
    legacy_tensor copy = *t;

    legacy_name_write(im->file.family, t->row->also, UINT64_MAX, copy.name);
    return add_tensor(im, &copy, error);
}

static gufo_status add_record(legacy_import *im, uint32_t index, uint32_t flags, gufo_error *error)
{
    const legacy_record *r = &im->file.parts[0].records[index];
    legacy_tensor t = {.source = r->name, .file = &im->file, .records = {index}, .record_count = 1};
    uint64_t layer = UINT64_MAX;
    bool skip = false;
    gufo_status status = GUFO_OK;

    if (im->file.family->names != NULL)
        t.row = legacy_name_find(im->file.family, r->name, &layer);
    if (t.row != NULL && t.row->order == ORDER_DROP)
        return GUFO_OK;
    t.order = order_of(im, t.row, r, flags);
    if (t.order == ORDER_FLIPPED && r->layout->block_length > 1)
        return fail_with(
            error, GUFO_E_TYPE, r->header,
            "tensor %s is quantized with its dimensions swapped, which no program wrote",
            QUOTED(r->name));
    if (t.row != NULL)
        legacy_name_write_new(im->file.family, t.row, layer, t.name);
    else
        (void)snprintf(t.name, sizeof t.name, "%.*s", (int)r->name.len, r->name.data);
    if (t.row == NULL && r->name.len > GUFO_MAX_NAME)
        return fail_with(error, GUFO_E_LIMIT, r->header, "the name %s is longer than GGUF permits",
                         QUOTED(r->name));
    if (t.order == ORDER_STACKED)
        status = stack(im, &t, layer, &skip, error);
    if (status == GUFO_OK && !skip)
        status = set_dims(im, &t, r, error);
    if (status == GUFO_OK && t.row != NULL && t.row->also != NULL)
        status = add_copy(im, &t, error);
    return status == GUFO_OK && !skip ? add_tensor(im, &t, error) : status;
}

/* Whisper's filters have no record; they become a tensor. */
static gufo_status add_mels(legacy_import *im, gufo_error *error)
{
    const legacy_part *part = &im->file.parts[0];
    legacy_tensor t = {.name = "mel_filters",
                       .source = gufo_str_of("mel filters"),
                       .file = &im->file,
                       .n_dims = 2,
                       .dims = {(uint64_t)part->mel_columns, (uint64_t)part->mel_rows, 1, 1},
                       .type = type_of(GUFO_TYPE_F32)};

    return add_tensor(im, &t, error);
}

/* ---- all of them ---------------------------------------------------------------------------- */

gufo_status legacy_plan_tensors(legacy_import *im, const gufo_legacy_options *options,
                                gufo_error *error)
{
    const legacy_part *part = &im->file.parts[0];
    gufo_status status = GUFO_OK;

    if (part->record_count > UINT32_MAX)
        return refuse(error, GUFO_E_LIMIT, "more tensors than a file can have");
    for (uint64_t i = 0; i < part->record_count && status == GUFO_OK; i++)
        status = add_record(im, (uint32_t)i, options->flags, error);
    if (status == GUFO_OK && (im->file.form->flags & FORM_MELS) != 0)
        status = add_mels(im, error);
    if (status == GUFO_OK && (options->flags & GUFO_LEGACY_MEASURE) != 0)
        status = legacy_measure_all(im->tensors, im->tensor_count, options->keep, options->run,
                                    &im->base.allocator, error);
    for (uint64_t i = 0; i < im->tensor_count && status == GUFO_OK; i++) {
        legacy_tensor *t = &im->tensors[i];

        if (t->type == NULL)
            t->type = choose_type(t, options->keep);
        status = gufo_document_add_tensor(im->base.document, t->name, t->type, t->n_dims, t->dims,
                                          error);
    }
    return status;
}
