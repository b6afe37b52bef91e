/* Writing tokens.
 *
 *         1  "<s>"             ids and pieces: what each token gives on its own
 *     15043  " Hello"
 *
 *     special  "<s>"  token 1                     steps: special tokens, then each piece that the
 *     piece    "▁Hello"                            pre-tokenizer cut off, the merges in it, and its
 *       merge  "▁" + "H"  score -253               tokens
 *       token  "▁Hello"  15043
 *
 * Nothing but the piece of one token is kept in memory. */
#include "cli/text/tokenize_write.h"

#include "gufo/print.h"
#include "cli/core/values/str.h"
#include "gufo/print.h"
#include "cli/core/records/record.h"
#include "cli/core/terminal/report.h"
#include "cli/core/terminal/text.h"

#include <inttypes.h>
#include <string.h>

static bool is_json(const token_writer *w)
{
    return w->form == TOKENS_JSON || w->form == TOKENS_STEPS;
}

token_writer token_writer_start(const gufo_vocab *vocab, token_form form, const char *path)
{
    token_writer w = {.vocab = vocab, .form = form};
    uint32_t size = gufo_vocab_describe(vocab).size;
    char highest[GUFO_NUMBER_SIZE];

    w.digits = (int)gufo_number_u64(highest, size > 0 ? size - 1 : 0);
    if (form == TOKENS_IDS)
        putc('[', stdout);
    if (is_json(&w)) {
        w.json = json_begin_document(path);
        json_begin_array(&w.json, form == TOKENS_JSON ? "tokens" : "steps");
    }
    return w;
}

/* ---- tokens --------------------------------------------------------------------------------- */

static void put_quoted(gufo_str text)
{
    putc('"', stdout);
    text_put(stdout, text, TEXT_QUOTED);
    putc('"', stdout);
}

typedef struct token_row {
    uint32_t id;
    gufo_str piece;
    bool has_span;
    record_list span; /* [BEGIN, END] in bytes of the text */
} token_row;

static const record_field token_fields[] = {
    {"id", NULL, RECORD_PLAIN, RECORD_AT(token_row, id)},
    {"piece", NULL, RECORD_STR, RECORD_AT(token_row, piece)},
    {"span", NULL, RECORD_LIST, RECORD_AT(token_row, span), RECORD_GIVEN(token_row, has_span),
     .of = &record_numbers},
};
static const record_type token_type = RECORD_OF(token_row, token_fields, 0);

static void put_token(token_writer *w, uint32_t id, const gufo_span *span, gufo_str piece)
{
    const uint64_t ends[2] = {span != NULL ? span->begin : 0, span != NULL ? span->end : 0};

    if (w->form == TOKENS_JSON) {
        record_write(&w->json, NULL, &token_type,
                     &(token_row){id, piece, span != NULL, {.items = ends, .count = 2}});
    } else {
        if (w->form == TOKENS_TABLE) {
            printf("%*" PRIu32 "  ", w->digits, id);
            put_quoted(piece);
        } else
            text_put(stdout, piece, TEXT_PLAIN);
        putc('\n', stdout);
    }
}

static int put_pieces(token_writer *w, const uint32_t *ids, const gufo_span *spans, size_t count)
{
    gufo_error error;

    for (size_t i = 0; i < count; i++) {
        w->piece.len = 0;
        if (gufo_token_piece(w->vocab, ids[i], &w->piece, &error) != GUFO_OK)
            return report_error(NULL, &error);
        put_token(w, ids[i], spans != NULL ? &spans[i] : NULL,
                  (gufo_str){w->piece.len > 0 ? w->piece.data : "", w->piece.len});
    }
    return CODE_OK;
}

/* Numbers are collected: calls of stdio would take longer than finding the ids. */
static void put_ids(const uint32_t *ids, size_t count, bool more)
{
    char block[4096];
    size_t len = 0;

    for (size_t i = 0; i < count; i++) {
        if (i > 0 || more) {
            block[len++] = ',';
            block[len++] = ' ';
        }
        len += gufo_number_u64(block + len, ids[i]);
        if (len > sizeof block - GUFO_NUMBER_SIZE - 2 || i == count - 1) {
            fwrite(block, 1, len, stdout);
            len = 0;
        }
    }
}

int token_writer_put(token_writer *w, const uint32_t *ids, const gufo_span *spans, size_t count)
{
    bool more = w->count > 0;

    w->count += count;
    if (w->form == TOKENS_TABLE || w->form == TOKENS_PIECES || w->form == TOKENS_JSON)
        return put_pieces(w, ids, spans, count);
    if (w->form == TOKENS_IDS)
        put_ids(ids, count, more);
    return CODE_OK;
}

int token_writer_end(token_writer *w, int code)
{
    gufo_text_free(&w->piece);
    if (code != CODE_OK)
        return code;
    if (w->form == TOKENS_IDS)
        fputs("]\n", stdout);
    else if (w->form == TOKENS_COUNT)
        printf("%" PRIu64 "\n", w->count);
    else if (is_json(w)) {
        json_end_array(&w->json);
        json_write_u64(&w->json, "count", w->count);
        json_end_document(&w->json);
    }
    return code;
}

void token_write_array(const uint32_t *ids, size_t count)
{
    putc('[', stdout);
    put_ids(ids, count, false);
    fputs("]\n", stdout);
}

