/* Text from files for people.
 *
 * Text from a file consists of pieces: a character as it is, or its escape.  Writing, measuring and
 * cutting walk over the same pieces, so that they agree. */
#include "cli/core/values/str.h"
#include "gufo/print.h"
#include "cli/core/terminal/text.h"

#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- pieces --------------------------------------------------------------------------------- */

typedef struct piece {
    char text[GUFO_SHOWN_SIZE];
    size_t len;     /* of text */
    size_t taken;   /* bytes of the input that it represents */
    size_t columns; /* on the screen */
} piece;

/* Characters that do not fill one column: marks that combine with the character before them, and
 * invisible ones; East Asian wide and full-width characters, and pictures. */
static const struct {
    uint32_t first, last;
    size_t columns;
} widths[] = {
    {0x0300, 0x036f, 0},   {0x0483, 0x0489, 0}, {0x0591, 0x05bd, 0},   {0x064b, 0x065f, 0},
    {0x0e31, 0x0e31, 0},   {0x0e34, 0x0e3a, 0}, {0x1ab0, 0x1aff, 0},   {0x1dc0, 0x1dff, 0},
    {0x200b, 0x200d, 0},   {0x20d0, 0x20ff, 0}, {0x302a, 0x302d, 0},   {0x3099, 0x309a, 0},
    {0xfe00, 0xfe0f, 0},   {0xfe20, 0xfe2f, 0}, {0xfeff, 0xfeff, 0},   {0x1100, 0x115f, 2},
    {0x2e80, 0x303e, 2},   {0x3041, 0x33ff, 2}, {0x3400, 0x4dbf, 2},   {0x4e00, 0x9fff, 2},
    {0xa000, 0xa4cf, 2},   {0xac00, 0xd7a3, 2}, {0xf900, 0xfaff, 2},   {0xfe30, 0xfe6f, 2},
    {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2}, {0x1f300, 0x1f64f, 2}, {0x1f900, 0x1f9ff, 2},
    {0x20000, 0x3fffd, 2},
};

static size_t code_point_columns(uint32_t code_point)
{
    for (size_t i = 0; code_point >= 0x0300 && i < sizeof widths / sizeof *widths; i++)
        if (code_point >= widths[i].first && code_point <= widths[i].last)
            return widths[i].columns;
    return 1;
}

static void piece_letter(piece *p, char letter)
{
    p->text[0] = '\\';
    p->text[1] = letter;
    p->len = p->columns = 2;
    p->taken = 1;
}

static void piece_copy(piece *p, const char *from, size_t len, size_t columns)
{
    memcpy(p->text, from, len);
    p->len = p->taken = len;
    p->columns = columns;
}

static bool goes_through(uint32_t code_point, text_style style)
{
    return style == TEXT_LINES && (code_point == '\n' || code_point == '\t');
}

/* The piece at the start of `rest`, which is not empty. */
static void next_piece(gufo_str rest, text_style style, piece *p)
{
    unsigned char first = (unsigned char)rest.data[0];
    uint32_t code_point = 0;
    size_t len = gufo_utf8_decode(rest, &code_point);

    if (style == TEXT_QUOTED && (first == '"' || first == '\\')) {
        piece_letter(p, (char)first);
    } else if (len == 0 || (gufo_utf8_is_hidden(rest) && !goes_through(code_point, style))) {
        p->len = p->columns = gufo_utf8_show(rest, p->text, &p->taken);
    } else {
        piece_copy(p, rest.data, len, len == 1 ? 1 : code_point_columns(code_point));
    }
}

static gufo_str skip(gufo_str text, size_t len)
{
    return (gufo_str){text.data + len, text.len - len};
}

/* How many of the first bytes, at most `most`, are characters of one column as they are: nearly all of
 * nearly every text. */
static size_t plain_run(gufo_str text, text_style style, size_t most)
{
    size_t len = 0;

    most = text.len < most ? text.len : most;
    while (len < most && text.data[len] >= ' ' && text.data[len] < 0x7f &&
           (style != TEXT_QUOTED || (text.data[len] != '"' && text.data[len] != '\\')))
        len++;
    return len;
}

/* ---- writing and measuring ------------------------------------------------------------------ */

