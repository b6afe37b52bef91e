/* Types of tensors for a size. */
#ifndef GUFO_PYTHON_SIZE_H
#define GUFO_PYTHON_SIZE_H

#include "core.h"

#include <gufo/target_size.h>

typedef struct size_part {
    gufo_size_target target;
    bool is_asked; /* for a size */
    const gufo_element_type *types[GUFO_QUANTIZE_TARGETS];
    gufo_losses_options options;
    const char *losses_path; /* where measurements are kept; NULL: nowhere */
    gufo_losses *losses;
    gufo_size_plan *plan;
    gufo_error not_read, not_kept; /* why the measurements are not used, or not kept */
} size_part;

/* Reads "size", "bits_per_weight", "size_types", "exact" and "losses" of a dict, which texts are views of.  False with an
 * exception. */
bool size_read(PyObject *options, size_part *s);
/* Measures, and makes the options of the quantizer those of the plan. */
gufo_status size_make_plan(size_part *s, const gufo_model *input, gufo_quantize_options *options,
                           const gufo_run *run, gufo_error *error);
void size_free(size_part *s);
/* The plan as a dict, with what the quantizer has measured in a run; None without a plan. */
PyObject *size_dict(const size_part *s, const gufo_quantizer *quantizer);

#endif
