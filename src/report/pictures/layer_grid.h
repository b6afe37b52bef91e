/* A picture with a column for each layer and a row for each role; what a cell looks like is the
 * caller's.  Many layers are several panels, one below the other. */
#ifndef GUFO_REPORT_LAYER_GRID_H
#define GUFO_REPORT_LAYER_GRID_H

#include "report/facts/rows.h"
#include "report/page/html.h"

/* How a cell looks. */
typedef struct cell_look {
    const char *color; /* class; NULL: as a layer without that role */
    const char *text;  /* NULL: none */
    const char *ink;   /* classes of the text */
    bool has_ring;
} cell_look;

typedef struct layer_grid {
    const char *title;    /* ours */
    unsigned cell_height; /* pixels, without the gap of one */
    unsigned cell_width;  /* at least; 0: as small as it gets */
    const void *context;
    void (*describe)(page *p, const void *context);
    const char
        *strip; /* ours: the label of a row of letters above the others; NULL: there is none */
    const char *(*letter)(const void *context, uint64_t layer); /* in that row */
    /* Colours whose cells have no text and no title: there are thousands of such cells, and all of a colour are one
     * path.  The table of the figure has a row for each tensor, and the script shows it under the pointer. */
    const char *const *plain;
    size_t plain_count;
    /* `item` is the index of the tensor in the model. */
    cell_look (*look)(const void *context, uint32_t item, const gufo_tensor *tensor);
    /* Writes what is known of the tensor, as the title of a cell that is not plain. */
    void (*name)(page *p, const void *context, uint32_t item, const gufo_tensor *tensor);
} layer_grid;

void picture_layer_grid(page *p, const model_facts *facts, const layer_rows *rows,
                        const layer_grid *grid);

#endif
