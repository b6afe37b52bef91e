/* How many million weights per second are decoded and encoded, by one thread.
 *
 *     bench_codec [--type GLOB] [--direction encode|importance|decode] [--cpu LEVEL]
 *                 [--effort reference|high] [--csv]
 *
 * One line per element type and direction (encoding plainly, encoding with importance, decoding),
 * one column per instruction set that this processor has.  Numbers are gaussian with a standard
 * deviation of 0.02, importance is log-normal.  There are 64 rows of 1024, or 256 KB, which the
 * cache of one processor holds: `gufo quantize`, too, works on no more at a time.  They are taken
 * up to 64 times in a repetition, fewer times or in part by slow encoders.  A figure is the median
 * of five repetitions or more in thread CPU time, after tables were built and memory was touched.
 *
 * Built with -DGUFO_BENCH_GGML=DIR the same work is done by ggml, in turns with gufo, so that what
 * disturbs the machine disturbs both.  There are two builds of it: `ggml` with -O3 -march=native,
 * and `ggml -O2` for the base instruction set, without contraction of floating-point expressions,
 * which decodes some types faster.  The ratio is that of gufo's last instruction set to ggml; for
 * decoding, to the better of its builds.  `same` tells whether all of gufo's results are those of
 * `ggml -O2` to the bit.
 *
 * With --effort high, gufo's encoders search longer, and their error is compared with that of the
 * reference search.
 *
 * At the end, types that are little more than copied are decoded into a buffer beyond all caches, by
 * one thread, and compared with memcpy of as many bytes; then by the threads of all processors. */
#include <gufo.h>

#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef GUFO_BENCH_GGML
#include <dlfcn.h>
#include <ggml.h>
#endif

enum {
    COLUMNS = 1024,
    ROWS = 64,       /* that there are; also a pattern that fills larger buffers */
    MAX_ROWS = 4096, /* in a repetition */
    MIN_ROWS = 8,    /* the interleaved types take their rows by eight */
    MIN_RUNS = 5,
    MAX_RUNS = 25,
    MAX_CONTENDERS = 6,
    MAX_ELEMENT_BYTES = 8,
};

/* What one repetition takes where rows can be had for it, and all of one job for each contender. */
static const double run_seconds = 0.06, job_seconds = 0.3;

_Noreturn static void die(const char *what, const char *message)
{
    fprintf(stderr, "bench_codec: %s: %s\n", what, message);
    exit(1);
}

/* Memory that was written to: fresh pages are all one page of zeros, which is quick to read. */
static void *allocate(size_t size)
{
    enum { CACHE_LINE = 64 };
    void *block = aligned_alloc(CACHE_LINE, (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);

    if (!block)
        die("memory", "there is not enough");
    return memset(block, 1, size);
}

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* ---- numbers -------------------------------------------------------------------------------- */

static float *numbers;         /* ROWS x COLUMNS */
static float *importance;      /* COLUMNS */
static float *decoded;         /* ROWS x COLUMNS */
static unsigned char *encoded; /* as many of the largest element */

/* xorshift64, Marsaglia 2003. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The sum of eight uniform numbers of 16 bits, brought to mean 0 and standard deviation 1. */
static float gaussian(uint64_t *state)
{
    double sum = 0;

    for (int word = 0; word < 2; word++) {
        uint64_t random = next_random(state);

        for (int i = 0; i < 4; i++, random >>= 16)
            sum += (double)(random & 0xffff) / 65536.0 - 0.5;
    }
    return (float)(sum / sqrt(8.0 / 12.0));
}

static void make_numbers(void)
{
    uint64_t state = 0x9e3779b97f4a7c15u;

    numbers = allocate(sizeof(float) * ROWS * COLUMNS);
    decoded = allocate(sizeof(float) * ROWS * COLUMNS);
    importance = allocate(sizeof(float) * COLUMNS);
    encoded = allocate((size_t)MAX_ELEMENT_BYTES * ROWS * COLUMNS);
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++)
        numbers[i] = 0.02f * gaussian(&state);
    for (size_t i = 0; i < COLUMNS; i++)
        importance[i] = expf(gaussian(&state));
}

