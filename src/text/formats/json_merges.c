/* The merges of a tokenizer.json: strings "A B", or pairs ["A", "B"].
 *
 * A byte-level vocabulary keeps them.  In one of pieces GGUF has scores instead: of two neighbours
 * whose joined text is a token, those with the highest score are joined first.  A token gets minus the
 * rank of the first merge that makes it, so that the order is that of the merges; tokens that none
 * makes follow, by their ids.
 *
 *     merges   0: t h    1: th e    2: t he        tokens   3: h    7: the    9: th    12: he
 *     scores   th 0, the -1, he -15 (3 merges, id 12), h -6 */
#include "text/formats/json_reading.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define ADDED_SCORE (-1000.0f) /* of tokens that are found before anything merges */

/* Spaces inside a part become that of the byte alphabet: one space alone divides the parts. */
static size_t write_part(char *out, gufo_str part)
{
    size_t len = 0;

    for (size_t i = 0; i < part.len; i++) {
        bool space = part.data[i] == ' ';

        memcpy(out + len, space ? "\xc4\xa0" : &part.data[i], space ? 2 : 1); /* U+0120 */
        len += space ? 2 : 1;
    }
    return len;
}

gufo_status json_keep_merges(json_reading *r)
{
    const tokenizer_file *f = r->merges;
    const size_t count = f->merge_count;
    gufo_str *texts = mem_array(&r->allocator, count, sizeof *texts);
    gufo_items items = {GUFO_VALUE_STRING, count, texts};
    uint64_t bytes = count;
    gufo_status status;
    char *data;

    for (size_t i = 0; i < count; i++)
        bytes += 2 * ((uint64_t)f->merges[i].left.len + f->merges[i].right.len);
    data = mem_array(&r->allocator, bytes, 1);
    status = texts == NULL || data == NULL ? fail_memory(r->error) : GUFO_OK;
    for (size_t i = 0, at = 0; status == GUFO_OK && i < count; i++) {
        texts[i].data = data + at;
        at += write_part(data + at, file_str(f, f->merges[i].left));
        data[at++] = ' ';
        at += write_part(data + at, file_str(f, f->merges[i].right));
        texts[i].len = (size_t)(data + at - texts[i].data);
        if (f->merges[i].left.len == 0 || f->merges[i].right.len == 0)
            status = json_wrong(r, "a part of merge %zu is empty", i);
    }
    if (status == GUFO_OK)
        status = gufo_document_set_array(r->document, TOKENIZER_KEY("merges"), &items, r->error);
    mem_free(&r->allocator, texts);
    mem_free(&r->allocator, data);
    return status;
}

/* The token that a merge makes of two others. */
static gufo_status find_made(json_reading *r, uint32_t rank, const file_entry **made)
{
    const file_merge *merge = &r->merges->merges[rank];
    gufo_str left = file_str(r->merges, merge->left), right = file_str(r->merges, merge->right);
    bool has_left = tokenizer_file_find(r->file, left) != NULL;
    char *whole;

    if (!has_left || tokenizer_file_find(r->file, right) == NULL)
        return json_wrong(r, "merge %" PRIu32 ": %s is not a token", rank,
                          QUOTED(has_left ? right : left));
    whole = mem_join(&r->allocator, left, right);
    if (whole == NULL)
        return fail_memory(r->error);
    *made = tokenizer_file_find(r->file, (gufo_str){whole, left.len + right.len});
    mem_free(&r->allocator, whole);
    return *made != NULL ? GUFO_OK
                         : json_wrong(r, "merge %" PRIu32 " of %s and %s makes no token", rank,
                                      QUOTED(left), QUOTED(right));
}

gufo_status json_check_merges(json_reading *r)
{
    gufo_status status = GUFO_OK;
    const file_entry *made;

    for (uint32_t i = 0; status == GUFO_OK && i < r->merges->merge_count; i++)
        status = find_made(r, i, &made);
    return status;
}

/* ---- scores --------------------------------------------------------------------------------- */

static float score_of(uint64_t rank)
{
    return (float)-(int64_t)rank;
}

static gufo_status score_texts(json_reading *r, float *scores)
{
    const uint32_t merges = r->merges->merge_count;
    gufo_status status = GUFO_OK;

    for (uint32_t id = 0; id < r->list.count; id++)
        scores[id] = score_of((uint64_t)merges + id);
    for (uint32_t rank = 0; status == GUFO_OK && rank < merges; rank++) {
        const file_entry *made;

        status = find_made(r, rank, &made);
        if (status == GUFO_OK && scores[made->id] < score_of(rank))
            scores[made->id] = score_of(rank);
    }
    return status;
}

/* The score of a token of this type, whose text has the score `made` by its merges. */
static float score_type(int32_t type, float made)
{
    switch (type) {
    case TOKEN_NORMAL:
        return made;
    case TOKEN_BYTE:
    case TOKEN_CONTROL:
    case TOKEN_UNKNOWN:
        return 0;
    default:
        return ADDED_SCORE;
    }
}

gufo_status json_score_tokens(json_reading *r)
{
    listed_token *tokens = r->list.tokens;
    gufo_status status;
    float *scores;

    if (!r->merges->has_merges)
        return json_wrong(r, "the model has no \"merges\"");
    scores = mem_array(&r->allocator, r->list.count, sizeof *scores);
    status = scores != NULL ? score_texts(r, scores) : fail_memory(r->error);
    for (uint32_t id = 0; status == GUFO_OK && id < r->list.count; id++)
        tokens[id].score = score_type(tokens[id].type, scores[id]);
    mem_free(&r->allocator, scores);
    return status;
}
