/* Adapters: small changes of a model, in a separate file.
 *
 *     NAME.lora_a   [columns, rank]      of the tensor NAME, which is
 *     NAME.lora_b   [rank, rows]         [columns, rows]
 *
 * Of the token embedding, whose rows are looked up, A is [rank, rows] and B is [rank, columns].
 * Tensors of the model are not there, and none is needed. */
#include "schema/check/identity.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "schema/check/check.h"

/* ---- keys ----------------------------------------------------------------------------------- */

static void check_adapter_type(check_context *c)
{
    gufo_entry entry;
    gufo_str type;

    if (!gufo_model_find(c->model, "adapter.type", &entry))
        schema_report(
            c, RULE_ADAPTER_TYPE,
            with_fix(at_missing("adapter.type"),
                     fix_text(GUFO_FIX_SET, gufo_str_of("adapter.type"), gufo_str_of("lora"))),
            "key \"adapter.type\" is missing; the file says that it is an adapter");
    else if (gufo_value_str(&entry.value, &type, NULL) == GUFO_OK &&
             !gufo_str_equal(type, gufo_str_of("lora")))
        schema_report(c, RULE_ADAPTER_TYPE, at_entry(&entry),
                      "adapter.type is %s; readers know \"lora\"", QUOTED(type));
}

/* With a base, schema_check_base looks closer. */
static void check_alpha(check_context *c)
{
    gufo_entry entry;
    double alpha;

    if (!gufo_model_find(c->model, "adapter.lora.alpha", &entry) && c->options->base != NULL)
        return;
    if (!gufo_model_find(c->model, "adapter.lora.alpha", &entry))
        schema_report(c, RULE_ADAPTER_ALPHA, at_missing("adapter.lora.alpha"),
                      "key \"adapter.lora.alpha\" is missing; readers then do not scale by "
                      "alpha and rank");
    else if (gufo_value_f64(&entry.value, &alpha, NULL) == GUFO_OK && !isfinite(alpha))
        schema_report(c, RULE_ADAPTER_ALPHA_FINITE, at_entry(&entry), "adapter.lora.alpha is %s",
                      isnan(alpha) ? "not a number" : "infinite");
}

/* ---- pairs ---------------------------------------------------------------------------------- */

/* Whether its numbers are floats, or become some. */
static bool holds_weights(const gufo_tensor *tensor)
{
    static const uint32_t others[] = {GUFO_TYPE_I8, GUFO_TYPE_I16, GUFO_TYPE_I32, GUFO_TYPE_I64,
                                      GUFO_TYPE_F64};
    const gufo_element_type *type = gufo_element_type_by_id(tensor->type);

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (tensor->type == others[i])
            return false;
    return type != NULL && (type->flags & GUFO_ELEMENT_DECODES) != 0;
}

static void look_at(check_context *c, const gufo_tensor *tensor, bool paired)
{
    if (!holds_weights(tensor))
        schema_report(c, RULE_ADAPTER_NUMBERS, at_tensor(tensor),
                      "tensor %s is neither of floats nor quantized", QUOTED(tensor->name));
    if (adapter_is_magnitude(tensor->name))
        schema_report(c, RULE_ADAPTER_DORA, at_tensor(tensor),
                      "tensor %s is a magnitude of DoRA: gufo cannot merge it, and without it the "
                      "adapter gives other results",
                      QUOTED(tensor->name));
    else if (!paired && !name_ends(tensor->name, "_norm.weight"))
        schema_report(c, RULE_ADAPTER_TENSOR, at_tensor(tensor),
                      "tensor %s is neither lora_a nor lora_b of another one",
                      QUOTED(tensor->name));
}

static void compare(check_context *c, const gufo_tensor *a, const gufo_tensor *b, gufo_str base)
{
    size_t side = adapter_is_looked_up(base) ? 0 : 1;
    bool sized = a->elements != 0 && b->elements != 0;

    if (a->dims[side] == 0 || b->dims[0] == 0)
        schema_report(c, RULE_ADAPTER_RANK, at_tensor(a), "the adapter of %s has rank 0",
                      QUOTED(base));
    else if (sized && a->dims[side] != b->dims[0])
        schema_report(c, RULE_ADAPTER_SHAPE, at_tensor(a),
                      "the adapter of %s has rank %" PRIu64 " in lora_a and %" PRIu64 " in lora_b",
                      QUOTED(base), a->dims[side], b->dims[0]);
    else if (sized && (a->dims[2] != b->dims[2] || a->dims[3] != b->dims[3]))
        schema_report(c, RULE_ADAPTER_SHAPE, at_tensor(a),
                      "the adapter of %s is for %s matrices in lora_a and %s in lora_b",
                      QUOTED(base), GROUPED(a->dims[2] * a->dims[3]),
                      GROUPED(b->dims[2] * b->dims[3]));
    if (c->tensor_count > 0 && !gufo_tensor_info_find_str(base, NULL))
        schema_report(c, RULE_ADAPTER_BASE, at_tensor(a),
                      "the adapter changes tensor %s, whose name is not known", QUOTED(base));
}

