/* A folder for one test, and whole files in it. */
#ifndef TEST_SUPPORT_FOLDER_H
#define TEST_SUPPORT_FOLDER_H

#include "builder.h"

typedef struct folder {
    char path[256];
} folder;

/* Makes an empty folder under $TMPDIR or /tmp, and removes it with everything in it. */
folder folder_new(void);
void folder_remove(folder *f);
/* Folders of this program are made in memory, unless TMPDIR is set: for many small files, which
 * come and go and need nothing that only a disk can do.  Before all tests, for
 * cmocka_run_group_tests. */
int folders_in_memory(void **state);

/* PATH/name into `out`, which is returned. */
typedef struct path_text {
    char text[512];
} path_text;
path_text folder_path(const folder *f, const char *name);
path_text path_join(const char *directory, const char *name);

/* Entries of a directory, "." and ".." not counted. */
size_t entry_count(const char *directory);

void write_file(const char *path, const void *data, size_t len);
/* The whole file, or NULL if it cannot be read; to be freed. */
uint8_t *read_file(const char *path, size_t *len);
bool file_exists(const char *path);
/* Fails the test unless the file has exactly these bytes. */
void check_file(const char *path, const void *data, size_t len, const char *label);

#endif
