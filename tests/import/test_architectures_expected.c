/* Small models of many architectures, their towers, and what another converter made of them: every file of
 * tests/import/architectures and towers (the README.md of the first says what is in them).  All differences
 * of all models are printed; one is enough to fail. */
#include "../support/quantize.h"
#include "fixture_model.h"

#include <math.h>

#include "gufo/digest.h"

/* ---- metadata -------------------------------------------------------------------------------- */

/* Equal to a number of a reference that rounds once: the last bit may differ. */
static bool is_near(double got, const json_t *expected)
{
    float other = (float)json_number_value(expected);

    if (json_is_string(expected)) /* JSON has no infinite numbers */
        return isinf(got) && (got < 0) == (*json_string_value(expected) == '-');
    return got == (double)other || (float)got == nextafterf(other, INFINITY) ||
           (float)got == nextafterf(other, -INFINITY);
}

static bool is_equal(const gufo_value *value, const json_t *expected)
{
    if (value->type == GUFO_VALUE_BOOL)
        return json_is_boolean(expected) && value->as.b == json_is_true(expected);
    if (value->type == GUFO_VALUE_STRING)
        return json_is_string(expected) &&
               gufo_str_equal(value->as.str, gufo_str_of(json_string_value(expected)));
    if (value->type == GUFO_VALUE_FLOAT32)
        return is_near(value->as.f, expected);
    return json_is_integer(expected) &&
           (value->type == GUFO_VALUE_INT32 ? value->as.i : (int64_t)value->as.u) ==
               json_integer_value(expected);
}

static bool is_equal_array(const gufo_array *array, const json_t *expected)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value element;
    bool equal = array->count == json_array_size(expected);

    for (size_t i = 0; equal && gufo_array_next(&iter, &element); i++)
        equal = is_equal(&element, json_array_get(expected, (size_t)i));
    return equal;
}

/* "uint32", "array[bool]" */
static const char *type_text(const gufo_value *value, char *out, size_t size)
{
    bool is_array = value->type == GUFO_VALUE_ARRAY;

    (void)snprintf(out, size, is_array ? "array[%s]" : "%s",
                   gufo_value_type_name(is_array ? value->as.array.type : value->type));
    return out;
}

static void compare_entry(subject *s, const char *key, const json_t *expected)
{
    const json_t *wanted = json_object_get(expected, "value");
    const char *type = json_string_value(json_object_get(expected, "type"));
    gufo_entry entry;
    char found[64], *text;

    if (!gufo_model_find(s->model, key, &entry)) {
        differ(s, "no key %s", key);
    } else if (strcmp(type_text(&entry.value, found, sizeof found), type) != 0) {
        differ(s, "%s has type %s instead of %s", key, found, type);
    } else if (!(entry.value.type == GUFO_VALUE_ARRAY
                     ? is_equal_array(&entry.value.as.array, wanted)
                     : is_equal(&entry.value, wanted))) {
        text = json_dumps(wanted, JSON_ENCODE_ANY);
        differ(s, "%s is not %s", key, text);
        free(text);
    }
}

/* The file type is that of a file, not of the model. */
static bool is_of_file(const char *key)
{
    return strcmp(key, "general.file_type") == 0 ||
           strcmp(key, "general.quantization_version") == 0;
}

static void compare_metadata(subject *s, const json_t *expected)
{
    const json_t *added = json_object_get(s->fixture, "added");
    const char *key;
    json_t *value;
    gufo_entry entry;

    json_object_foreach((json_t *)expected, key, value) if (!is_of_file(key))
        compare_entry(s, key, value);
    json_object_foreach((json_t *)added, key, value) compare_entry(s, key, value);
    for (uint64_t i = 0; gufo_model_entry_at(s->model, i, &entry); i++) {
        char name[256];

        (void)snprintf(name, sizeof name, "%.*s", (int)entry.key.len, entry.key.data);
        /* general.* may say more: licenses, sources. */
        if (strncmp(name, "general.", 8) != 0 && strncmp(name, "tokenizer.", 10) != 0 &&
            strncmp(name, "gufo.", 5) != 0 && json_object_get(expected, name) == NULL &&
            json_object_get(added, name) == NULL)
            differ(s, "the key %s is too much", name);
    }
}

/* ---- tensors --------------------------------------------------------------------------------- */

