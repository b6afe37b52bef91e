/* The tokens of a vocabulary by id, until the document has them. */
#ifndef TEXT_TOKEN_LIST_H
#define TEXT_TOKEN_LIST_H

#include "gufo/document.h"
#include "text/vocabulary/vocabulary.h"

#define TOKENIZER_KEY(name) "tokenizer.ggml." name
#define WORD_START "\xe2\x96\x81" /* U+2581 */

/* A token whose text has no data is padding: "[PAD17]". */
typedef struct listed_token {
    gufo_str text; /* a view, of a text that outlives the list or of token_list_room */
    float score;
    int32_t type;
} listed_token;

typedef struct token_list {
    const gufo_allocator *allocator;
    listed_token *tokens;
    uint32_t count;
    struct token_block *blocks; /* memory of texts */
} token_list;

/* Makes `count` padding tokens with this score.  The files name at most `known` of them: many more
 * padding tokens than that are refused.  GUFO_E_LIMIT, GUFO_E_MALFORMED (none), GUFO_E_MEMORY. */
gufo_status token_list_make(token_list *list, uint64_t count, uint64_t known, float score,
                            const gufo_allocator *allocator, gufo_error *error);
void token_list_free(token_list *list);

/* Memory for a text, which lives as long as the list; NULL without memory. */
char *token_list_room(token_list *list, size_t size);

static inline bool token_is_padding(const listed_token *token)
{
    return token->text.data == NULL;
}

/* The text with a space for each U+2581. */
gufo_status token_list_with_spaces(token_list *list, gufo_str text, gufo_str *out,
                                   gufo_error *error);
/* Texts as GGUF has them, after all were compared: U+2581 is a space in tokens that users defined; of
 * WordPiece (`words`), which marks what continues a word, GGUF marks the beginnings. */
gufo_status token_list_finish(token_list *list, bool words, gufo_error *error);
/* Whether a text begins and ends as those of special tokens, also where no file says so. */
bool token_looks_special(gufo_str text);
/* "<0x0A>" */
bool token_is_byte(gufo_str text);

/* Sets tokenizer.ggml.tokens, .scores (if `scored`), .token_type. */
gufo_status token_list_write(token_list *list, bool scored, gufo_document *document,
                             gufo_error *error);

#endif
