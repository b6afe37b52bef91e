/* Post-processors, as frames.
 *
 * What is around a text does not depend on the text.  So the steps work on a frame once, when the file
 * is read: parts of special tokens and of the text, `A`.
 *
 *     at first     (A)
 *     template     ([CLS]) (A) ([SEP])              a part for each element
 *     Bert         (cls [CLS]) ... ([SEP] sep)      in front of the first part, and behind each
 *
 * A frame is written around the ids of each text.  There are two: with special tokens and without. */
#include "text/pipeline/text_frame.h"

#include "base/error.h"
#include "base/memory.h"
#include "text/pipeline/processor_reading.h"

/* ---- frames --------------------------------------------------------------------------------- */

/* Making a frame. */
typedef struct framing {
    const gufo_allocator *allocator;
    text_frame now, next; /* `next` while a step works */
    bool specials;
} framing;

void text_frame_free(text_frame *f, const gufo_allocator *allocator)
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
                           "more than %s tokens around a text, or it is repeated "
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
        return step_refuse(r, GUFO_E_LIMIT, "more than %s parts of a template",
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

gufo_status text_frame_make(text_frame *out, const json_t *part, const json_places *places,
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
    text_frame_free(&f.next, allocator);
    return status;
}
