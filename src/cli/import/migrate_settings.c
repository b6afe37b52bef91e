/* What gufo migrate knows beside the old file: from options, and from answers to questions. */
#include "cli/core/terminal/text.h"
#include "cli/core/values/value.h"
#include "gufo/value.h"
#include "cli/import/given_keys.h"
#include "cli/import/migrate.h"

#include "cli/core/values/str.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- options -------------------------------------------------------------------------------- */

int migrate_take_settings(migration *m)
{
    return given_keys_take(&m->given, &m->options->settings);
}

/* ---- options about an open file ------------------------------------------------------------- */

/* Keys behind that of the architecture; a model has one of them at most. */
static const char *const epsilons[] = {"attention.layer_norm_rms_epsilon",
                                       "attention.layer_norm_epsilon", NULL};
static const char *const contexts[] = {"context_length", NULL};

/* The first of these keys that the model has, whether the old file says its value or not. */
static bool find_key(const migration *m, const char *const *ends, char key[GUFO_KEY_NAME_SIZE])
{
    const gufo_model *model = gufo_import_model(m->import);
    gufo_str arch;

    if (gufo_model_get_str(model, "general.architecture", &arch, NULL) != GUFO_OK)
        return false;
    for (; *ends != NULL; ends++) {
        snprintf(key, GUFO_KEY_NAME_SIZE, "%.*s.%s", (int)arch.len, arch.data, *ends);
        if (gufo_model_find(model, key, NULL))
            return true;
    }
    return false;
}

static int set_number(migration *m, const char *option, const char *const *ends, const char *text)
{
    char message[GIVEN_KEYS_MESSAGE], key[GUFO_KEY_NAME_SIZE];

    if (!find_key(m, ends, key))
        return report_as(CODE_USAGE, m->options->input,
                         "%s: a model of this kind has no such setting", option);
    return given_keys_set_text(m->given, key, text, message)
               ? CODE_OK
               : report_usage("%s %s: %s", option, text, message);
}

/* The shapes say it, too. */
static int check_groups(const migration *m)
{
    const gufo_model *model = gufo_import_model(m->import);
    const uint64_t groups = m->options->groups;
    uint64_t heads, shared;

    if (gufo_model_get_u64(model, "llama.attention.head_count", &heads, NULL) != GUFO_OK ||
        gufo_model_get_u64(model, "llama.attention.head_count_kv", &shared, NULL) != GUFO_OK)
        return report_as(CODE_USAGE, m->options->input, "--gqa is for LLaMA");
    if (heads % groups == 0 && shared == heads / groups)
        return CODE_OK;
    return report_as(CODE_USAGE, m->options->input,
                     "--gqa %ju: there are %ju heads and, by the shapes of tensors, %ju key-value "
                     "heads",
                     (uintmax_t)groups, (uintmax_t)heads, (uintmax_t)shared);
}

/* GGUF before version 3 lacks nothing. */
static bool is_gguf(const migration *m)
{
    return strcmp(gufo_import_describe(m->import).container, "GGUF") == 0;
}

int migrate_take_facts(migration *m)
{
    const migrate_options *o = m->options;
    bool gives = gufo_document_entry_count(m->given) > 0 || o->vocabulary != NULL ||
                 o->epsilon != NULL || o->context > 0 || o->groups > 0;
    bool describes = o->arch != NULL || o->flags != 0 || o->keep != GUFO_LEGACY_NEAREST;
    char context[24];
    int code = CODE_OK;

    if (gives && is_gguf(m))
        return report_as(CODE_USAGE, o->input,
                         "a GGUF file keeps its keys; 'gufo edit' changes them afterwards");
    if (describes && is_gguf(m))
        return report_as(CODE_USAGE, o->input,
                         "--arch, --falcon-grouped and --dequantize are for files before GGUF");
    snprintf(context, sizeof context, "%ju", (uintmax_t)o->context);
    if (o->groups > 0)
        code = check_groups(m);
    if (code == CODE_OK && o->epsilon != NULL)
        code = set_number(m, "--eps", epsilons, o->epsilon);
    if (code == CODE_OK && o->context > 0)
        code = set_number(m, "--ctx", contexts, context);
    return code;
}

int migrate_check_settings(migration *m)
{
    const option_texts *settings = &m->options->settings;
    const gufo_model *model = gufo_import_model(m->import);
    gufo_entry entry;
    bool known = true;

    for (size_t i = 0; i < settings->count && known; i++) {
        char *key = given_keys_name(settings->items[i]);

        known = key != NULL && gufo_model_find(model, key, &entry);
        if (!known && key != NULL)
            report_usage("--set %s: not a key of a model of this architecture", key);
        free(key);
    }
    return known ? CODE_OK : CODE_USAGE;
}

/* ---- questions ------------------------------------------------------------------------------ */

