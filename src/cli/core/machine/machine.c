/* The memory of this machine.
 *
 *     host      /proc/meminfo: MemAvailable, which counts what the kernel can drop; less where a control
 *               group (a container, a unit of systemd, a job of Slurm) allows less
 *     devices   nvidia-smi; /sys/class/drm/cardN/device/mem_info_vram_*, of AMD's driver
 *
 * Nothing here fails: what is not there, or is not a number, is not known. */
#include "cli/core/values/sums.h"
#include "gufo/print.h"
#include "cli/core/machine/machine.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 512, TEXT = 1 << 14 };

/* Reads the beginning of a file; false if there is none, or its path is too long. */
static bool read_text(const char *root, const char *path, char text[TEXT])
{
    char whole[2 * PATH];
    int len = snprintf(whole, sizeof whole, "%s%s", root, path);
    FILE *in = len > 0 && (size_t)len < sizeof whole ? fopen(whole, "re") : NULL;
    size_t got;

    if (in == NULL)
        return false;
    got = fread(text, 1, TEXT - 1, in);
    text[got] = '\0';
    fclose(in);
    return true;
}

/* A file with a number; a word such as "max" is none. */
static bool read_number(const char *root, const char *path, uint64_t *out)
{
    char text[TEXT];
    const char *at = text;

    return read_text(root, path, text) && gufo_number_read(&at, out) &&
           (*at == '\n' || *at == '\0');
}

/* The number behind a word at the beginning of a line. */
static bool find_number(const char *text, const char *word, uint64_t *out)
{
    size_t len = strlen(word);

    for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, word, len) != 0)
            continue;
        at += len + strspn(at + len, " \t");
        return gufo_number_read(&at, out);
    }
    return false;
}

/* ---- control groups ------------------------------------------------------------------------- */

/* How the versions of control groups say it. */
typedef struct cgroup_kind {
    const char *line; /* in /proc/self/cgroup, before the path of the group */
    const char *folder, *limit, *used, *cache;
} cgroup_kind;

