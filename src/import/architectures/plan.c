/* The list of planned tensors: names are unique, types are those that files of GGUF models have. */
#include "import/architectures/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/architectures/pieces.h"
#include "import/architectures/short_name.h"
#include "import/architectures/unpack.h"

/* ---- life ----------------------------------------------------------------------------------- */

static gufo_str name_at(const void *owner, uint64_t index)
{
    const tensor_plan *plan = owner;

    return gufo_str_of(plan->tensors[index].name);
}

gufo_status growing_plan_open(growing_plan *g, tensor_plan *plan, const checkpoint *c,
                              const gufo_allocator *allocator, gufo_error *error)
{
    *plan = (tensor_plan){.allocator = allocator};
    *g = (growing_plan){.plan = plan, .checkpoint = c};
    return name_index_new(&g->by_name, 0, name_at, plan, allocator, error);
}

void growing_plan_close(growing_plan *g)
{
    if (g->plan != NULL)
        name_index_free(&g->by_name, g->plan->allocator);
}

void tensor_plan_free(tensor_plan *plan)
{
    for (uint64_t i = 0; i < plan->count; i++)
        piece_release(&plan->tensors[i], plan->allocator);
    for (uint64_t i = 0; i < plan->block_count; i++)
        mem_free(plan->allocator, plan->blocks[i]);
    if (plan->allocator != NULL) {
        mem_free(plan->allocator, plan->tensors);
        mem_free(plan->allocator, (void *)plan->blocks);
    }
    *plan = (tensor_plan){0};
}

/* ---- failures ------------------------------------------------------------------------------- */

gufo_status plan_refuse(const checkpoint *c, const checkpoint_tensor *t, gufo_status code,
                        gufo_error *error, const char *format, ...)
{
    char text[GUFO_MESSAGE_SIZE];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    code = fail_with(error, code, t != NULL ? t->offset : GUFO_NO_OFFSET, "%s", text);
    if (t != NULL)
        fail_in(error, GUFO_FILE_INPUT, t->file, c->files[t->file].path);
    return code;
}

gufo_status plan_fail(const checkpoint *c, const checkpoint_tensor *t, gufo_status status,
                      gufo_error *error)
{
    char reason[GUFO_MESSAGE_SIZE];

    if (status != GUFO_E_ARGUMENT && status != GUFO_E_LIMIT && status != GUFO_E_TYPE)
        return status;
    (void)snprintf(reason, sizeof reason, "%s", error != NULL ? error->message : "");
    return plan_refuse(c, t, status == GUFO_E_ARGUMENT ? GUFO_E_MALFORMED : status, error,
                       "tensor %s: %s", QUOTED(t->name), reason);
}

/* ---- types ---------------------------------------------------------------------------------- */

static bool keeps_type(const planned_tensor *t, plan_type type)
{
    gufo_str name = gufo_str_of(t->name);

    if (type == PLAN_TYPE_F32 || (type == PLAN_TYPE_ANY && t->n_dims >= 2))
        return type == PLAN_TYPE_F32;
    if (t->n_dims <= 1 || str_ends(name, "_norm.weight"))
        return true;
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

static void choose_type(planned_tensor *t, plan_type type)
{
    const gufo_element_type *f32 = gufo_element_type_by_id(GUFO_TYPE_F32);

    t->keeps_type = keeps_type(t, type);
    if (!t->keeps_type || t->type == f32)
        return;
    t->type = f32;
    t->piece.how = PIECE_MAKE;
}

/* ---- adding --------------------------------------------------------------------------------- */

static gufo_status check_type(const growing_plan *g, const view *v, const checkpoint_tensor *from,
                              gufo_error *error)
{
    for (uint64_t i = 0; i < v->count; i++) {
        const number_type *number = v->chunks[i].number;

        if (number->kind == NUMBER_OTHER || !number_is_read(number))
            return plan_refuse(g->checkpoint, from, GUFO_E_TYPE, error,
                               "tensor %s has numbers of type %s, which are not converted",
                               QUOTED(from->name), number->name);
    }
    return GUFO_OK;
}

static gufo_status add_tensor(growing_plan *g, planned_tensor *t, const view *v,
                              const checkpoint_tensor *from, plan_type type, gufo_error *error)
{
    tensor_plan *plan = g->plan;
    uint64_t first;
    planned_tensor *list =
        mem_grow(plan->allocator, plan->tensors, plan->count, &plan->room, sizeof *list);
    gufo_status status = list != NULL ? GUFO_OK : fail_memory(error);

    if (status == GUFO_OK) {
        plan->tensors = list;
        list[plan->count] = *t;
        status = name_index_grow(&g->by_name, plan->count, plan->allocator, error);
    }
    if (status == GUFO_OK && !name_index_add(&g->by_name, plan->count, &first))
        return plan_refuse(g->checkpoint, from, GUFO_E_MALFORMED, error,
                           "tensors %s and %s both become %s", QUOTED(list[first].source),
                           QUOTED(t->source), QUOTED(gufo_str_of(t->name)));
    if (status != GUFO_OK)
        return status;
    t = &list[plan->count++];
    status = piece_of_view(t, v, plan, g->checkpoint, error);
    t->piece.name = t->source;
    if (status == GUFO_OK)
        choose_type(t, type);
    return from != NULL ? plan_fail(g->checkpoint, from, status, error) : status;
}

gufo_status plan_add(growing_plan *g, gufo_str name, const view *v, const checkpoint_tensor *from,
                     plan_type type, gufo_error *error)
{
    planned_tensor t = {.source = from != NULL ? from->name : gufo_str_of("(generated)")};
    gufo_status status = from != NULL ? check_type(g, v, from, error) : GUFO_OK;

    if (status != GUFO_OK)
        return status;
    if (name.len > SHORT_NAME_MAX)
        return plan_refuse(g->checkpoint, from, GUFO_E_LIMIT, error,
                           "the name %s is longer than the %d bytes that readers take",
                           QUOTED(name), SHORT_NAME_MAX);
    if (v->numbers == 0 && from != NULL)
        return plan_refuse(g->checkpoint, from, GUFO_E_MALFORMED, error, "tensor %s has no numbers",
                           QUOTED(from->name));
    memcpy(t.name, name.data, name.len);
    return add_tensor(g, &t, v, from, type, error);
}

const planned_tensor *plan_find(const growing_plan *g, gufo_str name)
{
    uint64_t number;

    return name_index_find(&g->by_name, name, &number) ? &g->plan->tensors[number] : NULL;
}
