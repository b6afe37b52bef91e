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

/* Who takes the lines.  False of each function: no more of them. */
typedef struct page {
    gufo_import_line_fn *use;
    void *context;
} page;

static bool give_line(const page *p, gufo_import_line line)
{
    return p->use(p->context, &line);
}

static bool give_keys(const page *p, const char *group, const char *phase, unsigned depth)
{
    size_t count = 0;
    const rule *list = depth <= RULES_MAX_DEPTH ? rules_included(group, &count) : NULL;
    bool more = true;

    for (size_t i = 0; list != NULL && i < count && more; i++) {
        const rule *r = &list[i];
        size_t included;

        if (strcmp(r->phase, phase) == 0)
            more = *r->key == '@' && rules_included(r->key, &included) != NULL
                       ? give_keys(p, r->key, phase, depth + 1)
                       : give_line(p, (gufo_import_line){phase, r->key, r->value, r->condition, "",
                                                         r->note});
    }
    return more;
}

static bool give_operations(const page *p, const char *architecture, unsigned depth)
{
    const rule_row *r;
    bool more = true;

    for (size_t i = 0; depth <= RULES_MAX_DEPTH && more && (r = rules_row_at(i)) != NULL; i++)
        if (rules_row_is_of(r, architecture))
            more = strcmp(r->phase, "as") == 0
                       ? give_operations(p, r->steps, depth + 1)
                       : give_line(p, (gufo_import_line){r->phase, r->names, r->steps, r->condition,
                                                         r->targets, r->note});
    return more;
}

static bool give_classes(const page *p, const char *architecture)
{
    size_t count = 0;
    const export_class *list = export_classes(architecture, &count);
    bool more = true;

    for (size_t i = 0; list != NULL && i < count && more; i++)
        more = give_line(p, (gufo_import_line){"writes", list[i].name, list[i].model_type,
                                               list[i].condition, "", ""});
    return more;
}

static bool give_pre(const page *p, const char *architecture)
{
    const char *pre = usual_pre(architecture);

    return *pre == '\0' ||
           give_line(p, (gufo_import_line){"pre", "tokenizer.ggml.pre", pre, "", "", ""});
}

void gufo_import_lines(const char *architecture, gufo_import_line_fn *use, void *context)
{
    static const char *const to_gguf[] = {"fields", "config",  "params",
                                          "vocab",  "tensors", "check"};
    const page p = {use, context};
    bool more = architecture != NULL && *architecture != '@';

    for (size_t i = 0; more && i < sizeof to_gguf / sizeof *to_gguf; i++)
        more = give_keys(&p, architecture, to_gguf[i], 0);
    if (more && give_pre(&p, architecture) && give_operations(&p, architecture, 0) &&
        give_classes(&p, architecture))
        (void)give_keys(&p, architecture, "export", 0);
}
