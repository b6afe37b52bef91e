/* Rules S2 and S3: values of general.*, and chat templates. */
#include "../../support/findings.h"
#include "../../support/schema.h"
#include "../../support/sink.h"

/* One text or number, as `add` of a row. */
#define ADD_TEXT(name, key, text)          \
    static void name(gufo_document *d)     \
    {                                      \
        put_text(d, "general." key, text); \
    }

#define ADD_NUMBER(name, key, number)         \
    static void name(gufo_document *d)        \
    {                                         \
        put_u32(d, "general." key, (number)); \
    }

ADD_TEXT(license_unknown, "license", "my-own")
ADD_TEXT(license_broken, "license", "MIT OR")
ADD_TEXT(license_near, "license", "(apache2 OR MIT)")
ADD_TEXT(license_blank, "license", "Apache 2.0")
ADD_TEXT(license_deprecated, "license", "AGPL-1.0")
ADD_TEXT(license_hub, "license", "Llama3.1")
ADD_TEXT(license_good, "license", "MIT OR Apache-2.0")
ADD_TEXT(uuid_bad, "uuid", "1234")
ADD_TEXT(uuid_good, "uuid", "ef001206-dadc-5f6d-a15f-3359e577d4e5")
ADD_TEXT(source_uuid_bad, "source.uuid", "ef001206-dadc-5f6d-a15f-3359e577d4e")
ADD_TEXT(doi_bad, "doi", "11.1000/1")
ADD_TEXT(doi_good, "doi", "10.1000/182")
ADD_TEXT(url_bad, "url", "no address")
ADD_TEXT(url_good, "url", "https://example.org/model")
ADD_TEXT(repo_bad, "source.repo_url", "example.org")
ADD_TEXT(repo_good, "source.repo_url", "https://example.org/model")
ADD_TEXT(link_bad, "license.link", "LICENSE")
ADD_TEXT(link_good, "license.link", "http://example.org/LICENSE")
ADD_TEXT(name_empty, "name", "")
ADD_TEXT(name_good, "name", "Small")
ADD_TEXT(size_bad, "size_label", "big")
ADD_TEXT(size_good, "size_label", "8x7B")
ADD_TEXT(size_active, "size_label", "30B-A3B")
ADD_TEXT(size_hyphen, "size_label", "30B-")
ADD_NUMBER(alignment_large, "alignment", 131072)
ADD_NUMBER(alignment_page, "alignment", 65536)

static void languages_bad(gufo_document *d)
{
    put_texts(d, "general.languages", 2, (const char *const[]){"en", "zq"});
}

static void languages_good(gufo_document *d)
{
    put_texts(d, "general.languages", 3, (const char *const[]){"en", "de", "gsw"});
}

/* ---- numbered groups ------------------------------------------------------------------------ */

static void parents(gufo_document *d, uint32_t count)
{
    put_u32(d, "general.base_model.count", count);
    put_text(d, "general.base_model.0.name", "Zero");
    put_text(d, "general.base_model.1.author", "One");
}

static void parents_few(gufo_document *d)
{
    parents(d, 1);
}

static void parents_many(gufo_document *d)
{
    parents(d, 3);
}

static void parents_good(gufo_document *d)
{
    parents(d, 2);
}

static void parents_uncounted(gufo_document *d)
{
    put_text(d, "general.base_model.0.name", "Zero");
}

static void datasets_gap(gufo_document *d)
{
    put_u32(d, "general.dataset.count", 2);
    put_text(d, "general.dataset.1.name", "One");
}

static void datasets_none(gufo_document *d)
{
    put_u32(d, "general.dataset.count", 0);
}

static void datasets_absurd(gufo_document *d)
{
    put_u32(d, "general.dataset.count", UINT32_MAX);
}

/* ---- weights -------------------------------------------------------------------------------- */

/* A big embedding of one type, blocks of another. */
static void weights(gufo_document *d, uint32_t embedding, uint32_t blocks, uint32_t some)
{
    put_tensor(d, "token_embd.weight", embedding, 256, 64);
    put_tensor(d, "blk.0.attn_q.weight", blocks, 256, 16);
    put_tensor(d, "blk.0.ffn_up.weight", blocks, 256, 8);
    put_tensor(d, "blk.0.ffn_down.weight", some, 256, 10);
    put_tensor(d, "blk.0.narrow.weight", GUFO_TYPE_F32, 100, 300);
}

static void version_1(gufo_document *d)
{
    put_u32(d, "general.quantization_version", 1);
    weights(d, GUFO_TYPE_Q8_0, GUFO_TYPE_Q8_0, GUFO_TYPE_Q8_0);
}

