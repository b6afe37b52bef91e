/* The list of planned tensors: names are unique, types are those that files of GGUF models have. */
#include "import/architectures/plan/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/containers/checkpoint.h"
#include "import/packed/packed.h"

/* ---- names ---------------------------------------------------------------------------------- */

enum { NAMES_BLOCK = 4096 };

static gufo_status add_names_block(tensor_plan *plan, size_t size, gufo_error *error)
{
    char *block = mem_alloc(plan->allocator, size);
    gufo_status status = block != NULL ? plan_keep(plan, block, error) : fail_memory(error);

    if (status != GUFO_OK)
        return status;
    plan->names = block;
    plan->names_room = size;
    return GUFO_OK;
}

/* A terminated copy of the name of a tensor; NULL without memory. */
static const char *plan_name(tensor_plan *plan, gufo_str name, gufo_error *error)
{
    char *out;

    if (plan->names_room < name.len + 1 &&
        add_names_block(plan, (size_t)larger(NAMES_BLOCK, name.len + 1), error) != GUFO_OK)
        return NULL;
    out = plan->names;
    memcpy(out, name.data, name.len);
    out[name.len] = '\0';
    plan->names += name.len + 1;
    plan->names_room -= name.len + 1;
    return out;
}

/* ---- life ----------------------------------------------------------------------------------- */

static gufo_str name_at(const void *owner, uint64_t index)
{
    const tensor_plan *plan = owner;

    return gufo_str_of(plan->tensors[index].name);
}

gufo_status plan_begin(tensor_plan *plan, const checkpoint *c, const gufo_allocator *allocator,
                       gufo_error *error)
{
    *plan = (tensor_plan){.allocator = allocator, .checkpoint = c};
    plan->shapes.list.size = GUFO_MAX_DIMS * sizeof(uint64_t);
    return name_index_new(&plan->by_name, 0, name_at, plan, allocator, error);
}

void tensor_plan_free(tensor_plan *plan)
{
    for (uint64_t i = 0; i < plan->count; i++)
        piece_release(&plan->tensors[i], plan->allocator);
    for (uint64_t i = 0; i < plan->block_count; i++)
        mem_free(plan->allocator, plan->blocks[i]);
    if (plan->allocator != NULL) {
        shapes_free(&plan->shapes, plan->allocator);
        name_index_free(&plan->by_name, plan->allocator);
        mem_free(plan->allocator, plan->tensors);
        mem_free(plan->allocator, (void *)plan->blocks);
    }
    *plan = (tensor_plan){0};
}

/* ---- types ---------------------------------------------------------------------------------- */

static bool keeps_type(gufo_str name, const view *v, plan_type type)
{
    if (type == PLAN_TYPE_F32 || (type == PLAN_TYPE_ANY && v->n_dims >= 2))
        return type == PLAN_TYPE_F32;
    if (v->n_dims <= 1 || str_ends(name, "_norm.weight"))
        return true;
    if (type == PLAN_TYPE_F16 || type == PLAN_TYPE_HALF)
        return type == PLAN_TYPE_F16;
    if (type == PLAN_TYPE_GENERIC)
        return false;
    return !str_ends(name, ".weight") && !str_ends(name, ".lora_a") && !str_ends(name, ".lora_b");
}

void plan_note_first(tensor_plan *plan, const checkpoint_tensor *t)
{
    const gufo_element_type *type = number_element_type(t->number);

    if (plan->first_type == NULL && type != NULL && t->n_dims >= 2 &&
        (type->id == GUFO_TYPE_F16 || type->id == GUFO_TYPE_BF16))
        plan->first_type = type;
}

/* The type of a tensor that has the same one whatever is asked for. */
static const gufo_element_type *kept_type(const planned_tensor *t, plan_type type)
{
    const bool is_half = type == PLAN_TYPE_F16 && t->n_dims > 1;

    return gufo_element_type_by_id(is_half ? GUFO_TYPE_F16 : GUFO_TYPE_F32);
}

static void choose_type(planned_tensor *t, plan_type type)
{
    const gufo_element_type *kept = kept_type(t, type);

    if (!t->keeps_type || t->type == kept)
        return;
    t->type = kept;
    t->piece->how = PIECE_MAKE;
}

/* ---- adding --------------------------------------------------------------------------------- */

