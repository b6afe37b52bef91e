/* A text for some code points. */
#include "text/pipeline/unicode/code_texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "text/vocabulary/characters.h"

enum { PAGE = 256 };

void code_texts_free(code_texts *t)
{
    mem_free(t->allocator, t->numbers);
    mem_free(t->allocator, t->list);
    buffer_free(&t->texts);
}

static bool add_page(code_texts *t, uint32_t code_point)
{
    uint16_t *numbers =
        mem_grow(t->allocator, t->numbers, t->page_count, &t->page_room, PAGE * sizeof *numbers);

    if (numbers == NULL)
        return false;
    t->numbers = numbers;
    memset(numbers + t->page_count * PAGE, 0, PAGE * sizeof *numbers);
    t->pages[code_point >> 8] = (uint8_t)++t->page_count;
    return true;
}

static bool add_characters(code_texts *t, const char *numbers)
{
    for (const char *at = numbers; *at != '\0';) {
        char *end;
        char character[4];
        size_t len = lenient_encode((uint32_t)strtoul(at, &end, 16), character);

        if (!buffer_append(&t->texts, character, len))
            return false;
        at = *end == ' ' ? end + 1 : end;
    }
    return true;
}

bool code_texts_add(code_texts *t, uint32_t code_point, const char *numbers)
{
    size_t before = t->texts.len;
    gufo_str *list = mem_grow(t->allocator, t->list, t->count, &t->room, sizeof *list);

    t->texts.allocator = t->allocator;
    if (list == NULL)
        return false;
    t->list = list;
    if ((t->pages[code_point >> 8] == 0 && !add_page(t, code_point)) || !add_characters(t, numbers))
        return false;
    list[t->count++] = (gufo_str){NULL, t->texts.len - before};
    t->numbers[(size_t)(t->pages[code_point >> 8] - 1) * PAGE + (code_point & 0xFF)] =
        (uint16_t)t->count;
    return true;
}

void code_texts_close(code_texts *t)
{
    const char *at = (const char *)t->texts.data;

    for (uint64_t i = 0; i < t->count; i++) {
        t->list[i].data = at;
        at += t->list[i].len;
    }
}
