/* Lists and mappings of YAML between brackets: [a, "b", {c: d}]. */
#include "import/general/yaml_reading.h"

#include <stdlib.h>
#include <string.h>

char *yaml_name(yaml_reading *r)
{
    char *name;

    if (r->scalar.len > 0 && memchr(r->scalar.data, '\0', r->scalar.len) != NULL)
        (void)yaml_wrong(r, "a name with a NUL byte");
    yaml_put(r, "", 1);
    if (yaml_failed(r))
        return NULL;
    name = malloc(r->scalar.len);
    r->no_memory = name == NULL;
    if (name != NULL)
        memcpy(name, r->scalar.data, r->scalar.len);
    return name;
}

bool yaml_set(yaml_reading *r, json_t *object, const char *name, json_t *value)
{
    if (value == NULL)
        return false;
    r->no_memory = json_object_set_new(object, name, value) != 0;
    return !r->no_memory;
}

/* Blanks, line breaks and comments. */
static char next_mark(yaml_reading *r)
{
    return yaml_skip_to_content(r) ? yaml_peek(r, 0) : '\0';
}

/* Behind the comma, or at the closing bracket; false for anything else. */
static bool end_member(yaml_reading *r, char closing)
{
    char mark = next_mark(r);

    if (mark == ',')
        r->at++;
    else if (mark != closing)
        (void)yaml_wrong(r, "a bracket that is not closed");
    return !yaml_failed(r);
}

static json_t *read_scalar(yaml_reading *r)
{
    if (yaml_peek(r, 0) != '"' && yaml_peek(r, 0) != '\'')
        return yaml_plain(r, 0, true);
    yaml_quoted(r);
    return yaml_failed(r) ? NULL : yaml_string(r);
}

static bool read_item(yaml_reading *r, json_t *list)
{
    json_t *value = yaml_flow(r);

    if (value == NULL)
        return false;
    r->no_memory = json_array_append_new(list, value) != 0;
    return !r->no_memory && end_member(r, ']');
}

static bool read_member(yaml_reading *r, json_t *object)
{
    json_t *key = read_scalar(r), *value;
    char *name = key != NULL ? yaml_name(r) : NULL;
    bool done = name != NULL;

    if (done && next_mark(r) == ':') {
        r->at++;
        (void)next_mark(r);
        value = yaml_peek(r, 0) == ',' || yaml_peek(r, 0) == '}' ? json_null() : yaml_flow(r);
        done = yaml_set(r, object, name, value);
    } else if (done) {
        done = yaml_set(r, object, name, json_null());
    }
    free(name);
    json_decref(key);
    return done && end_member(r, '}');
}

static json_t *read_members(yaml_reading *r, bool is_object)
{
    json_t *value = is_object ? json_object() : json_array();
    char closing = is_object ? '}' : ']', mark;

    r->no_memory = value == NULL;
    for (r->at++; !yaml_failed(r) && (mark = next_mark(r)) != closing;) {
        if (mark == '\0')
            (void)yaml_wrong(r, "a bracket that is not closed");
        else if (is_object ? !read_member(r, value) : !read_item(r, value))
            break;
    }
    if (yaml_failed(r)) {
        json_decref(value);
        return NULL;
    }
    r->at++;
    return value;
}

json_t *yaml_flow(yaml_reading *r)
{
    char mark = next_mark(r);
    json_t *value;

    if (mark != '[' && mark != '{')
        return read_scalar(r);
    if (r->depth >= YAML_DEPTH)
        return yaml_wrong(r, "nested more than 64 deep");
    if (!yaml_count(r))
        return NULL;
    r->depth++;
    value = read_members(r, mark == '{');
    r->depth--;
    return value;
}
