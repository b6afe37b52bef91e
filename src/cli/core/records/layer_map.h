/* A picture of a model: a row for each layer, a column for each role of its tensors.
 *
 *               attn_norm  attn_q  attn_k  ffn_down
 *     layer  0  F32        Q4_K    Q6_K    Q6_K        with colours from cold to hot
 *            1  F32        Q4_K    Q6_K    Q4_K
 *       layers 2 to 30: nothing
 *     token_embd Q4_K, output Q6_K
 *
 * Where names or texts have no room, letters and shades take their places. */
#ifndef CLI_CORE_RECORDS_LAYER_MAP_H
#define CLI_CORE_RECORDS_LAYER_MAP_H

#include "gufo/summary.h"

enum { LAYER_MAP_ROLES = 52, LAYER_MAP_LEVELS = 5, LAYER_MAP_TEXT = 12 };

typedef struct layer_cell {
    double value; /* how hot it is; NaN: not known */
    char text[LAYER_MAP_TEXT];
} layer_cell;

/* Begins as {0}. */
typedef struct layer_map {
    gufo_layers *layers; /* NULL before the first tensor */
    layer_cell *cells;   /* by the number of the tensor among those that were added */
    size_t count, room;
    bool is_log; /* values differ by orders of magnitude */
} layer_map;

/* Adds a tensor, whose name lives as long as the map; a second one of the same layer and role takes the place of
 * a colder one.  False without memory. */
bool layer_map_add(layer_map *m, gufo_str name, double value, const char *text);
/* Writes the picture, and what its shades are with a word for the values. */
void layer_map_put(const layer_map *m, bool color, const char *what);
void layer_map_free(layer_map *m);

#endif
