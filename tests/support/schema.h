/* Files for the rules of the schema: a small vocabulary of which nothing can be said, and what a
 * row of a table changes in it. */
#ifndef TEST_SUPPORT_SCHEMA_H
#define TEST_SUPPORT_SCHEMA_H

#include "check.h"

/* A file, as changes of the good one. */
typedef struct schema_file {
    const char *without; /* keys of the good file that are left out, with blanks between */
    void (*add)(gufo_document *d); /* adds more; NULL: nothing */
    const char *keys;              /* as in keys.h, added, too; NULL: none */
    const char *path;              /* what the file is called; NULL: nothing */
} schema_file;

typedef struct schema_row {
    const char *label;
    const char *rule;      /* that `bad` breaks; nothing else is found in it */
    schema_file bad, good; /* nothing is found in `good` */
    const char *subject;   /* of the finding; NULL: any */
    const char *at;        /* the text at the place of the finding; NULL: any */
    gufo_fix_kind fix;     /* and what it offers; NONE: nothing that is certain */
    bool proposed;         /* the fix is not certain */
    const char *fix_value; /* as text; NULL: any */
    gufo_level level;      /* that is asked for; 0: model */
} schema_row;

/* The reader of tokenizer.huggingface.json that checks are given; NULL: none. */
extern gufo_tokenizer_json_fn *schema_tokenizer_json;

/* For the `add` of a row; a failure is one of the test. */
void put_u32(gufo_document *d, const char *key, uint32_t v);
void put_value(gufo_document *d, const char *key, const gufo_value *value);
void put_u16(gufo_document *d, const char *key, uint16_t v);
void put_i32(gufo_document *d, const char *key, int32_t v);
void put_f32(gufo_document *d, const char *key, float v);
void put_bool(gufo_document *d, const char *key, bool v);
void put_text(gufo_document *d, const char *key, const char *text);
void put_texts(gufo_document *d, const char *key, uint64_t count, const char *const texts[]);
void put_array(gufo_document *d, const char *key, gufo_value_type type, uint64_t count,
               const void *items);
void put_tensor(gufo_document *d, const char *name, uint32_t type, uint64_t columns, uint64_t rows);

/* The good file's tokens, types and merges. */
#define SCHEMA_TOKENS 8
extern const char *const schema_tokens[SCHEMA_TOKENS];
extern const int32_t schema_types[SCHEMA_TOKENS];

/* Checks both files of every row. */
void schema_check_rows(const schema_row *rows, size_t count);
/* Every rule whose id begins with one of the `prefixes` has a row. */
void schema_check_complete(const schema_row *rows, size_t count, const char *const prefixes[],
                           size_t prefix_count);

#endif
