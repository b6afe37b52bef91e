/* Floor 3: what the values of a GGUF file mean. */
#ifndef GUFO_SCHEMA_H
#define GUFO_SCHEMA_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One constant per file type: GUFO_FILE_TYPE_Q4_K_M ... */
enum {
#define GUFO_FILE_TYPE(id, name, base, flags) GUFO_FILE_TYPE_##name = id,
#include "file_types.def"
#undef GUFO_FILE_TYPE
};

typedef enum gufo_file_type_flags {
    GUFO_FILE_TYPE_NOT_MADE = 1, /* quantizing does not make it */
    GUFO_FILE_TYPE_REMOVED = 2,  /* no longer part of the format; old files may say it */
} gufo_file_type_flags;

/* A value of general.file_type: the mixture of element types that a file has.  Spec, General
 * metadata; numbers above 18 as the field uses them. */
typedef struct gufo_file_type {
    uint32_t id;        /* as stored */
    const char *name;   /* "Q4_K_M" */
    uint32_t base_type; /* id of the element type of most weights: GUFO_TYPE_Q4_K */
    uint32_t flags;     /* of gufo_file_type_flags */
} gufo_file_type;

/* The number of rows of the table, and row `index` of it in the order of ids (NULL past the end).
 * Static; any thread. */
GUFO_API size_t gufo_file_type_count(void);
GUFO_API const gufo_file_type *gufo_file_type_at(size_t index);

/* The file type with this id, or with this name (exact, upper case); NULL if there is none. Static;
 * any thread. */
GUFO_API const gufo_file_type *gufo_file_type_by_id(uint64_t id);
GUFO_API const gufo_file_type *gufo_file_type_by_name(const char *name);

/* The short name of a general.file_type ("Q4_K_M" for 15), NULL if the number is not known.
 * Static; any thread. */
GUFO_API const char *gufo_file_type_name(uint64_t file_type);

#ifdef __cplusplus
}
#endif

#endif
