/* Bands of rows that threads share: many threads, more weights than bands, rows that are not read. */
#include "packed_integers.h"

#include "base/threads.h"

enum { WEIGHTS = 5, ROWS = 4096, COLUMNS = 4096, GROUPS = 1, THREADS = 7, TURNS = 140 };

/* Weights whose words are those of one file, from different places on. */
static packed_case cases[WEIGHTS];
static struct packed_cache *cache;
static uint8_t *words;

/* The code of a number of the file's words. */
static unsigned code_at(uint64_t word, unsigned k)
{
    return (unsigned)words[4 * word + k / 2] >> 4 * (k % 2) & 15u;
}

static int open_weights(void **state)
{
    const size_t all = (size_t)(ROWS / 8 + WEIGHTS) * COLUMNS;
    uint64_t random = 1;
    gufo_error error = no_error();

    (void)state;
    words = malloc(4 * all);
    for (size_t i = 0; i < 4 * all; i++)
        words[i] =
            i < 65536 ? (uint8_t)random_next(&random) : (uint8_t)(words[i - 65536] + i / 65536);
    cache = packed_cache_new(&default_allocator, &error);
    for (unsigned i = 0; i < WEIGHTS; i++) {
        packed_case *c = &cases[i];
        uint8_t *scales = malloc((size_t)2 * ROWS);

        for (size_t k = 0; k < ROWS; k++) { /* 1 */
            scales[2 * k] = 0;
            scales[2 * k + 1] = 0x3c;
        }
        packed_new(c, &packed_gptq);
        c->weight.settings = (packed_settings){.bits = 4};
        c->weight.cache = cache;
        packed_part(c, 0, "I32", 2, (uint64_t[]){COLUMNS / 8, ROWS}, words + (size_t)4 * ROWS * i);
        packed_part(c, 1, "I32", 2, (uint64_t[]){GROUPS, ROWS / 8}, NULL);
        packed_part(c, 2, "F16", 2, (uint64_t[]){GROUPS, ROWS}, scales);
        check_ok(packed_open(c), &c->error, "weight %u", i);
        free(scales);
    }
    return 0;
}

static int close_weights(void **state)
{
    (void)state;
    for (unsigned i = 0; i < WEIGHTS; i++)
        packed_done(&cases[i]);
    packed_cache_free(cache);
    free(words);
    return 0;
}

/* Rows of a weight, at any place of it; false: they have other numbers. */
static bool read_some(unsigned weight, uint64_t first, uint64_t count, gufo_error *error)
{
    const packed_weight *w = &cases[weight].weight;
    float *floats = malloc((size_t)(count * COLUMNS) * sizeof *floats);
    bool same = w->kind->floats(w, first, count, floats, error) == GUFO_OK;

    for (uint64_t i = 0; i < count * COLUMNS && same; i += 1 + i % 61) {
        uint64_t row = first + i / COLUMNS, column = i % COLUMNS;

        same = floats[i] == (float)code_at((column / 8 + weight) * ROWS + row, column % 8);
    }
    free(floats);
    return same;
}

static gufo_status read_in_thread(void *context, unsigned thread, uint64_t index, void *result,
                                  gufo_error *error)
{
    uint64_t random = index + 1;
    unsigned weight = (unsigned)(index / 20 % WEIGHTS);
    uint64_t count = random_next(&random) % 40 + 1;

    (void)context, (void)thread, (void)result;
    return read_some(weight, random_next(&random) % (ROWS - count), count, error)
               ? GUFO_OK
               : GUFO_E_MALFORMED;
}

static void test_threads(void **state)
{
    const parallel_loop loop = {.end = TURNS, .threads = THREADS, .work = read_in_thread};
    gufo_error error = no_error();

    (void)state;
    check_ok(parallel_run(&loop, &default_allocator, &error), &error, "threads");
}

/* All bands are in use: rows are read directly. */
static void test_taken(void **state)
{
    const band *taken[PACKED_CACHE_SLOTS + 1];
    gufo_error error = no_error();

    (void)state;
    for (unsigned i = 0; i <= PACKED_CACHE_SLOTS; i++)
        check_ok(packed_cache_take(cache, &cases[i].weight, 77, &taken[i], &error), &error, "%u",
                 i);
    check(taken[PACKED_CACHE_SLOTS] == NULL, "more bands than there are");
    check(read_some(PACKED_CACHE_SLOTS, 60, 70, &error), "%s", error.message);
    for (unsigned i = 0; i < PACKED_CACHE_SLOTS; i++) {
        check(taken[i]->w == &cases[i].weight && taken[i]->first == 0, "band %u", i);
        packed_cache_give_back(cache, taken[i]);
    }
}

/* A band that could not be read is read again when it is wanted. */
static void test_failure(void **state)
{
    packed_case *c = &cases[3];
    uint8_t *scale = c->bytes.data + c->tensors[2].offset + 2 * 1000 + 1;
    gufo_error error = no_error();

    (void)state;
    *scale = 0x7c;
    for (unsigned i = 0; i < 2; i++) {
        error = no_error();
        check(!read_some(3, 1500, 2, &error), "an infinite scale");
        check(strstr(error.message, "infinite") != NULL, "%s", error.message);
    }
    *scale = 0x3c;
    check(read_some(3, 1500, 2, &error), "a good scale");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_taken),
    };

    return cmocka_run_group_tests(tests, open_weights, close_weights);
}
