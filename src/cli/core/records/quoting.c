/* Texts of files in CSV and in Markdown. */
#include "cli/core/files/path.h"
#include "cli/core/files/save.h"
#include "cli/core/records/quoting.h"
#include "cli/core/terminal/report.h"
#include "cli/core/terminal/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- CSV ------------------------------------------------------------------------------------- */

static void put_doubled(FILE *out, gufo_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"')
            putc('"', out);
        putc(text.data[i], out);
    }
}

void csv_put(FILE *out, gufo_str text)
{
    putc('"', out);
    if (text.len > 0 && text.data[0] != '\0' && strchr("=+-@\t\r", text.data[0]) != NULL)
        putc('\'', out);
    put_doubled(out, text);
    putc('"', out);
}

void csv_put_column(FILE *out, const char *column, const char *about)
{
    fprintf(out, "\"%s ", column);
    put_doubled(out, gufo_str_of(about));
    putc('"', out);
}

int csv_check(const char *path, bool force)
{
    if (path == NULL)
        return CODE_OK;
    if (path_is_standard(path))
        return report_as(CODE_USAGE, path, "the report is written to a file; give its name");
    if (path_is_folder(path))
        return report_as(CODE_USAGE, path, "target exists and is not a regular file");
    return save_check_later(path, force, NULL);
}

int csv_save(text_stream *csv, const char *path, bool force, const gufo_guard *guard)
{
    int code;

    if (fclose(csv->out) == 0)
        code = save_bytes(path, (gufo_str){csv->text, csv->len}, force, guard);
    else
        code = report_memory(NULL);
    free(csv->text);
    *csv = (text_stream){0};
    return code;
}

/* ---- Markdown -------------------------------------------------------------------------------- */

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