/* ---- jobs ----------------------------------------------------------------------------------- */

typedef enum direction { ENCODE, IMPORTANCE, DECODE, DIRECTIONS } direction;

static const char *const direction_names[DIRECTIONS] = {"encode", "importance", "decode"};

typedef struct job {
    const gufo_element_type *type;
    direction direction;
    uint64_t row_bytes;
} job;

static const float *job_importance(const job *j)
{
    return j->direction == IMPORTANCE ? importance : NULL;
}

/* Some directions of some types do not exist. */
static bool job_exists(const job *j)
{
    uint32_t flags = j->type->flags;

    switch (j->direction) {
    case ENCODE:
        return (flags & GUFO_ELEMENT_ENCODES) && !(flags & GUFO_ELEMENT_NEEDS_IMPORTANCE);
    case IMPORTANCE:
        return (flags & GUFO_ELEMENT_ENCODES) && (flags & GUFO_ELEMENT_WEIGHS);
    default:
        return flags & GUFO_ELEMENT_DECODES;
    }
}

/* ---- contenders ----------------------------------------------------------------------------- */

/* Encoding goes from `numbers` to `encoded`, decoding from `encoded` to `decoded`. */
typedef struct contender {
    const char *name;
    /* Whether it can do the job; gets ready for it. */
    bool (*start)(struct contender *c, const job *j);
    void (*run)(struct contender *c, const job *j, uint64_t rows);

    gufo_cpu cpu; /* of gufo */
    gufo_effort effort;
    gufo_encoder *encoder;
    struct ggml_library *ggml; /* of ggml */

    bool takes_part;
    uint64_t rows;
    double seconds[MAX_RUNS];
    double speed; /* million weights per second, median */
} contender;

static contender contenders[MAX_CONTENDERS];
static int contender_count;
static int gufo_count; /* gufo's come first, the best instruction set last */

static bool gufo_start(contender *c, const job *j)
{
    gufo_encoder_options options = {.cpu = c->cpu, .effort = c->effort};

    gufo_encoder_free(c->encoder);
    c->encoder = NULL;
    if (j->direction == DECODE)
        return gufo_decode(j->type, encoded, MIN_ROWS, COLUMNS, decoded,
                           &(gufo_run){.threads = 1, .cpu = c->cpu}, NULL) == GUFO_OK;
    c->encoder = gufo_encoder_new(j->type, &options, NULL);
    return c->encoder;
}

static void run_gufo(contender *c, const job *j, uint64_t rows)
{
    const gufo_run run = {.threads = 1, .cpu = c->cpu};
    gufo_error error;
    gufo_status status = j->direction == DECODE
                             ? gufo_decode(j->type, encoded, rows, COLUMNS, decoded, &run, &error)
                             : gufo_encoder_encode(c->encoder, numbers, rows, COLUMNS,
                                                   job_importance(j), encoded, &run, &error);

    if (status != GUFO_OK)
        die(j->type->name, error.message);
}

static void add_gufo(gufo_cpu only, gufo_effort effort)
{
    for (gufo_cpu cpu = GUFO_CPU_PORTABLE; cpu <= GUFO_CPU_NEON; cpu++) {
        if (gufo_cpu_available(cpu) && (only == GUFO_CPU_BEST || only == cpu))
            contenders[contender_count++] = (contender){.name = gufo_cpu_name(cpu),
                                                        .start = gufo_start,
                                                        .run = run_gufo,
                                                        .cpu = cpu,
                                                        .effort = effort};
    }
    gufo_count = contender_count;
    if (gufo_count == 0)
        die(gufo_cpu_name(only), "this processor does not have it");
}

#ifdef GUFO_BENCH_GGML

/* One build of ggml, in a shared object of its own, since both have the same names. */
typedef struct ggml_library {
    void *handle;
    const struct ggml_type_traits *(*traits)(enum ggml_type type);
    void (*prepare)(enum ggml_type type);
    size_t (*encode)(enum ggml_type type, const float *from, void *to, int64_t start, int64_t rows,
                     int64_t columns, const float *importance);
    ggml_from_float_t encode_rows; /* of the job at hand, where `encode` does not know the type */
    ggml_to_float_t decode_rows;
} ggml_library;

