/* A run of many workers, event by event.
 *
 *     simulate [OPTION...] FIGURES.tsv... MODEL MACHINE FILES
 *
 *     --workers N,N,...  how many (1,2,5,10,20,50,100,200,500,1000)
 *     --parts C          how many parts (N, multiplied until there are 64)
 *     --times X          parts: X times as many
 *     --fixed            every worker has its share (--part K/N); else each takes the next part
 *     --trouble NAME     slow machines, failures
 *     --seed S, --runs R the mean of R runs with seeds S, S + 1, ... (1, 1)
 *     --set NAME=VALUE   a figure
 *     --advise           what the formula advises instead
 *     --within P         exit status 1 if the formula is more than P percent apart
 *     -j                 JSON
 *
 * FIGURES.tsv has lines THING, NAME, FIGURE, VALUE between tabs: what is known of models, machines, file
 * systems and troubles.  The figures are those of src/cli/parts/advice.h, and four more:
 *
 *     weights:TYPE  of a model: weights that become this type
 *     decode        of a model: the type that they are read as
 *     speed         of a machine's core, against the one that bench_codec ran on
 *     copy_rate     of a machine's core: bytes per second that it reads or writes, if it does nothing else
 *
 * Lines "codec TYPE encode|decode MILLION" are what bench_codec measured; a CSV of bench_codec is read
 * as well.
 *
 * What runs are workers that begin one after the other, make parts and log them, fail and come back.
 * All steps of a part go on at once (or one after the other, if staged), as fast as the slowest of them;
 * what is shared is shared fairly: nobody gets more than those that want more.  Rates change only when a
 * worker begins or ends something, so between two events everything is linear.  The closed formula knows
 * nothing of this: where both agree, it is right. */
#include "cli/parts/advice.h"

#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn static void die(const char *what, const char *message)
{
    fprintf(stderr, "simulate: %s: %s\n", what, message);
    exit(2);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);

    if (memory == NULL)
        die("calloc", "no memory");
    return memory;
}

/* ---- figures -------------------------------------------------------------------------------- */

enum { COLUMNS = 5, MOST_LINES = 4096, MOST_WORD = 32, UNIT_WEIGHTS = 256 * 1024 };

typedef struct line {
    char thing[MOST_WORD], name[MOST_WORD], figure[MOST_WORD];
    char text[MOST_WORD]; /* the value */
    double value;
} line;

static line lines[MOST_LINES];
static size_t line_count;

static void copy_word(char to[MOST_WORD], const char *from)
{
    if (snprintf(to, MOST_WORD, "%s", from) >= MOST_WORD)
        die(from, "longer than 31 characters");
}

static void add_line(const char *thing, const char *name, const char *figure, const char *value)
{
    line *l = &lines[line_count];
    char *end;

    if (line_count++ == MOST_LINES)
        die(name, "more than 4096 lines");
    copy_word(l->thing, thing);
    copy_word(l->name, name);
    copy_word(l->figure, figure);
    copy_word(l->text, value);
    l->value = strtod(value, &end);
    if (strcmp(figure, "decode") != 0 || strcmp(thing, "codec") == 0)
        if (*end != '\0' || !(l->value >= 0))
            die(value, "not a number from 0");
}

/* THING, NAME, FIGURE, VALUE; or a line of bench_codec --csv: type, direction, effort, by, million
 * weights per second.  The last of its instruction sets is the one that counts. */
static void add_cells(const char *path, char *cells[COLUMNS], size_t count)
{
    if (count == 4)
        add_line(cells[0], cells[1], cells[2], cells[3]);
    else if (count != COLUMNS)
        die(path, "a line without THING, NAME, FIGURE, VALUE");
    else if (strncmp(cells[3], "ggml", 4) != 0 && strcmp(cells[0], "type") != 0)
        add_line("codec", cells[0], cells[1], cells[4]);
}

