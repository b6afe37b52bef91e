/* A folder in which a model is quantized in parts, beside the outputs of one run. */
#ifndef TEST_SUPPORT_SHARED_WORK_H
#define TEST_SUPPORT_SHARED_WORK_H

#include "quantize.h"

enum { WORK_TYPES = 3 };

typedef struct shared_work {
    folder f;
    path_text in, alone[WORK_TYPES], out[WORK_TYPES], parts; /* OUT.parts */
    gufo_quantize_target targets[WORK_TYPES];
    gufo_quantize_options options;
    const char *more[WORK_TYPES];
    size_t count;   /* of types */
    uint32_t flags; /* of the workers and the commit */
    const gufo_plan_options *plan_options;
} shared_work;

/* Writes the model, for `count` types; parts are aligned to 4096 bytes. */
shared_work shared_work_new(const test_model *model, const char *const *types, size_t count);
void shared_work_end(shared_work *p);

/* A worker opens the model and plans the job, as a process of its own would. */
typedef struct shared_worker {
    gufo_model *model;
    gufo_quantizer *q;
} shared_worker;

/* Without q, and with the reason in *error, where that fails. */
shared_worker shared_worker_new(shared_work *p, gufo_error *error);
void shared_worker_end(shared_worker *w);

gufo_job_options shared_outputs(shared_work *p, const path_text *paths);
/* The outputs of one run, which have to be there before results are compared. */
void shared_alone(shared_work *p);
gufo_status shared_run(shared_work *p, const gufo_part *part, const gufo_run *run,
                       gufo_part_result *result, gufo_error *error);
/* All parts of a share, which has to succeed. */
void shared_run_well(shared_work *p, uint64_t worker, uint64_t workers, const char *label);
gufo_status shared_commit(shared_work *p, uint64_t *missing, gufo_error *error);
/* Whether all outputs are those of one run. */
bool shared_is_done(const shared_work *p);
/* Commits, compares the outputs with those of one run and removes both them and the plan. */
void shared_finish(shared_work *p, const char *label);

/* Sets the times of a file to those of one that nobody has changed for long; it may be missing. */
void shared_age(const char *path);

#endif
