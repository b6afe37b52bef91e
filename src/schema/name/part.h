/* What the files about names share: the shapes of single parts. */
#ifndef GUFO_SCHEMA_NAME_PART_H
#define GUFO_SCHEMA_NAME_PART_H

#include "gufo/name.h"
#include "gufo/schema.h"

#include "base/text.h"

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

#endif
