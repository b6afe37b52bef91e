/* The tensors of a model in GGUF.
 *
 *     names       rows that change names, and drop what no rule is about
 *     generated   tensors of the configuration come first
 *     source      each tensor, in the order of the checkpoint: the first row that matches says what it
 *     mapped      becomes; where none does, the name map alone
 *     stacks      come where the last of their tensors is */
#include "import/containers/checkpoint.h"
#include "import/architectures/operations/tensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/json_file.h"
#include "import/architectures/operations/names.h"
#include "import/architectures/operations/operation.h"

static void free_views(item *it)
{
    for (uint32_t i = 0; i < it->n_views; i++)
        view_free(&it->views[i]);
    it->n_views = 0;
}

/* ---- results -------------------------------------------------------------------------------- */

static gufo_status fail_without_rule(const planner *p, const item *it, gufo_error *error)
{
    const model_config *config = p->config;

    gufo_status status = checkpoint_refuse(
        p->plan->checkpoint, it->from, GUFO_E_TYPE, error,
        "no rule for tensor %s: neither the operations nor the names of %s (class %s) have it",
        QUOTED(it->from->name), config->architecture,
        config->class_name != NULL ? config->class_name : "unknown");

    return import_advise(status, GUFO_ADVICE_GENERIC, error);
}

static plan_type type_by_flags(unsigned flags)
{
    if ((flags & OPERATION_TO_F32) != 0)
        return PLAN_TYPE_F32;
    if ((flags & OPERATION_TO_F16) != 0)
        return PLAN_TYPE_F16;
    return (flags & OPERATION_TO_HALF) != 0 ? PLAN_TYPE_HALF : PLAN_TYPE_ANY;
}

/* What rows of the phase "type" say of a tensor with this name. */
static plan_type type_of(const planner *p, const char *name)
{
    rule_match ignored;

    for (uint64_t i = 0; i < p->rules.count; i++) {
        const tensor_rule *rule = &p->rules.list[i];

        if (rule->phase == RULE_TYPE && rules_match(rule, gufo_str_of(name), &ignored))
            return type_by_flags(rule->steps[0].operation->flags);
    }
    return PLAN_TYPE_BY_NAME;
}

static gufo_status name_result(const planner *p, const item *it, const tensor_rule *rule,
                               uint32_t index, char *out, size_t size, gufo_error *error)
{
    char mapped[GUFO_MAX_NAME + 1];

    if (rule != NULL && rule->n_targets > 0) {
        if (rule->n_targets != it->n_views)
            return refuse(error, GUFO_E_ARGUMENT, "it becomes %" PRIu32 " tensors, not %" PRIu32,
                          it->n_views, rule->n_targets);
        return steps_expand(p, it, rule->targets[index], out, size, error);
    }
    if (it->n_views != 1 || !names_map(p->config->architecture, gufo_str_of(it->name), mapped))
        return fail_without_rule(p, it, error);
    (void)snprintf(out, size, "%s", mapped);
    return GUFO_OK;
}

static gufo_status add_results(planner *p, item *it, const tensor_rule *rule, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; i < it->n_views && status == GUFO_OK; i++) {
        char name[2 * GUFO_MAX_NAME];

        status = name_result(p, it, rule, i, name, sizeof name, error);
        if (status == GUFO_OK)
            status = plan_add(p->plan, gufo_str_of(name), &it->views[i], it->from, type_of(p, name),
                              error);
    }
    return status;
}

/* ---- stacks --------------------------------------------------------------------------------- */

/* The step of a rule that stacks; n_steps: none does. */
static uint32_t stacking_step(const tensor_rule *rule)
{
    uint32_t i = 0;

    while (i < rule->n_steps && rule->steps[i].operation->scope != OPERATION_STACKS)
        i++;
    return i;
}

/* The group that a rule stacks into; an empty text: it does not stack. */
static gufo_str group_of(const tensor_rule *rule)
{
    uint32_t step = stacking_step(rule);

    return step < rule->n_steps ? rule->steps[step].arguments[0] : (gufo_str){"", 0};
}

static bool is_in_group(const tensor_rule *rule, gufo_str group)
{
    return gufo_str_equal(group_of(rule), group);
}

static gufo_status find_place(planner *p, const item *it, const tensor_rule *rule,
                              const rule_step *step, stack_place *place, gufo_error *error)
{
    *place =
        (stack_place){.group = step->arguments[0],
                      .suffix = steps_suffix(it->name),
                      .rule = (uint64_t)(rule - p->rules.list),
                      /* Without {b} the number in its name is that of the entry. */
                      .block = strstr(rule->row->names, "{b}") != NULL ? it->block : UINT64_MAX,
                      .entry = it->entry};
    for (uint64_t i = 0; i < p->rules.count; i++) {
        if (!is_in_group(&p->rules.list[i], place->group))
            continue;
        if (i < place->rule)
            place->rank++;
        place->rules++;
    }
    if (step->n_arguments > 1)
        return steps_number(p, it, step->arguments[1], &place->entries, error);
    for (uint32_t i = 0; i < rule->n_names; i++)
        place->entries += *rule->names[i].data != '!';
    return GUFO_OK;
}

