/* Every header of before GGUF that occurred: small models that are taken, and the same models
 * damaged, which are refused with a sentence, a place, and little memory. */
#include "../support/allocator.h"
#include "../support/folder.h"
#include "../support/legacy_writer.h"
#include "../support/pace.h"

#include "gufo/import.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---------------------------------------------------------------------------------- */

/* The file that is opened again and again; the folder is in memory. */
static folder place;
static path_text path;

static int make_folder(void **state)
{
    (void)folders_in_memory(state);
    place = folder_new();
    path = folder_path(&place, "old.bin");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    folder_remove(&place);
    return 0;
}

static builder written(const legacy_sample *sample, legacy_marks *marks)
{
    builder b = builder_new((encoding){3, false});

    legacy_write(&b, sample, marks);
    write_file(path.text, b.data, b.len);
    return b;
}

/* Families of which only some tensors are known. */
static bool is_open_ended(const legacy_sample *sample)
{
    return strcmp(sample->family, "whisper") == 0 || strcmp(sample->family, "rwkv") == 0 ||
           strcmp(sample->family, "silero") == 0;
}

static gufo_import *open_file(counter *count, gufo_legacy_keep keep, gufo_error *error)
{
    gufo_allocator allocator = counter_allocator(count);
    gufo_run run = {.threads = 1};
    gufo_legacy_options options = {
        .flags = GUFO_LEGACY_MEASURE, .keep = keep, .run = &run, .allocator = &allocator};

    return gufo_import_legacy(path.text, &options, error);
}

/* ---- what is whole -------------------------------------------------------------------------- */

static void check_numbers(const legacy_sample *sample, const gufo_model *model)
{
    gufo_tensor tensor;
    float numbers[1024];
    gufo_error error = no_error();

    for (uint64_t i = 0; gufo_model_tensor_at(model, i, &tensor); i++) {
        check(tensor.elements <= COUNT_OF(numbers), "%s", sample->name);
        check_ok(gufo_tensor_decode(model, &tensor, 0, tensor.elements / tensor.dims[0], numbers,
                                    NULL, &error),
                 &error, "%s", sample->name);
        for (uint64_t k = 0; k < tensor.elements; k++)
            check(isfinite(numbers[k]), "%s: %.*s", sample->name, (int)tensor.name.len,
                  tensor.name.data);
    }
}

static void check_sample(const legacy_sample *sample, gufo_legacy_keep keep)
{
    legacy_marks marks;
    builder b = written(sample, &marks);
    gufo_error error = no_error();
    counter count;
    bool mels = (sample->flags & SAMPLE_MELS) != 0;

    counter_init(&count);
    gufo_import *import = open_file(&count, keep, &error);
    check(import != NULL, "%s: %s (byte %" PRIu64 ")", sample->name, error.message, error.offset);
    gufo_import_facts facts = gufo_import_describe(import);
    check_str(gufo_str_of(facts.family), sample->family, "%s", sample->name);
    check_str(gufo_str_of(facts.container), sample->container, "%s", sample->name);
    check_u64(facts.version, sample->version, "%s", sample->name);
    check_u64(facts.generation, sample->generation, "%s", sample->name);
    check_u64(facts.parts, 1, "%s", sample->name);
    check_u64(facts.size, b.len, "%s", sample->name);
    check_u64(gufo_model_tensor_count(gufo_import_model(import)), marks.tensors + mels, "%s",
              sample->name);
    check_numbers(sample, gufo_import_model(import));
    gufo_import_free(import);
    check_u64(count.in_use, 0, "%s: all is freed", sample->name);
    builder_free(&b);
}

static void test_each_header_is_recognised(void **state)
{
    const legacy_sample *sample;

    (void)state;
    for (size_t i = 0; (sample = legacy_sample_at(i)) != NULL; i++)
        for (int keep = GUFO_LEGACY_NEAREST; keep <= GUFO_LEGACY_F32; keep++)
            check_sample(sample, (gufo_legacy_keep)keep);
}

