/* What the reports of gufo migrate say, as text and as JSON: settings by origin, and tensors as
 * they are written. */
#include "cli/import/migrate.h"

#include "base/text.h"

/* The setting of a key; false if it is none that files of this family lack. */
static bool find_setting(const migration *m, gufo_str key, gufo_import_setting *out)
{
    for (uint64_t i = 0; gufo_import_setting_at(m->import, i, out); i++)
        if (gufo_str_equal(out->key, key))
            return true;
    return false;
}

/* Whether the quantizer writes another value. */
static bool is_replaced(const migration *m, gufo_str key)
{
    return m->quantizer != NULL &&
           (gufo_str_equal(key, gufo_str_of("general.file_type")) ||
            gufo_str_equal(key, gufo_str_of("general.quantization_version")));
}

/* The old file has every key that is not a setting, unless options or --known give it. */
static gufo_import_setting fact_of(const migration *m, const gufo_entry *entry)
{
    bool given = gufo_document_find_str(m->given, entry->key, NULL) ||
                 (m->vocabulary != NULL && str_begins(entry->key, "tokenizer."));

    return (gufo_import_setting){.key = entry->key,
                                 .value = entry->value,
                                 .origin = given ? GUFO_SETTING_KNOWN : GUFO_SETTING_FILE,
                                 .why = given ? "given" : NULL};
}

/* The next key of the result that is not assumed. */
static bool next_known(const migration *m, uint64_t *at, gufo_import_setting *out)
{
    gufo_entry entry;

    while (gufo_metadata_at(gufo_import_model(m->import), (*at)++, &entry)) {
        bool found = find_setting(m, entry.key, out);

        if ((found && out->origin == GUFO_SETTING_ASSUMED) || is_replaced(m, entry.key))
            continue;
        if (!found)
            *out = fact_of(m, &entry);
        return true;
    }
    return false;
}

bool migrate_next_setting(const migration *m, gufo_setting_origin origin, uint64_t *at,
                          gufo_import_setting *out)
{
    if (origin == GUFO_SETTING_KNOWN)
        return next_known(m, at, out);
    while (gufo_import_setting_at(m->import, (*at)++, out))
        if (out->origin == origin)
            return true;
    return false;
}

const char *migrate_type_name(const gufo_import_setting *setting)
{
    const gufo_key_info *info = gufo_key_find(setting->key, (gufo_str){"", 0});

    return info != NULL ? info->type : gufo_value_type_name(setting->value.type);
}

bool migrate_tensor_at(const migration *m, uint64_t index, migrate_tensor *out)
{
    gufo_quantizer_tensor made;

    if (!gufo_import_tensor_at(m->import, index, &out->old))
        return false;
    out->to = out->old.to;
    out->measured = out->old.measured;
    out->exact = out->old.exact;
    out->max_abs_err = out->old.max_abs_err;
    if (m->quantizer == NULL || !gufo_quantizer_tensor_at(m->quantizer, index, &made) ||
        (made.choice.flags & GUFO_RECIPE_CONVERTS) == 0)
        return true;
    out->to = gufo_element_type_by_id(made.choice.type);
    out->measured = made.loss.count > 0;
    out->max_abs_err = (double)made.loss.largest_error;
    out->exact = out->measured && made.loss.square_error == 0;
    return true;
}
