/* exp and log, as tensors are made with them, give the numbers whose digests are in exponential.tsv: with every C
 * library and every compiler, with fused multiplication and without.
 *
 * The libraries differ in the last bits of the doubles.  What counts is the F32 that such a double is rounded to, and
 * that differs only where the double is next to the middle between two numbers of F32.  Nobody proves that none is:
 * all 2^32 inputs were tried.
 *
 * A program of its own:
 *
 *     test_produce_exponential                 every 4099th input, and those whose results are next to a middle
 *     test_produce_exponential --all [K/N]     all inputs, or part K of N of them; takes minutes
 *     test_produce_exponential --write         prints exponential.tsv; takes minutes
 *
 * It needs no test library, so that it can be linked with any C library. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "codec/half.h"
#include "produce/produce.h"

/* Inputs are cut by their upper bits. */
enum { SHARDS = 64, BLOCK = 4096, STRIDE = 4099 };
#define INPUTS (UINT64_C(1) << 32)
#define SHARD_INPUTS (INPUTS / SHARDS)

/* As far, in units in the last place of a double, is a result from the middle that is next to it. */
enum { NEAR = 8 };

typedef struct function {
    const char *name;
    const row_op_kind *kind;
    double (*plain)(double); /* whose results are rounded, of the same input without its sign */
} function;

static const function functions[] = {{"exp", &row_op_neg_exp, exp}, {"log", &row_op_log_neg, log}};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* Replaces inputs by results, all of whose NaNs are one. */
static void apply(const function *f, uint32_t *bits, size_t count)
{
    const row_op op = {.kind = f->kind};
    double values[BLOCK];
    op_row row = {values, count, 0};

    for (size_t i = 0; i < count; i++)
        values[i] = (double)float_from_bits(bits[i]);
    f->kind->apply(&op, NULL, &row);
    for (size_t i = 0; i < count; i++)
        bits[i] = isnan(values[i]) ? UINT32_C(0x7fc00000) : float_to_bits((float)values[i]);
}

/* The digest of the results of `count` inputs, from `first` on, `step` apart. */
static uint64_t digest_of(const function *f, uint64_t first, uint64_t count, uint64_t step)
{
    uint64_t digest = 0;

    while (count > 0) {
        size_t some = count < BLOCK ? (size_t)count : BLOCK;
        uint32_t bits[BLOCK];

        for (size_t i = 0; i < some; i++)
            bits[i] = (uint32_t)(first + i * step);
        apply(f, bits, some);
        for (size_t i = 0; i < some; i++)
            store_u32(&bits[i], bits[i], bytes_swapped(false));
        hash_chain(&digest, bits, some * sizeof *bits);
        first += some * step;
        count -= some;
    }
    return digest;
}

static uint64_t digest_of_some(const function *f)
{
    return digest_of(f, 0, (INPUTS + STRIDE - 1) / STRIDE, STRIDE);
}

static uint64_t digest_of_shard(const function *f, unsigned shard)
{
    return digest_of(f, shard * SHARD_INPUTS, SHARD_INPUTS, 1);
}

/* ---- the table ------------------------------------------------------------------------------ */

/* Whether the double that becomes a normal F32 is next to the middle between two of these. */
static bool is_near(double value)
{
    const uint64_t middle = UINT64_C(1) << 28, below = 2 * middle - 1;
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    bits &= below;
    return fabs(value) >= 0x1p-126 && fabs(value) < 0x1p128 && bits + NEAR >= middle &&
           bits <= middle + NEAR;
}

static void write_near(const function *f)
{
    for (uint64_t i = 0; i < INPUTS; i++) {
        uint32_t input = (uint32_t)i, result = input;
        double value = (double)float_from_bits(input);

        if (f->kind == &row_op_log_neg ? value >= 0 || !is_near(f->plain(-value))
                                       : fabs(value) < 0x1p-20 || !is_near(f->plain(value)))
            continue;
        apply(f, &result, 1);
        printf("%s\tnear %08" PRIx32 "\t%08" PRIx32 "\n", f->name, input, result);
    }
}

static int write_table(void)
{
    printf("# function; shard, some inputs, or an input next to a middle; digest, or result\n");
    for (size_t i = 0; i < FUNCTIONS; i++) {
        printf("%s\tsome\t%016" PRIx64 "\n", functions[i].name, digest_of_some(&functions[i]));
        write_near(&functions[i]);
        for (unsigned shard = 0; shard < SHARDS; shard++)
            printf("%s\t%u\t%016" PRIx64 "\n", functions[i].name, shard,
                   digest_of_shard(&functions[i], shard));
    }
    return 0;
}

/* ---- comparing ------------------------------------------------------------------------------ */

/* Of a row that is `what`; false: it is another one. */
static bool is_row(const char *what, unsigned part, unsigned parts, unsigned *shard)
{
    if (parts == 0)
        return strcmp(what, "some") == 0;
    *shard = (unsigned)strtoul(what, NULL, 10);
    return strcmp(what, "some") != 0 && *shard % parts == part;
}

/* Compares one row; false: its results are others. */
static bool check_row(const function *f, const char *what, const char *expected, unsigned part,
                      unsigned parts)
{
    unsigned shard = 0;
    char found[32];

    if (strncmp(what, "near ", 5) == 0) {
        uint32_t bits = (uint32_t)strtoul(what + 5, NULL, 16);

        apply(f, &bits, 1);
        snprintf(found, sizeof found, "%08" PRIx32, bits);
    } else if (!is_row(what, part, parts, &shard)) {
        return true;
    } else {
        snprintf(found, sizeof found, "%016" PRIx64,
                 parts == 0 ? digest_of_some(f) : digest_of_shard(f, shard));
    }
    if (strcmp(found, expected) == 0)
        return true;
    fprintf(stderr, "%s %s: %s, not %s\n", f->name, what, found, expected);
    return false;
}

static const function *function_named(const char *name)
{
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}

/* Part `part` of `parts` of all inputs; of 0 parts: some. */
static int check_table(unsigned part, unsigned parts)
{
    const char *folder = getenv("GUFO_SOURCE");
    char path[4096], line[128], name[16], what[32], expected[32];
    unsigned count = 0, wrong = 0;
    FILE *table;

    snprintf(path, sizeof path, "%s/tests/produce/exponential.tsv", folder != NULL ? folder : ".");
    table = fopen(path, "r");
    while (table != NULL && fgets(line, sizeof line, table) != NULL)
        if (sscanf(line, "%15[a-z]\t%31[^\t]\t%31s", name, what, expected) == 3 &&
            function_named(name) != NULL) {
            count++;
            wrong += !check_row(function_named(name), what, expected, part, parts);
        }
    if (table != NULL)
        (void)fclose(table);
    if (count < FUNCTIONS * (SHARDS + 2)) {
        fprintf(stderr, "%s: %u rows\n", path, count);
        return 1;
    }
    printf("%u rows, %u wrong\n", count, wrong);
    return wrong > 0;
}

int main(int argc, char **argv)
{
    unsigned part = 0, parts = 1;

    if (argc > 1 && strcmp(argv[1], "--write") == 0)
        return write_table();
    if (argc > 1 && strcmp(argv[1], "--all") == 0) {
        if (argc > 2 && (sscanf(argv[2], "%u/%u", &part, &parts) != 2 || part >= parts))
            return 2;
        return check_table(part, parts);
    }
    return check_table(0, 0);
}
