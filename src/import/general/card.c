/* The model card of Hugging Face: a README.md that begins with YAML between two lines "---". */
#include "base/checked.h"
#include "base/error.h"
#include "base/files/source.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/general/general.h"

#include <inttypes.h>
#include <string.h>
#include <yaml.h>

/* ==== YAML ===================================================================================== */

/* libyaml gives events one after the other.  Values are made by functions that call each other, as deep as the values lie: what is too deep is refused before
 * the call, and libyaml itself keeps a stack of its own. */

enum { YAML_DEPTH = 64, YAML_VALUES = 1 << 18 };

typedef struct yaml_reading {
    gufo_str text;
    yaml_parser_t parser;
    yaml_event_t event; /* the last one */
    size_t values;      /* that were made */
    unsigned depth;     /* of mappings and lists inside one another */
    bool failed;
    yaml_fault fault;
} yaml_reading;

/* Notes why the text is refused, and in which line; NULL. */
static json_t *refuse_line(yaml_reading *r, size_t line, const char *reason)
{
    if (!r->failed)
        r->fault = (yaml_fault){.reason = reason, .line = line};
    r->failed = true;
    return NULL;
}

static json_t *refuse_event(yaml_reading *r, const char *reason)
{
    return refuse_line(r, r->event.start_mark.line, reason);
}

/* Passes on a value that Jansson made; notes that memory ran out where it made none. */
static json_t *made_value(yaml_reading *r, json_t *value)
{
    return value != NULL ? value : refuse_line(r, 0, NULL);
}

/* The line that is wrong.  A scalar or a name that does not end is wrong where it begins; of what is not text libyaml
 * knows the byte alone. */
static size_t problem_line(const yaml_reading *r)
{
    size_t line = 0;

    if (r->parser.error == YAML_SCANNER_ERROR && r->parser.context != NULL)
        return r->parser.context_mark.line;
    if (r->parser.error != YAML_READER_ERROR)
        return r->parser.problem_mark.line;
    for (size_t i = 0; i < r->text.len && i < r->parser.problem_offset; i++)
        line += r->text.data[i] == '\n';
    return line;
}

static bool next_event(yaml_reading *r)
{
    yaml_event_delete(&r->event);
    if (yaml_parser_parse(&r->parser, &r->event))
        return true;
    (void)refuse_line(r, problem_line(r),
                      r->parser.error == YAML_MEMORY_ERROR ? NULL : r->parser.problem);
    return false;
}

static json_t *read_value(yaml_reading *r);

/* The text of a scalar, which lives as long as the event. */
static gufo_str scalar_text(const yaml_event_t *event)
{
    return (gufo_str){(const char *)event->data.scalar.value, event->data.scalar.length};
}

static bool is_null(const yaml_event_t *event)
{
    gufo_str text = scalar_text(event);

    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (text.len == 0 || str_is_word(text, "~ null Null NULL"));
}

static json_t *read_list(yaml_reading *r)
{
    json_t *list = made_value(r, json_array());

    while (!r->failed && next_event(r) && r->event.type != YAML_SEQUENCE_END_EVENT) {
        json_t *item = read_value(r);

        if (item != NULL && json_array_append_new(list, item) != 0)
            (void)made_value(r, NULL);
    }
    return list;
}

/* The value of the name that is the last event. */
static void read_member(yaml_reading *r, json_t *object)
{
    json_t *name, *value;

    if (r->event.type != YAML_SCALAR_EVENT) {
        (void)refuse_event(r, "a name must be a text");
        return;
    }
    name = made_value(r, json_stringn(scalar_text(&r->event).data, scalar_text(&r->event).len));
    value = name != NULL && next_event(r) ? read_value(r) : NULL;
    if (value != NULL &&
        json_object_setn_new(object, json_string_value(name), json_string_length(name), value) != 0)
        (void)made_value(r, NULL);
    json_decref(name);
}

static json_t *read_mapping(yaml_reading *r)
{
    json_t *object = made_value(r, json_object());

    while (!r->failed && next_event(r) && r->event.type != YAML_MAPPING_END_EVENT)
        read_member(r, object);
    return object;
}

static bool has_properties(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor != NULL || event->data.scalar.tag != NULL;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor != NULL || event->data.sequence_start.tag != NULL;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor != NULL || event->data.mapping_start.tag != NULL;
    default:
        return true; /* an alias */
    }
}

/* The value that the last event begins; NULL with a fault. */
static json_t *read_value(yaml_reading *r)
{
    json_t *value;

    if (has_properties(&r->event))
        return refuse_event(r, "a tag, an anchor or an alias, which no model card needs");
    if (++r->values > YAML_VALUES)
        return refuse_event(r, "more than 262,144 values");
    if (r->event.type == YAML_SCALAR_EVENT) {
        gufo_str text = scalar_text(&r->event);

        return made_value(r, is_null(&r->event) ? json_null() : json_stringn(text.data, text.len));
    }
    if (r->depth == YAML_DEPTH)
        return refuse_event(r, "nested more than 64 deep");
    r->depth++;
    value = r->event.type == YAML_MAPPING_START_EVENT ? read_mapping(r) : read_list(r);
    r->depth--;
    if (!r->failed)
        return value;
    json_decref(value);
    return NULL;
}

/* Moves `count` events on. */
static bool next_events(yaml_reading *r, unsigned count)
{
    while (count > 0 && next_event(r))
        count--;
    return count == 0;
}

