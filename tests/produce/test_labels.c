/* No sequence of calls makes a file that is labelled with one byte order and holds the other: all
 * sequences of a few calls are tried on a little-endian and a big-endian model, and all numbers of
 * what is written are compared with those of the models. */
#define _GNU_SOURCE /* memfd_create */
#include "support/builder.h"
#include "support/openers.h"
#include "support/pace.h"

#include <sys/mman.h>
#include <unistd.h>

enum { COLUMNS = 256, ROWS = 8, DEPTH = 3, UNKNOWN = 57, UNKNOWN_SIZE = 64 };

static const uint32_t types[] = {GUFO_TYPE_F32,   GUFO_TYPE_F16,      GUFO_TYPE_Q4_K,
                                 GUFO_TYPE_IQ2_S, GUFO_TYPE_Q4_0_4_4, GUFO_TYPE_I8};

enum { TENSORS = COUNT_OF(types) + 1 }; /* the last one has an unknown type */

/* The models: little-endian, big-endian. */
static gufo_model *models[2];
static builder files[2];

static const char *const prefixes[] = {"little", "big"};

static void append_blocks(builder *b, const gufo_element_type *type, unsigned seed)
{
    uint64_t row_bytes, state = seed;
    gufo_error error = no_error();
    uint8_t *blocks;

    check_ok(gufo_element_row_size(type, COLUMNS, &row_bytes, &error), &error, "%s", type->name);
    blocks = malloc((size_t)row_bytes * ROWS);
    for (size_t i = 0; i < row_bytes * ROWS; i++)
        blocks[i] = (uint8_t)random_next(&state);
    if (b->encoding.big)
        check_ok(gufo_swap_blocks(type, blocks, row_bytes * ROWS / type->block_bytes, &error),
                 &error, "%s", type->name);
    builder_pad(b, 32);
    builder_raw(b, blocks, (size_t)row_bytes * ROWS);
    free(blocks);
}

static builder build_model(bool big)
{
    builder b = builder_new((encoding){3, big});
    uint64_t offset = 0, row_bytes;
    char name[GUFO_MAX_NAME];

    builder_header(&b, TENSORS, 1);
    builder_kv_u32(&b, big ? "big.key" : "little.key", 7);
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        snprintf(name, sizeof name, "%s.%zu", prefixes[big], i);
        builder_tensor(&b, name, types[i], 2, (uint64_t[]){COLUMNS, ROWS}, offset);
        check(gufo_element_row_size(gufo_element_type_by_id(types[i]), COLUMNS, &row_bytes, NULL) ==
                  GUFO_OK,
              "%s", name);
        offset += (row_bytes * ROWS + 31) / 32 * 32;
    }
    snprintf(name, sizeof name, "%s.unknown", prefixes[big]);
    builder_tensor(&b, name, UNKNOWN, 1, (uint64_t[]){4}, offset);
    for (size_t i = 0; i < COUNT_OF(types); i++)
        append_blocks(&b, gufo_element_type_by_id(types[i]), (unsigned)i + 10 * big + 1);
    builder_pad(&b, 32);
    builder_pattern(&b, big, UNKNOWN_SIZE);
    return b;
}

/* ---- calls ---------------------------------------------------------------------------------- */

static bool is_known(void *context, gufo_str name)
{
    (void)context;
    return name.len < 7 || memcmp(name.data + name.len - 7, "unknown", 7) != 0;
}

static gufo_status copy_known(gufo_document *d, int big, gufo_error *error)
{
    return gufo_document_copy_tensors(d, models[big], is_known, NULL, NULL, error);
}

/* With the tensor that cannot be swapped: what comes before it stays if it is refused. */
static gufo_status copy_all(gufo_document *d, int big, gufo_error *error)
{
    return gufo_document_copy_tensors(d, models[big], NULL, NULL, NULL, error);
}

static gufo_status copy_last(gufo_document *d, int big, gufo_error *error)
{
    return gufo_document_copy_tensor(d, models[big], TENSORS - 1, error);
}

static gufo_status copy_entries(gufo_document *d, int big, gufo_error *error)
{
    return gufo_document_copy_entries(d, models[big], NULL, NULL, NULL, error);
}

static gufo_status set_order(gufo_document *d, int big, gufo_error *error)
{
    return gufo_document_set_encoding(d, 3, big ? GUFO_BIG_ENDIAN : GUFO_LITTLE_ENDIAN, error);
}

/* Packed, or as the model had it. */
static gufo_status lay_out(gufo_document *d, int as_source, gufo_error *error)
{
    const gufo_layout_options options = {.way = as_source ? GUFO_LAYOUT_AS_SOURCE
                                                          : GUFO_LAYOUT_PACKED};

    return gufo_document_layout(d, &options, NULL, error);
}

