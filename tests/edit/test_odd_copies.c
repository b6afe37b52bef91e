/* Copies of what is odd, and to where nothing can be written. */
#include "../support/aside.h"
#include "workshop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/files/pending.h"

static gufo_model *open_set(const char *path)
{
    gufo_error error = no_error();
    gufo_model *set = gufo_open(path, NULL, &error);

    check(set != NULL, "%s: %s", path, error.message);
    return set;
}

static gufo_job *plan_well(plan_fn *plan, const gufo_model *set, const char *label)
{
    gufo_error error = no_error();
    gufo_job *c = plan(set, NULL, &error);

    check(c != NULL, "%s: %s", label, error.message);
    return c;
}

/* ---- targets -------------------------------------------------------------------------------- */

/* Something that has the name of an output. */
typedef struct target {
    const char *label;
    void (*make)(const char *path);
    bool replace;
    int disk_failure; /* of every call that opens a file to write; 0: none */
    gufo_status status;
    const char *message;
} target;

static void make_fifo(const char *path)
{
    check(mkfifo(path, 0600) == 0, "mkfifo");
}

static void make_device(const char *path)
{
    check(symlink("/dev/null", path) == 0, "symlink");
}

static void make_folder(const char *path)
{
    check(mkdir(path, 0700) == 0, "mkdir");
}

static void make_file(const char *path)
{
    write_file(path, "old", 3);
}

static void make_read_only(const char *path)
{
    make_file(path);
    check(chmod(path, 0400) == 0, "chmod");
}

static path_text journal_beside(const char *path)
{
    path_text journal;
    int length = snprintf(journal.text, sizeof journal.text, "%s.gufo-journal", path);

    check((size_t)length < sizeof journal.text, "the path is too long");
    return journal;
}

/* The head of a journal is enough. */
static void make_half_edited(const char *path)
{
    const pending_head head = {.file_size = 4, .old_size = 4, .new_size = 4};
    uint8_t journal[PENDING_HEAD_SIZE + 8] = {0};

    make_file(path);
    pending_encode(&head, journal);
    write_file(journal_beside(path).text, journal, sizeof journal);
    check(chmod(journal_beside(path).text, 0600) == 0, "chmod");
}

/* What cannot be a journal is not in the way. */
static void make_strange_journal(const char *path)
{
    make_file(path);
    check(mkdir(journal_beside(path).text, 0700) == 0, "mkdir");
}

static void make_nothing(const char *path)
{
    (void)path;
}

static const target targets[] = {
    {"FIFO", make_fifo, true, 0, GUFO_E_EXISTS, "target exists and is not a regular file"},
    {"device", make_device, true, 0, GUFO_E_EXISTS, "target exists and is not a regular file"},
    {"folder", make_folder, true, 0, GUFO_E_EXISTS, "target exists and is not a regular file"},
    {"file", make_file, false, 0, GUFO_E_EXISTS, "target exists already"},
    {"file to be replaced", make_file, true, 0, GUFO_OK, ""},
    {"read-only file", make_read_only, true, 0, GUFO_OK, ""},
    {"half edited file", make_half_edited, true, 0, GUFO_E_ARGUMENT,
     "an edit of the output was interrupted and has to be recovered first"},
    {"file beside a strange journal", make_strange_journal, true, 0, GUFO_OK, ""},
    {"read-only folder", make_nothing, false, EACCES, GUFO_E_IO,
     "cannot create a file in the folder of the target"},
    {"read-only file system", make_nothing, false, EROFS, GUFO_E_IO,
     "cannot create a file in the folder of the target"},
    {"full disk", make_nothing, false, ENOSPC, GUFO_E_IO,
     "cannot create a file in the folder of the target"},
};

