/* Strings of metadata that have a fixed form: licenses, languages, UUIDs, DOIs, URLs.
 *
 * Each check takes any bytes, of any length, needs time in proportion to them, keeps nothing on a
 * stack that grows with them, and calls from any thread are fine. */
#ifndef GUFO_SCHEMA_FORM_H
#define GUFO_SCHEMA_FORM_H

#include "gufo/base.h"

typedef enum form_verdict {
    GUFO_FORM_OK,
    GUFO_FORM_DEPRECATED, /* well-formed and known, but no longer to be used */
    GUFO_FORM_VARIANT,    /* what is meant is clear, but it is not written in the standard form */
    GUFO_FORM_UNKNOWN,    /* well-formed, but not in the list */
    GUFO_FORM_MALFORMED,
} form_verdict;

enum { GUFO_FORM_HINT = 160 };

/* What a check found.  Reads as
 *     "PART" REASON; did you mean HINT?
 * for example: "apache2" is not an SPDX license id; did you mean Apache-2.0?  Where the part is
 * empty the reason is said of the whole text. */
typedef struct gufo_form {
    form_verdict verdict;
    size_t at;                 /* where in the text the part begins */
    gufo_str part;             /* a view into the text; empty if something is missing */
    const char *reason;        /* constant; NULL if the verdict is OK */
    char hint[GUFO_FORM_HINT]; /* the text that should be there instead; empty if unknown */
} gufo_form;

/* An SPDX license expression (SPDX specification, annex on license expressions): ids of the license
 * and exception lists, LicenseRef-, AND, OR, WITH, parentheses.  A malformed expression is reported
 * before an unknown id, that before operators in lower case, that before a deprecated id. */
gufo_form form_license(gufo_str text);

/* A language as ISO 639 codes it: two letters (639-1), or three (639-2, 639-3) where there are no
 * two.  For other spellings (three letters, capitals, regions, English names) the hint is the
 * code. */
gufo_form form_language(gufo_str text);

/* A UUID (RFC 9562): 8-4-4-4-12 hexadecimal digits. */
gufo_form form_uuid(gufo_str text);

/* A DOI name (DOI Handbook): 10.NNNN/SUFFIX.  As a URL or with "doi:" it is a variant of that. */
gufo_form form_doi(gufo_str text);

/* A web address: http or https, a host, no blanks or control characters (RFC 3986; characters
 * beyond ASCII as in RFC 3987). */
gufo_form form_url(gufo_str text);

#endif
