/* Providers that change their mind, claim too much or fail without manners: an error, and never a
 * shorter document, a byte outside a buffer or memory for what is not there. */
#include "../support/allocator.h"
#include "../support/folder.h"

enum { ENTRIES = 3, TENSORS = 2, COLUMNS = 64, ROWS = 4 };

typedef struct fickle {
    uint64_t lost_entry, lost_tensor; /* no longer described; UINT64_MAX: none */
    bool other_shape, long_names, empty;
    gufo_status status; /* of reading rows */
    const gufo_error *reason;
    unsigned reads, patience;
} fickle;

static bool entry_at(void *context, uint64_t index, gufo_entry *out)
{
    static const char *const keys[ENTRIES] = {"general.architecture", "general.name", "x.number"};
    const fickle *f = context;

    if (index == f->lost_entry || index >= ENTRIES)
        return false;
    out->key = gufo_str_of(keys[index]);
    out->value = index < 2 ? (gufo_value){.type = GUFO_VALUE_STRING, .as.str = {"llama", 5}}
                           : (gufo_value){.type = GUFO_VALUE_UINT32, .as.u = 3};
    return true;
}

static bool tensor_at(void *context, uint64_t index, gufo_tensor *out)
{
    static const char *const names[2][TENSORS] = {
        {"blk.0.a", "blk.1.b"}, {"blk.0.a_much_longer_name_than", "blk.1.the_one_before"}};
    const fickle *f = context;

    if (index == f->lost_tensor || index >= TENSORS)
        return false;
    *out = (gufo_tensor){.name = gufo_str_of(names[f->long_names][index]),
                         .type = GUFO_TYPE_F32,
                         .n_dims = 2,
                         .dims = {f->other_shape ? 65536 : COLUMNS, f->empty ? 0 : ROWS}};
    return true;
}

static gufo_status read_rows(void *context, uint64_t tensor, uint64_t first, uint64_t rows,
                             void *out, gufo_error *error)
{
    fickle *f = context;

    (void)tensor;
    (void)first;
    f->reads++;
    if (f->reason != NULL)
        *error = *f->reason;
    memset(out, 1, (size_t)rows * (f->other_shape ? 65536 : COLUMNS) * sizeof(float));
    return f->status;
}

static fickle steady(void)
{
    return (fickle){.lost_entry = UINT64_MAX, .lost_tensor = UINT64_MAX};
}

static gufo_provider provider_of(fickle *f)
{
    return (gufo_provider){.context = f,
                           .entry_count = ENTRIES,
                           .tensor_count = TENSORS,
                           .entry_at = entry_at,
                           .tensor_at = tensor_at,
                           .read_rows = read_rows};
}

static gufo_model *open_made(fickle *f)
{
    const gufo_open_options options = {.name = "fickle"};
    gufo_provider provider = provider_of(f);
    gufo_error error = no_error();
    gufo_model *model = gufo_model_open_provider(&provider, &options, &error);

    check(model != NULL, "%s", error.message);
    return model;
}

/* ---- descriptions that are gone ------------------------------------------------------------- */

static void ignore_change(void *context, const gufo_change *change)
{
    (void)context;
    (void)change;
}

/* Each uses the whole model. */
static gufo_status make_document(const gufo_model *model, gufo_error *error)
{
    gufo_document *d = gufo_document_from(model, NULL, error);

    if (d == NULL)
        return error->code;
    gufo_document_free(d);
    return GUFO_OK;
}

static gufo_status copy_all(const gufo_model *model, gufo_error *error)
{
    gufo_document *d = gufo_document_new(NULL, error);
    gufo_status status = gufo_document_copy_entries(d, model, NULL, NULL, NULL, error);

    if (status == GUFO_OK)
        status = gufo_document_copy_tensors(d, model, NULL, NULL, NULL, error);
    gufo_document_free(d);
    return status;
}