static void test_first_bytes_name_the_container(void **state)
{
    const legacy_sample *sample;

    (void)state;
    for (size_t i = 0; (sample = legacy_sample_at(i)) != NULL; i++) {
        builder b = written(sample, NULL);
        const char *found = gufo_legacy_recognise(b.data, 32);

        check(found != NULL && strstr(found, sample->container) != NULL, "%s is %s", sample->name,
              found);
        b.data[0] ^= 1;
        check(gufo_legacy_recognise(b.data, 32) == NULL, "%s with another magic", sample->name);
        builder_free(&b);
    }
    check(gufo_legacy_recognise("GGUF", 4) == NULL && gufo_legacy_recognise("", 0) == NULL,
          "others");
    check_str(gufo_str_of(gufo_legacy_recognise("algg\1\0\0\0", 8)), "GGLA version 1", "adapters");
    check(gufo_legacy_recognise("algg\2\0\0\0", 8) == NULL &&
              gufo_legacy_recognise("ggjt\0\0\0\1", 8) == NULL &&
              gufo_legacy_recognise("tjgg\4\0\0\0", 8) == NULL,
          "what is refused");
}

/* Every request for memory fails once. */
static void test_without_memory(void **state)
{
    const legacy_sample *sample;

    (void)state;
    for (size_t i = 0; (sample = legacy_sample_at(i)) != NULL; i++) {
        builder b = written(sample, NULL);
        gufo_import *import = NULL;

        for (size_t fail_at = 1; import == NULL; fail_at++) {
            gufo_error error = no_error();
            counter count;

            counter_init(&count);
            count.fail_at = fail_at;
            import = open_file(&count, GUFO_LEGACY_NEAREST, &error);
            if (import == NULL)
                check_error_shape(&error, GUFO_E_MEMORY, sample->name);
            else
                check(count.denied == 0, "%s: request %zu failed", sample->name, fail_at);
            gufo_import_free(import);
            check_u64(count.in_use, 0, "%s: all is freed after request %zu failed", sample->name,
                      fail_at);
        }
        builder_free(&b);
    }
}

/* ---- what is damaged ------------------------------------------------------------------------ */

/* Fails with a sentence about a place in the file, and without much memory. */
static void check_damaged(const legacy_sample *sample, const char *how, size_t at)
{
    enum { MOST_MEMORY = 256 << 10 };
    gufo_error error = no_error();
    counter count;

    counter_init(&count);
    gufo_import *import = open_file(&count, GUFO_LEGACY_NEAREST, &error);
    check(import == NULL, "%s: %s, byte %zu: is taken", sample->name, how, at);
    check(error.code != GUFO_E_IO && error.code != GUFO_E_MEMORY && error.code != GUFO_E_STOPPED,
          "%s: %s, byte %zu: %s", sample->name, how, at, error.message);
    check_error_shape(&error, error.code, how);
    check_u64(count.in_use, 0, "%s: %s, byte %zu: all is freed", sample->name, how, at);
    check(count.peak <= MOST_MEMORY, "%s: %s, byte %zu: %zu bytes of memory", sample->name, how, at,
          count.peak);
}

/* What is cut between two tensors is a model of a family that nobody counts. */
static bool is_between(const legacy_marks *marks, size_t at)
{
    for (size_t i = 0; i < marks->tensors; i++)
        if (marks->records[i] == at)
            return true;
    return false;
}

/* Every byte but those in the middle of data, which are all alike. */
static bool is_dull(const legacy_marks *marks, size_t at)
{
    for (size_t i = 0; i < marks->tensors; i++)
        if (at > marks->data[i] + 1 && at < marks->ends[i] - 1)
            return true;
    return false;
}

