/* The HTTP server of tests; http_server.h. */
#include "check.h"
#include "http_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The program and its arguments; errors of the server go where those of the test go. */
static void run_server(int out, const char *folder, const char *certificate, const char *key)
{
    const char *source = getenv("GUFO_SOURCE");
    char script[4096];

    (void)snprintf(script, sizeof script, "%s/tests/remote/server.py",
                   source != NULL ? source : ".");
    (void)dup2(out, STDOUT_FILENO);
    if (certificate != NULL)
        (void)execlp("python3", "python3", script, folder, "--lifetime", "300", "--tls",
                     certificate, key, (char *)NULL);
    else
        (void)execlp("python3", "python3", script, folder, "--lifetime", "300", (char *)NULL);
    _exit(127);
}

bool http_server_lacks(const char *program)
{
    char command[200];

    (void)snprintf(command, sizeof command, "command -v %s >/dev/null", program);
    if (system(command) == 0)
        return false;
    print_message("skipped: no %s\n", program);
    return true;
}

bool http_server_start(http_server *server, const char *folder, const char *certificate,
                       const char *key)
{
    int ends[2];
    FILE *ports;
    int got;

    *server = (http_server){.is_tls = certificate != NULL};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    server->process = fork();
    if (server->process == 0)
        run_server(ends[1], folder, certificate, key);
    (void)close(ends[1]);
    ports = fdopen(ends[0], "r");
    got = ports != NULL ? fscanf(ports, "%u %u", &server->port, &server->other_port) : 0;
    if (ports != NULL)
        (void)fclose(ports);
    if (got != 2) {
        http_server_stop(server);
        return false;
    }
    (void)snprintf(server->url, sizeof server->url,
                   server->is_tls ? "https://localhost:%u" : "http://127.0.0.1:%u", server->port);
    return true;
}

void http_server_stop(http_server *server)
{
    if (server->process > 0) {
        (void)kill(server->process, SIGTERM);
        (void)waitpid(server->process, NULL, 0);
    }
    server->process = 0;
}

/* The body of an answer, without libcurl, which is tested here. */
static char *ask(unsigned port, const char *path)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t len = 0, room = 1 << 16;
    char request[256], *text = malloc(room + 1), *body;
    ssize_t got = 0;

    check(connect(fd, (const struct sockaddr *)&address, sizeof address) == 0, "port %u", port);
    (void)snprintf(request, sizeof request,
                   "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path);
    check(write(fd, request, strlen(request)) > 0, "%s", path);
    while ((got = read(fd, text + len, room - len)) > 0) {
        len += (size_t)got;
        if (len == room)
            text = realloc(text, (room *= 2) + 1);
    }
    (void)close(fd);
    text[len] = '\0';
    body = strstr(text, "\r\n\r\n");
    check(body != NULL, "%s", path);
    memmove(text, body + 4, strlen(body + 4) + 1);
    return text;
}

char *http_server_log(const http_server *server)
{
    return ask(server->other_port, "/-/log");
}

void http_server_reset(const http_server *server)
{
    free(ask(server->other_port, "/-/reset"));
}

http_counts http_server_counts(const http_server *server)
{
    char *text = ask(server->other_port, "/-/counts");
    http_counts counts = {0};

    check(sscanf(text, "{\"requests\": %" SCNu64 ", \"bytes\": %" SCNu64, &counts.requests,
                 &counts.bytes) == 2,
          "%s", text);
    free(text);
    return counts;
}
