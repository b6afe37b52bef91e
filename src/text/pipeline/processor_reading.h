/* Reading the post-processor of a tokenizer.json: its steps, and what they name. */
#ifndef TEXT_PIPELINE_PROCESSOR_READING_H
#define TEXT_PIPELINE_PROCESSOR_READING_H

#include "text/pipeline/step_reading.h"

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
