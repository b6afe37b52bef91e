/* gufo verify FILE MANIFEST: does a model still hold what a manifest says?
 *
 * With --key the manifest's signature is checked first; hashes that nobody vouches for are not looked
 * at. */
#include "cli/hash.h"

#include "cli/commands.h"
#include "cli/report.h"
#include "cli/text.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- command line --------------------------------------------------------------------------- */

typedef struct verify_options {
    command_input base;
    input_options input;
    const char *key;       /* NULL: signatures are not looked at */
    const char *signature; /* NULL: beside the manifest */
} verify_options;

enum { OPTION_SIGNATURE = OPTION_COMMAND };

static const struct argp_option verify_table[] = {
    {"key", 'k', "PUB", 0, "The manifest must be signed with the secret key to this public one", 1},
    {"signature", OPTION_SIGNATURE, "FILE", 0, "The signature (default: MANIFEST.minisig)", 1},
    {0},
};

static error_t parse_verify(int key, char *text, struct argp_state *state)
{
    verify_options *options = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = options->base.shared;
        state->child_inputs[1] = &options->input;
        return 0;
    case 'k':
        options->key = text;
        return 0;
    case OPTION_SIGNATURE:
        options->signature = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp verify_argp = {
    .options = verify_table,
    .parser = parse_verify,
    .args_doc = "FILE MANIFEST\n--key=PUB FILE [MANIFEST]",
    .doc =
        "Compare a model with a manifest of its hashes.\v"
        "The manifest is one of gufo hash or of llama-gguf-hash; - reads it from standard "
        "input.  With --key it may be left out: it is FILE.manifest then, or FILE itself if that "
        "is no model.  Exit status 1 says that something differs, is missing or new, or that "
        "the signature is not good.",
    .children = input_children,
};

/* ---- signatures ----------------------------------------------------------------------------- */

static const char *const verdict_names[] = {[GUFO_SIGNATURE_GOOD] = "good",
                                            [GUFO_SIGNATURE_OTHER_KEY] = "other key",
                                            [GUFO_SIGNATURE_BAD] = "bad",
                                            [GUFO_SIGNATURE_BAD_COMMENT] = "bad comment"};

typedef struct signed_text {
    bool checked;
    gufo_str text; /* of the signature */
    gufo_signature_result result;
} signed_text;

static int report_verdict(const char *path, const char *signature_path, const gufo_public_key *key,
                          const gufo_signature_result *result)
{
    char own[17], other[17];

    gufo_key_id_text(key->id, own);
    gufo_key_id_text(result->key_id, other);
    switch (result->verdict) {
    case GUFO_SIGNATURE_GOOD:
        return CODE_OK;
    case GUFO_SIGNATURE_OTHER_KEY:
        report_message(signature_path, "this signature was made with key %s, not with %s", other,
                       own);
        break;
    case GUFO_SIGNATURE_BAD_COMMENT:
        report_message(signature_path, "the trusted comment is not what was signed");
        break;
    default:
        report_message(path, "this is not what was signed in %s", signature_path);
        break;
    }
    return CODE_NO;
}

static int check_parts(const char *path, gufo_str message, const verify_options *options,
                       const char *signature_path, signed_text *s)
{
    gufo_str key_text;
    gufo_public_key key;
    gufo_error error;

    if (!hash_text_read(options->key, &key_text))
        return CODE_FAILED;
    gufo_status status = gufo_public_key_parse(key_text, &key, &error);

    hash_text_free(&key_text);
    if (status != GUFO_OK) {
        report_error(options->key, &error);
        return CODE_FAILED;
    }
    if (!hash_text_read(signature_path, &s->text))
        return CODE_FAILED;
    if (gufo_signature_check(&key, message, s->text, &s->result, &error) != GUFO_OK) {
        report_error(signature_path, &error);
        return CODE_FAILED;
    }
    s->checked = true;
    return report_verdict(path, signature_path, &key, &s->result);
}

static int check_signature(const char *path, gufo_str message, const verify_options *options,
                           signed_text *s)
{
    char *beside = NULL;
    int code = CODE_FAILED;

    if (!gufo_signature_available()) {
        report_message(NULL, "signatures are not available: this gufo was built without libsodium "
                             "(Debian package libsodium-dev)");
        return CODE_USAGE;
    }
    if (options->signature == NULL && input_is_stdin(path))
        return report_usage("verify", "a manifest from standard input needs --signature");
    if (options->signature == NULL)
        beside = hash_path_with(path, ".minisig");
    if (options->signature != NULL || beside != NULL)
        code = check_parts(path, message, options, beside != NULL ? beside : options->signature, s);
    free(beside);
    return code;
}

static void put_signature(const char *path, const signed_text *s)
{
    char id[17];

    gufo_key_id_text(s->result.key_id, id);
    text_put(stdout, gufo_str_of(path), TEXT_PLAIN);
    printf(": good signature of key %s: ", id);
    text_put(stdout, s->result.trusted_comment, TEXT_PLAIN);
    putc('\n', stdout);
}

static void write_signature(json_writer *j, const signed_text *s)
{
    char id[17];

    gufo_key_id_text(s->result.key_id, id);
    json_write_key(j, "signature");
    json_begin_object(j);
    json_write_key(j, "verdict");
    json_write_text(j, verdict_names[s->result.verdict]);
    json_write_key(j, "key");
    json_write_text(j, id);
    if (s->result.verdict == GUFO_SIGNATURE_GOOD) {
        json_write_key(j, "trusted_comment");
        json_write_str(j, s->result.trusted_comment);
    }
    json_end_object(j);
}

/* ---- results -------------------------------------------------------------------------------- */

static const char *const result_names[] = {[GUFO_MANIFEST_SAME] = "same",
                                           [GUFO_MANIFEST_DIFFERS] = "differs",
                                           [GUFO_MANIFEST_MISSING] = "missing",
                                           [GUFO_MANIFEST_NEW] = "new"};

typedef struct work {
    const verify_options *options;
    progress bar;
    json_writer j;
} work;

static void put_algorithms(uint32_t algorithms)
{
    const char *between = "  (";

    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++) {
        if ((algorithms >> i & 1) == 0)
            continue;
        printf("%s%s", between, gufo_digest_kind_of((gufo_digest_algorithm)i)->name);
        between = ", ";
    }
    puts(algorithms != 0 ? ")" : "");
}

