/* What the readers of vocabularies share: the files of the folder, and where the keys go. */
#ifndef IMPORT_TOKENIZERS_READING_H
#define IMPORT_TOKENIZERS_READING_H

#include "base/buffer.h"
#include "import/tokenizers/tokenizers.h"
#include "text/formats/token_list.h"
#include "text/formats/tokenizer_file.h"
#include "text/pipeline/steps/step_reading.h"

#include <jansson.h>

typedef struct tokenizer_reading {
    gufo_import *import;
    gufo_document *document; /* of the import */
    const tokenizer_request *request;
    const model_config *config;
    const gufo_allocator *allocator;
    tokenizer_file *json; /* tokenizer.json; NULL: none */
    const json_t *model;  /* its "model"; NULL: none */
    json_t *added;        /* added_tokens.json; NULL: none */
    json_t *special_map;  /* special_tokens_map.json; NULL: none */
    const char *unfit;    /* the last file that was there, but not one for its reader */
    const char *unfit_why;
    const char *instead; /* the reader that the last one has asked for; NULL: none */
    bool has_pieces;     /* the vocabulary is one of pieces from tokenizer.json, with scores */
    bool is_bare; /* no space is put before texts, as readers do where no key says otherwise */
    bool has_end; /* a token that ends texts, for bos, eos and unknown where no file says them */
    uint32_t end;
    gufo_error *error;
} tokenizer_reading;

/* ---- files ---------------------------------------------------------------------------------- */

/* Reads a text file of the folder; *found is false, with GUFO_OK, if it does not exist. */
gufo_status reading_file(tokenizer_reading *r, const char *name, buffer *out, bool *found);
/* Reads JSON of the folder; *json is NULL if it does not exist. */
gufo_status reading_json(tokenizer_reading *r, const char *name, json_t **json);
/* Reads a file of the folder by its function; *out is NULL, with GUFO_OK, if it does not exist. */
typedef tokenizer_file *read_tokenizer_file(gufo_str text, const gufo_allocator *allocator,
                                            gufo_error *error);
gufo_status reading_tables(tokenizer_reading *r, const char *name, read_tokenizer_file *read,
                           tokenizer_file **out);
/* Reads tokenizer.json, if it exists. */
gufo_status reading_open(tokenizer_reading *r);
bool reading_has(const tokenizer_reading *r, const char *name);

/* What a reader returns when the files that it needs are missing, or are not for it: the next one is
 * tried. `why` is static; NULL: missing. */
gufo_status reading_pass(tokenizer_reading *r, const char *file, const char *why);

/* The same: the reader of this name is for these files. */
gufo_status reading_pass_to(tokenizer_reading *r, const char *reader);

/* Says in which file of the folder a failure is that does not say so itself; NULL: the folder. */
void reading_name_file(tokenizer_reading *r, const char *file);

/* A failure in a file of the folder. */
__attribute__((format(printf, 4, 5))) gufo_status reading_fail(tokenizer_reading *r,
                                                               gufo_status code, const char *file,
                                                               const char *format, ...);

/* ---- JSON ----------------------------------------------------------------------------------- */

/* A text, or the "content" of an object; empty: neither. */
gufo_str reading_content(const json_t *value);
/* The first of the configuration's fields (names divided by blanks) that is a whole number above 0;
 * 0: none is. */
uint64_t reading_size(const tokenizer_reading *r, const char *names);
/* Refuses the id of a token that a model of `size` tokens does not have; says where the size is from. */
gufo_status reading_fail_id(tokenizer_reading *r, const char *file, uint64_t id, uint64_t size);
/* A whole number >= 0. */
bool reading_id(const json_t *value, uint64_t *id);
/* The largest id of the model's vocabulary; 0: it has none. */
uint64_t reading_largest_id(const tokenizer_file *f);

/* Visits `added_tokens_decoder` of tokenizer_config.json, or "added_tokens" of tokenizer.json. */
typedef struct named_token {
    uint64_t id;
    gufo_str text;
    bool special;
    const char *file;
} named_token;

typedef gufo_status take_added(void *context, const named_token *token);

/* In the order of the ids' spelling in the file. */
gufo_status reading_each_decoded(tokenizer_reading *r, take_added *take, void *context);
gufo_status reading_each_added(tokenizer_reading *r, take_added *take, void *context);
/* added_tokens.json: text to id. */
gufo_status reading_each_listed(tokenizer_reading *r, take_added *take, void *context);

