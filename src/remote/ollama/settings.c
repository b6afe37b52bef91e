/* Parameters and configuration; settings.h has the interface.
 *
 * A parameter is a row: its name in a Modelfile, what its value is, and the key of a model that advises
 * one. */
#include "remote/ollama/settings.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/pull.h"
#include "gufo/schema.h"
#include "gufo/summary.h"
#include "gufo/value.h"
#include "remote/ollama/manifest.h"

typedef enum param_kind { PARAM_WHOLE, PARAM_REAL, PARAM_SWITCH, PARAM_TEXTS } param_kind;

typedef struct param_row {
    const char *name;
    param_kind kind;
    const char *key; /* NULL: none */
} param_row;

/* In the order in which they are written. */
static const param_row params[] = {
    {"draft_num_predict", PARAM_WHOLE, NULL},
    {"frequency_penalty", PARAM_REAL, NULL},
    {"main_gpu", PARAM_WHOLE, NULL},
    {"min_p", PARAM_REAL, "general.sampling.min_p"},
    {"num_batch", PARAM_WHOLE, NULL},
    {"num_ctx", PARAM_WHOLE, NULL},
    {"num_gpu", PARAM_WHOLE, NULL},
    {"num_keep", PARAM_WHOLE, NULL},
    {"num_predict", PARAM_WHOLE, NULL},
    {"num_thread", PARAM_WHOLE, NULL},
    {"presence_penalty", PARAM_REAL, NULL},
    {"repeat_last_n", PARAM_WHOLE, "general.sampling.penalty_last_n"},
    {"repeat_penalty", PARAM_REAL, "general.sampling.penalty_repeat"},
    {"seed", PARAM_WHOLE, NULL},
    {"stop", PARAM_TEXTS, NULL},
    {"temperature", PARAM_REAL, "general.sampling.temp"},
    {"top_k", PARAM_WHOLE, "general.sampling.top_k"},
    {"top_p", PARAM_REAL, "general.sampling.top_p"},
    {"typical_p", PARAM_REAL, NULL},
    {"use_mmap", PARAM_SWITCH, NULL},
};

enum { PARAM_COUNT = sizeof params / sizeof *params };

static bool add(gufo_text *out, const char *text)
{
    return text_add(out, text, strlen(text));
}

/* ---- what the caller gives ------------------------------------------------------------------ */

static gufo_str name_of(const void *table, size_t index)
{
    return gufo_str_of(((const param_row *)table)[index].name);
}

/* "NAME" and "VALUE" of "NAME=VALUE". */
typedef struct given_param {
    const param_row *row;
    gufo_str value;
} given_param;

static bool is_value(gufo_str value, param_kind kind)
{
    size_t at = value.len > 0 && value.data[0] == '-' ? 1 : 0;
    json_number_form form;

    if (kind == PARAM_TEXTS)
        return value.len > 0 && gufo_utf8_valid_prefix(value) == value.len;
    if (kind == PARAM_SWITCH)
        return str_is_word(value, "true false");
    form = json_number_skip(value, &at);
    return at == value.len && value.len <= GUFO_NUMBER_SIZE &&
           (form == JSON_NUMBER_WHOLE || (form == JSON_NUMBER_REAL && kind == PARAM_REAL));
}

static gufo_status refuse_name(gufo_str name, gufo_error *error)
{
    size_t near;

    if (gufo_text_nearest(name, name_of, params, PARAM_COUNT, &near))
        return refuse(error, GUFO_E_ARGUMENT, "%s is not a parameter of Ollama; did you mean %s?",
                      QUOTED(name), params[near].name);
    return refuse(error, GUFO_E_ARGUMENT,
                  "%s is not a parameter of Ollama, such as temperature, num_ctx or stop",
                  QUOTED(name));
}

static gufo_status read_given(const char *text, given_param *out, gufo_error *error)
{
    static const char *const needs[] = {"a whole number", "a number", "true or false", "a text"};
    const char *mark = strchr(text, '=');
    gufo_str name = {text, mark != NULL ? (size_t)(mark - text) : strlen(text)};
    size_t row = 0;

    if (mark == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "a parameter is NAME=VALUE, not %s", QUOTED(name));
    while (row < PARAM_COUNT && !gufo_str_equal(name, gufo_str_of(params[row].name)))
        row++;
    if (row == PARAM_COUNT)
        return refuse_name(name, error);
    *out = (given_param){&params[row], gufo_str_of(mark + 1)};
    return is_value(out->value, params[row].kind)
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT, "parameter %s needs %s, not %s", params[row].name,
                        needs[params[row].kind], QUOTED(out->value));
}

/* Appends the values that are given for a row: the last one, or all texts.  *found says whether there is
 * one. */
static gufo_status put_given(const param_row *row, const char *const *given, size_t count,
                             gufo_text *out, bool *found, gufo_error *error)
{
    const size_t start = out->len;
    bool good = true;

    *found = false;
    for (size_t i = 0; i < count && good; i++) {
        given_param p;
        gufo_status status = read_given(given[i], &p, error);

        if (status != GUFO_OK)
            return status;
        if (p.row != row)
            continue;
        if (row->kind == PARAM_TEXTS) {
            good = add(out, *found ? "," : "[") && ollama_json_string(p.value, out);
        } else {
            out->len = start;
            good = text_add(out, p.value.data, p.value.len);
        }
        *found = true;
    }
    if (*found && row->kind == PARAM_TEXTS)
        good = good && add(out, "]");
    return good ? GUFO_OK : fail_memory(error);
}

