/* Tensors by layer and role, as their names say it. */
#include "gufo/summary.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

gufo_str gufo_tensor_role(gufo_str name, uint64_t *layer)
{
    static const char before[] = "blk.", after[] = ".weight";
    size_t at = sizeof before - 1, digits;
    uint64_t number = GUFO_NO_LAYER;

    if (str_ends(name, after))
        name.len -= sizeof after - 1;
    if (str_begins(name, before)) {
        digits = str_digits(name, at);
        if (name.len > at + digits && name.data[at + digits] == '.' &&
            str_number((gufo_str){name.data + at, digits}, &number))
            name = str_from(name, at + digits + 1);
        else
            number = GUFO_NO_LAYER;
    }
    if (layer != NULL)
        *layer = number;
    return name;
}

/* ---- the table -------------------------------------------------------------------------------- */

enum { NOTHING = 0 }; /* in a cell; else the item and 1 */

struct gufo_layers {
    gufo_allocator allocator;
    gufo_str roles[GUFO_MOST_ROLES];
    size_t role_count;
    uint64_t *cells; /* of a layer all roles are neighbours, as many as there may be */
    uint64_t layer_count, layer_room;
    struct {
        gufo_str role;
        uint32_t item;
    } others[GUFO_MOST_ROLES];
    size_t other_count;
    uint64_t left_out;
};

gufo_layers *gufo_layers_new(const gufo_layers_options *options, gufo_error *error)
{
    if (options != NULL &&
        reserved_check(options->reserved, "gufo_layers_options", error) != GUFO_OK)
        return NULL;
    return mem_object(options != NULL ? options->allocator : NULL, sizeof(gufo_layers), error);
}

void gufo_layers_free(gufo_layers *layers)
{
    gufo_allocator allocator;

    if (layers == NULL)
        return;
    allocator = layers->allocator;
    mem_free(&allocator, layers->cells);
    mem_free(&allocator, layers);
}

static size_t find_role(gufo_layers *t, gufo_str role)
{
    size_t i = 0;

    while (i < t->role_count && !gufo_str_equal(t->roles[i], role))
        i++;
    if (i == t->role_count && i < GUFO_MOST_ROLES)
        t->roles[t->role_count++] = role;
    return i;
}

static bool add_layers(gufo_layers *t, uint64_t count)
{
    uint64_t room = t->layer_room > 0 ? t->layer_room : 8;
    const size_t row = GUFO_MOST_ROLES * sizeof *t->cells;
    uint64_t *cells;

    while (room < count)
        room *= 2;
    if (room > t->layer_room) {
        cells = mem_resize(&t->allocator, t->cells, (size_t)room * row);
        if (cells == NULL)
            return false;
        memset(cells + t->layer_room * GUFO_MOST_ROLES, 0, (size_t)(room - t->layer_room) * row);
        t->cells = cells;
        t->layer_room = room;
    }
    if (count > t->layer_count)
        t->layer_count = count;
    return true;
}

static void add_other(gufo_layers *t, gufo_str role, uint32_t item)
{
    if (t->other_count == GUFO_MOST_ROLES) {
        t->left_out++;
        return;
    }
    t->others[t->other_count].role = role;
    t->others[t->other_count++].item = item;
}

gufo_status gufo_layers_add(gufo_layers *layers, gufo_str name, uint32_t *item, gufo_error *error)
{
    uint64_t layer, *cell;
    gufo_str role = gufo_tensor_role(name, &layer);
    size_t column = layer < GUFO_MOST_LAYERS ? find_role(layers, role) : GUFO_MOST_ROLES;

    if (layer == GUFO_NO_LAYER) {
        add_other(layers, role, *item);
        return GUFO_OK;
    }
    if (column == GUFO_MOST_ROLES) {
        layers->left_out++;
        return GUFO_OK;
    }
    if (!add_layers(layers, layer + 1))
        return fail_memory(error);
    cell = &layers->cells[layer * GUFO_MOST_ROLES + column];
    if (*cell == NOTHING)
        *cell = (uint64_t)*item + 1;
    else
        *item = (uint32_t)(*cell - 1);
    return GUFO_OK;
}

uint64_t gufo_layers_count(const gufo_layers *layers)
{
    return layers->layer_count;
}

size_t gufo_layers_role_count(const gufo_layers *layers)
{
    return layers->role_count;
}

uint64_t gufo_layers_left_out(const gufo_layers *layers)
{
    return layers->left_out;
}

gufo_str gufo_layers_role(const gufo_layers *layers, size_t role)
{
    return role < layers->role_count ? layers->roles[role] : (gufo_str){0};
}

bool gufo_layers_at(const gufo_layers *layers, uint64_t layer, size_t role, uint32_t *item)
{
    uint64_t cell;

    if (layer >= layers->layer_count || role >= layers->role_count)
        return false;
    cell = layers->cells[layer * GUFO_MOST_ROLES + role];
    if (cell != NOTHING && item != NULL)
        *item = (uint32_t)(cell - 1);
    return cell != NOTHING;
}

bool gufo_layers_other(const gufo_layers *layers, size_t index, gufo_str *role, uint32_t *item)
{
    if (index >= layers->other_count)
        return false;
    if (role != NULL)
        *role = layers->others[index].role;
    if (item != NULL)
        *item = layers->others[index].item;
    return true;
}
