/* What the checks of strings share. */
#include "schema/form_parts.h"

#include <string.h>

int str_compare_folded(gufo_str a, gufo_str b)
{
    for (size_t i = 0; i < a.len && i < b.len; i++) {
        unsigned char x = (unsigned char)to_lower(a.data[i]);
        unsigned char y = (unsigned char)to_lower(b.data[i]);

        if (x != y)
            return x < y ? -1 : 1;
    }
    return (a.len > b.len) - (a.len < b.len);
}

bool str_begins_folded(gufo_str text, const char *start)
{
    size_t len = strlen(start);

    return text.len >= len &&
           str_compare_folded((gufo_str){text.data, len}, (gufo_str){start, len}) == 0;
}

gufo_form form_fault(form_verdict verdict, gufo_str text, gufo_str part, const char *reason)
{
    return (gufo_form){.verdict = verdict,
                       .at = part.data != NULL ? (size_t)(part.data - text.data) : 0,
                       .part = part,
                       .reason = reason};
}

/* False if the piece cannot be in one. */
static bool append(gufo_form *form, gufo_str piece)
{
    size_t used = strlen(form->hint);

    if (used + piece.len >= sizeof form->hint)
        return false;
    for (size_t i = 0; i < piece.len; i++) {
        if (piece.data[i] < ' ' || piece.data[i] > '~')
            return false;
        form->hint[used + i] = piece.data[i];
    }
    form->hint[used + piece.len] = '\0';
    return true;
}

void form_hint_joined(gufo_form *form, const gufo_str *pieces, size_t count)
{
    form->hint[0] = '\0';
    for (size_t i = 0; i < count; i++)
        if (!append(form, pieces[i])) {
            form->hint[0] = '\0';
            return;
        }
}

void form_hint(gufo_form *form, gufo_str hint)
{
    form_hint_joined(form, &hint, 1);
}
