/* Whether gufo_allocate finds the optima of tables, and how fast.
 *
 *     bench_allocate OPTIONS.tsv OPTIMA.tsv
 *
 * Tables have one line of names of columns, then lines of values between tabs; other columns are
 * ignored.
 *     OPTIONS    instance, tensor, bytes, loss: one option of a tensor for each line; an instance's
 *                lines, and a tensor's, follow each other
 *     OPTIMA     instance, budget, optimal_loss; and, where they are there, status ("infeasible" or
 *                another word), optimal_bytes, lp_bound, choice
 *
 * Every budget is solved.  Printed are those that differ, and then how many agree and the time.  Exit
 * status 1 if a loss, or whether there is a solution at all, differs. */
#include <gufo.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void die(const char *what, const char *message)
{
    fprintf(stderr, "bench_allocate: %s: %s\n", what, message);
    exit(2);
}

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *grow(void *list, size_t count, size_t size)
{
    if ((count & (count - 1)) == 0 && (list = realloc(list, (2 * count + 1) * size)) == NULL)
        die("realloc", "no memory");
    return list;
}

/* ---- tables --------------------------------------------------------------------------------- */

enum { COLUMNS = 16 };

typedef struct table {
    const char *path;
    FILE *file;
    char *line, *names, *values[COLUMNS], *columns[COLUMNS];
    size_t room, count;
} table;

/* Cuts a line at its tabs; returns the number of parts. */
static size_t cut(char *line, char *parts[COLUMNS])
{
    size_t count = 0;

    line[strcspn(line, "\n")] = '\0';
    for (char *at = line; at != NULL && count < COLUMNS; count++) {
        parts[count] = at;
        at = strchr(at, '\t');
        if (at != NULL)
            *at++ = '\0';
    }
    return count;
}

/* The next line; false at the end. */
static bool read_line(table *t)
{
    if (getline(&t->line, &t->room, t->file) < 0)
        return false;
    if (cut(t->line, t->values) < t->count)
        die(t->path, "a line is too short");
    return true;
}

static table open_table(const char *path)
{
    table t = {.path = path, .file = fopen(path, "r")};

    if (t.file == NULL || getline(&t.names, &t.room, t.file) < 0)
        die(path, "cannot be read");
    t.room = 0;
    t.count = cut(t.names, t.columns);
    return t;
}

static void close_table(table *t)
{
    fclose(t->file);
    free(t->line);
    free(t->names);
}

/* The value of a column; NULL if the table does not have it. */
static const char *value_of(const table *t, const char *column)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->columns[i], column) == 0)
            return t->values[i];
    return NULL;
}

static const char *need_value(const table *t, const char *column)
{
    const char *value = value_of(t, column);

    if (value == NULL)
        die(t->path, column);
    return value;
}

/* ---- instances ------------------------------------------------------------------------------ */

typedef struct instance {
    char *name;
    size_t first, count; /* of its groups */
} instance;

typedef struct problems {
    instance *instances;
    gufo_allocate_group *groups; /* of all instances; their options are set at the end */
    gufo_allocate_option *options;
    size_t instance_count, group_count, option_count;
} problems;

static void add_option(problems *p, const table *t, char **tensor)
{
    const char *name = need_value(t, "instance"), *member = need_value(t, "tensor");
    instance *last = p->instance_count > 0 ? &p->instances[p->instance_count - 1] : NULL;
    bool is_new = last == NULL || strcmp(last->name, name) != 0;

    if (is_new) {
        p->instances = grow(p->instances, p->instance_count, sizeof *p->instances);
        last = &p->instances[p->instance_count++];
        *last = (instance){.name = strdup(name), .first = p->group_count};
    }
    if (is_new || strcmp(*tensor, member) != 0) {
        p->groups = grow(p->groups, p->group_count, sizeof *p->groups);
        p->groups[p->group_count++] = (gufo_allocate_group){.count = 0};
        last->count++;
        free(*tensor);
        *tensor = strdup(member);
    }
    p->options = grow(p->options, p->option_count, sizeof *p->options);
    p->options[p->option_count++] =
        (gufo_allocate_option){.bytes = strtoull(need_value(t, "bytes"), NULL, 10),
                               .loss = strtod(need_value(t, "loss"), NULL)};
    p->groups[p->group_count - 1].count++;
}

static problems read_problems(const char *path)
{
    problems p = {.instances = NULL};
    table t = open_table(path);
    const gufo_allocate_option *options;
    char *tensor = NULL;

    while (read_line(&t))
        add_option(&p, &t, &tensor);
    close_table(&t);
    free(tensor);
    options = p.options;
    for (size_t i = 0; i < p.group_count; options += p.groups[i++].count)
        p.groups[i].options = options;
    return p;
}

static void free_problems(problems *p)
{
    for (size_t i = 0; i < p->instance_count; i++)
        free(p->instances[i].name);
    free(p->instances);
    free(p->groups);
    free(p->options);
}

