/* Paths. */
#include "cli/core/path.h"

#include "cli/core/report.h"

#include <stdlib.h>
#include <string.h>

bool path_is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* The first `kept` bytes of a path, and something after them. */
static char *join(const char *path, size_t kept, const char *end)
{
    size_t len = strlen(end);
    char *joined = malloc(kept + len + 1);

    if (joined == NULL) {
        report_memory(path);
        return NULL;
    }
    memcpy(joined, path, kept);
    memcpy(joined + kept, end, len + 1);
    return joined;
}

char *path_with(const char *path, const char *suffix)
{
    return join(path, strlen(path), suffix);
}

char *path_beside(const char *path, const char *name)
{
    return join(path, (size_t)(path_name(path) - path), name);
}
