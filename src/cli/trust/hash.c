/* gufo hash FILE...: a manifest of a model.
 *
 * The library hashes; this file writes lines, or JSON, while hashes come in. */
#include "cli/trust/hash.h"

#include "cli/commands.h"
#include "cli/core/model_json.h"
#include "cli/core/report.h"
#include "cli/core/stdout.h"

/* ---- command line --------------------------------------------------------------------------- */

typedef struct hash_options {
    command_input base;
    input_options input;
    uint32_t algorithms; /* a bit for each */
    bool no_tensors;
} hash_options;

#define ALGORITHM(kind) OPTION_BITS(hash_options, algorithms, UINT32_C(1) << (kind))
#define ALL_ALGORITHMS ((UINT32_C(1) << GUFO_DIGEST_COUNT) - 1)

static const command_option hash_table[] = {
    {"xxh64", NULL, "XXH64: fast; the default", ALGORITHM(GUFO_DIGEST_XXH64)},
    {"sha1", NULL, "SHA-1", ALGORITHM(GUFO_DIGEST_SHA1)},
    {"sha256", NULL, "SHA-256", ALGORITHM(GUFO_DIGEST_SHA256)},
    {"blake2b", NULL, "BLAKE2b-512", ALGORITHM(GUFO_DIGEST_BLAKE2B)},
    {"uuid", NULL, "A UUID of version 5 that names the data of the whole file",
     ALGORITHM(GUFO_DIGEST_UUID)},
    {"all", NULL, "All of these", OPTION_BITS(hash_options, algorithms, ALL_ALGORITHMS)},
    {"no-tensors", NULL, "Only all tensors together, not each one",
     OPTION_FLAG(hash_options, no_tensors), .group = 2},
    OPTION_SINGLE(hash_options),
    {0},
};

/* ---- the work ------------------------------------------------------------------------------- */

typedef struct work {
    const hash_options *options;
    const char *path;
    uint32_t algorithms;
    progress bar;
    json_writer j;
} work;

static void write_digests(json_writer *j, uint32_t algorithms, const gufo_digests *digests,
                          bool whole)
{
    char text[GUFO_DIGEST_TEXT];

    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++) {
        const gufo_digest_kind *kind = gufo_digest_kind_of((gufo_digest_algorithm)i);

        if ((algorithms >> i & 1) == 0 || (kind->file_only && !whole))
            continue;
        (void)gufo_digest_text((gufo_digest_algorithm)i, digests->bytes[i], text);
        json_write_text(j, kind->name, text);
    }
}

static bool on_tensor(void *context, uint64_t index, const gufo_tensor *tensor,
                      const gufo_digests *digests)
{
    work *w = context;

    (void)index;
    progress_end(&w->bar);
    if (w->options->base.shared->json) {
        json_begin_object(&w->j, NULL);
        json_write_str(&w->j, "name", tensor->name);
        write_digests(&w->j, w->algorithms, digests, false);
        json_end_object(&w->j);
    } else {
        hash_put_lines(stdout, w->algorithms, digests, w->path, &tensor->name);
    }
    return !stdout_broken();
}

static void begin_json(work *w, const input *in)
{
    w->j = json_begin_document(w->path);
    model_json_shards(&w->j, "shards", in->model);
    if (!w->options->no_tensors)
        json_begin_array(&w->j, "tensors");
}

static void end_json(work *w, const gufo_digests *all, const gufo_error *failure)
{
    if (!w->options->no_tensors)
        json_end_array(&w->j);
    if (failure == NULL)
        write_digests(&w->j, w->algorithms, all, true);
    else
        json_write_text(&w->j, "error", failure->message);
    json_end_document(&w->j);
}

static int hash_open_model(work *w, const input *in)
{
    const shared_options *shared = w->options->base.shared;
    gufo_digest_options options = {.algorithms = w->algorithms,
                                   .tensor = w->options->no_tensors ? NULL : on_tensor,
                                   .context = w};
    gufo_run run = progress_run(&w->bar, shared);
    gufo_digests all;
    gufo_error error;

    if (shared->json)
        begin_json(w, in);
    progress_start_beside(&w->bar, shared);
    gufo_status status = gufo_digest_run(in->model, &options, &run, &all, &error);

    progress_end(&w->bar);
    if (shared->json)
        end_json(w, &all, status == GUFO_OK ? NULL : &error);
    else if (status == GUFO_OK)
        hash_put_lines(stdout, w->algorithms, &all, w->path, NULL);
    /* It stops if the output has no reader. */
    return status == GUFO_OK || status == GUFO_E_STOPPED ? CODE_OK : hash_report(in, &error);
}

static int hash(void *context, const char *path)
{
    const hash_options *options = context;
    work w = {.options = options,
              .path = path,
              .algorithms = options->algorithms != 0 ? options->algorithms
                                                     : UINT32_C(1) << GUFO_DIGEST_XXH64};
    input in;
    int code = hash_check_algorithms(w.algorithms);

    if (code == CODE_OK)
        code = input_open_data(&in, path, &options->input, "hashed");
    if (code != CODE_OK)
        return code;
    code = hash_open_model(&w, &in);
    input_close(&in);
    return code;
}

const command_line command_hash = {
    .operands = {"FILE...", 1, 0, "no FILE is given"},
    .doc = "Hash the tensor data of models.\v"
           "A line for each tensor and one for the data of all tensors, in the form that "
           "llama-gguf-hash writes and gufo verify reads: a manifest.  Metadata and padding do not "
           "count.  The lines of a set have the path of its first shard.",
    .examples = {{"gufo hash --sha256 model.gguf >model.manifest", "Makes a manifest."},
                 {"gufo hash --no-tensors *.gguf", "One line for each model."}},
    COMMAND_OPTIONS(hash_table, hash_options),
    .each = hash,
};
