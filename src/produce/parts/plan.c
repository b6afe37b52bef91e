/* A plan: its lines, read where they are; what it says; how it differs from another one. */
#include "produce/parts/plan.h"

#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

enum { MOST_FIELDS = 5 };

/* ---- lines ---------------------------------------------------------------------------------- */

/* The fields of a line behind its kind, terminated. */
typedef struct plan_line {
    const char *kind;
    const char *fields[MOST_FIELDS];
    uint64_t numbers[MOST_FIELDS]; /* that they are; 0 for texts */
    size_t place;                  /* of its number in a plan */
} plan_line;

static gufo_status fail_plan(gufo_error *error)
{
    return refuse(error, GUFO_E_MALFORMED, "it is not a plan, or was damaged");
}

typedef gufo_status take_line(gufo_plan *plan, const plan_line *line, gufo_error *error);

/* A kind of line: its fields, 'n' a number and 't' a text, and what is done with it. */
typedef struct line_kind {
    const char *kind, *fields;
    take_line *take;
    /* Of an item: what differs where its values do, `aspect` (which may be empty) and `thing`; and whether its name counts:
     * that of a file does not. */
    const char *aspect, *thing;
    bool is_named;
    size_t place; /* offset of the number that take_number takes */
} line_kind;

static gufo_status take_item(gufo_plan *plan, const plan_line *line, gufo_error *error)
{
    plan_item *list =
        mem_grow(&plan->allocator, plan->items, plan->item_count, &plan->item_room, sizeof *list);

    if (list == NULL)
        return fail_memory(error);
    plan->items = list;
    list[plan->item_count++] = (plan_item){line->kind, line->fields[0], line->fields[1]};
    return GUFO_OK;
}

static gufo_status take_argument(gufo_plan *plan, const plan_line *line, gufo_error *error)
{
    const char **list = mem_grow(&plan->allocator, (void *)plan->arguments, plan->argument_count,
                                 &plan->argument_room, sizeof(char *));

    if (list == NULL)
        return fail_memory(error);
    plan->arguments = list;
    list[plan->argument_count++] = line->fields[0];
    return GUFO_OK;
}

static gufo_status take_folder(gufo_plan *plan, const plan_line *line, gufo_error *error)
{
    (void)error;
    plan->folder = line->fields[0];
    return GUFO_OK;
}

static gufo_status take_note(gufo_plan *plan, const plan_line *line, gufo_error *error)
{
    gufo_plan_note *list =
        mem_grow(&plan->allocator, plan->notes, plan->note_count, &plan->note_room, sizeof *list);

    if (list == NULL)
        return fail_memory(error);
    plan->notes = list;
    list[plan->note_count++] = (gufo_plan_note){.name = line->fields[0], .text = line->fields[1]};
    return GUFO_OK;
}

static gufo_status take_output(gufo_plan *plan, const plan_line *line, gufo_error *error)
{
    gufo_plan_output *list = mem_grow(&plan->allocator, plan->outputs, plan->output_count,
                                      &plan->output_room, sizeof *list);

    if (list == NULL)
        return fail_memory(error);
    plan->outputs = list;
    list[plan->output_count++] =
        (gufo_plan_output){.name = line->fields[0], .size = line->numbers[1]};
    return GUFO_OK;
}

static gufo_status take_number(gufo_plan *plan, const plan_line *line, gufo_error *error)
{
    if (plan->part_count > 0) /* they were compared with it */
        return fail_plan(error);
    memcpy((char *)plan + line->place, &line->numbers[0], sizeof line->numbers[0]);
    return GUFO_OK;
}

static gufo_status take_part(gufo_plan *plan, const plan_line *line, gufo_error *error)
{
    plan_part *list =
        mem_grow(&plan->allocator, plan->parts, plan->part_count, &plan->part_room, sizeof *list);
    const uint64_t *n = line->numbers;

    if (list == NULL)
        return fail_memory(error);
    plan->parts = list;
    if (n[1] > n[2] || n[2] > plan->unit_count || n[0] > plan->unit_count || n[3] > INT64_MAX ||
        (plan->part_count > 0 && list[plan->part_count - 1].border > n[0]))
        return fail_plan(error);
    list[plan->part_count++] = (plan_part){n[0], n[1], n[2], n[3], (size_t)plan->range_count};
    return GUFO_OK;
}

