/* What is in the options of gufo quantize. */
#include "base/distance.h"
#include "cli/quantize/quantize.h"

#include "cli/core/array.h"
#include "cli/core/number.h"
#include "cli/core/report.h"
#include "cli/core/value_read.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- types ---------------------------------------------------------------------------------- */

enum { NAME_SIZE = 32 };

/* `text` in upper case; false if it is too long to be a name. */
static bool upper_case(const char *text, char out[NAME_SIZE])
{
    size_t len = strlen(text);

    if (len >= NAME_SIZE)
        return false;
    for (size_t i = 0; i <= len; i++)
        out[i] = (char)toupper((unsigned char)text[i]);
    return true;
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

/* The name that is most like `name`; NULL if none is. */
static const char *nearest(const char *name, const char *(*name_at)(size_t index))
{
    size_t best = strlen(name) / 2 + 1;
    const char *found = NULL, *candidate;

    for (size_t i = 0; (candidate = name_at(i)) != NULL; i++) {
        size_t distance = text_distance(gufo_str_of(candidate), gufo_str_of(name), best);

        if (*candidate != '\0' && distance < best) {
            best = distance;
            found = candidate;
        }
    }
    return found;
}

static void report_unknown(const char *what, const char *text, const char *upper,
                           const char *(*name_at)(size_t index))
{
    const char *like = upper != NULL ? nearest(upper, name_at) : NULL;

    if (like != NULL)
        report_usage("quantize", "%sthere is no type '%s'; did you mean '%s'?", what, text, like);
    else
        report_usage("quantize", "%sthere is no type '%s'", what, text);
}

static bool read_type(const char *option, const char *text, const gufo_element_type **out)
{
    char name[NAME_SIZE], what[64];
    bool fits = upper_case(text, name);

    *out = fits ? gufo_element_type_by_name(name) : NULL;
    if (can_be_made(*out))
        return true;
    snprintf(what, sizeof what, "--%s: ", option);
    if (*out != NULL)
        report_usage("quantize", "%s%s can no longer be made", what, (*out)->name);
    else
        report_unknown(what, text, fits ? name : NULL, made_type_name);
    return false;
}

bool quantize_read_type(void *options, const option_given *given)
{
    return read_type(given->option->name, given->text,
                     (void *)((char *)options + given->option->place));
}

bool quantize_read_target(const char *text, bool pure, gufo_quantize_target *out)
{
    char name[NAME_SIZE];

    if (gufo_quantize_target_by_name(text, pure, out))
        return true;
    report_unknown("", text, upper_case(text, name) ? name : NULL, gufo_quantize_target_name);
    return false;
}

/* ---- numbers -------------------------------------------------------------------------------- */

bool quantize_read_layers(void *context, const option_given *given)
{
    quantize_options *options = context;
    const char *at = given->text;
    uint64_t layer, *added;

    for (;;) {
        if (!number_read(&at, &layer) || (*at != ',' && *at != '\0')) {
            report_usage("quantize", "--prune-layers needs numbers with commas, not '%s'",
                         given->text);
            return false;
        }
        added = array_add(&options->pruned, &options->plan.pruned_count, sizeof *added);
        if (added == NULL)
            return false;
        *added = layer;
        if (*at++ == '\0')
            return true;
    }
}

/* ---- types of tensors ----------------------------------------------------------------------- */

/* The last "=" divides: a pattern may hold others. */
static bool read_rule(quantize_options *options, const char *option, const char *text)
{
    const char *equals = strrchr(text, '=');
    char message[PATTERN_MESSAGE];
    type_rule *rule;
    const gufo_element_type *type;
    char *regex;

    if (equals == NULL || equals == text) {
        report_usage("quantize", "--%s needs PATTERN=TYPE, not '%s'", option, text);
        return false;
    }
    if (!read_type(option, equals + 1, &type))
        return false;
    rule = array_add(&options->rules, &options->rule_count, sizeof *rule);
    regex = rule != NULL ? strndup(text, (size_t)(equals - text)) : NULL;
    if (regex == NULL)
        return false;
    *rule = (type_rule){.pattern = pattern_new(regex, message), .text = regex, .type = type};
    if (rule->pattern == NULL)
        report_message(NULL, "--%s: pattern '%s': %s", option, regex, message);
    return rule->pattern != NULL;
}

bool quantize_read_rule(void *options, const option_given *given)
{
    return read_rule(options, given->option->name, given->text);
}

bool quantize_read_rule_file(void *context, const option_given *given)
{
    quantize_options *options = context;
    FILE *in = fopen(given->text, "r");
    char *line = NULL, *rest;
    size_t room = 0;
    bool good = in != NULL && option_add(&options->read, given->text);

    if (in == NULL)
        report_system(given->text, errno);
    while (good && getline(&line, &room, in) >= 0)
        for (char *word = strtok_r(line, " \t\r\n\v\f", &rest); good && word != NULL;
             word = strtok_r(NULL, " \t\r\n\v\f", &rest))
            good = read_rule(options, given->option->name, word);
    if (good && ferror(in)) {
        report_system(given->text, errno);
        good = false;
    }
    free(line);
    if (in != NULL)
        fclose(in);
    return good;
}

/* ---- overrides ------------------------------------------------------------------------------ */

bool quantize_read_override(void *context, const option_given *given)
{
    quantize_options *options = context;
    const char *text = given->text, *equals = strchr(text, '=');
    const char *colon = equals != NULL ? strchr(equals, ':') : NULL;
    override_text *override;

    if (colon == NULL || equals == text) {
        report_usage("quantize", "--override-kv needs KEY=TYPE:VALUE, not '%s'", text);
        return false;
    }
    override = array_add(&options->overrides, &options->override_count, sizeof *override);
    if (override == NULL)
        return false;
    override->key = strdup(text);
    if (override->key == NULL) {
        report_memory(NULL);
        return false;
    }
    override->key[equals - text] = override->key[colon - text] = '\0';
    override->type = override->key + (equals - text) + 1;
    override->value = override->key + (colon - text) + 1;
    return true;
}

/* A whole number, in `wanted` if that is an integer type that holds it, else in the first of the
 * usual ones that does. */
static bool make_integer(const char *text, gufo_value_type wanted, gufo_value *out)
{
    const gufo_value_type types[] = {wanted, GUFO_VALUE_UINT32, GUFO_VALUE_INT32, GUFO_VALUE_UINT64,
                                     GUFO_VALUE_INT64};
    bool plus = text[0] == '+' && text[1] != '-';

    return value_read_integer(types, sizeof types / sizeof *types, text + plus, out);
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

bool quantize_make_override(const override_text *text, const gufo_model *file,
                            gufo_quantize_override *out)
{
    static const struct {
        const char *name;
        bool (*make)(const char *text, gufo_value_type wanted, gufo_value *out);
        gufo_value_type type; /* without `make` */
    } kinds[] = {{"int", make_integer, 0},
                 {"float", make_float, 0},
                 {"bool", NULL, GUFO_VALUE_BOOL},
                 {"str", NULL, GUFO_VALUE_STRING}};
    gufo_value_type wanted = GUFO_VALUE_ARRAY; /* none */
    gufo_entry entry;

    if (gufo_metadata_find(file, text->key, &entry))
        wanted = entry.value.type;
    out->key = gufo_str_of(text->key);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, text->type) != 0)
            continue;
        if (kinds[i].make != NULL ? kinds[i].make(text->value, wanted, &out->value)
                                  : value_read(kinds[i].type, text->value, &out->value))
            return true;
        report_usage("quantize", "--override-kv %s: '%s' is not a value of type %s", text->key,
                     text->value, text->type);
        return false;
    }
    report_usage("quantize", "--override-kv %s: the type is int, float, bool or str, not '%s'",
                 text->key, text->type);
    return false;
}
