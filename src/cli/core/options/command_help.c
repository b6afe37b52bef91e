/* The help of a command, from its tables, in lines that break between words on any terminal. */
#include "cli/core/options/command_line.h"

#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"

#include <stdlib.h>
#include <string.h>

enum {
    USUAL_WIDTH = 79,
    MOST_WIDTH = 100, /* of a terminal: longer lines are hard to read */
    LEAST_WIDTH = 20,
    NARROW = 60,      /* texts are below what they explain, with less indentation */
    MOST_COLUMN = 36, /* where the texts of options begin */
    MOST_ROWS = 64,
    NAME_SIZE = 96,
};

/* What is printed, and where the texts of commands and options begin. */
typedef struct printer {
    const command_line *line;
    const shared_options *shared;
    bool whole;
    FILE *out;
    size_t width, column;
} printer;

/* A pipe may go to a pager, whose width COLUMNS can give. */
static size_t help_width(void)
{
    const char *given = getenv("COLUMNS");
    size_t terminal = stdout_columns();
    long wanted = given != NULL ? strtol(given, NULL, 10) : 0;

    if (terminal > 0)
        return terminal <= LEAST_WIDTH     ? LEAST_WIDTH
               : terminal - 1 < MOST_WIDTH ? terminal - 1
                                           : MOST_WIDTH;
    return wanted > LEAST_WIDTH ? (size_t)wanted - 1 : USUAL_WIDTH;
}

static void put_bold(const printer *p, const char *text)
{
    bool bold = p->out == stdout && stdout_color();

    fprintf(p->out, "%s%s%s", bold ? "\033[1m" : "", text, bold ? "\033[0m" : "");
}

static void put_heading(const printer *p, const char *text)
{
    putc('\n', p->out);
    put_bold(p, text);
    putc('\n', p->out);
}

static void put_line(const printer *p, size_t indent, size_t below, gufo_str text)
{
    text_pad(p->out, indent);
    text_put_wrapped(p->out, text, indent, below, p->width);
    putc('\n', p->out);
}

/* A name and what it means, which begins in a column of its own. */
static void put_row(const printer *p, const char *name, gufo_str means)
{
    size_t used = strlen(name), below = p->width < NARROW ? 4 : p->column;

    text_put_wrapped(p->out, gufo_str_of(name), 0, below, p->width);
    if (used + 2 > p->column || p->width < NARROW) {
        putc('\n', p->out);
        used = 0;
    }
    text_pad(p->out, p->column - used);
    text_put_wrapped(p->out, means, p->column, p->column, p->width);
    putc('\n', p->out);
}

/* ---- usage and paragraphs ------------------------------------------------------------------- */

/* A line for each form of the operands. */
static void put_usage(const printer *p)
{
    const char *names = p->line->operands.names, *own = p->shared->command;
    const char *start = "Usage:";
    size_t indent = p->width < NARROW ? 4 : 12;

    do {
        size_t len = names != NULL ? strcspn(names, "\n") : 0;
        text_stream usage;
        char *text;

        if (!text_stream_open(&usage))
            return;
        fprintf(usage.out, "gufo%s%s [OPTION...] %.*s", own != NULL ? " " : "",
                own != NULL ? own : "", (int)len, len > 0 ? names : "");
        text = text_stream_close(&usage);
        put_bold(p, start);
        putc(' ', p->out);
        if (text != NULL)
            text_put_wrapped(p->out, gufo_str_of(text), strlen(start) + 1, indent, p->width);
        putc('\n', p->out);
        free(text);
        start = "  or: ";
        names = names != NULL && names[len] != '\0' ? names + len + 1 : NULL;
    } while (names != NULL);
}

static void put_paragraphs(const printer *p, const char *text, size_t len)
{
    while (len > 0) {
        const char *end = memchr(text, '\n', len);
        size_t line = end != NULL ? (size_t)(end - text) : len;

        put_line(p, 0, 0, (gufo_str){text, line});
        line += end != NULL;
        text += line;
        len -= line;
    }
}

static void put_examples(const printer *p)
{
    const command_example *each = p->line->examples;

    if (each->command != NULL)
        put_heading(p, "Examples:");
    for (size_t i = 0; i < COMMAND_EXAMPLES && each[i].command != NULL; i++) {
        put_line(p, 2, p->width < NARROW ? 2 : 4, gufo_str_of(each[i].command));
        put_line(p, 6, 6, gufo_str_of(each[i].says));
    }
}

/* ---- commands and options ------------------------------------------------------------------- */

static void put_commands(const printer *p)
{
    char name[NAME_SIZE];

    if (!p->whole)
        put_heading(p, "Commands:");
    for (const command *each = p->shared->commands; each->name != NULL; each++) {
        if (!p->whole && !each->common)
            continue;
        if (p->whole && each->group != NULL) {
            snprintf(name, sizeof name, "%s:", each->group);
            put_heading(p, name);
        }
        snprintf(name, sizeof name, "  %s", each->name);
        put_row(p, name, gufo_str_of(each->summary));
    }
}