/* Renames the first tensor, or drops it. */
static gufo_status change(gufo_document *d, int drop, gufo_error *error)
{
    gufo_document_tensor t;

    if (!gufo_document_tensor_at(d, 0, &t))
        return GUFO_OK;
    if (!drop)
        return gufo_document_rename_tensor_str(d, t.name, gufo_str_of("renamed"), error);
    check(gufo_document_drop_tensor_str(d, t.name), "it is there");
    return GUFO_OK;
}

typedef gufo_status call(gufo_document *d, int which, gufo_error *error);

static call *const calls[] = {copy_known, copy_all, copy_last, copy_entries,
                              set_order,  lay_out,  change};

enum { CALLS = 2 * COUNT_OF(calls) };

/* ---- what comes of them --------------------------------------------------------------------- */

static void check_numbers(const gufo_model *model, const gufo_tensor *t, const gufo_model *from,
                          const gufo_tensor *original)
{
    static float numbers[2][ROWS * COLUMNS];
    gufo_error error = no_error();

    check_ok(gufo_tensor_decode(model, t, 0, ROWS, numbers[0], NULL, &error), &error, "written");
    check_ok(gufo_tensor_decode(from, original, 0, ROWS, numbers[1], NULL, &error), &error, "read");
    check(memcmp(numbers[0], numbers[1], sizeof numbers[0]) == 0, "other numbers");
}

static void check_written(const gufo_model *model, const gufo_document *d, const char *label)
{
    gufo_byte_order order = gufo_model_facts(model).byte_order;
    gufo_document_tensor described;
    gufo_tensor t, original;

    check_u64(gufo_model_tensor_count(model), gufo_document_tensor_count(d), "%s", label);
    for (uint64_t i = 0; gufo_document_tensor_at(d, i, &described); i++) {
        check(gufo_model_tensor_find_str(model, described.name, &t) &&
                  gufo_model_tensor_at(described.from, described.origin, &original),
              "%s", label);
        if (t.type != UNKNOWN) {
            check_numbers(model, &t, described.from, &original);
            continue;
        }
        check(gufo_model_facts(described.from).byte_order == order, "%s: it cannot be swapped",
              label);
        check(memcmp(gufo_tensor_raw(model, &t), gufo_tensor_raw(described.from, &original),
                     UNKNOWN_SIZE) == 0,
              "%s", label);
    }
}

/* Writes what the document is now. */
static void check_document(gufo_document *d, const char *label)
{
    static const gufo_run one_thread = {.threads = 1};
    int fd = memfd_create("gufo-labels", MFD_CLOEXEC);
    gufo_error error = no_error();
    gufo_job *job = gufo_job_of_documents(&d, 1, NULL, &error);
    gufo_model *model;

    check(job != NULL && fd >= 0, "%s: %s", label, error.message);
    check_ok(gufo_job_stream(job, fd, &one_thread, &error), &error, "%s", label);
    gufo_job_free(job);
    model = gufo_model_open_fd(fd, NULL, &error);
    check(model != NULL, "%s: %s", label, error.message);
    check(gufo_model_facts(model).byte_order == gufo_document_byte_order(d), "%s", label);
    check_written(model, d, label);
    gufo_model_free(model);
    close(fd);
}

/* What a call may be refused for. */
static void check_refusal(gufo_status status, const gufo_error *error, const char *label)
{
    if (status != GUFO_OK)
        check(status == GUFO_E_TYPE || status == GUFO_E_MALFORMED || status == GUFO_E_EXISTS ||
                  status == GUFO_E_ARGUMENT,
              "%s: %s", label, error->message);
}

/* Sequence `number` of calls, on an empty document, or on one made from a model. */
static void try_sequence(unsigned number, int start)
{
    const gufo_document_options options = {.flags = GUFO_DOCUMENT_AS_READ};
    gufo_error error = no_error();
    gufo_document *d = start == 0 ? gufo_document_new(&options, &error)
                                  : gufo_document_from(models[start - 1], &options, &error);
    char label[64];

    check(d != NULL, "%s", error.message);
    snprintf(label, sizeof label, "sequence %u on %d", number, start);
    for (unsigned i = 0; i < DEPTH; i++, number /= CALLS)
        check_refusal(calls[number % CALLS / 2](d, (int)(number % 2), &error), &error, label);
    check_document(d, label);
    gufo_document_free(d);
}

static void test_all_sequences(void **state)
{
    unsigned count = 1;

    (void)state;
    for (int big = 0; big < 2; big++) {
        files[big] = build_model(big == 1);
        models[big] = open_built(&files[big], prefixes[big]);
    }
    for (unsigned i = 0; i < DEPTH; i++)
        count *= CALLS;
    for (int start = 0; start < 3; start++)
        for (unsigned number = 0; number < count; number += all_some_or_few(1, 3, 7))
            try_sequence(number, start);
    for (int big = 0; big < 2; big++) {
        gufo_model_free(models[big]);
        builder_free(&files[big]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_sequences),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
