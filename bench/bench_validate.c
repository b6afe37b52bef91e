/* How long it takes to validate a file, level by level.
 *
 *     bench_validate [-n RUNS] [FILE...]   the given files; without, a generated one
 *
 * The generated file is a llama of 111 blocks with 1002 tensors, and a vocabulary of 250,000 tokens
 * for byte-level BPE with as many merges: the largest that is in use, about.  It is written to
 * $TMPDIR (or /tmp) and removed.
 *
 * Reported: best and median of RUNS (default 21) times, the file being in the page cache, for
 *     format   opening and the rules of the format, which read header, metadata, tensor infos, padding
 *     meaning  the rules of the standard and of models */
#include <gufo.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_RUNS = 1001,
    TOKENS = 250000,
    BYTES = 256, /* the first tokens, of a character each */
    BLOCKS = 111,
    WIDTH = 8,
    HIDDEN = 16,
};

static gufo_error error;

static void need(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "bench_validate: %s: %s\n", what, error.message);
    exit(1);
}

/* ---- the generated file --------------------------------------------------------------------- */

static gufo_str texts[TOKENS];
static int32_t types[TOKENS];

static void put_texts(gufo_document *d, const char *key, size_t count)
{
    const gufo_items items = {GUFO_VALUE_STRING, count, texts};

    need(gufo_document_set_array(d, key, &items, &error) == GUFO_OK, key);
}

static gufo_str copy(const char *text)
{
    gufo_str view = {strdup(text), strlen(text)};

    need(view.data != NULL, "out of memory");
    return view;
}

/* Characters, then pairs of a token and a character: each has one merge. */
static void add_vocabulary(gufo_document *d)
{
    static char merge[TOKENS][64];
    const gufo_items items = {GUFO_VALUE_INT32, TOKENS, types};
    char text[64];

    for (size_t i = 0; i < TOKENS; i++) {
        size_t front = i / BYTES - 1, back = i % BYTES;

        types[i] = 1;
        if (i < BYTES)
            snprintf(text, sizeof text, "\xc4%c", (char)(0x80 + i % 64));
        if (i < BYTES && i >= 64)
            snprintf(text, sizeof text, "%c\xc5%c", 'a' + (char)(i / 64), (char)(0x80 + i % 64));
        if (i >= BYTES) {
            snprintf(text, sizeof text, "%.30s%.30s", texts[front].data, texts[back].data);
            snprintf(merge[i], sizeof merge[i], "%.30s %.30s", texts[front].data, texts[back].data);
        }
        texts[i] = copy(text);
    }
    put_texts(d, "tokenizer.ggml.tokens", TOKENS);
    need(gufo_document_set_array(d, "tokenizer.ggml.token_type", &items, &error) == GUFO_OK,
         "types");
    for (size_t i = BYTES; i < TOKENS; i++)
        texts[i - BYTES] = gufo_str_of(merge[i]);
    put_texts(d, "tokenizer.ggml.merges", TOKENS - BYTES);
}