/* Writes a copy whose last output has the name of the target. */
static void write_to(const workshop *b, size_t number, const target *t)
{
    gufo_model *set = open_set(copies[number].from_set ? b->first.text : b->in.text);
    gufo_job *c = plan_well(copies[number].plan, set, copies[number].label);
    path_text out = folder_path(&b->f, copies[number].out);
    const gufo_run run = {.threads = 2};
    gufo_error error = no_error();
    size_t last = gufo_job_output_count(c) - 1, entries;
    char path[600], label[96];
    struct stat before, after;
    gufo_status status;

    snprintf(label, sizeof label, "%s to a %s", copies[number].label, t->label);
    (void)gufo_job_output_path(c, out.text, last, path, sizeof path);
    t->make(path);
    memset(&before, 0, sizeof before);
    (void)lstat(path, &before);
    entries = entry_count(b->f.path);
    if (t->disk_failure != 0)
        disk_fail_from(0, t->disk_failure);
    status = run_job(c, out.text, t->replace, &run, &error);
    disk_fail_never();
    check_status(status, t->status, &error, "%s", label);
    if (status == GUFO_OK) {
        gufo_job_output made;

        check(gufo_job_output_at(c, last, &made), "%s", label);
        check(lstat(path, &after) == 0 && S_ISREG(after.st_mode), "%s: a file", label);
        check_u64(after.st_size, made.size, "%s", label);
        check_u64(after.st_mode & 0777, before.st_mode & 0777, "%s: its rights are kept", label);
    } else {
        check(strncmp(error.message, t->message, strlen(t->message)) == 0, "%s: %s", label,
              error.message);
        check_u64(entry_count(b->f.path), entries, "%s: nothing is left", label);
        check(error.role == GUFO_FILE_OUTPUT && strstr(error.file, "/out") != NULL,
              "%s: whose failure it is", label);
        memset(&after, 0, sizeof after);
        (void)lstat(path, &after);
        check(before.st_ino == after.st_ino && before.st_mode == after.st_mode, "%s: untouched",
              label);
    }
    gufo_job_free(c);
    gufo_close(set);
    (void)remove(path);
    (void)remove(journal_beside(path).text);
    restore(b);
}

static void test_targets(void **state)
{
    workshop b = workshop_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(copies); i++)
        for (size_t k = 0; k < COUNT_OF(targets) && copies[i].out != NULL; k++)
            write_to(&b, i, &targets[k]);
    workshop_end(&b);
}

/* A set is named as its first shard, and by no other name. */
static void test_names_of_sets(void **state)
{
    static const char *const names[] = {"out.gguf", "out-00002-of-00003.gguf",
                                        "out-00001-of-00004.gguf"};
    workshop b = workshop_new();
    gufo_model *set = open_set(b.first.text);
    uint64_t before = folder_state(&b);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        gufo_job *c = plan_well(as_big, set, names[i]);
        gufo_error error = no_error();

        check_status(run_job(c, folder_path(&b.f, names[i]).text, false, NULL, &error),
                     GUFO_E_ARGUMENT, &error, "%s", names[i]);
        check(strstr(error.message, "NAME-00001-of-00003.gguf") != NULL, "%s", error.message);
        gufo_job_free(c);
    }
    check_u64(folder_state(&b), before, "nothing is written");
    gufo_close(set);
    workshop_end(&b);
}

/* ---- leftovers ------------------------------------------------------------------------------ */

/* Shards without a first one are replaced unasked only if a commit that was interrupted says so. */
static void test_leftovers(void **state)
{
    enum { NEITHER, FIRST, SECOND, BOTH, CASES };
    gufo_split_options twos = {.max_tensors = 2};
    workshop b = workshop_new();
    path_text out = folder_path(&b.f, "out"), first = shard_of(out.text, 1, SHARDS),
              second = shard_of(out.text, 2, SHARDS);

    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        gufo_error error = no_error();
        gufo_status expected = i == BOTH ? GUFO_OK : GUFO_E_EXISTS;

        write_file(second.text, "old", 3);
        if (i & FIRST)
            write_file(aside_of(first.text).text, "", 0);
        if (i & SECOND)
            write_file(aside_of(second.text).text, "", 0);
        check_status(make_copy(b.in.text, out.text, plan_split, &twos, false, NULL, &error),
                     expected, &error, "%zu", i);
        check(file_exists(first.text) == (expected == GUFO_OK), "%zu", i);
        if (expected != GUFO_OK)
            check_file(second.text, "old", 3, "kept");
        (void)unlink(aside_of(first.text).text);
        (void)unlink(aside_of(second.text).text);
        restore(&b);
    }
    workshop_end(&b);
}

