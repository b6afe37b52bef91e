/* Post-processors.
 *
 * What is around a text does not depend on the text.  So the steps work on a frame once, when the file
 * is read: parts of special tokens and of the text, `A`.
 *
 *     at first     (A)
 *     template     ([CLS]) (A) ([SEP])              a part for each element
 *     Bert         (cls [CLS]) ... ([SEP] sep)      in front of the first part, and behind each
 *
 * A frame is written around the ids of each text, and white space at the ends of tokens goes out of their spans.
 * There are two frames: with special tokens and without. */
#include "text/pipeline/steps/post_processor.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "gufo/print.h"
#include "gufo/base.h"
#include "text/characters/characters.h"
#include "text/formats/json_tree.h"
#include "text/pipeline/steps/step_reading.h"
#include "text/vocabulary/ids.h"

/* Far more than files have. */
enum { MOST_TRIMS = 4, MOST_COPIES = 64, MOST_ITEMS = 1 << 16 };

/* How white space is taken out of the spans of tokens. */
typedef struct trim {
    bool begins;       /* the text is at the start of its part */
    bool prefix_space; /* add_prefix_space */
} trim;

/* A special token, or the text. */
typedef struct frame_item {
    bool is_text;
    uint32_t id;
    uint32_t trim_count;
    trim trims[MOST_TRIMS];
} frame_item;

typedef struct frame_part {
    uint32_t end; /* of its items */
} frame_part;

typedef struct text_frame {
    frame_item *items;
    frame_part *parts;
    uint64_t item_count, item_room, part_count, part_room, copies;
} text_frame;

/* ---- frames --------------------------------------------------------------------------------- */

/* Making a frame. */
typedef struct framing {
    const gufo_allocator *allocator;
    text_frame now, next; /* `next` while a step works */
    bool specials;
} framing;

static void free_frame(text_frame *f, const gufo_allocator *allocator)
{
    mem_free(allocator, f->items);
    mem_free(allocator, f->parts);
    *f = (text_frame){0};
}

static gufo_status add_item(framing *f, frame_item item, step_reading *r)
{
    text_frame *to = &f->next;
    frame_item *items;

    to->copies += item.is_text;
    if (to->item_count == MOST_ITEMS || to->copies > MOST_COPIES)
        return step_refuse(r, GUFO_E_LIMIT,
                           "it puts more than %s tokens around a text, or repeats it "
                           "more than %d times",
                           GROUPED(MOST_ITEMS), MOST_COPIES);
    items = mem_grow(f->allocator, to->items, to->item_count, &to->item_room, sizeof *items);
    if (items == NULL)
        return step_no_memory(r);
    to->items = items;
    items[to->item_count++] = item;
    return GUFO_OK;
}

static gufo_status add_special(framing *f, uint32_t id, step_reading *r)
{
    return add_item(f, (frame_item){.id = id}, r);
}

static gufo_status end_part(framing *f, step_reading *r)
{
    text_frame *to = &f->next;
    frame_part *parts =
        mem_grow(f->allocator, to->parts, to->part_count, &to->part_room, sizeof *parts);

    if (to->part_count == MOST_ITEMS)
        return step_refuse(r, GUFO_E_LIMIT, "its template has more than %s parts",
                           GROUPED(MOST_ITEMS));
    if (parts == NULL)
        return step_no_memory(r);
    to->parts = parts;
    parts[to->part_count++].end = (uint32_t)to->item_count;
    return GUFO_OK;
}

static uint32_t part_begin(const text_frame *f, uint64_t part)
{
    return part == 0 ? 0 : f->parts[part - 1].end;
}

/* Copies a part's items, without ending it. */
static gufo_status copy_part(framing *f, uint64_t part, step_reading *r)
{
    gufo_status status = GUFO_OK;

    for (uint32_t i = part_begin(&f->now, part); status == GUFO_OK && i < f->now.parts[part].end;
         i++)
        status = add_item(f, f->now.items[i], r);
    return status;
}