/* What gives a value to a key that is missing. */
static const char *helpful_option(gufo_str key)
{
    static const struct {
        const char *end, *option;
    } options[] = {{"_epsilon", "--eps X"}, {".context_length", "--ctx N"}};

    if (begins_with(key, "tokenizer."))
        return "--vocab-from OTHER.gguf";
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (ends_with(key, options[i].end))
            return options[i].option;
    return "--set KEY=VALUE";
}

static bool is_needed(const gufo_import_setting *setting)
{
    return setting->origin == GUFO_SETTING_MISSING && setting->required;
}

static int report_needed(const migration *m, const gufo_import_setting *setting)
{
    return report_as(CODE_USAGE, m->options->input,
                     "'%.*s' is missing (%s): %s sets it, --yes continues without it",
                     (int)setting->key.len, setting->key.data, setting->why,
                     helpful_option(setting->key));
}

static void put_question(const gufo_import_setting *setting)
{
    const value_style style = {
        .limit = 4, .columns = 60, .array_columns = 60, .string_columns = 20};

    text_put(stderr, setting->key, TEXT_PLAIN);
    fprintf(stderr, " (%s): %s\n", gufo_value_type_name(setting->value.type), setting->why);
    if (setting->origin == GUFO_SETTING_MISSING) {
        fputs("> ", stderr);
        return;
    }
    fputs("[", stderr);
    (void)value_put_line(stderr, &setting->value, &style);
    fputs("]> ", stderr);
}

/* One question, until the answer is a value; Enter takes the default.  CODE_USAGE at the end of the
 * input. */
static int ask_for(migration *m, const gufo_import_setting *setting, char **line, size_t *room)
{
    gufo_key_types types = {.list = {{setting->value.type, false}}, .count = 1};
    char message[GIVEN_KEYS_MESSAGE], key[GUFO_KEY_NAME_SIZE];
    ssize_t len;

    snprintf(key, sizeof key, "%.*s", (int)setting->key.len, setting->key.data);
    for (;;) {
        put_question(setting);
        len = getline(line, room, stdin);
        if (len < 0) {
            fputs("\n", stderr);
            return report_as(CODE_USAGE, m->options->input, "no answer; nothing was written");
        }
        if (strlen(*line) < (size_t)len) {
            fputs("a value cannot hold a NUL\n", stderr);
            continue;
        }
        (*line)[strcspn(*line, "\r\n")] = '\0';
        if (**line == '\0' && !is_needed(setting))
            return CODE_OK;
        if (**line != '\0' && given_keys_set(m->given, key, *line, &types, message))
            return CODE_OK;
        fprintf(stderr, "%s\n", **line == '\0' ? "a value is needed" : message);
    }
}

static bool is_asked(const gufo_import_setting *setting)
{
    return setting->value.type != GUFO_VALUE_ARRAY &&
           (is_needed(setting) || setting->origin == GUFO_SETTING_ASSUMED);
}

/* What no answer can give has to be there before the first question. */
static int check_needed(const migration *m, bool asks)
{
    gufo_import_setting setting;
    int code = CODE_OK;

    for (uint64_t i = 0; code == CODE_OK && gufo_import_setting_at(m->import, i, &setting); i++)
        if (is_needed(&setting) && !(asks && is_asked(&setting)))
            code = report_needed(m, &setting);
    return code;
}

/* What no old file says and every model has: its name, and its license. */
static int ask_for_origin(migration *m, char **line, size_t *room)
{
    static const struct {
        const char *key, *why;
    } rows[] = {
        {"general.name", "the name of the model; Enter takes that of the file"},
        {"general.license", "an SPDX identifier such as apache-2.0; Enter leaves it out"},
    };
    int code = CODE_OK;

    for (size_t i = 0; i < sizeof rows / sizeof *rows && code == CODE_OK; i++) {
        gufo_import_setting setting = {.key = gufo_str_of(rows[i].key),
                                       .origin = GUFO_SETTING_MISSING,
                                       .value = {.type = GUFO_VALUE_STRING},
                                       .why = rows[i].why};

        if (!gufo_document_find(m->given, rows[i].key, NULL))
            code = ask_for(m, &setting, line, room);
    }
    return code;
}

static int ask_all(migration *m)
{
    gufo_import_setting setting;
    char *line = NULL;
    size_t room = 0;
    int code = CODE_OK;

    fflush(stdout);
    for (uint64_t i = 0; code == CODE_OK && gufo_import_setting_at(m->import, i, &setting); i++)
        if (is_asked(&setting))
            code = ask_for(m, &setting, &line, &room);
    if (code == CODE_OK && !is_gguf(m))
        code = ask_for_origin(m, &line, &room);
    free(line);
    return code;
}

int migrate_ask(migration *m)
{
    /* All workers have to have the same answers. */
    bool asks = isatty(STDIN_FILENO) && !m->options->base.part.given;
    int code;

    if (m->options->yes || m->options->dry_run)
        return CODE_OK;
    code = check_needed(m, asks);
    return code == CODE_OK && asks ? ask_all(m) : code;
}
