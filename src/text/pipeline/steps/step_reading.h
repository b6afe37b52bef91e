/* Reading the steps of a part of a tokenizer.json. */
#ifndef TEXT_STEP_READING_H
#define TEXT_STEP_READING_H

#include <jansson.h>

#include "text/expressions/expression.h"
#include "text/formats/json_tree.h"

/* The step that is read.  The first failure stays in `status`: what is read after it does not count. */
typedef struct step_reading {
    const gufo_allocator *allocator;
    const char *part;          /* "normalizer" */
    const json_places *places; /* of its steps; NULL */
    const json_t *step;
    unsigned count; /* of the steps so far, sequences among them */
    gufo_str type;  /* "": it has none */
    gufo_error *error;
    gufo_status status;
} step_reading;

/* Sequences in each other, and steps: an expression may take a megabyte.  Real files have less than 10. */
enum { STEP_DEPTH = 32, STEP_MOST = 256 };

/* Calls `take` for the step that `part` is, or, where it is a Sequence, for all in its member `list`, in
 * order.  GUFO_E_LIMIT: too many of them. */
typedef gufo_status step_taker(step_reading *r, void *context);
gufo_status step_each(step_reading *r, const json_t *part, const char *list, step_taker *take,
                      void *context);

static inline bool step_is(const step_reading *r, const char *type)
{
    return gufo_str_equal(r->type, gufo_str_of(type));
}

/* A member; NULL if it is missing or null.  The second form fails then. */
const json_t *step_member(step_reading *r, const char *name);

/* Members of a type; those with `or` give `otherwise` where the member is missing or null. */
bool step_flag(step_reading *r, const char *name);
bool step_flag_or(step_reading *r, const char *name, bool otherwise);
gufo_str step_text(step_reading *r, const char *name);
gufo_str step_text_or(step_reading *r, const char *name, const char *otherwise);
uint64_t step_count(step_reading *r, const char *name); /* not negative */
const json_t *step_list(step_reading *r, const char *name);
const json_t *step_object(step_reading *r, const char *name);
/* A text of one character. */
gufo_str step_character(step_reading *r, const char *name);
/* {"String": ...} or {"Regex": ...}; NULL on failure. */
expression *step_pattern(step_reading *r, const char *name);
/* A copy of a text, which the caller frees; {NULL, 0} on failure. */
gufo_str step_copy(step_reading *r, gufo_str text);

/* Fails: "normalizer, step \"Replace\": ...". */
__attribute__((format(printf, 2, 3))) gufo_status step_wrong(step_reading *r, const char *format,
                                                             ...);
/* The same with another code than GUFO_E_MALFORMED. */
__attribute__((format(printf, 3, 4))) gufo_status step_refuse(step_reading *r, gufo_status code,
                                                              const char *format, ...);
gufo_status step_no_memory(step_reading *r);

/* ---- post-processors ------------------------------------------------------------------------ */

typedef enum processor_kind {
    PROCESSOR_ROBERTA,
    PROCESSOR_BERT,
    PROCESSOR_BYTE_LEVEL,
    PROCESSOR_TEMPLATE,
} processor_kind;

/* ["[SEP]", 3] */
typedef struct named_id {
    gufo_str text;
    uint32_t id;
} named_id;

/* A step; its kind says which members it has. */
typedef struct processor {
    processor_kind kind;
    named_id cls, sep;
    bool trim_offsets, prefix_space;
    const json_t *single, *pair; /* lists of elements */
    const json_t *specials;      /* an object: what the elements name */
} processor;

/* Calls `take` for each step of a part, which may be NULL: it has none. */
typedef gufo_status take_processor(step_reading *r, const processor *p, void *context);
gufo_status processor_each(step_reading *r, const json_t *part, take_processor *take,
                           void *context);

/* Whether a value is the id of a token. */
bool processor_is_id(const json_t *value);

/* {"Sequence": {"id": "A"}} or {"SpecialToken": {"id": "[SEP]"}} */
typedef struct template_element {
    bool is_text, is_second; /* the text, or that of a pair */
    gufo_str name;           /* of the special token */
} template_element;

gufo_status template_read_element(step_reading *r, const json_t *json, template_element *out);

#endif
