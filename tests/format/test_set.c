/* Shard sets: names, good sets, and every way in which shards do not belong together. */
#include "../support/folder.h"

enum { SHARDS = 3, PER_SHARD = 2 };

/* ---- paths ---------------------------------------------------------------------------------- */

/* Each path that can be taken apart can be put together again. */
static void test_path_format(void **state)
{
    char text[64];

    (void)state;
    check_u64(gufo_shard_path_format(text, sizeof text, "dir/m-00001-of-00012.gguf", 5, 7, 12), 25,
              "length");
    check(strcmp(text, "dir/m-00007-of-00012.gguf") == 0, "%s", text);
    check_u64(gufo_shard_path_format(text, 8, "dir/model", 9, 1, 2), 29, "length that is needed");
    check(strcmp(text, "dir/mod") == 0, "%s", text);
}

static void test_paths(void **state)
{
    static const struct {
        const char *path;
        bool good;
        size_t prefix;
        uint32_t number, count;
    } rows[] = {
        {"m-00001-of-00003.gguf", true, 1, 1, 3},
        {"m-00003-of-00003.gguf", true, 1, 3, 3},
        {"m-00001-of-00001.gguf", true, 1, 1, 1},
        {"m-12345-of-99999.gguf", true, 1, 12345, 99999},
        {"/a/b-c/Mixtral-8x7B-v0.1-Q4_K-00002-of-00009.gguf", true, 29, 2, 9},
        {"./m-00001-of-00002-00002-of-00003.gguf", true, 18, 2, 3},
        {"m-00000-of-00002.gguf", false, 0, 0, 0},
        {"m-00003-of-00002.gguf", false, 0, 0, 0},
        {"m-00001-of-00000.gguf", false, 0, 0, 0},
        {"m-0001-of-0003.gguf", false, 0, 0, 0},
        {"m-000001-of-00003.gguf", false, 0, 0, 0},
        {"m-00001-of-000003.gguf", false, 0, 0, 0},
        {"m-00001-of-00003.GGUF", false, 0, 0, 0},
        {"m-00001-of-00003.gguf.part", false, 0, 0, 0},
        {"m-00001-of-00003", false, 0, 0, 0},
        {"m-00001_of_00003.gguf", false, 0, 0, 0},
        {"m-0000a-of-00003.gguf", false, 0, 0, 0},
        {"m--0001-of-00003.gguf", false, 0, 0, 0},
        {"m-+0001-of-00003.gguf", false, 0, 0, 0},
        {"m- 0001-of-00003.gguf", false, 0, 0, 0},
        {"m00001-of-00003.gguf", false, 0, 0, 0},
        {"m.gguf", false, 0, 0, 0},
        {"", false, 0, 0, 0},
        {".gguf", false, 0, 0, 0},
        {"00001-of-00003.gguf", false, 0, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t prefix = 99;
        uint32_t number = 99, count = 99;

        check(gufo_shard_path_parse(rows[i].path, &prefix, &number, &count) == rows[i].good, "%s",
              rows[i].path);
        if (!rows[i].good)
            continue;
        check_u64(prefix, rows[i].prefix, "%s", rows[i].path);
        check_u64(number, rows[i].number, "%s", rows[i].path);
        check_u64(count, rows[i].count, "%s", rows[i].path);
    }
}

/* ---- sets ----------------------------------------------------------------------------------- */

/* What one shard says; the good values, and what a test changes of them. */
typedef struct shard_plan {
    encoding encoding;
    uint32_t alignment; /* 0: no key */
    uint16_t no, count;
    int32_t total;
    const char *names[PER_SHARD];
    uint32_t key_type;    /* of the split keys: 0 for the usual ones, GUFO_VALUE_UINT64 ... */
    const char *left_out; /* a key that is missing */
    bool absent;          /* no file */
    bool cut;             /* the last bytes are missing */
} shard_plan;

static const char *const good_names[SHARDS][PER_SHARD] = {{"token_embd.weight", "blk.0.weight"},
                                                          {"blk.1.weight", "blk.2.weight"},
                                                          {"blk.3.weight", "output.weight"}};

static shard_plan good_plan(uint16_t index)
{
    return (shard_plan){.encoding = {3, false},
                        .no = index,
                        .count = SHARDS,
                        .total = SHARDS * PER_SHARD,
                        .names = {good_names[index][0], good_names[index][1]}};
}

static void add_number(builder *b, const shard_plan *p, const char *key, uint32_t type, uint64_t v)
{
    if (p->left_out != NULL && strcmp(p->left_out, key) == 0) {
        builder_kv_u8(b, "something.else", 1);
        return;
    }
    type = p->key_type != 0 ? p->key_type : type;
    builder_key(b, key, type);
    builder_number(b, v, gufo_value_type_size((gufo_value_type)type));
}

static path_text shard_name(const folder *f, unsigned number)
{
    char name[64];

    snprintf(name, sizeof name, "model-%05u-of-%05d.gguf", number, SHARDS);
    return folder_path(f, name);
}

static void write_shard(const folder *f, unsigned index, const shard_plan *p)
{
    path_text path = shard_name(f, index + 1);
    builder b = builder_new(p->encoding);
    const uint64_t dims[1] = {8};

    if (p->absent)
        return;
    builder_header(&b, PER_SHARD, p->alignment != 0 ? 5 : 4);
    builder_kv_str(&b, "general.architecture", "llama");
    if (p->alignment != 0)
        builder_kv_u32(&b, "general.alignment", p->alignment);
    add_number(&b, p, "split.no", GUFO_VALUE_UINT16, p->no);
    add_number(&b, p, "split.count", GUFO_VALUE_UINT16, p->count);
    add_number(&b, p, "split.tensors.count", GUFO_VALUE_INT32, (uint64_t)p->total);
    builder_tensor(&b, p->names[0], GUFO_TYPE_F32, 1, dims, 0);
    builder_tensor(&b, p->names[1], GUFO_TYPE_F32, 1, dims, 64);
    builder_pad(&b, p->alignment != 0 ? p->alignment : 32);
    builder_pattern(&b, index, 96);
    write_file(path.text, b.data, p->cut ? b.len - 1 : b.len);
    builder_free(&b);
}

static void check_good_set(const gufo_model *set, const folder *f, const char *label)
{
    gufo_tensor tensor;

    check_u64(gufo_model_shard_count(set), SHARDS, "%s", label);
    check_u64(gufo_model_tensor_count(set), SHARDS * PER_SHARD, "%s", label);
    for (unsigned i = 0; i < SHARDS; i++) {
        check(gufo_model_shard(set, i) != NULL, "%s", label);
        check(strcmp(gufo_model_name(gufo_model_shard(set, i)), shard_name(f, i + 1).text) == 0,
              "%s: %s", label, gufo_model_name(gufo_model_shard(set, i)));
        for (unsigned t = 0; t < PER_SHARD; t++) {
            check(gufo_model_tensor_at(set, i * PER_SHARD + t, &tensor), "%s", label);
            check_str(tensor.name, good_names[i][t], "%s", label);
            check_u64(tensor.shard, i, "%s", label);
            check(gufo_model_tensor_find(set, good_names[i][t], &tensor), "%s", label);
            check_u64(tensor.shard, i, "%s", label);
            check_u64(tensor.offset,
                      gufo_model_facts(gufo_model_shard(set, i)).data_offset + t * 64u, "%s",
                      label);
            check(gufo_model_tensor_find(set, good_names[i][t], &tensor), "%s", label);
        }
    }
    check(!gufo_model_tensor_at(set, SHARDS * PER_SHARD, &tensor), "%s", label);
    check(!gufo_model_tensor_find(set, "absent", &tensor), "%s", label);
    check(gufo_model_shard(set, SHARDS) == NULL &&
              gufo_model_name(gufo_model_shard(set, SHARDS)) == NULL,
          "%s", label);
}

/* Good sets: the usual keys, wider ones, other encodings. */
static void test_good_sets(void **state)
{
    static const shard_plan variants[] = {
        {.encoding = {3, false}},
        {.encoding = {3, true}},
        {.encoding = {2, false}},
        {.encoding = {1, false}},
        {.encoding = {3, false}, .alignment = 64},
        {.encoding = {3, false}, .key_type = GUFO_VALUE_UINT32},
        {.encoding = {3, false}, .key_type = GUFO_VALUE_INT64},
    };

    (void)state;
    for (size_t v = 0; v < COUNT_OF(variants); v++) {
        folder f = folder_new();
        gufo_error error = no_error();
        char label[32];
        gufo_model *set;

        snprintf(label, sizeof label, "variant %zu", v);
        for (uint16_t i = 0; i < SHARDS; i++) {
            shard_plan p = good_plan(i);

            p.encoding = variants[v].encoding;
            p.alignment = variants[v].alignment;
            p.key_type = variants[v].key_type;
            write_shard(&f, i, &p);
        }
        set = gufo_model_open(shard_name(&f, 1).text, NULL, &error);
        check(set != NULL, "%s: %s", label, error.message);
        check_good_set(set, &f, label);
        gufo_model_free(set);
        folder_remove(&f);
    }
    gufo_model_free(NULL);
}

/* Any other name is a set of one: a set of one, an ordinary file. */
static void test_sets_of_one(void **state)
{
    folder f = folder_new();
    const path_text names[] = {folder_path(&f, "one-00001-of-00001.gguf"),
                               folder_path(&f, "model.gguf")};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        builder b = builder_new((encoding){3, false});
        const uint64_t dims[1] = {4};
        gufo_error error = no_error();
        gufo_tensor tensor;
        gufo_model *set;

        builder_header(&b, 1, 0);
        builder_tensor(&b, "a", GUFO_TYPE_F32, 1, dims, 0);
        builder_pad(&b, 32);
        builder_zeros(&b, 16);
        write_file(names[i].text, b.data, b.len);
        set = gufo_model_open(names[i].text, NULL, &error);
        check(set != NULL, "%s: %s", names[i].text, error.message);
        check_u64(gufo_model_shard_count(set), 1, "%s", names[i].text);
        check_u64(gufo_model_tensor_count(set), 1, "%s", names[i].text);
        check(strcmp(gufo_model_name(gufo_model_shard(set, 0)), names[i].text) == 0, "%s",
              names[i].text);
        check(gufo_model_tensor_find(set, "a", &tensor) && tensor.shard == 0, "%s", names[i].text);
        gufo_model_free(set);
        builder_free(&b);
    }
    folder_remove(&f);
}