static void write_algorithms(json_writer *j, uint32_t algorithms)
{
    json_write_key(j, "algorithms");
    json_begin_array(j);
    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++)
        if ((algorithms >> i & 1) != 0)
            json_write_text(j, gufo_digest_kind_of((gufo_digest_algorithm)i)->name);
    json_end_array(j);
}

static void put_result(const gufo_manifest_result *result)
{
    printf("%-7s  ", result_names[result->verdict]);
    if (result->whole)
        fputs("all data together", stdout);
    else
        text_put(stdout, result->tensor, TEXT_PLAIN);
    put_algorithms(result->differing);
}

static void write_result(json_writer *j, const gufo_manifest_result *result)
{
    json_begin_object(j);
    json_write_key(j, "tensor");
    if (result->whole)
        json_write_null(j);
    else
        json_write_str(j, result->tensor);
    json_write_key(j, "verdict");
    json_write_text(j, result_names[result->verdict]);
    if (result->differing != 0)
        write_algorithms(j, result->differing);
    json_end_object(j);
}

/* What is as it should be is told with -v only. */
static void on_result(void *context, const gufo_manifest_result *result)
{
    work *w = context;
    const shared_options *shared = w->options->base.shared;

    if (result->verdict == GUFO_MANIFEST_SAME && shared->verbose == 0)
        return;
    progress_end(&w->bar);
    if (shared->json)
        write_result(&w->j, result);
    else if (!shared->quiet)
        put_result(result);
}

