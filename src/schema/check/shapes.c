/* Shapes of tensors.
 *
 *     expected   "embedding_length,vocab"  -> [4096, 32000]: embedding_length 4096, vocabulary 32000
 *     found      [4096, 32064]
 *
 * For the architectures of the specification another shape is an error.  For others the registry
 * has what is known from readers, and it is a warning.  The number of rows that a vocabulary needs
 * is special: models are often padded to a round number of rows. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "schema/check/check.h"
#include "schema/check/tensors.h"
#include "schema/registry/key.h"

#define COUNT_OF(table) (sizeof(table) / sizeof *(table))

typedef struct dims_text {
    char text[4 * 24];
} dims_text;

/* "[4096, 32000]", with "?" for what is not known (`known` NULL: all are). */
static dims_text dims_of(const uint64_t *dims, const bool *known, unsigned count)
{
    dims_text out;
    size_t at = 0;

    out.text[at++] = '[';
    for (unsigned i = 0; i < count; i++) {
        at += (size_t)snprintf(out.text + at, sizeof out.text - at, "%s", i > 0 ? ", " : "");
        at += known == NULL || known[i]
                  ? (size_t)snprintf(out.text + at, sizeof out.text - at, "%" PRIu64, dims[i])
                  : (size_t)snprintf(out.text + at, sizeof out.text - at, "?");
    }
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
        return arch_block_value(lookup->t->c, name, block, out);
    lookup->asked_vocabulary = true;
    if (lookup->t->c->read != NULL)
        return vocabulary_size(lookup->t->c, out);
    *out = lookup->t->vocabulary;
    return lookup->t->vocabulary_known;
}

/* A shape as the keys give it, dimension by dimension: of some, keys may be missing. */
typedef struct judged_shape {
    const char *formula;
    unsigned count;
    uint64_t dims[GUFO_MAX_DIMS]; /* 1 behind the last */
    bool known[GUFO_MAX_DIMS];
    char parts[GUFO_MAX_DIMS]
              [4 * GUFO_MAX_NAME]; /* of the formula, which has the names in `read` */
    keys_read read[GUFO_MAX_DIMS];
    bool asked_vocabulary;
} judged_shape;

/* Evaluates the next dimension of a shape. */
static void judge_dimension(tensor_context *t, uint64_t block, const char **rest, judged_shape *out)
{
    shape_lookup lookup = {.t = t};
    unsigned i = out->count++;
    uint64_t dims[GUFO_MAX_DIMS];
    char *part = out->parts[i];
    gufo_str piece = str_piece(rest, ',');

    (void)snprintf(part, sizeof out->parts[i], "%.*s", (int)piece.len, piece.data);
    t->c->read = &out->read[i];
    out->known[i] = gufo_shape_evaluate(part, block, look_up, &lookup, dims) == 1;
    t->c->read = NULL;
    if (out->known[i])
        out->dims[i] = dims[0];
    out->asked_vocabulary |= lookup.asked_vocabulary;
}

/* False if nothing is known of the shape. */
static bool judge_shape(tensor_context *t, const named_tensor *v, judged_shape *out)
{
    const char *rest = expected_shape(t, &v->name);
    bool known = false;

    *out = (judged_shape){.formula = rest, .dims = {1, 1, 1, 1}};
    while (*rest != '\0' && out->count < GUFO_MAX_DIMS) {
        judge_dimension(t, v->name.block, &rest, out);
        known |= out->known[out->count - 1];
    }
    return known;
}

/* ---- in words ------------------------------------------------------------------------------- */

enum { SENTENCE_SIZE = 320 };

static size_t put(char *out, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static size_t put(char *out, size_t at, const char *format, ...)
{
    va_list list;
    int len;

    va_start(list, format);
    len = vsnprintf(out + at, SENTENCE_SIZE - at, format, list);
    va_end(list);
    return len < 0 || (size_t)len >= SENTENCE_SIZE - at ? SENTENCE_SIZE - 1 : at + (size_t)len;
}

/* A name of a formula with its value: "embedding_length 64", "vocabulary 320". */
static size_t put_name(tensor_context *t, uint64_t block, gufo_str name, char *out, size_t at)
{
    shape_lookup lookup = {.t = t};
    uint64_t value;

    if (gufo_str_equal(name, gufo_str_of("vocab")))
        at = put(out, at, "vocabulary");
    else
        at = put(out, at, "%.*s", (int)name.len, name.data);
    return look_up(&lookup, name, block, &value) ? put(out, at, " %" PRIu64, value)
                                                 : put(out, at, " (not given)");
}

/* The formula with the values of its names: "embedding_length 64, head_count_kv 2 * key_length 16". */
static void put_formula(tensor_context *t, const named_tensor *v, const char *formula,
                        char out[SENTENCE_SIZE])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_.";
    size_t at = 0, len;

    out[0] = '\0';
    for (; *formula != '\0'; formula += len) {
        len = strspn(formula, letters);
        if (len > 0 && (*formula < '0' || *formula > '9')) {
            at = put_name(t, v->name.block, (gufo_str){formula, len}, out, at);
            continue;
        }
        len = len > 0 ? len : 1;
        at = strchr("+-*/", *formula) != NULL ? put(out, at, " %c ", *formula)
             : *formula == ','                ? put(out, at, ", ")
                                              : put(out, at, "%.*s", (int)len, formula);
    }
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
                  "tensor %s has %s rows for %s tokens", QUOTED(v->tensor.name), GROUPED(rows),
                  GROUPED(t->vocabulary));
}