static gufo_status quantize(const gufo_model *model, gufo_error *error)
{
    gufo_quantize_options options = {0};
    gufo_quantizer *q;

    check(gufo_quantize_target_by_name("Q8_0", false, &options.recipe.target), "target");
    q = gufo_quantizer_new(model, &options, error);
    if (q == NULL)
        return error->code;
    gufo_quantizer_free(q);
    return GUFO_OK;
}

static gufo_status compare_first(const gufo_model *model, gufo_error *error)
{
    fickle other = steady();
    gufo_model *b = open_made(&other);
    gufo_status status = gufo_compare(model, b, NULL, NULL, NULL, error);

    gufo_model_free(b);
    return status;
}

static gufo_status compare_second(const gufo_model *model, gufo_error *error)
{
    fickle other = steady();
    gufo_model *a = open_made(&other);
    gufo_status status = gufo_compare(a, model, NULL, NULL, NULL, error);

    check(status == GUFO_OK || error->role == GUFO_FILE_SECOND_INPUT, "%d", (int)error->role);
    gufo_model_free(a);
    return status;
}

static const struct use {
    const char *label;
    gufo_status (*use)(const gufo_model *model, gufo_error *error);
} uses[] = {
    {"document", make_document},
    {"copies", copy_all},
    {"quantize", quantize},
    {"compare, first", compare_first},
    {"compare, second", compare_second},
};

static void test_lost(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(uses); i++)
        for (unsigned lost = 0; lost <= ENTRIES + TENSORS; lost++) {
            fickle f = steady();
            gufo_error error = no_error();
            gufo_model *model = open_made(&f);
            bool none = lost == ENTRIES + TENSORS;
            gufo_status status;

            if (lost < ENTRIES)
                f.lost_entry = lost;
            else if (!none)
                f.lost_tensor = lost - ENTRIES;
            status = uses[i].use(model, &error);
            check_status(status, none ? GUFO_OK : GUFO_E_CHANGED, &error, "%s, %u", uses[i].label,
                         lost);
            check(none || strcmp(error.file, "fickle") == 0, "%s, %u: %s", uses[i].label, lost,
                  error.file);
            gufo_model_free(model);
        }
}

static void test_changes(void **state)
{
    (void)state;
    for (unsigned lost = 0; lost < ENTRIES + TENSORS; lost++) {
        fickle f = steady();
        gufo_error error = no_error();
        gufo_model *model = open_made(&f);
        gufo_document *d = gufo_document_from(model, NULL, &error);

        check(d != NULL, "%s", error.message);
        check_ok(gufo_document_changes(d, ignore_change, NULL, &error), &error, "before");
        if (lost < ENTRIES)
            f.lost_entry = lost;
        else
            f.lost_tensor = lost - ENTRIES;
        check_status(gufo_document_changes(d, ignore_change, NULL, &error), GUFO_E_CHANGED, &error,
                     "%u", lost);
        gufo_document_free(d);
        gufo_model_free(model);
    }
}

/* ---- shapes that change --------------------------------------------------------------------- */

static gufo_status run_job(fickle *f, gufo_job *job, bool change, gufo_error *error)
{
    folder work = folder_new();
    path_text path = folder_path(&work, "out.gguf");
    const gufo_job_options options = {.path = path.text};
    gufo_status status;

    f->other_shape = change;
    status = gufo_job_run(job, &options, NULL, error);
    check(file_exists(path.text) == !change, "output");
    folder_remove(&work);
    return status;
}

