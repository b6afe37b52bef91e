/* Characters and sets of them, read as Oniguruma writes them and written for PCRE2: \xHH, \p{L}, [a-z], [^\s[:punct:]], [a-z&&[^aeiou]]. */
#include "base/error.h"
#include "base/sort.h"
#include "base/text.h"
#include "text/expressions/translation.h"

#include <stdio.h>
#include <string.h>

/* ---- reading characters, failures ----------------------------------------------------------- */

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

gufo_status parser_write_property(parser *p, const char *name, bool others)
{
    code_ranges set = {.allocator = p->out->allocator};

    if (code_ranges_add_property(&set, gufo_str_of(name), PROPERTY_EXACT) &&
        (!others || code_ranges_invert(&set)))
        return parser_write_set(p, &set);
    code_ranges_free(&set);
    return fail_memory(p->error);
}

/* ---- escapes -------------------------------------------------------------------------------- */

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

/* Letters of escapes that are not sets of characters; those that are refused. */
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

/* ---- any case ------------------------------------------------------------------------------- */

/* Characters of any case, by full case folding: s S ſ are the same, and so are ß ẞ ss.
 *
 *     (?i:ss)      (?:[sSſ][sSſ]|[ßẞ])
 *     (?i:[a-zß])  (?:[a-zA-ZſKßẞ]|[sSſ][sSſ]) */

enum { MOST_FOLDED = 3, MOST_WRITTEN = 1 << 16 };

/* In the order of code points; 0 behind the last character of a text. */
static const struct {
    uint32_t code, folded[MOST_FOLDED];
} folds[] = {
#define ROW(code, first, second, third) {code, {first, second, third}},
#include "registry/case_folds.inc"
#undef ROW
};

#define FOLD_COUNT (sizeof folds / sizeof *folds)

static size_t folded_length(size_t row)
{
    return folds[row].folded[1] == 0 ? 1 : folds[row].folded[2] == 0 ? 2 : 3;
}

static bool is_before(const void *unused, size_t row, const void *code)
{
    (void)unused;
    return folds[row].code < *(const uint32_t *)code;
}

/* The row of a character; FOLD_COUNT: it is folded already. */
static size_t find_row(uint32_t code)
{
    size_t row = first_row_from(folds, FOLD_COUNT, is_before, &code);

    return row < FOLD_COUNT && folds[row].code == code ? row : FOLD_COUNT;
}

static bool folds_to(size_t row, const uint32_t *text, size_t count)
{
    bool same = folded_length(row) == count;

    for (size_t i = 0; i < count && same; i++)
        same = folds[row].folded[i] == text[i];
    return same;
}

/* Writes the characters that fold to a text; *any: whether there are some. */
static gufo_status write_characters(parser *p, const uint32_t *text, size_t count, bool *any)
{
    code_ranges set = {.allocator = p->out->allocator};
    bool done = count > 1 || code_ranges_add(&set, *text, *text);

    for (size_t i = 0; i < FOLD_COUNT && done; i++)
        if (folds_to(i, text, count))
            done = code_ranges_add(&set, folds[i].code, folds[i].code);
    if (!done) {
        code_ranges_free(&set);
        return fail_memory(p->error);
    }
    *any = set.count > 0;
    code_ranges_sort(&set);
    return *any ? parser_write_set(p, &set) : GUFO_OK;
}

static bool has_several(const uint32_t *text, size_t count)
{
    for (size_t i = 0; i < FOLD_COUNT; i++)
        if (folds_to(i, text, count))
            return true;
    return false;
}

/* Writes what matches a folded text.  One character may fold to several: then both spellings match. */
static gufo_status write_ways(parser *p, const uint32_t *text, size_t count)
{
    gufo_status status = GUFO_OK;
    size_t at = 0, groups = 0;
    bool any;

    for (; at < count && status == GUFO_OK; at++) {
        bool opened = false;

        for (size_t len = 2; len <= MOST_FOLDED && len <= count - at && status == GUFO_OK; len++) {
            if (!has_several(text + at, len))
                continue;
            status = parser_write(p, opened ? "|" : "(?:");
            opened = true;
            if (status == GUFO_OK)
                status = write_characters(p, text + at, len, &any);
            if (status == GUFO_OK)
                status = write_ways(p, text + at + len, count - at - len);
        }
        if (p->out->text.len > MOST_WRITTEN)
            return refuse(p->error, GUFO_E_LIMIT,
                          "the regular expression %s has too many forms in other cases",
                          QUOTED(p->text));
        groups += opened;
        if (opened && status == GUFO_OK)
            status = parser_write(p, "|");
        if (status == GUFO_OK)
            status = write_characters(p, text + at, 1, &any);
    }
    for (; groups > 0 && status == GUFO_OK; groups--)
        status = parser_write(p, ")");
    return status;
}

