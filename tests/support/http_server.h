/* tests/remote/server.py, started for a test, and what it has seen. */
#ifndef TEST_SUPPORT_HTTP_SERVER_H
#define TEST_SUPPORT_HTTP_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct http_server {
    pid_t process;
    unsigned port, other_port; /* the second one is of "localhost", another host for redirects */
    char url[64]; /* http://127.0.0.1:PORT, or https://localhost:PORT with certificates */
    bool is_tls;
} http_server;

/* Whether this machine lacks a program that the server or a test needs, with a message; then main returns 77. */
bool http_server_lacks(const char *program);
/* Starts it over a folder; false where there is no python3.  `certificate` and `key` may be NULL. */
bool http_server_start(http_server *server, const char *folder, const char *certificate,
                       const char *key);
void http_server_stop(http_server *server);

/* The log of requests since the last reset, a line of JSON each; to be freed.  Asked of the second server, which has
 * no TLS. */
char *http_server_log(const http_server *server);
void http_server_reset(const http_server *server);
typedef struct http_counts {
    uint64_t requests, bytes; /* of bodies */
} http_counts;
http_counts http_server_counts(const http_server *server);

#endif
