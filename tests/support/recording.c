#include "recording.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_FILES = 48,
    MAX_NAMES = 32,
    MAX_CALLS = 256,
    MAX_UNSYNCED = 60,
    MAX_SUBSETS_OF = 8, /* calls whose subsets are all tried */
    SECTOR = 512,
};

typedef struct content {
    uint8_t *data;
    size_t len;
} content;

/* A name and its file. */
typedef struct named {
    char name[128];
    int file;
} named;

/* In place of a file: what has the name is a folder. */
enum { FOLDER = -2 };

typedef struct recorded {
    disk_call_kind kind;
    int file;
    char name[128], to[128]; /* from the recorded folder on; the folder of DISK_SYNC_FOLDER */
    uint64_t offset, size;
    uint8_t *data;
} recorded;

struct recording {
    char folder[256];
    content first[MAX_FILES]; /* when it began */
    named names[MAX_NAMES];
    size_t name_count;
    int file_count;
    ino_t inodes[MAX_FILES]; /* of the latest file with that inode */
    recorded calls[MAX_CALLS];
    size_t count;
};

/* A folder in memory. */
typedef struct image {
    content files[MAX_FILES];
    named names[MAX_NAMES];
    size_t name_count;
} image;

/* ---- recording ------------------------------------------------------------------------------ */

static const char *name_in(const recording *r, const char *path)
{
    const size_t len = strlen(r->folder);
    const char *slash = strrchr(path, '/');

    if (strncmp(path, r->folder, len) == 0 && path[len] == '/')
        return path + len + 1;
    return slash != NULL ? slash + 1 : path;
}

/* The name of a folder that is open: the recorded one has none, and each in it has that of a DISK_MAKE_FOLDER. */
static const char *folder_name(const recording *r, int fd)
{
    struct stat opened, entry;

    check(fstat(fd, &opened) == 0, "fstat");
    for (size_t i = 0; i < r->count; i++)
        if (r->calls[i].kind == DISK_MAKE_FOLDER &&
            stat(path_join(r->folder, r->calls[i].name).text, &entry) == 0 &&
            entry.st_ino == opened.st_ino)
            return r->calls[i].name;
    return "";
}

static int add_file(recording *r, ino_t inode)
{
    check(r->file_count < MAX_FILES, "too many files");
    r->inodes[r->file_count] = inode;
    return r->file_count++;
}

/* The file of a descriptor; -1 for a folder. */
static int find_file(const recording *r, int fd)
{
    struct stat info;

    check(fstat(fd, &info) == 0, "fstat");
    for (int i = r->file_count - 1; i >= 0; i--)
        if (r->inodes[i] == info.st_ino)
            return i;
    return -1;
}

static void note(void *context, const disk_call *call)
{
    recording *r = context;
    struct stat info;
    recorded *c = &r->calls[r->count++];

    check(r->count < MAX_CALLS, "too many calls");
    *c = (recorded){.kind = call->kind, .offset = call->offset, .size = call->size};
    if (call->kind == DISK_CREATE) {
        check(fstat(call->fd, &info) == 0, "fstat");
        c->file = add_file(r, info.st_ino);
    } else
        c->file = call->fd >= 0 && call->kind != DISK_SYNC_FOLDER ? find_file(r, call->fd) : -1;
    if (call->kind == DISK_MAKE_FOLDER)
        c->file = FOLDER;
    if (call->kind == DISK_SYNC_FOLDER)
        snprintf(c->name, sizeof c->name, "%s", folder_name(r, call->fd));
    if (call->path != NULL)
        snprintf(c->name, sizeof c->name, "%s", name_in(r, call->path));
    if (call->to != NULL)
        snprintf(c->to, sizeof c->to, "%s", name_in(r, call->to));
    if (call->kind == DISK_WRITE) {
        c->data = malloc((size_t)call->size);
        check(c->data != NULL, "memory");
        memcpy(c->data, call->data, (size_t)call->size);
    }
}

