/* The text of a token as a tokenizer.json has it. */
#include <string.h>

#include "base/memory.h"
#include "text/export/json_writing.h"
#include "text/export/wordpiece_text.h"
#include "text/tokenizers/algorithm.h"
#include "text/vocabulary/vocabulary.h"

json_t *json_token_text(const json_export *e, uint32_t id)
{
    const gufo_allocator *allocator = &e->vocab->allocator;
    wordpiece_text word = {"", vocab_text(e->vocab, id)};
    json_t *text;
    char *joined;

    if (e->vocab->algorithm == &algorithm_wpm)
        word = wordpiece_text_of(e->vocab, id);
    joined = mem_join(allocator, gufo_str_of(word.prefix), word.rest);
    text = joined != NULL ? json_stringn(joined, strlen(word.prefix) + word.rest.len) : NULL;
    mem_free(allocator, joined);
    return text;
}