/* These are left out of ggml's tables. */
static const struct {
    uint32_t type;
    const char *encode, *decode;
} ggml_unlisted[] = {
    {GUFO_TYPE_Q8_1, "quantize_row_q8_1_ref", NULL},
    {GUFO_TYPE_Q8_K, "quantize_row_q8_K_ref", "dequantize_row_q8_K"},
};

/* The types that ggml_quantize_chunk does not know, besides those above, are plain numbers. */
static bool ggml_knows(const job *j)
{
    return j->type->id == GUFO_TYPE_F16 || j->type->id == GUFO_TYPE_BF16 ||
           (j->type->flags & (GUFO_ELEMENT_QUANTIZED | GUFO_ELEMENT_REMOVED)) ==
               GUFO_ELEMENT_QUANTIZED;
}

/* Stores the function `name` of a library at `function`, which is a pointer to a pointer to it. */
static void find_function(void *handle, const char *name, void *function)
{
    void *found = name ? dlsym(handle, name) : NULL;

    memcpy(function, &found, sizeof found);
}

static bool ggml_start(contender *c, const job *j)
{
    enum ggml_type type = (enum ggml_type)j->type->id;
    ggml_library *l = c->ggml;

    if (!ggml_knows(j))
        return false;
    l->encode_rows = NULL;
    l->decode_rows = l->traits(type)->to_float;
    for (size_t i = 0; i < sizeof ggml_unlisted / sizeof *ggml_unlisted; i++) {
        if (ggml_unlisted[i].type == j->type->id) {
            find_function(l->handle, ggml_unlisted[i].encode, &l->encode_rows);
            find_function(l->handle, ggml_unlisted[i].decode, &l->decode_rows);
        }
    }
    l->prepare(type);
    return j->direction != DECODE || l->decode_rows;
}

static void ggml_run(contender *c, const job *j, uint64_t rows)
{
    ggml_library *l = c->ggml;

    if (j->direction == DECODE)
        l->decode_rows(encoded, decoded, (int64_t)rows * COLUMNS);
    else if (l->encode_rows)
        l->encode_rows(numbers, encoded, (int64_t)rows * COLUMNS);
    else
        l->encode((enum ggml_type)j->type->id, numbers, encoded, 0, (int64_t)rows, COLUMNS,
                  job_importance(j));
}

static void add_ggml(void)
{
    static const char *const paths[] = {GUFO_BENCH_GGML_NATIVE, GUFO_BENCH_GGML_PLAIN};
    static const char *const names[] = {"ggml", "ggml -O2"};
    static ggml_library libraries[2];

    for (int i = 0; i < 2; i++) {
        ggml_library *l = &libraries[i];

        l->handle = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
        if (!l->handle)
            die(paths[i], dlerror());
        find_function(l->handle, "ggml_get_type_traits", &l->traits);
        find_function(l->handle, "ggml_quantize_init", &l->prepare);
        find_function(l->handle, "ggml_quantize_chunk", &l->encode);
        if (!l->traits || !l->prepare || !l->encode)
            die(paths[i], "a function is missing");
        contenders[contender_count++] =
            (contender){.name = names[i], .start = ggml_start, .run = ggml_run, .ggml = l};
    }
}

#else

static void add_ggml(void)
{
}

#endif

/* ggml's builds; NULL where there is none. */
static contender *ggml_native(void)
{
    return contender_count > gufo_count ? &contenders[gufo_count] : NULL;
}

static contender *ggml_plain(void)
{
    return contender_count > gufo_count ? &contenders[gufo_count + 1] : NULL;
}

/* ---- measuring one job ---------------------------------------------------------------------- */

static double time_once(contender *c, const job *j, uint64_t rows)
{
    double start = seconds_now();

    for (; rows > ROWS; rows -= ROWS)
        c->run(c, j, ROWS);
    c->run(c, j, rows);
    return seconds_now() - start;
}