/* ---- faults --------------------------------------------------------------------------------- */

static void shard_absent(shard_plan *p)
{
    p->absent = true;
}

static void wrong_number(shard_plan *p)
{
    p->no = 0;
}

static void number_from_one(shard_plan *p)
{
    p->no++;
}

static void wrong_count(shard_plan *p)
{
    p->count = SHARDS + 1;
}

static void wrong_total(shard_plan *p)
{
    p->total--;
}

static void negative_total(shard_plan *p)
{
    p->total = -1;
}

static void other_version(shard_plan *p)
{
    p->encoding.version = 2;
}

static void other_order(shard_plan *p)
{
    p->encoding.big = true;
}

static void other_alignment(shard_plan *p)
{
    p->alignment = 64;
}

static void tensor_twice(shard_plan *p)
{
    p->names[1] = good_names[0][0];
}

static void no_number(shard_plan *p)
{
    p->left_out = "split.no";
}

static void no_count(shard_plan *p)
{
    p->left_out = "split.count";
}

static void no_total(shard_plan *p)
{
    p->left_out = "split.tensors.count";
}

static void number_is_float(shard_plan *p)
{
    p->key_type = GUFO_VALUE_FLOAT32;
}

/* A shard of another model of as many shards: one tensor more, so the totals differ. */
static void foreign(shard_plan *p)
{
    p->total = SHARDS * PER_SHARD + 1;
}

