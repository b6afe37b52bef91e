/* What is around the kernels: choosing a level, refusing what cannot be coded, interleaved blocks,
 * byte order, and looking for numbers that are none. */
#include "../support/check.h"
#include "../support/allocator.h"
#include "../support/codec.h"
#include "../support/pace.h"

#include <math.h>

static const gufo_element_type *type_of(const char *name)
{
    const gufo_element_type *type = gufo_element_type_by_name(name);

    check(type != NULL, "%s", name);
    return type;
}

/* ---- levels --------------------------------------------------------------------------------- */

static void test_levels(void **state)
{
    static const char *const names[] = {"best", "portable", "avx2", "avx512", "neon"};
    gufo_cpu cpu;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_true(gufo_cpu_by_name(names[i], &cpu));
        assert_int_equal(cpu, i);
        assert_string_equal(gufo_cpu_name(cpu), names[i]);
    }
    assert_false(gufo_cpu_by_name("AVX2", &cpu));
    assert_false(gufo_cpu_by_name("", &cpu));
    assert_null(gufo_cpu_name((gufo_cpu)99));
    assert_true(gufo_cpu_available(GUFO_CPU_BEST));
    assert_true(gufo_cpu_available(GUFO_CPU_PORTABLE));
    assert_false(gufo_cpu_available((gufo_cpu)99));
    /* no processor is of both kinds */
    assert_false(gufo_cpu_available(GUFO_CPU_AVX2) && gufo_cpu_available(GUFO_CPU_NEON));
}

static gufo_cpu missing_level(void)
{
    return gufo_cpu_available(GUFO_CPU_NEON) ? GUFO_CPU_AVX2 : GUFO_CPU_NEON;
}

/* ---- refusals ------------------------------------------------------------------------------- */

static const struct {
    const char *type;
    uint64_t rows, columns;
    gufo_status status;
    const char *message;
} refused_decodes[] = {
    {"Q4_2", 1, 32, GUFO_E_TYPE, "Q4_2 cannot be decoded"},
    {"IQ4_NL_4_8", 1, 32, GUFO_E_TYPE, "IQ4_NL_4_8 cannot be decoded"},
    {"Q4_K", 1, 255, GUFO_E_ARGUMENT, "a row of 255 elements does not fill blocks of 256 (Q4_K)"},
    {"Q8_0", 3, 31, GUFO_E_ARGUMENT, "a row of 31 elements does not fill blocks of 32 (Q8_0)"},
    {"Q4_0_4_4", 3, 32, GUFO_E_ARGUMENT, "Q4_0_4_4 needs a multiple of 4 rows, not 3"},
    {"Q4_0_8_8", 4, 32, GUFO_E_ARGUMENT, "Q4_0_8_8 needs a multiple of 8 rows, not 4"},
    {"F32", UINT64_C(1) << 40, UINT64_C(1) << 40, GUFO_E_RANGE, NULL},
    {"I8", 1, UINT64_MAX, GUFO_E_RANGE, NULL},
    {"Q8_0", UINT64_MAX, 32, GUFO_E_RANGE, NULL},
    {"TQ2_0", UINT64_C(1) << 57, 256, GUFO_E_RANGE, NULL}, /* bytes fit, but not the elements */
    {"Q1_0", UINT64_C(1) << 55, 128, GUFO_E_RANGE, NULL},  /* nor the bytes of their floats */
};

static void test_refused_decodes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused_decodes); i++) {
        gufo_error error = no_error();
        float value = 7;
        gufo_status status =
            gufo_decode(type_of(refused_decodes[i].type), "", refused_decodes[i].rows,
                        refused_decodes[i].columns, &value, NULL, &error);
        check_status(status, refused_decodes[i].status, &error, "%s", refused_decodes[i].type);
        check_error_shape(&error, refused_decodes[i].status, refused_decodes[i].type);
        if (refused_decodes[i].message != NULL)
            assert_string_equal(error.message, refused_decodes[i].message);
        assert_true(value == 7);
    }
}

static void test_refused_levels(void **state)
{
    gufo_error error = no_error();
    gufo_encoder_options options = {.cpu = missing_level()};
    float value;

    (void)state;
    assert_int_equal(gufo_decode(type_of("F16"), "\0\0", 1, 1, &value,
                                 &(gufo_run){.cpu = missing_level()}, &error),
                     GUFO_E_ARGUMENT);
    assert_non_null(strstr(error.message, gufo_cpu_name(missing_level())));
    assert_null(gufo_encoder_new(type_of("F16"), &options, &error));
    assert_int_equal(error.code, GUFO_E_ARGUMENT);
}

