/* What is written keeps to the specification: every model of tests/import/architectures converted, quantized,
 * and exported and converted again, every sample of a file of before GGUF migrated, and those of the shared
 * folder; and the name that such a file gets follows the naming convention.  All findings of all models are
 * printed; one is enough to fail. */
#include "../support/legacy_writer.h"
#include "../support/quantize.h"
#include "../support/shared.h"
#include "fixture_model.h"

#include "gufo/check.h"
#include "gufo/name.h"

/* ---- a file --------------------------------------------------------------------------------- */

/* What no file of such a model can do without. */
static const struct {
    const char *name, *rule;
} exceptions[] = {
    {"tiny-rwkv-5v1-", "rwkv-version"}, /* the specification has version 4 alone */
};

static bool is_excepted(const subject *s, const gufo_rule *rule)
{
    for (size_t i = 0; i < COUNT_OF(exceptions); i++)
        if (strncmp(s->name, exceptions[i].name, strlen(exceptions[i].name)) == 0 &&
            strcmp(rule->name, exceptions[i].rule) == 0)
            return true;
    return false;
}

static void note_error(void *context, const gufo_finding *finding)
{
    if (finding->rule->spec_severity == GUFO_ERROR && !is_excepted(context, finding->rule))
        differ(context, "%s %s: %s", finding->rule->id, finding->rule->name, finding->message);
}

static void check_written(subject *s, const char *path)
{
    const gufo_check_options options = {.level = GUFO_LEVEL_SPEC};
    const gufo_open_options lenient = {
        .flags = GUFO_OPEN_LENIENT, .on_finding = note_error, .finding_context = s};
    gufo_error error = no_error();
    gufo_model *model = gufo_model_open(path, &lenient, &error);

    check(model != NULL, "%s: %s", s->name, error.message);
    check_ok(gufo_model_check(model, note_error, s, &error), &error, "%s", s->name);
    check_ok(gufo_model_check_content(model, &options, note_error, s, &error), &error, "%s",
             s->name);
    gufo_model_free(model);
}

static void check_name(subject *s, const char *name)
{
    gufo_error error = no_error();

    if (gufo_name_explain(gufo_str_of(name), NULL, &error) != GUFO_OK)
        differ(s, "%s: %s", name, error.message);
}

/* ---- conversions ---------------------------------------------------------------------------- */

static void convert(subject *s, const char *type, const char *out)
{
    gufo_quantize_options options = {
        .recipe = {.model_type = gufo_import_type, .model_context = s->import}};
    gufo_error error = no_error();
    gufo_quantizer *q;

    check(gufo_quantize_target_by_name(type, false, &options.recipe.target), "%s", type);
    options.recipe.allow_requantize = true;
    q = gufo_quantizer_new(gufo_import_model(s->import), &options, &error);
    check(q != NULL, "%s: %s", s->name, error.message);
    check_ok(quantize_run(q, out, &(quantize_how){.flags = GUFO_JOB_REPLACE}, &error), &error, "%s",
             s->name);
    gufo_quantizer_free(q);
}

/* The same model in another type: false where rows are too short for it, or quantized already. */
static bool quantize_written(subject *s, const gufo_model *model, const char *type, const char *out)
{
    gufo_quantize_options options = {.recipe = {.allow_requantize = false}};
    gufo_error error = no_error();
    gufo_quantizer *q;

    check(gufo_quantize_target_by_name(type, false, &options.recipe.target), "%s", type);
    q = gufo_quantizer_new(model, &options, &error);
    if (q == NULL)
        return false;
    check_ok(quantize_run(q, out, &(quantize_how){.flags = GUFO_JOB_REPLACE}, &error), &error, "%s",
             s->name);
    gufo_quantizer_free(q);
    return true;
}

static unsigned quantized; /* models */

static void quantize_fixture(subject *s, const gufo_model *model)
{
    path_text out = folder_path(s->root, "quantized.gguf");
    char name[GUFO_NAME_SIZE];
    gufo_error error = no_error();
    gufo_model *made;

    if (!quantize_written(s, model, "Q4_K_M", out.text))
        return;
    check_written(s, out.text);
    made = gufo_model_open(out.text, NULL, &error);
    check(made != NULL, "%s: %s", s->name, error.message);
    check_ok(gufo_model_suggest_name(made, 0, name, &error), &error, "%s", s->name);
    check_name(s, name);
    gufo_model_free(made);
    quantized++;
}

