/* Pictures: each draws one thing, without caption and data. */
#ifndef GUFO_REPORT_PICTURES_H
#define GUFO_REPORT_PICTURES_H

#include "report/facts/facts.h"
#include "report/page/html.h"

/* treemap.c: tensors by role and type, as areas. */
void picture_treemap(page *p, const model_facts *facts);

/* shares.c: parts of a whole as one bar, which `title` names. */
typedef struct bar_part {
    const char *color; /* classes */
    gufo_str name;
    double value;
} bar_part;
void picture_shares(page *p, const char *title, const bar_part *parts, size_t count);

#endif
