/* What the checks of values share. */
#include "schema/syntax/syntax.h"

syntax_result syntax_fault(syntax_verdict verdict, gufo_str text, gufo_str part, const char *reason)
{
    return (syntax_result){.verdict = verdict,
                           .at = part.data != NULL ? (size_t)(part.data - text.data) : 0,
                           .part = part,
                           .reason = reason};
}

void syntax_hint_joined(syntax_result *result, const gufo_str *pieces, size_t count)
{
    size_t used = 0;
    bool good = true;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < pieces[i].len && good; j++) {
            char c = pieces[i].data[j];

            good = c >= ' ' && c <= '~' && used + 1 < sizeof result->hint;
            if (good)
                result->hint[used++] = c;
        }
    result->hint[good ? used : 0] = '\0';
}

void syntax_hint(syntax_result *result, gufo_str hint)
{
    syntax_hint_joined(result, &hint, 1);
}

syntax_result syntax_variant(gufo_str text, const char *reason, gufo_str standard)
{
    syntax_result result = syntax_fault(SYNTAX_VARIANT, text, text, reason);

    syntax_hint(&result, standard);
    return result;
}