/* Fills `rows` rows at `blocks` with encoded numbers, the same few over and over. */
static void fill_blocks(const gufo_element_type *type, unsigned char *blocks, uint64_t rows)
{
    /* What only has a decoder is Q4_0 in another order: its blocks do as well. */
    uint32_t id = type->flags & GUFO_ELEMENT_ENCODES ? type->id : (uint32_t)GUFO_TYPE_Q4_0;
    job j = {gufo_element_type_by_id(id), IMPORTANCE, 0};
    size_t pattern;

    (void)gufo_element_row_size(type, COLUMNS, &j.row_bytes, NULL);
    pattern = ROWS * j.row_bytes;
    for (int i = contender_count - 1; i >= 0; i--) {
        contender *c = &contenders[i];

        if (!c->start(c, &j))
            continue;
        c->run(c, &j, ROWS);
        if (blocks != encoded)
            memcpy(blocks, encoded, pattern);
        for (uint64_t row = ROWS; row < rows; row += ROWS)
            memcpy(blocks + row * j.row_bytes, blocks, pattern);
        return;
    }
}

/* As many rows as take about the time of one repetition. */
static uint64_t choose_rows(contender *c, const job *j)
{
    uint64_t rows = MIN_ROWS;

    c->run(c, j, rows);
    while (rows < MAX_ROWS) {
        double seconds = time_once(c, j, rows);

        if (seconds > run_seconds / 8) {
            double wanted = (double)rows * run_seconds / seconds;

            rows = wanted < MAX_ROWS ? (uint64_t)wanted / MIN_ROWS * MIN_ROWS : MAX_ROWS;
            return rows > MIN_ROWS ? rows : MIN_ROWS;
        }
        rows *= 2;
    }
    return MAX_ROWS;
}

/* Encoders compare with one build of ggml only. */
static bool takes_part(contender *c, const job *j)
{
    return (j->direction == DECODE || c != ggml_plain()) && c->start(c, j);
}

static void measure(const job *j)
{
    double all = 0;
    int runs;

    for (int i = 0; i < contender_count; i++) {
        contender *c = &contenders[i];

        c->speed = 0;
        c->takes_part = takes_part(c, j);
        if (c->takes_part) {
            c->rows = choose_rows(c, j);
            c->seconds[0] = time_once(c, j, c->rows);
            all += c->seconds[0] / contender_count;
        }
    }
    runs = (int)(job_seconds / (all + 1e-6));
    runs = runs < MIN_RUNS ? MIN_RUNS : runs > MAX_RUNS ? MAX_RUNS : runs;
    for (int run = 0; run < runs; run++) {
        for (int i = 0; i < contender_count; i++)
            if (contenders[i].takes_part)
                contenders[i].seconds[run] = time_once(&contenders[i], j, contenders[i].rows);
    }
    for (int i = 0; i < contender_count; i++) {
        contender *c = &contenders[i];

        if (c->takes_part)
            c->speed = (double)c->rows * COLUMNS / median(c->seconds, runs) * 1e-6;
    }
}

/* How many times as fast as ggml; 0 if that is not known. */
static double speed_ratio(const job *j)
{
    contender *best = &contenders[gufo_count - 1];
    double peer;

    if (!ggml_native())
        return 0;
    peer = ggml_native()->speed;
    if (j->direction == DECODE && ggml_plain()->speed > peer)
        peer = ggml_plain()->speed;
    return peer > 0 ? best->speed / peer : 0;
}

/* ---- results and errors --------------------------------------------------------------------- */

/* Whether every instruction set gives what `ggml -O2` gives: "yes", "no"; "-" if nobody knows. */
static const char *same_results(const job *j)
{
    size_t size = ROWS * (j->direction == DECODE ? sizeof(float) * COLUMNS : (size_t)j->row_bytes);
    void *out = j->direction == DECODE ? (void *)decoded : (void *)encoded;
    contender *plain = ggml_plain();
    const char *answer = "-";
    void *expected;

    if (!plain || contenders[0].effort == GUFO_EFFORT_HIGH || !plain->start(plain, j))
        return answer;
    plain->run(plain, j, ROWS);
    expected = memcpy(allocate(size), out, size);
    for (int i = 0; i < gufo_count && strcmp(answer, "no") != 0; i++) {
        contender *c = &contenders[i];

        if (!c->takes_part)
            continue;
        memset(out, 0, size);
        c->run(c, j, ROWS);
        answer = memcmp(out, expected, size) == 0 ? "yes" : "no";
    }
    free(expected);
    return answer;
}

