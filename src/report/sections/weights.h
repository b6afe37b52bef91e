/* Parts of the section of weights. */
#ifndef GUFO_REPORT_SECTIONS_WEIGHTS_H
#define GUFO_REPORT_SECTIONS_WEIGHTS_H

#include "report/sections/sections.h"

/* outliers.c: how far the largest weights rise above the others. */
section_fn section_outliers;

#endif
