/* Words of a shell, in commands that people copy. */
#include "cli/core/terminal/text.h"
#include "cli/core/values/str.h"
#include "gufo/print.h"

bool text_is_clean(gufo_str text)
{
    uint32_t code_point;
    size_t len;

    for (; text.len > 0; text = rest_of(text, len)) {
        len = gufo_utf8_decode(text, &code_point);
        if (len == 0 || gufo_utf8_is_control(code_point))
            return false;
    }
    return true;
}

/* Whether people see all of a text that they are to copy. */
static bool is_seen(gufo_str text)
{
    uint32_t ignored;

    for (; text.len > 0; text = rest_of(text, gufo_utf8_decode(text, &ignored)))
        if (gufo_utf8_is_hidden(text))
            return false;
    return true;
}

/* Escapes bytes that must not reach a terminal: $'\x1b'. */
static void put_escaped(FILE *out, gufo_str text)
{
    fputs("$'", out);
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];

        if (c < ' ' || c >= 0x7f)
            fprintf(out, "\\x%02x", c);
        else
            fprintf(out, "%s%c", c == '\'' || c == '\\' ? "\\" : "", c);
    }
    putc('\'', out);
}

void shell_put(FILE *out, gufo_str text)
{
    if (is_made_of(text, LETTERS DIGITS "_./+@%:,=-")) {
        fwrite(text.data, 1, text.len, out);
        return;
    }
    if (!is_seen(text)) {
        put_escaped(out, text);
        return;
    }
    putc('\'', out);
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] == '\'')
            fputs("'\\''", out);
        else
            putc(text.data[i], out);
    putc('\'', out);
}

void shell_put_file(FILE *out, const char *path)
{
    putc(' ', out);
    if (path[0] == '-')
        fputs("./", out);
    shell_put(out, gufo_str_of(path));
}
