/* RWKV 6 and 7 of rwkv.cpp, with the names and shapes that today's programs look for. */
#include "../support/folder.h"
#include "../support/legacy_writer.h"

#include "gufo/import.h"

enum { LAYERS = 2, MOST_NUMBERS = 64 };

/* What a model has once, and in each layer. */
static const sample_tensor around[] = {
    {"emb.weight", "EV", NULL},       {"blocks.0.ln0.weight", "E", NULL},
    {"blocks.0.ln0.bias", "E", NULL}, {"ln_out.weight", "E", NULL},
    {"ln_out.bias", "E", NULL},       {"head.weight", "EV", NULL},
};

#define IN_BOTH                                                                    \
    {"ln1.weight", "E", NULL}, {"ln1.bias", "E", NULL}, {"ln2.weight", "E", NULL}, \
        {"ln2.bias", "E", NULL}, {"att.receptance.weight", "EE", NULL},            \
        {"att.key.weight", "EE", NULL}, {"att.value.weight", "EE", NULL},          \
        {"att.output.weight", "EE", NULL}, {"att.ln_x.weight", "E", NULL},         \
        {"att.ln_x.bias", "E", NULL}, {"ffn.key.weight", "EF", NULL},              \
    {                                                                              \
        "ffn.value.weight", "FE", NULL                                             \
    }

static const sample_tensor rwkv6_layer[] = {
    IN_BOTH,
    {"att.time_maa_x", "E11", NULL},
    {"att.time_maa_w", "E11", NULL},
    {"att.time_maa_k", "E11", NULL},
    {"att.time_maa_v", "E11", NULL},
    {"att.time_maa_r", "E11", NULL},
    {"att.time_maa_g", "E11", NULL},
    {"att.time_maa_w1", "EM", NULL},
    {"att.time_maa_w2", "XE5", NULL},
    {"att.time_decay", "1HN", NULL},
    {"att.time_decay_w1", "ED", NULL},
    {"att.time_decay_w2", "DE", NULL},
    {"att.time_faaaa", "1HN", NULL},
    {"att.gate.weight", "EE", NULL},
    {"ffn.time_maa_k", "E11", NULL},
    {"ffn.time_maa_r", "E11", NULL},
    {"ffn.receptance.weight", "EE", NULL},
};

static const sample_tensor rwkv7_layer[] = {
    IN_BOTH,
    {"att.x_rwkvag", "E16", NULL},
    {"att.w0", "E11", NULL},
    {"att.w1", "EW", NULL},
    {"att.w2", "WE", NULL},
    {"att.a0", "E11", NULL},
    {"att.a1", "EA", NULL},
    {"att.a2", "AE", NULL},
    {"att.v0", "E11", NULL},
    {"att.v1", "EL", NULL},
    {"att.v2", "LE", NULL},
    {"att.g1", "EG", NULL},
    {"att.g2", "GE", NULL},
    {"att.k_k", "E11", NULL},
    {"att.k_a", "E11", NULL},
    {"att.r_k", "HN", NULL},
    {"ffn.x_k", "E11", NULL},
};

/* ---- a model opened ------------------------------------------------------------------------- */

typedef struct subject {
    const char *arch;
    char names[SAMPLE_TENSORS][64];
    legacy_sample sample;
    legacy_marks marks;
    builder bytes;
    folder place;
    gufo_import *import;
    const gufo_model *model;
} subject;

static void add_tensors(subject *s, const sample_tensor *tensors, size_t count, const char *prefix)
{
    size_t at = 0;

    while (s->sample.tensors[at].name != NULL)
        at++;
    for (size_t i = 0; i < count; i++, at++) {
        check(at < SAMPLE_TENSORS, "%s", s->arch);
        (void)snprintf(s->names[at], sizeof s->names[at], "%s%s", prefix, tensors[i].name);
        s->sample.tensors[at] = tensors[i];
        s->sample.tensors[at].name = s->names[at];
    }
}

static void make_sample(subject *s, const sample_tensor *layer, size_t count)
{
    s->sample = (legacy_sample){.name = s->arch,
                                .family = "rwkv",
                                .container = "GGMF",
                                .version = 101,
                                .generation = 2,
                                .fields = {3, 4, LAYERS, 0},
                                .field_count = 4,
                                .sizes = {{'E', 4}, {'V', 3}, {'F', 6}, {'H', 2}, {'N', 2}}};
    add_tensors(s, around, COUNT_OF(around), "");
    for (int i = 0; i < LAYERS; i++) {
        char prefix[16];

        (void)snprintf(prefix, sizeof prefix, "blocks.%d.", i);
        add_tensors(s, layer, count, prefix);
    }
}

/* Behind the five that both have. */
static void set_sizes(subject *s, const char *letters, const uint32_t *sizes)
{
    for (size_t i = 0; letters[i] != 0; i++) {
        s->sample.sizes[5 + i].letter = letters[i];
        s->sample.sizes[5 + i].size = sizes[i];
    }
}

