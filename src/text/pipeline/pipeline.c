/* A pipeline is made of the parts of a file, each of which reads its own.  One stretch of text after the other goes
 * through all steps; ids go through the decoder. */
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/pipeline/pipeline_parts.h"
#include "text/vocabulary/vocabulary.h"

#include <stdlib.h>
#include <string.h>

/* ---- added tokens --------------------------------------------------------------------------- */

/* Copies what the file lists.  Texts are looked up by a trie: files list thousands. */
static gufo_status copy_added(pipeline *p, const tokenizer_file *f, uint32_t **starts,
                              gufo_error *error)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < f->added_count; i++)
        bytes += f->added[i].content.len;
    if (bytes > UINT32_MAX)
        return refuse(error, GUFO_E_LIMIT,
                      "tokenizer.json: the added tokens have %s bytes, which are too many",
                      GROUPED(bytes));
    p->added = mem_array(&p->allocator, f->added_count, sizeof *p->added);
    p->added_bytes = mem_array(&p->allocator, bytes + 1, 1);
    *starts = mem_array(&p->allocator, (uint64_t)f->added_count + 1, sizeof **starts);
    if (p->added == NULL || p->added_bytes == NULL || *starts == NULL)
        return fail_memory(error);
    for (uint32_t i = 0, at = 0; i < f->added_count; i++) {
        const file_added *said = &f->added[i];
        gufo_str content = {p->added_bytes + at, said->content.len};

        memcpy(p->added_bytes + at, said->content.data, content.len);
        at += (uint32_t)said->content.len;
        (*starts)[i + 1] = at;
        p->added[i] = (added_token){.content = content,
                                    .id = GUFO_NO_TOKEN,
                                    .special = said->special,
                                    .normalized = said->normalized,
                                    .single_word = said->single_word,
                                    .lstrip = said->lstrip,
                                    .rstrip = said->rstrip};
    }
    p->added_count = f->added_count;
    return GUFO_OK;
}

/* A token has the id that the vocabulary gives to its text, or the next one behind all others; the id
 * that its element says is not used.  Of equal texts the last one says how it is found. */
static void number_added(pipeline *p, const tokenizer_file *f, const trie *contents)
{
    uint32_t next = f->vocab_count;

    for (uint32_t i = 0; i < p->added_count; i++) {
        uint32_t last = TRIE_NO_ID;
        const file_entry *known;
        added_token *token;

        if (trie_longest(contents, p->added[i].content, &last) == 0)
            continue;
        token = &p->added[last];
        if (token->id != GUFO_NO_TOKEN)
            continue;
        known = tokenizer_file_find(f, token->content);
        token->id = known != NULL ? known->id : next;
        next = token->id >= next ? token->id + 1 : next;
    }
}

static gufo_status read_added(pipeline *p, const tokenizer_file *f, gufo_error *error)
{
    uint32_t *starts = NULL;
    trie *contents = NULL;
    gufo_status status = copy_added(p, f, &starts, error);

    if (status == GUFO_OK && f->added_count > 0) {
        const trie_texts texts = {p->added_bytes, starts};

        contents = trie_new(&p->allocator, &texts, NULL, f->added_count, error);
        status = contents != NULL ? GUFO_OK : trie_status(error);
    }
    if (status == GUFO_OK && contents != NULL)
        number_added(p, f, contents);
    trie_free(contents);
    mem_free(&p->allocator, starts);
    return status;
}

static gufo_status note_renamed(pipeline *p, uint32_t id, uint32_t number, gufo_error *error)
{
    renamed_token *renamed =
        mem_grow(&p->allocator, p->renamed, p->renamed_count, &p->renamed_room, sizeof *renamed);

    if (renamed == NULL)
        return fail_memory(error);
    p->renamed = renamed;
    p->renamed[p->renamed_count++] = (renamed_token){id, number};
    return GUFO_OK;
}

/* Tokens for normalized text are looked for as the normalizer writes them. */
static gufo_status add_normalized(pipeline *p, const added_token *token, expression_scratch *s,
                                  gufo_error *error)
{
    const work_text whole = {.data = (char *)token->content.data, .len = token->content.len};
    work_text text = {.allocator = &p->allocator}, spare = text;
    gufo_status status = work_text_keep(&text, &whole, 0, whole.len) ? GUFO_OK : fail_memory(error);

    if (status == GUFO_OK)
        status = normalizer_run(p->normalizer, s, &text, &spare, error);
    if (status == GUFO_OK)
        status = added_set_add(&p->normalized, token, work_text_str(&text), error);
    if (status == GUFO_OK && text.len > 0 && !gufo_str_equal(work_text_str(&text), token->content))
        status = note_renamed(p, token->id, p->normalized.count - 1, error);
    work_text_free(&text);
    work_text_free(&spare);
    return status;
}

static int by_id(const void *a, const void *b)
{
    const renamed_token *left = a, *right = b;

    return (left->id > right->id) - (left->id < right->id);
}

