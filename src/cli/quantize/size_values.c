/* Values of the options about sizes. */
#include "cli/quantize/quantize.h"

#include "cli/core/files/path.h"
#include "cli/core/values/array.h"
#include "cli/core/values/number.h"
#include "cli/core/values/str.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The options about sizes; this one needs a size, which is checked when all are read. */
static size_options *size_of(void *options, const option_given *given)
{
    size_options *size = &((quantize_options *)options)->size;

    if (size->first == NULL)
        size->first = given->option->name;
    return size;
}

void size_release(size_options *size)
{
    gufo_size_plan_free(size->plan);
    gufo_losses_free(size->losses);
    for (size_t i = 0; i < size->count; i++)
        free(size->labels[i]);
    name_rules_free(&size->least);
    name_rules_free(&size->most);
    name_rules_free(&size->ties);
    name_rules_free(&size->coefficients);
}

/* ---- sizes ---------------------------------------------------------------------------------- */

/* "5.8G" becomes "5_8G": an encoding has letters and digits alone. */
static char *make_label(gufo_str text, const char *end)
{
    char *label = path_format("%.*s%s", (int)text.len, text.data, end);

    for (char *c = label; c != NULL && *c != '\0'; c++)
        if (!isalpha((unsigned char)*c) && !isdigit((unsigned char)*c))
            *c = '_';
    return label;
}

typedef bool target_reader(const char *text, gufo_size_target *out);

/* A list of sizes of one kind. */
typedef struct target_kind {
    target_reader *read;
    const char *needs; /* such as */
    const char *end;   /* of a label */
} target_kind;

static int read_target(size_options *size, const option_given *given, const target_kind *kind,
                       gufo_str piece)
{
    gufo_size_target *target = &size->targets[size->count];
    char text[64];

    if (size->count == GUFO_QUANTIZE_TARGETS)
        return report_usage("--%s: more than %d sizes", given->option->name, GUFO_QUANTIZE_TARGETS);
    snprintf(text, sizeof text, "%.*s", (int)piece.len, piece.data);
    if (piece.len >= sizeof text || !kind->read(text, target))
        return report_usage("--%s needs %s, not '%.*s'", given->option->name, kind->needs,
                            (int)piece.len, piece.data);
    size->labels[size->count] = make_label(piece, kind->end);
    return size->labels[size->count++] != NULL ? CODE_OK : CODE_FAILED;
}

static int read_targets(void *options, const option_given *given, const target_kind *kind)
{
    size_options *size = &((quantize_options *)options)->size;
    const char *at = given->text;
    int code = CODE_OK;

    if (size->option != NULL && strcmp(size->option, given->option->name) != 0)
        return report_usage("--target-size and --target-bpw exclude each other");
    size->option = given->option->name;
    do {
        code = read_target(size, given, kind, next_item(&at));
    } while (code == CODE_OK && at != NULL);
    return code;
}

static bool read_bytes(const char *text, gufo_size_target *out)
{
    return size_read(text, &out->bytes) && out->bytes > 0;
}

static bool read_bits(const char *text, gufo_size_target *out)
{
    char *end;

    out->bits_per_weight = strtod(text, &end);
    return isdigit((unsigned char)*text) && *end == '\0' && strpbrk(text, "xX") == NULL &&
           out->bits_per_weight > 0 && out->bits_per_weight <= GUFO_SIZE_MOST_BITS;
}

int size_read_targets(void *options, const option_given *given)
{
    static const target_kind kind = {
        read_bytes, "sizes such as 5.8G (10^9 bytes) or 5.8Gi (2^30 bytes), with a comma between",
        ""};

    return read_targets(options, given, &kind);
}

int size_read_bits(void *options, const option_given *given)
{
    static const target_kind kind = {
        read_bits, "bits per weight above 0 and at most 64, such as 4.5, with a comma between",
        "bpw"};

    return read_targets(options, given, &kind);
}

/* ---- types ---------------------------------------------------------------------------------- */