static void read_figures(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL, *cells[COLUMNS];
    size_t room = 0;

    if (file == NULL)
        die(path, "cannot be read");
    while (getline(&text, &room, file) > 0) {
        size_t count = 0;

        for (char *rest, *cell = strtok_r(text, "\t,\n", &rest);
             cell != NULL && *text != '#' && count < COLUMNS; cell = strtok_r(NULL, "\t,\n", &rest))
            cells[count++] = cell;
        if (count > 0)
            add_cells(path, cells, count);
    }
    free(text);
    fclose(file);
}

/* The last line counts. */
static const line *find_figure(const char *thing, const char *name, const char *figure)
{
    for (size_t i = line_count; i-- > 0;)
        if (strcmp(lines[i].thing, thing) == 0 && strcmp(lines[i].name, name) == 0 &&
            strcmp(lines[i].figure, figure) == 0)
            return &lines[i];
    return NULL;
}

static const struct {
    const char *name;
    size_t at;
} members[] = {
#define FIGURE(name)                      \
    {                                     \
#name, offsetof(advice_run, name) \
    }
    FIGURE(read_bytes),
    FIGURE(write_bytes),
    FIGURE(core_seconds),
    FIGURE(part_core_seconds),
    FIGURE(most_parts),
    FIGURE(cores),
    FIGURE(read_rate),
    FIGURE(write_rate),
    FIGURE(disk_rate),
    FIGURE(read_cap),
    FIGURE(write_cap),
    FIGURE(both_cap),
    FIGURE(core_cap),
    FIGURE(operation_cap),
    FIGURE(start),
    FIGURE(launch_rate),
    FIGURE(plan),
    FIGURE(reserve),
    FIGURE(operation_time),
    FIGURE(start_operations),
    FIGURE(part_operations),
    FIGURE(commit),
    FIGURE(commit_part),
    FIGURE(slow_share),
    FIGURE(slow_factor),
    FIGURE(fail_every),
    FIGURE(restart),
    FIGURE(log_every),
    FIGURE(silence),
#undef FIGURE
};

/* False if advice_run has no such figure. */
static bool set_member(advice_run *run, const char *figure, double value)
{
    if (strcmp(figure, "staged") == 0) {
        run->staged = value != 0;
        return true;
    }
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(members[i].name, figure) == 0) {
            memcpy((char *)run + members[i].at, &value, sizeof value);
            return true;
        }
    return false;
}

/* A machine and a file system both limit what a worker reads and writes: the lower one counts. */
static void take_line(advice_run *run, const line *l)
{
    double *rate = strcmp(l->figure, "read_rate") == 0    ? &run->read_rate
                   : strcmp(l->figure, "write_rate") == 0 ? &run->write_rate
                                                          : NULL;

    if (rate != NULL)
        *rate = *rate > 0 ? fmin(*rate, l->value) : l->value;
    else if (!set_member(run, l->figure, l->value) && strcmp(l->figure, "speed") != 0 &&
             strcmp(l->figure, "copy_rate") != 0 && strcmp(l->figure, "decode") != 0 &&
             strncmp(l->figure, "weights:", 8) != 0)
        die(l->figure, "not a figure");
}

static void take_thing(advice_run *run, const char *thing, const char *name)
{
    bool found = false;

    for (size_t i = 0; i < line_count; i++)
        if (strcmp(lines[i].thing, thing) == 0 && strcmp(lines[i].name, name) == 0) {
            take_line(run, &lines[i]);
            found = true;
        }
    if (!found)
        die(name, "no figures of it");
}

static double seconds_of_codec(const char *type, const char *direction, double weights)
{
    const line *rate = find_figure("codec", type, direction);

    if (rate == NULL || !(rate->value > 0))
        die(type, "no figure of bench_codec");
    return weights / rate->value / 1e6;
}

