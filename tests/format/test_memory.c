/* Memory: bounded by what is in the file, linear in it, and every failure of the allocator
 * survived. */
#include "../support/allocator.h"
#include "../support/findings.h"
#include "../support/good.h"
#include "../support/openers.h"
#include "../support/walk.h"

/* What an open file costs beside its entries and tensors. */
#define FIXED_MEMORY 4096
#define PER_ITEM 200

static gufo_model *open_counted(const builder *b, counter *c, unsigned flags)
{
    gufo_allocator allocator;
    gufo_open_options options = {.flags = flags};
    gufo_error error = no_error();
    gufo_model *file;

    counter_init(c);
    allocator = counter_allocator(c); /* copied by open: this one may go */
    options.allocator = &allocator;
    file = gufo_model_open_memory(b->data, b->len, &options, &error);
    check(file != NULL, "%s", error.message);
    return file;
}

static builder file_of(uint32_t entries, uint32_t tensors)
{
    builder b = builder_new((encoding){3, false});
    const uint64_t dims[4] = {2, 2, 2, 1};
    char name[32];

    builder_header(&b, tensors, entries);
    for (uint32_t i = 0; i < entries; i++) {
        snprintf(name, sizeof name, "some.key.%" PRIu32, i);
        builder_kv_u32(&b, name, i);
    }
    for (uint32_t i = 0; i < tensors; i++) {
        snprintf(name, sizeof name, "some.tensor.%" PRIu32, i);
        /* in reverse order, so that sorting has something to do */
        builder_tensor(&b, name, GUFO_TYPE_F32, 4, dims, (tensors - 1 - i) * UINT64_C(32));
    }
    builder_pad(&b, 32);
    builder_zeros(&b, tensors * (size_t)32);
    return b;
}

/* ---- bounds --------------------------------------------------------------------------------- */

static void test_bound(void **state)
{
    static const struct {
        uint32_t entries, tensors;
    } rows[] = {{0, 0},     {1, 0},     {0, 1},     {3, 3},     {17, 0},       {0, 17},
                {1000, 0},  {0, 1000},  {1025, 0},  {0, 1025},  {2049, 2049},  {4097, 1},
                {20000, 0}, {0, 20000}, {33000, 0}, {0, 33000}, {70000, 70000}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = file_of(rows[i].entries, rows[i].tensors);
        size_t bound = FIXED_MEMORY + PER_ITEM * ((size_t)rows[i].entries + rows[i].tensors);

        for (unsigned flags = 0; flags <= GUFO_OPEN_LENIENT; flags += GUFO_OPEN_LENIENT) {
            counter c;
            gufo_model *file = open_counted(&b, &c, flags);

            check(c.peak <= bound,
                  "%" PRIu32 " entries, %" PRIu32 " tensors: %zu bytes, at most "
                  "%zu are promised",
                  rows[i].entries, rows[i].tensors, c.peak, bound);
            gufo_model_free(file);
            check_u64(c.in_use, 0, "row %zu: leak", i);
        }
        builder_free(&b);
    }
}

/* The contents of strings and arrays cost nothing. */
static void test_content_is_free(void **state)
{
    builder b = builder_new((encoding){3, false});
    counter c;
    gufo_model *file;

    (void)state;
    builder_header(&b, 0, 4);
    builder_kv_array(&b, "tokens", GUFO_VALUE_STRING, 200000);
    for (int i = 0; i < 200000; i++)
        builder_strn(&b, "token text", (size_t)i % 11);
    builder_kv_array(&b, "scores", GUFO_VALUE_FLOAT32, 200000);
    builder_zeros(&b, 800000);
    builder_kv_array(&b, "nested", GUFO_VALUE_ARRAY, 50000);
    for (int i = 0; i < 50000; i++) {
        builder_array(&b, GUFO_VALUE_UINT8, 1);
        builder_u8(&b, 1);
    }
    builder_key(&b, "text", GUFO_VALUE_STRING);
    builder_length(&b, 1000000);
    builder_fill(&b, 'x', 1000000);
    file = open_counted(&b, &c, 0);
    check(c.peak <= FIXED_MEMORY + 4 * PER_ITEM, "peak %zu", c.peak);
    walk_file(file, b.data, b.len, "content");
    check(c.peak <= FIXED_MEMORY + 4 * PER_ITEM, "peak %zu after walking", c.peak);
    gufo_model_free(file);
    check_u64(c.in_use, 0, "leak");
    builder_free(&b);
}

/* A hole is as long as its file says, and zeros are entries and tensors without names: what is alike is
 * refused, and what a lenient walk keeps of it has an end. */