static void version_2(gufo_document *d)
{
    put_u32(d, "general.quantization_version", 2);
    weights(d, GUFO_TYPE_Q8_0, GUFO_TYPE_Q8_0, GUFO_TYPE_Q8_0);
}

static void typed(gufo_document *d, uint32_t file_type, uint32_t blocks, uint32_t some)
{
    put_u32(d, "general.file_type", file_type);
    weights(d, GUFO_TYPE_F16, blocks, some);
}

static void type_999(gufo_document *d)
{
    typed(d, 999, GUFO_TYPE_Q4_K, GUFO_TYPE_Q6_K);
}

static void type_guessed(gufo_document *d)
{
    typed(d, 1024 + 15, GUFO_TYPE_Q4_K, GUFO_TYPE_Q6_K);
}

static void q5_0_of_q8_0(gufo_document *d)
{
    put_u32(d, "general.file_type", GUFO_FILE_TYPE_Q5_0);
    put_tensor(d, "blk.0.attn_q.weight", GUFO_TYPE_Q8_0, 256, 16);
    put_tensor(d, "blk.0.ffn_norm.weight", GUFO_TYPE_F32, 256, 1);
}

static void q4_0_of_mixture(gufo_document *d)
{
    typed(d, GUFO_FILE_TYPE_Q4_0, GUFO_TYPE_Q6_K, GUFO_TYPE_Q5_K);
}

/* As of a model with few tensors in a block: the type itself is not that of most weights. */
static void q3_k_l_of_mixture(gufo_document *d)
{
    typed(d, GUFO_FILE_TYPE_Q3_K_L, GUFO_TYPE_Q5_K, GUFO_TYPE_Q3_K);
}

/* Without experts nothing is MXFP4. */
static void mxfp4_without_experts(gufo_document *d)
{
    typed(d, GUFO_FILE_TYPE_MXFP4_MOE, GUFO_TYPE_Q8_0, GUFO_TYPE_Q8_0);
}

static void mxfp4_of_other_experts(gufo_document *d)
{
    uint64_t dims[] = {256, 16, 8};
    gufo_error error = no_error();

    mxfp4_without_experts(d);
    check_ok(gufo_document_add_raw_tensor(d, "blk.0.ffn_up_exps.weight", GUFO_TYPE_Q8_0, 3, dims,
                                          256 / 32 * 34 * 16 * 8, &error),
             &error, "experts");
}

static void q4_k_m_of_mixture(gufo_document *d)
{
    typed(d, GUFO_FILE_TYPE_Q4_K_M, GUFO_TYPE_Q4_K, GUFO_TYPE_Q6_K);
}

static void unknown_element_type(gufo_document *d)
{
    uint64_t dims[] = {256, 4};
    gufo_error error = no_error();

    put_u32(d, "general.file_type", GUFO_FILE_TYPE_F16);
    check_ok(gufo_document_add_raw_tensor(d, "new", 4000000000U, 2, dims, 64, &error), &error,
             "new");
}

static void file_type_alone(gufo_document *d)
{
    put_u32(d, "general.file_type", 15);
}

static void file_type_999_alone(gufo_document *d)
{
    put_u32(d, "general.file_type", 999);
}

/* ---- templates ------------------------------------------------------------------------------ */

static void template_class(gufo_document *d)
{
    put_text(d, "tokenizer.chat_template", "{{ messages.__class__ }}");
}

static void template_named(gufo_document *d)
{
    put_text(d, "tokenizer.chat_template.tools", "{{ messages.__class__ }}");
}

static void template_open(gufo_document *d)
{
    put_text(d, "tokenizer.chat_template", "{% if messages %}");
}

static void template_good(gufo_document *d)
{
    put_text(d, "tokenizer.chat_template",
             "{% for message in messages %}{{ message['content'] }}{% endfor %}");
}

/* ---- documents ------------------------------------------------------------------------------ */

#define TEXT(name, key, text)          \
    static void name(gufo_document *d) \
    {                                  \
        put_text(d, key, text);        \
    }
#define LAYOUT "llama.tensor_data_layout"
#define JSON "tokenizer.huggingface.json"
#define WORLD "tokenizer.rwkv.world"