static void open_subject(subject *s)
{
    gufo_legacy_options options = {.arch = s->arch};
    gufo_error error = no_error();

    s->place = folder_new();
    path_text path = folder_path(&s->place, "model.bin");
    s->bytes = builder_new((encoding){3, false});
    legacy_write(&s->bytes, &s->sample, &s->marks);
    write_file(path.text, s->bytes.data, s->bytes.len);
    s->import = gufo_import_legacy(path.text, &options, &error);
    check(s->import != NULL, "%s: %s", s->arch, error.message);
    s->model = gufo_import_model(s->import);
}

static void close_subject(subject *s)
{
    gufo_import_free(s->import);
    builder_free(&s->bytes);
    folder_remove(&s->place);
}

/* ---- what it became ------------------------------------------------------------------------- */

/* A tensor of that shape (up to four numbers, 0 ends them) whose data is that of these old ones, in
 * order. */
static void check_made(const subject *s, const char *name, const uint64_t dims[5],
                       const char *const *sources)
{
    gufo_tensor tensor;
    uint8_t data[MOST_NUMBERS * sizeof(float)];
    uint64_t at = 0;
    uint32_t n = 0;
    gufo_error error = no_error();

    check(gufo_model_tensor_find(s->model, name, &tensor), "%s: %s", s->arch, name);
    for (; dims[n] != 0; n++)
        check_u64(tensor.dims[n], dims[n], "%s: %s, dimension %u", s->arch, name, (unsigned)n);
    check_u64(tensor.n_dims, n, "%s: %s", s->arch, name);
    check(tensor.size <= sizeof data, "%s", name);
    check_ok(gufo_tensor_read_raw(s->model, &tensor, 0, data, (size_t)tensor.size, &error), &error,
             "%s", name);
    for (; *sources != NULL; sources++)
        for (size_t i = 0; i < s->marks.tensors; i++) {
            size_t size = s->marks.ends[i] - s->marks.data[i];

            if (strcmp(s->names[i], *sources) != 0)
                continue;
            check(at + size <= tensor.size &&
                      memcmp(data + at, s->bytes.data + s->marks.data[i], size) == 0,
                  "%s: %s has %s at byte %" PRIu64, s->arch, name, *sources, at);
            at += size;
        }
    check_u64(at, tensor.size, "%s: %s", s->arch, name);
}

#define FROM(...) ((const char *const[]){__VA_ARGS__, NULL})
#define DIMS(...) ((const uint64_t[5]){__VA_ARGS__})

static void check_number(const subject *s, const char *key, uint64_t expected)
{
    uint64_t number;
    gufo_error error = no_error();
    char text[96];

    (void)snprintf(text, sizeof text, "%s.%s", s->arch, key);
    check_ok(gufo_model_get_u64(s->model, text, &number, &error), &error, "%s", text);
    check_u64(number, expected, "%s", text);
}

static void check_both(const subject *s)
{
    gufo_str arch;
    gufo_error error = no_error();

    check_ok(gufo_model_get_str(s->model, "general.architecture", &arch, &error), &error, "%s",
             s->arch);
    check_str(arch, s->arch, "architecture");
    check_number(s, "block_count", LAYERS);
    check_number(s, "embedding_length", 4);
    check_number(s, "feed_forward_length", 6);
    check_number(s, "wkv.head_size", 2);
    check_number(s, "attention.head_count", 0);
    check(!gufo_model_find(s->model, "rwkv.architecture_version", NULL), "keys of another");
    check_made(s, "token_embd.weight", DIMS(4, 3), FROM("emb.weight"));
    check_made(s, "token_embd_norm.bias", DIMS(4), FROM("blocks.0.ln0.bias"));
    check_made(s, "blk.1.attn_norm_2.weight", DIMS(4), FROM("blocks.1.ln2.weight"));
    check_made(s, "blk.1.time_mix_ln.bias", DIMS(4), FROM("blocks.1.att.ln_x.bias"));
    check_made(s, "blk.1.channel_mix_value.weight", DIMS(6, 4), FROM("blocks.1.ffn.value.weight"));
    check_made(s, "output.weight", DIMS(4, 3), FROM("head.weight"));
}

static void test_rwkv6(void **state)
{
    static subject s = {.arch = "rwkv6"};

    (void)state;
    make_sample(&s, rwkv6_layer, COUNT_OF(rwkv6_layer));
    set_sizes(&s, "MXD", (const uint32_t[]){10, 2, 3});
    open_subject(&s);
    check_both(&s);
    check_number(&s, "rescale_every_n_layers", 0);
    check_number(&s, "time_mix_extra_dim", 2);
    check_number(&s, "time_decay_extra_dim", 3);
    check_made(&s, "blk.1.time_mix_lerp_fused.weight", DIMS(4, 1, 1, 5),
               FROM("blocks.1.att.time_maa_w", "blocks.1.att.time_maa_k", "blocks.1.att.time_maa_v",
                    "blocks.1.att.time_maa_r", "blocks.1.att.time_maa_g"));
    check_made(&s, "blk.0.time_mix_lerp_x.weight", DIMS(4), FROM("blocks.0.att.time_maa_x"));
    check_made(&s, "blk.0.time_mix_w2.weight", DIMS(2, 4, 5), FROM("blocks.0.att.time_maa_w2"));
    check_made(&s, "blk.0.time_mix_decay.weight", DIMS(4), FROM("blocks.0.att.time_decay"));
    check_made(&s, "blk.0.time_mix_first.weight", DIMS(2, 2), FROM("blocks.0.att.time_faaaa"));
    /* Four of each layer became part of another. */
    check_u64(gufo_model_tensor_count(s.model), s.marks.tensors - 4 * LAYERS, "tensors");
    close_subject(&s);
}

