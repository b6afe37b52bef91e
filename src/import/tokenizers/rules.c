/* Rules of a tokenizer.json that readers of its vocabulary share: what its steps do to spaces, as keys; and its
 * merges, kept or as scores. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/tokenizers/pre.h"
#include "import/tokenizers/reading.h"
#include "base/base64.h"
#include "text/formats/tokenizer_file.h"
#include "text/pipeline/steps/step_reading.h"
#include "text/pipeline/models/token_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ==== spaces =================================================================================== */

/* The normalizer and the pre-tokenizer of a tokenizer.json with pieces: their steps set flags.  A row for
 * each type of step says which models know it. */

typedef struct space_rules {
    tokenizer_reading *r;
    model_kind kind;
    const struct step_row *rows; /* of the part that is read */
    size_t row_count;
    bool space_prefix, spaces_escaped, extra_spaces_removed;
    gufo_str charsmap;
} space_rules;

typedef struct step_row {
    const char *type;
    unsigned kinds; /* models in which GGUF can say it */
    gufo_status (*take)(step_reading *r, space_rules *s);
} step_row;

/* Warns of what GGUF cannot express, or refuses it. */
static gufo_status cannot_express(space_rules *s, const char *what, gufo_str name)
{
    char sentence[GUFO_MESSAGE_SIZE];

    (void)snprintf(sentence, sizeof sentence, "GGUF cannot express %s%s", what,
                   name.len > 0 ? QUOTED(name) : "");
    return s->kind == PIECES
               ? import_warn(s->r->import, s->r->error, "tokenizer.json: %s", sentence)
               : reading_fail(s->r, GUFO_E_TYPE, "tokenizer.json", "%s", sentence);
}

static const gufo_str no_name = {"", 0};

/* ---- normalizer ----------------------------------------------------------------------------- */

/* Readers do not apply it: what that changes is measured (compare_ids.c). */
static gufo_status take_nfc(step_reading *r, space_rules *s)
{
    (void)s;
    return r->status;
}

static gufo_status take_prepend(step_reading *r, space_rules *s)
{
    if (!str_is(step_text(r, "prepend"), WORD_START))
        return r->status != GUFO_OK
                   ? r->status
                   : cannot_express(s, "what the normalizer Prepend adds", no_name);
    s->space_prefix = true;
    return r->status;
}

/* " " becomes U+2581; more than one space becomes one; none are at the ends. */
static gufo_status take_replace(step_reading *r, space_rules *s)
{
    const json_t *pattern = step_object(r, "pattern");
    gufo_str text = json_str(json_member(pattern, "String")),
             regex = json_str(json_member(pattern, "Regex")), content = step_text(r, "content");

    if (r->status != GUFO_OK)
        return r->status;
    if (str_is(text, " ") && str_is(content, WORD_START))
        s->spaces_escaped = true;
    else if (s->kind == UNIGRAM &&
             ((str_is(regex, " {2,}") && (str_is(content, WORD_START) || str_is(content, " "))) ||
              (str_is(regex, "^ +| +$") && content.len == 0)))
        s->extra_spaces_removed = true;
    else
        return cannot_express(s, "that the normalizer replaces ", text.len > 0 ? text : regex);
    return GUFO_OK;
}

static gufo_status take_white_space(step_reading *r, space_rules *s)
{
    s->extra_spaces_removed = true;
    return r->status;
}

static gufo_status take_charsmap(step_reading *r, space_rules *s)
{
    s->charsmap = step_text_or(r, "precompiled_charsmap", "");
    return r->status;
}

static const step_row normalizers[] = {
    {"NFC", PIECES | UNIGRAM, take_nfc},         {"Prepend", PIECES, take_prepend},
    {"Replace", PIECES | UNIGRAM, take_replace}, {"Strip", UNIGRAM, take_white_space},
    {"Precompiled", UNIGRAM, take_charsmap},
};

/* ---- pre-tokenizer -------------------------------------------------------------------------- */

static gufo_status take_metaspace(step_reading *r, space_rules *s)
{
    gufo_str replacement = step_text_or(r, "replacement", ""),
             scheme = step_text_or(r, "prepend_scheme", "");
    bool prefix = step_flag_or(r, "add_prefix_space", true);

    if (r->status == GUFO_OK && replacement.len > 0 && !str_is(replacement, WORD_START))
        return cannot_express(s, "what Metaspace makes of spaces", no_name);
    s->spaces_escaped = true;
    s->space_prefix |= scheme.len > 0 ? !str_is(scheme, "never") : prefix;
    return r->status;
}

