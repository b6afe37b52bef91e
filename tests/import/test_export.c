/* The way back: convert, export and convert again gives the same keys and tensors, for every model of
 * tests/import/architectures, in F32, F16 and BF16, and for those of the shared folder. */
#include "fixture_model.h"

#include "../support/parts.h"
#include "../support/shared.h"

#include <unistd.h>

#include "schema/check/check.h"

/* ---- one model -------------------------------------------------------------------------------- */

static const char *const dtypes[] = {"F32", "F16", "BF16"};

/* Every number of the fixture is exact in each of these types. */
static void set_dtype(const subject *s, const char *dtype)
{
    json_t *row;
    size_t index;

    json_array_foreach(json_object_get(s->fixture, "tensors"), index, row)
    {
        const char *own = json_string_value(json_array_get(row, 1));

        if (strcmp(own, "I64") != 0 && strcmp(own, "U8") != 0)
            assert_int_equal(json_array_set_new(row, 1, json_string(dtype)), 0);
    }
}

static void compare_tensor(subject *s, const gufo_model *before, const gufo_tensor *a,
                           const gufo_model *after, const gufo_tensor *b)
{
    uint8_t *x = malloc((size_t)a->size + 1), *y = malloc((size_t)a->size + 1);
    uint64_t count = a->elements / a->dims[0];
    gufo_error error = no_error();

    assert_non_null(x);
    assert_non_null(y);
    if (a->type != b->type || a->size != b->size || a->n_dims != b->n_dims ||
        memcmp(a->dims, b->dims, sizeof a->dims) != 0) {
        differ(s, "%.*s has another type or shape", (int)a->name.len, a->name.data);
    } else {
        check_ok(gufo_tensor_read_rows(before, a, 0, count, x, &error), &error, "%s", s->name);
        check_ok(gufo_tensor_read_rows(after, b, 0, count, y, &error), &error, "%s", s->name);
        if (memcmp(x, y, (size_t)a->size) != 0)
            differ(s, "%.*s has other numbers", (int)a->name.len, a->name.data);
    }
    free(x);
    free(y);
}

/* Arrays may be in two byte orders: that of the machine, and that of files. */
static bool same_value(const gufo_value *a, const gufo_value *b)
{
    const gufo_array *x = &a->as.array, *y = &b->as.array;
    gufo_array_iter one, other;
    gufo_value p, q;

    if (a->type != GUFO_VALUE_ARRAY || b->type != GUFO_VALUE_ARRAY)
        return a->type == b->type && schema_same_value(a, b);
    if (x->type != y->type || x->count != y->count)
        return false;
    one = gufo_array_start(x);
    other = gufo_array_start(y);
    while (gufo_array_next(&one, &p) && gufo_array_next(&other, &q))
        if (!schema_same_value(&p, &q))
            return false;
    return true;
}

static void compare_metadata(subject *s, const gufo_model *before, const gufo_model *after)
{
    gufo_entry a, b;

    for (uint64_t i = 0; gufo_model_entry_at(before, i, &a); i++) {
        if (!gufo_model_entry_at(after, i, &b) || !gufo_str_equal(a.key, b.key))
            differ(s, "key %ju is not %.*s", (uintmax_t)i, (int)a.key.len, a.key.data);
        else if (!same_value(&a.value, &b.value))
            differ(s, "%.*s has another value", (int)a.key.len, a.key.data);
    }
    if (gufo_model_entry_count(before) != gufo_model_entry_count(after))
        differ(s, "%ju keys instead of %ju", (uintmax_t)gufo_model_entry_count(after),
               (uintmax_t)gufo_model_entry_count(before));
}

static void compare_models(subject *s, const gufo_model *before, const gufo_model *after)
{
    gufo_tensor a, b;

    compare_metadata(s, before, after);
    for (uint64_t i = 0; gufo_model_tensor_at(before, i, &a); i++) {
        if (gufo_model_tensor_find_str(after, a.name, &b))
            compare_tensor(s, before, &a, after, &b);
        else
            differ(s, "no tensor %.*s", (int)a.name.len, a.name.data);
    }
    if (gufo_model_tensor_count(before) != gufo_model_tensor_count(after))
        differ(s, "%ju tensors instead of %ju", (uintmax_t)gufo_model_tensor_count(after),
               (uintmax_t)gufo_model_tensor_count(before));
}

/* Converts the folder of the subject to a file, which is opened; NULL if it cannot be converted. */
static gufo_model *convert(subject *s, const gufo_checkpoint_options *options, const char *path)
{
    gufo_import *import = gufo_import_checkpoint(s->path.text, options, NULL);
    const gufo_job_options where = {.path = path, .flags = GUFO_JOB_REPLACE};
    gufo_error error = no_error();
    gufo_model *model;
    gufo_job *job;

    if (import == NULL)
        return NULL;
    job = gufo_import_job(import, &error);
    check(job != NULL, "%s: %s", s->name, error.message);
    check_ok(gufo_job_run(job, &where, NULL, &error), &error, "%s", s->name);
    gufo_job_free(job);
    gufo_import_free(import);
    model = gufo_model_open(path, NULL, &error);
    check(model != NULL, "%s: %s", s->name, error.message);
    return model;
}

