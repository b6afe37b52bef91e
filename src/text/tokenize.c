/* From text to ids: the frame around every algorithm.
 *
 *     text        <s>[INST] Hi  there</s>!          as it comes, in parts that are cut anywhere
 *     fragments   <s> | [INST] Hi  there | </s> | !     special tokens, and text between them
 *     parts       [INST] Hi |   there                   of long fragments, cut where no id changes
 *     ids         1 733 16289 28793 ...
 *
 * Text waits in a window until its fragments are certain.  A window without a place to cut grows, up
 * to a limit.  Parts of long texts go to several threads, and their ids come back in order. */
#include <string.h>

#include "base/buffer.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/threads.h"
#include "gufo/vocab.h"
#include "text/opening/special_list.h"
#include "text/pipeline/pipeline.h"
#include "text/tokenizers/trace.h"
#include "text/vocabulary/vocabulary.h"

/* ==== work: what is to be encoded, in order, by one thread or by several ===================== */

/* Each thread takes runs of items of about WORK_PART bytes, and the ids of the runs are joined in
 * their order: so ids do not depend on threads.  How a part is encoded, algorithms know (tokenizers/). */

/* A part, or a token, whose text in the whole one is that of `part`. */
typedef struct work_item {
    fragment_part part;
    uint64_t begin; /* of the part, in the whole text */
    uint32_t id;    /* GUFO_NO_TOKEN: a part */
} work_item;

typedef struct work_list {
    const gufo_allocator *allocator;
    tokenizing *workers; /* one for each thread */
    unsigned threads;
    work_item *items;
    uint64_t count, room;
    size_t bytes; /* of all parts */
} work_list;

enum { WORK_PART = 128 << 10 }; /* bytes that are encoded at once, as far as a text can be cut */
enum { MANY_ITEMS = 1 << 14, MANY_PARTS = 8 };

static gufo_status work_add(work_list *list, work_item item, gufo_error *error)
{
    work_item *items =
        mem_grow(list->allocator, list->items, list->count, &list->room, sizeof *items);

    if (items == NULL)
        return fail_memory(error);
    list->items = items;
    list->items[list->count++] = item;
    list->bytes += item.part.text.len;
    return GUFO_OK;
}

/* Whether it is time to do the work: all threads are busy with it for a while. */
static bool work_is_enough(const work_list *list)
{
    size_t parts = (size_t)list->threads * MANY_PARTS;

    return list->count >= (uint64_t)list->threads * MANY_ITEMS || list->bytes / WORK_PART >= parts;
}

/* ---- items ---------------------------------------------------------------------------------- */

static gufo_status encode_special(const tokenizing *t, const work_item *item, gufo_ids *out,
                                  gufo_error *error)
{
    const gufo_tokenize_event event = {
        .kind = GUFO_TOKENIZE_SPECIAL, .text = vocab_text(t->vocab, item->id), .id = item->id};
    bool done = t->traced ? trace_token(t, out, event, (gufo_span){0, item->part.text.len})
                          : ids_add(out, item->id);

    return done ? GUFO_OK : fail_memory(error);
}

static gufo_status encode_item(tokenizing *t, const work_item *item, gufo_ids *out,
                               gufo_error *error)
{
    t->begin = item->begin;
    if (item->id != GUFO_NO_TOKEN)
        return encode_special(t, item, out, error);
    if (t->traced && item->part.text.len > UINT32_MAX)
        return refuse(error, GUFO_E_LIMIT,
                      "a stretch of %s bytes, which cannot be cut, is too long for spans",
                      GROUPED(item->part.text.len));
    return t->vocab->algorithm->encode(t, item->part, out, error);
}

static gufo_status encode_items(tokenizing *t, const work_item *items, uint64_t count,
                                gufo_ids *out, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; status == GUFO_OK && i < count; i++)
        status = encode_item(t, &items[i], out, error);
    return status;
}

/* ---- threads -------------------------------------------------------------------------------- */

/* Items for one thread, and their ids. */
typedef struct work_run {
    uint64_t first, count;
    gufo_ids ids;
} work_run;

typedef struct shared_work {
    const work_list *list;
    work_run *runs;
    uint64_t count, room;
    gufo_ids *out;
} shared_work;

