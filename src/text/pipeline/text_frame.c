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
#include "text/formats/json_reading.h"
#include "text/pipeline/step_reading.h"

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
                           "more than %d tokens around a text, or it is repeated "
                           "more than %d times",
                           MOST_ITEMS, MOST_COPIES);
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
        return step_refuse(r, GUFO_E_LIMIT, "more than %d parts of a template", MOST_ITEMS);
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

/* ---- parameters ----------------------------------------------------------------------------- */

typedef struct parameters {
    uint32_t cls, sep;
    bool trim_offsets, prefix_space;
    const json_t *single, *pair, *specials, *processors;
} parameters;

static bool is_id(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0 &&
           json_integer_value(value) < UINT32_MAX;
}

/* ["[SEP]", 3] */
static uint32_t read_named_id(step_reading *r, const char *name)
{
    const json_t *value = step_list(r, name);

    if (r->status == GUFO_OK &&
        (json_array_size(value) != 2 || !json_is_string(json_array_get(value, 0)) ||
         !is_id(json_array_get(value, 1))))
        (void)step_wrong(r, "\"%s\" is not a list of a text and an id", name);
    return r->status == GUFO_OK ? (uint32_t)json_integer_value(json_array_get(value, 1)) : 0;
}

static void read_bert(step_reading *r, parameters *p)
{
    p->sep = read_named_id(r, "sep");
    p->cls = read_named_id(r, "cls");
}

static void read_byte_level(step_reading *r, parameters *p)
{
    p->prefix_space = step_flag(r, "add_prefix_space");
    p->trim_offsets = step_flag(r, "trim_offsets");
}

static void read_roberta(step_reading *r, parameters *p)
{
    read_bert(r, p);
    read_byte_level(r, p);
}

static void read_template(step_reading *r, parameters *p)
{
    p->single = step_list(r, "single");
    p->pair = step_list(r, "pair");
    p->specials = step_object(r, "special_tokens");
}

static void read_sequence(step_reading *r, parameters *p)
{
    p->processors = step_list(r, "processors");
}

/* ---- steps ---------------------------------------------------------------------------------- */

static gufo_status add_trims(framing *f, const parameters *p, step_reading *r)
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
static gufo_status add_around(framing *f, const parameters *p, bool twice, step_reading *r)
{
    gufo_status status = GUFO_OK;

    if (!f->specials)
        return GUFO_OK;
    for (uint64_t part = 0; status == GUFO_OK && part < f->now.part_count; part++) {
        if (part == 0 || twice)
            status = add_special(f, part == 0 ? p->cls : p->sep, r);
        if (status == GUFO_OK)
            status = copy_part(f, part, r);
        if (status == GUFO_OK)
            status = add_special(f, p->sep, r);
        if (status == GUFO_OK)
            status = end_part(f, r);
    }
    finish_step(f);
    return status;
}

static gufo_status apply_bert(framing *f, const parameters *p, step_reading *r)
{
    return add_around(f, p, false, r);
}

static gufo_status apply_roberta(framing *f, const parameters *p, step_reading *r)
{
    gufo_status status = add_trims(f, p, r);

    return status == GUFO_OK ? add_around(f, p, true, r) : status;
}

static gufo_status add_named(framing *f, const parameters *p, gufo_str name, step_reading *r)
{
    const json_t *token = json_object_getn(p->specials, name.data, name.len);
    const json_t *ids = json_object_get(token, "ids");
    gufo_status status = GUFO_OK;

    if (!json_is_array(ids))
        return step_wrong(r, "\"special_tokens\" has no list of ids for %s", QUOTED(name));
    for (size_t i = 0; status == GUFO_OK && i < json_array_size(ids); i++) {
        const json_t *id = json_array_get(ids, i);

        if (!is_id(id))
            return step_wrong(r, "an id of %s in \"special_tokens\" is not one", QUOTED(name));
        if (f->specials)
            status = add_special(f, (uint32_t)json_integer_value(id), r);
    }
    return status == GUFO_OK && f->specials ? end_part(f, r) : status;
}