static void test_rwkv7(void **state)
{
    static subject s = {.arch = "rwkv7"};
    const char *const first[] = {"0", "1", "2"};

    (void)state;
    make_sample(&s, rwkv7_layer, COUNT_OF(rwkv7_layer));
    set_sizes(&s, "WAGL", (const uint32_t[]){2, 3, 4, 5});
    open_subject(&s);
    check_both(&s);
    check_number(&s, "attention.decay_lora_rank", 2);
    check_number(&s, "attention.iclr_lora_rank", 3);
    check_number(&s, "attention.value_residual_mix_lora_rank", 5);
    check_number(&s, "attention.gate_lora_rank", 4);
    check_made(&s, "blk.1.time_mix_lerp_fused.weight", DIMS(4, 1, 1, 6),
               FROM("blocks.1.att.x_rwkvag"));
    check_made(&s, "blk.1.time_mix_r_k.weight", DIMS(4), FROM("blocks.1.att.r_k"));
    check_made(&s, "blk.1.time_mix_a1.weight", DIMS(4, 3), FROM("blocks.1.att.a1"));
    check_made(&s, "blk.1.time_mix_v1.weight", DIMS(4, 5), FROM("blocks.1.att.v1"));
    check_made(&s, "blk.1.time_mix_v0.weight", DIMS(4), FROM("blocks.1.att.v0"));
    /* The first layer has no values of others: what stands there are those of a. */
    for (size_t i = 0; i < COUNT_OF(first); i++) {
        char name[64], source[64];
        const uint64_t *dims = i == 0 ? DIMS(4) : i == 1 ? DIMS(4, 3) : DIMS(3, 4);

        (void)snprintf(source, sizeof source, "blocks.0.att.a%s", first[i]);
        (void)snprintf(name, sizeof name, "blk.0.time_mix_a%s.weight", first[i]);
        check_made(&s, name, dims, FROM(source));
        (void)snprintf(name, sizeof name, "blk.0.time_mix_v%s.weight", first[i]);
        check_made(&s, name, dims, FROM(source));
    }
    check_u64(gufo_model_tensor_count(s.model), s.marks.tensors,
              "three are left out, three are there twice");
    close_subject(&s);
}

/* As they are, without being asked for another name. */
static void test_names_stay(void **state)
{
    static subject s = {.arch = "rwkv7"};

    (void)state;
    make_sample(&s, rwkv6_layer, 12); /* what both have */
    s.arch = NULL;
    open_subject(&s);
    for (size_t i = 0; i < s.marks.tensors; i++)
        check(gufo_model_tensor_find(s.model, s.names[i], NULL), "%s", s.names[i]);
    close_subject(&s);
}

/* A block is part of one row: rows of another length would cut it. */
static void test_quantized_rows_of_another_length(void **state)
{
    static subject s = {.arch = "rwkv7"};
    sample_tensor layer[COUNT_OF(rwkv7_layer)];
    gufo_legacy_options options = {.arch = "rwkv7", .keep = GUFO_LEGACY_F32};
    gufo_error error = no_error();

    (void)state;
    memcpy(layer, rwkv7_layer, sizeof layer);
    check(strcmp(layer[12].name, "att.x_rwkvag") == 0, "%s", layer[12].name);
    layer[12].shape = "X";
    layer[12].type = "Q4_0";
    make_sample(&s, layer, COUNT_OF(layer));
    set_sizes(&s, "WALGX", (const uint32_t[]){3, 5, 6, 7, 96});
    s.sample.fields[1] = s.sample.sizes[0].size = 16;
    s.sample.sizes[3].size = 8;
    s.place = folder_new();
    path_text path = folder_path(&s.place, "model.bin");
    s.bytes = builder_new((encoding){3, false});
    legacy_write(&s.bytes, &s.sample, &s.marks);
    write_file(path.text, s.bytes.data, s.bytes.len);
    check(gufo_import_legacy(path.text, &options, &error) == NULL, "it is taken");
    check(error.code == GUFO_E_TYPE && strstr(error.message, "rows of 96 numbers, not of 16"), "%s",
          error.message);
    close_subject(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rwkv6),
        cmocka_unit_test(test_rwkv7),
        cmocka_unit_test(test_names_stay),
        cmocka_unit_test(test_quantized_rows_of_another_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
