/* Decoding and encoding against the reference vectors, on every processor level there is.
 *
 * The vectors were made with the format's reference implementation.  They are not part of this
 * tree:
 * without them (GUFO_SHARED) the program is skipped, and tests/codec/test_digests.c alone says that
 * results are what they were when the vectors last passed.
 *
 * A program of its own: `test_codec_vectors TYPE` looks at one type only. */
#include "../support/check.h"
#include "../support/codec.h"
#include "../support/shared.h"

#include <math.h>

/* One row of manifest.tsv. */
typedef struct vector {
    const gufo_element_type *type;
    char name[96]; /* "Q4_K gauss imatrix" */
    char scenario[32], mode[16], note[160];
    uint64_t rows, columns;
    float *input, *importance; /* NULL: none */
    uint8_t *blocks;
    float *decoded;
    size_t block_bytes;
} vector;

enum {
    TYPE = 1,
    CASE = 4,
    MODE,
    ROWS,
    COLUMNS,
    INPUT,
    IMPORTANCE,
    BLOCKS,
    DECODED,
    NOTE = 19,
    FIELDS
};

/* ---- reading -------------------------------------------------------------------------------- */

static path_text vectors; /* their folder */

static void *read_vector(const char *name, size_t *len)
{
    path_text path = path_join(vectors.text, name);
    uint8_t *data;

    if (strcmp(name, "-") == 0)
        return NULL;
    data = read_file(path.text, len);
    check(data != NULL, "%s", path.text);
    return data;
}

static float *read_floats(const char *name)
{
    size_t len;
    uint8_t *bytes = read_vector(name, &len);

    if (bytes != NULL)
        floats_from_little_endian(bytes, len / sizeof(float));
    return (float *)(void *)bytes;
}

static vector vector_load(char *fields[FIELDS])
{
    vector v = {.type = gufo_element_type_by_name(fields[TYPE])};

    check(v.type != NULL, "%s", fields[TYPE]);
    snprintf(v.name, sizeof v.name, "%s %s %s", fields[TYPE], fields[CASE], fields[MODE]);
    snprintf(v.scenario, sizeof v.scenario, "%s", fields[CASE]);
    snprintf(v.mode, sizeof v.mode, "%s", fields[MODE]);
    snprintf(v.note, sizeof v.note, "%s", fields[NOTE]);
    v.rows = strtoull(fields[ROWS], NULL, 10);
    v.columns = strtoull(fields[COLUMNS], NULL, 10);
    v.input = read_floats(fields[INPUT]);
    v.importance = read_floats(fields[IMPORTANCE]);
    v.blocks = read_vector(fields[BLOCKS], &v.block_bytes);
    v.decoded = read_floats(fields[DECODED]);
    return v;
}

static void vector_free(vector *v)
{
    free(v->input);
    free(v->importance);
    free(v->blocks);
    free(v->decoded);
}

static const char *only; /* a type's name; NULL: all */

/* Calls `test` with every row of the manifest; returns their number. */
static size_t for_each_vector(void (*test)(const vector *))
{
    path_text path = path_join(vectors.text, "manifest.tsv");
    size_t len, count = 0;
    char *text = (char *)read_file(path.text, &len), *line, *rest;

    check(text != NULL, "%s", path.text);
    text = realloc(text, len + 1);
    text[len] = '\0';
    for (strtok_r(text, "\n", &rest); (line = strtok_r(NULL, "\n", &rest)) != NULL; count++) {
        char *fields[FIELDS], *next, *field = strtok_r(line, "\t", &next);
        for (size_t i = 0; i < FIELDS; i++, field = strtok_r(NULL, "\t", &next))
            fields[i] = field != NULL ? field : line + strlen(line);
        if (only != NULL && strcmp(only, fields[TYPE]) != 0)
            continue;
        vector v = vector_load(fields);
        test(&v);
        vector_free(&v);
    }
    free(text);
    return count;
}

/* ---- decoding ------------------------------------------------------------------------------- */

static void check_decoding(const vector *v)
{
    size_t count = (size_t)(v->rows * v->columns);
    float *values = malloc(count * sizeof *values);

    for (size_t l = 0; l < cpu_level_count(); l++) {
        gufo_error error = no_error();
        const char *level = gufo_cpu_name(cpu_level(l));
        check_ok(gufo_decode(v->type, v->blocks, v->rows, v->columns, values,
                             &(gufo_run){.cpu = cpu_level(l)}, &error),
                 &error, "%s %s", v->name, level);
        check_same_floats(values, v->decoded, count, v->name, level);
    }
    free(values);
}

static void test_decode(void **state)
{
    (void)state;
    check(for_each_vector(check_decoding) > 700, "rows of the manifest");
}

/* ---- encoding ------------------------------------------------------------------------------- */

/* What the reference does wrong, and gufo does not: bytes differ, and the error is lower. */
static const struct {
    const char *name;
    const char *defect;
} repaired[] = {
    {"IQ3_S edge_sparse plain", "all-zero sub-blocks shift the indices of later ones"},
    {"IQ3_S edge_sparse imatrix", "all-zero sub-blocks shift the indices of later ones"},
    {"IQ1_S edge_sparse imatrix", "all-zero sub-blocks are not decoded to almost zero"},
    {"IQ1_M edge_sparse plain", "all-zero sub-blocks are not decoded to almost zero"},
    {"IQ1_M edge_sparse imatrix", "all-zero sub-blocks are not decoded to almost zero"},
    {"Q4_1 edge_f16max imatrix", "the offset leaves the range of binary16"},
    {"Q5_1 edge_f16max imatrix", "the offset leaves the range of binary16"},
    {"MXFP4 edge_denorm32 plain", "the exponent wraps around"},
    {"MXFP4 edge_denorm32 imatrix", "the exponent wraps around"},
};

