/* The pre-tokenizer of a byte-level vocabulary: its steps, in the words of
 * registry/pretokenizer_steps.tsv. */
#include <string.h>

#include "base/error.h"
#include "import/tokenizers/pre.h"
#include "text/pipeline/step_reading.h"

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

static bool append_split(step_reading *r, buffer *out)
{
    const json_t *pattern = step_object(r, "pattern");
    gufo_str behavior = step_text(r, "behavior"), regex = json_str(json_member(pattern, "Regex"));
    bool invert = step_flag(r, "invert");

    if (invert)
        behavior = gufo_str_of(str_is(behavior, "Removed") ? "Kept" : "inverted");
    return append_words(out, "Split ", behavior) && append(out, gufo_str_of(" ")) &&
           append_regex(out, regex.len > 0 ? regex : json_str(json_member(pattern, "String")));
}

static bool append_step(step_reading *r, buffer *out)
{
    if (step_is(r, "Split"))
        return append_split(r, out);
    if (step_is(r, "Punctuation"))
        return append_words(out, "Punctuation ", step_text_or(r, "behavior", "Isolated"));
    if (step_is(r, "Digits"))
        return append_words(out, "Digits ",
                            gufo_str_of(step_flag(r, "individual_digits") ? "individual" : "runs"));
    if (step_is(r, "ByteLevel"))
        return append(out, gufo_str_of(step_flag_or(r, "use_regex", true) ? "ByteLevel" : "Bytes"));
    return append(out, r->type);
}

static gufo_status take(step_reading *r, void *context)
{
    buffer *out = context;

    return append_step(r, out) && append(out, gufo_str_of("\n")) ? r->status : step_no_memory(r);
}

gufo_status pre_spell(tokenizer_reading *r, buffer *out)
{
    return reading_each_step(r, PRE_TOKENIZER, take, out);
}