static gufo_status check_type(const tensor_plan *plan, const view *v, const checkpoint_tensor *from,
                              gufo_error *error)
{
    for (uint64_t i = 0; i < v->count; i++) {
        const number_type *number = v->chunks[i].number;

        if (number->kind == NUMBER_OTHER || !number_is_read(number))
            return checkpoint_refuse(plan->checkpoint, from, GUFO_E_TYPE, error,
                                     "tensor %s has numbers of type %s, which are not converted",
                                     QUOTED(from->name), number->name);
    }
    return GUFO_OK;
}

static gufo_status add_tensor(tensor_plan *plan, planned_tensor *t, const view *v,
                              const checkpoint_tensor *from, plan_type type, gufo_error *error)
{
    uint64_t first;
    planned_tensor *list =
        mem_grow(plan->allocator, plan->tensors, plan->count, &plan->room, sizeof *list);
    gufo_status status = list != NULL ? GUFO_OK : fail_memory(error);

    if (status == GUFO_OK) {
        plan->tensors = list;
        list[plan->count] = *t;
        status = name_index_grow(&plan->by_name, plan->count, plan->allocator, error);
    }
    if (status == GUFO_OK && !name_index_add(&plan->by_name, plan->count, &first))
        return checkpoint_refuse(plan->checkpoint, from, GUFO_E_MALFORMED, error,
                                 "tensors %s and %s both become %s",
                                 QUOTED(planned_source(&list[first])), QUOTED(planned_source(t)),
                                 QUOTED(gufo_str_of(t->name)));
    if (status != GUFO_OK)
        return status;
    t = &list[plan->count++];
    t->piece = mem_zero(plan->allocator, sizeof *t->piece);
    if (t->piece == NULL)
        return fail_memory(error);
    status = piece_of_view(t, v, plan, error);
    t->piece->name = planned_source(t);
    if (status == GUFO_OK) {
        choose_type(t, type);
        piece_forget_plain(t, v, plan);
    }
    return from != NULL ? checkpoint_fail(plan->checkpoint, from, status, error) : status;
}

/* ---- products ------------------------------------------------------------------------------- */

/* Readers look rows of the embedding up by token, so its first factor has them as rows. */
static gufo_status turn_embedding(view *a, view *b, gufo_error *error)
{
    const view left = *b;

    *b = *a;
    *a = left;
    return view_swap(b, b->n_dims - 2, b->n_dims - 1, error);
}

static gufo_status add_half(tensor_plan *plan, gufo_str name, const char *end, const view *v,
                            const checkpoint_tensor *from, gufo_error *error)
{
    char text[GUFO_MAX_NAME + 16];

    (void)snprintf(text, sizeof text, "%.*s%s", (int)smaller(name.len, GUFO_MAX_NAME + 1),
                   name.data, end);
    return plan_add(plan, gufo_str_of(text), v, from, PLAN_TYPE_BY_NAME, error);
}

static gufo_status add_product(tensor_plan *plan, gufo_str name, const view *v,
                               const checkpoint_tensor *from, gufo_error *error)
{
    view a = {0}, b = {0};
    row_op multiply = {.kind = &row_op_scale};
    gufo_status status = products_divide(plan->products, v, &b, &a, &multiply.number, error);

    if (status == GUFO_OK && multiply.number != 1)
        status = view_operate(&b, &multiply, error);
    if (status == GUFO_OK && gufo_str_equal(name, gufo_str_of("token_embd.weight")))
        status = turn_embedding(&a, &b, error);
    if (status == GUFO_OK)
        status = add_half(plan, name, ".lora_a", &a, from, error);
    if (status == GUFO_OK)
        status = add_half(plan, name, ".lora_b", &b, from, error);
    view_free(&a);
    view_free(&b);
    return status;
}

/* ---- packed weights ------------------------------------------------------------------------- */

/* The first packed weight that a view has numbers of. */
static const packed_weight *first_packed(const view *v)
{
    for (uint64_t i = 0; i < v->count; i++)
        if (v->chunks[i].packed != NULL)
            return v->chunks[i].packed;
    return NULL;
}

/* NAME.scale for NAME.weight. */
static gufo_status add_factor(tensor_plan *plan, gufo_str stem, const char *end, const float *list,
                              uint64_t count, const checkpoint_tensor *from, gufo_error *error)
{
    char name[2 * GUFO_MAX_NAME];
    view v = {0};
    gufo_status status = GUFO_OK;

    if (factors_are_one(list, count))
        return GUFO_OK;
    (void)snprintf(name, sizeof name, "%.*s%s", (int)stem.len, stem.data, end);
    status = plan_view(plan, list, count, &v, error);
    if (status == GUFO_OK)
        status = plan_add(plan, gufo_str_of(name), &v, from, PLAN_TYPE_F32, error);
    if (status == GUFO_OK)
        plan->tensors[plan->count - 1].comes_first = true;
    view_free(&v);
    return status;
}

