/* Tokens of Whisper that its files leave out: programs make them from the number of tokens.
 *
 *     English (51864)         multilingual (51865 and more)
 *     50256 [_EOT_]           50257 [_EOT_]
 *     50257 [_SOT_]           50258 [_SOT_]
 *     50258 [_LANG_en] ...    50259 [_LANG_en] ...       one for each language: 99, later 100
 *     50357 [_TRANSLATE_]     behind the languages
 *     ...
 *     50363 [_BEG_]           the time 0
 *     50364 [_TT_1] ...       0.02 seconds later, each */
#include "legacy/whisper_tokens.h"

#include <inttypes.h>
#include <stdio.h>

enum { MULTILINGUAL = 51865, OTHER_TOKENS = 51765, USUAL_LANGUAGES = 98 };

static const char *const languages[] = {
    "en", "zh", "de", "es",  "ru", "ko", "fr", "ja", "pt", "tr",  "pl", "ca", "nl", "ar", "sv",
    "it", "id", "hi", "fi",  "vi", "he", "uk", "el", "ms", "cs",  "ro", "da", "hu", "ta", "no",
    "th", "ur", "hr", "bg",  "lt", "la", "mi", "ml", "cy", "sk",  "te", "fa", "lv", "bn", "sr",
    "az", "sl", "kn", "et",  "mk", "br", "eu", "is", "hy", "ne",  "mn", "bs", "kk", "sq", "sw",
    "gl", "mr", "pa", "si",  "km", "sn", "yo", "so", "af", "oc",  "ka", "be", "tg", "sd", "gu",
    "am", "yi", "lo", "uz",  "fo", "ht", "ps", "tk", "nn", "mt",  "sa", "lb", "my", "bo", "tl",
    "mg", "as", "tt", "haw", "ln", "ha", "ba", "jw", "su", "yue",
};

whisper_ids whisper_ids_of(uint64_t tokens)
{
    uint64_t multilingual = tokens >= MULTILINGUAL, others = OTHER_TOKENS + multilingual;
    uint64_t count = tokens > others ? tokens - others : 0;
    uint64_t shift = multilingual ? count - USUAL_LANGUAGES : 0;

    return (whisper_ids){
        .end = 50256 + multilingual,
        .start = 50257 + multilingual,
        .languages = count,
        .translate = 50357 + shift,
        .transcribe = 50358 + shift,
        .solm = 50359 + shift,
        .previous = 50360 + shift,
        .no_speech = 50361 + shift,
        .no_timestamps = 50362 + shift,
        .begin = 50363 + shift,
    };
}

/* The names of those that there is one of. */
static const char *name_of(const whisper_ids *ids, uint64_t id)
{
    const struct special {
        uint64_t id;
        const char *name;
    } specials[] = {
        {ids->end, "EOT"},
        {ids->start, "SOT"},
        {ids->translate, "TRANSLATE"},
        {ids->transcribe, "TRANSCRIBE"},
        {ids->solm, "SOLM"},
        {ids->previous, "PREV"},
        {ids->no_speech, "NOSP"},
        {ids->no_timestamps, "NOT"},
        {ids->begin, "BEG"},
    };

    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (specials[i].id == id)
            return specials[i].name;
    return NULL;
}

whisper_text whisper_text_of(const whisper_ids *ids, uint64_t id)
{
    const char *name = name_of(ids, id);
    uint64_t language = id - ids->start - 1;
    whisper_text text;

    if (name != NULL)
        (void)snprintf(text.text, sizeof text.text, "[_%s_]", name);
    else if (id > ids->begin)
        (void)snprintf(text.text, sizeof text.text, "[_TT_%" PRIu64 "]", id - ids->begin);
    else if (id > ids->start && language < ids->languages &&
             language < sizeof languages / sizeof *languages)
        (void)snprintf(text.text, sizeof text.text, "[_LANG_%s]", languages[language]);
    else
        (void)snprintf(text.text, sizeof text.text, "[_extra_token_%" PRIu64 "]", id);
    return text;
}
