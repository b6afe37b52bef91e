/* The tokens that begin and end texts, stand for what is unknown, and fill. */
#ifndef IMPORT_LEGACY_SPECIAL_IDS_H
#define IMPORT_LEGACY_SPECIAL_IDS_H

#include "import/legacy/vocabulary.h"
#include "import/legacy/word_list.h"

/* Where a rule expects a token of a role, and its text is one that such tokens have, gives it the
 * type of the role. */
void special_ids_mark(word_list *words, const legacy_text_rule *rule);
/* Sets tokenizer.ggml.*_token_id for those. */
gufo_status special_ids_set(gufo_document *document, const word_list *words,
                            const legacy_text_rule *rule, gufo_error *error);

#endif
