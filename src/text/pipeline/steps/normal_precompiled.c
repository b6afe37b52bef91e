/* The step Precompiled: the map of SentencePiece, by grapheme clusters.
 *
 * A cluster of less than six bytes is looked up whole, and the shortest key that it begins with replaces
 * all of it; else its characters are looked up one by one, in the same way. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/base64.h"
#include "text/pipeline/steps/normal_step.h"
#include "text/characters/unicode.h"
#include "text/tokenizers/charsmap.h"

enum { SHORT_CLUSTER = 6 };

typedef struct precompiled {
    charsmap map;
    code_map *graphemes;
    bool ascii[128]; /* the character alone is a key */
} precompiled;

static void free_precompiled(void *step, const gufo_allocator *allocator)
{
    precompiled *p = step;

    charsmap_free(&p->map, allocator);
    if (p->graphemes != NULL)
        code_map_free(p->graphemes, allocator);
    mem_free(allocator, p->graphemes);
    mem_free(allocator, p);
}

static void read_map(step_reading *r, precompiled *p)
{
    gufo_str text = step_text(r, "precompiled_charsmap");
    buffer bytes = {.allocator = r->allocator};
    bool memory = true;

    if (r->status == GUFO_OK && !base64_read(text, &bytes, &memory))
        r->status =
            memory ? step_wrong(r, "\"precompiled_charsmap\" is not base64") : step_no_memory(r);
    if (r->status == GUFO_OK)
        r->status = charsmap_read_bytes(&p->map, bytes.data, bytes.len, r->allocator, r->error);
    if (r->status == GUFO_OK &&
        gufo_utf8_valid_prefix((gufo_str){p->map.texts, p->map.text_size}) < p->map.text_size)
        r->status = step_wrong(r, "the replacements of \"precompiled_charsmap\" are not UTF-8");
    buffer_free(&bytes);
}

static void *read_precompiled(step_reading *r)
{
    precompiled *p = mem_zero(r->allocator, sizeof *p);

    if (p != NULL)
        p->graphemes = graphemes_new(r->allocator);
    if (p == NULL || p->graphemes == NULL) {
        (void)step_no_memory(r);
        return p;
    }
    read_map(r, p);
    for (size_t i = 0; i < sizeof p->ascii && r->status == GUFO_OK; i++) {
        gufo_str replacement;

        p->ascii[i] =
            charsmap_shortest(&p->map, (gufo_str){(char[]){(char)i}, 1}, &replacement) > 0;
    }
    return p;
}

static size_t count_characters(gufo_str text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += ((uint8_t)text.data[i] & 0xC0) != 0x80;
    return count;
}

/* What becomes of the text.  Where origins are kept, all its characters are listed first: of a replacement
 * as many as there were stand for them one by one, further ones for the last, and where it has fewer, the
 * last character before takes in those that vanish, even if it belongs to another cluster.  At the start
 * of a text there is none: then all origins are those of earlier characters. */
typedef struct rewriting {
    const precompiled *p;
    normal_run *run;
    normal_character *list; /* NULL: origins are not kept */
    uint64_t count, room;
    bool changed;
} rewriting;

static gufo_status list_character(rewriting *w, uint32_t code_point, int32_t change)
{
    const gufo_allocator *allocator = mem_allocator(w->run->out->allocator);
    normal_character *list = mem_grow(allocator, w->list, w->count, &w->room, sizeof *list);

    if (list == NULL)
        return fail_memory(w->run->error);
    w->list = list;
    list[w->count++] = (normal_character){code_point, change};
    return GUFO_OK;
}

static gufo_status list_text(rewriting *w, gufo_str old, gufo_str text)
{
    size_t old_count = count_characters(old), count = 0;
    gufo_status status = GUFO_OK;

    for (size_t at = 0, size; at < text.len && status == GUFO_OK; at += size, count++)
        status = list_character(w, utf8_next(text.data + at, &size), count >= old_count);
    if (count < old_count && w->count > 0)
        w->list[w->count - 1].change -= (int32_t)(old_count - count);
    return status;
}

/* in[begin .. end) becomes `text`. */
static gufo_status put_text(rewriting *w, size_t begin, size_t end, gufo_str text)
{
    if (text.len > 0 && ((uint8_t)*text.data & 0xC0) == 0x80)
        return refuse(w->run->error, GUFO_E_MALFORMED,
                      "precompiled_charsmap: a replacement begins inside a character");
    w->changed = true;
    return w->run->in->keeps_origins
               ? list_text(w, (gufo_str){w->run->in->data + begin, end - begin}, text)
               : normal_put(w->run, begin, end, text);
}

/* Looks up a cluster or a character; *found: there is a key for it. */
static gufo_status look_up(rewriting *w, size_t begin, size_t end, bool *found)
{
    gufo_str text = {w->run->in->data + begin, end - begin}, replacement;

    *found = charsmap_shortest(&w->p->map, text, &replacement) > 0;
    return *found ? put_text(w, begin, end, replacement) : GUFO_OK;
}

static gufo_status put_cluster(rewriting *w, size_t begin, size_t end)
{
    const work_text *in = w->run->in;
    bool found = false;
    gufo_status status = GUFO_OK;

    if (end - begin < SHORT_CLUSTER)
        status = look_up(w, begin, end, &found);
    for (size_t at = begin, size; at < end && !found && status == GUFO_OK; at += size) {
        uint32_t code_point = utf8_next(in->data + at, &size);
        bool replaced;

        status = look_up(w, at, at + size, &replaced);
        if (status == GUFO_OK && !replaced && in->keeps_origins)
            status = list_character(w, code_point, 0);
    }
    return status;
}

/* Whether the character at `at` is a cluster that no key begins. */
static bool stays(const precompiled *p, gufo_str text, size_t at)
{
    uint8_t first = (uint8_t)text.data[at];

    return first < 0x80 && first != '\r' && !p->ascii[first] &&
           (at + 1 == text.len || (uint8_t)text.data[at + 1] < 0x80);
}

static gufo_status run_precompiled(const void *step, normal_run *r)
{
    rewriting w = {.p = step, .run = r};
    gufo_str text = work_text_str(r->in);
    gufo_status status = GUFO_OK;

    for (size_t at = 0, end; at < text.len && status == GUFO_OK; at = end) {
        if (!stays(w.p, text, at)) {
            end = grapheme_end(w.p->graphemes, text, at);
            status = put_cluster(&w, at, end);
            continue;
        }
        end = at + 1;
        if (r->in->keeps_origins)
            status = list_character(&w, (uint8_t)text.data[at], 0);
    }
    if (status == GUFO_OK && w.changed && r->in->keeps_origins)
        status = normal_transform(r, 0, text.len, w.list, (size_t)w.count);
    mem_free(mem_allocator(r->out->allocator), w.list);
    return status;
}

const normal_kind normal_precompiled = {"Precompiled", read_precompiled, run_precompiled,
                                        free_precompiled};
