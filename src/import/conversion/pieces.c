/* The tensors of the document, their element types, and the job that makes them: a piece for each one, whose rows come
 * from the files of the checkpoint.  What only moves keeps its bytes.
 *
 * The first job, which the model reads rows by, lives as long as the import: its pieces take the place of
 * those of the plan.  Most are not kept at all: a checkpoint may have a million tensors, of which each
 * becomes one as it is. */
#include "base/error.h"
#include "format/document/document.h"
#include "import/architectures/plan/plan.h"
#include "import/conversion/conversion.h"
#include "import/general/model_id.h"
#include "schema/name/name.h"

#include <string.h>
#include <strings.h>

gufo_status conversion_add_tensors(conversion *c, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < c->plan.count && status == GUFO_OK; i++) {
        const planned_tensor *t = &c->plan.tensors[i];

        status = document_lend_tensor(c->base.document, gufo_str_of(t->name), t->type->id,
                                      t->n_dims, t->dims, 0, error);
    }
    return status;
}

/* Whether numbers change, or their type does. */
static bool is_encoded(const planned_tensor *t, const piece *p)
{
    for (uint32_t i = 0; i < p->n_sources; i++)
        if (p->sources[i].type != t->type || p->sources[i].unpack != NULL)
            return true;
    return p->n_ops > 0;
}

/* The piece of a tensor with its only result, in *room. */
static gufo_status fill_piece(const tensor_plan *plan, const planned_tensor *t, uint64_t place,
                              plain_piece *room, gufo_error *error)
{
    const piece *planned = planned_piece(plan, t, room);
    const bool encode = is_encoded(t, planned);
    const piece p = {.how = encode ? PIECE_MAKE : planned->how,
                     .name = gufo_str_of(t->name),
                     .sources = planned->sources,
                     .segments = planned->segments,
                     .ops = planned->ops,
                     .made = &room->result,
                     .n_sources = planned->n_sources,
                     .n_segments = planned->n_segments,
                     .n_ops = planned->n_ops,
                     .n_made = 1,
                     .transpose = planned->transpose,
                     .columns = planned->columns,
                     .slices = planned->slices,
                     .slice_rows = planned->slice_rows};

    room->piece = p;
    room->result = (made){.place = place, .type = t->type, .encode = encode};
    return gufo_element_row_size(t->type, p.columns, &room->result.row_bytes, error);
}

/* Nothing fails: opening has made the same piece. */
static const piece *piece_at(const gufo_job *job, uint64_t index, plain_piece *room)
{
    const conversion *c = job->asked;
    const planned_tensor *t = &c->plan.tensors[index];
    gufo_document_tensor tensor;
    gufo_job counted = *job;

    if (t->piece != NULL)
        return t->piece;
    counted.unit_count = counted.total = 0;
    (void)gufo_document_tensor_at(c->base.document, index, &tensor);
    (void)fill_piece(&c->plan, t, tensor.offset, room, NULL);
    (void)job_count_piece(&counted, &room->piece, NULL);
    return &room->piece;
}

/* The first job is only asked: it keeps no pieces that can be made at any time. */
static gufo_status add_piece(const conversion *c, gufo_job *job, planned_tensor *t, uint64_t place,
                             gufo_error *error)
{
    const bool is_first = job->piece_at != NULL;
    plain_piece room;
    gufo_status status = fill_piece(&c->plan, t, place, &room, error);

    if (status == GUFO_OK && is_first && t->piece == NULL)
        return job_count_piece(job, &room.piece, error);
    if (status == GUFO_OK)
        status = job_add_piece(job, &room.piece, error);
    if (status == GUFO_OK && is_first)
        piece_lend(t, job->pieces[job->piece_count - 1].whole, c->plan.allocator);
    return status;
}

static uint64_t count_kept(const tensor_plan *plan)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < plan->count; i++)
        count += plan->tensors[i].piece != NULL;
    return count;
}

