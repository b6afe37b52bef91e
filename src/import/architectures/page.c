/* What the tables say of one architecture, line by line: the way of a checkpoint to a model, then back.
 * Groups of rows that others include stand where they are included.
 *
 *     params   expert_count   num_experts|num_local_experts?
 *     source   *.experts.{e}.up_proj.weight   stack: experts   -> blk.{b}.ffn_up_exps.weight
 *     export   num_experts    expert_count */
#include <string.h>

#include "gufo/import.h"
#include "import/architectures/configuration/config.h"
#include "import/architectures/configuration/rules.h"
#include "import/architectures/inverse/inverse.h"
#include "import/architectures/operations/operation.h"

/* Lines are counted down to the one that is wanted. */
typedef struct line_search {
    size_t left;
    gufo_import_line *out;
} line_search;

static bool take_line(line_search *s, const gufo_import_line *line)
{
    if (s->left-- > 0)
        return false;
    *s->out = *line;
    return true;
}

/* True: the line was found. */
static bool find_in_keys(line_search *s, const char *group, const char *phase, unsigned depth)
{
    size_t count;
    const rule *list = depth <= RULES_MAX_DEPTH ? rules_included(group, &count) : NULL;

    for (size_t i = 0; list != NULL && i < count; i++) {
        const rule *r = &list[i];
        const gufo_import_line line = {phase, r->key, r->value, r->condition, "", r->note};
        size_t included;

        if (strcmp(r->phase, phase) != 0)
            continue;
        if (*r->key == '@' && rules_included(r->key, &included) != NULL
                ? find_in_keys(s, r->key, phase, depth + 1)
                : take_line(s, &line))
            return true;
    }
    return false;
}

static bool find_in_operations(line_search *s, const char *architecture, unsigned depth)
{
    const rule_row *r;

    for (size_t i = 0; depth <= RULES_MAX_DEPTH && (r = rules_row_at(i)) != NULL; i++) {
        const gufo_import_line line = {r->phase,     r->names,   r->steps,
                                       r->condition, r->targets, r->note};

        if (!rules_row_is_of(r, architecture))
            continue;
        if (strcmp(r->phase, "as") == 0 ? find_in_operations(s, r->steps, depth + 1)
                                        : take_line(s, &line))
            return true;
    }
    return false;
}

static bool find_in_classes(line_search *s, const char *architecture)
{
    size_t count;
    const export_class *list = export_classes(architecture, &count);

    for (size_t i = 0; list != NULL && i < count; i++) {
        const gufo_import_line line = {"writes",          list[i].name, list[i].model_type,
                                       list[i].condition, "",           ""};

        if (take_line(s, &line))
            return true;
    }
    return false;
}

bool gufo_import_line_at(const char *architecture, size_t index, gufo_import_line *out)
{
    static const char *const to_gguf[] = {"fields", "config",  "params",
                                          "vocab",  "tensors", "check"};
    line_search s = {index, out};
    const gufo_import_line pre = {"pre", "tokenizer.ggml.pre", usual_pre(architecture), "", "", ""};

    if (architecture == NULL || *architecture == '@')
        return false;
    for (size_t i = 0; i < sizeof to_gguf / sizeof *to_gguf; i++)
        if (find_in_keys(&s, architecture, to_gguf[i], 0))
            return true;
    return (*pre.value != '\0' && take_line(&s, &pre)) || find_in_operations(&s, architecture, 0) ||
           find_in_classes(&s, architecture) || find_in_keys(&s, architecture, "export", 0);
}
