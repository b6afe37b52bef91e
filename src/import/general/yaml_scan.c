/* Where YAML is being read: bytes, columns, lines; and the first fault. */
#include "import/general/yaml_reading.h"

#include <string.h>

char yaml_peek(const yaml_reading *r, size_t ahead)
{
    return ahead < r->text.len - r->at ? r->text.data[r->at + ahead] : '\n';
}

bool yaml_is_gap(const yaml_reading *r, size_t ahead)
{
    char c = yaml_peek(r, ahead);

    return c == ' ' || c == '\n';
}

size_t yaml_column(const yaml_reading *r)
{
    return r->at - r->line;
}

void yaml_skip_spaces(yaml_reading *r)
{
    while (yaml_peek(r, 0) == ' ')
        r->at++;
}

void yaml_next_line(yaml_reading *r)
{
    const char *end = memchr(r->text.data + r->at, '\n', r->text.len - r->at);

    r->at = end != NULL ? (size_t)(end - r->text.data) + 1 : r->text.len;
    r->line = r->at;
}

bool yaml_skip_to_content(yaml_reading *r)
{
    while (r->at < r->text.len) {
        yaml_skip_spaces(r);
        if (yaml_peek(r, 0) != '\n' && yaml_peek(r, 0) != '#')
            return true;
        yaml_next_line(r);
    }
    return false;
}

json_t *yaml_wrong(yaml_reading *r, const char *reason)
{
    if (r->fault == NULL)
        r->fault = reason;
    return NULL;
}

bool yaml_failed(const yaml_reading *r)
{
    return r->fault != NULL || r->no_memory;
}
