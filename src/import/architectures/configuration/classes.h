/* The classes of models that frameworks have, and their architectures: the table hf_classes. */
#ifndef IMPORT_ARCHITECTURES_CONFIGURATION_CLASSES_H
#define IMPORT_ARCHITECTURES_CONFIGURATION_CLASSES_H

#include "gufo/base.h"

typedef struct class_row {
    const char *name; /* "LlamaForCausalLM" */
    const char *architecture;
    /* "text"; "whole": a text model, too, whose class counts though its text part has one of its
     * own; "projector": images or sound alone */
    const char *kind;
    const char *condition;
} class_row;

/* All rows. */
const class_row *class_at(size_t index);
/* The rows of a class: the first one whose condition holds counts. */
const class_row *class_rows(const char *name, size_t *count);
/* The class whose name is nearest to an unknown one; NULL: none is near. */
const char *class_nearest(gufo_str name);

/* Names of tokenizer.ggml.pre that are usual for an architecture, with blanks between; "" for others, and for NULL. */
const char *usual_pre(const char *architecture);

#endif
