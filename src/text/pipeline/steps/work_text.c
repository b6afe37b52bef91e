/* A text on its way, and the origins of its bytes: both grow in step. */
#include "text/pipeline/steps/work_text.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "gufo/print.h"

enum { LEAST_ROOM = 256 };

void work_text_free(work_text *t)
{
    mem_free(t->allocator, t->data);
    mem_free(t->allocator, t->origins);
    *t = (work_text){.allocator = t->allocator, .keeps_origins = t->keeps_origins};
}

void work_text_clear(work_text *out, const work_text *in)
{
    out->len = 0;
    out->begins = false;
    out->keeps_origins = in->keeps_origins;
    out->start = in->start;
}

bool work_text_cut(work_text *out, const work_text *in, size_t begin, size_t end)
{
    work_text_clear(out, in);
    if (in->keeps_origins && begin < in->len)
        out->start = in->origins[begin].begin;
    return work_text_keep(out, in, begin, end);
}

bool work_text_reserve(work_text *t, size_t more)
{
    size_t room = t->room < LEAST_ROOM ? LEAST_ROOM : t->room;
    bool ready = t->data != NULL && (t->origins != NULL || !t->keeps_origins);
    char *data;

    if (more > UINT32_MAX - t->len)
        return false;
    while (room - t->len < more)
        room *= 2;
    if (room == t->room && ready)
        return true;
    data = mem_resize(t->allocator, t->data, room);
    if (data == NULL)
        return false;
    t->data = data;
    if (t->keeps_origins) {
        text_origin *origins = room <= SIZE_MAX / sizeof *origins
                                   ? mem_resize(t->allocator, t->origins, room * sizeof *origins)
                                   : NULL;

        if (origins == NULL)
            return false;
        t->origins = origins;
    } else if (room > t->room) { /* they have less room than the bytes now */
        mem_free(t->allocator, t->origins);
        t->origins = NULL;
    }
    t->room = room;
    return true;
}

bool work_text_keep(work_text *out, const work_text *in, size_t begin, size_t end)
{
    size_t len = end - begin;

    if (len == 0)
        return true;
    if (!work_text_reserve(out, len))
        return false;
    if (out->len == 0)
        out->begins = work_text_begins(in, begin);
    memcpy(out->data + out->len, in->data + begin, len);
    if (out->keeps_origins)
        memcpy(out->origins + out->len, in->origins + begin, len * sizeof *out->origins);
    out->len += len;
    return true;
}

static text_origin origin_of(const work_text *in, size_t begin, size_t end)
{
    if (begin < end)
        return work_text_origin(in, begin, end);
    if (begin == 0)
        return (text_origin){in->start, in->start};
    return (text_origin){in->origins[begin - 1].end, in->origins[begin - 1].end};
}

/* Appends bytes with one origin, which counts if origins are kept. */
static bool put(work_text *out, gufo_str text, bool begins, text_origin origin)
{
    if (text.len == 0)
        return true;
    if (!work_text_reserve(out, text.len))
        return false;
    if (out->len == 0)
        out->begins = begins;
    memcpy(out->data + out->len, text.data, text.len);
    for (size_t i = 0; out->keeps_origins && i < text.len; i++)
        out->origins[out->len + i] = origin;
    out->len += text.len;
    return true;
}

bool work_text_put(work_text *out, const work_text *in, size_t begin, size_t end, gufo_str text)
{
    return put(out, text, work_text_begins(in, begin),
               out->keeps_origins ? origin_of(in, begin, end) : (text_origin){0, 0});
}

static bool work_text_put_original(work_text *out, gufo_str text, size_t begin, size_t end)
{
    return put(out, text, begin == 0, (text_origin){(uint32_t)begin, (uint32_t)end});
}

bool work_text_take(work_text *out, gufo_str text)
{
    if (!out->keeps_origins && gufo_utf8_valid_prefix(text) == text.len)
        return work_text_put_original(out, text, 0, text.len);
    for (size_t at = 0, size; at < text.len; at += size) {
        uint32_t code_point;
        gufo_str character = {text.data + at, 0};

        size = character.len = gufo_utf8_decode(str_from(text, at), &code_point);
        if (size == 0) {
            size = 1;
            character = gufo_str_of("\xef\xbf\xbd");
        }
        if (!work_text_put_original(out, character, at, at + size))
            return false;
    }
    return true;
}
