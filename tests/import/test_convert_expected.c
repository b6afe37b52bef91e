/* Folders of models, and what another converter made of them: every folder of the shared
 * data/convert/hf (the README of data/convert says what is in its expected.json), as F32, F16,
 * BF16, Q8_0 and the type that the model has. */
#include "../support/pace.h"
#include "../support/quantize.h"
#include "../support/shared.h"
#include "expected_values.h"

#include "gufo/import.h"

#include <dirent.h>
#include <math.h>

typedef struct subject {
    const char *name; /* of the folder: the label of every check */
    path_text path;
    const char *type; /* "q8_0" */
    json_document expected;
    const folder *out;
} subject;

/* ---- metadata ------------------------------------------------------------------------------- */

/* References round once: the last bit may differ. */
static void check_float(const subject *s, gufo_str key, double got, double expected)
{
    check(fabs(got - expected) <= 1.2e-7 * fabs(expected), "%s, %s: %.*s is %.9g, not %.9g",
          s->name, s->type, TEXT(key), got, expected);
}

static void check_plain(const subject *s, gufo_str key, const gufo_value *value,
                        const json_value *expected)
{
    if (value->type == GUFO_VALUE_STRING)
        check_view(value->as.str, expected->text, "%s, %s: %.*s", s->name, s->type, TEXT(key));
    else if (value->type == GUFO_VALUE_BOOL)
        check(value->as.b == (expected->kind == JSON_TRUE), "%s, %s: %.*s", s->name, s->type,
              TEXT(key));
    else if (value->type == GUFO_VALUE_FLOAT32)
        check_float(s, key, value->as.f, json_number(expected));
    else
        check(value->type == GUFO_VALUE_INT32 ? value->as.i == (int64_t)json_number(expected)
                                              : value->as.u == (uint64_t)json_number(expected),
              "%s, %s: %.*s", s->name, s->type, TEXT(key));
}

/* All elements, of a short array. */
static void check_elements(const subject *s, const gufo_entry *entry, const json_value *expected)
{
    gufo_array_iter iter = gufo_array_start(&entry->value.as.array);
    const json_value *v = expected->inside;
    gufo_value value;

    check_u64(entry->value.as.array.count, json_count(expected), "%s: %.*s", s->name,
              TEXT(entry->key));
    for (; gufo_array_next(&iter, &value); v = v->next)
        check_plain(s, entry->key, &value, v);
}

/* The value in a file of this type. */
static const json_value *expected_value(const subject *s, const json_value *row)
{
    const json_value *differing = json_find(s->expected.root, "metadata_differs_by_outtype");
    const json_value *value;
    char key[128];

    (void)snprintf(key, sizeof key, "%.*s", TEXT(row->name));
    value = json_find(json_find(differing, key), s->type);
    return value != NULL ? value : json_find(row, "value");
}

static void check_entry(const subject *s, const gufo_model *model, const json_value *row)
{
    const json_value *value = expected_value(s, row);
    gufo_entry entry;

    check(gufo_model_find_str(model, row->name, &entry), "%s: %.*s is missing", s->name,
          TEXT(row->name));
    check_type(s->name, &entry, json_at(row, "type")->text);
    if (value == NULL)
        check_array(s->name, &entry, row);
    else if (value->kind == JSON_ARRAY)
        check_elements(s, &entry, value);
    else
        check_plain(s, entry.key, &entry.value, value);
}

/* Whether it is one of several names that fit. */
static bool is_acceptable(const subject *s, const gufo_model *model)
{
    const json_value *names = json_find(s->expected.root, "pre_acceptable");
    gufo_str pre;

    if (names == NULL || names->kind != JSON_ARRAY ||
        gufo_model_get_str(model, "tokenizer.ggml.pre", &pre, NULL) != GUFO_OK)
        return false;
    for (const json_value *v = names->inside; v != NULL; v = v->next)
        if (gufo_str_equal(v->text, pre))
            return true;
    return false;
}

static void check_metadata(const subject *s, const gufo_model *model)
{
    for (const json_value *v = json_at(s->expected.root, "metadata")->inside; v != NULL;
         v = v->next)
        if (!gufo_str_equal(v->name, gufo_str_of("tokenizer.ggml.pre")) || !is_acceptable(s, model))
            check_entry(s, model, v);
}

/* ---- tensors -------------------------------------------------------------------------------- */

