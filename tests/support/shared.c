#include "shared.h"

#include <unistd.h>

bool find_shared(const char *name, path_text *out)
{
    const char *shared = getenv("GUFO_SHARED");

    *out = path_join(shared != NULL ? shared : ".", name);
    if (access(out->text, R_OK) == 0)
        return true;
    print_message("skipped: no %s (GUFO_SHARED names the folder)\n", out->text);
    return false;
}

path_text need_shared(const char *name)
{
    path_text path;

    if (!find_shared(name, &path))
        skip();
    return path;
}
