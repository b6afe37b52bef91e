/* The second level of validation: what kind of file it is, and which checks that kind gets.
 *
 * The table of checks is the order of the findings.  A check looks at one thing and knows nothing
 * of the others, so that one fault gives one finding wherever that is possible. */
#include "schema/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "format/rules/rules.h"

static const gufo_level rule_levels[] = {
#define RULE(constant, id, name, severity, level, clause, summary) GUFO_LEVEL_##level,
#include "format/rules/rules_of_meaning.def"
#undef RULE
};

static const char *const level_names[] = {[GUFO_LEVEL_DEFAULT] = "model",
                                          [GUFO_LEVEL_STRUCTURE] = "structure",
                                          [GUFO_LEVEL_STANDARD] = "standard",
                                          [GUFO_LEVEL_MODEL] = "model"};

enum { LEVEL_COUNT = sizeof level_names / sizeof *level_names };

const char *gufo_level_name(gufo_level level)
{
    return (size_t)level < LEVEL_COUNT ? level_names[level] : "unknown";
}

bool gufo_level_by_name(const char *name, gufo_level *level)
{
    for (size_t i = GUFO_LEVEL_STRUCTURE; i < LEVEL_COUNT; i++)
        if (strcmp(level_names[i], name) == 0) {
            if (level != NULL)
                *level = (gufo_level)i;
            return true;
        }
    return false;
}

/* ---- findings ------------------------------------------------------------------------------- */

void schema_report(checker *c, schema_rule number, finding_place place, const char *format, ...)
{
    const gufo_rule *rule = gufo_rule_at(RULE_FIRST_OF_MEANING + (size_t)number);
    char message[sizeof c->error->message], text[sizeof message + 128];
    gufo_finding finding = {.rule = rule,
                            .offset = place.offset,
                            .subject = place.subject,
                            .message = text,
                            .hint = place.hint,
                            .fix = place.fix,
                            .shard = place.shard};
    va_list args;

    if ((place.many && c->listed[number]++ >= FINDINGS_OF_A_RULE) || rule_levels[number] > c->level)
        return;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    (void)snprintf(text, sizeof text, "%s (%s)", message, rule->clause);
    if (c->found != NULL)
        c->found(c->context, &finding);
}

const char *schema_hint(checker *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(c->hint, sizeof c->hint, format, args);
    va_end(args);
    return c->hint;
}

void schema_report_rest(checker *c)
{
    for (size_t i = 0; i < SCHEMA_RULE_COUNT; i++) {
        if (c->listed[i] > FINDINGS_OF_A_RULE)
            schema_report(c, (schema_rule)i, at_missing(""),
                          "%" PRIu64 " more findings like the ones before are not listed",
                          c->listed[i] - FINDINGS_OF_A_RULE);
        c->listed[i] = 0;
    }
}

/* ---- what is checked ------------------------------------------------------------------------ */

bool schema_arch_entry(const checker *c, gufo_entry *out, const char *name, ...)
{
    gufo_str own = c->architecture;
    char key[256];
    size_t len = (size_t)snprintf(key, sizeof key, "%.*s.", (int)(own.len & 0xff), own.data);
    va_list args;

    va_start(args, name);
    len += (size_t)vsnprintf(key + len, sizeof key - len, name, args);
    va_end(args);
    return own.len < 128 && len < sizeof key &&
           gufo_metadata_find_str(c->model, (gufo_str){key, len}, out);
}

bool schema_check_number(const checker *c, const char *key, gufo_entry *entry, uint64_t *out)
{
    return gufo_metadata_find(c->model, key, entry) &&
           gufo_value_u64(&entry->value, out, NULL) == GUFO_OK;
}

void schema_each_text(const gufo_entry *entry,
                      void (*take)(void *context, gufo_str text, uint64_t at), void *context)
{
    const gufo_array *array = &entry->value.as.array;
    gufo_array_iter iter;
    gufo_value text;

    if (entry->value.type == GUFO_VALUE_STRING)
        take(context, entry->value.as.str, entry->value_offset);
    if (entry->value.type != GUFO_VALUE_ARRAY || array->type != GUFO_VALUE_STRING)
        return;
    iter = gufo_array_start(array);
    while (gufo_array_next(&iter, &text))
        take(context, text.as.str,
             entry->value_offset + (uint64_t)(text.as.str.data - (const char *)array->data));
}

