/* Tables for people. */
#include "cli/core/table.h"

#include "cli/core/human.h"
#include "cli/core/stdout.h"
#include "cli/core/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    USUAL_NAME = 44, /* columns; longer names hang over */
    LEAST_NAME = 16, /* on a narrow terminal */
    BELOW = 4,       /* spaces before what is below the line that it belongs to */
};

void row_str(table_row *row, gufo_str text)
{
    row->cells[row->count++] = text;
}

void row_text(table_row *row, const char *format, ...)
{
    char *text = row->text + row->used;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof row->text - row->used, format, arguments);
    va_end(arguments);
    row_str(row, gufo_str_of(text));
    row->used += row->cells[row->count - 1].len;
}

void table_name(bool color, const char *name)
{
    fputs(color ? "\033[1m" : "", stdout);
    text_put(stdout, gufo_str_of(name), TEXT_PLAIN);
    fputs(color ? "\033[0m" : "", stdout);
}

void table_title(bool color, const char *name, uint64_t shown, uint64_t all)
{
    table_name(color, name);
    printf(" (%s", human_grouped(shown).text);
    if (shown != all)
        printf(" of %s", human_grouped(all).text);
    puts(")");
}

table table_of(const table_column *columns, size_t count)
{
    table t = {.count = count, .indent = 2, .gap = 2, .most_name = stdout_columns()};

    if (t.most_name == 0)
        t.most_name = USUAL_NAME;

    memcpy(t.columns, columns, count * sizeof *columns);
    return t;
}

void table_fit(table *t, const table_row *row)
{
    for (size_t i = 0; i < row->count; i++) {
        gufo_str text = row->cells[i];
        int *width = &t->columns[i].width, needed = (int)text.len;

        if (i == 0)
            needed = (int)text_columns(text_fit(text, TEXT_PLAIN, t->most_name), TEXT_PLAIN);
        if (needed > abs(*width))
            *width = *width < 0 ? -needed : needed;
    }
}

/* What the other columns leave of a terminal; text in the last one may go on in the next line. */
static size_t name_width(const table *t)
{
    size_t width = (size_t)abs(t->columns[0].width), others = t->indent, most = LEAST_NAME;

    for (size_t i = 1; i < t->count; i++)
        others +=
            t->gap +
            (i + 1 == t->count && t->columns[i].width < 0 ? 0 : (size_t)abs(t->columns[i].width));
    if (stdout_columns() > others + LEAST_NAME)
        most = stdout_columns() - others;
    return stdout_columns() > 0 && width > most ? most : width;
}

static void put_name(const table *t, gufo_str name)
{
    size_t width = name_width(t), used;

    text_pad(stdout, t->indent);
    if (stdout_columns() > 0) {
        used = text_put_middle(stdout, name, TEXT_PLAIN, width);
    } else {
        text_put(stdout, name, TEXT_PLAIN);
        used = text_columns(name, TEXT_PLAIN);
    }
    text_pad(stdout, used < width ? width - used : 0);
}

static void put_cells(const table *t, const table_row *row, size_t count)
{
    put_name(t, row->cells[0]);
    for (size_t i = 1; i < row->count && i < count; i++) {
        int width = t->columns[i].width;

        text_pad(stdout, t->gap);
        printf("%*.*s", i + 1 == count && width < 0 ? 0 : width, (int)row->cells[i].len,
               row->cells[i].data);
    }
}

void table_put_cells(const table *t, const table_row *row)
{
    put_cells(t, row, t->count);
}

/* Whether the last cell is text for which a terminal has no room beside the others. */
static bool has_long_end(const table *t, const table_row *row)
{
    size_t last = t->count - 1, used = t->indent + name_width(t);

    for (size_t i = 1; i < last; i++)
        used += t->gap + (size_t)abs(t->columns[i].width);
    return stdout_columns() > 0 && last > 0 && row->count > last && t->columns[last].width < 0 &&
           used + t->gap + row->cells[last].len > stdout_columns();
}

/* Text that does not fit is below, by words. */
static void put_below(gufo_str text)
{
    const size_t room = stdout_columns() > 2 * BELOW ? stdout_columns() - BELOW : 1;

    while (text.len > 0) {
        size_t len = text.len;

        if (len > room)
            for (len = room; len > 0 && text.data[len] != ' '; len--)
                ;
        if (len == 0)
            len = strcspn(text.data, " ") < text.len ? strcspn(text.data, " ") : text.len;
        printf("\n%*s%.*s", BELOW, "", (int)len, text.data);
        len += len < text.len;
        text = (gufo_str){text.data + len, text.len - len};
    }
}

void table_put(const table *t, const table_row *row)
{
    bool below = has_long_end(t, row);

    put_cells(t, row, t->count - below);
    if (below)
        put_below(row->cells[t->count - 1]);
    putchar('\n');
}

void table_heads(const table *t)
{
    table_row row = {0};

    for (size_t i = 0; i < t->count; i++)
        row_str(&row, gufo_str_of(t->columns[i].head));
    table_put(t, &row);
}

static bool make_row(table_maker *make, const void *context, uint64_t index, table_row *row)
{
    row->count = row->used = 0;
    return make(context, index, row);
}

void table_print(table *t, table_maker *make, const void *context)
{
    table_row row;

    for (uint64_t i = 0; make_row(make, context, i, &row); i++)
        table_fit(t, &row);
    table_heads(t);
    for (uint64_t i = 0; make_row(make, context, i, &row); i++)
        table_put(t, &row);
}