/* ---- what the model advises ----------------------------------------------------------------- */

/* The texts of the tokens that end an answer, each once. */
static gufo_status put_stops(const gufo_model *model, gufo_text *out, bool *found,
                             gufo_error *error)
{
    gufo_model_token tokens[GUFO_MOST_SPECIAL_TOKENS];
    size_t count = gufo_model_special_tokens(model, tokens), kept = 0;
    bool good = true;

    for (size_t i = 0; i < count && good; i++) {
        bool again = false;

        if (!str_is_word(tokens[i].role, "eos eot eom") || !tokens[i].has_text ||
            tokens[i].text.len == 0 || gufo_utf8_valid_prefix(tokens[i].text) < tokens[i].text.len)
            continue;
        for (size_t j = 0; j < kept; j++)
            again = again || gufo_str_equal(tokens[j].text, tokens[i].text);
        if (again)
            continue;
        good = add(out, kept == 0 ? "[" : ",") && ollama_json_string(tokens[i].text, out);
        tokens[kept++] = tokens[i];
    }
    *found = kept > 0;
    return good && (kept == 0 || add(out, "]")) ? GUFO_OK : fail_memory(error);
}

static gufo_status put_advised(const gufo_model *model, const param_row *row, gufo_text *out,
                               bool *found, gufo_error *error)
{
    const size_t start = out->len;
    gufo_value value;
    gufo_status status;

    *found = false;
    if (row->kind == PARAM_TEXTS)
        return put_stops(model, out, found, error);
    if (row->key == NULL || !gufo_model_key_value(model, row->key, &value) ||
        value.type == GUFO_VALUE_ARRAY || value.type == GUFO_VALUE_STRING)
        return GUFO_OK;
    status = gufo_value_write_json(&value, out, error);
    *found =
        status == GUFO_OK && is_value((gufo_str){out->data + start, out->len - start}, row->kind);
    if (!*found)
        out->len = start; /* infinite, or not of that kind */
    return status;
}

/* ---- both ----------------------------------------------------------------------------------- */

static gufo_status put_param(const gufo_model *model, const param_row *row,
                             const char *const *given, size_t count, gufo_text *out,
                             gufo_error *error)
{
    const size_t start = out->len;
    bool found = false,
         good = add(out, start == 0 ? "{\"" : ",\"") && add(out, row->name) && add(out, "\":");
    gufo_status status =
        good ? put_given(row, given, count, out, &found, error) : fail_memory(error);

    if (status == GUFO_OK && !found)
        status = put_advised(model, row, out, &found, error);
    if (status != GUFO_OK || !found)
        out->len = start;
    return status;
}

gufo_status ollama_params(const gufo_model *model, const char *const *given, size_t count,
                          gufo_text *out, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    given_param p;

    for (size_t i = 0; i < count && status == GUFO_OK; i++)
        status = read_given(given[i], &p, error);
    for (size_t i = 0; i < PARAM_COUNT && status == GUFO_OK; i++)
        status = put_param(model, &params[i], given, count, out, error);
    if (status == GUFO_OK && out->len > 0 && !add(out, "}\n"))
        status = fail_memory(error);
    return status;
}

/* ---- the configuration ---------------------------------------------------------------------- */

/* As Ollama writes it: 7.2B, 134.52M, 15K. */
static bool put_count(uint64_t value, gufo_text *out)
{
    static const struct {
        uint64_t least;
        unsigned decimals;
        const char *mark;
    } steps[] = {{1000000000, 1, "B"}, {1000000, 2, "M"}, {1000, 0, "K"}, {0, 0, ""}};
    char text[GUFO_NUMBER_SIZE];
    size_t i = 0;

    while (value < steps[i].least)
        i++;
    if (steps[i].least == 0)
        (void)gufo_number_u64(text, value);
    else
        (void)gufo_number_fixed(text, (double)value / (double)steps[i].least,
                                value % steps[i].least == 0 ? 0 : steps[i].decimals);
    return add(out, text) && add(out, steps[i].mark);
}

static gufo_str architecture_of(const gufo_model *model)
{
    gufo_str text = {"", 0};

    (void)gufo_model_get_str(model, "general.architecture", &text, NULL);
    return text;
}

gufo_status ollama_config(const gufo_model *model, const gufo_model *projector, gufo_text *out,
                          gufo_error *error)
{
    gufo_str family = architecture_of(model);
    gufo_summary summary;
    bool good;

    gufo_model_summarize(model, &summary);
    good = add(out, "{\"model_format\":\"gguf\",\"model_family\":") &&
           ollama_json_string(family, out) && add(out, ",\"model_families\":[") &&
           ollama_json_string(family, out) &&
           (projector == NULL ||
            (add(out, ",") && ollama_json_string(architecture_of(projector), out))) &&
           add(out, "],\"model_type\":\"") &&
           (summary.parameters == UINT64_MAX || put_count(summary.parameters, out)) &&
           add(out, "\",\"file_type\":\"") &&
           add(out, summary.quantization != NULL ? summary.quantization : "unknown") &&
           add(out, "\",\"architecture\":\"amd64\",\"os\":\"linux\"}\n");
    return good ? GUFO_OK : fail_memory(error);
}
