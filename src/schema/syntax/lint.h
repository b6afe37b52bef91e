/* Lint of chat templates (tokenizer.chat_template): Jinja from untrusted authors, which readers
 * run.
 *
 * A template may reach through the attributes of any Python object to the interpreter itself, and
 * run commands (CVE-2024-34359, CVE-2026-5760).  The lint reports what leads there, and what makes
 * a template unreadable; what chat templates ordinarily do (namespace, loop, tojson,
 * raise_exception, strftime_now, generation) is not a finding.  It reads the template and does not
 * run it: it misses a name that the template computes piece by piece from its input. */
#ifndef GUFO_SCHEMA_LINT_H
#define GUFO_SCHEMA_LINT_H

#include "gufo/base.h"

typedef enum lint_kind {
    LINT_DUNDER,    /* an attribute or name such as __class__, in whatever spelling */
    LINT_INTERNAL,  /* other inner parts of Python or Jinja: mro, gi_frame, self._... */
    LINT_BUILTIN,   /* an attribute of a built-in function: cycler.x, lipsum.x */
    LINT_ACCESS,    /* files, network, processes: os, popen, open(...) */
    LINT_DYNAMIC,   /* attr, groupby, map(attribute=...) with a name that is computed */
    LINT_IMPORT,    /* import, from, include, extends: reads another template */
    LINT_UNCLOSED,  /* {{, {%, {#, raw or a string without its end */
    LINT_BRACKET,   /* brackets that do not match */
    LINT_BLOCK,     /* if, for, macro ... without their end, or an end without them */
    LINT_STATEMENT, /* {% x %} that no renderer knows */
    LINT_NESTING,   /* nested deeper than the lint follows */
} lint_kind;

/* The lint follows so many blocks in blocks, and brackets in brackets; more is a finding. */
enum { LINT_BLOCKS = 100, LINT_BRACKETS = 100, LINT_MESSAGE = 256 };

typedef struct lint_finding {
    lint_kind kind;
    size_t offset;       /* in bytes from the start of the template */
    size_t line, column; /* from 1; columns count characters */
    gufo_str text;       /* the offending piece, a view into the template */
    const char *message; /* one sentence; lives as long as the call */
} lint_finding;

/* Whether the template can harm the program that runs it; other findings make it unreadable. */
bool lint_is_dangerous(lint_kind kind);

/* Returns whether to continue. */
typedef bool lint_found(void *context, const lint_finding *finding);

/* Reports everything found in a template (any bytes), roughly in the order in which it is read.
 * One pass over the text, time in proportion to it, no memory beyond the stack.  Any thread. */
void lint_template(gufo_str text, lint_found *found, void *context);

#endif