void schema_check_adapter(check_context *c)
{
    static const pair_rules pairs = {{".lora_a", ".lora_b"}, RULE_ADAPTER_PAIR, look_at, compare};

    check_adapter_type(c);
    check_alpha(c);
    schema_check_pairs(c, &pairs);
}

/* An adapter and its base, the model that it changes:
 *
 *     base                 adapter
 *     NAME [c, r, m]       NAME.lora_a [c, rank, m] and NAME.lora_b [rank, r, m], a pair
 *                          or NAME [c, r, m], which takes its place
 *
 * What an adapter says of itself is checked by adapter.c.  An adapter that breaks a rule of either
 * file cannot be merged. */

static const char lora_a[] = ".lora_a", lora_b[] = ".lora_b";

/* ---- the two files -------------------------------------------------------------------------- */

static gufo_str text_of(const gufo_model *model, const char *key)
{
    gufo_str text;

    return gufo_model_get_str(model, key, &text, NULL) == GUFO_OK ? text : (gufo_str){"", 0};
}

static bool is_adapter(const gufo_model *model)
{
    return gufo_str_equal(text_of(model, "general.type"), gufo_str_of("adapter"));
}

/* "; it was made for \"Llama 3 8B\"", or nothing. */
static const char *made_for(check_context *c)
{
    static const char *const keys[] = {"general.base_model.0.name",
                                       "general.base_model.0.repo_url"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        gufo_str base = text_of(c->model, keys[i]);

        if (base.len > 0)
            return schema_text(c, "; it was made for %s", QUOTED(base));
    }
    return "";
}

static bool check_kinds(check_context *c)
{
    bool adapter = is_adapter(c->model), chained = is_adapter(c->options->base);

    if (!adapter)
        schema_report(c, RULE_ADAPTER_FILE, at_missing("general.type"),
                      "the file is not an adapter: general.type is not \"adapter\"");
    else if (chained)
        schema_report(c, RULE_ADAPTER_FILE, at_missing("general.type"),
                      "the base is an adapter, not a model");
    else if (gufo_model_tensor_count(c->model) == 0)
        schema_report(c, RULE_ADAPTER_FILE, at_missing("general.type"),
                      "the adapter has no tensors");
    return adapter && !chained && gufo_model_tensor_count(c->model) > 0;
}

static bool check_architectures(check_context *c)
{
    gufo_str base = text_of(c->options->base, "general.architecture");

    if (gufo_str_equal(c->architecture, base))
        return true;
    schema_report(c, RULE_ADAPTER_ARCHITECTURE, at_missing("general.architecture"),
                  "the adapter is for models of architecture %s, its base is %s%s",
                  QUOTED(c->architecture), QUOTED(base), made_for(c));
    return false;
}

/* ---- the same model ------------------------------------------------------------------------- */

static void report_other(check_context *c, const char *key, gufo_str wanted, gufo_str found)
{
    gufo_entry entry;

    if (gufo_str_equal(wanted, found) || !gufo_model_find(c->model, key, &entry))
        return;
    schema_report(
        c, RULE_ADAPTER_OTHER_BASE, at_entry(&entry),
        "the base is not the model that the adapter was made for: %s is %s, the base's own "
        "is %s%s",
        key, QUOTED(wanted), QUOTED(found), made_for(c));
}

/* The weights say it where the adapter knows those of its base; else the name that nobody else has. */
static void check_same(check_context *c)
{
    static const char uuid_key[] = "general.base_model.0.uuid";
    gufo_str weights = text_of(c->model, IDENTITY_BASE_KEY), uuid = text_of(c->model, uuid_key);
    gufo_str own = text_of(c->options->base, "general.uuid");
    char found[IDENTITY_DIGITS + 1];

    if (weights.len == 0 || !gufo_model_has_data(c->options->base)) {
        if (uuid.len > 0 && own.len > 0)
            report_other(c, uuid_key, uuid, own);
        return;
    }
    c->status = identity_of_weights(c->options->base, c->allocator, found, c->error);
    if (c->status == GUFO_OK)
        report_other(c, IDENTITY_BASE_KEY, weights, gufo_str_of(found));
}

/* ---- keys ----------------------------------------------------------------------------------- */

static void check_scale(check_context *c)
{
    static const char key[] = "adapter.lora.alpha";
    gufo_entry entry;
    double alpha;

    if (!gufo_model_find(c->model, key, &entry))
        schema_report(c, RULE_ADAPTER_SCALE, at_missing(key),
                      "key \"adapter.lora.alpha\" is missing: the scale of the adapter is not "
                      "known");
    else if (gufo_value_f64(&entry.value, &alpha, NULL) != GUFO_OK)
        schema_report(c, RULE_ADAPTER_SCALE, at_entry(&entry),
                      "adapter.lora.alpha is not a number");
    else if (alpha == 0)
        schema_report(c, RULE_ADAPTER_SCALE, at_entry(&entry),
                      "adapter.lora.alpha is 0: the adapter would change nothing");
}