static gufo_status add_factors(tensor_plan *plan, gufo_str name, const view *v,
                               const checkpoint_tensor *from, gufo_error *error)
{
    factor_lists l;
    bool fit;
    gufo_status status = factors_read(v, &l, &fit, error);

    if (str_ends(name, ".weight"))
        name.len -= strlen(".weight");
    for (unsigned i = 0; i < FACTORS && status == GUFO_OK; i++)
        status = add_factor(plan, name, factor_names[i], l.list[i], l.entries, from, error);
    factors_free(v, &l);
    return status;
}

/* Floats of 4 bits come first in a file, each tensor with its factors. */
static gufo_status mark_first(tensor_plan *plan, gufo_str name, const view *v,
                              const checkpoint_tensor *from, gufo_error *error)
{
    planned_tensor *t = &plan->tensors[plan->count - 1];

    if (t->type->id != GUFO_TYPE_MXFP4 && t->type->id != GUFO_TYPE_NVFP4)
        return GUFO_OK;
    t->comes_first = true;
    return t->packed->kind->factors != NULL ? add_factors(plan, name, v, from, error) : GUFO_OK;
}

gufo_status plan_add(tensor_plan *plan, gufo_str name, const view *v, const checkpoint_tensor *from,
                     plan_type type, gufo_error *error)
{
    planned_tensor t = {.from = from};
    gufo_status status;

    if (plan->products != NULL && products_own(v))
        return add_product(plan, name, v, from, error);
    status = from != NULL ? check_type(plan, v, from, error) : GUFO_OK;
    if (status != GUFO_OK)
        return status;
    if (name.len > SHORT_NAME_MAX)
        return checkpoint_refuse(plan->checkpoint, from, GUFO_E_LIMIT, error,
                                 "the name %s is longer than the %d bytes that readers take",
                                 QUOTED(name), SHORT_NAME_MAX);
    if (plan->watcher != NULL)
        return plan->watcher->seen(plan->watcher->context, name, v, error);
    if (v->numbers == 0 && from != NULL)
        return checkpoint_refuse(plan->checkpoint, from, GUFO_E_MALFORMED, error,
                                 "tensor %s has no numbers", QUOTED(from->name));
    t.name = plan_name(plan, name, error);
    if (t.name == NULL)
        return GUFO_E_MEMORY;
    t.keeps_type = keeps_type(name, v, type);
    t.only_half = type == PLAN_TYPE_HALF && !t.keeps_type;
    t.packed = first_packed(v);
    status = add_tensor(plan, &t, v, from, type, error);
    return status == GUFO_OK ? mark_first(plan, name, v, from, error) : status;
}

/* ---- the end -------------------------------------------------------------------------------- */

/* Moves tensors that come first to the beginning of the list; the others keep their order, too. */
static gufo_status order(tensor_plan *plan, gufo_error *error)
{
    planned_tensor *list = mem_array(plan->allocator, plan->count, sizeof *list);
    uint64_t at = 0;

    if (list == NULL)
        return fail_memory(error);
    for (unsigned turn = 0; turn < 2; turn++)
        for (uint64_t i = 0; i < plan->count; i++)
            if (plan->tensors[i].comes_first == (turn == 0))
                list[at++] = plan->tensors[i];
    mem_free(plan->allocator, plan->tensors);
    plan->tensors = list;
    plan->room = plan->count;
    return GUFO_OK;
}

gufo_status plan_finish(tensor_plan *plan, gufo_error *error)
{
    bool has_first = false, has_packed = false;

    for (uint64_t i = 0; i < plan->count; i++) {
        has_first = has_first || plan->tensors[i].comes_first;
        has_packed = has_packed || plan->tensors[i].packed != NULL;
    }
    name_index_free(&plan->by_name, plan->allocator);
    plan->is_assumed = plan->first_type == NULL && !has_packed;
    if (plan->first_type == NULL)
        plan->first_type = gufo_element_type_by_id(has_packed ? GUFO_TYPE_BF16 : GUFO_TYPE_F16);
    return has_first ? order(plan, error) : GUFO_OK;
}

const planned_tensor *plan_find(const tensor_plan *plan, gufo_str name)
{
    uint64_t number;

    return name_index_find(&plan->by_name, name, &number) ? &plan->tensors[number] : NULL;
}