/* The weighted root mean square error of the sample, encoded by the best instruction set. */
static double encoding_error(const job *j, gufo_effort effort)
{
    contender c = contenders[gufo_count - 1];
    double sum = 0, weights = 0;

    c.effort = effort;
    c.encoder = NULL;
    if (!c.start(&c, j))
        return 0;
    c.run(&c, j, ROWS);
    gufo_encoder_free(c.encoder);
    if (gufo_decode(j->type, encoded, ROWS, COLUMNS, decoded, &(gufo_run){.cpu = c.cpu}, NULL) !=
        GUFO_OK)
        return 0;
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++) {
        double weight = j->direction == IMPORTANCE ? (double)importance[i % COLUMNS] : 1.0;
        double difference = (double)numbers[i] - (double)decoded[i];

        sum += weight * difference * difference;
        weights += weight;
    }
    return sqrt(sum / weights);
}

/* ---- report --------------------------------------------------------------------------------- */

/* Ratios that are summed up in one line. */
typedef struct tally {
    const char *title;
    const char *unit;
    bool less_is_better;
    double log_sum;
    int count;
    double worst;
    char worst_case[64];
} tally;

enum { ENCODE_SEARCHED, ENCODE_ALL, DECODE_ALL, ERRORS_SEARCHED, ERRORS_ALL, TALLIES };

static tally tallies[TALLIES] = {
    [ENCODE_SEARCHED] = {.title = "encode, K and IQ types", .unit = "times ggml"},
    [ENCODE_ALL] = {.title = "encode, all types", .unit = "times ggml"},
    [DECODE_ALL] = {.title = "decode, all types", .unit = "times the better ggml"},
    [ERRORS_SEARCHED] = {.title = "error, K and IQ types",
                         .unit = "times the reference search",
                         .less_is_better = true},
    [ERRORS_ALL] = {.title = "error, all types",
                    .unit = "times the reference search",
                    .less_is_better = true},
};

static void tally_add(tally *t, const job *j, double ratio)
{
    if (ratio <= 0)
        return;
    t->log_sum += log(ratio);
    if (t->count++ == 0 || (t->less_is_better ? ratio > t->worst : ratio < t->worst)) {
        t->worst = ratio;
        snprintf(t->worst_case, sizeof t->worst_case, "%s %s", j->type->name,
                 direction_names[j->direction]);
    }
}

/* Q8_K only ever holds activations. */
static bool is_searched(const gufo_element_type *type)
{
    return fnmatch("Q[2-6]_K", type->name, 0) == 0 || fnmatch("IQ*", type->name, 0) == 0;
}

static bool as_csv;

static void print_title(void)
{
    if (as_csv) {
        printf("type,direction,effort,by,million_weights_per_second\n");
        return;
    }
    printf("million weights per second, one thread%s\n\n%-10s %-10s",
           contenders[0].effort == GUFO_EFFORT_HIGH ? ", gufo's effort high" : "", "type",
           "direction");
    for (int i = 0; i < contender_count; i++)
        printf(" %9s", contenders[i].name);
    printf("%s", ggml_native() ? "    ratio  same" : "");
    printf("%s\n", contenders[0].effort == GUFO_EFFORT_HIGH ? "   error/reference" : "");
}

static void print_csv(const job *j)
{
    for (int i = 0; i < contender_count; i++)
        if (contenders[i].speed > 0)
            printf("%s,%s,%s,%s,%.4g\n", j->type->name, direction_names[j->direction],
                   contenders[i].effort == GUFO_EFFORT_HIGH ? "high" : "reference",
                   contenders[i].name, contenders[i].speed);
}

