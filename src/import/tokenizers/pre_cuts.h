/* Where the pre-tokenizer of a tokenizer.json cuts a text. */
#ifndef IMPORT_TOKENIZERS_PRE_CUTS_H
#define IMPORT_TOKENIZERS_PRE_CUTS_H

#include "import/tokenizers/reading.h"

enum { LONGEST_PROBE = 1024 };

/* Whether a text is cut before byte i, for 0 < i < its length. */
typedef struct cut_set {
    bool at[LONGEST_PROBE + 1];
} cut_set;

typedef struct pre_cutter pre_cutter;

/* The pre_tokenizer of tokenizer.json, without the spaces that it may put before texts.  NULL on failure:
 * GUFO_E_TYPE names a step that cannot be followed; GUFO_E_MALFORMED, GUFO_E_LIMIT, GUFO_E_MEMORY. */
pre_cutter *pre_cutter_new(tokenizer_reading *r);
void pre_cutter_free(pre_cutter *cutter); /* NULL is allowed */

/* Cuts a text of at most LONGEST_PROBE bytes.  GUFO_E_LIMIT: expressions took too long, for
 * this text and those before it together. */
gufo_status pre_cutter_run(pre_cutter *cutter, gufo_str text, cut_set *cuts, gufo_error *error);

#endif
