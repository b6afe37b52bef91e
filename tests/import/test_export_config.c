/* config.json of exported models: converted with the tensors of the model that it was made of, it gives
 * the same tensors, and the same keys but for those that no field of the frameworks says. */
#include "fixture_model.h"

#include "import/export/export.h"
#include "schema/check/check.h"

/* ---- what is known to differ ------------------------------------------------------------------ */

static const struct exception_row {
    const char *model;
    const char *what; /* the key; NULL: everything */
} exceptions[] = {
    /* Sizes that each block makes of its own parameters: lists of them say the same. */
    {"deci", "deci.attention.head_count"},
    {"deci", "deci.feed_forward_length"},
    /* What rope_type dynamic makes of its parameters. */
    {"hunyuan-dense", "hunyuan-dense.rope.scaling.type"},
    {"hunyuan-dense", "hunyuan-dense.rope.scaling.factor"},
    {"hunyuan-dense", "hunyuan-dense.rope.scaling.original_context_length"},
    /* Only the tokenizer of params.json gives it. */
    {"mistral-params", "llama.vocab_size"},
    /* Without the field the key is true, and the tensors are those of a model where it is false. */
    {"stablelm", "stablelm.use_parallel_residual"},
    /* They become models of the class BertModel, whose tensors have other names, and positions. */
    {"distilbert", NULL},
    {"roberta", NULL},
    /* It is exported as the numbers that its blocks mean. */
    {"gpt-oss-mxfp4", NULL},
};

static bool is_exception(const subject *s, gufo_str what)
{
    for (size_t i = 0; i < COUNT_OF(exceptions); i++)
        if (strcmp(s->name, exceptions[i].model) == 0 &&
            (exceptions[i].what == NULL || gufo_str_equal(what, gufo_str_of(exceptions[i].what))))
            return true;
    return false;
}

/* ---- the second conversion ------------------------------------------------------------------- */

static bool is_own_key(gufo_str key, gufo_str architecture)
{
    return key.len > architecture.len && memcmp(key.data, architecture.data, architecture.len) == 0;
}

static void compare_keys(subject *s, const gufo_model *other)
{
    gufo_entry entry, found;
    gufo_str architecture;
    gufo_error error = no_error();

    check_ok(gufo_model_get_str(s->model, "general.architecture", &architecture, &error), &error,
             "%s", s->name);
    for (uint64_t i = 0; gufo_model_entry_at(s->model, i, &entry); i++)
        if (is_own_key(entry.key, architecture) && !is_exception(s, entry.key)) {
            if (!gufo_model_find_str(other, entry.key, &found))
                differ(s, "no %.*s", (int)entry.key.len, entry.key.data);
            else if (!schema_same_value(&entry.value, &found.value))
                differ(s, "other %.*s", (int)entry.key.len, entry.key.data);
        }
    for (uint64_t i = 0; gufo_model_entry_at(other, i, &entry); i++)
        if (is_own_key(entry.key, architecture) && !is_exception(s, entry.key) &&
            !gufo_model_find_str(s->model, entry.key, NULL))
            differ(s, "new %.*s", (int)entry.key.len, entry.key.data);
}

static void compare_tensors(subject *s, const gufo_model *other)
{
    gufo_tensor a, b;

    for (uint64_t i = 0; gufo_model_tensor_at(s->model, i, &a); i++)
        if (!gufo_model_tensor_find_str(other, a.name, &b) || a.n_dims != b.n_dims ||
            memcmp(a.dims, b.dims, sizeof a.dims) != 0)
            differ(s, "other tensor %.*s", (int)a.name.len, a.name.data);
    if (gufo_model_tensor_count(s->model) != gufo_model_tensor_count(other))
        differ(s, "%ju tensors", (uintmax_t)gufo_model_tensor_count(other));
}

/* The folder still has blocks that the model does not. */
static void keep_dropped_blocks(const subject *s, json_t *config)
{
    static const char field[] = "num_nextn_predict_layers";
    json_t *dropped = json_object_get(json_object_get(s->fixture, "config"), field);

    if (dropped != NULL && json_object_get(config, field) == NULL)
        assert_int_equal(json_object_set(config, field, dropped), 0);
}

static void export_model(subject *s)
{
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY};
    gufo_error error = no_error();
    export_files files = {.count = 0};
    json_t *config = NULL;
    gufo_import *again;

    write_fixture(s);
    s->import = gufo_import_checkpoint(s->path.text, &options, NULL);
    s->model = s->import != NULL ? gufo_import_model(s->import) : NULL;
    if (s->model == NULL || is_exception(s, gufo_str_of(""))) {
        gufo_import_free(s->import);
        return;
    }
    check_ok(export_config(s->model, &config, &files, &error), &error, "%s", s->name);
    keep_dropped_blocks(s, config);
    write_json(s, "config.json", config);
    again = gufo_import_checkpoint(s->path.text, &options, &error);
    if (again == NULL) {
        differ(s, "%s", error.message);
    } else {
        compare_keys(s, gufo_import_model(again));
        compare_tensors(s, gufo_import_model(again));
    }
    for (uint64_t i = 0; i < files.warning_count; i++)
        differ(s, "warning: %s", files.warnings[i]);
    gufo_import_free(again);
    gufo_import_free(s->import);
    json_decref(config);
    export_files_free(&files);
}

static void test_config(void **state)
{
    folder root = folder_new();

    (void)state;
    check_u64(each_fixture(&root, all_some_or_few(1, 2, 8), export_model), 0, "differences");
    folder_remove(&root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_config)};

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
