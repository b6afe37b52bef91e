/* All tensors of a checkpoint under their own names, for an architecture without rules.
 *
 * What GGUF does not allow is changed, and said in two lists of pairs: names that are too long, and
 * shapes with more than four axes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "import/architectures/plan/plan.h"
#include "import/containers/checkpoint.h"

/* ---- names ---------------------------------------------------------------------------------- */

/* Names that fit into a GGUF file: readers that end names with a NUL have room for 63 bytes.  A hash of
 * the whole name tells long ones with one beginning apart. */

enum { KEPT_BYTES = 46 };

/* A character is not cut: a name is text. */
static size_t kept_bytes(gufo_str name)
{
    size_t kept = KEPT_BYTES;

    while (kept > 0 && ((uint8_t)name.data[kept] & 0xc0u) == 0x80)
        kept--;
    return kept;
}

/* The name itself; or, of one with more than SHORT_NAME_MAX bytes, its first 46 bytes, "~", and the 16
 * digits of its XXH64: true then. */
static bool short_name(gufo_str name, char out[GUFO_MAX_NAME + 1])
{
    bool is_long = name.len > SHORT_NAME_MAX;

    if (is_long)
        (void)snprintf(out, GUFO_MAX_NAME + 1, "%.*s~%016" PRIx64, (int)kept_bytes(name), name.data,
                       xxh64_of(name));
    else
        (void)snprintf(out, GUFO_MAX_NAME + 1, "%.*s", (int)name.len, name.data);
    return is_long;
}

/* Pairs of texts, which become a key. */
typedef struct pairs {
    const gufo_allocator *allocator;
    gufo_str *texts;
    uint64_t count, room;
} pairs;

typedef struct generic {
    tensor_plan *plan;
    const model_config *config;
    gufo_import *import;
    pairs names, shapes;
} generic;

/* ---- pairs ---------------------------------------------------------------------------------- */

static gufo_status add_text(pairs *p, gufo_str text, gufo_error *error)
{
    gufo_str *list = mem_grow(p->allocator, p->texts, p->count, &p->room, sizeof *list);

    if (list == NULL)
        return fail_memory(error);
    p->texts = list;
    list[p->count].len = text.len;
    list[p->count].data = mem_text(p->allocator, text);
    if (list[p->count].data == NULL)
        return fail_memory(error);
    p->count++;
    return GUFO_OK;
}

static gufo_status add_pair(pairs *p, const char *first, gufo_str second, gufo_error *error)
{
    gufo_status status = add_text(p, gufo_str_of(first), error);

    return status == GUFO_OK ? add_text(p, second, error) : status;
}

static void free_pairs(pairs *p)
{
    for (uint64_t i = 0; i < p->count; i++)
        mem_free(p->allocator, (void *)p->texts[i].data);
    mem_free(p->allocator, p->texts);
}

/* The key NAME.tensor_WHAT.original. */
static gufo_status write_pairs(const generic *g, const pairs *p, const char *what,
                               gufo_error *error)
{
    const gufo_items items = {GUFO_VALUE_STRING, p->count, p->texts};
    char key[256];
    int len = snprintf(key, sizeof key, "%s.tensor_%s.original", g->config->architecture, what);

    if (p->count == 0)
        return GUFO_OK;
    if (len < 0 || (size_t)len >= sizeof key)
        return refuse(error, GUFO_E_LIMIT, "the name of the architecture is too long");
    return gufo_document_set_array(g->import->document, key, &items, error);
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* "2,3,4,5,6" */
static void write_shape(const view *v, char *out, size_t size)
{
    size_t at = 0;

    for (uint32_t i = 0; i < v->n_dims; i++) {
        int len = snprintf(out + at, size - at, "%s%" PRIu64, i > 0 ? "," : "", v->shape[i]);

        at += len > 0 && (size_t)len < size - at ? (size_t)len : 0;
    }
}

/* The slowest axes become one, until four are left. */
static gufo_status join_axes(generic *g, view *v, const char *name, gufo_error *error)
{
    uint32_t more = v->n_dims - GUFO_MAX_DIMS;
    uint64_t shape[GUFO_MAX_DIMS] = {1};
    char text[VIEW_DIMS * 21] = "";
    gufo_status status;

    write_shape(v, text, sizeof text);
    status = add_pair(&g->shapes, name, gufo_str_of(text), error);
    for (uint32_t i = 0; i <= more; i++)
        if (!checked_mul(shape[0], v->shape[i], &shape[0]))
            return refuse(error, GUFO_E_LIMIT, "it has more numbers than can be counted");
    for (uint32_t i = 1; i < GUFO_MAX_DIMS; i++)
        shape[i] = v->shape[more + i];
    return status == GUFO_OK ? view_reshape(v, GUFO_MAX_DIMS, shape, error) : status;
}

static gufo_status add_tensor(generic *g, const checkpoint_tensor *t, gufo_error *error)
{
    const checkpoint *c = g->plan->checkpoint;
    char name[GUFO_MAX_NAME + 1];
    view v = {0};
    gufo_status status;
    bool is_long;

    if (t->name.len == 0 || memchr(t->name.data, '\0', t->name.len) != NULL)
        return checkpoint_refuse(c, t, GUFO_E_TYPE, error, "the tensor name %s is not one for GGUF",
                                 QUOTED(t->name));
    is_long = short_name(t->name, name);
    status = view_open(&v, c, t, g->plan->allocator, error);
    if (status == GUFO_OK && is_long)
        status = add_pair(&g->names, name, t->name, error);
    if (status == GUFO_OK && v.n_dims > GUFO_MAX_DIMS)
        status = join_axes(g, &v, name, error);
    if (status == GUFO_OK)
        status = plan_add(g->plan, gufo_str_of(name), &v, t, PLAN_TYPE_GENERIC, error);
    if (status == GUFO_OK)
        plan_note_first(g->plan, t);
    view_free(&v);
    return checkpoint_fail(c, t, status, error);
}

gufo_status tensors_plan_generic(tensor_plan *plan, gufo_import *import, const checkpoint *c,
                                 const model_config *config, gufo_error *error)
{
    const gufo_allocator *a = &import->allocator;
    generic g = {.plan = plan,
                 .config = config,
                 .import = import,
                 .names.allocator = a,
                 .shapes.allocator = a};
    gufo_status status = plan_begin(plan, c, a, error);

    for (uint64_t i = 0; i < c->tensor_count && status == GUFO_OK; i++)
        status = add_tensor(&g, &c->tensors[i], error);
    if (status == GUFO_OK)
        status = write_pairs(&g, &g.names, "names", error);
    if (status == GUFO_OK)
        status = write_pairs(&g, &g.shapes, "shapes", error);
    if (status == GUFO_OK)
        status = plan_finish(plan, error);
    free_pairs(&g.names);
    free_pairs(&g.shapes);
    if (status != GUFO_OK)
        tensor_plan_free(plan);
    return status;
}
