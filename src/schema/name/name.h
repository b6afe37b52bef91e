/* Parts of file names, and names that are made: what the files about them share. */
#ifndef GUFO_SCHEMA_NAME_H
#define GUFO_SCHEMA_NAME_H

#include "base/text.h"
#include "gufo/name.h"
#include "gufo/schema.h"

/* Letters, digits and blanks (\s): what a base name and a fine tune are made of. */
static inline bool name_is_plain(char c)
{
    return is_letter(c) || is_digit(c) || c == ' ' || (c >= '\t' && c <= '\r');
}

/* A fine tune has hyphens, too. */
static inline bool name_is_tune(char c)
{
    return name_is_plain(c) || c == '-';
}

/* text[from, to); nothing may be added to the address of an absent text, not even 0 */
static inline gufo_str name_slice(gufo_str text, size_t from, size_t to)
{
    return (gufo_str){from > 0 ? text.data + from : text.data, to - from};
}

static inline bool name_is(gufo_str text, const char *word)
{
    return gufo_str_equal(text, gufo_str_of(word));
}

#define NAME_EXTENSION ".gguf"
#define NAME_DEFAULT_VERSION "v1.0"
#define NAME_SCALES "KMBTQ" /* of sizes: each is a thousand times the one before */

/* The length of the component (the text up to the next '-') that begins at `from`. */
size_t name_component(gufo_str text, size_t from);
/* The length of "mmproj-" or "mtp-" at the beginning; 0 if none exists. */
size_t name_sidecar(gufo_str text);
/* The name without its extension; false if it has another or none. */
bool name_stem(gufo_str name, gufo_str *stem);
/* The file type that an encoding means, in any case; NULL for other encodings. */
const gufo_file_type *name_file_type(gufo_str encoding);
/* The parts of a stem that the expression of the specification matches, `versioned` or without its
 * version; the values of their numbers are not checked. */
bool name_match_parts(gufo_str stem, bool versioned, gufo_name *out);
/* Why a name whose parts match still breaks the convention, and which part; NULL if it does not. */
const char *name_fault(const gufo_name *name, gufo_str *part);
/* The parameters that a letter means: 1000 for 'K'; 0 for a letter that is not a scale. */
uint64_t name_scale(char letter);
/* What a size ("8x7.2B") says, with its scale in any case.  False if 64 bits do not hold it. */
bool name_read_size(gufo_str label, uint64_t *experts, uint64_t *parameters);

/* Whether a component may be part of a base name; `first`: as its first one. */
bool name_is_base(gufo_str component, bool first);
bool name_is_size(gufo_str component);      /* "8x7B", "3.8B" */
bool name_is_attribute(gufo_str component); /* "A3B", "ContextLength4k": after a size */
bool name_is_version(gufo_str component);   /* "v1.0" */
bool name_is_encoding(gufo_str component);  /* any that is well-formed */
bool name_is_type(gufo_str component);      /* "LoRA", "vocab" */
bool name_is_shard(gufo_str text);          /* "00001-of-00003": three components */

/* ---- names that are made ------------------------------------------------------------------------ */

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

/* As gufo_model_suggest_name, of the one file that the model will be with this encoding, the name of a file
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