const conversion *conversion_of(const gufo_import *import)
{
    return import->kind->plan == conversion_plan ? (const conversion *)import : NULL;
}

gufo_status conversion_plan(gufo_import *base, gufo_job *job, gufo_error *error)
{
    conversion *c = (conversion *)base;
    gufo_status status = GUFO_OK;
    gufo_document_tensor tensor;
    uint32_t number;

    for (uint32_t i = 0; i < c->checkpoint.file_count && status == GUFO_OK; i++) {
        const checkpoint_file *file = &c->checkpoint.files[i];
        const job_input input = {.role = GUFO_FILE_INPUT,
                                 .index = i,
                                 .name = file->path,
                                 .source = &file->source,
                                 .head = file->head};

        status = job_add_input(job, &input, &number, error);
    }
    if (status == GUFO_OK)
        status = job_add_document_target(job, base->document, &number, error);
    if (base->peeked == NULL) {
        job->piece_at = piece_at;
        job->asked = c;
    }
    if (status == GUFO_OK)
        status = job_reserve_pieces(
            job, job->piece_at != NULL ? count_kept(&c->plan) : c->plan.count, error);
    for (uint64_t i = 0; i < c->plan.count && status == GUFO_OK; i++) {
        (void)gufo_document_tensor_at(base->document, i, &tensor);
        status = add_piece(c, job, &c->plan.tensors[i], tensor.offset, error);
    }
    return status;
}

/* ---- element types --------------------------------------------------------------------------- */

/* Element types of a conversion: what each tensor becomes when a checkpoint is converted to a plain
 * type, as converters do.  Recipes, which decide about all other targets, keep more tensors as they
 * are. */

/* The targets, and the parts of names of tensors that they leave to F16. */
static const uint32_t targets[] = {GUFO_TYPE_F32,  GUFO_TYPE_F16,   GUFO_TYPE_BF16,
                                   GUFO_TYPE_Q8_0, GUFO_TYPE_TQ1_0, GUFO_TYPE_TQ2_0};
static const char *const kept_from_ternary[] = {
    "token_embd.", "per_layer_token_embd.", "output.", "altup_router.", "laurel_l.", "laurel_r."};

static bool is_target(const gufo_quantize_target *target)
{
    for (size_t i = 0; target->base_type != NULL && i < sizeof targets / sizeof *targets; i++)
        if (targets[i] == target->base_type->id)
            return true;
    return false;
}

/* Whether a name is such a part and a suffix, behind "blk.N." or not. */
static bool is_kept_from_ternary(const char *name)
{
    for (size_t i = 0; i < sizeof kept_from_ternary / sizeof *kept_from_ternary; i++) {
        const char *at = strstr(name, kept_from_ternary[i]);

        if (at != NULL && (at == name || at[-1] == '.'))
            return true;
    }
    return false;
}

static const gufo_element_type *type_for(const planned_tensor *t, const gufo_element_type *wanted)
{
    const gufo_element_type *half = gufo_element_type_by_id(GUFO_TYPE_F16);
    bool ternary = wanted->id == GUFO_TYPE_TQ1_0 || wanted->id == GUFO_TYPE_TQ2_0;

    /* Floats of 4 bits stay, as in files that are converted to F16 elsewhere. */
    if (t->keeps_type || t->comes_first)
        return t->type;
    if (t->only_half)
        return wanted == half ? half : gufo_element_type_by_id(GUFO_TYPE_F32);
    if (ternary && is_kept_from_ternary(t->name))
        return half;
    return t->dims[0] % wanted->block_elements == 0 ? wanted : half;
}

const gufo_element_type *gufo_import_type(void *import, const gufo_quantize_target *target,
                                          gufo_str name)
{
    const conversion *c = conversion_of(import);
    uint64_t index;

    if (c == NULL || !is_target(target) ||
        !gufo_document_tensor_find_str(c->base.document, name, &index, NULL))
        return NULL;
    return type_for(&c->plan.tensors[index], target->base_type);
}