/* ---- metadata of later shards --------------------------------------------------------------- */

static void no_keys(builder *b)
{
    (void)b;
}

static void same_keys(builder *b)
{
    builder_kv_str(b, "text", "same");
    builder_kv_u32(b, "general.alignment", 32);
}

static void other_value(builder *b)
{
    builder_kv_str(b, "text", "else");
    builder_kv_u32(b, "general.alignment", 32);
}

static void longer_value(builder *b)
{
    builder_kv_str(b, "text", "longer");
    builder_kv_u32(b, "general.alignment", 32);
}

static void other_key(builder *b)
{
    builder_kv_str(b, "texts", "same");
    builder_kv_u32(b, "general.alignment", 32);
}

static void write_shard(const char *path, uint16_t number, uint16_t count, uint64_t more,
                        void (*keys)(builder *b))
{
    builder b = builder_new((encoding){3, false});
    const uint64_t dims[1] = {32};
    char name[8];

    builder_header(&b, 1, 3 + more);
    keys(&b);
    builder_kv_u16(&b, "split.no", number);
    builder_kv_u16(&b, "split.count", count);
    builder_kv_i32(&b, "split.tensors.count", 2);
    snprintf(name, sizeof name, "t%u", number);
    builder_tensor(&b, name, GUFO_TYPE_I8, 1, dims, 0);
    builder_pad(&b, 32);
    builder_pattern(&b, number, 32);
    write_file(path, b.data, b.len);
    builder_free(&b);
}

static void test_metadata_of_shards(void **state)
{
    static const struct {
        const char *label;
        void (*keys)(builder *b);
        uint64_t count;
        uint32_t normalised;
    } rows[] = {
        {"none", no_keys, 0, 0},
        {"the same", same_keys, 2, 0},
        {"another value", other_value, 2, GUFO_NORMALISED_METADATA},
        {"a longer value", longer_value, 2, GUFO_NORMALISED_METADATA},
        {"another key", other_key, 2, GUFO_NORMALISED_METADATA},
    };
    folder f = folder_new();
    path_text prefix = folder_path(&f, "s"), out = folder_path(&f, "out.gguf");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_model *file;
        gufo_str text;

        write_shard(shard_of(prefix.text, 1, 2).text, 0, 2, 2, same_keys);
        write_shard(shard_of(prefix.text, 2, 2).text, 1, 2, rows[i].count, rows[i].keys);
        check_u64(
            copy_well(shard_of(prefix.text, 1, 2).text, out.text, plan_merge, NULL, rows[i].label)
                .normalised,
            rows[i].normalised, "%s", rows[i].label);
        file = open_path(out.text);
        check_u64(gufo_metadata_count(file), 2, "%s", rows[i].label);
        check_ok(gufo_get_str(file, "text", &text, NULL), NULL, "%s", rows[i].label);
        check_str(text, "same", "%s", rows[i].label);
        gufo_close(file);
        (void)unlink(out.text);
    }
    folder_remove(&f);
}