static bool is_repaired(const vector *v)
{
    for (size_t i = 0; i < COUNT_OF(repaired); i++)
        if (strcmp(repaired[i].name, v->name) == 0)
            return true;
    return false;
}

/* Weighted where importance was given. */
static double error_of(const vector *v, const float *values)
{
    return weighted_rmse(v->input, values, v->importance, v->rows, v->columns);
}

/* Where the bytes of the reference say nothing, what they decode to does. */
static void check_no_worse(const vector *v, const uint8_t *blocks, const char *level)
{
    size_t count = (size_t)(v->rows * v->columns);
    float *values = malloc(count * sizeof *values);
    gufo_error error = no_error();

    check_ok(gufo_decode(v->type, blocks, v->rows, v->columns, values,
                         &(gufo_run){.cpu = GUFO_CPU_PORTABLE}, &error),
             &error, "%s %s", v->name, level);
    check(gufo_first_nonfinite(values, count) == count, "%s %s: not finite", v->name, level);
    double ours = error_of(v, values), theirs = error_of(v, v->decoded);
    check(!(ours > theirs * 1.000001 + 1e-38), "%s %s: error %g, the reference has %g", v->name,
          level, ours, theirs);
    free(values);
}

/* Subnormal blocks whose codes the reference computes from infinite numbers. */
static bool is_compiler_dependent(const vector *v)
{
    return strstr(v->note, "compiler-dependent") != NULL ||
           strcmp(v->name, "Q8_0 edge_denorm32 imatrix") == 0; /* the plain bytes */
}

static void check_encoding(const vector *v)
{
    bool fast_variant = strcmp(v->mode, "fast") == 0;
    uint8_t *blocks = malloc(v->block_bytes);

    for (size_t l = 0; v->input != NULL && !fast_variant && l < cpu_level_count(); l++) {
        const char *level = gufo_cpu_name(cpu_level(l));
        encode_with(v->type, cpu_level(l), GUFO_EFFORT_REFERENCE, v->input, v->rows, v->columns,
                    v->importance, blocks);
        bool same = memcmp(blocks, v->blocks, v->block_bytes) == 0;
        if (is_repaired(v))
            check(!same, "%s %s: not repaired", v->name, level);
        if (is_repaired(v) || is_compiler_dependent(v))
            check_no_worse(v, blocks, level);
        else
            check(same, "%s %s: %s", v->name, level,
                  first_difference(v->type, blocks, v->blocks, v->block_bytes).text);
    }
    free(blocks);
}

static void test_encode(void **state)
{
    (void)state;
    for_each_vector(check_encoding);
}

/* ---- high effort ---------------------------------------------------------------------------- */

/* Logarithms of the ratio of errors on real weights. */
static double gain_sum;
static size_t gain_count;

static bool is_searched(const gufo_element_type *type)
{
    return strstr(type->name, "_K") != NULL ? strcmp(type->name, "Q8_K") != 0
                                            : strncmp(type->name, "IQ", 2) == 0;
}

static void check_high_effort(const vector *v)
{
    size_t count = (size_t)(v->rows * v->columns);
    uint8_t *blocks = malloc(v->block_bytes);
    float *values = malloc(count * sizeof *values);
    double errors[2];

    if (v->input != NULL && strcmp(v->mode, "fast") != 0) {
        for (int effort = GUFO_EFFORT_REFERENCE; effort <= GUFO_EFFORT_HIGH; effort++) {
            encode_with(v->type, GUFO_CPU_BEST, (gufo_effort)effort, v->input, v->rows, v->columns,
                        v->importance, blocks);
            assert_int_equal(gufo_decode(v->type, blocks, v->rows, v->columns, values, NULL, NULL),
                             GUFO_OK);
            errors[effort] = error_of(v, values);
        }
        check(!(errors[1] > errors[0]), "%s: error %.9g, reference effort %.9g", v->name, errors[1],
              errors[0]);
        if (strncmp(v->scenario, "real_", 5) == 0 && is_searched(v->type)) {
            print_message("%-30s %.3f\n", v->name, errors[1] / errors[0]);
            gain_sum += log(errors[1] / errors[0]);
            gain_count++;
        }
    }
    free(values);
    free(blocks);
}

static void test_high_effort(void **state)
{
    (void)state;
    for_each_vector(check_high_effort);
    double mean = exp(gain_sum / (double)gain_count);
    print_message("high effort: error x %.4f (geometric mean of %zu)\n", mean, gain_count);
    if (only == NULL) {
        assert_true(gain_count >= 100);
        assert_true(mean <= 0.97);
    }
}

int main(int argc, char **argv)
{
    only = argc > 1 ? argv[1] : NULL;
    if (!find_shared("data/codec/vectors", &vectors))
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_encode),
        cmocka_unit_test(test_high_effort),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