static void test_refused_encoders(void **state)
{
    static const char *const names[] = {"Q4_3", "Q4_0_4_4", "IQ4_NL_4_4", "IQ4_NL_8_8"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        gufo_error error = no_error();
        assert_null(gufo_encoder_new(type_of(names[i]), NULL, &error));
        check_error_shape(&error, GUFO_E_TYPE, names[i]);
    }
}

static void test_importance_needed(void **state)
{
    static const char *const names[] = {"IQ1_S", "IQ2_XXS", "IQ2_XS"};
    static const float values[256];
    uint8_t out[256];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        gufo_error error = no_error();
        gufo_encoder *encoder = gufo_encoder_new(type_of(names[i]), NULL, &error);
        check(encoder != NULL, "%s: %s", names[i], error.message);
        check_status(gufo_encoder_encode(encoder, values, 1, 256, NULL, out, NULL, &error),
                     GUFO_E_ARGUMENT, &error, "%s", names[i]);
        check_status(gufo_encoder_encode(encoder, values, 1, 128, values, out, NULL, &error),
                     GUFO_E_ARGUMENT, &error, "%s", names[i]);
        gufo_encoder_free(encoder);
    }
    gufo_encoder_free(NULL);
}

/* Every allocation of an encoder may fail. */
static void test_no_memory(void **state)
{
    (void)state;
    for (size_t t = 0; t < gufo_element_type_count(); t++) {
        const gufo_element_type *type = gufo_element_type_at(t);
        gufo_encoder *encoder = NULL;
        if ((type->flags & GUFO_ELEMENT_ENCODES) == 0)
            continue;
        for (size_t fail_at = 1; encoder == NULL && fail_at < 100; fail_at++) {
            counter memory;
            counter_init(&memory);
            memory.fail_at = fail_at;
            gufo_allocator allocator = counter_allocator(&memory);
            gufo_encoder_options options = {.allocator = &allocator};
            gufo_error error = no_error();
            encoder = gufo_encoder_new(type, &options, &error);
            if (encoder == NULL)
                assert_int_equal(error.code, GUFO_E_MEMORY);
            gufo_encoder_free(encoder);
            assert_int_equal(memory.in_use, 0);
        }
        check(encoder != NULL, "%s", type->name);
    }
}

static void test_nothing(void **state)
{
    gufo_encoder *encoder = gufo_encoder_new(type_of("Q4_K"), NULL, NULL);
    float value = 7;
    uint8_t byte = 7;

    (void)state;
    assert_int_equal(gufo_decode(type_of("Q4_K"), &byte, 0, 256, &value, NULL, NULL), 0);
    assert_int_equal(gufo_decode(type_of("Q4_K"), &byte, 9, 0, &value, NULL, NULL), 0);
    assert_int_equal(gufo_encoder_encode(encoder, &value, 0, 256, NULL, &byte, NULL, NULL), 0);
    assert_int_equal(gufo_encoder_encode(encoder, &value, 9, 0, NULL, &byte, NULL, NULL), 0);
    assert_true(value == 7 && byte == 7);
    gufo_encoder_free(encoder);
}

/* ---- threads -------------------------------------------------------------------------------- */

typedef struct watch {
    uint64_t calls, last, total, stop_at;
} watch;

static bool on_progress(void *context, uint64_t done, uint64_t total)
{
    watch *w = context;

    check(done > w->last && done <= total, "progress rises");
    w->last = done;
    w->total = total;
    return ++w->calls != w->stop_at;
}

