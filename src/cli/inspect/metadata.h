/* The metadata of a model as members of a JSON object; for gufo show, and for the page in web/. */
#ifndef CLI_INSPECT_METADATA_H
#define CLI_INSPECT_METADATA_H

#include "cli/core/values/json.h"
#include "gufo/format.h"

/* Fetches an entry from index *next on, and moves *next past it; false past the last. */
typedef bool metadata_next_fn(const void *context, const gufo_model *model, uint64_t *next,
                              gufo_entry *out);

/* "metadata": an object with the entries by their keys, with at most `array_limit` elements of each array; and
 * "duplicates", if there are any: those whose key was there before, or is not text (docs/json.md). */
void metadata_write(json_writer *j, const gufo_model *model, metadata_next_fn *next,
                    const void *context, uint64_t array_limit);

#endif