static gufo_status work_on_run(void *context, unsigned thread, uint64_t index, void *result,
                               gufo_error *error)
{
    const shared_work *w = context;
    work_run *run = &w->runs[index];

    (void)result;
    return encode_items(&w->list->workers[thread], w->list->items + run->first, run->count,
                        &run->ids, error);
}

static gufo_status take_ids(void *context, uint64_t index, const void *result, gufo_error *error)
{
    const shared_work *w = context;
    gufo_ids *ids = &w->runs[index].ids;

    (void)result;
    if (!ids_append(w->out, ids))
        return fail_memory(error);
    gufo_ids_free(ids);
    return GUFO_OK;
}

/* Divides the list into runs of at least WORK_PART bytes. */
static gufo_status divide(shared_work *w, gufo_error *error)
{
    const work_list *list = w->list;
    size_t bytes = WORK_PART; /* of the last run */

    for (uint64_t i = 0; i < list->count; i++) {
        if (bytes >= WORK_PART) {
            work_run *runs = mem_grow(list->allocator, w->runs, w->count, &w->room, sizeof *runs);

            if (runs == NULL)
                return fail_memory(error);
            w->runs = runs;
            w->runs[w->count++] = (work_run){.first = i, .ids = {.allocator = list->allocator}};
            bytes = 0;
        }
        w->runs[w->count - 1].count++;
        bytes += list->items[i].part.text.len + 1;
    }
    return GUFO_OK;
}

static gufo_status do_shared(const work_list *list, gufo_ids *out, gufo_error *error)
{
    shared_work w = {.list = list, .out = out};
    gufo_status status = divide(&w, error);
    const parallel_loop loop = {.end = w.count,
                                .threads = list->threads,
                                .context = &w,
                                .work = work_on_run,
                                .hand_over = take_ids};

    if (status == GUFO_OK)
        status = parallel_run(&loop, list->allocator, error);
    for (uint64_t i = 0; i < w.count; i++)
        gufo_ids_free(&w.runs[i].ids);
    mem_free(list->allocator, w.runs);
    return status;
}

/* Appends the ids of all items, and empties the list. */
static gufo_status work_do(work_list *list, gufo_ids *out, gufo_error *error)
{
    gufo_status status;

    if (list->threads > 1 && list->bytes > 2 * WORK_PART)
        status = do_shared(list, out, error);
    else
        status = encode_items(list->workers, list->items, list->count, out, error);
    list->count = 0;
    list->bytes = 0;
    return status;
}

/* ==== the frame ============================================================================== */

enum { FIRST_WINDOW = 2 * WORK_PART };
#define MOST_WINDOW ((size_t)32 << 20)

struct gufo_tokenizer {
    gufo_allocator allocator;
    const gufo_vocab *vocab;
    gufo_tokenize_options options;
    pipeline_scratch *pipeline; /* of a tokenizer.json, which encodes texts as a whole; else NULL */
    work_list work;
    buffer waiting; /* text whose ids are not certain yet */
    size_t window;  /* bytes to wait for before looking at them */
    uint64_t at;    /* bytes of the text whose items were added */
    bool begun;     /* the ids before the text are written */
    bool open;      /* the last part ended inside a fragment */
};

/* ---- fragments ------------------------------------------------------------------------------ */

/* The length of the first part: up to the last place to cut in a stretch of WORK_PART, or of one that
 * is twice as long, and so on. */
static size_t part_size(const gufo_vocab *v, gufo_str text)
{
    for (size_t size = WORK_PART; size < text.len; size *= 2) {
        size_t cut = v->algorithm->cut(v, (gufo_str){text.data, size});

        if (cut > 0)
            return cut;
    }
    return text.len;
}

static gufo_status add_work(gufo_tokenizer *k, work_item item, gufo_ids *out, gufo_error *error)
{
    gufo_status status = work_add(&k->work, item, error);

    if (status == GUFO_OK && work_is_enough(&k->work))
        status = work_do(&k->work, out, error);
    return status;
}

/* Adds a stretch of a fragment, which ends with it if it is the `last` one. */
static gufo_status add_stretch(gufo_tokenizer *k, gufo_str text, bool last, gufo_ids *out,
                               gufo_error *error)
{
    gufo_status status = GUFO_OK;

    if (text.len == 0 && (!last || !k->open))
        return GUFO_OK;
    do {
        size_t size = part_size(k->vocab, text);
        fragment_part part = {{text.data, size}, !k->open, last && size == text.len};

        status = add_work(k, (work_item){part, k->at, GUFO_NO_TOKEN}, out, error);
        k->at += size;
        k->open = !part.last;
        text = str_from(text, size);
    } while (status == GUFO_OK && text.len > 0);
    return status;
}

