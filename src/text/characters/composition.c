/* Unicode's normalization form NFC, by utf8proc. */
#include "text/characters/composition.h"

#include <utf8proc.h>

#include "base/memory.h"

#define COMPOSE (UTF8PROC_STABLE | UTF8PROC_COMPOSE)

/* The code points of a text, composed; *count of them.  NULL without memory. */
static utf8proc_int32_t *compose(const gufo_allocator *allocator, gufo_str text,
                                 utf8proc_ssize_t *count)
{
    const utf8proc_uint8_t *bytes = (const utf8proc_uint8_t *)text.data;
    utf8proc_ssize_t len = (utf8proc_ssize_t)text.len;
    utf8proc_ssize_t room = utf8proc_decompose(bytes, len, NULL, 0, COMPOSE);
    utf8proc_int32_t *characters = mem_array(allocator, (uint64_t)room, sizeof *characters);

    if (characters == NULL)
        return NULL;
    *count = utf8proc_decompose(bytes, len, characters, room, COMPOSE);
    *count = utf8proc_normalize_utf32(characters, *count, COMPOSE);
    return characters;
}

bool add_composed(gufo_text *out, gufo_str text)
{
    const gufo_allocator *allocator = mem_allocator(out->allocator);
    utf8proc_int32_t *characters;
    utf8proc_ssize_t count;
    bool done;

    if (gufo_utf8_valid_prefix(text) < text.len)
        return text_add(out, text.data, text.len);
    characters = compose(allocator, text, &count);
    done = characters != NULL && (uint64_t)count <= SIZE_MAX / 4 &&
           text_reserve(out, (size_t)count * 4);
    for (utf8proc_ssize_t i = 0; done && i < count; i++)
        out->len +=
            (size_t)utf8proc_encode_char(characters[i], (utf8proc_uint8_t *)out->data + out->len);
    mem_free(allocator, characters);
    return done;
}