static const cgroup_kind kinds[] = {
    {"0::", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"},
    {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file"},
};

/* What a group still allows; pages of files are given back when they are needed. */
static void apply_group(machine *m, const char *root, const cgroup_kind *kind, const char *group)
{
    char path[2 * PATH], text[TEXT];
    uint64_t limit, used = 0, cache = 0, left;

    snprintf(path, sizeof path, "%s%s/%s", kind->folder, group, kind->limit);
    if (!read_number(root, path, &limit))
        return;
    snprintf(path, sizeof path, "%s%s/%s", kind->folder, group, kind->used);
    (void)read_number(root, path, &used);
    snprintf(path, sizeof path, "%s%s/memory.stat", kind->folder, group);
    if (read_text(root, path, text))
        (void)find_number(text, kind->cache, &cache);
    used -= cache < used ? cache : used;
    left = limit > used ? limit - used : 0;
    m->is_limited = m->is_limited || limit < m->total || left < m->available;
    m->total = smaller(m->total, limit);
    m->available = smaller(m->available, left);
}

/* The group and those that it is in: the least that one of them has left counts, as others use what a
 * larger one allows.  In a container the folder of the group may be the root. */
static void apply_groups(machine *m, const char *root, const cgroup_kind *kind, const char *text)
{
    const char *at = strstr(text, kind->line);
    char group[PATH];
    size_t len;

    if (at == NULL)
        return;
    at += strlen(kind->line);
    len = strcspn(at, "\n");
    if (len >= sizeof group)
        return;
    memcpy(group, at, len);
    for (group[len] = '\0'; len > 0; group[len] = '\0') {
        if (strcmp(group, "/") != 0)
            apply_group(m, root, kind, group);
        while (len > 0 && group[--len] != '/')
            ;
    }
    apply_group(m, root, kind, "");
}

static void look_at_host(machine *m, const char *root)
{
    char text[TEXT];

    if (!read_text(root, "/proc/meminfo", text) || !find_number(text, "MemTotal:", &m->total) ||
        !find_number(text, "MemAvailable:", &m->available) || m->total > UINT64_MAX / 1024 ||
        m->available > m->total) {
        m->total = m->available = 0;
        return;
    }
    m->total *= 1024; /* the file has KiB */
    m->available *= 1024;
    if (read_text(root, "/proc/self/cgroup", text))
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            apply_groups(m, root, &kinds[i], text);
}

/* ---- devices -------------------------------------------------------------------------------- */

static void add_device(machine *m, const char *name, size_t len, uint64_t total, uint64_t left)
{
    machine_device *d = &m->devices[m->device_count];

    if (m->device_count == GUFO_ESTIMATE_MAX_DEVICES || total == 0)
        return;
    snprintf(d->name, sizeof d->name, "%.*s", (int)smaller(len, sizeof d->name - 1), name);
    d->total = total;
    d->free = smaller(left, total);
    m->device_count++;
}

static void add_unknown(machine *m, const char *name, size_t len)
{
    size_t used = strlen(m->unknown);

    snprintf(m->unknown + used, sizeof m->unknown - used, "%s%.*s", used > 0 ? ", " : "",
             (int)smaller(len, sizeof m->unknown), name);
}

/* Reads MiB; false if they are something else. */
static bool read_mebibytes(const char *digits, const char *end, uint64_t *out)
{
    if (!gufo_number_read(&digits, out) || digits != end || *out > UINT64_MAX >> 20)
        return false;
    *out <<= 20;
    return true;
}

/* "NVIDIA H200, 143771, 143000": names may have commas, MiB have not.  "[N/A]" in place of MiB is a
 * device without memory of its own, or one whose driver cannot say. */
static void add_line(machine *m, gufo_str line)
{
    const char *names = line.data, *end = line.data + line.len;
    bool is_known = true;
    uint64_t sizes[2];

    for (size_t i = 2; i-- > 0;) {
        const char *comma = end, *field;

        while (comma > names && *(comma - 1) != ',')
            comma--;
        if (comma == names)
            return;
        field = comma + (*comma == ' ');
        if (*field == '[')
            is_known = false;
        else if (!read_mebibytes(field, end, &sizes[i]))
            return;
        end = comma - 1;
    }
    if (is_known) {
        add_device(m, names, (size_t)(end - names), sizes[0], sizes[1]);
    } else {
        m->is_asked = true;
        add_unknown(m, names, (size_t)(end - names));
    }
}

static void ask_nvidia(machine *m)
{
    static const char *const words[] = {"nvidia-smi", "--query-gpu=name,memory.total,memory.free",
                                        "--format=csv,noheader,nounits", NULL};
    char answer[TEXT];

    if (!machine_ask(words, answer, sizeof answer))
        return;
    for (const char *line = answer; *line != '\0';) {
        size_t len = strcspn(line, "\r\n");

        add_line(m, (gufo_str){line, len});
        line += len + strspn(line + len, "\r\n");
    }
}

/* The n-th card of AMD.  Below a gibibyte it is the part of an integrated one, which shares the memory of
 * the host. */
static void add_card(machine *m, const char *root, unsigned number)
{
    char path[PATH], name[32];
    uint64_t total, used = 0;

    snprintf(path, sizeof path, "/sys/class/drm/card%u/device/mem_info_vram_total", number);
    if (!read_number(root, path, &total) || total < UINT64_C(1) << 30)
        return;
    snprintf(path, sizeof path, "/sys/class/drm/card%u/device/mem_info_vram_used", number);
    (void)read_number(root, path, &used);
    snprintf(name, sizeof name, "AMD card%u", number);
    add_device(m, name, strlen(name), total, total - smaller(used, total));
}

/* A driver of NVIDIA without nvidia-smi names its devices, but not their memory. */
static void name_unknown(machine *m, const char *root)
{
    static const char folder[] = "/proc/driver/nvidia/gpus";
    char path[PATH], text[TEXT];
    const struct dirent *entry;
    const char *model;
    DIR *gpus;

    snprintf(path, sizeof path, "%s%s", root, folder);
    gpus = opendir(path);
    while (gpus != NULL && m->unknown[0] == '\0' && (entry = readdir(gpus)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%.200s/information", folder, entry->d_name);
        model = read_text(root, path, text) ? strstr(text, "Model:") : NULL;
        if (model == NULL)
            continue;
        model += strlen("Model:") + strspn(model + strlen("Model:"), " \t");
        add_unknown(m, model, strcspn(model, "\n"));
    }
    if (gpus != NULL)
        closedir(gpus);
}

void machine_look(const char *root, machine *out)
{
    enum { CARDS = 64 };

    *out = (machine){0};
    look_at_host(out, root);
    ask_nvidia(out);
    if (out->device_count == 0)
        name_unknown(out, root);
    for (unsigned i = 0; i < CARDS; i++)
        add_card(out, root, i);
}