static gufo_str text_of(const gufo_model *model, const char *key)
{
    gufo_str text;

    return gufo_get_str(model, key, &text, NULL) == GUFO_OK ? text : (gufo_str){"", 0};
}

static subject_kind kind_of(const checker *c)
{
    static const struct {
        const char *type;
        subject_kind kind;
    } kinds[] = {{"adapter", KIND_ADAPTER}, {"imatrix", KIND_IMATRIX}, {"mmproj", KIND_PROJECTOR}};
    gufo_str type = text_of(c->model, "general.type");

    if (gufo_tensor_count(c->model) == 0 && !c->options->single)
        return KIND_VOCABULARY;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (gufo_str_equal(type, gufo_str_of(kinds[i].type)))
            return kinds[i].kind;
    return gufo_str_equal(c->architecture, gufo_str_of("clip")) ? KIND_PROJECTOR : KIND_MODEL;
}

/* ---- the checks ----------------------------------------------------------------------------- */

static const struct {
    void (*check)(checker *c);
    gufo_level level;
    unsigned kinds; /* of subject_kind */
} checks[] = {
    {schema_check_general, GUFO_LEVEL_STANDARD, KIND_ANY},
    {schema_check_keys, GUFO_LEVEL_STANDARD, KIND_ANY},
    {schema_check_templates, GUFO_LEVEL_STANDARD, KIND_ANY},
    {schema_check_tokenizer, GUFO_LEVEL_MODEL, KIND_MODEL | KIND_VOCABULARY},
    {schema_check_architecture, GUFO_LEVEL_MODEL, KIND_MODEL | KIND_VOCABULARY | KIND_PROJECTOR},
    {schema_check_tensors, GUFO_LEVEL_MODEL, KIND_MODEL},
    {schema_check_adapter, GUFO_LEVEL_MODEL, KIND_ADAPTER},
    {schema_check_imatrix, GUFO_LEVEL_MODEL, KIND_IMATRIX},
    {schema_check_projector, GUFO_LEVEL_MODEL, KIND_PROJECTOR},
    {schema_check_shards, GUFO_LEVEL_MODEL, KIND_ANY},
    {schema_check_name, GUFO_LEVEL_MODEL, KIND_ANY},
};

static gufo_status run_checks(checker *c)
{
    c->allocator = mem_allocator(c->options->allocator);
    c->architecture = text_of(c->model, "general.architecture");
    c->kind = kind_of(c);
    c->arch = gufo_arch_find(c->architecture);
    if (c->arch != NULL) {
        c->keys = gufo_arch_keys(c->arch->id, &c->key_count);
        c->tensors = gufo_arch_tensors(c->arch->id, &c->tensor_count);
    }
    for (size_t i = 0; c->status == GUFO_OK && i < sizeof checks / sizeof *checks; i++) {
        if (checks[i].level <= c->level && (checks[i].kinds & c->kind) != 0)
            checks[i].check(c);
        schema_report_rest(c);
    }
    return c->status;
}

gufo_status gufo_check(const gufo_model *model, const gufo_check_options *options,
                       gufo_finding_fn *found, void *context, gufo_error *error)
{
    static const gufo_check_options defaults = {0};
    const gufo_check_options *o = options != NULL ? options : &defaults;
    gufo_error ignored;
    checker c = {.model = model,
                 .options = o,
                 .level = o->level == GUFO_LEVEL_DEFAULT ? GUFO_LEVEL_MODEL : o->level,
                 .found = found,
                 .context = context,
                 .error = error != NULL ? error : &ignored};

    if ((size_t)o->level >= LEVEL_COUNT)
        return refuse(error, GUFO_E_ARGUMENT, "level %d does not exist", (int)o->level);
    c.status = reserved_check(o->reserved, "gufo_check_options", error);
    return c.status == GUFO_OK ? run_checks(&c) : c.status;
}
