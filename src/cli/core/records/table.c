/* Tables for people. */
#include "cli/core/values/str.h"
#include "cli/core/records/table.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/number.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of a narrow table ----------------------------------------------------------------- */

/* They are shortened so that rows stay apart.
 *
 *     blk.10.attn_q.weight   without the middle       blk.10....weight   as that of attn_k
 *                            without the ending       blk.10.attn_q      head: "name (.weight)"
 *     llama.rope.freq_base   without another part     lla...rope.freq_base
 *
 * One place of the gap is taken for all names, the one nearest to the middle that keeps the most names
 * apart.  An ending that most names share goes into the head first. */

enum {
    NAMES = 1000, /* that are looked at */
    NAME = 128,   /* bytes of them */
    GAP = 3,
    LEAST_WIDTH = 8,
};

typedef struct shown_names {
    gufo_str list[NAMES];
    char text[NAMES][NAME];
    char shown[NAMES][NAME]; /* with zeros in the place of the gap, and behind the text */
    size_t count, width;
} shown_names;

/* The name without the ending that the head has instead. */
static gufo_str table_names_bare(const table *t, gufo_str name)
{
    if (t->name_tail[0] != '\0' && ends_with(name, t->name_tail))
        name.len -= strlen(t->name_tail);
    return name;
}

static int compare_shown(const void *a, const void *b)
{
    return memcmp(a, b, NAME);
}

/* A name as it is shown, with the gap `shift` bytes behind its usual place. */
static void show(const shown_names *n, gufo_str name, int shift, char shown[NAME])
{
    int before = (int)(n->width - GAP + 1) / 2 + shift;
    size_t begin = name.len, end = 0;

    if (name.len > n->width) {
        begin = (size_t)before;
        end = n->width - GAP - begin;
    }
    memset(shown, 0, NAME);
    memcpy(shown, name.data, begin);
    memcpy(shown + n->width - end, name.data + name.len - end, end);
}

/* How many different names there are. */
static size_t count_distinct(shown_names *n, const table *t, int shift)
{
    size_t count = n->count > 0;

    for (size_t i = 0; i < n->count; i++)
        show(n, table_names_bare(t, n->list[i]), shift, n->shown[i]);
    qsort(n->shown, n->count, NAME, compare_shown);
    for (size_t i = 1; i < n->count; i++)
        count += memcmp(n->shown[i], n->shown[i - 1], NAME) != 0;
    return count;
}

/* Finds the place of the gap; how many names it keeps apart. */
static size_t find_gap(shown_names *n, table *t, size_t wanted)
{
    int before = (int)(n->width - GAP + 1) / 2, after = (int)n->width - GAP - before;
    size_t best = count_distinct(n, t, 0);

    t->name_shift = 0;
    for (int i = 1; i <= before && best < wanted; i++)
        for (int shift = i; shift >= -i && best < wanted; shift -= 2 * i) {
            size_t count = shift <= after ? count_distinct(n, t, shift) : 0;

            if (count > best) {
                best = count;
                t->name_shift = shift;
            }
        }
    return best;
}

/* ".weight", if half of the names or more end so. */
static bool find_tail(const shown_names *n, char tail[TABLE_TAIL])
{
    size_t count = 0;
    const char *dot;

    for (size_t i = 0; i < n->count && 2 * count < n->count; i++) {
        gufo_str name = n->list[i];
        size_t len;

        for (dot = name.data + name.len; dot > name.data && dot[-1] != '.'; dot--)
            ;
        len = (size_t)(name.data + name.len - dot) + 1;
        if (dot <= name.data + 1 || len >= TABLE_TAIL)
            continue;
        memcpy(tail, dot - 1, len);
        tail[len] = '\0';
        count = 0;
        for (size_t k = 0; k < n->count; k++)
            count += ends_with(n->list[k], tail);
    }
    return n->count > 1 && 2 * count >= n->count;
}

static void collect(shown_names *n, table_maker *make, const void *context)
{
    table_row row = {0};

    for (uint64_t i = 0; n->count < NAMES && make(context, i, &row); i++) {
        gufo_str name = row.cells[0];

        if (name.len > NAME)
            name.len = NAME;
        memcpy(n->text[n->count], name.data, name.len);
        n->list[n->count] = (gufo_str){n->text[n->count], name.len};
        n->count++;
        row.count = row.used = 0;
    }
}

/* Whether the ending of most names in the head leaves room for the rest of all of them. */
static bool move_tail(shown_names *n, table *t, size_t wanted, size_t least)
{
    char tail[TABLE_TAIL];

    if (!find_tail(n, tail))
        return false;
    memcpy(t->name_tail, tail, sizeof tail);
    if (find_gap(n, t, wanted) >= least)
        return true;
    t->name_tail[0] = '\0';
    return false;
}

