/* Changes one thing of a pipeline after the other.
 *
 * A change removes a step, or gives another value to one of its members, in a copy of the JSON; the normalizer or the
 * pre-tokenizer is made again from that.  The model, which takes longest to make, stays that of the file. */
#include "import/tokenizers/step_changes.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

/* Members of steps with values that readers of GGUF files may not follow, and the value that they get; a step of a type
 * without a row is left out. */
static const struct {
    reading_part part;
    const char *type, *member, *value; /* value: JSON; NULL: without \p{M} in the expression */
    const char *name;
} member_changes[] = {
    {NORMALIZER, "BertNormalizer", "clean_text", "false", "clean_text of BertNormalizer"},
    {NORMALIZER, "BertNormalizer", "handle_chinese_chars", "false",
     "handle_chinese_chars of BertNormalizer"},
    {NORMALIZER, "BertNormalizer", "strip_accents", "false", "strip_accents of BertNormalizer"},
    {NORMALIZER, "BertNormalizer", "lowercase", "false", "lowercase of BertNormalizer"},
    {PRE_TOKENIZER, "ByteLevel", "add_prefix_space", "false", "add_prefix_space of ByteLevel"},
    {PRE_TOKENIZER, "Metaspace", "split", "false", "split of Metaspace"},
    {PRE_TOKENIZER, "Metaspace", "prepend_scheme", "\"always\"", "prepend_scheme of Metaspace"},
    {PRE_TOKENIZER, "Metaspace", "prepend_scheme", "\"never\"", "prepend_scheme of Metaspace"},
    {PRE_TOKENIZER, "Split", "pattern", NULL, "\\p{M} in an expression"},
};

enum {
    ROWS = sizeof member_changes / sizeof *member_changes,
    MOST_STEPS = 32 /* real files have 6 */
};

/* ---- steps ---------------------------------------------------------------------------------- */

/* The change of a step: by a row, or, with ROWS, that it is left out. */
typedef struct changing {
    reading_part part;
    size_t step, row;
    size_t at;         /* the step that comes */
    bool met, changed; /* the step exists, and has what is to change */
    char name[CHANGE_NAME];
} changing;

/* The pattern without \p{M}; NULL: it has none. */
static json_t *without_marks(const json_t *pattern)
{
    const gufo_str marks = gufo_str_of("\\p{M}");
    gufo_str regex = json_str(json_member(pattern, "Regex"));
    char *text = mem_array(mem_allocator(NULL), regex.len + 1, 1), *end = text;
    json_t *pattern_left = NULL;

    for (size_t i = 0; text != NULL && i < regex.len;) {
        bool is_marks = str_begins(str_from(regex, i), marks.data);

        if (!is_marks)
            *end++ = regex.data[i];
        i += is_marks ? marks.len : 1;
    }
    if (text != NULL && (size_t)(end - text) < regex.len)
        pattern_left = json_pack("{s:s%}", "Regex", text, (size_t)(end - text));
    mem_free(mem_allocator(NULL), text);
    return pattern_left;
}

/* Changes a member.  False if it has that value already, or memory ran out. */
static bool change_member(json_t *step, size_t row)
{
    json_t *value = member_changes[row].value != NULL
                        ? json_loads(member_changes[row].value, JSON_DECODE_ANY, NULL)
                        : without_marks(json_member(step, member_changes[row].member));
    bool differs = value != NULL &&
                   !json_equal(json_object_get(step, member_changes[row].member), value) &&
                   json_object_set(step, member_changes[row].member, value) == 0;

    json_decref(value);
    return differs;
}

/* A sequence of no steps. */
static bool leave_out(json_t *step, reading_part part)
{
    return json_object_clear(step) == 0 &&
           json_object_set_new(step, "type", json_string("Sequence")) == 0 &&
           json_object_set_new(step, reading_list_name(part), json_array()) == 0;
}

static bool has_rows(const step_reading *r, reading_part part)
{
    for (size_t i = 0; i < ROWS; i++)
        if (member_changes[i].part == part && step_is(r, member_changes[i].type))
            return true;
    return false;
}