static const instance *find_instance(const problems *p, const char *name)
{
    for (size_t i = 0; i < p->instance_count; i++)
        if (strcmp(p->instances[i].name, name) == 0)
            return &p->instances[i];
    die(name, "no such instance");
    return NULL;
}

/* ---- solving -------------------------------------------------------------------------------- */

typedef struct tally {
    size_t budgets, agree, proven, same_bytes, same_bound, same_choice;
    uint64_t most_states;
    double seconds, slowest;
} tally;

/* Whether a column has the number, or does not exist. */
static bool has_number(const table *t, const char *column, double number, double tolerance)
{
    const char *text = value_of(t, column);

    return text == NULL || fabs(strtod(text, NULL) - number) <= tolerance * number;
}

/* Whether the column "choice" has these options, if it exists. */
static bool has_choice(const table *t, const size_t *choice, size_t count)
{
    const char *text = value_of(t, "choice");

    for (size_t i = 0; text != NULL && i < count; i++) {
        if (strtoull(text, NULL, 10) != choice[i])
            return false;
        text += strcspn(text, ",");
        text += *text == ',';
    }
    return true;
}

/* Whether an answer is a solution: what it says about its bytes and its loss is true. */
static bool is_solution(const gufo_allocate_group *groups, size_t count, uint64_t budget,
                        const size_t *choice, const gufo_allocation *found)
{
    uint64_t bytes = 0;
    double loss = 0;

    for (size_t i = 0; i < count; i++) {
        bytes += groups[i].options[choice[i]].bytes;
        loss += groups[i].options[choice[i]].loss;
    }
    return bytes == found->bytes && bytes <= budget && fabs(loss - found->loss) <= 1e-12 * loss;
}

static void solve(const problems *p, const table *t, size_t *choice, tally *sums)
{
    const instance *in = find_instance(p, need_value(t, "instance"));
    const gufo_allocate_group *groups = p->groups + in->first;
    const char *status = value_of(t, "status"), *loss = need_value(t, "optimal_loss");
    uint64_t budget = strtoull(need_value(t, "budget"), NULL, 10);
    bool is_infeasible = status != NULL && strcmp(status, "infeasible") == 0, agrees;
    gufo_allocation found = {.bytes = 0};
    gufo_error error = {.message = ""};
    double start = now();
    gufo_status code = gufo_allocate(groups, in->count, budget, NULL, choice, &found, &error);
    double seconds = now() - start;

    if (code != GUFO_OK && code != GUFO_E_LIMIT)
        die(in->name, error.message);
    agrees = (code == GUFO_E_LIMIT) == is_infeasible &&
             (is_infeasible || (is_solution(groups, in->count, budget, choice, &found) &&
                                has_number(t, "optimal_loss", found.loss, 0)));
    if (!agrees)
        printf("%s, budget %" PRIu64 ": loss %.17g (%s), expected %s\n", in->name, budget,
               found.loss, code == GUFO_OK ? "found" : error.message, loss);
    sums->budgets++;
    sums->agree += agrees;
    sums->proven += is_infeasible || found.is_proven;
    sums->same_bytes += is_infeasible || has_number(t, "optimal_bytes", (double)found.bytes, 0);
    sums->same_bound += is_infeasible || has_number(t, "lp_bound", found.bound, 1e-6);
    sums->same_choice += is_infeasible || has_choice(t, choice, in->count);
    sums->seconds += seconds;
    sums->slowest = seconds > sums->slowest ? seconds : sums->slowest;
    sums->most_states = found.states > sums->most_states ? found.states : sums->most_states;
}

int main(int argc, char **argv)
{
    problems p;
    size_t most = 0, *choice;
    tally sums = {.budgets = 0};
    table t;

    if (argc != 3) {
        fputs("usage: bench_allocate OPTIONS.tsv OPTIMA.tsv\n", stderr);
        return 2;
    }
    p = read_problems(argv[1]);
    for (size_t i = 0; i < p.instance_count; i++)
        most = p.instances[i].count > most ? p.instances[i].count : most;
    choice = calloc(most + 1, sizeof *choice);
    if (choice == NULL)
        die("calloc", "no memory");
    t = open_table(argv[2]);
    while (read_line(&t))
        solve(&p, &t, choice, &sums);
    printf(
        "%zu of %zu budgets agree, %zu proven; bytes agree in %zu, bounds in %zu, choices in %zu\n",
        sums.agree, sums.budgets, sums.proven, sums.same_bytes, sums.same_bound, sums.same_choice);
    printf("%.1f ms in all, %.1f ms for the slowest; at most %" PRIu64 " states\n",
           1e3 * sums.seconds, 1e3 * sums.slowest, sums.most_states);
    close_table(&t);
    free(choice);
    free_problems(&p);
    return sums.agree == sums.budgets ? 0 : 1;
}
