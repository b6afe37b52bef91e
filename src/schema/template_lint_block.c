/* Statements, and the blocks that they open and close. */
#include "schema/template_lint_parts.h"

#include "base/error.h"

#include <string.h>

typedef enum role {
    SINGLE,
    OPENS,
    OPENS_UNLESS_ASSIGNING, /* {% set x %} ... {% endset %}, but {% set x = 1 %} */
    CLOSES,
    DIVIDES, /* else, elif */
    READS,   /* another template */
} role;

typedef struct statement {
    const char *name;
    role role;
    const char *of; /* which openings it closes or divides: a name, or two */
    const char *or_of;
    definition defines;
} statement;

/* Of Jinja, its usual extensions, and Hugging Face's generation. */
static const statement statements[] = {
    {"if", OPENS, NULL, NULL, DEFINES_NOTHING},
    {"elif", DIVIDES, "if", NULL, DEFINES_NOTHING},
    {"else", DIVIDES, "if", "for", DEFINES_NOTHING},
    {"endif", CLOSES, "if", NULL, DEFINES_NOTHING},
    {"for", OPENS, NULL, NULL, DEFINES_FOR},
    {"endfor", CLOSES, "for", NULL, DEFINES_NOTHING},
    {"break", SINGLE, NULL, NULL, DEFINES_NOTHING},
    {"continue", SINGLE, NULL, NULL, DEFINES_NOTHING},
    {"macro", OPENS, NULL, NULL, DEFINES_MACRO},
    {"endmacro", CLOSES, "macro", NULL, DEFINES_NOTHING},
    {"call", OPENS, NULL, NULL, DEFINES_NOTHING},
    {"endcall", CLOSES, "call", NULL, DEFINES_NOTHING},
    {"filter", OPENS, NULL, NULL, DEFINES_NOTHING},
    {"endfilter", CLOSES, "filter", NULL, DEFINES_NOTHING},
    {"set", OPENS_UNLESS_ASSIGNING, NULL, NULL, DEFINES_SET},
    {"endset", CLOSES, "set", NULL, DEFINES_NOTHING},
    {"generation", OPENS, NULL, NULL, DEFINES_NOTHING},
    {"endgeneration", CLOSES, "generation", NULL, DEFINES_NOTHING},
    {"with", OPENS, NULL, NULL, DEFINES_SET},
    {"endwith", CLOSES, "with", NULL, DEFINES_NOTHING},
    {"block", OPENS, NULL, NULL, DEFINES_NOTHING},
    {"endblock", CLOSES, "block", NULL, DEFINES_NOTHING},
    {"autoescape", OPENS, NULL, NULL, DEFINES_NOTHING},
    {"endautoescape", CLOSES, "autoescape", NULL, DEFINES_NOTHING},
    {"trans", OPENS, NULL, NULL, DEFINES_NOTHING},
    {"pluralize", DIVIDES, "trans", NULL, DEFINES_NOTHING},
    {"endtrans", CLOSES, "trans", NULL, DEFINES_NOTHING},
    {"endraw", CLOSES, "raw", NULL, DEFINES_NOTHING}, /* reading finds the pairs itself */
    {"do", SINGLE, NULL, NULL, DEFINES_NOTHING},
    {"debug", SINGLE, NULL, NULL, DEFINES_NOTHING},
    {"print", SINGLE, NULL, NULL, DEFINES_NOTHING},
    {"import", READS, NULL, NULL, DEFINES_NOTHING},
    {"from", READS, NULL, NULL, DEFINES_NOTHING},
    {"include", READS, NULL, NULL, DEFINES_NOTHING},
    {"extends", READS, NULL, NULL, DEFINES_NOTHING},
};

enum { STATEMENT_COUNT = sizeof statements / sizeof *statements };

static const statement *find_statement(gufo_str name)
{
    for (size_t i = 0; i < STATEMENT_COUNT; i++)
        if (gufo_str_equal(name, gufo_str_of(statements[i].name)))
            return &statements[i];
    return NULL;
}

definition lint_definition(gufo_str name)
{
    const statement *row = find_statement(name);

    return row != NULL ? row->defines : DEFINES_NOTHING;
}

void lint_open(lint *l, openings *stack, const opening *opened, const char *what)
{
    if (stack->depth < GUFO_TEMPLATE_BLOCKS) {
        stack->kept[stack->depth] = *opened;
    } else if (!stack->reported) {
        stack->reported = true;
        lint_report(l, GUFO_TEMPLATE_NESTING, opened->at, opened->text,
                    "%s are nested more than %d deep", what, GUFO_TEMPLATE_BLOCKS);
    }
    stack->depth++;
}

