/* gufo parts --advise: how long the parts take with how many machines (advice.h). */
#include "cli/parts/parts.h"

#include "cli/core/terminal/line.h"
#include "cli/parts/advice.h"

#include <inttypes.h>

enum { MOST_WORKERS = 1024, MOST_ROWS = 12, TIME_TEXT = 32 };

/* Of a machine and of a file server with 10 Gbit/s. */
#define USUAL_RATE 1.25e9

static const char *const limits[] = {"encoding", "link",     "server",
                                     "cores",    "metadata", "beginning and end"};

typedef struct advice_row {
    uint64_t workers;
    double seconds, of_one;
    char time[TIME_TEXT];
    advice_limit limit;
} advice_row;

static const record_field row_fields[] = {
    {"workers", "Machines", RECORD_COUNT, RECORD_AT(advice_row, workers), .width = 8},
    {"seconds", NULL, RECORD_REAL, RECORD_AT(advice_row, seconds)},
    {NULL, "Time", RECORD_CHARS, RECORD_AT(advice_row, time), .width = 9},
    {NULL, "Of one", RECORD_REAL, RECORD_AT(advice_row, of_one), .width = 7, .format = "%.2f"},
    {"limit", "Limited by", RECORD_CHOICE, RECORD_AT(advice_row, limit), .width = -17,
     .words = limits},
};
static const record_type row_type = RECORD_OF(advice_row, row_fields, 0);

static void put_time(char out[TIME_TEXT], double seconds)
{
    if (seconds < 100)
        (void)snprintf(out, TIME_TEXT, "%.3g s", seconds);
    else if (seconds < 7200)
        (void)snprintf(out, TIME_TEXT, "%.3g min", seconds / 60);
    else
        (void)snprintf(out, TIME_TEXT, "%.4g h", seconds / 3600);
}

static double given_or(uint64_t given, double usual)
{
    return given > 0 ? (double)given : usual;
}

/* What the plan says of the work, and the user of the machines.  A file server opens, makes or names a file in about a
 * millisecond. */
static advice_run run_of_plan(const gufo_plan *plan, const advise_options *o)
{
    const plan_sums sums = plan_sum(plan);
    advice_run run = {.read_bytes = (double)sums.bytes,
                      .core_seconds = gufo_plan_core_seconds(plan),
                      .most_parts = (double)sums.parts,
                      .cores = given_or(o->cores, gufo_run_threads(NULL)),
                      .read_rate = given_or(o->link, USUAL_RATE),
                      .write_rate = given_or(o->link, USUAL_RATE),
                      .both_cap = given_or(o->server, USUAL_RATE),
                      .operation_time = 1e-3,
                      .start_operations = 8,
                      .part_operations = 6,
                      .commit_part = 1e-3};
    gufo_plan_output output;

    for (size_t i = 0; gufo_plan_output_at(plan, i, &output); i++)
        run.write_bytes += (double)output.size;
    return run;
}

static size_t fill(advice_row rows[MOST_ROWS], const advice_run *run, uint64_t parts)
{
    size_t count = 0;

    for (uint64_t workers = 1; workers <= MOST_WORKERS && workers <= parts; workers *= 2) {
        const advice_time time = advice_predict(run, workers, parts);
        advice_row *row = &rows[count++];

        *row = (advice_row){.workers = workers, .seconds = time.seconds, .limit = time.limit};
        row->of_one = rows[0].seconds > 0 ? time.seconds / rows[0].seconds : 1;
        put_time(row->time, time.seconds);
    }
    return count;
}

static void print_assumptions(const advise_options *o)
{
    static const char *const words[] = {
        "for each machine (--link) and for the file server (--server)",
        "for the file server (--server)", "for each machine (--link)"};
    line l;

    if (o->link > 0 && o->server > 0)
        return;
    line_begin(&l);
    fprintf(l.out, "It assumes 10 Gbit/s %s.", words[o->link > 0 ? 1 : o->server > 0 ? 2 : 0]);
    line_end(&l);
}

static void print_advice(const advice *best)
{
    line l;

    line_begin(&l);
    if (best->one_is_enough)
        fputs("One machine is enough: more of them save less than a third of the time.", l.out);
    else
        fprintf(l.out, "Up to %" PRIu64 " machines pay.", best->workers);
    line_end(&l);
}

int plan_advise(const char *out, const gufo_plan *plan, const advise_options *o, bool json)
{
    const advice_run run = run_of_plan(plan, o);
    const advice best = advice_choose(&run, MOST_WORKERS);
    advice_row rows[MOST_ROWS];
    const record_list list = {.items = rows, .count = fill(rows, &run, gufo_plan_part_count(plan))};
    table t = record_table(&row_type, 0);
    json_writer j;

    if (!json) {
        record_print(&t, &row_type, &list);
        print_advice(&best);
        print_assumptions(o);
        return CODE_OK;
    }
    j = json_begin_document(out);
    json_write_bool(&j, "one_is_enough", best.one_is_enough);
    json_write_u64(&j, "workers", best.workers);
    record_write_list(&j, "times", &row_type, &list);
    json_end_document(&j);
    return CODE_OK;
}
