/* Models: what they are opened from, lent shards, shards alone, and which file an error names. */
#include "../support/allocator.h"
#include "../support/folder.h"
#include "../support/findings.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { SHARDS = 3 };

/* Shard `index` of three: one tensor "t0" ... and an architecture. */
static builder make_shard(uint32_t index, uint32_t count)
{
    builder b = builder_new((encoding){3, false});
    const uint64_t dims[1] = {8};
    char name[8];

    builder_header(&b, 1, 5);
    builder_kv_str(&b, "general.architecture", "llama");
    builder_kv_u32(&b, "llama.block_count", 7);
    builder_kv_u32(&b, "split.no", index);
    builder_kv_u32(&b, "split.count", count);
    builder_kv_u32(&b, "split.tensors.count", count);
    snprintf(name, sizeof name, "t%u", (unsigned)index);
    builder_tensor(&b, name, GUFO_TYPE_F32, 1, dims, 0);
    builder_pad(&b, 32);
    for (unsigned i = 0; i < 8; i++)
        builder_f32(&b, (float)(10 * index + i));
    return b;
}

static path_text shard_path(const folder *f, uint32_t index)
{
    char name[64];

    snprintf(name, sizeof name, "m-%05u-of-%05d.gguf", (unsigned)index + 1, SHARDS);
    return folder_path(f, name);
}

static void write_shards(const folder *f)
{
    for (uint32_t i = 0; i < SHARDS; i++) {
        builder b = make_shard(i, SHARDS);

        write_file(shard_path(f, i).text, b.data, b.len);
        builder_free(&b);
    }
}

/* ---- sources -------------------------------------------------------------------------------- */

typedef struct bytes {
    const builder *b;
    unsigned closed;
} bytes;

static gufo_status read_bytes(void *context, uint64_t offset, void *buffer, size_t size,
                              gufo_error *error)
{
    const bytes *from = context;

    (void)error;
    memcpy(buffer, from->b->data + offset, size);
    return GUFO_OK;
}

static void close_bytes(void *context)
{
    ((bytes *)context)->closed++;
}

static gufo_source source_of(bytes *from)
{
    return (gufo_source){
        .context = from, .size = from->b->len, .read = read_bytes, .close = close_bytes};
}

/* ---- a model of three ----------------------------------------------------------------------- */

static void check_three(const gufo_model *model, const char *label)
{
    gufo_tensor tensor, lent;
    float numbers[8];
    uint64_t blocks = 0;

    check_u64(gufo_model_shard_count(model), SHARDS, "%s", label);
    check_u64(gufo_model_tensor_count(model), SHARDS, "%s", label);
    check(gufo_model_shard(model, SHARDS) == NULL, "%s: past the end", label);
    check_ok(gufo_model_get_u64(model, "{arch}.block_count", &blocks, NULL), &(gufo_error){0}, "%s",
             label);
    check_u64(blocks, 7, "%s", label);
    for (uint32_t i = 0; i < SHARDS; i++) {
        const gufo_model *shard = gufo_model_shard(model, i);

        check(shard != NULL && gufo_model_shard_count(shard) == 1, "%s", label);
        check(gufo_model_shard(shard, 0) == shard, "%s: a shard lends itself", label);
        check(gufo_model_tensor_at(model, i, &tensor) && tensor.shard == i, "%s", label);
        check(gufo_model_tensor_at(shard, 0, &lent) && lent.shard == 0, "%s", label);
        check_view(tensor.name, lent.name, "%s", label);
        /* Its own tensor, and as the model tells it. */
        check_ok(gufo_tensor_read_raw(shard, &lent, 0, numbers, sizeof numbers, NULL),
                 &(gufo_error){0}, "%s", label);
        check_ok(gufo_tensor_decode(shard, &tensor, 0, 1, numbers, NULL, NULL), &(gufo_error){0},
                 "%s", label);
        check(numbers[3] == (float)(10 * i + 3), "%s: shard %u", label, i);
        numbers[3] = 0;
        check_ok(gufo_tensor_decode(model, &tensor, 0, 1, numbers, NULL, NULL), &(gufo_error){0},
                 "%s", label);
        check(numbers[3] == (float)(10 * i + 3), "%s: model, tensor %u", label, i);
        check(gufo_model_tensor_find_str(model, lent.name, &tensor) && tensor.shard == i, "%s",
              label);
    }
    check_u64(gufo_model_facts(model).size,
              gufo_model_facts(gufo_model_shard(model, 0)).size +
                  gufo_model_facts(gufo_model_shard(model, 1)).size +
                  gufo_model_facts(gufo_model_shard(model, 2)).size,
              "%s: size", label);
    check_u64(gufo_model_facts(model).claimed_tensors, SHARDS, "%s", label);
    check(gufo_model_read_raw(model, 0, numbers, 4, NULL) == GUFO_E_ARGUMENT, "%s: bytes", label);
    check(gufo_model_read_raw(gufo_model_shard(model, 1), 0, numbers, 4, NULL) == GUFO_OK, "%s",
          label);
    tensor.shard = SHARDS;
    check(gufo_tensor_read_raw(model, &tensor, 0, numbers, 4, NULL) == GUFO_E_RANGE &&
              gufo_tensor_decode(model, &tensor, 0, 1, numbers, NULL, NULL) == GUFO_E_RANGE &&
              gufo_tensor_raw(model, &tensor) == NULL,
          "%s: no such shard", label);
}

