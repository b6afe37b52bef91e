/* gufo verify FILE MANIFEST: compares a model with a manifest; without FILE, all files that the
 * manifest names.
 *
 * With --key it checks the signature of the manifest first, and ignores unsigned hashes. */
#include "cli/trust/verify.h"

#include "cli/commands.h"
#include "cli/core/records/model_json.h"
#include "cli/core/values/str.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- command line --------------------------------------------------------------------------- */

static const command_option verify_table[] = {
    {"key", "PUB", "Require a signature by the secret key of this public key",
     OPTION_TEXT(verify_options, key), .letter = 'k'},
    {"signature", "FILE", "The signature (default: MANIFEST.minisig)",
     OPTION_TEXT(verify_options, signature)},
    OPTION_SINGLE(verify_options),
    {0},
};

/* ---- the work ------------------------------------------------------------------------------- */

typedef struct verify_work {
    const verify_options *options;
    const char *manifest_path; /* or that of any signed file */
    bool has_hash;             /* which is in place of a manifest */
    signed_text signature;
    progress bar;
    json_writer j;
} verify_work;

static bool is_good(const signed_text *s)
{
    return s->checked && s->result.verdict == GUFO_SIGNATURE_GOOD;
}

static void report(verify_work *w, const gufo_manifest_result *result, const char *file)
{
    const shared_options *shared = w->options->base.shared;

    progress_end(&w->bar);
    if (shared->json)
        verify_write_result(&w->j, result, file);
    else if (!shared->quiet)
        verify_put_result(result, file, w->has_hash ? "hash" : "manifest");
}

/* Agreement is reported only with -v. */
static void on_result(void *context, const gufo_manifest_result *result)
{
    verify_work *w = context;

    if (result->verdict != GUFO_MANIFEST_SAME || w->options->base.shared->verbose)
        report(w, result, NULL);
}

/* Begins the report on the file at `path`, whose model may be NULL, with a list of results; without
 * one if only a signature is checked. */
static void begin(verify_work *w, const char *path, const gufo_model *model, const char *list)
{
    const shared_options *shared = w->options->base.shared;

    if (!shared->json && !shared->quiet && is_good(&w->signature))
        verify_put_signature(w->manifest_path, &w->signature);
    if (!shared->json)
        return;
    w->j = json_begin_document(path);
    if (model != NULL)
        model_json_shards(&w->j, "shards", model);
    if (list != NULL)
        json_write_text(&w->j, "manifest", w->manifest_path);
    if (w->signature.checked)
        verify_write_signature(&w->j, &w->signature);
    if (list != NULL)
        json_begin_array(&w->j, list);
}

/* NULL: the comparison has failed. */
static void end(verify_work *w, const char *path, const gufo_manifest_summary *summary,
                const gufo_error *error)
{
    const shared_options *shared = w->options->base.shared;

    if (!shared->json && !shared->quiet && summary != NULL)
        verify_put_summary(path, summary);
    if (!shared->json)
        return;
    json_end_array(&w->j);
    if (summary != NULL)
        verify_write_summary(&w->j, summary);
    else
        json_write_text(&w->j, "error", error->message);
    json_end_document(&w->j);
}

static int compare(verify_work *w, const input *in, const gufo_manifest *manifest)
{
    gufo_manifest_check check = {
        .manifest = manifest, .path = in->path, .result = on_result, .context = w};
    gufo_run run = progress_run(&w->bar, w->options->base.shared);
    gufo_manifest_summary summary;
    gufo_status status;
    gufo_error error;

    begin(w, in->path, in->model, "results");
    progress_start_beside(&w->bar, w->options->base.shared);
    status = gufo_model_verify(in->model, &check, &run, &summary, &error);
    progress_end(&w->bar);
    end(w, in->path, status == GUFO_OK ? &summary : NULL, &error);
    if (status == GUFO_OK)
        return gufo_manifest_agrees(&summary) ? CODE_OK : CODE_NO;
    if (error.role != GUFO_FILE_NONE)
        return hash_report(in, &error);
    report_error(w->manifest_path, &error);
    return error.code == GUFO_E_NOT_FOUND ? CODE_NO : CODE_FAILED;
}

