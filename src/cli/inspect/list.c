/* gufo list keys|archs|tensors|...: the tables that gufo knows. */
#include "cli/commands.h"
#include "cli/core/options/names.h"
#include "cli/core/records/table.h"
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

/* ---- tables --------------------------------------------------------------------------------- */

typedef struct listing {
    const catalogue *list;
    const catalogue_columns *columns;
    const char *arch;   /* NULL: all rows */
    catalogue_row *row; /* the latest */
} listing;

static bool row_at(const listing *l, uint64_t index)
{
    return l->arch != NULL ? l->list->arch_row(l->arch, (size_t)index, l->row)
                           : l->list->row((size_t)index, l->row);
}

/* An empty cell is a dash, so that each line has as many words as columns. */
static bool make_row(const void *context, uint64_t index, table_row *out)
{
    const listing *l = context;

    if (!row_at(l, index))
        return false;
    for (size_t i = 0; l->columns->names[i] != NULL; i++)
        row_str(out, gufo_str_of(*l->row->cells[i] != '\0' ? l->row->cells[i] : "-"));
    return true;
}

/* Narrow terminals leave out the last columns first, but never text that can go below. */
static table_column column_of(const listing *l, size_t index)
{
    const char *const *name = l->columns->names + index;
    bool number = catalogue_is_number(l->columns, index);
    bool kept = (l->columns->kept >> index & 1) != 0 || (name[1] == NULL && !number);
    int width = l->list->headed ? (int)strlen(*name) : 1;

    return (table_column){*name, number ? width : -width, kept ? 0 : (unsigned)index};
}

static void print(const listing *l)
{
    table t = {
        .gap = 2, .most_name = SIZE_MAX, .least_name = LEAST_NAME, .headless = !l->list->headed};

    for (; l->columns->names[t.count] != NULL; t.count++)
        t.columns[t.count] = column_of(l, t.count);
    table_print(&t, make_row, l);
}

static void write_json(const listing *l)
{
    json_writer j = json_writer_start(stdout);

    json_begin_object(&j, NULL);
    json_begin_array(&j, l->list->name);
    for (size_t i = 0; row_at(l, i); i++) {
        json_begin_object(&j, NULL);
        catalogue_write_cells(&j, l->columns, l->row);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_end_document(&j);
}

void catalogue_list(const catalogue *c, const char *arch, bool json)
{
    catalogue_row row;
    const listing l = {c, arch != NULL ? &c->arch_columns : &c->columns, arch, &row};

    (json ? write_json : print)(&l);
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
