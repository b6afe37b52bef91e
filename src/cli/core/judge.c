/* The judge of chat templates. */
#include "cli/core/judge.h"

#ifdef GUFO_HAS_TEXT

#include "gufo/template.h"

gufo_template_judge *const template_judge = gufo_template_lint;

#else

gufo_template_judge *const template_judge = NULL;

#endif