/* One file that has keys of a split. */
static void test_keys_of_a_split(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "a.gguf"), out = folder_path(&f, "out");
    gufo_split_options ones = {.max_tensors = 1};
    const gufo_open_options just_this = {.flags = GUFO_OPEN_INCOMPLETE};
    gufo_model *model;
    gufo_error error = no_error();

    (void)state;
    write_shard(path.text, 0, 0, 0, no_keys);
    check_status(make_copy(path.text, out.text, plan_merge, NULL, false, NULL, &error),
                 GUFO_E_SHARDS, &error, "merged already");
    check(strstr(error.message, "split.count is 0") != NULL, "%s", error.message);
    check_u64(copy_well(path.text, out.text, plan_split, &ones, "was merged").normalised,
              GUFO_NORMALISED_SPLIT_KEYS, "keys are dropped");
    write_shard(path.text, 1, 3, 0, no_keys);
    check_status(make_copy(path.text, out.text, plan_split, &ones, true, NULL, &error),
                 GUFO_E_SHARDS, &error, "one of three");
    check(strstr(error.message, "shard 2 of 3") != NULL, "%s", error.message);
    model = gufo_open(path.text, &just_this, &error);
    check(model != NULL && gufo_job_split(model, &ones, &error) == NULL, "half a model");
    check(strstr(error.message, "one shard of 3") != NULL, "%s", error.message);
    gufo_close(model);
    check_status(make_copy(path.text, out.text, plan_merge, NULL, true, NULL, &error),
                 GUFO_E_SHARDS, &error, "one of three");
    check(strstr(error.message, "shard 2 of 3") != NULL, "%s", error.message);
    folder_remove(&f);
}

/* ---- what callers ask ----------------------------------------------------------------------- */

static void test_questions(void **state)
{
    workshop b = workshop_new();
    gufo_model *set = open_set(b.in.text);
    gufo_job *c = plan_well(by_tensors, set, "split");
    gufo_job_output out;
    gufo_error error = no_error();
    char path[8];

    (void)state;
    for (uint32_t kind = 1; kind <= GUFO_NORMALISED_METADATA; kind *= 2)
        check(strlen(gufo_normalised_text((gufo_normalised)kind)) > 10, "kind %" PRIu32, kind);
    assert_null(gufo_normalised_text((gufo_normalised)0));
    assert_null(gufo_normalised_text((gufo_normalised)(2 * GUFO_NORMALISED_METADATA)));
    check(gufo_job_output_at(c, SHARDS - 1, &out), "the last one");
    check_u64(out.tensor_count, 2, "the last one");
    check(!gufo_job_output_at(c, SHARDS, &out), "past the end");
    check_status(gufo_job_stream(c, 1, NULL, &error), GUFO_E_ARGUMENT, &error, "several files");
    check_str(gufo_str_of(error.message), "3 files cannot be written to one stream", "message");
    gufo_job_free(c);
    c = plan_well(as_big, set, "endian");
    check_u64(gufo_job_output_path(c, "a/long/path", 0, path, sizeof path), 11, "length");
    check_str(gufo_str_of(path), "a/long/", "what fits");
    check_ok(run_job(c, b.out.text, false, NULL, &error), &error, "once");
    check_status(run_job(c, b.out.text, false, NULL, &error), GUFO_E_ARGUMENT, &error, "twice");
    check_status(gufo_job_stream(c, 1, NULL, &error), GUFO_E_ARGUMENT, &error, "and streamed");
    check_str(gufo_str_of(error.message), "the job was already written", "message");
    gufo_job_free(c);
    gufo_close(set);
    workshop_end(&b);
}

/* ---- streams that end ----------------------------------------------------------------------- */