/* By the name of the first; and as a list of one path, a descriptor, memory and a source. */
static void test_set_and_list(void **state)
{
    folder f = folder_new();
    builder second = make_shard(1, SHARDS), third = make_shard(2, SHARDS);
    bytes from = {.b = &second};
    gufo_source source = source_of(&from);
    gufo_error error = no_error();
    path_text first = folder_path(&f, "any name");
    gufo_model *model;
    int fd;

    (void)state;
    write_shards(&f);
    model = gufo_model_open(shard_path(&f, 0).text, NULL, &error);
    check(model != NULL, "%s", error.message);
    check_three(model, "by name");
    check(strcmp(gufo_model_name(model), shard_path(&f, 0).text) == 0, "name");
    gufo_model_free(model);

    check(rename(shard_path(&f, 0).text, first.text) == 0, "rename");
    fd = open(first.text, O_RDONLY);
    gufo_input inputs[3] = {gufo_input_fd(fd), gufo_input_source(&source),
                            gufo_input_memory(third.data, third.len)};

    inputs[1].name = "a source";
    model = gufo_model_open_shards(inputs, 3, NULL, &error);
    check(model != NULL, "%s", error.message);
    check(close(fd) == 0, "the descriptor stays the caller's");
    check_three(model, "list");
    check(gufo_model_name(model) == NULL, "no name");
    check(strcmp(gufo_model_name(gufo_model_shard(model, 1)), "a source") == 0, "name");
    check_u64(from.closed, 0, "open");
    gufo_model_free(model);
    check_u64(from.closed, 1, "closed once");
    check(gufo_model_name(NULL) == NULL, "no model");
    builder_free(&second);
    builder_free(&third);
    folder_remove(&f);
}