/* A token that is in the text, here. */
static gufo_status add_hit(gufo_tokenizer *k, uint32_t id, gufo_str text, gufo_ids *out,
                           gufo_error *error)
{
    const work_item item = {.part.text = text, .begin = k->at, .id = id};

    k->at += text.len;
    return add_work(k, item, out, error);
}

/* Adds what is certain of `text`; *used is how many bytes that is: all of them if the text ends here
 * (`final`). */
static gufo_status add_text(gufo_tokenizer *k, gufo_str text, bool final, size_t *used,
                            gufo_ids *out, gufo_error *error)
{
    bool parse = (k->options.flags & GUFO_TOKENIZE_PARSE_SPECIAL) != 0;
    special_scan scan = special_scan_start(k->vocab, parse, text, final, &k->allocator);
    special_hit hit;
    size_t at = 0;
    gufo_status status;

    while ((status = special_scan_next(&scan, &hit, error)) == GUFO_OK && hit.found) {
        status = add_stretch(k, (gufo_str){text.data + at, hit.begin - at}, true, out, error);
        if (status == GUFO_OK)
            status = add_hit(k, hit.id, (gufo_str){text.data + hit.begin, hit.end - hit.begin}, out,
                             error);
        if (status != GUFO_OK)
            break;
        at = hit.end;
    }
    if (status == GUFO_OK) {
        gufo_str rest = str_from((gufo_str){text.data, scan.settled}, at); /* may be NULL */

        if (!final && rest.len > 0)
            rest.len = k->vocab->algorithm->cut(k->vocab, rest);
        status = add_stretch(k, rest, final, out, error);
        at += rest.len;
    }
    *used = at;
    special_scan_end(&scan);
    return status;
}

/* ---- before and after a text ---------------------------------------------------------------- */

static gufo_status add_role(gufo_tokenizer *k, gufo_special role, gufo_ids *out, gufo_error *error)
{
    uint32_t id = k->vocab->special[role];

    if (id == GUFO_NO_TOKEN)
        return refuse(error, GUFO_E_MALFORMED,
                      "the vocabulary says that texts get a %s token, but not which one it is",
                      gufo_special_name(role));
    return add_work(k, (work_item){.id = id}, out, error);
}

static gufo_status begin_text(gufo_tokenizer *k, gufo_ids *out, gufo_error *error)
{
    const gufo_vocab *v = k->vocab;
    bool add = v->frame == FRAME_ALWAYS || (v->frame == FRAME_FLAGS && v->add_bos);

    if (k->begun)
        return GUFO_OK;
    k->begun = true;
    if (!add || (k->options.flags & GUFO_TOKENIZE_ADD_SPECIAL) == 0)
        return GUFO_OK;
    return add_role(k, GUFO_SPECIAL_BOS, out, error);
}

