/* gufo sign FILE|MANIFEST: a signature as minisign makes it.
 *
 * Of a model not the file is signed but its manifest, which is written beside it: it can be checked
 * before gigabytes are read, and says which tensor is wrong. */
#include "gufo/print.h"
#include "cli/commands.h"
#include "cli/core/files/save.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/terminal/text.h"
#include "cli/trust/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

typedef struct sign_options {
    command_input base;
    input_options input;
    const char *key;
    const char *password_file;
    const char *comment;
    bool generate;
    bool no_password;
} sign_options;

/* ---- passwords: from a file, or typed without echo ------------------------------------------- */

#define MOST_PASSWORD 1024

static bool ends_command(void)
{
    sigset_t pending;

    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
            sigismember(&pending, SIGHUP) == 1);
}

/* Reads a line without its end; the length, or -1 without a line or if a signal waits. */
static ssize_t read_line(int terminal, char *answer, size_t size)
{
    struct pollfd ready = {.fd = terminal, .events = POLLIN};
    int events;

    do {
        if (ends_command())
            return -1;
        events = poll(&ready, 1, 100); /* a signal that waits does not end it */
    } while (events == 0);
    ssize_t got = events > 0 ? read(terminal, answer, size) : -1;

    if (got > 0 && answer[got - 1] == '\n')
        return got - 1;
    return got > 0 ? got : -1;
}

/* Signals wait meanwhile, so that the terminal gets its echo back. */
static ssize_t ask(int terminal, const char *prompt, char *answer, size_t size)
{
    struct termios before, silent;
    ssize_t got = -1;

    if (tcgetattr(terminal, &before) != 0)
        return -1;
    silent = before;
    silent.c_lflag &= ~(tcflag_t)ECHO;
    signals_hold();
    if (tcsetattr(terminal, TCSAFLUSH, &silent) == 0) {
        (void)!write(terminal, prompt, strlen(prompt));
        got = read_line(terminal, answer, size);
        (void)!write(terminal, "\n", 1);
        (void)tcsetattr(terminal, TCSAFLUSH, &before);
    }
    signals_release();
    return got;
}

static bool ask_all(int terminal, bool twice, gufo_str *password)
{
    char first[MOST_PASSWORD], second[MOST_PASSWORD];
    ssize_t len = ask(terminal, "Password: ", first, sizeof first), again = len;
    bool same = true;
    char *copy = NULL;

    if (len >= 0 && twice) {
        again = ask(terminal, "Repeat the password: ", second, sizeof second);
        same = again == len && memcmp(first, second, (size_t)len) == 0;
    }
    if (len < 0 || again < 0)
        report_message(NULL, "no password was given");
    else if (!same)
        report_message(NULL, "the passwords differ");
    else if ((copy = malloc((size_t)len + 1)) == NULL)
        report_memory(NULL);
    else
        *password = (gufo_str){memcpy(copy, first, (size_t)len), (size_t)len};
    small_file_wipe(first, sizeof first);
    small_file_wipe(second, sizeof second);
    return copy != NULL;
}

static bool from_terminal(bool twice, gufo_str *password)
{
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    bool taken;

    if (terminal < 0) {
        report_message(NULL,
                       "cannot ask for the password without a terminal; give --password-file");
        return false;
    }
    taken = ask_all(terminal, twice, password);
    (void)close(terminal);
    return taken;
}

/* Reads a password: the first line of the file `path`, or, if that is NULL, from the terminal
 * without showing it, and `twice` for a new one.  The caller frees it with small_file_free.  False
 * after a report. */
static bool read_password(const char *path, bool twice, gufo_str *password)
{
    if (path == NULL)
        return from_terminal(twice, password);
    if (small_file_read(path, HASH_MOST_KEY, HASH_TOO_LONG, password) != CODE_OK)
        return false;
    for (size_t i = 0; i < password->len; i++)
        if (password->data[i] == '\n' || password->data[i] == '\r')
            password->len = i; /* the rest is not a secret */
    return true;
}

/* ---- a new pair ------------------------------------------------------------------------------ */

static void print_pair(const shared_options *shared, const char *secret_path,
                       const char *public_path, const gufo_public_key *key)
{
    json_writer j = json_writer_start(stdout);
    char id[17];

    gufo_signature_key_id_text(key->id, id);
    if (shared->json) {
        json_begin_object(&j, NULL);
        json_write_text(&j, "key", id);
        json_write_text(&j, "secret", secret_path);
        json_write_text(&j, "public", public_path);
        json_end_document(&j);
    } else if (!shared->quiet)
        text_print("key %s: %s (keep it secret), %s\n", id, secret_path, public_path);
}