static gufo_status make_sets(pipeline *p, gufo_error *error)
{
    expression_scratch *s = expression_scratch_new(&p->allocator, error);
    gufo_status status = s != NULL ? GUFO_OK : GUFO_E_MEMORY;

    for (uint32_t i = 0; status == GUFO_OK && i < p->added_count; i++) {
        const added_token *token = &p->added[i];

        if (token->id != GUFO_NO_TOKEN)
            status = token->normalized ? add_normalized(p, token, s, error)
                                       : added_set_add(&p->raw, token, token->content, error);
    }
    if (status == GUFO_OK)
        status = added_set_finish(&p->raw, error);
    if (status == GUFO_OK)
        status = added_set_finish(&p->normalized, error);
    if (p->renamed_count > 0)
        qsort(p->renamed, (size_t)p->renamed_count, sizeof *p->renamed, by_id);
    expression_scratch_free(s);
    return status;
}

/* The text of a token as decoders see it: of an added token that is found in normalized text, the
 * normalized one. */
static gufo_str pipeline_token_text(const pipeline *p, const gufo_vocab *v, uint32_t id)
{
    const renamed_token wanted = {.id = id}, *found = NULL;

    if (p->renamed_count > 0)
        found = bsearch(&wanted, p->renamed, (size_t)p->renamed_count, sizeof wanted, by_id);
    return found != NULL ? added_set_text(&p->normalized, found->number) : vocab_text(v, id);
}

/* ---- what is put around texts --------------------------------------------------------------- */

/* The id of a text: of an added token, or of the vocabulary. */
static uint32_t id_of(const pipeline *p, const tokenizer_file *f, gufo_str text)
{
    const file_entry *known = tokenizer_file_find(f, text);

    if (known != NULL)
        return known->id;
    for (uint32_t i = 0; i < p->added_count; i++)
        if (p->added[i].id != GUFO_NO_TOKEN && gufo_str_equal(p->added[i].content, text))
            return p->added[i].id;
    return GUFO_NO_TOKEN;
}

/* A step of a template: the text, or a special token, whose id goes to `specials`. */
static int add_step(json_t *steps, json_t *specials, const char *name, uint32_t id)
{
    json_t *step = id == GUFO_NO_TOKEN
                       ? json_pack("{s:{s:s,s:i}}", "Sequence", "id", name, "type_id", 0)
                       : json_pack("{s:{s:s,s:i}}", "SpecialToken", "id", name, "type_id", 0);

    if (id != GUFO_NO_TOKEN && json_object_set_new(specials, name,
                                                   json_pack("{s:s,s:[I],s:[s]}", "id", name, "ids",
                                                             (json_int_t)id, "tokens", name)) != 0)
        return -1;
    return json_array_append_new(steps, step);
}

/* The post-processor that a tokenizer_config.json asks for; NULL without memory. */
static json_t *make_post_processor(const pipeline *p, const tokenizer_file *f)
{
    uint32_t bos = id_of(p, f, f->roles[GUFO_SPECIAL_BOS]),
             eos = id_of(p, f, f->roles[GUFO_SPECIAL_EOS]);
    json_t *steps = json_array(), *specials = json_object(), *frame;
    int failed = 0;

    if (f->adds_bos && bos != GUFO_NO_TOKEN)
        failed |= add_step(steps, specials, "bos", bos);
    failed |= add_step(steps, specials, "A", GUFO_NO_TOKEN);
    if (f->adds_eos && eos != GUFO_NO_TOKEN)
        failed |= add_step(steps, specials, "eos", eos);
    frame = json_pack("{s:s,s:o,s:[],s:o}", "type", "TemplateProcessing", "single", steps, "pair",
                      "special_tokens", specials);
    if (failed == 0)
        return frame;
    json_decref(frame);
    return NULL;
}

static gufo_status read_post_processor(pipeline *p, const tokenizer_file *f, gufo_error *error)
{
    json_t *made = f->frame_is_said ? make_post_processor(p, f) : NULL;
    const json_t *part = made != NULL ? made : tokenizer_file_part(f, "post_processor");
    gufo_error reason = {.code = GUFO_E_MEMORY};

    if (made != NULL || !f->frame_is_said)
        p->post_processor = post_processor_new(part, &f->places, &p->allocator, &reason);
    json_decref(made);
    return p->post_processor != NULL ? GUFO_OK : fail_as(error, &reason);
}

/* ---- parts ---------------------------------------------------------------------------------- */

static gufo_status read_parts(pipeline *p, const tokenizer_file *f, unsigned threads,
                              gufo_error *error)
{
    const gufo_allocator *a = &p->allocator;
    gufo_error reason = {.code = GUFO_E_MEMORY, .offset = GUFO_NO_OFFSET};

    p->model = token_model_new(f, threads, a, &reason);
    if (p->model == NULL && reason.offset == GUFO_NO_OFFSET)
        (void)json_place_of(&f->places, tokenizer_file_part(f, "model"), &reason.offset);
    if (p->model != NULL)
        p->normalizer =
            normalizer_new(tokenizer_file_part(f, "normalizer"), &f->places, a, &reason);
    if (p->normalizer != NULL)
        p->pre_tokenizer =
            pre_tokenizer_new(tokenizer_file_part(f, "pre_tokenizer"), &f->places, a, &reason);
    if (p->pre_tokenizer != NULL)
        p->decoder = decoder_new(tokenizer_file_part(f, "decoder"), &f->places, a, &reason);
    return p->decoder != NULL ? GUFO_OK : fail_as(error, &reason);
}