static void test_holes(void **state)
{
    static const struct {
        uint32_t entries, tensors;
        bool named; /* the first entry has a key */
    } rows[] = {{100000, 0, false}, {0, 100000, false}, {1, 100000, true}, {100000, 100000, true}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = builder_new((encoding){3, false});

        builder_header(&b, rows[i].tensors, rows[i].entries);
        if (rows[i].named)
            builder_kv_u32(&b, "some.key", 1);
        builder_zeros(&b, 13 * (size_t)rows[i].entries + 24 * (size_t)rows[i].tensors);
        for (unsigned flags = 0; flags <= GUFO_OPEN_LENIENT; flags += GUFO_OPEN_LENIENT) {
            counter c;
            gufo_allocator allocator;
            gufo_open_options options = {.flags = flags};
            gufo_error error = no_error();
            gufo_model *file;

            counter_init(&c);
            allocator = counter_allocator(&c);
            options.allocator = &allocator;
            file = gufo_model_open_memory(b.data, b.len, &options, &error);
            check((file != NULL) == (flags == GUFO_OPEN_LENIENT), "row %zu", i);
            check(c.peak <= FIXED_MEMORY + PER_ITEM * (size_t)(flags == 0 ? 1024 : 20000),
                  "row %zu: %zu bytes", i, c.peak);
            if (flags == GUFO_OPEN_LENIENT)
                check(gufo_model_entry_count(file) + gufo_model_tensor_count(file) < 20000,
                      "row %zu", i);
            gufo_model_free(file);
            check_u64(c.in_use, 0, "row %zu: leak", i);
        }
        builder_free(&b);
    }
}

/* Twice the file takes at most twice the memory and twice the requests. */
static void test_linear(void **state)
{
    size_t peak[3], calls[3];

    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        builder b = file_of(UINT32_C(10000) << i, UINT32_C(10000) << i);
        counter c;
        gufo_model *file = open_counted(&b, &c, 0);

        peak[i] = c.peak;
        calls[i] = c.calls;
        gufo_model_free(file);
        builder_free(&b);
    }
    for (size_t i = 1; i < 3; i++) {
        check(peak[i] <= 2 * peak[i - 1] + FIXED_MEMORY, "peak %zu, then %zu", peak[i - 1],
              peak[i]);
        check(calls[i] <= 2 * calls[i - 1], "%zu requests, then %zu", calls[i - 1], calls[i]);
    }
}

/* ---- failures ------------------------------------------------------------------------------- */

/* Something that uses an allocator: true if it succeeded, else *error is filled. */
typedef bool work_fn(const gufo_allocator *allocator, const void *context, gufo_error *error);

/* Lets every request fail, alone and with all that follow.  Only a block that could not be made
 * smaller may be borne: whoever was denied memory that it needed must say so. */
static void fail_each_request(work_fn *work, const void *context, const char *label)
{
    bool done = false;

    for (size_t n = 1; !done; n++) {
        for (int from_on = 0; from_on < 2; from_on++) {
            counter c;
            gufo_allocator allocator;
            gufo_error error = no_error();
            bool succeeded;

            counter_init(&c);
            allocator = counter_allocator(&c);
            c.fail_at = n;
            c.fail_on = from_on == 1;
            succeeded = work(&allocator, context, &error);
            check_u64(c.in_use, 0, "%s, request %zu: leak", label, n);
            if (!succeeded)
                check_error_shape(&error, GUFO_E_MEMORY, label);
            else
                check_u64(c.denied, 0, "%s: request %zu failed unnoticed", label, n);
            done = c.calls < n;
        }
        check(n < 100000, "%s: no end", label);
    }
}

static bool work_open_memory(const gufo_allocator *allocator, const void *context,
                             gufo_error *error)
{
    const builder *b = context;
    gufo_open_options options = {.allocator = allocator};
    gufo_model *file = gufo_model_open_memory(b->data, b->len, &options, error);
    bool good = file != NULL;

    gufo_model_free(file);
    return good;
}

static bool work_open_lenient(const gufo_allocator *allocator, const void *context,
                              gufo_error *error)
{
    const builder *b = context;
    findings found;
    gufo_open_options options = {.flags = GUFO_OPEN_LENIENT, .allocator = allocator};
    gufo_model *file;
    bool good;

    findings_init(&found);
    options.on_finding = findings_add;
    options.finding_context = &found;
    file = gufo_model_open_memory(b->data, b->len, &options, error);
    good = file != NULL && gufo_model_check(file, findings_add, &found, error) == GUFO_OK;
    gufo_model_free(file);
    findings_free(&found);
    return good;
}