/* The text of both keys. */
typedef struct pair {
    gufo_public_key public_key;
    char public_text[GUFO_SIGNATURE_KEY_TEXT], secret_text[GUFO_SIGNATURE_KEY_TEXT];
} pair;

static gufo_status make_pair(pair *p, gufo_str password, gufo_error *error)
{
    gufo_secret_key secret;
    gufo_status status = gufo_signature_key_generate(&p->public_key, &secret, error);

    if (status == GUFO_OK)
        status = gufo_public_key_text(&p->public_key, p->public_text, error);
    if (status == GUFO_OK)
        status = gufo_secret_key_text(&secret, password, NULL, p->secret_text, error);
    gufo_secret_key_wipe(&secret);
    return status;
}

/* The paths of a pair, and the files that it may not replace. */
typedef struct pair_files {
    char *secret_path, *public_path;
    gufo_guard inputs;
    gufo_guard beside; /* with the secret key: links may lead both to one file */
} pair_files;

/* Both or none: the public key alone is worth nothing. */
static int save_both(const pair_files *f, const pair *p, const sign_options *options)
{
    bool force = options->base.shared->force;
    int code = save_check(f->secret_path, force, &f->inputs);

    if (code == CODE_OK)
        code = save_bytes(f->public_path, gufo_str_of(p->public_text), force, &f->beside);
    if (code != CODE_OK)
        return code;
    code = save_secret(f->secret_path, gufo_str_of(p->secret_text), force, &f->inputs);
    if (code == CODE_OK)
        print_pair(options->base.shared, f->secret_path, f->public_path, &p->public_key);
    else
        save_remove(f->public_path);
    return code;
}

static int save_pair(const char *name, const pair *p, const sign_options *options)
{
    pair_files f = {path_with(name, ".key"), path_with(name, ".pub"), {0}, {0}};
    int code = CODE_FAILED;

    if (f.secret_path != NULL && f.public_path != NULL &&
        save_guard(&f.inputs, &options->password_file, 1) &&
        save_guard(&f.beside, &options->password_file, 1) &&
        save_guard_output(&f.beside, f.secret_path))
        code = save_both(&f, p, options);
    gufo_guard_free(&f.inputs);
    gufo_guard_free(&f.beside);
    free(f.secret_path);
    free(f.public_path);
    return code;
}

/* Makes NAME.key and NAME.pub.  Returns the exit code. */
static int generate(const char *name, const sign_options *options)
{
    gufo_str password = {0};
    gufo_error error;
    pair p;
    int code;

    if (!options->no_password && !read_password(options->password_file, true, &password))
        return CODE_FAILED;
    code = make_pair(&p, password, &error) == GUFO_OK ? save_pair(name, &p, options)
                                                      : report_error(name, &error);
    small_file_wipe(p.secret_text, sizeof p.secret_text);
    small_file_free(&password);
    return code;
}

/* ---- reading a key --------------------------------------------------------------------------- */

static int parse_key(gufo_str text, const sign_options *options, gufo_secret_key *key)
{
    gufo_str password = {0};
    bool encrypted;
    gufo_error error;

    if (gufo_secret_key_encrypted(text, &encrypted, &error) != GUFO_OK)
        return report_error(options->key, &error);
    if (encrypted && !read_password(options->password_file, false, &password))
        return CODE_FAILED;
    gufo_status status = gufo_secret_key_parse(text, password, key, &error);

    small_file_free(&password);
    return status == GUFO_OK ? CODE_OK : report_error(options->key, &error);
}

/* Reads the secret key that the options name; the caller wipes it.  Returns the exit code. */
static int read_key(const sign_options *options, gufo_secret_key *key)
{
    gufo_str text;
    int code;

    if (small_file_read(options->key, HASH_MOST_KEY, HASH_TOO_LONG, &text) != CODE_OK)
        return CODE_FAILED;
    code = parse_key(text, options, key);
    small_file_free(&text);
    return code;
}

/* ---- command line ---------------------------------------------------------------------------- */

