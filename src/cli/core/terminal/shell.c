/* Words of a shell. */
#include "cli/core/terminal/shell.h"

#include "base/text.h"
#include "cli/core/terminal/text.h"

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
    if (str_is_plain(text, "_./+@%:,=-")) {
        fwrite(text.data, 1, text.len, out);
        return;
    }
    if (!text_is_clean(text)) {
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
