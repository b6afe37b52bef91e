/* gufo sign FILE|MANIFEST: a signature as minisign makes it.
 *
 * Of a model not the file is signed but its manifest, which is written beside it: it can be checked
 * before gigabytes are read, and says which tensor is wrong. */
#include "cli/hash.h"

#include "cli/commands.h"
#include "cli/report.h"
#include "cli/save.h"
#include "cli/stdout.h"
#include "cli/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* ---- command line --------------------------------------------------------------------------- */

typedef struct sign_options {
    command_input base;
    input_options input;
    const char *key;
    const char *password_file;
    const char *comment;
    const char *output;
    bool generate;
    bool no_password;
} sign_options;

enum {
    OPTION_GENERATE = OPTION_COMMAND,
    OPTION_PASSWORD_FILE,
    OPTION_NO_PASSWORD,
    OPTION_COMMENT,
};

static const struct argp_option sign_table[] = {
    {"key", 'k', "SECRET", 0, "The secret key to sign with", 1},
    {"password-file", OPTION_PASSWORD_FILE, "FILE", 0,
     "The password of the key is the first line of FILE (default: ask)", 1},
    {"comment", OPTION_COMMENT, "TEXT", 0,
     "A trusted comment (default: the time and the file's name)", 1},
    {"output", 'o', "OUT", 0, "Where the signature goes (default: beside, with .minisig)", 1},
    {"generate", OPTION_GENERATE, NULL, 0, "Make a pair of keys, NAME.key and NAME.pub", 2},
    {"no-password", OPTION_NO_PASSWORD, NULL, 0, "The new secret key is not encrypted", 2},
    {0},
};

