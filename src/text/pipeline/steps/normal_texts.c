/* Steps of a normalizer that put texts: Strip, Replace, Prepend. */
#include "base/memory.h"
#include "text/pipeline/steps/normal_step.h"

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