static const char *name_of(const opening *block)
{
    return statements[block->statement].name;
}

static bool belongs_to(const statement *row, const opening *block)
{
    return strcmp(row->of, name_of(block)) == 0 ||
           (row->or_of != NULL && strcmp(row->or_of, name_of(block)) == 0);
}

/* The number of blocks that are open when the innermost of this kind is; 0 if none is. */
static size_t find_block(const lint *l, const statement *row)
{
    size_t depth = l->blocks.depth;

    while (depth > 0 && !belongs_to(row, &l->blocks.kept[depth - 1]))
        depth--;
    return depth;
}

/* An end, or a part such as else, that does not belong to the innermost block. */
static void report_misplaced(lint *l, const statement *row, const token *name)
{
    const opening *inner;

    if (l->blocks.depth == 0) {
        lint_report(l, GUFO_TEMPLATE_BLOCK, name->at, name->text, "\"%s\" is outside every block",
                    row->name);
        return;
    }
    inner = &l->blocks.kept[l->blocks.depth - 1];
    lint_report(l, GUFO_TEMPLATE_BLOCK, name->at, name->text,
                "\"%s\" is in the \"%s\" of line %zu, column %zu", row->name, name_of(inner),
                inner->at.line, inner->at.column);
}

static void close_block(lint *l, const statement *row, const token *name)
{
    size_t depth;

    if (l->blocks.depth > GUFO_TEMPLATE_BLOCKS) { /* those were not kept */
        l->blocks.depth--;
        return;
    }
    depth = find_block(l, row);
    if (depth == 0 || depth < l->blocks.depth)
        report_misplaced(l, row, name);
    /* Blocks inside it end with it. */
    if (depth > 0)
        l->blocks.depth = depth - 1;
}

static void divide_block(lint *l, const statement *row, const token *name)
{
    opening *inner;

    if (l->blocks.depth > GUFO_TEMPLATE_BLOCKS)
        return;
    if (l->blocks.depth == 0 || find_block(l, row) != l->blocks.depth) {
        report_misplaced(l, row, name);
        return;
    }
    inner = &l->blocks.kept[l->blocks.depth - 1];
    if (inner->has_else)
        lint_report(l, GUFO_TEMPLATE_BLOCK, name->at, name->text,
                    "\"%s\" follows the \"else\" of the \"%s\" of line %zu, column %zu", row->name,
                    name_of(inner), inner->at.line, inner->at.column);
    inner->has_else |= strcmp(row->name, "else") == 0;
}

static void report_unknown(lint *l, const token *name)
{
    char quoted[GUFO_QUOTE_SIZE];
    gufo_str shown = {name->text.data, name->text.len < 32 ? name->text.len : 32};

    if (name->kind == TOKEN_END)
        lint_report(l, GUFO_TEMPLATE_STATEMENT, name->at, name->text, "a statement is empty");
    else
        lint_report(l, GUFO_TEMPLATE_STATEMENT, name->at, name->text, "%s is not a Jinja statement",
                    quote_name(quoted, shown));
}

void lint_statement(lint *l, const token *name, bool assigns)
{
    const statement *row = name->kind == TOKEN_NAME ? find_statement(name->text) : NULL;
    opening block = {.at = name->at, .text = name->text};

    if (row == NULL) {
        report_unknown(l, name);
    } else if (row->role == READS) {
        lint_report(l, GUFO_TEMPLATE_IMPORT, name->at, name->text,
                    "\"%s\" reads another template, which a chat template does not need",
                    row->name);
    } else if (row->role == CLOSES) {
        close_block(l, row, name);
    } else if (row->role == DIVIDES) {
        divide_block(l, row, name);
    } else if (row->role == OPENS || (row->role == OPENS_UNLESS_ASSIGNING && !assigns)) {
        block.statement = (unsigned)(row - statements);
        lint_open(l, &l->blocks, &block, "blocks");
    }
}

void lint_end_blocks(lint *l)
{
    size_t kept = l->blocks.depth < GUFO_TEMPLATE_BLOCKS ? l->blocks.depth : GUFO_TEMPLATE_BLOCKS;

    for (size_t i = 0; i < kept && !l->stopped; i++) {
        const opening *block = &l->blocks.kept[i];

        lint_report(l, GUFO_TEMPLATE_BLOCK, block->at, block->text, "\"%s\" is never closed",
                    name_of(block));
    }
}