static void compare_shape(subject *s, const gufo_tensor *t, const char *name, const json_t *shape)
{
    bool equal = t->n_dims == json_array_size(shape);

    for (uint32_t i = 0; equal && i < t->n_dims; i++)
        equal = t->dims[i] == (uint64_t)json_integer_value(json_array_get(shape, i));
    if (!equal)
        differ(s, "%s has another shape: %" PRIu32 " dimensions, %" PRIu64 " %" PRIu64 " ...", name,
               t->n_dims, t->dims[0], t->dims[1]);
}

static void compare_types(subject *s, const char *name, const json_t *types)
{
    const char *target;
    json_t *wanted;

    json_object_foreach((json_t *)types, target, wanted)
    {
        gufo_quantize_target plain;
        const gufo_element_type *type;

        assert_true(gufo_quantize_target_by_name(target, false, &plain));
        type = gufo_import_type(s->import, &plain, gufo_str_of(name));
        if (type == NULL || strcmp(type->name, json_string_value(wanted)) != 0)
            differ(s, "%s becomes %s instead of %s in a file of %s", name,
                   type != NULL ? type->name : "nothing", json_string_value(wanted), target);
    }
}

static void compare_numbers(subject *s, const float *numbers, uint64_t count, const char *name,
                            const json_t *expected)
{
    if (count != json_array_size(expected))
        differ(s, "%s has %" PRIu64 " numbers", name, count);
    for (uint64_t i = 0; i < count && i < json_array_size(expected); i++)
        if (!is_near((double)numbers[i], json_array_get(expected, (size_t)i))) {
            differ(s, "%s: number %" PRIu64 " is %.9g instead of %.9g", name, i, (double)numbers[i],
                   json_number_value(json_array_get(expected, (size_t)i)));
            return;
        }
}

static void compare_hash(subject *s, const void *data, size_t size, const char *name,
                         const json_t *expected)
{
    uint8_t digest[GUFO_DIGEST_SIZE];
    char text[GUFO_DIGEST_TEXT];
    gufo_error error = no_error();
    size_t len;

    if (!gufo_digest_available(GUFO_DIGEST_SHA256))
        return;
    check_ok(gufo_digest_bytes(GUFO_DIGEST_SHA256, data, size, digest, &error), &error, "%s", name);
    len = gufo_digest_text(GUFO_DIGEST_SHA256, digest, text);
    if (!gufo_str_equal((gufo_str){text, len}, gufo_str_of(json_string_value(expected))))
        differ(s, "%s has other numbers", name);
}

/* Numbers as the bytes of an F32 tensor. */
static void to_bytes(float *numbers, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint32_t bits = float_to_bits(numbers[i]);

        store_u32((uint8_t *)&numbers[i], bits, bytes_swapped(false));
    }
}

/* Blocks, as they are in any file. */
static void compare_blocks(subject *s, const gufo_tensor *t, const char *name,
                           const json_t *expected)
{
    gufo_error error = no_error();
    uint8_t *blocks = malloc((size_t)t->size);

    assert_non_null(blocks);
    check_ok(gufo_tensor_read_raw(s->model, t, 0, blocks, (size_t)t->size, &error), &error, "%s",
             name);
    compare_hash(s, blocks, (size_t)t->size, name, expected);
    free(blocks);
}

static void compare_data(subject *s, const gufo_tensor *t, const char *name, const json_t *expected)
{
    float *numbers = malloc((size_t)t->elements * sizeof *numbers);
    gufo_error error = no_error();

    assert_non_null(numbers);
    if (gufo_tensor_decode(s->model, t, 0, t->elements / t->dims[0], numbers, NULL, &error) !=
        GUFO_OK) {
        differ(s, "%s: %s", name, error.message);
    } else if (json_is_array(expected)) {
        compare_numbers(s, numbers, t->elements, name, expected);
    } else {
        to_bytes(numbers, t->elements);
        compare_hash(s, numbers, (size_t)t->elements * sizeof *numbers, name, expected);
    }
    free(numbers);
}

/* Whether a file of F32 has the tensor's own bytes: blocks, and what is F16 in every file. */
static bool is_stored_so(const gufo_tensor *t, const json_t *types)
{
    const gufo_element_type *type = gufo_element_type_by_id(t->type);
    const char *full = json_string_value(json_object_get(types, "f32"));

    return type->block_elements > 1 || (type->id == GUFO_TYPE_F16 && strcmp(full, "F16") == 0);
}

