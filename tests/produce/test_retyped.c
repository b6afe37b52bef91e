/* Documents whose tensors were retyped: the bytes are those of decoding and encoding by hand. */
#include "support/builder.h"
#include "support/folder.h"

#include <unistd.h>

enum { COLUMNS = 256, ROWS = 8, ELEMENTS = COLUMNS * ROWS };

static const gufo_element_type *type_of(const char *name)
{
    return gufo_element_type_by_name(name);
}

static size_t size_of(const gufo_element_type *type)
{
    return (size_t)ELEMENTS / type->block_elements * type->block_bytes;
}

static void swap_blocks(const gufo_element_type *type, uint8_t *bytes)
{
    gufo_error error = no_error();

    check_ok(gufo_swap_blocks(type, bytes, ELEMENTS / type->block_elements, &error), &error, "%s",
             type->name);
}

/* ---- inputs ---- */

static void encode(const gufo_element_type *type, const float *values, uint8_t *out)
{
    gufo_error error = no_error();
    gufo_encoder *encoder = gufo_encoder_new(type, NULL, &error);

    check(encoder != NULL, "%s", error.message);
    check_ok(gufo_encoder_encode(encoder, values, ROWS, COLUMNS, NULL, out, NULL, &error), &error,
             "%s", type->name);
    gufo_encoder_free(encoder);
}

/* Little-endian data of any type: numbers, or codes behind scales that are small. */
static void make_data(const gufo_element_type *type, uint8_t *out)
{
    static float values[ELEMENTS];
    uint64_t seed = 1;

    for (size_t i = 0; i < ELEMENTS; i++)
        values[i] = (float)(random_next(&seed) % 2001) / 1000.0F - 1.0F;
    if ((type->flags & GUFO_ELEMENT_ENCODES) != 0) {
        encode(type, values, out);
        return;
    }
    for (size_t i = 0; i < size_of(type); i++)
        out[i] = (uint8_t)random_next(&seed);
    for (size_t at = 0; at < size_of(type); at += 72) /* of four rows: scales, then codes */
        for (size_t i = 1; i < 8; i += 2)
            out[at + i] = 0x2c;
}

static gufo_model *open_rows(uint32_t type, uint64_t rows, const void *data, size_t size, bool big,
                             uint8_t **file)
{
    builder b = builder_new((encoding){3, big});
    gufo_error error = no_error();
    gufo_model *model;

    builder_header(&b, 1, 0);
    builder_tensor(&b, "t.weight", type, 2, (uint64_t[]){COLUMNS, rows}, 0);
    builder_pad(&b, 32);
    builder_raw(&b, data, size);
    builder_pad(&b, 32);
    *file = builder_exact_copy(&b, b.len);
    model = gufo_model_open_memory(*file, b.len, &(gufo_open_options){.name = "input"}, &error);
    check(model != NULL, "type %u: %s", (unsigned)type, error.message);
    builder_free(&b);
    return model;
}

static gufo_model *open_model(const gufo_element_type *type, bool big, uint8_t **file)
{
    static uint8_t data[ELEMENTS * sizeof(float)];

    make_data(type, data);
    if (big)
        swap_blocks(type, data);
    return open_rows(type->id, ROWS, data, size_of(type), big, file);
}

static bool made_tensor(void *context, uint64_t index, gufo_tensor *out)
{
    if (index == 0)
        return gufo_model_tensor_at(context, 0, out);
    *out = (gufo_tensor){.name = gufo_str_of("empty.weight"),
                         .type = GUFO_TYPE_F32,
                         .n_dims = 2,
                         .dims = {COLUMNS, 0, 1, 1}};
    return true;
}

static gufo_status made_rows(void *context, uint64_t index, uint64_t first, uint64_t count,
                             void *out, gufo_error *error)
{
    gufo_tensor tensor;

    check(index == 0 && gufo_model_tensor_at(context, 0, &tensor), "tensor");
    return gufo_tensor_read_rows(context, &tensor, first, count, out, error);
}

/* ---- the copy ---- */

static gufo_document *plan_document(const gufo_model *model, const gufo_element_type *type,
                                    bool big)
{
    gufo_error error = no_error();
    gufo_document *document =
        gufo_document_from(model, &(gufo_document_options){.flags = GUFO_DOCUMENT_AS_READ}, &error);

    check(document != NULL, "%s", error.message);
    check_ok(
        gufo_document_set_encoding(document, 3, big ? GUFO_BIG_ENDIAN : GUFO_LITTLE_ENDIAN, &error),
        &error, "order");
    check_ok(gufo_document_retype(document, "t.weight", type, &error), &error, "retype");
    return document;
}

/* What must be there, little-endian. */
static void expect(const gufo_model *model, const gufo_element_type *from,
                   const gufo_element_type *to, uint8_t *out)
{
    static float values[ELEMENTS];
    static uint8_t data[ELEMENTS * sizeof(float)];
    const gufo_element_type *repacked;
    gufo_error error = no_error();
    gufo_tensor tensor;

    make_data(from, data);
    if (gufo_repack(from, data, ROWS, COLUMNS, out, &repacked, NULL) == GUFO_OK && repacked == to)
        return;
    check(gufo_model_tensor_at(model, 0, &tensor), "tensor");
    check_ok(gufo_tensor_decode(model, &tensor, 0, ROWS, values, NULL, &error), &error, "decode");
    encode(to, values, out);
}