static void cut(shard_plan *p)
{
    p->cut = true;
}

static const struct {
    const char *label;
    void (*spoil)(shard_plan *p);
    unsigned index; /* of the shard that is spoilt, and that the error must name */
    gufo_status status;
} faults[] = {
    {"second missing", shard_absent, 1, GUFO_E_SHARDS},
    {"last missing", shard_absent, 2, GUFO_E_SHARDS},
    {"split.no of another shard", wrong_number, 1, GUFO_E_SHARDS},
    {"split.no counted from 1", number_from_one, 0, GUFO_E_SHARDS},
    {"split.no past the end", number_from_one, 2, GUFO_E_SHARDS},
    {"split.count, first", wrong_count, 0, GUFO_E_SHARDS},
    {"split.count, last", wrong_count, 2, GUFO_E_SHARDS},
    {"total, first", wrong_total, 0, GUFO_E_SHARDS},
    {"total, second", wrong_total, 1, GUFO_E_SHARDS},
    {"negative total", negative_total, 2, GUFO_E_SHARDS},
    {"version", other_version, 1, GUFO_E_SHARDS},
    {"byte order", other_order, 2, GUFO_E_SHARDS},
    {"alignment", other_alignment, 1, GUFO_E_SHARDS},
    {"a tensor twice", tensor_twice, 2, GUFO_E_SHARDS},
    {"no split.no", no_number, 0, GUFO_E_SHARDS},
    {"no split.no, second", no_number, 1, GUFO_E_SHARDS},
    {"no split.count", no_count, 1, GUFO_E_SHARDS},
    {"no split.tensors.count", no_total, 2, GUFO_E_SHARDS},
    {"split keys are floats", number_is_float, 1, GUFO_E_SHARDS},
    {"foreign shard", foreign, 1, GUFO_E_SHARDS},
    {"cut first shard", cut, 0, GUFO_E_TRUNCATED},
    {"cut second shard", cut, 1, GUFO_E_TRUNCATED},
};

