/* Models that a model was made of, and data sets that it was trained on. */
#ifndef IMPORT_GENERAL_PARENTS_H
#define IMPORT_GENERAL_PARENTS_H

#include "import/general/sources.h"

/* Sets PREFIXcount and PREFIX0.name ... of a list of ids, addresses and mappings, or of one of these.
 * null is an empty list. */
gufo_status parents_write(const general_sources *s, const char *prefix, const json_t *list,
                          gufo_error *error);

#endif
