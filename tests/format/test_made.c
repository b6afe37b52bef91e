/* Models behind a provider: read in every way there is, and refused where there is no file. */
#include "../support/allocator.h"
#include "../support/findings.h"
#include "../support/folder.h"

enum { COLUMNS = 64, ROWS = 6 };

/* What the provider tells, with room for mistakes. */
typedef struct maker {
    const gufo_entry *entries;
    const gufo_tensor *tensors;
    uint64_t bad_entry, bad_tensor; /* that it does not tell; UINT64_MAX: none */
    bool fails;                     /* when rows are read */
    unsigned closed;
} maker;

static bool entry_at(void *context, uint64_t index, gufo_entry *out)
{
    const maker *m = context;

    if (index == m->bad_entry)
        return false;
    *out = m->entries[index];
    return true;
}

static bool tensor_at(void *context, uint64_t index, gufo_tensor *out)
{
    const maker *m = context;

    if (index == m->bad_tensor)
        return false;
    *out = m->tensors[index];
    return true;
}

/* Element i of a row is row + i / 64, in F32, and rows of Q8_0 are bytes that count. */
static gufo_status read_rows(void *context, uint64_t tensor, uint64_t first, uint64_t rows,
                             void *out, gufo_error *error)
{
    const maker *m = context;
    builder b = builder_new((encoding){3, false});

    if (m->fails) {
        snprintf(error->message, sizeof error->message, "nothing to make it from");
        return GUFO_E_IO;
    }
    for (uint64_t row = first; row < first + rows; row++)
        for (unsigned i = 0; i < COLUMNS; i++)
            if (m->tensors[tensor].type == GUFO_TYPE_F32)
                builder_f32(&b, (float)row + (float)i / COLUMNS);
            else if (i % 32 == 0) {
                builder_u16(&b, 0x3c00); /* 1 */
                for (unsigned k = 0; k < 32; k++)
                    builder_u8(&b, (uint8_t)(row + i + k));
            }
    memcpy(out, b.data, b.len);
    builder_free(&b);
    return GUFO_OK;
}

static void close_maker(void *context)
{
    ((maker *)context)->closed++;
}

#define NUMBER(n)                              \
    {                                          \
        .type = GUFO_VALUE_UINT32, .as.u = (n) \
    }
#define TEXT(t)                                                   \
    {                                                             \
        .type = GUFO_VALUE_STRING, .as.str = { t, sizeof(t) - 1 } \
    }
#define NAME(t)          \
    {                    \
        t, sizeof(t) - 1 \
    }

static const gufo_entry good_entries[] = {
    {.key = NAME("general.architecture"), .value = TEXT("llama"), .offset = 99},
    {.key = NAME("llama.block_count"), .value = NUMBER(2)},
    {.key = NAME("general.alignment"), .value = NUMBER(64)},
};

static const gufo_tensor good_tensors[] = {
    {.name = NAME("token_embd.weight"),
     .type = GUFO_TYPE_F32,
     .n_dims = 2,
     .dims = {COLUMNS, ROWS},
     .offset = 3,
     .shard = 7},
    {.name = NAME("output.weight"), .type = GUFO_TYPE_Q8_0, .n_dims = 2, .dims = {COLUMNS, ROWS}},
};

static maker good_maker(void)
{
    return (maker){.entries = good_entries,
                   .tensors = good_tensors,
                   .bad_entry = UINT64_MAX,
                   .bad_tensor = UINT64_MAX};
}

static gufo_provider provider_of(maker *m)
{
    return (gufo_provider){.context = m,
                           .entry_count = COUNT_OF(good_entries),
                           .tensor_count = COUNT_OF(good_tensors),
                           .entry_at = entry_at,
                           .tensor_at = tensor_at,
                           .read_rows = read_rows,
                           .close = close_maker};
}

static gufo_model *open_made(maker *m)
{
    const gufo_open_options options = {.name = "made"};
    gufo_provider provider = provider_of(m);
    gufo_error error = no_error();
    gufo_model *model = gufo_model_open_provider(&provider, &options, &error);

    check(model != NULL, "%s", error.message);
    return model;
}

/* The same as a file. */
static gufo_model *open_written(const gufo_model *made, const char *path)
{
    const gufo_job_options options = {.path = path};
    gufo_error error = no_error();
    gufo_document *d = gufo_document_new(NULL, &error);
    gufo_job *job;
    gufo_model *model;

    check_ok(gufo_document_copy_entries(d, made, NULL, NULL, NULL, &error), &error, "entries");
    check_ok(gufo_document_copy_tensors(d, made, NULL, NULL, NULL, &error), &error, "tensors");
    job = gufo_job_of_documents(&d, 1, NULL, &error);
    check(job != NULL, "%s", error.message);
    check_ok(gufo_job_run(job, &options, NULL, &error), &error, "run");
    gufo_job_free(job);
    gufo_document_free(d);
    model = gufo_model_open(path, NULL, &error);
    check(model != NULL, "%s", error.message);
    return model;
}