static void check_activation(check_context *c)
{
    gufo_entry entry;

    if (gufo_model_find(c->model, "adapter.alora.invocation_tokens", &entry))
        schema_report(c, RULE_ADAPTER_ACTIVATED, at_entry(&entry),
                      "the adapter acts only on what follows its invocation tokens: it cannot be "
                      "merged into a model");
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* The name of the tensor that a tensor of the adapter changes. */
static gufo_str name_in_base(gufo_str name)
{
    if (name_ends(name, lora_a) || name_ends(name, lora_b))
        name.len -= strlen(lora_a);
    return name;
}

/* "[4096, 4096]" */
typedef struct shape_text {
    char text[96];
} shape_text;

static shape_text shape_of(const uint64_t dims[GUFO_MAX_DIMS])
{
    unsigned count = dims[3] != 1 ? 4 : dims[2] != 1 ? 3 : dims[1] != 1 ? 2 : 1;
    shape_text out;
    size_t at = 0;

    for (unsigned i = 0; i < count; i++)
        at += (size_t)snprintf(out.text + at, sizeof out.text - at, "%s%" PRIu64,
                               i > 0 ? ", " : "[", dims[i]);
    (void)snprintf(out.text + at, sizeof out.text - at, "]");
    return out;
}

static void check_shape(check_context *c, const gufo_tensor *tensor, const gufo_tensor *base,
                        const uint64_t dims[GUFO_MAX_DIMS])
{
    if (memcmp(dims, base->dims, sizeof base->dims) != 0)
        schema_report(c, RULE_ADAPTER_FIT, at_tensor(tensor),
                      "tensor %s is %s in the base, but the adapter is for %s", QUOTED(base->name),
                      shape_of(base->dims).text, shape_of(dims).text);
}

/* A tensor that takes the place of that of the base leaves nothing to add to. */
static void check_whole(check_context *c, const gufo_tensor *tensor)
{
    char name[GUFO_MAX_NAME + sizeof lora_a];
    gufo_tensor pair;

    (void)snprintf(name, sizeof name, "%.*s%s", (int)tensor->name.len, tensor->name.data, lora_a);
    if (gufo_model_tensor_find(c->model, name, &pair))
        schema_report(c, RULE_ADAPTER_FIT, at_tensor(tensor),
                      "the adapter has both a tensor in place of %s and a pair for it",
                      QUOTED(tensor->name));
}

/* Looks at a pair once, when it comes to the first of the two.  One without the other, and two that
 * do not fit each other, have findings already. */
static void check_fit(check_context *c, const gufo_tensor *tensor, const gufo_tensor *base)
{
    char name[GUFO_MAX_NAME + sizeof lora_b];
    gufo_tensor b;
    uint64_t dims[GUFO_MAX_DIMS];

    if (name_ends(tensor->name, lora_b))
        return;
    if (!name_ends(tensor->name, lora_a)) {
        check_shape(c, tensor, base, tensor->dims);
        check_whole(c, tensor);
        return;
    }
    (void)snprintf(name, sizeof name, "%.*s%s", (int)base->name.len, base->name.data, lora_b);
    if (!gufo_model_tensor_find(c->model, name, &b))
        return;
    memcpy(dims, tensor->dims, sizeof dims);
    dims[1] = b.dims[1];
    if (adapter_is_looked_up(base->name)) {
        dims[0] = b.dims[1];
        dims[1] = tensor->dims[1];
    }
    check_shape(c, tensor, base, dims);
}

static bool find_base(const check_context *c, const gufo_tensor *tensor, gufo_tensor *base)
{
    gufo_str name = name_in_base(tensor->name);

    return name.len <= GUFO_MAX_NAME && gufo_model_tensor_find_str(c->options->base, name, base);
}

/* Whether the base has any of the tensors: if not, one finding says so. */
static bool check_any(check_context *c)
{
    gufo_tensor tensor, base;

    for (uint64_t i = 0; gufo_model_tensor_at(c->model, i, &tensor); i++)
        if (find_base(c, &tensor, &base))
            return true;
    schema_report(c, RULE_ADAPTER_FOREIGN, at_missing("general.base_model.0.name"),
                  "the base has none of the tensors that the adapter changes%s", made_for(c));
    return false;
}

void schema_check_base(check_context *c)
{
    gufo_tensor tensor, base;

    if (c->options->base == NULL || !check_kinds(c) || !check_architectures(c))
        return;
    check_scale(c);
    check_activation(c);
    if (!check_any(c))
        return;
    check_same(c);
    for (uint64_t i = 0; gufo_model_tensor_at(c->model, i, &tensor); i++) {
        if (find_base(c, &tensor, &base))
            check_fit(c, &tensor, &base);
        else if (!adapter_is_magnitude(tensor.name))
            schema_report(c, RULE_ADAPTER_FOREIGN, at_tensor(&tensor),
                          "the base has no tensor %s%s", QUOTED(name_in_base(tensor.name)),
                          made_for(c));
    }
}
