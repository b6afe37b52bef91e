/* gufo get FILE KEY: one metadata value, for scripts.
 *
 *     number, bool   as text
 *     string         as it is; on a terminal with control characters escaped, newline and tab apart
 *     array          one element per line, arrays inside it as JSON
 *
 * Nothing is written before the key has been found. */
#include "cli/core/values/str.h"
#include "cli/commands.h"
#include "cli/core/files/input.h"
#include "cli/core/files/save.h"
#include "cli/core/options/names.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/value.h"
#include "gufo/schema.h"

typedef struct get_options {
    command_input base;
    input_options input;
    bool raw;
} get_options;

/* ---- command line --------------------------------------------------------------------------- */

static const command_option get_table[] = {
    {"raw", NULL, "Write exactly the bytes of a string, without a newline",
     OPTION_FLAG(get_options, raw)},
    {"output", "OUT", "Write the bytes of a string to the file OUT", OPTION_OUTPUT,
     .given = offsetof(get_options, raw)},
    OPTION_SINGLE(get_options),
    {0},
};

/* ---- the key that may be meant -------------------------------------------------------------- */

/* Compares so many keys at most: a file may hold millions. */
#define MAX_KEYS_COMPARED 10000

/* The name under which the model says what a key means. */
static bool find_other_name(const gufo_model *model, gufo_str key, gufo_str *name)
{
    const gufo_key_info *info = gufo_key_today_str(key, gufo_str_of(""));
    gufo_entry entry;

    if (info == NULL || !gufo_model_key_entry(model, info->key, &entry))
        return false;
    *name = entry.key;
    return true;
}

static int report_absent(const input *in, const char *name)
{
    suggestion near = suggest_start(gufo_str_of(name));
    bool found = find_other_name(in->model, near.word, &near.name);
    gufo_entry entry;

    near.best = near.word.len / 3 + 2;
    for (uint64_t i = 0;
         !found && i < MAX_KEYS_COMPARED && gufo_model_entry_at(in->model, i, &entry); i++) {
        /* "context_length" means "llama.context_length". */
        found = entry.key.len > near.word.len && ends_with(entry.key, name) &&
                entry.key.data[entry.key.len - near.word.len - 1] == '.';
        if (found)
            near.name = entry.key;
        else
            suggest_offer(&near, entry.key);
    }
    return report_as(CODE_NO, in->path, "no key is named '%s'%s", name, suggest_text(&near, ""));
}

/* ---- output --------------------------------------------------------------------------------- */

/* One element, or a value that is not an array. */
static bool print_plain(const gufo_value *value, text_style style)
{
    json_writer j = json_writer_start(stdout);

    if (value->type == GUFO_VALUE_ARRAY)
        value_write_json(&j, NULL, value, VALUE_ALL);
    else if (value->type != GUFO_VALUE_STRING)
        value_put_number(stdout, value);
    else
        text_put_result(value->as.str, style);
    putc('\n', stdout);
    return !j.changed;
}

static bool print_text(const gufo_value *value)
{
    gufo_value element;
    bool sound = true;

    if (value->type != GUFO_VALUE_ARRAY)
        return print_plain(value, TEXT_LINES);
    gufo_array_iter iter = gufo_array_start(&value->as.array);

    while (sound && !stdout_broken() && gufo_array_next(&iter, &element))
        sound = print_plain(&element, TEXT_PLAIN);
    return sound && !iter.changed;
}

/* The model must not be replaced by one of its values. */
static int print_raw(const input *in, const gufo_entry *entry, const get_options *options)
{
    gufo_str bytes = entry->value.as.str;
    gufo_guard guard;
    int code = CODE_OK;

    if (entry->value.type != GUFO_VALUE_STRING)
        return report_as(
            CODE_USAGE, NULL, "--raw and -o write the bytes of a string, but '%.*s' is of type %s",
            (int)entry->key.len, entry->key.data, gufo_value_type_name(entry->value.type));
    if (options->base.output == NULL || path_is_standard(options->base.output))
        fwrite(bytes.data, 1, bytes.len, stdout);
    else if (!input_guard(in, &guard))
        code = CODE_FAILED;
    else {
        code = save_bytes(options->base.output, bytes, options->base.shared->force, &guard);
        gufo_guard_free(&guard);
    }
    return code;
}

static int print_entry(const input *in, const gufo_entry *entry, const get_options *options)
{
    json_writer j = json_writer_start(stdout);
    bool sound;

    if (options->raw)
        return print_raw(in, entry, options);
    if (options->base.shared->json) {
        value_write_entry(&j, NULL, entry, VALUE_ALL);
        json_writer_line(&j);
        sound = !j.changed;
    } else
        sound = print_text(&entry->value);
    if (sound)
        return CODE_OK;
    return report_as(CODE_FAILED, in->path, "changed while it was being read");
}

static int get(void *context)
{
    const get_options *options = context;
    const shared_options *shared = options->base.shared;
    gufo_entry entry;
    input in;
    int code;

    if (shared->json && options->raw)
        return report_usage("--json and --raw exclude each other");
    code = input_open(&in, shared->args[0], &options->input);
    if (code != CODE_OK)
        return code;
    if (gufo_model_find(in.model, shared->args[1], &entry))
        code = print_entry(&in, &entry, options);
    else
        code = report_absent(&in, shared->args[1]);
    input_close(&in);
    return code;
}

const command_line command_get = {
    .operands = {"FILE KEY", 2, 2, "FILE and KEY are needed, and nothing else"},
    .doc = "Print the value of a metadata key.\v"
           "gufo prints the elements of an array one per line.  With --json it prints the key "
           "with its type and value.  Exit status 1 means that FILE has no such key.",
    .examples = {{"gufo get model.gguf general.name", "Prints the name of the model."},
                 {"gufo get -o template.jinja model.gguf tokenizer.chat_template",
                  "Writes the chat template to a file."}},
    COMMAND_OPTIONS(get_table, get_options),
    .run = get,
};