static void test_cut_at_every_byte(void **state)
{
    const legacy_sample *sample;
    size_t step = all_or_few(1, 11);

    (void)state;
    for (size_t i = 0; (sample = legacy_sample_at(i)) != NULL; i++) {
        legacy_marks marks;
        builder b = written(sample, &marks);

        for (size_t at = b.len; at-- > 0;) {
            if (at % step != 0 || is_dull(&marks, at) ||
                (is_open_ended(sample) && is_between(&marks, at)))
                continue;
            check(truncate(path.text, (off_t)at) == 0, "truncate");
            check_damaged(sample, "cut", at);
        }
        builder_free(&b);
    }
}

static void test_every_count_that_is_too_large(void **state)
{
    static const uint32_t values[] = {UINT32_MAX, INT32_MAX, 0x80000001};
    const legacy_sample *sample;

    (void)state;
    for (size_t i = 0; (sample = legacy_sample_at(i)) != NULL; i++) {
        legacy_marks marks;
        builder b = written(sample, &marks);

        for (size_t k = 0; k < marks.count * COUNT_OF(values); k++) {
            const legacy_mark *mark = &marks.mark[k / COUNT_OF(values)];
            uint8_t before[4];

            memcpy(before, b.data + mark->at, 4);
            for (int byte = 0; byte < 4; byte++)
                b.data[mark->at + (size_t)byte] =
                    (uint8_t)(values[k % COUNT_OF(values)] >> 8 * byte);
            write_file(path.text, b.data, b.len);
            check_damaged(sample, mark->what, mark->at);
            memcpy(b.data + mark->at, before, 4);
        }
        builder_free(&b);
    }
}

static void test_more_than_the_model(void **state)
{
    static const size_t lengths[] = {1, 12, 4096};
    const legacy_sample *sample;

    (void)state;
    for (size_t i = 0; (sample = legacy_sample_at(i)) != NULL; i++)
        for (size_t k = 0; k < COUNT_OF(lengths); k++) {
            builder b = written(sample, NULL);

            builder_zeros(&b, lengths[k]);
            write_file(path.text, b.data, b.len);
            check_damaged(sample, "zeros behind it", b.len);
            builder_free(&b);
        }
}

/* ---- models that contradict themselves ------------------------------------------------------ */

static size_t tensor_count(const legacy_sample *sample)
{
    size_t count = 0;

    while (count < SAMPLE_TENSORS && sample->tensors[count].name != NULL)
        count++;
    return count;
}

static void check_changed(const legacy_sample *changed, const char *how, size_t tensor)
{
    builder b = written(changed, NULL);

    check_damaged(changed, how, tensor);
    builder_free(&b);
}

static void test_a_tensor_twice(void **state)
{
    const legacy_sample *sample;

    (void)state;
    for (size_t i = 0; (sample = legacy_sample_at(i)) != NULL; i++)
        for (size_t k = 0; k < tensor_count(sample); k++) {
            legacy_sample changed = *sample;

            changed.tensors[tensor_count(sample)] = sample->tensors[k];
            check_changed(&changed, "a tensor twice", k);
        }
}

/* Bloom does without an output of its own. */
static bool may_miss(const legacy_sample *sample, size_t tensor)
{
    return strcmp(sample->family, "bloom") == 0 &&
           strcmp(sample->tensors[tensor].name, "output.weight") == 0;
}

static void test_a_tensor_missing(void **state)
{
    const legacy_sample *sample;

    (void)state;
    for (size_t i = 0; (sample = legacy_sample_at(i)) != NULL; i++)
        for (size_t k = 0; k < tensor_count(sample) && !is_open_ended(sample); k++) {
            legacy_sample changed = *sample;

            memmove(changed.tensors + k, changed.tensors + k + 1,
                    (tensor_count(sample) - k) * sizeof changed.tensors[0]);
            if (!may_miss(sample, k))
                check_changed(&changed, "a tensor missing", k);
        }
}

/* A header that promises one layer more, of models whose names stay. */
static void test_a_layer_missing(void **state)
{
    static const struct {
        const char *sample;
        size_t field; /* of the header: its layers */
    } rows[] = {{"rwkv-100", 2}, {"rwkv-101", 2}, {"whisper", 4}, {"whisper", 8}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        legacy_sample changed = *legacy_sample_named(rows[i].sample);

        changed.fields[rows[i].field]++;
        check_changed(&changed, "a layer missing", rows[i].field);
    }
}