/* ---- reading -------------------------------------------------------------------------------- */

static void check_entries(const gufo_model *model)
{
    gufo_entry entry;
    gufo_str text;
    uint64_t number;

    check_u64(gufo_model_entry_count(model), COUNT_OF(good_entries), "entries");
    for (uint64_t i = 0; i < COUNT_OF(good_entries); i++) {
        check(gufo_model_entry_at(model, i, &entry), "entry");
        check_view(entry.key, good_entries[i].key, "key");
        check(entry.offset == GUFO_NO_OFFSET && entry.value_offset == GUFO_NO_OFFSET &&
                  entry.end == GUFO_NO_OFFSET,
              "no place");
        check(gufo_model_find_str(model, good_entries[i].key, &entry), "found");
    }
    check(!gufo_model_entry_at(model, COUNT_OF(good_entries), &entry), "past the end");
    check(!gufo_model_find(model, "absent", &entry), "absent");
    check(gufo_model_get_u64(model, "{arch}.block_count", &number, NULL) == GUFO_OK && number == 2,
          "key");
    check(gufo_model_get_str(model, "general.architecture", &text, NULL) == GUFO_OK, "text");
    check_str(text, "llama", "text");
}

static void check_tensors(const gufo_model *model)
{
    static const uint64_t sizes[] = {COLUMNS * ROWS * 4, COLUMNS * ROWS / 32 * 34};
    gufo_tensor tensor;

    check_u64(gufo_model_tensor_count(model), COUNT_OF(good_tensors), "tensors");
    for (uint64_t i = 0; i < COUNT_OF(good_tensors); i++) {
        check(gufo_model_tensor_at(model, i, &tensor), "tensor");
        check(gufo_model_tensor_find_str(model, good_tensors[i].name, &tensor), "found");
        check_u64(tensor.elements, COLUMNS * ROWS, "elements");
        check_u64(tensor.size, sizes[i], "size");
        check_u64(tensor.available, sizes[i], "available");
        check(tensor.offset == GUFO_NO_OFFSET && tensor.info_offset == GUFO_NO_OFFSET, "no place");
        check(tensor.dims[2] == 1 && tensor.dims[3] == 1 && tensor.shard == 0 && tensor.complete &&
                  tensor.size_known,
              "the rest");
        check(gufo_tensor_raw(model, &tensor) == NULL, "no bytes in memory");
    }
    check(!gufo_model_tensor_at(model, COUNT_OF(good_tensors), &tensor), "past the end");
    check(!gufo_model_tensor_find(model, "absent", &tensor), "absent");
}

static void test_look(void **state)
{
    maker m = good_maker();
    gufo_model *model = open_made(&m);
    gufo_facts facts = gufo_model_facts(model);

    (void)state;
    check_entries(model);
    check_tensors(model);
    check(facts.is_made && facts.version == 3 && facts.byte_order == GUFO_LITTLE_ENDIAN, "facts");
    check(facts.alignment == 64 && facts.size == 0 && facts.data_offset == 0, "facts");
    check(gufo_model_shard_count(model) == 1 && gufo_model_shard(model, 0) == model, "one shard");
    check(strcmp(gufo_model_name(model), "made") == 0, "name");
    check(gufo_model_damage(model) == NULL && gufo_model_has_data(model), "sound");
    check(gufo_model_unchanged(model, NULL) == GUFO_OK, "unchanged");
    check_u64(m.closed, 0, "open");
    gufo_model_free(model);
    check_u64(m.closed, 1, "closed");
}

