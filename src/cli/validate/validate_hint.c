/* What a user can do about a finding, in words and as a command that works on that very file.
 *
 *     hint: did you mean 'Apache-2.0'?
 *     fix:  gufo edit 'my model.gguf' --set-string=general.license=Apache-2.0 -o OUT
 *
 * The library says as data what is to be done.  A command is given only where it works: not for
 * standard input, nor for a file that other commands refuse to open; a file that cannot be written
 * gets -o OUT. */
#include "cli/validate/validate.h"

#include "cli/core/text.h"
#include "cli/core/value.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- words of a shell ----------------------------------------------------------------------- */

static bool is_plain(gufo_str text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./+@%:,=-";

    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] == '\0' || strchr(plain, text.data[i]) == NULL)
            return false;
    return text.len > 0;
}

/* Bytes that are not to reach a terminal are escaped: $'\x1b'. */
static void put_escaped(FILE *out, gufo_str text)
{
    fputs("$'", out);
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];

        if (c < ' ' || c >= 0x7f)
            fprintf(out, "\\x%02x", c);
        else
            fprintf(out, "%s%c", c == '\'' || c == '\\' ? "\\" : "", c);
    }
    putc('\'', out);
}

/* Writes a text as a shell reads it as (a part of) one word. */
static void put_word(FILE *out, gufo_str text)
{
    if (is_plain(text)) {
        fwrite(text.data, 1, text.len, out);
        return;
    }
    if (!text_is_clean(text)) {
        put_escaped(out, text);
        return;
    }
    putc('\'', out);
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] == '\'')
            fputs("'\\''", out);
        else
            putc(text.data[i], out);
    putc('\'', out);
}

/* A path that begins with a hyphen is not an option. */
static void put_file(FILE *out, const char *path)
{
    putc(' ', out);
    if (path[0] == '-')
        fputs("./", out);
    put_word(out, gufo_str_of(path));
}

/* ---- options of gufo edit ------------------------------------------------------------------- */

static void put_set(FILE *out, const gufo_fix *fix)
{
    bool text = fix->value.type == GUFO_VALUE_STRING;

    fputs(text ? " --set-string=" : " --set=", out);
    put_word(out, fix->key);
    putc('=', out);
    if (!text)
        fprintf(out, "%s:", gufo_value_type_name(fix->value.type));
    if (fix->kind == GUFO_FIX_SUPPLY)
        fputs(text ? "TEXT" : "VALUE", out);
    else if (text && fix->value.as.str.len > 0)
        put_word(out, fix->value.as.str);
    else if (!text)
        value_put_number(out, &fix->value);
}

static void put_supply(FILE *out, const gufo_fix *fix)
{
    static const char templates[] = "tokenizer.chat_template";
    size_t len = strlen(templates);

    if (fix->key.len < len || memcmp(fix->key.data, templates, len) != 0) {
        put_set(out, fix);
        return;
    }
    fputs(" --set-file=", out);
    put_word(out, fix->key);
    fputs("=PATH", out);
}

static void put_rename(FILE *out, const gufo_fix *fix)
{
    fputs(fix->kind == GUFO_FIX_RENAME ? " --rename=" : " --rename-tensor=", out);
    put_word(out, fix->key);
    putc('=', out);
    put_word(out, fix->value.as.str);
}

static void put_remove(FILE *out, const gufo_fix *fix)
{
    fputs(" --remove=", out);
    put_word(out, fix->key);
}

/* By kind of fix: what makes it an edit; NULL for what only validate --fix does. */
static void (*const edits[FIX_KINDS])(FILE *out, const gufo_fix *fix) = {
    [GUFO_FIX_SET] = put_set,
    [GUFO_FIX_RENAME] = put_rename,
    [GUFO_FIX_REMOVE] = put_remove,
    [GUFO_FIX_SUPPLY] = put_supply,
    [GUFO_FIX_RENAME_TENSOR] = put_rename,
};

/* ---- the command ---------------------------------------------------------------------------- */

static bool key_begins(gufo_str key, const char *start)
{
    return key.len >= strlen(start) && memcmp(key.data, start, strlen(start)) == 0;
}

/* Whether gufo edit can be told of the key: "=" ends it, and --remove takes a pattern. */
static bool is_editable(const report *r, const gufo_fix *fix)
{
    static const char special[] = "=*?[\\";
    bool shard = r->shard != 0 || r->shard_count != 0;

    for (size_t i = 0; i < fix->key.len; i++)
        if (fix->key.data[i] == '\0' || strchr(special, fix->key.data[i]) != NULL)
            return false;
    /* One shard of a set keeps the alignment of the others. */
    return !shard || !gufo_str_equal(fix->key, gufo_str_of("general.alignment"));
}

static bool is_writable(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    bool writable = folder != NULL && access(path, W_OK) == 0 && access(folder, W_OK) == 0;

    free(folder);
    return writable;
}

static void put_edit(FILE *out, const report *r, const gufo_fix *fix)
{
    fputs("gufo edit", out);
    put_file(out, r->shard_path);
    edits[fix->kind](out, fix);
    if (key_begins(fix->key, "split."))
        fputs(" --as-is", out);
    if (!is_writable(r->shard_path))
        fputs(" -o OUT", out);
}

/* --fix takes one file: --single is for one that has the name of a shard. */
static void put_fix(FILE *out, const report *r)
{
    fputs("gufo validate --fix", out);
    if (gufo_shard_path_parse(r->shard_path, NULL, &(uint32_t){0}, &(uint32_t){0}))
        fputs(" --single", out);
    put_file(out, r->shard_path);
    fputs(" -o OUT", out);
}

static bool has_command(const report *r, const gufo_fix *fix)
{
    return fix->kind != GUFO_FIX_NONE && r->usable && !path_is_standard(r->shard_path) &&
           (edits[fix->kind] == NULL || is_editable(r, fix));
}

static void put_command(FILE *out, const report *r, const gufo_fix *fix)
{
    if (!has_command(r, fix))
        return;
    if (edits[fix->kind] != NULL)
        put_edit(out, r, fix);
    else
        put_fix(out, r);
}

/* ---- words ---------------------------------------------------------------------------------- */

static void put_words(FILE *out, const gufo_finding *finding)
{
    const gufo_fix *fix = &finding->fix;
    bool proposes = fix->kind == GUFO_FIX_SET || fix->kind == GUFO_FIX_RENAME ||
                    fix->kind == GUFO_FIX_RENAME_TENSOR;

    if (finding->hint != NULL)
        fputs(finding->hint, out);
    else if (proposes && !fix->certain && fix->value.type == GUFO_VALUE_STRING) {
        fputs("did you mean '", out);
        fwrite(fix->value.as.str.data, 1, fix->value.as.str.len, out);
        fputs("'?", out);
    }
}

hint hint_of(const report *r, const gufo_finding *finding)
{
    hint h = {0};
    size_t words_len = 0, command_len = 0;
    FILE *words = open_memstream(&h.words, &words_len);
    FILE *command = open_memstream(&h.command, &command_len);

    if (words != NULL) {
        put_words(words, finding);
        (void)fclose(words);
    }
    if (command != NULL) {
        put_command(command, r, &finding->fix);
        (void)fclose(command);
    }
    h.has_words = words_len > 0;
    h.has_command = command_len > 0;
    return h;
}

void hint_free(const hint *h)
{
    free(h->words);
    free(h->command);
}
