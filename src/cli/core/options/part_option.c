/* --part K/N, next, auto: which share of a job this process makes.
 *
 * Engines that run workers say in the environment which one this is.  Shares are those of N equal workers, so that a
 * wrong one costs time, and never a byte. */
#include "cli/core/options/options.h"

#include "gufo/print.h"

#include <stdlib.h>
#include <string.h>

/* Variables of one engine.  An array may have tasks with ranks of their own: its row is the outer one. */
typedef struct rank_source {
    enum { UNCOUNTED, OUTER, INNER } level;
    const char *rank, *count; /* UNCOUNTED: it says no number of workers */
    const char *first, *last; /* of an array, which may begin anywhere and have gaps; else NULL */
} rank_source;

/* In each level the first one counts: mpirun inherits the variables of srun.  A batch script of Slurm has SLURM_PROCID,
 * too, and often SLURM_NTASKS, but is not a step: it runs once for all tasks. */
static const rank_source sources[] = {
    {UNCOUNTED, "JOB_COMPLETION_INDEX", NULL, NULL, NULL},
    {OUTER, "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
     "SLURM_ARRAY_TASK_MAX"},
    {INNER, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL, NULL},
    {INNER, "PMI_RANK", "PMI_SIZE", NULL, NULL},
    {INNER, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", NULL, NULL},
};

enum { SOURCES = sizeof sources / sizeof *sources };

static bool is_set(const char *name)
{
    const char *text = getenv(name);

    return text != NULL && *text != '\0';
}

static int read_variable(const char *name, uint64_t *out)
{
    const char *text = getenv(name), *at = text;

    if (text == NULL || *text == '\0')
        return report_usage("--part auto: %s is not set", name);
    return gufo_number_read(&at, out) && *at == '\0' && *out <= UINT32_MAX
               ? CODE_OK
               : report_usage("--part auto: %s is not a number: '%s'", name, text);
}

/* Tasks of an array are all of its shares only if their numbers are 0, 1, 2 ... */
static int check_array(const rank_source *s, uint64_t count)
{
    uint64_t first, last;
    int code = read_variable(s->first, &first);

    if (code == CODE_OK)
        code = read_variable(s->last, &last);
    if (code != CODE_OK || (first == 0 && last + 1 == count))
        return code;
    return report_usage("--part auto: the array goes from %ju to %ju and has %ju tasks: give it "
                        "--array=0-N, or use --part auto/N",
                        (uintmax_t)first, (uintmax_t)last, (uintmax_t)count);
}

static int take_worker(gufo_part *share, uint64_t rank, uint64_t count, const char *name)
{
    if (rank >= count)
        return report_usage("--part auto: %s is %ju, but there are %ju workers", name,
                            (uintmax_t)rank, (uintmax_t)count);
    share->worker = share->worker * count + rank;
    share->workers *= count;
    return CODE_OK;
}

static int take_source(const rank_source *s, gufo_part *share)
{
    uint64_t rank, count;
    int code = read_variable(s->rank, &rank);

    if (code == CODE_OK)
        code = read_variable(s->count, &count);
    if (code == CODE_OK && s->first != NULL)
        code = check_array(s, count);
    return code == CODE_OK ? take_worker(share, rank, count, s->rank) : code;
}

static const rank_source *find_set(unsigned levels)
{
    for (size_t i = 0; i < SOURCES; i++) {
        const rank_source *s = &sources[i];

        if ((levels & 1U << s->level) != 0 && is_set(s->rank) &&
            (s->level != INNER || is_set(s->count)))
            return s;
    }
    return NULL;
}

static int report_none(void)
{
    const rank_source *uncounted = find_set(1U << UNCOUNTED);
    char names[256];
    size_t len = 0;

    if (uncounted != NULL)
        return report_usage("--part auto: nothing says how many workers there are beside %s: use "
                            "--part auto/N",
                            uncounted->rank);
    for (size_t i = 0; i < SOURCES; i++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", i > 0 ? ", " : "",
                                sources[i].rank);
    return report_usage("--part auto: none of these variables is set: %s", names);
}

/* Of ranks in tasks of an array, all of them. */
static int take_auto(gufo_part *share)
{
    const rank_source *outer = find_set(1U << OUTER), *inner = find_set(1U << INNER);
    int code = CODE_OK;

    if (outer == NULL && inner == NULL)
        return report_none();
    if (outer != NULL)
        code = take_source(outer, share);
    return code == CODE_OK && inner != NULL ? take_source(inner, share) : code;
}

static int take_auto_of(uint64_t count, gufo_part *share)
{
    const rank_source *any = find_set(1U << UNCOUNTED | 1U << OUTER | 1U << INNER);
    uint64_t rank;
    int code;

    if (any == NULL)
        return report_none();
    code = read_variable(any->rank, &rank);
    return code == CODE_OK ? take_worker(share, rank, count, any->rank) : code;
}

/* ---- the option ----------------------------------------------------------------------------- */

/* "", or "/N". */
static bool read_workers(const char *at, uint64_t *count)
{
    if (*at == '\0')
        return true;
    at++;
    return at[-1] == '/' && gufo_number_read(&at, count) && *at == '\0' && *count > 0 &&
           *count <= UINT32_MAX;
}

static bool read_share(const char *text, gufo_part *share)
{
    return gufo_number_read(&text, &share->worker) && *text == '/' &&
           read_workers(text, &share->workers) && share->worker < share->workers;
}

int part_read(void *options, const option_given *given)
{
    command_input *input = options;
    gufo_part *share = &input->part.share;
    const char *text = given->text;
    uint64_t count = 0;

    input->part.given = true;
    *share = (gufo_part){.workers = 0};
    if (input->shared->commits != NULL) /* it is the whole */
        return CODE_OK;
    if (strncmp(text, "next", 4) == 0 && read_workers(text + 4, &count)) {
        *share = (gufo_part){.workers = count, .next = true};
        return CODE_OK;
    }
    if (strncmp(text, "auto", 4) == 0 && read_workers(text + 4, &count)) {
        *share = (gufo_part){.workers = 1};
        return count > 0 ? take_auto_of(count, share) : take_auto(share);
    }
    return read_share(text, share)
               ? CODE_OK
               : report_usage("--part is K/N, with K from 0 to N - 1, next, or auto, not '%s'",
                              text);
}