pipeline *pipeline_new(const tokenizer_file *f, unsigned threads, const gufo_allocator *allocator,
                       gufo_error *error)
{
    pipeline *p = mem_object(allocator, sizeof *p, error);
    gufo_status status;

    if (p == NULL)
        return NULL;
    p->raw.allocator = p->normalized.allocator = p->allocator;
    p->raw.bytes.allocator = p->normalized.bytes.allocator = &p->allocator;
    status = read_parts(p, f, threads, error);
    if (status == GUFO_OK)
        status = read_added(p, f, error);
    if (status == GUFO_OK)
        status = make_sets(p, error);
    if (status == GUFO_OK)
        status = read_post_processor(p, f, error);
    if (status == GUFO_OK)
        return p;
    pipeline_free(p);
    return NULL;
}

void pipeline_free(pipeline *p)
{
    gufo_allocator allocator;

    if (p == NULL)
        return;
    allocator = p->allocator;
    added_set_free(&p->raw);
    added_set_free(&p->normalized);
    normalizer_free(p->normalizer);
    pre_tokenizer_free(p->pre_tokenizer);
    token_model_free(p->model);
    post_processor_free(p->post_processor);
    decoder_free(p->decoder);
    mem_free(&allocator, p->renamed);
    mem_free(&allocator, p->added);
    mem_free(&allocator, p->added_bytes);
    mem_free(&allocator, p);
}

const char *pipeline_model_name(const pipeline *p)
{
    return token_model_name(p->model);
}

/* ---- from ids to text ----------------------------------------------------------------------- */

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

/* ---- from text to ids ----------------------------------------------------------------------- */

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

static void watch(const encoding *e, gufo_tokenize_event_kind kind, gufo_str text, uint32_t id,
                  text_origin range)
{
    const gufo_tokenize_event event = {
        .kind = kind, .text = text, .id = id, .span = {range.begin, range.end}};

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

    if (wants_tokens(e))
        span = work_text_origin(text, match->begin, match->end);
    watch(e, GUFO_TOKENIZE_SPECIAL, match->token->content, match->token->id, span);
    return add_token(e, match->token->id, span, content);
}

static gufo_str text_of_token(const gufo_vocab *v, uint32_t id)
{
    return id < v->size ? vocab_text(v, id) : (gufo_str){"", 0};
}

/* Who watches the merges of a piece. */
typedef struct piece_watch {
    const encoding *e;
    const work_text *text;
    const text_piece *piece;
} piece_watch;

static void watch_merge(void *context, uint32_t left, model_token merged, uint32_t rank)
{
    const piece_watch *w = context;
    const encoding *e = w->e;
    const gufo_vocab *v = e->request->vocab;
    text_origin range =
        work_text_origin(w->text, w->piece->begin + merged.begin, w->piece->begin + merged.end);
    gufo_tokenize_event event = {.kind = GUFO_TOKENIZE_MERGE,
                                 .text = text_of_token(v, merged.id),
                                 .id = merged.id,
                                 .score = rank,
                                 .span = {range.begin, range.end}};

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
    const piece_watch watched = {e, text, piece};
    gufo_status status;

    watch(e, GUFO_TOKENIZE_PIECE, bytes, GUFO_NO_TOKEN,
          work_text_origin(text, piece->begin, piece->end));
    s->tokens.count = 0;
    s->tokens.watch = e->request->watch != NULL ? watch_merge : NULL;
    s->tokens.watch_context = (void *)&watched;
    status = token_model_encode(e->pipeline->model, s->model, bytes, &s->tokens, e->error);
    for (uint64_t i = 0; status == GUFO_OK && i < s->tokens.count; i++) {
        const model_token *token = &s->tokens.list[i];
        gufo_str part = {bytes.data + token->begin, token->end - token->begin};
        text_origin span =
            work_text_origin(text, piece->begin + token->begin, piece->begin + token->end);

        watch(e, GUFO_TOKENIZE_TOKEN, part, token->id, span);
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
        wants_tokens(e) || pre_tokenizer_needs_origins(e->pipeline->pre_tokenizer);
    if (text.len > UINT32_MAX / 2)
        return refuse(
            e->error, GUFO_E_LIMIT,
            "the text has %s bytes: with a tokenizer.json it is encoded as a whole, and may "
            "have %s",
            GROUPED(text.len), GROUPED(UINT32_MAX / 2));
    return work_text_take(whole, text) ? GUFO_OK : fail_memory(e->error);
}

/* The spans of the new ids, for the caller. */
static gufo_status hand_over_spans(const encoding *e, gufo_ids *out)
{
    const encoded *done = &e->scratch->encoded;

    if (!e->request->spans) {
        if (out->spans != NULL)
            memset(out->spans + done->first, 0, (out->count - done->first) * sizeof *out->spans);
        return GUFO_OK;
    }
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