/* Whatever the threads, it is the same failure. */
static void check_threads_agree(const folder *f, const gufo_error *expected, const char *label)
{
    for (unsigned threads = 1; threads <= SHARDS; threads++) {
        const gufo_run run = {.threads = threads};
        const gufo_open_options options = {.run = &run};
        gufo_error error = no_error();

        check(gufo_model_open(shard_name(f, 1).text, &options, &error) == NULL, "%s", label);
        check(error.code == expected->code && error.file_index == expected->file_index &&
                  strcmp(error.message, expected->message) == 0,
              "%s: %u threads say: %s", label, threads, error.message);
    }
}

static const gufo_open_options alone = {.flags = GUFO_OPEN_INCOMPLETE};

/* Files that open one by one are refused together, and stay the caller's. */
static void check_join_fails(const folder *f, const gufo_error *expected, const char *label)
{
    gufo_model *parts[SHARDS];
    gufo_error error = no_error();
    bool all = true;

    for (unsigned i = 0; i < SHARDS; i++) {
        parts[i] = gufo_model_open(shard_name(f, i + 1).text, &alone, NULL);
        all = all && parts[i] != NULL;
    }
    check(gufo_model_join(parts, SHARDS, &error) == NULL, "%s", label);
    if (all)
        check(error.code == expected->code && error.file_index == expected->file_index, "%s: %s",
              label, error.message);
    for (unsigned i = 0; i < SHARDS; i++)
        gufo_model_free(parts[i]);
}

static void test_faults(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT_OF(faults); n++) {
        folder f = folder_new();
        gufo_error error = no_error();

        for (uint16_t i = 0; i < SHARDS; i++) {
            shard_plan p = good_plan(i);

            if (i == faults[n].index)
                faults[n].spoil(&p);
            write_shard(&f, i, &p);
        }
        check(gufo_model_open(shard_name(&f, 1).text, NULL, &error) == NULL, "%s: opened",
              faults[n].label);
        check_error_shape(&error, faults[n].status, faults[n].label);
        check_u64(error.role, GUFO_FILE_INPUT, "%s", faults[n].label);
        check_u64(error.file_index, faults[n].index, "%s", faults[n].label);
        check(strcmp(error.file, shard_name(&f, faults[n].index + 1).text) == 0, "%s: blames %s",
              faults[n].label, error.file);
        check(gufo_model_open(shard_name(&f, 1).text, NULL, NULL) == NULL, "%s: opened",
              faults[n].label);
        check_threads_agree(&f, &error, faults[n].label);
        check_join_fails(&f, &error, faults[n].label);
        folder_remove(&f);
    }
}

