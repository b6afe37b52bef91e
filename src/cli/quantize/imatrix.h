/* gufo imatrix, as its files see it. */
#ifndef CLI_QUANTIZE_IMATRIX_H
#define CLI_QUANTIZE_IMATRIX_H

#include "cli/core/options/options.h"

#include "gufo/quant.h"

typedef struct imatrix_options {
    command_input base;
    bool format_given;
    gufo_imatrix_format format; /* if it is not given: by the name of the output */
    uint64_t chunk_size;
} imatrix_options;

/* "gguf", "dat": by gufo_imatrix_format. */
extern const char *const imatrix_formats[];

/* Finds the matrices of an entry that no token reached, one after the other: their counts, rounded
 * to whole numbers, are 0. */
typedef struct imatrix_unreached {
    const gufo_imatrix *imatrix;
    uint64_t index, next, end, read; /* those before `read` are in `counts`, or were */
    float counts[1024];
    gufo_status status;
} imatrix_unreached;

imatrix_unreached imatrix_unreached_start(const gufo_imatrix *imatrix, uint64_t index,
                                          const gufo_imatrix_entry *entry);
/* False after the last one, or on failure (u->status). */
bool imatrix_unreached_next(imatrix_unreached *u, uint64_t *matrix, gufo_error *error);

/* Prints one importance matrix, as text or JSON.  Returns the exit code. */
int imatrix_show(const char *path, const gufo_imatrix *imatrix, const imatrix_options *options);

#endif
