/* What follows from the name of a pre-tokenizer, and how a tokenizer.json spells it. */
#ifndef TEXT_PRE_RULES_H
#define TEXT_PRE_RULES_H

#include "gufo/base.h"

typedef struct pre_rules {
    const char *name;  /* tokenizer.ggml.pre */
    const char *shape; /* how text is cut */
    bool clean_spaces; /* decoding removes spaces before punctuation */
    bool ignore_merges;
    bool escape_spaces;  /* spaces are U+2581 in token texts */
    bool raw_text;       /* token texts are not in the byte alphabet */
    bool add_bos;        /* unless the file says no */
    bool force_bos;      /* whatever the file says */
    bool no_default_bos; /* the id of the file, or none */
    bool newline_tokens; /* a piece of newlines that is a token is not merged */
    bool no_merges;      /* files may lack merges, and then no piece is a token: kimi-k2 */
} pre_rules;

/* NULL: no such name.  "default" exists. */
const pre_rules *pre_rules_find(gufo_str name);
/* Row `index`, in the order of the names; NULL past the end. */
const pre_rules *pre_rules_at(size_t index);

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
