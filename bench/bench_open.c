/* How long it takes to open and index a file, and how much memory it needs.
 *
 *     bench_open [-n RUNS] [FILE...]      the given files
 *     bench_open [-n RUNS] [-l]           a generated file; -l: a large one
 *     bench_open -s STRINGS -t TENSORS    a generated file of that size
 *
 * The generated file has a vocabulary of 262,144 tokens (strings, scores, types) and 1000 tensors;
 * with -l one million tokens and 20,000 tensors.  It is written to $TMPDIR (or /tmp) and removed.
 *
 * Reported for each file:
 *     best, median   of RUNS (default 21) times open and close, the file being in the page cache
 *     MB/s           bytes of header, metadata and tensor infos by the best time
 *     allocated      the most bytes that were taken from the allocator at a time
 *     grown          RssAnon + RssShmem of a fresh process after opening, less that before
 *     strings        the views of all tokens by gufo_array_next, and by gufo_array_strings
 *
 * Built with -DGUFO_BENCH_GGML=DIR the same is measured for gguf_init_from_file of ggml, with
 * no_alloc and without a context for tensors, which is the least work it can be asked for.  Runs of
 * the two alternate. */
#include <gufo.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef GUFO_BENCH_GGML
#include <gguf.h>
#endif

enum { MAX_RUNS = 1001 };

static void die(const char *what, const char *message)
{
    fprintf(stderr, "bench_open: %s: %s\n", what, message);
    exit(1);
}

/* ---- the readers that are compared ---------------------------------------------------------- */

typedef struct reader {
    const char *name;
    void *(*open)(const char *path);
    void (*close)(void *file);
} reader;

static void *reader_open(const char *path)
{
    gufo_error error;
    gufo_model *file = gufo_model_open(path, NULL, &error);

    if (!file)
        die(path, error.message);
    return file;
}

static void reader_close(void *file)
{
    gufo_model_free(file);
}

#ifdef GUFO_BENCH_GGML
static void *ggml_reader_open(const char *path)
{
    struct gguf_init_params params = {.no_alloc = true, .ctx = NULL};
    struct gguf_context *file = gguf_init_from_file(path, params);

    if (!file)
        die(path, "ggml cannot read it");
    return file;
}

static void ggml_reader_close(void *file)
{
    gguf_free(file);
}
#endif

static const reader readers[] = {
    {"gufo", reader_open, reader_close},
#ifdef GUFO_BENCH_GGML
    {"ggml", ggml_reader_open, ggml_reader_close},
#endif
};

enum { READERS = sizeof readers / sizeof *readers };

/* ---- time ----------------------------------------------------------------------------------- */

typedef struct timing {
    double best, median; /* seconds */
} timing;

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double time_once(const reader *r, const char *path)
{
    double start = seconds_now();

    r->close(r->open(path));
    return seconds_now() - start;
}

/* One run of each first, which is not counted: it brings the file into the page cache. */
static void measure_time(const char *path, int runs, timing out[READERS])
{
    static double times[READERS][MAX_RUNS];

    for (int run = -1; run < runs; run++) {
        for (int r = 0; r < READERS; r++) {
            double seconds = time_once(&readers[r], path);

            if (run >= 0)
                times[r][run] = seconds;
        }
    }
    for (int r = 0; r < READERS; r++) {
        qsort(times[r], (size_t)runs, sizeof times[r][0], compare_doubles);
        out[r] = (timing){times[r][0], times[r][runs / 2]};
    }
}

/* ---- memory --------------------------------------------------------------------------------- */

/* RssAnon + RssShmem of this process, in bytes. */
static uint64_t resident(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    uint64_t kilobytes, sum = 0;

    while (status && fgets(line, sizeof line, status)) {
        if (sscanf(line, "RssAnon: %" SCNu64, &kilobytes) == 1 ||
            sscanf(line, "RssShmem: %" SCNu64, &kilobytes) == 1)
            sum += kilobytes * 1024;
    }
    if (status)
        fclose(status);
    return sum;
}

/* Opens in a child process, whose heap nothing has been given back to yet. */
static uint64_t measure_growth(const reader *r, const char *path)
{
    uint64_t grown = 0;
    int ends[2];
    pid_t child;

    if (pipe(ends) != 0)
        die(path, "no pipe");
    child = fork();
    if (child < 0)
        die(path, "no process");
    if (child == 0) {
        uint64_t before = resident();
        void *file = r->open(path);

        grown = resident() - before;
        r->close(file);
        _exit(write(ends[1], &grown, sizeof grown) == sizeof grown ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &grown, sizeof grown) != sizeof grown)
        die(path, "memory could not be measured");
    close(ends[0]);
    waitpid(child, NULL, 0);
    return grown;
}

