/* Statements, and the blocks that they open and close. */
#include "schema/syntax/lint_parts.h"

#include "base/error.h"
#include "base/text.h"

#include <string.h>

typedef enum role {
    UNKNOWN,
    RAW, /* reading finds {% raw %} ... {% endraw %} itself: only an end can be left over */
    OPENS,
    OPENS_UNLESS_ASSIGNING, /* {% set x %} ... {% endset %}, but {% set x = 1 %} */
    CLOSES,                 /* "end" and the name of what opens */
    DIVIDES,                /* else, elif */
    READS,                  /* another template */
    SINGLE,
} role;

/* What is known of a statement. */
typedef struct statement {
    role role;
    definition defines;
    const char *names; /* of those that are alike */
    const char *of;    /* which openings it divides */
} statement;

/* Of Jinja, its usual extensions, and Hugging Face's generation. */
static const statement statements[] = {
    {OPENS, DEFINES_NOTHING, "if call filter generation block autoescape trans", ""},
    {OPENS, DEFINES_FOR, "for", ""},
    {OPENS, DEFINES_MACRO, "macro", ""},
    {OPENS, DEFINES_SET, "with", ""},
    {OPENS_UNLESS_ASSIGNING, DEFINES_SET, "set", ""},
    {DIVIDES, DEFINES_NOTHING, "elif", "if"},
    {DIVIDES, DEFINES_NOTHING, "else", "if for"},
    {DIVIDES, DEFINES_NOTHING, "pluralize", "trans"},
    {RAW, DEFINES_NOTHING, "raw", ""},
    {SINGLE, DEFINES_NOTHING, "break continue do debug print", ""},
    {READS, DEFINES_NOTHING, "import from include extends", ""},
};

/* The name without "end", if it has that. */
static gufo_str opening_name(gufo_str name)
{
    return str_from(name, str_begins(name, "end") ? strlen("end") : 0);
}

static statement find_statement(gufo_str name)
{
    static const statement closing = {.role = CLOSES};
    gufo_str bare = opening_name(name);
    bool ends = bare.len < name.len;

    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        const statement *row = &statements[i];
        bool known = ends ? row->role <= OPENS_UNLESS_ASSIGNING : row->role != RAW;

        if (known && str_is_word(bare, row->names))
            return ends ? closing : *row;
    }
    return (statement){.role = UNKNOWN};
}

definition lint_definition(gufo_str name)
{
    return find_statement(name).defines;
}

static bool belongs_to(const statement *row, gufo_str name, gufo_str block)
{
    return row->role == CLOSES ? gufo_str_equal(block, opening_name(name))
                               : str_is_word(block, row->of);
}

/* The number of blocks that are open when the innermost of this kind is; 0 if none is. */
static size_t find_block(const lint *l, const statement *row, const token *name)
{
    size_t depth = l->blocks.depth;

    while (depth > 0 && !belongs_to(row, name->text, l->blocks.kept[depth - 1].text))
        depth--;
    return depth;
}

/* Says of the name of a statement in which block it is. */
static void report_place(lint *l, const token *name, const char *what, const opening *block)
{
    lint_report(l, LINT_BLOCK, name->at, name->text, "\"%.*s\" %s \"%.*s\" of line %zu, column %zu",
                (int)name->text.len, name->text.data, what, (int)block->text.len, block->text.data,
                block->at.line, block->at.column);
}

/* An end, or a part such as else, that does not belong to the innermost block. */
static void report_misplaced(lint *l, const token *name)
{
    if (l->blocks.depth == 0)
        lint_report(l, LINT_BLOCK, name->at, name->text, "\"%.*s\" is outside every block",
                    (int)name->text.len, name->text.data);
    else
        report_place(l, name, "is in the", &l->blocks.kept[l->blocks.depth - 1]);
}

static void close_block(lint *l, const statement *row, const token *name)
{
    size_t depth;

    if (l->blocks.depth > LINT_BLOCKS) { /* those were not kept */
        l->blocks.depth--;
        return;
    }
    depth = find_block(l, row, name);
    if (depth == 0 || depth < l->blocks.depth)
        report_misplaced(l, name);
    /* Blocks inside it end with it. */
    if (depth > 0)
        l->blocks.depth = depth - 1;
}

static void divide_block(lint *l, const statement *row, const token *name)
{
    opening *inner;

    if (l->blocks.depth > LINT_BLOCKS)
        return;
    if (l->blocks.depth == 0 || find_block(l, row, name) != l->blocks.depth) {
        report_misplaced(l, name);
        return;
    }
    inner = &l->blocks.kept[l->blocks.depth - 1];
    if (inner->has_else)
        report_place(l, name, "follows the \"else\" of the", inner);
    inner->has_else |= gufo_str_equal(name->text, gufo_str_of("else"));
}

static void report_unknown(lint *l, const token *name)
{
    gufo_str shown = {name->text.data, name->text.len < 32 ? name->text.len : 32};

    if (name->kind == TOKEN_END)
        lint_report(l, LINT_STATEMENT, name->at, name->text, "a statement is empty");
    else
        lint_report(l, LINT_STATEMENT, name->at, name->text, "%s is not a Jinja statement",
                    QUOTED(shown));
}

void lint_statement(lint *l, const token *name, bool assigns)
{
    statement row = {.role = UNKNOWN};
    opening block = {.at = name->at, .text = name->text};

    if (name->kind == TOKEN_NAME)
        row = find_statement(name->text);
    if (row.role == UNKNOWN)
        report_unknown(l, name);
    else if (row.role == READS)
        lint_report(l, LINT_IMPORT, name->at, name->text,
                    "\"%.*s\" reads another template, which a chat template does not need",
                    (int)name->text.len, name->text.data);
    else if (row.role == CLOSES)
        close_block(l, &row, name);
    else if (row.role == DIVIDES)
        divide_block(l, &row, name);
    else if (row.role == OPENS || (row.role == OPENS_UNLESS_ASSIGNING && !assigns))
        lint_open(l, &l->blocks, &block, "blocks");
}

void lint_end_blocks(lint *l)
{
    size_t kept = l->blocks.depth < LINT_BLOCKS ? l->blocks.depth : LINT_BLOCKS;

    for (size_t i = 0; i < kept && !l->stopped; i++) {
        const opening *block = &l->blocks.kept[i];

        lint_report(l, LINT_BLOCK, block->at, block->text, "\"%.*s\" is never closed",
                    (int)block->text.len, block->text.data);
    }
}