int size_read_types(void *options, const option_given *given)
{
    size_options *size = size_of(options, given);
    const char *at = given->text;
    int code = CODE_OK;

    do {
        gufo_str piece = next_item(&at);
        const gufo_element_type *type;
        char name[64];

        snprintf(name, sizeof name, "%.*s", (int)piece.len, piece.data);
        code = quantize_type_of(given->option->name, name, &type);
        for (size_t i = 0; i < size->type_count && code == CODE_OK; i++)
            if (size->types[i] == type)
                code = report_usage("--types has %s twice", type->name);
        if (code == CODE_OK && size->type_count == GUFO_QUANTIZE_TARGETS)
            code = report_usage("--types: more than %d types", GUFO_QUANTIZE_TARGETS);
        if (code == CODE_OK)
            size->types[size->type_count++] = type;
    } while (code == CODE_OK && at != NULL);
    return code;
}

int size_read_least(void *options, const option_given *given)
{
    size_options *size = size_of(options, given);

    if (strcmp(given->text, "none") != 0)
        return quantize_read_type_rule(&size->least, given->option->name, given->text);
    size->any_least = true;
    return CODE_OK;
}

int size_read_most(void *options, const option_given *given)
{
    return quantize_read_type_rule(&size_of(options, given)->most, given->option->name,
                                   given->text);
}

int size_read_tie(void *options, const option_given *given)
{
    name_rule *rule;

    return name_rules_add(&size_of(options, given)->ties, given->option->name, given->text,
                          strlen(given->text), &rule);
}

/* ---- coefficients --------------------------------------------------------------------------- */

/* "PATTERN<TAB>COEFFICIENT" */
static int read_coefficient(size_options *size, const option_given *given, char *line,
                            size_t number)
{
    char *tab = strrchr(line, '\t'), *end;
    name_rule *rule;
    double value;
    int code;

    if (tab == NULL || tab == line)
        return report_as(CODE_USAGE, given->text,
                         "line %zu: a pattern, a tab and a coefficient are needed", number);
    value = strtod(tab + 1, &end);
    if (end == tab + 1 || *end != '\0' || !isfinite(value) || value < 0)
        return report_as(CODE_USAGE, given->text,
                         "line %zu: a coefficient is a number from 0 on, not '%s'", number,
                         tab + 1);
    code =
        name_rules_add(&size->coefficients, given->option->name, line, (size_t)(tab - line), &rule);
    if (code == CODE_OK)
        rule->number = value;
    return code;
}

/* The lines of a file, one of which ends at each newline; they are changed. */
static int read_coefficients(size_options *size, const option_given *given, char *text, size_t len)
{
    size_t number = 0;
    int code = CODE_OK;

    for (char *line = text, *next; code == CODE_OK && line < text + len; line = next) {
        char *end = memchr(line, '\n', (size_t)(text + len - line));

        end = end != NULL ? end : text + len;
        next = end + 1;
        *end = '\0';
        number++;
        if (strlen(line) < (size_t)(end - line))
            return report_as(CODE_USAGE, given->text, "line %zu has a NUL", number);
        line[strcspn(line, "\r")] = '\0';
        if (*line != '\0' && *line != '#')
            code = read_coefficient(size, given, line, number);
    }
    if (code == CODE_OK && size->coefficients.count == 0)
        code = report_as(CODE_USAGE, given->text, "no line has a coefficient");
    return code;
}

int size_read_sensitivity(void *options, const option_given *given)
{
    size_options *size = size_of(options, given);
    gufo_str text;
    int code;

    if (strcmp(given->text, "none") == 0) {
        size->equal = true;
        return CODE_OK;
    }
    code = small_file_read(given->text, RULES_MOST_BYTES, RULES_TOO_LONG, &text);
    if (code != CODE_OK)
        return code;
    size->sensitivity = given->text;
    code = option_add(&((quantize_options *)options)->read, given->text);
    if (code == CODE_OK)
        code = read_coefficients(size, given, (char *)text.data, text.len);
    small_file_free(&text);
    return code;
}

/* ---- others --------------------------------------------------------------------------------- */

int size_read_flag(void *options, const option_given *given)
{
    (void)size_of(options, given);
    *(bool *)((void *)((char *)options + given->option->place)) = true;
    return CODE_OK;
}

int size_read_saved(void *options, const option_given *given)
{
    size_of(options, given)->saved = given->text;
    return CODE_OK;
}
