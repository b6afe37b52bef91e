/* Files of comma-separated values. */
#include "cli/core/csv.h"

#include "cli/core/path.h"
#include "cli/core/report.h"
#include "cli/core/save.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put_doubled(FILE *out, gufo_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"')
            putc('"', out);
        putc(text.data[i], out);
    }
}

void csv_put(FILE *out, gufo_str text)
{
    putc('"', out);
    if (text.len > 0 && text.data[0] != '\0' && strchr("=+-@\t\r", text.data[0]) != NULL)
        putc('\'', out);
    put_doubled(out, text);
    putc('"', out);
}

void csv_put_column(FILE *out, const char *column, const char *about)
{
    fprintf(out, "\"%s ", column);
    put_doubled(out, gufo_str_of(about));
    putc('"', out);
}

int csv_check(const char *path, bool force)
{
    char *folder;
    int code;

    if (path == NULL)
        return CODE_OK;
    if (path_is_standard(path))
        return report_as(CODE_USAGE, path, "the report is written to a file; give its name");
    if (path_is_folder(path))
        return report_as(CODE_USAGE, path, "target exists and is not a regular file");
    code = save_check(path, force, NULL);
    if (code != CODE_OK || save_is_stream(path))
        return code;
    folder = path_beside(path, ".");
    if (folder == NULL)
        code = CODE_FAILED;
    else if (access(folder, W_OK) != 0)
        code = report_system(path, errno);
    free(folder);
    return code;
}

int csv_save(text_stream *csv, const char *path, bool force, const output_guard *guard)
{
    int code;

    if (fclose(csv->out) == 0)
        code = save_bytes(path, (gufo_str){csv->text, csv->len}, force, guard);
    else
        code = report_memory(NULL);
    free(csv->text);
    *csv = (text_stream){0};
    return code;
}
