/* Steps of a normalizer that look at one character after another. */
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "text/pipeline/steps/normal_step.h"
#include "text/pipeline/unicode/code_texts.h"
#include "text/vocabulary/byte_alphabet.h"

static void free_block(void *step, const gufo_allocator *allocator)
{
    mem_free(allocator, step);
}

/* ---- characters of two sets: one is removed, one becomes something ----------------------------- */

enum { IS_REMOVED = 1, IS_REPLACED = 2 };

static void free_map(void *step, const gufo_allocator *allocator)
{
    code_map_free(step, allocator);
    mem_free(allocator, step);
}

static void *read_map(step_reading *r, const char *removed, const char *replaced)
{
    const char *names[] = {removed != NULL ? removed : replaced, replaced};
    code_map *map = code_map_of_properties(names, replaced != NULL ? 2 : 1, r->allocator);

    if (map == NULL)
        (void)step_no_memory(r);
    return map;
}

static void *read_nmt(step_reading *r)
{
    return read_map(r, "nmt_removed", "nmt_space");
}

static void *read_strip_accents(step_reading *r)
{
    return read_map(r, "strip_accents", NULL);
}

static void *read_bert_clean(step_reading *r)
{
    return read_map(r, "bert_removed", "bert_space");
}

static void *read_bert_accents(step_reading *r)
{
    return read_map(r, "bert_accents", NULL);
}

static void *read_bert_spaces(step_reading *r)
{
    return read_map(r, "bert_chinese", NULL);
}

/* Characters of the first set vanish, those of the second are spaces. */
static gufo_status remove_and_space(const void *step, normal_run *r)
{
    const code_map *map = step;
    const uint8_t *ascii = map->blocks + (size_t)map->pages[0] * 256;
    gufo_status status = GUFO_OK;

    for (size_t at = 0, size; at < r->in->len && status == GUFO_OK; at += size) {
        uint8_t first = (uint8_t)r->in->data[at], action;

        size = 1;
        action =
            first < 0x80 ? ascii[first] : code_map_get(map, utf8_next(r->in->data + at, &size));
        if (action != 0)
            status =
                normal_put(r, at, at + size, (gufo_str){" ", (action & IS_REMOVED) == 0 ? 1 : 0});
    }
    return status;
}

/* As above, of sets without ASCII. */
static gufo_status remove_beyond_ascii(const void *step, normal_run *r)
{
    gufo_str text = work_text_str(r->in);
    gufo_status status = GUFO_OK;

    for (size_t at = utf8_skip_ascii(text, 0), size; at < text.len && status == GUFO_OK;) {
        if (code_map_get(step, utf8_next(text.data + at, &size)) != 0)
            status = normal_put(r, at, at + size, (gufo_str){"", 0});
        at += size;
        if (at < text.len && (uint8_t)text.data[at] < 0x80)
            at = utf8_skip_ascii(text, at);
    }
    return status;
}

/* Spaces around the characters of the set. */
static gufo_status put_between_spaces(const void *step, normal_run *r)
{
    gufo_str text = work_text_str(r->in);
    gufo_status status = GUFO_OK;
    char spaced[6] = " ";

    for (size_t at = utf8_skip_ascii(text, 0), size; at < text.len && status == GUFO_OK;) {
        if (code_map_get(step, utf8_next(text.data + at, &size)) != 0) {
            memcpy(spaced + 1, text.data + at, size);
            spaced[size + 1] = ' ';
            status = normal_put(r, at, at + size, (gufo_str){spaced, size + 2});
        }
        at += size;
        if (at < text.len && (uint8_t)text.data[at] < 0x80)
            at = utf8_skip_ascii(text, at);
    }
    return status;
}

const normal_kind normal_nmt = {"Nmt", read_nmt, remove_and_space, free_map};
const normal_kind normal_strip_accents = {"StripAccents", read_strip_accents, remove_beyond_ascii,
                                          free_map};
const normal_kind normal_bert_clean = {"", read_bert_clean, remove_and_space, free_map};
const normal_kind normal_bert_accents = {"", read_bert_accents, remove_beyond_ascii, free_map};
const normal_kind normal_bert_spaces = {"", read_bert_spaces, put_between_spaces, free_map};

/* ---- lower case ----------------------------------------------------------------------------- */

static const struct {
    uint32_t code;
    const char *text;
} lowercase_rows[] = {
#define ROW(code, text) {code, text},
#include "registry/lowercase.inc"
#undef ROW
};

static void free_texts(void *step, const gufo_allocator *allocator)
{
    code_texts_free(step);
    mem_free(allocator, step);
}

static void *read_lowercase(step_reading *r)
{
    code_texts *t = mem_zero(r->allocator, sizeof *t);
    bool done = t != NULL;

    if (t != NULL)
        t->allocator = r->allocator;
    for (size_t i = 0; i < sizeof lowercase_rows / sizeof *lowercase_rows && done; i++)
        done = code_texts_add(t, lowercase_rows[i].code, lowercase_rows[i].text);
    if (done)
        code_texts_close(t);
    else
        (void)step_no_memory(r);
    return t;
}

static gufo_status make_lowercase(const void *step, normal_run *r)
{
    const char *text = r->in->data;
    gufo_status status = GUFO_OK;

    for (size_t at = 0, size; at < r->in->len && status == GUFO_OK; at += size) {
        size = 1;
        if ((uint8_t)text[at] < 0x80) {
            if (is_upper(text[at]))
                status = normal_put(r, at, at + 1, (gufo_str){(char[]){to_lower(text[at])}, 1});
        } else {
            gufo_str lower = code_texts_get(step, utf8_next(text + at, &size));

            if (lower.len > 0)
                status = normal_put(r, at, at + size, lower);
        }
    }
    return status;
}

const normal_kind normal_lowercase = {"Lowercase", read_lowercase, make_lowercase, free_texts};

/* ---- bytes ---------------------------------------------------------------------------------- */

static void *read_alphabet(step_reading *r)
{
    byte_texts *alphabet = mem_alloc(r->allocator, sizeof *alphabet);

    if (alphabet != NULL)
        byte_alphabet_fill(alphabet);
    else
        (void)step_no_memory(r);
    return alphabet;
}

static gufo_status make_bytes(const void *step, normal_run *r)
{
    const byte_texts *alphabet = step;
    const char *text = r->in->data;
    gufo_status status = GUFO_OK;

    for (size_t at = 0, size; at < r->in->len && status == GUFO_OK; at += size) {
        uint8_t byte = (uint8_t)text[at];
        char shown[8];
        size_t len = 0;

        size = 1;
        if (byte < 0x80 && alphabet->len[byte] == 1)
            continue; /* it is itself */
        (void)utf8_next(text + at, &size);
        for (size_t i = 0; i < size; i++) {
            byte = (uint8_t)text[at + i];
            memcpy(shown + len, alphabet->text[byte], 2);
            len += alphabet->len[byte];
        }
        status = normal_put(r, at, at + size, (gufo_str){shown, len});
    }
    return status;
}

const normal_kind normal_byte_level = {"ByteLevel", read_alphabet, make_bytes, free_block};
