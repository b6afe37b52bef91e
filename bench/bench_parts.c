/* How long parts of one quantization take with several processes on this machine.
 *
 *     bench_parts [-n RUNS] [-w N,N,...] MODEL OUT TYPE
 *
 * One line each for gufo_job_run in one process, and for N processes (1, 2 and 4) that make all parts, one
 * after the other, and a commit; every process has one thread, and every tensor becomes TYPE.  The runs
 * (5) take turns, and the shortest counts.  OUT is removed.  Seconds are those of the clock from the start
 * of the processes to the end of the commit; CPU seconds of all processes of the shortest run. */
#include <gufo.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ROWS = 16 };

_Noreturn static void die(const char *what, const char *message)
{
    fprintf(stderr, "bench_parts: %s: %s\n", what, message);
    exit(1);
}

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of all processes that have ended. */
static double cpu_of_children(void)
{
    struct rusage u;

    (void)getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

typedef struct task {
    const char *model, *out;
    gufo_quantize_target target;
} task;

typedef enum what { PLAIN, PARTS, COMMIT } what;

/* What a process does; `workers` is how many there are. */
static uint64_t work(const task *t, what do_what, uint64_t workers)
{
    const gufo_quantize_options options = {.recipe.target = t->target};
    const gufo_job_options files = {.path = t->out, .flags = GUFO_JOB_REPLACE};
    const gufo_run run = {.threads = 1};
    const gufo_part part = {.next = true, .workers = workers};
    gufo_part_result result = {0};
    uint64_t missing = 0;
    gufo_error error = {.message = ""};
    gufo_model *model = gufo_model_open(t->model, NULL, &error);
    gufo_quantizer *quantizer = model != NULL ? gufo_quantizer_new(model, &options, &error) : NULL;
    gufo_job *job = quantizer != NULL ? gufo_quantizer_job(quantizer) : NULL;
    bool done = false;
    gufo_status status = error.code;

    if (job != NULL && do_what == PLAIN)
        status = gufo_job_run(job, &files, &run, &error);
    else if (job != NULL && do_what == PARTS)
        status = gufo_plan_run(job, &files, &part, NULL, &run, &result, &error);
    else if (job != NULL)
        status = gufo_plan_commit(job, &files, &run, &missing, &error);
    if (status == GUFO_OK && do_what == COMMIT)
        status = gufo_plan_clean(t->out, &done, &error);
    if (job == NULL || status != GUFO_OK)
        die(t->out, error.message);
    gufo_quantizer_free(quantizer);
    gufo_model_free(model);
    return result.count;
}

static void start(const task *t, what do_what, uint64_t workers)
{
    pid_t child = fork();

    if (child < 0)
        die("fork", "no process");
    if (child == 0) {
        (void)work(t, do_what, workers);
        exit(0);
    }
}

static void wait_for_all(void)
{
    int outcome;

    while (wait(&outcome) > 0)
        if (outcome != 0)
            die("a process", "failed");
}

typedef struct row {
    uint64_t workers; /* 0: gufo_job_run */
    double seconds, commit, cpu;
} row;

static void run_once(const task *t, row *r)
{
    double cpu = cpu_of_children(), begin = now(), middle, end;

    (void)unlink(t->out);
    for (uint64_t i = 0; i < (r->workers > 0 ? r->workers : 1); i++)
        start(t, r->workers > 0 ? PARTS : PLAIN, r->workers);
    wait_for_all();
    middle = now();
    if (r->workers > 0)
        start(t, COMMIT, 0);
    wait_for_all();
    end = now();
    if (end - begin < r->seconds)
        *r = (row){r->workers, end - begin, end - middle, cpu_of_children() - cpu};
}

int main(int argc, char **argv)
{
    row rows[MOST_ROWS] = {{.workers = 0}};
    const char *workers = "1,2,4";
    size_t count = 1;
    int option, runs = 5;
    task t;

    while ((option = getopt(argc, argv, "n:w:")) != -1)
        if (option == 'n')
            runs = atoi(optarg);
        else if (option == 'w')
            workers = optarg;
    if (argc - optind != 3 || !gufo_quantize_target_by_name(argv[optind + 2], true, &t.target)) {
        fputs("usage: bench_parts [-n RUNS] [-w N,N,...] MODEL OUT TYPE\n", stderr);
        return 2;
    }
    t.model = argv[optind];
    t.out = argv[optind + 1];
    for (const char *at = workers; *at != '\0' && count < MOST_ROWS; at += strspn(at, ",")) {
        rows[count++].workers = strtoull(at, NULL, 10);
        at += strcspn(at, ",");
    }
    for (size_t i = 0; i < count; i++)
        rows[i].seconds = INFINITY;
    for (int run = 0; run < runs; run++)
        for (size_t i = 0; i < count; i++)
            run_once(&t, &rows[i]);
    printf("processes        s  commit s  CPU s\n");
    for (size_t i = 0; i < count; i++)
        printf("%9" PRIu64 " %8.3f %9.3f %6.2f%s\n", rows[i].workers, rows[i].seconds,
               rows[i].commit, rows[i].cpu, rows[i].workers > 0 ? "" : "  gufo_job_run");
    (void)unlink(t.out);
    return 0;
}
