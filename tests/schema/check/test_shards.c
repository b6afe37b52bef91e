/* The rule about shards: a set of two, whose second one says something else than the first. */
#include "../../support/folder.h"
#include "../models.h"

typedef struct set {
    model shards[2];
    folder folder;
} set;

/* A tiny llama, its last tensor in the second shard. */
static set make_set(void)
{
    set s = {.shards = {tiny_llama(), model_new(NULL)}, .folder = folder_new()};

    s.shards[0].tensor_count--;
    model_add(&s.shards[1], "output.weight", 2, TINY_EMBEDDING, TINY_VOCABULARY);
    model_list(&s.shards[0], "community.list", 3, (uint32_t[]){1, 2, 3});
    model_u32(&s.shards[0], "community.number", 7);
    model_bool(&s.shards[0], "community.bool", true);
    for (unsigned i = 0; i < 2; i++) {
        model_u32(&s.shards[i], "split.no", i);
        model_u32(&s.shards[i], "split.count", 2);
        model_u32(&s.shards[i], "split.tensors.count", (uint32_t)s.shards[0].tensor_count + 1);
    }
    return s;
}

static void free_set(set *s)
{
    model_free(&s->shards[0]);
    model_free(&s->shards[1]);
    folder_remove(&s->folder);
}

static path_text write_shard(const set *s, unsigned shard)
{
    sink out = {.document = model_document(&s->shards[shard])};
    gufo_error error = no_error();
    char name[64];
    path_text path;

    snprintf(name, sizeof name, "m-0000%u-of-00002.gguf", shard + 1);
    path = folder_path(&s->folder, name);
    check_ok(sink_open(&out, path.text, true, &error), &error, "%s", name);
    for (size_t i = 0; i < s->shards[shard].tensor_count; i++) {
        uint64_t offset, size;
        void *zeros;

        check(tensor_place(out.document, i, &offset, &size), "%zu", i);
        zeros = calloc(1, (size_t)size);
        check_ok(sink_write(&out, i, 0, zeros, (size_t)size, &error), &error, "%zu", i);
        free(zeros);
    }
    check_ok(sink_finish(&out, &error), &error, "%s", name);
    sink_free(&out);
    return path;
}

typedef struct shard_findings {
    findings found;
    size_t shard; /* of the last one */
} shard_findings;

static void keep_shard(void *context, const gufo_finding *finding)
{
    shard_findings *kept = context;

    keep_model_finding(&kept->found, finding);
    if (is_model_rule(finding->rule))
        kept->shard = finding->shard;
}

static shard_findings check_set(const set *s)
{
    path_text first = write_shard(s, 0);
    gufo_error error = no_error();
    shard_findings kept = {.shard = 99};
    gufo_model *opened;

    (void)write_shard(s, 1);
    findings_init(&kept.found);
    opened = gufo_model_open(first.text, NULL, &error);
    check(opened != NULL, "%s", error.message);
    check_ok(gufo_model_check_content(opened, &model_level, keep_shard, &kept, &error), &error,
             "check");
    gufo_model_free(opened);
    return kept;
}

/* ---- one value each ------------------------------------------------------------------------- */

static void other_architecture(model *m)
{
    model_text(m, "general.architecture", "mamba");
}

static void other_number(model *m)
{
    model_u32(m, "community.number", 8);
}

static void other_float(model *m)
{
    model_f32(m, "llama.attention.layer_norm_rms_epsilon", 1e-6);
}

static void other_bool(model *m)
{
    model_bool(m, "community.bool", false);
}

static void other_list(model *m)
{
    model_list(m, "community.list", 3, (uint32_t[]){1, 2, 4});
}

static void shorter_list(model *m)
{
    model_list(m, "community.list", 2, (uint32_t[]){1, 2});
}

static void other_kind(model *m)
{
    model_text(m, "community.number", "7");
}

static void same_values(model *m)
{
    model_text(m, "general.architecture", "llama");
    model_u64(m, "community.number", 7); /* of another type */
    model_f32(m, "llama.attention.layer_norm_rms_epsilon", 1e-5);
    model_bool(m, "community.bool", true);
    model_list(m, "community.list", 3, (uint32_t[]){1, 2, 3});
    model_u32(m, "community.own", 1);
}

static const struct {
    const char *rule; /* NULL: no finding */
    const char *label;
    void (*change)(model *second);
} rows[] = {
    {"M601", "architecture", other_architecture},
    {"M601", "number", other_number},
    {"M601", "float", other_float},
    {"M601", "bool", other_bool},
    {"M601", "list", other_list},
    {"M601", "shorter list", shorter_list},
    {"M601", "kind", other_kind},
    {NULL, "same", same_values},
};

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        set s = make_set();
        shard_findings kept = check_set(&s);

        check_u64(kept.found.count, 0, "%s: before", rows[i].label);
        rows[i].change(&s.shards[1]);
        findings_free(&kept.found);
        kept = check_set(&s);
        if (kept.found.count > 1)
            findings_print(&kept.found);
        check_u64(kept.found.count, rows[i].rule != NULL ? 1 : 0, "%s", rows[i].label);
        if (rows[i].rule != NULL) {
            check(strcmp(kept.found.items[0].rule->id, rows[i].rule) == 0, "%s", rows[i].label);
            check_u64(kept.shard, 1, "%s", rows[i].label);
        }
        findings_free(&kept.found);
        free_set(&s);
    }
}

static void test_each_rule_has_a_row(void **state)
{
    (void)state;
    for (size_t i = 0; gufo_rule_at(i) != NULL; i++) {
        const gufo_rule *rule = gufo_rule_at(i);
        bool found = strncmp(rule->id, "M6", 2) != 0;

        for (size_t j = 0; j < COUNT_OF(rows); j++)
            found |= rows[j].rule != NULL && strcmp(rule->id, rows[j].rule) == 0;
        check(found, "no row for rule %s", rule->id);
    }
}

/* Tensors of all shards make the model. */
static void test_blocks_of_all_shards(void **state)
{
    set s = make_set();
    shard_findings kept;

    (void)state;
    model_rename(&s.shards[1], "output.weight", "blk.1.ffn_sub_norm.weight");
    kept = check_set(&s);
    check_u64(findings_of(&kept.found, "tensor-foreign"), 1, "in the second shard");
    check_u64(kept.shard, 1, "shard");
    findings_free(&kept.found);
    free_set(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_each_rule_has_a_row),
        cmocka_unit_test(test_blocks_of_all_shards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
