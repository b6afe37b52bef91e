/* Rows of pictures of layers: the roles of matrices, in the order in which a token passes them. */
#include "report/facts/rows.h"

#include "base/sort.h"
#include "base/text.h"

enum { MOST_CELLS = 16384 }; /* of a picture: no model of today has half of that */

static bool has_matrix(const model_facts *f, size_t role)
{
    gufo_tensor tensor;

    for (uint64_t layer = 0; layer < gufo_layers_count(f->layers); layer++)
        if (facts_cell(f, layer, role, &tensor) && facts_is_matrix(&tensor))
            return true;
    return false;
}

/* Where a role is in the order; what is not listed comes last in its part. */
static unsigned rank_of(gufo_str role)
{
    static const role_class parts[] = {ROLE_ATTENTION, ROLE_RECURRENT, ROLE_FEED_FORWARD,
                                       ROLE_EXPERTS,   ROLE_OUTPUT,    ROLE_EMBEDDING,
                                       ROLE_OTHER};
    static const char *const ends[] = {
        "_q",         "_q_a",        "_q_b",      "_k",         "_kv_a_mqa", "_kv_b",
        "_k_b",       "_v_b",        "_v",        "_qkv",       "_output",   "_gate_inp",
        "_gate",      "_up",         "_down",     "_gate_exps", "_up_exps",  "_gate_up_exps",
        "_down_exps", "_gate_shexp", "_up_shexp", "_down_shexp"};
    enum { ENDS = sizeof ends / sizeof *ends, PARTS = sizeof parts / sizeof *parts };
    unsigned part = 0, end = 0;

    while (part < PARTS && parts[part] != role_class_of(role))
        part++;
    while (end < ENDS && !str_ends(role, ends[end]))
        end++;
    return part * (ENDS + 1) + end;
}

/* Roles of the same rank in the order of the file. */
static bool is_before(const void *owner, uint32_t a, uint32_t b)
{
    const model_facts *f = owner;
    unsigned left = rank_of(gufo_layers_role(f->layers, a));
    unsigned right = rank_of(gufo_layers_role(f->layers, b));

    return left < right || (left == right && a < b);
}

layer_rows rows_of(const model_facts *facts)
{
    uint32_t order[GUFO_MOST_ROLES];
    size_t all = gufo_layers_role_count(facts->layers), count = 0;
    const uint64_t layers = gufo_layers_count(facts->layers);
    const size_t most =
        layers <= MOST_CELLS / MOST_ROWS ? MOST_ROWS : (size_t)(MOST_CELLS / layers);
    layer_rows rows = {.count = 0};

    for (size_t role = 0; role < all; role++)
        if (has_matrix(facts, role))
            order[count++] = (uint32_t)role;
    for (size_t role = 0; count == 0 && role < all; role++)
        order[role] = (uint32_t)role;
    count = count > 0 ? count : all;
    sort_indices(order, count, is_before, facts);
    for (; rows.count < count && rows.count < most; rows.count++)
        rows.roles[rows.count] = order[rows.count];
    rows.skipped = all - rows.count;
    return rows;
}

layer_kind rows_layer_kind(const model_facts *facts, const layer_rows *rows, uint64_t layer)
{
    layer_kind kind = LAYER_EMPTY;

    for (size_t row = 0; row < rows->count; row++) {
        role_class part = role_class_of(gufo_layers_role(facts->layers, rows->roles[row]));
        layer_kind found = part == ROLE_RECURRENT   ? LAYER_RECURRENT
                           : part == ROLE_ATTENTION ? LAYER_ATTENTION
                                                    : LAYER_OTHER;

        if (found > kind && gufo_layers_at(facts->layers, layer, rows->roles[row], NULL))
            kind = found;
    }
    return kind;
}