/* The bytes are the same whatever the threads, with rows that end inside of what a thread takes. */
static void test_decoding_threads(void **state)
{
    enum { WIDE = 52 * 1024 + 32, HIGH = 24 };
    static const char *const names[] = {"Q8_0", "Q4_0_8_8"};
    const size_t count = (size_t)WIDE * HIGH;
    float *expected = malloc(count * sizeof *expected), *got = malloc(count * sizeof *got);
    uint16_t *halves = malloc(count * sizeof *halves), *first = malloc(count * sizeof *first);
    uint8_t *blocks = malloc(count * 2);
    number_source source = {5};

    (void)state;
    skip_if_emulated();
    for (size_t i = 0; i < count * 2; i++)
        blocks[i] = (uint8_t)next_number(&source) & 0xbfu; /* scales are finite */
    for (size_t t = 0; t < COUNT_OF(names); t++)
        for (unsigned threads = 1; threads <= 5; threads += 2) {
            watch w = {0};
            const gufo_run run = {
                .threads = threads, .progress = on_progress, .progress_context = &w};
            gufo_error error = no_error();

            memset(got, 0, count * sizeof *got);
            check_ok(gufo_decode(type_of(names[t]), blocks, HIGH, WIDE,
                                 threads == 1 ? expected : got, &run, &error),
                     &error, "%s", names[t]);
            check(w.calls > 1 && w.last == w.total, "%s: progress", names[t]);
            if (threads > 1)
                check_same_floats(got, expected, count, names[t], "threads");
            w = (watch){0};
            check_ok(gufo_decode_bf16(type_of(names[t]), blocks, HIGH, WIDE,
                                      threads == 1 ? first : halves, &run, &error),
                     &error, "%s", names[t]);
            check(threads == 1 || memcmp(halves, first, count * sizeof *first) == 0, "%s",
                  names[t]);
            w = (watch){.stop_at = 2};
            check_status(gufo_decode(type_of(names[t]), blocks, HIGH, WIDE, got, &run, &error),
                         GUFO_E_STOPPED, &error, "%s", names[t]);
        }
    free(expected);
    free(got);
    free(halves);
    free(first);
    free(blocks);
}

static void test_encoding_threads(void **state)
{
    enum { WIDE = 9 * 256, HIGH = 60 };
    static const char *const names[] = {"Q8_0", "Q4_0", "Q4_K"};
    static float values[WIDE * HIGH], importance[WIDE];
    static uint8_t expected[WIDE * HIGH * 2], got[sizeof expected];
    number_source source = {6};

    (void)state;
    skip_if_emulated();
    for (size_t i = 0; i < COUNT_OF(values); i++)
        values[i] = next_weight(&source);
    for (size_t i = 0; i < COUNT_OF(importance); i++)
        importance[i] = (float)(next_number(&source) % 100);
    for (size_t t = 0; t < COUNT_OF(names); t++) {
        gufo_encoder *encoder = gufo_encoder_new(type_of(names[t]), NULL, NULL);

        for (unsigned weighed = 0; weighed < 2; weighed++)
            for (unsigned threads = 1; threads <= 5; threads += 2) {
                watch w = {0};
                const gufo_run run = {
                    .threads = threads, .progress = on_progress, .progress_context = &w};
                gufo_error error = no_error();

                memset(threads == 1 ? expected : got, 0, sizeof got);
                check_ok(gufo_encoder_encode(encoder, values, HIGH, WIDE,
                                             weighed != 0 ? importance : NULL,
                                             threads == 1 ? expected : got, &run, &error),
                         &error, "%s", names[t]);
                check(w.calls > 1 && w.last == w.total, "%s: progress", names[t]);
                check(threads == 1 || memcmp(got, expected, sizeof got) == 0, "%s: %u threads",
                      names[t], threads);
                w = (watch){.stop_at = 1};
                check_status(
                    gufo_encoder_encode(encoder, values, HIGH, WIDE, NULL, got, &run, &error),
                    GUFO_E_STOPPED, &error, "%s", names[t]);
            }
        gufo_encoder_free(encoder);
    }
}

/* Fields of a later version. */
static void test_later_run(void **state)
{
    const gufo_run run = {.reserved = {1}};
    gufo_error error = no_error();
    float value;

    (void)state;
    check_status(gufo_decode(type_of("F32"), "1234", 1, 1, &value, &run, &error), GUFO_E_ARGUMENT,
                 &error, "a later run");
}

/* ---- interleaved blocks --------------------------------------------------------------------- */

enum { ROWS = 8, COLUMNS = 96, BLOCK = 18, BLOCKS = COLUMNS / 32, SIZE = ROWS * BLOCKS * BLOCK };

/* Merges blocks of `rows` rows the way the old files did, byte by byte as the format was
 * described. */
static void interleave(const uint8_t *plain, uint32_t rows, uint32_t chunk, uint8_t flip,
                       uint8_t *out)
{
    for (uint32_t first = 0; first < ROWS; first += rows) {
        for (uint32_t b = 0; b < BLOCKS; b++) {
            for (uint32_t r = 0; r < rows; r++, out += 2)
                memcpy(out, plain + ((first + r) * BLOCKS + b) * BLOCK, 2);
            for (uint32_t at = 0; at < 16; at += chunk)
                for (uint32_t r = 0; r < rows; r++)
                    for (uint32_t i = 0; i < chunk; i++)
                        *out++ = plain[((first + r) * BLOCKS + b) * BLOCK + 2 + at + i] ^ flip;
        }
    }
}

