/* vocab.txt: a line for each token. */
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "gufo/print.h"
#include "text/export/json_writing.h"
#include "text/tokenizers/algorithm.h"
#include "text/vocabulary/vocabulary.h"

/* How a character, or a byte that is none, is written; *size is how many bytes of text it takes. */
static gufo_str escape(gufo_str text, size_t *size, char room[8])
{
    static const char escapes[] = "\\\\\nn\rr"; /* each with its letter */
    uint32_t code;

    *size = gufo_utf8_decode(text, &code);
    if (*size > 1)
        return (gufo_str){text.data, *size};
    if (*size == 0) {
        *size = 1;
        return (gufo_str){room, (size_t)snprintf(room, 8, "\\x%02x", (unsigned char)*text.data)};
    }
    for (size_t i = 0; i < sizeof escapes - 1; i += 2)
        if (*text.data == escapes[i])
            return (gufo_str){room, (size_t)snprintf(room, 8, "\\%c", escapes[i + 1])};
    return (gufo_str){text.data, 1};
}

static bool append(gufo_text *out, gufo_str text)
{
    return text_add(out, text.data, text.len);
}

gufo_status gufo_vocab_export_txt(const gufo_vocab *vocab, gufo_text *out, gufo_error *error)
{
    const size_t start = out->len;
    bool wordpiece = vocab->algorithm == &algorithm_wpm, memory = true;

    for (uint32_t id = 0; memory && id < vocab->size; id++) {
        gufo_str text = vocab_text(vocab, id);
        char room[8];
        size_t size;

        if (wordpiece) {
            wordpiece_text word = wordpiece_text_of(vocab, id);

            memory = append(out, gufo_str_of(word.prefix));
            text = word.rest;
        }
        for (size_t at = 0; memory && at < text.len; at += size)
            memory = append(out, escape(str_from(text, at), &size, room));
        memory = memory && append(out, gufo_str_of("\n"));
    }
    if (memory)
        return GUFO_OK;
    out->len = start;
    return fail_memory(error);
}