/* ---- threads, progress ----------------------------------------------------------------------- */

typedef struct rising {
    uint64_t last, calls, stop_at;
    bool falls;
} rising;

static bool rises(void *context, uint64_t done, uint64_t total)
{
    rising *r = context;

    r->falls = r->falls || done <= r->last || total != 0;
    r->last = done;
    return ++r->calls != r->stop_at;
}

static void test_threads(void **state)
{
    folder f = folder_new();
    uint64_t all = 0;

    (void)state;
    for (uint16_t i = 0; i < SHARDS; i++) {
        shard_plan p = good_plan(i);

        write_shard(&f, i, &p);
    }
    for (unsigned threads = 1; threads <= SHARDS + 1; threads++) {
        rising r = {0};
        gufo_run run = {.threads = threads, .progress = rises, .progress_context = &r};
        const gufo_open_options options = {.run = &run};
        gufo_error error = no_error();
        gufo_model *set = gufo_model_open(shard_name(&f, 1).text, &options, &error);

        check(set != NULL, "%u threads: %s", threads, error.message);
        check_good_set(set, &f, "threads");
        gufo_model_free(set);
        check(!r.falls && r.calls >= SHARDS, "%u threads", threads);
        all = threads == 1 ? r.last : all;
        check_u64(r.last, all, "%u threads: bytes", threads);
        for (uint64_t stop_at = 1; stop_at <= r.calls; stop_at += 3) {
            rising stopping = {.stop_at = stop_at};

            run.progress_context = &stopping;
            check(gufo_model_open(shard_name(&f, 1).text, &options, &error) == NULL,
                  "%u threads: it stops", threads);
            check_error_shape(&error, GUFO_E_STOPPED, "stopped");
            check_u64(stopping.calls, stop_at, "%u threads: nobody is asked again", threads);
        }
    }
    folder_remove(&f);
}

/* ---- joining --------------------------------------------------------------------------------- */

static void test_join(void **state)
{
    folder f = folder_new();
    gufo_model *parts[SHARDS], *set;
    gufo_error error = no_error();
    gufo_mapping mapping;

    (void)state;
    for (uint16_t i = 0; i < SHARDS; i++) {
        shard_plan p = good_plan(i);

        write_shard(&f, i, &p);
        parts[i] = gufo_model_open(shard_name(&f, i + 1u).text, &alone, &error);
        check(parts[i] != NULL, "%s", error.message);
    }
    gufo_model *turned[SHARDS] = {parts[0], parts[2], parts[1]};
    gufo_model *twice[SHARDS] = {parts[0], parts[1], parts[0]};
    gufo_model *missing[SHARDS] = {parts[0], NULL, parts[2]};

    check(gufo_model_join(turned, SHARDS, &error) == NULL, "another order");
    check_error_shape(&error, GUFO_E_SHARDS, "another order");
    check(gufo_model_join(twice, SHARDS, &error) == NULL, "twice");
    check_error_shape(&error, GUFO_E_ARGUMENT, "twice");
    check(gufo_model_join(missing, SHARDS, &error) == NULL, "missing");
    check_error_shape(&error, GUFO_E_ARGUMENT, "missing");
    check(gufo_model_join(parts, 1, &error) == NULL, "one");
    check_error_shape(&error, GUFO_E_ARGUMENT, "one");
    check(gufo_model_join(parts, 2, NULL) == NULL, "too few");
    for (unsigned i = 0; i < SHARDS; i++) /* they are as they were */
        check(gufo_model_tensor_count(parts[i]) == PER_SHARD &&
                  gufo_model_shard_count(parts[i]) == 1,
              "part %u", i);
    set = gufo_model_join(parts, SHARDS, &error);
    check(set != NULL, "%s", error.message);
    check_good_set(set, &f, "joined");
    check(gufo_model_shard(set, 1) == parts[1], "the parts are its shards");
    for (unsigned i = 0; i < SHARDS; i++) {
        check(gufo_model_mapping(set, i, &mapping), "mapping %u", i);
        check(mapping.is_mapped && mapping.fd >= 0 && memcmp(mapping.data, "GGUF", 4) == 0,
              "mapping %u", i);
        check_u64(mapping.size, gufo_model_facts(parts[i]).size, "mapping %u", i);
        check(strcmp(mapping.path, shard_name(&f, i + 1).text) == 0, "mapping %u", i);
    }
    check(!gufo_model_mapping(set, SHARDS, &mapping), "past the end");
    gufo_model *sets[2] = {set, set};

    check(gufo_model_join(sets, 2, &error) == NULL, "a set");
    check_error_shape(&error, GUFO_E_ARGUMENT, "a set");
    check_good_set(set, &f, "a set is as it was");
    gufo_model_free(set);
    folder_remove(&f);
}

