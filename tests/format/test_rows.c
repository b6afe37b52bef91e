/* Rows of every type, in both byte orders, as blocks and as numbers. */
#include "../support/allocator.h"
#include "../support/folder.h"
#include "../support/pace.h"

#include <stdatomic.h>

enum { COLUMNS = 512, ROWS = 8, MATRICES = 2, ALL = ROWS * MATRICES };

/* Random blocks of one type, in a file of either order. */
typedef struct sample {
    const gufo_element_type *type;
    uint64_t row_bytes;
    uint8_t *blocks; /* little-endian */
    float *numbers;  /* what they are */
    builder b;
    gufo_model *model;
    gufo_tensor tensor;
} sample;

static sample sample_new(const gufo_element_type *type, bool big, uint64_t columns,
                         const gufo_open_options *options)
{
    sample s = {.type = type, .b = builder_new((encoding){3, big})};
    const uint64_t dims[3] = {columns, ROWS, MATRICES};
    uint64_t state = type->id + 1;
    size_t size;
    gufo_error error = no_error();

    check_ok(gufo_element_row_size(type, columns, &s.row_bytes, &error), &error, "%s", type->name);
    size = (size_t)s.row_bytes * ALL;
    s.blocks = malloc(size);
    s.numbers = malloc((size_t)columns * ALL * sizeof *s.numbers);
    for (size_t i = 0; i < size; i++)
        s.blocks[i] = (uint8_t)random_next(&state);
    check_ok(gufo_decode(type, s.blocks, ALL, columns, s.numbers,
                         &(gufo_run){.cpu = GUFO_CPU_PORTABLE}, &error),
             &error, "%s", type->name);
    builder_header(&s.b, 1, 0);
    builder_tensor(&s.b, "t", type->id, 3, dims, 0);
    builder_pad(&s.b, 32);
    if (big) {
        uint8_t *swapped = malloc(size);

        memcpy(swapped, s.blocks, size);
        check_ok(gufo_swap_blocks(type, swapped, size / type->block_bytes, &error), &error, "%s",
                 type->name);
        builder_raw(&s.b, swapped, size);
        free(swapped);
    } else {
        builder_raw(&s.b, s.blocks, size);
    }
    builder_pad(&s.b, 32);
    s.model = gufo_model_open_memory(s.b.data, s.b.len, options, &error);
    check(s.model != NULL, "%s: %s", type->name, error.message);
    check(gufo_model_tensor_find(s.model, "t", &s.tensor), "%s", type->name);
    return s;
}

static void sample_free(sample *s)
{
    gufo_model_free(s->model);
    builder_free(&s->b);
    free(s->blocks);
    free(s->numbers);
}

/* Which NaN it is depends on the kernel. */
static bool same_numbers(const float *a, const float *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i] && (a[i] == a[i] || b[i] == b[i]))
            return false;
    return true;
}

/* Nothing outside of `out` is touched. */
static void check_rows(const sample *s, uint64_t columns, uint64_t first, uint64_t rows)
{
    size_t count = (size_t)(rows * columns);
    float *out = malloc((count + 2) * sizeof *out);
    gufo_error error = no_error();

    out[0] = out[count + 1] = 12345;
    check_ok(gufo_tensor_decode(s->model, &s->tensor, first, rows, out + 1, NULL, &error), &error,
             "%s", s->type->name);
    check(same_numbers(out + 1, s->numbers + first * columns, count), "%s: %u rows from %u",
          s->type->name, (unsigned)rows, (unsigned)first);
    check(out[0] == 12345 && out[count + 1] == 12345, "%s", s->type->name);
    free(out);
}

static uint64_t merged_rows(const gufo_element_type *type)
{
    return type->id == GUFO_TYPE_Q4_0_8_8 ? 8
           : type->id == GUFO_TYPE_Q4_0_4_4 || type->id == GUFO_TYPE_Q4_0_4_8 ||
                   type->id == GUFO_TYPE_IQ4_NL_4_4
               ? 4
               : 1;
}