gufo_status parser_write_folded(parser *p, uint32_t code)
{
    size_t row = find_row(code);

    for (size_t i = 0; i < (row < FOLD_COUNT ? folded_length(row) : 1); i++) {
        uint32_t *text = (uint32_t *)buffer_extend(&p->folded, sizeof *text);

        if (text == NULL)
            return fail_memory(p->error);
        *text = row < FOLD_COUNT ? folds[row].folded[i] : code;
    }
    return GUFO_OK;
}

gufo_status parser_end_folded(parser *p)
{
    const uint32_t *text = (const uint32_t *)(const void *)p->folded.data;
    size_t count = p->folded.len / sizeof *text;
    gufo_status status;

    if (count == 0)
        return GUFO_OK;
    status = parser_write(p, "(?:");
    if (status == GUFO_OK)
        status = write_ways(p, text, count);
    p->folded.len = 0;
    return status == GUFO_OK ? parser_write(p, ")") : status;
}

/* Whether the set has a character that folds to the same text. */
static bool has_same(const code_ranges *set, size_t row)
{
    size_t len = folded_length(row);
    bool has = len == 1 && code_ranges_has(set, folds[row].folded[0]);

    for (size_t i = 0; i < FOLD_COUNT && len > 1 && !has; i++)
        has = folds_to(i, folds[row].folded, len) && code_ranges_has(set, folds[i].code);
    return has;
}

/* Adds the other characters of those that fold to the same. */
static bool fold_ranges(code_ranges *set)
{
    code_ranges more = {.allocator = set->allocator};
    bool done = true;

    for (size_t i = 0; i < FOLD_COUNT && done; i++)
        if (folded_length(i) == 1 && code_ranges_has(set, folds[i].code))
            done = code_ranges_add(&more, folds[i].folded[0], folds[i].folded[0]);
    done = done && code_ranges_join(set, &more);
    code_ranges_sort(set);
    more.count = 0;
    for (size_t i = 0; i < FOLD_COUNT && done; i++)
        if (has_same(set, i))
            done = code_ranges_add(&more, folds[i].code, folds[i].code);
    done = done && code_ranges_join(set, &more);
    code_ranges_sort(set);
    code_ranges_free(&more);
    return done;
}

/* A set, in order, or all other characters, in any case; frees the set. */
static gufo_status write_folded_set(parser *p, code_ranges *set, bool negated)
{
    bool longer[FOLD_COUNT] = {false};
    gufo_status status = parser_write(p, "(?:");

    if (status == GUFO_OK && !fold_ranges(set))
        status = fail_memory(p->error);
    for (size_t i = 0; i < FOLD_COUNT; i++)
        longer[i] = !negated && folded_length(i) > 1 && code_ranges_has(set, folds[i].code);
    if (status == GUFO_OK && negated && !code_ranges_invert(set))
        status = fail_memory(p->error);
    if (status == GUFO_OK)
        status = parser_write_set(p, set);
    else
        code_ranges_free(set);
    for (size_t i = 0; i < FOLD_COUNT && status == GUFO_OK; i++) {
        if (!longer[i])
            continue;
        status = parser_write(p, "|");
        if (status == GUFO_OK)
            status = write_ways(p, folds[i].folded, folded_length(i));
    }
    return status == GUFO_OK ? parser_write(p, ")") : status;
}

/* ---- classes -------------------------------------------------------------------------------- */

/* What of a class has been read. */
typedef struct class_reading {
    code_ranges left; /* before the last "&&" */
    bool has_left;
    code_ranges set; /* behind it */
} class_reading;

static gufo_status read_class(parser *p, code_ranges *out, bool *negated);

/* "[:alpha:]"; *is_bracket: there is one. */
static gufo_status read_bracket(parser *p, code_ranges *set, bool *is_bracket)
{
    size_t at = p->at + 2, len;
    bool negated = parser_peek(p, 2) == '^', done;
    code_ranges one = {.allocator = set->allocator};
    gufo_str name;

    *is_bracket = false;
    at += negated;
    len = at < p->text.len ? str_span(p->text, at, is_letter) : 0;
    if (at + len + 2 > p->text.len || memcmp(p->text.data + at + len, ":]", 2) != 0)
        return GUFO_OK;
    *is_bracket = true;
    name = (gufo_str){p->text.data + at, len};
    if (!str_is_word(name,
                     "alnum alpha ascii blank cntrl digit graph lower print punct space upper "
                     "word xdigit"))
        return parser_unknown(p, "a POSIX bracket of another name");
    if (gufo_str_equal(name, gufo_str_of("punct")))
        name = gufo_str_of("bracket punct");
    else if (gufo_str_equal(name, gufo_str_of("word")))
        name = gufo_str_of("bracket word");
    done = code_ranges_add_property(&one, name, PROPERTY_EXACT) &&
           (!negated || code_ranges_invert(&one)) && code_ranges_join(set, &one);
    code_ranges_free(&one);
    p->at = at + len + 2;
    return done ? GUFO_OK : fail_memory(p->error);
}