/* Without memory names are shortened in the middle. */
static void table_names_choose(table *t, table_maker *make, const void *context, size_t width)
{
    shown_names *n = width >= LEAST_WIDTH && width < NAME ? malloc(sizeof *n) : NULL;
    size_t wanted, best;

    if (n == NULL)
        return;
    n->count = 0;
    collect(n, make, context);
    n->width = NAME;
    wanted = count_distinct(n, t, 0);
    n->width = width;
    best = count_distinct(n, t, 0);
    /* Without a head nothing says which ending is missing: so it must be worth it. */
    best += t->columns[0].head[0] == '\0';
    if (!move_tail(n, t, wanted, best))
        (void)find_gap(n, t, wanted);
    free(n);
}

enum {
    USUAL_NAME = 44, /* columns; longer names hang over */
    LEAST_NAME = 16, /* where other columns can be left out instead */
    SHORT_NAME = 12, /* where no more can be */
    SHORT_CELL = 24,
    LEAST_CELL = 4,
    LONGEST_NAME = 1 << 16, /* elsewhere: no name is longer but in a damaged file */
    BELOW = 4,              /* spaces before what is below the line that it belongs to */
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
    table t = {.count = count,
               .indent = 2,
               .gap = 2,
               .most_name = stdout_columns(),
               .least_name = LEAST_NAME};

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

/* ---- the widths on a terminal --------------------------------------------------------------- */

typedef struct widths {
    size_t of[TABLE_CELLS]; /* 0: left out */
} widths;

/* Text at the end of a line that may go below it. */
static bool ends_in_text(const table *t)
{
    const table_column *last = &t->columns[t->count - 1];

    return t->count > 1 && last->width < 0 && last->drop == 0;
}

static size_t used_by(const table *t, const widths *w)
{
    size_t used = t->indent + w->of[0];

    for (size_t i = 1; i < t->count - ends_in_text(t); i++)
        used += w->of[i] > 0 ? t->gap + w->of[i] : 0;
    return used;
}

/* The least important column that is left; 0 for none. */
static size_t least_important(const table *t, const widths *w)
{
    size_t found = 0;

    for (size_t i = 1; i < t->count - ends_in_text(t); i++)
        if (w->of[i] > 0 && t->columns[i].drop > t->columns[found].drop)
            found = i;
    return found;
}

/* The widest column of text with more than `least`; 0 for none. */
static size_t widest_text(const table *t, const widths *w, size_t least)
{
    size_t found = 0;

    for (size_t i = 1; i < t->count - ends_in_text(t); i++)
        if (t->columns[i].width < 0 && w->of[i] > least && (found == 0 || w->of[i] > w->of[found]))
            found = i;
    return found;
}

/* Takes what is too much from a column, but for the least that it needs. */
static void shrink(size_t *width, size_t excess, size_t least)
{
    size_t most = *width > least ? *width - least : 0;

    *width -= excess < most ? excess : most;
}

static size_t excess_of(const table *t, const widths *w)
{
    size_t used = used_by(t, w);

    return stdout_columns() > 0 && used > stdout_columns() ? used - stdout_columns() : 0;
}

static void shrink_text(const table *t, widths *w, size_t least)
{
    size_t i;

    while (excess_of(t, w) > 0 && (i = widest_text(t, w, least)) > 0)
        shrink(&w->of[i], excess_of(t, w), least);
}

static widths widths_of(const table *t)
{
    widths w;
    size_t i;

    for (i = 0; i < t->count; i++)
        w.of[i] = (size_t)abs(t->columns[i].width);
    shrink_text(t, &w, SHORT_CELL);
    shrink(&w.of[0], excess_of(t, &w), t->least_name);
    while (excess_of(t, &w) > 0 && (i = least_important(t, &w)) > 0)
        w.of[i] = 0;
    w.of[0] = (size_t)abs(t->columns[0].width);
    shrink(&w.of[0], excess_of(t, &w), SHORT_NAME);
    shrink_text(t, &w, LEAST_CELL);
    shrink(&w.of[0], excess_of(t, &w), LEAST_CELL);
    return w;
}

size_t table_room(const table *t, size_t cells)
{
    widths w = widths_of(t);
    size_t used = t->indent + w.of[0] + t->gap;

    for (size_t i = 1; i < cells; i++)
        used += w.of[i] > 0 ? w.of[i] + t->gap : 0;
    return stdout_columns() > used ? stdout_columns() - used : stdout_columns() > 0;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static void put_name(const table *t, gufo_str name, size_t width, bool ends)
{
    size_t used;

    name = table_names_bare(t, name);
    if (stdout_columns() > 0)
        used = text_put_short(stdout, name, TEXT_PLAIN, width, t->name_shift);
    else
        used = text_put_cut(stdout, name, TEXT_PLAIN, LONGEST_NAME);
    text_pad(stdout, used < width && !ends ? width - used : 0);
}

/* On a terminal cells are as wide as their columns; text that ends a line is not padded. */
static void put_cell(gufo_str text, bool left, size_t width, bool ends)
{
    size_t free = text.len < width ? width - text.len : 0;

    if (!left)
        text_pad(stdout, free);
    if (stdout_columns() > 0 && left)
        text_put_middle(stdout, text, TEXT_PLAIN, width);
    else
        printf("%.*s", (int)text.len, text.data);
    if (left && !ends)
        text_pad(stdout, free);
}

/* The first `count` cells, of which the last one that is shown ends the line. */
static void put_cells(const table *t, const widths *w, const table_row *row, size_t count)
{
    size_t last = count - 1;

    while (last > 0 && w->of[last] == 0)
        last--;
    text_pad(stdout, t->indent);
    put_name(t, row->cells[0], w->of[0], last == 0);
    for (size_t i = 1; i < row->count && i < count; i++) {
        if (w->of[i] == 0)
            continue;
        text_pad(stdout, t->gap);
        put_cell(row->cells[i], t->columns[i].width < 0, w->of[i], i == last);
    }
}

void table_put_cells(const table *t, const table_row *row)
{
    widths w = widths_of(t);

    put_cells(t, &w, row, t->count);
}

/* Whether the last cell is text for which a terminal has no room beside the others. */
static bool has_long_end(const table *t, const widths *w, const table_row *row)
{
    return stdout_columns() > 0 && ends_in_text(t) && row->count == t->count &&
           used_by(t, w) + t->gap + row->cells[t->count - 1].len > stdout_columns();
}

void table_put(const table *t, const table_row *row)
{
    widths w = widths_of(t);
    bool below = has_long_end(t, &w, row);

    put_cells(t, &w, row, t->count - below);
    if (below && row->cells[t->count - 1].len > 0) {
        putchar('\n');
        text_pad(stdout, BELOW);
        text_put_wrapped(stdout, row->cells[t->count - 1], BELOW, BELOW, stdout_columns());
    }
    putchar('\n');
}

void table_heads(const table *t)
{
    table_row row = {0};
    const char *names = t->columns[0].head;

    if (t->name_tail[0] != '\0' && names[0] != '\0')
        row_text(&row, "%s (%s)", names, t->name_tail);
    else
        row_str(&row, gufo_str_of(names));
    for (size_t i = 1; i < t->count; i++)
        row_str(&row, gufo_str_of(t->columns[i].head));
    fputs(stdout_color() ? "\033[2m" : "", stdout);
    table_put(t, &row);
    fputs(stdout_color() ? "\033[0m" : "", stdout);
}

static bool make_row(table_maker *make, const void *context, uint64_t index, table_row *row)
{
    row->count = row->used = 0;
    return make(context, index, row);
}

void table_fit_names(table *t, table_maker *make, const void *context)
{
    size_t width = widths_of(t).of[0], whole = (size_t)abs(t->columns[0].width);

    if (stdout_columns() > 0 && (width < whole || whole >= t->most_name))
        table_names_choose(t, make, context, width);
}

uint64_t table_fit_all(table *t, table_maker *make, const void *context)
{
    uint64_t count = 0;
    table_row row;

    for (; make_row(make, context, count, &row); count++)
        table_fit(t, &row);
    table_fit_names(t, make, context);
    return count;
}

/* The columns that a terminal has left for names beside all other columns. */
static size_t room_for_names(const table *t)
{
    size_t others = t->indent;

    for (size_t i = 1; i < t->count; i++)
        others += t->gap + (size_t)abs(t->columns[i].width);
    return stdout_columns() > others ? stdout_columns() - others : 0;
}

/* Gives a name for which the other columns leave no room lines of its own. */
static void put_long_name(const table *t, table_row *row)
{
    size_t room = t->columns[0].width == 0 ? 0 : room_for_names(t);

    if (text_fit(row->cells[0], TEXT_PLAIN, room).len == row->cells[0].len)
        return;
    text_pad(stdout, t->indent);
    text_put_wrapped(stdout, text_fit(row->cells[0], TEXT_PLAIN, LONGEST_NAME), t->indent,
                     t->indent + 2, stdout_columns());
    putchar('\n');
    row->cells[0] = (gufo_str){"", 0};
}

void table_put_all(const table *given, table_maker *make, const void *context)
{
    table t = *given;
    table_row row;

    if (t.whole_names && stdout_columns() > 0 && room_for_names(&t) < SHORT_NAME)
        t.columns[0].width = 0; /* all names have lines of their own */
    for (uint64_t i = 0; !stdout_broken() && make_row(make, context, i, &row); i++) {
        if (t.whole_names)
            put_long_name(&t, &row);
        table_put(&t, &row);
    }
}

void table_print(table *t, table_maker *make, const void *context)
{
    (void)table_fit_all(t, make, context);
    if (!t->headless)
        table_heads(t);
    table_put_all(t, make, context);
}
