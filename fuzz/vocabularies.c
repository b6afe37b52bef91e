/* Small vocabularies: the tables of each, and how they become a file in memory. */
#include "vocabularies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY(name) "tokenizer.ggml." name

static void need(bool good, const gufo_error *error)
{
    if (good)
        return;
    fprintf(stderr, "vocabularies: %s\n", error->message);
    abort();
}

/* ---- lists ---------------------------------------------------------------------------------- */

enum { MOST_TOKENS = 300 };

typedef struct token_list {
    char bytes[256][8]; /* texts of byte tokens */
    gufo_str texts[MOST_TOKENS];
    int32_t types[MOST_TOKENS];
    float scores[MOST_TOKENS];
    size_t count;
} token_list;

enum { NORMAL = 1, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE };

static void add(token_list *list, const char *text, int32_t type)
{
    list->texts[list->count] = gufo_str_of(text);
    list->types[list->count] = type;
    list->scores[list->count] = type == NORMAL ? -(float)list->count : 0;
    list->count++;
}

/* Texts between spaces. */
static void add_all(token_list *list, const char *texts, int32_t type)
{
    for (const char *at = texts; *at != '\0';) {
        size_t len = strcspn(at, " ");

        add(list, "", type);
        list->texts[list->count - 1] = (gufo_str){at, len};
        at += len + (at[len] == ' ');
    }
}

static void add_bytes(token_list *list, const char *format)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        snprintf(list->bytes[byte], sizeof *list->bytes, format, byte);
        add(list, list->bytes[byte], BYTE);
    }
}

static void set_list(gufo_document *d, const char *key, gufo_value_type type, const void *data,
                     size_t count)
{
    const gufo_items items = {type, count, data};
    gufo_error error;

    need(gufo_document_set_array(d, key, &items, &error) == GUFO_OK, &error);
}

static void set_tokens(gufo_document *d, const token_list *list)
{
    set_list(d, KEY("tokens"), GUFO_VALUE_STRING, list->texts, list->count);
    set_list(d, KEY("token_type"), GUFO_VALUE_INT32, list->types, list->count);
    set_list(d, KEY("scores"), GUFO_VALUE_FLOAT32, list->scores, list->count);
}

static void set_merges(gufo_document *d, const char *const *merges)
{
    gufo_str texts[32];
    size_t count = 0;

    for (; merges[count] != NULL; count++)
        texts[count] = gufo_str_of(merges[count]);
    set_list(d, KEY("merges"), GUFO_VALUE_STRING, texts, count);
}

static void set_text(gufo_document *d, const char *key, const char *text)
{
    gufo_error error;

    need(gufo_document_set_text(d, key, text, &error) == GUFO_OK, &error);
}

static void set_id(gufo_document *d, const char *key, uint32_t id)
{
    gufo_error error;

    need(gufo_document_set_u32(d, key, id, &error) == GUFO_OK, &error);
}

static void set_flag(gufo_document *d, const char *key, bool flag)
{
    gufo_error error;

    need(gufo_document_set_bool(d, key, flag, &error) == GUFO_OK, &error);
}

/* ---- vocabularies --------------------------------------------------------------------------- */

static void make_spm(gufo_document *d)
{
    static token_list list;

    list.count = 0;
    add(&list, "<unk>", UNKNOWN);
    add(&list, "<s>", CONTROL);
    add(&list, "</s>", CONTROL);
    add_bytes(&list, "<0x%02X>");
    add_all(&list, "▁ h e l o w r d a b é ▁▁ ▁▁▁▁ he ll hell hello ▁hello ▁w ab aba abab", NORMAL);
    add_all(&list, "<|user|> <|u>", USER_DEFINED);
    set_text(d, KEY("model"), "llama");
    set_tokens(d, &list);
    set_flag(d, KEY("add_eos_token"), true);
}

/* The 256 characters of the alphabet of bytes. */
static void add_alphabet(token_list *list)
{
    unsigned next = 0x100;

    for (unsigned byte = 0; byte < 256; byte++) {
        bool shown = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte != 0xad);
        unsigned code_point = shown ? byte : next++;
        char *text = list->bytes[byte];

        memset(text, 0, sizeof *list->bytes);
        text[0] = (char)(code_point < 0x80 ? code_point : 0xc0 | code_point >> 6);
        if (code_point >= 0x80)
            text[1] = (char)(0x80 | (code_point & 63));
        add(list, text, NORMAL);
    }
}

