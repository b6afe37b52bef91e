/* What the bytes of a rewritten text come from. */
#include "text/characters/origins.h"

#include <utf8proc.h>

#include "base/memory.h"
#include "text/characters/characters.h"
#include "text/characters/escapes.h"

void origins_free(origin_list *o)
{
    mem_free(o->allocator, o->list);
    *o = (origin_list){.allocator = o->allocator};
}

bool origins_add(origin_list *o, text_origin origin, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_origin *list = mem_grow(o->allocator, o->list, o->count, &o->room, sizeof *list);

        if (list == NULL)
            return false;
        o->list = list;
        list[o->count++] = origin;
    }
    return true;
}

text_origin origin_of_first(gufo_str text, size_t at)
{
    size_t size;

    (void)lenient_decode(text.data, text.len, &size);
    return origin_of_bytes(at, size);
}

bool origins_add_text(origin_list *o, gufo_str text, size_t at)
{
    for (size_t i = 0, size; i < text.len; i += size) {
        (void)lenient_decode(text.data + i, text.len - i, &size);
        if (!origins_add(o, origin_of_bytes(at + i, size), size))
            return false;
    }
    return true;
}

bool origins_add_lenient(origin_list *o, gufo_str text, size_t at)
{
    for (size_t i = 0, size; i < text.len; i += size) {
        uint32_t code_point = lenient_decode(text.data + i, text.len - i, &size);
        char written[4];

        if (!origins_add(o, origin_of_bytes(at + i, size), lenient_encode(code_point, written)))
            return false;
    }
    return true;
}

bool origins_add_escaped(origin_list *o, gufo_str text, const text_origin *from)
{
    for (size_t i = 0; i < text.len; i++)
        if (!origins_add(o, from[i], text.data[i] == ' ' ? sizeof ESCAPED_SPACE - 1 : 1))
            return false;
    return true;
}

/* ---- code points with their origins --------------------------------------------------------- */

void points_free(point_list *p)
{
    mem_free(p->allocator, p->list);
    *p = (point_list){.allocator = p->allocator};
}

bool points_add(point_list *p, uint32_t code_point, text_origin origin)
{
    placed_point *list = mem_grow(p->allocator, p->list, p->count, &p->room, sizeof *list);

    if (list == NULL)
        return false;
    p->list = list;
    list[p->count++] = (placed_point){code_point, origin};
    return true;
}

static int combining_class(uint32_t code_point)
{
    return utf8proc_get_property((utf8proc_int32_t)code_point)->combining_class;
}

enum { MOST_PARTS = 8 };

/* The canonical decomposition of a character; how many characters that are. */
static size_t decompose(uint32_t code_point, utf8proc_int32_t parts[MOST_PARTS])
{
    int boundary = 0;
    utf8proc_ssize_t count = utf8proc_decompose_char((utf8proc_int32_t)code_point, parts,
                                                     MOST_PARTS, UTF8PROC_DECOMPOSE, &boundary);

    if (count >= 1 && count <= MOST_PARTS)
        return (size_t)count;
    parts[0] = (utf8proc_int32_t)code_point;
    return 1;
}

/* Appends a decomposed character: marks go in front of those of a higher class. */
static bool add_in_order(point_list *p, uint32_t code_point, text_origin origin)
{
    int class = combining_class(code_point);
    uint64_t at = p->count;

    if (!points_add(p, code_point, origin))
        return false;
    for (; class > 0 && at > 0 && combining_class(p->list[at - 1].code_point) > class; at--)
        p->list[at] = p->list[at - 1];
    p->list[at] = (placed_point){code_point, origin};
    return true;
}

/* Takes the next one of p->list[first ...] that is this character, and was not taken. */
static uint64_t take_point(const point_list *p, bool *taken, uint64_t first, uint32_t code_point)
{
    while (first < p->count && (taken[first] || p->list[first].code_point != code_point))
        first++;
    if (first < p->count)
        taken[first] = true;
    return first;
}

/* Gives each of `count` characters, which utf8proc composed of those in the list, its place in it. */
static void place_composed(point_list *p, const utf8proc_int32_t *composed, size_t count,
                           bool *taken)
{
    uint64_t first = 0;

    for (size_t i = 0; i < count; i++) {
        utf8proc_int32_t parts[MOST_PARTS];
        size_t part_count = decompose((uint32_t)composed[i], parts);
        uint64_t at;

        while (first < p->count && taken[first])
            first++;
        at = take_point(p, taken, first, (uint32_t)parts[0]);
        for (size_t k = 1; k < part_count; k++)
            (void)take_point(p, taken, at, (uint32_t)parts[k]);
        p->list[i] = (placed_point){(uint32_t)composed[i],
                                    at < p->count ? p->list[at].origin : (text_origin){0, 0}};
    }
    p->count = count;
}

static bool compose(point_list *p)
{
    utf8proc_int32_t *composed = mem_array(p->allocator, p->count, sizeof *composed);
    bool *taken = mem_array(p->allocator, p->count, sizeof *taken);
    bool done = composed != NULL && taken != NULL;

    if (done) {
        for (uint64_t i = 0; i < p->count; i++)
            composed[i] = (utf8proc_int32_t)p->list[i].code_point;
        place_composed(p, composed,
                       (size_t)utf8proc_normalize_utf32(composed, (utf8proc_ssize_t)p->count,
                                                        UTF8PROC_COMPOSE | UTF8PROC_STABLE),
                       taken);
    }
    mem_free(p->allocator, composed);
    mem_free(p->allocator, taken);
    return done;
}

bool points_normalize(point_list *p, bool composes)
{
    point_list made = {.allocator = p->allocator};
    bool done = true;

    for (uint64_t i = 0; done && i < p->count; i++) {
        utf8proc_int32_t parts[MOST_PARTS];
        size_t count = decompose(p->list[i].code_point, parts);

        for (size_t k = 0; done && k < count; k++)
            done = add_in_order(&made, (uint32_t)parts[k], p->list[i].origin);
    }
    if (done && composes && made.count > 0)
        done = compose(&made);
    points_free(p);
    *p = made;
    return done;
}
