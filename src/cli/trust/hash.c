/* gufo hash FILE...: a manifest of a model. */
#include "cli/commands.h"
#include "cli/core/records/model_json.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/trust/hash.h"

/* Hashes a model, and writes lines or JSON while hashes come in. */

int hash_report(const input *in, const gufo_error *error)
{
    report_error(in->path, error);
    return error->code == GUFO_E_TYPE ? CODE_USAGE : CODE_FAILED;
}

int hash_check_algorithms(uint32_t algorithms)
{
    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++) {
        const gufo_digest_kind *kind = gufo_digest_kind_of((gufo_digest_algorithm)i);

        if ((algorithms >> i & 1) != 0 && !gufo_digest_available((gufo_digest_algorithm)i))
            return report_as(
                CODE_USAGE, NULL,
                "%s is not available: this gufo was built without %s (Debian package %s)",
                kind->name, kind->library, kind->package);
    }
    return CODE_OK;
}

int hash_check_signatures(void)
{
    if (gufo_signature_available())
        return CODE_OK;
    return report_as(CODE_USAGE, NULL,
                     "signatures are not available: this gufo was built without libsodium (Debian "
                     "package libsodium-dev)");
}

/* ---- lines of a manifest --------------------------------------------------------------------- */

/* Names go out as they are, so that other tools find their own lines.  A name that would break the
 * line, or act on a terminal, or is not text, is escaped, and a backslash before the line marks
 * it. */
static void put_name(FILE *out, gufo_str name, bool escaped)
{
    if (escaped)
        text_put(out, name, TEXT_QUOTED);
    else
        fwrite(name.data, 1, name.len, out);
}

/* Of a tensor, or of all data if `tensor` is NULL. */
static void put_lines(FILE *out, uint32_t algorithms, const gufo_digests *digests, const char *path,
                      const gufo_str *tensor)
{
    gufo_str file = gufo_str_of(path);
    bool escaped = !text_is_clean(file) || (tensor != NULL && !text_is_clean(*tensor));
    char text[GUFO_DIGEST_TEXT];

    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++) {
        if ((algorithms >> i & 1) == 0 || (tensor != NULL && gufo_digest_kind_of(i)->file_only))
            continue;
        (void)gufo_digest_text(i, digests->bytes[i], text);
        fprintf(out, "%s%-8s  %s  ", escaped ? "\\" : "", gufo_digest_kind_of(i)->name, text);
        put_name(out, file, escaped);
        if (tensor != NULL) {
            putc(':', out);
            put_name(out, *tensor, escaped);
        }
        putc('\n', out);
    }
}

/* ---- hashing -------------------------------------------------------------------------------- */

typedef struct work {
    const hash_request *request;
    const char *path;
    progress bar;
    json_writer j;
} work;

static bool writes_json(const hash_request *request)
{
    return request->shared->json && request->out == stdout;
}

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
    const hash_request *request = w->request;

    (void)index;
    if (request->out == stdout)
        progress_end(&w->bar);
    if (writes_json(request)) {
        json_begin_object(&w->j, NULL);
        json_write_str(&w->j, "name", tensor->name);
        write_digests(&w->j, request->algorithms, digests, false);
        json_end_object(&w->j);
    } else
        put_lines(request->out, request->algorithms, digests, w->path, &tensor->name);
    return request->out != stdout || !stdout_broken();
}

static void begin_json(work *w, const gufo_model *model)
{
    w->j = json_begin_document(w->path);
    model_json_shards(&w->j, "shards", model);
    if (!w->request->no_tensors)
        json_begin_array(&w->j, "tensors");
}

static void end_json(work *w, const gufo_digests *all, const gufo_error *failure)
{
    if (!w->request->no_tensors)
        json_end_array(&w->j);
    if (failure == NULL)
        write_digests(&w->j, w->request->algorithms, all, true);
    else
        json_write_text(&w->j, "error", failure->message);
    json_end_document(&w->j);
}

int hash_open(input *in, const char *path, const input_options *options, uint32_t algorithms)
{
    int code = hash_check_algorithms(algorithms);

    return code == CODE_OK ? input_open_data(in, path, options, "hashed") : code;
}

int hash_model(const input *in, const hash_request *request)
{
    work w = {.request = request, .path = in->path};
    gufo_digest_options options = {.algorithms = request->algorithms,
                                   .tensor = request->no_tensors ? NULL : on_tensor,
                                   .context = &w};
    gufo_run run = progress_run(&w.bar, request->shared);
    bool json = writes_json(request);
    gufo_status status;
    gufo_digests all;
    gufo_error error;

    if (json)
        begin_json(&w, in->model);
    if (request->out == stdout)
        progress_start_beside(&w.bar, request->shared);
    else
        progress_start(&w.bar, request->shared->quiet);
    status = gufo_model_digest(in->model, &options, &run, &all, &error);
    progress_end(&w.bar);
    if (json)
        end_json(&w, &all, status == GUFO_OK ? NULL : &error);
    else if (status == GUFO_OK)
        put_lines(request->out, request->algorithms, &all, in->path, NULL);
    /* It stops if standard output has no reader. */
    if (status == GUFO_OK || (status == GUFO_E_STOPPED && request->out == stdout))
        return CODE_OK;
    return hash_report(in, &error);
}

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