/* One result of a full stack, with the steps that follow. */
static gufo_status add_stacked(planner *p, const item *last, const tensor_rule *rule,
                               uint64_t number, uint32_t rank, gufo_error *error)
{
    uint32_t step = stacking_step(rule), next;
    bool new_axis = (rule->steps[step].operation->flags & OPERATION_NEW_AXIS) != 0;
    item it = *last;
    gufo_status status;

    memset(it.views, 0, sizeof it.views);
    it.fate = ITEM_PLANNED;
    it.n_views = 1;
    status = stacks_take(&p->stacks, number, rank, new_axis, &it.views[0], &it.from, error);
    if (status == GUFO_OK)
        status = steps_take(p, &it, rule, step + 1, &next, error);
    if (status == GUFO_OK)
        status = add_results(p, &it, rule, error);
    free_views(&it);
    return checkpoint_fail(p->plan->checkpoint, it.from, status, error);
}

/* Puts a tensor on its stack; the last one brings all results. */
static gufo_status stack_item(planner *p, item *it, const tensor_rule *rule, uint32_t step,
                              gufo_error *error)
{
    stack_place place;
    uint64_t full = UINT64_MAX;
    uint32_t rank = 0;
    gufo_status status = find_place(p, it, rule, &rule->steps[step], &place, error);

    if (status == GUFO_OK)
        status = stacks_add(&p->stacks, it, &place, &full, error);
    for (uint64_t i = 0; i < p->rules.count && full != UINT64_MAX && status == GUFO_OK; i++)
        if (is_in_group(&p->rules.list[i], place.group))
            status = add_stacked(p, it, &p->rules.list[i], full, rank++, error);
    return status;
}

/* Stacks of an adapter that are not full: rules whose members are all there have results, and those
 * without members have none. */
static gufo_status add_partial(planner *p, uint64_t number, gufo_error *error)
{
    const stack *of = &p->stacks.list[number];
    const gufo_str group = group_of(&p->rules.list[of->rule]);
    uint32_t rank = 0;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < p->rules.count && status == GUFO_OK; i++) {
        const tensor_rule *rule = &p->rules.list[i];
        item it = {.block = of->block, .entry = UINT64_MAX};
        uint64_t count;

        if (!is_in_group(rule, group))
            continue;
        count = stacks_members(&p->stacks, number, rank);
        (void)snprintf(it.name, sizeof it.name, "%s", stacks_suffix(of));
        if (count == of->entries)
            status = add_stacked(p, &it, rule, number, rank, error);
        else if (count > 0)
            status = stacks_refuse(&p->stacks, number, count, p->plan->checkpoint, rule->targets[0],
                                   error);
        rank++;
    }
    return status;
}

/* ---- one tensor ----------------------------------------------------------------------------- */

/* Whether a rule is for a tensor; the numbers in its name go to the item. */
static gufo_status check_rule(planner *p, tensor_rule *rule, const char *name, item *it,
                              bool *holds, gufo_error *error)
{
    const uint64_t block = it->block, entry = it->entry;
    rule_match match;
    gufo_status status;

    *holds = false;
    if (!rules_match(rule, gufo_str_of(name), &match))
        return GUFO_OK;
    it->block = match.block != UINT64_MAX ? match.block : names_block(name);
    it->entry = match.entry != UINT64_MAX ? match.entry : match.name;
    status = steps_hold(p, rule, it, holds, error);
    if (!*holds) {
        it->block = block;
        it->entry = entry;
    }
    return status;
}

/* All rows about names, in their order. */
static gufo_status change_name(planner *p, item *it, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < p->rules.count && status == GUFO_OK; i++) {
        tensor_rule *rule = &p->rules.list[i];
        bool holds = false;
        uint32_t next;

        if (rule->phase != RULE_NAMES || it->fate != ITEM_PLANNED)
            continue;
        status = check_rule(p, rule, it->name, it, &holds, error);
        if (status == GUFO_OK && holds)
            status = steps_take(p, it, rule, 0, &next, error);
    }
    return status;
}