static bool work_open_source(const gufo_allocator *allocator, const void *context,
                             gufo_error *error)
{
    const builder *b = context;
    test_source state;
    gufo_source source = source_over(&state, b->data, b->len);
    gufo_open_options options = {.allocator = allocator};
    gufo_model *file = gufo_model_open_source(&source, &options, error);
    bool good = file != NULL;

    gufo_model_free(file);
    return good && state.closed == 1;
}

typedef struct path_case {
    const char *path;
    unsigned flags;
} path_case;

static bool work_open_path(const gufo_allocator *allocator, const void *context, gufo_error *error)
{
    const path_case *c = context;
    gufo_open_options options = {.flags = c->flags, .allocator = allocator};
    gufo_model *file = gufo_model_open(c->path, &options, error);
    bool good = file != NULL;

    gufo_model_free(file);
    return good;
}

static bool work_validate(const gufo_allocator *allocator, const void *context, gufo_error *error)
{
    gufo_open_options options = {.allocator = allocator};
    findings found;
    bool done;

    findings_init(&found);
    done = validate_file(context, &options, findings_add, &found, error) == GUFO_OK;
    findings_free(&found);
    return done;
}

static bool work_pipe(const gufo_allocator *allocator, const void *context, gufo_error *error)
{
    const builder *b = context;
    gufo_open_options options = {.allocator = allocator};
    gufo_model *file;
    feeder f;
    bool good;

    feeder_start(&f, b->data, b->len);
    file = gufo_model_open_fd(f.fd, &options, error);
    good = file != NULL;
    gufo_model_free(file);
    feeder_end(&f);
    return good;
}

static void fail_open(const good_file *file, const builder *b, const char *label, void *context)
{
    (void)file;
    (void)context;
    fail_each_request(work_open_memory, b, label);
    fail_each_request(work_open_lenient, b, label);
    fail_each_request(work_open_source, b, label);
}

static void test_failing_open(void **state)
{
    (void)state;
    good_for_each(fail_open, NULL);
}

static void test_failing_files(void **state)
{
    builder b = good_build_named("many", (encoding){3, false});
    folder f = folder_new();
    path_text path = folder_path(&f, "file.gguf");
    path_case mapped = {path.text, 0}, unmapped = {path.text, GUFO_OPEN_NO_MAP};

    (void)state;
    write_file(path.text, b.data, b.len);
    fail_each_request(work_open_path, &mapped, "mapped");
    fail_each_request(work_open_path, &unmapped, "not mapped");
    fail_each_request(work_validate, path.text, "validate");
    fail_each_request(work_pipe, &b, "pipe");
    folder_remove(&f);
    builder_free(&b);
}

static bool work_set(const gufo_allocator *allocator, const void *context, gufo_error *error)
{
    gufo_open_options options = {.allocator = allocator};
    gufo_model *set = gufo_model_open(context, &options, error);
    bool good = set != NULL;

    gufo_model_free(set);
    return good;
}

static void test_failing_set(void **state)
{
    folder f = folder_new();
    path_text path;
    const uint64_t dims[1] = {4};

    (void)state;
    for (uint16_t no = 0; no < 3; no++) {
        builder b = builder_new((encoding){3, false});
        char name[32];

        builder_header(&b, 1, 3);
        builder_kv_u16(&b, "split.no", no);
        builder_kv_u16(&b, "split.count", 3);
        builder_kv_i32(&b, "split.tensors.count", 3);
        snprintf(name, sizeof name, "t%u", no);
        builder_tensor(&b, name, GUFO_TYPE_F32, 1, dims, 0);
        builder_pad(&b, 32);
        builder_zeros(&b, 16);
        snprintf(name, sizeof name, "m-%05u-of-00003.gguf", no + 1u);
        path = folder_path(&f, name);
        write_file(path.text, b.data, b.len);
        builder_free(&b);
    }
    path = folder_path(&f, "m-00001-of-00003.gguf");
    fail_each_request(work_set, path.text, "set");
    folder_remove(&f);
}

/* ---- writing -------------------------------------------------------------------------------- */

