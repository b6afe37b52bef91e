/* Lines on standard error. */
#include "cli/core/terminal/report.h"

#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"

#include "gufo/format.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool quiet, verbose, colored;
static const char *command; /* that is read; NULL: gufo itself */

void report_quiet(void)
{
    quiet = true;
}

void report_verbose(void)
{
    verbose = true;
}

bool report_is_verbose(void)
{
    return verbose;
}

void report_color(bool color)
{
    colored = color;
}

void report_command(const char *name)
{
    command = name;
}

#define RED "\033[1;31m"
#define YELLOW "\033[1;33m"
#define BOLD "\033[1m"

/* Results first, so that both streams on one terminal are in order.  What a terminal gets goes through
 * memory, because it is broken between words.  The stream must not move. */
static FILE *begin_line(text_stream *s, const char *path, const char *color)
{
    FILE *out;

    fflush(stdout);
    out = isatty(STDERR_FILENO) && text_stream_open(s) ? s->out : stderr;
    if (colored)
        fprintf(stderr, "%sgufo:\033[0m ", color);
    else
        fputs("gufo: ", stderr);
    if (path != NULL) {
        text_put(out, gufo_str_of(path[0] != '\0' ? path : "''"), TEXT_PLAIN);
        fputs(": ", out);
    }
    return out;
}

static void end_line(text_stream *s, const FILE *out)
{
    enum { PREFIX = 6, BELOW = 4 };
    char *text = out != stderr ? text_stream_close(s) : NULL;

    if (text != NULL)
        text_put_wrapped(stderr, gufo_str_of(text), PREFIX, BELOW, terminal_width(STDERR_FILENO));
    putc('\n', stderr);
    free(text);
}

/* Messages may quote arguments, and are escaped for that. */
static void put_line(const char *path, const char *color, const char *before, const char *format,
                     va_list arguments, const char *after)
{
    char message[1024];
    text_stream s;
    FILE *out = begin_line(&s, path, color);

    vsnprintf(message, sizeof message, format, arguments);
    fputs(before, out);
    text_put(out, gufo_str_of(message), TEXT_PLAIN);
    fputs(after, out);
    end_line(&s, out);
}

int report_error_with(const char *path, const gufo_error *error, const char *hint)
{
    text_stream s;
    FILE *out = begin_line(&s, error->file[0] != '\0' ? error->file : path, RED);

    if (error->offset != GUFO_NO_OFFSET)
        fprintf(out, "byte %" PRIu64 ": ", error->offset);
    text_put(out, gufo_str_of(error->message), TEXT_PLAIN);
    if (hint != NULL) { /* it may name a file of a stranger */
        fputs(" (", out);
        text_put(out, gufo_str_of(hint), TEXT_PLAIN);
        putc(')', out);
    }
    end_line(&s, out);
    return CODE_FAILED;
}

const char *report_limit(const gufo_rule *rule)
{
    bool deep = rule != NULL && strcmp(rule->name, "array-depth") == 0;

    return deep ? "--max-depth sets the limit, up to 1024" : NULL;
}

int report_error(const char *path, const gufo_error *error)
{
    return report_error_with(path, error, report_limit(error->rule));
}

int report_refusal(const char *path, const gufo_error *error)
{
    (void)report_error(path, error);
    return error->code == GUFO_E_ARGUMENT ? CODE_USAGE : CODE_FAILED;
}

void report_message(const char *path, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    put_line(path, RED, "", format, arguments, "");
    va_end(arguments);
}

int report_as(int code, const char *path, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    put_line(path, RED, "", format, arguments, "");
    va_end(arguments);
    return code;
}

int report_system(const char *path, int error_number)
{
    return report_as(CODE_FAILED, path, "%s", strerror(error_number));
}

gufo_status error_set(gufo_error *error, gufo_status code, int system, const char *message)
{
    *error = (gufo_error){.code = code, .system = system, .offset = GUFO_NO_OFFSET};
    snprintf(error->message, sizeof error->message, "%s%s%s", message, system != 0 ? ": " : "",
             system != 0 ? strerror(system) : "");
    return code;
}

int report_memory(const char *path)
{
    return report_as(CODE_FAILED, path, "out of memory");
}

void report_warning(const char *path, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (!quiet)
        put_line(path, YELLOW, "warning: ", format, arguments, "");
    va_end(arguments);
}

void report_note(const char *path, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (!quiet)
        put_line(path, BOLD, "", format, arguments, "");
    va_end(arguments);
}

int report_usage(const char *format, ...)
{
    char help[64];
    va_list arguments;

    snprintf(help, sizeof help, " (see gufo %s%s)", command != NULL ? "help " : "--help",
             command != NULL ? command : "");
    va_start(arguments, format);
    put_line(NULL, RED, "", format, arguments, help);
    va_end(arguments);
    return CODE_USAGE;
}
