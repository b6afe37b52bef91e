/* Keys for signatures: making pairs, and reading the secret one. */
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/text.h"
#include "cli/core/files/save.h"
#include "cli/core/terminal/signals.h"
#include "cli/trust/sign.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Passwords: from a file, or typed without echo. */

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
static bool sign_password(const char *path, bool twice, gufo_str *password)
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

    gufo_key_id_text(key->id, id);
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

/* The paths of a pair, and the files that it may not replace. */
typedef struct pair_files {
    char *secret_path, *public_path;
    output_guard inputs;
    output_guard beside; /* with the secret key: links may lead both to one file */
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
    guard_free(&f.inputs);
    guard_free(&f.beside);
    free(f.secret_path);
    free(f.public_path);
    return code;
}

int sign_generate(const char *name, const sign_options *options)
{
    gufo_str password = {0};
    gufo_error error;
    pair p;
    int code;

    if (!options->no_password && !sign_password(options->password_file, true, &password))
        return CODE_FAILED;
    code = make_pair(&p, password, &error) == GUFO_OK ? save_pair(name, &p, options)
                                                      : report_error(name, &error);
    small_file_wipe(p.secret_text, sizeof p.secret_text);
    small_file_free(&password);
    return code;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int parse_key(gufo_str text, const sign_options *options, gufo_secret_key *key)
{
    gufo_str password = {0};
    bool encrypted;
    gufo_error error;

    if (gufo_secret_key_encrypted(text, &encrypted, &error) != GUFO_OK)
        return report_error(options->key, &error);
    if (encrypted && !sign_password(options->password_file, false, &password))
        return CODE_FAILED;
    gufo_status status = gufo_secret_key_parse(text, password, key, &error);

    small_file_free(&password);
    return status == GUFO_OK ? CODE_OK : report_error(options->key, &error);
}

int sign_read_key(const sign_options *options, gufo_secret_key *key)
{
    gufo_str text;
    int code;

    if (small_file_read(options->key, HASH_MOST_KEY, HASH_TOO_LONG, &text) != CODE_OK)
        return CODE_FAILED;
    code = parse_key(text, options, key);
    small_file_free(&text);
    return code;
}
