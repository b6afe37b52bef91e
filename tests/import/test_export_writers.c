/* Files that gufo_export_job writes: headers of safetensors, shards, archives of NumPy, types, and what is
 * refused. */
#include "../support/allocator.h"
#include "fixture_model.h"

#include <unistd.h>

/* ---- a model ---------------------------------------------------------------------------------- */

static void (*current)(subject *s, const gufo_model *model);

/* Converts the fixture to a file, whose model is tested. */
static void with_model(subject *s)
{
    const gufo_checkpoint_options options = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY};
    const path_text file = folder_path(s->root, "model.gguf");
    const gufo_job_options where = {.path = file.text};
    gufo_error error = no_error();
    gufo_model *model;
    gufo_job *job;

    write_fixture(s);
    s->import = gufo_import_checkpoint(s->path.text, &options, &error);
    check(s->import != NULL, "%s", error.message);
    job = gufo_import_job(s->import, &error);
    check(job != NULL, "%s", error.message);
    check_ok(gufo_job_run(job, &where, NULL, &error), &error, "%s", s->name);
    gufo_job_free(job);
    gufo_import_free(s->import);
    model = gufo_model_open(file.text, NULL, &error);
    check(model != NULL, "%s", error.message);
    current(s, model);
    gufo_model_free(model);
}

static void test_with(const char *fixture, void (*test)(subject *s, const gufo_model *model))
{
    const char *source = getenv("GUFO_SOURCE");
    const path_text directory =
        path_join(source != NULL ? source : ".", "tests/import/architectures");
    folder root = folder_new();

    current = test;
    check_u64(try_fixture(&root, directory.text, fixture, with_model), 0, "differences");
    folder_remove(&root);
}

/* Exports it to a folder that is made. */
static path_text export_to(const subject *s, const gufo_model *model, const char *name,
                           const gufo_export_options *options)
{
    const path_text path = folder_path(s->root, name);
    const gufo_job_options where = {.path = path.text};
    gufo_error error = no_error();
    gufo_job *job = gufo_export_job(model, options, &error);

    check(job != NULL, "%s", error.message);
    assert_int_equal(mkdir(path.text, 0777), 0);
    check_ok(gufo_job_run(job, &where, NULL, &error), &error, "%s", name);
    gufo_job_free(job);
    return path;
}

/* A whole file; to be freed. */
static uint8_t *read_all(const char *where, const char *name, size_t *size)
{
    uint8_t *bytes = read_file(path_join(where, name).text, size);

    check(bytes != NULL, "no file %s", name);
    return bytes;
}

/* ---- safetensors ------------------------------------------------------------------------------ */

static void check_json_text(const json_t *value, const char *expected, const char *label)
{
    check_str(gufo_str_of(json_string_value(value)), expected, "%s", label);
}

static unsigned width_of(const char *dtype)
{
    return strcmp(dtype, "F32") == 0 ? 4 : 2;
}

/* The header of a file, whose rules are checked; to be released. */
static json_t *check_safetensors(const char *where, const char *name)
{
    size_t size, len;
    uint8_t *bytes = read_all(where, name, &size);
    json_t *header, *row;
    const char *tensor, *last = NULL;
    json_int_t end = 0;
    unsigned width = 8;

    len = (size_t)load_u64(bytes, bytes_swapped(false));
    check_u64(len % 8, 0, "the header is padded");
    check_u64(bytes[8], '{', "how it begins");
    header = json_loadb((const char *)bytes + 8, len, JSON_REJECT_DUPLICATES, NULL);
    check(header != NULL, "%s: not JSON", name);
    check_json_text(json_object_get(json_object_get(header, "__metadata__"), "format"), "pt",
                    "format");
    json_object_del(header, "__metadata__");
    json_object_foreach(header, tensor, row)
    {
        const json_t *offsets = json_object_get(row, "data_offsets");
        unsigned own = width_of(json_string_value(json_object_get(row, "dtype")));

        check_u64((uint64_t)json_integer_value(json_array_get(offsets, 0)), (uint64_t)end, "begin");
        end = json_integer_value(json_array_get(offsets, 1));
        check(own < width || (own == width && (last == NULL || strcmp(last, tensor) < 0)),
              "%s comes behind %s", tensor, last);
        width = own;
        last = tensor;
    }
    check_u64(8 + len + (uint64_t)end, size, "size");
    free(bytes);
    return header;
}

