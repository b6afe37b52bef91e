/* Messages and aborting, as ggml's interface has them (standalone build). */
#include "compat/context.h"

#include <stdarg.h>
#include <stdlib.h>

static void print(enum ggml_log_level level, const char *text, void *user_data)
{
    (void)level;
    (void)user_data;
    (void)fputs(text, stderr);
    (void)fflush(stderr);
}

/* The interface has one log for the whole process. */
static ggml_log_callback told = print;
static void *told_data;

void ggml_log_set(ggml_log_callback log_callback, void *user_data)
{
    told = log_callback != NULL ? log_callback : print;
    told_data = user_data;
}

void ggml_log_get(ggml_log_callback *log_callback, void **user_data)
{
    *log_callback = told;
    *user_data = told_data;
}

void compat_log(const char *line)
{
    told(GGML_LOG_LEVEL_ERROR, line, told_data);
}

void ggml_abort(const char *file, int line, const char *fmt, ...)
{
    va_list args;

    (void)fflush(stdout);
    (void)fprintf(stderr, "%s:%d: ", file, line);
    va_start(args, fmt);
    (void)vfprintf(stderr, fmt, args);
    va_end(args);
    (void)fputc('\n', stderr);
    abort();
}
