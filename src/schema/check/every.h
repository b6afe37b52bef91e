/* For those that fix what is found, and not only list it. */
#ifndef GUFO_SCHEMA_EVERY_H
#define GUFO_SCHEMA_EVERY_H

#include "gufo/check.h"

/* gufo_check, but of each rule every finding comes. */
gufo_status schema_check_every(const gufo_model *model, const gufo_check_options *options,
                               gufo_finding_fn *found, void *context, gufo_error *error);

#endif
