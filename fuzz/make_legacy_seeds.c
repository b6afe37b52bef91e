/* Writes the seeds of fuzz_legacy, one small model for each header that occurred, and of GGUF
 * versions 1 and 2: `make_legacy_seeds FOLDER`, or checks them: `make_legacy_seeds --check
 * FOLDER`. */
#include "../tests/support/legacy_writer.h"
#include "../tests/support/seed.h"

#include <stdio.h>
#include <string.h>

static bool take(const seed_place *place, const char *name, const builder *b)
{
    char file[64];

    (void)snprintf(file, sizeof file, "%s.bin", name);
    return seed_take(place, file, b);
}

/* GGUF version 1 or 2, with blocks of a type that was removed. */
static builder make_gguf(int version)
{
    builder b = builder_new((encoding){version, false});

    builder_header(&b, 2, 2);
    builder_kv_str(&b, "general.architecture", "llama");
    builder_kv_array(&b, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, 2);
    builder_str(&b, "a");
    builder_str(&b, "b");
    builder_tensor(&b, "output_norm.weight", GUFO_TYPE_F32, 1, (uint64_t[]){4}, 0);
    builder_tensor(&b, "output.weight", GUFO_TYPE_Q4_0_4_4, 2, (uint64_t[]){32, 4}, 32);
    builder_pad(&b, 32);
    builder_pattern(&b, 1, 16);
    builder_pad(&b, 32);
    builder_pattern(&b, 2, 72);
    builder_pad(&b, 32);
    return b;
}

/* An adapter: two pairs of different ranks, under the names of two times. */
static builder make_adapter(void)
{
    static const struct {
        const char *name;
        uint32_t columns, rows;
    } list[] = {{"layers.0.attention.wq.weight.loraA", 2, 4},
                {"layers.0.attention.wq.weight.loraB", 2, 8},
                {"token_embd.weight.loraB", 3, 5},
                {"token_embd.weight.loraA", 3, 4}};
    builder b = builder_new((encoding){3, false});

    builder_raw(&b, "algg", 4);
    builder_u32(&b, 1);
    builder_u32(&b, 2);
    builder_u32(&b, 4);
    for (uint32_t i = 0; i < sizeof list / sizeof *list; i++) {
        builder_u32(&b, 2);
        builder_u32(&b, (uint32_t)strlen(list[i].name));
        builder_u32(&b, i % 2); /* F32, F16 */
        builder_u32(&b, list[i].columns);
        builder_u32(&b, list[i].rows);
        builder_raw(&b, list[i].name, strlen(list[i].name));
        builder_pad(&b, 32);
        builder_pattern(&b, i, (size_t)list[i].columns * list[i].rows * (i % 2 == 0 ? 4 : 2));
    }
    return b;
}

int main(int argc, char **argv)
{
    const legacy_sample *sample;
    seed_place place;
    bool good = true;

    if (!seed_arguments(argc, argv, &place))
        return 2;
    for (size_t i = 0; (sample = legacy_sample_at(i)) != NULL; i++) {
        builder b = builder_new((encoding){3, false});

        legacy_write(&b, sample, NULL);
        good &= take(&place, sample->name, &b);
        builder_free(&b);
    }
    for (int version = 1; version < 3; version++) {
        builder b = make_gguf(version);

        good &= take(&place, version == 1 ? "gguf-v1" : "gguf-v2", &b);
        builder_free(&b);
    }
    {
        builder b = make_adapter();

        good &= take(&place, "ggla", &b);
        builder_free(&b);
    }
    return good ? 0 : 1;
}
