/* The names that lead out of a template. */
#ifndef TEMPLATE_RISKY_NAMES_H
#define TEMPLATE_RISKY_NAMES_H

#include "gufo/base.h"

enum risky_flags {
    RISKY_CALLED = 1, /* only where it is called */
    RISKY_OWN = 2,    /* not where the template gives the name a value itself */
    RISKY_MEMBER = 4, /* only where a part of it is taken */
};

enum { RISKY_NAMES = 17 };

typedef struct risky_names {
    const char *what; /* what such a name is */
    unsigned flags;
    const char *names[RISKY_NAMES]; /* the last is NULL */
} risky_names;

/* The group of an attribute, or of a variable; NULL if it is harmless. */
const risky_names *risky_attribute(gufo_str name);
const risky_names *risky_variable(gufo_str name);

/* Whether a name is one of Python's own, such as __class__. */
bool risky_is_dunder(gufo_str name);
/* Whether a text has such a name, as an attribute: "__class__", "a.__class__", "{0.__class__}". */
bool risky_has_dunder(gufo_str text);

#endif
