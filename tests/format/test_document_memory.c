/* Documents with an allocator that fails at each request in turn: every call says so, leaves the
 * document as it was, and leaks nothing.  And how much memory a document takes. */
#include "../support/allocator.h"
#include "../support/document.h"
#include "../support/good.h"
#include "../support/openers.h"

/* ---- failing requests ----------------------------------------------------------------------- */

typedef struct models {
    gufo_model *first, *other; /* the other one is big-endian, of version 1 */
} models;

static void count_change(void *context, const gufo_change *change)
{
    (void)change;
    ++*(size_t *)context;
}

static gufo_status set_many(gufo_document *d, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    char key[16];

    for (unsigned i = 0; i < 30 && status == GUFO_OK; i++) {
        snprintf(key, sizeof key, "new.%u", i);
        status = i % 2 == 0 ? gufo_document_set_u32(d, key, i, error)
                            : gufo_document_set_text(d, key, "some text", error);
    }
    return status;
}

static gufo_status change_entries(gufo_document *d, const models *m, gufo_error *error)
{
    static const gufo_str texts[] = {{"x", 1}, {"yy", 2}};
    const gufo_items items = {GUFO_VALUE_STRING, 2, texts};
    gufo_status status = set_many(d, error);

    if (status == GUFO_OK)
        status = gufo_document_set_array(d, "list", &items, error);
    if (status == GUFO_OK)
        status = gufo_document_copy_entries(d, m->other, NULL, NULL, NULL, error);
    if (status == GUFO_OK)
        status = gufo_document_rename(d, "list", "renamed", error);
    if (status == GUFO_OK)
        status = gufo_document_set_shard(d, 0, 2, 3, 4, error);
    return status;
}

static gufo_status change_tensors(gufo_document *d, gufo_error *error)
{
    const gufo_element_type *f16 = gufo_element_type_by_id(GUFO_TYPE_F16);
    gufo_document_tensor t;
    gufo_status status = gufo_document_add_tensor(d, "new", f16, 1, (uint64_t[]){8}, error);

    check(gufo_document_tensor_at(d, 0, &t), "tensor");
    if (status == GUFO_OK)
        status = gufo_document_rename_tensor_str(d, t.name, gufo_str_of("renamed"), error);
    if (status == GUFO_OK)
        status = gufo_document_retype(d, "new", gufo_element_type_by_id(GUFO_TYPE_F32), error);
    return status;
}

/* Everything that needs memory, once. */
static gufo_status do_all(const models *m, const gufo_allocator *allocator, gufo_error *error)
{
    const gufo_document_options options = {.allocator = allocator};
    gufo_document *d = gufo_document_from(m->first, &options, error);
    gufo_status status = d != NULL ? change_entries(d, m, error) : GUFO_E_MEMORY;
    size_t changes = 0, size;
    const void *bytes;

    if (status == GUFO_OK)
        status = change_tensors(d, error);
    if (status == GUFO_OK)
        status = gufo_document_changes(d, count_change, &changes, error);
    if (status == GUFO_OK)
        status = gufo_document_layout(d, NULL, NULL, error);
    if (status == GUFO_OK)
        status = gufo_document_header(d, &bytes, &size, error);
    gufo_document_free(d);
    return status;
}

static models open_models(builder b[2])
{
    models m;

    b[0] = good_build_named("sampler", (encoding){3, false});
    b[1] = good_build_named("nested arrays", (encoding){1, true});
    m.first = open_built(&b[0], "first");
    m.other = open_built(&b[1], "other");
    return m;
}

static void close_models(models *m, builder b[2])
{
    gufo_model_free(m->first);
    gufo_model_free(m->other);
    builder_free(&b[0]);
    builder_free(&b[1]);
}

static void test_each_request(void **state)
{
    builder b[2];
    models m = open_models(b);
    bool more = true;
    size_t n = 0;

    (void)state;
    for (; more; n++) {
        more = n == 0;
        for (int how = 0; how < 3; how++) {
            gufo_error error = no_error();
            gufo_allocator allocator;
            gufo_status status;
            counter c;

            counter_init(&c);
            allocator = counter_allocator(&c);
            c.fail_at = n;
            c.fail_on = how == 1;
            status = do_all(&m, &allocator, how == 2 ? NULL : &error);
            check_u64(c.in_use, 0, "request %zu: leak", n);
            if (c.denied == 0)
                check_ok(status, &error, "request %zu", n);
            else if (how != 2)
                check_error_shape(&error, GUFO_E_MEMORY, "request");
            check_u64(status, c.denied > 0 ? GUFO_E_MEMORY : GUFO_OK, "request %zu", n);
            more = more || c.denied > 0;
        }
    }
    check(n > 60, "only %zu requests", n);
    close_models(&m, b);
}

/* ---- what a refusal leaves ------------------------------------------------------------------ */

typedef gufo_status change_fn(gufo_document *d, const models *m, gufo_error *error);

