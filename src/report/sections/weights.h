/* Parts of the section of weights. */
#ifndef GUFO_REPORT_SECTIONS_WEIGHTS_H
#define GUFO_REPORT_SECTIONS_WEIGHTS_H

#include "report/sections/sections.h"

/* By the index of the tensor; NULL: they were not read. */
static inline const gufo_stats *stats_of(const report *r)
{
    return r->model->numbers != NULL ? r->model->numbers->stats : NULL;
}

/* outliers.c: how far the largest weights rise above the others. */
section_fn section_outliers;

#endif
