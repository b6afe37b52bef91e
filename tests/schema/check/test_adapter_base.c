/* Rules about an adapter and its base: each has a pair of files that breaks it, and nothing else. */
#include "../models.h"

enum { RANK = 4, COLUMNS = 64, ROWS = 32, TOKENS = 320, EXPERTS = 3 };

/* ---- a base and an adapter that fits --------------------------------------------------------- */

static model base(void)
{
    model m = model_new("llama");

    model_add(&m, "token_embd.weight", 2, COLUMNS, TOKENS);
    model_add(&m, "blk.0.attn_norm.weight", 1, COLUMNS, 1);
    model_add(&m, "blk.0.attn_q.weight", 2, COLUMNS, ROWS);
    model_add(&m, "blk.0.ffn_up_exps.weight", 3, COLUMNS, ROWS)->dims[2] = EXPERTS;
    return m;
}

static model adapter(void)
{
    model m = model_new("llama");

    model_text(&m, "general.type", "adapter");
    model_text(&m, "adapter.type", "lora");
    model_f32(&m, "adapter.lora.alpha", 16);
    model_add(&m, "token_embd.weight.lora_a", 2, RANK, TOKENS);
    model_add(&m, "token_embd.weight.lora_b", 2, RANK, COLUMNS);
    model_add(&m, "blk.0.attn_norm.weight", 1, COLUMNS, 1);
    model_add(&m, "blk.0.attn_q.weight.lora_a", 2, COLUMNS, RANK);
    model_add(&m, "blk.0.attn_q.weight.lora_b", 2, RANK, ROWS);
    model_add(&m, "blk.0.ffn_up_exps.weight.lora_a", 3, COLUMNS, RANK)->dims[2] = EXPERTS;
    model_add(&m, "blk.0.ffn_up_exps.weight.lora_b", 3, RANK, ROWS)->dims[2] = EXPERTS;
    return m;
}

/* ---- one fault each ------------------------------------------------------------------------- */

static void a_model(model *m)
{
    model_drop_key(m, "general.type");
    model_drop_key(m, "adapter.type");
}

static void chained(model *m)
{
    model_text(m, "general.type", "adapter");
}

static void no_tensors(model *m)
{
    m->tensor_count = 0;
}

static void another_architecture(model *m)
{
    model_text(m, "general.architecture", "qwen2");
}

static void no_alpha(model *m)
{
    model_drop_key(m, "adapter.lora.alpha");
}

static void alpha_zero(model *m)
{
    model_f32(m, "adapter.lora.alpha", 0);
}

static void fewer_layers(model *m)
{
    model_drop(m, "blk.0.attn_q.weight");
}

static void nothing_known(model *m)
{
    for (size_t i = 0; i < m->tensor_count; i++)
        m->tensors[i].name[strlen("blk.")] = '7';
    model_drop(m, "toke7_embd.weight");
}

static void other_columns(model *m)
{
    model_find(m, "blk.0.attn_q.weight")->dims[0] = 2 * COLUMNS;
}

static void other_rows(model *m)
{
    model_find(m, "blk.0.attn_q.weight")->dims[1] = 2 * ROWS;
}

static void other_experts(model *m)
{
    model_find(m, "blk.0.ffn_up_exps.weight")->dims[2] = EXPERTS + 1;
}

static void other_norm(model *m)
{
    model_find(m, "blk.0.attn_norm.weight")->dims[0] = COLUMNS + 1;
}

/* As if tokens were multiplied with. */
static void unturned(model *m)
{
    model_find(m, "token_embd.weight")->dims[0] = TOKENS;
    model_find(m, "token_embd.weight")->dims[1] = COLUMNS;
}

/* A pair, and what takes the place of the tensor that it is for. */
static void whole(model *m)
{
    model_add(m, "blk.0.attn_norm.weight.lora_a", 2, COLUMNS, 2);
    model_add(m, "blk.0.attn_norm.weight.lora_b", 2, 2, 1);
}

static void activated(model *m)
{
    model_list(m, "adapter.alora.invocation_tokens", 2, (const uint32_t[]){5, 6});
}

static void for_another(model *m)
{
    model_text(m, "general.base_model.0.uuid", "11111111-2222-4333-8444-555555555555");
}

static void named(model *m)
{
    model_text(m, "general.uuid", "11111111-2222-4333-8444-666666666666");
}

typedef struct pair_row {
    const char *rule, *label;
    void (*damage)(model *adapter); /* NULL: none */
    void (*change)(model *base);
    const char *subject;
    size_t times;
} pair_row;

