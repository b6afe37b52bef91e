/* Operations on names of tensors, and on whole tensors. */
#include "import/architectures/operations/operations_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

/* ---- names ---------------------------------------------------------------------------------- */

static gufo_status fail_long(gufo_error *error)
{
    return refuse(error, GUFO_E_LIMIT, "its name becomes longer than %d bytes", ITEM_NAME);
}

/* Replaces bytes [at, at + len) of the name. */
static bool replace(item *it, size_t at, size_t len, gufo_str by)
{
    size_t all = strlen(it->name);

    if (all - len + by.len > ITEM_NAME)
        return false;
    memmove(it->name + at + by.len, it->name + at + len, all - at - len + 1);
    if (by.len > 0)
        memcpy(it->name + at, by.data, by.len);
    return true;
}

gufo_status names_rename(const operation_call *c, gufo_error *error)
{
    item *it = c->item;
    gufo_str from = c->texts[0], to = c->n_arguments > 1 ? c->texts[1] : (gufo_str){"", 0};
    size_t at = 0;
    const char *found;

    while ((found = str_search(gufo_str_of(it->name + at), from)) != NULL) {
        at = (size_t)(found - it->name);
        if (!replace(it, at, from.len, to))
            return fail_long(error);
        at += to.len;
    }
    return GUFO_OK;
}

gufo_status names_strip(const operation_call *c, gufo_error *error)
{
    gufo_str start = c->texts[0];

    (void)error;
    if (strlen(c->item->name) >= start.len && memcmp(c->item->name, start.data, start.len) == 0)
        (void)replace(c->item, 0, start.len, (gufo_str){"", 0});
    return GUFO_OK;
}

gufo_status names_begin(const operation_call *c, gufo_error *error)
{
    return replace(c->item, 0, 0, c->texts[0]) ? GUFO_OK : fail_long(error);
}

gufo_status names_end(const operation_call *c, gufo_error *error)
{
    return replace(c->item, strlen(c->item->name), 0, c->texts[0]) ? GUFO_OK : fail_long(error);
}

/* The first part of a name that has digits alone; an empty text: none. */
static gufo_str block_of(const char *name)
{
    gufo_str rest = gufo_str_of(name);

    while (rest.len > 0) {
        const char *dot = memchr(rest.data, '.', rest.len);
        gufo_str part = {rest.data, dot != NULL ? (size_t)(dot - rest.data) : rest.len};

        if (part.len > 0 && str_digits(part, 0) == part.len)
            return part;
        rest = str_from(rest, part.len + (part.len < rest.len));
    }
    return rest;
}

uint64_t names_block(const char *name)
{
    gufo_str part = block_of(name);
    uint64_t number;

    return part.len > 0 && str_number(part, &number) ? number : UINT64_MAX;
}

gufo_status names_renumber(const operation_call *c, gufo_error *error)
{
    gufo_str part = block_of(c->item->name);
    uint64_t number;
    char text[32];

    if (part.len == 0 || !str_number(part, &number) || !checked_add(number, c->numbers[0], &number))
        return refuse(error, GUFO_E_ARGUMENT, "its name has no number of a block");
    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    return replace(c->item, (size_t)(part.data - c->item->name), part.len, gufo_str_of(text))
               ? GUFO_OK
               : fail_long(error);
}

/* ---- tensors -------------------------------------------------------------------------------- */

gufo_status names_keep(const operation_call *c, gufo_error *error)
{
    (void)c, (void)error;
    return GUFO_OK;
}

gufo_status names_drop(const operation_call *c, gufo_error *error)
{
    (void)error;
    c->item->fate = ITEM_DROPPED;
    return GUFO_OK;
}

gufo_status names_skip(const operation_call *c, gufo_error *error)
{
    c->item->skipped = true;
    return names_drop(c, error);
}

/* The first tensor of a group stays, the others are dropped. */
gufo_status names_first(const operation_call *c, gufo_error *error)
{
    planner *p = c->planner;
    gufo_str *list;

    for (uint64_t i = 0; i < p->first_count; i++)
        if (gufo_str_equal(p->firsts[i], c->texts[0]))
            return names_drop(c, error);
    list =
        mem_grow(p->grown.plan->allocator, p->firsts, p->first_count, &p->first_room, sizeof *list);
    if (list == NULL)
        return fail_memory(error);
    p->firsts = list;
    list[p->first_count++] = c->texts[0];
    return GUFO_OK;
}

gufo_status names_refuse(const operation_call *c, gufo_error *error)
{
    return refuse(error, GUFO_E_TYPE, "%.*s", (int)c->texts[0].len, c->texts[0].data);
}
