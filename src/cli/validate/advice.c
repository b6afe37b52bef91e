/* Advice about a finding: words, and a command of gufo edit, gufo validate --fix or what converts the file. */
#include "cli/validate/advice.h"

#include "cli/core/terminal/text.h"
#include "cli/core/values/str.h"
#include "cli/core/values/value.h"
#include "gufo/value.h"

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
    bool from_file = supplies && begins_with(fix->key, "tokenizer.chat_template");

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

/* Whether gufo edit takes the key. */
static bool is_editable(const advice_file *file, const gufo_fix *fix)
{
    if (!gufo_key_is_plain(fix->key, NULL))
        return false;
    /* One shard of a set keeps the alignment of the others. */
    return !file->is_shard || !gufo_str_equal(fix->key, gufo_str_of("general.alignment"));
}

static void put_edit(FILE *out, const advice_file *file, const gufo_fix *fix)
{
    fputs("gufo edit", out);
    shell_put_file(out, file->path);
    put_option(out, fix);
    if (begins_with(fix->key, "split."))
        fputs(" --as-is", out);
    if (!file->is_writable)
        fputs(" -o OUT", out);
}

/* ---- advice --------------------------------------------------------------------------------- */

/* --fix takes one file: --single is for one that has the name of a shard. */
void advice_put_command(FILE *out, const advice_file *file, const gufo_finding *finding)
{
    const gufo_fix *fix = &finding->fix;

    if (file->foreign != NULL) {
        fprintf(out, "gufo %s", file->foreign->command);
        shell_put_file(out, file->path);
    }
    if (fix->kind == GUFO_FIX_NONE || !file->is_usable)
        return;
    if (edits[fix->kind] != NULL && is_editable(file, fix))
        put_edit(out, file, fix);
    if (edits[fix->kind] != NULL)
        return;
    fputs("gufo validate --fix", out);
    if (gufo_shard_path_parse(file->path, NULL, NULL, NULL))
        fputs(" --single", out);
    shell_put_file(out, file->path);
    fputs(" -o OUT", out);
}

void advice_put_words(FILE *out, const advice_file *file, const gufo_finding *finding)
{
    const gufo_fix *fix = &finding->fix;
    bool proposes = fix->kind == GUFO_FIX_SET || fix->kind == GUFO_FIX_RENAME ||
                    fix->kind == GUFO_FIX_RENAME_TENSOR;
    const foreign_kind *foreign = file->foreign;

    if (finding->hint != NULL)
        fputs(finding->hint, out);
    else if (foreign != NULL)
        fprintf(out, "this is a %s%s; 'gufo %s' converts it", foreign->name, foreign->noun,
                foreign->command);
    else if (proposes && !fix->certain && fix->value.type == GUFO_VALUE_STRING) {
        fputs("did you mean '", out);
        fwrite(fix->value.as.str.data, 1, fix->value.as.str.len, out);
        fputs("'?", out);
    }
}