/* The first row for a tensor; NULL: none is for it. */
static gufo_status find_rule(planner *p, item *it, const tensor_rule **out, gufo_error *error)
{
    char mapped[GUFO_MAX_NAME + 1] = "";
    bool is_mapped = false, asked = false, holds = false;
    gufo_status status = GUFO_OK;

    *out = NULL;
    for (uint64_t i = 0; i < p->rules.count && *out == NULL && status == GUFO_OK; i++) {
        tensor_rule *rule = &p->rules.list[i];

        if (rule->phase != RULE_SOURCE && rule->phase != RULE_MAPPED)
            continue;
        if (rule->phase == RULE_MAPPED && !asked) {
            asked = true;
            is_mapped = names_map(p->config->architecture, gufo_str_of(it->name), mapped);
        }
        if (rule->phase == RULE_MAPPED && !is_mapped)
            continue;
        status =
            check_rule(p, rule, rule->phase == RULE_MAPPED ? mapped : it->name, it, &holds, error);
        if (holds)
            *out = rule;
    }
    return status;
}

/* What a pair of an adapter adds is not lost in silence. */
static gufo_status check_drop(const planner *p, const item *it, gufo_error *error)
{
    if (it->skipped || it->from->number != &product_number)
        return GUFO_OK;
    return refuse(error, GUFO_E_TYPE,
                  "the rules of the architecture (%s) drop it, so that a pair for it would have no "
                  "effect",
                  p->config->architecture);
}

static gufo_status convert_item(planner *p, item *it, gufo_error *error)
{
    const tensor_rule *rule;
    uint32_t next = 0;
    gufo_status status = change_name(p, it, error);

    if (status != GUFO_OK)
        return status;
    p->skipped += it->skipped;
    if (!it->skipped)
        plan_note_first(p->plan, it->from);
    if (it->fate == ITEM_DROPPED)
        return check_drop(p, it, error);
    status = find_rule(p, it, &rule, error);
    if (status != GUFO_OK)
        return status;
    it->n_views = 1;
    status = view_open(&it->views[0], p->plan->checkpoint, it->from, p->plan->allocator, error);
    if (status == GUFO_OK && rule != NULL)
        status = steps_take(p, it, rule, 0, &next, error);
    if (status == GUFO_OK && it->fate == ITEM_DROPPED)
        return check_drop(p, it, error);
    if (status != GUFO_OK)
        return status;
    return rule != NULL && next < rule->n_steps ? stack_item(p, it, rule, next, error)
                                                : add_results(p, it, rule, error);
}

/* ---- every tensor ---------------------------------------------------------------------------- */

static gufo_status convert_tensor(planner *p, const checkpoint_tensor *t, gufo_error *error)
{
    item it = {.from = t, .block = UINT64_MAX, .entry = UINT64_MAX};
    gufo_status status;

    if (t->name.len > ITEM_NAME || memchr(t->name.data, '\0', t->name.len) != NULL)
        return fail_without_rule(p, &it, error);
    memcpy(it.name, t->name.data, t->name.len);
    status = convert_item(p, &it, error);
    free_views(&it);
    return checkpoint_fail(p->plan->checkpoint, t, status, error);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static gufo_status add_generated(planner *p, tensor_rule *rule, gufo_error *error)
{
    item it = {.block = UINT64_MAX, .entry = UINT64_MAX};
    bool holds;
    uint32_t next;
    gufo_status status = steps_hold(p, rule, &it, &holds, error);

    if (status != GUFO_OK || !holds)
        return status;
    status = steps_take(p, &it, rule, 0, &next, error);
    if (status == GUFO_OK)
        status = add_results(p, &it, rule, error);
    free_views(&it);
    return status;
}

/* The stacks that are not full. */
static gufo_status end_stacks(planner *p, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    if (p->plan->products == NULL)
        return stacks_check(&p->stacks, p->plan->checkpoint, &p->rules, error);
    for (uint64_t i = 0; i < p->stacks.count && status == GUFO_OK; i++)
        if (!stacks_full(&p->stacks.list[i]))
            status = add_partial(p, i, error);
    return status;
}

static gufo_status plan_all(planner *p, gufo_error *error)
{
    const checkpoint *c = p->plan->checkpoint;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < p->rules.count && status == GUFO_OK; i++)
        if (p->rules.list[i].phase == RULE_GENERATED && p->plan->products == NULL)
            status = add_generated(p, &p->rules.list[i], error);
    for (uint64_t i = 0; i < c->tensor_count && status == GUFO_OK; i++)
        status = convert_tensor(p, &c->tensors[i], error);
    if (status == GUFO_OK)
        status = end_stacks(p, error);
    if (status == GUFO_OK && p->skipped > 0)
        status = import_warn(p->import, error,
                             "%s tensors of a vision or audio tower are skipped: the text "
                             "model alone is converted",
                             GROUPED(p->skipped));
    return status == GUFO_OK ? plan_finish(p->plan, error) : status;
}