static uint32_t algorithms_of(const gufo_manifest *manifest)
{
    gufo_manifest_line line;
    uint32_t algorithms = 0;

    for (uint64_t i = 0; gufo_manifest_at(manifest, i, &line); i++)
        algorithms |= UINT32_C(1) << line.algorithm;
    for (uint64_t i = 0; gufo_manifest_file_at(manifest, i, &line); i++)
        algorithms |= UINT32_C(1) << line.algorithm;
    return algorithms;
}

static int verify_model(verify_work *w, const char *path, const gufo_manifest *manifest)
{
    input in;
    int code = input_open_data(&in, path, &w->options->input, "hashed");

    if (code == CODE_OK) {
        code = compare(w, &in, manifest);
        input_close(&in);
    }
    return code;
}

/* ---- whole files ---------------------------------------------------------------------------- */

static int verify_file(verify_work *w, const char *path, const gufo_manifest *manifest)
{
    const shared_options *shared = w->options->base.shared;
    gufo_run run = progress_run(&w->bar, shared);
    gufo_manifest_result result;
    gufo_error error;
    gufo_status status;

    progress_start_beside(&w->bar, shared);
    status = gufo_manifest_verify_file(manifest, path, &run, &result, &error);
    if (status == GUFO_OK)
        report(w, &result, path);
    progress_end(&w->bar);
    if (status == GUFO_OK)
        return result.verdict == GUFO_MANIFEST_SAME ? CODE_OK : CODE_NO;
    report_error(error.role != GUFO_FILE_NONE ? path : w->manifest_path, &error);
    return status == GUFO_E_NOT_FOUND ? CODE_NO : CODE_FAILED;
}

static void end_files(verify_work *w, int code)
{
    if (!w->options->base.shared->json)
        return;
    json_end_array(&w->j);
    json_write_bool(&w->j, "agrees", code == CODE_OK);
    json_end_document(&w->j);
}

/* All bytes of the file, or of every shard: no model needs to open. */
static int verify_files(verify_work *w, const char *path, const gufo_manifest *manifest)
{
    uint32_t shards = input_set_size(path, w->options->input.single);
    int code = CODE_OK;

    if (path_is_standard(path))
        return report_usage("the data of a pipe cannot be hashed; give a file");
    begin(w, path, NULL, "files");
    for (uint32_t i = 1; i <= (shards > 0 ? shards : 1); i++) {
        char *shard = shards > 0 ? input_sibling_path(path, i) : path_with(path, "");

        code =
            shard != NULL ? worst_code(code, verify_file(w, shard, manifest)) : report_memory(path);
        free(shard);
    }
    end_files(w, code);
    return code;
}

/* ---- all files of a manifest ---------------------------------------------------------------- */

/* One file, relative to the working folder, as sha256sum does. */
static int verify_one(verify_work *w, const verify_name *name, const gufo_manifest *manifest)
{
    char *path;
    int code;

    if (name->name.len == 0 || gufo_str_equal(name->name, gufo_str_of("-")))
        return report_as(CODE_USAGE, w->manifest_path,
                         "hashes without a name: give FILE before the manifest");
    if (memchr(name->name.data, '\0', name->name.len) != NULL)
        return report_as(CODE_FAILED, w->manifest_path, "the name of a file has a zero byte");
    path = strndup(name->name.data, name->name.len);
    if (path == NULL)
        return report_memory(NULL);
    code = name->has_data ? verify_model(w, path, manifest) : verify_file(w, path, manifest);
    free(path);
    return code;
}

/* Files come in one report, models in one each. */
static int verify_named_files(verify_work *w, const gufo_manifest *manifest)
{
    bool files = gufo_manifest_file_count(manifest) > 0;
    verify_names names;
    int code = verify_names_of(manifest, &names);

    if (files)
        begin(w, w->manifest_path, NULL, "files");
    for (size_t i = 0; i < names.count; i++) {
        if (files && names.list[i].has_data) {
            end_files(w, code);
            files = false;
        }
        code = worst_code(code, verify_one(w, &names.list[i], manifest));
    }
    if (files)
        end_files(w, code);
    free(names.list);
    return code;
}