static bool on_progress(void *context, uint64_t done, uint64_t total)
{
    progress_update(&((work *)context)->bar, done, total);
    return true;
}

static void put_count(const char *before, uint64_t count, const char *what)
{
    if (count > 0)
        printf("%s%llu %s", before, (unsigned long long)count, what);
}

static void put_summary(const char *path, const gufo_manifest_summary *s)
{
    text_put(stdout, gufo_str_of(path), TEXT_PLAIN);
    printf(": %llu %s as in the manifest", (unsigned long long)s->tensors[GUFO_MANIFEST_SAME],
           s->tensors[GUFO_MANIFEST_SAME] == 1 ? "tensor" : "tensors");
    put_count(", ", s->tensors[GUFO_MANIFEST_DIFFERS], "differ");
    put_count(", ", s->tensors[GUFO_MANIFEST_MISSING], "missing");
    put_count(", ", s->tensors[GUFO_MANIFEST_NEW], "new");
    if (s->has_whole)
        printf("; all data together %s", s->whole_differs != 0 ? "differs" : "is the same");
    put_algorithms(s->algorithms);
}

static void write_summary(json_writer *j, const gufo_manifest_summary *s)
{
    json_write_key(j, "file");
    json_write_str(j, s->file);
    write_algorithms(j, s->algorithms);
    json_write_key(j, "tensors");
    json_begin_object(j);
    for (unsigned i = 0; i < sizeof result_names / sizeof *result_names; i++) {
        json_write_key(j, result_names[i]);
        json_write_u64(j, s->tensors[i]);
    }
    json_end_object(j);
    json_write_key(j, "all_data");
    if (s->has_whole)
        json_write_text(j, s->whole_differs != 0 ? "differs" : "same");
    else
        json_write_null(j);
    json_write_key(j, "agrees");
    json_write_bool(j, gufo_manifest_agrees(s));
}

/* ---- the work ------------------------------------------------------------------------------- */

static int report_failure(const hash_model *model, const char *manifest_path, size_t failed,
                          const gufo_error *error)
{
    if (failed != SIZE_MAX)
        return hash_report(model, failed, error);
    report_error(manifest_path, error);
    return error->code == GUFO_E_NOT_FOUND ? CODE_NO : CODE_FAILED;
}

static void begin_json(work *w, const char *path, const char *manifest_path,
                       const hash_model *model, const signed_text *s)
{
    json_begin_object(&w->j);
    json_write_key(&w->j, "path");
    json_write_text(&w->j, path);
    if (model != NULL) {
        hash_model_write_shards(&w->j, model);
        json_write_key(&w->j, "manifest");
        json_write_text(&w->j, manifest_path);
    }
    if (s->checked)
        write_signature(&w->j, s);
}

static int compare(work *w, const hash_model *model, const gufo_manifest *manifest,
                   const char *manifest_path, const signed_text *s)
{
    const shared_options *shared = w->options->base.shared;
    const char *path = model->in.path;
    gufo_digest_input files = hash_model_input(model);
    gufo_manifest_check check = {.manifest = manifest,
                                 .path = gufo_str_of(path),
                                 .threads = shared->threads,
                                 .result = on_result,
                                 .progress = on_progress,
                                 .context = w};
    gufo_manifest_summary summary;
    gufo_error error;
    size_t failed;

    if (shared->json) {
        begin_json(w, path, manifest_path, model, s);
        json_write_key(&w->j, "results");
        json_begin_array(&w->j);
    } else if (s->checked && !shared->quiet) {
        put_signature(manifest_path, s);
    }
    progress_start(&w->bar, shared->quiet || (shared->json && isatty(STDOUT_FILENO)));
    gufo_status status = gufo_manifest_verify(&files, &check, &summary, &failed, &error);

    progress_end(&w->bar);
    if (shared->json) {
        json_end_array(&w->j);
        if (status == GUFO_OK)
            write_summary(&w->j, &summary);
        json_end_object(&w->j);
        json_writer_line(&w->j);
    } else if (status == GUFO_OK && !shared->quiet) {
        put_summary(path, &summary);
    }
    if (status != GUFO_OK)
        return report_failure(model, manifest_path, failed, &error);
    return gufo_manifest_agrees(&summary) ? CODE_OK : CODE_NO;
}

