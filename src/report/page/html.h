/* The writer of the page: markup of ours, texts of others.
 *
 * Every call may run out of memory; the page then writes nothing more, and `failed` says so at the end.
 * Numbers with decimals come as texts (numbers.h): printf would write the point of the locale. */
#ifndef GUFO_REPORT_PAGE_HTML_H
#define GUFO_REPORT_PAGE_HTML_H

#include "gufo/base.h"

typedef struct page {
    gufo_text *out;
    bool failed;
    const char *prefix; /* of ids: "", or "m2-" where several models share the page */
    unsigned heading;   /* level of the headings of sections: 2, or 3 below those of models */
    unsigned pictures;  /* so far, for their ids */
    bool scrolls;       /* the picture that is begun (svg.h) */
} page;

/* Appends markup of ours; texts among the arguments are ours, too. */
void html(page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void html_raw(page *p, gufo_str markup);

enum { HTML_ALL = 0, HTML_NAME = 200, HTML_LABEL = 40 };
/* Appends a text of others, for elements and for attributes in double quotes: escaped, and what people
 * would not see as the command shows it.  Of a text with more than `most` characters (0: all are written)
 * the first ones and an ellipsis. */
void html_text(page *p, gufo_str text, size_t most);
/* The same, where lines and tabs go through: inside of <pre>. */
void html_lines(page *p, gufo_str text);

#endif