static void check_copy(const gufo_model *model, const gufo_element_type *from,
                       const gufo_element_type *to, bool big, const char *path, const char *label)
{
    static uint8_t expected[ELEMENTS * sizeof(float)], got[ELEMENTS * sizeof(float)];
    const gufo_job_options options = {.path = path, .flags = GUFO_JOB_REPLACE};
    const gufo_run run = {.threads = 2};
    gufo_document *document = plan_document(model, to, big);
    gufo_error error = no_error();
    gufo_job *job = gufo_job_of_documents(&document, 1, NULL, &error);
    gufo_model *copy;
    gufo_tensor tensor;

    check(job != NULL, "%s: %s", label, error.message);
    check_ok(gufo_job_run(job, &options, &run, &error), &error, "%s", label);
    gufo_job_free(job);
    gufo_document_free(document);
    copy = gufo_model_open(path, NULL, &error);
    check(copy != NULL && gufo_model_tensor_find(copy, "t.weight", &tensor), "%s: %s", label,
          error.message);
    check_u64(tensor.type, to->id, "%s", label);
    check_u64(tensor.size, size_of(to), "%s", label);
    check_ok(gufo_tensor_read_raw(copy, &tensor, 0, got, size_of(to), &error), &error, "%s", label);
    expect(model, from, to, expected);
    if (big)
        swap_blocks(to, expected);
    check(memcmp(got, expected, size_of(to)) == 0, "%s: other bytes", label);
    gufo_model_free(copy);
}

static const struct {
    const char *from, *to;
} pairs[] = {
    {"F32", "F16"},       {"F32", "Q8_0"},     {"F32", "Q4_K"},
    {"F16", "BF16"},      {"Q8_0", "F32"},     {"Q4_K", "Q4_0"},
    {"Q4_0_4_4", "Q4_0"}, {"Q4_0_4_4", "F16"}, {"Q4_0_4_4", "Q8_0"},
};

/* Every pair, from and to either byte order. */
static void test_files(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "out.gguf");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(pairs); i++)
        for (unsigned orders = 0; orders < 4; orders++) {
            const gufo_element_type *from = type_of(pairs[i].from), *to = type_of(pairs[i].to);
            char label[80];
            uint8_t *file;
            gufo_model *model = open_model(from, (orders & 1) != 0, &file);

            (void)snprintf(label, sizeof label, "%s to %s, orders %u", from->name, to->name,
                           orders);
            check_copy(model, from, to, (orders & 2) != 0, path.text, label);
            gufo_model_free(model);
            free(file);
        }
    folder_remove(&f);
}

/* Made models, with a tensor that has no bytes. */
static void test_made(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "out.gguf");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(pairs); i++)
        for (unsigned big = 0; big < 2; big++) {
            const gufo_element_type *from = type_of(pairs[i].from), *to = type_of(pairs[i].to);
            uint8_t *file;
            gufo_model *model = open_model(from, false, &file);
            const gufo_provider provider = {.context = model,
                                            .tensor_count = 2,
                                            .tensor_at = made_tensor,
                                            .read_rows = made_rows};
            gufo_error error = no_error();
            gufo_model *made = gufo_model_open_provider(&provider, NULL, &error);

            if ((from->flags & GUFO_ELEMENT_REMOVED) != 0) { /* no provider makes it */
                check(made == NULL, "%s", from->name);
                gufo_model_free(model);
                free(file);
                continue;
            }
            check(made != NULL, "%s", error.message);
            check_copy(made, from, to, big != 0, path.text, from->name);
            gufo_model_free(made);
            gufo_model_free(model);
            free(file);
        }
    folder_remove(&f);
}

/* What cannot be encoded is refused when the job is planned, and the tensor is named. */
static void test_refused(void **state)
{
    static const struct {
        const char *from, *to;
        uint64_t rows;
        const char *reason;
    } rows[] = {
        {"F32", "IQ2_XXS", ROWS, "needs importance data"},
        {"F32", "Q4_0_4_4", ROWS, "cannot be encoded"},
        {"Q4_0_4_4", "F16", ROWS - 2, "groups of its own type"},
        {"Q4_2", "F16", ROWS, "cannot be decoded"}, /* nobody recorded its layout */
    };
    static const uint8_t zeros[ELEMENTS * sizeof(float)];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint8_t *file;
        gufo_model *model =
            open_rows(type_of(rows[i].from)->id, rows[i].rows, zeros, sizeof zeros, false, &file);
        gufo_document *document = plan_document(model, type_of(rows[i].to), false);
        gufo_error error = no_error();

        check(gufo_job_of_documents(&document, 1, NULL, &error) == NULL, "row %zu", i);
        check(error.code == GUFO_E_ARGUMENT && strstr(error.message, rows[i].reason) != NULL &&
                  strstr(error.message, "t.weight") != NULL && strcmp(error.file, "input") == 0,
              "row %zu: %s: %s", i, error.file, error.message);
        gufo_document_free(document);
        gufo_model_free(model);
        free(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_made),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
