/* gufo imatrix, as its files see it. */
#ifndef CLI_QUANTIZE_IMATRIX_H
#define CLI_QUANTIZE_IMATRIX_H

#include "cli/core/options.h"

#include "gufo/quant.h"

typedef struct imatrix_options {
    command_input base;
    bool format_given;
    gufo_imatrix_format format; /* if it is not given: by the name of the output */
    uint64_t chunk_size;
} imatrix_options;

/* "gguf", "dat": by gufo_imatrix_format. */
extern const char *const imatrix_formats[];

/* Whether a matrix with this count was never reached: counts are rounded to whole numbers. */
bool imatrix_is_unreached(float count);

/* Prints one importance matrix, as text or JSON.  Returns the exit code. */
int imatrix_show(const char *path, const gufo_imatrix *imatrix, const imatrix_options *options);

#endif
