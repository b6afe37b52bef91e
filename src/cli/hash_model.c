/* Models whose data is hashed. */
#include "cli/hash.h"

#include "cli/report.h"
#include "cli/signals.h"

#include <stdlib.h>

static int list_files(hash_model *model)
{
    model->count = input_shard_count(&model->in);
    model->files = calloc(model->count, sizeof(void *));
    if (model->files == NULL) {
        report_message(model->in.path, "out of memory");
        return CODE_FAILED;
    }
    for (size_t i = 0; i < model->count; i++)
        model->files[i] = input_shard(&model->in, i);
    return CODE_OK;
}

int hash_model_open(hash_model *model, const char *path, bool single)
{
    input_options options = {.single = single};
    int code;

    *model = (hash_model){0};
    code = input_open_whole(&model->in, path, &options);
    if (code != CODE_OK)
        return code;
    code = list_files(model);
    if (code == CODE_OK && !gufo_file_has_data(model->files[0])) {
        report_message(path, "the data of a pipe cannot be hashed; give a file");
        code = CODE_USAGE;
    }
    if (code != CODE_OK)
        hash_model_close(model);
    return code;
}

void hash_model_close(hash_model *model)
{
    free(model->files);
    input_close(&model->in);
    *model = (hash_model){0};
}

gufo_digest_input hash_model_input(const hash_model *model)
{
    return (gufo_digest_input){.files = model->files, .count = model->count};
}

void hash_model_write_shards(json_writer *j, const hash_model *model)
{
    if (model->count < 2)
        return;
    json_write_key(j, "shards");
    json_begin_array(j);
    for (size_t i = 0; i < model->count; i++)
        json_write_text(j, input_shard_path(&model->in, i));
    json_end_array(j);
}

int hash_report(const hash_model *model, size_t failed, const gufo_error *error)
{
    report_error(failed < model->count ? input_shard_path(&model->in, failed) : model->in.path,
                 error);
    return error->code == GUFO_E_TYPE ? CODE_USAGE : CODE_FAILED;
}

int hash_check_algorithms(uint32_t algorithms)
{
    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++) {
        const gufo_digest_kind *kind = gufo_digest_kind_of((gufo_digest_algorithm)i);

        if ((algorithms >> i & 1) == 0 || gufo_digest_available((gufo_digest_algorithm)i))
            continue;
        report_message(NULL,
                       "%s is not available: this gufo was built without %s (Debian package %s)",
                       kind->name, kind->library, kind->package);
        return CODE_USAGE;
    }
    return CODE_OK;
}
