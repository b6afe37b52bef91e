/* Seeds of fuzz targets: written by programs, and compared with what those write now. */
#ifndef TEST_SUPPORT_SEED_H
#define TEST_SUPPORT_SEED_H

#include "builder.h"

/* `make_seeds FOLDER`, or `make_seeds --check FOLDER`; false: neither, which was said. */
typedef struct seed_place {
    const char *folder;
    bool is_checked;
} seed_place;
bool seed_arguments(int argc, char **argv, seed_place *place);

/* Writes the file FOLDER/NAME, or checks it: false, which was said, if it differs. */
bool seed_take(const seed_place *place, const char *name, const builder *b);

#endif