/* What the cores do in all, and in the unit that each part makes beside its own. */
static void add_core_seconds(advice_run *run, const char *model, const char *machine)
{
    const line *speed = find_figure("machine", machine, "speed"),
               *copy = find_figure("machine", machine, "copy_rate"),
               *decode = find_figure("model", model, "decode");
    double seconds = 0, weights = 0;

    for (size_t i = 0; i < line_count; i++)
        if (strcmp(lines[i].thing, "model") == 0 && strcmp(lines[i].name, model) == 0 &&
            strncmp(lines[i].figure, "weights:", 8) == 0) {
            weights += lines[i].value;
            seconds += seconds_of_codec(lines[i].figure + 8, "encode", lines[i].value);
            if (decode != NULL)
                seconds += seconds_of_codec(decode->text, "decode", lines[i].value);
        }
    if (copy != NULL)
        seconds += (run->read_bytes + run->write_bytes) / copy->value;
    if (speed != NULL)
        seconds /= speed->value;
    run->core_seconds += seconds;
    run->part_core_seconds += weights > 0 ? seconds / weights * UNIT_WEIGHTS : 0;
}

/* ---- chance --------------------------------------------------------------------------------- */

static uint64_t chance_state;

/* From 0 to below 1. */
static double chance(void)
{
    uint64_t x = chance_state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

/* ---- workers -------------------------------------------------------------------------------- */

/* What parts need of each; the first four are shared. */
enum { READ, WRITE, BOTH, CORES, SHARED };
enum { NO_PART = -1, STEPS_MOST = 3 };

/* A part, or if staged a third of it: what all of it needs, and how fast a worker alone does it. */
typedef struct step {
    double needs[SHARED];
    double rate; /* per second */
} step;

typedef enum state { WAITING, STARTING, IDLE, OPENING, WORKING, DOWN } state;

typedef struct worker {
    state state;
    double until; /* WAITING, STARTING, OPENING, DOWN: ends then */
    double fails; /* the next time */
    double slow;  /* takes so many times as long */
    double done;  /* of its step, 0 to 1 */
    double rate;  /* of its step, now */
    double began; /* its part */
    int64_t part;
    size_t step;
    uint64_t next, end; /* of its share, if fixed */
} worker;

/* A part that a dead worker left, and from when others may go on with it. */
typedef struct orphan {
    int64_t part;
    size_t step;
    double done, from;
} orphan;

typedef struct simulation {
    const advice_run *run;
    uint64_t workers, parts, completed, next;
    double now, operations_free; /* when the metadata server has done all that was asked */
    worker *all;
    orphan *orphans;
    size_t orphan_count, step_count;
    step steps[STEPS_MOST];
    double caps[SHARED];
    /* What came of it. */
    double busy, lost;
    uint64_t failures, events;
} simulation;

static double rate_of(double amount, double rate)
{
    return amount > 0 && rate > 0 ? rate / amount : INFINITY;
}

static void make_steps(simulation *s)
{
    const advice_run *run = s->run;
    double parts = (double)s->parts, in = run->read_bytes / parts, out = run->write_bytes / parts;
    double work = run->core_seconds / parts + run->part_core_seconds;
    double encoding = fmin(rate_of(work, run->cores), rate_of(in + out, run->disk_rate));
    const double caps[SHARED] = {run->read_cap, run->write_cap, run->both_cap, run->core_cap};

    memcpy(s->caps, caps, sizeof caps);
    if (run->staged) {
        s->steps[0] = (step){{[READ] = in, [BOTH] = in}, rate_of(in, run->read_rate)};
        s->steps[1] = (step){{[CORES] = work}, encoding};
        s->steps[2] = (step){{[WRITE] = out, [BOTH] = out}, rate_of(out, run->write_rate)};
        s->step_count = 3;
    } else {
        s->steps[0] = (step){
            {in, out, in + out, work},
            fmin(fmin(rate_of(in, run->read_rate), rate_of(out, run->write_rate)), encoding)};
        s->step_count = 1;
    }
    for (size_t i = 0; i < s->step_count; i++) /* nothing to do takes next to no time */
        s->steps[i].rate = fmin(s->steps[i].rate, 1e9);
}

/* When `operations` that are asked for now are done. */
static double opened(simulation *s, double operations)
{
    if (s->run->operation_cap > 0) {
        s->operations_free = fmax(s->operations_free, s->now) + operations / s->run->operation_cap;
        return fmax(s->operations_free, s->now + operations * s->run->operation_time);
    }
    return s->now + operations * s->run->operation_time;
}

static void begin_part(simulation *s, worker *w, orphan from)
{
    w->part = from.part;
    w->step = from.step;
    w->done = from.done;
    w->state = OPENING;
    w->began = s->now;
    w->until = opened(s, s->run->part_operations);
}

/* The next part of a worker: one that nobody has begun, or one that is silent.  IDLE until then. */
static void take_part(simulation *s, worker *w)
{
    w->state = IDLE;
    w->part = NO_PART;
    if (s->run->fixed ? w->next < w->end : s->next < s->parts) {
        begin_part(s, w, (orphan){.part = (int64_t)(s->run->fixed ? w->next++ : s->next++)});
        return;
    }
    for (size_t i = 0; i < s->orphan_count && !s->run->fixed; i++)
        if (s->orphans[i].from <= s->now) {
            begin_part(s, w, s->orphans[i]);
            s->orphans[i] = s->orphans[--s->orphan_count];
            return;
        }
}

static double next_failure(const simulation *s)
{
    return s->run->fail_every > 0 ? s->now - s->run->fail_every * log(1 - chance()) : INFINITY;
}

static void begin_workers(simulation *s)
{
    const advice_run *run = s->run;
    uint64_t n = s->workers, c = s->parts;
    uint64_t slow = run->slow_factor > 1 ? (uint64_t)(run->slow_share * (double)n + 0.5) : 0;

    for (uint64_t i = 0; i < n; i++) {
        worker *w = &s->all[i];

        *w = (worker){.part = NO_PART, .slow = 1, .next = (i * c + n - 1) / n};
        w->end = ((i + 1) * c + n - 1) / n;
        w->until = run->start + run->plan + run->reserve +
                   (run->launch_rate > 0 ? (double)i / run->launch_rate : 0);
    }
    while (slow > 0) {
        worker *w = &s->all[(uint64_t)(chance() * (double)n)];

        slow -= w->slow <= 1;
        w->slow = run->slow_factor;
    }
}

/* ---- rates ---------------------------------------------------------------------------------- */

/* The level up to which everyone may use a resource so that all use its cap: those below it want no more. */
static double fair_level(const simulation *s, size_t resource)
{
    double level = 0, before = -1;

    while (level > before) {
        double left = s->caps[resource];
        uint64_t above = 0;

        before = level;
        for (uint64_t i = 0; i < s->workers; i++) {
            const worker *w = &s->all[i];
            double use = w->rate * s->steps[w->step].needs[resource];

            if (w->state == WORKING && use > 0) {
                above += use > level;
                left -= use > level ? 0 : use;
            }
        }
        if (above == 0)
            return INFINITY; /* nobody wants more */
        level = left / (double)above;
    }
    return level;
}

static void share_resources(simulation *s)
{
    for (uint64_t i = 0; i < s->workers; i++)
        s->all[i].rate = s->steps[s->all[i].step].rate / s->all[i].slow;
    for (size_t r = 0; r < SHARED; r++) {
        double level = s->caps[r] > 0 ? fair_level(s, r) : INFINITY;

        for (uint64_t i = 0; i < s->workers && level < INFINITY; i++) {
            worker *w = &s->all[i];
            double need = s->steps[w->step].needs[r];

            if (need * w->rate > level)
                w->rate = level / need;
        }
    }
}

/* ---- events --------------------------------------------------------------------------------- */

static double next_of_worker(const simulation *s, const worker *w)
{
    double due = w->state == WORKING ? s->now + (1 - w->done) / w->rate
                 : w->state == IDLE  ? INFINITY
                                     : w->until;

    return w->state == WORKING || w->state == OPENING ? fmin(due, w->fails) : due;
}

static double next_event(const simulation *s)
{
    double next = INFINITY;

    for (uint64_t i = 0; i < s->workers; i++)
        next = fmin(next, next_of_worker(s, &s->all[i]));
    for (size_t i = 0; i < s->orphan_count && !s->run->fixed; i++)
        if (s->orphans[i].from > s->now)
            next = fmin(next, s->orphans[i].from);
    return next;
}

/* The work since the last log is lost, at most what the part had.  A worker with a share comes back to
 * its part; else the part is left to whoever finds its log silent. */
static void fail(simulation *s, worker *w)
{
    double unlogged = fmin(chance() * s->run->log_every, s->now - w->began);
    double lost = w->state == WORKING ? fmin(w->done, unlogged * w->rate) : 0;
    orphan left = {w->part, w->step, w->done - lost, s->now + s->run->silence};

    s->failures++;
    s->lost += lost > 0 ? lost / w->rate : 0;
    s->busy -= lost > 0 ? lost / w->rate : 0;
    if (s->run->fixed)
        w->done = left.done;
    else {
        s->orphans[s->orphan_count++] = left;
        w->part = NO_PART;
    }
    w->state = DOWN;
    w->until = s->now + s->run->restart;
}

static void end_step(simulation *s, worker *w)
{
    w->done = 0;
    if (++w->step < s->step_count)
        return;
    w->step = 0;
    s->completed++;
    take_part(s, w);
}

static void handle(simulation *s, worker *w)
{
    switch (w->state) {
    case WAITING:
        w->state = STARTING;
        w->until = opened(s, s->run->start_operations);
        return;
    case STARTING:
        w->fails = next_failure(s);
        take_part(s, w);
        return;
    case IDLE:
        take_part(s, w);
        return;
    case DOWN:
        w->fails = next_failure(s);
        if (w->part == NO_PART)
            take_part(s, w);
        else
            begin_part(s, w, (orphan){w->part, w->step, w->done, 0});
        return;
    case OPENING:
        if (w->fails <= s->now)
            fail(s, w);
        else
            w->state = WORKING;
        return;
    case WORKING:
        if (1 - w->done <= 1e-9)
            end_step(s, w);
        else if (w->fails <= s->now)
            fail(s, w);
    }
}

/* Whether a worker has something to do now. */
static bool is_due(const simulation *s, const worker *w)
{
    if (w->state == IDLE)
        return s->orphan_count > 0;
    if (w->state == WORKING)
        return 1 - w->done <= 1e-9 || w->fails <= s->now;
    return w->until <= s->now || (w->state == OPENING && w->fails <= s->now);
}

static void pass_time(simulation *s, double until)
{
    double seconds = until - s->now;

    for (uint64_t i = 0; i < s->workers; i++) {
        worker *w = &s->all[i];

        if (w->state == WORKING) {
            w->done += w->rate * seconds;
            s->busy += seconds;
        }
    }
    s->now = until;
}

/* Everything until the last part is complete. */
static void simulate(simulation *s)
{
    make_steps(s);
    begin_workers(s);
    while (s->completed < s->parts) {
        double next = next_event(s);

        if (!(next < INFINITY))
            die("simulation", "nothing happens any more");
        pass_time(s, next);
        for (uint64_t i = 0; i < s->workers; i++)
            if (is_due(s, &s->all[i]))
                handle(s, &s->all[i]);
        share_resources(s);
        s->events++;
    }
    s->now += s->run->commit + s->run->commit_part * (double)s->parts;
}

/* ---- report --------------------------------------------------------------------------------- */

typedef struct row {
    uint64_t workers, parts;
    double seconds, worst, busy, lost, failures;
    advice_time formula;
} row;

static const char *const limit_names[] = {
    [ADVICE_ENCODE] = "encoding",       [ADVICE_LINK] = "link",
    [ADVICE_SHARED] = "shared",         [ADVICE_CORES] = "cores",
    [ADVICE_OPERATIONS] = "operations", [ADVICE_BEGIN] = "begin",
};

static row run_row(const advice_run *run, uint64_t workers, uint64_t parts, uint64_t seed,
                   unsigned runs)
{
    row r = {.workers = workers, .parts = parts, .formula = advice_predict(run, workers, parts)};

    for (unsigned i = 0; i < runs; i++) {
        simulation s = {.run = run, .workers = workers, .parts = parts};

        chance_state = seed + i;
        s.all = allocate(workers, sizeof *s.all);
        s.orphans = allocate(workers + parts, sizeof *s.orphans);
        simulate(&s);
        free(s.all);
        free(s.orphans);
        r.seconds += s.now / runs;
        r.worst = fmax(r.worst, s.now);
        r.busy += s.busy / (s.now * (double)workers) / runs;
        r.lost += s.lost / runs;
        r.failures += (double)s.failures / runs;
    }
    return r;
}

static void print_row(const row *r, double alone, bool with_failures)
{
    printf("%7llu %7llu %9.2f %9.2f %6.1f %9.1f %6.0f %6.0f  %-*s", (unsigned long long)r->workers,
           (unsigned long long)r->parts, r->seconds, r->formula.seconds,
           100 * (r->formula.seconds / r->seconds - 1), alone / r->seconds,
           100 * alone / r->seconds / (double)r->workers, 100 * r->busy, with_failures ? 10 : 0,
           limit_names[r->formula.limit]);
    if (with_failures)
        printf(" %9.2f %9.1f %9.1f", r->worst, r->failures, r->lost);
    printf("\n");
}

static void write_row(const row *r, double alone)
{
    printf("{\"workers\":%llu,\"parts\":%llu,\"seconds\":%.3f,\"worst_seconds\":%.3f,"
           "\"formula_seconds\":%.3f,\"speedup\":%.3f,\"busy\":%.4f,\"failures\":%.3f,"
           "\"lost_seconds\":%.3f,\"limit\":\"%s\"}\n",
           (unsigned long long)r->workers, (unsigned long long)r->parts, r->seconds, r->worst,
           r->formula.seconds, alone / r->seconds, r->busy, r->failures, r->lost,
           limit_names[r->formula.limit]);
}

static void print_advice(const advice_run *run)
{
    advice a = advice_choose(run, 1000);

    printf("one worker     %10.1f s, limited by %s\n", a.alone.seconds, limit_names[a.alone.limit]);
    if (a.one_is_enough)
        printf("one is enough\n");
    else
        printf("%4llu workers   %10.1f s, limited by %s, %llu parts of %.1f s\n",
               (unsigned long long)a.workers, a.best.seconds, limit_names[a.best.limit],
               (unsigned long long)a.parts, a.best.part);
}

/* ---- the program ---------------------------------------------------------------------------- */

typedef struct options {
    const char *workers, *trouble;
    uint64_t parts, times, seed, within;
    unsigned runs;
    bool json, fixed, advise;
    const char *set[64];
    size_t set_count;
} options;

_Noreturn static void usage(void)
{
    fputs("usage: simulate [--workers N,...] [--parts C | --times X] [--fixed] [--trouble NAME] "
          "[--seed S]\n"
          "                [--runs R] [--set NAME=VALUE]... [--advise] [--within P] [-j] "
          "FIGURES.tsv... MODEL "
          "MACHINE FILES\n",
          stderr);
    exit(2);
}

static uint64_t read_count(const char *text)
{
    char *end;
    unsigned long long count = strtoull(text, &end, 10);

    if ((*end != '\0' && *end != ',') || count < 1 || count > 10000000)
        die(text, "not a count from 1 to 10,000,000");
    return count;
}

static void read_options(options *o, int argc, char **argv)
{
    static const struct option known[] = {
        {"workers", required_argument, NULL, 'w'}, {"parts", required_argument, NULL, 'p'},
        {"times", required_argument, NULL, 'x'},   {"fixed", no_argument, NULL, 'f'},
        {"trouble", required_argument, NULL, 't'}, {"seed", required_argument, NULL, 's'},
        {"runs", required_argument, NULL, 'r'},    {"set", required_argument, NULL, 'S'},
        {"advise", no_argument, NULL, 'a'},        {"within", required_argument, NULL, 'i'},
        {"json", no_argument, NULL, 'j'},          {0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "j", known, NULL)) != -1)
        switch (option) {
        case 'w':
            o->workers = optarg;
            break;
        case 'p':
            o->parts = read_count(optarg);
            break;
        case 'x':
            o->times = read_count(optarg);
            break;
        case 'f':
            o->fixed = true;
            break;
        case 't':
            o->trouble = optarg;
            break;
        case 's':
            o->seed = read_count(optarg);
            break;
        case 'r':
            o->runs = (unsigned)read_count(optarg);
            break;
        case 'i':
            o->within = read_count(optarg);
            break;
        case 'a':
            o->advise = true;
            break;
        case 'j':
            o->json = true;
            break;
        case 'S':
            if (o->set_count == sizeof o->set / sizeof *o->set)
                usage();
            o->set[o->set_count++] = optarg;
            break;
        default:
            usage();
        }
    if (argc - optind < 4)
        usage();
}