recording *recording_start(const char *directory)
{
    recording *r = calloc(1, sizeof *r);
    DIR *listing = opendir(directory);
    struct dirent *entry;

    check(r != NULL && listing != NULL, "%s", directory);
    snprintf(r->folder, sizeof r->folder, "%s", directory);
    while ((entry = readdir(listing)) != NULL) {
        path_text path = path_join(directory, entry->d_name);
        struct stat info;
        named *name = &r->names[r->name_count];

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        check(stat(path.text, &info) == 0 && r->name_count < MAX_NAMES, "%s", path.text);
        snprintf(name->name, sizeof name->name, "%.127s", entry->d_name);
        name->file = add_file(r, info.st_ino);
        r->first[name->file].data = read_file(path.text, &r->first[name->file].len);
        r->name_count++;
    }
    closedir(listing);
    disk_observe(note, r);
    return r;
}

void recording_stop(recording *r)
{
    (void)r;
    disk_observe(NULL, NULL);
}

void recording_free(recording *r)
{
    for (size_t i = 0; i < r->count; i++)
        free(r->calls[i].data);
    for (int i = 0; i < r->file_count; i++)
        free(r->first[i].data);
    free(r);
}

size_t recording_calls(const recording *r)
{
    return r->count;
}

/* ---- replaying ------------------------------------------------------------------------------ */

static void resize(content *c, size_t len)
{
    c->data = realloc(c->data, len + 1);
    check(c->data != NULL, "memory");
    if (len > c->len)
        memset(c->data + c->len, 0, len - c->len);
    c->len = len;
}

static void insert(content *c, size_t offset, size_t size)
{
    if (offset >= c->len) /* its old position was lost */
        return;
    resize(c, c->len + size);
    memmove(c->data + offset + size, c->data + offset, c->len - size - offset);
    memset(c->data + offset, 0, size);
}

static void collapse(content *c, size_t offset, size_t size)
{
    if (offset + size >= c->len)
        return;
    memmove(c->data + offset, c->data + offset + size, c->len - size - offset);
    resize(c, c->len - size);
}

static void punch(content *c, size_t offset, size_t size)
{
    if (offset < c->len)
        memset(c->data + offset, 0, size < c->len - offset ? size : c->len - offset);
}

/* Bytes [from, to) of a write, in offsets of the file. */
static void write_part(content *c, const recorded *call, uint64_t from, uint64_t to)
{
    uint64_t end = call->offset + call->size;

    from = from > call->offset ? from : call->offset;
    to = to < end ? to : end;
    if (from >= to)
        return;
    if (to > c->len)
        resize(c, (size_t)to);
    memcpy(c->data + from, call->data + (from - call->offset), (size_t)(to - from));
}

static named *find_name(image *m, const char *name)
{
    for (size_t i = 0; i < m->name_count; i++)
        if (strcmp(m->names[i].name, name) == 0)
            return &m->names[i];
    return NULL;
}

static void set_name(image *m, const char *name, int file)
{
    named *found = find_name(m, name);

    if (found == NULL) {
        check(m->name_count < MAX_NAMES, "too many names");
        found = &m->names[m->name_count++];
        snprintf(found->name, sizeof found->name, "%s", name);
    }
    found->file = file;
}

static void remove_name(image *m, const char *name)
{
    named *found = find_name(m, name);

    if (found != NULL)
        *found = m->names[--m->name_count];
}

static void apply_name(image *m, const recorded *call)
{
    named *from = find_name(m, call->name);
    int file = from != NULL ? from->file : -1;

    if (call->kind == DISK_UNLINK || call->kind == DISK_REMOVE_FOLDER)
        remove_name(m, call->name);
    else if (call->kind == DISK_CREATE || call->kind == DISK_MAKE_FOLDER)
        set_name(m, call->name, call->file);
    else if (file >= 0) {
        if (call->kind == DISK_RENAME)
            remove_name(m, call->name);
        set_name(m, call->to, file);
    }
}

static bool is_of_names(const recorded *call)
{
    return call->kind == DISK_CREATE || call->kind == DISK_RENAME || call->kind == DISK_LINK ||
           call->kind == DISK_UNLINK || call->kind == DISK_MAKE_FOLDER ||
           call->kind == DISK_REMOVE_FOLDER;
}

/* What happens to one call. */
typedef struct fate {
    bool kept;
    uint64_t from, to; /* of a write: the part that is kept */
} fate;