/* The parts of tokenizer.json that are steps. */
typedef enum reading_part { NORMALIZER, PRE_TOKENIZER } reading_part;

/* Calls `take` for each step of a part, as step_each does. */
gufo_status reading_each_step(tokenizer_reading *r, reading_part part, step_taker *take,
                              void *context);
bool reading_has_step(tokenizer_reading *r, reading_part part, const char *type);
/* A copy of a part, which is the caller's (json_decref), and for each of its steps a call of `take`, which
 * may change the step; NULL: there is none, or no memory. */
json_t *reading_copy_steps(tokenizer_reading *r, reading_part part, step_taker *take,
                           void *context);
/* What the list of a Sequence is called: "normalizers". */
const char *reading_list_name(reading_part part);

/* ---- tokens --------------------------------------------------------------------------------- */

/* Sets text and type of a token; GUFO_E_MALFORMED if another text has its id. */
gufo_status reading_place(tokenizer_reading *r, const char *file, token_list *list, uint64_t id,
                          gufo_str text, int32_t type);

/* ---- keys ----------------------------------------------------------------------------------- */

gufo_status reading_set_names(tokenizer_reading *r, const char *model, const char *pre);

/* ---- the readers, which tokenizers.c has in a table ------------------------------------------- */

/* Each sets tokenizer.ggml.* up to the list of merges. GUFO_E_NOT_FOUND: the files that it needs are
 * missing or not for it (reading_pass). */

#define WORLD_FILE "rwkv_vocab_v20230424.txt"

typedef gufo_status read_vocabulary(tokenizer_reading *r);

read_vocabulary read_spm, read_phi3, read_internlm2, read_arctic, read_chatglm3; /* pieces.c */
read_vocabulary read_bpe, read_atomic, read_wpm; /* json_vocabulary.c */
read_vocabulary read_hf, read_gemma4;            /* json_pieces.c */
read_vocabulary read_ugm, read_xlmr, read_nomic; /* pieces.c */
read_vocabulary read_rwkv;                       /* ranks.c */
read_vocabulary read_qwen, read_tiktoken;        /* ranks.c */
read_vocabulary read_mistral;                    /* ranks.c */

/* Whether tokenizer.json has a vocabulary of pieces, BPE that falls back to bytes: read_hf is for it.
 * json_pieces.c */
bool json_has_pieces(tokenizer_reading *r);

/* ---- special ids, flags, chat templates: special.c -------------------------------------------- */

/* Sets ids of special tokens, add_*_token and normalizer.*; ids that the document has stay. */
gufo_status special_write(tokenizer_reading *r);
/* Whether the files say that a bos token is put before texts. */
bool special_adds_bos(tokenizer_reading *r);
/* Sets tokenizer.chat_template, and those with a name. */
gufo_status templates_write(tokenizer_reading *r);

/* ---- what keys cannot say of a tokenizer.json: compare_ids.c ---------------------------------- */

/* Encodes texts by the rules of tokenizer.json and as readers of the document do, and warns of texts whose
 * ids differ.  Nothing of it goes into the document. */
gufo_status compare_ids(tokenizer_reading *r);

/* ---- merges, kept or as scores: rules.c --------------------------------------------- */

/* Sets tokenizer.ggml.merges: those of the vocabulary, or of merges.txt where that has none.  Both parts
 * and what they make must be tokens.  Without any, tokens are atomic: a warning. */
gufo_status merges_write(tokenizer_reading *r, const tokenizer_file *vocab);

/* The score of tokens that are found before anything merges. */
#define ADDED_SCORE (-1000.0f)

/* Scores the tokens of a vocabulary of pieces as its merges say: the earlier, the higher.
 * GUFO_E_MALFORMED: no list, or a merge that makes no token. */
gufo_status merges_score(tokenizer_reading *r, const tokenizer_file *vocab, token_list *list);

/* ---- what is done to spaces, as keys: rules.c ------------------------------------------- */

/* The models of pieces, as bits. */
typedef enum model_kind {
    PIECES = 1,  /* llama: BPE with bytes for unknown characters */
    UNIGRAM = 2, /* t5 */
} model_kind;

/* Sets the flags and the map of the normalizer.  What GGUF cannot express is a warning for PIECES, and
 * GUFO_E_TYPE for UNIGRAM. */
gufo_status space_rules_write(tokenizer_reading *r, model_kind kind);

#endif