/* Every range of bytes and of rows is that of the file that it would become. */
static void test_data(void **state)
{
    folder f = folder_new();
    maker m = good_maker();
    gufo_model *made = open_made(&m), *written = open_written(made, folder_path(&f, "w").text);
    uint8_t a[2048], b[2048];
    float x[COLUMNS * ROWS], y[COLUMNS * ROWS];
    gufo_error error = no_error();
    gufo_tensor in_made, in_file;

    (void)state;
    for (uint64_t i = 0; gufo_model_tensor_at(made, i, &in_made); i++) {
        check(gufo_model_tensor_at(written, i, &in_file), "tensor");
        for (uint64_t from = 0; from <= in_made.size; from += 67)
            for (size_t size = 0; from + size <= in_made.size; size += 51) {
                check_ok(gufo_tensor_read_raw(made, &in_made, from, a, size, &error), &error, "a");
                check_ok(gufo_tensor_read_raw(written, &in_file, from, b, size, &error), &error,
                         "b");
                check(memcmp(a, b, size) == 0, "%u bytes from %u", (unsigned)size, (unsigned)from);
            }
        for (uint64_t first = 0; first <= ROWS; first++)
            for (uint64_t rows = 0; first + rows <= ROWS; rows++) {
                check_ok(gufo_tensor_read_rows(made, &in_made, first, rows, a, &error), &error,
                         "a");
                check_ok(gufo_tensor_read_rows(written, &in_file, first, rows, b, &error), &error,
                         "b");
                check(memcmp(a, b, (size_t)(rows * in_made.size / ROWS)) == 0, "rows");
                check_ok(gufo_tensor_decode(made, &in_made, first, rows, x, NULL, &error), &error,
                         "x");
                check_ok(gufo_tensor_decode(written, &in_file, first, rows, y, NULL, &error),
                         &error, "y");
                check(memcmp(x, y, (size_t)rows * COLUMNS * sizeof *x) == 0, "numbers");
            }
    }
    gufo_model_free(written);
    gufo_model_free(made);
    folder_remove(&f);
}

/* Statistics and comparing see no difference. */
static void test_work(void **state)
{
    const gufo_compare_options values = {.flags = GUFO_COMPARE_VALUES};
    folder f = folder_new();
    maker m = good_maker();
    gufo_model *made = open_made(&m), *written = open_written(made, folder_path(&f, "w").text);
    gufo_error error = no_error();
    gufo_comparison result;
    gufo_tensor tensor;
    findings found;

    (void)state;
    for (uint64_t i = 0; gufo_model_tensor_at(made, i, &tensor); i++) {
        gufo_stats a, b;

        check_ok(gufo_tensor_scan(made, &tensor, 0, NULL, &a, &error), &error, "made");
        check(gufo_model_tensor_at(written, i, &tensor), "tensor");
        check_ok(gufo_tensor_scan(written, &tensor, 0, NULL, &b, &error), &error, "written");
        check(memcmp(&a, &b, sizeof a) == 0, "statistics");
    }
    check_ok(gufo_compare(made, written, &values, NULL, &result, &error), &error, "compare");
    check(result.same, "the same");
    check_ok(gufo_compare(written, made, &values, NULL, &result, &error), &error, "compare");
    check(result.same, "the same");
    findings_init(&found);
    check_ok(gufo_model_check_data(made, NULL, findings_add, &found, &error), &error, "data");
    check_u64(found.count, 0, "sound");
    findings_free(&found);
    gufo_model_free(written);
    gufo_model_free(made);
    folder_remove(&f);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void test_no_file(void **state)
{
    static const gufo_split_options split = {.max_tensors = 1};
    maker m = good_maker();
    gufo_model *model = open_made(&m);
    gufo_error error = no_error();
    findings found;
    gufo_job *job;
    char byte;

    (void)state;
    findings_init(&found);
    check_status(gufo_model_read_raw(model, 0, &byte, 1, &error), GUFO_E_ARGUMENT, &error, "bytes");
    check(strcmp(error.file, "made") == 0, "%s", error.file);
    check_status(gufo_model_check(model, findings_add, &found, &error), GUFO_E_ARGUMENT, &error,
                 "layout");
    check_u64(found.count, 0, "layout");
    findings_free(&found);
    job = gufo_job_split(model, &split, &error);
    check(job == NULL, "split");
    check_error_shape(&error, GUFO_E_ARGUMENT, "split");
    gufo_model_free(model);
}

/* A provider that fails says why, or the library says what. */
static void test_failing_rows(void **state)
{
    maker m = good_maker();
    gufo_model *model = open_made(&m);
    gufo_error error = no_error();
    float out[COLUMNS];
    gufo_tensor tensor;

    (void)state;
    m.fails = true;
    check(gufo_model_tensor_at(model, 0, &tensor), "tensor");
    check_status(gufo_tensor_decode(model, &tensor, 1, 1, out, NULL, &error), GUFO_E_IO, &error,
                 "fails");
    check(strstr(error.message, "nothing to make it from") != NULL, "%s", error.message);
    check(strcmp(error.file, "made") == 0 && error.role == GUFO_FILE_INPUT, "%s", error.file);
    check(gufo_tensor_read_raw(model, &tensor, 0, out, 5, NULL) == GUFO_E_IO, "no error wanted");
    tensor.name = gufo_str_of("another");
    check_status(gufo_tensor_read_raw(model, &tensor, 0, out, 4, &error), GUFO_E_ARGUMENT, &error,
                 "of another model");
    gufo_model_free(model);
}

typedef struct mistake {
    const char *label;
    gufo_entry entry;   /* in place of the second one, if it has a key */
    gufo_tensor tensor; /* in place of the second one, if it has a name */
    uint64_t bad_entry, bad_tensor;
    gufo_status status;
    const char *rule; /* or NULL */
} mistake;

#define NONE UINT64_MAX
#define KEYED(k, v) .entry = {.key = NAME(k), .value = v}, .bad_entry = NONE, .bad_tensor = NONE
#define SHAPED(n, t, d, ...)                                                        \
    .tensor = {.name = NAME(n), .type = (t), .n_dims = (d), .dims = {__VA_ARGS__}}, \
    .bad_entry = NONE, .bad_tensor = NONE

static const mistake mistakes[] = {
    {"key twice", KEYED("general.alignment", NUMBER(64)), .rule = "key-duplicate"},
    {"key", KEYED("\x01", NUMBER(1)), .rule = "key-ascii"},
    {"no such type", KEYED("k", {.type = (gufo_value_type)13}), .rule = "value-type"},
    {"a shard", KEYED("split.count", NUMBER(3)), .status = GUFO_E_SHARDS},
    {"entry", .bad_entry = 1, .bad_tensor = NONE, .status = GUFO_E_ARGUMENT},
    {"tensor", .bad_entry = NONE, .bad_tensor = 0, .status = GUFO_E_ARGUMENT},
    {"name twice", SHAPED("token_embd.weight", GUFO_TYPE_F32, 1, 4), .rule = "name-duplicate"},
    {"dims", SHAPED("x", GUFO_TYPE_F32, 5, 4), .rule = "dims-count"},
    {"overflow", SHAPED("x", GUFO_TYPE_F32, 2, INT64_MAX, 4), .rule = "dims-overflow"},
    {"rows", SHAPED("x", GUFO_TYPE_Q8_0, 1, 33), .rule = "row-blocks"},
    {"removed", SHAPED("x", GUFO_TYPE_Q4_0_4_4, 1, 32), .rule = "type-removed"},
    {"unknown", SHAPED("x", 77, 1, 32), .status = GUFO_E_TYPE},
};

static void test_mistakes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(mistakes); i++) {
        const mistake *row = &mistakes[i];
        gufo_entry entries[COUNT_OF(good_entries)];
        gufo_tensor tensors[COUNT_OF(good_tensors)];
        maker m = good_maker();
        gufo_provider provider = provider_of(&m);
        gufo_error error = no_error();

        memcpy(entries, good_entries, sizeof entries);
        memcpy(tensors, good_tensors, sizeof tensors);
        if (row->entry.key.len > 0)
            entries[1] = row->entry;
        if (row->tensor.name.len > 0)
            tensors[1] = row->tensor;
        m.entries = entries;
        m.tensors = tensors;
        m.bad_entry = row->bad_entry;
        m.bad_tensor = row->bad_tensor;
        check(gufo_model_open_provider(&provider, NULL, &error) == NULL, "%s: opens", row->label);
        check_u64(m.closed, 1, "%s: closed", row->label);
        check(error.rule == NULL ? row->rule == NULL
                                 : row->rule != NULL && strcmp(error.rule->name, row->rule) == 0,
              "%s: %s", row->label, error.message);
        check_error_shape(&error, error.rule != NULL ? error.rule->status : row->status,
                          row->label);
    }
}