static void print_number(double number, const char *format)
{
    if (number > 0)
        printf(format, number);
    else
        printf(" %9s", "-");
}

static void print_errors(const job *j)
{
    double reference = encoding_error(j, GUFO_EFFORT_REFERENCE);
    double high = encoding_error(j, GUFO_EFFORT_HIGH);

    /* Without an encoder, or without loss. */
    if (reference <= 0)
        return;
    printf("   %.5g / %.5g = %.4f", high, reference, high / reference);
    tally_add(&tallies[ERRORS_ALL], j, high / reference);
    if (is_searched(j->type))
        tally_add(&tallies[ERRORS_SEARCHED], j, high / reference);
}

static void print_line(const job *j)
{
    double ratio = speed_ratio(j);

    printf("%-10s %-10s", j->type->name, direction_names[j->direction]);
    for (int i = 0; i < contender_count; i++)
        print_number(contenders[i].speed, contenders[i].speed < 100 ? " %9.2f" : " %9.0f");
    if (ggml_native()) {
        print_number(ratio, "%9.2f");
        printf("  %4s", same_results(j));
    }
    if (contenders[0].effort == GUFO_EFFORT_HIGH && j->direction != DECODE)
        print_errors(j);
    printf("\n");
    tally_add(&tallies[j->direction == DECODE ? DECODE_ALL : ENCODE_ALL], j, ratio);
    if (j->direction != DECODE && is_searched(j->type))
        tally_add(&tallies[ENCODE_SEARCHED], j, ratio);
}

static void print_tallies(void)
{
    if (ggml_native())
        printf("\n");
    for (int i = 0; i < TALLIES; i++) {
        const tally *t = &tallies[i];

        if (t->count > 0)
            printf("%-24s %6.3f %s (geometric mean of %d), worst %.3f: %s\n", t->title,
                   exp(t->log_sum / t->count), t->unit, t->count, t->worst, t->worst_case);
    }
}

/* ---- decoding beyond the caches, and memcpy ------------------------------------------------- */

enum { COPY_RUNS = 9 };

/* Bytes of a buffer that no cache holds a good part of.  (What sysconf tells of caches is wrong on
 * many virtual machines.) */
static size_t large_size(void)
{
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
    size_t size = (size_t)256 << 20, kilobytes = 0;

    if (file) {
        if (fscanf(file, "%zuK", &kilobytes) != 1)
            kilobytes = 0;
        fclose(file);
    }
    while (size >> 10 < 4 * kilobytes)
        size *= 2;
    return size;
}

static double wall_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* How many times faster the threads of all processors decode than one; by the clock, best of all runs. */
static double threads_gain(const gufo_element_type *type, const unsigned char *from, float *to,
                           uint64_t rows)
{
    double best[2] = {INFINITY, INFINITY};

    for (int run = 0; run < COPY_RUNS; run++)
        for (unsigned all = 0; all < 2; all++) {
            double start = wall_now();

            if (gufo_decode(type, from, rows, COLUMNS, to, &(gufo_run){.threads = all ? 0 : 1},
                            NULL) != GUFO_OK)
                return 0;
            best[all] = fmin(best[all], wall_now() - start);
        }
    return best[0] / best[1];
}

/* `from` and `to` have `size` bytes each. */
static void compare_copy(const gufo_element_type *type, unsigned char *from, unsigned char *to,
                         size_t size)
{
    contender *best = &contenders[gufo_count - 1];
    double decoding[COPY_RUNS], copying[COPY_RUNS], bytes = (double)size;
    uint64_t rows = size / sizeof(float) / COLUMNS;

    fill_blocks(type, from, rows);
    for (int run = -1; run < COPY_RUNS; run++) {
        double start = seconds_now(), middle;

        if (gufo_decode(type, from, rows, COLUMNS, (float *)(void *)to,
                        &(gufo_run){.threads = 1, .cpu = best->cpu}, NULL) != GUFO_OK) {
            printf("%-24s      -\n", type->name);
            return;
        }
        middle = seconds_now();
        memcpy(to, from, size);
        if (run >= 0) {
            copying[run] = seconds_now() - middle;
            decoding[run] = middle - start;
        }
    }
    printf("%-24s %5.1f GB/s of numbers, memcpy %5.1f GB/s: %.0f %%; all processors: x %.2f\n",
           type->name, bytes / median(decoding, COPY_RUNS) * 1e-9,
           bytes / median(copying, COPY_RUNS) * 1e-9,
           100 * median(copying, COPY_RUNS) / median(decoding, COPY_RUNS),
           threads_gain(type, from, (float *)(void *)to, rows));
}

