/* Pictures.  They have no viewBox, so that texts keep their size at any width: across, places are
 * percent of the width; down, pixels. */
#ifndef GUFO_REPORT_PAGE_SVG_H
#define GUFO_REPORT_PAGE_SVG_H

#include "report/page/html.h"

typedef struct svg_frame {
    const char *title; /* ours */
    unsigned height;   /* pixels, without the margins: */
    unsigned left, right, top, bottom;
    unsigned least_width; /* below that the picture scrolls; 0: it shrinks */
} svg_frame;

/* Begins a picture; then comes its description in words, and svg_described; svg_end ends it. */
void svg_begin(page *p, const svg_frame *frame);
void svg_described(page *p);
void svg_end(page *p);

typedef struct svg_box {
    double x, width;  /* percent */
    double y, height; /* pixels */
} svg_box;

/* Classes may be "". */
void svg_rect(page *p, svg_box box, const char *classes);
/* The same, open for a title, which the reader sees under the pointer: <title> ... svg_titled. */
void svg_rect_titled(page *p, svg_box box, const char *classes);
void svg_titled(page *p, const char *element);
void svg_line(page *p, double x1, double y1, double x2, double y2, const char *classes);
/* A point: a circle of that radius in pixels, open for a title, as above. */
void svg_circle_titled(page *p, double x, double y, double radius, const char *classes);

/* A text at a place, moved by `dx` pixels; its content follows, then svg_text_end. */
void svg_text_begin(page *p, double x, double y, int dx, const char *classes);
void svg_text_end(page *p);
/* A text of ours. */
void svg_label(page *p, double x, double y, int dx, const char *classes, const char *text);

/* Lines and areas: a drawing of 100 by 100, stretched to a box, with path data of ours inside. */
void svg_stretched_begin(page *p, svg_box box);
void svg_stretched_end(page *p);

/* The class, after a space, that shows a label of so many pixels only where that part of the width has room
 * for it; "" if it always has, NULL if it never has. */
const char *svg_room(double pixels, double percent);

#endif