static void test_names_of_other_models(void **state)
{
    static const char *const names[] = {"layers.1.attention.wq.weight", "model/h1/ln_1/g",
                                        "visual.conv1.weight", "transformer.h.0.ln_1.weights", "x"};
    const legacy_sample *sample;

    (void)state;
    for (size_t i = 0; (sample = legacy_sample_at(i)) != NULL; i++)
        for (size_t k = 0; k < COUNT_OF(names) * !is_open_ended(sample); k++) {
            legacy_sample changed = *sample;

            changed.tensors[tensor_count(sample)] = (sample_tensor){names[k], "E", NULL};
            check_changed(&changed, names[k], k);
        }
}

/* Each dimension of each tensor, one instead of what it is: as wide as no other tensor expects. */
static void test_shapes_that_contradict(void **state)
{
    const legacy_sample *sample;

    (void)state;
    for (size_t i = 0; (sample = legacy_sample_at(i)) != NULL; i++)
        for (size_t k = 0; k < 2 * tensor_count(sample) && !is_open_ended(sample); k++) {
            legacy_sample changed = *sample;
            char shape[5];

            (void)snprintf(shape, sizeof shape, "%s", sample->tensors[k / 2].shape);
            /* A narrower first tensor is that of a model in several parts. */
            if (k % 2 >= strlen(shape) || (k == 0 && strcmp(sample->family, "llama") == 0))
                continue;
            shape[k % 2] = '1';
            changed.tensors[k / 2].shape = shape;
            check_changed(&changed, "a shape that contradicts", k / 2);
        }
}

/* Of models whose names stay, those tensors that the header says something about. */
static void test_headers_that_contradict(void **state)
{
    static const struct {
        const char *sample;
        size_t field;
        uint32_t value;
    } rows[] = {{"whisper", 0, 5},  {"whisper", 1, 4},  {"whisper", 2, 64}, {"whisper", 5, 4},
                {"whisper", 6, 64}, {"whisper", 9, 80}, {"rwkv-100", 0, 3}, {"rwkv-100", 1, 64},
                {"rwkv-101", 0, 1}, {"rwkv-101", 1, 16}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        legacy_sample changed = *legacy_sample_named(rows[i].sample);

        changed.fields[rows[i].field] = rows[i].value;
        check_changed(&changed, "a header that contradicts", rows[i].field);
    }
}

/* Of models whose names stay, a file that was cut between two tensors. */
static void test_the_last_tensor_missing(void **state)
{
    static const char *const names[] = {"whisper", "rwkv-100", "rwkv-101"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        legacy_sample changed = *legacy_sample_named(names[i]);

        changed.tensors[tensor_count(&changed) - 1] = (sample_tensor){NULL, NULL, NULL};
        check_changed(&changed, "the last tensor missing", i);
    }
}

/* Heads of keys are as large as those of queries, and divide their number. */
static void test_keys_that_no_heads_have(void **state)
{
    static const struct {
        uint32_t embedding, heads, keys;
        bool good;
    } rows[] = {{4, 2, 2, true}, {4, 2, 4, true}, {4, 2, 1, false}, {4, 2, 3, false},
                {8, 4, 2, true}, {8, 4, 4, true}, {8, 4, 6, false}, {4, 2, 8, false}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        legacy_sample changed = *legacy_sample_named("llama-ggmf1");
        gufo_error error = no_error();

        changed.fields[1] = changed.sizes[0].size = rows[i].embedding;
        changed.fields[3] = rows[i].heads;
        changed.sizes[4].size = rows[i].keys;
        check(changed.sizes[0].letter == 'E' && changed.sizes[4].letter == 'K', "sizes");
        builder b = written(&changed, NULL);
        gufo_import *import = gufo_import_legacy(path.text, NULL, &error);
        check((import != NULL) == rows[i].good, "%u rows of keys for %u heads: %s",
              (unsigned)rows[i].keys, (unsigned)rows[i].heads, error.message);
        gufo_import_free(import);
        builder_free(&b);
    }
}