/* What a step made takes the place of what was. */
static void finish_step(framing *f)
{
    text_frame made = f->next;

    f->next = f->now;
    f->now = made;
    f->next.item_count = f->next.part_count = f->next.copies = 0;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static gufo_status add_trims(framing *f, const processor *p, step_reading *r)
{
    for (uint64_t part = 0; p->trim_offsets && part < f->now.part_count; part++)
        for (uint32_t begin = part_begin(&f->now, part), i = begin; i < f->now.parts[part].end;
             i++) {
            frame_item *item = &f->now.items[i];

            if (!item->is_text)
                continue;
            if (item->trim_count == MOST_TRIMS)
                return step_refuse(r, GUFO_E_LIMIT, "offsets are trimmed more than %d times",
                                   MOST_TRIMS);
            item->trims[item->trim_count++] = (trim){i == begin, p->prefix_space};
        }
    return GUFO_OK;
}

/* cls in front of the first part; sep behind each, and in front of the others if `twice`. */
static gufo_status add_around(framing *f, const processor *p, bool twice, step_reading *r)
{
    gufo_status status = GUFO_OK;

    if (!f->specials)
        return GUFO_OK;
    for (uint64_t part = 0; status == GUFO_OK && part < f->now.part_count; part++) {
        if (part == 0 || twice)
            status = add_special(f, part == 0 ? p->cls.id : p->sep.id, r);
        if (status == GUFO_OK)
            status = copy_part(f, part, r);
        if (status == GUFO_OK)
            status = add_special(f, p->sep.id, r);
        if (status == GUFO_OK)
            status = end_part(f, r);
    }
    finish_step(f);
    return status;
}

static gufo_status apply_bert(framing *f, const processor *p, step_reading *r)
{
    return add_around(f, p, false, r);
}

static gufo_status apply_roberta(framing *f, const processor *p, step_reading *r)
{
    gufo_status status = add_trims(f, p, r);

    return status == GUFO_OK ? add_around(f, p, true, r) : status;
}

static gufo_status add_named(framing *f, const processor *p, gufo_str name, step_reading *r)
{
    const json_t *token = json_object_getn(p->specials, name.data, name.len);
    const json_t *ids = json_object_get(token, "ids");
    gufo_status status = GUFO_OK;

    if (!json_is_array(ids))
        return step_wrong(r, "\"special_tokens\" has no list of ids for %s", QUOTED(name));
    for (size_t i = 0; status == GUFO_OK && i < json_array_size(ids); i++) {
        const json_t *id = json_array_get(ids, i);

        if (!processor_is_id(id))
            return step_wrong(r, "\"special_tokens\" has a value for %s that is not an id",
                              QUOTED(name));
        if (f->specials)
            status = add_special(f, (uint32_t)json_integer_value(id), r);
    }
    return status == GUFO_OK && f->specials ? end_part(f, r) : status;
}

static gufo_status add_element(framing *f, const processor *p, const json_t *json, step_reading *r)
{
    template_element element;
    gufo_status status = template_read_element(r, json, &element);

    if (status != GUFO_OK || !element.is_text)
        return status == GUFO_OK ? add_named(f, p, element.name, r) : status;
    if (element.is_second && f->now.part_count < 2)
        return step_wrong(r, "\"single\" names a second text");
    status = copy_part(f, element.is_second, r);
    return status == GUFO_OK ? end_part(f, r) : status;
}

static gufo_status apply_template(framing *f, const processor *p, step_reading *r)
{
    const json_t *elements = f->now.part_count == 1 ? p->single : p->pair;
    gufo_status status = GUFO_OK;

    if (f->now.part_count == 0 || f->now.part_count > 2)
        return step_wrong(
            r, "a template takes one text or two, but the steps before it leave %u parts",
            (unsigned)f->now.part_count);
    for (size_t i = 0; status == GUFO_OK && i < json_array_size(elements); i++)
        status = add_element(f, p, json_array_get(elements, i), r);
    finish_step(f);
    return status;
}

static gufo_status apply(step_reading *r, const processor *p, void *context)
{
    static gufo_status (*const steps[])(framing * f, const processor *p, step_reading *r) = {
        [PROCESSOR_ROBERTA] = apply_roberta,
        [PROCESSOR_BERT] = apply_bert,
        [PROCESSOR_BYTE_LEVEL] = add_trims,
        [PROCESSOR_TEMPLATE] = apply_template,
    };

    return steps[p->kind](context, p, r);
}

/* ---- the frame ------------------------------------------------------------------------------ */

/* Makes the frame of a post-processor, with special tokens or without; freed with free_frame, also
 * after a failure: GUFO_E_TYPE, GUFO_E_MALFORMED, GUFO_E_LIMIT, GUFO_E_MEMORY. */
static gufo_status make_frame(text_frame *out, const json_t *part, const json_places *places,
                              bool specials, const gufo_allocator *allocator, gufo_error *error)
{
    framing f = {.allocator = allocator, .specials = specials};
    step_reading r = {.part = "post_processor", .places = places, .error = error};
    gufo_status status = add_item(&f, (frame_item){.is_text = true}, &r);

    if (status == GUFO_OK)
        status = end_part(&f, &r);
    finish_step(&f);
    if (status == GUFO_OK)
        status = processor_each(&r, part, apply, &f);
    *out = f.now;
    free_frame(&f.next, allocator);
    return status;
}

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
    if (make_frame(&p->frames[0], part, places, false, &p->allocator, error) == GUFO_OK &&
        make_frame(&p->frames[1], part, places, true, &p->allocator, error) == GUFO_OK)
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
    free_frame(&p->frames[0], &allocator);
    free_frame(&p->frames[1], &allocator);
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
    size_t size = gufo_utf8_decode(text, &code_point);

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

    return gufo_utf8_decode(character, &code_point) > 0 &&
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