/* Streams to a file that must not grow beyond `limit`. */
static gufo_status stream_up_to(const workshop *b, const gufo_model *set, plan_fn *plan,
                                uint64_t limit, gufo_error *error)
{
    struct rlimit old, new;
    gufo_job *c = plan_well(plan, set, "stream");
    int fd = open(b->out.text, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    gufo_status status;
    struct stat info;

    check(getrlimit(RLIMIT_FSIZE, &old) == 0, "getrlimit");
    new = (struct rlimit){limit, old.rlim_max};
    check(setrlimit(RLIMIT_FSIZE, &new) == 0, "setrlimit");
    status = gufo_job_stream(c, fd, NULL, error);
    check(setrlimit(RLIMIT_FSIZE, &old) == 0, "setrlimit");
    check(fstat(fd, &info) == 0, "fstat");
    if (status != GUFO_OK) {
        check_u64(info.st_size, limit, "everything up to there was sent");
        check(error->role != GUFO_FILE_INPUT, "the failure is not about the source");
    }
    (void)close(fd);
    gufo_job_free(c);
    return status;
}

/* Wherever the receiver stops, in the header, in data or in padding, that is the failure. */
static void test_streams_end(void **state)
{
    static plan_fn *const plans[] = {merged, as_big, as_safetensors};
    workshop b = workshop_new();

    (void)state;
    (void)signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < COUNT_OF(plans); i++) {
        gufo_model *set = open_set(i == 0 ? b.first.text : b.in.text);
        gufo_status status = GUFO_E_IO;
        size_t failed = 0;

        for (uint64_t limit = 0; status != GUFO_OK; limit += 61, failed++) {
            gufo_error error = no_error();

            status = stream_up_to(&b, set, plans[i], limit, &error);
            if (status == GUFO_OK)
                break;
            check_error_shape(&error, GUFO_E_IO, "stream");
            check_u64(error.system, EFBIG, "%s", error.message);
        }
        check(failed > 50, "plan %zu: %zu failures", i, failed);
        gufo_close(set);
    }
    (void)signal(SIGXFSZ, SIG_DFL);
    workshop_end(&b);
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* A model of one tensor that has random or no bytes; false where no file can have so many. */
static bool write_tensor(const char *path, bool big, uint32_t type, uint64_t columns, uint64_t rows,
                         uint64_t size, bool sparse)
{
    builder b = builder_new((encoding){3, big});
    const uint64_t dims[2] = {columns, rows};
    uint64_t data;

    builder_header(&b, 1, 0);
    builder_tensor(&b, "t", type, 2, dims, 0);
    builder_pad(&b, 32);
    data = b.len;
    if (!sparse)
        builder_pattern(&b, 1, (size_t)size);
    write_file(path, b.data, b.len);
    builder_free(&b);
    return !sparse || truncate(path, (off_t)(data + size)) == 0;
}

/* Decoding takes whole groups of rows: longer ones make larger units, too long ones are refused. */
static void test_long_rows(void **state)
{
    enum { LONG = 32 * 512, TOO_LONG = 512 * 1024 + 32, BLOCK = 8 * 18 };
    const gufo_element_type *type = gufo_element_type_by_id(GUFO_TYPE_Q4_0_8_8);
    workshop b = workshop_new();
    path_text path = folder_path(&b.f, "out.long"), out = folder_path(&b.f, "out.f32");
    gufo_error error = no_error();
    uint8_t *blocks, *made;
    gufo_tensor tensor;
    gufo_model *file;
    gufo_model *set;
    gufo_job *c;
    float *values = malloc(16 * (size_t)LONG * sizeof *values);
    size_t len;

    (void)state;
    (void)write_tensor(path.text, false, type->id, LONG, 16, 2 * LONG / 32 * BLOCK, false);
    set = open_set(path.text);
    c = gufo_job_extract(set, &(uint64_t){0}, 1,
                         &(gufo_extract_options){.type = gufo_element_type_by_id(GUFO_TYPE_F32)},
                         &error);
    check_ok(run_job(c, out.text, false, NULL, &error), &error, "long");
    gufo_job_free(c);
    gufo_close(set);
    file = open_path(path.text);
    blocks = tensor_bytes(file, "t", &tensor);
    check_ok(gufo_decode(type, blocks, 16, LONG, values, 0, &error), &error, "decode");
    made = read_file(out.text, &len);
    check_u64(len, 16 * (size_t)LONG * sizeof *values, "size");
    for (size_t i = 0; i < 16 * (size_t)LONG; i++) {
        uint32_t bits;

        memcpy(&bits, &values[i], sizeof bits);
        for (size_t byte = 0; byte < 4; byte++)
            check(made[4 * i + byte] == (uint8_t)(bits >> (8 * byte)), "number %zu", i);
    }
    gufo_close(file);
    free(blocks);
    free(made);
    free(values);
    (void)write_tensor(path.text, false, type->id, TOO_LONG, 8, TOO_LONG / 32 * BLOCK, true);
    set = open_set(path.text);
    check(gufo_job_extract(set, &(uint64_t){0}, 1,
                           &(gufo_extract_options){.type = gufo_element_type_by_id(GUFO_TYPE_F32)},
                           &error) == NULL,
          "too long");
    check_u64(error.code, GUFO_E_LIMIT, "%s", error.message);
    gufo_close(set);
    workshop_end(&b);
}

/* Rows that do not fill their groups cannot be decoded, in no byte order. */
static void test_rows_without_group(void **state)
{
    workshop b = workshop_new();
    path_text path = folder_path(&b.f, "out.rows"), out = folder_path(&b.f, "out.f32");

    (void)state;
    for (int big = 0; big < 2; big++) {
        gufo_error error = no_error();
        gufo_model *set;
        gufo_job *c;

        (void)write_tensor(path.text, big == 1, GUFO_TYPE_Q4_0_4_4, 32, 2, 36, false);
        set = open_set(path.text);
        c = gufo_job_extract(
            set, &(uint64_t){0}, 1,
            &(gufo_extract_options){.type = gufo_element_type_by_id(GUFO_TYPE_F32)}, &error);
        check(c == NULL || run_job(c, out.text, false, NULL, &error) != GUFO_OK, "big %d", big);
        check(error.code != GUFO_OK, "big %d", big);
        check_error_shape(&error, error.code, "rows");
        check(!file_exists(out.text), "nothing is left");
        gufo_job_free(c);
        gufo_close(set);
    }
    workshop_end(&b);
}

/* Numbers that are more than any file holds: in a file of an exbibyte, all hole. */
static void test_enormous(void **state)
{
    static const struct {
        unsigned bits; /* of the number of elements */
        const char *message;
    } rows[] = {{62, "the decoded tensor would be larger than any file can be"},
                {61, "the file would be larger than any file can be"}};
    const gufo_element_type *type = gufo_element_type_by_name("IQ1_S");
    workshop b = workshop_new();
    path_text path = folder_path(&b.f, "out.huge");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t blocks = (UINT64_C(1) << rows[i].bits) / type->block_elements;
        gufo_error error = no_error();
        gufo_model *set;

        if (!write_tensor(path.text, false, type->id, type->block_elements, blocks,

                          blocks * type->block_bytes, true)) {
            workshop_end(&b);

            skip();
        }
        set = gufo_open(path.text, NULL, &error);
        check(set != NULL, "%s", error.message);
        check(gufo_job_extract(
                  set, &(uint64_t){0}, 1,
                  &(gufo_extract_options){.type = gufo_element_type_by_id(GUFO_TYPE_F32)},
                  &error) == NULL,
              "row %zu", i);
        check_u64(error.code, GUFO_E_RANGE, "%s", error.message);
        check_str(gufo_str_of(error.message), rows[i].message, "row %zu", i);
        gufo_close(set);
    }
    workshop_end(&b);
}

