/* Characters as Python sees them. */
#ifndef TEMPLATE_CHARACTERS_H
#define TEMPLATE_CHARACTERS_H

#include "gufo/base.h"

/* Bytes of white space (str.isspace) at the start and at the end of a text. */
size_t space_before(gufo_str text);
size_t space_behind(gufo_str text);
bool is_space(uint32_t point);

/* Whether a character can be in a name. */
bool is_name_point(uint32_t point);
/* Whether \w of Python's patterns has it. */
bool is_word_point(uint32_t point);
/* Whether a text is a name (str.isidentifier). */
bool is_identifier(gufo_str text);
/* Whether repr shows a character as it is. */
bool is_printable(uint32_t point);

/* The code point at the start of a text (not empty) of valid UTF-8; *len is its length. */
uint32_t point_at(gufo_str text, size_t *len);
/* The length of the last code point of a text (not empty). */
size_t last_point(gufo_str text);

typedef enum letter_case { CASE_LOWER, CASE_UPPER, CASE_TITLE, CASE_FOLD } letter_case;

/* Code points that the other case of one has: at most 3. */
size_t point_case(uint32_t point, letter_case to, uint32_t out[3]);

/* The classes of str.isalpha and its relatives. */
bool is_alphabetic(uint32_t point);
bool is_decimal(uint32_t point);
bool is_digit_point(uint32_t point);
bool is_numeric(uint32_t point);
bool is_lower_point(uint32_t point);
bool is_upper_point(uint32_t point);
bool is_title_point(uint32_t point);
bool is_cased(uint32_t point);
bool is_case_ignorable(uint32_t point);

#endif