const gufo_element_type *gufo_import_main_type(const gufo_import *import)
{
    const conversion *c = conversion_of(import);

    if (c != NULL && c->is_adapter)
        return gufo_element_type_by_id(GUFO_TYPE_F32);
    if (c != NULL && is_tower(c))
        return gufo_element_type_by_id(GUFO_TYPE_F16);
    return c != NULL && c->plan.first_type != NULL ? c->plan.first_type
                                                   : gufo_element_type_by_id(GUFO_TYPE_F16);
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool is_plain(const gufo_element_type *type)
{
    return type != NULL && type->block_elements == 1;
}

/* The file type of a model with packed weights: what most of them are. */
static const gufo_file_type *main_file_type(const gufo_import *import)
{
    uint64_t id;

    return gufo_model_get_u64(gufo_import_model(import), "general.file_type", &id, NULL) == GUFO_OK
               ? gufo_file_type_by_id(id)
               : NULL;
}

/* The target of "auto": what most of the model is, and for the rest its plain type. */
static void set_auto(const gufo_import *import, gufo_quantize_target *target)
{
    const gufo_file_type *most = import->facts.packed > 0 ? main_file_type(import) : NULL;
    const char *name = conversion_of(import) != NULL ? gufo_import_main_type(import)->name : "COPY";

    (void)gufo_quantize_target_by_name(name, false, target);
    target->keeps_blocks = true;
    if (most != NULL) {
        target->file_type = most;
        target->name = most->name;
    }
}

void gufo_import_target(const gufo_import *import, gufo_quantize_target *target)
{
    const gufo_file_type *most = main_file_type(import);

    if (target->name == NULL)
        set_auto(import, target);
    else if (is_plain(target->base_type) && conversion_of(import) != NULL && most != NULL &&
             (most->id == GUFO_FILE_TYPE_MXFP4_MOE || most->id == GUFO_FILE_TYPE_NVFP4))
        target->file_type = most;
}

/* For gufo_recipe_options: what a target means for a tensor. */
static const gufo_element_type *type_of(void *context, const gufo_quantize_target *target,
                                        gufo_str name)
{
    const gufo_import *import = context;
    const gufo_element_type *type;
    gufo_tensor tensor;

    if (target->keeps_blocks &&
        gufo_model_tensor_find_str(gufo_import_model(import), name, &tensor)) {
        type = gufo_element_type_by_id(tensor.type);
        if (type != NULL && (type->flags & GUFO_ELEMENT_QUANTIZED) != 0)
            return type;
    }
    return gufo_import_type(context, target, name);
}

void gufo_import_prepare(gufo_import *import, gufo_quantize_options *options)
{
    options->recipe.model_type = type_of;
    options->recipe.model_context = import;
    options->recipe.allow_requantize = true;
}

gufo_quantizer *gufo_import_quantize(gufo_import *import, const char *type,
                                     const gufo_quantize_options *options, gufo_error *error)
{
    gufo_quantize_options all = options != NULL ? *options : (gufo_quantize_options){0};
    gufo_quantize_target *target = &all.recipe.target;
    bool pure = target->pure;

    if (target->name != NULL || all.recipe.model_type != NULL || all.more_count > 0) {
        (void)refuse(error, GUFO_E_ARGUMENT,
                     "gufo_import_quantize sets targets and model_type itself");
        return NULL;
    }
    *target = (gufo_quantize_target){.name = NULL};
    if (type != NULL && strcasecmp(type, "auto") != 0 &&
        !gufo_quantize_target_by_name(type, pure, target)) {
        (void)refuse(error, GUFO_E_ARGUMENT, "unknown type %s", QUOTED(gufo_str_of(type)));
        return NULL;
    }
    gufo_import_target(import, target);
    gufo_import_prepare(import, &all);
    return gufo_quantizer_new(gufo_import_model(import), &all, error);
}