static const command_option sign_table[] = {
    {"key", "SECRET", "The secret key to sign with", OPTION_TEXT(sign_options, key), .letter = 'k',
     .common = true},
    {"password-file", "FILE",
     "Read the password of the key from the first line of FILE (default: ask)",
     OPTION_TEXT(sign_options, password_file), .common = true},
    {"comment", "TEXT", "A trusted comment (default: the time and the file's name)",
     OPTION_TEXT(sign_options, comment)},
    {"output", "OUT", "The signature file to write (default: FILE.minisig)", OPTION_OUTPUT,
     .common = true},
    {"generate", NULL, "Make a pair of keys, NAME.key and NAME.pub",
     OPTION_FLAG(sign_options, generate), .group = 2, .common = true},
    {"no-password", NULL, "Do not encrypt the new secret key",
     OPTION_FLAG(sign_options, no_password), .group = 2},
    OPTION_SINGLE(sign_options),
    {0},
};

/* ---- manifests ------------------------------------------------------------------------------- */

/* Makes the manifest of a model; the caller frees it with small_file_free. */
static int make_manifest(const char *path, const sign_options *options, gufo_str *text)
{
    hash_request request = {.shared = options->base.shared,
                            .algorithms = UINT32_C(1) << GUFO_DIGEST_SHA256};
    char *data = NULL;
    input in;
    int code = hash_open(&in, path, &options->input, request.algorithms);

    if (code != CODE_OK)
        return code;
    request.out = open_memstream(&data, &text->len);
    if (request.out != NULL)
        code = hash_model(&in, &request);
    input_close(&in);
    if (request.out == NULL || ferror(request.out) || fclose(request.out) != 0)
        code = report_memory(path);
    text->data = data;
    return code;
}

/* ---- signing --------------------------------------------------------------------------------- */

/* As minisign's: the time, and the last component of the path.  A question mark replaces what a
 * comment cannot hold. */
static void default_comment(const char *path, char *comment, size_t size)
{
    int length = snprintf(comment, size, "timestamp:%lld\tfile:", (long long)time(NULL));
    gufo_str name = gufo_str_of(path_name(path));
    char *at = comment + length, *end = comment + size - sizeof "\thashed";

    for (size_t step; name.len > 0 && at < end; name.data += step, name.len -= step) {
        uint32_t character;

        step = gufo_utf8_decode(name, &character);
        if (step == 0 || step > (size_t)(end - at) || gufo_utf8_is_control(character)) {
            *at++ = '?';
            step = step == 0 ? 1 : step;
        } else {
            memcpy(at, name.data, step);
            at += step;
        }
    }
    memcpy(at, "\thashed", sizeof "\thashed");
}

static void print_signature(const shared_options *shared, const char *path,
                            const char *signature_path)
{
    if (shared->json) {
        json_writer j = json_begin_document(path);

        json_write_text(&j, "signature", signature_path);
        json_end_document(&j);
    } else if (!shared->quiet)
        text_print("%s: signed in %s\n", path, signature_path);
}

/* A message to sign, and the files around it. */
typedef struct signing {
    const char *model_path; /* NULL: the message exists */
    const char *path;       /* of the message: the manifest of a model, or any file */
    const char *signature_path;
    const gufo_secret_key *key;
    const sign_options *options;
    gufo_guard inputs; /* these may not be replaced, */
    gufo_guard beside; /* nor, by the signature, the manifest that is made */
} signing;

static int make_signature(const signing *s, gufo_str message, char text[GUFO_SIGNATURE_TEXT])
{
    const char *given = s->options->comment;
    char comment[GUFO_TRUSTED_COMMENT];
    gufo_error error;

    default_comment(s->path, comment, sizeof comment);
    if (gufo_signature_make(s->key, message, gufo_str_of(given != NULL ? given : comment), text,
                            &error) == GUFO_OK)
        return CODE_OK;
    return report_refusal(NULL, &error);
}

/* Guards the inputs: the model with all its shards, or the manifest; the key and its password. */
static bool guard_inputs(const char *path, const sign_options *options, gufo_guard *guard)
{
    const char *const paths[] = {path, options->key, options->password_file};
    uint32_t shards = input_named_size(path, options->input.single);
    bool guarded = save_guard(guard, paths, sizeof paths / sizeof *paths);

    for (uint32_t i = 2; guarded && i <= shards; i++) {
        char *sibling = input_sibling_path(path, i);

        guarded = save_guard_more(guard, (const char *const *)&sibling, 1);
        free(sibling);
    }
    return guarded;
}

