/* What the parts of a tokenizer.json become as keys of a GGUF file. */
#ifndef TEXT_FORMATS_JSON_READING_H
#define TEXT_FORMATS_JSON_READING_H

#include <jansson.h>

#include "base/buffer.h"
#include "text/formats/token_list.h"
#include "text/formats/tokenizer_file.h"

/* The models of pieces, as bits. */
typedef enum model_kind {
    PIECES = 1,  /* llama: BPE with bytes for unknown characters */
    UNIGRAM = 2, /* t5 */
} model_kind;

typedef struct json_reading {
    gufo_allocator allocator;
    gufo_document *document;
    model_kind kind;
    /* Takes a sentence about what a GGUF file cannot say; NULL: that is a failure, where ids may
     * depend on it. */
    void (*note)(void *context, const char *sentence);
    void *note_context;
    const tokenizer_file *file;
    const tokenizer_file *merges; /* the file that has them */
    token_list list;

    /* What normalizer and pre-tokenizer say. */
    bool space_prefix, spaces_escaped, extra_spaces_removed;
    const json_t *charsmap;

    gufo_status status; /* the first failure of the functions that return a value */
    gufo_error *error;
} json_reading;

/* Fails, at no place of the text. */
__attribute__((format(printf, 2, 3))) gufo_status json_wrong(json_reading *r, const char *format,
                                                             ...);
/* What GGUF cannot express, and what makes little difference. */
__attribute__((format(printf, 2, 3))) gufo_status json_unsayable(json_reading *r,
                                                                 const char *format, ...);
__attribute__((format(printf, 2, 3))) void json_note(json_reading *r, const char *format, ...);

/* The member of an object; NULL if it is missing or null. */
const json_t *json_member(const json_t *object, const char *name);
gufo_str json_text(const json_t *string);
/* Members of a type; another type is a failure in r->status. */
bool json_flag(json_reading *r, const json_t *object, const char *name, bool otherwise);
gufo_str json_word(json_reading *r, const json_t *object, const char *name);

static inline bool str_is(gufo_str text, const char *word)
{
    return gufo_str_equal(text, gufo_str_of(word));
}

/* Calls `take` for each step of a part: for the object itself, or, where its type is Sequence, for
 * what the list in it has. */
typedef gufo_status take_step(json_reading *r, const json_t *step, gufo_str type, void *context);
gufo_status json_each_step(json_reading *r, const char *part, const char *list, take_step *take,
                           void *context);

/* The parts. */
gufo_status json_keep_merges(json_reading *r);  /* json_merges.c */
gufo_status json_check_merges(json_reading *r); /* that parts and results are tokens */
/* Scores the tokens of a vocabulary of pieces as its merges say: the earlier, the higher.
 * GUFO_E_MALFORMED: no list, or a merge that makes no token. */
gufo_status json_score_tokens(json_reading *r);
gufo_status json_read_normalizer(json_reading *r); /* json_normalizer.c */
gufo_status json_spell_pre(json_reading *r,
                           buffer *out); /* json_pre.c: its steps, a line for each */

#endif
