/* Findings, and what the checks ask of a file. */
#include "schema/check/check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format/rules/rules.h"
#include "schema/registry/key.h"

/* ---- findings ------------------------------------------------------------------------------- */

static void emit(check_context *c, rule_number number, gufo_finding finding, const char *message)
{
    finding.rule = gufo_rule_at((size_t)number);
    finding.message = message;
    if (c->found != NULL)
        c->found(c->context, &finding);
}

void schema_report(check_context *c, rule_number number, gufo_finding finding, const char *format,
                   ...)
{
    char message[sizeof c->error->message];
    va_list args;

    if (gufo_rule_at((size_t)number)->level > c->level)
        return;
    if (!c->options->every && c->listed[number]++ >= GUFO_FINDINGS_OF_A_RULE)
        return;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    emit(c, number, finding, message);
}

const char *schema_text(check_context *c, const char *format, ...)
{
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(c->text, sizeof c->text, format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof c->text)
        c->text[0] = '\0';
    return c->text;
}

const char *schema_and_more(check_context *c, uint64_t count)
{
    c->more[0] = '\0';
    if (count > 1)
        (void)snprintf(c->more, sizeof c->more, " (and %s more)", GROUPED(count - 1));
    return c->more;
}

void schema_report_rest(check_context *c)
{
    char message[GUFO_FINDINGS_REST_SIZE];

    for (size_t i = 0; i < RULE_COUNT; i++) {
        if (gufo_findings_rest(c->listed[i], message))
            emit(c, (rule_number)i, at_missing(""), message);
        c->listed[i] = 0;
    }
}

/* ---- what is checked ------------------------------------------------------------------------ */

bool schema_arch_entry(const check_context *c, gufo_entry *out, const char *name, ...)
{
    static const char front[] = KEY_ARCH ".";
    const size_t room = KEY_SIZE - strlen(front);
    char key[KEY_SIZE];
    va_list args;
    int len;

    memcpy(key, front, sizeof front);
    va_start(args, name);
    len = vsnprintf(key + strlen(front), room, name, args);
    va_end(args);
    return len >= 0 && (size_t)len < room && key_entry_of(c->model, c->architecture, key, out);
}

bool schema_check_number(const check_context *c, const char *key, gufo_entry *entry, uint64_t *out)
{
    return key_entry_of(c->model, c->architecture, key, entry) &&
           gufo_value_u64(&entry->value, out, NULL) == GUFO_OK;
}

void schema_each_text(const gufo_entry *entry,
                      void (*take)(void *context, gufo_str text, uint64_t at), void *context)
{
    const gufo_array *array = &entry->value.as.array;
    gufo_array_iter iter;
    gufo_value text;

    if (entry->value.type == GUFO_VALUE_STRING)
        take(context, entry->value.as.str, entry->value_offset);
    if (entry->value.type != GUFO_VALUE_ARRAY || array->type != GUFO_VALUE_STRING)
        return;
    iter = gufo_array_start(array);
    while (gufo_array_next(&iter, &text))
        take(context, text.as.str,
             entry->value_offset + (uint64_t)(text.as.str.data - (const char *)array->data));
}

/* ---- pairs of tensors --------------------------------------------------------------------------- */

bool name_ends(gufo_str name, const char *suffix)
{
    size_t len = strlen(suffix);

    return name.len > len && memcmp(name.data + name.len - len, suffix, len) == 0;
}

/* The other one of a pair, whose suffix is number `side`; reports it as missing. */
static bool find_other(check_context *c, const pair_rules *rules, const gufo_tensor *tensor,
                       size_t side, gufo_str base, gufo_tensor *other)
{
    char name[GUFO_MAX_NAME + 16];

    if (base.len > GUFO_MAX_NAME)
        return false;
    (void)snprintf(name, sizeof name, "%.*s%s", (int)base.len, base.data, rules->suffixes[side]);
    if (gufo_model_tensor_find(c->model, name, other))
        return true;
    if (!c->options->single)
        schema_report(c, rules->pair, at_tensor(tensor), "tensor %s is present, but not %s",
                      QUOTED(tensor->name), QUOTED(gufo_str_of(name)));
    return false;
}

void schema_check_pairs(check_context *c, const pair_rules *rules)
{
    gufo_tensor tensor, other;

    for (uint64_t i = 0; gufo_model_tensor_at(c->model, i, &tensor); i++) {
        bool first = name_ends(tensor.name, rules->suffixes[0]);
        bool second = name_ends(tensor.name, rules->suffixes[1]);
        gufo_str base = tensor.name;

        rules->look_at(c, &tensor, first || second);
        if (!first && !second)
            continue;
        base.len -= strlen(rules->suffixes[second]);
        if (find_other(c, rules, &tensor, first, base, &other) && first)
            rules->compare(c, &tensor, &other, base);
    }
}

/* ---- comparing values --------------------------------------------------------------------------- */

static bool same_array(const gufo_array *a, const gufo_array *b)
{
    return a->type == b->type && a->count == b->count && a->size == b->size &&
           memcmp(a->data, b->data, (size_t)a->size) == 0;
}

/* Integers are compared as such: a double cannot represent all of them. */
static bool same_number(const gufo_value *a, const gufo_value *b)
{
    uint64_t u[2];
    int64_t i[2];
    double f[2];

    if (gufo_value_u64(a, &u[0], NULL) == GUFO_OK && gufo_value_u64(b, &u[1], NULL) == GUFO_OK)
        return u[0] == u[1];
    if (gufo_value_i64(a, &i[0], NULL) == GUFO_OK && gufo_value_i64(b, &i[1], NULL) == GUFO_OK)
        return i[0] == i[1];
    return gufo_value_f64(a, &f[0], NULL) == GUFO_OK && gufo_value_f64(b, &f[1], NULL) == GUFO_OK &&
           (f[0] == f[1] || (isnan(f[0]) && isnan(f[1])));
}

bool schema_same_value(const gufo_value *a, const gufo_value *b)
{
    if (a->type != b->type)
        return same_number(a, b);
    if (a->type == GUFO_VALUE_STRING)
        return gufo_str_equal(a->as.str, b->as.str);
    if (a->type == GUFO_VALUE_ARRAY)
        return same_array(&a->as.array, &b->as.array);
    return a->type == GUFO_VALUE_BOOL ? a->as.b == b->as.b : same_number(a, b);
}
