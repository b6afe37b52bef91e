/* Files of PyTorch before version 1.6: pickles in a row, and data.
 *
 *     | a large number | 1001 | {"little_endian": True ...} | the dictionary | ["key", ...] |
 *     | u64 elements | elements of the first key's storage | u64 elements | ...
 *
 * The first five are pickles. */
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "import/containers/torch.h"
#include "import/containers/torch_objects.h"

/* The pickle of the number 0x1950a86a20f9469cfc6c. */
static const uint8_t magic[] = {0x80, 2,    0x8a, 10,   0x6c, 0xfc, 0x9c, 0x46,
                                0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, '.'};

enum { PROTOCOL = 1001 };

bool torch_legacy_recognise(const uint8_t *bytes, size_t size)
{
    return size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

/* The value of a name in a dictionary. */
static pickle_value member(const pickle *p, pickle_value dictionary, const char *name)
{
    const pickle_object *pairs = pickle_items(p, dictionary);

    for (uint64_t i = 0; dictionary.kind == PICKLE_DICT && i + 1 < pairs->count; i += 2)
        if (gufo_str_equal(pickle_text(p, pairs->items[i]), gufo_str_of(name)))
            return pairs->items[i + 1];
    return (pickle_value){.kind = PICKLE_UNSET};
}

/* The protocol's number, and the byte order of what follows. */
static gufo_status read_head(pickle *p, bool *swapped)
{
    gufo_status status = pickle_read(p);
    pickle_value little;

    if (status == GUFO_OK && (p->result.kind != PICKLE_INT || p->result.is.number != PROTOCOL))
        status = pickle_fail(p, GUFO_E_VERSION, "the protocol of PyTorch is not %d", PROTOCOL);
    if (status == GUFO_OK)
        status = pickle_read(p);
    if (status != GUFO_OK)
        return status;
    little = member(p, p->result, "little_endian");
    if (little.kind != PICKLE_BOOL)
        return pickle_fail(p, GUFO_E_MALFORMED,
                           "the file does not say whether it is little-endian");
    *swapped = !little.is.number;
    return GUFO_OK;
}

/* A storage behind its number of elements; *at moves behind it. */
static gufo_status locate_storage(torch_objects *o, gufo_str key, bool swapped, uint64_t *at)
{
    torch_storage *storage = torch_storage_find(o, key);
    const source *s = o->pickle.source;
    gufo_error *error = o->pickle.error;
    uint8_t count[8];
    gufo_status status;
    uint64_t size;

    if (storage == NULL || storage->root.kind != PICKLE_UNSET || storage->located)
        return fail_with(error, GUFO_E_MALFORMED, *at,
                         "the list of storages has %s, which no tensor has, or which it has twice",
                         QUOTED(key));
    if (!range_inside(*at, sizeof count, s->size))
        return fail_with(error, GUFO_E_TRUNCATED, s->size, "the file ends before storage %s",
                         QUOTED(key));
    status = source_read(s, *at, count, sizeof count, error);
    if (status != GUFO_OK)
        return status;
    if (load_u64(count, bytes_swapped(swapped)) != storage->elements)
        return fail_with(error, GUFO_E_MALFORMED, *at,
                         "storage %s has %s elements, but its tensors say %s", QUOTED(key),
                         GROUPED(load_u64(count, bytes_swapped(swapped))),
                         GROUPED(storage->elements));
    *at += sizeof count;
    if (!checked_mul(storage->elements, torch_storage_width(storage), &size) ||
        !range_inside(*at, size, s->size))
        return fail_with(error, GUFO_E_TRUNCATED, s->size, "the file ends inside storage %s",
                         QUOTED(key));
    storage->offset = *at;
    storage->located = true;
    *at += size;
    return GUFO_OK;
}

static gufo_status locate_storages(torch_objects *o, bool swapped)
{
    pickle *p = &o->pickle;
    const pickle_object *keys = pickle_items(p, p->result);
    gufo_status status = GUFO_OK;
    uint64_t at = p->at;

    if (p->result.kind != PICKLE_LIST)
        return pickle_fail(p, GUFO_E_MALFORMED, "the storages are not in a list");
    for (uint64_t i = 0; i < keys->count && status == GUFO_OK; i++)
        status = locate_storage(o, pickle_text(p, keys->items[i]), swapped, &at);
    if (status == GUFO_OK && at != p->source->size)
        status = fail_with(p->error, GUFO_E_MALFORMED, at, "%s bytes follow the last storage",
                           GROUPED(p->source->size - at));
    return status;
}

static gufo_status read_objects(torch_objects *o, checkpoint *c, uint32_t file)
{
    pickle *p = &o->pickle;
    pickle_value dictionary;
    bool swapped = false;
    gufo_status status;

    p->at = sizeof magic;
    status = read_head(p, &swapped);
    if (status == GUFO_OK)
        status = pickle_read(p);
    dictionary = p->result;
    if (status == GUFO_OK)
        status = pickle_read(p);
    if (status != GUFO_OK)
        return status;
    c->files[file].head = p->at;
    source_trim(p->source, p->at); /* before names are views of it */
    status = locate_storages(o, swapped);
    return status == GUFO_OK ? torch_objects_add(o, dictionary, c, file, swapped) : status;
}

gufo_status torch_legacy_read(checkpoint *c, uint32_t file, gufo_error *error)
{
    source *s = &c->files[file].source;
    torch_objects objects;
    gufo_status status;

    s->buffer_limit = PICKLE_MAX_SIZE;
    status = torch_objects_new(&objects, s, 0, c->allocator, error);
    if (status == GUFO_OK)
        status = read_objects(&objects, c, file);
    torch_objects_free(&objects);
    return status;
}
