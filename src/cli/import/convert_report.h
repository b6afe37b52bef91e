/* What gufo convert reports beyond what gufo quantize does. */
#ifndef CLI_IMPORT_CONVERT_REPORT_H
#define CLI_IMPORT_CONVERT_REPORT_H

#include "cli/core/values/json.h"
#include "cli/quantize/quantize.h"

#include "gufo/import.h"

/* Which weights were repacked, which were unpacked, and what rounding them has lost: a table, or where
 * `j` is not NULL a member of its object; nothing of a source that is not quantized.  Then the
 * contradictions that --force-config has let pass, with the first output. */
void convert_report(const gufo_import *import, const quantize_options *options,
                    const gufo_quantizer *q, size_t output, json_writer *j);

#endif
