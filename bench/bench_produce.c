/* How fast the engine moves bytes and turns matrices, and in how much memory.
 *
 *     bench_produce [--folder DIR] [--mib N]
 *
 * Three lines: N MiB (1024) copied by `cp`, the same moved by a job with one piece, and a matrix of
 * 100,000 x 8,000 F16, which is never in memory, transposed within 256 MiB by a job that writes the
 * result.  Each figure is the wall time of one run, files included, after the input was read once;
 * the memory is the peak of RssAnon + RssShmem while the job runs, above what it was before. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "produce/produce.h"

enum { ROWS = 100000, COLUMNS = 8000, CHUNK = 1024 * 1024 };

_Noreturn static void die(const char *what, const char *message)
{
    fprintf(stderr, "bench_produce: %s: %s\n", what, message);
    exit(1);
}

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- memory --------------------------------------------------------------------------------- */

static long long memory_now(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    long long sum = 0, kib;
    char line[256];

    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "RssAnon: %lld", &kib) == 1 || sscanf(line, "RssShmem: %lld", &kib) == 1)
            sum += kib;
    if (f != NULL)
        (void)fclose(f);
    return sum;
}

static atomic_bool watching;

/* The peak, looked at every few milliseconds. */
static void *watch(void *peak)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    long long *most = peak;

    while (atomic_load(&watching)) {
        long long kib = memory_now();

        *most = kib > *most ? kib : *most;
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

/* ---- jobs ----------------------------------------------------------------------------------- */

static gufo_job *job_between(const source *from, uint64_t size)
{
    gufo_error error;
    gufo_job *job = job_new(NULL, &error);
    uint32_t number;

    if (job == NULL ||
        job_add_input(job, &(job_input){.role = GUFO_FILE_INPUT, .name = "input", .source = from},
                      &number, &error) != GUFO_OK ||
        job_add_target(job, &(job_target){.size = size}, &number, &error) != GUFO_OK)
        die("job", error.message);
    return job;
}

static void run(gufo_job *job, const char *what, const char *path, uint64_t bytes, uint64_t memory)
{
    const gufo_job_options options = {.path = path, .flags = GUFO_JOB_REPLACE};
    const gufo_run how = {.memory = memory};
    long long before = memory_now(), peak = before;
    gufo_error error;
    pthread_t watcher;
    double begin = now(), seconds;

    if (job_planned(job, GUFO_OK, &error) == NULL)
        die(what, error.message);
    atomic_store(&watching, true);
    if (pthread_create(&watcher, NULL, watch, &peak) != 0)
        die(what, "no thread");
    if (gufo_job_run(job, &options, &how, &error) != GUFO_OK)
        die(what, error.message);
    seconds = now() - begin;
    atomic_store(&watching, false);
    (void)pthread_join(watcher, NULL);
    printf("%-10s %8.2f s %8.0f MB/s  peak %lld MiB\n", what, seconds,
           (double)bytes / seconds / 1e6, (peak - before) / 1024);
    gufo_job_free(job);
}

/* ---- move ----------------------------------------------------------------------------------- */

static void make_input(const char *path, unsigned mib)
{
    uint32_t *chunk = malloc(CHUNK), state = 1;
    FILE *f = fopen(path, "w");

    if (f == NULL || chunk == NULL)
        die(path, strerror(errno));
    for (unsigned i = 0; i < mib; i++) {
        for (size_t k = 0; k < CHUNK / sizeof *chunk; k++)
            chunk[k] = state = state * 1664525u + 1013904223u;
        if (fwrite(chunk, CHUNK, 1, f) != 1)
            die(path, strerror(errno));
    }
    if (fflush(f) != 0 || fsync(fileno(f)) != 0 || fclose(f) != 0) /* cp is not to write it */
        die(path, strerror(errno));
    free(chunk);
}

static void run_program(const char *const *words)
{
    int outcome = 0;
    pid_t child = fork();

    if (child == 0) {
        (void)execvp(words[0], (char *const *)words);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &outcome, 0) != child || outcome != 0)
        die(words[0], "failed");
}

static void measure_move(const char *in, const char *out, unsigned mib)
{
    uint64_t size = (uint64_t)mib * CHUNK;
    gufo_error error;
    gufo_job *job;
    double begin;
    source from;

    make_input(in, mib);
    begin = now();
    run_program((const char *const[]){"cp", in, out, NULL});
    run_program((const char *const[]){"sync", out, NULL});
    printf("%-10s %8.2f s %8.0f MB/s  (with sync)\n", "cp", now() - begin,
           (double)size / (now() - begin) / 1e6);
    (void)unlink(out);
    if (source_open_fd(&from, open(in, O_RDONLY | O_CLOEXEC), false, 0, &default_allocator,
                       &error) != GUFO_OK)
        die(in, error.message);
    job = job_between(&from, size);
    if (job_add_move(job, 0, 0, size, 0, 0, gufo_str_of("all"), &error) != GUFO_OK)
        die("move", error.message);
    run(job, "move", out, size, 0);
    source_close(&from);
    (void)unlink(in);
    (void)unlink(out);
}

/* ---- transpose ------------------------------------------------------------------------------ */

/* Halves that are never infinite: what the matrix holds follows from the place. */
static gufo_status generate(void *context, uint64_t offset, void *buffer, size_t size,
                            gufo_error *error)
{
    (void)error;
    atomic_fetch_add((atomic_ullong *)context, size);
    memset(buffer, (int)(offset >> 12 & 0x3f), size);
    return GUFO_OK;
}

static void measure_transpose(const char *out)
{
    atomic_ullong read = 0;
    uint64_t size = (uint64_t)ROWS * COLUMNS * 2;
    const gufo_source user = {.context = &read, .size = size, .read = generate};
    const gufo_element_type *half = gufo_element_type_by_id(GUFO_TYPE_F16);
    segment all = {.count = {ROWS, 1, 1}, .stride = {1, 0, 0}};
    made result = {.row_bytes = ROWS * 2, .type = half};
    gufo_error error;
    gufo_job *job;
    source from;

    source_open_user(&from, &user, 0, &default_allocator);
    rows r = {
        .source = &from, .row_bytes = COLUMNS * 2, .count = ROWS, .columns = COLUMNS, .type = half};
    piece turned = {.how = PIECE_MAKE,
                    .name = gufo_str_of("turned"),
                    .sources = &r,
                    .segments = &all,
                    .made = &result,
                    .n_sources = 1,
                    .n_segments = 1,
                    .n_made = 1,
                    .transpose = true,
                    .columns = ROWS,
                    .slices = 1,
                    .slice_rows = COLUMNS};

    job = job_between(&from, size);
    if (job_add_piece(job, &turned, &error) != GUFO_OK)
        die("transpose", error.message);
    run(job, "transpose", out, size, UINT64_C(256) << 20);
    printf("%-10s each byte was read %.3f times\n", "", (double)atomic_load(&read) / (double)size);
    source_close(&from);
    (void)unlink(out);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"folder", required_argument, NULL, 'f'}, {"mib", required_argument, NULL, 'm'}, {0}};
    const char *folder = ".";
    unsigned mib = 1024;
    char in[1024], out[1024];

    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        if (o == 'f')
            folder = optarg;
        else if (o == 'm')
            mib = (unsigned)strtoul(optarg, NULL, 10);
        else
            return 2;
    (void)snprintf(in, sizeof in, "%.500s/bench_produce.in", folder);
    (void)snprintf(out, sizeof out, "%.500s/bench_produce.out", folder);
    measure_move(in, out, mib);
    measure_transpose(out);
    return 0;
}