/* A list that is wrong closes every source, and the error names the file. */
static void test_wrong_lists(void **state)
{
    builder parts[3] = {make_shard(0, SHARDS), make_shard(1, SHARDS), make_shard(2, SHARDS)};
    static const struct {
        size_t order[4], count;
        gufo_status status;
        uint32_t index;
    } rows[] = {
        {{0, 2, 1}, 3, GUFO_E_SHARDS, 1}, {{0, 1}, 2, GUFO_E_SHARDS, 0},
        {{1}, 1, GUFO_E_SHARDS, 0},       {{0, 0, 0}, 3, GUFO_E_SHARDS, 1},
        {{0}, 0, GUFO_E_ARGUMENT, 0},     {{0, 1, 2, 2}, 4, GUFO_E_SHARDS, 0},
    };

    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        bytes from[4];
        gufo_source sources[4];
        gufo_input inputs[4];
        char names[4][32];
        gufo_error error = no_error();

        for (size_t i = 0; i < rows[r].count; i++) {
            from[i] = (bytes){.b = &parts[rows[r].order[i]]};
            sources[i] = source_of(&from[i]);
            inputs[i] = gufo_input_source(&sources[i]);
            snprintf(names[i], sizeof names[i], "file %zu", i);
            inputs[i].name = names[i];
        }
        check(gufo_model_open_shards(inputs, rows[r].count, NULL, &error) == NULL, "row %zu", r);
        check_error_shape(&error, rows[r].status, "list");
        for (size_t i = 0; i < rows[r].count; i++)
            check_u64(from[i].closed, 1, "row %zu, source %zu", r, i);
        if (rows[r].count == 0)
            continue;
        check_u64(error.role, GUFO_FILE_INPUT, "row %zu", r);
        check_u64(error.file_index, rows[r].index, "row %zu", r);
        check(strcmp(error.file, names[rows[r].index]) == 0, "row %zu: %s", r, error.file);
    }
    for (size_t i = 0; i < 3; i++)
        builder_free(&parts[i]);
}

/* Without memory, at any request: everything is closed. */
static void test_list_without_memory(void **state)
{
    builder parts[3] = {make_shard(0, SHARDS), make_shard(1, SHARDS), make_shard(2, SHARDS)};
    gufo_status status = GUFO_E_MEMORY;
    counter c;

    (void)state;
    counter_init(&c);
    gufo_allocator allocator = counter_allocator(&c);

    for (size_t n = 1; status == GUFO_E_MEMORY; n++) {
        const gufo_open_options options = {.allocator = &allocator, .name = "three"};
        bytes from[3];
        gufo_source sources[3];
        gufo_input inputs[3];
        gufo_error error = no_error();
        gufo_model *model;

        for (size_t i = 0; i < 3; i++) {
            from[i] = (bytes){.b = &parts[i]};
            sources[i] = source_of(&from[i]);
            inputs[i] = gufo_input_source(&sources[i]);
        }
        c.calls = 0;
        c.fail_at = n;
        model = gufo_model_open_shards(inputs, 3, &options, &error);
        status = model != NULL ? GUFO_OK : error.code;
        gufo_model_free(model);
        check_u64(c.in_use, 0, "request %zu", n);
        for (size_t i = 0; i < 3; i++)
            check_u64(from[i].closed, 1, "request %zu, source %zu", n, i);
    }
    check_u64(status, GUFO_OK, "the end");
    for (size_t i = 0; i < 3; i++)
        builder_free(&parts[i]);
}

/* ---- shards alone --------------------------------------------------------------------------- */

/* Opens the bytes at `path` in one of four ways. */
static gufo_model *open_in(unsigned way, const char *path, const builder *b, bytes *from,
                           const gufo_open_options *options, gufo_error *error)
{
    gufo_source source = source_of(from);
    gufo_model *model;
    int fd;

    switch (way) {
    case 0:
        return gufo_model_open(path, options, error);
    case 1:
        fd = open(path, O_RDONLY);
        model = gufo_model_open_fd(fd, options, error);
        close(fd);
        return model;
    case 2:
        return gufo_model_open_memory(b->data, b->len, options, error);
    default:
        return gufo_model_open_source(&source, options, error);
    }
}