/* ---- steps ---------------------------------------------------------------------------------- */

static const char *const step_names[] = {
    [GUFO_TOKENIZE_SPECIAL] = "special",
    [GUFO_TOKENIZE_PIECE] = "piece",
    [GUFO_TOKENIZE_MERGE] = "merge",
    [GUFO_TOKENIZE_TOKEN] = "token",
};

/* What the number of a step is called: "rank", a whole number, or "score", a float of the file; NULL:
 * it has none. */
static const char *number_name(const token_writer *w, const gufo_tokenize_event *event)
{
    const char *algorithm = gufo_vocab_describe(w->vocab).algorithm;

    if (event->kind == GUFO_TOKENIZE_MERGE)
        return strcmp(algorithm, "BPE") == 0 ? "rank" : "score";
    return event->kind == GUFO_TOKENIZE_TOKEN && strcmp(algorithm, "UGM") == 0 ? "score" : NULL;
}

static bool is_rank(const char *name)
{
    return strcmp(name, "rank") == 0;
}

typedef struct step_row {
    const char *step;
    gufo_str text, left, right;
    bool has_rank, has_score, is_token;
    uint64_t rank;
    float score;
    uint32_t id;
    record_list span;
} step_row;

enum { MERGES = 1, TOKENS = 2 }; /* parts: of steps of these kinds */

static const record_field step_fields[] = {
    {"step", NULL, RECORD_TEXT, RECORD_AT(step_row, step)},
    {"text", NULL, RECORD_STR, RECORD_AT(step_row, text)},
    {"left", NULL, RECORD_STR, RECORD_AT(step_row, left), .part = MERGES},
    {"right", NULL, RECORD_STR, RECORD_AT(step_row, right), .part = MERGES},
    {"rank", NULL, RECORD_PLAIN, RECORD_AT(step_row, rank), RECORD_GIVEN(step_row, has_rank)},
    {"score", NULL, RECORD_SINGLE, RECORD_AT(step_row, score), RECORD_GIVEN(step_row, has_score)},
    {"id", NULL, RECORD_PLAIN, RECORD_AT(step_row, id), RECORD_KNOWN(step_row, is_token),
     .part = TOKENS},
    {"span", NULL, RECORD_LIST, RECORD_AT(step_row, span), .of = &record_numbers},
};
static const record_type merge_type = RECORD_OF(step_row, step_fields, MERGES),
                         piece_type = RECORD_OF(step_row, step_fields, 0),
                         used_type = RECORD_OF(step_row, step_fields, TOKENS);

static void write_step(token_writer *w, const gufo_tokenize_event *event)
{
    const char *name = number_name(w, event);
    const uint64_t ends[2] = {event->span.begin, event->span.end};
    const size_t left = event->kind == GUFO_TOKENIZE_MERGE ? event->left : event->text.len;
    step_row row = {.step = step_names[event->kind],
                    .text = event->text,
                    .left = {event->text.data, left},
                    .right = rest_of(event->text, left),
                    .has_rank = name != NULL && is_rank(name),
                    .has_score = name != NULL && !is_rank(name),
                    .is_token = event->id != GUFO_NO_TOKEN,
                    .id = event->id,
                    .span = {.items = ends, .count = 2}};

    if (row.has_rank)
        row.rank = (uint64_t)event->score;
    if (row.has_score)
        row.score = (float)event->score;
    record_write(&w->json, NULL,
                 event->kind == GUFO_TOKENIZE_MERGE   ? &merge_type
                 : event->kind == GUFO_TOKENIZE_PIECE ? &piece_type
                                                      : &used_type,
                 &row);
}

static void print_step(const token_writer *w, const gufo_tokenize_event *event)
{
    bool inside = event->kind == GUFO_TOKENIZE_MERGE || event->kind == GUFO_TOKENIZE_TOKEN;
    const char *name = number_name(w, event);
    char number[GUFO_NUMBER_SIZE];

    printf("%s%s  ", inside ? "  " : "", step_names[event->kind]);
    if (event->kind == GUFO_TOKENIZE_PIECE)
        fputs("  ", stdout); /* as wide as "special" */
    if (event->kind == GUFO_TOKENIZE_MERGE) {
        put_quoted((gufo_str){event->text.data, event->left});
        fputs(" + ", stdout);
        put_quoted((gufo_str){event->text.data + event->left, event->text.len - event->left});
    } else
        put_quoted(event->text);
    if (event->kind != GUFO_TOKENIZE_PIECE && event->kind != GUFO_TOKENIZE_MERGE) {
        fputs("  ", stdout);
        if (event->id != GUFO_NO_TOKEN)
            printf("%" PRIu32, event->id);
        else
            fputs("not a token", stdout);
    }
    if (name != NULL && is_rank(name))
        printf("  %s %" PRIu64, name, (uint64_t)event->score);
    else if (name != NULL) {
        (void)gufo_number_f32(number, (float)event->score);
        printf("  %s %s", name, number);
    }
    putc('\n', stdout);
}

void token_writer_step(void *writer, const gufo_tokenize_event *event)
{
    token_writer *w = writer;

    if (w->form == TOKENS_STEPS)
        write_step(w, event);
    else if (w->form == TOKENS_EXPLAIN)
        print_step(w, event);
}
