/* The pipeline of a tokenizer.json with one thing changed that a GGUF file may not be able to say. */
#ifndef IMPORT_TOKENIZERS_STEP_CHANGES_H
#define IMPORT_TOKENIZERS_STEP_CHANGES_H

#include "import/tokenizers/reading.h"
#include "text/pipeline/pipeline.h"

enum { CHANGE_NAME = 64 };

typedef struct step_change {
    char name[CHANGE_NAME]; /* of the thing: "NFC", "clean_text of BertNormalizer" */
    const pipeline *changed;
} step_change;

/* Calls `take` for each thing that can be left out, with the pipeline that is left; those that cannot be
 * made are skipped.  `p` is the file's own, whose added tokens are changed meanwhile. */
typedef gufo_status take_change(void *context, const step_change *change);
gufo_status step_changes_each(tokenizer_reading *r, pipeline *p, take_change *take, void *context);

#endif