/* Every range of rows there is. */
static void check_all_ranges(const sample *s, uint64_t columns)
{
    uint64_t merged = merged_rows(s->type);

    for (uint64_t first = 0; first <= ALL; first++)
        for (uint64_t rows = 0; first + rows <= ALL; rows++) {
            uint8_t *blocks = malloc((size_t)(rows * s->row_bytes) + 1);
            bool whole = first % merged == 0 && rows % merged == 0;
            gufo_error error = no_error();

            check_rows(s, columns, first, rows);
            check_status(gufo_tensor_read_rows(s->model, &s->tensor, first, rows, blocks, &error),
                         whole ? GUFO_OK : GUFO_E_ARGUMENT, &error, "%s", s->type->name);
            check(!whole || memcmp(blocks, s->blocks + first * s->row_bytes,
                                   (size_t)(rows * s->row_bytes)) == 0,
                  "%s: blocks", s->type->name);
            free(blocks);
        }
}

static void test_every_type(void **state)
{
    unsigned seen = 0, merging = 0;

    (void)state;
    for (size_t i = 0; i < gufo_element_type_count(); i++) {
        const gufo_element_type *type = gufo_element_type_at(i);

        if ((type->flags & GUFO_ELEMENT_DECODES) == 0)
            continue;
        for (int big = 0; big < 2; big++) {
            sample s = sample_new(type, big, COLUMNS, NULL);

            check_all_ranges(&s, COLUMNS);
            sample_free(&s);
        }
        seen++;
        merging += merged_rows(type) > 1;
    }
    check(seen > 30 && merging == 4, "%u types, %u that merge rows", seen, merging);
}

/* ---- pieces --------------------------------------------------------------------------------- */

typedef struct watch {
    uint64_t calls, last, total, stop_at;
} watch;

static bool on_progress(void *context, uint64_t done, uint64_t total)
{
    watch *w = context;

    w->calls++;
    w->last = done;
    w->total = total;
    return w->calls != w->stop_at;
}

/* Long rows take several pieces, and little memory; progress counts bytes and may stop. */
static void test_pieces(void **state)
{
    static const uint32_t types[] = {GUFO_TYPE_F32, GUFO_TYPE_Q6_K, GUFO_TYPE_Q4_0_8_8};
    enum { LONG = 256 * 1024 };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(types); i += all_or_few(1, 2))
        for (int big = 0; big < 2; big++) {
            const gufo_element_type *type = gufo_element_type_by_id(types[i]);
            counter c;
            gufo_allocator allocator;
            sample s = sample_new(type, big, LONG, NULL);
            float *out = malloc((size_t)3 * LONG * sizeof *out);
            watch w = {0};
            gufo_error error = no_error();
            gufo_run run = {.threads = 2, .progress = on_progress, .progress_context = &w};

            counter_init(&c);
            allocator = counter_allocator(&c);
            run.allocator = &allocator;
            check_rows(&s, LONG, 5, 3);
            check_rows(&s, LONG, 7, 2);
            check_ok(gufo_tensor_decode(s.model, &s.tensor, 6, 3, out, &run, &error), &error, "%s",
                     type->name);
            check(same_numbers(out, s.numbers + 6 * LONG, (size_t)3 * LONG), "%s", type->name);
            check(w.calls > 1 && w.last == w.total, "%s: progress", type->name);
            check(c.peak <= 5u << 20 && c.in_use == 0, "%s: %zu bytes", type->name, c.peak);
            w = (watch){.stop_at = 2};
            check_status(gufo_tensor_decode(s.model, &s.tensor, 6, 3, out, &run, &error),
                         GUFO_E_STOPPED, &error, "%s", type->name);
            check_u64(w.calls, 2, "%s", type->name);
            for (size_t n = 1; n <= 2; n++) {
                c.calls = 0;
                c.fail_at = n;
                w = (watch){0};
                if (n == 1 || merged_rows(type) > 1)
                    check_status(gufo_tensor_decode(s.model, &s.tensor, 6, 3, out, &run, &error),
                                 GUFO_E_MEMORY, &error, "%s", type->name);
                check_u64(c.in_use, 0, "%s", type->name);
            }
            free(out);
            sample_free(&s);
        }
}

