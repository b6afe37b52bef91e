/* Jobs: plans of files.  Other parts make them (quantize.c, forms.c ...); job.c shows and runs them. */
#ifndef GUFO_PYTHON_JOB_H
#define GUFO_PYTHON_JOB_H

#include "core.h"

#include <gufo/produce.h>

/* What made a job. */
typedef struct core_job_maker {
    /* Frees the plan, and the job, where planning has come to one. */
    void (*free)(void *plan);
    /* A list of dicts: what each tensor becomes; NULL: nothing is known of tensors. */
    PyObject *(*tensors)(const void *plan);
    /* A dict, or None: what else is known of the plan; NULL: nothing. */
    PyObject *(*about)(const void *plan);
} core_job_maker;

typedef struct core_job {
    PyObject_HEAD
    PyObject *keeps; /* list of what must live as long; models in it are in use */
    const core_job_maker *maker;
    void *plan;
    gufo_job *job; /* which belongs to the plan */
    core_lock lock;
} core_job;

/* A Job without a job, which the caller sets.  It takes over the plan, on failure too; NULL with an exception. */
core_job *core_job_new(PyObject *module, const core_job_maker *maker, void *plan);
/* The model of an argument, in use as long as the Job lives; NULL with an exception. */
const gufo_model *core_job_use_model(core_job *self, PyObject *model);
/* Keeps any other object as long.  False with an exception. */
bool core_job_keep(core_job *self, PyObject *object);

#endif
