/* Post-processors: which kind each step is, and its members. */
#include "text/pipeline/processor_reading.h"

#include "base/error.h"
#include "text/formats/json_members.h"

bool processor_is_id(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0 &&
           json_integer_value(value) < UINT32_MAX;
}

/* ---- members -------------------------------------------------------------------------------- */

static named_id read_named_id(step_reading *r, const char *name)
{
    const json_t *value = step_list(r, name);

    if (r->status == GUFO_OK &&
        (json_array_size(value) != 2 || !json_is_string(json_array_get(value, 0)) ||
         !processor_is_id(json_array_get(value, 1))))
        (void)step_wrong(r, "\"%s\" is not a list of a text and an id", name);
    return r->status == GUFO_OK ? (named_id){json_str(json_array_get(value, 0)),
                                             (uint32_t)json_integer_value(json_array_get(value, 1))}
                                : (named_id){.id = 0};
}

static void read_bert(step_reading *r, processor *p)
{
    p->sep = read_named_id(r, "sep");
    p->cls = read_named_id(r, "cls");
}

static void read_byte_level(step_reading *r, processor *p)
{
    p->prefix_space = step_flag(r, "add_prefix_space");
    p->trim_offsets = step_flag(r, "trim_offsets");
}

static void read_roberta(step_reading *r, processor *p)
{
    read_bert(r, p);
    read_byte_level(r, p);
}

static void read_template(step_reading *r, processor *p)
{
    p->single = step_list(r, "single");
    p->pair = step_list(r, "pair");
    p->specials = step_object(r, "special_tokens");
}

gufo_status template_read_element(step_reading *r, const json_t *json, template_element *out)
{
    const json_t *text = json_object_get(json, "Sequence");
    const json_t *id =
        json_object_get(text != NULL ? text : json_object_get(json, "SpecialToken"), "id");

    if (!json_is_string(id))
        return step_wrong(r, "an element of a template is neither a \"Sequence\" nor a "
                             "\"SpecialToken\" with an \"id\"");
    *out =
        (template_element){text != NULL, text != NULL && str_is(json_str(id), "B"), json_str(id)};
    return !out->is_text || out->is_second || str_is(out->name, "A")
               ? GUFO_OK
               : step_wrong(r, "a template names a text %s: there are \"A\" and \"B\"",
                            QUOTED(out->name));
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* The library takes the first one whose members a step has, for most whatever its "type" says. */
static const struct {
    processor_kind kind;
    const char *type;
    bool is_typed; /* its "type" counts */
    void (*read)(step_reading *r, processor *p);
} kinds[] = {
    {PROCESSOR_ROBERTA, "RobertaProcessing", false, read_roberta},
    {PROCESSOR_BERT, "BertProcessing", false, read_bert},
    {PROCESSOR_BYTE_LEVEL, "ByteLevel", true, read_byte_level},
    {PROCESSOR_TEMPLATE, "TemplateProcessing", false, read_template},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* Fails with what is missing for the type that it says it is. */
static gufo_status fail_step(step_reading *r)
{
    processor p;

    for (size_t i = 0; i < KINDS; i++)
        if (step_is(r, kinds[i].type))
            kinds[i].read(r, &p);
    return step_refuse(r, GUFO_E_TYPE, "no post-processor is called that, or has its members");
}

static bool find_kind(const step_reading *r, processor *p)
{
    for (size_t i = 0; i < KINDS; i++) {
        step_reading probe = *r;

        if (kinds[i].is_typed && !step_is(r, kinds[i].type))
            continue;
        probe.error = NULL;
        *p = (processor){.kind = kinds[i].kind};
        kinds[i].read(&probe, p);
        if (probe.status == GUFO_OK)
            return true;
    }
    return false;
}

static gufo_status each(step_reading *r, const json_t *step, take_processor *take, void *context,
                        int depth)
{
    const json_t *steps;
    processor p;

    step_begin(r, step);
    if (r->status != GUFO_OK)
        return r->status;
    if (find_kind(r, &p))
        return take(r, &p, context);
    if (!step_is(r, "Sequence"))
        return fail_step(r);
    if (depth == STEP_DEPTH)
        return step_refuse(r, GUFO_E_LIMIT, "more than %d nested sequences", STEP_DEPTH);
    steps = step_list(r, "processors");
    for (size_t i = 0; r->status == GUFO_OK && i < json_array_size(steps); i++)
        r->status = each(r, json_array_get(steps, i), take, context, depth + 1);
    return r->status;
}

gufo_status processor_each(step_reading *r, const json_t *part, take_processor *take, void *context)
{
    return part == NULL ? GUFO_OK : each(r, part, take, context, 0);
}
