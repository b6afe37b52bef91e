/* A folder for the files of a fuzz target, in memory where there is one: made when it is first asked for, and removed with
 * what is in it when the process ends that has made it.  A sweep forks: each process has its own. */
#ifndef GUFO_FUZZ_PLACE_H
#define GUFO_FUZZ_PLACE_H

#include <stddef.h>

/* The folder; its path does not change. */
const char *place_folder(void);

/* The path of a file in it. */
typedef struct path_text {
    char text[384];
} path_text;

path_text place_file(const char *name);
/* Writes a file in it. */
void place_put(const char *name, const void *data, size_t size);
/* Removes all files but one (NULL: none); how many there were. */
int place_clear(const char *kept);

#endif
