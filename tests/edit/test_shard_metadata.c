/* What the shards behind the first say in their metadata, and what of it a merged file has. */
#include "workshop.h"

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
        check_u64(gufo_model_entry_count(file), 2, "%s", rows[i].label);
        check_ok(gufo_model_get_str(file, "text", &text, NULL), NULL, "%s", rows[i].label);
        check_str(text, "same", "%s", rows[i].label);
        gufo_model_free(file);
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
    model = gufo_model_open(path.text, &just_this, &error);
    check(model != NULL && gufo_job_split(model, &ones, &error) == NULL, "half a model");
    check(strstr(error.message, "one shard of 3") != NULL, "%s", error.message);
    gufo_model_free(model);
    check_status(make_copy(path.text, out.text, plan_merge, NULL, true, NULL, &error),
                 GUFO_E_SHARDS, &error, "one of three");
    check(strstr(error.message, "shard 2 of 3") != NULL, "%s", error.message);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metadata_of_shards),
        cmocka_unit_test(test_keys_of_a_split),
    };

    return cmocka_run_group_tests(tests, copies_setup, NULL);
}