static uint32_t algorithms_of(const gufo_manifest *manifest)
{
    gufo_manifest_line line;
    uint32_t algorithms = 0;

    for (uint64_t i = 0; gufo_manifest_at(manifest, i, &line); i++)
        algorithms |= UINT32_C(1) << line.algorithm;
    return algorithms;
}

static int verify_text(work *w, const char *path, const char *manifest_path, gufo_str text,
                       const signed_text *s)
{
    gufo_error error;
    gufo_manifest *manifest = gufo_manifest_parse(text, NULL, &error);
    hash_model model;
    int code;

    if (manifest == NULL) {
        report_error(manifest_path, &error);
        return CODE_FAILED;
    }
    code = hash_check_algorithms(algorithms_of(manifest));
    if (code == CODE_OK)
        code = hash_model_open(&model, path, w->options->input.single);
    if (code == CODE_OK) {
        code = compare(w, &model, manifest, manifest_path, s);
        hash_model_close(&model);
    }
    gufo_manifest_free(manifest);
    return code;
}

/* Nothing but the signature of one file. */
static int finish_signature(work *w, const char *path, const signed_text *s)
{
    if (w->options->base.shared->json) {
        begin_json(w, path, NULL, NULL, s);
        json_end_object(&w->j);
        json_writer_line(&w->j);
    } else if (s->result.verdict == GUFO_SIGNATURE_GOOD && !w->options->base.shared->quiet) {
        put_signature(path, s);
    }
    return s->result.verdict == GUFO_SIGNATURE_GOOD ? CODE_OK : CODE_NO;
}

/* `path` is NULL if there is just a signed file. */
static int verify(const char *path, const char *manifest_path, const verify_options *options)
{
    work w = {.options = options, .j = json_writer_start(stdout)};
    signed_text s = {0};
    gufo_str text;
    int code = CODE_OK;

    if (!hash_text_read(manifest_path, &text))
        return CODE_FAILED;
    if (options->key != NULL)
        code = check_signature(manifest_path, text, options, &s);
    if (s.checked && (path == NULL || code == CODE_NO))
        code = finish_signature(&w, manifest_path, &s);
    else if (code == CODE_OK)
        code = verify_text(&w, path, manifest_path, text, &s);
    hash_text_free(&s.text);
    hash_text_free(&text);
    return code;
}

static int verify_beside(const char *path, const verify_options *options)
{
    char *manifest_path;
    int code;

    if (!hash_is_gguf(path))
        return verify(NULL, path, options);
    manifest_path = hash_path_with(path, ".manifest");
    if (manifest_path == NULL)
        return CODE_FAILED;
    code = verify(path, manifest_path, options);
    free(manifest_path);
    return code;
}

int command_verify(int argc, char **argv, shared_options *shared)
{
    verify_options options = {.base = {shared}};
    int code = options_parse(&verify_argp, 0, argc, argv, &options.base);

    if (code != CODE_OK || shared->done)
        return code;
    if (options.signature != NULL && options.key == NULL)
        return report_usage("verify", "--signature needs --key");
    if (shared->arg_count == 1 && options.key != NULL)
        return verify_beside(shared->args[0], &options);
    if (shared->arg_count != 2)
        return report_usage("verify", shared->arg_count == 0   ? "no FILE is given"
                                      : shared->arg_count == 1 ? "no MANIFEST is given"
                                                               : "one FILE and one MANIFEST are "
                                                                 "compared");
    return verify(shared->args[0], shared->args[1], &options);
}