static int verify_text(verify_work *w, const char *path, gufo_str text)
{
    gufo_error error;
    gufo_manifest *manifest = gufo_manifest_parse(text, NULL, &error);
    int code;

    if (manifest == NULL)
        return report_error(w->manifest_path, &error);
    code = hash_check_algorithms(algorithms_of(manifest));
    if (code == CODE_OK && path == NULL)
        code = verify_named_files(w, manifest);
    else if (code == CODE_OK && gufo_manifest_file_count(manifest) > 0)
        code = verify_files(w, path, manifest);
    if (code <= CODE_NO && path != NULL && gufo_manifest_count(manifest) > 0)
        code = worst_code(code, verify_model(w, path, manifest));
    gufo_manifest_free(manifest);
    return code;
}

/* Reports the signature of one file, and nothing else. */
static int finish_signature(verify_work *w)
{
    begin(w, w->manifest_path, NULL, NULL);
    if (w->options->base.shared->json)
        json_end_document(&w->j);
    return is_good(&w->signature) ? CODE_OK : CODE_NO;
}

/* What manifests are read with: the user names them, or they are beside a model. */
typedef int read_manifest(const char *path, size_t most, const char *too_long, gufo_str *bytes);

/* `path` is NULL if there is just a signed file, or a manifest of all its files. */
static int verify_with(read_manifest *read, const char *path, const char *manifest_path,
                       const verify_options *options)
{
    verify_work w = {.options = options, .manifest_path = manifest_path};
    gufo_str text;
    int code = CODE_OK;

    if (read(manifest_path, HASH_MOST_MANIFEST, HASH_TOO_LONG, &text) != CODE_OK)
        return CODE_FAILED;
    if (options->key != NULL)
        code = verify_signature(manifest_path, text, options, &w.signature);
    if (w.signature.checked && (path == NULL || code == CODE_NO))
        code = finish_signature(&w);
    else if (code == CODE_OK)
        code = verify_text(&w, path, text);
    small_file_free(&w.signature.text);
    small_file_free(&text);
    return code;
}

static int verify(const char *path, const char *manifest_path, const verify_options *options)
{
    return verify_with(small_file_read, path, manifest_path, options);
}

static int verify_beside(const char *path, const verify_options *options)
{
    bool is_model = input_is_gguf(path);
    char *manifest_path = path_with(path, is_model ? ".manifest" : "");
    int code = CODE_FAILED;

    if (manifest_path != NULL && is_model)
        code = verify_with(small_file_read_beside, path, manifest_path, options);
    else if (manifest_path != NULL)
        code = verify(NULL, manifest_path, options);
    free(manifest_path);
    return code;
}

/* ---- a hash in place of a manifest ----------------------------------------------------------- */

enum { LEAST_DIGITS = 16 }; /* of the shortest hash */

/* The digits of "sha256:HEX", as registries of containers write it, or of HEX alone. */
static gufo_str hash_digits(const char *text)
{
    const char *colon = strchr(text, ':');

    return gufo_str_of(colon != NULL ? colon + 1 : text);
}

/* Whether the text is meant as a hash: enough hex digits, and no file. */
static bool is_hash(const char *text)
{
    gufo_str digits = hash_digits(text);

    return digits.len >= LEAST_DIGITS && is_made_of(digits, DIGITS "abcdefABCDEF") &&
           !path_exists(text);
}

/* Whether there is such a hash of whole files: as many digits, and the name, if the text has one. */
static bool is_known_hash(const char *text)
{
    gufo_str digits = hash_digits(text);
    const gufo_digest_kind *kind;
    size_t name = digits.data > text ? (size_t)(digits.data - text) - 1 : 0; /* its length */

    for (int i = 0; (kind = gufo_digest_kind_of((gufo_digest_algorithm)i)) != NULL; i++)
        if (!kind->file_only && digits.len == 2 * kind->size &&
            (name == 0 || (strlen(kind->name) == name && strncasecmp(text, kind->name, name) == 0)))
            return true;
    return false;
}

