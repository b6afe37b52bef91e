/* The merges of a vocabulary: those of tokenizer.json, or the lines of merges.txt.
 *
 * A byte-level vocabulary keeps them.  In one of pieces GGUF has scores instead: of two neighbours
 * whose joined text is a token, those with the highest score are joined first.  A token gets minus the
 * rank of the first merge that makes it, so that the order is that of the merges; tokens that none
 * makes follow, by their ids.
 *
 *     merges   0: t h    1: th e    2: t he        tokens   3: h    7: the    9: th    12: he
 *     scores   th 0, the -1, he -15 (3 merges, id 12), h -6 */
#include "import/tokenizers/merges.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "text/formats/tokenizer_lists.h"

#define ADDED_SCORE (-1000.0f) /* of tokens that are found before anything merges */

typedef struct merging {
    tokenizer_reading *r;
    const char *name; /* of the file with the merges */
    const tokenizer_file *vocab, *merges;
} merging;

/* ---- merges that are kept ------------------------------------------------------------------- */

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

static gufo_status keep_merges(const merging *m)
{
    tokenizer_reading *r = m->r;
    const tokenizer_file *f = m->merges;
    const size_t count = f->merge_count;
    gufo_str *texts = mem_array(r->allocator, count, sizeof *texts);
    gufo_items items = {GUFO_VALUE_STRING, count, texts};
    uint64_t bytes = count;
    gufo_status status;
    char *data;

    for (size_t i = 0; i < count; i++)
        bytes += 2 * ((uint64_t)f->merges[i].left.len + f->merges[i].right.len);
    data = mem_array(r->allocator, bytes, 1);
    status = texts == NULL || data == NULL ? fail_memory(r->error) : GUFO_OK;
    for (size_t i = 0, at = 0; status == GUFO_OK && i < count; i++) {
        texts[i].data = data + at;
        at += write_part(data + at, f->merges[i].left);
        data[at++] = ' ';
        at += write_part(data + at, f->merges[i].right);
        texts[i].len = (size_t)(data + at - texts[i].data);
        if (f->merges[i].left.len == 0 || f->merges[i].right.len == 0)
            status = reading_fail(r, GUFO_E_MALFORMED, m->name, "a part of merge %zu is empty", i);
    }
    if (status == GUFO_OK)
        status = gufo_document_set_array(r->document, TOKENIZER_KEY("merges"), &items, r->error);
    mem_free(r->allocator, texts);
    mem_free(r->allocator, data);
    return status;
}

/* The token that a merge makes of two others. */
static gufo_status find_made(const merging *m, uint32_t rank, const file_entry **out)
{
    const file_merge *merge = &m->merges->merges[rank];
    gufo_str left = merge->left, right = merge->right;
    bool has_left = tokenizer_file_find(m->vocab, left) != NULL;
    char *whole;

    if (!has_left || tokenizer_file_find(m->vocab, right) == NULL)
        return reading_fail(m->r, GUFO_E_MALFORMED, m->name, "merge %" PRIu32 ": %s is not a token",
                            rank, QUOTED(has_left ? right : left));
    whole = mem_join(m->r->allocator, left, right);
    if (whole == NULL)
        return fail_memory(m->r->error);
    *out = tokenizer_file_find(m->vocab, (gufo_str){whole, left.len + right.len});
    mem_free(m->r->allocator, whole);
    return *out != NULL ? GUFO_OK
                        : reading_fail(m->r, GUFO_E_MALFORMED, m->name,
                                       "merge %" PRIu32 " of %s and %s makes no token", rank,
                                       QUOTED(left), QUOTED(right));
}

static gufo_status check_merges(const merging *m)
{
    gufo_status status = GUFO_OK;
    const file_entry *entry;

    for (uint32_t i = 0; status == GUFO_OK && i < m->merges->merge_count; i++)
        status = find_made(m, i, &entry);
    return status;
}

gufo_status merges_write(tokenizer_reading *r, const tokenizer_file *vocab)
{
    merging m = {r, "tokenizer.json", vocab, vocab};
    tokenizer_file *lines = NULL;
    gufo_status status = GUFO_OK;

    if (vocab->merge_count == 0)
        status = reading_tables(r, "merges.txt", merges_txt_read, &lines);
    if (lines != NULL)
        m = (merging){r, "merges.txt", vocab, lines};
    if (status == GUFO_OK && m.merges->merge_count == 0)
        status = import_warn(r->import, r->error, /* by the specification it may have none */
                             "the vocabulary has no merges: its tokens are atomic, and some "
                             "readers refuse it");
    else if (status == GUFO_OK)
        status = check_merges(&m);
    if (status == GUFO_OK && m.merges->merge_count > 0)
        status = keep_merges(&m);
    tokenizer_file_free(lines);
    return status;
}

/* ---- scores --------------------------------------------------------------------------------- */

static float score_of(uint64_t rank)
{
    return (float)-(int64_t)rank;
}

static gufo_status score_texts(const merging *m, const token_list *list, float *scores)
{
    const uint32_t merges = m->merges->merge_count;
    gufo_status status = GUFO_OK;

    for (uint32_t id = 0; id < list->count; id++)
        scores[id] = score_of((uint64_t)merges + id);
    for (uint32_t rank = 0; status == GUFO_OK && rank < merges; rank++) {
        const file_entry *entry;

        status = find_made(m, rank, &entry);
        if (status == GUFO_OK && scores[entry->id] < score_of(rank))
            scores[entry->id] = score_of(rank);
    }
    return status;
}

/* The score of a token of this type, whose text has the score `merged` by its merges. */
static float score_type(int32_t type, float merged)
{
    switch (type) {
    case TOKEN_NORMAL:
        return merged;
    case TOKEN_BYTE:
    case TOKEN_CONTROL:
    case TOKEN_UNKNOWN:
        return 0;
    default:
        return ADDED_SCORE;
    }
}

gufo_status merges_score(tokenizer_reading *r, const tokenizer_file *vocab, token_list *list)
{
    const merging m = {r, "tokenizer.json", vocab, vocab};
    gufo_status status;
    float *scores;

    if (!vocab->has_merges)
        return reading_fail(r, GUFO_E_MALFORMED, m.name, "the model has no \"merges\"");
    scores = mem_array(r->allocator, list->count, sizeof *scores);
    status = scores != NULL ? score_texts(&m, list, scores) : fail_memory(r->error);
    for (uint32_t id = 0; status == GUFO_OK && id < list->count; id++)
        list->tokens[id].score = score_type(list->tokens[id].type, scores[id]);
    mem_free(r->allocator, scores);
    return status;
}