/* As many threads as their buffers leave room for; the bytes are the same. */
static void test_many_threads(void **state)
{
    enum { SIZE = 9 * 1024 * 1024 };
    workshop b = workshop_new();
    path_text path = folder_path(&b.f, "out.wide"), back = folder_path(&b.f, "out.back");
    static const gufo_byte_order orders[] = {GUFO_BIG_ENDIAN, GUFO_LITTLE_ENDIAN};
    const gufo_run options = {.threads = 1000};
    gufo_error error = no_error();
    gufo_model *set;
    gufo_job *c;

    (void)state;
    disk_without_help(true);
    (void)write_tensor(path.text, false, GUFO_TYPE_I8, SIZE, 1, SIZE, false);
    for (unsigned turn = 0; turn < 2; turn++) {
        set = open_set(turn == 0 ? path.text : b.out.text);
        c = plan_endian(set, &orders[turn], &error);
        check_ok(run_job(c, turn == 0 ? b.out.text : back.text, false, &options, &error), &error,
                 "turn %u", turn);
        gufo_job_free(c);
        gufo_close(set);
    }
    check(same_files(path.text, back.text), "there and back");
    disk_without_help(false);
    workshop_end(&b);
}

/* Those that had a number once, and lost it: their blocks are unknown. */
static void test_types_without_layout(void **state)
{
    static const uint32_t types[] = {4, 57}; /* Q4_2; none */
    workshop b = workshop_new();
    path_text path = folder_path(&b.f, "out.type");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        gufo_error error = no_error();
        gufo_model *set;

        (void)write_tensor(path.text, false, types[i], 32, 1, 32, false);
        set = gufo_open(path.text, NULL, &error);
        check(set != NULL, "%s", error.message);
        check(as_big(set, NULL, &error) == NULL, "type %" PRIu32, types[i]);
        check_u64(error.code, GUFO_E_TYPE, "%s", error.message);
        check(strstr(error.message, "whose layout is not known") != NULL, "%s", error.message);
        check(gufo_job_extract(
                  set, &(uint64_t){0}, 1,
                  &(gufo_extract_options){.type = gufo_element_type_by_id(GUFO_TYPE_F32)},
                  &error) == NULL,
              "type %" PRIu32, types[i]);
        check_u64(error.code, GUFO_E_TYPE, "%s", error.message);
        gufo_close(set);
    }
    workshop_end(&b);
}