TEXT(layout_near, LAYOUT, "meta ai original PTH")
TEXT(layout_far, LAYOUT, "sideways")
TEXT(layout_meta, LAYOUT, "Meta AI original pth")
TEXT(layout_reference, LAYOUT, "reference")
TEXT(json_broken, JSON, "{\"model\": {\"vocab\": {\"a\": 0,}}}")
TEXT(json_other, JSON, "{\"added_tokens\": [], \"vocab\": {}}")
TEXT(json_empty_model, JSON, "{\"model\": {\"type\": \"BPE\"}, \"x\": {\"vocab\": {}}}")
TEXT(json_good, JSON,
     "{\"version\": \"1.0\", \"added_tokens\": [], \"model\": {\"type\": \"BPE\", "
     "\"vocab\": {\"a\": 0}, \"merges\": []}}\n")
TEXT(world_length, WORLD, "1 '\\x00' 1\n2 'on' 3\n")
TEXT(world_text, WORLD, "1 '\\x00' 1\n2 on 2\n")
TEXT(world_twice, WORLD, "1 '\\x00' 1\n2 'on' 2\n1 'no' 2\n")
TEXT(world_good, WORLD,
     "1 '\\x00' 1\n2 b'\\xe0\\xa4' 2\n3 \"it's\" 4\n4 '\\u4f60' 3\n5 '\\xe9' 2\n6 '\\\\' 1\n")

/* ---- the table ------------------------------------------------------------------------------ */

#define S GUFO_LEVEL_STANDARD
#define ROW_AT(text, name, bad_add, good_add, place)                                     \
    {                                                                                    \
        .label = text, .rule = name, .bad = {.add = bad_add}, .good = {.add = good_add}, \
        .at = place, .level = S                                                          \
    }
#define PROPOSAL(text, name, bad_add, good_add, right)                                   \
    {                                                                                    \
        .label = text, .rule = name, .bad = {.add = bad_add}, .good = {.add = good_add}, \
        .fix = GUFO_FIX_SET, .proposed = true, .fix_value = right, .level = S            \
    }
#define ROW(text, name, bad_add, good_add) ROW_AT(text, name, bad_add, good_add, NULL)

static const schema_row rows[] = {
    ROW_AT("no license", "license", license_unknown, license_good, "my-own"),
    ROW("a license of no list", "license", license_unknown, license_hub),
    ROW("half a license", "license", license_broken, license_good),
    ROW("a license of before", "license-deprecated", license_deprecated, license_good),
    PROPOSAL("nearly a layout", "tensor-data-layout", layout_near, layout_meta,
             "Meta AI original pth"),
    ROW("no layout", "tensor-data-layout", layout_far, layout_reference),
    ROW_AT("not JSON", "huggingface-json", json_broken, json_good, "}}}"),
    ROW("another JSON", "huggingface-json", json_other, json_good),
    ROW("a model without a vocabulary", "huggingface-json", json_empty_model, json_good),
    ROW_AT("another length", "rwkv-world", world_length, world_good, "2 'on' 3"),
    ROW_AT("no text", "rwkv-world", world_text, world_good, "2 on 2"),
    ROW_AT("an id twice", "rwkv-world", world_twice, world_good, "1 'no' 2"),
    PROPOSAL("a part of a license", "license", license_near, license_good, "(Apache-2.0 OR MIT)"),
    PROPOSAL("a license with a blank", "license", license_blank, license_good, "Apache-2.0"),
    PROPOSAL("an address without https", "url", repo_bad, repo_good, "https://example.org"),
    ROW_AT("language", "language", languages_bad, languages_good, "zq"),
    ROW("uuid", "uuid", uuid_bad, uuid_good),
    ROW("uuid of the source", "uuid", source_uuid_bad, uuid_good),
    ROW("doi", "doi", doi_bad, doi_good),
    ROW("url", "url", url_bad, url_good),
    ROW("repository", "url", repo_bad, repo_good),
    ROW("link", "url", link_bad, link_good),
    ROW("empty", "text-empty", name_empty, name_good),
    ROW("size", "size-label", size_bad, size_good),
    ROW("size with a hyphen", "size-label", size_hyphen, size_active),
    ROW("too few parents", "group-count", parents_few, parents_good),
    ROW("too many parents", "group-count", parents_many, parents_good),
    ROW("parents are not counted", "group-count", parents_uncounted, parents_good),
    ROW("dataset missing", "group-count", datasets_gap, datasets_none),
    ROW("absurd count", "group-count", datasets_absurd, datasets_none),
    ROW("alignment", "alignment-large", alignment_large, alignment_page),
    ROW("quantization version", "quantization-version", version_1, version_2),
    ROW("file type of a mixture", "file-type-unknown", type_999, type_guessed),
    ROW("file type without tensors", "file-type-unknown", file_type_999_alone, file_type_alone),
    ROW("file type of another mixture", "file-type", q4_0_of_mixture, q4_k_m_of_mixture),
    ROW("file type of a part", "file-type", q4_0_of_mixture, q3_k_l_of_mixture),
    {.label = "file type of experts",
     .rule = "file-type",
     .bad = {.add = mxfp4_of_other_experts},
     .good = {.add = mxfp4_without_experts},
     .subject = "general.file_type",
     .fix = GUFO_FIX_SET,
     .fix_value = "7",
     .level = S},
    ROW("weights of a type that is not known", "file-type", unknown_element_type,
        q4_k_m_of_mixture),
    {.label = "file type",
     .rule = "file-type",
     .bad = {.add = q5_0_of_q8_0},
     .good = {.add = version_2},
     .subject = "general.file_type",
     .fix = GUFO_FIX_SET,
     .fix_value = "7",
     .level = S},
    ROW_AT("class", "template-danger", template_class, template_good, "__class__"),
    ROW("class in a named template", "template-danger", template_named, template_good),
    ROW("open block", "template-syntax", template_open, template_good),
};

