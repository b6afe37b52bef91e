/* The tokens that begin and end texts, stand for what is unknown, and fill. */
#ifndef LEGACY_SPECIAL_IDS_H
#define LEGACY_SPECIAL_IDS_H

#include "legacy/vocabulary.h"
#include "legacy/word_list.h"

/* Where a rule expects a token of a role, and its text is one that such tokens have, gives it the
 * type of the role. */
void special_ids_mark(word_list *words, const legacy_text_rule *rule);
/* Sets tokenizer.ggml.*_token_id for those. */
gufo_status special_ids_set(gufo_document *document, const word_list *words,
                            const legacy_text_rule *rule, gufo_error *error);

#endif
