/* What would let an import go on that failed. */
#ifndef IMPORT_ADVISE_H
#define IMPORT_ADVISE_H

#include "gufo/import.h"

/* Adds it to a failure. */
static inline gufo_status import_advise(gufo_status status, gufo_import_advice advice,
                                        gufo_error *error)
{
    if (error != NULL)
        error->advice = advice;
    return status;
}

#endif
