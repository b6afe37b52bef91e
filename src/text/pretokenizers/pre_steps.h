/* How a tokenizer.json spells the pre-tokenizers that tokenizer.ggml.pre names. */
#ifndef TEXT_PRE_STEPS_H
#define TEXT_PRE_STEPS_H

#include "gufo/base.h"

/* Row `index` of registry/pretokenizer_steps.tsv; NULL past the end.  `pre` is "" for all steps of a
 * shape but the first. */
typedef struct pre_step {
    const char *pre, *ignore_merges, *step;
} pre_step;

const pre_step *pre_step_at(size_t index);

/* The name of the shape with these steps, divided by line ends; NULL: not known. */
const char *pre_of_steps(gufo_str steps, bool ignore_merges);
/* The first row of the shape to write for a name, or, where it has none, for a name that cuts
 * in the same way (registry/pretokenizer_rules.tsv); NULL: not known. */
const pre_step *pre_steps_of(const char *pre);
/* Whether a row is the last of its shape. */
bool pre_step_is_last(const pre_step *row);

#endif