/* The rows would not fit into the buffers that were planned: none may be asked for. */
static void test_other_shape(void **state)
{
    fickle f = steady();
    gufo_error error = no_error();
    gufo_model *model = open_made(&f);
    gufo_document *d = gufo_document_from(model, NULL, &error);
    gufo_job *job = gufo_job_of_documents(&d, 1, NULL, &error);
    float room[COLUMNS];
    gufo_tensor tensor;

    (void)state;
    check(job != NULL, "%s", error.message);
    check_status(run_job(&f, job, true, &error), GUFO_E_CHANGED, &error, "other shape");
    f.other_shape = false;
    check(gufo_model_tensor_at(model, 0, &tensor), "tensor");
    f.other_shape = true;
    check_status(gufo_tensor_decode(model, &tensor, 0, 1, room, NULL, &error), GUFO_E_CHANGED,
                 &error, "decode");
    check_status(gufo_tensor_read_raw(model, &tensor, 0, room, sizeof room, &error), GUFO_E_CHANGED,
                 &error, "raw");
    check_u64(f.reads, 0, "rows");
    gufo_job_free(job);
    gufo_document_free(d);
    gufo_model_free(model);
}

/* Names that grow between two looks. */
static bool growing_tensor_at(void *context, uint64_t index, gufo_tensor *out)
{
    fickle *f = context;

    f->long_names = f->reads > TENSORS;
    if (f->reads > 0)
        f->reads++;
    return tensor_at(context, index, out);
}

static void test_longer_names(void **state)
{
    fickle f = steady();
    gufo_provider provider = provider_of(&f);
    gufo_error error = no_error();
    gufo_model *model;

    (void)state;
    provider.tensor_at = growing_tensor_at;
    model = gufo_model_open_provider(&provider, NULL, &error);
    check(model != NULL, "%s", error.message);
    f.reads = 1; /* from now on looks are counted */
    check_status(quantize(model, &error), GUFO_E_CHANGED, &error, "longer names");
    gufo_model_free(model);
}

/* An alignment that becomes another entry, with a value that no alignment has, at each look. */
static bool turning_entry_at(void *context, uint64_t index, gufo_entry *out)
{
    fickle *f = context;
    bool turned = f->reads++ >= f->patience;

    (void)index;
    out->key = gufo_str_of(turned ? "x.number" : "general.alignment");
    out->value = (gufo_value){.type = GUFO_VALUE_UINT32, .as.u = turned ? 12345 : 64};
    return true;
}

static void test_alignment(void **state)
{
    unsigned opened = 0, refused = 0;

    (void)state;
    for (unsigned patience = 1; patience < 8; patience++) {
        fickle f = steady();
        gufo_provider provider = provider_of(&f);
        gufo_error error = no_error();
        gufo_model *model;

        f.patience = patience;
        provider.entry_count = 1;
        provider.entry_at = turning_entry_at;
        model = gufo_model_open_provider(&provider, NULL, &error);
        if (model != NULL) {
            uint32_t alignment = gufo_model_facts(model).alignment;

            check(alignment == 64 || alignment == GUFO_DEFAULT_ALIGNMENT, "%u after %u looks",
                  alignment, patience);
        }
        *(model != NULL ? &opened : &refused) += 1;
        gufo_model_free(model);
    }
    check(opened > 0 && refused > 0, "%u opened, %u refused", opened, refused);
}

static void test_empty(void **state)
{
    fickle f = steady();
    gufo_error error = no_error();
    gufo_model *model;
    gufo_document *d;
    gufo_job *job;

    (void)state;
    f.empty = true;
    model = open_made(&f);
    d = gufo_document_from(model, NULL, &error);
    job = gufo_job_of_documents(&d, 1, NULL, &error);
    check(job != NULL, "%s", error.message);
    check_ok(run_job(&f, job, false, &error), &error, "no rows");
    check_u64(f.reads, 0, "rows");
    gufo_job_free(job);
    gufo_document_free(d);
    gufo_model_free(model);
}

/* ---- claims --------------------------------------------------------------------------------- */

