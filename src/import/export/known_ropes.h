/* Parameters of rotary positions that a model holds as tensors. */
#ifndef IMPORT_EXPORT_KNOWN_ROPES_H
#define IMPORT_EXPORT_KNOWN_ROPES_H

#include "import/export/export.h"

/* Sets those fields whose conversion makes rope_freqs, rope_factors_long and rope_factors_short of the
 * model again.  What has no such fields is a warning. */
gufo_status known_ropes(const gufo_model *model, const char *architecture, const json_t *keys,
                        json_t *fields, export_files *files, gufo_error *error);

#endif
