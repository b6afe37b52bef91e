/* The table of all rules, of every level (format/rules/rules.def). */
#include "format/rules/rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static const gufo_rule all_rules[] = {
#define RULE(constant, id, name, severity, spec, level, opening, clause, summary) \
    {id,                                                                          \
     name,                                                                        \
     GUFO_##severity,                                                             \
     GUFO_##spec,                                                                 \
     GUFO_LEVEL_##level,                                                          \
     GUFO_##opening != GUFO_OK,                                                   \
     GUFO_##opening != GUFO_OK ? GUFO_##opening : GUFO_E_MALFORMED,               \
     clause,                                                                      \
     summary},
#include "format/rules/rules.def"
#undef RULE
};

static const char *const severity_names[] = {
    [GUFO_INFO] = "info", [GUFO_WARNING] = "warning", [GUFO_ERROR] = "error"};

const char *gufo_severity_name(gufo_severity severity)
{
    size_t index = (size_t)severity;

    return index < sizeof severity_names / sizeof *severity_names ? severity_names[index]
                                                                  : "unknown";
}

static const char *const level_names[] = {[GUFO_LEVEL_DEFAULT] = "model",
                                          [GUFO_LEVEL_STRUCTURE] = "structure",
                                          [GUFO_LEVEL_STANDARD] = "standard",
                                          [GUFO_LEVEL_MODEL] = "model",
                                          [GUFO_LEVEL_SPEC] = "spec"};

enum { LEVEL_COUNT = sizeof level_names / sizeof *level_names };

const char *gufo_level_name(gufo_level level)
{
    return (size_t)level < LEVEL_COUNT ? level_names[level] : "unknown";
}

bool gufo_level_by_name(const char *name, gufo_level *level)
{
    for (size_t i = GUFO_LEVEL_STRUCTURE; i < LEVEL_COUNT; i++)
        if (strcmp(level_names[i], name) == 0) {
            if (level != NULL)
                *level = (gufo_level)i;
            return true;
        }
    return false;
}

const gufo_rule *gufo_rule_at(size_t index)
{
    return index < RULE_COUNT ? &all_rules[index] : NULL;
}

const gufo_rule *gufo_rule_by_id(const char *id_or_name)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (strcmp(all_rules[i].id, id_or_name) == 0 || strcmp(all_rules[i].name, id_or_name) == 0)
            return &all_rules[i];
    return NULL;
}

/* ---- fixes ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    gufo_fix_part part;
} fix_kinds[] = {
    [GUFO_FIX_NONE] = {"none", GUFO_FIX_PART_NONE},
    [GUFO_FIX_REWRITE] = {"rewrite", GUFO_FIX_PART_NONE},
    [GUFO_FIX_SET] = {"set", GUFO_FIX_PART_VALUE},
    [GUFO_FIX_RENAME] = {"rename", GUFO_FIX_PART_VALUE},
    [GUFO_FIX_SHORTEN] = {"shorten", GUFO_FIX_PART_VALUE},
    [GUFO_FIX_RETYPE] = {"retype", GUFO_FIX_PART_TYPE},
    [GUFO_FIX_REMOVE] = {"remove", GUFO_FIX_PART_KEY},
    [GUFO_FIX_SUPPLY] = {"supply", GUFO_FIX_PART_TYPE},
    [GUFO_FIX_RENAME_TENSOR] = {"rename_tensor", GUFO_FIX_PART_VALUE},
};

enum { FIX_KINDS = sizeof fix_kinds / sizeof *fix_kinds };

const char *gufo_fix_name(gufo_fix_kind kind)
{
    return (size_t)kind < FIX_KINDS ? fix_kinds[kind].name : "unknown";
}

gufo_fix_part gufo_fix_part_of(gufo_fix_kind kind)
{
    return (size_t)kind < FIX_KINDS ? fix_kinds[kind].part : GUFO_FIX_PART_NONE;
}

/* ---- failures ------------------------------------------------------------------------------- */

gufo_status rule_failure(gufo_error *error, rule_number number, const char *format, ...)
{
    const gufo_rule *rule = &all_rules[number];
    va_list args;

    if (error == NULL)
        return rule->status;
    *error = (gufo_error){.code = rule->status, .offset = GUFO_NO_OFFSET, .rule = rule};
    va_start(args, format);
    (void)vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return rule->status;
}

bool gufo_findings_rest(uint64_t found, char message[GUFO_FINDINGS_REST_SIZE])
{
    if (found <= GUFO_FINDINGS_OF_A_RULE)
        return false;
    (void)snprintf(message, GUFO_FINDINGS_REST_SIZE,
                   "%s more findings like the ones before are not listed",
                   GROUPED(found - GUFO_FINDINGS_OF_A_RULE));
    return true;
}