/* The step is of a copy, and its type one that there is. */
static gufo_status change_step(step_reading *r, void *context)
{
    changing *c = context;
    json_t *step = (json_t *)r->step;

    if (c->at++ != c->step)
        return GUFO_OK;
    c->met = true;
    if (c->row < ROWS
            ? member_changes[c->row].part != c->part || !step_is(r, member_changes[c->row].type)
            : has_rows(r, c->part))
        return GUFO_OK;
    (void)snprintf(c->name, sizeof c->name, "%.*s", (int)CHANGE_NAME - 1,
                   c->row < ROWS ? member_changes[c->row].name : r->type.data);
    c->changed = c->row < ROWS ? change_member(step, c->row) : leave_out(step, c->part);
    return GUFO_OK;
}

/* Hands over the pipeline with another part. */
static gufo_status take_part(tokenizer_reading *r, const pipeline *p, const changing *c,
                             const json_t *part, take_change *take, void *context)
{
    pipeline other = *p;
    step_change change = {.changed = &other};
    gufo_status status = GUFO_OK;

    memcpy(change.name, c->name, sizeof change.name);
    if (c->part == NORMALIZER)
        other.normalizer = normalizer_new(part, NULL, r->allocator, NULL);
    else
        other.pre_tokenizer = pre_tokenizer_new(part, NULL, r->allocator, NULL);
    if (other.normalizer != NULL && other.pre_tokenizer != NULL)
        status = take(context, &change);
    if (c->part == NORMALIZER)
        normalizer_free(other.normalizer);
    else
        pre_tokenizer_free(other.pre_tokenizer);
    return status;
}

static gufo_status try_change(tokenizer_reading *r, const pipeline *p, changing *c,
                              take_change *take, void *context)
{
    json_t *copy = reading_copy_steps(r, c->part, change_step, c);
    gufo_status status = c->changed ? take_part(r, p, c, copy, take, context) : GUFO_OK;

    json_decref(copy);
    return status;
}

static gufo_status each_step(tokenizer_reading *r, const pipeline *p, reading_part part,
                             take_change *take, void *context)
{
    gufo_status status = GUFO_OK;
    bool more = true;

    for (size_t step = 0; more && step < MOST_STEPS && status == GUFO_OK; step++)
        for (size_t row = 0; row <= ROWS && status == GUFO_OK; row++) {
            changing c = {.part = part, .step = step, .row = row};

            status = try_change(r, p, &c, take, context);
            more = c.met;
        }
    return status;
}

/* ---- added tokens --------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t at;
} flags[] = {
    {"single_word of added tokens", offsetof(added_token, single_word)},
    {"lstrip of added tokens", offsetof(added_token, lstrip)},
    {"rstrip of added tokens", offsetof(added_token, rstrip)},
};

enum { FLAGS = sizeof flags / sizeof *flags };

static bool *flag_of(added_token *token, size_t flag)
{
    return (bool *)((char *)token + flags[flag].at);
}

static gufo_status each_flag(tokenizer_reading *r, pipeline *p, take_change *take, void *context)
{
    bool *said = mem_array(r->allocator, (uint64_t)p->added_count + 1, sizeof *said);
    gufo_status status = said != NULL ? GUFO_OK : fail_memory(r->error);

    for (size_t flag = 0; status == GUFO_OK && flag < FLAGS; flag++) {
        step_change change = {.changed = p};
        bool any = false;

        (void)snprintf(change.name, sizeof change.name, "%s", flags[flag].name);
        for (uint32_t i = 0; i < p->added_count; i++) {
            any |= said[i] = *flag_of(&p->added[i], flag);
            *flag_of(&p->added[i], flag) = false;
        }
        if (any)
            status = take(context, &change);
        for (uint32_t i = 0; i < p->added_count; i++)
            *flag_of(&p->added[i], flag) = said[i];
    }
    mem_free(r->allocator, said);
    return status;
}

gufo_status step_changes_each(tokenizer_reading *r, pipeline *p, take_change *take, void *context)
{
    gufo_status status = each_step(r, p, NORMALIZER, take, context);

    if (status == GUFO_OK)
        status = each_step(r, p, PRE_TOKENIZER, take, context);
    return status == GUFO_OK ? each_flag(r, p, take, context) : status;
}
