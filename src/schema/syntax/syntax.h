/* Strings of metadata that have a fixed form: licenses, languages, UUIDs, DOIs, URLs.
 *
 * Each check takes any bytes, of any length, in linear time and constant stack.  Any thread. */
#ifndef GUFO_SCHEMA_SYNTAX_H
#define GUFO_SCHEMA_SYNTAX_H

#include "base/text.h"
#include "gufo/base.h"

typedef enum syntax_verdict {
    SYNTAX_OK,
    SYNTAX_DEPRECATED, /* well-formed and known, but no longer to be used */
    SYNTAX_VARIANT,    /* the meaning is clear, but the form is not the standard one */
    SYNTAX_UNKNOWN,    /* well-formed, but not in the list */
    SYNTAX_MALFORMED,
} syntax_verdict;

/* What a hint replaces. */
typedef enum hint_scope {
    HINT_FOR_PART,
    HINT_FOR_TEXT,  /* the whole */
    HINT_IS_CHOICE, /* of the part: "X or Y" */
} hint_scope;

enum { SYNTAX_HINT = 160 };

/* What a check found.  Reads as
 *     "PART" REASON; did you mean HINT?
 * for example: "apache2" is not an SPDX license id; did you mean Apache-2.0?  If the part
 * is empty, the reason is about the whole text. */
typedef struct syntax_result {
    syntax_verdict verdict;
    size_t at;              /* where in the text the part begins */
    gufo_str part;          /* a view into the text; empty if something is missing */
    const char *reason;     /* constant; NULL if the verdict is OK */
    char hint[SYNTAX_HINT]; /* the right text; empty if unknown */
    hint_scope scope;
} syntax_result;

/* An SPDX license expression (SPDX specification, annex on license expressions): ids of the license
 * and exception lists, LicenseRef-, AND, OR, WITH, parentheses.  A malformed expression is reported
 * before an unknown id, that before operators in lower case, that before a deprecated id. */
syntax_result syntax_license(gufo_str text);
/* Whether it is a license as model cards name it ("llama3.1", "other"), in any case. */
bool syntax_is_hub_license(gufo_str text);

/* A language as ISO 639 codes it: two letters (639-1), or any three for a language without two.  For
 * other spellings (three letters, capitals, regions, English names) the hint is the code. */
syntax_result syntax_language(gufo_str text);

/* The code of two letters of a language that is given by its code, with a region or script behind it, or
 * by an English name; empty where there is none.  Static. */
gufo_str language_code(gufo_str text);

/* A UUID (RFC 9562): 8-4-4-4-12 hexadecimal digits. */
syntax_result syntax_uuid(gufo_str text);

/* A DOI name (DOI Handbook): 10.NNNN/SUFFIX.  As a URL or with "doi:" it is a variant of that. */
syntax_result syntax_doi(gufo_str text);

/* A web address: http or https, a host, no blanks or control characters (RFC 3986; characters
 * beyond ASCII as in RFC 3987). */
syntax_result syntax_url(gufo_str text);

/* ---- how the checks fill in what they found ----------------------------------------------------- */

/* The result for a fault: `part` is a view into `text`, `reason` a constant. */
syntax_result syntax_fault(syntax_verdict verdict, gufo_str text, gufo_str part,
                           const char *reason);

/* The result for a text that should be written as `standard`, which becomes the hint. */
syntax_result syntax_variant(gufo_str text, const char *reason, gufo_str standard);

/* Sets the hint, one text or several pieces of one; none if it does not fit, or has characters that
 * are not plain and visible. */
void syntax_hint(syntax_result *result, gufo_str hint);
void syntax_hint_joined(syntax_result *result, const gufo_str *pieces, size_t count);

#endif
