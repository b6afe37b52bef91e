/* How long a run of parts takes: the arithmetic that advice.h describes. */
#include "cli/parts/advice.h"

#include <math.h>

/* How long `amount` takes at `rate`. */
static double seconds_of(double amount, double rate)
{
    return rate > 0 ? amount / rate : 0;
}

static double least_of(double a, double b)
{
    return a < b ? a : b;
}

static double most_of(double a, double b)
{
    return a > b ? a : b;
}

/* ---- one part ------------------------------------------------------------------------------- */

typedef struct part_time {
    double seconds;
    bool encodes; /* its cores are its slowest step */
} part_time;

/* The part of a rate that one of `workers` gets at most. */
static double share_of(double rate, double cap, double workers)
{
    return cap > 0 && (rate <= 0 || cap / workers < rate) ? cap / workers : rate;
}

/* One of `workers` makes it whose core, link and disk take `slow` times as long.  Those that copy in, work
 * and copy out keep step, because they began together: each step has all of what they share to itself.
 * Without steps what they share counts once, in time_shared. */
static part_time time_part(const advice_run *run, double workers, double parts, double slow)
{
    double read = run->read_rate / slow, write = run->write_rate / slow, encode, disk, steps;

    if (run->staged) {
        read = share_of(share_of(read, run->read_cap, workers), run->both_cap, workers);
        write = share_of(share_of(write, run->write_cap, workers), run->both_cap, workers);
    }
    read = seconds_of(run->read_bytes / parts, read);
    write = seconds_of(run->write_bytes / parts, write);
    encode = slow * seconds_of(run->core_seconds / parts + run->part_core_seconds, run->cores);
    disk = slow * seconds_of((run->read_bytes + run->write_bytes) / parts, run->disk_rate);
    steps = run->part_operations * run->operation_time;
    if (run->staged)
        return (part_time){.seconds = read + most_of(encode, disk) + write + steps,
                           .encodes = encode >= disk && encode >= read + write};
    return (part_time){.seconds = most_of(encode, most_of(read, write)) + steps,
                       .encodes = encode >= most_of(read, write)};
}

/* ---- rounds --------------------------------------------------------------------------------- */

/* Times are multiples of those of parts, but for rounding. */
static double whole(double number)
{
    return floor(number * (1 + 1e-9));
}

/* Parts that workers have begun after `seconds`; each takes `part` seconds. */
static double begun(double workers, double part, double seconds)
{
    return workers > 0 ? workers * (whole(seconds / part) + 1) : 0;
}

/* The first time at which no part is left to begin.  The guess lets parts be divisible and is too early
 * by at most a round; each step goes on to the next moment at which a worker needs a part. */
static double last_begun(double parts, double fast, double slow, double part, double slow_part)
{
    double rate = fast / part + slow / slow_part;
    double at = most_of(0, floor((parts - fast - slow) / rate / part - 1) * part);

    while (begun(fast, part, at) + begun(slow, slow_part, at) < parts * (1 - 1e-9))
        at = least_of(part * (whole(at / part) + 1), slow_part * (whole(at / slow_part) + 1));
    return at;
}

/* The chance that one of `slow` workers gets one of `left` parts for which `fast` others ask as well. */
static double chance_of_slow(double fast, double slow, double left)
{
    double none = slow > 0 ? 1 : 0;

    for (uint64_t i = 0; (double)i < left - 0.5 && none > 0; i++)
        none *= most_of(0, fast - (double)i) / (fast - (double)i + slow);
    return slow > 0 ? 1 - none : 0;
}

/* The time of workers that take the next part, of whom `slow` take `slow_part` seconds.  When the last
 * parts are begun, fast and slow workers may ask at once: who gets them is chance. */
