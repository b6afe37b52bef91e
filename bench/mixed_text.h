/* A text like those that models read, the same on every machine: 45 % English in Markdown, 30 % source
 * code, 15 % other scripts, 10 % Chinese and Japanese.
 *
 * Words follow Zipf's law, and most of them are made of syllables: about one in six of a text is new,
 * as in real ones. */
#ifndef BENCH_MIXED_TEXT_H
#define BENCH_MIXED_TEXT_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct mixed_text {
    char *data;
    size_t len, room;
    uint64_t state;
} mixed_text;

static inline uint32_t mixed_random(mixed_text *t, uint32_t below)
{
    t->state = t->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((t->state >> 33) % below);
}

/* From 0 to below - 1, small ones often. */
static inline uint32_t mixed_zipf(mixed_text *t, uint32_t below)
{
    double x = (double)mixed_random(t, 1u << 30) / (1u << 30);

    return (uint32_t)(pow((double)below + 1, x) - 1) % below;
}

static inline void mixed_add(mixed_text *t, const char *text, size_t len)
{
    if (t->len + len > t->room) {
        t->room = t->room * 2 + len;
        t->data = realloc(t->data, t->room);
        if (t->data == NULL)
            abort();
    }
    memcpy(t->data + t->len, text, len);
    t->len += len;
}

static inline void mixed_put(mixed_text *t, const char *text)
{
    mixed_add(t, text, strlen(text));
}

static inline void mixed_character(mixed_text *t, uint32_t c)
{
    char bytes[3] = {(char)(0xe0 | c >> 12), (char)(0x80 | (c >> 6 & 63)), (char)(0x80 | (c & 63))};

    if (c < 0x800) {
        bytes[1] = (char)(0xc0 | c >> 6);
        mixed_add(t, bytes + 1, 2);
    } else {
        mixed_add(t, bytes, 3);
    }
}

/* Word `number` of the language, which is always the same one. */
static inline void mixed_word(mixed_text *t, uint32_t number, int capital)
{
    static const char *const frequent[] = {
        "the", "of",   "and",  "to",   "a",     "in",    "is",    "that",  "for",   "it",
        "as",  "with", "be",   "on",   "by",    "this",  "are",   "or",    "from",  "at",
        "an",  "not",  "file", "can",  "which", "model", "value", "will",  "when",  "data",
        "if",  "all",  "use",  "each", "has",   "one",   "its",   "other", "their", "type"};
    static const char *const syllables[] = {
        "con", "ter", "a",  "in",  "re",   "ble", "ment", "per", "e",    "tion",
        "al",  "pro", "de", "ver", "ing",  "ro",  "st",   "u",   "com",  "ly",
        "i",   "er",  "ma", "li",  "ness", "o",   "ed",   "ti",  "can",  "dis",
        "ty",  "lo",  "ra", "ex",  "mu",   "si",  "po",   "sub", "graph"};
    const uint32_t frequents = sizeof frequent / sizeof *frequent;
    const uint32_t all = sizeof syllables / sizeof *syllables;
    size_t at = t->len;
    uint64_t mixed = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);

    if (number < frequents)
        mixed_put(t, frequent[number]);
    for (uint32_t i = 0; number >= frequents && i < 2 + number % 3; i++, mixed >>= 9)
        mixed_put(t, syllables[mixed % 512 % all]);
    if (capital && t->data[at] >= 'a')
        t->data[at] = (char)(t->data[at] - 'a' + 'A');
}

static inline void mixed_sentence(mixed_text *t)
{
    uint32_t words = 5 + mixed_random(t, 15);

    for (uint32_t i = 0; i < words; i++) {
        mixed_word(t, mixed_zipf(t, 40000), i == 0);
        if (i + 1 < words)
            mixed_put(t, mixed_random(t, 10) == 0 ? ", " : " ");
    }
    mixed_put(t, mixed_random(t, 8) == 0 ? "!\n\n" : mixed_random(t, 3) == 0 ? ".\n" : ". ");
}