static void apply(image *m, const recorded *call, const fate *f)
{
    content *file = call->file >= 0 ? &m->files[call->file] : NULL;

    if (!f->kept)
        return;
    if (is_of_names(call))
        apply_name(m, call);
    else if (call->kind == DISK_WRITE)
        write_part(file, call, f->from, f->to);
    else if (call->kind == DISK_RESIZE)
        resize(file, (size_t)call->size);
    else if (call->kind == DISK_INSERT)
        insert(file, (size_t)call->offset, (size_t)call->size);
    else if (call->kind == DISK_PUNCH)
        punch(file, (size_t)call->offset, (size_t)call->size);
    else if (call->kind == DISK_COLLAPSE)
        collapse(file, (size_t)call->offset, (size_t)call->size);
}

static void empty_folder(const char *directory)
{
    DIR *listing = opendir(directory);
    struct dirent *entry;

    check(listing != NULL, "%s", directory);
    while ((entry = readdir(listing)) != NULL) {
        const path_text path = path_join(directory, entry->d_name);
        struct stat info;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (lstat(path.text, &info) == 0 && S_ISDIR(info.st_mode)) {
            empty_folder(path.text);
            (void)rmdir(path.text);
        }
        (void)unlink(path.text);
    }
    closedir(listing);
}

/* Whether the folder that a name is in is there. */
static bool has_folder(const char *into, const char *name)
{
    const char *slash = strrchr(name, '/');
    char around[128] = "";

    if (slash != NULL)
        snprintf(around, sizeof around, "%.*s", (int)(slash - name), name);
    return file_exists(path_join(into, around).text);
}

/* Writes a file under its first name; later ones are links to it. */
static void write_named(const image *m, size_t index, const char *into)
{
    const named *name = &m->names[index];
    const path_text path = path_join(into, name->name);

    for (size_t i = 0; i < index; i++)
        if (m->names[i].file == name->file && has_folder(into, m->names[i].name)) {
            check(link(path_join(into, m->names[i].name).text, path.text) == 0, "link");
            return;
        }
    write_file(path.text, m->files[name->file].data, m->files[name->file].len);
}

/* Writes all files; those whose folder was lost are lost with it. */
static void write_image(const image *m, const char *into)
{
    for (size_t i = 0; i < m->name_count; i++)
        if (m->names[i].file == FOLDER)
            check(mkdir(path_join(into, m->names[i].name).text, 0700) == 0, "mkdir");
    for (size_t i = 0; i < m->name_count; i++)
        if (m->names[i].file != FOLDER && has_folder(into, m->names[i].name))
            write_named(m, i, into);
    /* The rights of journals.  Names were given last: no file was changed before another was
     * written. */
    for (size_t i = 0; i < m->name_count; i++)
        (void)chmod(path_join(into, m->names[i].name).text,
                    m->names[i].file == FOLDER ? 0700 : 0600);
}

/* The folder after `calls` calls with these fates. */
static void rebuild(const recording *r, size_t calls, const fate *fates, const char *into)
{
    image m = {.name_count = r->name_count};

    memcpy(m.names, r->names, sizeof m.names);
    for (int i = 0; i < r->file_count; i++) {
        resize(&m.files[i], r->first[i].len);
        if (r->first[i].len > 0)
            memcpy(m.files[i].data, r->first[i].data, r->first[i].len);
    }
    for (size_t i = 0; i < calls; i++)
        apply(&m, &r->calls[i], &fates[i]);
    empty_folder(into);
    write_image(&m, into);
    for (int i = 0; i < r->file_count; i++)
        free(m.files[i].data);
}

/* ---- losses --------------------------------------------------------------------------------- */

static bool is_sync(const recorded *call)
{
    return call->kind == DISK_SYNC || call->kind == DISK_SYNC_FOLDER;
}

/* Whether a folder has a name itself, not in a folder of it. */
static bool has_name(const char *around, const char *name)
{
    const char *slash = strrchr(name, '/');
    const size_t len = slash != NULL ? (size_t)(slash - name) : 0;

    return strlen(around) == len && strncmp(around, name, len) == 0;
}

/* Whether a later call waits until this one is on disk. */
static bool is_synced_by(const recorded *call, const recorded *sync)
{
    if (!is_of_names(call))
        return sync->kind == DISK_SYNC && sync->file == call->file;
    return sync->kind == DISK_SYNC_FOLDER && has_name(sync->name, call->name) &&
           (call->to[0] == '\0' || has_name(sync->name, call->to));
}

