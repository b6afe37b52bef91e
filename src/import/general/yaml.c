/* A subset of YAML.  Structure is in the columns:
 *
 *     tags:                a mapping in column 0, whose value is
 *     - text               a list in column 0
 *     eval:                its next member, whose value is
 *       - name: one        a list in column 2, and in it
 *         score: 2         a mapping in column 4
 *
 * A value is read where it begins, and ends before the first line whose column is smaller.  Anchors,
 * tags and keys that are not texts are refused. */
#include "base/memory.h"
#include "import/general/yaml_reading.h"

#include <stdlib.h>
#include <string.h>

static json_t *read_here(yaml_reading *r, size_t least);

static bool is_dash(const yaml_reading *r)
{
    return yaml_peek(r, 0) == '-' && yaml_is_gap(r, 1);
}

/* What follows in column `least` or after it; null if nothing does. */
static json_t *read_node(yaml_reading *r, size_t least)
{
    if (yaml_skip_to_content(r) && yaml_column(r) >= least)
        return read_here(r, least);
    return yaml_count(r) ? json_null() : NULL;
}

/* A scalar, or what is between brackets: nothing but a comment may follow in its line. */
static json_t *read_value(yaml_reading *r, size_t least)
{
    char mark = yaml_peek(r, 0);
    json_t *value;

    if (mark == '|' || mark == '>')
        return yaml_block(r, least);
    if (mark == '[' || mark == '{') {
        value = yaml_flow(r);
    } else if (mark == '"' || mark == '\'') {
        yaml_quoted(r);
        value = yaml_failed(r) ? NULL : yaml_string(r);
    } else {
        value = yaml_plain(r, least, false);
    }
    if (value == NULL)
        return NULL;
    yaml_skip_spaces(r);
    if (yaml_peek(r, 0) == '\n' || yaml_peek(r, 0) == '#')
        return value;
    json_decref(value);
    return yaml_wrong(r, "text after a value");
}

/* ---- lists ---------------------------------------------------------------------------------- */

/* The text behind a dash, or in the lines below it. */
static json_t *read_item(yaml_reading *r, size_t column)
{
    r->at++;
    yaml_skip_spaces(r);
    if (yaml_peek(r, 0) == '\n' || yaml_peek(r, 0) == '#')
        return read_node(r, column + 1);
    return read_here(r, column + 1);
}

static json_t *read_list(yaml_reading *r, size_t column)
{
    json_t *list = json_array();

    r->no_memory = list == NULL;
    while (!yaml_failed(r)) {
        json_t *item = read_item(r, column);

        if (item == NULL)
            break;
        r->no_memory = json_array_append_new(list, item) != 0;
        if (!yaml_skip_to_content(r) || yaml_column(r) != column || !is_dash(r))
            break;
    }
    if (!yaml_failed(r))
        return list;
    json_decref(list);
    return NULL;
}

/* ---- mappings ------------------------------------------------------------------------------- */

/* The length of a name in quotes, with them; 0 if they are not closed in the line. */
static size_t quoted_length(const yaml_reading *r)
{
    char quote = yaml_peek(r, 0);

    for (size_t i = 1; yaml_peek(r, i) != '\n'; i++) {
        bool escape = quote == '"' ? yaml_peek(r, i) == '\\'
                                   : yaml_peek(r, i) == quote && yaml_peek(r, i + 1) == quote;

        if (escape)
            i++;
        else if (yaml_peek(r, i) == quote)
            return i + 1;
    }
    return 0;
}

/* Whether a name and a colon come next; *colon is how far it is. */
static bool find_name(const yaml_reading *r, size_t *colon)
{
    char c = yaml_peek(r, 0);
    size_t i = 0;

    if (strchr(",[]{}#&*!|>%@`", c) != NULL)
        return false;
    if (c == '"' || c == '\'') {
        i = quoted_length(r);
        while (i > 0 && yaml_peek(r, i) == ' ')
            i++;
        *colon = i;
        return i > 0 && yaml_peek(r, i) == ':' && yaml_is_gap(r, i + 1);
    }
    for (; yaml_peek(r, i) != '\n'; i++) {
        if (yaml_peek(r, i) == ':' && yaml_is_gap(r, i + 1)) {
            *colon = i;
            return true;
        }
        if (yaml_peek(r, i) == '#' && i > 0 && yaml_peek(r, i - 1) == ' ')
            return false;
    }
    return false;
}

/* Reads the name and moves behind the colon; NULL with a fault. */
static char *read_name(yaml_reading *r, size_t colon)
{
    size_t behind = r->at + colon + 1, len = colon;

    if (yaml_peek(r, 0) == '"' || yaml_peek(r, 0) == '\'') {
        yaml_quoted(r);
    } else {
        while (len > 0 && r->text.data[r->at + len - 1] == ' ')
            len--;
        r->scalar.len = 0;
        yaml_put(r, r->text.data + r->at, len);
    }
    if (!yaml_failed(r))
        r->at = behind;
    return yaml_name(r);
}

static json_t *read_member_value(yaml_reading *r, size_t column)
{
    yaml_skip_spaces(r);
    if (yaml_peek(r, 0) != '\n' && yaml_peek(r, 0) != '#')
        return read_value(r, column + 1);
    if (yaml_skip_to_content(r) && yaml_column(r) == column && is_dash(r))
        return read_here(r, column);
    return read_node(r, column + 1);
}

/* Whether another member follows in this column. */
static bool find_member(yaml_reading *r, size_t column, size_t *colon)
{
    if (!yaml_skip_to_content(r) || yaml_column(r) < column)
        return false;
    if (yaml_column(r) == column && !is_dash(r) && find_name(r, colon))
        return true;
    return yaml_wrong(r, "a line that is not a member of its mapping") != NULL;
}

static json_t *read_mapping(yaml_reading *r, size_t column, size_t colon)
{
    json_t *object = json_object();

    r->no_memory = object == NULL;
    while (!yaml_failed(r)) {
        char *name = read_name(r, colon);
        json_t *value = name != NULL ? read_member_value(r, column) : NULL;
        bool set = yaml_set(r, object, name, value);

        free(name);
        if (!set || !find_member(r, column, &colon))
            break;
    }
    if (!yaml_failed(r))
        return object;
    json_decref(object);
    return NULL;
}

/* ---- any ------------------------------------------------------------------------------------ */

/* The value that begins at the next byte. */
static json_t *read_here(yaml_reading *r, size_t least)
{
    size_t column = yaml_column(r), colon;
    bool list = is_dash(r);
    json_t *value;

    if (!list && !find_name(r, &colon))
        return read_value(r, least);
    if (r->depth >= YAML_DEPTH)
        return yaml_wrong(r, "nested more than 64 deep");
    if (!yaml_count(r))
        return NULL;
    r->depth++;
    value = list ? read_list(r, column) : read_mapping(r, column, colon);
    r->depth--;
    return value;
}

json_t *yaml_read(gufo_str text, yaml_fault *fault)
{
    yaml_reading r = {.text = text, .scalar.allocator = &default_allocator};
    json_t *value = read_node(&r, 0);

    if (value != NULL && yaml_skip_to_content(&r)) {
        (void)yaml_wrong(&r, "a line that does not belong to what is before it");
        json_decref(value);
        value = NULL;
    }
    buffer_free(&r.scalar);
    *fault = (yaml_fault){.reason = r.no_memory ? NULL : r.fault, .at = r.at};
    return value;
}
