/* How fast text becomes tokens.
 *
 *     bench_text [-n RUNS] [-m BYTES] [-f TEXT] FILE...     GGUF files with a vocabulary
 *
 * The text is generated (mixed_text.h), 1 MB unless -m says otherwise, or read from the file TEXT.  Reported for each file:
 *     open       best time to open the vocabulary, in ms
 *     MB/s       10^6 bytes per second of one thread, best of RUNS (default 5); each run begins with
 *                nothing remembered
 *     threads    the same with one thread per processor, on 16 times the text
 *     word, spaces, letter
 *                MB/s of 1 MB without a place to cut: a word of random letters, spaces, one letter
 *
 * Built with -DGUFO_BENCH_LLAMA=DIR, a tree of llama.cpp that was built in DIR/build, llama_tokenize
 * takes turns with gufo in the same run, and ids are compared. */
#include <gufo.h>
#include <gufo/vocab.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mixed_text.h"

#ifdef GUFO_BENCH_LLAMA
#include <llama.h>
#endif

static void die(const char *what, const char *message)
{
    fprintf(stderr, "bench_text: %s: %s\n", what, message);
    exit(1);
}

static double now(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- gufo ----------------------------------------------------------------------------------- */

static gufo_vocab *open_vocab(const gufo_model *model, const char *path)
{
    gufo_error error;
    gufo_vocab *vocab = gufo_vocab_open(model, NULL, &error);

    if (vocab == NULL)
        die(path, error.message);
    return vocab;
}

/* Seconds: of this thread, or of the clock for several. */
static double tokenize(const gufo_vocab *vocab, gufo_str text, unsigned threads, gufo_ids *ids)
{
    const gufo_run run = {.threads = threads};
    const gufo_tokenize_options options = {.run = &run};
    clockid_t clock = threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
    double start = now(clock);
    gufo_error error;

    ids->count = 0;
    if (gufo_tokenize(vocab, text, &options, ids, &error) != GUFO_OK)
        die("gufo_tokenize", error.message);
    return now(clock) - start;
}

static double best_of(const gufo_vocab *vocab, gufo_str text, unsigned threads, int runs)
{
    gufo_ids ids = {0};
    double best = 1e9;

    for (int i = 0; i < runs; i++) {
        double seconds = tokenize(vocab, text, threads, &ids);

        best = seconds < best ? seconds : best;
    }
    gufo_ids_free(&ids);
    return (double)text.len / 1e6 / best;
}

/* ---- llama.cpp ------------------------------------------------------------------------------ */

#ifdef GUFO_BENCH_LLAMA
static void no_log(enum ggml_log_level level, const char *text, void *context)
{
    (void)level;
    (void)text;
    (void)context;
}

static void compare(const gufo_vocab *vocab, const char *path, gufo_str text, int runs)
{
    struct llama_model_params parameters = llama_model_default_params();
    struct llama_model *model;
    int32_t *tokens = malloc(text.len * sizeof *tokens), count = 0;
    double ours = 1e9, theirs = 1e9;
    gufo_ids ids = {0};

    parameters.vocab_only = true;
    llama_log_set(no_log, NULL);
    model = llama_model_load_from_file(path, parameters);
    if (model == NULL || tokens == NULL)
        die(path, "llama.cpp does not load it");
    for (int i = 0; i < runs; i++) {
        double seconds = tokenize(vocab, text, 1, &ids), start = now(CLOCK_THREAD_CPUTIME_ID);

        ours = seconds < ours ? seconds : ours;
        count = llama_tokenize(llama_model_get_vocab(model), text.data, (int32_t)text.len, tokens,
                               (int32_t)text.len, false, false);
        seconds = now(CLOCK_THREAD_CPUTIME_ID) - start;
        theirs = seconds < theirs ? seconds : theirs;
    }
    printf("  %7.2f %6.1f %s", (double)text.len / 1e6 / theirs, theirs / ours,
           (size_t)count == ids.count && memcmp(ids.ids, tokens, ids.count * 4) == 0 ? "same"
                                                                                     : "DIFFER");
    gufo_ids_free(&ids);
    free(tokens);
    llama_model_free(model);
}
#else
static void compare(const gufo_vocab *vocab, const char *path, gufo_str text, int runs)
{
    (void)vocab;
    (void)path;
    (void)text;
    (void)runs;
}
#endif

/* ---- the whole ------------------------------------------------------------------------------ */

static gufo_str adversary(const char *letters, size_t size)
{
    char *text = malloc(size);
    mixed_text random = {.state = 7};

    if (text == NULL)
        die("malloc", "no memory");
    for (size_t i = 0; i < size; i++)
        text[i] = letters[mixed_random(&random, (uint32_t)strlen(letters))];
    return (gufo_str){text, size};
}

static void measure(const char *path, gufo_str text, gufo_str long_text, int runs)
{
    static const char *const letters[] = {"etaoinshrdlcumwfgypbvk", " ", "a"};
    const char *name = strrchr(path, '/');
    gufo_error error;
    gufo_model *model = gufo_model_open(path, NULL, &error);
    gufo_vocab *vocab = NULL;
    double open = 1e9;

    if (model == NULL)
        die(path, error.message);
    for (int i = 0; i < runs; i++) {
        double start, seconds;

        gufo_vocab_free(vocab);
        start = now(CLOCK_MONOTONIC);
        vocab = open_vocab(model, path);
        seconds = now(CLOCK_MONOTONIC) - start;
        open = seconds < open ? seconds : open;
    }
    printf("%-32.32s %7" PRIu32 " %6.1f %7.1f %7.1f", name != NULL ? name + 1 : path,
           gufo_vocab_describe(vocab).size, open * 1e3, best_of(vocab, text, 1, runs),
           best_of(vocab, long_text, 0, 2));
    for (size_t i = 0; i < 3; i++) {
        gufo_str hard = adversary(letters[i], 1000000);

        printf(" %6.1f", best_of(vocab, hard, 1, 1));
        free((char *)hard.data);
    }
    compare(vocab, path, text, runs);
    printf("\n");
    gufo_vocab_free(vocab);
    gufo_model_free(model);
}

static mixed_text read_text(const char *path)
{
    mixed_text text = {0};
    FILE *file = fopen(path, "rb");
    char block[65536];
    size_t got;

    if (file == NULL)
        die(path, "cannot be read");
    while ((got = fread(block, 1, sizeof block, file)) > 0)
        mixed_add(&text, block, got);
    (void)fclose(file);
    return text;
}

static mixed_text repeat(mixed_text once, size_t times)
{
    mixed_text text = {0};

    for (size_t i = 0; i < times; i++)
        mixed_add(&text, once.data, once.len);
    return text;
}

int main(int argc, char **argv)
{
    size_t size = 1000000;
    int runs = 5, option;
    const char *from = NULL;
    mixed_text text, long_text;

    while ((option = getopt(argc, argv, "n:m:f:")) != -1) {
        if (option == 'n' && atoi(optarg) > 0)
            runs = atoi(optarg);
        else if (option == 'm' && atol(optarg) > 0)
            size = (size_t)atol(optarg);
        else if (option == 'f')
            from = optarg;
        else
            die("usage", "bench_text [-n RUNS] [-m BYTES] [-f TEXT] FILE...");
    }
    text = from != NULL ? read_text(from) : mixed_make(size);
    long_text = from != NULL ? repeat(text, 16) : mixed_make(16 * size);
    printf("%-32s %7s %6s %7s %7s %6s %6s %6s", "vocabulary", "tokens", "open", "MB/s", "threads",
           "word", "spaces", "letter");
#ifdef GUFO_BENCH_LLAMA
    printf("  %7s %6s", "llama", "ratio");
#endif
    printf("\n");
    for (int i = optind; i < argc; i++)
        measure(argv[i], (gufo_str){text.data, text.len}, (gufo_str){long_text.data, long_text.len},
                runs);
    free(text.data);
    free(long_text.data);
    return 0;
}
