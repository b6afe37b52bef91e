/* The pre-tokenizer of a byte-level vocabulary: its steps, in the words of
 * registry/pretokenizer_steps.tsv. */
#include "text/formats/json_reading.h"

#include <string.h>

#include "base/buffer.h"
#include "base/error.h"

static bool append(buffer *out, gufo_str text)
{
    return buffer_append(out, text.data, text.len);
}

static bool append_words(buffer *out, const char *first, gufo_str second)
{
    return append(out, gufo_str_of(first)) && append(out, second);
}

/* Line ends and tabs as escapes, which mean the same. */
static bool append_regex(buffer *out, gufo_str regex)
{
    for (size_t i = 0; i < regex.len; i++) {
        char c = regex.data[i];
        gufo_str text = c == '\n'   ? gufo_str_of("\\n")
                        : c == '\r' ? gufo_str_of("\\r")
                        : c == '\t' ? gufo_str_of("\\t")
                                    : (gufo_str){&regex.data[i], 1};

        if (!append(out, text))
            return false;
    }
    return true;
}

static bool append_split(json_reading *r, const json_t *step, buffer *out)
{
    const json_t *pattern = json_member(step, "pattern");
    gufo_str behavior = json_word(r, step, "behavior"), regex = json_word(r, pattern, "Regex");
    bool invert = json_flag(r, step, "invert", false);

    if (invert && str_is(behavior, "Removed"))
        behavior = gufo_str_of("Kept");
    else if (invert)
        behavior = gufo_str_of("inverted");
    return append_words(out, "Split ", behavior) && append(out, gufo_str_of(" ")) &&
           append_regex(out, regex.len > 0 ? regex : json_word(r, pattern, "String"));
}

static bool append_step(json_reading *r, const json_t *step, gufo_str type, buffer *out)
{
    gufo_str behavior = json_word(r, step, "behavior");

    if (str_is(type, "Split"))
        return append_split(r, step, out);
    if (str_is(type, "Punctuation"))
        return append_words(out, "Punctuation ",
                            behavior.len > 0 ? behavior : gufo_str_of("Isolated"));
    if (str_is(type, "Digits"))
        return append_words(
            out, "Digits ",
            gufo_str_of(json_flag(r, step, "individual_digits", false) ? "individual" : "runs"));
    if (str_is(type, "ByteLevel"))
        return append(out,
                      gufo_str_of(json_flag(r, step, "use_regex", true) ? "ByteLevel" : "Bytes"));
    return append(out, type);
}

static gufo_status take(json_reading *r, const json_t *step, gufo_str type, void *context)
{
    buffer *out = context;

    if (str_is(type, "ByteLevel") && json_flag(r, step, "add_prefix_space", true) &&
        r->status == GUFO_OK)
        r->status =
            json_unsayable(r, "GGUF cannot express that ByteLevel adds a space before a text");
    if (!append_step(r, step, type, out) || !append(out, gufo_str_of("\n")))
        return fail_memory(r->error);
    return r->status;
}

gufo_status json_spell_pre(json_reading *r, buffer *out)
{
    return json_each_step(r, "pre_tokenizer", "pretokenizers", take, out);
}
