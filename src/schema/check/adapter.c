/* Adapters: small changes of a model, in a separate file.
 *
 *     NAME.lora_a   [columns, rank]      of the tensor NAME, which is
 *     NAME.lora_b   [rank, rows]         [columns, rows]
 *
 * Of the token embedding, whose rows are looked up, A is [rank, rows] and B is [rank, columns].
 * Tensors of the model are not there, and none is needed. */
#include <inttypes.h>
#include <math.h>

#include "schema/check/identity.h"
#include "schema/check/check.h"

/* ---- keys ----------------------------------------------------------------------------------- */

static void check_adapter_type(check_context *c)
{
    gufo_entry entry;
    gufo_str type;

    if (!gufo_metadata_find(c->model, "adapter.type", &entry))
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

/* With a base, adapter_base.c looks closer. */
static void check_alpha(check_context *c)
{
    gufo_entry entry;
    double alpha;

    if (!gufo_metadata_find(c->model, "adapter.lora.alpha", &entry) && c->options->base != NULL)
        return;
    if (!gufo_metadata_find(c->model, "adapter.lora.alpha", &entry))
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
    if (c->tensor_count > 0 && !gufo_tensor_info_find(base, NULL))
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
