/* Processor levels: which there are, and which this machine has.  A new level is a row here, a
 * lanes_*.h and a line of cmake/kernels.cmake. */
#include "codec/kernels.h"

#include "base/error.h"

#include <string.h>
#if defined(GUFO_HAVE_X86_KERNELS)
#include <cpuid.h>
#include <stdatomic.h>
#endif

#if defined(GUFO_HAVE_X86_KERNELS)
/* clang's __builtin_cpu_supports does not know the name.  The processor is asked only once: in a
 * virtual machine that takes as long as coding a thousand weights. */
static bool has_f16c(void)
{
    enum { UNKNOWN, NO, YES };
    static atomic_int known = UNKNOWN;
    unsigned eax, ebx, ecx, edx;
    int answer = atomic_load_explicit(&known, memory_order_relaxed);

    if (answer == UNKNOWN) {
        bool has = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
        answer = has ? YES : NO;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == YES;
}

/* The builtin also asks whether the system saves the registers. */
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

static bool always(void)
{
    return true;
}

/* From slow to fast. */
static const struct {
    const char *name;
    gufo_cpu cpu;
    const coder *kernels; /* NULL: not in this build */
    const double_kernels *doubles;
    bool (*supported)(void);
} levels[] = {
    {"portable", GUFO_CPU_PORTABLE, kernels_portable, &doubles_portable, always},
#if defined(GUFO_HAVE_X86_KERNELS)
    {"avx2", GUFO_CPU_AVX2, kernels_avx2, &doubles_avx2, has_avx2},
    {"avx512", GUFO_CPU_AVX512, kernels_avx512, &doubles_avx512, has_avx512},
#else
    {"avx2", GUFO_CPU_AVX2, NULL, NULL, always},
    {"avx512", GUFO_CPU_AVX512, NULL, NULL, always},
#endif
#if defined(GUFO_HAVE_NEON_KERNELS)
    {"neon", GUFO_CPU_NEON, kernels_neon, &doubles_neon, always}, /* every AArch64 has it */
#else
    {"neon", GUFO_CPU_NEON, NULL, NULL, always},
#endif
};

enum { LEVEL_COUNT = sizeof levels / sizeof *levels };

static const char best_name[] = "best";

const char *gufo_cpu_name(gufo_cpu cpu)
{
    for (size_t i = 0; i < LEVEL_COUNT; i++)
        if (levels[i].cpu == cpu)
            return levels[i].name;
    return cpu == GUFO_CPU_BEST ? best_name : NULL;
}

bool gufo_cpu_by_name(const char *name, gufo_cpu *cpu)
{
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        if (strcmp(levels[i].name, name) == 0) {
            *cpu = levels[i].cpu;
            return true;
        }
    }
    *cpu = GUFO_CPU_BEST;
    return strcmp(name, best_name) == 0;
}

/* LEVEL_COUNT if the level is not available. */
static size_t find_level(gufo_cpu cpu)
{
    for (size_t i = LEVEL_COUNT; i-- > 0;)
        if ((cpu == GUFO_CPU_BEST || cpu == levels[i].cpu) && levels[i].kernels != NULL &&
            levels[i].supported())
            return i;
    return LEVEL_COUNT;
}

const coder *cpu_kernels(gufo_cpu cpu)
{
    size_t level = find_level(cpu);

    return level < LEVEL_COUNT ? levels[level].kernels : NULL;
}

const double_kernels *cpu_doubles(gufo_cpu cpu)
{
    size_t level = find_level(cpu);

    return level < LEVEL_COUNT ? levels[level].doubles : &doubles_portable;
}

bool gufo_cpu_available(gufo_cpu cpu)
{
    return cpu_kernels(cpu) != NULL;
}

gufo_status fail_cpu(gufo_cpu cpu, gufo_error *error)
{
    const char *name = gufo_cpu_name(cpu);

    return refuse(error, GUFO_E_ARGUMENT, "the kernels '%s' are not available on this processor",
                  name != NULL ? name : "?");
}