static const struct {
    const char *name, *plain;
    uint32_t rows, chunk;
    uint8_t flip;
} interleaved_types[] = {
    {"Q4_0_4_4", "Q4_0", 4, 4, 0x88},
    {"Q4_0_4_8", "Q4_0", 4, 8, 0x88},
    {"Q4_0_8_8", "Q4_0", 8, 8, 0x88},
    {"IQ4_NL_4_4", "IQ4_NL", 4, 4, 0},
};

static void test_interleaved(void **state)
{
    uint8_t plain[SIZE], merged[SIZE], back[SIZE];
    float expected[ROWS * COLUMNS], got[ROWS * COLUMNS];
    number_source source = {1};

    (void)state;
    for (size_t i = 0; i < SIZE; i++)
        plain[i] = (uint8_t)next_number(&source);
    for (size_t t = 0; t < COUNT_OF(interleaved_types); t++) {
        const char *name = interleaved_types[t].name;
        const gufo_element_type *repacked = NULL;
        gufo_error error = no_error();
        interleave(plain, interleaved_types[t].rows, interleaved_types[t].chunk,
                   interleaved_types[t].flip, merged);
        check_ok(gufo_repack(type_of(name), merged, ROWS, COLUMNS, back, &repacked, &error), &error,
                 "%s", name);
        assert_string_equal(repacked->name, interleaved_types[t].plain);
        check(memcmp(back, plain, SIZE) == 0, "%s", name);
        check_ok(gufo_decode(repacked, plain, ROWS, COLUMNS, expected, NULL, &error), &error, "%s",
                 name);
        check_ok(gufo_decode(type_of(name), merged, ROWS, COLUMNS, got, NULL, &error), &error, "%s",
                 name);
        check_same_floats(got, expected, ROWS * COLUMNS, name, "best");
    }
    assert_int_equal(gufo_repack(type_of("Q4_0"), plain, ROWS, COLUMNS, back,
                                 &(const gufo_element_type *){NULL}, NULL),
                     GUFO_E_TYPE);
    assert_int_equal(gufo_repack(type_of("Q4_0_8_8"), plain, 4, COLUMNS, back,
                                 &(const gufo_element_type *){NULL}, NULL),
                     GUFO_E_ARGUMENT);
    assert_int_equal(gufo_repack(type_of("Q4_0_8_8"), plain, 0, COLUMNS, back,
                                 &(const gufo_element_type *){NULL}, NULL),
                     GUFO_OK);
}

/* ---- narrower targets ----------------------------------------------------------------------- */

static void test_decode_halves(void **state)
{
    enum { COUNT = 5000 * 8 };
    static float values[COUNT];
    static uint8_t blocks[COUNT];
    static uint16_t halves[COUNT];
    number_source source = {2};
    static const char *const names[] = {"I8", "Q8_0", "Q4_0_8_8", "IQ4_NL_4_4"};

    (void)state;
    for (size_t i = 0; i < sizeof blocks; i++)
        blocks[i] = (uint8_t)next_number(&source) & 0xbfu; /* scales are finite */
    for (size_t t = 0; t < COUNT_OF(names); t++) {
        const gufo_element_type *type = type_of(names[t]);
        const uint64_t columns = 4000 / 32 * 32, count = 8 * columns;
        assert_int_equal(gufo_decode(type, blocks, 8, columns, values, NULL, NULL), 0);
        assert_int_equal(gufo_decode_f16(type, blocks, 8, columns, halves, NULL, NULL), 0);
        for (uint64_t i = 0; i < count; i++) {
            uint8_t expected[2];
            encode_with(type_of("F16"), GUFO_CPU_PORTABLE, GUFO_EFFORT_REFERENCE, &values[i], 1, 1,
                        NULL, expected);
            check_u64(halves[i], expected[0] | expected[1] << 8, "%s %" PRIu64, names[t], i);
        }
        assert_int_equal(gufo_decode_bf16(type, blocks, 8, columns, halves, NULL, NULL), 0);
        for (uint64_t i = 0; i < count; i++) {
            uint8_t expected[2];
            encode_with(type_of("BF16"), GUFO_CPU_PORTABLE, GUFO_EFFORT_REFERENCE, &values[i], 1, 1,
                        NULL, expected);
            check_u64(halves[i], expected[0] | expected[1] << 8, "%s %" PRIu64, names[t], i);
        }
    }
}

/* ---- byte order ----------------------------------------------------------------------------- */

