/* What the steps of decoders share. */
#include "text/pipeline/decoders/decoding.h"

#include "base/error.h"
#include "base/memory.h"

bool token_end(token_texts *t)
{
    size_t *ends =
        mem_grow(mem_allocator(t->bytes.allocator), t->ends, t->count, &t->room, sizeof *ends);

    if (ends == NULL)
        return false;
    t->ends = ends;
    ends[t->count++] = t->bytes.len;
    return true;
}

gufo_status decoder_put_replaced(const expression *pattern, decoding *d, gufo_str text,
                                 gufo_str content, gufo_text *out)
{
    expression_match m = {0};
    size_t at = 0;
    gufo_status status = expression_begin(pattern, d->scratch, text, d->error);

    while (status == GUFO_OK) {
        status = expression_next(pattern, d->scratch, &m, d->error);
        if (status != GUFO_OK || !m.found)
            break;
        if (!text_add(out, text.data + at, m.begin - at) ||
            !text_add(out, content.data, content.len))
            return fail_memory(d->error);
        at = m.end;
    }
    if (status == GUFO_OK && !text_add(out, text.data + at, text.len - at))
        return fail_memory(d->error);
    return status;
}
