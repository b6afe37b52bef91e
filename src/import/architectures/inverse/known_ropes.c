/* Factors of rotary frequencies, back to the parameters that gave them.
 *
 * The rows that generate such tensors (the table convert_ops) say by which operation; each operation
 * has its way back here.  Lists are parameters themselves.  Those of rope_type llama3 are found by trying what published models
 * have: with the largest factor known, few are left.  Those of Gemma 4 are ones, and 1e30 for the part
 * of a head that is not rotated. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "import/architectures/inverse/inverse.h"
#include "import/architectures/operations/operation.h"
#include "import/typed_value.h"

enum { MOST_FACTORS = 1 << 16 };

typedef struct factors {
    gufo_str name;
    float *values; /* NULL: the model has no such tensor */
    uint64_t count;
} factors;

static gufo_status read_factors(const gufo_model *model, gufo_str name, factors *out,
                                gufo_error *error)
{
    gufo_tensor t;

    *out = (factors){.name = name};
    if (!gufo_model_tensor_find_str(model, name, &t) || t.n_dims != 1 || t.elements == 0 ||
        t.elements > MOST_FACTORS)
        return GUFO_OK;
    out->values = mem_array(&default_allocator, t.elements, sizeof *out->values);
    if (out->values == NULL)
        return fail_memory(error);
    out->count = t.elements;
    return gufo_tensor_decode(model, &t, 0, 1, out->values, NULL, error);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* What the way back of an operation needs. */
typedef struct taking {
    const factors *factors;
    const rule_step *step; /* of the row that generates them */
    const json_t *keys;
    json_t *fields;
    const inverse_warner *warner;
} taking;

static json_t *list_of(const factors *f)
{
    json_t *list = json_array();

    for (uint64_t i = 0; list != NULL && i < f->count; i++)
        if (json_array_append_new(list, json_real(shortest_real(f->values[i]))) != 0) {
            json_decref(list);
            list = NULL;
        }
    return list;
}

static bool is_finite(const factors *f)
{
    for (uint64_t i = 0; i < f->count; i++)
        if (!isfinite(f->values[i]))
            return false;
    return true;
}

/* The first argument of the step is the field.  JSON has no infinite numbers: the tensor is lost then, with a
 * warning (export/tensors.c). */
static gufo_status take_list(const taking *t, gufo_error *error)
{
    const gufo_str field = t->step->arguments[0];
    json_t *scaling = json_object_get(t->fields, "rope_scaling");

    if (!is_finite(t->factors))
        return GUFO_OK;
    if (!json_is_object(scaling)) {
        scaling = json_object();
        if (json_object_set_new(t->fields, "rope_scaling", scaling) != 0)
            return fail_memory(error);
    }
    return json_object_setn_new(scaling, field.data, field.len, list_of(t->factors)) == 0 &&
                   json_object_set_new(scaling, "rope_type", json_string("longrope")) == 0
               ? GUFO_OK
               : fail_memory(error);
}

/* ---- llama3 ---------------------------------------------------------------------------------- */

/* How many units in the last place a number may be off; above 1: too many. */
static int distance(float a, float b)
{
    if (a == b)
        return 0;
    return nextafterf(a, b) == b ? 1 : 2;
}

static int compare(const llama3_ropes *ropes, const factors *f)
{
    int most = 0;

    for (uint64_t i = 0; i < f->count && most < 2; i++) {
        int off = distance(llama3_factor(ropes, i), f->values[i]);

        most = off > most ? off : most;
    }
    return most;
}

/* Finds the parameters that give the factors; the difference that is left. */
static int find_llama3(const factors *f, llama3_ropes *out)
{
    static const float ends[][2] = {{1, 4}, {1, 1.5f}, {1, 2}, {1, 8}, {1, 16}, {1, 32}, {2, 4}};
    llama3_ropes best = *out;
    int nearest = 2;

    for (size_t i = 0; i < sizeof ends / sizeof *ends && nearest > 0; i++)
        for (unsigned shift = 4; shift <= 24 && nearest > 0; shift++) {
            llama3_ropes tried = *out;
            int off;

            tried.low = ends[i][0];
            tried.high = ends[i][1];
            tried.context = (float)(UINT32_C(1) << shift);
            off = compare(&tried, f);
            if (off < nearest) {
                nearest = off;
                best = tried;
            }
        }
    *out = best;
    return nearest;
}

static bool set_llama3(json_t *fields, const llama3_ropes *r)
{
    json_t *values =
        json_pack("{s:s, s:f, s:f, s:f, s:I}", "rope_type", "llama3", "factor",
                  shortest_real(r->factor), "low_freq_factor", (double)r->low, "high_freq_factor",
                  (double)r->high, "original_max_position_embeddings", (json_int_t)r->context);

    return values != NULL && json_object_set_new(fields, "rope_scaling", values) == 0;
}

/* Says something about a tensor. */
static gufo_status warn(const taking *t, const char *before, const char *after, gufo_error *error)
{
    char sentence[GUFO_MESSAGE_SIZE];

    if (t->warner == NULL)
        return GUFO_OK;
    (void)snprintf(sentence, sizeof sentence, "%s %s%s", before, QUOTED(t->factors->name), after);
    return t->warner->warn(t->warner->context, sentence, error);
}

static gufo_status take_llama3(const taking *t, gufo_error *error)
{
    const factors *f = t->factors;
    const json_t *base = json_object_get(json_object_get(t->keys, "rope"), "freq_base");
    llama3_ropes ropes = {.base = json_is_number(base) ? (float)json_number_value(base) : 10000,
                          .factor = f->values[f->count - 1],
                          .size = (float)(2 * f->count)};
    int off = find_llama3(f, &ropes);

    if (off > 1)
        return warn(t, "no parameters are known that give the factors of",
                    ": config.json does not have them", error);
    if (!set_llama3(t->fields, &ropes))
        return fail_memory(error);
    return off == 0 ? GUFO_OK
                    : warn(t, "the parameters in config.json give the factors of",
                           " up to their last bit", error);
}

/* ---- parts of heads -------------------------------------------------------------------------- */

static bool is_proportional(const factors *f, uint64_t *rotated)
{
    uint64_t ones = 0;

    while (ones < f->count && f->values[ones] == 1)
        ones++;
    *rotated = ones;
    for (uint64_t i = ones; i < f->count; i++)
        if (f->values[i] != 1e30f)
            return false;
    return true;
}

static gufo_status take_proportional(const taking *t, gufo_error *error)
{
    json_t *all = json_object_get(json_object_get(t->fields, "rope_parameters"), "full_attention");
    uint64_t rotated;
    double part;

    if (!is_proportional(t->factors, &rotated)) /* likewise */
        return GUFO_OK;
    part = shortest_real((float)rotated / (float)t->factors->count);
    if (all == NULL) {
        all = json_object();
        if (json_object_set_new(t->fields, "rope_scaling", all) != 0)
            return fail_memory(error);
    }
    return json_object_set_new(all, "rope_type", json_string("proportional")) == 0 &&
                   json_object_set_new(all, "partial_rotary_factor", json_real(part)) == 0
               ? GUFO_OK
               : fail_memory(error);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* The way back of each operation that generates factors. */
static const struct way_row {
    const char *operation;
    gufo_status (*take)(const taking *t, gufo_error *error);
} ways[] = {
    {"llama3", take_llama3},
    {"proportional", take_proportional},
    {"factors", take_list},
};

/* The parameters behind the tensor that a row generates. */
static gufo_status take(const gufo_model *model, const tensor_rule *rule, taking *t,
                        gufo_error *error)
{
    const struct way_row *way = NULL;
    factors f;
    gufo_status status;

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(rule->steps[0].operation->name, ways[i].operation) == 0)
            way = &ways[i];
    if (way == NULL)
        return GUFO_OK;
    status = read_factors(model, rule->targets[0], &f, error);
    t->factors = &f;
    t->step = &rule->steps[0];
    if (status == GUFO_OK && f.values != NULL)
        status = way->take(t, error);
    mem_free(&default_allocator, f.values);
    t->factors = NULL;
    return status;
}

gufo_status known_ropes(const gufo_model *model, const char *architecture, const json_t *keys,
                        json_t *fields, const inverse_warner *warner, gufo_error *error)
{
    taking t = {.keys = keys, .fields = fields, .warner = warner};
    tensor_rules rules = {.allocator = NULL};
    gufo_status status = rules_open(&rules, architecture, &default_allocator, error);

    for (uint64_t i = 0; i < rules.count && status == GUFO_OK; i++) {
        const tensor_rule *rule = &rules.list[i];

        if (rule->phase == RULE_GENERATED && rule->n_steps > 0 && rule->n_targets == 1)
            status = take(model, rule, &t, error);
    }
    rules_close(&rules);
    return status;
}
