/* Seeds of fuzz targets. */
#include "seed.h"

#include <stdio.h>
#include <stdlib.h>

#include "folder.h"

enum { MOST_BYTES = 4096 };

bool seed_arguments(int argc, char **argv, seed_place *place)
{
    place->is_checked = argc == 3 && strcmp(argv[1], "--check") == 0;
    place->folder = argc > 1 ? argv[argc - 1] : NULL;
    if (argc == 2 || place->is_checked)
        return true;
    fprintf(stderr, "usage: %s [--check] FOLDER\n", argv[0]);
    return false;
}

static bool check_seed(const char *path, const builder *b)
{
    size_t size = 0;
    uint8_t *found = read_file(path, &size);
    bool same = found != NULL && size == b->len && memcmp(found, b->data, size) == 0;

    if (!same)
        fprintf(stderr, "%s: %s\n", path, found != NULL ? "has other content" : "is missing");
    free(found);
    return same;
}

bool seed_take(const seed_place *place, const char *name, const builder *b)
{
    path_text path = path_join(place->folder, name);

    if (b->len > MOST_BYTES) {
        fprintf(stderr, "%s is too large: %zu bytes\n", name, b->len);
        return false;
    }
    if (place->is_checked)
        return check_seed(path.text, b);
    write_file(path.text, b->data, b->len);
    return true;
}
