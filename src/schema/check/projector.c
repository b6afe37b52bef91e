/* Projectors: they convert images or sound into embeddings of a language model.  There are dozens
 * of kinds; only what all of them need is looked at. */
#include "schema/check/check.h"

/* Whether the key is present and true. */
static bool says_yes(const check_context *c, const char *key)
{
    bool value;

    return gufo_get_bool(c->model, key, &value, NULL) == GUFO_OK && value;
}

void schema_check_projector(check_context *c)
{
    /* Files made before there was a key for the type have only one kind of projector. */
    static const char *const types[] = {"clip.projector_type", "clip.vision.projector_type",
                                        "clip.audio.projector_type", "clip.has_llava_projector"};
    bool typed = false;

    if (!says_yes(c, "clip.has_vision_encoder") && !says_yes(c, "clip.has_audio_encoder") &&
        !says_yes(c, "clip.has_text_encoder"))
        schema_report(c, RULE_PROJECTOR_ENCODER, at_missing("clip.has_vision_encoder"),
                      "the projector has no encoder: neither clip.has_vision_encoder nor "
                      "clip.has_audio_encoder is true");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        typed |= gufo_metadata_find(c->model, types[i], NULL);
    if (!typed)
        schema_report(c, RULE_PROJECTOR_TYPE, at_missing("clip.projector_type"),
                      "key \"clip.projector_type\" is missing; readers assume an MLP");
}
