/* A figure: a caption that states what the picture shows, the picture, and the same data as a table.
 *
 *     figure_begin      the finding, one bold sentence
 *     figure_reading    how to read the picture
 *     figure_picture    the picture, and notes
 *     figure_data       a table
 *     figure_end */
#ifndef GUFO_REPORT_PAGE_FIGURE_H
#define GUFO_REPORT_PAGE_FIGURE_H

#include "report/page/html.h"

void figure_begin(page *p, const char *id);
void figure_reading(page *p);
void figure_picture(page *p);
/* `what` names the data: "as a table". */
void figure_data(page *p, const char *what);
/* `has_data`: figure_data was called. */
void figure_end(page *p, bool has_data);

/* A small text below a picture. */
void note_begin(page *p);
void note_end(page *p);

#endif
