/* What is known about tensors by their role: registry/sensitivity.tsv. */
#include <math.h>

#include "../support/check.h"
#include "quant/size/size.h"

static const sensitivity_facts plain = {.model = {.heads = 8, .key_value_heads = 8}};
static const sensitivity_facts grouped = {.model = {.heads = 8, .key_value_heads = 2}};
static const sensitivity_facts experts = {.model = {.experts = 4}};
static const sensitivity_facts tied = {.is_tied = true};

static const struct {
    const sensitivity_facts *facts;
    const char *name;
    double coefficient;
    const char *least; /* NULL: any */
} rows[] = {
    {&plain, "output.weight", 1, "Q4_K"},
    {&plain, "token_embd.weight", 0.05, "Q2_K"},
    {&tied, "token_embd.weight", 1, "Q4_K"},
    {&plain, "blk.0.attn_q.weight", 0.12, NULL},
    {&plain, "blk.17.attn_k.weight", 0.1, NULL},
    {&grouped, "blk.17.attn_k.weight", 0.1, "Q3_K"},
    {&plain, "blk.0.attn_v.weight", 0.72, NULL},
    {&grouped, "blk.0.attn_v.weight", 0.72, "Q3_K"},
    {&plain, "blk.0.attn_output.weight", 0.36, NULL},
    {&plain, "blk.0.attn_qkv.weight", (0.12 + 0.1 + 0.72) / 3, NULL},
    {&grouped, "blk.0.attn_qkv.weight", (8 * 0.12 + 2 * 0.1 + 2 * 0.72) / 12, NULL},
    {&experts, "blk.0.attn_qkv.weight", (0.12 + 0.1 + 0.72) / 3, NULL},
    {&plain, "blk.0.ffn_gate.weight", 0.36, NULL},
    {&plain, "blk.0.ffn_up.weight", 0.52, NULL},
    {&plain, "blk.0.ffn_down.weight", 1, NULL},
    {&experts, "blk.0.ffn_up_exps.weight", 0.52, NULL},
    {&experts, "blk.0.ffn_gate_exps.weight", 0.36, NULL},
    {&experts, "blk.0.ffn_down_exps.weight", 1, NULL},
    {&experts, "blk.0.ffn_gate_up_exps.weight", 0.44, NULL},
    {&experts, "blk.0.ffn_down_shexp.weight", 1, NULL},
    {&experts, "blk.0.ffn_up_shexp.weight", 0.52, NULL},
    {&experts, "blk.0.ffn_gate_chexps.weight", 0.36, NULL},
    {&experts, "blk.0.ffn_up.3.weight", 0.13, NULL},
    {&experts, "blk.0.ffn_down.3.weight", 0.25, NULL},
    {&plain, "blk.0.ffn_gate.3.weight", 0.36, NULL}, /* how many experts is not known */
    {&plain, "blk.0.ssm_in.weight", 0.5, NULL},
    {&plain, "output", 1, "Q4_K"},
    {&plain, "v.blk.0.ffn_down.weight", 0.5, NULL},
    {&plain, ".weight", 0.5, NULL},
    {&plain, "", 0.5, NULL},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const gufo_str name = gufo_str_of(rows[i].name);
        const gufo_element_type *least = sensitivity_least(rows[i].facts, name);
        double found = sensitivity_of(rows[i].facts, name);

        check(fabs(found - rows[i].coefficient) < 1e-12, "%s: %g", rows[i].name, found);
        check((least == NULL) == (rows[i].least == NULL), "%s", rows[i].name);
        check(least == NULL || strcmp(least->name, rows[i].least) == 0, "%s", rows[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
