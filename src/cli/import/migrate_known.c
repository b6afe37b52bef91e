/* --known FILE: settings of models by the SHA-256 of their files, all parts in order.  docs/legacy.md has
 * the format. */
#include "cli/core/files/path.h"
#include "cli/import/migrate.h"

#include "gufo/digest.h"

#include <stdlib.h>

enum { LARGEST_FILE = 8 << 20 };

static int hash_old(migration *m, char text[GUFO_DIGEST_TEXT])
{
    const shared_options *shared = m->options->base.shared;
    gufo_run how = progress_run(&m->bar, shared);
    option_texts parts = {0};
    int code = CODE_OK;
    gufo_digests digests;
    gufo_error error;
    const char *path;

    for (uint32_t i = 0; code == CODE_OK && (path = gufo_import_part_at(m->import, i)) != NULL; i++)
        code = option_add(&parts, path);
    if (code == CODE_OK) {
        progress_start(&m->bar, shared->quiet);
        if (gufo_digest_files(parts.items, parts.count, 1u << GUFO_DIGEST_SHA256, &how, &digests,
                              &error) != GUFO_OK)
            code = report_error(m->options->input, &error);
        progress_end(&m->bar);
    }
    if (code == CODE_OK)
        (void)gufo_digest_text(GUFO_DIGEST_SHA256, digests.bytes[GUFO_DIGEST_SHA256], text);
    free(parts.items);
    return code;
}

int migrate_take_known(migration *m)
{
    const char *path = m->options->known;
    char hash[GUFO_DIGEST_TEXT];
    gufo_str json = {0};
    gufo_error error;
    bool found;
    int code = CODE_OK;

    if (path != NULL)
        code = small_file_read(path, LARGEST_FILE, "the settings have more than 8 MiB", &json);
    if (path == NULL || code != CODE_OK)
        return code;
    code = hash_old(m, hash);
    if (code == CODE_OK && gufo_legacy_settings(json, hash, m->given, &found, &error) != GUFO_OK)
        code = report_error(path, &error);
    else if (code == CODE_OK && !found)
        report_warning(path, "no settings for %s, whose SHA-256 is %s", m->options->input, hash);
    small_file_free(&json);
    return code;
}
