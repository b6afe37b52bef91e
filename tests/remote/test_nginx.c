/* nginx as a second opinion on what servers do: ranges, none, compression, redirects, refusals. */
#include "remote_cases.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remote/ranges/ranges.h"

enum { FILE_SIZE = 900000 };

static folder files;
static pid_t process;
static unsigned port;

/* A port that nobody listens on now. */
static unsigned free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    check(bind(fd, (const struct sockaddr *)&address, len) == 0 &&
              getsockname(fd, (struct sockaddr *)&address, &len) == 0,
          "port");
    (void)close(fd);
    return ntohs(address.sin_port);
}

static void write_settings(void)
{
    static const char text[] =
        "%sdaemon off; master_process off; pid %s/pid; error_log %s/error.log;\n"
        "events { worker_connections 64; }\n"
        "http { access_log off; default_type text/plain; gzip_types text/plain; gzip_min_length "
        "1;\n"
        "client_body_temp_path %s/t1; proxy_temp_path %s/t2; fastcgi_temp_path %s/t3; "
        "uwsgi_temp_path %s/t4; scgi_temp_path %s/t5;\n"
        "server { listen 127.0.0.1:%u; root %s;\n"
        "location /none/ { alias %s/; max_ranges 0; }\n"
        "location /gzip/ { alias %s/; gzip on; }\n"
        "location /moved { return 302 /f; }\n"
        "location /busy { add_header Retry-After 0 always; return 503; }\n"
        "} }\n";
    const char *p = files.path;
    char settings[8000];

    (void)snprintf(settings, sizeof settings, text, geteuid() == 0 ? "user root;" : "", p, p, p, p,
                   p, p, p, port, p, p, p);
    write_file(folder_path(&files, "nginx.conf").text, settings, strlen(settings));
}

static bool listens(void)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    const bool connected = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;

    (void)close(fd);
    return connected;
}

static int setup(void **state)
{
    uint8_t *content = malloc(FILE_SIZE);
    const path_text settings = (files = folder_new(), folder_path(&files, "nginx.conf"));
    const struct timespec moment = {.tv_nsec = 20000000};

    (void)state;
    for (size_t i = 0; i < FILE_SIZE; i++)
        content[i] = byte_at(i);
    write_file(folder_path(&files, "f").text, content, FILE_SIZE);
    free(content);
    port = free_port();
    write_settings();
    process = fork();
    if (process == 0) {
        (void)dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        (void)execlp("nginx", "nginx", "-p", files.path, "-c", settings.text, (char *)NULL);
        _exit(127);
    }
    for (unsigned i = 0; i < 250 && !listens(); i++)
        (void)nanosleep(&moment, NULL);
    return listens() ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    (void)kill(process, SIGTERM);
    (void)waitpid(process, NULL, 0);
    folder_remove(&files);
    return 0;
}

static void test_answers(void **state)
{
    static const struct {
        const char *path, *words; /* NULL: the bytes are right */
    } rows[] = {
        {"f", NULL},      {"gzip/f", NULL}, {"moved", NULL},
        {"none/f", NULL}, {"busy", "503"},  {"missing", "404"},
    };
    gufo_remote *remote = hurried_client(NULL);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char url[200];
        gufo_source source;
        gufo_error error = {0};
        uint8_t got[5000];
        gufo_status status;

        (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/%s", port, rows[i].path);
        status = ranges_open(remote, url, &source, NULL, &error);
        check((status == GUFO_OK) == (rows[i].words == NULL), "%s: %s", url, error.message);
        if (status != GUFO_OK) {
            check(strstr(error.message, rows[i].words) != NULL, "%s: %s", url, error.message);
            continue;
        }
        check_u64(source.size, FILE_SIZE, "%s", url);
        check_ok(source.read(source.context, 100000, got, sizeof got, &error), &error, "%s", url);
        for (size_t k = 0; k < sizeof got; k++)
            check(got[k] == byte_at(100000 + k), "%s: byte %zu", url, k);
        status = source.read(source.context, FILE_SIZE - 5000, got, sizeof got, &error);
        check_ok(status, &error, "%s", url);
        for (size_t k = 0; k < sizeof got; k++)
            check(got[k] == byte_at(FILE_SIZE - 5000 + k), "%s: byte %zu", url, k);
        source.close(source.context);
    }
    gufo_remote_free(remote);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
    };

    return http_server_lacks("nginx") ? 77 : cmocka_run_group_tests(tests, setup, teardown);
}