/* Keys and tensor names: what they may look like (spec, gguf_metadata_kv_t and gguf_tensor_info_t).
 */

/* ---- keys ----------------------------------------------------------------------------------- */

static bool key_empty(gufo_str key, char *message, size_t size)
{
    if (key.len > 0)
        return false;
    (void)snprintf(message, size, "a key is empty");
    return true;
}

static bool key_too_long(gufo_str key, char *message, size_t size)
{
    if (key.len <= GUFO_MAX_KEY)
        return false;
    (void)snprintf(message, size, "key %s has %s bytes, at most %s are allowed", QUOTED(key),
                   GROUPED(key.len), GROUPED(GUFO_MAX_KEY));
    return true;
}

static bool is_printable(char c)
{
    return c >= 0x20 && c < 0x7f;
}

static bool key_not_ascii(gufo_str key, char *message, size_t size)
{
    size_t at = 0;

    while (at < key.len && is_printable(key.data[at]))
        at++;
    if (at == key.len)
        return false;
    (void)snprintf(message, size, "key %s holds byte 0x%02x, which is not printable ASCII",
                   QUOTED(key), (unsigned char)key.data[at]);
    return true;
}

static bool is_key_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
}

/* A key that is not printable ASCII broke another rule already. */
static bool key_bad_character(gufo_str key, char *message, size_t size)
{
    size_t at = 0;

    while (at < key.len && (is_key_character(key.data[at]) || !is_printable(key.data[at])))
        at++;
    if (at == key.len)
        return false;
    (void)snprintf(message, size,
                   "key %s holds '%c'; letters, digits, '_', '.' and '-' are allowed", QUOTED(key),
                   key.data[at]);
    return true;
}

static bool key_empty_segment(gufo_str key, char *message, size_t size)
{
    char before = '.';
    bool found = false;

    for (size_t i = 0; i < key.len && !found; before = key.data[i++])
        found = before == '.' && key.data[i] == '.';
    if (key.len == 0 || (!found && before != '.'))
        return false;
    (void)snprintf(message, size, "key %s has an empty segment", QUOTED(key));
    return true;
}

const name_rule key_rules[] = {
    {RULE_KEY_EMPTY, key_empty},
    {RULE_KEY_LENGTH, key_too_long},
    {RULE_KEY_ASCII, key_not_ascii},
    {RULE_COUNT, NULL},
};

const name_rule key_extra_rules[] = {
    {RULE_KEY_CHARSET, key_bad_character},
    {RULE_KEY_SEGMENT, key_empty_segment},
    {RULE_COUNT, NULL},
};

/* ---- tensor names --------------------------------------------------------------------------- */

static bool name_too_long(gufo_str name, char *message, size_t size)
{
    if (name.len <= GUFO_MAX_NAME)
        return false;
    (void)snprintf(message, size, "tensor name %s has %s bytes, at most %d are allowed",
                   QUOTED(name), GROUPED(name.len), GUFO_MAX_NAME);
    return true;
}

static bool name_holds_nul(gufo_str name, char *message, size_t size)
{
    if (name.len == 0 || memchr(name.data, '\0', name.len) == NULL)
        return false;
    (void)snprintf(message, size, "tensor name %s holds a NUL byte", QUOTED(name));
    return true;
}

static bool name_empty(gufo_str name, char *message, size_t size)
{
    if (name.len > 0)
        return false;
    (void)snprintf(message, size, "a tensor has an empty name");
    return true;
}

static bool name_not_utf8(gufo_str name, char *message, size_t size)
{
    size_t valid = gufo_utf8_valid_prefix(name);

    if (valid == name.len)
        return false;
    (void)snprintf(message, size, "tensor name %s is not UTF-8: byte 0x%02x at position %zu",
                   QUOTED(name), (unsigned char)name.data[valid], valid);
    return true;
}

const name_rule name_rules[] = {
    {RULE_NAME_LENGTH, name_too_long},
    {RULE_NAME_NUL, name_holds_nul},
    {RULE_COUNT, NULL},
};

const name_rule name_extra_rules[] = {
    {RULE_NAME_EMPTY, name_empty},
    {RULE_NAME_UTF8, name_not_utf8},
    {RULE_COUNT, NULL},
};

gufo_status names_check(gufo_str name, const name_rule *rules, gufo_error *error)
{
    char message[sizeof error->message];

    for (; rules->broken != NULL; rules++)
        if (rules->broken(name, message, sizeof message))
            return rule_failure(error, rules->rule, "%s", message);
    return GUFO_OK;
}