static void dora(model *m)
{
    model_add(m, "blk.0.attn_q.weight.lora_magnitude_vector", 1, ROWS, 1);
}

static const pair_row pairs[] = {
    {"M410", "DoRA", dora, NULL, "blk.0.attn_q.weight.lora_magnitude_vector", 1},
    {"M411", "a model", a_model, NULL, "general.type", 1},
    {"M411", "the base", NULL, chained, "general.type", 1},
    {"M411", "empty", no_tensors, NULL, "general.type", 1},
    {"M412", "architecture", another_architecture, NULL, "general.architecture", 1},
    {"M412", "base", NULL, another_architecture, "general.architecture", 1},
    {"M413", "no alpha", no_alpha, NULL, "adapter.lora.alpha", 1},
    {"M413", "alpha 0", alpha_zero, NULL, "adapter.lora.alpha", 1},
    {"M414", "fewer layers", NULL, fewer_layers, "blk.0.attn_q.weight.lora_a", 2},
    {"M414", "nothing", NULL, nothing_known, "general.base_model.0.name", 1},
    {"M415", "columns", NULL, other_columns, "blk.0.attn_q.weight.lora_a", 1},
    {"M415", "rows", NULL, other_rows, "blk.0.attn_q.weight.lora_a", 1},
    {"M415", "experts", NULL, other_experts, "blk.0.ffn_up_exps.weight.lora_a", 1},
    {"M415", "norm", NULL, other_norm, "blk.0.attn_norm.weight", 1},
    {"M415", "embedding", NULL, unturned, "token_embd.weight.lora_a", 1},
    {"M415", "whole and pair", whole, NULL, "blk.0.attn_norm.weight", 1},
    {"M417", "another model", for_another, named, "general.base_model.0.uuid", 1},
    {"M416", "activated", activated, NULL, "adapter.alora.invocation_tokens", 1},
};

/* The findings about the pair, and not those that the file has by itself. */
static void keep_pair(void *context, const gufo_finding *finding)
{
    if (strncmp(finding->rule->id, "M4", 2) == 0)
        findings_add(context, finding);
}

static findings check_pair(void (*damage)(model *), void (*change)(model *))
{
    const gufo_open_options metadata_only = {.flags = GUFO_OPEN_METADATA_ONLY};
    gufo_check_options options = {.level = GUFO_LEVEL_MODEL};
    model a = adapter(), b = base();
    gufo_error error = no_error();
    gufo_document *document;
    const void *header;
    gufo_model *opened;
    findings found;
    size_t size;

    if (damage != NULL)
        damage(&a);
    if (change != NULL)
        change(&b);
    document = model_document(&b);
    header = document_header(document, &size);
    opened = gufo_model_open_memory(header, size, &metadata_only, &error);
    check(opened != NULL, "%s", error.message);
    options.base = opened;
    findings_init(&found);
    model_check_with(&a, &options, keep_pair, &found);
    gufo_model_free(opened);
    gufo_document_free(document);
    model_free(&a);
    model_free(&b);
    return found;
}

static void test_fits(void **state)
{
    findings found = check_pair(NULL, NULL);

    (void)state;
    if (found.count > 0)
        findings_print(&found);
    check_u64(found.count, 0, "findings");
    findings_free(&found);
}

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        const pair_row *row = &pairs[i];
        findings found = check_pair(row->damage, row->change);

        check_only(&found, &(rule_row){.rule = row->rule,
                                       .label = row->label,
                                       .subject = row->subject,
                                       .times = row->times});
        findings_free(&found);
    }
    for (size_t i = 0; gufo_rule_at(i) != NULL; i++) {
        const char *id = gufo_rule_at(i)->id;
        bool found = strncmp(id, "M41", 3) != 0;

        for (size_t k = 0; k < COUNT_OF(pairs); k++)
            found = found || strcmp(id, pairs[k].rule) == 0;
        check(found, "no row for rule %s", id);
    }
}

static void name_base(model *m)
{
    another_architecture(m);
    model_text(m, "general.base_model.0.name", "Tiny Base 7B");
}

static void test_names_base(void **state)
{
    findings found = check_pair(name_base, NULL);

    (void)state;
    check_u64(found.count, 1, "findings");
    check(strstr(found.items[0].message, "it was made for \"Tiny Base 7B\"") != NULL, "%s",
          found.items[0].message);
    findings_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_names_base),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