/* The short help has the first clause of what an option does. */
static gufo_str option_text(const printer *p, const command_option *option)
{
    gufo_str text = gufo_str_of(option->help);

    for (size_t i = 0; !p->whole && i + 1 < text.len; i++)
        if ((strchr(",;:", text.data[i]) != NULL && text.data[i + 1] == ' ') ||
            (text.data[i] == ' ' && text.data[i + 1] == '('))
            text.len = i;
    return text;
}

static void option_name(const printer *p, const command_option *option, char name[NAME_SIZE])
{
    const char *argument = option->argument;
    char letter[8];

    snprintf(letter, sizeof letter, "%s", p->width < NARROW ? "" : "    ");
    if (option->letter != 0)
        snprintf(letter, sizeof letter, "-%c%s", option->letter, option->name != NULL ? ", " : "");
    snprintf(name, NAME_SIZE, "  %s%s%s%s%s%s%s", letter, option->name != NULL ? "--" : "",
             option->name != NULL ? option->name : "", option->optional ? "[" : "",
             argument != NULL ? "=" : "", argument != NULL ? argument : "",
             option->optional ? "]" : "");
}

static void put_option(const printer *p, const command_option *option)
{
    char name[NAME_SIZE];

    option_name(p, option, name);
    put_row(p, name, option_text(p, option));
}

static bool is_heading(const command_option *option)
{
    return option->name == NULL && option->letter == 0;
}

/* By group; in a group its heading is first, the others follow by name. */
static int compare_options(const void *a, const void *b)
{
    const command_option *const *left = a, *const *right = b;
    const command_option *x = *left, *y = *right;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (is_heading(x) || is_heading(y))
        return is_heading(y) - is_heading(x);
    return strcmp(x->name != NULL ? x->name : "", y->name != NULL ? y->name : "");
}

/* The rows in the order of the help; returns how many. */
static size_t sort_options(const command_option *row, bool common,
                           const command_option *rows[MOST_ROWS])
{
    size_t count = 0;

    for (; row != NULL && row->help != NULL && count < MOST_ROWS; row++)
        if (!common || row->common)
            rows[count++] = row;
    qsort((void *)rows, count, sizeof(void *), compare_options);
    return count;
}

static void put_options(const printer *p, const command_option *row)
{
    const command_option *rows[MOST_ROWS];
    size_t count = sort_options(row, false, rows);

    for (size_t i = 0; i < count; i++) {
        if (is_heading(rows[i])) {
            put_heading(p, rows[i]->help);
            continue;
        }
        if (i == 0 || rows[i]->group != rows[i - 1]->group)
            putc('\n', p->out);
        put_option(p, rows[i]);
    }
}

/* Texts begin in a column behind the longest option. */
static void put_common_options(printer p, const command_option *row)
{
    const command_option *rows[MOST_ROWS];
    size_t count = sort_options(row, true, rows);
    char name[NAME_SIZE];

    if (count == 0)
        count = sort_options(row, false, rows);
    if (count > 0)
        put_heading(&p, "Options:");
    for (size_t i = 0; i < count && p.width >= NARROW; i++) {
        option_name(&p, rows[i], name);
        if (strlen(name) + 2 > p.column && strlen(name) < MOST_COLUMN)
            p.column = strlen(name) + 2;
    }
    for (size_t i = 0; i < count; i++)
        if (!is_heading(rows[i]))
            put_option(&p, rows[i]);
}

/* ---- both kinds of help --------------------------------------------------------------------- */

static void put_whole(const printer *p, const char *after)
{
    put_options(p, p->line->options);
    put_options(p, options_shared);
    if (*after != '\0') {
        putc('\n', p->out);
        put_paragraphs(p, after, strlen(after));
    }
    put_examples(p);
}

static void put_short(const printer *p)
{
    const char *own = p->shared->command;

    if (own != NULL)
        put_common_options(*p, p->line->options);
    fprintf(p->out, "\ngufo help%s%s: all %s\n", own != NULL ? " " : "", own != NULL ? own : "",
            own != NULL ? "options" : "commands and options");
}

void command_line_help(const command_line *line, const shared_options *shared, bool whole,
                       FILE *out)
{
    enum { COLUMN = 29, NARROW_COLUMN = 8 };
    const char *doc = line->doc != NULL ? line->doc : "";
    size_t first = strcspn(doc, "\v"), width = help_width();
    printer p = {.line = line,
                 .shared = shared,
                 .whole = whole,
                 .out = out,
                 .width = width,
                 .column = width < NARROW ? NARROW_COLUMN : COLUMN};

    put_usage(&p);
    put_paragraphs(&p, doc, first);
    if (!whole)
        put_examples(&p);
    if (shared->command == NULL)
        put_commands(&p);
    if (whole)
        put_whole(&p, doc + first + (doc[first] != '\0'));
    else
        put_short(&p);
}
