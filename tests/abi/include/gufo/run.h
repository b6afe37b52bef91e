/* Floor 1: how to run long work.
 *
 * Functions that read or write tensor data take a `const gufo_run *`; NULL means {0}. */
#ifndef GUFO_RUN_H
#define GUFO_RUN_H

#include "base.h"
#include "codec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gufo_run {
    unsigned threads; /* 0: one per processor; where work cannot use so many, fewer */
    gufo_cpu cpu;     /* the instructions that coding may use */
    uint64_t memory;  /* bytes that may be used, where a function asks for it; 0: its default */
    /* For buffers, tables and threads, which are freed when the function returns; called from
     * several threads.  NULL: that of the object that the function works on, if it has one (a job,
     * a model whose rows are decoded), else malloc.  What outlives the call, such as the paths of a
     * job's temporary files, comes from the object's. */
    const gufo_allocator *allocator;
    gufo_progress_fn *progress; /* may be NULL */
    void *progress_context;
    uint64_t reserved[4]; /* zeros; GUFO_E_ARGUMENT for anything else */
} gufo_run;

#ifdef __cplusplus
}
#endif

#endif
