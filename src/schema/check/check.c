/* The second level of validation: what kind of file it is, and which checks that kind gets.
 *
 * The table of checks is the order of the findings.  A check looks at one thing and knows nothing
 * of the others, so that one fault gives one finding wherever that is possible. */
#include "schema/check/check.h"

#include <string.h>

#include "base/memory.h"

/* ---- what is checked ------------------------------------------------------------------------ */

static gufo_str text_of(const gufo_model *model, const char *key)
{
    gufo_str text;

    return gufo_model_get_str(model, key, &text, NULL) == GUFO_OK ? text : (gufo_str){"", 0};
}

static subject_kind kind_of(const check_context *c)
{
    static const struct {
        const char *type;
        subject_kind kind;
    } kinds[] = {{"adapter", KIND_ADAPTER}, {"imatrix", KIND_IMATRIX}, {"mmproj", KIND_PROJECTOR}};
    gufo_str type = text_of(c->model, "general.type");

    if (gufo_model_tensor_count(c->model) == 0 && !c->options->single)
        return KIND_VOCABULARY;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (gufo_str_equal(type, gufo_str_of(kinds[i].type)))
            return kinds[i].kind;
    return gufo_str_equal(c->architecture, gufo_str_of("clip")) ? KIND_PROJECTOR : KIND_MODEL;
}

/* ---- the checks ----------------------------------------------------------------------------- */

static const struct {
    void (*check)(check_context *c);
    gufo_level level;
    unsigned kinds; /* of subject_kind */
} checks[] = {
    {schema_check_general, GUFO_LEVEL_STANDARD, KIND_ANY},
    {schema_check_keys, GUFO_LEVEL_STANDARD, KIND_ANY},
    {schema_check_templates, GUFO_LEVEL_STANDARD, KIND_ANY},
    {schema_check_documents, GUFO_LEVEL_STANDARD, KIND_ANY},
    {schema_check_additions, GUFO_LEVEL_SPEC, KIND_ANY},
    {schema_check_tokenizer, GUFO_LEVEL_MODEL, KIND_MODEL | KIND_VOCABULARY},
    {schema_check_architecture, GUFO_LEVEL_MODEL, KIND_MODEL | KIND_VOCABULARY | KIND_PROJECTOR},
    {schema_check_tensors, GUFO_LEVEL_MODEL, KIND_MODEL},
    {schema_check_adapter, GUFO_LEVEL_MODEL, KIND_ADAPTER},
    {schema_check_base, GUFO_LEVEL_MODEL, KIND_ANY},
    {schema_check_imatrix, GUFO_LEVEL_MODEL, KIND_IMATRIX},
    {schema_check_projector, GUFO_LEVEL_MODEL, KIND_PROJECTOR},
    {schema_check_shards, GUFO_LEVEL_MODEL, KIND_ANY},
    {schema_check_name, GUFO_LEVEL_MODEL, KIND_ANY},
};

static gufo_status run_checks(check_context *c)
{
    c->allocator = mem_allocator(c->options->allocator);
    c->architecture = text_of(c->model, "general.architecture");
    c->kind = kind_of(c);
    c->arch = gufo_arch_find_str(c->architecture);
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

gufo_status gufo_model_check_content(const gufo_model *model, const gufo_check_options *options,
                                     gufo_finding_fn *found, void *context, gufo_error *error)
{
    static const gufo_check_options defaults = {0};
    const gufo_check_options *o = options != NULL ? options : &defaults;
    gufo_error ignored;
    check_context c = {.model = model,
                       .options = o,
                       .level = o->level == GUFO_LEVEL_DEFAULT ? GUFO_LEVEL_MODEL : o->level,
                       .found = found,
                       .context = context,
                       .error = error != NULL ? error : &ignored};

    if ((unsigned)o->level > GUFO_LEVEL_SPEC)
        return refuse(error, GUFO_E_ARGUMENT, "level %d does not exist", (int)o->level);
    c.status = reserved_check(o->reserved, "gufo_check_options", error);
    return c.status == GUFO_OK ? run_checks(&c) : c.status;
}
