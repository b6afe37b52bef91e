/* Texts of files in Markdown. */
#include "cli/core/records/markdown.h"

#include "cli/core/terminal/text.h"

#include <stdlib.h>
#include <string.h>

/* Escapes what Markdown or HTML would act on. */
static void put_escaped(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (strchr("\\`*_[]<>|&~$#", text[i]) != NULL && text[i] != '\0')
            putchar('\\');
        putchar(text[i]);
    }
}

void markdown_put_lines(gufo_str lines)
{
    const char *end;

    for (; (end = memchr(lines.data, '\n', lines.len)) != NULL; lines.data = end + 1) {
        size_t taken = (size_t)(end - lines.data);

        put_escaped(lines.data, taken);
        fputs("<br>", stdout);
        lines.len -= taken + 1;
    }
    put_escaped(lines.data, lines.len);
}

void markdown_put(gufo_str text)
{
    text_stream plain;
    char *whole;

    if (!text_stream_open(&plain))
        return;
    text_put(plain.out, text, TEXT_PLAIN);
    whole = text_stream_close(&plain);
    if (whole != NULL)
        markdown_put_lines((gufo_str){whole, plain.len});
    free(whole);
}

void markdown_put_paragraph(gufo_str text)
{
    size_t at = 0, number;

    while (at < text.len && text.data[at] == ' ')
        at++;
    for (number = at; at < text.len && text.data[at] >= '0' && text.data[at] <= '9'; at++)
        putchar(text.data[at]);
    if (at < text.len && text.data[at] != '\0' && strchr(at > number ? ".)" : "-+=", text.data[at]))
        putchar('\\');
    markdown_put((gufo_str){text.data + at, text.len - at});
}
