/* Steps that cut where the class of characters changes: Whitespace, UnicodeScripts; and FixedLength. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "text/pipeline/steps/cut_step.h"

static void free_map(void *step, const gufo_allocator *allocator)
{
    code_map_free(step, allocator);
    mem_free(allocator, step);
}

static void free_block(void *step, const gufo_allocator *allocator)
{
    mem_free(allocator, step);
}

static inline uint8_t class_at(const code_map *map, const char *text, size_t at, size_t *size)
{
    if ((uint8_t)text[at] < 0x80) {
        *size = 1;
        return map->blocks[((size_t)map->pages[0] << 8) + (uint8_t)text[at]];
    }
    return code_map_get(map, utf8_next(text + at, size));
}

/* ---- Whitespace: runs of \w, and of neither \w nor \s --------------------------------------------- */

enum { IS_SPACE = 2 };

static bool cut_words(const code_map *map, cut_run *r, text_piece piece)
{
    const char *text = r->in->text.data;
    size_t from = piece.begin, size;
    uint8_t last = IS_SPACE;
    bool done = true;

    for (size_t at = from; at < piece.end && done; at += size) {
        uint8_t class = class_at(map, text, at, &size);

        if (class == last)
            continue;
        done = last == IS_SPACE || text_pieces_add(r->out, from, at);
        from = at;
        last = class;
    }
    return done && (last == IS_SPACE || text_pieces_add(r->out, from, piece.end));
}

static gufo_status run_words(const void *step, cut_run *r)
{
    for (uint64_t i = 0; i < r->in->count; i++)
        if (!cut_words(step, r, r->in->list[i]))
            return fail_memory(r->error);
    return GUFO_OK;
}

gufo_status cut_add_words(step_reading *r, cut_steps *steps)
{
    static const cut_kind kind = {false, run_words, free_map};
    static const char *const names[] = {"step word", "White_Space"};
    code_map *map = code_map_of_properties(names, 2, r->allocator);

    return map != NULL ? cut_steps_add(steps, r, &kind, map) : step_no_memory(r);
}

/* ---- UnicodeScripts ------------------------------------------------------------------------- */

static const struct {
    uint32_t first, last, script;
} script_rows[] = {
#define ROW(first, last, script) {first, last, script},
#include "registry/scripts.inc"
#undef ROW
};

enum { MOST_SCRIPTS = 255 };

/* Numbers the scripts in the order in which they come, from 1 on; 0: of no script. */
static void fill_scripts(uint8_t *flat)
{
    uint32_t scripts[MOST_SCRIPTS];
    size_t count = 0;

    for (size_t i = 0; i < sizeof script_rows / sizeof *script_rows; i++) {
        size_t number = 0;

        while (number < count && scripts[number] != script_rows[i].script)
            number++;
        if (number == count && count < MOST_SCRIPTS)
            scripts[count++] = script_rows[i].script;
        memset(flat + script_rows[i].first, (int)number + 1,
               script_rows[i].last - script_rows[i].first + 1);
    }
}

static bool cut_scripts(const code_map *map, cut_run *r, text_piece piece)
{
    size_t from = piece.end, size; /* before the first character of a script nothing is kept */
    uint8_t last = 0;
    bool done = true;

    for (size_t at = piece.begin; at < piece.end && done; at += size) {
        uint8_t script = class_at(map, r->in->text.data, at, &size);

        if (script == 0 || script == last)
            continue;
        done = last == 0 || text_pieces_add(r->out, from, at);
        from = at;
        last = script;
    }
    return done && text_pieces_add(r->out, from, piece.end);
}

static gufo_status run_scripts(const void *step, cut_run *r)
{
    for (uint64_t i = 0; i < r->in->count; i++)
        if (!cut_scripts(step, r, r->in->list[i]))
            return fail_memory(r->error);
    return GUFO_OK;
}

gufo_status cut_add_scripts(step_reading *r, cut_steps *steps)
{
    static const cut_kind kind = {false, run_scripts, free_map};
    uint8_t *flat = mem_zero(r->allocator, LAST_CODE_POINT + 1);
    code_map *map = mem_zero(r->allocator, sizeof *map);
    bool done = flat != NULL && map != NULL;

    if (done) {
        fill_scripts(flat);
        done = code_map_pack(map, flat, r->allocator);
    }
    mem_free(r->allocator, flat);
    if (done)
        return cut_steps_add(steps, r, &kind, map);
    mem_free(r->allocator, map);
    return step_no_memory(r);
}

/* ---- FixedLength ---------------------------------------------------------------------------- */

enum { USUAL_LENGTH = 5 };

static bool cut_lengths(uint64_t length, cut_run *r, text_piece piece)
{
    const char *text = r->in->text.data;
    size_t from = piece.begin, size;
    uint64_t count = 0;

    for (size_t at = from; at < piece.end; at += size) {
        if (count == length) {
            if (!text_pieces_add(r->out, from, at))
                return false;
            from = at;
            count = 0;
        }
        (void)utf8_next(text + at, &size);
        count++;
    }
    return text_pieces_add(r->out, from, piece.end);
}

static gufo_status run_lengths(const void *step, cut_run *r)
{
    for (uint64_t i = 0; i < r->in->count; i++)
        if (!cut_lengths(*(const uint64_t *)step, r, r->in->list[i]))
            return fail_memory(r->error);
    return GUFO_OK;
}

gufo_status cut_add_fixed_length(step_reading *r, cut_steps *steps)
{
    static const cut_kind kind = {false, run_lengths, free_block};
    const json_t *value = step_member(r, "length");
    json_int_t length = value == NULL ? USUAL_LENGTH : json_integer_value(value);
    uint64_t *step;

    if (length < 1)
        return step_wrong(r, "\"length\" is not a number above 0");
    step = mem_alloc(r->allocator, sizeof *step);
    if (step == NULL)
        return step_no_memory(r);
    *step = (uint64_t)length;
    return cut_steps_add(steps, r, &kind, step);
}
