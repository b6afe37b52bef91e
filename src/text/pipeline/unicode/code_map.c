/* A byte for each code point, found in two steps: pages that are equal are stored once. */
#include "text/pipeline/unicode/code_map.h"

#include <string.h>

#include "base/memory.h"

enum { PAGE = 256, PAGE_COUNT = (LAST_CODE_POINT >> 8) + 1 };

void code_map_free(code_map *m, const gufo_allocator *allocator)
{
    mem_free(allocator, m->blocks);
    m->blocks = NULL;
}

/* The block with these bytes among the first `count`: maybe that of the page before, as neighbours are alike. */
static size_t find_block(const uint8_t *blocks, size_t count, size_t before, const uint8_t *page)
{
    if (before < count && memcmp(blocks + before * PAGE, page, PAGE) == 0)
        return before;
    for (size_t i = count; i-- > 0;)
        if (memcmp(blocks + i * PAGE, page, PAGE) == 0)
            return i;
    return count;
}

bool code_map_pack(code_map *m, const uint8_t *flat, const gufo_allocator *allocator)
{
    uint64_t room = 0;
    size_t count = 0, block = 0;

    m->blocks = NULL;
    for (size_t i = 0; i < PAGE_COUNT; i++) {
        block = find_block(m->blocks, count, block, flat + i * PAGE);
        if (block == count) {
            uint8_t *blocks = mem_grow(allocator, m->blocks, count, &room, PAGE);

            if (blocks == NULL) {
                code_map_free(m, allocator);
                return false;
            }
            m->blocks = blocks;
            memcpy(blocks + count++ * PAGE, flat + i * PAGE, PAGE);
        }
        m->pages[i] = (uint16_t)block;
    }
    return true;
}

static bool add_bit(uint8_t *flat, const char *name, unsigned bit, const gufo_allocator *allocator)
{
    code_ranges ranges = {.allocator = allocator};
    bool done = code_ranges_add_property(&ranges, gufo_str_of(name), PROPERTY_EXACT);

    for (uint64_t i = 0; i < ranges.count && done; i++)
        for (uint32_t c = ranges.list[i].first; c <= ranges.list[i].last; c++)
            flat[c] |= (uint8_t)(1u << bit);
    code_ranges_free(&ranges);
    return done;
}

code_map *code_map_of_properties(const char *const *names, size_t count,
                                 const gufo_allocator *allocator)
{
    uint8_t *flat = mem_zero(allocator, LAST_CODE_POINT + 1);
    code_map *m = mem_zero(allocator, sizeof *m);
    bool done = flat != NULL && m != NULL;

    for (size_t i = 0; i < count && done; i++)
        done = add_bit(flat, names[i], (unsigned)i, allocator);
    done = done && code_map_pack(m, flat, allocator);
    mem_free(allocator, flat);
    if (done)
        return m;
    mem_free(allocator, m);
    return NULL;
}

size_t utf8_skip_ascii(gufo_str text, size_t at)
{
    uint64_t bytes;

    for (; text.len - at >= sizeof bytes; at += sizeof bytes) {
        memcpy(&bytes, text.data + at, sizeof bytes);
        if ((bytes & UINT64_C(0x8080808080808080)) != 0)
            break;
    }
    while (at < text.len && (uint8_t)text.data[at] < 0x80)
        at++;
    return at;
}
