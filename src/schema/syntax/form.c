/* What the checks of values share. */
#include "schema/syntax/form_parts.h"

gufo_form form_fault(form_verdict verdict, gufo_str text, gufo_str part, const char *reason)
{
    return (gufo_form){.verdict = verdict,
                       .at = part.data != NULL ? (size_t)(part.data - text.data) : 0,
                       .part = part,
                       .reason = reason};
}

void form_hint_joined(gufo_form *form, const gufo_str *pieces, size_t count)
{
    size_t used = 0;
    bool good = true;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < pieces[i].len && good; j++) {
            char c = pieces[i].data[j];

            good = c >= ' ' && c <= '~' && used + 1 < sizeof form->hint;
            if (good)
                form->hint[used++] = c;
        }
    form->hint[good ? used : 0] = '\0';
}

void form_hint(gufo_form *form, gufo_str hint)
{
    form_hint_joined(form, &hint, 1);
}

gufo_form form_variant(gufo_str text, const char *reason, gufo_str standard)
{
    gufo_form form = form_fault(GUFO_FORM_VARIANT, text, text, reason);

    form_hint(&form, standard);
    return form;
}
