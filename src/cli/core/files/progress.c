/* The progress bar.
 *
 * It is one line on terminals of any width: it drops parts that do not fit, the least important one
 * first, and the bar takes the rest.  The last column stays empty, because some terminals begin a
 * new line after it; and the terminal does not wrap the line, because it may be narrower than it
 * last reported.  Between two drawings the cursor is at the front of the line, and a drawing clears
 * the lines below: a terminal that became narrower may have broken the line into several. */
#include "cli/core/files/progress.h"

#include "cli/core/terminal/signals.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NO_WRAP "\033[?7l" /* DECAWM */
#define WRAP "\033[?7h"

enum { LEAST_BAR = 10, MOST_BAR = 30 };

#define BETWEEN 0.1      /* seconds */
#define MOST_SECONDS 1e7 /* that are worth saying */

static double seconds_since(const struct timespec *then, const struct timespec *now)
{
    return (double)(now->tv_sec - then->tv_sec) + 1e-9 * (double)(now->tv_nsec - then->tv_nsec);
}

void progress_start(progress *p, bool quiet)
{
    *p = (progress){.shown = !quiet && isatty(STDERR_FILENO) && !terminal_is_dumb(),
                    .first = UINT64_MAX};
}

void progress_start_beside(progress *p, const shared_options *shared)
{
    progress_start(p, shared->quiet || (shared->json && isatty(STDOUT_FILENO)));
}

/* ---- a line --------------------------------------------------------------------------------- */

/* The parts of a line, from left to right. */
enum { PERCENT, BAR, SIZES, RATE, LEFT, PARTS };

static const int by_importance[PARTS] = {PERCENT, LEFT, BAR, SIZES, RATE};
static const size_t gaps[PARTS] = {0, 1, 2, 2, 2}; /* in front of each */

typedef struct part {
    char text[96]; /* of the bar, brackets around nothing: it is filled when its room is known */
    size_t columns;
    bool shown;
} part;

/* "0:05", "1:02:03" */
static void write_time(char *out, size_t size, double seconds)
{
    uint64_t whole = seconds > 0 ? (uint64_t)seconds : 0;
    unsigned minutes = (unsigned)(whole / 60 % 60), rest = (unsigned)(whole % 60);

    if (whole >= 3600)
        snprintf(out, size, "%" PRIu64 ":%02u:%02u left", whole / 3600, minutes, rest);
    else
        snprintf(out, size, "%u:%02u left", minutes, rest);
}

static void make_parts(part parts[PARTS], uint64_t done, uint64_t total, double rate)
{
    double seconds = rate > 0 ? (double)(total - done) / rate : 0;
    unsigned percent = total > 0 ? (unsigned)((double)done / (double)total * 100) : 100;

    memset(parts, 0, PARTS * sizeof *parts);
    snprintf(parts[PERCENT].text, sizeof parts->text, "%3u %%", percent);
    snprintf(parts[SIZES].text, sizeof parts->text, "%s of %s", human_file_size(done).text,
             human_file_size(total).text);
    if (rate >= 1)
        snprintf(parts[RATE].text, sizeof parts->text, "%s/s",
                 human_file_size((uint64_t)rate).text);
    if (rate > 0 && seconds < MOST_SECONDS)
        write_time(parts[LEFT].text, sizeof parts->text, seconds);
    for (int i = 0; i < PARTS; i++)
        parts[i].columns = strlen(parts[i].text);
    parts[BAR].columns = LEAST_BAR + 2;
}

/* Chooses the parts, and makes the bar as long as it can be. */
static void choose(part parts[PARTS], size_t columns, double done)
{
    size_t used = 0, room;

    for (int i = 0; i < PARTS; i++) {
        part *p = &parts[by_importance[i]];
        size_t needed = p->columns + gaps[by_importance[i]];

        p->shown = p->columns > 0 && used + needed <= columns;
        used += p->shown ? needed : 0;
    }
    room = columns - used < MOST_BAR - LEAST_BAR ? columns - used : MOST_BAR - LEAST_BAR;
    parts[BAR].columns += room;
    memset(parts[BAR].text, ' ', parts[BAR].columns);
    memset(parts[BAR].text, '#', 1 + (size_t)(done * (double)(LEAST_BAR + room)));
    parts[BAR].text[0] = '[';
    parts[BAR].text[parts[BAR].columns - 1] = ']';
}

size_t progress_line(char *out, size_t size, size_t columns, uint64_t done, uint64_t total,
                     double rate)
{
    part parts[PARTS];
    size_t len = 0;

    make_parts(parts, done, total, rate);
    choose(parts, columns, total > 0 ? (double)done / (double)total : 1);
    if (size > 0)
        *out = '\0';
    for (int i = 0; i < PARTS; i++)
        if (parts[i].shown && len < size)
            len +=
                (size_t)snprintf(out + len, size - len, "%*s%s", (int)gaps[i], "", parts[i].text);
    return len;
}

/* ---- on the terminal ------------------------------------------------------------------------ */

static void draw(const progress *p, uint64_t done, uint64_t total, double seconds)
{
    double rate = seconds > 0 ? (double)(done - p->first) / seconds : 0;
    char line[PROGRESS_LINE];

    /* A result may wait in its buffer for the end of its colour. */
    fflush(stdout);
    (void)progress_line(line, sizeof line, terminal_columns(STDERR_FILENO) - 1, done, total, rate);
    fprintf(stderr, "\r" NO_WRAP "%s\033[J" WRAP "\r", line);
    fflush(stderr); /* it is written by lines, and this has no end */
}

void progress_update(progress *p, uint64_t done, uint64_t total)
{
    struct timespec now;

    if (!p->shown)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (p->first == UINT64_MAX) {
        p->first = done;
        p->begun = p->latest = now;
    }
    if (p->drawn && seconds_since(&p->latest, &now) < BETWEEN)
        return;
    p->latest = now;
    p->drawn = true;
    draw(p, done, total, seconds_since(&p->begun, &now));
}

void progress_end(progress *p)
{
    if (p->drawn) {
        fputs("\r\033[J", stderr);
        fflush(stderr); /* before the result */
    }
    p->drawn = false;
}

bool progress_step(void *bar, uint64_t done, uint64_t total)
{
    progress_update(bar, done, total);
    return !signals_stopped();
}

gufo_run progress_run(progress *p, const shared_options *shared)
{
    return (gufo_run){
        .threads = (unsigned)shared->threads, .progress = progress_step, .progress_context = p};
}
