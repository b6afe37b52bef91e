/* Markup, and texts that stay texts. */
#include "report/page/html.h"

#include "base/buffer.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

static void append(page *p, const char *data, size_t len)
{
    if (!p->failed)
        p->failed = !text_add(p->out, data, len);
}

void html_raw(page *p, gufo_str markup)
{
    append(p, markup.data, markup.len);
}

/* Nearly every piece is short, and written in place. */
void html(page *p, const char *format, ...)
{
    enum { USUAL = 512 };
    va_list args;
    size_t room = USUAL;

    for (int tries = 0; tries < 2 && !p->failed; tries++) {
        p->failed = !text_reserve(p->out, room);
        if (p->failed)
            return;
        va_start(args, format);
        int len = vsnprintf(p->out->data + p->out->len, room, format, args);

        va_end(args);
        if (len < 0) {
            p->failed = true;
        } else if ((size_t)len < room) {
            p->out->len += (size_t)len;
            return;
        }
        room = (size_t)len + 1;
    }
}

/* The reference to a character that is markup; NULL for the others. */
static const char *reference_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    default:
        return NULL;
    }
}

/* How many of the first bytes are plain letters, which go through as they are. */
static size_t plain_run(gufo_str text, size_t most)
{
    size_t len = 0;

    while (len < text.len && len < most && text.data[len] >= ' ' && text.data[len] < 0x7f &&
           reference_of(text.data[len]) == NULL)
        len++;
    return len;
}

/* Appends the character at the start; returns its bytes. */
static size_t put_character(page *p, gufo_str text, bool lines)
{
    const char *reference = reference_of(text.data[0]);
    char shown[GUFO_SHOWN_SIZE];
    size_t taken = 1, len;

    if (reference != NULL) {
        append(p, reference, strlen(reference));
    } else if (lines && (text.data[0] == '\n' || text.data[0] == '\t')) {
        append(p, text.data, 1);
    } else {
        len = gufo_utf8_show(text, shown, &taken);
        append(p, shown, len);
    }
    return taken;
}

static void put_text(page *p, gufo_str text, size_t most, bool lines)
{
    size_t run;

    while (text.len > 0 && most > 0 && !p->failed) {
        run = plain_run(text, most);
        if (run > 0) {
            append(p, text.data, run);
            most -= run;
        } else {
            run = put_character(p, text, lines);
            most--;
        }
        text = str_from(text, run);
    }
    if (text.len > 0)
        append(p, "…", strlen("…"));
}

void html_text(page *p, gufo_str text, size_t most)
{
    put_text(p, text, most == HTML_ALL ? SIZE_MAX : most, false);
}

void html_lines(page *p, gufo_str text)
{
    put_text(p, text, SIZE_MAX, true);
}
