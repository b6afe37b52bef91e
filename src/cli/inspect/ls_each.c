/* The models in a folder, for commands that take one after the other. */
#include "cli/inspect/ls.h"

#include "cli/core/foreign_file.h"
#include "cli/core/path.h"
#include "cli/core/stdout.h"

bool ls_is_folder(const char *path)
{
    return path_is_folder(path) && !foreign_file_find(path, NULL);
}

int ls_each(const char *folder, void *context, int (*one)(void *context, const char *path))
{
    ls_files files = {0};
    int code = CODE_OK;

    ls_add_argument(&files, folder, false);
    ls_read(&files, 0);
    ls_sort(&files, LS_BY_NAME);
    if (files.shown == 0 && !files.failed)
        code = report_as(CODE_NO, folder, "no models are in this folder");
    for (size_t i = 0; i < files.shown && !stdout_broken(); i++)
        code = worst_code(code, one(context, files.items[i].path));
    if (files.failed)
        code = worst_code(code, CODE_FAILED);
    ls_free(&files);
    return code;
}