/* What the text has: one document, or nothing, which is null. */
static json_t *read_stream(yaml_reading *r)
{
    json_t *value;

    if (!next_events(r, 2)) /* the beginning of the stream, of the document */
        return NULL;
    if (r->event.type == YAML_STREAM_END_EVENT)
        return json_null();
    value = next_event(r) ? read_value(r) : NULL;
    if (value != NULL && next_events(r, 2) && r->event.type != YAML_STREAM_END_EVENT)
        (void)refuse_event(r, "a second document");
    return value;
}

json_t *yaml_read(gufo_str text, yaml_fault *fault)
{
    yaml_reading r = {.text = text};
    json_t *value = NULL;

    *fault = (yaml_fault){.reason = NULL};
    if (!yaml_parser_initialize(&r.parser))
        return NULL;
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text.data, text.len);
    value = read_stream(&r);
    yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    if (r.failed) {
        *fault = r.fault;
        json_decref(value);
        value = NULL;
    }
    return value;
}

/* Cards with long tables of results have half a megabyte. */
enum { CARD_LIMIT = 4 << 20 };

#define CARD_NAME "README.md"

/* ==== the card ================================================================================= */

/* ---- the text ------------------------------------------------------------------------------- */

static bool is_fence(gufo_str line)
{
    return gufo_str_equal(line, gufo_str_of("---"));
}

/* Whether a text begins with front matter. */
static bool has_front_matter(gufo_str text)
{
    size_t at = 0;

    return text.len > 0 && is_fence(str_line(text, &at));
}

/* Copies the front matter with LF at the end of its lines and two spaces for a tab: at most twice as
 * many bytes.  False if it does not end where the text was cut. */
static bool copy_front_matter(gufo_str text, bool cut, char *out, size_t *len)
{
    size_t at = 0;

    *len = 0;
    for ((void)str_line(text, &at); at < text.len;) {
        gufo_str line = str_line(text, &at);

        if (is_fence(line))
            return true;
        for (size_t i = 0; i < line.len; i++) {
            if (line.data[i] == '\t')
                out[(*len)++] = ' ';
            out[(*len)++] = line.data[i] == '\t' ? ' ' : line.data[i];
        }
        out[(*len)++] = '\n';
    }
    return !cut;
}

/* ---- values --------------------------------------------------------------------------------- */

/* No card, for this reason. */
static gufo_status ignore(gufo_import *im, const char *reason, gufo_error *error)
{
    return import_warn(im, error, "%s: %s; gufo ignores it", CARD_NAME, reason);
}

static gufo_status read_values(gufo_import *im, gufo_str text, json_t **card, gufo_error *error)
{
    yaml_fault fault;

    if (gufo_utf8_valid_prefix(text) != text.len)
        return ignore(im, "its front matter is not UTF-8", error);
    if (text.len > 0 && memchr(text.data, '\0', text.len) != NULL)
        return ignore(im, "its front matter has a NUL byte", error);
    *card = yaml_read(text, &fault);
    if (*card == NULL && fault.reason == NULL)
        return fail_memory(error);
    if (*card == NULL) /* the first line of the file is the fence */
        return import_warn(im, error, "%s: line %" PRIu64 ": %s; gufo ignores it", CARD_NAME,
                           fault.line + 2, fault.reason);
    if (json_is_object(*card))
        return GUFO_OK;
    json_decref(*card);
    *card = NULL;
    return ignore(im, "its front matter is not a mapping", error);
}

static gufo_status read_text(gufo_import *im, gufo_str text, json_t **card, gufo_error *error)
{
    bool cut = text.len > CARD_LIMIT;
    gufo_status status;
    size_t len;
    char *copy;

    if (!has_front_matter(text))
        return GUFO_OK;
    copy = mem_alloc(&im->allocator, 2 * text.len + 1);
    if (copy == NULL)
        return fail_memory(error);
    status = copy_front_matter(text, cut, copy, &len)
                 ? read_values(im, (gufo_str){copy, len}, card, error)
                 : ignore(im, "its front matter has more than 4 MiB", error);
    mem_free(&im->allocator, copy);
    return status;
}

/* ---- the file ------------------------------------------------------------------------------- */

static gufo_status read_file(gufo_import *im, const source *s, json_t **card, gufo_error *error)
{
    gufo_error reason = {.code = GUFO_OK};
    size_t len = (size_t)smaller(s->size, CARD_LIMIT + 1);
    char *bytes = mem_alloc(&im->allocator, len + 1);
    gufo_status status;

    if (bytes == NULL)
        return fail_memory(error);
    status = source_read(s, 0, bytes, len, &reason) != GUFO_OK
                 ? ignore(im, reason.message, error)
                 : read_text(im, (gufo_str){bytes, len}, card, error);
    mem_free(&im->allocator, bytes);
    return status;
}

gufo_status card_read(gufo_import *im, const model_config *config, json_t **card, gufo_error *error)
{
    gufo_error reason = {.code = GUFO_OK};
    gufo_status status;
    source s;

    *card = NULL;
    if (!source_folder_has(&config->folder, CARD_NAME))
        return GUFO_OK;
    status = source_folder_open(&config->folder, CARD_NAME, &im->allocator, &s, &reason) != GUFO_OK
                 ? ignore(im, reason.message, error)
                 : read_file(im, &s, card, error);
    source_close(&s);
    return status;
}
