/* A file as a bar, from its first byte to its last. */
#ifndef GUFO_REPORT_FILE_MAP_H
#define GUFO_REPORT_FILE_MAP_H

#include "report/facts/segments.h"
#include "report/page/html.h"

/* Places that are marked above the bar. */
typedef struct map_marks {
    uint64_t offsets[32];
    size_t count;
} map_marks;

/* Bytes of data that are announced far behind the end of a file are not drawn: where the bar ends. */
uint64_t file_map_end(const segment_list *list);
/* The whole file, and its beginning enlarged; `describe` writes what both show. */
void picture_file_map(page *p, const segment_list *list, const map_marks *marks,
                      void (*describe)(page *p, const segment_list *list));
/* "layer 3", "key general.name" and so on; for titles and tables. */
void file_map_name(page *p, const segment *s);

#endif