/* The damage of a part names its place in the set, and its own again if there is no set. */
static void test_join_damaged(void **state)
{
    const gufo_open_options lenient = {.flags = GUFO_OPEN_INCOMPLETE | GUFO_OPEN_LENIENT};
    folder f = folder_new();
    gufo_model *parts[SHARDS], *set;
    gufo_error error = no_error();

    (void)state;
    for (uint16_t i = 0; i < SHARDS; i++) {
        shard_plan p = good_plan(i);

        p.cut = i == 1;
        write_shard(&f, i, &p);
        parts[i] = gufo_model_open(shard_name(&f, i + 1u).text, &lenient, &error);
        check(parts[i] != NULL, "%s", error.message);
    }
    check_u64(gufo_model_damage(parts[1])->file_index, 0, "alone");
    check(gufo_model_join(parts, SHARDS - 1, &error) == NULL, "too few");
    check_u64(gufo_model_damage(parts[1])->file_index, 0, "alone again");
    set = gufo_model_join(parts, SHARDS, &error);
    check(set != NULL, "%s", error.message);
    check_u64(gufo_model_damage(set)->file_index, 1, "joined");
    gufo_model_free(set);
    folder_remove(&f);
}

/* What is not mapped has no address; memory has that of the caller. */
static void test_mapping(void **state)
{
    const gufo_open_options read = {.flags = GUFO_OPEN_INCOMPLETE | GUFO_OPEN_NO_MAP};
    folder f = folder_new();
    shard_plan p = good_plan(0);
    gufo_error error = no_error();
    gufo_mapping mapping;
    gufo_model *model;
    uint8_t *bytes;
    size_t size;

    (void)state;
    write_shard(&f, 0, &p);
    model = gufo_model_open(shard_name(&f, 1).text, &read, &error);
    check(model != NULL && gufo_model_mapping(model, 0, &mapping), "%s", error.message);
    check(mapping.data == NULL && !mapping.is_mapped && mapping.fd >= 0, "it is read");
    gufo_model_free(model);
    bytes = read_file(shard_name(&f, 1).text, &size);
    model = gufo_model_open_memory(bytes, size, &alone, &error);
    check(model != NULL && gufo_model_mapping(model, 0, &mapping), "%s", error.message);
    check(mapping.data == bytes && mapping.size == size && !mapping.is_mapped && mapping.fd == -1 &&
              mapping.path == NULL,
          "memory");
    gufo_model_free(model);
    free(bytes);
    folder_remove(&f);
}

/* A first shard that is missing is a file that is missing. */
static void test_first_missing(void **state)
{
    folder f = folder_new();
    gufo_error error = no_error();

    (void)state;
    check(gufo_model_open(shard_name(&f, 1).text, NULL, &error) == NULL, "first missing");
    check(error.code == GUFO_E_IO || error.code == GUFO_E_SHARDS, "%s", error.message);
    check(strcmp(error.file, shard_name(&f, 1).text) == 0, "first missing: %s", error.file);
    check(gufo_model_open(folder_path(&f, "none.gguf").text, NULL, &error) == NULL, "none");
    check_error_shape(&error, GUFO_E_IO, "none");
    check(strcmp(error.file, folder_path(&f, "none.gguf").text) == 0, "none: %s", error.file);
    folder_remove(&f);
}

