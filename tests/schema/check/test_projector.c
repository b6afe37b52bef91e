/* Rules about projectors: each has a file that breaks it, and nothing else. */
#include "../models.h"

static model projector(void)
{
    model m = model_new("clip");

    model_text(&m, "general.type", "mmproj");
    model_text(&m, "clip.projector_type", "mlp");
    model_bool(&m, "clip.has_vision_encoder", true);
    model_u32(&m, "clip.vision.embedding_length", 64);
    model_u32(&m, "clip.vision.patch_size", 14);
    model_u32(&m, "clip.vision.attention.head_count", 4);
    model_f32(&m, "clip.vision.attention.layer_norm_epsilon", 1e-6);
    model_add(&m, "v.patch_embd.weight", 2, 14, 64);
    return m;
}

static void no_encoder(model *m)
{
    model_drop_key(m, "clip.has_vision_encoder");
}

static void no_type(model *m)
{
    model_drop_key(m, "clip.projector_type");
}

static const rule_row rows[] = {
    {"M441", "none", projector, no_encoder, "clip.has_vision_encoder", 0, NULL},
    {"M441", "denied", projector, NULL, "clip.has_vision_encoder", 0,
     "clip.has_vision_encoder bool false"},
    {"M442", "type", projector, no_type, "clip.projector_type", 0, NULL},
    {"M203", "patches", projector, NULL, "clip.vision.patch_size", 0,
     "clip.vision.patch_size uint32 0"},
    {"M205", "heads", projector, NULL, "clip.vision.attention.head_count", 0,
     "clip.vision.attention.head_count uint32 5"},
};

static void test_rules(void **state)
{
    (void)state;
    check_rule_rows(rows, COUNT_OF(rows), "M44");
}

/* All rules of M4 are in one of four groups, each of which has its own table of rows. */
static void test_groups(void **state)
{
    (void)state;
    for (size_t i = 0; gufo_rule_at(i) != NULL; i++) {
        const char *id = gufo_rule_at(i)->id;

        if (strncmp(id, "M4", 2) == 0)
            check(strchr("01234", id[2]) != NULL, "rule %s has no table", id);
    }
}

static void sound(model *m)
{
    model_drop_key(m, "clip.has_vision_encoder");
    model_drop_key(m, "clip.projector_type");
    model_bool(m, "clip.has_audio_encoder", true);
    model_text(m, "clip.audio.projector_type", "ultravox");
}

static void old_file(model *m)
{
    model_drop_key(m, "clip.projector_type");
    model_drop_key(m, "general.type");
    model_bool(m, "clip.has_llava_projector", true);
}

static void test_no_faults(void **state)
{
    static void (*const changes[])(model *) = {sound, old_file};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        char label[32];
        model m = projector();

        changes[i](&m);
        snprintf(label, sizeof label, "change %zu", i);
        check_clean(&m, label);
        model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_no_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
