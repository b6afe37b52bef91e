/* Fuzz target: read anything as each kind of text that has a form of its own. */
#include "walk.h"

#include "schema/syntax/json.h"
#include "schema/syntax/rwkv_world.h"
#include "schema/syntax/syntax.h"

#include <stdlib.h>
#include <string.h>

/* ---- forms ---------------------------------------------------------------------------------- */

typedef syntax_result form_fn(gufo_str text);

static bool ends(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

/* `repeats`: what the hint says is itself well-formed. */
static void read_form(form_fn *read, gufo_str text, bool repeats)
{
    syntax_result form = read(text);

    must(form.at <= text.len && form.part.len <= text.len - form.at, "the part is in the text");
    must(form.part.len == 0 || form.part.data == text.data + form.at, "the part begins there");
    must((form.reason != NULL) == (form.verdict != SYNTAX_OK), "a fault has a reason");
    must(ends(form.hint, sizeof form.hint), "a hint fits");
    if (repeats && form.hint[0] != '\0')
        must(read(gufo_str_of(form.hint)).verdict == SYNTAX_OK, "a hint is good advice");
}

/* ---- documents ------------------------------------------------------------------------------ */

static void read_documents(gufo_str text)
{
    json_fault json = json_check(text, NULL, NULL);
    world_survey world;

    must(rwkv_world_survey(text, NULL, &world, NULL) == GUFO_OK, "there is memory");
    must(json.at <= text.len && (json.reason != NULL || json.at == text.len), "JSON ends inside");
    must(world.at <= text.len && world.lines >= 1 && world.lines <= text.len + 1,
         "lines are inside");
    must((world.fault[0] != '\0') == (world.status != GUFO_OK), "a fault has a reason");
}

/* ---- rules ---------------------------------------------------------------------------------- */

static bool is_inside(gufo_str part, gufo_str text)
{
    return part.data >= text.data && part.len <= text.len - (size_t)(part.data - text.data);
}

static gufo_status take_type(void *context, const gufo_type_rule *rule, gufo_error *error)
{
    gufo_text name = {0};

    must(is_inside(rule->pattern, *(gufo_str *)context), "the pattern is in the text");
    must(is_inside(rule->type_name, *(gufo_str *)context), "the type is in the text");
    if (gufo_type_rule_tensor(rule->pattern, &name, error) == GUFO_OK)
        must(name.len <= rule->pattern.len - 2, "a name is shorter than its pattern");
    gufo_text_free(&name);
    return GUFO_OK;
}

static gufo_status take_place(void *context, const gufo_place_rule *rule, gufo_error *error)
{
    (void)error;
    must(is_inside(rule->pattern, *(gufo_str *)context), "the pattern is in the text");
    must(rule->place == GUFO_ESTIMATE_HOST ||
             (rule->place >= 0 && rule->place < GUFO_ESTIMATE_MAX_DEVICES),
         "the place exists");
    return GUFO_OK;
}

static void read_rules(gufo_str text)
{
    gufo_error error = {.offset = 0};
    gufo_status status = gufo_type_rules_read(text, take_type, &text, &error);

    must(status == GUFO_OK || error.offset < text.len, "what is not a rule is in the text");
    status = gufo_place_rules_read(text, take_place, &text, &error);
    must(status == GUFO_OK || error.offset < text.len, "what is not a rule is in the text");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A block of exactly this size, so that the first byte past it is noticed. */
    char *copy = malloc(size ? size : 1);
    gufo_str text = {copy, size};

    must(copy != NULL, "the machine has enough memory");
    if (size)
        memcpy(copy, data, size);
    read_form(syntax_license, text, false);
    read_form(syntax_language, text, true);
    read_form(syntax_uuid, text, true);
    read_form(syntax_doi, text, true);
    read_form(syntax_url, text, true);
    read_documents(text);
    read_rules(text);
    free(copy);
    return 0;
}
