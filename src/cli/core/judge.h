/* The judge of chat templates, where the library that has it is built in. */
#ifndef CLI_CORE_JUDGE_H
#define CLI_CORE_JUDGE_H

#include "gufo/check.h"

/* NULL without it. */
extern gufo_template_judge *const template_judge;

#endif