static inline void mixed_markdown(mixed_text *t)
{
    char number[32];

    switch (mixed_random(t, 12)) {
    case 0:
        mixed_put(t, "\n## ");
        mixed_word(t, mixed_zipf(t, 40000), 1);
        mixed_put(t, "\n\n");
        break;
    case 1:
        mixed_put(t, "* `--");
        mixed_word(t, mixed_zipf(t, 40000), 0);
        mixed_put(t, "`: ");
        break;
    case 2:
        (void)snprintf(number, sizeof number, "(%u.%u%%) ", mixed_random(t, 3000),
                       mixed_random(t, 100));
        mixed_put(t, number);
        break;
    default:
        mixed_sentence(t);
    }
}

static inline void mixed_code(mixed_text *t)
{
    static const char *const openings[] = {
        "    if (",    "    return ", "        ", "\tfor (int i = 0; i < ",
        "static int ", "    // ",     "  self."};
    static const char *const joints[] = {"_", "->", ".",    "::", " + ",
                                         "(", ", ", " == ", "[",  " * "};
    static const char *const endings[] = {");\n", ";\n", ") {\n", "];\n", "\n", ":\n", "}\n\n"};
    uint32_t words = 2 + mixed_random(t, 5);
    char number[16];

    mixed_put(t, openings[mixed_random(t, 7)]);
    for (uint32_t i = 0; i < words; i++) {
        mixed_word(t, mixed_zipf(t, 8000), mixed_random(t, 4) == 0);
        mixed_put(t, joints[mixed_random(t, 10)]);
    }
    (void)snprintf(number, sizeof number, mixed_random(t, 2) == 0 ? "%u" : "0x%04x",
                   mixed_zipf(t, 100000));
    mixed_put(t, number);
    mixed_put(t, endings[mixed_random(t, 7)]);
}

/* Letters of one alphabet, as words. */
static inline void mixed_script(mixed_text *t)
{
    static const struct {
        uint32_t first, count;
    } alphabets[] = {{0x430, 32}, {0x3b1, 25}, {0x5d0, 27},  {0x627, 36},
                     {0x915, 37}, {0xe01, 46}, {0x10d0, 33}, {0xdf, 32}};
    uint32_t alphabet = mixed_random(t, 8), words = 4 + mixed_random(t, 12);

    for (uint32_t i = 0; i < words; i++) {
        uint64_t mixed = (mixed_zipf(t, 20000) + 1) * UINT64_C(0xbf58476d1ce4e5b9);
        uint32_t letters = 2 + (uint32_t)(mixed % 8);

        for (uint32_t k = 0; k < letters; k++, mixed = mixed >> 5 | mixed << 59)
            mixed_character(t, alphabets[alphabet].first +
                                   (uint32_t)(mixed % 1024 % alphabets[alphabet].count));
        mixed_put(t, i + 1 < words ? " " : ". ");
    }
}

static inline void mixed_cjk(mixed_text *t)
{
    uint32_t count = 8 + mixed_random(t, 40);

    for (uint32_t i = 0; i < count; i++)
        mixed_character(t, mixed_random(t, 5) == 0 ? 0x3041 + mixed_zipf(t, 80)
                                                   : 0x4e00 + mixed_zipf(t, 6000) * 7 % 20000);
    mixed_put(t, "\xe3\x80\x82\n");
}

/* At least `size` bytes, whole lines. */
static inline mixed_text mixed_make(size_t size)
{
    static const struct {
        void (*write)(mixed_text *);
        double share;
    } kinds[] = {
        {mixed_markdown, 0.45}, {mixed_code, 0.30}, {mixed_script, 0.15}, {mixed_cjk, 0.10}};
    mixed_text t = {.state = 42};

    while (t.len < size)
        for (unsigned kind = 0; kind < 4; kind++)
            for (size_t end = t.len + (size_t)(4096 * kinds[kind].share); t.len < end;)
                kinds[kind].write(&t);
    return t;
}

#endif
