/* What opening a vocabulary does in turn (open.c has the order). */
#ifndef TEXT_OPENING_H
#define TEXT_OPENING_H

#include "text/vocabulary/vocabulary.h"

/* ---- settings: its model, special ids and flags --------------------------------------------- */

/* Finds the algorithm and the pre-tokenizer, and sets what they say of texts. */
gufo_status settings_choose(gufo_vocab *v, const gufo_model *model, const char *pre,
                            gufo_error *error);
/* Special ids and flags: the defaults of the model, then the keys of the file. */
gufo_status settings_read(gufo_vocab *v, const gufo_model *model, gufo_error *error);

/* The role with this short name, as in "id:fim_pre"; GUFO_SPECIAL_COUNT if none has it. */
gufo_special settings_role(gufo_str name);

/* ---- tokens whose attributes and roles follow from their texts, or that were added ---------- */

/* Applies the rules of registry/special_texts.tsv; for the original's ids types stay those of the file. */
gufo_status known_texts_apply(gufo_vocab *v, const gufo_model *model, gufo_error *error);

/* Tokens that tokenizer.ggml.added_tokens names become user-defined, unless their type says more; runs
 * of spaces only for the original's ids, and stay normal besides.  Texts must be indexed.
 * GUFO_E_MALFORMED, GUFO_E_MEMORY. */
gufo_status added_tokens_apply(gufo_vocab *v, const gufo_model *model, gufo_error *error);

/* ---- by the rules of a tokenizer.json, the original's --------------------------------------- */

/* Fills a vocabulary from a tokenizer.json, and a tokenizer_config.json that may be empty. */
gufo_status original_fill(gufo_vocab *v, gufo_str json, gufo_str config, unsigned threads,
                          gufo_error *error);

#endif