static void set_bpe(gufo_document *d, const char *model, const char *pre)
{
    static const char *const merges[] = {"h e", "l l",   "he ll", "hell o", "Ġ hello", "Ġ w",
                                         "Ġ Ġ", "ĠĠ ĠĠ", "a b",   "ab a",   "ab ab",   "Ã ©",
                                         "1 2", "12 3",  "Ċ Ċ",   NULL};
    static token_list list;

    list.count = 0;
    add_alphabet(&list);
    add_all(&list, "he ll hell hello Ġhello Ġw ĠĠ ĠĠĠĠ ab aba abab Ã© 12 123 ĊĊ it's", NORMAL);
    add_all(&list, "<|endoftext|> <|im_start|> <|im_end|>", CONTROL);
    add_all(&list, "<tool> <to", USER_DEFINED);
    set_text(d, KEY("model"), model);
    set_text(d, KEY("pre"), pre);
    set_tokens(d, &list);
    set_merges(d, merges);
    set_id(d, KEY("bos_token_id"), 272);
    set_id(d, KEY("eos_token_id"), 272);
}

static void make_gpt2(gufo_document *d)
{
    set_bpe(d, "gpt2", "gpt-2");
}

static void make_llama3(gufo_document *d)
{
    set_bpe(d, "gpt2", "llama-bpe");
}

static void make_gemma(gufo_document *d)
{
    static const char *const merges[] = {"h e", "l l", "he ll", "hell o", "▁ hello",
                                         "▁ w", "▁ ▁", "a b",   "ab a",   NULL};
    static token_list list;

    list.count = 0;
    add_all(&list, "<pad> <eos> <bos>", CONTROL);
    add(&list, "<unk>", UNKNOWN);
    add_bytes(&list, "<0x%02X>");
    add_all(&list, "h e l o w a b ▁ he ll hell hello ▁hello ▁w ▁▁ ab aba", NORMAL);
    add(&list, "\n\n", NORMAL);
    set_text(d, KEY("model"), "gemma4");
    set_tokens(d, &list);
    set_merges(d, merges);
    set_id(d, KEY("bos_token_id"), 2);
    set_id(d, KEY("eos_token_id"), 1);
}

static void make_wpm(gufo_document *d)
{
    static token_list list;

    list.count = 0;
    add(&list, "[PAD]", CONTROL);
    add(&list, "[UNK]", UNKNOWN);
    add_all(&list, "[CLS] [SEP] [MASK]", CONTROL);
    add_all(&list, "▁hello ▁h e l lo ▁wor ld ▁! ▁? ▁. ▁' ▁s ▁中 ▁é a ▁ab ab", NORMAL);
    add(&list, "[unused1]", UNUSED);
    set_text(d, KEY("model"), "bert");
    set_tokens(d, &list);
    set_id(d, KEY("bos_token_id"), 2);
    set_id(d, KEY("seperator_token_id"), 3);
    set_id(d, KEY("unknown_token_id"), 1);
    set_id(d, KEY("mask_token_id"), 4);
}

/* Normalizes "A" to "a" and "é" to "e": a double array in which the child for byte c of the root is
 * word c. */
static void set_charsmap(gufo_document *d)
{
    enum { WORDS = 256, TRIE = 4 * WORDS };
    static const char texts[] = "a\0e";
    uint32_t words[WORDS] = {0};
    uint8_t map[4 + TRIE + sizeof texts];

    words[0x41] = (0x41 ^ 2) << 10 | 0x100 | 0x41; /* its value is word 2 */
    words[2] = 0x80000000;
    words[0xc3] = (0xc3 ^ 0xac) << 10 | 0xc3; /* the child for a9 is word ac ^ a9 = 5 */
    words[5] = (5 ^ 3) << 10 | 0x100 | 0xa9;
    words[3] = 0x80000002;
    for (size_t i = 0; i <= WORDS; i++)
        for (unsigned byte = 0; byte < 4; byte++)
            map[4 * i + byte] = (uint8_t)((i == 0 ? TRIE : words[i - 1]) >> 8 * byte);
    memcpy(map + 4 + TRIE, texts, sizeof texts);
    set_list(d, KEY("precompiled_charsmap"), GUFO_VALUE_UINT8, map, sizeof map);
}