static gufo_status take_range(gufo_plan *plan, const plan_line *line, gufo_error *error)
{
    gufo_part_range *list = mem_grow(&plan->allocator, plan->ranges, plan->range_count,
                                     &plan->range_room, sizeof *list);
    const uint64_t *n = line->numbers;

    if (list == NULL)
        return fail_memory(error);
    plan->ranges = list;
    if (plan->part_count == 0 || n[0] >= plan->output_count || n[1] >= n[2] ||
        n[2] > plan->outputs[n[0]].size)
        return fail_plan(error);
    list[plan->range_count++] = (gufo_part_range){.output = (size_t)n[0], .from = n[1], .to = n[2]};
    return GUFO_OK;
}

static gufo_status take_first(gufo_plan *plan, const plan_line *line, gufo_error *error)
{
    (void)plan;
    return line->numbers[0] == 1
               ? GUFO_OK
               : refuse(error, GUFO_E_VERSION, "plans of version %s are not read by gufo %s",
                        QUOTED(gufo_str_of(line->fields[0])), gufo_version());
}

static gufo_status take_end(gufo_plan *plan, const plan_line *line, gufo_error *error)
{
    gufo_str text = gufo_str_of(line->fields[0]);
    uint64_t hash = 0;

    if (str_hex(text, 0, 16, &hash) != text.len || hash != plan->hash)
        return fail_plan(error);
    plan->ended = true;
    return GUFO_OK;
}

/* Those of which a plan has many come first. */
static const line_kind kinds[] = {
    {"range", "nnn", .take = take_range},
    {"part", "nnnn", .take = take_part},
    {"tensor", "tt", take_item, "the type of ", "tensor", true, 0},
    {"rows", "tt", take_item, "the source of ", "tensor", true, 0},
    {"key", "tt", take_item, "the value of ", "key", true, 0},
    {"header", "tt", take_item, "the header of ", "output", true, 0},
    {"output-size", "tt", take_item, "the size of ", "output", true, 0},
    {"output", "tn", .take = take_output},
    {"plan", "n", .take = take_first},
    {"version", "tt", take_item, "the version of ", "gufo", true, 0},
    {"machine", "tt", take_item, "the order of bytes on ", "the machine", true, 0},
    {"effort", "tt", take_item, "", "the effort", true, 0},
    {"option", "tt", take_item, "", "option", true, 0},
    {"input-size", "tt", take_item, "the size of ", "input", false, 0},
    {"input-header", "tt", take_item, "the header of ", "input", false, 0},
    {"input-numbers", "tt", take_item, "the data of ", "input", false, 0},
    {"options", "tt", take_item, "", "an option", true, 0},
    {"argument", "t", .take = take_argument},
    {"folder", "t", .take = take_folder},
    {"note", "tt", .take = take_note},
    {"results", "n", .take = take_number, .place = offsetof(gufo_plan, result_size)},
    {"units", "n", .take = take_number, .place = offsetof(gufo_plan, unit_count)},
    {"align", "n", .take = take_number, .place = offsetof(gufo_plan, align)},
    {"cost", "n", .take = take_number, .place = offsetof(gufo_plan, cost)},
    {"end", "t", .take = take_end},
};

static const line_kind *kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].kind, name) == 0)
            return &kinds[i];
    return NULL;
}

/* Replaces the codes of a field by their bytes, and terminates it; false if one is wrong. */
static bool decode_field(char *field, size_t len)
{
    const char *code = memchr(field, '\\', len);
    size_t at = code != NULL ? (size_t)(code - field) : len;
    char *to = field + at;

    for (; at < len; at++) {
        uint64_t byte;

        if (field[at] != '\\') {
            *to++ = field[at];
            continue;
        }
        if (len - at < 4 || field[at + 1] != 'x' ||
            str_hex((gufo_str){field, len}, at + 2, 2, &byte) != 2 || byte == 0)
            return false;
        *to++ = (char)byte;
        at += 3;
    }
    *to = '\0';
    return true;
}