typedef struct rising {
    uint64_t last;
    bool falls;
} rising;

static bool rises(void *context, uint64_t done, uint64_t total)
{
    rising *r = context;

    r->falls = r->falls || done <= r->last || done > total;
    r->last = done;
    return true;
}

/* The numbers are the same whatever the threads, and progress rises to its end. */
static void test_threads(void **state)
{
    static const uint32_t types[] = {GUFO_TYPE_F16, GUFO_TYPE_Q4_0_8_8};
    enum { LONG = 256 * 1024 };

    (void)state;
    skip_if_emulated();
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        sample s = sample_new(gufo_element_type_by_id(types[i]), i == 0, LONG, NULL);
        size_t count = (size_t)LONG * 11;
        float *out = malloc(count * sizeof *out);

        for (unsigned threads = 1; threads <= 5; threads += 2) {
            rising r = {0};
            gufo_run run = {.threads = threads, .progress = rises, .progress_context = &r};
            gufo_error error = no_error();

            memset(out, 0, count * sizeof *out);
            check_ok(gufo_tensor_decode(s.model, &s.tensor, 3, 11, out, &run, &error), &error,
                     "%s: %u threads", s.type->name, threads);
            check(same_numbers(out, s.numbers + 3 * LONG, count), "%s: %u threads", s.type->name,
                  threads);
            check(!r.falls, "%s: %u threads", s.type->name, threads);
        }
        free(out);
        sample_free(&s);
    }
}

typedef struct thread_source {
    const builder *b;
    pthread_t caller;
    atomic_uint elsewhere; /* reads on other threads */
} thread_source;

static gufo_status read_noting(void *context, uint64_t offset, void *buffer, size_t size,
                               gufo_error *error)
{
    thread_source *s = context;

    (void)error;
    if (!pthread_equal(pthread_self(), s->caller))
        s->elsewhere++;
    memcpy(buffer, s->b->data + offset, size);
    return GUFO_OK;
}

/* Who gives no run may have a source for one thread. */
static void test_source_of_one_thread(void **state)
{
    enum { LONG = 256 * 1024 };
    sample s = sample_new(gufo_element_type_by_id(GUFO_TYPE_F16), false, LONG, NULL);
    thread_source from = {.b = &s.b, .caller = pthread_self()};
    const gufo_source source = {.context = &from, .size = s.b.len, .read = read_noting};
    gufo_error error = no_error();
    gufo_model *model = gufo_model_open_source(&source, NULL, &error);
    float *out = malloc((size_t)LONG * ALL * sizeof *out);

    (void)state;
    check(model != NULL, "%s", error.message);
    check_ok(gufo_tensor_decode(model, &s.tensor, 0, ALL, out, NULL, &error), &error, "source");
    check(same_numbers(out, s.numbers, (size_t)LONG * ALL), "source");
    check_u64(from.elsewhere, 0, "reads on other threads");
    free(out);
    gufo_model_free(model);
    sample_free(&s);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void test_ranges(void **state)
{
    static const uint64_t rows[][2] = {
        {0, ALL + 1}, {ALL + 1, 0}, {ALL, 1}, {UINT64_MAX, 2}, {1, UINT64_MAX}};
    sample s = sample_new(gufo_element_type_by_id(GUFO_TYPE_Q8_0), false, COLUMNS, NULL);
    gufo_run odd = {.cpu = (gufo_cpu)77}, later = {.reserved = {0, 0, 0, 1}};
    float out[COLUMNS];
    gufo_error error = no_error();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check_status(
            gufo_tensor_decode(s.model, &s.tensor, rows[i][0], rows[i][1], out, NULL, &error),
            GUFO_E_RANGE, &error, "row %zu", i);
        check_status(gufo_tensor_read_rows(s.model, &s.tensor, rows[i][0], rows[i][1], out, &error),
                     GUFO_E_RANGE, &error, "row %zu", i);
    }
    check_status(gufo_tensor_decode(s.model, &s.tensor, 0, 1, out, &odd, &error), GUFO_E_ARGUMENT,
                 &error, "cpu");
    check_status(gufo_tensor_decode(s.model, &s.tensor, 0, 1, out, &later, &error), GUFO_E_ARGUMENT,
                 &error, "reserved");
    sample_free(&s);
}