static advice_run read_run(const options *o, char **names)
{
    advice_run run = {.fixed = o->fixed};

    take_thing(&run, "model", names[0]);
    take_thing(&run, "machine", names[1]);
    take_thing(&run, "files", names[2]);
    if (o->trouble != NULL)
        take_thing(&run, "trouble", o->trouble);
    for (size_t i = 0; i < o->set_count; i++) {
        char name[64];
        double value;

        if (sscanf(o->set[i], "%63[a-z_]=%lf", name, &value) != 2 || !set_member(&run, name, value))
            die(o->set[i], "not NAME=VALUE of a figure");
    }
    add_core_seconds(&run, names[0], names[1]);
    return run;
}

static uint64_t count_parts(const options *o, const advice_run *run, uint64_t workers)
{
    uint64_t parts = workers;

    while (parts < 64)
        parts += workers;
    parts = o->parts > 0 ? o->parts : parts * o->times;
    return run->most_parts >= 1 && (double)parts > run->most_parts ? (uint64_t)run->most_parts
                                                                   : parts;
}

int main(int argc, char **argv)
{
    options o = {.workers = "1,2,5,10,20,50,100,200,500,1000", .times = 1, .seed = 1, .runs = 1};
    double alone = 0, apart = 0;
    advice_run run;

    read_options(&o, argc, argv);
    for (int i = optind; i < argc - 3; i++)
        read_figures(argv[i]);
    run = read_run(&o, argv + argc - 3);
    if (o.advise) {
        print_advice(&run);
        return 0;
    }
    if (!o.json)
        printf("workers   parts         s   formula      %%   speedup   %%eff  %%busy  limit%s\n",
               run.fail_every > 0 ? "          worst  failures    lost s" : "");
    for (const char *at = o.workers; *at != '\0'; at += strcspn(at, ",")) {
        uint64_t workers = read_count(at += *at == ',');
        row r = run_row(&run, workers, count_parts(&o, &run, workers), o.seed, o.runs);

        if (alone <= 0)
            alone = workers == 1
                        ? r.seconds
                        : run_row(&run, 1, count_parts(&o, &run, 1), o.seed, o.runs).seconds;
        apart = fmax(apart, fabs(r.formula.seconds / r.seconds - 1));
        if (o.json)
            write_row(&r, alone);
        else
            print_row(&r, alone, run.fail_every > 0);
        fflush(stdout);
    }
    return o.within > 0 && 100 * apart > (double)o.within;
}