/* Leniently each file may be damaged; that they belong together is still asked. */
static void test_lenient(void **state)
{
    gufo_open_options lenient = {.flags = GUFO_OPEN_LENIENT};

    (void)state;
    for (int broken = 0; broken < 2; broken++) {
        folder f = folder_new();
        gufo_error error = no_error();
        gufo_tensor tensor;
        gufo_model *set;

        for (uint16_t i = 0; i < SHARDS; i++) {
            shard_plan p = good_plan(i);

            p.cut = i == 1;
            if (broken == 1 && i == 2)
                p.alignment = 64;
            write_shard(&f, i, &p);
        }
        set = gufo_model_open(shard_name(&f, 1).text, &lenient, &error);
        check((set != NULL) == (broken == 0), "%s", error.message);
        if (set != NULL) {
            check(gufo_model_damage(gufo_model_shard(set, 1)) != NULL, "damage");
            check(gufo_model_tensor_find(set, "blk.2.weight", &tensor), "blk.2");
            check_u64(tensor.available, tensor.size - 1, "blk.2");
        } else {
            check_error_shape(&error, GUFO_E_SHARDS, "lenient");
        }
        gufo_model_free(set);
        folder_remove(&f);
    }
}

/* ---- lenient ----------------------------------------------------------------------------------- */

static void write_named_shard(const folder *f, uint16_t number, const char *first,
                              const char *second)
{
    char name[64];
    builder b = builder_new((encoding){3, false});
    const uint64_t dims[1] = {32};

    snprintf(name, sizeof name, "m-0000%d-of-00002.gguf", number + 1);
    builder_header(&b, 2, 3);
    builder_kv_u16(&b, "split.no", number);
    builder_kv_u16(&b, "split.count", 2);
    builder_kv_i32(&b, "split.tensors.count", 4);
    builder_tensor(&b, first, GUFO_TYPE_I8, 1, dims, 0);
    builder_tensor(&b, second, GUFO_TYPE_I8, 1, dims, 32);
    builder_pad(&b, 32);
    builder_pattern(&b, 1, 64);
    write_file(folder_path(f, name).text, b.data, b.len);
    builder_free(&b);
}

/* A name twice within one shard is that file's fault, which a lenient open reports and accepts;
 * twice in two shards it is the set's, which no open accepts. */
static void test_lenient_set(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "m-00001-of-00002.gguf");
    gufo_open_options lenient = {.flags = GUFO_OPEN_LENIENT};
    gufo_error error = no_error();
    gufo_tensor tensor;
    gufo_model *set;

    (void)state;
    write_named_shard(&f, 0, "a", "a");
    write_named_shard(&f, 1, "b", "c");
    check(gufo_model_open(path.text, NULL, &error) == NULL, "strict");
    check(error.rule != NULL && strcmp(error.rule->name, "name-duplicate") == 0, "strict");
    set = gufo_model_open(path.text, &lenient, &error);
    check(set != NULL, "%s", error.message);
    check_u64(gufo_model_tensor_count(set), 4, "lenient");
    check(gufo_model_tensor_find(set, "c", &tensor), "c");
    check_u64(tensor.shard, 1, "c");
    gufo_model_free(set);
    write_named_shard(&f, 1, "b", "a");
    check(gufo_model_open(path.text, &lenient, &error) == NULL, "two shards");
    check_u64(error.code, GUFO_E_SHARDS, "two shards");
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),        cmocka_unit_test(test_path_format),
        cmocka_unit_test(test_good_sets),    cmocka_unit_test(test_sets_of_one),
        cmocka_unit_test(test_faults),       cmocka_unit_test(test_first_missing),
        cmocka_unit_test(test_lenient),      cmocka_unit_test(test_lenient_set),
        cmocka_unit_test(test_threads),      cmocka_unit_test(test_join),
        cmocka_unit_test(test_join_damaged), cmocka_unit_test(test_mapping),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
