/* Factors of packed weights, which their blocks do not have: readers find them in tensors of their
 * own. */
#ifndef IMPORT_ARCHITECTURES_PLAN_FACTORS_H
#define IMPORT_ARCHITECTURES_PLAN_FACTORS_H

#include "import/architectures/plan/views.h"

enum { FACTORS = 2 };

/* The factors of every matrix of a view. */
typedef struct factor_lists {
    uint64_t entries;     /* matrices */
    float *list[FACTORS]; /* the second is part of the first's memory */
} factor_lists;

/* What is behind the stem of a name: ".scale". */
extern const char *const factor_names[FACTORS];

/* Reads the factors of a view whose chunks are all packed, by a kind that has factors.  *fit: whether all
 * rows of each matrix have the same ones, so that blocks can hold them.  Freed with factors_free, also
 * after a failure. */
gufo_status factors_read(const view *v, factor_lists *l, bool *fit, gufo_error *error);
void factors_free(const view *v, const factor_lists *l);
/* Whether factors change nothing. */
bool factors_are_one(const float *list, uint64_t count);

#endif