void text_put(FILE *out, gufo_str text, text_style style)
{
    piece p;

    while (text.len > 0) {
        size_t plain = plain_run(text, style, text.len);

        fwrite(text.data, 1, plain, out);
        text = skip(text, plain);
        if (text.len == 0)
            break;
        next_piece(text, style, &p);
        fwrite(p.text, 1, p.len, out);
        text = skip(text, p.taken);
    }
}

void text_put_result(gufo_str text, text_style style)
{
    if (isatty(STDOUT_FILENO))
        text_put(stdout, text, style);
    else if (text.len > 0)
        fwrite(text.data, 1, text.len, stdout);
}

size_t text_columns(gufo_str text, text_style style)
{
    size_t columns = 0;
    piece p;

    while (text.len > 0) {
        size_t plain = plain_run(text, style, text.len);

        columns += plain;
        text = skip(text, plain);
        if (text.len == 0)
            break;
        next_piece(text, style, &p);
        columns += p.columns;
        text = skip(text, p.taken);
    }
    return columns;
}

/* The most bytes that so many columns are made of.  More are marks without width, one upon the other. */
static size_t most_bytes(size_t columns)
{
    enum { EACH = 16, FIRST = 64 };

    return columns < (SIZE_MAX - FIRST) / EACH ? EACH * columns + FIRST : SIZE_MAX;
}

gufo_str text_fit(gufo_str text, text_style style, size_t columns)
{
    const size_t most = most_bytes(columns);
    gufo_str rest = text;
    piece p;

    while (rest.len > 0 && text.len - rest.len < most) {
        size_t plain = plain_run(rest, style, columns);

        columns -= plain;
        rest = skip(rest, plain);
        if (rest.len == 0)
            break;
        next_piece(rest, style, &p);
        if (p.columns > columns)
            break;
        columns -= p.columns;
        rest = skip(rest, p.taken);
    }
    return (gufo_str){text.data, text.len - rest.len};
}

size_t text_put_cut(FILE *out, gufo_str text, text_style style, size_t columns)
{
    static const char dots[] = "...";
    const size_t dots_len = sizeof dots - 1;
    gufo_str fitting = text_fit(text, style, columns);

    if (fitting.len < text.len && columns >= dots_len) {
        fitting = text_fit(text, style, columns - dots_len);
        text_put(out, fitting, style);
        fputs(dots, out);
        return text_columns(fitting, style) + dots_len;
    }
    text_put(out, fitting, style);
    return text_columns(fitting, style);
}

/* The longest end that fills at most `columns` columns. */
static gufo_str fit_end(gufo_str text, text_style style, size_t columns)
{
    const size_t most = most_bytes(columns);
    size_t all;
    piece p;

    if (text.len > most) {
        text = skip(text, text.len - most);
        while (text.len > 0 && ((unsigned char)text.data[0] & 0xc0) == 0x80)
            text = skip(text, 1);
    }
    all = text_columns(text, style);
    for (; all > columns; text = skip(text, p.taken)) {
        next_piece(text, style, &p);
        all -= p.columns;
    }
    return text;
}

size_t text_put_short(FILE *out, gufo_str text, text_style style, size_t columns, int shift)
{
    int half = (int)(columns - 2) / 2 + shift;
    size_t before = (size_t)half;
    gufo_str begin, end;

    if (columns < 5 || text_fit(text, style, columns).len == text.len)
        return text_put_cut(out, text, style, columns);
    begin = text_fit(text, style, before);
    end = fit_end(text, style, columns - 3 - before);
    text_put(out, begin, style);
    fputs("...", out);
    text_put(out, end, style);
    return text_columns(begin, style) + 3 + text_columns(end, style);
}

size_t text_put_middle(FILE *out, gufo_str text, text_style style, size_t columns)
{
    return text_put_short(out, text, style, columns, 0);
}

/* Whether a comma is followed by three digits, as inside of 131,072. */
static bool goes_on(gufo_str text, size_t len)
{
    return text.len >= len + 3 && span_of(text, len, DIGITS) == 3;
}