/* The size of a block is kept in front of it. */
enum { FRONT = 16 };

typedef struct counter {
    size_t held, peak;
} counter;

static void *counting_resize(void *context, void *block, size_t size)
{
    counter *count = context;
    unsigned char *start = block ? (unsigned char *)block - FRONT : NULL;
    size_t old = 0;

    if (start)
        memcpy(&old, start, sizeof old);
    if (size == 0) {
        free(start);
        count->held -= old;
        return NULL;
    }
    unsigned char *moved = realloc(start, size + FRONT);
    if (!moved)
        return NULL;
    memcpy(moved, &size, sizeof size);
    count->held += size - old;
    if (count->held > count->peak)
        count->peak = count->held;
    return moved + FRONT;
}

/* Opens once more with an allocator that counts; tells the facts of the file as well. */
static counter measure_allocation(const char *path, uint64_t *metadata, uint64_t *entries,
                                  uint64_t *tensors)
{
    counter count = {0};
    gufo_allocator allocator = {counting_resize, &count};
    gufo_open_options options = {.allocator = &allocator};
    gufo_error error;
    gufo_model *file = gufo_model_open(path, &options, &error);

    if (!file)
        die(path, error.message);
    *metadata = gufo_model_facts(file).infos_end;
    *entries = gufo_model_entry_count(file);
    *tensors = gufo_model_tensor_count(file);
    gufo_model_free(file);
    return count;
}

/* ---- the generated file --------------------------------------------------------------------- */

static void check(gufo_status status, const gufo_error *error)
{
    if (status != GUFO_OK)
        die("the generated file", error->message);
}

static void add_vocabulary(gufo_document *d, uint64_t count, gufo_error *error)
{
    gufo_str *tokens = calloc(count, sizeof *tokens);
    char(*text)[24] = calloc(count, sizeof *text);
    float *scores = calloc(count, sizeof *scores);
    int32_t *types = calloc(count, sizeof *types);

    if (!tokens || !text || !scores || !types)
        die("the generated file", "no memory");
    for (uint64_t i = 0; i < count; i++) {
        /* Lengths from 1 to 12 or so, like words. */
        int len =
            snprintf(text[i], sizeof text[i], "%" PRIx64, (i * 0x9e3779b97f4a7c15u) >> (i % 48));

        tokens[i] = (gufo_str){text[i], (size_t)len};
        scores[i] = -(float)i;
        types[i] = 1;
    }
    check(gufo_document_set_text(d, "tokenizer.ggml.model", "llama", error), error);
    check(gufo_document_set_array(d, "tokenizer.ggml.tokens",
                                  &(gufo_items){GUFO_VALUE_STRING, count, tokens}, error),
          error);
    check(gufo_document_set_array(d, "tokenizer.ggml.scores",
                                  &(gufo_items){GUFO_VALUE_FLOAT32, count, scores}, error),
          error);
    check(gufo_document_set_array(d, "tokenizer.ggml.token_type",
                                  &(gufo_items){GUFO_VALUE_INT32, count, types}, error),
          error);
    free(tokens);
    free(text);
    free(scores);
    free(types);
}

static void generate(const char *path, uint64_t strings, uint64_t tensors)
{
    static const float data[32];
    gufo_error error;
    gufo_document *d = gufo_document_new(NULL, &error);
    const gufo_job_options options = {.path = path, .flags = GUFO_JOB_REPLACE};
    gufo_job *job;

    if (!d)
        die("the generated file", error.message);
    check(gufo_document_set_text(d, "general.architecture", "llama", &error), &error);
    add_vocabulary(d, strings, &error);
    for (uint64_t i = 0; i < tensors; i++) {
        char name[64];

        snprintf(name, sizeof name, "blk.%" PRIu64 ".ffn_gate_%" PRIu64 ".weight", i / 10, i % 10);
        check(gufo_document_add_tensor(d, name, gufo_element_type_by_id(GUFO_TYPE_F32), 2,
                                       (uint64_t[]){8, 4}, &error),
              &error);
    }
    job = gufo_job_of_documents(&d, 1, NULL, &error);
    if (!job)
        die(path, error.message);
    check(gufo_job_open(job, &options, &error), &error);
    for (uint64_t i = 0; i < tensors; i++)
        check(gufo_job_write(job, 0, i, 0, data, sizeof data, &error), &error);
    check(gufo_job_finish(job, NULL, &error), &error);
    gufo_job_free(job);
    gufo_document_free(d);
}

/* ---- report --------------------------------------------------------------------------------- */