static void check_one_file(subject *s, const gufo_model *model)
{
    const path_text path = export_to(s, model, "one", NULL);
    json_t *header = check_safetensors(path.text, "model.safetensors");

    check_u64(json_object_size(header), json_array_size(json_object_get(s->fixture, "tensors")),
              "tensors");
    check(!file_exists(path_join(path.text, "model.safetensors.index.json").text), "an index");
    check(file_exists(path_join(path.text, "config.json").text), "no config.json");
    json_decref(header);
}

static void test_one_file(void **state)
{
    (void)state;
    test_with("smollm3.json", check_one_file);
}

static void check_shards(subject *s, const gufo_model *model)
{
    const gufo_export_options options = {.shard_size = 6000};
    const gufo_checkpoint_options none = {.flags = GUFO_CHECKPOINT_NO_VOCABULARY};
    const path_text path = export_to(s, model, "shards", &options);
    gufo_error error = no_error();
    gufo_import *again = gufo_import_checkpoint(path.text, &none, &error);
    size_t size, files = 0, all = json_array_size(json_object_get(s->fixture, "tensors"));
    uint8_t *bytes = read_all(path.text, "model.safetensors.index.json", &size);
    json_t *index = json_loadb((const char *)bytes, size, 0, NULL);
    const char *tensor, *last = "";
    json_t *file;

    check_u64(json_object_size(json_object_get(index, "weight_map")), all, "tensors in the index");
    json_object_foreach(json_object_get(index, "weight_map"), tensor, file)
    {
        const char *name = json_string_value(file);
        json_t *header;

        if (strcmp(name, last) == 0)
            continue;
        check(strcmp(last, name) < 0, "%s behind %s", name, last);
        header = check_safetensors(path.text, name);
        check(json_object_get(header, tensor) != NULL, "%s is not in %s", tensor, name);
        json_decref(header);
        last = name;
        files++;
    }
    check(files > 2, "%zu files", files);
    check(again != NULL, "%s", error.message);
    check_u64(gufo_model_tensor_count(gufo_import_model(again)), gufo_model_tensor_count(model),
              "tensors");
    gufo_import_free(again);
    json_decref(index);
    free(bytes);
}

static void test_shards(void **state)
{
    (void)state;
    test_with("smollm3.json", check_shards);
}

/* ---- types ------------------------------------------------------------------------------------ */

static void check_types(subject *s, const gufo_model *model)
{
    const gufo_export_options options = {.dtype = gufo_element_type_by_id(GUFO_TYPE_F16)};
    const path_text path = export_to(s, model, "half", &options);
    json_t *header = check_safetensors(path.text, "model.safetensors"), *row;
    const char *tensor;

    json_object_foreach(header, tensor, row)
    {
        bool is_matrix = json_array_size(json_object_get(row, "shape")) >= 2;

        check_json_text(json_object_get(row, "dtype"), is_matrix ? "F16" : "F32", tensor);
    }
    json_decref(header);
}

static void test_types(void **state)
{
    (void)state;
    test_with("smollm3.json", check_types);
}

/* ---- NumPy ------------------------------------------------------------------------------------ */

/* A bit at a time. */
static uint32_t slow_crc(const uint8_t *bytes, size_t size)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < size * 8; i++) {
        if (i % 8 == 0)
            crc ^= bytes[i / 8];
        crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    return ~crc;
}

static uint64_t number_at(const uint8_t *bytes, unsigned size)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < size; i++)
        number |= (uint64_t)bytes[i] << 8 * i;
    return number;
}

static size_t size_at(const uint8_t *bytes, unsigned size)
{
    return (size_t)number_at(bytes, size);
}

/* A member at `at`: its sum, its header, and where its numbers are; returns where it ends. */
static size_t check_member(const uint8_t *bytes, size_t at, char name[128], size_t *numbers)
{
    size_t name_size = size_at(bytes + at + 26, 2), extra = size_at(bytes + at + 28, 2);
    size_t data = at + 30 + name_size + extra;
    size_t size = size_at(bytes + at + 30 + name_size + 4, 8);

    check_u64(number_at(bytes + at + 8, 2), 0, "stored");
    check_u64(number_at(bytes + at + 14, 4), slow_crc(bytes + data, size), "sum");
    (void)snprintf(name, 128, "%.*s", (int)name_size - 4, (const char *)bytes + at + 30);
    check(memcmp(bytes + data, "\x93NUMPY\x01", 7) == 0, "%s is not an array", name);
    *numbers = data + 10 + size_at(bytes + data + 8, 2);
    check_u64((*numbers - data) % 64, 0, "aligned");
    check_u64(bytes[*numbers - 1], '\n', "how its header ends");
    return data + size;
}

