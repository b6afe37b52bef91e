/* Vocabularies of made folders: what each reader makes of its files, and what it refuses. */
#include "../support/allocator.h"
#include "made_vocabulary.h"

/* ---- keys ----------------------------------------------------------------------------------- */

static void check_merges(const made_folder *m, const char *const *merges, size_t count)
{
    check_u64(value_of(m, "tokenizer.ggml.merges").as.array.count, count, "merges");
    for (size_t i = 0; i < count; i++)
        check_str(element(m, "tokenizer.ggml.merges", i).as.str, merges[i], "merge %zu", i);
}

/* ---- SentencePiece -------------------------------------------------------------------------- */

static const made_piece few_pieces[] = {{"<unk>", 0, 2},  {"<s>", 0, 3},   {"</s>", 0, 3},
                                        {"<0x41>", 0, 6}, {"user", -1, 4}, {"ab", -2, 1}};

#define DECODER                                                                \
    "{\"added_tokens_decoder\":{\"1\":{\"content\":\"<s>\",\"special\":true}," \
    "\"7\":{\"content\":\"\xe2\x96\x81x\",\"special\":false},"                 \
    "\"8\":{\"content\":\"<|end|>\",\"special\":false},\"99\":{\"content\":\"z\"}}"

static void test_spm(void **state)
{
    static const made_token expected[] = {
        {"<unk>", 2, 0},       {"<s>", 3, -1000},    {"</s>", 3, 0},    {"<0x41>", 6, 0},
        {"user", 1, -1},       {"ab", 1, -2},        {"new", 4, -1000}, {" x", 4, -1000},
        {"<|end|>", 3, -1000}, {"[PAD9]", 5, -10000}};
    static const made_file files[] = {
        {"config.json", "{\"vocab_size\":10,\"bos_token_id\":1,\"eos_token_id\":[2,3],"
                        "\"pad_token_id\":10}"},
        {"added_tokens.json", "{\"new\":6,\"far\":10}"},
        {"tokenizer_config.json", DECODER ",\"add_bos_token\":true}"},
        {NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "llama", files);
    add_model(&m, "tokenizer.model", few_pieces, COUNT_OF(few_pieces), 2);
    must_read(&m, "spm, hf, bpe");
    check_text(&m, "tokenizer.ggml.model", "llama");
    check_text(&m, "tokenizer.ggml.pre", "default");
    check_tokens(&m, expected, COUNT_OF(expected));
    check_id(&m, "tokenizer.ggml.bos_token_id", 1);
    check(!has_key(&m, "tokenizer.ggml.eos_token_id"), "a list is ignored");
    check(!has_key(&m, "tokenizer.ggml.padding_token_id"), "an id of no token is ignored");
    check_flag(&m, "tokenizer.ggml.add_bos_token", true);
    remove_folder(&m);
}

/* All files must agree with the size; texts stay, and nothing looks special. */
static void test_phi3(void **state)
{
    static const made_token expected[] = {
        {"<unk>", 2, 0},      {"<s>", 3, -1000}, {"</s>", 3, 0},    {"<0x41>", 6, 0},
        {"user", 1, -1},      {"ab", 1, -2},     {"new", 3, -1000}, {"\xe2\x96\x81x", 4, -1000},
        {"<|end|>", 4, -1000}};
    static const made_file files[] = {
        {"config.json", "{\"vocab_size\":9}"},
        {"added_tokens.json", "{\"new\":6}"},
        {"tokenizer_config.json",
         "{\"added_tokens_decoder\":{\"1\":{\"content\":\"<s>\",\"special\":true},"
         "\"7\":{\"content\":\"\xe2\x96\x81x\"},\"8\":{\"content\":\"<|end|>\"}}}"},
        {"tokenizer.json", "{\"model\":{},\"added_tokens\":[{\"id\":6,\"content\":\"new\","
                           "\"special\":true}]}"},
        {NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "phi3", files);
    add_model(&m, "tokenizer.model", few_pieces, COUNT_OF(few_pieces), 2);
    must_read(&m, "phi3");
    check_tokens(&m, expected, COUNT_OF(expected));
    json_object_set_new(m.read.config.fields, "vocab_size", json_integer(8));
    check_status(read_vocabulary_folder(&m.read, "phi3"), GUFO_E_RANGE, &m.read.error, "too many");
    remove_folder(&m);
}

static void test_internlm2(void **state)
{
    static const made_token expected[] = {
        {"<unk>", 2, 0}, {"[UNUSED_TOKEN_1]", 5, 0}, {"<|im_end|>", 3, -1000}};
    static const made_piece own[] = {{"<unk>", 0, 2}, {"[UNUSED_TOKEN_1]", 0, 1}, {"x", 0, 1}};
    static const made_file files[] = {
        {"tokenizer_config.json",
         "{\"added_tokens_decoder\":{\"2\":{\"content\":\"<|im_end|>\",\"special\":true}}}"},
        {NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "internlm2", files);
    add_model(&m, "tokenizer.model", own, COUNT_OF(own), 2);
    must_read(&m, "internlm2");
    check_tokens(&m, expected, COUNT_OF(expected));
    check_flag(&m, "tokenizer.ggml.add_space_prefix", true);
    check_id(&m, "tokenizer.ggml.eos_token_id", 2);
    remove_folder(&m);
}

static void test_unigram(void **state)
{
    static const made_piece own[] = {
        {"<pad>", 0, 3}, {"</s>", 0, 3}, {"<unk>", 0, 2}, {"a", -1, 1}};
    static const made_token t5[] = {
        {"<pad>", 3, 0}, {"</s>", 3, 0}, {"<unk>", 2, 0}, {"a", 1, -1}, {"[PAD4]", 5, -10000}};
    static const made_token roberta[] = {
        {"<s>", 3, 0}, {"<pad>", 3, 0}, {"</s>", 3, 0}, {"<unk>", 2, 0}, {"a", 1, -1}};
    static const made_file files[] = {{"config.json", "{\"vocab_size\":5}"}, {NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "t5", files);
    add_model(&m, "spiece.model", own, COUNT_OF(own), 1);
    must_read(&m, NULL);
    check_text(&m, "tokenizer.ggml.model", "t5");
    check_tokens(&m, t5, COUNT_OF(t5));
    check_flag(&m, "tokenizer.ggml.add_space_prefix", true);
    check_flag(&m, "tokenizer.ggml.remove_extra_whitespaces", true);
    remove_folder(&m);

    make_folder(&m, "bert", files);
    add_model(&m, "sentencepiece.bpe.model", own, COUNT_OF(own), 1);
    must_read(&m, "wpm");
    check_tokens(&m, roberta, COUNT_OF(roberta));
    remove_folder(&m);
}

/* ---- tokenizer.json ------------------------------------------------------------------------- */

#define BYTES                                                               \
    "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false," \
    "\"trim_offsets\":true}"

static void test_bpe(void **state)
{
    static const made_token expected[] = {{"a", 1, 0},      {"b", 1, 0},       {"ab", 1, 0},
                                          {"[PAD3]", 5, 0}, {"<|own|>", 3, 0}, {"two words", 4, 0},
                                          {"[PAD6]", 5, 0}};
    static const char *const merges[] = {"a b"};
    static const made_file files[] = {
        {"config.json", "{\"vocab_size\":7}"},
        {"tokenizer_config.json",
         "{\"bos_token\":null,\"cls_token\":\"<|own|>\",\"eos_token\":{\"content\":\"ab\"}}"},
        {"tokenizer.json",
         "{" BYTES ",\"added_tokens\":[{\"id\":4,\"content\":\"<|own|>\",\"special\":false},"
         "{\"id\":5,\"content\":\"two\xe2\x96\x81words\"},{\"id\":2,\"content\":\"ab\"}],"
         "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},"
         "\"merges\":[[\"a\",\"b\"]]}}"},
        {NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "gpt2", files);
    must_read(&m, "spm, bpe");
    check_text(&m, "tokenizer.ggml.model", "gpt2");
    check_text(&m, "tokenizer.ggml.pre", "gpt-2");
    check(!has_key(&m, "tokenizer.ggml.scores"), "no scores");
    check_u64(value_of(&m, "tokenizer.ggml.tokens").as.array.count, COUNT_OF(expected), "tokens");
    check_merges(&m, merges, COUNT_OF(merges));
    check_id(&m, "tokenizer.ggml.bos_token_id", 4);
    check_id(&m, "tokenizer.ggml.eos_token_id", 2);
    remove_folder(&m);
}

/* vocab.json and merges.txt alone say nothing of cuts. */
static void test_plain_bpe(void **state)
{
    static const char *const merges[] = {"a b", "ab a"};
    static const made_file files[] = {{"vocab.json", "{\"a\":0,\"b\":1,\"ab\":2,\"aba\":3}"},
                                      {"merges.txt", "#version: 0.2\na b\n\nab a\nx y z\n"},
                                      {"added_tokens.json", "{\"<|x|>\":4}"},
                                      {NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "gpt2", files);
    must_read(&m, "bpe");
    check_text(&m, "tokenizer.ggml.pre", "gpt-2");
    check_merges(&m, merges, COUNT_OF(merges));
    check_u64(m.read.import.warning_count, 1, "a warning");
    check(element(&m, "tokenizer.ggml.token_type", 4).as.i == 3, "a special token");
    remove_folder(&m);
    make_folder(&m, "unheard", files);
    check_status(read_vocabulary_folder(&m.read, "bpe"), GUFO_E_TYPE, &m.read.error, "no name");
    remove_folder(&m);
}

/* By the specification a vocabulary may have no merges. */
static void test_atomic(void **state)
{
    static const made_file list[] = {
        {"tokenizer.json", "{" BYTES ",\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"ab\":1},"
                           "\"merges\":[]}}"},
        {NULL, NULL}};
    static const made_file none[] = {{"vocab.json", "{\"a\":0,\"ab\":1}"}, {NULL, NULL}};
    static const made_file other[] = {
        {"vocab.json", "{\"a\":0}"}, {"vocab.txt", "[PAD]\n[UNK]\n"}, {NULL, NULL}};
    const made_file *const folders[] = {list, none};
    made_folder m;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(folders); i++) {
        make_folder(&m, "gpt2", folders[i]);
        must_read(&m, "bpe");
        check_text(&m, "tokenizer.ggml.model", "gpt2");
        check_u64(value_of(&m, "tokenizer.ggml.tokens").as.array.count, 2, "tokens");
        check(!has_key(&m, "tokenizer.ggml.merges"), "no merges");
        check(strstr(m.read.import.warnings[m.read.import.warning_count - 1], "atomic") != NULL,
              "a warning");
        remove_folder(&m);
    }
    make_folder(&m, "gpt2", other);
    must_read(&m, "bpe");
    check_text(&m, "tokenizer.ggml.model", "bert");
    remove_folder(&m);
}

static void test_wordpiece(void **state)
{
    static const made_token expected[] = {
        {"[PAD]", 3, 0}, {"[UNK]", 3, 0}, {"ing", 1, 0}, {"\xe2\x96\x81go", 1, 0}};
    static const made_file files[] = {{"vocab.txt", "[PAD]\n[UNK]\n##ing\ngo\n"}, {NULL, NULL}};
    static const made_file json[] = {
        {"tokenizer.json",
         "{\"normalizer\":{\"type\":\"BertNormalizer\",\"lowercase\":true,\"strip_accents\":null},"
         "\"added_tokens\":[{\"id\":0,\"content\":\"[PAD]\",\"special\":true},"
         "{\"id\":1,\"content\":\"[UNK]\",\"special\":true}],"
         "\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"[PAD]\":0,\"[UNK]\":1,\"##ing\":2,"
         "\"go\":3}}}"},
        {NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "bert", files);
    must_read(&m, "wpm");
    check_text(&m, "tokenizer.ggml.model", "bert");
    check_tokens(&m, expected, COUNT_OF(expected));
    check_id(&m, "tokenizer.ggml.token_type_count", 1);
    remove_folder(&m);
    make_folder(&m, "bert", json);
    must_read(&m, NULL);
    check_tokens(&m, expected, COUNT_OF(expected));
    check_flag(&m, "tokenizer.ggml.normalizer.lowercase", true);
    check(!has_key(&m, "tokenizer.ggml.normalizer.strip_accents"), "null says nothing");
    remove_folder(&m);
}

/* ---- ranks ---------------------------------------------------------------------------------- */

/* "ab" joins first, so "abc" is ab + c. */
static void test_qwen(void **state)
{
    static const char *const merges[] = {"a b", "b c", "ab c"};
    static const made_file files[] = {
        {"config.json", "{\"vocab_size\":9}"},
        {"qwen.tiktoken", "YQ== 0\nYg== 1\nYw== 2\nYWI= 3\nYmM= 4\nYWJj 5\n"},
        {NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "qwen", files);
    must_read(&m, "qwen");
    check_merges(&m, merges, COUNT_OF(merges));
    check_text(&m, "tokenizer.ggml.pre", "qwen2");
    check_str(element(&m, "tokenizer.ggml.tokens", 6).as.str, "<|endoftext|>", "end");
    check_id(&m, "tokenizer.ggml.bos_token_id", 6);
    check_id(&m, "tokenizer.ggml.eos_token_id", 6);
    check_id(&m, "tokenizer.ggml.unknown_token_id", 6);
    remove_folder(&m);
}

static void test_tekken(void **state)
{
    static const made_token expected[] = {{"<unk>", 3, 0},       {"<s>", 3, 0}, {"</s>", 3, 0},
                                          {"<SPECIAL_3>", 3, 0}, {"a", 1, 0},   {"b", 1, 0},
                                          {"ab", 1, 0},          {"aab", 1, 0}, {"aa", 1, 0}};
    static const char *const merges[] = {"a b", "a ab", "aa b", "a a"};
    static const made_file files[] = {
        {"tekken.json",
         "{\"config\":{\"default_vocab_size\":9,\"default_num_special_tokens\":4},"
         "\"special_tokens\":[{\"rank\":0,\"token_str\":\"<unk>\"},{\"rank\":1,\"token_str\":"
         "\"<s>\"},{\"rank\":2,\"token_str\":\"</s>\"}],"
         "\"vocab\":[{\"rank\":0,\"token_bytes\":\"YQ==\"},{\"rank\":1,\"token_bytes\":\"Yg==\"},"
         "{\"rank\":2,\"token_bytes\":\"YWI=\"},{\"rank\":3,\"token_bytes\":\"YWFi\"},"
         "{\"rank\":4,\"token_bytes\":\"YWE=\"},{\"rank\":5,\"token_bytes\":\"YmI=\"}]}"},
        {NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "llama", files);
    must_read(&m, "spm, hf, bpe");
    check_text(&m, "tokenizer.ggml.pre", "tekken");
    check_tokens(&m, expected, COUNT_OF(expected));
    check_merges(&m, merges, COUNT_OF(merges));
    check_id(&m, "tokenizer.ggml.bos_token_id", 1);
    check_id(&m, "tokenizer.ggml.padding_token_id", 2);
    check_id(&m, "llama.vocab_size", 9);
    check_flag(&m, "tokenizer.ggml.add_bos_token", true);
    check_flag(&m, "tokenizer.ggml.add_eos_token", false);
    remove_folder(&m);
}

static void test_world(void **state)
{
    static const made_file files[] = {{"config.json", "{\"vocab_size\":4}"},
                                      {"rwkv_vocab_v20230424.txt", "1 'a' 1\n2 b'\\xff' 1\n"},
                                      {NULL, NULL}};
    static const made_token expected[] = {
        {"<s>", 3, 0}, {"a", 1, 0}, {"\\xff", 1, 0}, {"[PAD3]", 5, 0}};
    made_folder m;

    (void)state;
    make_folder(&m, "rwkv7", files);
    must_read(&m, "rwkv");
    check_tokens(&m, expected, COUNT_OF(expected));
    check(!has_key(&m, "tokenizer.ggml.pre"), "pre");
    remove_folder(&m);
}

/* ---- special tokens ------------------------------------------------------------------------- */

#define SMALL_MODEL                                                                     \
    "\"added_tokens\":[{\"id\":0,\"content\":\"<s>\"},{\"id\":1,\"content\":\"</s>\"}," \
    "{\"id\":2,\"content\":\"<|end|>\"}],"                                              \
    "\"model\":{\"type\":\"BPE\",\"merges\":[],\"vocab\":{\"a\":3}}"

static void test_template_processing(void **state)
{
    static const made_file files[] = {
        {"tokenizer_config.json", "{\"bos_token\":\"<s>\",\"eos_token\":\"<|end|>\"}"},
        {"tokenizer.json",
         "{" BYTES "," SMALL_MODEL ",\"post_processor\":{\"type\":\"TemplateProcessing\","
         "\"single\":[{\"SpecialToken\":{\"id\":\"<s>\"}},{\"Sequence\":{\"id\":\"A\"}},"
         "{\"SpecialToken\":{\"id\":\"</s>\"}}],"
         "\"pair\":[{\"SpecialToken\":{\"id\":\"<s>\"}},{\"Sequence\":{\"id\":\"A\"}},"
         "{\"SpecialToken\":{\"id\":\"</s>\"}},{\"SpecialToken\":{\"id\":\"</s>\"}},"
         "{\"Sequence\":{\"id\":\"B\"}},{\"SpecialToken\":{\"id\":\"</s>\"}}],"
         "\"special_tokens\":{}}}"},
        {NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "llama", files);
    must_read(&m, "bpe");
    check_id(&m, "tokenizer.ggml.bos_token_id", 0);
    check_id(&m, "tokenizer.ggml.eos_token_id", 1); /* what the template ends texts with */
    check_id(&m, "tokenizer.ggml.eot_token_id", 2); /* what eos was */
    check_id(&m, "tokenizer.ggml.seperator_token_id", 1);
    check_flag(&m, "tokenizer.ggml.add_bos_token", true);
    check_flag(&m, "tokenizer.ggml.add_eos_token", true);
    check_flag(&m, "tokenizer.ggml.add_sep_token", true);
    remove_folder(&m);
}

static void test_flags_of_config(void **state)
{
    static const made_file files[] = {
        {"tokenizer_config.json", "{\"bos_token\":\"<s>\",\"add_bos_token\":false}"},
        {"tokenizer.json",
         "{" BYTES "," SMALL_MODEL ",\"post_processor\":{\"type\":\"Sequence\",\"processors\":["
         "{\"type\":\"RobertaProcessing\",\"cls\":[\"<s>\",0],\"sep\":[\"</s>\",1]}]}}"},
        {NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "llama", files);
    must_read(&m, "bpe");
    check_flag(&m, "tokenizer.ggml.add_bos_token", false);
    check_flag(&m, "tokenizer.ggml.add_eos_token", true);
    check_flag(&m, "tokenizer.ggml.add_sep_token", true);
    check_id(&m, "tokenizer.ggml.seperator_token_id", 1);
    check(!has_key(&m, "tokenizer.ggml.eos_token_id"), "no file says eos");
    remove_folder(&m);
}

/* ---- chat templates ------------------------------------------------------------------------- */

static void test_listed_templates(void **state)
{
    static const made_file files[] = {
        {"tokenizer_config.json",
         "{\"chat_template\":[{\"name\":\"tool use\",\"template\":\"T\"},"
         "{\"name\":\"default\",\"template\":\"D\"},{\"name\":\"rag\",\"template\":\"R\"}]}"},
        {"chat_template.jinja", "unused"},
        {"tokenizer.json", "{" BYTES "," SMALL_MODEL "}"},
        {NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "llama", files);
    must_read(&m, "bpe");
    check_text(&m, "tokenizer.chat_template", "D");
    check_text(&m, "tokenizer.chat_template.tool_use", "T");
    check_text(&m, "tokenizer.chat_template.rag", "R");
    check_str(element(&m, "tokenizer.chat_templates", 0).as.str, "rag", "sorted");
    check_str(element(&m, "tokenizer.chat_templates", 1).as.str, "tool_use", "sorted");
    remove_folder(&m);
}

static void test_template_files(void **state)
{
    static const made_file json[] = {{"chat_template.json", "{\"chat_template\":\"J\"}"},
                                     {"tokenizer.json", "{" BYTES "," SMALL_MODEL "}"},
                                     {NULL, NULL}};
    made_folder m;
    path_text path;

    (void)state;
    make_folder(&m, "llama", json);
    must_read(&m, "bpe");
    check_text(&m, "tokenizer.chat_template", "J");
    path = folder_path(&m.place, "chat_template.jinja");
    write_file(path.text, "M\n", 2);
    path = folder_path(&m.place, "additional_chat_templates");
    assert_int_equal(mkdir(path.text, 0700), 0);
    path = path_join(path.text, "tool.jinja");
    write_file(path.text, "N", 1);
    must_read(&m, "bpe");
    check_text(&m, "tokenizer.chat_template", "M\n");
    check_text(&m, "tokenizer.chat_template.tool", "N");
    remove_folder(&m);
}

#define WORLD "rwkv_vocab_v20230424.txt"

static void test_keep_json(void **state)
{
    static const char text[] = "{ " BYTES "," SMALL_MODEL " }\n";
    static const made_file files[] = {{"tokenizer.json", text}, {NULL, NULL}};
    made_folder m;
    tokenizer_request request = {.readers = "bpe", .keep_json = true, .pre = "qwen2"};

    (void)state;
    make_folder(&m, "llama", files);
    request.config = &m.read.config;
    check_ok(tokenizers_write(&m.read.import, &request, &m.read.error), &m.read.error, "kept");
    check_text(&m, "tokenizer.huggingface.json", text);
    check_text(&m, "tokenizer.ggml.pre", "qwen2");
    remove_folder(&m);
}

static void test_keep_world(void **state)
{
    static const char text[] = "1 'a' 1\n2 b'\\xff' 1\n";
    static const made_file files[] = {{WORLD, text}, {NULL, NULL}};
    static const made_file twice[] = {{WORLD, "7 'a' 1\n2 'b' 1\n7 'c' 1\n"}, {NULL, NULL}};
    static const made_file none[] = {{"tokenizer.json", "{" BYTES "," SMALL_MODEL "}"},
                                     {NULL, NULL}};
    tokenizer_request request = {.keep_world = true};
    made_folder m;

    (void)state;
    make_folder(&m, "rwkv6", files);
    must_read(&m, "rwkv");
    check_text(&m, "tokenizer.ggml.model", "rwkv");
    check(!has_key(&m, "tokenizer.rwkv.world"), "not asked for");
    request.config = &m.read.config;
    check_ok(tokenizers_write(&m.read.import, &request, &m.read.error), &m.read.error, "kept");
    check_text(&m, "tokenizer.rwkv.world", text);
    remove_folder(&m);

    make_folder(&m, "rwkv6", twice);
    check_status(read_vocabulary_folder(&m.read, "rwkv"), GUFO_E_MALFORMED, &m.read.error, "twice");
    check(strstr(m.read.error.message, "line 3, at byte 16, has id 7, as line 1 has") != NULL, "%s",
          m.read.error.message);
    check(strstr(m.read.error.file, WORLD) != NULL, "%s", m.read.error.file);
    remove_folder(&m);

    make_folder(&m, "rwkv6", none);
    request.config = &m.read.config;
    check_ok(tokenizers_write(&m.read.import, &request, &m.read.error), &m.read.error, "no file");
    check(!has_key(&m, "tokenizer.rwkv.world"), "no such file");
    remove_folder(&m);
}

/* A vocabulary of the other kind under the same name is for another reader. */
static void test_other_reader(void **state)
{
    static const made_file nothing[] = {{NULL, NULL}};
    made_folder m;

    (void)state;
    make_folder(&m, "t5", nothing);
    add_model(&m, "tokenizer.model", few_pieces, COUNT_OF(few_pieces), 2);
    must_read(&m, "ugm");
    check_text(&m, "tokenizer.ggml.model", "llama");
    remove_folder(&m);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Reads a folder while one request for memory fails; false once none does. */
static bool read_without_memory(made_folder *m, const char *readers, size_t fail_at)
{
    tokenizer_request request = {.config = &m->read.config, .readers = readers};
    counter c;
    gufo_status status;

    counter_init(&c);
    m->read.import.allocator = counter_allocator(&c);
    c.fail_at = fail_at;
    m->read.error = no_error();
    status = tokenizers_write(&m->read.import, &request, &m->read.error);
    check(status == (fail_at <= c.calls ? GUFO_E_MEMORY : GUFO_OK), "%s, request %zu: %s", readers,
          fail_at, m->read.error.message);
    for (uint64_t i = 0; i < m->read.import.warning_count; i++)
        mem_free(&m->read.import.allocator, m->read.import.warnings[i]);
    mem_free(&m->read.import.allocator, m->read.import.warnings);
    m->read.import.warnings = NULL;
    m->read.import.warning_count = m->read.import.warning_room = 0;
    check_u64(c.in_use, 0, "%s, request %zu", readers, fail_at);
    m->read.import.allocator = default_allocator;
    return fail_at <= c.calls;
}

static void test_memory(void **state)
{
    static const made_file files[] = {
        {"config.json", "{\"vocab_size\":10}"},
        {"tokenizer_config.json", DECODER "}"},
        {"qwen.tiktoken", "YQ== 0\nYg== 1\nYw== 2\nYWI= 3\nYmM= 4\nYWJj 5\n"},
        {"chat_template.jinja", "T"},
        {NULL, NULL}};
    static const char *const readers[] = {"spm", "ugm", "xlmr", "qwen"};
    made_folder m;

    (void)state;
    make_folder(&m, "llama", files);
    add_model(&m, "tokenizer.model", few_pieces, COUNT_OF(few_pieces), 1);
    add_model(&m, "sentencepiece.bpe.model", few_pieces, COUNT_OF(few_pieces), 1);
    json_object_del(json_object_get(m.read.config.tokenizer, "added_tokens_decoder"), "99");
    json_object_del(json_object_get(m.read.config.tokenizer, "added_tokens_decoder"), "1");
    for (size_t i = 0; i < COUNT_OF(readers); i++)
        for (size_t fail_at = 1; read_without_memory(&m, readers[i], fail_at); fail_at++)
            ;
    remove_folder(&m);
}

/* ---- what is refused ------------------------------------------------------------------------ */

#define MODEL(vocab, merges) \
    "{" BYTES ",\"model\":{\"type\":\"BPE\",\"vocab\":" vocab ",\"merges\":" merges "}}"

typedef struct refused_row {
    const char *label, *readers;
    made_file files[3];
    gufo_status status;
    const char *message; /* a part of it */
} refused_row;

static void test_refused(void **state)
{
    static const refused_row table[] = {
        {"nothing", "spm, bpe", {{NULL, NULL}}, GUFO_E_NOT_FOUND, "no vocabulary"},
        {"only a built-in one",
         "bpe, built-in gpt-neox",
         {{NULL, NULL}},
         GUFO_E_NOT_FOUND,
         "GPT-NeoX"},
        {"no such reader", "magic", {{NULL, NULL}}, GUFO_E_ARGUMENT, "magic"},
        {"no model", "bpe", {{"tokenizer.json", "{}"}}, GUFO_E_MALFORMED, "model"},
        {"one id, two texts",
         "bpe",
         {{"tokenizer.json", MODEL("{\"a\":1,\"b\":1}", "[]")}},
         GUFO_E_MALFORMED,
         "same id 1"},
        {"a negative id",
         "bpe",
         {{"tokenizer.json", MODEL("{\"a\":-1}", "[]")}},
         GUFO_E_MALFORMED,
         "a whole number"},
        {"an id that is a real",
         "bpe",
         {{"tokenizer.json", MODEL("{\"a\":0.5}", "[]")}},
         GUFO_E_MALFORMED,
         "a whole one"},
        {"an id beyond the size",
         "bpe",
         {{"tokenizer.json", MODEL("{\"a\":4000000000}", "[]")}},
         GUFO_E_RANGE,
         "4000000000"},
        {"an id beyond all",
         "bpe",
         {{"tokenizer.json", MODEL("{\"a\":1000000000000}", "[]")}},
         GUFO_E_RANGE,
         "32 bits"},
        {"a size beyond all",
         "bpe",
         {{"tokenizer.json", MODEL("{\"a\":0}", "[]")},
          {"config.json", "{\"vocab_size\":100000000000}"}},
         GUFO_E_LIMIT,
         "100,000,000,000"},
        {"a merge of an unknown part",
         "bpe",
         {{"tokenizer.json", MODEL("{\"a\":0}", "[\"a b\"]")}},
         GUFO_E_MALFORMED,
         "\"b\" is not a token"},
        {"a merge that makes nothing",
         "bpe",
         {{"tokenizer.json", MODEL("{\"a\":0,\"b\":1}", "[\"a b\"]")}},
         GUFO_E_MALFORMED,
         "makes no token"},
        {"a merge of three",
         "bpe",
         {{"tokenizer.json", MODEL("{\"a\":0}", "[\"a a a\"]")}},
         GUFO_E_MALFORMED,
         "two parts"},
        {"a text with two ids",
         "bpe",
         {{"tokenizer.json", MODEL("{\"a\":0,\"b\":1}", "[]")},
          {"tokenizer_config.json",
           "{\"added_tokens_decoder\":{\"1\":{\"content\":\"a\",\"special\":true}}}"}},
         GUFO_E_MALFORMED,
         "two ids"},
        {"a decoder without a number",
         "bpe",
         {{"tokenizer.json", MODEL("{\"a\":0}", "[]")},
          {"tokenizer_config.json", "{\"added_tokens_decoder\":{\"-1\":{\"content\":\"b\"}}}"}},
         GUFO_E_MALFORMED,
         "-1"},
        {"an unknown step",
         "bpe",
         {{"tokenizer.json", "{\"pre_tokenizer\":{\"type\":\"Magic\"},\"model\":{\"type\":\"BPE\","
                             "\"vocab\":{\"a\":0},\"merges\":[]}}"}},
         GUFO_E_TYPE,
         "Magic"},
        {"no bytes",
         "bpe",
         {{"tokenizer.json", "{\"pre_tokenizer\":{\"type\":\"Whitespace\"},\"model\":{\"type\":"
                             "\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]}}"}},
         GUFO_E_TYPE,
         "ByteLevel"},
        {"a broken expression",
         "bpe",
         {{"tokenizer.json",
           "{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(\"},"
           "\"behavior\":\"Isolated\",\"invert\":false},\"model\":{\"type\":\"BPE\",\"vocab\":"
           "{\"a\":0},\"merges\":[]}}"}},
         GUFO_E_MALFORMED,
         "expression"},
        {"ranks that are not",
         "qwen",
         {{"qwen.tiktoken", "YQ== 0\nnonsense\n"}},
         GUFO_E_MALFORMED,
         "line 2"},
        {"a rank far away",
         "qwen",
         {{"qwen.tiktoken", "YQ== 99999999\n"}},
         GUFO_E_LIMIT,
         "99999999"},
        {"no pairs",
         "xlmr",
         {{"tokenizer.json", "{\"model\":{\"type\":\"Unigram\",\"vocab\":[1]}}"}},
         GUFO_E_MALFORMED,
         "pair"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        made_file files[4] = {{NULL, NULL}};
        made_folder m;

        memcpy(files, table[i].files, sizeof table[i].files);
        make_folder(&m, "gpt2", files);
        check_status(read_vocabulary_folder(&m.read, table[i].readers), table[i].status,
                     &m.read.error, "%s", table[i].label);
        check_error_shape(&m.read.error, table[i].status, table[i].label);
        check(strstr(m.read.error.message, table[i].message) != NULL, "%s: %s", table[i].label,
              m.read.error.message);
        remove_folder(&m);
    }
}

/* 4500 tokens of 255 bytes: all that they could be made of takes too long to look up. */
static void test_long_tokens(void **state)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { COUNT = 4500, LINE = 340 + 12 };
    static const made_file files[] = {{NULL, NULL}};
    char *text = malloc(COUNT * LINE), *end = text;
    made_folder m;

    (void)state;
    check(text != NULL, "memory");
    for (unsigned i = 0; i < COUNT; i++) {
        memset(end, '/', 340);
        end[0] = letters[i / 64 % 64];
        end[1] = letters[i % 64];
        end[2] = letters[i / 4096];
        end += 340;
        end += sprintf(end, " %u\n", i);
    }
    make_folder(&m, "qwen", files);
    write_file(folder_path(&m.place, "qwen.tiktoken").text, text, (size_t)(end - text));
    check_status(read_vocabulary_folder(&m.read, "qwen"), GUFO_E_LIMIT, &m.read.error, "long");
    check(strstr(m.read.error.message, "too many long tokens") != NULL, "%s", m.read.error.message);
    remove_folder(&m);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spm),
        cmocka_unit_test(test_phi3),
        cmocka_unit_test(test_internlm2),
        cmocka_unit_test(test_unigram),
        cmocka_unit_test(test_bpe),
        cmocka_unit_test(test_plain_bpe),
        cmocka_unit_test(test_keep_world),
        cmocka_unit_test(test_atomic),
        cmocka_unit_test(test_wordpiece),
        cmocka_unit_test(test_qwen),
        cmocka_unit_test(test_tekken),
        cmocka_unit_test(test_world),
        cmocka_unit_test(test_template_processing),
        cmocka_unit_test(test_flags_of_config),
        cmocka_unit_test(test_listed_templates),
        cmocka_unit_test(test_template_files),
        cmocka_unit_test(test_keep_json),
        cmocka_unit_test(test_other_reader),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_long_tokens),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
