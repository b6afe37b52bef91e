/* The pre-tokenizer of a tokenizer.json: the steps that registry/pretokenizer_steps.tsv has for a
 * name. */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "text/export/json_writing.h"
#include "text/pretokenizers/pre_steps.h"

static json_t *byte_level(bool regex)
{
    return json_pack("{s:s, s:b, s:b, s:b}", "type", "ByteLevel", "add_prefix_space", 0,
                     "trim_offsets", 1, "use_regex", regex);
}

/* "Isolated EXPRESSION"; Kept is the inverse of Removed. */
static json_t *split(gufo_str rest)
{
    const char *space = memchr(rest.data, ' ', rest.len);
    size_t len = space != NULL ? (size_t)(space - rest.data) : rest.len;
    bool kept = len == 4 && memcmp(rest.data, "Kept", len) == 0;
    gufo_str regex = str_from(rest, len + (space != NULL)),
             behavior = kept ? gufo_str_of("Removed") : (gufo_str){rest.data, len};

    return json_pack("{s:s, s:{s:s%}, s:s%, s:b}", "type", "Split", "pattern", "Regex", regex.data,
                     regex.len, "behavior", behavior.data, behavior.len, "invert", kept);
}

static json_t *step_of(const char *words)
{
    gufo_str step = gufo_str_of(words);

    if (str_begins(step, "Split "))
        return split(str_from(step, 6));
    if (str_begins(step, "Digits "))
        return json_pack("{s:s, s:b}", "type", "Digits", "individual_digits",
                         strcmp(words, "Digits individual") == 0);
    if (str_begins(step, "Punctuation "))
        return json_pack("{s:s, s:s}", "type", "Punctuation", "behavior",
                         words + strlen("Punctuation "));
    return byte_level(strcmp(words, "ByteLevel") == 0);
}

gufo_status json_make_pre(json_export *e)
{
    const char *pre = gufo_vocab_describe(e->vocab).pre;
    const pre_step *row = pre != NULL ? pre_steps_of(pre) : NULL;
    json_t *steps;

    if (row == NULL)
        return refuse(e->error, GUFO_E_TYPE,
                      "the pre-tokenizer \"%s\" has no form in tokenizer.json",
                      pre != NULL ? pre : "");
    steps = json_array();
    do {
        if (json_array_append_new(steps, step_of(row->step)) != 0) {
            json_decref(steps);
            return fail_memory(e->error);
        }
    } while (!pre_step_is_last(row++));
    e->pre_tokenizer = json_array_size(steps) == 1
                           ? json_incref(json_array_get(steps, 0))
                           : json_pack("{s:s, s:O}", "type", "Sequence", "pretokenizers", steps);
    json_decref(steps);
    return GUFO_OK;
}