static gufo_status read_nested(parser *p, code_ranges *set)
{
    code_ranges one = {.allocator = set->allocator};
    bool is_bracket = false, negated = false;
    gufo_status status = GUFO_OK;

    if (parser_peek(p, 1) == ':')
        status = read_bracket(p, set, &is_bracket);
    if (status != GUFO_OK || is_bracket)
        return status;
    p->at++;
    status = read_class(p, &one, &negated);
    if (status == GUFO_OK &&
        ((negated && !code_ranges_invert(&one)) || !code_ranges_join(set, &one)))
        status = fail_memory(p->error);
    code_ranges_free(&one);
    return status;
}

/* One character, or an escape; *is_set: it is in the set already. */
static gufo_status read_member(parser *p, code_ranges *set, uint32_t *character, bool *is_set)
{
    code_ranges one = {.allocator = set->allocator};
    escape_kind kind = ESCAPE_CHARACTER;
    gufo_status status = GUFO_OK;

    *is_set = false;
    if (parser_peek(p, 0) != '\\') {
        *character = parser_character(p);
        return GUFO_OK;
    }
    if (parser_peek(p, 1) == 'b') {
        *character = '\b';
        p->at += 2;
        return GUFO_OK;
    }
    status = parser_escape(p, &kind, character, &one);
    if (status == GUFO_OK && kind == ESCAPE_OTHER) { /* a letter like any other in a class */
        *character = (uint8_t)parser_peek(p, 1);
        p->at += 2;
    }
    *is_set = kind == ESCAPE_SET;
    if (status == GUFO_OK && *is_set && !code_ranges_join(set, &one))
        status = fail_memory(p->error);
    code_ranges_free(&one);
    return status;
}

/* A character or a range of them, or an escape. */
static gufo_status read_range(parser *p, code_ranges *set)
{
    uint32_t first = 0, last;
    bool is_set;
    gufo_status status = read_member(p, set, &first, &is_set);

    if (status != GUFO_OK || is_set)
        return status;
    last = first;
    if (parser_peek(p, 0) == '-' && parser_peek(p, 1) != ']' && p->text.len - p->at > 1) {
        if (parser_peek(p, 1) == '[' || parser_peek(p, 1) == '&')
            return parser_unknown(p, "a range that ends with a class");
        p->at++;
        status = read_member(p, set, &last, &is_set);
        if (status == GUFO_OK && is_set)
            return parser_unknown(p, "a range that ends with a class");
        if (status == GUFO_OK && last < first)
            return parser_malformed(p, "is behind a range that ends before it begins");
    }
    return status != GUFO_OK                   ? status
           : code_ranges_add(set, first, last) ? GUFO_OK
                                               : fail_memory(p->error);
}

/* What is behind "&&" limits what is before it. */
static gufo_status limit_class(parser *p, class_reading *c)
{
    code_ranges_sort(&c->set);
    if (!c->has_left) {
        c->left = c->set;
        c->set = (code_ranges){.allocator = c->left.allocator};
        c->has_left = true;
        return GUFO_OK;
    }
    if (!code_ranges_intersect(&c->left, &c->set))
        return fail_memory(p->error);
    code_ranges_free(&c->set);
    return GUFO_OK;
}

static gufo_status read_members(parser *p, class_reading *c)
{
    gufo_status status = GUFO_OK;

    for (bool first = true; status == GUFO_OK; first = false) {
        char next = parser_peek(p, 0);

        if (parser_ends(p))
            return parser_malformed(p, "is behind a class without end");
        if (next == ']' && !first)
            break;
        if (next == ']' && memchr(p->text.data + p->at + 1, ']', p->text.len - p->at - 1) == NULL)
            return parser_malformed(p, "ends an empty class");
        if (next == '[')
            status = read_nested(p, &c->set);
        else if (parser_takes(p, "&&"))
            status = limit_class(p, c);
        else
            status = read_range(p, &c->set);
    }
    if (status == GUFO_OK)
        p->at++;
    return status;
}

/* A class behind its "[": what it has, or, negated, what it has not. */
static gufo_status read_class(parser *p, code_ranges *out, bool *negated)
{
    class_reading c = {.left.allocator = out->allocator, .set.allocator = out->allocator};
    gufo_status status;

    p->classes++;
    *negated = parser_takes(p, "^");
    status = ++p->depth > MOST_DEPTH ? parser_unknown(p, "too many nested classes")
                                     : read_members(p, &c);
    if (status == GUFO_OK && c.has_left)
        status = limit_class(p, &c);
    p->depth--;
    p->classes--;
    code_ranges_sort(&c.set);
    *out = c.has_left ? c.left : c.set;
    code_ranges_free(c.has_left ? &c.set : &c.left);
    return status;
}

gufo_status parser_class(parser *p, unsigned flags)
{
    code_ranges set = {.allocator = p->out->allocator};
    bool negated;
    gufo_status status = read_class(p, &set, &negated);

    if (status == GUFO_OK && (flags & IGNORE_CASE) != 0)
        return write_folded_set(p, &set, negated);
    if (status == GUFO_OK && negated && !code_ranges_invert(&set))
        status = fail_memory(p->error);
    if (status == GUFO_OK)
        return parser_write_set(p, &set);
    code_ranges_free(&set);
    return status;
}
