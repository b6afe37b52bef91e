/* The processor levels of this build, and their kernels. */
#ifndef CODEC_CPU_H
#define CODEC_CPU_H

#include "codec/kernels.h"

/* The kernels of a level, by element type id; NULL if the level is not available. */
const coder *cpu_kernels(gufo_cpu cpu);

/* Fails because a level is not available. */
gufo_status fail_cpu(gufo_cpu cpu, gufo_error *error);

#endif
