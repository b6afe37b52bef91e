/* Loss over size, for a page: plans of many sizes, and the fixed mixtures that come up among them. */
#include "cli/quantize/quantize.h"

#include <stdlib.h>
#include <string.h>

enum {
    SIZES = 24, /* of the curve */
    MOST_POINTS = 2 * SIZES + 3 * GUFO_QUANTIZE_TARGETS,
};

/* From the least size to that of about Q8_0, which loses hardly anything. */
static const double most_bits = 8.6;

typedef struct size_curve {
    gufo_report_size_point *points;
    size_t count;
} size_curve;

static void add_point(size_curve *c, uint64_t size, double loss, gufo_str name, bool is_chosen)
{
    for (size_t i = 0; name.len > 0 && i < c->count; i++)
        if (gufo_str_equal(c->points[i].name, name))
            return;
    if (c->count < MOST_POINTS)
        c->points[c->count++] = (gufo_report_size_point){
            .size = size, .loss = loss, .name = name, .is_chosen = is_chosen};
}

static void add_result(size_curve *c, const gufo_size_result *r, gufo_str name)
{
    add_point(c, r->size, r->loss, name, name.len > 0);
    if (r->mixture != NULL)
        add_point(c, r->mixture_size, r->mixture_loss, gufo_str_of(r->mixture->name), false);
}

/* The same choice with sizes of files, from which the least is known. */
static bool find_least(quantize_options *o, const gufo_size_result *chosen, uint64_t *least)
{
    const gufo_size_target target = {.bytes = chosen->size};
    gufo_size_plan *plan = size_plan_for(o, &target, 1);
    gufo_size_result result;
    bool found = plan != NULL && gufo_size_plan_at(plan, 0, &result);

    if (found)
        *least = result.least;
    gufo_size_plan_free(plan);
    return found;
}

static void add_plans(quantize_options *o, size_curve *c, const gufo_size_target *targets,
                      size_t count)
{
    gufo_size_plan *plan = count > 0 ? size_plan_for(o, targets, count) : NULL;
    gufo_size_result result;

    for (size_t i = 0; plan != NULL && gufo_size_plan_at(plan, i, &result); i++)
        add_result(c, &result, (gufo_str){"", 0});
    gufo_size_plan_free(plan);
}

/* From the least size on, evenly. */
static void add_even(quantize_options *o, size_curve *c, uint64_t least, double most)
{
    gufo_size_target targets[SIZES] = {{.bytes = 0}};

    for (size_t i = 0; i < SIZES; i++)
        targets[i].bytes =
            least + (uint64_t)((most - (double)least) * (double)i / (double)(SIZES - 1));
    add_plans(o, c, targets, SIZES);
}

/* Plans as large as the mixtures: between other plans the curve would only be near them. */
static void add_beside_mixtures(quantize_options *o, size_curve *c, uint64_t least)
{
    gufo_size_target targets[GUFO_QUANTIZE_TARGETS] = {{.bytes = 0}};
    size_t count = 0;

    for (size_t i = 0; i < c->count && count < GUFO_QUANTIZE_TARGETS; i++)
        if (c->points[i].name.len > 0 && !c->points[i].is_chosen && c->points[i].size >= least)
            targets[count++].bytes = c->points[i].size;
    add_plans(o, c, targets, count);
}

static int by_size(const void *a, const void *b)
{
    const gufo_report_size_point *x = a, *y = b;

    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->loss < y->loss) - (x->loss > y->loss);
}

/* What has no curve has none: the page then shows what was chosen. */
int size_add_curve(quantize_options *o, report_store *store, gufo_report_content *content)
{
    size_curve c = {.points = report_store_room(store, MOST_POINTS, sizeof *c.points)};
    gufo_size_result result;
    uint64_t least;

    if (c.points == NULL)
        return CODE_FAILED;
    for (size_t i = 0; gufo_size_plan_at(o->size.plan, i, &result); i++)
        add_result(&c, &result, gufo_str_of(o->size.labels[i]));
    if (c.count > 0 && gufo_size_plan_at(o->size.plan, 0, &result) &&
        find_least(o, &result, &least)) {
        double most =
            (double)(result.size - result.data_size) + (double)result.elements * most_bits / 8;

        if (most > (double)least)
            add_even(o, &c, least, most);
        add_beside_mixtures(o, &c, least);
    }
    qsort(c.points, c.count, sizeof *c.points, by_size);
    content->sizes = c.points;
    content->size_count = c.count;
    return CODE_OK;
}