/* Exports a model to a folder that is made; false after a difference. */
static bool export_model(subject *s, const gufo_model *model, const char *path,
                         const gufo_export_options *options)
{
    const gufo_job_options where = {.path = path};
    gufo_error error = no_error();
    gufo_job *job = gufo_export_job(model, options, &error);
    bool done = false;

    assert_int_equal(mkdir(path, 0777), 0);
    if (job == NULL || gufo_job_run(job, &where, NULL, &error) != GUFO_OK)
        differ(s, "%s", error.message);
    else
        done = true;
    for (uint64_t i = 0; job != NULL && gufo_export_warning_at(job, i) != NULL; i++)
        differ(s, "warning: %s", gufo_export_warning_at(job, i));
    gufo_job_free(job);
    return done;
}

/* Whether numbers are quantized already: the files of the framework have them decoded. */
static bool is_quantized(const gufo_model *model)
{
    gufo_tensor t;

    for (uint64_t i = 0; gufo_model_tensor_at(model, i, &t); i++)
        if (gufo_element_type_by_id(t.type)->block_elements > 1)
            return true;
    return false;
}

/* There and back, from the folder of the subject. */
static void go_round(subject *s, const gufo_checkpoint_options *options, const char *dtype)
{
    char name[128];
    path_text file, back;
    gufo_error error = no_error();
    gufo_model *model;
    gufo_import *again;

    (void)snprintf(name, sizeof name, "%s-%s.gguf", s->name, dtype);
    file = folder_path(s->root, name);
    model = convert(s, options, file.text);
    if (model == NULL)
        return;
    (void)snprintf(name, sizeof name, "%s-%s", s->name, dtype);
    back = folder_path(s->root, name);
    if (!is_quantized(model) && export_model(s, model, back.text, NULL)) {
        again = gufo_import_checkpoint(back.text, options, &error);
        if (again == NULL)
            differ(s, "converted again: %s", error.message);
        else
            compare_models(s, model, gufo_import_model(again));
        gufo_import_free(again);
    }
    gufo_model_free(model);
    (void)unlink(file.text);
}

/* ---- all models ------------------------------------------------------------------------------- */

static void go_round_fixture(subject *s)
{
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY};
    char name[sizeof s->name];

    memcpy(name, s->name, sizeof name);
    for (size_t i = 0; i < COUNT_OF(dtypes); i++) {
        (void)snprintf(s->name, sizeof s->name, "%.40s in %s", name, dtypes[i]);
        set_dtype(s, dtypes[i]);
        write_fixture(s);
        go_round(s, &options, dtypes[i]);
        memcpy(s->name, name, sizeof name);
        if (all_some_or_few(1, 0, 0) == 0) /* one type is enough where everything is slow */
            break;
    }
}

static void test_architectures(void **state)
{
    folder root = folder_new();

    (void)state;
    check_u64(each_fixture(&root, all_some_or_few(1, 2, 8), go_round_fixture), 0, "differences");
    folder_remove(&root);
}

/* Biases of the matrices and norms of a fixture that have `part` in their names; those are the same but
 * for the end. */
static void add_biases(json_t *tensors, const char *part)
{
    const size_t count = json_array_size(tensors);

    for (size_t i = 0; i < count; i++) {
        const json_t *row = json_array_get(tensors, i);
        const char *weight = json_string_value(json_array_get(row, 0));
        const int stem = (int)(strlen(weight) - strlen("weight"));

        if (strstr(weight, "wte") == NULL && strstr(weight, part) != NULL)
            assert_int_equal(
                json_array_append_new(
                    tensors, json_pack("[o, s, [O]]", json_sprintf("%.*sbias", stem, weight),
                                       json_string_value(json_array_get(row, 1)),
                                       json_array_get(json_array_get(row, 2), 0))),
                0);
    }
}

static const char *biased_part; /* "": all */

static void go_round_with_biases(subject *s)
{
    const size_t before = json_array_size(json_object_get(s->fixture, "tensors"));
    path_text config;
    json_t *fields;

    add_biases(json_object_get(s->fixture, "tensors"), biased_part);
    check(json_array_size(json_object_get(s->fixture, "tensors")) > before, "%s", biased_part);
    go_round_fixture(s);
    config = path_join(folder_path(s->root, "mpt in F32-F32").text, "config.json");
    fields = json_load_file(config.text, 0, NULL);
    check(json_is_false(json_object_get(fields, "no_bias")), "no_bias of %s", config.text);
    json_decref(fields);
}

