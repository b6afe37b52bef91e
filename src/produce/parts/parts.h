/* A job in parts, which any process makes in any order: the bytes are those of one run.
 *
 *     units      | 0 1 2 3 4 5 6 7 | 8 9 ...                        cut_job: borders
 *     target     |header 0 1 2 3 4 5 6 7 |                          places of units
 *                |------ part 0 -----|-- part 1 --|                 bytes: borders' places, rounded up
 *                                  ^ unit 6 is made by both parts, and each writes its bytes of it
 *
 * A part has the bytes between the places of two borders, in every target: headers, pieces and padding, which is
 * never written, alike.  The place of a border in a target is
 *
 *     0           if no unit before it writes to the target, and for the first border
 *     the size    if no unit from it on does, and for the last border: targets that no unit writes to are of the last part
 *     else        where the first unit from it on that writes to the target begins there, rounded up to job_cut.align
 *
 * so that every byte has one part, and so has every block of `align` bytes. */
#ifndef GUFO_PRODUCE_PARTS_H
#define GUFO_PRODUCE_PARTS_H

#include "produce/run/run.h"
#include "produce/units/work.h"

#define CUT_LEAST_ALIGN UINT64_C(4096)
#define CUT_USUAL_ALIGN (UINT64_C(1) << 20)

/* Part p has units [borders[p], borders[p + 1]), and their bytes as above. */
typedef struct job_cut {
    uint64_t count; /* of parts; at least 1 */
    uint64_t align; /* a power of two from CUT_LEAST_ALIGN */
    uint64_t cost;  /* of all units, about nanoseconds of one core; only cut_job sets it */
    uint64_t
        *borders; /* count + 1 numbers of units, ascending, from 0 to the number of all units */
} job_cut;

/* Cuts a job, whose pieces are there (job_add_counted), into parts that cost the same: 64 or more, and a multiple of
 * `workers`, but not more than there are units, or blocks of `align` bytes.  GUFO_E_ARGUMENT for 0 workers, a
 * wrong alignment, or pieces that do not follow each other in a target. */
gufo_status cut_job(const gufo_job *job, uint64_t workers, uint64_t align, job_cut *out,
                    gufo_error *error);
void cut_free(const gufo_allocator *allocator, job_cut *cut);
/* Whether a cut that was read is one of this job. */
bool cut_fits(const gufo_job *job, const job_cut *cut);

/* Finds part `number` of a cut that fits. */
gufo_status part_find(const gufo_job *job, const job_cut *cut, uint64_t number, job_part *out,
                      gufo_error *error);
/* Makes the units from `from` on that a part has, in their order, for targets that were found for it
 * (targets_find_part): opens, writes, syncs and closes only those that it touches.  The units that w->note was called for
 * are on disk after targets_sync, and all of them when this returns.  Progress is that of the part. */
gufo_status spans_run_part(targets *t, struct work *w, const job_part *part, uint64_t from,
                           gufo_error *error);
void part_free(const gufo_allocator *allocator, job_part *part);

#endif
