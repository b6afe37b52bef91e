/* Values of the options of gufo quantize. */
#include "cli/quantize/quantize.h"

#include "gufo/print.h"
#include "cli/core/files/path.h"
#include "cli/core/options/names.h"
#include "cli/core/values/array.h"
#include "cli/core/values/number.h"
#include "gufo/value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const quantize_efforts[] = {
    [GUFO_EFFORT_REFERENCE] = "reference", [GUFO_EFFORT_HIGH] = "high", NULL};

int quantize_read_file(void *options, const option_given *given)
{
    quantize_options *o = options;

    *(const char **)(void *)((char *)options + given->option->place) = given->text;
    return option_add(&o->read, given->text);
}

/* ---- types ---------------------------------------------------------------------------------- */

enum { NAME_SIZE = 32 };

/* A name, or one of the format's own of that kind, in upper case; "" if it is too long. */
static void plain_name(gufo_spelling kind, const char *text, char out[NAME_SIZE])
{
    gufo_str bare = gufo_spelling_bare(kind, gufo_str_of(text));
    size_t len = bare.len < NAME_SIZE ? bare.len : 0;

    for (size_t i = 0; i < len; i++)
        out[i] = (char)toupper((unsigned char)bare.data[i]);
    out[len] = '\0';
}

static bool can_be_made(const gufo_element_type *type)
{
    return type != NULL && (type->flags & GUFO_ELEMENT_ENCODES) != 0;
}

static const char *made_type_name(size_t index)
{
    const gufo_element_type *type = gufo_element_type_at(index);

    return type == NULL ? NULL : can_be_made(type) ? type->name : "";
}

typedef const char *name_at(size_t index); /* NULL past the end; empty ones are passed over */

/* How many bits a name says: its first number; 0 if none. */
static int named_bits(const char *name)
{
    const char *digit = strpbrk(name, "0123456789");

    return digit != NULL ? atoi(digit) : 0;
}

/* The bits of a text that says no more than these ("4bit", "Q4"); 0 for any other. */
static int bits_alone(const char *upper)
{
    static const char *const words[] = {"", "B", "BIT", "BITS", "Q", "I", "IQ", "INT", "W"};
    char letters[NAME_SIZE];
    size_t len = 0;

    for (const char *at = upper; *at != '\0'; at++)
        if (isalpha((unsigned char)*at))
            letters[len++] = *at;
    letters[len] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(letters, words[i]) == 0)
            return named_bits(upper);
    return 0;
}

/* "; there are Q4_0, Q4_1 ...": the names with so many bits, and their number. */
static size_t list_names(int bits, name_at *names, char *out, size_t size)
{
    size_t len = 0, count = 0;
    const char *name;

    *out = '\0';
    for (size_t i = 0; bits > 0 && (name = names(i)) != NULL && len < size; i++)
        if (*name != '\0' && named_bits(name) == bits)
            len += (size_t)snprintf(out + len, size - len, "%s%s",
                                    count++ > 0 ? ", " : "; there are ", name);
    return count;
}

/* `before`: "--OPTION: ", or nothing. */
static int report_unknown(const char *before, gufo_spelling kind, const char *text, name_at *names)
{
    char upper[NAME_SIZE], list[512];
    suggestion near;
    const char *name;

    plain_name(kind, text, upper);
    if (list_names(bits_alone(upper), names, list, sizeof list) > 0)
        return report_usage("%sunknown type '%s'%s", before, text, list);
    near = suggest_start(gufo_str_of(upper));
    for (size_t i = 0; *upper != '\0' && (name = names(i)) != NULL; i++)
        if (*name != '\0')
            suggest_offer(&near, gufo_str_of(name));
    if (near.name.len == 0 && *upper != '\0')
        return report_usage("%sunknown type '%s'; 'gufo list %s' lists them", before, text,
                            kind == GUFO_SPELLING_FILE_TYPE ? "filetypes" : "types");
    return report_usage("%sunknown type '%s'%s", before, text, suggest_text(&near, ""));
}

int quantize_type_of(const char *option, const char *text, const gufo_element_type **out)
{
    char before[64];

    *out = gufo_element_type_meant(gufo_str_of(text));
    if (can_be_made(*out))
        return CODE_OK;
    if (*out != NULL)
        return report_usage("--%s: %s can no longer be made", option, (*out)->name);
    snprintf(before, sizeof before, "--%s: ", option);
    return report_unknown(before, GUFO_SPELLING_ELEMENT_TYPE, text, made_type_name);
}

int quantize_read_type(void *options, const option_given *given)
{
    return quantize_type_of(given->option->name, given->text,
                            (void *)((char *)options + given->option->place));
}

int quantize_read_target(const char *text, bool pure, gufo_quantize_target *out)
{
    return gufo_quantize_target_by_name(text, pure, out)
               ? CODE_OK
               : report_unknown("", GUFO_SPELLING_FILE_TYPE, text, gufo_quantize_target_name);
}

/* ---- numbers -------------------------------------------------------------------------------- */

int quantize_read_layers(void *context, const option_given *given)
{
    quantize_options *options = context;
    const char *at = given->text;
    uint64_t layer, *added;

    do {
        if (!gufo_number_read(&at, &layer) || (*at != ',' && *at != '\0'))
            return report_usage("--prune-layers needs numbers with commas, not '%s'", given->text);
        added = array_add(&options->pruned, &options->plan.pruned_count, sizeof *added);
        if (added == NULL)
            return CODE_FAILED;
        *added = layer;
    } while (*at++ != '\0');
    return CODE_OK;
}

/* ---- types of tensors ----------------------------------------------------------------------- */