static double time_next(double parts, double fast, double slow, double part, double slow_part)
{
    double at = last_begun(parts, fast, slow, part, slow_part), before = at * (1 - 1e-6);
    double left = parts - (at > 0 ? begun(fast, part, before) + begun(slow, slow_part, before) : 0);
    double rounds = whole(at / part), slow_rounds = whole(at / slow_part), gets;
    bool fast_asks = at / part - rounds < 1e-6, slow_asks = at / slow_part - slow_rounds < 1e-6;
    double end = fast > 0 ? part * (rounds + 1) : 0;

    if (slow <= 0)
        return end;
    gets = chance_of_slow(fast_asks ? fast : 0, slow_asks ? slow : 0, left);
    return gets * most_of(end, slow_part * (slow_rounds + 1)) +
           (1 - gets) * most_of(end, slow_part * (slow_rounds + (slow_asks ? 0 : 1)));
}

/* The time of workers that share nothing but the list of parts. */
static double time_rounds(const advice_run *run, double workers, double parts)
{
    double slow = run->slow_factor > 1 ? floor(run->slow_share * workers + 0.5) : 0;
    double part = time_part(run, workers, parts, 1).seconds, slow_part = part;

    if (part <= 0)
        return 0;
    if (slow > 0)
        slow_part = time_part(run, workers, parts, run->slow_factor).seconds;
    if (run->fixed)
        return ceil(parts / workers) * slow_part;
    return time_next(parts, workers - slow, slow, part, slow_part);
}

/* What the last round is shorter, if fewer workers have a part then and share among them what all share. */
static double time_of_few(const advice_run *run, double workers, double parts)
{
    double rest = fmod(parts, workers);

    return rest > 0
               ? time_part(run, workers, parts, 1).seconds - time_part(run, rest, parts, 1).seconds
               : 0;
}

/* ---- failures ------------------------------------------------------------------------------- */

/* How often the unluckiest of `workers` workers fails, if each fails `mean` times on average: the sum of
 * the chances that it fails 1, 2, ... times. */
static double worst_failures(double workers, double mean)
{
    double chance = exp(-mean), fewer = chance, sum = 0;

    for (int count = 1; count < 1000 && 1 - fewer > 1e-15; count++) {
        sum += 1 - pow(fewer, workers);
        chance *= mean / count;
        fewer += chance;
    }
    return most_of(sum, mean);
}

/* What failures add to `seconds` of work: each costs the work that no log has yet, and the time until the
 * worker is back.  With fixed shares the unluckiest worker decides.  Otherwise all share the loss; but the
 * part of a dead worker is the last that somebody goes on with, and not before its log was silent, so that
 * all may wait for the last failure. */
static double time_failures(const advice_run *run, double workers, double seconds, double part)
{
    double each = run->restart + run->log_every / 2, rate = workers / run->fail_every;
    double wait = run->silence + least_of(part, seconds) / 2, late;

    if (run->fail_every <= 0)
        return 0;
    if (run->fixed)
        return worst_failures(workers, seconds / run->fail_every) * each;
    seconds += seconds * each / run->fail_every;
    late = least_of(wait, seconds);
    return seconds * each / run->fail_every + late - (1 - exp(-rate * late)) / rate +
           (wait - late) * (1 - exp(-rate * seconds));
}

/* ---- all of it ------------------------------------------------------------------------------ */

static double time_shared(const advice_run *run)
{
    double read = seconds_of(run->read_bytes, run->read_cap);
    double write = seconds_of(run->write_bytes, run->write_cap);

    return most_of(seconds_of(run->read_bytes + run->write_bytes, run->both_cap),
                   most_of(read, write));
}

/* Workers come one after the other; where the work ends before the last one comes, fewer count. */
static double launched(const advice_run *run, double workers, double work_of_one)
{
    double rate = run->launch_rate;

    if (run->fixed || rate <= 0)
        return workers;
    return most_of(1, least_of(workers, floor(sqrt(2 * work_of_one * rate))));
}

/* The delay by workers that start late.  With fixed shares the last worker that has a part delays the end; without,
 * others make the parts of those who are late. */
