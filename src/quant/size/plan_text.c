/* Plans as text: rules that give each tensor its type by a pattern that means its name alone.
 *
 *     blk.0.attn_q.weight   ^blk\.0\.attn_q\.weight$=Q5_0
 *     a b                   ^a\x20b$=Q5_0             blanks would divide the rule */
#include <inttypes.h>

#include "base/buffer.h"
#include "base/error.h"
#include "quant/size/size.h"

/* ---- patterns that mean one name ------------------------------------------------------------ */

/* Letters, digits, and marks without a meaning in patterns; bytes of UTF-8. */
static bool is_plain(char c)
{
    return is_letter(c) || is_digit(c) || (unsigned char)c >= 0x80 ||
           (c != '\0' && strchr("_-/:,", c) != NULL);
}

static bool is_mark(char c)
{
    return c > ' ' && c < 0x7f && !is_plain(c);
}

static bool add_escaped(gufo_text *text, char c)
{
    char escape[4] = {'\\', c};

    if (is_mark(c))
        return text_add(text, escape, 2);
    escape[1] = 'x';
    (void)hex_put(escape + 2, (uint8_t)c, false);
    return text_add(text, escape, sizeof escape);
}

static bool add_pattern(gufo_text *text, gufo_str name)
{
    bool added = text_add(text, "^", 1);

    for (size_t i = 0; i < name.len && added; i++)
        added = is_plain(name.data[i]) ? text_add(text, &name.data[i], 1)
                                       : add_escaped(text, name.data[i]);
    return added && text_add(text, "$", 1);
}

/* Reads a character at *at; false if it may mean another one. */
static bool read_character(gufo_str pattern, size_t *at, char *out)
{
    uint64_t byte = 0;
    char c = pattern.data[(*at)++];

    *out = c;
    if (c != '\\')
        return is_plain(c);
    if (*at == pattern.len)
        return false;
    *out = c = pattern.data[(*at)++];
    if (c != 'x')
        return is_mark(c);
    if (str_hex(pattern, *at, 2, &byte) < 2 || byte >= 0x80)
        return false;
    *at += 2;
    *out = (char)byte;
    return true;
}

gufo_status gufo_type_rule_tensor(gufo_str pattern, gufo_text *name, gufo_error *error)
{
    bool is_literal = pattern.len >= 2 && str_begins(pattern, "^") && str_ends(pattern, "$");
    gufo_str inner = {pattern.data, pattern.len - is_literal};

    name->len = 0;
    for (size_t at = 1; at < inner.len && is_literal;) {
        char c;

        is_literal = read_character(inner, &at, &c);
        if (is_literal && !text_add(name, &c, 1))
            return fail_memory(error);
    }
    return is_literal ? GUFO_OK
                      : refuse(error, GUFO_E_TYPE, "the pattern %s may mean several tensors",
                               QUOTED(pattern));
}

/* ---- writing -------------------------------------------------------------------------------- */

static bool add_text(gufo_text *text, const char *added)
{
    return text_add(text, added, strlen(added));
}

gufo_status gufo_size_plan_write(const gufo_size_plan *plan, size_t target, const char *comment,
                                 gufo_text *text, gufo_error *error)
{
    gufo_size_tensor tensor;
    bool added = true;

    if (!gufo_size_plan_at(plan, target, NULL))
        return refuse(error, GUFO_E_RANGE, "the plan has no target %zu", target);
    if (comment != NULL)
        added = add_text(text, "# ") && add_text(text, comment) && add_text(text, "\n");
    for (uint64_t i = 0; added && gufo_size_plan_tensor_at(plan, target, i, &tensor); i++)
        if (!tensor.is_kept)
            added = add_pattern(text, tensor.name) && add_text(text, "=") &&
                    add_text(text, tensor.loss.type->name) && add_text(text, "\n");
    return added ? GUFO_OK : fail_memory(error);
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return strchr(" \t\r\v\f", c) != NULL; /* and NUL, which no text has here */
}

static bool is_not_blank(char c)
{
    return !is_blank(c);
}

/* Reads a rule of a text in which it begins at `offset`. */
static gufo_status read_rule(gufo_str text, uint64_t offset, gufo_type_rule *out, gufo_error *error)
{
    size_t equals = text.len;

    while (equals > 0 && text.data[equals - 1] != '=')
        equals--;
    if (equals < 2)
        return fail_with(error, GUFO_E_MALFORMED, offset,
                         "line %" PRIu64 ": PATTERN=TYPE is needed, not %s", out->line,
                         QUOTED(text));
    out->pattern = (gufo_str){text.data, equals - 1};
    out->type_name = str_from(text, equals);
    out->type = gufo_element_type_meant(out->type_name);
    return GUFO_OK;
}

static gufo_status read_line(gufo_str line, uint64_t offset, uint64_t number,
                             gufo_type_rule_fn *found, void *context, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t at = str_span(line, 0, is_blank); at < line.len && status == GUFO_OK;
         at += str_span(line, at, is_blank)) {
        gufo_str word = {line.data + at, str_span(line, at, is_not_blank)};
        gufo_type_rule rule = {.line = number};

        status = read_rule(word, offset + at, &rule, error);
        if (status == GUFO_OK)
            status = found(context, &rule, error);
        at += word.len;
    }
    return status;
}

gufo_status gufo_type_rules_read(gufo_str text, gufo_type_rule_fn *found, void *context,
                                 gufo_error *error)
{
    const char *nul = text.len > 0 ? memchr(text.data, '\0', text.len) : NULL;
    gufo_status status = GUFO_OK;

    if (nul != NULL)
        return fail_with(error, GUFO_E_MALFORMED, (uint64_t)(nul - text.data),
                         "it has a NUL, and is not a list of patterns");
    for (size_t at = 0, number = 1; at < text.len && status == GUFO_OK; number++) {
        gufo_str line = str_line(text, &at);

        if (line.len > 0 && line.data[0] != '#')
            status =
                read_line(line, (uint64_t)(line.data - text.data), number, found, context, error);
    }
    return status;
}