/* After spaces were escaped, cutting at spaces does nothing. */
static gufo_status take_split(step_reading *r, space_rules *s)
{
    gufo_str text = json_str(json_member(step_object(r, "pattern"), "String"));

    return r->status != GUFO_OK || (s->spaces_escaped && str_is(text, " "))
               ? r->status
               : cannot_express(s, "that the pre-tokenizer is Split", no_name);
}

static const step_row pre_tokenizers[] = {
    {"Metaspace", PIECES | UNIGRAM, take_metaspace},
    {"Split", PIECES, take_split},
    {"WhitespaceSplit", UNIGRAM, take_white_space},
};

/* ---- both ----------------------------------------------------------------------------------- */

static gufo_status take_row(step_reading *r, void *context)
{
    space_rules *s = context;

    for (size_t i = 0; i < s->row_count; i++)
        if (step_is(r, s->rows[i].type) && (s->rows[i].kinds & (unsigned)s->kind) != 0)
            return s->rows[i].take(r, s);
    return cannot_express(
        s, s->rows == normalizers ? "that the normalizer is " : "that the pre-tokenizer is ",
        r->type);
}

static gufo_status set_charsmap(const space_rules *s)
{
    tokenizer_reading *r = s->r;
    buffer bytes = {.allocator = r->allocator};
    gufo_items items = {.type = GUFO_VALUE_UINT8};
    gufo_status status;
    bool memory;

    if (!base64_read(s->charsmap, &bytes, &memory)) {
        status = memory ? reading_fail(r, GUFO_E_MALFORMED, "tokenizer.json",
                                       "\"precompiled_charsmap\" is not base64")
                        : fail_memory(r->error);
    } else {
        items.count = bytes.len;
        items.items = bytes.data;
        status = gufo_document_set_array(r->document, TOKENIZER_KEY("precompiled_charsmap"), &items,
                                         r->error);
    }
    buffer_free(&bytes);
    return status;
}

static gufo_status set_flags(const space_rules *s)
{
    tokenizer_reading *r = s->r;
    gufo_status status = gufo_document_set_bool(r->document, TOKENIZER_KEY("add_space_prefix"),
                                                s->space_prefix, r->error);

    if (status == GUFO_OK && s->kind == UNIGRAM)
        status = gufo_document_set_bool(r->document, TOKENIZER_KEY("remove_extra_whitespaces"),
                                        s->extra_spaces_removed, r->error);
    return status == GUFO_OK && s->charsmap.len > 0 ? set_charsmap(s) : status;
}

gufo_status space_rules_write(tokenizer_reading *r, model_kind kind)
{
    space_rules s = {.r = r,
                     .kind = kind,
                     .rows = normalizers,
                     .row_count = sizeof normalizers / sizeof *normalizers};
    gufo_status status = reading_each_step(r, NORMALIZER, take_row, &s);

    s.rows = pre_tokenizers;
    s.row_count = sizeof pre_tokenizers / sizeof *pre_tokenizers;
    if (status == GUFO_OK)
        status = reading_each_step(r, PRE_TOKENIZER, take_row, &s);
    if (status == GUFO_OK && !s.spaces_escaped)
        status =
            cannot_express(&s, "that spaces stay as they are in a vocabulary of pieces", no_name);
    return status == GUFO_OK ? set_flags(&s) : status;
}

/* ==== merges =================================================================================== */

/* The merges of a vocabulary: those of tokenizer.json, or the lines of merges.txt.
 *
 * A byte-level vocabulary keeps them.  In one of pieces GGUF has scores instead: of two neighbours
 * whose joined text is a token, those with the highest score are joined first.  A token gets minus the
 * rank of the first merge that makes it, so that the order is that of the merges; tokens that none
 * makes follow, by their ids.
 *
 *     merges   0: t h    1: th e    2: t he        tokens   3: h    7: the    9: th    12: he
 *     scores   th 0, the -1, he -15 (3 merges, id 12), h -6 */

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
