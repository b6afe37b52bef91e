/* A step of a normalizer: rewrites a text from front to back. */
#ifndef TEXT_NORMAL_STEP_H
#define TEXT_NORMAL_STEP_H

#include "text/pipeline/steps/step_reading.h"
#include "text/characters/unicode.h"
#include "text/pipeline/steps/work_text.h"

typedef struct normal_run {
    const work_text *in;
    work_text *out;
    size_t kept;   /* in[.. kept) is in `out` already, or replaced */
    bool changed;  /* something is replaced */
    uint64_t most; /* bytes of a text */
    expression_scratch *scratch;
    gufo_error *error;
} normal_run;

/* in[begin .. end) becomes `text`, whose bytes stand for in[from .. to); stretches are replaced in
 * order, and may be empty. */
gufo_status normal_replace(normal_run *r, size_t begin, size_t end, size_t from, size_t to,
                           gufo_str text);
/* The same for one character, whose text stands for it. */
static inline gufo_status normal_put(normal_run *r, size_t begin, size_t end, gufo_str text)
{
    return normal_replace(r, begin, end, begin, end, text);
}

/* in[begin .. end) becomes these characters.  `change` says what each stands for: 0, the next character of
 * the stretch; 1, the same one as the character before it; -n, the next, and n further ones vanish. */
typedef struct normal_character {
    uint32_t code_point;
    int32_t change;
} normal_character;
gufo_status normal_transform(normal_run *r, size_t begin, size_t end, const normal_character *list,
                             size_t count);

typedef struct normal_kind {
    const char *type;
    void *(*read)(step_reading *r); /* what the step needs; failures are r->status */
    gufo_status (*run)(const void *step, normal_run *r);
    void (*free)(void *step, const gufo_allocator *allocator); /* never of NULL */
} normal_kind;

extern const normal_kind normal_forms[4];
extern const normal_kind normal_lowercase, normal_strip_accents, normal_nmt, normal_byte_level;
extern const normal_kind normal_bert_clean, normal_bert_spaces, normal_bert_accents;
extern const normal_kind normal_strip, normal_replace_step, normal_prepend, normal_precompiled;

#endif
