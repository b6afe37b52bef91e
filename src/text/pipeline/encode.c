/* From text to ids: one stretch of text after the other goes through all steps. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/pipeline/pipeline.h"
#include "text/vocabulary/vocabulary.h"

struct pipeline_scratch {
    gufo_allocator allocator;
    expression_scratch *expressions;
    model_scratch *model;
    work_text whole;   /* the text as it came */
    work_text section; /* a stretch of it, on the way */
    work_text spare;
    text_pieces pieces, spare_pieces;
    piece_tokens tokens; /* of a piece */
    encoded encoded;
};

/* One text. */
typedef struct encoding {
    const pipeline *pipeline;
    pipeline_scratch *scratch;
    const pipeline_request *request;
    gufo_error *error;
} encoding;

/* ---- scratch -------------------------------------------------------------------------------- */

pipeline_scratch *pipeline_scratch_new(const pipeline *p, const gufo_allocator *allocator,
                                       gufo_error *error)
{
    pipeline_scratch *s = mem_object(allocator, sizeof *s, error);

    if (s == NULL)
        return NULL;
    s->whole.allocator = s->section.allocator = s->spare.allocator = &s->allocator;
    s->pieces.text.allocator = s->spare_pieces.text.allocator = &s->allocator;
    s->tokens.allocator = &s->allocator;
    s->expressions = expression_scratch_new(&s->allocator, error);
    if (s->expressions != NULL)
        s->model = model_scratch_new(p->model, &s->allocator, error);
    if (s->model != NULL)
        return s;
    pipeline_scratch_free(s);
    return NULL;
}

void pipeline_scratch_free(pipeline_scratch *s)
{
    gufo_allocator allocator;

    if (s == NULL)
        return;
    allocator = s->allocator;
    expression_scratch_free(s->expressions);
    model_scratch_free(s->model);
    work_text_free(&s->whole);
    work_text_free(&s->section);
    work_text_free(&s->spare);
    text_pieces_free(&s->pieces);
    text_pieces_free(&s->spare_pieces);
    piece_tokens_free(&s->tokens);
    mem_free(&allocator, s->encoded.spans);
    mem_free(&allocator, s);
}

/* ---- tokens --------------------------------------------------------------------------------- */

static void watch(const encoding *e, gufo_tokenize_event_kind kind, gufo_str text, uint32_t id)
{
    const gufo_tokenize_event event = {.kind = kind, .text = text, .id = id};

    if (e->request->watch != NULL)
        e->request->watch(e->request->watch_context, &event);
}

/* Whether somebody wants to know what each token stands for. */
static bool wants_tokens(const encoding *e)
{
    return e->request->spans || e->request->watch != NULL;
}

/* `text` is the token's. */
static gufo_status add_token(const encoding *e, uint32_t id, text_origin range, gufo_str text)
{
    encoded *out = &e->scratch->encoded;
    size_t index = out->ids->count - out->first;

    if (!ids_add(out->ids, id))
        return fail_memory(e->error);
    if (!e->request->spans)
        return GUFO_OK;
    if (index == out->span_room) {
        uint64_t room = out->span_room;
        token_span *spans =
            mem_grow(&e->scratch->allocator, out->spans, index, &room, sizeof *spans);

        if (spans == NULL)
            return fail_memory(e->error);
        out->spans = spans;
        out->span_room = (size_t)room;
    }
    out->spans[index] = token_span_of(range, text);
    return GUFO_OK;
}

/* A token that is in the text. */
static gufo_status add_match(const encoding *e, const work_text *text, const added_match *match)
{
    gufo_str content = {text->data + match->begin, match->end - match->begin};
    text_origin span = {0, 0};

    if (e->request->spans)
        span = work_text_origin(text, match->begin, match->end);
    watch(e, GUFO_TOKENIZE_SPECIAL, match->token->content, match->token->id);
    return add_token(e, match->token->id, span, content);
}

static gufo_str text_of_token(const gufo_vocab *v, uint32_t id)
{
    return id < v->size ? vocab_text(v, id) : (gufo_str){"", 0};
}

static void watch_merge(void *context, uint32_t left, uint32_t id, uint32_t rank)
{
    const encoding *e = context;
    const gufo_vocab *v = e->request->vocab;
    gufo_tokenize_event event = {
        .kind = GUFO_TOKENIZE_MERGE, .text = text_of_token(v, id), .id = id, .score = rank};

    event.left = text_of_token(v, left).len;
    if (event.left > event.text.len) /* an added token has another text and this id */
        event.left = event.text.len;
    e->request->watch(e->request->watch_context, &event);
}

/* The tokens of a piece, with what they stand for. */
static gufo_status add_tokens(const encoding *e, const text_piece *piece)
{
    pipeline_scratch *s = e->scratch;
    const work_text *text = &s->pieces.text;
    gufo_str bytes = {text->data + piece->begin, piece->end - piece->begin};
    uint32_t verbatim = token_model_verbatim(e->pipeline->model);
    gufo_status status;

    watch(e, GUFO_TOKENIZE_PIECE, bytes, GUFO_NO_TOKEN);
    s->tokens.count = 0;
    s->tokens.watch = e->request->watch != NULL ? watch_merge : NULL;
    s->tokens.watch_context = (void *)e;
    status = token_model_encode(e->pipeline->model, s->model, bytes, &s->tokens, e->error);
    for (uint64_t i = 0; status == GUFO_OK && i < s->tokens.count; i++) {
        const model_token *token = &s->tokens.list[i];
        gufo_str part = {bytes.data + token->begin, token->end - token->begin};
        text_origin span = {0, 0};

        if (e->request->spans)
            span = work_text_origin(text, piece->begin + token->begin, piece->begin + token->end);
        watch(e, GUFO_TOKENIZE_TOKEN, part, token->id);
        status =
            add_token(e, token->id, span,
                      token->id == verbatim ? part : text_of_token(e->request->vocab, token->id));
    }
    return status;
}