static gufo_status set_text(gufo_document *d, const models *m, gufo_error *error)
{
    (void)m;
    return gufo_document_set_text(d, "k", "a text that is new", error);
}

static gufo_status set_new(gufo_document *d, const models *m, gufo_error *error)
{
    (void)m;
    return gufo_document_set_u32(d, "another", 1, error);
}

static gufo_status rename_key(gufo_document *d, const models *m, gufo_error *error)
{
    (void)m;
    return gufo_document_rename(d, "k", "longer.name", error);
}

static gufo_status set_shard(gufo_document *d, const models *m, gufo_error *error)
{
    (void)m;
    return gufo_document_set_shard(d, 1, 2, 3, 4, error);
}

static gufo_status copy_tensor(gufo_document *d, const models *m, gufo_error *error)
{
    return gufo_document_copy_tensor(d, m->first, 0, error);
}

static gufo_status add_tensor(gufo_document *d, const models *m, gufo_error *error)
{
    (void)m;
    return gufo_document_add_tensor(d, "t", gufo_element_type_by_id(GUFO_TYPE_F32), 0, NULL, error);
}

static const char *const few[] = {"k", "l", "m", "n", "o"};

/* The document before the change is the same after it, if that failed. */
static bool check_left(change_fn *change, const models *m, size_t request, const char *label)
{
    gufo_document_options options = {0};
    gufo_error error = no_error();
    builder expected = builder_new((encoding){3, false});
    gufo_allocator allocator;
    gufo_document *d;
    counter c;

    counter_init(&c);
    allocator = counter_allocator(&c);
    options.allocator = &allocator;
    d = gufo_document_new(&options, NULL);
    for (unsigned i = 0; i < COUNT_OF(few); i++)
        check_ok(gufo_document_set_text(d, few[i], "old", &error), &error, "%s", label);
    c.calls = 0;
    c.fail_at = request;
    (void)change(d, m, &error);
    c.fail_at = 0;
    if (c.denied > 0) {
        builder_header(&expected, 0, COUNT_OF(few));
        for (unsigned i = 0; i < COUNT_OF(few); i++)
            builder_kv_str(&expected, few[i], "old");
        builder_pad(&expected, 32);
        check_packed(d, &expected, label);
    }
    gufo_document_free(d);
    check_u64(c.in_use, 0, "%s: leak", label);
    builder_free(&expected);
    return c.denied > 0;
}

static void test_refusals_change_nothing(void **state)
{
    static const struct {
        const char *label;
        change_fn *change;
    } rows[] = {{"text", set_text},   {"new", set_new},        {"rename", rename_key},
                {"shard", set_shard}, {"copied", copy_tensor}, {"tensor", add_tensor}};
    builder b[2];
    models m = open_models(b);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t n = 1;

        while (check_left(rows[i].change, &m, n, rows[i].label))
            n++;
        check(n > 1, "%s needs no memory", rows[i].label);
    }
    close_models(&m, b);
}

/* ---- how much ------------------------------------------------------------------------------- */

enum { ENTRIES = 1000, TEXT = 20000 };

/* Content of a model is not copied; setting a key takes what its value takes. */
static void test_peak(void **state)
{
    builder b = builder_new((encoding){3, false});
    char *text = calloc(1, TEXT + 1), key[16];
    gufo_document_options options = {0};
    gufo_error error = no_error();
    gufo_allocator allocator;
    gufo_document *d;
    gufo_model *model;
    size_t before;
    counter c;

    (void)state;
    memset(text, 't', TEXT);
    builder_header(&b, 0, ENTRIES);
    for (unsigned i = 0; i < ENTRIES; i++) {
        snprintf(key, sizeof key, "key.%u", i);
        builder_kv_str(&b, key, text);
    }
    builder_pad(&b, 32);
    model = open_built(&b, "large");
    counter_init(&c);
    allocator = counter_allocator(&c);
    options.allocator = &allocator;
    d = gufo_document_from(model, &options, &error);
    check(d != NULL, "%s", error.message);
    check(c.peak < ENTRIES * 400, "%zu bytes for %d entries", c.peak, ENTRIES);
    before = c.in_use;
    c.peak = c.in_use;
    check_ok(gufo_document_set_text(d, "key.5", text, &error), &error, "set");
    check(c.peak - before < TEXT + 1000, "%zu bytes for a text", c.peak - before);
    c.peak = c.in_use;
    for (int i = 0; i < 100; i++)
        check_ok(gufo_document_set_u32(d, "key.5", 1, &error), &error, "set");
    check(c.in_use <= before, "numbers take no room of their own");
    gufo_document_free(d);
    check_u64(c.in_use, 0, "leak");
    gufo_model_free(model);
    builder_free(&b);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_request),
        cmocka_unit_test(test_refusals_change_nothing),
        cmocka_unit_test(test_peak),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
