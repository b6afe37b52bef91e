/* Adapters: small changes of a model, in a separate file.
 *
 *     NAME.lora_a   [columns, rank]      of the tensor NAME, which is
 *     NAME.lora_b   [rank, rows]         [columns, rows]
 *
 * Of the token embedding, whose rows are looked up, A is [rank, rows] and B is [rank, columns].
 * Tensors of the model are not there, and none is needed. */
#include <inttypes.h>
#include <math.h>

#include "base/error.h"
#include "schema/arch_values.h"
#include "schema/findings_limit.h"
#include "schema/tensor_pairs.h"

/* ---- keys ----------------------------------------------------------------------------------- */

static void check_adapter_type(checker *c)
{
    char quoted[GUFO_QUOTE_SIZE];
    finding_place missing = schema_place_missing("adapter.type");
    gufo_entry entry;
    gufo_str type;

    missing.hint = "use 'gufo edit FILE --set-string=adapter.type=lora'";
    if (!gufo_metadata_find(c->model, "adapter.type", &entry))
        schema_report(c, SCHEMA_ADAPTER_TYPE, missing,
                      "key \"adapter.type\" is missing; the file says that it is an adapter");
    else if (gufo_value_str(&entry.value, &type, NULL) == GUFO_OK &&
             !gufo_str_equal(type, gufo_str_of("lora")))
        schema_report(c, SCHEMA_ADAPTER_TYPE, schema_place_entry(&entry),
                      "adapter.type is %s; readers know \"lora\"", quote_name(quoted, type));
}

static void check_alpha(checker *c)
{
    gufo_entry entry;
    double alpha;

    if (!gufo_metadata_find(c->model, "adapter.lora.alpha", &entry))
        schema_report(c, SCHEMA_ADAPTER_ALPHA, schema_place_missing("adapter.lora.alpha"),
                      "key \"adapter.lora.alpha\" is missing; readers then do not scale by "
                      "alpha and rank");
    else if (gufo_value_f64(&entry.value, &alpha, NULL) == GUFO_OK && !isfinite(alpha))
        schema_report(c, SCHEMA_ADAPTER_ALPHA_FINITE, schema_place_entry(&entry),
                      "adapter.lora.alpha is %s", isnan(alpha) ? "not a number" : "infinite");
}

/* ---- pairs ---------------------------------------------------------------------------------- */

static const pair_rules pairs = {
    .suffixes = {".lora_a", ".lora_b"},
    .pair = SCHEMA_ADAPTER_PAIR,
};

static void check_base(checker *c, findings_limit *limit, const gufo_tensor *a, size_t shard,
                       gufo_str base)
{
    char quoted[GUFO_QUOTE_SIZE];
    gufo_tensor_match match;
    size_t rows;

    (void)arch_tensors_of(c, &rows);
    if (rows > 0 && !gufo_tensor_info_find(base, &match) &&
        limit_allows(limit, SCHEMA_ADAPTER_BASE))
        schema_report(c, SCHEMA_ADAPTER_BASE, schema_place_tensor(a, shard),
                      "the adapter changes tensor %s, whose name is not known",
                      quote_name(quoted, base));
}

static void check_rank(checker *c, findings_limit *limit, const gufo_tensor *a,
                       const gufo_tensor *b, size_t shard, gufo_str base)
{
    size_t side = gufo_str_equal(base, gufo_str_of("token_embd.weight")) ? 0 : 1;
    char quoted[GUFO_QUOTE_SIZE];

    if (a->elements == 0 || b->elements == 0 ||
        (a->dims[side] == b->dims[0] && a->dims[2] == b->dims[2] && a->dims[3] == b->dims[3]) ||
        !limit_allows(limit, SCHEMA_ADAPTER_SHAPE))
        return;
    if (a->dims[side] != b->dims[0])
        schema_report(c, SCHEMA_ADAPTER_SHAPE, schema_place_tensor(a, shard),
                      "the adapter of %s has rank %" PRIu64 " in lora_a and %" PRIu64 " in lora_b",
                      quote_name(quoted, base), a->dims[side], b->dims[0]);
    else
        schema_report(c, SCHEMA_ADAPTER_SHAPE, schema_place_tensor(a, shard),
                      "the adapter of %s is for %" PRIu64 " matrices in lora_a and %" PRIu64
                      " in lora_b",
                      quote_name(quoted, base), a->dims[2] * a->dims[3], b->dims[2] * b->dims[3]);
}

static void check_other(checker *c, findings_limit *limit, const gufo_tensor *tensor, size_t shard)
{
    static const char norm[] = "_norm.weight";
    char quoted[GUFO_QUOTE_SIZE];

    if (!name_ends(tensor->name, norm) && limit_allows(limit, SCHEMA_ADAPTER_TENSOR))
        schema_report(c, SCHEMA_ADAPTER_TENSOR, schema_place_tensor(tensor, shard),
                      "tensor %s is neither lora_a nor lora_b of another one",
                      quote_name(quoted, tensor->name));
}

void schema_check_adapter(checker *c)
{
    findings_limit limit = {{0}};
    gufo_tensor tensor, other;
    gufo_str base;
    size_t shard, side;

    check_adapter_type(c);
    check_alpha(c);
    for (uint64_t i = 0; schema_tensor_at(c, i, &tensor, &shard); i++) {
        if (!pair_side(&pairs, tensor.name, &side, &base))
            check_other(c, &limit, &tensor, shard);
        else if (pair_other(c, &limit, &pairs, &tensor, shard, &other) && side == 0) {
            check_rank(c, &limit, &tensor, &other, shard, base);
            check_base(c, &limit, &tensor, shard, base);
        }
    }
    limit_end(c, &limit);
}
