/* The rules of architectures, from the tables of registry/: memory says how a model of an architecture
 * uses memory, memory_places where its tensors are and what they are for.  Their columns hold numbers and
 * words with blanks between; what a word means is an element of an enum from here on. */
#include <string.h>

#include "base/text.h"
#include "estimate/estimator.h"
#include "schema/registry/pattern.h"

typedef struct memory_row {
    const char *arch, *layers, *period, *window, *absent_window, *window_layers, *shared, *nextn,
        *state, *snapshots, *flash, *table, *compute, *extra, *tail, *margin;
} memory_row;

static const memory_row rows[] = {
#define ROW(arch, layers, period, window, absent_window, window_layers, shared, nextn, state, \
            snapshots, flash, table, compute, extra, tail, margin)                            \
    {arch,  layers,    period, window, absent_window, window_layers, shared, nextn,           \
     state, snapshots, flash,  table,  compute,       extra,         tail,   margin},
#include "registry/memory.inc"
#undef ROW
};

typedef struct place_row {
    const char *arch, *name, *words;
} place_row;

static const place_row places[] = {
#define ROW(arch, name, words) {arch, name, words},
#include "registry/memory_places.inc"
#undef ROW
};

/* ---- words ---------------------------------------------------------------------------------- */

typedef struct word_meaning {
    const char *word;
    unsigned is;
} word_meaning;

static const word_meaning layer_words[] = {
    {"attention", LAYERS_ATTENTION},
    {"both", LAYERS_BOTH},
    {"feed_forward", LAYERS_FEED_FORWARD},
    {"heads", LAYERS_HEADS},
    {"interval", LAYERS_INTERVAL},
    {"none", LAYERS_NONE},
    {"state", LAYERS_STATE},
};

static const word_meaning state_words[] = {
    {"mamba", STATE_MAMBA},
    {"rwkv", STATE_RWKV},
    {"shortconv", STATE_SHORTCONV},
};

#define WORD(name, word) {word, RULE_##name},
static const word_meaning rule_words[] = {RULE_WORDS_BY_NAME(WORD)};
#undef WORD
static const char usual_words[] = "auto cached key once";

static const word_meaning place_words[] = {
    {"every", PLACE_EVERY}, {"first", PLACE_FIRST},   {"host", PLACE_HOST},
    {"layer", PLACE_LAYER}, {"output", PLACE_OUTPUT}, {"unwindowed", PLACE_UNWINDOWED},
};

static const word_meaning role_words[] = {
    {"dense", ROLE_DENSE}, {"expert", ROLE_EXPERT}, {"fused", ROLE_FUSED},
    {"head", ROLE_HEAD},   {"table", ROLE_TABLE},
};

static bool is_none(const char *column)
{
    return strcmp(column, "-") == 0;
}

static bool find_word(const void *words, size_t count, size_t size, gufo_str word, unsigned *is)
{
    const word_meaning *found = row_find(words, count, size, word);

    if (found != NULL)
        *is = found->is;
    return found != NULL;
}

/* The words and the number of a column; 0 where it has none.  False for a word that has no meaning. */
static bool read_column(memory_rule *out, const char *column, uint64_t *number)
{
    unsigned is;

    for (const char *at = is_none(column) ? "" : column; *at != '\0';) {
        gufo_str word = str_piece(&at, ' ');

        if (str_digits(word, 0) == word.len && number != NULL && str_number(word, number))
            continue;
        if (find_word(ROWS(rule_words), word, &is))
            out->has[is] = true;
        else if (!str_is_word(word, usual_words))
            return false;
    }
    return true;
}

bool rule_read(memory_rule *out, gufo_str arch)
{
    const memory_row *row = row_find(ROWS(rows), arch);
    unsigned layers = 0, state = STATE_NONE;
    uint64_t snapshots = 0;

    *out = (memory_rule){0};
    if (row == NULL || !find_word(ROWS(layer_words), gufo_str_of(row->layers), &layers) ||
        !(is_none(row->state) || find_word(ROWS(state_words), gufo_str_of(row->state), &state)) ||
        !read_column(out, row->period, &out->period) ||
        !read_column(out, row->window, &out->window) ||
        !read_column(out, row->absent_window, &out->absent_window) ||
        !read_column(out, row->window_layers, &out->window_layers) ||
        !read_column(out, row->nextn, NULL) || !read_column(out, row->snapshots, &snapshots) ||
        !read_column(out, row->flash, NULL) || !read_column(out, row->table, NULL) ||
        !read_column(out, row->compute, NULL) || !read_column(out, row->extra, &out->extra) ||
        !read_column(out, row->tail, &out->tail) || !read_column(out, row->margin, &out->margin))
        return false;
    out->arch = row->arch;
    out->layers = (layers_rule)layers;
    out->state = (state_family)state;
    out->has_windows = !is_none(row->period);
    out->has_snapshots = snapshots > 0;
    out->is_measured = !is_none(row->compute);
    if (!str_number(gufo_str_of(row->shared), &out->shared) && !is_none(row->shared))
        out->shared_key = row->shared;
    return true;
}

/* ---- places --------------------------------------------------------------------------------- */

static const char *words_of(const char *arch, const char *name)
{
    size_t count;
    const place_row *first = row_find_all(ROWS(places), arch, &count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(first[i].name, name) == 0)
            return first[i].words;
    return NULL;
}

tensor_rule rule_read_tensor(const char *arch, const char *name)
{
    tensor_rule out = {str_begins(gufo_str_of(name), "blk.") ? PLACE_LAYER : PLACE_OUTPUT, 0};
    const char *at = words_of(arch, name);

    if (at == NULL)
        at = words_of("*", name);
    while (at != NULL && *at != '\0') {
        gufo_str word = str_piece(&at, ' ');
        unsigned is;

        if (find_word(ROWS(place_words), word, &is))
            out.place = (tensor_place)is;
        else if (find_word(ROWS(role_words), word, &is))
            out.roles |= is;
    }
    return out;
}
