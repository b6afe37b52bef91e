/* How many processors a process may use: what schedulers and containers leave of the machine. */
#define _GNU_SOURCE /* sched_getaffinity, CPU_COUNT_S */

#include "base/threads.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#ifdef __linux__
#include <sched.h>
#endif

#include "base/text.h"

/* More processors than a kernel can be built for; bytes of the list of groups, which has a line for each
 * hierarchy, and of a limit. */
enum { MOST_PROCESSORS = 65536, GROUPS_TEXT = 8192, LIMIT_TEXT = 64 };

/* The processors that the system lets this thread, and those that it starts, run on. */
static unsigned count_allowed(void)
{
    long online;

#ifdef __linux__
    cpu_set_t sets[MOST_PROCESSORS / CPU_SETSIZE];

    if (sched_getaffinity(0, sizeof sets, sets) == 0)
        return (unsigned)CPU_COUNT_S(sizeof sets, sets);
#endif
    online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : (unsigned)online;
}

/* ---- the processor time of control groups ------------------------------------------------------- */

/* The beginning of a file; empty if it cannot be read. */
static void read_start(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    size_t len = 0;
    ssize_t got = fd >= 0 ? 1 : 0;

    while (got > 0 && len + 1 < size) {
        got = read(fd, text + len, size - 1 - len);
        len += got > 0 ? (size_t)got : 0;
    }
    text[len] = '\0';
    if (fd >= 0)
        (void)close(fd);
}

/* The same for a file in a folder. */
static void read_in(const char *folder, const char *name, char *text, size_t size)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof path, "%s/%s", folder, name);

    *text = '\0';
    if (len > 0 && (size_t)len < sizeof path)
        read_start(path, text, size);
}

/* By a quota of processor time for each period; "max" and "-1" are not counts and limit nothing. */
static void lower(unsigned *most, gufo_str quota, gufo_str period)
{
    uint64_t time, each, count;

    if (!str_number(quota, &time) || !str_number(period, &each) || each == 0)
        return;
    count = time / each + (time % each != 0);
    if (count < *most)
        *most = count == 0 ? 1 : (unsigned)count;
}

/* By the limit of one group: in one file in version 2, in two in version 1. */
static void lower_by_group(unsigned *most, const char *folder)
{
    char text[LIMIT_TEXT], more[LIMIT_TEXT];
    const char *at = text, *behind = more;
    gufo_str quota;

    read_in(folder, "cpu.max", text, sizeof text);
    quota = str_piece(&at, ' ');
    lower(most, quota, str_piece(&at, '\n'));
    read_in(folder, "cpu.cfs_quota_us", text, sizeof text);
    read_in(folder, "cpu.cfs_period_us", more, sizeof more);
    at = text;
    lower(most, str_piece(&at, '\n'), str_piece(&behind, '\n'));
}

/* By those of a group and of all that it is in, up to the root of its hierarchy. */
static void lower_by_groups(unsigned *most, const char *root, const char *hierarchy,
                            const char *group)
{
    char folder[PATH_MAX];
    int top = snprintf(folder, sizeof folder, "%s/sys/fs/cgroup", root);
    int len = snprintf(folder, sizeof folder, "%s/sys/fs/cgroup/%s%s", root, hierarchy, group);

    if (top < 0 || (size_t)len >= sizeof folder)
        return;
    for (int end = len; end >= top; end--)
        if ((folder[end] == '\0' || folder[end] == '/') && folder[end - 1] != '/') {
            folder[end] = '\0';
            lower_by_group(most, folder);
        }
}

/* Whether a hierarchy, which is called by its controllers, limits processor time.  That of version 2
 * has them all and no name. */
static bool limits_time(const char *hierarchy)
{
    for (const char *at = hierarchy; *at != '\0';)
        if (gufo_str_equal(str_piece(&at, ','), gufo_str_of("cpu")))
            return true;
    return *hierarchy == '\0';
}

/* NUMBER:CONTROLLERS:GROUP; the group begins with a slash. */
static void lower_by_line(unsigned *most, const char *root, char *line)
{
    char *hierarchy = strchr(line, ':');
    char *group = hierarchy != NULL ? strchr(hierarchy + 1, ':') : NULL;

    if (group == NULL || group[1] != '/')
        return;
    *group = '\0';
    if (limits_time(hierarchy + 1))
        lower_by_groups(most, root, hierarchy + 1, group + 1);
}

unsigned processors_usable(const char *root)
{
    char text[GROUPS_TEXT], *rest = NULL;
    unsigned most = count_allowed();

    read_in(root, "proc/self/cgroup", text, sizeof text);
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        lower_by_line(&most, root, line);
    return most;
}
