/* The files of a repository elsewhere: for each its size, its type by its name, and whether its weights fit into the
 * memory that this machine has free now.  Shards of a set are one row. */
#include "cli/inspect/ls.h"

#include "cli/core/files/path.h"
#include "cli/core/files/remote.h"
#include "cli/core/machine/machine.h"
#include "cli/core/records/record.h"
#include "cli/core/values/array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA_VERSION = 1 }; /* as in show.c */

enum { SETS = 1 }; /* a part: some models have several shards */

typedef struct remote_row {
    char *path;
    uint64_t shards; /* 0: it is not a shard */
    uint64_t size;
    bool has_size, has_fit, is_fitting;
    char type[16];
    const char *fits;
    char sha256[65];
} remote_row;

static const record_field row_fields[] = {
    {"schema_version", NULL, RECORD_FIXED, .at = SCHEMA_VERSION},
    {"file", "file", RECORD_TEXT, RECORD_AT(remote_row, path), .width = -4},
    {"shard_count", NULL, RECORD_COUNT, RECORD_AT(remote_row, shards), .none = RECORD_OR_OUT},
    {NULL, "shards", RECORD_COUNT, RECORD_AT(remote_row, shards), .none = RECORD_OR_OUT,
     .part = SETS, .instead = "", .width = 6, .drop = 2},
    {"type", "type", RECORD_CHARS, RECORD_AT(remote_row, type), .width = -4, .drop = 3},
    {"size", "size", RECORD_BYTES, RECORD_AT(remote_row, size), RECORD_KNOWN(remote_row, has_size),
     .width = 4},
    {"fits", NULL, RECORD_FLAG, RECORD_AT(remote_row, is_fitting),
     RECORD_KNOWN(remote_row, has_fit)},
    {NULL, "fits", RECORD_TEXT, RECORD_AT(remote_row, fits), .width = -4, .drop = 1},
    {"sha256", NULL, RECORD_CHARS, RECORD_AT(remote_row, sha256), .none = RECORD_OR_OUT},
};
static const record_type row_type = RECORD_OF(remote_row, row_fields, 0);

typedef struct remote_files {
    remote_row *rows;
    size_t count;
    bool failed;     /* without memory, after a report */
    uint64_t memory; /* that is free; 0: not known */
} remote_files;

/* ---- types ----------------------------------------------------------------------------------- */

/* What files are, by the ends of their names. */
static const struct {
    const char *end, *type;
} kinds[] = {
    {".gguf", "GGUF"},      {".safetensors", "safetensors"},
    {".bin", "bin"},        {".pt", "PyTorch"},
    {".pth", "PyTorch"},    {".json", "JSON"},
    {".md", "text"},        {".txt", "text"},
    {".jinja", "template"}, {".model", "tokenizer"},
    {".onnx", "ONNX"},
};

static bool ends_in(const char *path, const char *end)
{
    size_t len = strlen(path), more = strlen(end);

    return len > more && strcmp(path + len - more, end) == 0;
}

/* The type that is a word of a name: "Q4_K_M" of "tiny-Q4_K_M.gguf". */
static bool find_type(const char *name, char out[16])
{
    while (*name != '\0') {
        size_t len = strcspn(name, "-./");
        char word[16];

        if (len > 0 && len < sizeof word) {
            memcpy(word, name, len);
            word[len] = '\0';
            if (gufo_file_type_by_name(word) != NULL || gufo_element_type_by_name(word) != NULL) {
                for (size_t i = 0; i <= len; i++)
                    out[i] =
                        (char)(word[i] >= 'a' && word[i] <= 'z' ? word[i] - 'a' + 'A' : word[i]);
                return true;
            }
        }
        name += len + (name[len] != '\0');
    }
    return false;
}

static void note_type(remote_row *row)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!ends_in(row->path, kinds[i].end))
            continue;
        if (i > 0 || !find_type(row->path, row->type))
            (void)snprintf(row->type, sizeof row->type, "%s", kinds[i].type);
        return;
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint64_t free_memory(void)
{
    const char *root = getenv("GUFO_ROOT");
    uint64_t sum;
    machine m;

    machine_look(root != NULL ? root : "", &m);
    sum = m.available;
    for (uint32_t d = 0; d < m.device_count; d++)
        sum += m.devices[d].free;
    return sum;
}