/* Cuts a line into its fields: the kind is the first. */
static bool cut_line(char *line, size_t len, plan_line *out, size_t *count)
{
    char *const end = line + len;
    size_t n = 0;

    *out = (plan_line){.kind = line};
    if (memchr(line, '\0', len) != NULL)
        return false;
    for (char *field = line, *after; field <= end; field = after + 1, n++) {
        after = memchr(field, '\t', (size_t)(end - field));
        if (after == NULL)
            after = end;
        if (n > MOST_FIELDS || !decode_field(field, (size_t)(after - field)))
            return false;
        if (n > 0)
            out->fields[n - 1] = field;
    }
    *count = n - 1;
    return true;
}

static gufo_status read_line(gufo_plan *plan, char *text, size_t len, gufo_error *error)
{
    const line_kind *kind;
    plan_line line;
    size_t count;

    if (!cut_line(text, len, &line, &count))
        return fail_plan(error);
    kind = kind_of(line.kind);
    if (kind == NULL || strlen(kind->fields) != count)
        return fail_plan(error);
    for (size_t i = 0; i < count; i++)
        if (kind->fields[i] == 'n' && !str_number(gufo_str_of(line.fields[i]), &line.numbers[i]))
            return fail_plan(error);
    line.kind = kind->kind;
    line.place = kind->place;
    return kind->take(plan, &line, error);
}

static gufo_status read_lines(gufo_plan *plan, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    size_t last = plan->size;
    uint64_t items;

    if (plan->size == 0 || plan->text[plan->size - 1] != '\n' ||
        strncmp(plan->text, "plan\t", 5) != 0)
        return fail_plan(error);
    while (last > 1 && plan->text[last - 2] != '\n')
        last--;
    plan->hash = xxh64_of((gufo_str){plan->text, last - 1});
    for (size_t at = 0, len; at < plan->size && status == GUFO_OK && !plan->ended; at += len + 1) {
        len = (size_t)((char *)memchr(plan->fields + at, '\n', plan->size - at) -
                       (plan->fields + at));
        items = plan->item_count;
        status = read_line(plan, plan->fields + at, len, error);
        if (plan->item_count > items)
            plan->identity_end = at + len + 1;
    }
    return status == GUFO_OK && !plan->ended ? fail_plan(error) : status;
}

/* The plan, or identity, that a text is, which it takes over; also after a failure. */
static gufo_plan *take_text(gufo_text *text, gufo_error *error)
{
    const gufo_allocator *a = mem_allocator(text->allocator);
    gufo_plan *plan = mem_object(a, sizeof *plan, error);
    gufo_status status;

    if (plan == NULL) {
        gufo_text_free(text);
        return NULL;
    }
    plan->text = text->data;
    plan->size = text->len;
    *text = (gufo_text){.allocator = text->allocator};
    plan->fields = mem_copy(a, plan->text, plan->size + (plan->size == 0));
    status = plan->fields != NULL ? read_lines(plan, error) : fail_memory(error);
    if (status == GUFO_OK)
        return plan;
    gufo_plan_free(plan);
    return NULL;
}

gufo_plan *gufo_plan_read(const char *text, size_t size, gufo_error *error)
{
    gufo_text own = {0};
    gufo_plan *plan = NULL;

    if (text == NULL)
        (void)refuse(error, GUFO_E_ARGUMENT, "the text of the plan is missing");
    else if (!text_add(&own, text, size))
        (void)fail_memory(error);
    else
        plan = take_text(&own, error);
    if (plan == NULL || plan->part_count > 0)
        return plan;
    (void)fail_plan(error);
    gufo_plan_free(plan);
    return NULL;
}

gufo_status gufo_plan_write(const gufo_plan *plan, gufo_text *out, gufo_error *error)
{
    return text_add(out, plan->text, plan->size) ? GUFO_OK : fail_memory(error);
}

void plan_free_states(gufo_plan *plan)
{
    for (uint64_t i = 0; plan->states != NULL && i < plan->part_count; i++) {
        mem_free(&plan->allocator, plan->states[i].worker);
        mem_free(&plan->allocator, plan->states[i].reason);
    }
    mem_free(&plan->allocator, plan->states);
    plan->states = NULL;
}

void gufo_plan_free(gufo_plan *plan)
{
    gufo_allocator a;

    if (plan == NULL)
        return;
    a = plan->allocator;
    plan_free_states(plan);
    mem_free(&a, plan->text);
    mem_free(&a, plan->fields);
    mem_free(&a, plan->items);
    mem_free(&a, (void *)plan->arguments);
    mem_free(&a, plan->notes);
    mem_free(&a, plan->outputs);
    mem_free(&a, plan->parts);
    mem_free(&a, plan->ranges);
    mem_free(&a, plan);
}

