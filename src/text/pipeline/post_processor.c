/* Post-processors at work: a frame is written around the ids of each text, and white space at their
 * ends goes out of their spans. */
#include "text/pipeline/post_processor.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "text/pipeline/text_frame.h"
#include "text/tokenizers/algorithm.h"
#include "text/vocabulary/characters.h"

struct post_processor {
    gufo_allocator allocator;
    text_frame frames[2]; /* without special tokens; with them */
};

/* ---- opening -------------------------------------------------------------------------------- */

post_processor *post_processor_new(const json_t *part, const json_places *places,
                                   const gufo_allocator *allocator, gufo_error *error)
{
    post_processor *p = mem_object(allocator, sizeof *p, error);

    if (p == NULL)
        return NULL;
    if (text_frame_make(&p->frames[0], part, places, false, &p->allocator, error) == GUFO_OK &&
        text_frame_make(&p->frames[1], part, places, true, &p->allocator, error) == GUFO_OK)
        return p;
    post_processor_free(p);
    return NULL;
}

void post_processor_free(post_processor *p)
{
    gufo_allocator allocator;

    if (p == NULL)
        return;
    allocator = p->allocator;
    text_frame_free(&p->frames[0], &allocator);
    text_frame_free(&p->frames[1], &allocator);
    mem_free(&allocator, p);
}

static uint32_t special_at(const text_frame *f, uint64_t item)
{
    return item < f->item_count && !f->items[item].is_text ? f->items[item].id : GUFO_NO_TOKEN;
}

uint32_t post_processor_first(const post_processor *p)
{
    return special_at(&p->frames[1], 0);
}

uint32_t post_processor_last(const post_processor *p)
{
    return special_at(&p->frames[1], p->frames[1].item_count - 1);
}

/* ---- trimming ------------------------------------------------------------------------------- */

/* The length of the character at the start of a text, any bytes; at its end. */
static size_t first_length(gufo_str text)
{
    uint32_t code_point;
    size_t size = utf8_decode(text, &code_point);

    return size > 0 ? size : 1;
}

static size_t last_length(gufo_str text)
{
    for (size_t size = 1; size <= 4 && size <= text.len; size++) {
        gufo_str tail = {text.data + text.len - size, size};

        if (first_length(tail) == size && ((uint8_t)*tail.data & 0xC0) != 0x80)
            return size;
    }
    return 1;
}

/* White space, also as the alphabet of bytes has it. */
static bool is_space(gufo_str character)
{
    uint32_t code_point = 0;

    return utf8_decode(character, &code_point) > 0 &&
           (code_point == 0x120 || class_of(code_point) == CLASS_W);
}

static size_t leading_spaces(gufo_str token)
{
    size_t count = 0;

    for (size_t size; token.len > 0; count++) {
        size = first_length(token);
        if (!is_space((gufo_str){token.data, size}))
            break;
        token = (gufo_str){token.data + size, token.len - size};
    }
    return count;
}

static size_t trailing_spaces(gufo_str token)
{
    size_t count = 0;

    for (size_t size; token.len > 0; count++, token.len -= size) {
        size = last_length(token);
        if (!is_space((gufo_str){token.data + token.len - size, size}))
            break;
    }
    return count;
}

/* Moves the begin of a span behind so many characters of the text, and its end in front of them. */
static void trim_begin(gufo_str text, text_origin *span, size_t count)
{
    for (; count > 0 && span->begin < span->end; count--)
        span->begin +=
            (uint32_t)first_length((gufo_str){text.data + span->begin, text.len - span->begin});
    span->begin = span->begin < span->end ? span->begin : span->end;
}

/* Not if the text has fewer before it. */
static void trim_end(gufo_str text, text_origin *span, size_t count)
{
    uint32_t end = span->end;

    for (; count > 0 && end > 0; count--)
        end -= (uint32_t)last_length((gufo_str){text.data, end});
    if (count == 0)
        span->end = end > span->begin ? end : span->begin;
}

token_span token_span_of(text_origin range, gufo_str text)
{
    return (token_span){range, (uint32_t)leading_spaces(text), (uint32_t)trailing_spaces(text)};
}

static void trim_span(const encoded *e, token_span *token, bool first, bool prefix_space)
{
    text_origin *span = &token->range;
    size_t leading = token->leading;

    /* A single space was put there; several were not. */
    if (leading == 1 && prefix_space && (first || span->begin == 0))
        leading = 0;
    trim_begin(e->text, span, leading);
    trim_end(e->text, span, token->trailing);
}

/* ---- running -------------------------------------------------------------------------------- */

typedef struct framed {
    encoded *e;
    size_t count; /* ids of the text */
} framed;

static bool reserve_spans(encoded *e, size_t count)
{
    token_span *spans;

    if (!e->keeps_spans || count <= e->span_room)
        return true;
    if (count > SIZE_MAX / sizeof *spans)
        return false;
    spans = mem_resize(mem_allocator(e->allocator), e->spans, count * sizeof *spans);
    if (spans == NULL)
        return false;
    e->spans = spans;
    e->span_room = count;
    return true;
}

/* Copies the ids of the text, which begin at `from`, to `to`. */
static void move_text(const framed *f, size_t from, size_t to)
{
    uint32_t *ids = f->e->ids->ids + f->e->first;

    if (f->count == 0 || from == to)
        return;
    memmove(ids + to, ids + from, f->count * sizeof *ids);
    if (f->e->keeps_spans)
        memmove(f->e->spans + to, f->e->spans + from, f->count * sizeof *f->e->spans);
}

/* Where the text of a frame is written for the first time. */
static size_t first_place(const text_frame *frame)
{
    size_t items = 0;

    while (items < frame->item_count && !frame->items[items].is_text)
        items++;
    return items < frame->item_count ? items : 0;
}

static void write_items(const framed *f, const text_frame *frame)
{
    encoded *e = f->e;
    size_t first = first_place(frame), at = 0;

    move_text(f, 0, first);
    for (size_t i = 0; i < frame->item_count; i++) {
        if (frame->items[i].is_text) {
            move_text(f, first, at);
            at += f->count;
            continue;
        }
        e->ids->ids[e->first + at] = frame->items[i].id;
        if (e->keeps_spans)
            e->spans[at] = (token_span){{0, 0}, 0, 0};
        at++;
    }
    e->ids->count = e->first + at;
}

static void trim_items(const framed *f, const text_frame *frame)
{
    for (size_t i = 0, at = 0; i < frame->item_count; i++) {
        const frame_item *item = &frame->items[i];

        for (uint32_t k = 0; k < item->trim_count; k++)
            for (size_t j = 0; j < f->count; j++)
                trim_span(f->e, &f->e->spans[at + j], item->trims[k].begins && j == 0,
                          item->trims[k].prefix_space);
        at += item->is_text ? f->count : 1;
    }
}

gufo_status post_processor_run(const post_processor *p, encoded *e, bool specials,
                               gufo_error *error)
{
    framed f = {e, e->ids->count - e->first};
    const text_frame *frame;
    uint64_t total;

    if (p == NULL)
        return GUFO_OK;
    frame = &p->frames[specials];
    if (!checked_mul(f.count, frame->copies, &total) ||
        !checked_add(total, frame->item_count, &total) || total > SIZE_MAX / 2 ||
        (total > f.count && !ids_reserve(e->ids, (size_t)total - f.count)) ||
        !reserve_spans(e, (size_t)total))
        return fail_memory(error);
    write_items(&f, frame);
    if (e->keeps_spans)
        trim_items(&f, frame);
    return GUFO_OK;
}
