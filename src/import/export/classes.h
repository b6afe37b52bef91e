/* The classes of exported models: the table export_classes. */
#ifndef IMPORT_EXPORT_CLASSES_H
#define IMPORT_EXPORT_CLASSES_H

#include "gufo/base.h"

typedef struct export_class {
    const char *architecture;
    const char *name;       /* "LlamaForCausalLM" */
    const char *model_type; /* "llama" */
    const char *condition;  /* about keys; the first of several rows whose condition holds counts */
} export_class;

/* All rows. */
const export_class *export_class_at(size_t index);
/* The rows of an architecture. */
const export_class *export_classes(const char *architecture, size_t *count);

#endif
