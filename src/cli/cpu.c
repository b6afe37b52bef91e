/* GUFO_CPU: the only place that reads it. */
#include "cli/cpu.h"

#include "cli/report.h"

#include <stdlib.h>

int cpu_from_environment(gufo_cpu *cpu)
{
    const char *name = getenv("GUFO_CPU");

    *cpu = GUFO_CPU_BEST;
    if (name == NULL || *name == '\0')
        return CODE_OK;
    if (!gufo_cpu_by_name(name, cpu)) {
        report_message(NULL, "GUFO_CPU is portable, avx2, avx512, neon or best, not '%s'", name);
        return CODE_USAGE;
    }
    if (!gufo_cpu_available(*cpu)) {
        report_message(NULL, "GUFO_CPU is '%s', which this machine or this build does not have",
                       name);
        return CODE_USAGE;
    }
    return CODE_OK;
}