/* Whatever the order in which tensors are asked for, a safetensors file is the same. */
static void test_order(void **state)
{
    static const uint64_t orders[][6] = {
        {0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {3, 0, 5, 1, 4, 2}};
    workshop b = workshop_new();
    path_text again = folder_path(&b.f, "out.again");

    (void)state;
    for (size_t from_set = 0; from_set < 2; from_set++) {
        for (size_t i = 0; i < COUNT_OF(orders); i++) {
            const gufo_extract_options options = {.format = GUFO_EXTRACT_SAFETENSORS};
            gufo_model *set = open_set(from_set == 1 ? b.first.text : b.in.text);
            gufo_error error = no_error();
            gufo_job *c = gufo_job_extract(set, orders[i], 6, &options, &error);

            check(c != NULL, "%s", error.message);
            check_ok(run_job(c, i == 0 ? b.out.text : again.text, true, NULL, &error), &error,
                     "order %zu", i);
            gufo_job_free(c);
            gufo_close(set);
            check(i == 0 || same_files(b.out.text, again.text), "order %zu", i);
        }
    }
    workshop_end(&b);
}

/* A tensor without bytes has a place, too, which is noted where it will be another. */
static void test_empty_tensors(void **state)
{
    workshop b = workshop_new();
    path_text path = folder_path(&b.f, "out.empty");
    const uint64_t none[1] = {0}, some[1] = {32};

    (void)state;
    for (uint64_t offset = 0; offset <= 64; offset += 32) {
        builder file = builder_new((encoding){3, false});
        gufo_model *set;
        gufo_job *c;
        gufo_error error = no_error();

        builder_header(&file, 2, 0);
        builder_tensor(&file, "some", GUFO_TYPE_I8, 1, some, 0);
        builder_tensor(&file, "none", GUFO_TYPE_I8, 1, none, offset);
        builder_pad(&file, 32);
        builder_pattern(&file, 1, 64);
        write_file(path.text, file.data, file.len);
        set = open_set(path.text);
        c = plan_well(by_tensors, set, "empty");
        check((gufo_job_normalised(c) & GUFO_NORMALISED_ORDER) == 0 ? offset == 32 : offset != 32,
              "at %" PRIu64 ": %#" PRIx32, offset, gufo_job_normalised(c));
        check_ok(run_job(c, b.out.text, false, NULL, &error), &error, "at %" PRIu64, offset);
        gufo_job_free(c);
        gufo_close(set);
        builder_free(&file);
        restore(&b);
    }
    workshop_end(&b);
}

/* Names that JSON cannot hold as they are. */
static void test_odd_names(void **state)
{
    static const struct {
        const char *name, *json; /* NULL: cannot be written */
    } rows[] = {
        {"a\"b\\c", "{\"a\\\"b\\\\c\":{"},
        {"tab\there", "{\"tab\\u0009here\":{"},
        {"del\x7f", "{\"del\\u007f\":{"},
        {"\xc3\xa4", "{\"\xc3\xa4\":{"},
        {"__metadata__", NULL},
    };
    workshop b = workshop_new();
    path_text path = folder_path(&b.f, "out.names");
    const uint64_t dims[1] = {32};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const gufo_extract_options options = {.format = GUFO_EXTRACT_SAFETENSORS};
        builder file = builder_new((encoding){3, false});
        gufo_error error = no_error();
        gufo_model *set;
        gufo_job *c;

        builder_header(&file, 1, 0);
        builder_tensor(&file, rows[i].name, GUFO_TYPE_I8, 1, dims, 0);
        builder_pad(&file, 32);
        builder_pattern(&file, 1, 32);
        write_file(path.text, file.data, file.len);
        set = open_set(path.text);
        c = gufo_job_extract(set, &(uint64_t){0}, 1, &options, &error);
        check((c == NULL) == (rows[i].json == NULL), "%s", error.message);
        if (c == NULL)
            check_u64(error.code, GUFO_E_ARGUMENT, "%s", error.message);
        else {
            uint8_t *bytes;
            size_t len;

            check_ok(run_job(c, b.out.text, false, NULL, &error), &error, "row %zu", i);
            bytes = read_file(b.out.text, &len);
            check(len > 80 && memcmp(bytes + 8, rows[i].json, strlen(rows[i].json)) == 0, "%.60s",
                  (const char *)bytes + 8);
            check(memcmp(bytes + len - 32, file.data + file.len - 32, 32) == 0, "data");
            free(bytes);
        }
        gufo_job_free(c);
        gufo_close(set);
        builder_free(&file);
        restore(&b);
    }
    workshop_end(&b);
}

