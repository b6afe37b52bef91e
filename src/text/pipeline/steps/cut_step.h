/* A step of a pre-tokenizer: cuts pieces, or rewrites them. */
#ifndef TEXT_CUT_STEP_H
#define TEXT_CUT_STEP_H

#include "text/pipeline/steps/pre_tokenizer.h"
#include "text/pipeline/steps/step_reading.h"
#include "text/characters/unicode.h"

typedef struct cut_run {
    const text_pieces *in;
    text_pieces *out; /* empty */
    expression_scratch *scratch;
    gufo_error *error;
} cut_run;

typedef struct cut_kind {
    bool rewrites; /* it fills out->text; else the pieces are of in->text */
    gufo_status (*run)(const void *step, cut_run *r);
    void (*free)(void *step, const gufo_allocator *allocator); /* never of NULL */
} cut_kind;

/* A list of steps, to which a type adds one or several. */
typedef struct cut_steps {
    const gufo_allocator *allocator;
    struct cut_step {
        const cut_kind *kind;
        void *step;
    } * list;
    uint64_t count, room;
    bool needs_origins;
} cut_steps;

/* What a type of the file adds.  Failures are r->status, too. */
typedef struct cut_type {
    const char *type;
    gufo_status (*add)(step_reading *r, cut_steps *steps);
} cut_type;

gufo_status cut_add_split(step_reading *r, cut_steps *steps);
gufo_status cut_add_white_space(step_reading *r, cut_steps *steps);
gufo_status cut_add_punctuation(step_reading *r, cut_steps *steps);
gufo_status cut_add_digits(step_reading *r, cut_steps *steps);
gufo_status cut_add_bert(step_reading *r, cut_steps *steps);
gufo_status cut_add_delimiter(step_reading *r, cut_steps *steps);

gufo_status cut_add_words(step_reading *r, cut_steps *steps);
gufo_status cut_add_scripts(step_reading *r, cut_steps *steps);
gufo_status cut_add_fixed_length(step_reading *r, cut_steps *steps);
gufo_status cut_add_byte_level(step_reading *r, cut_steps *steps);
gufo_status cut_add_metaspace(step_reading *r, cut_steps *steps);

#endif
