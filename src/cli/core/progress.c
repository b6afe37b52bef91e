/* The progress bar. */
#include "cli/core/progress.h"

#include "cli/core/human.h"
#include "cli/core/signals.h"

#include <stdio.h>
#include <unistd.h>

enum { BAR = 30 };

#define BETWEEN 0.1 /* seconds */

static double seconds_since(const struct timespec *then, const struct timespec *now)
{
    return (double)(now->tv_sec - then->tv_sec) + 1e-9 * (double)(now->tv_nsec - then->tv_nsec);
}

void progress_start(progress *p, bool quiet)
{
    *p = (progress){.shown = !quiet && isatty(STDERR_FILENO), .first = UINT64_MAX};
}

void progress_start_beside(progress *p, const shared_options *shared)
{
    progress_start(p, shared->quiet || (shared->json && isatty(STDOUT_FILENO)));
}

/* "0:05", "1:02:03" */
static void put_time(double seconds)
{
    uint64_t whole = seconds > 0 ? (uint64_t)seconds : 0;
    unsigned hours = (unsigned)(whole / 3600), minutes = (unsigned)(whole / 60 % 60);

    if (hours > 0)
        fprintf(stderr, "%u:%02u:%02u", hours, minutes, (unsigned)(whole % 60));
    else
        fprintf(stderr, "%u:%02u", minutes, (unsigned)(whole % 60));
}

static void draw(const progress *p, uint64_t done, uint64_t total, double seconds)
{
    double part = total > 0 ? (double)done / (double)total : 1;
    double rate = seconds > 0 ? (double)(done - p->first) / seconds : 0;
    int filled = (int)(part * BAR);
    static const char full[] = "##############################";

    fprintf(stderr, "\r%3d %% [%-*.*s]  %s of %s", (int)(part * 100), BAR, filled, full,
            human_bytes(done).text, human_bytes(total).text);
    if (rate > 0) {
        fprintf(stderr, "  %s/s  ", human_bytes((uint64_t)rate).text);
        put_time((double)(total - done) / rate);
        fputs(" left", stderr);
    }
    fputs("\033[K", stderr);
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
    if (p->drawn)
        fputs("\r\033[K", stderr);
    p->drawn = false;
}

bool progress_step(void *bar, uint64_t done, uint64_t total)
{
    progress_update(bar, done, total);
    return !signals_stopped();
}

gufo_run progress_run(progress *p, const shared_options *shared)
{
    return (gufo_run){.threads = shared->threads, .progress = progress_step, .progress_context = p};
}