/* Rows are read to find out whether it is starcoder; those of a file may be any length. */
static void test_rows_of_another_width_are_not_read(void **state)
{
    enum { WIDTH = 1 << 16 };
    legacy_sample changed = *legacy_sample_named("starcoder");
    size_t last = COUNT_OF(changed.sizes) - 1, found = 0;
    counter count;
    gufo_error error = no_error();

    (void)state;
    changed.sizes[last].letter = 'X';
    changed.sizes[last].size = WIDTH;
    for (size_t i = 0; i < tensor_count(&changed); i++)
        if (strcmp(changed.tensors[i].name, "model/h0/attn/c_attn/w") == 0) {
            changed.tensors[i].shape = "XQ";
            found++;
        }
    check(found == 1, "the sample has no such tensor");
    builder b = written(&changed, NULL);
    counter_init(&count);
    check(open_file(&count, GUFO_LEGACY_NEAREST, &error) == NULL, "it is taken");
    check(error.code == GUFO_E_MALFORMED, "%s", error.message);
    check(count.largest < 4 * WIDTH, "%zu bytes at once", count.largest);
    builder_free(&b);
}

/* ---- files that change ---------------------------------------------------------------------- */

static void test_a_file_that_changes_while_rows_are_read(void **state)
{
    const legacy_sample *sample = legacy_sample_named("llama-ggmf1");
    const struct timespec other[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    gufo_error error = no_error();
    gufo_tensor tensor;
    float numbers[1024];

    (void)state;
    builder b = written(sample, NULL);
    gufo_import *import = gufo_import_legacy(path.text, NULL, &error);
    check(import != NULL, "%s", error.message);
    const gufo_model *model = gufo_import_model(import);
    check(gufo_model_tensor_at(model, 0, &tensor) && tensor.elements <= COUNT_OF(numbers),
          "tensor");
    check_ok(gufo_tensor_decode(model, &tensor, 0, 1, numbers, NULL, &error), &error, "before");
    check(utimensat(AT_FDCWD, path.text, other, 0) == 0, "utimensat");
    check(gufo_tensor_decode(model, &tensor, 0, 1, numbers, NULL, &error) == GUFO_E_CHANGED, "%s",
          error.message);
    gufo_import_free(import);
    builder_free(&b);
}

/* Names of files are bytes; those of keys are text. */
static void test_a_name_that_is_not_text(void **state)
{
    const legacy_sample *sample = legacy_sample_named("llama-ggmf1");
    path_text odd = folder_path(&place, "a\xff\xc3.bin");
    builder b = written(sample, NULL);
    gufo_error error = no_error();
    gufo_str name;

    (void)state;
    write_file(odd.text, b.data, b.len);
    gufo_import *import = gufo_import_legacy(odd.text, NULL, &error);
    check(import != NULL, "%s", error.message);
    check_ok(gufo_model_get_str(gufo_import_model(import), "general.name", &name, &error), &error,
             "general.name");
    check(gufo_str_equal(name, gufo_str_of("a??.bin")), "%.*s", (int)name.len, name.data);
    check_str(gufo_str_of(gufo_import_describe(import).called), "a??.bin", "called");
    gufo_import_free(import);
    (void)unlink(odd.text);
    builder_free(&b);
}

/* ---- what the caller says ------------------------------------------------------------------- */

/* A file is called as its caller says, so that it becomes the same one under another name. */
static void test_the_caller_names_the_file(void **state)
{
    static const char *const keys[] = {"general.name", "gufo.source.file"};
    const gufo_legacy_options options = {.called = "ggml-model.bin"};
    builder b = written(legacy_sample_named("llama-ggmf1"), NULL);
    gufo_error error = no_error();
    gufo_import *import = gufo_import_legacy(path.text, &options, &error);
    gufo_str name;

    (void)state;
    check(import != NULL, "%s", error.message);
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        check_ok(gufo_model_get_str(gufo_import_model(import), keys[i], &name, &error), &error,
                 "%s", keys[i]);
        check_str(name, "ggml-model.bin", "%s", keys[i]);
    }
    check_str(gufo_str_of(gufo_import_describe(import).called), "ggml-model.bin", "called");
    gufo_import_free(import);
    builder_free(&b);
}

