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

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define ADDED_SCORE (-1000.0f) /* of tokens that are found before anything merges */

typedef struct parts {
    gufo_str left, right;
} parts;

static bool split(const json_t *merge, parts *out)
{
    gufo_str text = json_text(merge);
    const char *space;

    if (json_is_array(merge)) {
        out->left = json_text(json_array_get(merge, 0));
        out->right = json_text(json_array_get(merge, 1));
        return json_array_size(merge) == 2 && out->left.len > 0 && out->right.len > 0;
    }
    space = text.len > 1 ? memchr(text.data + 1, ' ', text.len - 1) : NULL;
    if (space == NULL)
        return false;
    out->left = (gufo_str){text.data, (size_t)(space - text.data)};
    out->right = (gufo_str){space + 1, text.len - out->left.len - 1};
    return out->right.len > 0 && memchr(out->right.data, ' ', out->right.len) == NULL;
}

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

static gufo_status keep(json_reading *r, const json_t *list, size_t count)
{
    gufo_str *texts = mem_array(&r->allocator, count, sizeof *texts);
    gufo_items items = {GUFO_VALUE_STRING, count, texts};
    uint64_t bytes = count;
    gufo_status status;
    char *data;
    parts p;

    for (size_t i = 0; i < count; i++)
        if (split(json_array_get(list, i), &p))
            bytes += 2 * ((uint64_t)p.left.len + p.right.len);
    data = mem_array(&r->allocator, bytes, 1);
    status = texts == NULL || data == NULL ? fail_memory(r->error) : GUFO_OK;
    for (size_t i = 0, at = 0; status == GUFO_OK && i < count; i++) {
        if (!split(json_array_get(list, i), &p)) {
            status = json_wrong(r, "merge %zu is not two parts", i);
            break;
        }
        texts[i].data = data + at;
        at += write_part(data + at, p.left);
        data[at++] = ' ';
        at += write_part(data + at, p.right);
        texts[i].len = (size_t)(data + at - texts[i].data);
    }
    if (status == GUFO_OK)
        status = gufo_document_set_array(r->document, KEY("merges"), &items, r->error);
    mem_free(&r->allocator, texts);
    mem_free(&r->allocator, data);
    return status;
}

static bool is_token(const json_reading *r, gufo_str text)
{
    return json_object_getn(r->vocab, text.data, text.len) != NULL;
}

/* The token that a merge makes of two others. */
static gufo_status find_made(json_reading *r, const json_t *merge, size_t rank, const json_t **made)
{
    char *whole;
    parts p;

    if (!split(merge, &p))
        return json_wrong(r, "merge %zu is not two parts", rank);
    if (!is_token(r, p.left) || !is_token(r, p.right))
        return json_wrong(r, "merge %zu: %s is not a token", rank,
                          QUOTED(is_token(r, p.left) ? p.right : p.left));
    whole = mem_join(&r->allocator, p.left, p.right);
    if (whole == NULL)
        return fail_memory(r->error);
    *made = json_object_getn(r->vocab, whole, p.left.len + p.right.len);
    mem_free(&r->allocator, whole);
    return *made != NULL ? GUFO_OK
                         : json_wrong(r, "merge %zu of %s and %s makes no token", rank,
                                      QUOTED(p.left), QUOTED(p.right));
}

gufo_status json_check_merges(json_reading *r)
{
    const json_t *list = json_member(r->model, "merges"), *made;
    gufo_status status = GUFO_OK;

    for (size_t i = 0; status == GUFO_OK && i < json_array_size(list); i++)
        status = find_made(r, json_array_get(list, i), i, &made);
    return status;
}

/* ---- scores --------------------------------------------------------------------------------- */

static float score_of(uint64_t rank)
{
    return (float)-(int64_t)rank;
}

gufo_status json_score_merges(json_reading *r, float *scores, uint32_t count)
{
    const json_t *list = json_member(r->model, "merges"), *made;
    size_t merges = json_array_size(list);
    gufo_status status = GUFO_OK;

    if (!json_is_array(list))
        return json_wrong(r, "the model has no \"merges\"");
    for (uint32_t id = 0; id < count; id++)
        scores[id] = score_of((uint64_t)merges + id);
    for (size_t rank = 0; status == GUFO_OK && rank < merges; rank++) {
        float *score;

        status = find_made(r, json_array_get(list, rank), rank, &made);
        if (status != GUFO_OK)
            break;
        score = &scores[json_integer_value(made)];
        if (*score < score_of(rank))
            *score = score_of(rank);
    }
    return status;
}

float json_piece_score(int32_t type, float made)
{
    switch (type) {
    case TYPE_NORMAL:
        return made;
    case TYPE_BYTE:
    case TYPE_CONTROL:
    case TYPE_UNKNOWN:
        return 0;
    default:
        return ADDED_SCORE;
    }
}

static gufo_status to_scores(json_reading *r)
{
    float *scores = mem_array(&r->allocator, r->count, sizeof *scores);
    gufo_status status =
        scores != NULL ? json_score_merges(r, scores, r->count) : fail_memory(r->error);

    for (uint32_t id = 0; status == GUFO_OK && id < r->count; id++)
        r->tokens[id].score = json_piece_score(r->tokens[id].type, scores[id]);
    mem_free(&r->allocator, scores);
    return status;
}

gufo_status json_read_merges(json_reading *r)
{
    const json_t *list = json_member(r->model, "merges");

    if (r->kind == PIECES)
        return to_scores(r);
    if (!json_is_array(list))
        return json_wrong(r, "the model has no \"merges\"");
    return keep(r, list, json_array_size(list));
}