/* Reports which keys each dimension comes from, and whether it fits. */
static void report_dimensions(tensor_context *t, const named_tensor *v, const judged_shape *shape)
{
    for (unsigned i = 0; i < shape->count; i++)
        if (shape->known[i])
            t->c->options->dimension(t->c->context, shape->read[i].keys, shape->read[i].count,
                                     shape->dims[i] == v->tensor.dims[i]);
}

/* Whether 0 says nothing: in a list, as of heads in a block without attention, or of a key that means
 * another one where it is 0.  A block of which a list says that it has no feed-forward part has none. */
static bool is_silent(const gufo_entry *entry)
{
    if (str_ends(entry->key, "_shared_feed_forward_length"))
        return true;
    return entry->value.type == GUFO_VALUE_ARRAY && !str_ends(entry->key, ".feed_forward_length");
}

/* Whether a dimension of 0 says nothing about a tensor that exists. */
static bool means_nothing(const check_context *c, const keys_read *read)
{
    gufo_entry entry;

    for (size_t i = 0; i < read->count; i++)
        if (!gufo_model_find_str(c->model, read->keys[i], &entry) || is_silent(&entry))
            return true;
    return read->count == 0;
}

static bool may_be_zero(const tensor_context *t, const judged_shape *shape)
{
    for (unsigned i = 0; i < shape->count; i++)
        if (shape->known[i] && shape->dims[i] == 0 && means_nothing(t->c, &shape->read[i]))
            return true;
    return false;
}

/* ---- keys that are missing ------------------------------------------------------------------ */

/* The key of the architecture that a formula calls `name`; NULL if it has none, or needs it, which is
 * another finding. */
static const gufo_arch_key *formula_key(const check_context *c, gufo_str name)
{
    for (size_t i = 0; i < c->key_count; i++)
        if (gufo_str_equal(arch_short_name(gufo_str_of(c->keys[i].key)), arch_short_name(name)))
            return c->keys[i].need != GUFO_REQUIRED ? &c->keys[i] : NULL;
    return NULL;
}

static bool is_told(tensor_context *t, const gufo_arch_key *key)
{
    for (size_t i = 0; i < t->told_count; i++)
        if (t->told[i] == key)
            return true;
    if (t->told_count == MOST_TOLD)
        return true;
    t->told[t->told_count++] = key;
    return false;
}

/* A dimension of a tensor that is there shows a number that no key says. */
static void report_missing(tensor_context *t, const named_tensor *v, const judged_shape *shape)
{
    for (unsigned i = 0; i < shape->count; i++) {
        const gufo_arch_key *key = !shape->known[i] && shape->read[i].missing.len > 0
                                       ? formula_key(t->c, shape->read[i].missing)
                                       : NULL;
        char name[KEY_SIZE];

        if (key == NULL || is_told(t, key))
            continue;
        (void)snprintf(name, sizeof name, "%s.%s", key->arch, key->key);
        schema_report(t->c, RULE_DIMENSION_KEY, at_missing(name),
                      "key \"%s\" is missing; tensor %s with the shape %s needs it", name,
                      QUOTED(v->tensor.name), dims_of(v->tensor.dims, NULL, v->tensor.n_dims).text);
    }
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool fits(const judged_shape *shape, const gufo_tensor *tensor)
{
    for (unsigned i = 0; i < GUFO_MAX_DIMS; i++)
        if ((i >= shape->count || shape->known[i]) && shape->dims[i] != tensor->dims[i])
            return false;
    return true;
}

static void report_shape(tensor_context *t, const named_tensor *v, const judged_shape *shape)
{
    char formula[SENTENCE_SIZE];

    put_formula(t, v, shape->formula, formula);
    schema_report(t->c, rule_for_shape(t), at_tensor(&v->tensor),
                  "tensor %s has the shape %s; expected is %s: %s", QUOTED(v->tensor.name),
                  dims_of(v->tensor.dims, NULL, v->tensor.n_dims).text,
                  dims_of(shape->dims, shape->known, shape->count).text, formula);
}

void schema_tensor_shape(tensor_context *t, const named_tensor *v)
{
    judged_shape shape;
    uint64_t rows = 0;

    /* Another check reports dimensions that make no sense. */
    if (t->c->arch == NULL || !v->name.known || v->tensor.elements == 0)
        return;
    if (!judge_shape(t, v, &shape) && shape.count == 0)
        return;
    report_missing(t, v, &shape);
    if (may_be_zero(t, &shape))
        return;
    if (t->c->options->dimension != NULL)
        report_dimensions(t, v, &shape);
    if (fits(&shape, &v->tensor))
        return;
    if (shape.asked_vocabulary && only_rows_differ(t, shape.dims, v->tensor.dims, &rows))
        report_rows(t, v, rows);
    else
        report_shape(t, v, &shape);
}