/* `type` names the type of what a pattern matches, the first `len` bytes of `text`. */
static int add_rule(name_rules *rules, const char *option, const char *text, size_t len,
                    const char *type)
{
    const gufo_element_type *found;
    name_rule *rule;
    int code = quantize_type_of(option, type, &found);

    if (code == CODE_OK)
        code = name_rules_add(rules, option, text, len, &rule);
    if (code == CODE_OK)
        rule->type = found;
    return code;
}

/* The last "=" divides: a pattern may hold others. */
int quantize_read_type_rule(name_rules *rules, const char *option, const char *text)
{
    const char *equals = strrchr(text, '=');

    if (equals == NULL || equals == text)
        return report_usage("--%s needs PATTERN=TYPE, not '%s'", option, text);
    return add_rule(rules, option, text, (size_t)(equals - text), equals + 1);
}

/* Both options are of one list. */
static const char rules_option[] = "tensor-type";

int quantize_read_rule(void *context, const option_given *given)
{
    quantize_options *options = context;
    int code = quantize_read_type_rule(&options->rules, given->option->name, given->text);

    options->rules.option = rules_option;
    return code;
}

typedef struct rule_file {
    name_rules *rules;
    const option_given *given;
    int code;
} rule_file;

static gufo_status take_rule(void *context, const gufo_type_rule *rule, gufo_error *error)
{
    rule_file *file = context;
    char type[2 * NAME_SIZE];

    (void)error;
    snprintf(type, sizeof type, "%.*s", (int)rule->type_name.len, rule->type_name.data);
    file->code = add_rule(file->rules, file->given->option->name, rule->pattern.data,
                          rule->pattern.len, type);
    return file->code == CODE_OK ? GUFO_OK : GUFO_E_STOPPED;
}

int quantize_read_rule_file(void *context, const option_given *given)
{
    quantize_options *options = context;
    rule_file file = {&options->rules, given, CODE_OK};
    gufo_error error;
    gufo_str text;
    int code = small_file_read(given->text, RULES_MOST_BYTES, RULES_TOO_LONG, &text);

    if (code != CODE_OK)
        return code;
    code = option_add(&options->read, given->text);
    if (code == CODE_OK && gufo_type_rules_read(text, take_rule, &file, &error) != GUFO_OK)
        code = file.code != CODE_OK ? file.code
                                    : report_as(CODE_USAGE, given->text, "%s", error.message);
    options->rules.option = rules_option;
    small_file_free(&text);
    return code;
}

/* ---- overrides ------------------------------------------------------------------------------ */

int quantize_read_override(void *context, const option_given *given)
{
    quantize_options *options = context;
    const char *text = given->text, *equals = strchr(text, '=');
    const char *colon = equals != NULL ? strchr(equals, ':') : NULL;
    override_text *override;

    if (colon == NULL || equals == text)
        return report_usage("--override-kv needs KEY=TYPE:VALUE, not '%s'", text);
    override = array_add(&options->overrides, &options->override_count, sizeof *override);
    if (override == NULL)
        return CODE_FAILED;
    override->key = strdup(text);
    if (override->key == NULL)
        return report_memory(NULL);
    override->key[equals - text] = override->key[colon - text] = '\0';
    override->type = override->key + (equals - text) + 1;
    override->value = override->key + (colon - text) + 1;
    return CODE_OK;
}

/* A whole number, in `wanted` if that is an integer type that holds it, else in the first of the
 * usual ones that does. */
static bool make_integer(const char *text, gufo_value_type wanted, gufo_value *out)
{
    const gufo_value_type types[] = {wanted, GUFO_VALUE_UINT32, GUFO_VALUE_INT32, GUFO_VALUE_UINT64,
                                     GUFO_VALUE_INT64};
    bool plus = text[0] == '+' && text[1] != '-';

    return gufo_value_read_integer(types, sizeof types / sizeof *types, text + plus, out);
}

static bool make_float(const char *text, gufo_value_type wanted, gufo_value *out)
{
    bool wide = wanted == GUFO_VALUE_FLOAT64, fits;
    char *end;

    errno = 0;
    out->type = wide ? GUFO_VALUE_FLOAT64 : GUFO_VALUE_FLOAT32;
    out->as.f = strtod(text, &end);
    fits = isinf(out->as.f) ? errno != ERANGE : wide || !isinf((float)out->as.f);
    return fits && end != text && *end == '\0';
}

static bool make_bool(const char *text, gufo_value_type wanted, gufo_value *out)
{
    (void)wanted;
    return gufo_value_read(GUFO_VALUE_BOOL, text, out);
}

static bool make_string(const char *text, gufo_value_type wanted, gufo_value *out)
{
    (void)wanted;
    return gufo_value_read(GUFO_VALUE_STRING, text, out);
}

int quantize_make_override(const override_text *text, const gufo_model *file,
                           gufo_quantize_override *out)
{
    static const struct {
        const char *name;
        bool (*make)(const char *text, gufo_value_type wanted, gufo_value *out);
    } kinds[] = {
        {"int", make_integer}, {"float", make_float}, {"bool", make_bool}, {"str", make_string}};
    gufo_value_type wanted = GUFO_VALUE_ARRAY; /* none */
    gufo_entry entry;

    if (gufo_model_find(file, text->key, &entry))
        wanted = entry.value.type;
    out->key = text->key;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, text->type) != 0)
            continue;
        if (kinds[i].make(text->value, wanted, &out->value))
            return CODE_OK;
        return report_usage("--override-kv %s: '%s' is not a value of type %s", text->key,
                            text->value, text->type);
    }
    return report_usage("--override-kv %s: the type is int, float, bool or str, not '%s'",
                        text->key, text->type);
}
