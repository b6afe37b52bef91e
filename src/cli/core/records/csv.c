/* Files of comma-separated values. */
#include "cli/core/records/csv.h"

#include "cli/core/files/path.h"
#include "cli/core/terminal/report.h"
#include "cli/core/files/save.h"

#include <stdlib.h>
#include <string.h>

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
    if (path == NULL)
        return CODE_OK;
    if (path_is_standard(path))
        return report_as(CODE_USAGE, path, "the report is written to a file; give its name");
    if (path_is_folder(path))
        return report_as(CODE_USAGE, path, "target exists and is not a regular file");
    return save_check_later(path, force, NULL);
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