/* Limits, reserved fields, and no memory at any request. */
static void test_limits(void **state)
{
    gufo_status status = GUFO_E_MEMORY;
    counter c;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        maker m = good_maker();
        gufo_provider provider = provider_of(&m);
        gufo_open_options options = {.max_metadata = i == 0 ? 2 : 0, .max_tensors = i == 1};
        gufo_error error = no_error();

        options.reserved[1] = i == 2;
        provider.reserved[2] = i == 3;
        check(gufo_model_open_provider(&provider, &options, &error) == NULL, "row %zu", i);
        check_error_shape(&error, i < 2 ? GUFO_E_LIMIT : GUFO_E_ARGUMENT, "limits");
        check_u64(m.closed, 1, "row %zu", i);
    }
    counter_init(&c);
    gufo_allocator allocator = counter_allocator(&c);

    for (size_t n = 1; status == GUFO_E_MEMORY; n++) {
        const gufo_open_options options = {.allocator = &allocator, .name = "made"};
        maker m = good_maker();
        gufo_provider provider = provider_of(&m);
        gufo_error error = no_error();
        gufo_model *model;

        c.calls = 0;
        c.fail_at = n;
        model = gufo_model_open_provider(&provider, &options, &error);
        status = model != NULL ? GUFO_OK : error.code;
        gufo_model_free(model);
        check_u64(m.closed, 1, "request %zu", n);
        check_u64(c.in_use, 0, "request %zu", n);
    }
    check_u64(status, GUFO_OK, "the end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_look),         cmocka_unit_test(test_data),
        cmocka_unit_test(test_work),         cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_failing_rows), cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