static void check_npz(subject *s, const gufo_model *model)
{
    const gufo_export_options npz = {.format = GUFO_EXPORT_NPZ};
    const path_text path = export_to(s, model, "npz", &npz);
    const path_text plain = export_to(
        s, model, "plain", &(gufo_export_options){.dtype = gufo_element_type_by_id(GUFO_TYPE_F32)});
    size_t size, plain_size, at = 0, members = 0, numbers;
    uint8_t *bytes = read_all(path.text, "model.npz", &size);
    uint8_t *same = read_all(plain.text, "model.safetensors", &plain_size);
    json_t *header = check_safetensors(plain.text, "model.safetensors");
    size_t begin = 8 + (size_t)number_at(same, 8);
    char name[128];

    for (; number_at(bytes + at, 4) == 0x04034B50; members++) {
        size_t end = check_member(bytes, at, name, &numbers);
        const json_t *offsets = json_object_get(json_object_get(header, name), "data_offsets");
        size_t first = (size_t)json_integer_value(json_array_get(offsets, 0));

        check(offsets != NULL, "no tensor %s", name);
        check(memcmp(bytes + numbers, same + begin + first, end - numbers) == 0,
              "%s has other numbers", name);
        at = end;
    }
    check_u64(members, json_object_size(header), "members");
    for (size_t i = 0; i < members; i++) { /* the directory */
        size_t name_size = size_at(bytes + at + 28, 2), extra = size_at(bytes + at + 30, 2);
        size_t place = size_at(bytes + at + 46 + name_size + 4 + 16, 8);

        check_u64(number_at(bytes + at, 4), 0x02014B50, "an entry");
        check(memcmp(bytes + place + 30, bytes + at + 46, name_size) == 0, "entry %zu", i);
        check_u64(number_at(bytes + at + 16, 4), number_at(bytes + place + 14, 4), "sum");
        at += 46 + name_size + extra;
    }
    check_u64(size - at, 56 + 20 + 22, "the end");
    json_decref(header);
    free(bytes);
    free(same);
}

static void test_npz(void **state)
{
    (void)state;
    test_with("smollm3.json", check_npz);
}

/* ---- what is refused --------------------------------------------------------------------------- */

static void check_refusal(const gufo_model *model, gufo_export_options options, gufo_status code,
                          const char *part)
{
    gufo_error error = no_error();
    gufo_job *job = gufo_export_job(model, &options, &error);

    check(job == NULL, "nothing is refused: %s", part);
    check_u64(error.code, code, "%s", error.message);
    check(strstr(error.message, part) != NULL, "%s: %s", part, error.message);
}

static void check_options(subject *s, const gufo_model *model)
{
    (void)s;
    check_refusal(model, (gufo_export_options){.format = (gufo_export_format)7}, GUFO_E_ARGUMENT,
                  "format");
    check_refusal(model, (gufo_export_options){.reserved = {1}}, GUFO_E_ARGUMENT, "reserved");
    check_refusal(model, (gufo_export_options){.dtype = gufo_element_type_by_id(GUFO_TYPE_Q8_0)},
                  GUFO_E_ARGUMENT, "F32, F16 and BF16");
    check_refusal(model, (gufo_export_options){.format = GUFO_EXPORT_NPZ, .shard_size = 1},
                  GUFO_E_ARGUMENT, "one file");
    check_refusal(model,
                  (gufo_export_options){.format = GUFO_EXPORT_NPZ,
                                        .dtype = gufo_element_type_by_id(GUFO_TYPE_BF16)},
                  GUFO_E_ARGUMENT, "BF16");
}

static void test_options(void **state)
{
    (void)state;
    test_with("smollm3.json", check_options);
}