static bool plan(gufo_document *d, gufo_error *error)
{
    static const gufo_str texts[] = {{"one", 3}, {"two", 3}};
    static const gufo_items strings = {GUFO_VALUE_STRING, 2, texts};
    static const uint32_t numbers[] = {1, 2, 3};
    static const gufo_items inner[] = {{GUFO_VALUE_UINT32, 3, numbers},
                                       {GUFO_VALUE_STRING, 2, texts}};
    static const gufo_items nested = {GUFO_VALUE_ARRAY, 2, inner};
    static const uint64_t dims[2] = {4, 2};
    gufo_layout layout;
    char name[32];

    if (gufo_document_set_text(d, "general.architecture", "llama", error) != GUFO_OK ||
        gufo_document_set_u32(d, "general.alignment", 64, error) != GUFO_OK ||
        gufo_document_set_array(d, "texts", &strings, error) != GUFO_OK ||
        gufo_document_set_array(d, "nested", &nested, error) != GUFO_OK)
        return false;
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "key.%d", i);
        if (gufo_document_set_f64(d, name, 0.5, error) != GUFO_OK)
            return false;
        snprintf(name, sizeof name, "blk.%d.weight", i);
        if (gufo_document_add_tensor(d, name, gufo_element_type_by_id(GUFO_TYPE_F32), 2, dims,
                                     error) != GUFO_OK)
            return false;
    }
    return gufo_document_layout(d, NULL, &layout, error) == GUFO_OK;
}

static bool work_write(const gufo_allocator *allocator, const void *context, gufo_error *error)
{
    gufo_document_options options = {.allocator = allocator};
    gufo_document *d = gufo_document_new(&options, error);
    static const uint8_t data[32];
    const gufo_job_options target = {.path = context, .flags = GUFO_JOB_REPLACE};
    const gufo_job_plan_options planning = {.allocator = allocator};
    const gufo_run run = {.threads = 1, .allocator = allocator};
    gufo_job *job = NULL;
    bool good = d != NULL && plan(d, error);

    if (good)
        job = gufo_job_of_documents(&d, 1, &planning, error);
    good = job != NULL && gufo_job_open(job, &target, error) == GUFO_OK;

    for (uint64_t i = 0; good && i < 50; i++)
        good = gufo_job_write(job, 0, 49 - i, 0, data, sizeof data, error) == GUFO_OK;
    good = good && gufo_job_finish(job, &run, error) == GUFO_OK;
    gufo_job_free(job);
    gufo_document_free(d);
    return good;
}

static void test_failing_job(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "out.gguf");

    (void)state;
    write_file(path.text, "old", 3);
    fail_each_request(work_write, path.text, "job");
    check_u64(entry_count(f.path), 1, "temporary files");
    folder_remove(&f);
}

/* The target stays as it was until everything succeeded. */
static void test_failing_job_keeps_target(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "out.gguf");
    bool done = false;

    (void)state;
    for (size_t n = 1; !done; n++) {
        counter c;
        gufo_allocator allocator;

        write_file(path.text, "old", 3);
        counter_init(&c);
        allocator = counter_allocator(&c);
        c.fail_at = n;
        done = work_write(&allocator, path.text, NULL);
        if (!done)
            check_file(path.text, "old", 3, "target");
        check_u64(entry_count(f.path), 1, "temporary files");
    }
    folder_remove(&f);
}

static bool work_copy(const gufo_allocator *allocator, const void *context, gufo_error *error)
{
    const builder *b = context;
    gufo_model *file = gufo_model_open_memory(b->data, b->len, NULL, NULL);
    gufo_document_options options = {.flags = GUFO_DOCUMENT_AS_READ, .allocator = allocator};
    gufo_document *d = gufo_document_new(&options, error);
    gufo_layout layout;
    gufo_byte_order order = gufo_model_facts(file).byte_order;
    bool good = d != NULL && gufo_document_set_encoding(d, 3, order, error) == GUFO_OK &&
                gufo_document_copy_entries(d, file, NULL, NULL, NULL, error) == GUFO_OK &&
                gufo_document_copy_tensors(d, file, NULL, NULL, NULL, error) == GUFO_OK &&
                gufo_document_layout(d, NULL, &layout, error) == GUFO_OK;

    gufo_document_free(d);
    gufo_model_free(file);
    return good;
}

static void fail_copy(const good_file *file, const builder *b, const char *label, void *context)
{
    (void)file;
    (void)context;
    fail_each_request(work_copy, b, label);
}

static void test_failing_copy(void **state)
{
    (void)state;
    good_for_each(fail_copy, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_content_is_free),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_failing_open),
        cmocka_unit_test(test_failing_files),
        cmocka_unit_test(test_failing_set),
        cmocka_unit_test(test_failing_job),
        cmocka_unit_test(test_failing_job_keeps_target),
        cmocka_unit_test(test_failing_copy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