static void check_data(const subject *s, const gufo_model *model, const gufo_tensor *tensor,
                       const json_value *hash)
{
    uint8_t *bytes = malloc((size_t)tensor->size + 1);
    gufo_error error = no_error();

    check_ok(gufo_tensor_read_raw(model, tensor, 0, bytes, (size_t)tensor->size, &error), &error,
             "%s: %.*s", s->name, TEXT(tensor->name));
    check_hash(bytes, (size_t)tensor->size, hash, s->name, tensor->name);
    free(bytes);
}

static void check_tensor(const subject *s, const gufo_model *model, uint64_t index,
                         const json_value *expected)
{
    gufo_str type = json_at(json_at(expected, "types"), s->type)->text;
    gufo_tensor tensor;
    char name[32];
    uint32_t n = 0;

    check(gufo_model_tensor_at(model, index, &tensor), "%s: tensor %" PRIu64, s->name, index);
    check_view(tensor.name, json_at(expected, "name")->text, "%s", s->name);
    for (const json_value *v = json_at(expected, "ne")->inside; v != NULL; v = v->next, n++)
        check_u64(tensor.dims[n], (uint64_t)json_number(v), "%s: %.*s, dimension %u", s->name,
                  TEXT(tensor.name), (unsigned)n);
    check_u64(tensor.n_dims, n, "%s: %.*s", s->name, TEXT(tensor.name));
    check_view(gufo_str_of(gufo_element_type_by_id(tensor.type)->name), type, "%s, %s: %.*s",
               s->name, s->type, TEXT(tensor.name));
    (void)snprintf(name, sizeof name, "%.*s", TEXT(type));
    check_data(s, model, &tensor, json_at(json_at(expected, "sha256"), name));
}

static void check_tensors(const subject *s, const gufo_model *model)
{
    const json_value *list = json_at(s->expected.root, "tensors");
    uint64_t index = 0;

    check_u64(gufo_model_tensor_count(model), json_count(list), "%s", s->name);
    for (const json_value *v = list->inside; v != NULL; v = v->next)
        check_tensor(s, model, index++, v);
}

/* ---- conversions ---------------------------------------------------------------------------- */

static void convert(const subject *s, const char *out)
{
    gufo_error error = no_error();
    gufo_import *import = gufo_import_checkpoint(s->path.text, NULL, &error);
    gufo_quantize_options options = {
        .recipe = {.model_type = gufo_import_type, .model_context = import}};
    gufo_quantizer *q;

    check(import != NULL, "%s: %s: %s", s->name, error.file, error.message);
    const char *type = strcmp(s->type, "auto") == 0 ? gufo_import_main_type(import)->name : s->type;
    check(gufo_quantize_target_by_name(type, false, &options.recipe.target), "%s", type);
    q = gufo_quantizer_new(gufo_import_model(import), &options, &error);
    check(q != NULL, "%s, %s: %s", s->name, s->type, error.message);
    check_ok(quantize_run(q, out, &(quantize_how){.flags = GUFO_JOB_REPLACE}, &error), &error,
             "%s, %s", s->name, s->type);
    gufo_quantizer_free(q);
    gufo_import_free(import);
}

static void check_conversion(const subject *s)
{
    path_text out = folder_path(s->out, "out.gguf");
    gufo_error error = no_error();
    gufo_model *model;

    convert(s, out.text);
    model = gufo_model_open(out.text, NULL, &error);
    check(model != NULL, "%s, %s: %s", s->name, s->type, error.message);
    check_metadata(s, model);
    check_tensors(s, model);
    gufo_model_free(model);
}

static void check_folder(const folder *out, const char *place, const char *name)
{
    static const char *const types[] = {"q8_0", "auto", "f16", "bf16", "f32"};
    subject s = {.name = name, .path = path_join(place, name), .out = out};

    s.expected = json_load(path_join(s.path.text, "expected.json").text);
    for (unsigned i = 0; i < all_some_or_few(COUNT_OF(types), 2, 1); i++) {
        s.type = types[i];
        check_conversion(&s);
    }
    json_unload(&s.expected);
}

static void test_folders(void **state)
{
    path_text place = need_shared("data/convert/hf");
    folder out = folder_new();
    DIR *listing = opendir(place.text);
    unsigned models = 0;

    (void)state;
    check(listing != NULL, "%s", place.text);
    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;)
        if (entry->d_name[0] != '.') {
            check_folder(&out, place.text, entry->d_name);
            models++;
        }
    (void)closedir(listing);
    folder_remove(&out);
    check(models > 0, "%s has models", place.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_folders)};

    if (!gufo_digest_available(GUFO_DIGEST_SHA256))
        print_message("this build has no SHA-256: hashes are not compared\n");
    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
