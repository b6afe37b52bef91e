/* Shapes of tensors.
 *
 *     expected   "embedding_length,vocab"  -> [4096, 32000]
 *     found      [4096, 32064]
 *
 * For the architectures of the specification another shape is an error.  For others the registry
 * has what is known from readers, and it is a warning.  The number of rows that a vocabulary needs
 * is special: models are often padded to a round number of rows. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "schema/check/arch_values.h"
#include "schema/check/tensors.h"

typedef struct dims_text {
    char text[4 * 24];
} dims_text;

static dims_text dims_of(const uint64_t *dims, unsigned count)
{
    dims_text out;
    size_t at = 0;

    out.text[at++] = '[';
    for (unsigned i = 0; i < count; i++)
        at += (size_t)snprintf(out.text + at, sizeof out.text - at, "%s%" PRIu64, i > 0 ? ", " : "",
                               dims[i]);
    (void)snprintf(out.text + at, sizeof out.text - at, "]");
    return out;
}

/* ---- what is expected ----------------------------------------------------------------------- */

/* The formula for a tensor, "" if none exists: the architecture's own one, or the general one.
 * Tensors of other architectures are not judged. */
static const char *expected_shape(const tensor_context *t, const parsed_name *name)
{
    const gufo_tensor_info *info = name->match.info;
    const gufo_arch_tensor *row = arch_row(t, info);
    bool bias = gufo_str_equal(name->match.suffix, gufo_str_of(".bias"));
    const char *own;

    if (row == NULL || !(bias || tensor_is_weight(name)))
        return "";
    own = bias ? row->bias_shape : row->shape;
    if (own[0] == '\0')
        return bias ? info->bias_shape : info->shape;
    return strcmp(own, "-") == 0 ? "" : own;
}

typedef struct shape_lookup {
    const tensor_context *t;
    bool asked_vocabulary;
} shape_lookup;

static bool look_up(void *context, gufo_str name, uint64_t block, uint64_t *out)
{
    shape_lookup *lookup = context;

    if (!gufo_str_equal(name, gufo_str_of("vocab")))
        return arch_value(lookup->t->c, name, block, out);
    lookup->asked_vocabulary = true;
    if (lookup->t->c->read != NULL)
        return vocabulary_size(lookup->t->c, out);
    *out = lookup->t->vocabulary;
    return lookup->t->vocabulary_known;
}

/* ---- comparing ------------------------------------------------------------------------------ */

/* Whether rows of a vocabulary are all that differs; *rows: how many there are. */
static bool only_rows_differ(const tensor_context *t, const uint64_t *expected,
                             const uint64_t *found, uint64_t *rows)
{
    size_t different = 0;

    for (size_t i = 0; i < GUFO_MAX_DIMS; i++)
        if (expected[i] != found[i]) {
            different += expected[i] == t->vocabulary ? 1 : 2;
            *rows = found[i];
        }
    return different == 1;
}

static rule_number rule_for_shape(const tensor_context *t)
{
    return strcmp(t->c->arch->status, "standard") == 0 ? RULE_TENSOR_SHAPE
                                                       : RULE_TENSOR_SHAPE_IMPLIED;
}

static rule_number rule_for_rows(const tensor_context *t, uint64_t rows)
{
    if (rows > t->vocabulary)
        return RULE_VOCABULARY_PADDING;
    return rule_for_shape(t) == RULE_TENSOR_SHAPE ? RULE_VOCABULARY_ROWS
                                                  : RULE_TENSOR_SHAPE_IMPLIED;
}

static void report_rows(tensor_context *t, const named_tensor *v, uint64_t rows)
{
    schema_report(t->c, rule_for_rows(t, rows), at_tensor(&v->tensor),
                  "tensor %s has %" PRIu64 " rows for %" PRIu64 " tokens", QUOTED(v->tensor.name),
                  rows, t->vocabulary);
}

/* A dimension that the keys give, and the keys. */
typedef struct judged_dimension {
    uint64_t expected;
    keys_read read;
} judged_dimension;

/* Evaluates the next dimension of a shape; false if the keys do not give it. */
static bool judge_dimension(tensor_context *t, uint64_t block, const char **shape,
                            judged_dimension *out)
{
    shape_lookup lookup = {.t = t};
    uint64_t dims[GUFO_MAX_DIMS];
    char part[4 * GUFO_MAX_NAME];
    gufo_str piece = str_piece(shape, ',');
    bool known;

    (void)snprintf(part, sizeof part, "%.*s", (int)piece.len, piece.data);
    out->read.count = 0;
    t->c->read = &out->read;
    known = gufo_shape_evaluate(part, block, look_up, &lookup, dims) == 1;
    t->c->read = NULL;
    out->expected = known ? dims[0] : 0;
    return known;
}

/* Reports which keys each dimension comes from, and whether it fits. */
static void judge_dimensions(tensor_context *t, const named_tensor *v, const char *shape)
{
    judged_dimension d;

    for (unsigned i = 0; *shape != '\0' && i < GUFO_MAX_DIMS; i++)
        if (judge_dimension(t, v->name.block, &shape, &d))
            t->c->options->dimension(t->c->context, d.read.keys, d.read.count,
                                     d.expected == v->tensor.dims[i]);
}

static bool has_zero(const uint64_t *dims)
{
    for (size_t i = 0; i < GUFO_MAX_DIMS; i++)
        if (dims[i] == 0)
            return true;
    return false;
}

/* Whether a dimension of 0 says nothing about a tensor that exists: one of a list, as of heads in a block
 * without attention, or of a key that means another one where it is 0. */
static bool means_nothing(const check_context *c, const keys_read *read)
{
    gufo_entry entry;

    for (size_t i = 0; i < read->count; i++)
        if (!gufo_metadata_find_str(c->model, read->keys[i], &entry) ||
            entry.value.type == GUFO_VALUE_ARRAY ||
            str_ends(entry.key, "_shared_feed_forward_length"))
            return true;
    return read->count == 0;
}

static bool may_be_zero(tensor_context *t, const named_tensor *v, const char *shape)
{
    judged_dimension d;

    while (*shape != '\0')
        if (judge_dimension(t, v->name.block, &shape, &d) && d.expected == 0 &&
            means_nothing(t->c, &d.read))
            return true;
    return false;
}

void schema_tensor_shape(tensor_context *t, const named_tensor *v)
{
    uint64_t expected[GUFO_MAX_DIMS] = {1, 1, 1, 1}, rows = 0;
    shape_lookup lookup = {.t = t};
    const char *shape;
    unsigned count;

    /* Another check reports dimensions that make no sense. */
    if (t->c->arch == NULL || !v->name.known || v->tensor.elements == 0)
        return;
    shape = expected_shape(t, &v->name);
    count = gufo_shape_evaluate(shape, v->name.block, look_up, &lookup, expected);
    if (count == 0 || (has_zero(expected) && may_be_zero(t, v, shape)))
        return;
    if (t->c->options->dimension != NULL)
        judge_dimensions(t, v, shape);
    if (memcmp(expected, v->tensor.dims, sizeof expected) == 0)
        return;
    if (lookup.asked_vocabulary && only_rows_differ(t, expected, v->tensor.dims, &rows))
        report_rows(t, v, rows);
    else
        schema_report(t->c, rule_for_shape(t), at_tensor(&v->tensor),
                      "tensor %s has the shape %s, not %s: %s", QUOTED(v->tensor.name),
                      dims_of(v->tensor.dims, v->tensor.n_dims).text, dims_of(expected, count).text,
                      shape);
}