static void make_ugm(gufo_document *d)
{
    static token_list list;

    list.count = 0;
    add(&list, "<pad>", CONTROL);
    add(&list, "</s>", CONTROL);
    add(&list, "<unk>", UNKNOWN);
    add_all(&list, "▁ h e l o w a b he ll lo hello ▁hello ▁w ab aba ▁▁ 中", NORMAL);
    add_all(&list, "<extra_id_0> Foo", USER_DEFINED);
    add(&list, "▁hell", UNUSED);
    set_text(d, KEY("model"), "t5");
    set_tokens(d, &list);
    set_charsmap(d);
    set_flag(d, KEY("remove_extra_whitespaces"), true);
    set_flag(d, KEY("add_space_prefix"), true);
    set_flag(d, KEY("add_eos_token"), true);
    set_id(d, KEY("eos_token_id"), 1);
    set_id(d, KEY("unknown_token_id"), 2);
}

static void make_rwkv(gufo_document *d)
{
    static token_list list;

    list.count = 0;
    add(&list, "<s>", CONTROL);
    add_bytes(&list, "\\x%02x");
    add_all(&list, "hello he \\x20hello \\n\\n \\t\\' \\xe4\\xb8 中 ab abab \\\\", NORMAL);
    set_text(d, KEY("model"), "rwkv");
    set_tokens(d, &list);
    set_id(d, KEY("eot_token_id"), 260);
}

static void make_rwkv_world(gufo_document *d)
{
    set_text(d, "tokenizer.rwkv.world",
             "1 '\\x00' 1\n2 'h' 1\n3 'e' 1\n4 'hello' 5\n5 b'\\xe4' 1\n6 '\\n' 1\n7 \"it's\" 4\n"
             "8 '中' 3\n");
}

static void make_huggingface(gufo_document *d)
{
    set_text(
        d, "tokenizer.huggingface.json",
        "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"h\":0,\"e\":1,\"l\":2,\"o\":3,\"\\u0120\":4,"
        "\"he\":5,\"ll\":6,\"hell\":7},\"merges\":[[\"h\",\"e\"],[\"l\",\"l\"],[\"he\",\"ll\"]]},"
        "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"
        "\"trim_offsets\":true,\"use_regex\":true},\"decoder\":{\"type\":\"ByteLevel\","
        "\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":true},"
        "\"added_tokens\":[{\"id\":8,\"content\":\"<|endoftext|>\",\"special\":true,"
        "\"normalized\":false,\"single_word\":false,\"lstrip\":false,\"rstrip\":false}]}");
}

static const struct {
    const char *name;
    void (*make)(gufo_document *d);
} vocabularies[VOCABULARY_COUNT] = {
    {"spm", make_spm},     {"gpt2", make_gpt2},        {"llama3", make_llama3},
    {"gemma", make_gemma}, {"wpm", make_wpm},          {"ugm", make_ugm},
    {"rwkv", make_rwkv},   {"world", make_rwkv_world}, {"huggingface", make_huggingface},
};

const char *vocabulary_name(size_t index)
{
    return index < VOCABULARY_COUNT ? vocabularies[index].name : NULL;
}

/* ---- files ---------------------------------------------------------------------------------- */

gufo_document *vocabulary_make(size_t index, gufo_str *bytes)
{
    gufo_error error;
    gufo_document *d = gufo_document_new(NULL, &error);
    gufo_layout layout;
    const void *data = NULL;

    need(d != NULL, &error);
    set_text(d, "general.architecture", "llama");
    vocabularies[index].make(d);
    need(gufo_document_layout(d, NULL, &layout, &error) == GUFO_OK &&
             gufo_document_header(d, &data, &bytes->len, &error) == GUFO_OK,
         &error);
    bytes->data = data;
    return d;
}

const gufo_vocab *vocabulary_at(size_t index)
{
    static gufo_vocab *open[VOCABULARY_COUNT];
    gufo_error error;

    if (open[index] == NULL) {
        gufo_str bytes;
        gufo_document *d = vocabulary_make(index, &bytes);
        gufo_model *model = gufo_model_open_memory(bytes.data, bytes.len, NULL, &error);

        need(model != NULL, &error);
        open[index] = gufo_vocab_open(model, NULL, &error);
        need(open[index] != NULL, &error);
        gufo_model_free(model);
        gufo_document_free(d);
    }
    return open[index];
}
