/* What a tokenizer_config.json adds to the tokenizer.json beside it: tokens, roles, and what is put around texts. */
#include <jansson.h>

#include "support/check.h"

#include "gufo/vocab.h"
#include "text/pipeline_file.h"

/* The words have the ids 0 to 3; what is added follows. */
#define FILE_TEXT                                                                            \
    "{'model':{'type':'WordLevel','unk_token':'?','vocab':{'?':0,'a':1,'b':2,'<s>':3}},"     \
    "'pre_tokenizer':{'type':'WhitespaceSplit'},'added_tokens':[{'id':3,'content':'<s>',"    \
    "'single_word':false,'lstrip':false,'rstrip':false,'normalized':false,'special':true}]," \
    "'post_processor':{'type':'BertProcessing','cls':['<s>',3],'sep':['?',0]}}"

static const struct {
    const char *config, *text;
    const char *ids, *plain; /* with and without what is put around */
} rows[] = {
    {"{}", "a b", "[3,1,2,0]", "[1,2]"},
    /* Added tokens, in the order of their ids; a text that is there already is replaced. */
    {"{'added_tokens_decoder':{'9':{'content':'<y>','special':true},'4':{'content':'<x>'},"
     "'5':{'content':''}}}",
     "<x> <y>a", "[3,4,5,1,0]", "[4,5,1]"},
    {"{'added_tokens_decoder':{'3':{'content':'<s>','special':true,'lstrip':true,'rstrip':true,"
     "'single_word':false,'normalized':false}}}",
     "a <s> b", "[3,1,3,2,0]", "[1,3,2]"},
    {"{'added_tokens_decoder':{'4':{'content':'aa','single_word':true}}}", "aa baa", "[3,4,0,0]",
     "[4,0]"},
    /* Tokens that are only named, as texts and as objects; once. */
    {"{'bos_token':'<s>','eos_token':{'content':'</s>'},'unk_token':'?','pad_token':'</s>',"
     "'mask_token':null}",
     "</s> <s>", "[3,4,3,0]", "[4,3]"},
    {"{'additional_special_tokens':['<i>','<i>',{'content':'<j>'},7],'extra_special_tokens':"
     "{'image':'<k>','none':null}}",
     "<i><j><k>", "[3,4,5,6,0]", "[4,5,6]"},
    {"{'extra_special_tokens':['<k>']}", "<k>", "[3,4,0]", "[4]"},
    /* What is put around texts. */
    {"{'add_bos_token':true,'add_eos_token':true,'bos_token':'<s>','eos_token':'b'}", "a",
     "[3,1,2]", "[1]"},
    {"{'add_bos_token':false,'bos_token':'<s>'}", "a", "[1]", "[1]"},
    {"{'add_bos_token':true}", "a", "[1]", "[1]"},
    {"{'add_eos_token':true,'eos_token':'b'}", "a", "[1,2]", "[1]"},
    /* Values of other types do not count; a number beyond 64 bits stands for "no limit". */
    {"{'added_tokens_decoder':[],'extra_special_tokens':3,'bos_token':3,'model_max_length':"
     "1000000000000000019884624838656}",
     "a", "[3,1,0]", "[1]"},
};

static void check_ids(const gufo_vocab *v, const char *text, uint32_t flags, const char *expected,
                      const char *label)
{
    const gufo_tokenize_options options = {.flags = GUFO_TOKENIZE_PARSE_SPECIAL | flags};
    json_t *list = json_loads(expected, 0, NULL);
    gufo_error error = no_error();
    gufo_ids ids = {0};

    check_ok(gufo_tokenize(v, gufo_str_of(text), &options, &ids, &error), &error, "%s", label);
    check_u64(ids.count, json_array_size(list), "%s: ids of %s", label, text);
    for (size_t i = 0; i < ids.count; i++)
        check_u64(ids.ids[i], json_integer_value(json_array_get(list, i)), "%s: id %zu", label, i);
    gufo_ids_free(&ids);
    json_decref(list);
}

static gufo_vocab *open_with(const char *config, gufo_error *error)
{
    char *json = pipeline_json(FILE_TEXT), *other = pipeline_json(config);
    gufo_vocab *v = gufo_vocab_open_json(gufo_str_of(json), gufo_str_of(other), NULL, error);

    free(json);
    free(other);
    return v;
}

static void test_what_is_added(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = no_error();
        gufo_vocab *v = open_with(rows[i].config, &error);

        check(v != NULL, "%s: %s", rows[i].config, error.message);
        check_ids(v, rows[i].text, GUFO_TOKENIZE_ADD_SPECIAL, rows[i].ids, rows[i].config);
        check_ids(v, rows[i].text, 0, rows[i].plain, rows[i].config);
        gufo_vocab_free(v);
    }
}

static void test_what_is_refused(void **state)
{
    static const char *const configs[] = {"[]", "{", "{} x", "{'a':}", "nul"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(configs); i++) {
        gufo_error error = no_error();

        check(open_with(configs[i], &error) == NULL, "%s", configs[i]);
        check(strstr(error.message, "tokenizer_config.json") != NULL, "%s: %s", configs[i],
              error.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_added),
        cmocka_unit_test(test_what_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
