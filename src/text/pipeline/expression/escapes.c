/* Escapes of Oniguruma: characters and sets. */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "text/pipeline/expression/parser.h"

/* Escapes that are sets; the capital letter is all other characters. */
static const struct {
    char letter;
    const char *property;
} sets[] = {{'w', "word"}, {'s', "space"}, {'d', "digit"}, {'h', "xdigit"}};

/* A class has fewer characters of words than the same escape outside of one. */
static gufo_str property_name(const parser *p, gufo_str name)
{
    return p->classes > 0 && str_same_folded(name, gufo_str_of("word"))
               ? gufo_str_of("bracket word")
               : name;
}

static const char control_letters[] = "tnrfvae", controls[] = "\t\n\r\f\v\a\x1b";

/* Letters that mean what is no set. */
static const char others[] = "bBAzZGKRXkgyY", refused[] = "cCM";

/* Up to `most` digits from `at` on. */
static uint32_t read_hex(const parser *p, size_t *at, size_t most)
{
    uint64_t value;

    *at += str_hex(p->text, *at, most, &value);
    return (uint32_t)value;
}

static gufo_status take_character(parser *p, uint32_t value, size_t end, uint32_t *character)
{
    if (value > LAST_CODE_POINT || (value >= 0xD800 && value <= 0xDFFF))
        return parser_malformed(p, "is not a character");
    *character = value;
    p->at = end;
    return GUFO_OK;
}

/* \xHH (a byte for Oniguruma: ASCII alone is a character), \x{H...}, \uHHHH. */
static gufo_status read_number(parser *p, uint32_t *character)
{
    size_t at = p->at + 2, first;
    bool braces = parser_peek(p, 1) == 'x' && parser_peek(p, 2) == '{';
    bool short_form = parser_peek(p, 1) == 'x' && !braces;
    uint32_t value;

    at += braces;
    first = at;
    value = read_hex(p, &at, braces ? 8 : short_form ? 2 : 4);
    if (at == first || (parser_peek(p, 1) == 'u' && at != first + 4) ||
        (braces && (at == p->text.len || p->text.data[at] != '}')))
        return parser_unknown(p, "an incomplete number of a character");
    if (short_form && value > 0x7F)
        return parser_unknown(p, "\\x with a byte that is not ASCII");
    return take_character(p, value, at + braces, character);
}

static gufo_status read_octal(parser *p, uint32_t *character)
{
    size_t at = p->at + 1, most = 3;
    uint32_t value = 0;

    if (p->text.data[at] != '0')
        return parser_unknown(p, "a reference to a group");
    for (; most > 0 && at < p->text.len && is_digit(p->text.data[at]) && p->text.data[at] < '8';
         most--, at++)
        value = value << 3 | (uint32_t)(p->text.data[at] - '0');
    return take_character(p, value, at, character);
}

/* Names that the table has for a file's ones are its own: they are exact. */
static bool add_property(const parser *p, code_ranges *set, gufo_str name)
{
    gufo_str known = property_name(p, name);

    return code_ranges_add_property(set, known,
                                    known.data == name.data ? PROPERTY_OF_FILE : PROPERTY_EXACT);
}

/* \p{Name}, \p{^Name}, \P{Name}. */
static gufo_status read_property(parser *p, code_ranges *set)
{
    bool negated = parser_peek(p, 1) == 'P';
    size_t at = p->at + 3;
    const char *end;
    gufo_str name;

    if (at < p->text.len && p->text.data[at] == '^') {
        negated = !negated;
        at++;
    }
    end = at < p->text.len ? memchr(p->text.data + at, '}', p->text.len - at) : NULL;
    if (end == NULL)
        return parser_malformed(p, "has no }");
    name = (gufo_str){p->text.data + at, (size_t)(end - p->text.data) - at};
    if (!code_ranges_knows(name, PROPERTY_OF_FILE))
        return refuse(p->error, GUFO_E_TYPE,
                      "the property %s of the regular expression %s is not known", QUOTED(name),
                      QUOTED(p->text));
    if (!add_property(p, set, name) || (negated && !code_ranges_invert(set)))
        return fail_memory(p->error);
    p->at = at + name.len + 1;
    return GUFO_OK;
}

/* Whether `letter` is an escape for a set; *done is whether there was memory for it. */
static bool read_set(const parser *p, char letter, code_ranges *set, bool *done)
{
    *done = true;
    if (letter == 'O' || letter == 'N') {
        *done = code_ranges_add(set, 0, LAST_CODE_POINT);
        if (letter == 'N' && *done) {
            set->list[0] = (code_range){0, '\n' - 1};
            *done = code_ranges_add(set, '\n' + 1, LAST_CODE_POINT);
        }
        return true;
    }
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (to_lower(letter) != sets[i].letter)
            continue;
        *done = add_property(p, set, gufo_str_of(sets[i].property)) &&
                (!is_upper(letter) || code_ranges_invert(set));
        return true;
    }
    return false;
}

gufo_status parser_escape(parser *p, escape_kind *kind, uint32_t *character, code_ranges *set)
{
    char letter = parser_peek(p, 1);
    const char *control;
    bool done;

    if (p->text.len - p->at < 2)
        return parser_malformed(p, "ends with a backslash");
    *kind = ESCAPE_SET;
    if ((letter == 'p' || letter == 'P') && parser_peek(p, 2) == '{')
        return read_property(p, set);
    if (read_set(p, letter, set, &done)) {
        p->at += 2;
        return done ? GUFO_OK : fail_memory(p->error);
    }
    *kind = ESCAPE_CHARACTER;
    if (letter == 'u' || letter == 'x')
        return read_number(p, character);
    if (is_digit(letter))
        return read_octal(p, character);
    if (letter != '\0' && strchr(refused, letter) != NULL)
        return parser_unknown(p, "a control character");
    if (letter != '\0' && strchr(others, letter) != NULL) {
        *kind = ESCAPE_OTHER;
        return GUFO_OK;
    }
    control = letter != '\0' ? strchr(control_letters, letter) : NULL;
    if (control != NULL) {
        *character = (uint8_t)controls[control - control_letters];
        p->at += 2;
        return GUFO_OK;
    }
    p->at++; /* any other character is itself */
    *character = parser_character(p);
    return GUFO_OK;
}
