/* gufo hash FILE...: a manifest of a model. */
#include "cli/trust/hash.h"

#include "cli/commands.h"

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
    {"all", NULL, "All algorithms", OPTION_BITS(hash_options, algorithms, ALL_ALGORITHMS)},
    {"no-tensors", NULL, "Hash all tensors together only, not each one",
     OPTION_FLAG(hash_options, no_tensors), .group = 2},
    OPTION_SINGLE(hash_options),
    {0},
};

/* ---- the work ------------------------------------------------------------------------------- */

static int hash(void *context, const char *path)
{
    const hash_options *options = context;
    const uint32_t given = options->algorithms, by_default = UINT32_C(1) << GUFO_DIGEST_XXH64;
    const hash_request request = {.shared = options->base.shared,
                                  .algorithms = given != 0 ? given : by_default,
                                  .no_tensors = options->no_tensors,
                                  .out = stdout};
    input in;
    int code = hash_open(&in, path, &options->input, request.algorithms);

    if (code != CODE_OK)
        return code;
    code = hash_model(&in, &request);
    input_close(&in);
    return code;
}

const command_line command_hash = {
    .operands = {"FILE...", 1, 0, "no FILE is given"},
    .doc = "Hash the tensor data of models.\v"
           "The output is a manifest: a line for each tensor and one for the data of all tensors, "
           "in the form that llama-gguf-hash writes and gufo verify reads.  Metadata and padding "
           "do not count.  The lines of a set have the path of its first shard.",
    .examples = {{"gufo hash --sha256 model.gguf >model.manifest", "Makes a manifest."},
                 {"gufo hash --no-tensors *.gguf", "One line for each model."}},
    COMMAND_OPTIONS(hash_table, hash_options),
    .each = hash,
};
