/* Fuzz target: read anything as the YAML of a model card, and its first line as the id of a model. */
#include "walk.h"

#include "import/general/model_id.h"
#include "import/general/general.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 };

static void walk_value(json_t *value, unsigned depth)
{
    json_t *member;
    const char *name;
    size_t i;

    must(depth <= DEEPEST, "values are not nested without end");
    if (json_is_string(value))
        must(gufo_utf8_valid_prefix((gufo_str){
                 json_string_value(value), json_string_length(value)}) == json_string_length(value),
             "texts are UTF-8");
    else
        must(json_is_null(value) || json_is_array(value) || json_is_object(value),
             "plain scalars are texts");
    json_object_foreach(value, name, member)
    {
        walk_value(member, depth + 1);
    }
    json_array_foreach(value, i, member)
    {
        walk_value(member, depth + 1);
    }
}

static void read_id(gufo_str text)
{
    static model_id id;
    char title[ID_ROOM];

    for (unsigned kind = 0; kind < 3; kind++) {
        model_id_read(text, &(id_scale){kind > 0 ? 1000000 : 0, kind > 1}, &id);
        for (size_t i = 0; i < ID_PARTS; i++)
            must(strlen(id.part[i]) < ID_ROOM, "parts of an id fit their room");
    }
    model_id_title(text, title);
    must(strlen(title) < ID_ROOM, "titles fit their room");
}

/* The card's reader changes the text before it is YAML: no tabs, no carriage returns, no NULs. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    yaml_fault fault = {.reason = NULL};
    json_t *value;
    char *end;

    must(text != NULL, "there is memory");
    for (size_t i = 0; i < size; i++)
        text[i] = data[i] == '\0' || data[i] == '\t' || data[i] == '\r' ? ' ' : (char)data[i];
    size = gufo_utf8_valid_prefix((gufo_str){text, size});
    value = yaml_read((gufo_str){text, size}, &fault);
    must(value != NULL || (fault.reason != NULL && fault.line <= size), "a fault has a line");
    if (value != NULL)
        walk_value(value, 0);
    json_decref(value);
    end = memchr(text, '\n', size);
    read_id((gufo_str){text, end != NULL ? (size_t)(end - text) : size});
    free(text);
    return 0;
}
