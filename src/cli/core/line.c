/* Lines for people.  Without memory for the whole, pieces go to standard output as they come. */
#include "cli/core/line.h"

#include "cli/core/stdout.h"
#include "cli/core/text.h"

#include <stdarg.h>
#include <stdlib.h>

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