/* Tensors without rows that can be read. */
static void test_types(void **state)
{
    static const struct {
        uint32_t type;
        uint64_t dims[3];
        gufo_status status;
    } rows[] = {
        {77, {32, 4, 1}, GUFO_E_TYPE},
        {GUFO_TYPE_Q4_2, {32, 4, 1}, GUFO_E_TYPE},
        {GUFO_TYPE_Q4_0_4_4, {32, 6, 2}, GUFO_E_ARGUMENT}, /* groups of two matrices */
        {GUFO_TYPE_F32, {0, 4, 1}, GUFO_E_RANGE},
        {GUFO_TYPE_F32, {4, 0, 1}, GUFO_E_RANGE},
        {GUFO_TYPE_F32, {4, 4, 1}, GUFO_OK},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = builder_new((encoding){3, false});
        gufo_error error = no_error();
        float out[256];
        gufo_tensor tensor;
        gufo_model *model;

        builder_header(&b, 1, 0);
        builder_tensor(&b, "t", rows[i].type, 3, rows[i].dims, 0);
        builder_pad(&b, 32);
        builder_pattern(&b, 1, 256);
        model = gufo_model_open_memory(b.data, b.len, NULL, &error);
        check(model != NULL && gufo_model_tensor_at(model, 0, &tensor), "row %zu: %s", i,
              error.message);
        check_status(gufo_tensor_decode(model, &tensor, 0, 1, out, NULL, &error), rows[i].status,
                     &error, "row %zu", i);
        gufo_model_free(model);
        builder_free(&b);
    }
}

/* A scalar is one row of one; a tensor that is cut gives the rows that are there. */
static void test_scalar_and_cut(void **state)
{
    const gufo_open_options lenient = {.flags = GUFO_OPEN_LENIENT};
    builder b = builder_new((encoding){3, true});
    const uint64_t dims[2] = {4, 4};
    gufo_error error = no_error();
    float out[16];
    gufo_tensor tensor;
    gufo_model *model;

    (void)state;
    builder_header(&b, 2, 0);
    builder_tensor(&b, "scalar", GUFO_TYPE_F32, 0, NULL, 0);
    builder_tensor(&b, "cut", GUFO_TYPE_F32, 2, dims, 32);
    builder_pad(&b, 32);
    builder_f32(&b, 3.5f);
    builder_pad(&b, 32);
    for (int i = 0; i < 10; i++)
        builder_f32(&b, (float)i);
    model = gufo_model_open_memory(b.data, b.len, &lenient, &error);
    check(model != NULL, "%s", error.message);
    check(gufo_model_tensor_find(model, "scalar", &tensor), "scalar");
    check_ok(gufo_tensor_decode(model, &tensor, 0, 1, out, NULL, &error), &error, "scalar");
    check(out[0] == 3.5f, "scalar");
    check(gufo_model_tensor_find(model, "cut", &tensor), "cut");
    check_ok(gufo_tensor_decode(model, &tensor, 1, 1, out, NULL, &error), &error, "second row");
    check(out[0] == 4 && out[3] == 7, "second row");
    check_status(gufo_tensor_decode(model, &tensor, 1, 2, out, NULL, &error), GUFO_E_TRUNCATED,
                 &error, "third row");
    gufo_model_free(model);
    builder_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type),     cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_threads),        cmocka_unit_test(test_source_of_one_thread),
        cmocka_unit_test(test_ranges),         cmocka_unit_test(test_types),
        cmocka_unit_test(test_scalar_and_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