/* {"Sequence": {"id": "A"}} or {"SpecialToken": {"id": "[SEP]"}} */
static gufo_status add_element(framing *f, const parameters *p, const json_t *element,
                               step_reading *r)
{
    const json_t *text = json_object_get(element, "Sequence");
    const json_t *id =
        json_object_get(text != NULL ? text : json_object_get(element, "SpecialToken"), "id");
    bool second;
    gufo_status status;

    if (!json_is_string(id))
        return step_wrong(r, "an element of a template is neither a \"Sequence\" nor a "
                             "\"SpecialToken\" with an \"id\"");
    if (text == NULL)
        return add_named(f, p, json_text(id), r);
    second = str_is(json_text(id), "B");
    if (!second && !str_is(json_text(id), "A"))
        return step_wrong(r, "a template names a text %s: there are \"A\" and \"B\"",
                          QUOTED(json_text(id)));
    if (second && f->now.part_count < 2)
        return step_wrong(r, "\"single\" names a second text");
    status = copy_part(f, second, r);
    return status == GUFO_OK ? end_part(f, r) : status;
}

static gufo_status apply_template(framing *f, const parameters *p, step_reading *r)
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

typedef struct processor_kind {
    const char *type;
    bool is_typed; /* its "type" counts */
    void (*read)(step_reading *r, parameters *p);
    gufo_status (*apply)(framing *f, const parameters *p, step_reading *r); /* NULL: Sequence */
} processor_kind;

/* The library takes the first one whose members a step has, for most whatever its "type" says. */
static const processor_kind kinds[] = {
    {"RobertaProcessing", false, read_roberta, apply_roberta},
    {"BertProcessing", false, read_bert, apply_bert},
    {"ByteLevel", true, read_byte_level, add_trims},
    {"TemplateProcessing", false, read_template, apply_template},
    {"Sequence", true, read_sequence, NULL},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* Fails with what is missing for the type that it says it is. */
static gufo_status fail_step(step_reading *r)
{
    parameters p;

    for (size_t i = 0; i < KINDS; i++)
        if (step_is(r, kinds[i].type))
            kinds[i].read(r, &p);
    return step_refuse(r, GUFO_E_TYPE, "no post-processor is called that, or has its members");
}

static const processor_kind *find_kind(const step_reading *r, parameters *p)
{
    for (size_t i = 0; i < KINDS; i++) {
        step_reading probe = *r;

        if (kinds[i].is_typed && !step_is(r, kinds[i].type))
            continue;
        probe.error = NULL;
        *p = (parameters){0};
        kinds[i].read(&probe, p);
        if (probe.status == GUFO_OK)
            return &kinds[i];
    }
    return NULL;
}

static gufo_status apply_step(framing *f, const json_t *step, int depth, gufo_error *error)
{
    step_reading r = {.part = "post_processor", .error = error};
    const processor_kind *kind;
    parameters p;

    step_begin(&r, step);
    kind = r.status == GUFO_OK ? find_kind(&r, &p) : NULL;
    if (r.status != GUFO_OK)
        return r.status;
    if (kind == NULL)
        return fail_step(&r);
    if (kind->apply != NULL)
        return kind->apply(f, &p, &r);
    if (depth == STEP_DEPTH)
        return step_refuse(&r, GUFO_E_LIMIT, "more than %d nested sequences", STEP_DEPTH);
    for (size_t i = 0; r.status == GUFO_OK && i < json_array_size(p.processors); i++)
        r.status = apply_step(f, json_array_get(p.processors, i), depth + 1, error);
    return r.status;
}

/* ---- the frame ------------------------------------------------------------------------------ */

gufo_status text_frame_make(text_frame *out, const json_t *part, bool specials,
                            const gufo_allocator *allocator, gufo_error *error)
{
    framing f = {.allocator = allocator, .specials = specials};
    step_reading r = {.part = "post_processor", .error = error};
    gufo_status status = add_item(&f, (frame_item){.is_text = true}, &r);

    if (status == GUFO_OK)
        status = end_part(&f, &r);
    finish_step(&f);
    if (status == GUFO_OK && part != NULL)
        status = apply_step(&f, part, 0, error);
    *out = f.now;
    text_frame_free(&f.next, allocator);
    return status;
}
