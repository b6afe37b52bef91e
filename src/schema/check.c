/* The second level of validation: what kind of file it is, and which checks that kind gets.
 *
 * The table of checks is the order of the findings.  A check looks at one thing and knows nothing
 * of the others, so that one fault gives one finding wherever that is possible. */
#include "schema/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
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

finding_place schema_place_entry(const gufo_entry *entry)
{
    return (finding_place){.offset = entry->offset, .subject = entry->key};
}

finding_place schema_place_tensor(const gufo_tensor *tensor, size_t shard)
{
    return (finding_place){.offset = tensor->info_offset, .subject = tensor->name, .shard = shard};
}

finding_place schema_place_missing(const char *subject)
{
    return (finding_place){.offset = GUFO_NO_OFFSET, .subject = gufo_str_of(subject)};
}

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

    if (rule_levels[number] > c->level)
        return;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    (void)snprintf(text, sizeof text, "%s (%s)", message, rule->clause);
    if (c->found != NULL)
        c->found(c->context, &finding);
}

/* ---- what is checked ------------------------------------------------------------------------ */

uint64_t schema_tensor_count(const checker *c)
{
    return gufo_tensor_count(c->model);
}

bool schema_tensor_at(const checker *c, uint64_t index, gufo_tensor *out, size_t *shard)
{
    bool found = gufo_tensor_at(c->model, index, out);

    *shard = found ? out->shard : 0;
    return found;
}

bool schema_tensor_find(const checker *c, const char *name, gufo_tensor *out, size_t *shard)
{
    bool found = gufo_tensor_find(c->model, name, out);

    *shard = found ? out->shard : 0;
    return found;
}

bool schema_check_arch_entry(const checker *c, const char *name, gufo_entry *out)
{
    char key[256];
    int len = snprintf(key, sizeof key, "%.*s.%s", (int)(c->architecture.len & 0xff),
                       c->architecture.data, name);

    return c->architecture.len < 128 && len > 0 && (size_t)len < sizeof key &&
           gufo_metadata_find_str(c->model, (gufo_str){key, (size_t)len}, out);
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

    if (schema_tensor_count(c) == 0 && !c->options->single)
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
    c->allocator = c->options->allocator != NULL ? c->options->allocator : &default_allocator;
    c->architecture = text_of(c->model, "general.architecture");
    c->kind = kind_of(c);
    for (size_t i = 0; c->status == GUFO_OK && i < sizeof checks / sizeof *checks; i++)
        if (checks[i].level <= c->level && (checks[i].kinds & c->kind) != 0)
            checks[i].check(c);
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
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET, "level %d does not exist",
                         (int)o->level);
    c.status = reserved_check(o->reserved, "gufo_check_options", error);
    return c.status == GUFO_OK ? run_checks(&c) : c.status;
}