static void test_shards_alone(void **state)
{
    static const char *const words[] = {"file is shard 1 of 3 of a model",
                                        "NAME-00001-of-00003.gguf"};
    folder f = folder_new();
    path_text path = folder_path(&f, "renamed.gguf");
    builder b = make_shard(0, SHARDS);

    (void)state;
    write_file(path.text, b.data, b.len);
    for (unsigned way = 0; way < 4; way++) {
        gufo_open_options options = {.name = "the options"};
        bytes from = {.b = &b};
        gufo_error error = no_error();
        gufo_model *model = open_in(way, path.text, &b, &from, &options, &error);

        check(model == NULL, "way %u: opens", way);
        check_error_shape(&error, GUFO_E_SHARDS, "alone");
        for (size_t i = 0; i < COUNT_OF(words); i++)
            check(strstr(error.message, words[i]) != NULL, "%s", error.message);
        check(strcmp(error.file, way == 0 ? path.text : "the options") == 0, "way %u: %s", way,
              error.file);
        check(error.offset != GUFO_NO_OFFSET, "where split.count is");
        check_u64(from.closed, way == 3, "closed");
        options.flags = GUFO_OPEN_LENIENT;
        check(open_in(way, path.text, &b, &from, &options, &error) == NULL, "way %u: lenient", way);
        options.flags = GUFO_OPEN_INCOMPLETE;
        model = open_in(way, path.text, &b, &from, &options, &error);
        check(model != NULL, "way %u: %s", way, error.message);
        check(strcmp(gufo_model_name(model), way == 0 ? path.text : "the options") == 0, "name");
        gufo_model_free(model);
    }
    builder_free(&b);
    folder_remove(&f);
}

/* By the name alone, and a first shard that is opened alone. */
static void test_names_of_shards(void **state)
{
    const gufo_open_options just_this = {.flags = GUFO_OPEN_INCOMPLETE};
    folder f = folder_new();
    path_text second = folder_path(&f, "x-00002-of-00005.gguf");
    builder plain = builder_new((encoding){3, false});
    gufo_error error = no_error();
    gufo_model *model;

    (void)state;
    builder_header(&plain, 0, 1);
    builder_kv_str(&plain, "general.architecture", "llama");
    write_file(second.text, plain.data, plain.len);
    check(gufo_model_open(second.text, NULL, &error) == NULL, "a later shard by its name");
    check_error_shape(&error, GUFO_E_SHARDS, "by its name");
    check(strstr(error.message, "shard 2 of 5") != NULL, "%s", error.message);
    model = gufo_model_open(second.text, &just_this, &error);
    check(model != NULL, "%s", error.message);
    gufo_model_free(model);
    check(gufo_model_open(folder_path(&f, "y-00002-of-00005.gguf").text, NULL, &error) == NULL,
          "absent");
    check_u64(error.code, GUFO_E_IO, "absent: %s", error.message);

    write_shards(&f);
    check(unlink(shard_path(&f, 1).text) == 0, "unlink");
    check(gufo_model_open(shard_path(&f, 0).text, NULL, &error) == NULL, "one is missing");
    check_u64(error.code, GUFO_E_SHARDS, "missing");
    check(strcmp(error.file, shard_path(&f, 1).text) == 0, "%s", error.file);
    check_u64(error.file_index, 1, "missing");
    model = gufo_model_open(shard_path(&f, 0).text, &just_this, &error);
    check(model != NULL && gufo_model_shard_count(model) == 1, "just the first");
    gufo_model_free(model);
    builder_free(&plain);
    folder_remove(&f);
}

/* ---- errors --------------------------------------------------------------------------------- */

/* A path that does not fit keeps its tail. */
static void test_long_names(void **state)
{
    enum { LONG = 3000 };
    char name[LONG + 1];
    gufo_open_options options = {.name = name};
    gufo_error error = no_error();

    (void)state;
    memset(name, 'a', LONG);
    strcpy(name + LONG - 9, "/end.gguf");
    check(gufo_model_open_memory("no", 2, &options, &error) == NULL, "two bytes");
    check_u64(strlen(error.file), sizeof error.file - 1, "as much as there is room");
    check(strncmp(error.file, "...aaa", 6) == 0, "%.20s", error.file);
    check(strcmp(error.file + strlen(error.file) - 9, "/end.gguf") == 0, "the tail");
    name[LONG - 9] = '\0';
    name[sizeof error.file - 1] = '\0';
    check(gufo_model_open_memory("no", 2, &options, &error) == NULL, "two bytes");
    check(strcmp(error.file, name) == 0, "one that just fits");
}

