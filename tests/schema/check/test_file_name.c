/* Rules M5: the name of a file, and what its metadata says. */
#include "../../support/schema.h"

static void size_7b(gufo_document *d)
{
    put_text(d, "general.size_label", "7B");
}

/* An adapter, so that no rule about the tensors of models has its say. */
static void adapter(gufo_document *d)
{
    put_text(d, "general.type", "adapter");
    put_text(d, "adapter.type", "lora");
    put_f32(d, "adapter.lora.alpha", 16);
    put_tensor(d, "blk.0.attn_q.weight.lora_a", GUFO_TYPE_F16, 16, 4);
    put_tensor(d, "blk.0.attn_q.weight.lora_b", GUFO_TYPE_F16, 4, 16);
}

static void adapter_f16(gufo_document *d)
{
    adapter(d);
    put_u32(d, "general.file_type", GUFO_FILE_TYPE_F16);
}

static void shard_2_of_3(gufo_document *d)
{
    put_u16(d, "split.no", 1);
    put_u16(d, "split.count", 3);
    put_i32(d, "split.tensors.count", 0);
}

static void split_broken(gufo_document *d)
{
    put_u16(d, "split.no", 3);
    put_u16(d, "split.count", 3);
    put_i32(d, "split.tensors.count", 0);
}

static void split_of_one(gufo_document *d)
{
    put_u16(d, "split.no", 0);
    put_u16(d, "split.count", 1);
    put_i32(d, "split.tensors.count", 0);
}

#define ROW(text, name, bad_add, bad_path, good_add, good_path)                           \
    {                                                                                     \
        .label = text, .rule = name, .bad = {.add = bad_add, .path = bad_path}, .good = { \
            .add = good_add,                                                              \
            .path = good_path                                                             \
        }                                                                                 \
    }

static const schema_row rows[] = {
    {.label = "size",
     .rule = "name-size",
     .bad = {.add = size_7b, .path = "models/Model-13B-v1.0-F16.gguf"},
     .good = {.add = size_7b, .path = "models/Model-7B-v1.0-F16.gguf"},
     .subject = "13B"},
    ROW("size in small letters", "name-size", size_7b, "Model-8x7B-v1.0.gguf", size_7b,
        "Model-7b-v1.0.gguf"),
    ROW("size with an attribute", "name-size", size_7b, "Model-70B-A3B-v1.0.gguf", size_7b,
        "Model-7B-A3B-v1.0.gguf"),
    ROW("no version", "name-size", size_7b, "Model-13B-F16.gguf", size_7b, "7b.gguf"),
    {.label = "encoding",
     .rule = "name-encoding",
     .bad = {.add = adapter_f16, .path = "Model-7B-v1.0-Q4_K_M-LoRA.gguf"},
     .good = {.add = adapter_f16, .path = "Model-7B-v1.0-F16-LoRA.gguf"},
     .subject = "Q4_K_M"},
    ROW("encoding that is not a file type", "name-encoding", adapter_f16,
        "Model-7B-v1.0-BF16-LoRA.gguf", adapter_f16, "Model-7B-v1.0-Q4_K_XL-LoRA.gguf"),
    ROW("encoding without a file type", "name-encoding", adapter_f16, "Model-7B-v1.0-f32-LoRA.gguf",
        adapter, "Model-7B-v1.0-F32-LoRA.gguf"),
    ROW("another shard", "name-shard", shard_2_of_3, "x-00001-of-00003.gguf", shard_2_of_3,
        "x-00002-of-00003.gguf"),
    ROW("another count", "name-shard", shard_2_of_3, "x-00002-of-00004.gguf", shard_2_of_3,
        "x-00002-of-00003.gguf"),
    ROW("shard without a name", "name-shard", shard_2_of_3, "x.gguf", split_of_one, "x.gguf"),
    ROW("shard without keys", "name-shard", NULL, "x-00002-of-00003.gguf", split_broken,
        "x-00001-of-00003.gguf"),
    {.label = "vocabulary",
     .rule = "name-type",
     .bad = {.add = adapter, .path = "Model-7B-v1.0-vocab.gguf"},
     .good = {.path = "Model-7B-v1.0-vocab.gguf"},
     .subject = "vocab"},
    {.label = "no version, to the letter",
     .rule = "name-convention",
     .bad = {.path = "Model-7B-F16.gguf"},
     .good = {.path = "Model-7B-v1.0-F16.gguf"},
     .subject = "Model-7B-F16.gguf",
     .level = GUFO_LEVEL_SPEC},
    ROW("adapter", "name-type", NULL, "Model-7B-v1.0-F16-LoRA.gguf", adapter,
        "Model-7B-v1.0-F16-LoRA.gguf"),
    ROW("projector", "name-type", NULL, "mmproj-Model-7B-v1.0-F16.gguf", NULL,
        "mtp-Model-7B-v1.0-F16.gguf"),
};

static void test_rows(void **state)
{
    (void)state;
    schema_check_rows(rows, COUNT_OF(rows));
}

static void test_complete(void **state)
{
    static const char *const prefixes[] = {"M5"};

    (void)state;
    schema_check_complete(rows, COUNT_OF(rows), prefixes, COUNT_OF(prefixes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_complete),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