static void test_the_caller_names_the_family(void **state)
{
    static const char *const families[] = {"llama",   "bloom",  "gpt2",   "gptj",
                                           "gptneox", "mpt",    "replit", "falcon",
                                           "whisper", "silero", "rwkv"};
    const legacy_sample *sample;

    (void)state;
    for (size_t i = 0; (sample = legacy_sample_at(i)) != NULL; i++) {
        builder b = written(sample, NULL);

        for (size_t k = 0; k < COUNT_OF(families); k++) {
            gufo_legacy_options options = {.arch = families[k]};
            gufo_error error = no_error();
            gufo_import *import = gufo_import_legacy(path.text, &options, &error);
            bool same = strcmp(families[k], sample->family) == 0;
            /* Their headers and names are alike. */
            bool alike =
                strcmp(families[k], "gpt2") == 0 && strcmp(sample->family, "starcoder") == 0;

            check((import != NULL) == same || alike, "%s as %s: %s", sample->name, families[k],
                  error.message);
            check(import == NULL || strcmp(gufo_import_describe(import).family, families[k]) == 0,
                  "%s is %s, not %s", sample->name, gufo_import_describe(import).family,
                  families[k]);
            gufo_import_free(import);
        }
        builder_free(&b);
    }
    gufo_legacy_options options = {.arch = "no-such-family"};
    gufo_error error = no_error();
    check(gufo_import_legacy(path.text, &options, &error) == NULL, "an unknown family");
    check_error_shape(&error, GUFO_E_ARGUMENT, "an unknown family");
}

/* StarCoder's copies of keys are left out only where they are copies, in weights and biases. */
static void test_copies_that_are_none(void **state)
{
    static const struct {
        size_t tensor, row_bytes, row; /* of the second head of keys, its second row */
    } rows[] = {{8, 16, 7}, {9, 4, 7}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        legacy_marks marks;
        builder b = written(legacy_sample_named("starcoder"), &marks);
        gufo_error error = no_error();
        counter count;

        b.data[marks.data[rows[i].tensor] + rows[i].row * rows[i].row_bytes] ^= 1;
        write_file(path.text, b.data, b.len);
        counter_init(&count);
        check(open_file(&count, GUFO_LEGACY_NEAREST, &error) == NULL, "copies that are none");
        check_error_shape(&error, GUFO_E_MALFORMED, "copies that are none");
        builder_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_header_is_recognised),
        cmocka_unit_test(test_first_bytes_name_the_container),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_cut_at_every_byte),
        cmocka_unit_test(test_every_count_that_is_too_large),
        cmocka_unit_test(test_more_than_the_model),
        cmocka_unit_test(test_a_tensor_twice),
        cmocka_unit_test(test_a_tensor_missing),
        cmocka_unit_test(test_a_layer_missing),
        cmocka_unit_test(test_names_of_other_models),
        cmocka_unit_test(test_shapes_that_contradict),
        cmocka_unit_test(test_headers_that_contradict),
        cmocka_unit_test(test_the_last_tensor_missing),
        cmocka_unit_test(test_keys_that_no_heads_have),
        cmocka_unit_test(test_rows_of_another_width_are_not_read),
        cmocka_unit_test(test_a_file_that_changes_while_rows_are_read),
        cmocka_unit_test(test_a_name_that_is_not_text),
        cmocka_unit_test(test_the_caller_names_the_file),
        cmocka_unit_test(test_the_caller_names_the_family),
        cmocka_unit_test(test_copies_that_are_none),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