static void report(const char *title, const char *path, int runs)
{
    uint64_t metadata, entries, tensors, grown[READERS];
    timing times[READERS];
    counter count;

    /* Memory first, while this process has used hardly any itself. */
    for (int r = 0; r < READERS; r++)
        grown[r] = measure_growth(&readers[r], path);
    count = measure_allocation(path, &metadata, &entries, &tensors);
    measure_time(path, runs, times);

    printf("%s: %.2f MB of metadata, %" PRIu64 " entries, %" PRIu64 " tensors, %d runs\n", title,
           (double)metadata / 1e6, entries, tensors, runs);
    printf("         best ms  median ms      MB/s  allocated MB  grown MB\n");
    for (int r = 0; r < READERS; r++) {
        printf("  %-5s %9.3f  %9.3f  %8.0f  ", readers[r].name, times[r].best * 1e3,
               times[r].median * 1e3, (double)metadata / 1e6 / times[r].best);
        if (r == 0)
            printf("%12.3f", (double)count.peak / 1e6);
        else
            printf("%12s", "-");
        printf("  %8.3f\n", (double)grown[r] / 1e6);
    }
    for (int r = 1; r < READERS; r++)
        printf("  %s takes %.1f times as long (best), %.1f times (median)\n", readers[r].name,
               times[r].best / times[0].best, times[r].median / times[0].median);
}

/* All strings of the vocabulary, one by one and at once. */
static void report_strings(const char *path, int runs)
{
    gufo_model *model = reader_open(path);
    double one = INFINITY, all = INFINITY;
    gufo_array tokens;
    gufo_value value;
    gufo_str *texts;

    if (gufo_model_get_array(model, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, &tokens, NULL) !=
        GUFO_OK) {
        gufo_model_free(model);
        return;
    }
    texts = calloc((size_t)tokens.count + 1, sizeof *texts);
    if (!texts)
        die(path, "no memory");
    for (int run = 0; run < runs; run++) {
        gufo_array_iter iter = gufo_array_start(&tokens);
        double start = seconds_now(), middle;

        for (size_t i = 0; gufo_array_next(&iter, &value); i++)
            texts[i] = value.as.str;
        middle = seconds_now();
        if (gufo_array_strings(&tokens, 0, tokens.count, texts, NULL) != GUFO_OK)
            die(path, "the strings cannot be read");
        all = fmin(all, seconds_now() - middle);
        one = fmin(one, middle - start);
    }
    printf("  %" PRIu64 " strings: %.3f ms one by one, %.3f ms at once (best)\n", tokens.count,
           one * 1e3, all * 1e3);
    free(texts);
    gufo_model_free(model);
}

static int failures;

/* Starts a child process: true in the child.  The parent waits for it and counts it if it fails.
 * So its own heap stays as it was at the start, for the next measurement of memory. */
static bool in_child(void)
{
    pid_t child;
    int status;

    fflush(stdout);
    child = fork();
    if (child < 0)
        die("fork", "no process");
    if (child > 0 && (waitpid(child, &status, 0) != child || status != 0))
        failures++;
    return child == 0;
}

static void report_in_child(const char *title, const char *path, int runs)
{
    if (in_child()) {
        report(title, path, runs);
        report_strings(path, runs);
        exit(0);
    }
}

static void report_generated(uint64_t strings, uint64_t tensors, int runs)
{
    const char *folder = getenv("TMPDIR");
    char path[4096], title[128];
    int fd;

    snprintf(path, sizeof path, "%s/gufo-bench-XXXXXX", folder && *folder ? folder : "/tmp");
    fd = mkstemp(path);
    if (fd < 0)
        die(path, "cannot be made");
    close(fd);
    if (in_child()) {
        generate(path, strings, tensors);
        exit(0);
    }
    snprintf(title, sizeof title, "generated, %" PRIu64 " tokens", strings);
    if (failures == 0)
        report_in_child(title, path, runs);
    unlink(path);
}

int main(int argc, char **argv)
{
    uint64_t strings = 262144, tensors = 1000;
    int runs = 21, option;

    while ((option = getopt(argc, argv, "n:s:t:l")) != -1) {
        switch (option) {
        case 'n':
            runs = atoi(optarg);
            break;
        case 's':
            strings = strtoull(optarg, NULL, 10);
            break;
        case 't':
            tensors = strtoull(optarg, NULL, 10);
            break;
        case 'l':
            strings = 1000000;
            tensors = 20000;
            break;
        default:
            fprintf(stderr,
                    "usage: bench_open [-n RUNS] [-l] [-s STRINGS] [-t TENSORS] [FILE...]\n");
            return 2;
        }
    }
    if (runs < 1 || runs > MAX_RUNS || strings == 0)
        die("usage", "RUNS is from 1 to 1001, STRINGS is not 0");
    for (int i = optind; i < argc; i++)
        report_in_child(argv[i], argv[i], runs);
    if (optind == argc)
        report_generated(strings, tensors, runs);
    return failures ? 1 : 0;
}
