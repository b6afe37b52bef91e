/* Lines for people.  Without memory for the whole, pieces go to standard output as they come. */
#include "cli/core/terminal/line.h"

#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { BELOW = 4 };

void line_begin(line *l)
{
    *l = (line){.out = NULL};
    if (stdout_is_terminal())
        l->out = open_memstream(&l->text, &l->len);
    if (l->out == NULL)
        l->out = stdout;
}

void line_end(line *l)
{
    if (l->out != stdout && fclose(l->out) == 0)
        text_put_wrapped(stdout, (gufo_str){l->text, l->len}, 0, BELOW, stdout_columns());
    putchar('\n');
    free(l->text);
}

void line_put(const char *format, ...)
{
    va_list arguments;
    line l;

    line_begin(&l);
    va_start(arguments, format);
    vfprintf(l.out, format, arguments);
    va_end(arguments);
    line_end(&l);
}

void text_print(const char *format, ...)
{
    bool ends_line = format[strlen(format) - 1] == '\n';
    char text[TEXT_LINE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_put_wrapped(stdout, (gufo_str){text, strlen(text) - ends_line}, 0, BELOW,
                     ends_line ? stdout_columns() : 0);
    if (ends_line)
        putchar('\n');
}
