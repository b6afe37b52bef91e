/* Chat templates as a module, and as a program by any other build: what they become is in the headers of tests/template,
 * and what characters are must be the same in both, as far as both versions of Unicode know them
 * (tests/template.test.mjs). */
#include "gufo/template.h"
#include "template/values/characters.h"
#include "template/values/unicode.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(#name)))
#else
#define EXPORT(name) static
#endif

enum { ROOM = 1 << 16, POINTS = 256 };

static char points[ROOM];

/* Category and cases of `POINTS` code points from `first` on, a line each: "41 1 61 41 41 61". */
EXPORT(template_points) const char *template_points(uint32_t first)
{
    size_t len = 0;

    for (uint32_t point = first; point < first + POINTS; point++) {
        len += (size_t)snprintf(points + len, ROOM - len, "%" PRIx32 " %d", point,
                                (int)unicode_category_of(point));
        for (int to = CASE_LOWER; to <= CASE_FOLD; to++) {
            uint32_t out[3];
            size_t count = point_case(point, (letter_case)to, out);

            for (size_t i = 0; i < count; i++)
                len += (size_t)snprintf(points + len, ROOM - len, "%c%" PRIx32, i > 0 ? ',' : ' ',
                                        out[i]);
        }
        points[len++] = '\n';
    }
    points[len] = '\0';
    return points;
}

#ifdef __wasm__
#include "template/python_cases.h"
#include "template/template_cases.h"

enum {
    TEMPLATE_CASES = sizeof template_cases / sizeof *template_cases,
    INTEGER_CASES = sizeof integer_cases / sizeof *integer_cases,
    MACRO_CASES = sizeof macro_cases / sizeof *macro_cases,
    FILTER_CASES = sizeof filter_cases / sizeof *filter_cases,
};

static gufo_text last;
static char *room;

/* Room for a template and its variables, one after the other. */
EXPORT(template_room) void *template_room(size_t size)
{
    free(room);
    room = malloc(size);
    return room;
}

static gufo_status render(gufo_str source, gufo_str variables, uint64_t steps)
{
    const gufo_template_options options = {.now = 1767312000, .steps = steps}; /* 2026-01-02 */
    gufo_template *parsed = gufo_template_parse(source, NULL, NULL, NULL);
    gufo_template_values *values = gufo_template_values_new(NULL, NULL);
    gufo_status status = GUFO_E_MALFORMED;

    last.len = 0;
    if (parsed != NULL && values != NULL)
        status = gufo_template_values_set_all(values, variables, NULL);
    if (parsed != NULL && values != NULL && status == GUFO_OK)
        status = gufo_template_render(parsed, values, &options, &last, NULL, NULL);
    gufo_template_values_free(values);
    gufo_template_free(parsed);
    return status;
}

EXPORT(template_render) int template_render(size_t source_len, size_t variables_len)
{
    return (int)render((gufo_str){room, source_len}, (gufo_str){room + source_len, variables_len},
                       0);
}

EXPORT(template_text) const char *template_text(void)
{
    return last.data;
}

EXPORT(template_length) size_t template_length(void)
{
    return last.len;
}

/* ---- the cases of tests/template ------------------------------------------------------------- */

static const python_case *python_case_at(size_t index)
{
    if (index < INTEGER_CASES)
        return &integer_cases[index];
    index -= INTEGER_CASES;
    if (index < MACRO_CASES)
        return &macro_cases[index];
    index -= MACRO_CASES;
    return index < FILTER_CASES ? &filter_cases[index] : NULL;
}

static bool becomes(const char *source, const char *variables, uint64_t steps, const char *expected)
{
    gufo_status status = render(gufo_str_of(source), gufo_str_of(variables), steps);

    if (expected == NULL)
        return status == GUFO_E_TYPE || status == GUFO_E_LIMIT || status == GUFO_E_MALFORMED;
    return status == GUFO_OK && last.len == strlen(expected) &&
           (last.len == 0 || memcmp(last.data, expected, last.len) == 0);
}

/* The template of a case that becomes something else than it should; "" if it does not, NULL past the last. */
EXPORT(template_case_fault) const char *template_case_fault(size_t index)
{
    const python_case *row;

    if (index < TEMPLATE_CASES)
        return becomes(template_cases[index].source, case_variables, 0,
                       template_cases[index].expected)
                   ? ""
                   : template_cases[index].source;
    row = python_case_at(index - TEMPLATE_CASES);
    if (row == NULL)
        return NULL;
    return becomes(row->source, "{}", 1000000, row->expected) ? "" : row->source;
}

#else

int main(void)
{
    for (uint32_t first = 0; first <= 0x10ffff; first += POINTS)
        fputs(template_points(first), stdout);
    return 0;
}
#endif
