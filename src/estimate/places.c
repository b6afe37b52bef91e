/* Places of tensors by their names, as text: "blk\\.[0-9]\\.ffn=CPU,output=DEV0". */
#include <stdio.h>

#include "base/error.h"
#include "gufo/estimate.h"

const char *gufo_place_name(int place, char out[GUFO_PLACE_SIZE])
{
    if (place < 0)
        (void)snprintf(out, GUFO_PLACE_SIZE, "CPU");
    else
        (void)snprintf(out, GUFO_PLACE_SIZE, "DEV%d", place);
    return out;
}

static bool read_place(gufo_str text, int *out)
{
    uint64_t number;

    *out = GUFO_ESTIMATE_HOST;
    if (gufo_str_equal(text, gufo_str_of("CPU")))
        return true;
    if (!str_begins(text, "DEV") || !str_number(str_from(text, 3), &number) ||
        number >= GUFO_ESTIMATE_MAX_DEVICES)
        return false;
    *out = (int)number;
    return true;
}

/* Reads a rule, which is all of the text. */
static bool read_rule(gufo_str text, gufo_place_rule *out)
{
    size_t equals = text.len;

    while (equals > 0 && text.data[equals - 1] != '=')
        equals--;
    if (equals == 0)
        return false;
    *out = (gufo_place_rule){.pattern = {text.data, equals - 1}};
    return read_place(str_from(text, equals), &out->place);
}

gufo_status gufo_place_rules_read(gufo_str text, gufo_place_rule_fn *found, void *context,
                                  gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t at = 0; at < text.len && status == GUFO_OK; at++) {
        const char *begin = text.data + at, *comma = memchr(begin, ',', text.len - at);
        gufo_str piece = {begin, comma != NULL ? (size_t)(comma - begin) : text.len - at};
        gufo_place_rule rule;

        if (!read_rule(piece, &rule))
            return fail_with(error, GUFO_E_MALFORMED, at,
                             "PATTERN=CPU or PATTERN=DEV0 is needed, not %s", QUOTED(piece));
        status = found(context, &rule, error);
        at += piece.len;
    }
    return status;
}
