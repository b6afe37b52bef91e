/* The size of a model, counted from its tensors. */
#ifndef IMPORT_GENERAL_SIZE_LABEL_H
#define IMPORT_GENERAL_SIZE_LABEL_H

#include "gufo/document.h"

typedef struct parameter_count {
    uint64_t shared;  /* in no expert's tensors */
    uint64_t expert;  /* of one expert */
    uint64_t experts; /* 0: a model without */
    uint64_t total;   /* UINT64_MAX: that, or more */
} parameter_count;

parameter_count count_parameters(const gufo_document *document);

enum { SIZE_LABEL_ROOM = 64 };

/* "6.7B", "8x7.2B": as the converters of the field write it. */
void size_label_write(const parameter_count *count, char out[SIZE_LABEL_ROOM]);

#endif
