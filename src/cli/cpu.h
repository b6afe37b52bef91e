/* The processor level that the user asks for. */
#ifndef CLI_CPU_H
#define CLI_CPU_H

#include "gufo/codec.h"

/* GUFO_CPU from the environment into *cpu; the best one if it is not set or empty.  Returns
 * CODE_OK, or CODE_USAGE after a report if there is no such level, or not on this machine. */
int cpu_from_environment(gufo_cpu *cpu);

#endif