static int report_unknown_hash(const char *text)
{
    const gufo_digest_kind *kind;
    char kinds[128] = "";
    size_t len = 0;

    for (int i = 0; (kind = gufo_digest_kind_of((gufo_digest_algorithm)i)) != NULL; i++)
        if (!kind->file_only && len < sizeof kinds)
            len += (size_t)snprintf(kinds + len, sizeof kinds - len, "%s%s with %zu",
                                    len > 0 ? ", " : "", kind->name, 2 * kind->size);
    return report_usage("'%s' is not a hash that gufo makes, nor a file; hashes are %s hex digits",
                        text, kinds);
}

/* It is that of the file alone, as sha256sum says it of standard input: without a name. */
static int verify_hash(const char *path, const char *hash, const verify_options *options)
{
    verify_options alone = *options;
    verify_work w = {.options = &alone, .manifest_path = hash, .has_hash = true};
    char line[GUFO_DIGEST_TEXT + sizeof "  -\n"];

    if (options->key != NULL)
        return report_usage("--key needs a signed MANIFEST, not a hash");
    if (!is_known_hash(hash))
        return report_unknown_hash(hash);
    alone.input.single = true;
    snprintf(line, sizeof line, "%s  -\n", hash_digits(hash).data);
    return verify_text(&w, path, gufo_str_of(line));
}

/* ---- the command ------------------------------------------------------------------------------ */

/* FILE alone: its manifest is beside it. */
static int verify_alone(const char *path, const verify_options *options)
{
    char *manifest_path = path_with(path, ".manifest");
    bool exists = manifest_path != NULL && path_exists(manifest_path);
    int code = CODE_FAILED;

    if (exists)
        code = verify_with(small_file_read_beside, path, manifest_path, options);
    else if (manifest_path != NULL)
        code = report_usage("no MANIFEST is given, and %s does not exist", manifest_path);
    free(manifest_path);
    return code;
}

static int verify_named(void *context)
{
    const verify_options *options = context;
    const shared_options *shared = options->base.shared;

    if (options->signature != NULL && options->key == NULL)
        return report_usage("--signature needs --key");
    if (shared->arg_count == 1 && options->key != NULL)
        return verify_beside(shared->args[0], options);
    if (shared->arg_count == 1 && !input_is_gguf(shared->args[0]))
        return verify(NULL, shared->args[0], options);
    if (shared->arg_count == 0)
        return report_usage("no FILE is given");
    if (shared->arg_count == 1)
        return verify_alone(shared->args[0], options);
    if (shared->arg_count > 2)
        return report_usage("give one FILE and one MANIFEST");
    return is_hash(shared->args[1]) ? verify_hash(shared->args[0], shared->args[1], options)
                                    : verify(shared->args[0], shared->args[1], options);
}

const command_line command_verify = {
    .operands = {.names = "FILE [MANIFEST|HASH]\nMANIFEST\n--key=PUB FILE [MANIFEST]"},
    .doc = "Compare a model with a manifest of its hashes.\v"
           "The manifest is the output of gufo hash or llama-gguf-hash, or of sha256sum, sha1sum, "
           "b2sum or xxhsum, which hash all bytes of a file; - reads it from standard input.  A "
           "manifest alone covers all files that it names, relative to the working folder.  "
           "The default MANIFEST of a model is FILE.manifest; with --key, a FILE that is "
           "not a model is the signed file itself.  HASH is the hash of all bytes of FILE, such "
           "as its SHA-256 in hex, with or without sha256: in front.  Exit status 1 means that "
           "something differs, is missing or new, or that the signature is not good.",
    .examples = {{"gufo verify model.gguf model.manifest", "Names each tensor that differs."},
                 {"gufo verify SHA256SUMS", "Checks all files that sha256sum listed."},
                 {"gufo verify --key=publisher.pub model.gguf",
                  "Checks the signature of model.gguf.manifest, then the model."}},
    COMMAND_OPTIONS(verify_table, verify_options),
    .run = verify_named,
};