/* Whether call `at` was on disk for certain when power was lost after `calls` calls. */
static bool is_synced(const recording *r, size_t at, size_t calls)
{
    for (size_t i = at + 1; i < calls; i++)
        if (is_synced_by(&r->calls[at], &r->calls[i]))
            return true;
    return is_sync(&r->calls[at]);
}

/* Where a rebuilt folder goes, and who looks at it. */
typedef struct viewing {
    const recording *r;
    size_t calls;
    const char *into;
    recording_visit *visit;
    void *context;
    fate fates[MAX_CALLS];
    size_t unsynced[MAX_UNSYNCED];
    size_t unsynced_count;
} viewing;

static void show(viewing *v, const char *what)
{
    char label[96];

    rebuild(v->r, v->calls, v->fates, v->into);
    snprintf(label, sizeof label, "after %zu of %zu calls, %s", v->calls, v->r->count, what);
    v->visit(v->context, label);
}

/* Bit i of `kept`: the i-th unsynced call has reached the disk. */
static void show_subset(viewing *v, uint64_t kept)
{
    char what[48];

    for (size_t i = 0; i < v->unsynced_count; i++)
        v->fates[v->unsynced[i]] = (fate){(kept >> i & 1) != 0, 0, UINT64_MAX};
    snprintf(what, sizeof what, "kept 0x%jx of %zu", (uintmax_t)kept, v->unsynced_count);
    show(v, what);
}

/* All lost, none, each one alone lost, and each one alone kept. */
static void show_ends(viewing *v)
{
    const uint64_t all = (UINT64_C(1) << v->unsynced_count) - 1;

    show_subset(v, 0);
    if (all != 0)
        show_subset(v, all);
    for (size_t i = 0; i < v->unsynced_count && v->unsynced_count > 1; i++) {
        show_subset(v, all & ~(UINT64_C(1) << i));
        if (v->unsynced_count > 2)
            show_subset(v, UINT64_C(1) << i);
    }
}

/* Every way to tear one write in two, and to keep one sector of it. */
static void show_torn(viewing *v, size_t which, bool others)
{
    const recorded *call = &v->r->calls[v->unsynced[which]];
    fate *own = &v->fates[v->unsynced[which]];
    char what[48];

    for (size_t i = 0; i < v->unsynced_count; i++)
        v->fates[v->unsynced[i]] = (fate){others, 0, UINT64_MAX};
    for (uint64_t at = (call->offset / SECTOR + 1) * SECTOR; at < call->offset + call->size;
         at += SECTOR) {
        const fate parts[] = {{true, 0, at}, {true, at, UINT64_MAX}, {true, at, at + SECTOR}};

        for (size_t i = 0; i < COUNT_OF(parts); i++) {
            *own = parts[i];
            snprintf(what, sizeof what, "torn %zu at %ju, part %zu", which, (uintmax_t)at, i);
            show(v, what);
        }
    }
}

void recording_each_loss(const recording *r, size_t calls, recording_depth depth, const char *into,
                         recording_visit *visit, void *context)
{
    viewing v = {.r = r, .calls = calls, .into = into, .visit = visit, .context = context};

    for (size_t i = 0; i < calls; i++) {
        v.fates[i] = (fate){true, 0, UINT64_MAX};
        if (!is_synced(r, i, calls)) {
            check(v.unsynced_count < MAX_UNSYNCED, "too many calls without a sync");
            v.unsynced[v.unsynced_count++] = i;
        }
    }
    if (depth == RECORDING_ALL) {
        check(v.unsynced_count <= MAX_SUBSETS_OF, "too many calls to lose in every way");
        for (uint64_t kept = 0; kept < UINT64_C(1) << v.unsynced_count; kept++)
            show_subset(&v, kept);
    } else {
        show_ends(&v);
    }
    for (size_t i = 0; depth == RECORDING_ALL && i < v.unsynced_count; i++) {
        if (r->calls[v.unsynced[i]].kind != DISK_WRITE)
            continue;
        show_torn(&v, i, true);
        show_torn(&v, i, false);
    }
}
