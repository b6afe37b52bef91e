/* What the files of this room share. */
#ifndef IMPORT_EXPORT_PARTS_H
#define IMPORT_EXPORT_PARTS_H

#include "base/buffer.h"
#include "import/architectures/config.h"
#include "import/export/export.h"

/* Adds a file, whose bytes it takes over, also on failure.  They are of malloc. */
gufo_status export_add(export_files *files, const char *name, buffer *bytes, gufo_error *error);
/* The same of a JSON value, indented. */
gufo_status export_add_json(export_files *files, const char *name, const json_t *json,
                            gufo_error *error);

#endif
