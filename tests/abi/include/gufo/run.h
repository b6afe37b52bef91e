/* How to run long work.
 *
 *     gufo_run run = {.threads = 4, .progress = show, .progress_context = stdout};
 *
 * Functions that read, write, decode or encode tensor data take a `const gufo_run *`; NULL means {0}. */
#ifndef GUFO_RUN_H
#define GUFO_RUN_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The instructions that coding may use.  All give the same bytes. */
typedef enum gufo_cpu {
    GUFO_CPU_BEST = 0,     /* the fastest that this processor has */
    GUFO_CPU_PORTABLE = 1, /* plain C */
    GUFO_CPU_AVX2 = 2,     /* x86-64: AVX2, FMA and F16C */
    GUFO_CPU_AVX512 = 3,   /* x86-64: AVX-512 F, BW, DQ and VL */
    GUFO_CPU_NEON = 4,     /* AArch64 */
} gufo_cpu;

/* "best", "portable", "avx2", "avx512", "neon"; NULL for any other number.  Static; any thread. */
GUFO_API const char *gufo_cpu_name(gufo_cpu cpu);
/* The level with that name into *cpu; false if none exists.  Any thread. */
GUFO_API bool gufo_cpu_by_name(const char *name, gufo_cpu *cpu);
/* Whether this processor and this build of the library have it.  Any thread. */
GUFO_API bool gufo_cpu_available(gufo_cpu cpu);

typedef struct gufo_run {
    /* 0: one per processor that the process may use when the library asks first: those that its affinity
     * names (Linux; elsewhere all), or as many as the processor time of its control groups is worth (cpu.max,
     * cpu.cfs_quota_us), rounded up.  Where work cannot use so many, fewer. */
    unsigned threads;
    gufo_cpu cpu;    /* the instructions that coding may use */
    uint64_t memory; /* bytes that may be used, where a function asks for it; 0: its default */
    /* For buffers, tables and threads, which are freed when the function returns; called from
     * several threads.  NULL: that of the object that the function works on, if it has one (a job,
     * a model whose rows are decoded), else malloc.  What outlives the call, such as the paths of a
     * job's temporary files, comes from the object's. */
    const gufo_allocator *allocator;
    gufo_progress_fn *progress; /* may be NULL */
    void *progress_context;
    uint64_t reserved[4]; /* zeros; GUFO_E_ARGUMENT for anything else */
} gufo_run;

/* On how many threads a call with this `run`, which may be NULL, works at most: `threads`, or what 0 there means. */
GUFO_API unsigned gufo_run_threads(const gufo_run *run);

#ifdef __cplusplus
}
#endif

#endif
