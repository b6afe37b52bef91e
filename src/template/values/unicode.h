/* What Unicode says of a code point: its category, and its cases.
 *
 *     unicode.c                   by utf8proc
 *     web/module/unicode_wasm.c   by the browser that the module runs in
 *
 * Each is by the version of Unicode that is there; what it does not know yet is unassigned. */
#ifndef TEMPLATE_UNICODE_H
#define TEMPLATE_UNICODE_H

#include <stddef.h>
#include <stdint.h>

/* Unicode's general categories, by the letters of their names. */
typedef enum unicode_category {
    UNICODE_CN, /* unassigned */
    UNICODE_LU,
    UNICODE_LL,
    UNICODE_LT,
    UNICODE_LM,
    UNICODE_LO,
    UNICODE_MN,
    UNICODE_MC,
    UNICODE_ME,
    UNICODE_ND,
    UNICODE_NL,
    UNICODE_NO,
    UNICODE_PC,
    UNICODE_PD,
    UNICODE_PS,
    UNICODE_PE,
    UNICODE_PI,
    UNICODE_PF,
    UNICODE_PO,
    UNICODE_SM,
    UNICODE_SC,
    UNICODE_SK,
    UNICODE_SO,
    UNICODE_ZS,
    UNICODE_ZL,
    UNICODE_ZP,
    UNICODE_CC,
    UNICODE_CF,
    UNICODE_CS,
    UNICODE_CO,
} unicode_category;

unicode_category unicode_category_of(uint32_t point);

/* The other case of a code point, where that is one code point; else the point itself. */
uint32_t unicode_lower(uint32_t point);
uint32_t unicode_upper(uint32_t point);
uint32_t unicode_title(uint32_t point);

/* The code points that one becomes where case does not matter (full case folding); returns how many, from 1 to 3. */
size_t unicode_fold(uint32_t point, uint32_t out[3]);

#endif
