/* JSON of strangers: files beside a model's tensors, and texts inside others. */
#ifndef IMPORT_JSON_FILE_H
#define IMPORT_JSON_FILE_H

#include <jansson.h>

#include "base/files/source_folder.h"
#include "gufo/import.h"
#include "text/formats/json_tree.h"

/* Bytes of memory that reading the files of one model may take, all of them together.  Nothing is given back: a
 * file whose values are gone again was large all the same. */
typedef struct import_bounds {
    uint64_t left;
} import_bounds;

/* Adds to a failure what would let the import go on. */
static inline gufo_status import_advise(gufo_status status, gufo_import_advice advice,
                                        gufo_error *error)
{
    if (error != NULL)
        error->advice = advice;
    return status;
}

/* Takes some of the memory.  GUFO_E_LIMIT, with GUFO_ADVICE_MEMORY, if not so much is left.  `bounds` may be
 * NULL in all of these: then only the default limit of each text applies. */
gufo_status import_bounds_take(import_bounds *bounds, uint64_t bytes, gufo_error *error);

/* Reads a file of a folder: at most `limit` bytes, whose values take no more than is left of `bounds`, nor more than text/formats/json_tree.h allows for their bytes.  *json is the
 * caller's (json_decref); NULL, with GUFO_OK, if no such file exists.  Refused: names that occur twice in
 * an object, NaN and infinities, more than 64 nested objects and arrays, what follows the
 * value.  Whole numbers beyond 64 bits become reals.  Errors name the file, with the byte offset. */
gufo_status json_file_read(const source_folder *folder, const char *name, uint64_t limit,
                           import_bounds *bounds, json_t **json, gufo_error *error);

/* The same for a text.  `name`: what errors call it; NULL: nothing, the caller names it.
 * `base_offset`: where the text begins in the file of that name. */
gufo_status json_read_text(gufo_str text, const char *name, uint64_t base_offset,
                           import_bounds *bounds, json_t **json, gufo_error *error);

#endif
