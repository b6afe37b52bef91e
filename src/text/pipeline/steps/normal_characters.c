/* Steps of a normalizer that put texts, or look at one character after another, and what all steps share. */
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/pipeline/steps/normal_step.h"
#include "text/characters/unicode.h"
#include "text/characters/byte_alphabet.h"
#include "text/characters/characters.h"

#include <string.h>

/* ---- what steps share ----------------------------------------------------------------------- */

gufo_status normal_replace(normal_run *r, size_t begin, size_t end, size_t from, size_t to,
                           gufo_str text)
{
    if (!work_text_keep(r->out, r->in, r->kept, begin) ||
        !work_text_put(r->out, r->in, from, to, text))
        return fail_memory(r->error);
    r->kept = end;
    r->changed = true;
    return r->out->len <= r->most ? GUFO_OK
                                  : refuse(r->error, GUFO_E_LIMIT,
                                           "the normalizer makes the text longer than %llu bytes",
                                           (unsigned long long)r->most);
}

gufo_status normal_transform(normal_run *r, size_t begin, size_t end, const normal_character *list,
                             size_t count)
{
    const work_text *in = r->in;
    size_t at = begin, replaced = begin, size;
    gufo_status status = count > 0 ? GUFO_OK : normal_put(r, begin, end, (gufo_str){"", 0});

    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        size_t from = at, to = at;
        int32_t taken = list[i].change > 0 ? 0 : 1 - list[i].change;
        char text[4];

        if (taken == 0 || at == in->len)
            from = at > 0 ? utf8_before(in->data, at) : 0;
        for (int32_t n = 0; n < taken && at < in->len; n++) {
            (void)utf8_next(in->data + at, &size);
            at += size;
            if (n == 0)
                to = at;
        }
        size = lenient_encode(list[i].code_point, text);
        status = normal_replace(r, replaced, i + 1 < count ? replaced : end, from, to,
                                (gufo_str){text, size});
    }
    return status;
}

/* ---- Strip ---------------------------------------------------------------------------------- */

typedef struct strip {
    bool left, right;
    code_map *spaces;
} strip;

static void free_strip(void *step, const gufo_allocator *allocator)
{
    strip *s = step;

    if (s->spaces != NULL)
        code_map_free(s->spaces, allocator);
    mem_free(allocator, s->spaces);
    mem_free(allocator, s);
}

static void *read_strip(step_reading *r)
{
    static const char *const name = "White_Space";
    strip *s = mem_zero(r->allocator, sizeof *s);

    if (s != NULL)
        s->spaces = code_map_of_properties(&name, 1, r->allocator);
    if (s == NULL || s->spaces == NULL) {
        (void)step_no_memory(r);
        return s;
    }
    s->left = step_flag(r, "strip_left");
    s->right = step_flag(r, "strip_right");
    return s;
}

static gufo_status run_strip(const void *step, normal_run *r)
{
    const strip *s = step;
    const char *text = r->in->data;
    size_t begin = 0, end = r->in->len, size;
    gufo_status status = GUFO_OK;

    while (s->left && begin < end && code_map_get(s->spaces, utf8_next(text + begin, &size)) != 0)
        begin += size;
    while (s->right && end > begin) {
        size_t last = utf8_before(text, end);

        if (code_map_get(s->spaces, utf8_next(text + last, &size)) == 0)
            break;
        end = last;
    }
    if (begin > 0)
        status = normal_put(r, 0, begin, (gufo_str){"", 0});
    if (end < r->in->len && status == GUFO_OK)
        status = normal_put(r, end, r->in->len, (gufo_str){"", 0});
    return status;
}

const normal_kind normal_strip = {"Strip", read_strip, run_strip, free_strip};

/* ---- Replace -------------------------------------------------------------------------------- */

typedef struct replace {
    expression *pattern;
    char *own; /* the content */
    gufo_str content;
} replace;

static void free_replace(void *step, const gufo_allocator *allocator)
{
    replace *s = step;

    expression_free(s->pattern);
    mem_free(allocator, s->own);
    mem_free(allocator, s);
}

static void read_content(step_reading *r, replace *s, const char *name)
{
    gufo_str text = step_text(r, name);

    s->own = mem_text(r->allocator, text);
    s->content = (gufo_str){s->own, text.len};
    if (s->own == NULL)
        (void)step_no_memory(r);
}

static void *read_replace(step_reading *r)
{
    replace *s = mem_zero(r->allocator, sizeof *s);

    if (s == NULL) {
        (void)step_no_memory(r);
        return NULL;
    }
    read_content(r, s, "content");
    s->pattern = step_pattern(r, "pattern");
    return s;
}

/* What is new stands for the last character that is replaced, or the one before. */
static gufo_status run_replace(const void *step, normal_run *r)
{
    const replace *s = step;
    expression_match m = {.found = true};
    gufo_status status = expression_begin(s->pattern, r->scratch, work_text_str(r->in), r->error);

    while (status == GUFO_OK) {
        status = expression_next(s->pattern, r->scratch, &m, r->error);
        if (status != GUFO_OK || !m.found)
            break;
        status = normal_replace(r, m.begin, m.end,
                                m.end > 0 && r->in->keeps_origins ? utf8_before(r->in->data, m.end)
                                                                  : m.begin,
                                m.end, s->content);
    }
    return status;
}

const normal_kind normal_replace_step = {"Replace", read_replace, run_replace, free_replace};

/* ---- Prepend -------------------------------------------------------------------------------- */

static void *read_prepend(step_reading *r)
{
    replace *s = mem_zero(r->allocator, sizeof *s);

    if (s == NULL)
        (void)step_no_memory(r);
    else
        read_content(r, s, "prepend");
    return s;
}

static gufo_status run_prepend(const void *step, normal_run *r)
{
    const replace *s = step;
    size_t size;

    (void)utf8_next(r->in->data, &size);
    return normal_replace(r, 0, 0, 0, size, s->content);
}

const normal_kind normal_prepend = {"Prepend", read_prepend, run_prepend, free_replace};

static void free_block(void *step, const gufo_allocator *allocator)
{
    mem_free(allocator, step);
}

/* ---- characters of two sets: one is removed, one becomes something -------------------------- */

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