/* Writes the model with a key, or a tensor's name, changed, and opens it. */
static gufo_model *changed(const subject *s, const gufo_model *model, const char *key,
                           const char *value, const char *tensor, const char *name,
                           const char *new_file)
{
    const path_text path = folder_path(s->root, new_file);
    const gufo_job_options where = {.path = path.text, .flags = GUFO_JOB_REPLACE};
    gufo_error error = no_error();
    gufo_document *document = gufo_document_from(model, NULL, &error);
    gufo_model *opened;
    gufo_job *job;

    check(document != NULL, "%s", error.message);
    if (key != NULL)
        check_ok(gufo_document_set_text(document, key, value, &error), &error, "%s", key);
    if (tensor != NULL)
        check_ok(gufo_document_rename_tensor(document, tensor, name, &error), &error, "%s", tensor);
    job = gufo_job_of_documents(&document, 1, NULL, &error);
    check(job != NULL, "%s", error.message);
    check_ok(gufo_job_run(job, &where, NULL, &error), &error, "run");
    gufo_job_free(job);
    gufo_document_free(document);
    opened = gufo_model_open(path.text, NULL, &error);
    check(opened != NULL, "%s", error.message);
    return opened;
}

static void check_models(subject *s, const gufo_model *model)
{
    static const struct {
        const char *key, *value, *tensor, *name, *part;
    } rows[] = {
        {"general.type", "adapter", NULL, NULL, "only models"},
        {"general.architecture", "clip", NULL, NULL, "clip"},
        {"general.architecture", "nothing", NULL, NULL, "nothing"},
        {NULL, NULL, "blk.1.ffn_up.weight", "blk.1.ffn_other.weight", "blk.1.ffn_other.weight"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_model *other = changed(s, model, rows[i].key, rows[i].value, rows[i].tensor,
                                    rows[i].name, "other.gguf");

        check_refusal(other, (gufo_export_options){.format = GUFO_EXPORT_SAFETENSORS}, GUFO_E_TYPE,
                      rows[i].part);
        gufo_model_free(other);
    }
}

static void test_models(void **state)
{
    (void)state;
    test_with("smollm3.json", check_models);
}

/* Numbers that a conversion writes twice, and that differ in the model: tensors of two blocks have changed
 * places. */
static void check_copies(subject *s, const gufo_model *model)
{
    static const char *const names[] = {
        "blk.0.time_mix_v0.weight", "other", "blk.1.time_mix_v0.weight",
        "blk.0.time_mix_v0.weight", "other", "blk.1.time_mix_v0.weight"};
    gufo_model *last = NULL, *next;

    for (size_t i = 0; i < COUNT_OF(names); i += 2) {
        next = changed(s, last != NULL ? last : model, NULL, NULL, names[i], names[i + 1],
                       i % 4 == 0 ? "even.gguf" : "odd.gguf");
        gufo_model_free(last);
        last = next;
    }
    check_refusal(last, (gufo_export_options){.format = GUFO_EXPORT_SAFETENSORS}, GUFO_E_TYPE,
                  "would be lost");
    gufo_model_free(last);
}

static void test_copies(void **state)
{
    (void)state;
    test_with("rwkv7-fla.json", check_copies);
}

static bool stop_at_once(void *context, uint64_t done, uint64_t total)
{
    uint64_t *first = context;

    (void)total;
    *first = done;
    return false;
}

/* Sums of an archive come before all that is written: they can be stopped, too. */
static void check_stop(subject *s, const gufo_model *model)
{
    const gufo_export_options options = {.format = GUFO_EXPORT_NPZ};
    const path_text path = folder_path(s->root, "stopped");
    uint64_t first = UINT64_MAX;
    const gufo_run run = {.threads = 1, .progress = stop_at_once, .progress_context = &first};
    const gufo_job_options where = {.path = path.text};
    gufo_error error = no_error();
    gufo_job *job = gufo_export_job(model, &options, &error);

    check(job != NULL, "%s", error.message);
    assert_int_equal(mkdir(path.text, 0777), 0);
    check_status(gufo_job_run(job, &where, &run, &error), GUFO_E_STOPPED, &error, "stopped");
    check_u64(first, 0, "bytes");
    gufo_job_free(job);
    assert_int_equal(rmdir(path.text), 0); /* nothing is in it */
}

static void test_stop(void **state)
{
    (void)state;
    test_with("smollm3.json", check_stop);
}

/* ---- arithmetic ------------------------------------------------------------------------------- */

/* A norm of gemma is stored + 1: what becomes 1e-20 is not a number of F32. */
static void check_arithmetic(subject *s, const gufo_model *model)
{
    static const uint8_t tiny[] = {0x08, 0xe5, 0x3c, 0x1e}; /* 1e-20 */
    const gufo_export_options options = {.format = GUFO_EXPORT_SAFETENSORS};
    const path_text path = folder_path(s->root, "model.gguf");
    gufo_error error = no_error();
    gufo_job *job = gufo_export_job(model, &options, &error);
    gufo_tensor norm;
    FILE *file;

    check(job != NULL, "%s", error.message);
    check(gufo_export_warning_at(job, 0) == NULL, "%s", gufo_export_warning_at(job, 0));
    gufo_job_free(job);
    assert_true(gufo_model_tensor_find(model, "output_norm.weight", &norm));
    file = fopen(path.text, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)norm.offset, SEEK_SET), 0);
    assert_int_equal(fwrite(tiny, sizeof tiny, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    job = gufo_export_job(model, &options, &error);
    check(job != NULL, "%s", error.message);
    assert_non_null(gufo_export_warning_at(job, 0));
    assert_non_null(strstr(gufo_export_warning_at(job, 0), "\"model.norm.weight\""));
    assert_null(gufo_export_warning_at(job, 1));
    gufo_job_free(job);
}

static void test_arithmetic(void **state)
{
    (void)state;
    test_with("gemma.json", check_arithmetic);
}

/* ---- folders ---------------------------------------------------------------------------------- */

static void check_folders(subject *s, const gufo_model *model)
{
    const path_text path = folder_path(s->root, "there");
    const gufo_job_options where = {.path = path.text, .flags = GUFO_JOB_REPLACE};
    gufo_error error = no_error();
    gufo_job *job = gufo_export_job(model, NULL, &error);

    check(job != NULL, "%s", error.message);
    assert_int_equal(mkdir(path.text, 0777), 0);
    write_file(path_join(path.text, "other.txt").text, "stays", 5);
    assert_int_equal(symlink("../victim", path_join(path.text, "config.json").text), 0);
    check_u64(gufo_job_run(job, &where, NULL, &error), GUFO_E_ARGUMENT, "a link");
    check(!file_exists(path_join(path.text, "model.safetensors").text), "something is left");
    check(!file_exists(folder_path(s->root, "victim").text), "it was followed");
    gufo_job_free(job);
    assert_int_equal(unlink(path_join(path.text, "config.json").text), 0);
    job = gufo_export_job(model, NULL, &error);
    check_ok(gufo_job_run(job, &where, NULL, &error), &error, "run");
    gufo_job_free(job);
    check(file_exists(path_join(path.text, "other.txt").text), "a file is gone");
}

static void test_folders(void **state)
{
    (void)state;
    test_with("smollm3.json", check_folders);
}

/* ---- memory ----------------------------------------------------------------------------------- */

/* Every allocation fails once; nothing is left. */
static void check_memory(subject *s, const gufo_model *model)
{
    static const gufo_export_format formats[] = {GUFO_EXPORT_SAFETENSORS, GUFO_EXPORT_NPZ};
    gufo_error error = no_error();

    (void)s;
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        counter c;
        gufo_allocator allocator;
        gufo_job *job = NULL;
        size_t step = all_some_or_few(1, 5, 29);

        counter_init(&c);
        allocator = counter_allocator(&c);
        for (size_t at = 1; job == NULL; at += step) {
            c.calls = c.denied = 0;
            c.fail_at = at;
            job = gufo_export_job(
                model, &(gufo_export_options){.format = formats[i], .allocator = &allocator},
                &error);
            check(job != NULL || error.code == GUFO_E_MEMORY, "request %zu: %s", at, error.message);
            if (job == NULL)
                check_u64(c.in_use, 0, "bytes that are left after request %zu", at);
        }
        gufo_job_free(job);
        check_u64(c.in_use, 0, "bytes that are left");
    }
}

static void test_memory(void **state)
{
    (void)state;
    test_with("smollm3.json", check_memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_file), cmocka_unit_test(test_shards),
        cmocka_unit_test(test_types),    cmocka_unit_test(test_npz),
        cmocka_unit_test(test_options),  cmocka_unit_test(test_models),
        cmocka_unit_test(test_copies),   cmocka_unit_test(test_folders),
        cmocka_unit_test(test_memory),   cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_stop),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
