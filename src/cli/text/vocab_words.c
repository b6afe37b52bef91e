/* gufo vocab: the words of its options, types and tokens. */
#include <stdio.h>
#include <string.h>

#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/text/vocab.h"

const char *const vocab_lists[] = {"tokens",     "special",     "longest",
                                   "duplicates", "unreachable", NULL};
const char *const vocab_forms[] = {"tokenizer.json", "vocab.txt", NULL};

const char *vocab_type_name(int32_t type)
{
    static const char *const names[VOCAB_TYPES] = {"other",        "normal", "unknown", "control",
                                                   "user-defined", "unused", "byte"};

    return names[type > 0 && type < VOCAB_TYPES ? type : 0];
}

gufo_str vocab_quoted(const gufo_vocab *vocab, uint32_t id, gufo_text *room)
{
    gufo_token token = {.text = {"", 0}};
    gufo_text piece = {0};
    text_stream s;
    char *text = NULL;

    (void)gufo_vocab_token(vocab, id, &token);
    if (gufo_token_piece(vocab, id, &piece, NULL) == GUFO_OK && piece.len > 0)
        token.text = (gufo_str){piece.data, piece.len};
    if (text_stream_open(&s)) {
        putc('"', s.out);
        text_put(s.out, token.text, TEXT_QUOTED);
        putc('"', s.out);
        text = text_stream_close(&s);
    }
    gufo_text_free(&piece);
    gufo_text_free(room);
    if (text == NULL)
        return gufo_str_of("?");
    *room = (gufo_text){.data = text, .len = strlen(text), .room = strlen(text) + 1};
    return (gufo_str){room->data, room->len};
}
