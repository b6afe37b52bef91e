/* What the files that make a name share. */
#ifndef GUFO_SCHEMA_NAME_SUGGEST_H
#define GUFO_SCHEMA_NAME_SUGGEST_H

#include "schema/name/part.h"

/* The longest part; what is longer is cut. */
#define NAME_PART_MAX 64

typedef struct name_text {
    char data[NAME_PART_MAX + 1]; /* terminated */
    size_t len;
} name_text;

/* The view of it; absent if it is empty. */
gufo_str name_text_view(const name_text *text);

/* Makes it this text, of NAME_PART_MAX bytes at most. */
void name_set(name_text *out, gufo_str text);

/* Where `part` begins in the text; false if it is not there. */
bool name_find(gufo_str text, const char *part, size_t *at);

/* Stores this size label, with the scale as the convention writes it; false for other text. */
bool name_set_size(name_text *out, gufo_str label);
/* "8x7B" from the tensors; empty if there is nothing to count. */
void name_count_size(const gufo_model *model, name_text *out);
/* Whether two labels are of as many experts, and of parameters that differ by less than a tenth. */
bool name_sizes_agree(gufo_str a, gufo_str b);
/* "8x7B", "3.8B", "0.35K": at least two digits count, zeros at the end of a fraction are left out.
 * `experts` is 0 for a model without. */
void name_write_size(uint64_t experts, uint64_t parameters, name_text *out);

/* As gufo_name_suggest, of the one file that the model will be with this encoding, the name of a file
 * type in capitals; one without tensors has none. */
gufo_status name_suggest_as(const gufo_model *model, const char *encoding, char out[GUFO_NAME_SIZE],
                            gufo_error *error);

/* What a text such as general.name holds: "Mistral 7B Instruct v0.2". */
typedef struct name_title {
    name_text base, size, fine_tune, version;
} name_title;

void name_read_title(gufo_str text, name_title *out);
/* The bytes of the letter or digit at byte `at`, of any script; 0 if there is another character. */
size_t name_letter(gufo_str text, size_t at);
/* Adds `text` with '-' in place of what is neither letter nor digit.  `as_base`: so that it can be
 * a part of a base name. */
void name_add(name_text *out, gufo_str text, bool as_base);

#endif
