/* From ids to text: texts of tokens, and the decoder that joins them. */
#include "base/error.h"
#include "base/memory.h"
#include "text/pipeline/pipeline.h"
#include "text/vocabulary/vocabulary.h"

/* Ids that are left out: the special ones, and those that the post-processor adds at both ends. */
static bool is_dropped(const pipeline *p, const gufo_vocab *v, uint32_t id, uint32_t flags,
                       bool first, bool last)
{
    if ((flags & GUFO_DETOKENIZE_REMOVE_SPECIAL) != 0 &&
        ((first && id == post_processor_first(p->post_processor)) ||
         (last && id == post_processor_last(p->post_processor))))
        return true;
    return (flags & GUFO_DETOKENIZE_SKIP_SPECIAL) != 0 &&
           (v->attributes[id] & GUFO_TOKEN_CONTROL) != 0;
}

/* The texts of ids, the last of which may be unknown; returns how many there are. */
static size_t collect(const pipeline *p, const gufo_vocab *v, const uint32_t *ids, size_t count,
                      uint32_t flags, gufo_str *texts)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        gufo_str text = pipeline_token_text(p, v, ids[i]);

        if (text.len > 0 && !is_dropped(p, v, ids[i], flags, i == 0, i == count - 1))
            texts[kept++] = text;
    }
    return kept;
}

gufo_status pipeline_decode(const pipeline *p, const gufo_vocab *v, const uint32_t *ids,
                            size_t count, uint32_t flags, gufo_text *out, gufo_error *error)
{
    const gufo_allocator *allocator = mem_allocator(out->allocator);
    gufo_str *texts = mem_array(allocator, (uint64_t)count + 1, sizeof *texts);
    expression_scratch *s = texts != NULL ? expression_scratch_new(allocator, error) : NULL;
    gufo_status status = s != NULL ? GUFO_OK : fail_memory(error);

    if (status == GUFO_OK)
        status =
            decoder_run(p->decoder, s, texts, collect(p, v, ids, count, flags, texts), out, error);
    expression_scratch_free(s);
    mem_free(allocator, texts);
    return status;
}
