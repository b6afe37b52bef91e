/* Shards that do not make a model: the fault is reported, and nothing written. */
#include "copies.h"

typedef struct workshop {
    folder f;
    path_text in, prefix, out;
} workshop;

enum { SHARDS = 3 };

static path_text shard(const workshop *w, size_t number)
{
    return shard_of(w->prefix.text, number, SHARDS);
}

/* in.gguf and its three shards. */
static workshop workshop_new(void)
{
    workshop w = {.f = folder_new()};
    gufo_split_options options = {.max_tensors = 2};

    w.in = folder_path(&w.f, "in.gguf");
    w.prefix = folder_path(&w.f, "s");
    w.out = folder_path(&w.f, "out.gguf");
    write_small_model(w.in.text);
    check_u64(copy_well(w.in.text, w.prefix.text, plan_split, &options, "split").outputs, SHARDS,
              "three");
    return w;
}

/* ---- damage --------------------------------------------------------------------------------- */

static void copy_file(const char *from, const char *to)
{
    size_t len;
    uint8_t *bytes = read_file(from, &len);

    check(bytes != NULL, "%s", from);
    write_file(to, bytes, len);
    free(bytes);
}

/* Overwrites a text with one of the same length. */
static void replace(const char *path, const char *text, const char *other)
{
    size_t len;
    uint8_t *bytes = read_file(path, &len), *at;

    check(bytes != NULL, "%s", path);
    at = memmem(bytes, len, text, strlen(text));
    check(at != NULL, "%s", text);
    memcpy(at, other, strlen(text));
    write_file(path, bytes, len);
    free(bytes);
}

static void lose_second(const workshop *w)
{
    check(unlink(shard(w, 2).text) == 0, "unlink");
}

static void lose_last(const workshop *w)
{
    check(unlink(shard(w, 3).text) == 0, "unlink");
}

static void double_second(const workshop *w)
{
    copy_file(shard(w, 2).text, shard(w, 3).text);
}

static void exchange(const workshop *w)
{
    copy_file(shard(w, 3).text, w->out.text);
    copy_file(shard(w, 2).text, shard(w, 3).text);
    copy_file(w->out.text, shard(w, 2).text);
    check(unlink(w->out.text) == 0, "unlink");
}

static void cut_last(const workshop *w)
{
    check(truncate(shard(w, 3).text, 500) == 0, "truncate");
}

static void cut_one_byte_of_data(const workshop *w)
{
    gufo_model *file = open_path(shard(w, 2).text);
    uint64_t end = gufo_model_facts(file).data_offset + gufo_model_facts(file).data_size;

    gufo_model_free(file);
    check(truncate(shard(w, 2).text, (off_t)end - 1) == 0, "truncate");
}

static void empty_second(const workshop *w)
{
    check(truncate(shard(w, 2).text, 0) == 0, "truncate");
}

static void foreign_second(const workshop *w)
{
    copy_file(w->in.text, shard(w, 2).text);
}

/* Of a model that differs in nothing but a name in its metadata. */
static void foreign_by_id(const workshop *w)
{
    path_text other = folder_path(&w->f, "other.gguf"), prefix = folder_path(&w->f, "o");
    gufo_split_options options = {.max_tensors = 2};

    copy_file(w->in.text, other.text);
    replace(other.text, "Small", "Large");
    (void)copy_well(other.text, prefix.text, plan_split, &options, "other");
    copy_file(shard_of(prefix.text, 2, SHARDS).text, shard(w, 2).text);
    remove_shards(prefix.text, SHARDS);
    check(unlink(other.text) == 0, "unlink");
}

/* Turns the last shard, so that its byte order is another one. */
static void other_order(const workshop *w)
{
    const gufo_open_options just_this = {.flags = GUFO_OPEN_INCOMPLETE};
    gufo_error error = no_error();
    gufo_model *last = gufo_model_open(shard(w, 3).text, &just_this, &error);
    const gufo_byte_order big = GUFO_BIG_ENDIAN;
    gufo_job *copy = last != NULL ? plan_endian(last, &big, &error) : NULL;

    check(copy != NULL, "%s", error.message);
    check_ok(run_job(copy, w->out.text, false, NULL, &error), &error, "turn");
    gufo_job_free(copy);
    gufo_model_free(last);
    check(rename(w->out.text, shard(w, 3).text) == 0, "rename");
}

/* Overwrites the byte after `text` and `distance` more. */
static void overwrite(const char *path, const char *text, size_t distance, uint8_t byte)
{
    size_t len;
    uint8_t *bytes = read_file(path, &len), *at;

    check(bytes != NULL, "%s", path);
    at = memmem(bytes, len, text, strlen(text));
    check(at != NULL, "%s", text);
    at[strlen(text) + distance] = byte;
    write_file(path, bytes, len);
    free(bytes);
}

static void wrong_count(const workshop *w)
{
    overwrite(shard(w, 2).text, "split.count", 4, 9);
}

static void wrong_total(const workshop *w)
{
    overwrite(shard(w, 1).text, "split.tensors.count", 4, 9);
}

static void wrong_id(const workshop *w)
{
    overwrite(shard(w, 3).text, "gufo.split.id", 7, 0x55);
}

static void no_id(const workshop *w)
{
    replace(shard(w, 2).text, "gufo.split.id", "other.text.id");
}