/* ---- comparing ------------------------------------------------------------------------------ */

/* Whether both are of the same thing, whatever its value. */
static bool same_thing(const plan_item *a, const plan_item *b)
{
    return a->kind == b->kind && (!kind_of(a->kind)->is_named || strcmp(a->name, b->name) == 0);
}

static bool same_item(const plan_item *a, const plan_item *b)
{
    return same_thing(a, b) && strcmp(a->value, b->value) == 0;
}

/* Of one that only one of them has. */
static gufo_status refuse_alone(const plan_item *item, bool in_plan, gufo_error *error)
{
    return refuse(error, GUFO_E_ARGUMENT, "the work differs from the plan: %s %s is %s alone",
                  kind_of(item->kind)->thing, QUOTED(gufo_str_of(item->name)),
                  in_plan ? "in the plan" : "here");
}

/* Of a value that is too long to be shown. */
static bool is_hash(const char *value)
{
    const gufo_str text = gufo_str_of(value);

    return text.len == 16 && str_span(text, 0, is_hex) == text.len;
}

/* Of two with other values. */
static gufo_status refuse_value(const plan_item *plan, const plan_item *here, gufo_error *error)
{
    const line_kind *kind = kind_of(plan->kind);
    const char *name = *here->name != '\0' ? QUOTED(gufo_str_of(here->name)) : "";
    const char *blank = *name != '\0' ? " " : "";

    if (is_hash(plan->value) && is_hash(here->value))
        return refuse(error, GUFO_E_ARGUMENT,
                      "the work differs from the plan: %s%s%s%s is another one here", kind->aspect,
                      kind->thing, blank, name);
    return refuse(error, GUFO_E_ARGUMENT,
                  "the work differs from the plan: %s%s%s%s is %s there, and %s here", kind->aspect,
                  kind->thing, blank, name, QUOTED(gufo_str_of(plan->value)),
                  QUOTED(gufo_str_of(here->value)));
}

/* The first items that differ, from `at` on: two values, or one that the other list does not have. */
static gufo_status refuse_item(const gufo_plan *plan, const gufo_plan *here, uint64_t at,
                               gufo_error *error)
{
    bool has_plan = at < plan->item_count, comes_later = false;

    if (has_plan && at < here->item_count && same_thing(&plan->items[at], &here->items[at]))
        return refuse_value(&plan->items[at], &here->items[at], error);
    for (uint64_t i = at; has_plan && i < here->item_count && !comes_later; i++)
        comes_later = same_thing(&plan->items[at], &here->items[i]);
    return has_plan && !comes_later ? refuse_alone(&plan->items[at], true, error)
                                    : refuse_alone(&here->items[at], false, error);
}

gufo_status gufo_plan_compare(const gufo_plan *plan, const gufo_plan *here, gufo_error *error)
{
    uint64_t at = 0;

    while (at < plan->item_count && at < here->item_count &&
           same_item(&plan->items[at], &here->items[at]))
        at++;
    return at == plan->item_count && at == here->item_count ? GUFO_OK
                                                            : refuse_item(plan, here, at, error);
}

/* ---- asking --------------------------------------------------------------------------------- */

const char *gufo_plan_argument(const gufo_plan *plan, size_t index)
{
    return index < plan->argument_count ? plan->arguments[index] : NULL;
}

const char *gufo_plan_folder(const gufo_plan *plan)
{
    return plan->folder;
}

const char *gufo_plan_note_find(const gufo_plan *plan, const char *name)
{
    for (uint64_t i = 0; i < plan->note_count; i++)
        if (strcmp(plan->notes[i].name, name) == 0)
            return plan->notes[i].text;
    return NULL;
}

bool gufo_plan_output_at(const gufo_plan *plan, size_t index, gufo_plan_output *out)
{
    if (index >= plan->output_count)
        return false;
    if (out != NULL)
        *out = plan->outputs[index];
    return true;
}

double gufo_plan_core_seconds(const gufo_plan *plan)
{
    return (double)plan->cost / 1e9;
}

uint64_t gufo_plan_part_count(const gufo_plan *plan)
{
    return plan->part_count;
}