/* To the files of its framework, and back. */
static void export_fixture(subject *s, const gufo_model *model)
{
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY};
    char folder_name[sizeof s->name + 8];
    path_text back, out = folder_path(s->root, "out.gguf");
    gufo_error error = no_error();
    gufo_job *job = gufo_export_job(model, NULL, &error);
    char name[GUFO_NAME_SIZE];

    check(job != NULL, "%s: %s", s->name, error.message);
    (void)snprintf(folder_name, sizeof folder_name, "back-%s", s->name);
    back = folder_path(s->root, folder_name);
    assert_int_equal(mkdir(back.text, 0777), 0);
    check_ok(gufo_job_run(job, &(gufo_job_options){.path = back.text}, NULL, &error), &error, "%s",
             s->name);
    gufo_job_free(job);
    s->import = gufo_import_checkpoint(back.text, &options, &error);
    check(s->import != NULL, "%s: %s", s->name, error.message);
    convert(s, "BF16", out.text);
    check_written(s, out.text);
    check_ok(gufo_import_file_name(s->import, "BF16", name, &error), &error, "%s", s->name);
    check_name(s, name);
    gufo_import_free(s->import);
}

static void convert_fixture(subject *s)
{
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY};
    path_text out = folder_path(s->root, "out.gguf");
    gufo_error error = no_error();
    gufo_model *model;
    char name[GUFO_NAME_SIZE];

    write_fixture(s);
    s->import = gufo_import_checkpoint(s->path.text, &options, &error);
    check(s->import != NULL, "%s: %s", s->name, error.message);
    convert(s, "F16", out.text);
    check_written(s, out.text);
    check_ok(gufo_import_file_name(s->import, "F16", name, &error), &error, "%s", s->name);
    check_name(s, name);
    gufo_import_free(s->import);
    model = gufo_model_open(out.text, NULL, &error);
    check(model != NULL, "%s: %s", s->name, error.message);
    quantize_fixture(s, model);
    export_fixture(s, model);
    gufo_model_free(model);
}

static void test_conversions(void **state)
{
    folder root = folder_new();

    (void)state;
    check_u64(each_fixture(&root, all_some_or_few(1, 3, 5), convert_fixture), 0, "findings");
    check(quantized > 0, "models that can be quantized");
    folder_remove(&root);
}

/* MPT without a bound of queries, keys and values: the key is there all the same. */
static void convert_without_bound(subject *s)
{
    json_t *attention = json_object_get(json_object_get(s->fixture, "config"), "attn_config");
    gufo_entry entry;
    double bound = -1;

    json_object_set_new(attention, "clip_qkv", json_null());
    write_fixture(s);
    s->import = gufo_import_checkpoint(
        s->path.text, &(gufo_checkpoint_options){.flags = GUFO_CHECKPOINT_NO_VOCABULARY}, NULL);
    if (s->import == NULL ||
        !gufo_model_find(gufo_import_model(s->import), "mpt.attention.clamp_kqv", &entry) ||
        gufo_value_f64(&entry.value, &bound, NULL) != GUFO_OK || bound > 0 || bound < 0)
        differ(s, "mpt.attention.clamp_kqv is %g", bound);
    gufo_import_free(s->import);
}

static void test_a_bound_that_is_none(void **state)
{
    const char *source = getenv("GUFO_SOURCE");
    folder root = folder_new();
    path_text directory = path_join(source != NULL ? source : ".", "tests/import/architectures");

    (void)state;
    check_u64(try_fixture(&root, directory.text, "mpt.json", convert_without_bound), 0, "keys");
    folder_remove(&root);
}

/* ---- files of before GGUF ------------------------------------------------------------------- */

static void need_legacy(void)
{
    if (gufo_legacy_recognise("tjgg\3\0\0", 8) == NULL)
        skip(); /* -DGUFO_LEGACY=OFF */
}

static void migrate(subject *s, const char *path)
{
    const gufo_legacy_options options = {.flags = GUFO_LEGACY_MEASURE};
    path_text out = folder_path(s->root, "out.gguf");
    gufo_error error = no_error();
    char name[GUFO_NAME_SIZE];
    gufo_job *job;

    s->import = gufo_import_legacy(path, &options, &error);
    check(s->import != NULL, "%s: %s", s->name, error.message);
    job = gufo_import_job(s->import, &error);
    check(job != NULL, "%s: %s", s->name, error.message);
    check_ok(gufo_job_run(job, &(gufo_job_options){.path = out.text, .flags = GUFO_JOB_REPLACE},
                          NULL, &error),
             &error, "%s", s->name);
    gufo_job_free(job);
    check_written(s, out.text);
    check_ok(gufo_model_suggest_name(gufo_import_model(s->import), 0, name, &error), &error, "%s",
             s->name);
    if (gufo_model_tensor_count(gufo_import_model(s->import)) > 0)
        check_name(s, name);
    gufo_import_free(s->import);
}