/* The message to sign: a manifest that exists, or one that is made of a model. */
static int make_message(const signing *s, gufo_str *text)
{
    bool force = s->options->base.shared->force;
    int code;

    if (s->model_path == NULL)
        return small_file_read(s->path, HASH_MOST_MANIFEST, HASH_TOO_LONG, text);
    code = save_check(s->path, force, &s->inputs);
    if (code == CODE_OK)
        code = save_check(s->signature_path, force, &s->beside);
    return code == CODE_OK ? make_manifest(s->model_path, s->options, text) : code;
}

/* The manifest of a model and its signature: both or none. */
static int sign_guarded(const signing *s)
{
    const shared_options *shared = s->options->base.shared;
    char signature[GUFO_SIGNATURE_TEXT];
    gufo_str text = {0};
    int code = make_message(s, &text);

    if (code == CODE_OK)
        code = make_signature(s, text, signature);
    if (code == CODE_OK && s->model_path != NULL)
        code = save_bytes(s->path, text, shared->force, &s->inputs);
    small_file_free(&text);
    if (code != CODE_OK)
        return code;
    code = save_bytes(s->signature_path, gufo_str_of(signature), shared->force, &s->beside);
    if (code == CODE_OK)
        print_signature(shared, s->path, s->signature_path);
    else if (s->model_path != NULL)
        save_remove(s->path);
    return code;
}

static int sign(const char *path, const gufo_secret_key *key, const sign_options *options)
{
    bool is_model = input_is_gguf(path);
    char *message = path_with(path, is_model ? ".manifest" : "");
    char *beside = message != NULL ? path_with(message, ".minisig") : NULL;
    signing s = {.model_path = is_model ? path : NULL,
                 .path = message,
                 .signature_path = options->base.output != NULL ? options->base.output : beside,
                 .key = key,
                 .options = options};
    int code = CODE_FAILED;

    if (beside != NULL && guard_inputs(path, options, &s.inputs) &&
        guard_inputs(path, options, &s.beside) &&
        (!is_model || save_guard_output(&s.beside, s.path)))
        code = sign_guarded(&s);
    gufo_guard_free(&s.inputs);
    gufo_guard_free(&s.beside);
    free(beside);
    free(message);
    return code;
}

static int sign_all(const sign_options *options)
{
    const shared_options *shared = options->base.shared;
    gufo_secret_key key;
    int code = read_key(options, &key);

    for (int i = 0; code != CODE_FAILED && i < shared->arg_count; i++)
        code = worst_code(code, sign(shared->args[i], &key, options));
    gufo_secret_key_wipe(&key);
    return code;
}

/* ---- usage ----------------------------------------------------------------------------------- */

static int check_usage(const sign_options *options)
{
    int count = options->base.shared->arg_count;

    if (options->generate && count != 1)
        return report_usage("--generate needs one NAME");
    if (options->generate && options->key != NULL)
        return report_usage("--generate makes a key; do not give one");
    if (options->generate)
        return CODE_OK;
    if (count == 0)
        return report_usage("no FILE is given");
    if (options->key == NULL)
        return report_usage("--key is missing; --generate NAME makes a pair of keys");
    if (options->base.output != NULL && count > 1)
        return report_usage("--output is for one FILE");
    for (int i = 0; i < count; i++)
        if (path_is_standard(options->base.shared->args[i]) && options->base.output == NULL)
            return report_usage("standard input needs --output");
    return CODE_OK;
}

static int generate_or_sign(void *context)
{
    const sign_options *options = context;
    int code = check_usage(options);

    if (code == CODE_OK)
        code = hash_check_signatures();
    if (code != CODE_OK)
        return code;
    return options->generate ? generate(options->base.shared->args[0], options) : sign_all(options);
}

const command_line command_sign = {
    .operands = {.names = "--key=SECRET FILE|MANIFEST...\n--generate NAME"},
    .doc = "Sign a manifest, so that gufo verify --key and minisign -V accept it.\v"
           "For a model, gufo first writes FILE.manifest, with SHA-256 hashes.  Keys and "
           "signatures are those of minisign.",
    .examples = {{"gufo sign --generate publisher", "Makes publisher.key and publisher.pub."},
                 {"gufo sign --key=publisher.key model.gguf",
                  "Writes model.gguf.manifest and its signature."}},
    COMMAND_OPTIONS(sign_table, sign_options),
    .run = generate_or_sign,
};