size_t plan_range_end(const gufo_plan *plan, uint64_t part)
{
    return part + 1 < plan->part_count ? plan->parts[part + 1].first_range
                                       : (size_t)plan->range_count;
}

bool gufo_plan_range_at(const gufo_plan *plan, uint64_t part, size_t index, gufo_part_range *out)
{
    if (part >= plan->part_count ||
        index >= plan_range_end(plan, part) - plan->parts[part].first_range)
        return false;
    if (out != NULL)
        *out = plan->ranges[plan->parts[part].first_range + index];
    return true;
}

bool gufo_plan_part_at(const gufo_plan *plan, uint64_t index, gufo_part_info *out)
{
    const plan_state *state;
    const plan_part *part;

    if (index >= plan->part_count)
        return false;
    if (out == NULL)
        return true;
    part = &plan->parts[index];
    state = plan->states != NULL ? &plan->states[index] : NULL;
    *out = (gufo_part_info){.first_unit = part->first_unit,
                            .unit_count = part->end_unit - part->first_unit,
                            .bytes = part->bytes};
    for (size_t i = part->first_range; i < plan_range_end(plan, index); i++)
        out->size += plan->ranges[i].to - plan->ranges[i].from;
    if (state == NULL)
        return true;
    out->state = state->state;
    out->units_done = state->units_done;
    if (out->unit_count > 0)
        out->bytes_done =
            (uint64_t)((double)part->bytes * ((double)state->units_done / (double)out->unit_count));
    out->silent = state->silent;
    out->worker = state->worker;
    out->reason = state->reason;
    return true;
}

/* ---- of a job ----------------------------------------------------------------------------------- */

gufo_plan *gufo_plan_of_job(gufo_job *job, const gufo_job_options *outputs, uint64_t workers,
                            const gufo_plan_options *options, gufo_error *error)
{
    static const gufo_plan_options none = {0};
    const gufo_plan_options *given = options != NULL ? options : &none;
    gufo_text text = {.allocator = &job->allocator};
    gufo_status status = job_check_options(outputs, error);

    if (status == GUFO_OK)
        status = plan_options_check(given, error);
    if (status == GUFO_OK)
        status = job_add_counted(job, error);
    if (status == GUFO_OK)
        status = plan_write_job(job, outputs, workers, given, &text, error);
    if (status == GUFO_OK)
        return take_text(&text, error);
    gufo_text_free(&text);
    return NULL;
}

/* Whether the lines of items are those of the plan, to the byte: all but the last line of `text`. */
static bool has_identity(const gufo_plan *plan, gufo_str text)
{
    size_t len = text.len > 0 ? text.len - 1 : 0;

    while (len > 0 && text.data[len - 1] != '\n')
        len--;
    return len == plan->identity_end && memcmp(text.data, plan->text, len) == 0;
}

gufo_status plan_check_job(const gufo_plan *plan, gufo_job *job, gufo_error *error)
{
    static const gufo_plan_options none = {0};
    gufo_text text = {.allocator = &job->allocator};
    gufo_status status = plan_write_job(job, NULL, 0, &none, &text, error);
    gufo_plan *here = NULL;
    bool same = false;

    if (status == GUFO_OK) {
        same = has_identity(plan, (gufo_str){text.data, text.len});
        here = same ? NULL : take_text(&text, error);
    }
    if (status == GUFO_OK && !same)
        status = here != NULL ? gufo_plan_compare(plan, here, error) : error->code;
    if (status == GUFO_OK && plan->result_size != job->hooks.result_size)
        status = fail_plan(error);
    gufo_plan_free(here);
    gufo_text_free(&text);
    return status;
}

gufo_status plan_cut(const gufo_plan *plan, const gufo_job *job, job_cut *out, gufo_error *error)
{
    *out = (job_cut){.count = plan->part_count, .align = plan->align};
    out->borders = mem_array(&job->allocator, plan->part_count + 1, sizeof *out->borders);
    if (out->borders == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < plan->part_count; i++)
        out->borders[i] = plan->parts[i].border;
    out->borders[plan->part_count] = plan->unit_count;
    if (cut_fits(job, out))
        return GUFO_OK;
    cut_free(&job->allocator, out);
    return refuse(error, GUFO_E_ARGUMENT, "the parts of the plan are not those of this work");
}