static double time_launch(const advice_run *run, double used, double workers)
{
    double last = run->fixed ? workers - workers / used : (used - 1) / 2;

    return seconds_of(most_of(0, last), run->launch_rate);
}

/* All workers ask the metadata server at once, those too for which no part is left. */
static double time_begin(const advice_run *run, double used, double workers)
{
    double open = most_of(run->start_operations * run->operation_time,
                          seconds_of(workers * run->start_operations, run->operation_cap));

    return run->start + run->plan + run->reserve + open +
           seconds_of(used * run->part_operations / 2, run->operation_cap);
}

advice_time advice_predict(const advice_run *run, uint64_t workers, uint64_t parts)
{
    double count = (double)parts, used = least_of(count, (double)workers);
    double shared = time_shared(run);
    double cores = seconds_of(run->core_seconds + count * run->part_core_seconds, run->core_cap);
    double operations = seconds_of(count * run->part_operations, run->operation_cap);
    double longest = most_of(shared, most_of(cores, operations)), rounds;
    part_time part = time_part(run, 1, count, 1);
    advice_time time = {.part = part.seconds};

    used = launched(run, used, count * part.seconds);
    part = time_part(run, used, count, 1);
    time.limit = part.encodes                            ? ADVICE_ENCODE
                 : part.seconds > time.part * (1 + 1e-9) ? ADVICE_SHARED
                                                         : ADVICE_LINK;
    rounds = time_rounds(run, used, count) - time_of_few(run, used, count);
    if (longest > rounds)
        time.limit = longest <= shared  ? ADVICE_SHARED
                     : longest <= cores ? ADVICE_CORES
                                        : ADVICE_OPERATIONS;
    time.work = most_of(longest, rounds + time_launch(run, used, (double)workers));
    time.work += time_failures(run, used, time.work, part.seconds);
    time.begin = time_begin(run, used, launched(run, (double)workers, count * time.part));
    time.commit = run->commit + count * run->commit_part;
    time.seconds = time.begin + time.work + time.commit;
    if (time.begin + time.commit > time.work)
        time.limit = ADVICE_BEGIN;
    return time;
}

/* ---- choosing ------------------------------------------------------------------------------- */

enum { PARTS_AT_LEAST = 64 };

/* As the first worker cuts: the number of workers, multiplied until there are enough; then twice and
 * twice again, while it saves more than 1 %. */
static uint64_t choose_parts(const advice_run *run, uint64_t workers, advice_time *time)
{
    uint64_t most = run->most_parts >= 1 ? (uint64_t)run->most_parts : UINT64_C(1) << 20;
    uint64_t parts = workers, best;

    while (parts < PARTS_AT_LEAST)
        parts += workers;
    best = parts = parts < most ? parts : most;
    *time = advice_predict(run, workers, parts);
    while (parts <= most / 2) {
        advice_time finer = advice_predict(run, workers, parts *= 2);

        if (finer.seconds < time->seconds * 0.99) {
            *time = finer;
            best = parts;
        }
    }
    return best;
}

advice advice_choose(const advice_run *run, uint64_t most_workers)
{
    advice chosen = {.workers = 1};

    chosen.parts = choose_parts(run, 1, &chosen.alone);
    chosen.best = chosen.alone;
    /* 1, 2, 3, 4, 6, 8, 12, ...: finer steps change little. */
    for (uint64_t n = 2; n <= most_workers; n += n & (n - 1) ? n / 3 : n / 2) {
        advice_time time;
        uint64_t parts = choose_parts(run, n, &time);

        if (time.seconds < chosen.best.seconds &&
            chosen.alone.seconds >= 0.5 * (double)n * time.seconds) {
            chosen.best = time;
            chosen.workers = n < parts ? n : parts;
            chosen.parts = parts;
        }
    }
    chosen.one_is_enough = chosen.best.seconds > chosen.alone.seconds * 2 / 3;
    if (chosen.one_is_enough) {
        chosen.workers = 1;
        chosen.parts = choose_parts(run, 1, &chosen.best);
    }
    return chosen;
}