/* Whether a space is between a number and its unit: 12 %, 512 bytes, 7.5 GB, 1.24 B. */
static bool joins_unit(gufo_str text, size_t space)
{
    static const char *const units[] = {"%",  "byte", "bytes", "K",   "M",   "B",   "T",  "KB",
                                        "MB", "GB",   "TB",    "KiB", "MiB", "GiB", "TiB"};
    gufo_str unit = rest_of(text, space + 1);
    size_t len = 0;

    if (space == 0 || space >= text.len || text.data[space] != ' ' ||
        span_of(text, space - 1, DIGITS) == 0)
        return false;
    while (len < unit.len && strchr(" ,;:)/", unit.data[len]) == NULL)
        len++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (gufo_str_equal((gufo_str){unit.data, len}, gufo_str_of(units[i])))
            return true;
    return false;
}

/* The end of the last word that fits; 0 for none.  Lists of numbers may end in a comma, those of words
 * in a bar, if they have no better place. */
static size_t last_end(gufo_str text, size_t len)
{
    size_t divided = 0;

    for (; len > 0; len--) {
        char last = text.data[len - 1];

        if (last == ' ' ? !joins_unit(text, len - 1) : last == ',' && !goes_on(text, len))
            return len;
        if ((last == ',' || last == '|') && divided == 0)
            divided = len;
    }
    return divided;
}

/* What fits, up to the last space or comma; at least a character. */
static gufo_str fit_words(gufo_str text, size_t columns)
{
    gufo_str line = text_fit(text, TEXT_PLAIN, columns);
    size_t len = line.len;
    bool fits = len == text.len || text.data[len] == ' ';
    piece p;

    if (fits && !joins_unit(text, len))
        return line;
    len = last_end(text, len);
    if (fits && (len == 0 || text.data[len - 1] != ' '))
        return line; /* the number alone has the line */
    if (len > 0)
        line.len = len;
    if (line.len == 0) {
        next_piece(text, TEXT_PLAIN, &p);
        line.len = p.taken;
    }
    return line;
}

/* Whether a line ends inside a word. */
static bool cuts_word(gufo_str line, gufo_str text)
{
    return line.len < text.len && strchr(" ,", line.data[line.len - 1]) == NULL &&
           (text.data[line.len] != ' ' || joins_unit(text, line.len));
}

void text_put_wrapped(FILE *out, gufo_str text, size_t used, size_t indent, size_t width)
{
    while (width > 0 && text.len > 0) {
        gufo_str line = fit_words(text, width > used ? width - used : 1);

        if (used > indent && cuts_word(line, text)) {
            fprintf(out, "\n%*s", (int)indent, "");
            used = indent;
            continue;
        }
        text = skip(text, line.len);
        while (text.len > 0 && text.data[0] == ' ')
            text = skip(text, 1);
        while (line.data[line.len - 1] == ' ' && line.len > 1 && text.len > 0)
            line.len--;
        text_put(out, line, TEXT_PLAIN);
        if (text.len > 0)
            fprintf(out, "\n%*s", (int)indent, "");
        used = indent;
    }
    text_put(out, text, TEXT_PLAIN);
}

void text_pad(FILE *out, size_t columns)
{
    for (; columns > 0; columns--)
        putc(' ', out);
}

bool text_locale_is_utf8(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    bool utf8;

    if (locale == (locale_t)0)
        return false;
    utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return utf8;
}

/* ---- streams into memory -------------------------------------------------------------------- */

bool text_stream_open(text_stream *s)
{
    *s = (text_stream){0};
    s->out = open_memstream(&s->text, &s->len);
    return s->out != NULL;
}

char *text_stream_close(text_stream *s)
{
    if (fclose(s->out) == 0 && s->len > 0)
        return s->text;
    free(s->text);
    return NULL;
}

/* ---- terminals ------------------------------------------------------------------------------- */

#define USUAL_COLUMNS 80 /* of a terminal that does not report its width */

size_t terminal_columns(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : USUAL_COLUMNS;
}

size_t terminal_width(int fd)
{
    const char *wanted = getenv("COLUMNS");
    long given = wanted != NULL ? strtol(wanted, NULL, 10) : 0;

    return given > 0 ? (size_t)given : terminal_columns(fd);
}

bool terminal_is_dumb(void)
{
    const char *terminal = getenv("TERM");

    return terminal != NULL && strcmp(terminal, "dumb") == 0;
}
