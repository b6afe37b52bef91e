/* A script that makes the changes: a page cannot edit 20 GB in place, `gufo edit` can.
 *
 *     #!/usr/bin/env bash
 *     gufo edit "${1:-model.gguf}" \
 *         --set-string=general.name='Another name' \
 *         --remove=general.url
 *
 * One command makes all changes or none.  Keys and values come from strangers: each is one word of the shell. */
#include "module.h"

#include "cli/core/terminal/text.h"
#include "gufo/value.h"

#include <stdlib.h>
#include <string.h>

typedef struct change {
    gufo_str op, key, type, value;
} change;

static bool take_field(gufo_str *rest, gufo_str *out)
{
    const char *end = rest->len > 0 ? memchr(rest->data, '\0', rest->len) : NULL;

    if (end == NULL)
        return false;
    *out = (gufo_str){rest->data, (size_t)(end - rest->data)};
    rest->len -= out->len + 1;
    rest->data = end + 1;
    return true;
}

static bool take_change(gufo_str *rest, change *c)
{
    return take_field(rest, &c->op) && take_field(rest, &c->key) && take_field(rest, &c->type) &&
           take_field(rest, &c->value);
}

/* ---- what the command takes ------------------------------------------------------------------ */

static gufo_status check_key(gufo_str key, gufo_error *error)
{
    size_t at;

    if (!gufo_key_is_plain(key, &at))
        return viewer_refuse(error, GUFO_E_ARGUMENT,
                             "the command line cannot name a key with '%c' in it", key.data[at]);
    return key.len > 0 ? GUFO_OK : viewer_refuse(error, GUFO_E_ARGUMENT, "the key is missing");
}

static gufo_status check_number(const change *c, gufo_value_type type, gufo_error *error)
{
    gufo_value value;

    if (gufo_value_read(type, c->value.data, &value))
        return GUFO_OK;
    return viewer_refuse(error, GUFO_E_TYPE, "not a value of type %s", gufo_value_type_name(type));
}

static gufo_status check_array(const change *c, gufo_value_type type, gufo_error *error)
{
    gufo_text bytes = {0};
    gufo_value value;
    gufo_status status = gufo_value_read_json(type, c->value.data, &value, &bytes, NULL, error);

    if (status == GUFO_OK && value.type != GUFO_VALUE_ARRAY)
        status = viewer_refuse(error, GUFO_E_TYPE, "not an array");
    gufo_text_free(&bytes);
    return status;
}

/* ---- options --------------------------------------------------------------------------------- */

static void put_option(FILE *out, const char *option, gufo_str key)
{
    fprintf(out, " \\\n    --%s=", option);
    shell_put(out, key);
}

/* TYPE of an array is that of its elements, with [] behind it. */
static gufo_status put_set(FILE *out, const change *c, gufo_error *error)
{
    static const gufo_str text = {"string", 6};
    bool is_array = c->type.len > 2 && c->type.data[c->type.len - 1] == ']';
    gufo_str name = {c->type.data, c->type.len - (is_array ? 2 : 0)};
    gufo_value_type type;
    gufo_status status = GUFO_OK;

    if (!gufo_value_type_by_name_str(name, &type) || type == GUFO_VALUE_ARRAY)
        return viewer_refuse(error, GUFO_E_TYPE, "there is no such type");
    if (is_array)
        status = check_array(c, type, error);
    else if (!gufo_str_equal(name, text))
        status = check_number(c, type, error);
    if (status != GUFO_OK)
        return status;
    put_option(out,
               is_array                    ? "set-json"
               : type == GUFO_VALUE_STRING ? "set-string"
                                           : "set",
               c->key);
    putc('=', out);
    if (is_array || type != GUFO_VALUE_STRING)
        fprintf(out, "%s:", gufo_value_type_name(type));
    if (c->value.len > 0)
        shell_put(out, c->value);
    return GUFO_OK;
}

static gufo_status put_rename(FILE *out, const change *c, const char *option, gufo_error *error)
{
    gufo_status status = check_key(c->value, error);

    if (status != GUFO_OK)
        return status;
    put_option(out, option, c->key);
    putc('=', out);
    shell_put(out, c->value);
    return GUFO_OK;
}

static gufo_status put_change(FILE *out, const change *c, gufo_error *error)
{
    gufo_status status = check_key(c->key, error);

    if (status != GUFO_OK)
        return status;
    if (gufo_str_equal(c->op, gufo_str_of("set")))
        return put_set(out, c, error);
    if (gufo_str_equal(c->op, gufo_str_of("rename")))
        return put_rename(out, c, "rename", error);
    if (gufo_str_equal(c->op, gufo_str_of("rename_tensor")))
        return put_rename(out, c, "rename-tensor", error);
    if (gufo_str_equal(c->op, gufo_str_of("remove"))) {
        put_option(out, "remove", c->key);
        return GUFO_OK;
    }
    return viewer_refuse(error, GUFO_E_ARGUMENT, "there is no such change");
}

/* A name that begins with a hyphen is not an option. */
gufo_status script_write(const viewer_model *m, gufo_str changes, FILE *out, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    change c;

    fputs("#!/usr/bin/env bash\n"
          "# Changes metadata in place, all of it or nothing.  Run: bash SCRIPT [FILE]\n"
          "set -eu\n"
          "file=",
          out);
    if (m->files[0].name[0] == '-')
        fputs("./", out);
    shell_put(out, gufo_str_of(m->files[0].name));
    fputs("\ngufo edit \"${1:-$file}\"", out);
    while (status == GUFO_OK && take_change(&changes, &c))
        status = put_change(out, &c, error);
    putc('\n', out);
    return status;
}
