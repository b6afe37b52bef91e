/* The rules of architectures: the table memory, and the places of tensors that are outside blocks:
 * registry/memory_places.tsv.  Columns hold words with blanks between, or a number. */
#include "estimate/estimator.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "schema/registry/pattern.h"

static const memory_rule rules[] = {
#define ROW(arch, layers, period, window, absent_window, window_layers, shared, nextn, state, \
            snapshots, flash, table, compute, extra, tail, margin)                            \
    {arch,  layers,    period, window, absent_window, window_layers, shared, nextn,           \
     state, snapshots, flash,  table,  compute,       extra,         tail,   margin},
#include "registry/memory.inc"
#undef ROW
};

static const struct {
    const char *arch, *name, *place;
} places[] = {
#define ROW(arch, name, place) {arch, name, place},
#include "registry/memory_places.inc"
#undef ROW
};

static const struct {
    const char *word;
    tensor_place place;
} place_words[] = {
    {"every", PLACE_EVERY},   {"first", PLACE_FIRST},           {"host", PLACE_HOST},
    {"output", PLACE_OUTPUT}, {"unwindowed", PLACE_UNWINDOWED},
};

const memory_rule *rule_find(gufo_str arch)
{
    return row_find(ROWS(rules), arch);
}

bool rule_has(const char *column, const char *word)
{
    return str_is_word(gufo_str_of(word), column);
}

bool rule_is_measured(const memory_rule *rule)
{
    return strcmp(rule->compute, "-") != 0;
}

uint64_t rule_number(const char *column)
{
    gufo_str text = gufo_str_of(column);
    uint64_t number;

    text.len = str_digits(text, 0);
    return text.len > 0 && str_number(text, &number) ? number : 0;
}

static const char *place_word(const char *arch, const char *name)
{
    for (size_t i = 0; i < ROW_COUNT(places); i++)
        if (strcmp(places[i].arch, arch) == 0 && strcmp(places[i].name, name) == 0)
            return places[i].place;
    return NULL;
}

tensor_place rule_place(const char *arch, const char *name)
{
    const char *word = place_word(arch, name);

    if (word == NULL)
        word = place_word("*", name);
    for (size_t i = 0; word != NULL && i < ROW_COUNT(place_words); i++)
        if (strcmp(place_words[i].word, word) == 0)
            return place_words[i].place;
    return PLACE_OUTPUT;
}

gufo_status amount_refuse(gufo_error *error)
{
    return refuse(error, GUFO_E_RANGE, "the memory that it takes does not fit into 64 bits");
}