/* ---- a source that changes ------------------------------------------------------------------ */

/* An array of two strings, of which the first can be cut short so that the rest is another second
 * one: all lengths stay inside. */
static builder shifty_file(uint8_t first_length)
{
    builder b = builder_new((encoding){3, false});
    const uint64_t dims[1] = {4};

    builder_header(&b, 1, 1);
    builder_kv_array(&b, "texts", GUFO_VALUE_STRING, 2);
    builder_u64(&b, first_length);
    builder_fill(&b, 'x', 4);
    builder_zeros(&b, 96);
    builder_u64(&b, 0);
    builder_tensor(&b, "t", GUFO_TYPE_F32, 1, dims, 0);
    builder_pad(&b, 32);
    builder_pattern(&b, 1, 16);
    builder_pad(&b, 32);
    return b;
}

/* Metadata that changes after it was planned does not fit any more, and is not written. */
static void test_metadata_changes(void **state)
{
    workshop b = workshop_new();
    path_text path = folder_path(&b.f, "out.shifty");
    static plan_fn *const plans[] = {as_big, by_tensors};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(plans); i++) {
        builder before = shifty_file(100), after = shifty_file(4);
        gufo_error error = no_error();
        gufo_model *set;
        gufo_job *c;
        size_t entries;

        write_file(path.text, before.data, before.len);
        set = open_set(path.text);
        c = plan_well(plans[i], set, "shifty");
        write_file(path.text, after.data, after.len);
        entries = entry_count(b.f.path);
        check_status(run_job(c, b.out.text, false, NULL, &error), GUFO_E_CHANGED, &error,
                     "plan %zu", i);
        check_u64(entry_count(b.f.path), entries, "nothing is left");
        gufo_job_free(c);
        gufo_close(set);
        builder_free(&before);
        builder_free(&after);
    }
    workshop_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_names_of_sets),
        cmocka_unit_test(test_leftovers),
        cmocka_unit_test(test_metadata_of_shards),
        cmocka_unit_test(test_keys_of_a_split),
        cmocka_unit_test(test_questions),
        cmocka_unit_test(test_streams_end),
        cmocka_unit_test(test_long_rows),
        cmocka_unit_test(test_rows_without_group),
        cmocka_unit_test(test_enormous),
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_types_without_layout),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_empty_tensors),
        cmocka_unit_test(test_odd_names),
        cmocka_unit_test(test_metadata_changes),
    };

    return cmocka_run_group_tests(tests, copies_setup, NULL);
}