/* Who reads what is not there learns from which file. */
static void test_reading_names_files(void **state)
{
    folder f = folder_new();
    gufo_error error = no_error();
    gufo_tensor tensor;
    gufo_model *model;
    uint64_t number;
    char byte;

    (void)state;
    write_shards(&f);
    model = gufo_model_open(shard_path(&f, 0).text, NULL, &error);
    check(model != NULL && gufo_model_tensor_at(model, 2, &tensor), "%s", error.message);
    check_status(gufo_tensor_read_raw(model, &tensor, tensor.size, &byte, 1, &error), GUFO_E_RANGE,
                 &error, "past the end");
    check(strcmp(error.file, shard_path(&f, 2).text) == 0 && error.file_index == 2, "%s",
          error.file);
    check_status(gufo_model_get_u64(model, "absent", &number, &error), GUFO_E_NOT_FOUND, &error,
                 "absent");
    check(strcmp(error.file, shard_path(&f, 0).text) == 0, "%s", error.file);
    check_status(gufo_model_get_u64(model, "general.architecture", &number, &error), GUFO_E_TYPE,
                 &error, "a text");
    check(strcmp(error.file, shard_path(&f, 0).text) == 0, "%s", error.file);
    check(truncate(shard_path(&f, 1).text, 100) == 0, "truncate");
    check_status(gufo_model_unchanged(model, &error), GUFO_E_CHANGED, &error, "changed");
    check(strcmp(error.file, shard_path(&f, 1).text) == 0 && error.file_index == 1, "%s",
          error.file);
    gufo_model_free(model);
    folder_remove(&f);
}

/* What a later version may mean is refused by this one. */
static void test_reserved(void **state)
{
    builder b = make_shard(0, 1);
    gufo_input input = gufo_input_memory(b.data, b.len);
    gufo_error error = no_error();

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        gufo_open_options options = {0};
        bytes from = {.b = &b};
        gufo_source source = source_of(&from);

        options.reserved[i] = 1;
        check(gufo_model_open_source(&source, &options, &error) == NULL, "options");
        check_error_shape(&error, GUFO_E_ARGUMENT, "options");
        check_u64(from.closed, 1, "closed");
        check(gufo_model_open(".", &options, &error) == NULL && error.code == GUFO_E_ARGUMENT,
              "a path");
        input.reserved[i] = 1;
        check(gufo_model_open_shards(&input, 1, NULL, &error) == NULL, "input");
        check_error_shape(&error, GUFO_E_ARGUMENT, "input");
        input.reserved[i] = 0;
    }
    input.kind = (gufo_input_kind)7;
    gufo_input several[] = {gufo_input_path("none-1.gguf"), gufo_input_path(NULL)};

    check(gufo_model_open_shards(several, 2, NULL, &error) == NULL, "path");
    check(error.role == GUFO_FILE_INPUT && error.file_index == 1, "slot %u", error.file_index);
    check(gufo_model_open_shards(&input, 1, NULL, &error) == NULL && error.code == GUFO_E_ARGUMENT,
          "kind");
    builder_free(&b);
}

/* ---- keys below the architecture ------------------------------------------------------------ */

static void test_arch_keys(void **state)
{
    static const struct {
        const char *arch; /* NULL: none */
        const char *key;
        gufo_status status;
    } rows[] = {
        {"llama", "{arch}.block_count", GUFO_OK},
        {"llama", "llama.block_count", GUFO_OK},
        {"llama", "{arch}.absent", GUFO_E_NOT_FOUND},
        {"mamba", "{arch}.block_count", GUFO_E_NOT_FOUND},
        {NULL, "{arch}.block_count", GUFO_E_NOT_FOUND},
        {"llama", "{arch}", GUFO_E_NOT_FOUND},
        {"", "{arch}.odd", GUFO_OK},
        {"llama", "{arch}.", GUFO_E_NOT_FOUND},
        {"llama", "{arch}block_count", GUFO_E_NOT_FOUND},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = builder_new((encoding){3, false});
        gufo_error error = no_error();
        uint64_t number = 0;
        gufo_model *model;

        builder_header(&b, 0, rows[i].arch != NULL ? 3 : 2);
        builder_kv_u32(&b, "llama.block_count", 7);
        builder_kv_u32(&b, ".odd", 7);
        if (rows[i].arch != NULL)
            builder_kv_str(&b, "general.architecture", rows[i].arch);
        model = gufo_model_open_memory(b.data, b.len, NULL, &error);
        check(model != NULL, "%s", error.message);
        check_status(gufo_model_get_u64(model, rows[i].key, &number, &error), rows[i].status,
                     &error, "row %zu", i);
        check_u64(number, rows[i].status == GUFO_OK ? 7 : 0, "row %zu", i);
        gufo_model_free(model);
        builder_free(&b);
    }
}

