/* Reports on standard error, and the exit status.  Every report is one line:
 *
 *     gufo: FILE: byte OFFSET: what is wrong */
#ifndef CLI_CORE_TERMINAL_REPORT_H
#define CLI_CORE_TERMINAL_REPORT_H

#include "gufo/base.h"
#include "gufo/format.h"

/* With several files, the highest one wins. */
typedef enum exit_code {
    CODE_OK = 0,
    CODE_NO = 1,          /* the question was answered "no" */
    CODE_USAGE = 2,       /* wrong usage, or an output that exists; nothing was touched */
    CODE_FAILED = 3,      /* a file could not be read or written, or is malformed */
    CODE_INTERRUPTED = 4, /* by a signal, after cleaning up */
    CODE_AGAIN = 125,     /* of a command that asks to be run again; nobody else sees it */
} exit_code;

static inline int worst_code(int a, int b)
{
    return a > b ? a : b;
}

/* Warnings are dropped from now on (-q). */
void report_quiet(void);
/* From now on, what only -v prints is printed. */
void report_verbose(void);
bool report_is_verbose(void);
/* From now on lines begin in colour. */
void report_color(bool color);

/* Where a rule is a limit that an option sets: which; NULL for other rules.  Static. */
const char *report_limit(const gufo_rule *rule);

/* An error about the file that it names, or else about `path`; about none if that is NULL.  Returns
 * CODE_FAILED. */
int report_error(const char *path, const gufo_error *error);
/* The same with a hint in brackets; NULL: none. */
int report_error_with(const char *path, const gufo_error *error, const char *hint);
/* The same as report_error; returns CODE_USAGE if the library was asked for what cannot be (GUFO_E_ARGUMENT). */
int report_refusal(const char *path, const gufo_error *error);
void report_message(const char *path, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same; returns `code`. */
int report_as(int code, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* An error of the system: "gufo: FILE: No such file or directory".  Returns CODE_FAILED. */
int report_system(const char *path, int error_number);
/* Fills an error, for functions of the command that give one: with the words of the system where `system` is not 0.
 * Returns `code`. */
gufo_status error_set(gufo_error *error, gufo_status code, int system, const char *message);
/* "out of memory"; returns CODE_FAILED. */
int report_memory(const char *path);
void report_warning(const char *path, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What the user did not ask for, but wants to know; dropped as warnings are. */
void report_note(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From now on wrong usage is that of this command; NULL: of gufo itself. */
void report_command(const char *name);
/* Wrong usage: the line says where help is.  Returns CODE_USAGE. */
int report_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
