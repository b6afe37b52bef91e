/* The tensors of the GGUF model: names, dimensions, types. */
#include "import/legacy/import.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

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
    bool grouped = (file->form->flags & FORM_GROUPED) != 0 ||
                   (flags & GUFO_LEGACY_FALCON_GROUPED) != 0;

    switch (row != NULL ? row->order : ORDER_AS_IS) {
    case ORDER_FLIPPED:
        return im->shapes.flipped && r->n_dims == 2 ? ORDER_FLIPPED : ORDER_AS_IS;
    case ORDER_GROUPS: /* with one head of keys both orders are the same */
        return grouped && field_of(file, FIELD_HEAD_KV) > 1 ? ORDER_GROUPS : ORDER_AS_IS;
    default:
        return row != NULL ? row->order : ORDER_AS_IS;
    }
}

static void set_dims(const legacy_import *im, legacy_tensor *t, const legacy_record *r)
{
    uint64_t ne[LEGACY_MAX_DIMS];

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

static gufo_status add_record(legacy_import *im, uint32_t index, uint32_t flags, gufo_error *error)
{
    const legacy_record *r = &im->file.parts[0].records[index];
    legacy_tensor t = {
        .source = r->name, .file = &im->file, .records = {index}, .record_count = 1};
    uint64_t layer = UINT64_MAX;

    if (im->file.family->names != NULL)
        t.row = legacy_name_find(im->file.family, r->name, &layer);
    if (t.row != NULL && t.row->order == ORDER_DROP)
        return GUFO_OK;
    t.order = order_of(im, t.row, r, flags);
    if (t.order == ORDER_FLIPPED && r->layout->block_length > 1)
        return fail_with(error, GUFO_E_TYPE, r->header,
                         "tensor %s is quantized and lies the other way round, as no program made it",
                         QUOTED(r->name));
    if (t.row != NULL)
        legacy_name_write(t.row, layer, t.name, sizeof t.name);
    else
        (void)snprintf(t.name, sizeof t.name, "%.*s", (int)r->name.len, r->name.data);
    if (t.row == NULL && r->name.len > GUFO_MAX_NAME)
        return fail_with(error, GUFO_E_LIMIT, r->header, "the name %s is longer than GGUF permits",
                         QUOTED(r->name));
    set_dims(im, &t, r);
    return add_tensor(im, &t, error);
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
        status = legacy_measure_all(im->tensors, im->tensor_count, options->run,
                                    &im->base.allocator, error);
    for (uint64_t i = 0; i < im->tensor_count && status == GUFO_OK; i++) {
        legacy_tensor *t = &im->tensors[i];

        if (t->type == NULL)
            t->type = choose_type(t, options->keep);
        status = gufo_document_add_tensor(im->base.document, gufo_str_of(t->name), t->type,
                                          t->n_dims, t->dims, error);
    }
    return status;
}