static void add_keys(gufo_document *d)
{
    static const struct {
        const char *key;
        uint32_t value;
    } numbers[] = {{"llama.context_length", 8192},       {"llama.embedding_length", WIDTH},
                   {"llama.block_count", BLOCKS},        {"llama.feed_forward_length", HIDDEN},
                   {"llama.rope.dimension_count", 4},    {"llama.attention.head_count", 2},
                   {"llama.attention.head_count_kv", 2}, {"tokenizer.ggml.bos_token_id", 0},
                   {"tokenizer.ggml.eos_token_id", 1},   {"general.file_type", GUFO_FILE_TYPE_F32}};
    static const char *const words[][2] = {{"general.architecture", "llama"},
                                           {"general.type", "model"},
                                           {"tokenizer.ggml.model", "gpt2"},
                                           {"tokenizer.ggml.pre", "llama-bpe"}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        need(gufo_document_set_text(d, words[i][0], words[i][1], &error) == GUFO_OK, words[i][0]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        need(gufo_document_set_u32(d, numbers[i].key, numbers[i].value, &error) == GUFO_OK,
             numbers[i].key);
    need(gufo_document_set_f32(d, "llama.attention.layer_norm_rms_epsilon", 1e-5f, &error) ==
             GUFO_OK,
         "epsilon");
}

static void add_tensor(gufo_document *d, const char *name, uint64_t columns, uint64_t rows)
{
    const uint64_t dims[2] = {columns, rows};

    need(gufo_document_add_tensor(d, name, gufo_element_type_by_id(GUFO_TYPE_F32), rows > 0 ? 2 : 1,
                                  dims, &error) == GUFO_OK,
         name);
}

static void add_tensors(gufo_document *d)
{
    static const struct {
        const char *name;
        uint64_t columns, rows;
    } parts[] = {
        {"attn_norm", WIDTH, 0},     {"attn_q", WIDTH, WIDTH},      {"attn_k", WIDTH, WIDTH},
        {"attn_v", WIDTH, WIDTH},    {"attn_output", WIDTH, WIDTH}, {"ffn_norm", WIDTH, 0},
        {"ffn_gate", WIDTH, HIDDEN}, {"ffn_up", WIDTH, HIDDEN},     {"ffn_down", HIDDEN, WIDTH}};
    char name[64];

    add_tensor(d, "token_embd.weight", WIDTH, TOKENS);
    for (int block = 0; block < BLOCKS; block++)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            snprintf(name, sizeof name, "blk.%d.%s.weight", block, parts[i].name);
            add_tensor(d, name, parts[i].columns, parts[i].rows);
        }
    add_tensor(d, "output_norm.weight", WIDTH, 0);
    add_tensor(d, "output.weight", WIDTH, TOKENS);
}

/* Tensor data is zeros. */
static void generate(const char *path)
{
    static const uint8_t zeros[1 << 16];
    gufo_document *d = gufo_document_new(NULL, &error);
    const gufo_job_options options = {.path = path, .flags = GUFO_JOB_REPLACE};
    gufo_document_tensor tensor;
    gufo_job *job;

    need(d != NULL, path);
    add_keys(d);
    add_vocabulary(d);
    add_tensors(d);
    job = gufo_job_of_documents(&d, 1, NULL, &error);
    need(job != NULL, path);
    need(gufo_job_open(job, &options, &error) == GUFO_OK, path);
    for (uint64_t i = 0; gufo_document_tensor_at(d, i, &tensor); i++)
        for (uint64_t at = 0; at < tensor.size; at += sizeof zeros) {
            uint64_t rest = tensor.size - at;
            size_t step = rest < sizeof zeros ? (size_t)rest : sizeof zeros;

            need(gufo_job_write(job, 0, i, at, zeros, step, &error) == GUFO_OK, path);
        }
    need(gufo_job_finish(job, NULL, &error) == GUFO_OK, path);
    gufo_job_free(job);
    gufo_document_free(d);
}

/* ---- measuring ------------------------------------------------------------------------------ */

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

static void count_finding(void *context, const gufo_finding *finding)
{
    (void)finding;
    ++*(uint64_t *)context;
}

/* One validation: the seconds of each of the two parts. */
static void validate(const char *path, double seconds[2], uint64_t *findings)
{
    gufo_open_options options = {
        .flags = GUFO_OPEN_LENIENT, .on_finding = count_finding, .finding_context = findings};
    const gufo_check_options all = {.level = GUFO_LEVEL_MODEL, .path = path};
    double start = seconds_now(), between;
    gufo_model *file;

    *findings = 0;
    file = gufo_model_open(path, &options, &error);
    need(file != NULL, path);
    need(gufo_model_check(file, count_finding, findings, &error) == GUFO_OK, path);
    between = seconds_now();
    need(gufo_model_check_content(file, &all, count_finding, findings, &error) == GUFO_OK, path);
    seconds[0] = between - start;
    seconds[1] = seconds_now() - between;
    gufo_model_free(file);
}

/* One run first, which is not counted: it brings the file into the page cache. */
static void measure(const char *path, int runs)
{
    static const char *const parts[] = {"format", "meaning"};
    static double times[2][MAX_RUNS];
    uint64_t findings = 0;
    double seconds[2];

    for (int run = -1; run < runs; run++) {
        validate(path, seconds, &findings);
        for (int part = 0; part < 2 && run >= 0; part++)
            times[part][run] = seconds[part];
    }
    printf("%s: %" PRIu64 " findings, %d runs\n         best ms  median ms\n", path, findings,
           runs);
    for (int part = 0; part < 2; part++) {
        qsort(times[part], (size_t)runs, sizeof times[part][0], compare_doubles);
        printf("%-8s %7.2f  %9.2f\n", parts[part], times[part][0] * 1e3,
               times[part][runs / 2] * 1e3);
    }
}

int main(int argc, char **argv)
{
    const char *folder = getenv("TMPDIR");
    int option, runs = 21;
    char path[4096];

    while ((option = getopt(argc, argv, "n:")) != -1) {
        runs = option == 'n' ? atoi(optarg) : 0;
        if (runs < 1 || runs > MAX_RUNS) {
            fprintf(stderr, "usage: bench_validate [-n RUNS] [FILE...]\n");
            return 2;
        }
    }
    for (int i = optind; i < argc; i++)
        measure(argv[i], runs);
    if (optind < argc)
        return 0;
    snprintf(path, sizeof path, "%s/bench-validate-%ld.gguf", folder != NULL ? folder : "/tmp",
             (long)getpid());
    generate(path);
    measure(path, runs);
    remove(path);
    return 0;
}