static void test_claims(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        fickle f = steady();
        gufo_provider provider = provider_of(&f);
        gufo_error error = no_error();
        counter c;

        counter_init(&c);
        gufo_allocator allocator = counter_allocator(&c);
        const gufo_open_options options = {.allocator = &allocator};

        if (i == 0)
            provider.entry_count = GUFO_MAX_COUNT;
        else
            provider.tensor_count = GUFO_MAX_COUNT;
        check(gufo_model_open_provider(&provider, &options, &error) == NULL, "claim %u", i);
        check_error_shape(&error, GUFO_E_ARGUMENT, "claim");
        check(c.peak < 65536, "claim %u: %zu bytes", i, (size_t)c.peak);
        check_u64(c.in_use, 0, "claim %u", i);
    }
}

/* ---- errors of callbacks -------------------------------------------------------------------- */

static void check_passed_on(const gufo_error *error, gufo_status status, const char *label)
{
    check_u64(error->code, status, "%s", label);
    check(memchr(error->message, 0, sizeof error->message) != NULL, "%s: message", label);
    check(memchr(error->file, 0, sizeof error->file) != NULL, "%s: file", label);
    for (const char *c = error->message; *c != '\0'; c++)
        check((unsigned char)*c >= 0x20 && *c != 0x7f, "%s: byte %d", label, *c);
}

static void test_errors(void **state)
{
    static const struct {
        const char *label, *message, *expected; /* NULL: a full one */
        gufo_status status, passed;
    } rows[] = {
        {"controls", "raw \x1b[31m\n", "raw \\u{1b}[31m\\u{a}", GUFO_E_IO, GUFO_E_IO},
        {"not UTF-8", "a\xff", "a\\xff", GUFO_E_TYPE, GUFO_E_TYPE},
        {"quotes stay", "a \"b\\n\"", "a \"b\\n\"", GUFO_E_IO, GUFO_E_IO},
        {"unknown code", "x", "x", (gufo_status)99, GUFO_E_IO},
        {"below the codes", "x", "x", (gufo_status)-1, GUFO_E_IO},
        {"no message", "", NULL, (gufo_status)99, GUFO_E_IO},
        {"no NUL", NULL, NULL, GUFO_E_MALFORMED, GUFO_E_MALFORMED},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fickle f = steady();
        gufo_error reason = {.code = (gufo_status)77, .role = (gufo_file_role)1234}, error;
        gufo_model *model = open_made(&f);
        float out[COLUMNS];
        gufo_tensor tensor;

        if (rows[i].message != NULL) {
            strcpy(reason.message, rows[i].message);
        } else {
            memset(reason.message, '\x1b', sizeof reason.message);
            memset(reason.file, 'f', sizeof reason.file);
        }
        f.reason = &reason;
        f.status = rows[i].status;
        memset(&error, 'e', sizeof error);
        check(gufo_model_tensor_at(model, 0, &tensor), "tensor");
        check_u64(gufo_tensor_decode(model, &tensor, 0, 1, out, NULL, &error), rows[i].passed, "%s",
                  rows[i].label);
        check_passed_on(&error, rows[i].passed, rows[i].label);
        check(rows[i].expected == NULL || strcmp(error.message, rows[i].expected) == 0, "%s: %s",
              rows[i].label, error.message);
        gufo_model_free(model);
    }
}

static gufo_status bad_read(void *context, uint64_t offset, void *buffer, size_t size,
                            gufo_error *error)
{
    (void)context;
    (void)offset;
    (void)buffer;
    (void)size;
    memset(error->message, '\n', sizeof error->message);
    return (gufo_status)1000;
}

static void test_source_errors(void **state)
{
    const gufo_source source = {.read = bad_read, .size = 4096};
    gufo_error error;

    (void)state;
    memset(&error, 'e', sizeof error);
    check(gufo_model_open_source(&source, NULL, &error) == NULL, "opens");
    check_passed_on(&error, GUFO_E_IO, "source");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost),          cmocka_unit_test(test_changes),
        cmocka_unit_test(test_other_shape),   cmocka_unit_test(test_longer_names),
        cmocka_unit_test(test_alignment),     cmocka_unit_test(test_empty),
        cmocka_unit_test(test_claims),        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_source_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