static gufo_status encode_pieces(const encoding *e)
{
    pipeline_scratch *s = e->scratch;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; status == GUFO_OK && i < s->pieces.count; i++) {
        const text_piece *piece = &s->pieces.list[i];
        gufo_str bytes = {s->pieces.text.data + piece->begin, piece->end - piece->begin};

        status = wants_tokens(e) ? add_tokens(e, piece)
                                 : token_model_ids(e->pipeline->model, s->model, bytes,
                                                   s->encoded.ids, e->error);
    }
    return status;
}

/* ---- stretches ------------------------------------------------------------------------------ */

/* What happens to a stretch between tokens, which is not empty. */
typedef gufo_status take_stretch(const encoding *e, const work_text *text, size_t begin,
                                 size_t end);

/* Of a text that came, and of a normalized one. */
static gufo_status cut_tokens(const encoding *e, const added_set *set, const work_text *text,
                              take_stretch *take)
{
    added_scan scan = {.set = set, .text = work_text_str(text), .specials = e->request->specials};
    gufo_status status = GUFO_OK;
    size_t used = 0;
    added_match match;

    while (status == GUFO_OK && added_scan_next(&scan, &match)) {
        if (used < match.begin)
            status = take(e, text, used, match.begin);
        if (status == GUFO_OK)
            status = add_match(e, text, &match);
        used = scan.used;
    }
    if (status == GUFO_OK && used < text->len)
        status = take(e, text, used, text->len);
    return status;
}

/* Normalized text without tokens. */
static gufo_status encode_normalized(const encoding *e, const work_text *text, size_t begin,
                                     size_t end)
{
    pipeline_scratch *s = e->scratch;
    text_pieces *pieces = &s->pieces;
    gufo_status status;

    pieces->count = 0;
    if (!work_text_cut(&pieces->text, text, begin, end) || !text_pieces_add(pieces, 0, end - begin))
        return fail_memory(e->error);
    status = pre_tokenizer_run(e->pipeline->pre_tokenizer, s->expressions, pieces, &s->spare_pieces,
                               e->error);
    return status == GUFO_OK ? encode_pieces(e) : status;
}

/* Text as it came, without tokens. */
static gufo_status encode_raw(const encoding *e, const work_text *text, size_t begin, size_t end)
{
    pipeline_scratch *s = e->scratch;
    gufo_status status;

    if (!work_text_cut(&s->section, text, begin, end))
        return fail_memory(e->error);
    status =
        normalizer_run(e->pipeline->normalizer, s->expressions, &s->section, &s->spare, e->error);
    return status == GUFO_OK
               ? cut_tokens(e, &e->pipeline->normalized, &s->section, encode_normalized)
               : status;
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* The text as UTF-8: a byte that is not is U+FFFD. */
static gufo_status take_text(const encoding *e, gufo_str text)
{
    work_text *whole = &e->scratch->whole;

    whole->len = 0;
    whole->keeps_origins =
        e->request->spans || pre_tokenizer_needs_origins(e->pipeline->pre_tokenizer);
    if (text.len > UINT32_MAX / 2)
        return refuse(e->error, GUFO_E_LIMIT,
                      "a text of %s bytes: with a tokenizer.json it is encoded as a whole, and may "
                      "have %s",
                      GROUPED(text.len), GROUPED(UINT32_MAX / 2));
    return work_text_take(whole, text) ? GUFO_OK : fail_memory(e->error);
}

/* The spans of the new ids, for the caller. */
static gufo_status hand_over_spans(const encoding *e, gufo_ids *out)
{
    const encoded *done = &e->scratch->encoded;

    if (!e->request->spans)
        return GUFO_OK;
    if (!ids_reserve_spans(out))
        return fail_memory(e->error);
    for (size_t i = done->first; i < out->count; i++) {
        const text_origin *span = &done->spans[i - done->first].range;

        out->spans[i] = (gufo_span){span->begin, span->end};
    }
    return GUFO_OK;
}

gufo_status pipeline_encode(const pipeline *p, pipeline_scratch *s, const pipeline_request *request,
                            gufo_str text, gufo_ids *out, gufo_error *error)
{
    const encoding e = {p, s, request, error};
    gufo_status status;

    s->encoded.allocator = &s->allocator;
    s->encoded.ids = out;
    s->encoded.first = out->count;
    s->encoded.keeps_spans = request->spans;
    s->encoded.text = text;
    expression_allow(s->expressions, expression_steps(text.len));
    status = take_text(&e, text);
    if (status == GUFO_OK)
        status = cut_tokens(&e, &p->raw, &s->whole, encode_raw);
    if (status == GUFO_OK)
        status = post_processor_run(p->post_processor, &s->encoded, request->frame, error);
    return status == GUFO_OK ? hand_over_spans(&e, out) : status;
}
