/* gufo list keys|archs|tensors|...: the tables that gufo knows. */
#include "cli/commands.h"
#include "cli/core/options/names.h"
#include "cli/inspect/catalogue.h"

#include "gufo/schema.h"

#include <stdio.h>
#include <string.h>

enum { LEAST_NAME = 24 };

typedef struct list_options {
    command_input base;
    const char *arch;
} list_options;

/* ---- command line --------------------------------------------------------------------------- */

static const command_option list_table[] = {
    {"arch", "ARCH", "Only the keys or tensors of this architecture",
     OPTION_TEXT(list_options, arch)},
    {0},
};

_Static_assert((int)CATALOGUE_CELLS <= TABLE_CELLS, "a table has room for every column");

/* ---- rows ----------------------------------------------------------------------------------- */

typedef struct listing {
    const catalogue *list;
    const char *arch; /* NULL: all rows */
} listing;

static bool make_row(const void *context, uint64_t index, void *row)
{
    const listing *l = context;

    return l->arch != NULL ? l->list->arch_row(l->arch, (size_t)index, row)
                           : l->list->row((size_t)index, row);
}

void catalogue_list(const catalogue *c, const char *arch, bool json)
{
    const listing l = {c, arch};
    const record_list rows = {.make = make_row, .context = &l};
    record_field fields[CATALOGUE_CELLS];
    const record_type type =
        catalogue_record(arch != NULL ? &c->arch_columns : &c->columns, c->headed, fields);
    const record_field list = {c->name, NULL, RECORD_LIST, 0, sizeof rows, .of = &type};
    table t = {.gap = 2, .most_name = SIZE_MAX, .least_name = LEAST_NAME, .headless = !c->headed};

    if (json) {
        record_write_document(NULL, &(record_type){.fields = &list, .count = 1}, &rows);
        return;
    }
    t.count = record_columns(&type, t.columns);
    record_print(&t, &type, &rows);
}

/* ---- the command ---------------------------------------------------------------------------- */

static int report_no_list(const char *name)
{
    suggestion near = suggest_start(gufo_str_of(name));

    for (size_t i = 0; i < catalogue_count; i++)
        suggest_offer(&near, gufo_str_of(catalogues[i].name));
    return report_usage("unknown list '%s'%s", name, suggest_text(&near, ""));
}

static int report_no_arch(const char *name)
{
    suggestion near = suggest_start(gufo_str_of(name));

    for (size_t i = 0; gufo_arch_at(i) != NULL; i++)
        suggest_offer(&near, gufo_str_of(gufo_arch_at(i)->id));
    return report_as(CODE_NO, NULL, "unknown architecture '%s'%s", name,
                     near.name.len > 0 ? suggest_text(&near, "")
                                       : "; 'gufo list archs' lists them");
}

static int list_named(void *context)
{
    const list_options *o = context;
    const shared_options *shared = o->base.shared;
    const catalogue *c = catalogue_find(shared->args[0]);

    if (c == NULL)
        return report_no_list(shared->args[0]);
    if (o->arch != NULL && c->arch_row == NULL)
        return report_usage("--arch is for keys and tensors, not for %s", c->name);
    if (o->arch != NULL && gufo_arch_find(gufo_str_of(o->arch)) == NULL)
        return report_no_arch(o->arch);
    catalogue_list(c, o->arch, shared->json);
    return CODE_OK;
}

const command_line command_list = {
    .operands = {"keys|archs|tensors|types|filetypes|valuetypes|tokenizers|pretokenizers|rules", 1,
                 1,
                 "one of keys, archs, tensors, types, filetypes, valuetypes, tokenizers, "
                 "pretokenizers, rules is needed"},
    .doc = "List the keys, tensors, types and other words that gufo knows.\v"
           "In names of keys and tensors {arch} is a placeholder for the architecture, {id}, {bid} "
           "and {xid} for numbers, {name} for any word.  'gufo explain' describes each row.",
    .examples = {{"gufo list filetypes", "The types that quantize takes."},
                 {"gufo list keys --arch=llama",
                  "The keys of an architecture, and which it needs."}},
    COMMAND_OPTIONS(list_table, list_options),
    .run = list_named,
};