static error_t parse_sign(int key, char *text, struct argp_state *state)
{
    sign_options *options = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = options->base.shared;
        state->child_inputs[1] = &options->input;
        return 0;
    case 'k':
        options->key = text;
        return 0;
    case 'o':
        options->output = text;
        return 0;
    case OPTION_PASSWORD_FILE:
        options->password_file = text;
        return 0;
    case OPTION_COMMENT:
        options->comment = text;
        return 0;
    case OPTION_GENERATE:
        options->generate = true;
        return 0;
    case OPTION_NO_PASSWORD:
        options->no_password = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp sign_argp = {
    .options = sign_table,
    .parser = parse_sign,
    .args_doc = "--key=SECRET FILE|MANIFEST...\n--generate NAME",
    .doc = "Sign a manifest, so that gufo verify --key and minisign -V accept it.\v"
           "For a model FILE.manifest is made first, with SHA-256 hashes.  Keys and signatures are "
           "those of minisign.",
    .children = input_children,
};

/* ---- keys ----------------------------------------------------------------------------------- */

static int fail(const char *path, const gufo_error *error)
{
    report_error(path, error);
    return CODE_FAILED;
}

static int save_text(const char *path, const char *text, bool force)
{
    return save_bytes(path, gufo_str_of(text), force);
}

/* Nobody else may read the secret key. */
static int save_secret(const char *path, const char *text, bool force)
{
    mode_t before = umask(077);

    /* A file that is replaced hands on its rights. */
    if (force)
        (void)chmod(path, S_IRUSR | S_IWUSR);
    int code = save_text(path, text, force);

    (void)umask(before);
    return code;
}

static void tell_pair(const shared_options *shared, const char *secret_path,
                      const char *public_path, const gufo_public_key *key)
{
    json_writer j = json_writer_start(stdout);
    char id[17];

    gufo_key_id_text(key->id, id);
    if (shared->json) {
        json_begin_object(&j);
        json_write_key(&j, "key");
        json_write_text(&j, id);
        json_write_key(&j, "secret");
        json_write_text(&j, secret_path);
        json_write_key(&j, "public");
        json_write_text(&j, public_path);
        json_end_object(&j);
        json_writer_line(&j);
    } else if (!shared->quiet) {
        printf("key %s: ", id);
        text_put(stdout, gufo_str_of(secret_path), TEXT_PLAIN);
        fputs(" (keep it secret), ", stdout);
        text_put(stdout, gufo_str_of(public_path), TEXT_PLAIN);
        putc('\n', stdout);
    }
}

/* The text of both keys. */
typedef struct pair {
    gufo_public_key public_key;
    char public_text[GUFO_KEY_TEXT], secret_text[GUFO_KEY_TEXT];
} pair;

static gufo_status make_pair(pair *p, gufo_str password, gufo_error *error)
{
    gufo_secret_key secret;
    gufo_status status = gufo_key_generate(&p->public_key, &secret, error);

    if (status == GUFO_OK)
        status = gufo_public_key_text(&p->public_key, p->public_text, error);
    if (status == GUFO_OK)
        status = gufo_secret_key_text(&secret, password, NULL, p->secret_text, error);
    gufo_secret_key_wipe(&secret);
    return status;
}

static int save_pair(const char *name, const pair *p, const shared_options *shared)
{
    char *secret_path = hash_path_with(name, ".key"), *public_path = hash_path_with(name, ".pub");
    int code = CODE_FAILED;

    if (secret_path != NULL && public_path != NULL)
        code = save_secret(secret_path, p->secret_text, shared->force);
    if (code == CODE_OK)
        code = save_text(public_path, p->public_text, shared->force);
    if (code == CODE_OK)
        tell_pair(shared, secret_path, public_path, &p->public_key);
    free(secret_path);
    free(public_path);
    return code;
}

static int generate(const char *name, const sign_options *options)
{
    gufo_str password = {0};
    gufo_error error;
    pair p;
    int code;

    if (!options->no_password && !sign_password(options->password_file, true, &password))
        return CODE_FAILED;
    code = make_pair(&p, password, &error) == GUFO_OK ? save_pair(name, &p, options->base.shared)
                                                      : fail(name, &error);
    memset(p.secret_text, 0, sizeof p.secret_text);
    hash_text_free(&password);
    return code;
}

static int parse_key(gufo_str text, const sign_options *options, gufo_secret_key *key)
{
    gufo_str password = {0};
    bool encrypted;
    gufo_error error;

    if (gufo_secret_key_encrypted(text, &encrypted, &error) != GUFO_OK)
        return fail(options->key, &error);
    if (encrypted && !sign_password(options->password_file, false, &password))
        return CODE_FAILED;
    gufo_status status = gufo_secret_key_parse(text, password, key, &error);

    hash_text_free(&password);
    return status == GUFO_OK ? CODE_OK : fail(options->key, &error);
}

static int read_key(const sign_options *options, gufo_secret_key *key)
{
    gufo_str text;
    int code;

    if (!hash_text_read(options->key, &text))
        return CODE_FAILED;
    code = parse_key(text, options, key);
    hash_text_free(&text);
    return code;
}

/* ---- manifests ------------------------------------------------------------------------------ */

typedef struct making {
    FILE *out;
    const char *path;
    progress bar;
} making;

static const uint32_t signed_algorithms = UINT32_C(1) << GUFO_DIGEST_SHA256;

static bool on_tensor(void *context, uint64_t index, const gufo_tensor *tensor,
                      const gufo_digests *digests)
{
    making *m = context;

    (void)index;
    hash_put_lines(m->out, signed_algorithms, digests, m->path, &tensor->name);
    return true;
}

static bool on_progress(void *context, uint64_t done, uint64_t total)
{
    progress_update(&((making *)context)->bar, done, total);
    return true;
}

static int put_manifest(making *m, const hash_model *model, const shared_options *shared)
{
    gufo_digest_input files = hash_model_input(model);
    gufo_digest_options options = {.algorithms = signed_algorithms,
                                   .threads = shared->threads,
                                   .tensor = on_tensor,
                                   .progress = on_progress,
                                   .context = m};
    gufo_digests all;
    gufo_error error;
    size_t failed;

    progress_start(&m->bar, shared->quiet);
    gufo_status status = gufo_digest_run(&files, &options, &all, &failed, &error);

    progress_end(&m->bar);
    if (status != GUFO_OK)
        return hash_report(model, failed, &error);
    hash_put_lines(m->out, signed_algorithms, &all, m->path, NULL);
    return CODE_OK;
}

/* The manifest of a model, to be freed with hash_text_free. */
static int make_manifest(const char *path, const sign_options *options, gufo_str *text)
{
    char *data = NULL;
    making m = {.path = path};
    hash_model model;
    int code = hash_check_algorithms(signed_algorithms);

    if (code == CODE_OK)
        code = hash_model_open(&model, path, options->input.single);
    if (code != CODE_OK)
        return code;
    m.out = open_memstream(&data, &text->len);
    if (m.out != NULL)
        code = put_manifest(&m, &model, options->base.shared);
    hash_model_close(&model);
    if (m.out == NULL || ferror(m.out) || fclose(m.out) != 0) {
        report_message(path, "out of memory");
        code = CODE_FAILED;
    }
    text->data = data;
    return code;
}

/* ---- signing -------------------------------------------------------------------------------- */

/* As minisign's: the time, and the last component of the path. */
static void default_comment(const char *path, char *comment, size_t size)
{
    const char *slash = strrchr(path, '/');
    int length = snprintf(comment, size, "timestamp:%lld\tfile:%s\thashed", (long long)time(NULL),
                          slash != NULL ? slash + 1 : path);

    /* A comment is one line. */
    for (int i = 0; i < length && comment[i] != '\0'; i++)
        if (comment[i] == '\n' || comment[i] == '\r')
            comment[i] = '?';
}

static void tell_signature(const shared_options *shared, const char *path,
                           const char *signature_path)
{
    json_writer j = json_writer_start(stdout);

    if (shared->json) {
        json_begin_object(&j);
        json_write_key(&j, "path");
        json_write_text(&j, path);
        json_write_key(&j, "signature");
        json_write_text(&j, signature_path);
        json_end_object(&j);
        json_writer_line(&j);
    } else if (!shared->quiet) {
        text_put(stdout, gufo_str_of(path), TEXT_PLAIN);
        fputs(": signed in ", stdout);
        text_put(stdout, gufo_str_of(signature_path), TEXT_PLAIN);
        putc('\n', stdout);
    }
}

static int save_signature(const char *path, const char *text, const sign_options *options)
{
    char *beside = options->output == NULL ? hash_path_with(path, ".minisig") : NULL;
    const char *target = options->output != NULL ? options->output : beside;
    int code = target != NULL ? save_text(target, text, options->base.shared->force) : CODE_FAILED;

    if (code == CODE_OK)
        tell_signature(options->base.shared, path, target);
    free(beside);
    return code;
}

static int sign_text(const char *path, gufo_str message, const gufo_secret_key *key,
                     const sign_options *options)
{
    char text[GUFO_SIGNATURE_TEXT], comment[GUFO_TRUSTED_COMMENT];
    gufo_error error;

    default_comment(path, comment, sizeof comment);
    if (gufo_signature_make(key, message,
                            gufo_str_of(options->comment != NULL ? options->comment : comment),
                            text, &error) == GUFO_OK)
        return save_signature(path, text, options);
    report_error(NULL, &error);
    return error.code == GUFO_E_ARGUMENT ? CODE_USAGE : CODE_FAILED;
}

static int sign_manifest(const char *path, const gufo_secret_key *key, const sign_options *options)
{
    gufo_str text;
    int code;

    if (!hash_text_read(path, &text))
        return CODE_FAILED;
    code = sign_text(path, text, key, options);
    hash_text_free(&text);
    return code;
}

static int sign_model(const char *path, const gufo_secret_key *key, const sign_options *options)
{
    char *manifest_path = hash_path_with(path, ".manifest");
    gufo_str text = {0};
    int code = manifest_path != NULL ? make_manifest(path, options, &text) : CODE_FAILED;

    if (code == CODE_OK)
        code = save_bytes(manifest_path, text, options->base.shared->force);
    if (code == CODE_OK)
        code = sign_text(manifest_path, text, key, options);
    hash_text_free(&text);
    free(manifest_path);
    return code;
}

static int sign_all(const sign_options *options)
{
    const shared_options *shared = options->base.shared;
    gufo_secret_key key;
    int code = read_key(options, &key);

    for (int i = 0; code != CODE_FAILED && i < shared->arg_count; i++) {
        const char *path = shared->args[i];

        code = worst_code(code, hash_is_gguf(path) ? sign_model(path, &key, options)
                                                   : sign_manifest(path, &key, options));
    }
    gufo_secret_key_wipe(&key);
    return code;
}

/* ---- usage ---------------------------------------------------------------------------------- */

static int check_usage(const sign_options *options)
{
    int count = options->base.shared->arg_count;

    if (options->generate && count != 1)
        return report_usage("sign", "--generate needs one NAME");
    if (options->generate && options->key != NULL)
        return report_usage("sign", "--generate makes a key and takes none");
    if (options->generate)
        return CODE_OK;
    if (count == 0)
        return report_usage("sign", "no FILE is given");
    if (options->key == NULL)
        return report_usage("sign", "no --key is given");
    if (options->output != NULL && count > 1)
        return report_usage("sign", "--output is for one FILE");
    for (int i = 0; i < count; i++)
        if (input_is_stdin(options->base.shared->args[i]) && options->output == NULL)
            return report_usage("sign", "what comes from standard input needs --output");
    return CODE_OK;
}

int command_sign(int argc, char **argv, shared_options *shared)
{
    sign_options options = {.base = {shared}};
    int code = options_parse(&sign_argp, 0, argc, argv, &options.base);

    if (code != CODE_OK || shared->done)
        return code;
    code = check_usage(&options);
    if (code != CODE_OK)
        return code;
    if (!gufo_signature_available()) {
        report_message(NULL, "signatures are not available: this gufo was built without libsodium "
                             "(Debian package libsodium-dev)");
        return CODE_USAGE;
    }
    return options.generate ? generate(shared->args[0], &options) : sign_all(&options);
}
