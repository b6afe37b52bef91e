/* Reading in blocks: a buffer that grows only for a line that does not fit. */
#include "cli/text/blocks.h"

#include "cli/core/files/path.h"
#include "cli/core/terminal/report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 4 << 20 };

int blocks_open(blocks *b, const char *path)
{
    bool standard = path == NULL || path_is_standard(path);

    *b = (blocks){.path = standard ? "-" : path, .fd = -1, .room = BLOCK};
    b->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (b->fd < 0)
        return report_system(path, errno);
    b->data = malloc(b->room + 1);
    return b->data != NULL ? CODE_OK : report_memory(b->path);
}

void blocks_close(blocks *b)
{
    if (b->fd > STDIN_FILENO)
        (void)close(b->fd);
    free(b->data);
    *b = (blocks){.fd = -1};
}

/* Reads what is there, and waits for at least a byte; fewer than there is room for only if no more
 * has arrived. */
static int read_more(blocks *b)
{
    struct pollfd ready = {.fd = b->fd, .events = POLLIN};
    ssize_t got = 1;

    (void)fflush(stdout);
    do {
        got = read(b->fd, b->data + b->end, b->room - b->end);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return report_system(b->path, errno);
        b->end += (size_t)got;
        b->ended = got == 0;
    } while (!b->ended && b->end < b->room && (got < 0 || poll(&ready, 1, 0) > 0));
    return CODE_OK;
}

int blocks_next(blocks *b, gufo_str *block)
{
    int code = CODE_OK;

    b->begin = b->end = 0;
    if (!b->ended)
        code = read_more(b);
    *block = (gufo_str){b->data, b->end};
    return code;
}

/* Room for more behind the line that has begun. */
static bool make_room(blocks *b)
{
    char *larger;

    if (b->begin > 0) {
        memmove(b->data, b->data + b->begin, b->end - b->begin);
        b->end -= b->begin;
        b->begin = 0;
    }
    if (b->end < b->room)
        return true;
    larger = b->room < SIZE_MAX / 2 ? realloc(b->data, 2 * b->room + 1) : NULL;
    if (larger == NULL)
        return false;
    b->data = larger;
    b->room *= 2;
    return true;
}

/* The next line, empty or not. */
static int find_line(blocks *b, gufo_str *line)
{
    size_t searched = 0;
    int code = CODE_OK;

    for (;;) {
        char *begin = b->data + b->begin;
        size_t len = b->end - b->begin;
        char *end = memchr(begin + searched, '\n', len - searched);

        if (end != NULL || b->ended) {
            *line = (gufo_str){len > 0 ? begin : NULL, end != NULL ? (size_t)(end - begin) : len};
            begin[line->len] = '\0';
            b->begin += line->len + (end != NULL);
            b->line++;
            return CODE_OK;
        }
        searched = len;
        if (!make_room(b))
            return report_memory(b->path);
        code = read_more(b);
        if (code != CODE_OK)
            return code;
    }
}

static bool is_blank(gufo_str line)
{
    size_t at = 0;

    while (at < line.len &&
           (line.data[at] == ' ' || line.data[at] == '\t' || line.data[at] == '\r'))
        at++;
    return at == line.len;
}

int blocks_next_line(blocks *b, gufo_str *line)
{
    int code;

    do
        code = find_line(b, line);
    while (code == CODE_OK && line->data != NULL && is_blank(*line));
    if (code == CODE_OK && line->data != NULL && memchr(line->data, '\0', line->len) != NULL)
        code = report_as(CODE_FAILED, b->path, "line %" PRIu64 " holds a NUL", b->line);
    return code;
}
