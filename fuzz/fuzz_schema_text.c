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
    free(copy);
    return 0;
}