static void wrong_alignment(const workshop *w)
{
    overwrite(shard(w, 3).text, "general.alignment", 4, 16);
}

/* Tensor "e.weight" becomes a second "c.weight". */
static void same_tensor(const workshop *w)
{
    replace(shard(w, 3).text, "e.weight", "c.weight");
}

static const struct {
    const char *name;
    void (*damage)(const workshop *w);
    gufo_status expected;
} damages[] = {
    {"second missing", lose_second, GUFO_E_SHARDS},
    {"last missing", lose_last, GUFO_E_SHARDS},
    {"second doubled", double_second, GUFO_E_SHARDS},
    {"exchanged", exchange, GUFO_E_SHARDS},
    {"truncated in the infos", cut_last, GUFO_E_TRUNCATED},
    {"truncated by a byte", cut_one_byte_of_data, GUFO_E_TRUNCATED},
    {"empty", empty_second, GUFO_E_NOT_GGUF},
    {"no shard", foreign_second, GUFO_E_SHARDS},
    {"of another model", foreign_by_id, GUFO_E_SHARDS},
    {"other byte order", other_order, GUFO_E_SHARDS},
    {"other count", wrong_count, GUFO_E_SHARDS},
    {"other total", wrong_total, GUFO_E_SHARDS},
    {"other identity", wrong_id, GUFO_E_SHARDS},
    {"no identity", no_id, GUFO_E_SHARDS},
    {"other alignment", wrong_alignment, GUFO_E_SHARDS},
    {"tensor in two shards", same_tensor, GUFO_E_SHARDS},
};

static void test_damaged(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(damages); i++) {
        workshop w = workshop_new();
        gufo_error error = no_error();
        size_t files;

        damages[i].damage(&w);
        files = entry_count(w.f.path);
        check_status(
            make_copy(shard(&w, 1).text, w.out.text, plan_merge, NULL, false, NULL, &error),
            damages[i].expected, &error, "%s", damages[i].name);
        check_error_shape(&error, damages[i].expected, damages[i].name);
        check_u64(entry_count(w.f.path), files, "%s: nothing written", damages[i].name);
        folder_remove(&w.f);
    }
}

/* ---- names ---------------------------------------------------------------------------------- */

static void check_refused(const char *in, const char *out, const char *label)
{
    gufo_error error = no_error();

    check_status(make_copy(in, out, plan_merge, NULL, false, NULL, &error), GUFO_E_SHARDS, &error,
                 "%s", label);
    check(!file_exists(out), "%s", label);
}

static void test_names(void **state)
{
    workshop w = workshop_new();
    path_text plain = folder_path(&w.f, "plain.gguf");

    (void)state;
    check_refused(w.in.text, w.out.text, "never a shard");
    check_refused(shard(&w, 2).text, w.out.text, "not the first");
    copy_file(shard(&w, 1).text, plain.text);
    check_refused(plain.text, w.out.text, "renamed");
    folder_remove(&w.f);
}

/* ---- other tools' shards -------------------------------------------------------------------- */

/* As llama-gguf-split writes them: no identity, no alignment in later shards. */
static void write_foreign(const char *prefix, uint16_t number, bool own_key)
{
    builder b = builder_new((encoding){3, false});
    char name[2] = {(char)('a' + number), '\0'};

    builder_header(&b, 1, 3u + (number == 0) + own_key);
    if (number == 0)
        builder_kv_str(&b, "general.architecture", "llama");
    builder_kv_u16(&b, "split.no", number);
    builder_kv_u16(&b, "split.count", 2);
    builder_kv_i32(&b, "split.tensors.count", 2);
    if (own_key)
        builder_kv_str(&b, "general.name", "of this shard alone");
    builder_tensor(&b, name, GUFO_TYPE_F32, 1, (uint64_t[]){8}, 0);
    builder_pad(&b, 32);
    builder_pattern(&b, number, 32);
    write_file(shard_of(prefix, number + 1u, 2).text, b.data, b.len);
    builder_free(&b);
}

static void test_foreign(void **state)
{
    workshop w = workshop_new();
    builder whole = builder_new((encoding){3, false});
    path_text prefix = folder_path(&w.f, "f");

    (void)state;
    builder_header(&whole, 2, 1);
    builder_kv_str(&whole, "general.architecture", "llama");
    builder_tensor(&whole, "a", GUFO_TYPE_F32, 1, (uint64_t[]){8}, 0);
    builder_tensor(&whole, "b", GUFO_TYPE_F32, 1, (uint64_t[]){8}, 32);
    builder_pad(&whole, 32);
    builder_pattern(&whole, 0, 32);
    builder_pattern(&whole, 1, 32);
    for (int own_key = 0; own_key < 2; own_key++) {
        copied merged;

        write_foreign(prefix.text, 0, false);
        write_foreign(prefix.text, 1, own_key != 0);
        merged = copy_well(shard_of(prefix.text, 1, 2).text, w.out.text, plan_merge, NULL, "merge");
        check_u64(merged.normalised, own_key ? GUFO_NORMALISED_METADATA : 0, "metadata");
        check_file(w.out.text, whole.data, whole.len, "whole");
        (void)unlink(w.out.text);
    }
    builder_free(&whole);
    folder_remove(&w.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_foreign),
    };

    return cmocka_run_group_tests(tests, copies_setup, NULL);
}