static void compare_copies(const char *pattern)
{
    static const char *const names[] = {"Q8_0", "Q4_0", "BF16", "F16"};
    size_t size = large_size();
    unsigned char *from = allocate(size), *to = allocate(size);

    printf("\n%zu MB of numbers decoded with %s, and memcpy of as many bytes\n", size >> 20,
           contenders[gufo_count - 1].name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (fnmatch(pattern, names[i], 0) == 0)
            compare_copy(gufo_element_type_by_name(names[i]), from, to, size);
    free(from);
    free(to);
}

/* ---- the program ---------------------------------------------------------------------------- */

typedef struct options {
    const char *pattern;
    bool wanted[DIRECTIONS];
    gufo_cpu cpu;
    gufo_effort effort;
} options;

_Noreturn static void usage(void)
{
    fprintf(stderr, "usage: bench_codec [--type GLOB] [--direction encode|importance|decode] "
                    "[--cpu LEVEL] [--effort reference|high] [--csv]\n");
    exit(2);
}

static void want_direction(options *o, const char *name)
{
    bool found = false;

    for (direction d = 0; d < DIRECTIONS; d++) {
        o->wanted[d] = strcmp(name, direction_names[d]) == 0;
        found |= o->wanted[d];
    }
    if (!found)
        usage();
}

static void read_options(options *o, int argc, char **argv)
{
    static const struct option known[] = {
        {"type", required_argument, NULL, 't'}, {"direction", required_argument, NULL, 'd'},
        {"cpu", required_argument, NULL, 'c'},  {"effort", required_argument, NULL, 'e'},
        {"csv", no_argument, NULL, 'v'},        {0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (option == 't')
            o->pattern = optarg;
        else if (option == 'd')
            want_direction(o, optarg);
        else if (option == 'c' && gufo_cpu_by_name(optarg, &o->cpu))
            continue;
        else if (option == 'e' && strcmp(optarg, "high") == 0)
            o->effort = GUFO_EFFORT_HIGH;
        else if (option == 'e' && strcmp(optarg, "reference") == 0)
            o->effort = GUFO_EFFORT_REFERENCE;
        else if (option == 'v')
            as_csv = true;
        else
            usage();
    }
    if (optind != argc)
        usage();
}

static void do_job(const job *j)
{
    if (j->direction == DECODE)
        fill_blocks(j->type, encoded, ROWS);
    measure(j);
    if (as_csv)
        print_csv(j);
    else
        print_line(j);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    options o = {.pattern = "*", .wanted = {true, true, true}};

    read_options(&o, argc, argv);
    make_numbers();
    add_gufo(o.cpu, o.effort);
    add_ggml();
    print_title();
    for (size_t i = 0; i < gufo_element_type_count(); i++) {
        const gufo_element_type *type = gufo_element_type_at(i);
        job j = {.type = type};

        if (fnmatch(o.pattern, type->name, 0) != 0 ||
            gufo_element_row_size(type, COLUMNS, &j.row_bytes, NULL) != GUFO_OK)
            continue;
        for (j.direction = 0; j.direction < DIRECTIONS; j.direction++)
            if (o.wanted[j.direction] && job_exists(&j))
                do_job(&j);
    }
    if (!as_csv) {
        print_tallies();
        if (o.wanted[DECODE])
            compare_copies(o.pattern);
    }
    for (int i = 0; i < gufo_count; i++)
        gufo_encoder_free(contenders[i].encoder);
    free(numbers);
    free(importance);
    free(decoded);
    free(encoded);
    return 0;
}