static void test_old_samples(void **state)
{
    const legacy_sample *sample;
    folder root = folder_new();
    path_text path = folder_path(&root, "Old-7B.bin");
    unsigned differences = 0;

    (void)state;
    need_legacy();
    for (size_t i = 0; (sample = legacy_sample_at(i)) != NULL; i++) {
        builder b = builder_new((encoding){3, false});
        subject s = {.root = &root};

        (void)snprintf(s.name, sizeof s.name, "%s", sample->name);
        legacy_write(&b, sample, NULL);
        write_file(path.text, b.data, b.len);
        builder_free(&b);
        migrate(&s, path.text);
        differences += s.differences;
    }
    folder_remove(&root);
    check_u64(differences, 0, "findings");
}

static bool is_old_file(const char *name)
{
    size_t len = strlen(name);

    return len > 4 && strcmp(name + len - 4, ".bin") == 0 && strncmp(name, "expected", 8) != 0 &&
           strstr(name, "silero") == NULL; /* which is no language model */
}

static unsigned migrate_folder(folder *root, const char *place)
{
    path_text directory = need_shared(place);
    unsigned differences = 0;
    struct dirent **list;
    int count = scandir(directory.text, &list, NULL, alphasort);

    check(count > 0, "%s", directory.text);
    for (int i = 0; i < count; i++) {
        subject s = {.root = root};

        (void)snprintf(s.name, sizeof s.name, "%.60s", list[i]->d_name);
        if (is_old_file(list[i]->d_name))
            migrate(&s, path_join(directory.text, list[i]->d_name).text);
        differences += s.differences;
        free(list[i]);
    }
    free(list);
    return differences;
}

static void test_old_files(void **state)
{
    static const char *const places[] = {"data/convert/legacy/families",
                                         "data/convert/legacy/llama", "data/convert/legacy/real",
                                         "data/convert/legacy/rwkv-synthetic"};
    folder root = folder_new();
    unsigned differences = 0;

    (void)state;
    need_legacy();
    for (size_t i = 0; i < COUNT_OF(places); i++)
        differences += migrate_folder(&root, places[i]);
    folder_remove(&root);
    check_u64(differences, 0, "findings");
}

/* ---- folders of models ---------------------------------------------------------------------- */

static void convert_folder(subject *s)
{
    static const char *const types[] = {"BF16", "Q8_0", "F32"};
    path_text out = folder_path(s->root, "out.gguf");
    gufo_error error = no_error();
    char name[GUFO_NAME_SIZE];

    s->import = gufo_import_checkpoint(s->path.text, NULL, &error);
    check(s->import != NULL, "%s: %s", s->name, error.message);
    for (unsigned i = 0; i < all_some_or_few(COUNT_OF(types), 2, 1); i++) {
        convert(s, types[i], out.text);
        check_written(s, out.text);
        check_ok(gufo_import_file_name(s->import, types[i], name, &error), &error, "%s", s->name);
        check_name(s, name);
    }
    gufo_import_free(s->import);
}

static void test_folders(void **state)
{
    path_text place = need_shared("data/convert/hf");
    folder root = folder_new();
    unsigned differences = 0;
    struct dirent **list;
    int count = scandir(place.text, &list, NULL, alphasort);

    (void)state;
    check(count > 0, "%s", place.text);
    for (int i = 0; i < count; i++) {
        subject s = {.root = &root, .path = path_join(place.text, list[i]->d_name)};

        (void)snprintf(s.name, sizeof s.name, "%.60s", list[i]->d_name);
        if (list[i]->d_name[0] != '.')
            convert_folder(&s);
        differences += s.differences;
        free(list[i]);
    }
    free(list);
    folder_remove(&root);
    check_u64(differences, 0, "findings");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conversions), cmocka_unit_test(test_a_bound_that_is_none),
        cmocka_unit_test(test_old_samples), cmocka_unit_test(test_old_files),
        cmocka_unit_test(test_folders),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
