/* A page becomes a file. */
#include "cli/report/report.h"

#include "cli/core/files/save.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

int report_page_save(const gufo_report_content *content, const char *path, bool force,
                     const gufo_guard *guard, uint64_t *size)
{
    gufo_text page = {0};
    gufo_error error;
    int code = CODE_OK;

    if (gufo_report_write(content, &page, &error) != GUFO_OK)
        code = report_error(NULL, &error);
    else if (save_is_stdout(path))
        (void)fwrite(page.data, 1, page.len, stdout);
    else
        code = save_bytes(path, (gufo_str){page.data, page.len}, force, guard);
    if (size != NULL)
        *size = page.len;
    gufo_text_free(&page);
    return code;
}

bool report_is_page(const char *path)
{
    const char *end = path != NULL ? strrchr(path, '.') : NULL;

    return end != NULL && (strcasecmp(end, ".html") == 0 || strcasecmp(end, ".htm") == 0);
}