/* Weights, and a little for what comes with them; 'gufo estimate' reads the header and knows better. */
static void note_fit(remote_row *row, uint64_t memory)
{
    static const uint64_t beside = UINT64_C(512) << 20;
    const bool is_model = ends_in(row->path, ".gguf");

    row->has_fit = is_model && row->has_size && memory > 0;
    row->is_fitting = row->has_fit && memory > beside && row->size <= (memory - beside) / 20 * 19;
    row->fits = !row->has_fit ? NULL : row->is_fitting ? "yes" : "no";
}

/* ---- the list -------------------------------------------------------------------------------- */

/* The row of the set that a shard belongs to; NULL: it is the first of one, or no shard. */
static remote_row *row_of_set(const remote_files *files, const char *path)
{
    size_t prefix, other_prefix;
    uint32_t number, count, other_count;

    if (!gufo_shard_path_parse(path, &prefix, &number, &count))
        return NULL;
    for (size_t i = files->count; i-- > 0;) {
        remote_row *row = &files->rows[i];

        if (gufo_shard_path_parse(row->path, &other_prefix, NULL, &other_count) &&
            other_prefix == prefix && other_count == count && strncmp(row->path, path, prefix) == 0)
            return row;
    }
    return NULL;
}

static bool add_file(void *context, const gufo_remote_file *file)
{
    remote_files *files = context;
    const bool has_size = file->size != GUFO_NO_OFFSET;
    remote_row *row = row_of_set(files, file->path);
    uint32_t count;

    if (row != NULL) {
        row->has_size = row->has_size && has_size && row->size <= UINT64_MAX - file->size;
        row->size += row->has_size ? file->size : 0;
        row->sha256[0] = '\0';
        return true;
    }
    row = array_add(&files->rows, &files->count, sizeof *row);
    files->failed = row == NULL;
    if (row == NULL)
        return false;
    row->path = path_with(file->path, "");
    files->failed = row->path == NULL;
    if (row->path == NULL) {
        files->count--;
        return false;
    }
    row->has_size = has_size;
    row->size = has_size ? file->size : 0;
    row->shards = gufo_shard_path_parse(file->path, NULL, NULL, &count) ? count : 0;
    (void)snprintf(row->sha256, sizeof row->sha256, "%s", file->sha256 != NULL ? file->sha256 : "");
    return true;
}

static void write_rows(const remote_files *files, const char *address, bool json)
{
    const record_list list = {.items = files->rows, .count = files->count};
    record_type type = row_type;
    table t;

    for (size_t i = 0; i < files->count; i++)
        if (files->rows[i].shards > 0)
            type.parts = SETS;
    t = record_table(&type, 0);
    if (!json) {
        record_print(&t, &type, &list);
        return;
    }
    for (size_t i = 0; i < files->count; i++)
        record_write_document(address, &row_type, &files->rows[i]);
}

static void free_rows(remote_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->rows[i].path);
    free(files->rows);
}

int ls_repository(const char *address, const shared_options *shared)
{
    remote_files files = {.memory = free_memory()};
    uint64_t left_out = 0;
    gufo_error error;
    int code = CODE_OK;

    if (remote_list(address, add_file, &files, &left_out, &error) != GUFO_OK)
        code = report_error(remote_shown(address), &error);
    else if (files.failed)
        code = CODE_FAILED;
    for (size_t i = 0; i < files.count; i++) {
        note_type(&files.rows[i]);
        note_fit(&files.rows[i], files.memory);
    }
    if (code == CODE_OK && left_out > 0)
        report_warning(address,
                       "%" PRIu64
                       " names lead out of the repository, or cannot be shown, and are left out",
                       left_out);
    if (code == CODE_OK && files.count == 0) {
        report_warning(address, "no files are there");
        code = CODE_NO;
    } else if (code == CODE_OK) {
        write_rows(&files, remote_shown(address), shared->json);
    }
    free_rows(&files);
    return code;
}