static gufo_status end_text(gufo_tokenizer *k, gufo_ids *out, gufo_error *error)
{
    const gufo_vocab *v = k->vocab;

    k->begun = false;
    k->at = 0;
    if ((k->options.flags & GUFO_TOKENIZE_ADD_SPECIAL) == 0)
        return GUFO_OK;
    if (v->frame == FRAME_ALWAYS)
        return add_role(k, GUFO_SPECIAL_SEPARATOR, out, error);
    if (v->frame == FRAME_FLAGS && v->add_eos)
        return add_role(k, GUFO_SPECIAL_EOS, out, error);
    return GUFO_OK;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static gufo_status grow_window(gufo_tokenizer *k, gufo_error *error)
{
    if (k->window >= MOST_WINDOW)
        return refuse(error, GUFO_E_LIMIT,
                      "%s bytes of text have no place where they can be cut: the ids of all of "
                      "them depend on each other",
                      GROUPED(k->waiting.len));
    k->window *= 2;
    return GUFO_OK;
}

/* Encodes what is certain of the text that waits, and keeps the rest. */
static gufo_status encode_waiting(gufo_tokenizer *k, gufo_ids *out, gufo_error *error)
{
    gufo_str text = {(const char *)k->waiting.data, k->waiting.len};
    size_t used = 0;
    gufo_status status = add_text(k, text, false, &used, out, error);

    if (status == GUFO_OK)
        status = work_do(&k->work, out, error);
    if (status != GUFO_OK)
        return status;
    if (used > 0)
        memmove(k->waiting.data, k->waiting.data + used, k->waiting.len - used);
    k->waiting.len -= used;
    if (k->waiting.len >= k->window)
        return grow_window(k, error);
    return GUFO_OK;
}

/* Encodes the rest of a text, or all of it. */
static gufo_status encode_rest(gufo_tokenizer *k, gufo_str text, gufo_ids *out, gufo_error *error)
{
    size_t used;
    gufo_status status = begin_text(k, out, error);

    if (status == GUFO_OK)
        status = add_text(k, text, true, &used, out, error);
    if (status == GUFO_OK)
        status = end_text(k, out, error);
    if (status == GUFO_OK)
        status = work_do(&k->work, out, error);
    return status;
}

/* ---- texts that are encoded as a whole ------------------------------------------------------ */

static gufo_status encode_whole(gufo_tokenizer *k, gufo_str text, gufo_ids *out, gufo_error *error)
{
    const gufo_tokenize_options *o = &k->options;
    const pipeline_request request = {.vocab = k->vocab,
                                      .frame = (o->flags & GUFO_TOKENIZE_ADD_SPECIAL) != 0,
                                      .specials = (o->flags & GUFO_TOKENIZE_PARSE_SPECIAL) != 0,
                                      .spans = (o->flags & GUFO_TOKENIZE_SPANS) != 0,
                                      .watch = o->watch,
                                      .watch_context = o->watch_context};

    return pipeline_encode(k->vocab->pipeline, k->pipeline, &request, text, out, error);
}

/* ---- parts and ends ------------------------------------------------------------------------- */

gufo_status gufo_tokenizer_feed(gufo_tokenizer *tokenizer, gufo_str part, gufo_ids *out,
                                gufo_error *error)
{
    gufo_tokenizer *k = tokenizer;
    gufo_status status;

    if (k->pipeline != NULL)
        return buffer_append(&k->waiting, part.data, part.len) ? GUFO_OK : fail_memory(error);
    status = begin_text(k, out, error);
    while (status == GUFO_OK && part.len > 0) {
        size_t size = (size_t)smaller(part.len, k->window - k->waiting.len);
        void *room = buffer_extend(&k->waiting, size);

        if (room == NULL)
            return fail_memory(error);
        memcpy(room, part.data, size);
        part = str_from(part, size);
        if (k->waiting.len == k->window)
            status = encode_waiting(k, out, error);
    }
    return status;
}

gufo_status gufo_tokenizer_end(gufo_tokenizer *tokenizer, gufo_ids *out, gufo_error *error)
{
    gufo_tokenizer *k = tokenizer;
    gufo_str rest = {(const char *)k->waiting.data, k->waiting.len};
    gufo_status status =
        k->pipeline != NULL ? encode_whole(k, rest, out, error) : encode_rest(k, rest, out, error);

    k->waiting.len = 0;
    return status;
}

/* ---- tokenizers ----------------------------------------------------------------------------- */

static gufo_status check_options(const gufo_tokenize_options *options, gufo_error *error)
{
    gufo_status status =
        flags_check(options->flags,
                    GUFO_TOKENIZE_ADD_SPECIAL | GUFO_TOKENIZE_PARSE_SPECIAL | GUFO_TOKENIZE_SPANS,
                    "gufo_tokenize_options", error);

    if (status == GUFO_OK)
        status = reserved_check(options->reserved, "gufo_tokenize_options", error);
    return status;
}

static unsigned workers_of(const gufo_tokenizer *k)
{
    const gufo_run *run = k->options.run;

    if (run == NULL || k->options.watch != NULL || !k->vocab->algorithm->parallel)
        return 1;
    return thread_count(run->threads);
}

static gufo_status make_workers(gufo_tokenizer *k, gufo_error *error)
{
    const token_algorithm *algorithm = k->vocab->algorithm;
    bool spans = (k->options.flags & GUFO_TOKENIZE_SPANS) != 0;

    if (k->vocab->pipeline != NULL) {
        k->pipeline = pipeline_scratch_new(k->vocab->pipeline, &k->allocator, error);
        return k->pipeline != NULL ? GUFO_OK : GUFO_E_MEMORY;
    }
    k->work.threads = workers_of(k);
    k->work.workers = mem_array(&k->allocator, k->work.threads, sizeof *k->work.workers);
    if (k->work.workers == NULL)
        return fail_memory(error);
    for (unsigned i = 0; i < k->work.threads; i++) {
        k->work.workers[i] = (tokenizing){.vocab = k->vocab,
                                          .allocator = &k->allocator,
                                          .watch = k->options.watch,
                                          .watch_context = k->options.watch_context,
                                          .spans = spans,
                                          .traced = spans || k->options.watch != NULL};
        if (algorithm->scratch_new == NULL)
            continue;
        k->work.workers[i].scratch = algorithm->scratch_new(k->vocab, &k->allocator, error);
        if (k->work.workers[i].scratch == NULL)
            return GUFO_E_MEMORY;
    }
    return GUFO_OK;
}

gufo_tokenizer *gufo_tokenizer_new(const gufo_vocab *vocab, const gufo_tokenize_options *options,
                                   gufo_error *error)
{
    gufo_tokenize_options none = {0};
    const gufo_allocator *allocator = &vocab->allocator;
    gufo_tokenizer *k;

    if (options == NULL)
        options = &none;
    if (check_options(options, error) != GUFO_OK)
        return NULL;
    if (options->run != NULL && options->run->allocator != NULL)
        allocator = options->run->allocator;
    k = mem_object(allocator, sizeof *k, error);
    if (k == NULL)
        return NULL;
    k->vocab = vocab;
    k->options = *options;
    k->waiting.allocator = &k->allocator;
    k->work.allocator = &k->allocator;
    k->window = FIRST_WINDOW;
    if (make_workers(k, error) != GUFO_OK) {
        gufo_tokenizer_free(k);
        return NULL;
    }
    k->window *= k->pipeline == NULL ? k->work.threads : 1;
    return k;
}

void gufo_tokenizer_free(gufo_tokenizer *tokenizer)
{
    gufo_tokenizer *k = tokenizer;
    gufo_allocator allocator;

    if (k == NULL)
        return;
    allocator = k->allocator;
    for (unsigned i = 0; k->work.workers != NULL && i < k->work.threads; i++)
        if (k->work.workers[i].scratch != NULL)
            k->vocab->algorithm->scratch_free(k->work.workers[i].scratch, &allocator);
    pipeline_scratch_free(k->pipeline);
    mem_free(&allocator, k->work.workers);
    mem_free(&allocator, k->work.items);
    buffer_free(&k->waiting);
    mem_free(&allocator, k);
}

gufo_status gufo_tokenize(const gufo_vocab *vocab, gufo_str text,
                          const gufo_tokenize_options *options, gufo_ids *out, gufo_error *error)
{
    gufo_error first = {.code = GUFO_E_MEMORY};
    gufo_tokenizer *k = gufo_tokenizer_new(vocab, options, &first);
    gufo_status status;

    if (k == NULL)
        return fail_as(error, &first);
    status = k->pipeline != NULL ? encode_whole(k, text, out, &first)
                                 : encode_rest(k, text, out, &first);
    gufo_tokenizer_free(k);
    return status == GUFO_OK ? GUFO_OK : fail_as(error, &first);
}

gufo_status gufo_count_tokens(const gufo_vocab *vocab, gufo_str text,
                              const gufo_tokenize_options *options, uint64_t *count,
                              gufo_error *error)
{
    gufo_error first = {.code = GUFO_E_MEMORY};
    gufo_tokenizer *k = gufo_tokenizer_new(vocab, options, &first);
    gufo_ids ids = {.allocator = &vocab->allocator};
    gufo_status status = k != NULL ? GUFO_OK : first.code;

    for (*count = 0; status == GUFO_OK && text.len > 0;) {
        size_t size = (size_t)smaller(text.len, MOST_WINDOW);

        status = gufo_tokenizer_feed(k, (gufo_str){text.data, size}, &ids, &first);
        text = str_from(text, size);
        *count += ids.count;
        ids.count = 0;
    }
    if (status == GUFO_OK)
        status = gufo_tokenizer_end(k, &ids, &first);
    *count += ids.count;
    gufo_ids_free(&ids);
    gufo_tokenizer_free(k);
    return status == GUFO_OK ? GUFO_OK : fail_as(error, &first);
}