/* An architecture that is not text, and no memory for the key. */
static void test_arch_failures(void **state)
{
    builder b = builder_new((encoding){3, false});
    gufo_error error = no_error();
    gufo_model *model;
    uint64_t number;
    counter c;

    (void)state;
    builder_header(&b, 0, 1);
    builder_kv_u32(&b, "general.architecture", 7);
    model = gufo_model_open_memory(b.data, b.len, NULL, &error);
    check_status(gufo_model_get_u64(model, "{arch}.x", &number, &error), GUFO_E_NOT_FOUND, &error,
                 "number");
    gufo_model_free(model);
    builder_free(&b);

    counter_init(&c);
    gufo_allocator allocator = counter_allocator(&c);
    const gufo_open_options options = {.allocator = &allocator};

    b = make_shard(0, 1);
    model = gufo_model_open_memory(b.data, b.len, &options, &error);
    check(model != NULL, "%s", error.message);
    c.calls = 0;
    c.fail_at = 1;
    check_status(gufo_model_get_u64(model, "{arch}.block_count", &number, &error), GUFO_E_MEMORY,
                 &error, "memory");
    gufo_model_free(model);
    builder_free(&b);
}

/* ---- callers that want less -------------------------------------------------------------------- */

/* The error is optional. */
static void test_no_error_wanted(void **state)
{
    findings found;

    (void)state;
    findings_init(&found);
    check_u64(validate_file("/nonexistent/file.gguf", NULL, findings_add, &found, NULL), GUFO_E_IO,
              "validate");
    check_u64(validate_fd(-1, NULL, findings_add, &found, NULL), GUFO_E_IO, "validate_fd");
    check_u64(found.count, 0, "findings");
    check(gufo_model_open("/nonexistent/file.gguf", NULL, NULL) == NULL, "open");
    check(gufo_model_open_fd(-1, NULL, NULL) == NULL, "open_fd");
    check(gufo_model_open_memory("GGUF", 4, NULL, NULL) == NULL, "open_memory");
    check(gufo_model_open("/nonexistent/file.gguf", NULL, NULL) == NULL, "set_open");
    findings_free(&found);
}

/* A source need not have anything to close, whatever becomes of it. */
static gufo_status no_bytes(void *context, uint64_t offset, void *buffer, size_t size,
                            gufo_error *error)
{
    (void)context, (void)offset, (void)error;
    memset(buffer, 0, size);
    return GUFO_OK;
}

static void *no_memory(void *context, void *block, size_t size)
{
    (void)context, (void)block, (void)size;
    return NULL;
}

static void test_source_without_close(void **state)
{
    static const gufo_source source = {.size = 100, .read = no_bytes};
    static const gufo_allocator allocator = {no_memory, NULL};
    gufo_open_options options = {.allocator = &allocator};
    gufo_error error = no_error();

    (void)state;
    check(gufo_model_open_source(&source, &options, &error) == NULL, "no memory");
    check_u64(error.code, GUFO_E_MEMORY, "no memory");
    check(gufo_model_open_source(&source, NULL, &error) == NULL, "zeros");
    check_u64(error.code, GUFO_E_NOT_GGUF, "zeros");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_and_list),        cmocka_unit_test(test_wrong_lists),
        cmocka_unit_test(test_list_without_memory), cmocka_unit_test(test_shards_alone),
        cmocka_unit_test(test_names_of_shards),     cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_reading_names_files), cmocka_unit_test(test_reserved),
        cmocka_unit_test(test_arch_keys),           cmocka_unit_test(test_arch_failures),
        cmocka_unit_test(test_no_error_wanted),     cmocka_unit_test(test_source_without_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