static void test_rows(void **state)
{
    (void)state;
    schema_check_rows(rows, COUNT_OF(rows));
}

static void test_complete(void **state)
{
    static const char *const prefixes[] = {"S2", "S3"};

    (void)state;
    schema_check_complete(rows, COUNT_OF(rows), prefixes, COUNT_OF(prefixes));
}

/* Without a parser of templates, only what is opened and not closed is found. */
static void test_no_judge(void **state)
{
    static const struct {
        const char *text, *place; /* NULL: nothing is found */
    } cases[] = {
        {"{{ messages.__class__ }}{% if x %}{# {{ #}", NULL},
        {"{{ '}}' ~ \"\\\"%}\" }}", NULL},
        {"a\n\xc3\xa9 {{ b", "line 2, column 3"},
        {"{% if x }}", "line 1, column 1"},
        {"{# {{ }}", "line 1, column 1"},
        {"{{ '}} }}", "line 1, column 1"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        gufo_error error = no_error();
        gufo_document *d = gufo_document_new(NULL, &error);
        gufo_check_options options = {.level = S};
        findings found = {0};
        const void *header;
        gufo_model *file;
        size_t size;

        assert_non_null(d);
        put_text(d, "tokenizer.chat_template", cases[i].text);
        check_ok(gufo_document_layout(d, NULL, NULL, &error), &error, "layout");
        header = document_header(d, &size);
        file = gufo_model_open_memory(header, size, NULL, &error);
        check(file != NULL, "%s", error.message);
        check_ok(gufo_model_check_content(file, &options, findings_add, &found, &error), &error,
                 "check");
        check_u64(findings_of(&found, "template-syntax"), cases[i].place != NULL, "%s",
                  cases[i].text);
        if (cases[i].place != NULL)
            check(strstr(findings_get(&found, "template-syntax", 0)->message, cases[i].place) !=
                      NULL,
                  "%s", findings_get(&found, "template-syntax", 0)->message);
        check_u64(findings_of(&found, "template-danger"), 0, "%s", cases[i].text);
        findings_free(&found);
        gufo_model_free(file);
        gufo_document_free(d);
    }
}

/* A rule that thousands of keys break is reported some times, and then counted. */
static void test_limit(void **state)
{
    gufo_error error = no_error();
    gufo_document *d = gufo_document_new(NULL, &error);
    gufo_check_options options = {.level = S};
    const void *header;
    gufo_model *file;
    findings found = {0};
    char key[64];
    size_t size;

    (void)state;
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "general.x%u.license.link", i);
        put_text(d, key, "LICENSE");
    }
    check_ok(gufo_document_layout(d, NULL, NULL, &error), &error, "layout");
    header = document_header(d, &size);
    file = gufo_model_open_memory(header, size, NULL, &error);
    check(file != NULL, "%s", error.message);
    check_ok(gufo_model_check_content(file, &options, findings_add, &found, &error), &error,
             "check");
    check_u64(findings_of(&found, "url"), 21, "addresses");
    check(strncmp(findings_get(&found, "url", 20)->message, "4,980 more ", 11) == 0, "%s",
          findings_get(&found, "url", 20)->message);
    check_u64(findings_of(&found, "key-unprefixed"), 21, "keys");
    check(found.count <= 3 * 21, "%zu in all", found.count);
    findings_free(&found);
    gufo_model_free(file);
    gufo_document_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_no_judge),
        cmocka_unit_test(test_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
