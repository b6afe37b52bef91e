/* Rules about importance matrices: each has a file that breaks it, and nothing else. */
#include "../../quant/imatrix_files.h"
#include "../models.h"

static void add_entry(model *m, const char *base, uint64_t columns, uint64_t matrices)
{
    char name[GUFO_MAX_NAME + 1];

    snprintf(name, sizeof name, "%s.in_sum2", base);
    model_add(m, name, 2, columns, matrices);
    snprintf(name, sizeof name, "%s.counts", base);
    model_add(m, name, 2, 1, matrices);
}

static model matrix(void)
{
    model m = model_new(NULL);

    model_text(&m, "general.type", "imatrix");
    model_list(&m, "imatrix.datasets", 0, NULL);
    model_u32(&m, "imatrix.chunk_count", 0);
    model_u32(&m, "imatrix.chunk_size", 512);
    add_entry(&m, "blk.0.attn_q.weight", 64, 1);
    add_entry(&m, "blk.0.ffn_up_exps.weight", 64, 8);
    return m;
}

/* ---- one fault each ------------------------------------------------------------------------- */

static void no_datasets(model *m)
{
    model_drop_key(m, "imatrix.datasets");
}

static void no_chunks(model *m)
{
    model_drop_key(m, "imatrix.chunk_count");
    model_drop_key(m, "imatrix.chunk_size");
}

static void no_counts(model *m)
{
    model_drop(m, "blk.0.attn_q.weight.counts");
}

static void no_sums(model *m)
{
    model_drop(m, "blk.0.ffn_up_exps.weight.in_sum2");
}

static void half_floats(model *m)
{
    model_find(m, "blk.0.attn_q.weight.in_sum2")->type = GUFO_TYPE_F16;
}

static void too_many_counts(model *m)
{
    model_find(m, "blk.0.ffn_up_exps.weight.counts")->dims[1] = 7;
}

static void something_else(model *m)
{
    model_add(m, "blk.0.attn_q.weight", 2, 64, 1);
}

static const rule_row rows[] = {
    {"M421", "datasets", matrix, no_datasets, "imatrix.datasets", 0, NULL},
    {"M421", "chunks", matrix, no_chunks, "imatrix.chunk_count", 2, NULL},
    {"M422", "chunk", matrix, NULL, "imatrix.chunk_size", 0, "imatrix.chunk_size uint32 0"},
    {"M423", "counts", matrix, no_counts, "blk.0.attn_q.weight.in_sum2", 0, NULL},
    {"M423", "sums", matrix, no_sums, "blk.0.ffn_up_exps.weight.counts", 0, NULL},
    {"M424", "type", matrix, half_floats, "blk.0.attn_q.weight.in_sum2", 0, NULL},
    {"M425", "counts", matrix, too_many_counts, "blk.0.ffn_up_exps.weight.in_sum2", 0, NULL},
    {"M426", "other", matrix, something_else, "blk.0.attn_q.weight", 0, NULL},
};

static void test_rules(void **state)
{
    (void)state;
    check_rule_rows(rows, COUNT_OF(rows), "M42");
}

/* ---- files that are written ----------------------------------------------------------------- */

static void check_file_of(const char *path)
{
    gufo_error error = no_error();
    gufo_model *file = gufo_model_open(path, NULL, &error);
    findings found;

    check(file != NULL, "%s", error.message);
    findings_init(&found);
    check_ok(gufo_model_check_content(file, &model_level, keep_model_finding, &found, &error),
             &error, "check");
    if (found.count > 0)
        findings_print(&found);
    check_u64(found.count, 0, "findings");
    findings_free(&found);
    gufo_model_free(file);
}

/* What this library writes, from either format. */
static void test_own_files(void **state)
{
    builder sources[] = {make_gguf(false), make_legacy()};
    folder f = folder_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        path_text path = folder_path(&f, "out.gguf");
        gufo_imatrix *m = imatrix_of(&sources[i], "source");
        size_t len;

        free(written(m, GUFO_IMATRIX_GGUF, path.text, &len));
        check_file_of(path.text);
        gufo_imatrix_free(m);
        builder_free(&sources[i]);
    }
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_own_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