static void compare_tensors(subject *s, const json_t *expected)
{
    const json_t *row;
    size_t index;
    gufo_tensor tensor;

    json_array_foreach(expected, index, row)
    {
        const char *name = json_string_value(json_array_get(row, 0));

        if (!gufo_model_tensor_find(s->model, name, &tensor)) {
            differ(s, "no tensor %s", name);
            continue;
        }
        compare_shape(s, &tensor, name, json_array_get(row, 1));
        compare_types(s, name, json_array_get(row, 2));
        if (is_stored_so(&tensor, json_array_get(row, 2)))
            compare_blocks(s, &tensor, name, json_array_get(row, 3));
        else
            compare_data(s, &tensor, name, json_array_get(row, 3));
    }
    for (uint64_t i = 0; gufo_model_tensor_at(s->model, i, &tensor); i++) {
        json_t *at = json_array_get(json_array_get(expected, (size_t)i), 0);

        if (!json_is_string(at) || !gufo_str_equal(tensor.name, gufo_str_of(json_string_value(at))))
            differ(s, "tensor %" PRIu64 " is %.*s", i, (int)tensor.name.len, tensor.name.data);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void write_type(subject *s, const char *type, const char *out)
{
    gufo_error error = no_error();
    gufo_quantizer *q = gufo_import_quantize(s->import, type, NULL, &error);

    check(q != NULL, "%s: %s", s->name, error.message);
    check_ok(quantize_run(q, out, &(quantize_how){.flags = GUFO_JOB_REPLACE}, &error), &error, "%s",
             s->name);
    gufo_quantizer_free(q);
}

/* The bytes of all tensors of a file, one after the other; to be freed. */
static uint8_t *read_all(const gufo_model *model, size_t *size)
{
    gufo_error error = no_error();
    gufo_tensor tensor;
    uint8_t *all;

    *size = 0;
    for (uint64_t i = 0; gufo_model_tensor_at(model, i, &tensor); i++)
        *size += (size_t)tensor.size;
    all = malloc(*size + 1);
    assert_non_null(all);
    *size = 0;
    for (uint64_t i = 0; gufo_model_tensor_at(model, i, &tensor); i++) {
        check_ok(gufo_tensor_read_raw(model, &tensor, 0, all + *size, (size_t)tensor.size, &error),
                 &error, "tensor %" PRIu64, i);
        *size += (size_t)tensor.size;
    }
    return all;
}

/* Files of several types, each with one hash for all tensors. */
static void compare_files(subject *s, const json_t *data)
{
    const char *target;
    json_t *hash;

    json_object_foreach((json_t *)data, target, hash)
    {
        path_text out = folder_path(s->root, "out.gguf");
        gufo_error error = no_error();
        gufo_model *model;
        uint8_t *all;
        size_t size;

        write_type(s, target, out.text);
        model = gufo_model_open(out.text, NULL, &error);
        check(model != NULL, "%s: %s", s->name, error.message);
        all = read_all(model, &size);
        compare_hash(s, all, size, target, hash);
        free(all);
        gufo_model_free(model);
    }
}

/* Files of towers are known by their names. */
static void compare_name(subject *s, bool is_tower)
{
    char name[GUFO_NAME_SIZE];
    gufo_error error = no_error();

    check_ok(gufo_import_file_name(s->import, "Q8_0", name, &error), &error, "%s", s->name);
    if ((strncmp(name, "mmproj-", 7) == 0) != is_tower)
        differ(s, "the file is called %s", name);
}

static void convert_model(subject *s)
{
    const bool is_tower = json_object_get(s->fixture, "mmproj") != NULL;
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY |
                                                      (is_tower ? GUFO_CHECKPOINT_TOWER : 0u)};
    const json_t *expected = json_object_get(s->fixture, "expected");
    gufo_error error = no_error();

    write_fixture(s);
    s->import = gufo_import_checkpoint(s->path.text, &options, &error);
    if (s->import == NULL) {
        differ(s, "%s", error.message);
        return;
    }
    s->model = gufo_import_model(s->import);
    compare_metadata(s, json_object_get(expected, "metadata"));
    compare_tensors(s, json_object_get(expected, "tensors"));
    compare_name(s, is_tower);
    compare_files(s, json_object_get(expected, "data"));
    gufo_import_free(s->import);
}

static void test_architectures(void **state)
{
    folder root = folder_new();

    (void)state;
    /* A third of them has every operation often enough. */
    check_u64(each_fixture(&root, all_some_or_few(1, 1, 3), convert_model), 0, "differences");
    folder_remove(&root);
}

static void test_towers(void **state)
{
    folder root = folder_new();

    (void)state;
    check_u64(each_fixture_in("tests/import/towers", &root, 1, convert_model), 0, "differences");
    folder_remove(&root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_architectures),
                                       cmocka_unit_test(test_towers)};

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
