/* A job made in parts, by any number of workers, beside the same job made at once. */
#ifndef TEST_SUPPORT_PARTS_H
#define TEST_SUPPORT_PARTS_H

#include "check.h"

/* Runs `whole`, whose outputs must not exist; then makes all parts of `parted`, the same job, for several numbers of
 * workers and alignments, in any order and some of them in two runs.  Every byte and every result are those of the
 * whole, every byte of an output belongs to one part, and no part writes others. */
void check_parts(gufo_job *whole, gufo_job *parted, const gufo_job_options *outputs,
                 const char *label);

#endif
