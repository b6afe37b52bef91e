/* Advice about a finding, in words and as a command that works on that very file.
 *
 *     hint: did you mean 'Apache-2.0'?
 *     fix:  gufo edit 'my model.gguf' --set-string=general.license=Apache-2.0 -o OUT
 *
 * The library gives the fix as data.  A command is given only where it works: not for
 * standard input, nor for a file that other commands refuse to open; a file that cannot be written
 * gets -o OUT. */
#include "cli/validate/validate.h"

#include "base/text.h"
#include "cli/core/foreign_file.h"
#include "cli/core/shell.h"
#include "cli/core/text.h"
#include "cli/core/value.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- gufo edit ------------------------------------------------------------------------------ */

/* By kind of fix: the option that makes it; NULL for what only validate --fix does. */
static const char *const edits[FIX_KINDS] = {
    [GUFO_FIX_SET] = "set",       [GUFO_FIX_SUPPLY] = "set",
    [GUFO_FIX_RENAME] = "rename", [GUFO_FIX_RENAME_TENSOR] = "rename-tensor",
    [GUFO_FIX_REMOVE] = "remove",
};

/* A placeholder marks what the user has to supply: a template is long, and comes from a file. */
static void put_option(FILE *out, const gufo_fix *fix)
{
    bool supplies = fix->kind == GUFO_FIX_SUPPLY, sets = supplies || fix->kind == GUFO_FIX_SET;
    bool is_text = fix->value.type == GUFO_VALUE_STRING;
    bool from_file = supplies && str_begins(fix->key, "tokenizer.chat_template");

    fprintf(out, " --%s%s=", edits[fix->kind],
            from_file         ? "-file"
            : sets && is_text ? "-string"
                              : "");
    shell_put(out, fix->key);
    if (fix->kind == GUFO_FIX_REMOVE)
        return;
    putc('=', out);
    if (from_file)
        fputs("PATH", out);
    else if (!is_text)
        fprintf(out, "%s:", gufo_value_type_name(fix->value.type));
    if (supplies && !from_file)
        fputs(is_text ? "TEXT" : "VALUE", out);
    else if (!supplies && !is_text)
        value_put_number(out, &fix->value);
    else if (!supplies && fix->value.as.str.len > 0)
        shell_put(out, fix->value.as.str);
}

/* Whether gufo edit takes the key: "=" ends it, and --remove takes a pattern. */
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
    char *folder = path_beside(path, ".");
    bool writable = folder != NULL && access(path, W_OK) == 0 && access(folder, W_OK) == 0;

    free(folder);
    return writable;
}

static void put_edit(FILE *out, const report *r, const gufo_fix *fix)
{
    fputs("gufo edit", out);
    shell_put_file(out, r->shard_path);
    put_option(out, fix);
    if (str_begins(fix->key, "split."))
        fputs(" --as-is", out);
    if (!is_writable(r->shard_path))
        fputs(" -o OUT", out);
}

/* ---- advice --------------------------------------------------------------------------------- */

/* Whether the finding is that the file is of another format that gufo knows. */
static bool is_foreign(const report *r, const gufo_finding *finding, foreign_kind *kind)
{
    return strcmp(finding->rule->name, "magic") == 0 && foreign_file_find(r->shard_path, kind);
}

/* --fix takes one file: --single is for one that has the name of a shard. */
static void put_command(FILE *out, const report *r, const gufo_finding *finding)
{
    const gufo_fix *fix = &finding->fix;
    foreign_kind kind;

    if (is_foreign(r, finding, &kind)) {
        fprintf(out, "gufo %s", kind.command);
        shell_put_file(out, r->shard_path);
    }
    if (fix->kind == GUFO_FIX_NONE || !r->usable || path_is_standard(r->shard_path))
        return;
    if (edits[fix->kind] != NULL && is_editable(r, fix))
        put_edit(out, r, fix);
    if (edits[fix->kind] != NULL)
        return;
    fputs("gufo validate --fix", out);
    if (gufo_shard_path_parse(r->shard_path, NULL, NULL, NULL))
        fputs(" --single", out);
    shell_put_file(out, r->shard_path);
    fputs(" -o OUT", out);
}

static void put_words(FILE *out, const report *r, const gufo_finding *finding)
{
    const gufo_fix *fix = &finding->fix;
    bool proposes = fix->kind == GUFO_FIX_SET || fix->kind == GUFO_FIX_RENAME ||
                    fix->kind == GUFO_FIX_RENAME_TENSOR;
    foreign_kind kind;

    if (finding->hint != NULL)
        fputs(finding->hint, out);
    else if (report_limit(finding->rule) != NULL)
        fputs(report_limit(finding->rule), out);
    else if (is_foreign(r, finding, &kind))
        fprintf(out, "this is a %s%s; 'gufo %s' converts it", kind.name, kind.noun, kind.command);
    else if (proposes && !fix->certain && fix->value.type == GUFO_VALUE_STRING) {
        fputs("did you mean '", out);
        fwrite(fix->value.as.str.data, 1, fix->value.as.str.len, out);
        fputs("'?", out);
    }
}

/* NULL if nothing is put, or without memory. */
static char *text_of(void (*put)(FILE *out, const report *r, const gufo_finding *finding),
                     const report *r, const gufo_finding *finding)
{
    text_stream text;

    if (!text_stream_open(&text))
        return NULL;
    put(text.out, r, finding);
    return text_stream_close(&text);
}

hint hint_of(const report *r, const gufo_finding *finding)
{
    return (hint){text_of(put_words, r, finding), text_of(put_command, r, finding)};
}

void hint_free(const hint *h)
{
    free(h->words);
    free(h->command);
}
