/* Vocabularies that a model holds in the form of another program. */
#include "text/formats/source.h"

gufo_status vocab_source(const gufo_model *model, const gufo_allocator *allocator,
                         gufo_model **made, gufo_error *error)
{
    (void)model;
    (void)allocator;
    (void)error;
    *made = NULL;
    return GUFO_OK;
}
