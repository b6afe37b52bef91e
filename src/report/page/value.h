/* Values of metadata, as a reader sees them. */
#ifndef GUFO_REPORT_PAGE_VALUE_H
#define GUFO_REPORT_PAGE_VALUE_H

#include "report/page/html.h"

#include "gufo/format.h"

/* A text in quotes, cut with its length; a number; of an array the number of elements and the first
 * ones. */
void html_value(page *p, const gufo_value *value);
/* "uint32", "string[]" */
void html_value_type(page *p, const gufo_value *value);

#endif
