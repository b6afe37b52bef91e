/* The draft of the first proposal of GGUF (June 2023), which says that it is version 1, too.
 *
 *     version 1    key  type:u32  value
 *     the draft    key  length of the value:u32  type:u32  value
 *
 * Its tensor infos have another field as well, and its keys other names.  What it is shows in the first
 * two entries (one could be either): read as entries of the draft, the second key of a file of
 * version 1 has its own letters as a length. */
#include "format/file/file.h"

#include "base/bytes.h"
#include "base/text.h"
#include "format/value/value.h"

enum { COUNT_AT = 12, START = 16, LENGTH = 4, LONGEST_KEY = 65535, LAST_TYPE = GUFO_VALUE_ARRAY };

static uint32_t number_at(const uint8_t *at)
{
    return load_u32(at, bytes_swapped(false));
}

/* Whether a value of this length is one of that type; *size becomes its bytes.  A string's length
 * may be that of its text alone. */
static bool is_value(uint32_t type, uint32_t len, const uint8_t *at, uint64_t left, uint64_t *size)
{
    uint64_t text;

    *size = len;
    if (type > LAST_TYPE)
        return false;
    if (type != GUFO_VALUE_STRING && type != GUFO_VALUE_ARRAY)
        return len == value_type_row(type)->size;
    if (left < LENGTH)
        return false;
    if (type == GUFO_VALUE_ARRAY)
        return len >= 2 * LENGTH;
    text = number_at(at);
    *size = LENGTH + text;
    return len == text || len == *size;
}

static bool is_key(const uint8_t *text, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return len > 0;
}

/* An entry at *at, which moves behind it. */
static bool is_entry(const uint8_t *data, uint64_t size, uint64_t *at)
{
    uint64_t key_at = *at + LENGTH, value_at, value_size;
    uint32_t key;

    if (size < key_at)
        return false;
    key = number_at(data + *at);
    if (key > LONGEST_KEY || size - key_at < key + 2 * (uint64_t)LENGTH ||
        !is_key(data + key_at, key))
        return false;
    value_at = key_at + key + 2 * (uint64_t)LENGTH;
    *at = value_at;
    if (!is_value(number_at(data + value_at - LENGTH), number_at(data + value_at - 2 * LENGTH),
                  data + value_at, size - value_at, &value_size) ||
        value_size > size - value_at)
        return false;
    *at += value_size;
    return true;
}

bool draft_recognise(const void *file, uint64_t size)
{
    const uint8_t *data = file;
    uint64_t at = START;

    return size >= START && number_at(data + LENGTH) == 1 && number_at(data + COUNT_AT) >= 2 &&
           is_entry(data, size, &at) && is_entry(data, size, &at);
}
