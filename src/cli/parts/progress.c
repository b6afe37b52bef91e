/* gufo progress OUT: how far the parts of a job are; on a terminal again and again.
 *
 * There it has a screen of its own, which is drawn from its top every second: so nothing depends on how many lines a
 * terminal made of the last drawing, whatever its width has become since.  The last one stays. */
#include "cli/parts/parts.h"

#include "cli/commands.h"
#include "cli/core/files/progress.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"

#include <time.h>
#include <unistd.h>

#define SCREEN "\033[?1049h"
#define BACK "\033[?1049l"
#define FROM_TOP "\033[H\033[J"
#define BETWEEN 1.0 /* seconds */

/* What is watched. */
typedef struct watched {
    const char *out;
    gufo_plan *plan;
    double begun;
    uint64_t first; /* bytes that were done then */
    bool gone;
} watched;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- one look ------------------------------------------------------------------------------- */

static void write_json(const watched *w, const plan_sums *sums, const part_list *list)
{
    json_writer j = json_begin_document(w->out);

    plan_write_sums(&j, sums);
    part_list_write(&j, "parts", list, false);
    json_end_document(&j);
}

static void print(const watched *w, const plan_sums *sums, const part_list *list)
{
    const double seconds = now() - w->begun;
    const double rate = seconds > 0 ? (double)(sums->bytes_done - w->first) / seconds : 0;
    char bar[PROGRESS_LINE];
    line l;

    line_begin(&l);
    text_put(l.out, gufo_str_of(w->out), TEXT_PLAIN);
    fputs(": ", l.out);
    plan_put_sums(l.out, sums);
    line_end(&l);
    (void)progress_line(bar, sizeof bar, stdout_is_terminal() ? stdout_columns() - 1 : 80,
                        sums->bytes_done, sums->bytes, rate);
    puts(bar);
    if (list->count > 0)
        part_list_print(list, false);
}

/* Parts that are begun, and wait for something. */
static int show(const watched *w, bool json)
{
    const unsigned states = PART_MISSING & ~PART_BIT(GUFO_PART_WAITING);
    const plan_sums sums = plan_sum(w->plan);
    part_list list;
    int code = part_list_find(&list, w->plan, w->out, states, NULL);

    if (code != CODE_OK)
        return code;
    if (json)
        write_json(w, &sums, &list);
    else
        print(w, &sums, &list);
    part_list_free(&list);
    return CODE_OK;
}

/* ---- again and again ------------------------------------------------------------------------ */

static bool is_complete(const gufo_plan *plan)
{
    const plan_sums sums = plan_sum(plan);

    return sums.states[GUFO_PART_COMPLETE] == sums.parts;
}

static int watch(watched *w)
{
    int code = CODE_OK;

    fputs(SCREEN, stdout);
    while (code == CODE_OK && !w->gone && !is_complete(w->plan) && !signals_stopped() &&
           !stdout_broken()) {
        stdout_resized();
        fputs(FROM_TOP, stdout);
        code = show(w, false);
        fflush(stdout);
        if (code == CODE_OK && plan_wait(BETWEEN))
            code = plan_look(w->plan, w->out, &w->gone);
    }
    fputs(BACK, stdout);
    return code;
}

static int follow(watched *w, const shared_options *shared)
{
    const plan_sums sums = plan_sum(w->plan);
    int code = CODE_OK;

    w->begun = now();
    w->first = sums.bytes_done;
    signals_defer();
    if (stdout_is_terminal() && !terminal_is_dumb() && !shared->json)
        code = watch(w);
    if (code == CODE_OK && !w->gone)
        code = show(w, shared->json);
    return code == CODE_OK && signals_stopped() ? CODE_INTERRUPTED : code;
}

static int progress_of(void *context)
{
    const command_input *input = context;
    watched w = {.out = input->shared->args[0]};
    int code = plan_open(w.out, &w.plan);

    w.gone = w.plan == NULL;
    if (code == CODE_OK && !w.gone)
        code = follow(&w, input->shared);
    if (code == CODE_OK && w.gone)
        report_note(w.out, "it is complete, and has no parts any more");
    gufo_plan_free(w.plan);
    return code;
}

const command_line command_progress = {
    .operands = {"OUT", 1, 1, "OUT is needed"},
    .doc = "Show how far the parts of a job are.\v"
           "On a terminal it shows that every second, with rate and time left, until all parts are "
           "complete; elsewhere "
           "once.  The parts that it lists are those that somebody works on, or that need "
           "somebody: those that are "
           "silent or have failed.",
    .examples = {{"gufo progress model-q4_k_m.gguf", "Watches the workers."},
                 {"gufo progress -j model-q4_k_m.gguf", "Prints an object for scripts."}},
    .run = progress_of,
};