/* Which bytes of a block move where: the fields that are numbers of several bytes. */
static const struct {
    const char *type;
    const char *fields; /* WIDTH@OFFSET ... */
} swaps[] = {
    {"F32", "4@0"},
    {"F16", "2@0"},
    {"F64", "8@0"},
    {"I8", ""},
    {"I64", "8@0"},
    {"Q4_0", "2@0"},
    {"Q4_1", "2@0 2@2"},
    {"Q5_0", "2@0 4@2"},
    {"Q5_1", "2@0 2@2 4@4"},
    {"Q8_1", "2@0 2@2"},
    {"Q2_K", "2@80 2@82"},
    {"Q3_K", "2@108"},
    {"Q5_K", "2@0 2@2"},
    {"Q6_K", "2@208"},
    {"IQ2_XXS", "2@0 4@6 4@14 4@22 4@30 4@38 4@46 4@54 4@62"},
    {"IQ3_XXS", "2@0 4@66 4@70 4@74 4@78 4@82 4@86 4@90 4@94"},
    {"IQ1_S", "2@0 2@34 2@36 2@38 2@40 2@42 2@44 2@46 2@48"},
    {"IQ1_M", "2@48 2@50 2@52 2@54"},
    {"IQ4_XS", "2@0 2@2"},
    {"TQ1_0", "2@52"},
    {"MXFP4", ""},
    {"NVFP4", ""},
    {"Q1_0", "2@0"},
};

static void test_swap(void **state)
{
    (void)state;
    for (size_t t = 0; t < COUNT_OF(swaps); t++) {
        const gufo_element_type *type = type_of(swaps[t].type);
        uint8_t blocks[2 * 300], expected[2 * 300];
        for (size_t i = 0; i < sizeof blocks; i++)
            blocks[i] = expected[i] = (uint8_t)(i * 7 + i / 256);
        for (const char *field = swaps[t].fields; *field != '\0';) {
            char *end;
            size_t width = strtoul(field, &end, 10), offset = strtoul(end + 1, &end, 10);
            for (size_t i = 0; i < 2 * width; i++) {
                size_t at = i / width * type->block_bytes + offset, byte = i % width;
                expected[at + byte] = blocks[at + width - 1 - byte];
            }
            field = end;
        }
        assert_int_equal(gufo_swap_blocks(type, blocks, 2, NULL), GUFO_OK);
        check(memcmp(blocks, expected, sizeof blocks) == 0, "%s", swaps[t].type);
    }
    assert_int_equal(gufo_swap_blocks(type_of("Q4_2"), NULL, 0, NULL), GUFO_E_TYPE);
    assert_int_equal(gufo_swap_blocks(type_of("Q4_0_4_4"), NULL, 2, NULL), GUFO_E_ARGUMENT);
}

/* Scales of interleaved blocks stand before the codes of all of them. */
static void test_swap_interleaved(void **state)
{
    uint8_t group[4 * BLOCK], expected[4 * BLOCK];

    (void)state;
    for (size_t i = 0; i < sizeof group; i++)
        group[i] = expected[i] = (uint8_t)i;
    for (size_t i = 0; i < 8; i++)
        expected[i] = (uint8_t)(i ^ 1u);
    assert_int_equal(gufo_swap_blocks(type_of("IQ4_NL_4_4"), group, 4, NULL), GUFO_OK);
    assert_memory_equal(group, expected, sizeof group);
}

/* ---- numbers that are none ------------------------------------------------------------------ */

static void test_first_nonfinite(void **state)
{
    static const uint64_t places[] = {0, 1, 255, 256, 257, 700, 999};
    static float values[1000];

    (void)state;
    assert_int_equal(gufo_first_nonfinite(values, 0), 0);
    assert_int_equal(gufo_first_nonfinite(values, 1000), 1000);
    for (size_t i = COUNT_OF(places); i-- > 0;) {
        values[places[i]] = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
        assert_int_equal(gufo_first_nonfinite(values, 1000), places[i]);
        assert_int_equal(gufo_first_nonfinite(values, places[i]), places[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_refused_decodes),
        cmocka_unit_test(test_refused_levels),
        cmocka_unit_test(test_refused_encoders),
        cmocka_unit_test(test_importance_needed),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_decoding_threads),
        cmocka_unit_test(test_encoding_threads),
        cmocka_unit_test(test_later_run),
        cmocka_unit_test(test_interleaved),
        cmocka_unit_test(test_decode_halves),
        cmocka_unit_test(test_swap),
        cmocka_unit_test(test_swap_interleaved),
        cmocka_unit_test(test_first_nonfinite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
