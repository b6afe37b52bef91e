/* Variables of a rendering, from JSON. */
#include "cli/text/template.h"

#include "cli/core/files/path.h"

enum { LARGEST_INPUT = 1 << 30 };

int template_set(templating *t, const char *name, gufo_str json, const char *from)
{
    gufo_error error;
    const gufo_status status =
        name != NULL ? gufo_template_values_set(t->values, gufo_str_of(name), json, &error)
                     : gufo_template_values_set_all(t->values, json, &error);

    if (status == GUFO_OK)
        return CODE_OK;
    error.offset = GUFO_NO_OFFSET; /* the line and the column say more */
    return report_error(from, &error);
}

int template_read_json(const char *path, gufo_str *json)
{
    return small_file_read(path, LARGEST_INPUT, "more than 1 GiB of JSON", json);
}
