/* The bytes that encoding gives, and the numbers that decoding gives, are those in digests.tsv: on
 * every machine, with every compiler, at every processor level.
 *
 * Inputs are made with integer arithmetic.  The digests were taken when the reference vectors
 * passed (test_vectors.c).
 *
 * A program of its own: `test_codec_digests --write` prints them again. */
#include "../support/check.h"
#include "../support/codec.h"
#include "../support/folder.h"
#include "../support/pace.h"

#include "base/bytes.h"

#include <math.h>

enum { ROWS = 6, COLUMNS = 1024, COUNT = ROWS * COLUMNS, DIGEST = 64 };

typedef struct digest_row {
    const gufo_element_type *type;
    const char *mode; /* "decode", "plain", "importance" */
    gufo_effort effort;
} digest_row;

static const char *const modes[] = {"decode", "plain", "importance"};

/* ---- SHA-256, by the system's program ------------------------------------------------------- */

typedef struct digest_text {
    char text[DIGEST + 1];
} digest_text;

static digest_text digest_of(const void *data, size_t size)
{
    folder f = folder_new();
    path_text in = folder_path(&f, "in"), out = folder_path(&f, "out");
    char command[1200];
    digest_text digest = {""};
    size_t len;

    write_file(in.text, data, size);
    snprintf(command, sizeof command, "sha256sum '%s' > '%s'", in.text, out.text);
    assert_int_equal(system(command), 0);
    uint8_t *text = read_file(out.text, &len);
    assert_true(text != NULL && len > DIGEST);
    memcpy(digest.text, text, DIGEST);
    free(text);
    folder_remove(&f);
    return digest;
}

/* ---- inputs --------------------------------------------------------------------------------- */

/* Rows of usual weights; of weights with outliers; of multiples of 1/8; mostly zero; of binary16
 * subnormals; of the whole range of binary16. */
static void make_values(float *values)
{
    number_source source = {42};

    for (size_t i = 0; i < COUNT; i++) {
        float v = next_weight(&source);
        uint64_t r = next_number(&source);
        const float kinds[ROWS] = {v,
                                   r % 61 == 0 ? v * 40 : v,
                                   (float)((int)(r % 17) - 8) * 0.125f,
                                   r % 8 == 0 && i / 64 % 3 != 0 ? v : 0,
                                   v * 0x1p-18f,
                                   (float)((int)(r % 131009) - 65504)};
        values[i] = kinds[i / COLUMNS];
    }
}

static void make_importance(float *importance)
{
    number_source source = {43};

    for (size_t i = 0; i < COLUMNS; i++) {
        float v = next_weight(&source) * 50;
        importance[i] = v * v + 0x1p-10f;
    }
}

static void make_blocks(uint8_t *blocks, size_t size)
{
    number_source source = {44};

    for (size_t i = 0; i < size; i++)
        blocks[i] = (uint8_t)next_number(&source);
}

/* ---- what is digested ----------------------------------------------------------------------- */

/* NaN is one pattern: which one a processor makes differs. */
static size_t decode_random(const gufo_element_type *type, gufo_cpu cpu, uint8_t *out)
{
    enum { BLOCK_ROWS = 8 };
    static uint8_t blocks[COUNT * 8];
    static float values[COUNT * 2];
    uint64_t columns = COUNT / BLOCK_ROWS, count = BLOCK_ROWS * columns;

    make_blocks(blocks, sizeof blocks);
    assert_int_equal(
        gufo_decode(type, blocks, BLOCK_ROWS, columns, values, &(gufo_run){.cpu = cpu}, NULL),
        GUFO_OK);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        store_u32(out + 4 * i, isnan(values[i]) ? 0x7fc00000u : bits, HOST_IS_BIG_ENDIAN);
    }
    return (size_t)count * sizeof(float);
}

static size_t encode_values(const digest_row *row, gufo_cpu cpu, uint8_t *out)
{
    static float values[COUNT], importance[COLUMNS];
    uint64_t row_size;

    make_values(values);
    make_importance(importance);
    encode_with(row->type, cpu, row->effort, values, ROWS, COLUMNS,
                row->mode == modes[2] ? importance : NULL, out);
    assert_int_equal(gufo_element_row_size(row->type, COLUMNS, &row_size, NULL), GUFO_OK);
    return (size_t)(ROWS * row_size);
}

static digest_text digest_row_of(const digest_row *row, gufo_cpu cpu)
{
    static uint8_t out[COUNT * 8];
    size_t size =
        row->mode == modes[0] ? decode_random(row->type, cpu, out) : encode_values(row, cpu, out);

    return digest_of(out, size);
}

/* ---- the rows ------------------------------------------------------------------------------- */

static bool row_exists(const digest_row *row)
{
    uint32_t flags = row->type->flags;

    if (row->mode == modes[0])
        return (flags & GUFO_ELEMENT_DECODES) != 0 && row->effort == GUFO_EFFORT_REFERENCE;
    if ((flags & GUFO_ELEMENT_ENCODES) == 0)
        return false;
    return row->mode == modes[1] ? (flags & GUFO_ELEMENT_NEEDS_IMPORTANCE) == 0
                                 : (flags & GUFO_ELEMENT_WEIGHS) != 0;
}

/* Where a processor is emulated: of the four ways to encode, the one that does least, and the one that does most. */
static bool is_few(const digest_row *row)
{
    return row->mode == modes[0] ||
           (row->mode == modes[1]) == (row->effort == GUFO_EFFORT_REFERENCE);
}

static void for_each_row(void (*call)(const digest_row *row, void *context), void *context)
{
    for (size_t t = 0; t < gufo_element_type_count(); t++)
        for (size_t m = 0; m < COUNT_OF(modes); m++)
            for (int effort = 0; effort <= GUFO_EFFORT_HIGH; effort++) {
                digest_row row = {gufo_element_type_at(t), modes[m], (gufo_effort)effort};
                if (row_exists(&row) && (all_or_few(1, 0) == 1 || is_few(&row)))
                    call(&row, context);
            }
}

/* The end of a line of digests.tsv and the next line, without the digest. */
static void row_text(char out[64], const digest_row *row)
{
    snprintf(out, 64, "\n%s\t%s\t%s\t", row->type->name, row->mode,
             row->effort == GUFO_EFFORT_HIGH ? "high" : "reference");
}

static void write_row(const digest_row *row, void *context)
{
    char text[64];

    (void)context;
    row_text(text, row);
    printf("%s%s", text, digest_row_of(row, GUFO_CPU_PORTABLE).text);
}

static void check_row(const digest_row *row, void *context)
{
    const char *table = context;
    char text[64];

    row_text(text, row);
    const char *line = strstr(table, text);
    check(line != NULL, "%s is not in digests.tsv", text);
    for (size_t l = 0; l < cpu_level_count(); l++)
        check(strncmp(digest_row_of(row, cpu_level(l)).text, line + strlen(text), DIGEST) == 0,
              "%s differs at %s", text, gufo_cpu_name(cpu_level(l)));
}

static void test_digests(void **state)
{
    const char *source = getenv("GUFO_SOURCE");
    path_text path = path_join(source != NULL ? source : ".", "tests/codec/digests.tsv");
    size_t len;
    char *table = (char *)read_file(path.text, &len);

    (void)state;
    check(table != NULL, "%s", path.text);
    table = realloc(table, len + 1);
    table[len] = '\0';
    for_each_row(check_row, table);
    free(table);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_digests)};

    if (argc > 1 && strcmp(argv[1], "--write") == 0) {
        printf("# type, what was coded, effort, SHA-256");
        for_each_row(write_row, NULL);
        putchar('\n');
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