static void test_biases(void **state)
{
    const char *source = getenv("GUFO_SOURCE");
    path_text directory = path_join(source != NULL ? source : ".", "tests/import/architectures");
    folder root = folder_new();

    (void)state;
    biased_part = "";
    check_u64(try_fixture(&root, directory.text, "mpt.json", go_round_with_biases), 0,
              "differences");
    folder_remove(&root);
    /* Biases of the second block alone: the first one does not speak for all. */
    root = folder_new();
    biased_part = "blocks.1.";
    check_u64(try_fixture(&root, directory.text, "mpt.json", go_round_with_biases), 0,
              "differences");
    folder_remove(&root);
}

static void go_round_biased(subject *s)
{
    const size_t before = json_array_size(json_object_get(s->fixture, "tensors"));
    char name[128];

    add_biases(json_object_get(s->fixture, "tensors"), biased_part);
    check(json_array_size(json_object_get(s->fixture, "tensors")) > before, "%s", biased_part);
    (void)snprintf(name, sizeof name, "%s in F32-F32/config.json", s->name);
    go_round_fixture(s);
    check(file_exists(folder_path(s->root, name).text), "%s: nothing was compared", s->name);
}

/* Tensors that no row of export_names.tsv is about have the name that the table of names gives. */
static void test_names_of_the_table(void **state)
{
    static const struct {
        const char *fixture, *part;
    } rows[] = {
        {"exaone.json", "attention.k_proj"},  {"falcon.json", "dense_4h_to_h"},
        {"gptj.json", "attn.k_proj"},         {"lfm2.json", "conv.in_proj"},
        {"nemotron_h.json", "mixer.in_proj"}, {"qwen.json", "attn.c_proj"},
    };
    const char *source = getenv("GUFO_SOURCE");
    path_text directory = path_join(source != NULL ? source : ".", "tests/import/architectures");
    folder root = folder_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        biased_part = rows[i].part;
        check_u64(try_fixture(&root, directory.text, rows[i].fixture, go_round_biased), 0, "%s",
                  rows[i].fixture);
    }
    folder_remove(&root);
}

static void test_delivered(void **state)
{
    path_text all = need_shared("data/convert/hf");
    folder root = folder_new();
    struct dirent **list;
    int count = scandir(all.text, &list, NULL, alphasort);
    unsigned differences = 0;

    (void)state;
    for (int i = 0; i < count; i++) {
        subject s = {.root = &root, .path = path_join(all.text, list[i]->d_name)};

        (void)snprintf(s.name, sizeof s.name, "%.60s", list[i]->d_name);
        if (list[i]->d_name[0] != '.')
            go_round(&s, NULL, "own");
        differences += s.differences;
        free(list[i]);
    }
    free(list);
    folder_remove(&root);
    check_u64(differences, 0, "differences");
}

/* ---- in parts ---------------------------------------------------------------------------------- */

/* The folder of the subject as a file, and that as a folder. */
static void make_in_parts(subject *s)
{
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY};
    const gufo_export_options shards = {.shard_size = 20000};
    const path_text file = folder_path(s->root, "made.gguf"), back = folder_path(s->root, "back");
    gufo_error error = no_error();
    gufo_import *import;
    gufo_model *model;
    gufo_job *whole, *parted;

    write_fixture(s);
    import = gufo_import_checkpoint(s->path.text, &options, &error);
    check(import != NULL, "%s: %s", s->name, error.message);
    whole = gufo_import_job(import, &error);
    parted = gufo_import_job(import, &error);
    check_parts(whole, parted, &(gufo_job_options){.path = file.text}, s->name);
    gufo_job_free(whole);
    gufo_job_free(parted);
    gufo_import_free(import);
    model = gufo_model_open(file.text, NULL, &error);
    check(model != NULL, "%s: %s", s->name, error.message);
    assert_int_equal(mkdir(back.text, 0777), 0);
    whole = gufo_export_job(model, &shards, &error);
    parted = gufo_export_job(model, &shards, &error);
    check_parts(whole, parted, &(gufo_job_options){.path = back.text}, s->name);
    gufo_job_free(whole);
    gufo_job_free(parted);
    gufo_model_free(model);
}

/* Rows in their order, in another one, as columns; stacks, tables beside them. */
static void test_parts(void **state)
{
    static const char *const fixtures[] = {"llama-llama3.json", "gptj.json", "qwen3moe-fused.json",
                                           "mamba2.json", "granitehybrid.json"};
    const char *source = getenv("GUFO_SOURCE");
    path_text directory = path_join(source != NULL ? source : ".", "tests/import/architectures");

    (void)state;
    for (size_t i = 0; i < all_some_or_few(COUNT_OF(fixtures), 2, 1); i++) {
        folder root = folder_new();

        check_u64(try_fixture(&root, directory.text, fixtures[i], make_in_parts), 0, "%s",
                  fixtures[i]);
        folder_remove(&root);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_architectures), cmocka_unit_test(test_biases),
        cmocka_unit_test(test_names_of_the_table), cmocka_unit_test(test_delivered),
        cmocka_unit_test(test_parts)};

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