static gufo_status open_planner(planner *p, tensor_plan *plan, const tensors_request *request,
                                gufo_error *error)
{
    const gufo_allocator *a = &request->import->allocator;
    gufo_status status = plan_begin(plan, request->checkpoint, a, error);

    *p = (planner){.plan = plan,
                   .import = request->import,
                   .document = request->document,
                   .config = request->config,
                   .tokens = request->tokens};
    plan->products = request->products;
    plan->watcher = request->watcher;
    if (status == GUFO_OK)
        status = rules_open(&p->rules, p->config->rules, a, error);
    return status == GUFO_OK ? stacks_open(&p->stacks, a, error) : status;
}

static void close_planner(planner *p)
{
    stacks_close(&p->stacks);
    rules_close(&p->rules);
    mem_free(&p->import->allocator, p->firsts);
}

gufo_status tensors_plan(tensor_plan *plan, const tensors_request *request, gufo_error *error)
{
    planner p;
    gufo_status status = open_planner(&p, plan, request, error);

    if (status == GUFO_OK)
        status = plan_all(&p, error);
    close_planner(&p);
    if (status != GUFO_OK)
        tensor_plan_free(plan);
    return status;
}

/* ---- without data --------------------------------------------------------------------------- */

struct tensor_tracer {
    tensor_plan plan;
    planner planner;
};

tensor_tracer *tensor_tracer_new(const tensors_request *request, gufo_error *error)
{
    tensor_tracer *t = mem_object(&request->import->allocator, sizeof *t, error);

    if (t == NULL)
        return NULL;
    if (open_planner(&t->planner, &t->plan, request, error) == GUFO_OK)
        return t;
    tensor_tracer_free(t);
    return NULL;
}

void tensor_tracer_free(tensor_tracer *t)
{
    if (t == NULL)
        return;
    close_planner(&t->planner);
    tensor_plan_free(&t->plan);
    mem_free(&t->planner.import->allocator, t);
}

/* The steps of a rule that are about names, up to one that stacks: then the number of its entries. */
static gufo_status trace_steps(planner *p, item *it, tensor_rule *rule, uint64_t *entries,
                               gufo_error *error)
{
    uint32_t next;
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; i < rule->n_steps && status == GUFO_OK; i++) {
        const operation *o = rule->steps[i].operation;
        tensor_rule one = *rule;
        stack_place place;

        if (o->scope == OPERATION_STACKS) {
            status = find_place(p, it, rule, &rule->steps[i], &place, NULL);
            if (status == GUFO_E_MALFORMED) /* the configuration has no such stacks */
                it->fate = ITEM_DROPPED;
            *entries = place.entries;
            return status == GUFO_E_MALFORMED ? GUFO_OK : status;
        }
        if ((o->flags & OPERATION_DROPS) != 0)
            it->fate = ITEM_DROPPED;
        if (o->scope != OPERATION_ON_NAMES)
            continue;
        one.n_steps = i + 1;
        status = steps_take(p, it, &one, i, &next, error);
    }
    return status;
}

static gufo_status trace_targets(const planner *p, const item *it, const tensor_rule *rule,
                                 tensor_fate *out, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    char name[2 * GUFO_MAX_NAME];

    if (rule == NULL || rule->n_targets == 0) {
        out->count = names_map(p->config->architecture, gufo_str_of(it->name), out->names[0]);
        return GUFO_OK;
    }
    for (uint32_t i = 0; i < rule->n_targets && status == GUFO_OK; i++) {
        status = steps_expand(p, it, rule->targets[i], name, sizeof name, error);
        (void)snprintf(out->names[i], sizeof out->names[i], "%.*s", GUFO_MAX_NAME, name);
    }
    out->count = rule->n_targets;
    return status;
}

gufo_status tensor_trace(tensor_tracer *t, gufo_str name, tensor_fate *out, gufo_error *error)
{
    planner *p = &t->planner;
    const checkpoint_tensor made_up = {.name = name};
    item it = {.from = &made_up, .block = UINT64_MAX, .entry = UINT64_MAX};
    const tensor_rule *rule = NULL;
    gufo_status status;

    *out = (tensor_fate){.count = 0};
    if (name.len > ITEM_NAME)
        return GUFO_OK;
    memcpy(it.name, name.data, name.len);
    for (uint64_t i = 0; i < p->rules.count; i++)
        p->rules.list[i].answer = RULE_UNKNOWN; /* the checkpoint has grown since */
    status = change_name(p, &it, error);
    if (status == GUFO_OK && it.fate == ITEM_PLANNED)
        status = find_rule(p, &it, &rule, error);
    if (status == GUFO_OK && it.fate == ITEM_PLANNED && rule != NULL)
        status = trace_steps(p, &it, &p->rules.list[rule - p->rules.list], &out->entries, error);
    return status == GUFO_OK && it.fate == ITEM_PLANNED ? trace_targets(p, &it, rule, out, error)
                                                        : status;
}
