/* What the parts of the translator share: reading characters, failures, writing. */
#include "text/pipeline/expression/parser.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "text/pipeline/unicode/code_map.h"

gufo_status parser_unknown(const parser *p, const char *what)
{
    return refuse(p->error, GUFO_E_TYPE,
                  "the regular expression %s has %s at byte %zu, which is not supported",
                  QUOTED(p->text), what, p->at);
}

gufo_status parser_malformed(const parser *p, const char *what)
{
    return refuse(p->error, GUFO_E_MALFORMED, "the regular expression %s is wrong: byte %zu %s",
                  QUOTED(p->text), p->at, what);
}

bool parser_takes(parser *p, const char *text)
{
    size_t len = strlen(text);

    if (!str_begins(str_from(p->text, p->at), text))
        return false;
    p->at += len;
    return true;
}

uint32_t parser_character(parser *p)
{
    size_t size;
    uint32_t character = utf8_next(p->text.data + p->at, &size);

    p->at += size;
    return character;
}

/* ---- writing -------------------------------------------------------------------------------- */

gufo_status parser_write(parser *p, const char *text)
{
    return buffer_append(&p->out->text, text, strlen(text)) ? GUFO_OK : fail_memory(p->error);
}

static bool same_sets(const code_ranges *a, const code_ranges *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->list, b->list, (size_t)a->count * sizeof *a->list) == 0);
}

gufo_status parser_write_set(parser *p, code_ranges *set)
{
    translation *t = p->out;
    unsigned number = 0;

    while (number < t->set_count && !same_sets(&t->sets[number], set))
        number++;
    if (number == MOST_SETS) {
        code_ranges_free(set);
        return refuse(p->error, GUFO_E_LIMIT,
                      "the regular expression %s has more than %d sets of characters",
                      QUOTED(p->text), MOST_SETS);
    }
    if (number < t->set_count)
        code_ranges_free(set);
    else
        t->sets[t->set_count++] = *set;
    return buffer_append(&t->text, (uint8_t[]){SET_MARK, (uint8_t)number}, 2)
               ? GUFO_OK
               : fail_memory(p->error);
}

gufo_status parser_write_character(parser *p, uint32_t code_point)
{
    code_ranges set = {.allocator = p->out->allocator};
    char hex[8];

    if (code_point < 0x80) {
        (void)snprintf(hex, sizeof hex, "\\x%02x", (unsigned)code_point);
        return parser_write(p, hex);
    }
    return code_ranges_add(&set, code_point, code_point) ? parser_write_set(p, &set)
                                                         : fail_memory(p->error);
}

/* A set of characters by name, and others by range; all but them if `others`. */
gufo_status parser_write_property(parser *p, const char *name, bool others)
{
    code_ranges set = {.allocator = p->out->allocator};

    if (code_ranges_add_property(&set, gufo_str_of(name), PROPERTY_EXACT) &&
        (!others || code_ranges_invert(&set)))
        return parser_write_set(p, &set);
    code_ranges_free(&set);
    return fail_memory(p->error);
}
