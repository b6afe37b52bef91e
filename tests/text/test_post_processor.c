/* Post-processors: tokens around a text, and spans without white space at their ends. */
#include "support/allocator.h"

#include "text/pipeline/steps/post_processor.h"
#include "text/pipeline_file.h"

/* Texts of tokens, by id. */
static const char *const texts[] = {"[CLS]",
                                    "[SEP]",
                                    "a",
                                    ("\xc4\xa0"
                                     "b"), /* Ġb */
                                    "\xc4\xa0\xc4\xa0",
                                    "c ",
                                    "\xe3\x80\x80x\xc2\xa0"};

/* Others are added tokens. */
static token_span span_of(uint32_t id, text_origin range, const char *text)
{
    return token_span_of(range, id < COUNT_OF(texts)
                                    ? gufo_str_of(texts[id])
                                    : (gufo_str){text + range.begin, range.end - range.begin});
}

/* ---- ids ------------------------------------------------------------------------------------ */

#define CLS "'cls':['[CLS]',0]"
#define SEP "'sep':['[SEP]',1]"
#define OF_TEXT "{'Sequence':{'id':'A','type_id':0}}"
#define OF_SECOND "{'Sequence':{'id':'B','type_id':1}}"
#define SPECIAL(name) "{'SpecialToken':{'id':'" name "','type_id':0}}"
#define TEMPLATE(single, pair, specials)                               \
    "{'type':'TemplateProcessing','single':[" single "],'pair':[" pair \
    "],'special_tokens':{" specials "}}"
#define CS "'C':{'id':'C','ids':[7,8],'tokens':['x','y']},'S':{'id':'S','ids':[9],'tokens':['z']}"
#define BERT "{'type':'BertProcessing'," SEP "," CLS "}"
#define ROBERTA "{" SEP "," CLS ",'trim_offsets':true,'add_prefix_space':true}"
#define SEQUENCE(steps) "{'type':'Sequence','processors':[" steps "]}"

typedef struct frame_case {
    const char *part;
    const char *with, *without; /* ids of the text 20 21 */
    uint32_t first, last;
} frame_case;

static const frame_case frame_cases[] = {
    {"null", "20 21", "20 21", GUFO_NO_TOKEN, GUFO_NO_TOKEN},
    {BERT, "0 20 21 1", "20 21", 0, 1},
    {ROBERTA, "0 20 21 1", "20 21", 0, 1},
    /* the members count, not the type */
    {"{'type':'ByteLevel'," SEP "," CLS "}", "0 20 21 1", "20 21", 0, 1},
    {"{'type':'ByteLevel','add_prefix_space':true,'trim_offsets':true}", "20 21", "20 21",
     GUFO_NO_TOKEN, GUFO_NO_TOKEN},
    {TEMPLATE(SPECIAL("C") "," OF_TEXT "," SPECIAL("S"), OF_TEXT, CS), "7 8 20 21 9", "20 21", 7,
     9},
    {TEMPLATE(OF_TEXT, "", ""), "20 21", "20 21", GUFO_NO_TOKEN, GUFO_NO_TOKEN},
    {TEMPLATE(OF_TEXT "," SPECIAL("S") "," OF_TEXT, "", CS), "20 21 9 20 21", "20 21 20 21",
     GUFO_NO_TOKEN, GUFO_NO_TOKEN},
    {TEMPLATE(SPECIAL("S"), "", CS), "9", "", 9, 9},
    {TEMPLATE("", "", ""), "", "", GUFO_NO_TOKEN, GUFO_NO_TOKEN},
    /* a part for each element */
    {SEQUENCE(TEMPLATE(SPECIAL("C") "," OF_TEXT, "", CS) "," BERT), "0 7 8 1 20 21 1", "20 21", 0,
     1},
    {SEQUENCE(TEMPLATE(SPECIAL("C") "," OF_TEXT, "", CS) "," ROBERTA), "0 7 8 1 1 20 21 1", "20 21",
     0, 1},
    {SEQUENCE(BERT "," TEMPLATE(SPECIAL("C") "," OF_TEXT, "", CS)), "7 8 0 20 21 1", "20 21", 7, 1},
    {SEQUENCE(TEMPLATE(OF_TEXT "," OF_TEXT, "", CS) "," TEMPLATE(
         "", OF_SECOND "," SPECIAL("S") "," OF_TEXT "," OF_SECOND, CS)),
     "20 21 9 20 21 20 21", "20 21 20 21 20 21", GUFO_NO_TOKEN, GUFO_NO_TOKEN},
    {SEQUENCE(SEQUENCE(BERT)), "0 20 21 1", "20 21", 0, 1},
};

static gufo_ids make_ids(const uint32_t *list, size_t count)
{
    gufo_ids ids = {.ids = malloc(count * sizeof *list), .count = count, .room = count};

    assert_non_null(ids.ids);
    memcpy(ids.ids, list, count * sizeof *list);
    return ids;
}

static void spell(const gufo_ids *ids, char *out)
{
    *out = '\0';
    for (size_t i = 0; i < ids->count; i++)
        out += sprintf(out, "%s%" PRIu32, i > 0 ? " " : "", ids->ids[i]);
}

static void check_frame(const post_processor *p, const frame_case *row, bool specials, bool spans)
{
    gufo_ids ids = make_ids((const uint32_t[]){50, 20, 21}, 3);
    encoded e = {.ids = &ids, .first = 1, .keeps_spans = spans};
    gufo_error error = no_error();
    char got[200], expected[200];

    if (spans) {
        e.spans = malloc(2 * sizeof *e.spans);
        e.span_room = 2;
        e.spans[0] = (token_span){{0, 1}, 0, 0};
        e.spans[1] = (token_span){{1, 3}, 0, 0};
        e.text = gufo_str_of("abc");
    }
    check_ok(post_processor_run(p, &e, specials, &error), &error, "%s", row->part);
    spell(&ids, got);
    sprintf(expected, "50%s%s", *(specials ? row->with : row->without) ? " " : "",
            specials ? row->with : row->without);
    check_str(gufo_str_of(got), expected, "%s", row->part);
    for (size_t i = 1; spans && i < ids.count; i++) {
        check_u64(e.spans[i - 1].range.begin, ids.ids[i] == 21 ? 1 : 0, "%s: %zu", row->part, i);
        check_u64(e.spans[i - 1].range.end,
                  ids.ids[i] == 20   ? 1
                  : ids.ids[i] == 21 ? 3
                                     : 0,
                  "%s: %zu", row->part, i);
    }
    free(e.spans);
    gufo_ids_free(&ids);
}

static void test_frames(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(frame_cases); i++) {
        const frame_case *row = &frame_cases[i];
        gufo_error error = no_error();
        bool none = strcmp(row->part, "null") == 0;
        json_t *part = none ? NULL : pipeline_part(row->part);
        post_processor *p = post_processor_new(part, NULL, NULL, &error);

        json_decref(part);
        if (p == NULL)
            fail_msg("%s: %s", row->part, error.message);
        for (unsigned way = 0; way < 4; way++)
            check_frame(p, row, (way & 1) != 0, (way & 2) != 0);
        check_u64(post_processor_first(p), row->first, "%s", row->part);
        check_u64(post_processor_last(p), row->last, "%s", row->part);
        post_processor_free(p);
    }
}

/* ---- spans ---------------------------------------------------------------------------------- */

#define TRIM(space) "{'type':'ByteLevel','add_prefix_space':" space ",'trim_offsets':true}"

typedef struct span_case {
    const char *part, *text;
    uint32_t id;
    text_origin before, after;
    bool second; /* token of the text */
} span_case;

static const span_case span_cases[] = {
    {TRIM("false"), "x b", 3, {1, 3}, {2, 3}, true},
    {TRIM("true"), "x b", 3, {1, 3}, {2, 3}, true},
    {TRIM("true"), " b", 3, {0, 2}, {0, 2}, false}, /* the first token keeps one */
    {TRIM("false"), " b", 3, {0, 2}, {1, 2}, false},
    {TRIM("true"), "x b", 3, {1, 3}, {1, 3}, false},
    {TRIM("true"), " b", 3, {0, 2}, {0, 2}, true}, /* begins at 0 */
    {TRIM("false"), "x  y", 4, {1, 3}, {3, 3}, true},
    {TRIM("true"), "  y", 4, {0, 2}, {2, 2}, false}, /* more than one goes */
    {TRIM("false"), "  y", 4, {0, 2}, {2, 2}, false},
    {TRIM("false"), "c x", 5, {0, 2}, {0, 1}, false},
    /* characters are taken, not bytes */
    {TRIM("false"), "\xe3\x80\x80x\xc2\xa0", 6, {0, 6}, {3, 4}, false},
    {TRIM("false"), "\xff\xffx\xff", 6, {0, 4}, {1, 3}, false},
    {TRIM("false"), "ab", 2, {0, 2}, {0, 2}, false},
    {TRIM("true"), "x  <m> ", 99, {1, 7}, {3, 6}, true}, /* an added token: its own text counts */
    /* no more than there is */
    {TRIM("false"), "b", 3, {0, 1}, {1, 1}, false},
    {"{'type':'ByteLevel','add_prefix_space':false,'trim_offsets':false}",
     "x b",
     3,
     {1, 3},
     {1, 3},
     true},
    {ROBERTA, "x b", 3, {1, 3}, {1, 3}, false},
    {ROBERTA, "x b", 3, {1, 3}, {2, 3}, true},
};

static void test_spans(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(span_cases); i++) {
        const span_case *row = &span_cases[i];
        gufo_error error = no_error();
        json_t *part = pipeline_part(row->part);
        post_processor *p = post_processor_new(part, NULL, NULL, &error);
        gufo_ids ids = make_ids((const uint32_t[]){2, 2}, row->second ? 2 : 1);
        token_span *spans = calloc(8, sizeof *spans);
        encoded e = {.ids = &ids, .keeps_spans = true, .spans = spans, .span_room = 8};

        e.text = gufo_str_of(row->text);
        ids.ids[row->second] = row->id;
        spans[row->second] = span_of(row->id, row->before, row->text);
        assert_non_null(p);
        check_ok(post_processor_run(p, &e, false, &error), &error, "%s", row->part);
        check_u64(e.spans[row->second].range.begin, row->after.begin, "row %zu", i);
        check_u64(e.spans[row->second].range.end, row->after.end, "row %zu", i);
        free(e.spans);
        gufo_ids_free(&ids);
        post_processor_free(p);
        json_decref(part);
    }
}

/* With special tokens before it, the text does not begin its part. */
static void test_order(void **state)
{
    static const struct {
        const char *part;
        uint32_t begin;
    } rows[] = {{SEQUENCE(BERT "," TRIM("true")), 2},
                {SEQUENCE(TRIM("true") "," BERT), 1},
                {SEQUENCE(TEMPLATE(SPECIAL("S") "," OF_TEXT, "", CS) "," TRIM("true")), 1}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = no_error();
        json_t *part = pipeline_part(rows[i].part);
        post_processor *p = post_processor_new(part, NULL, NULL, &error);
        gufo_ids ids = make_ids((const uint32_t[]){3}, 1);
        encoded e = {.ids = &ids, .keeps_spans = true, .spans = calloc(8, sizeof *e.spans)};

        e.span_room = 8;
        e.text = gufo_str_of("x b");
        e.spans[0] = span_of(3, (text_origin){1, 3}, "x b");
        assert_non_null(p);
        check_ok(post_processor_run(p, &e, true, &error), &error, "row %zu", i);
        check_u64(e.spans[1].range.begin, rows[i].begin, "row %zu", i);
        check_u64(e.spans[1].range.end, 3, "row %zu", i);
        free(e.spans);
        gufo_ids_free(&ids);
        post_processor_free(p);
        json_decref(part);
    }
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void test_refused(void **state)
{
    static const struct {
        const char *part;
        gufo_status status;
        const char *words;
    } rows[] = {
        {"{'type':'Other'}", GUFO_E_TYPE, "post_processor, step \"Other\": no post-processor"},
        {"[]", GUFO_E_MALFORMED, "not an object"},
        {"{'type':'BertProcessing'," SEP "}", GUFO_E_MALFORMED, "\"cls\" is missing"},
        {"{'type':'BertProcessing'," SEP ",'cls':[1]}", GUFO_E_MALFORMED,
         "post_processor, step \"BertProcessing\": \"cls\" is not a list of a text and an id"},
        {"{'type':'BertProcessing'," SEP ",'cls':['x',-1]}", GUFO_E_MALFORMED, "\"cls\""},
        {"{'type':'ByteLevel','add_prefix_space':true}", GUFO_E_MALFORMED,
         "\"trim_offsets\" is missing"},
        {"{'type':'ByteLevel','add_prefix_space':1,'trim_offsets':true}", GUFO_E_MALFORMED,
         "\"add_prefix_space\" is neither true nor false"},
        {"{'type':'TemplateProcessing','single':[],'special_tokens':{}}", GUFO_E_MALFORMED,
         "\"pair\" is missing"},
        {TEMPLATE(SPECIAL("C"), "", ""), GUFO_E_MALFORMED, "no list of ids for \"C\""},
        {TEMPLATE("{'Other':{'id':'A'}}", "", ""), GUFO_E_MALFORMED, "an element of a template"},
        {TEMPLATE("{'Sequence':{'id':'C'}}", "", ""), GUFO_E_MALFORMED, "a text \"C\""},
        {TEMPLATE(OF_SECOND, "", ""), GUFO_E_MALFORMED, "a second text"},
        {TEMPLATE(SPECIAL("C"), "", "'C':{'ids':['x']}"), GUFO_E_MALFORMED, "not an id"},
        {SEQUENCE(TEMPLATE(OF_TEXT "," OF_TEXT "," OF_TEXT, "", "") "," TEMPLATE("", "", "")),
         GUFO_E_MALFORMED, "leave 3 parts"},
        {"{'type':'Sequence'}", GUFO_E_MALFORMED, "\"processors\" is missing"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = no_error();
        json_t *part = pipeline_part(rows[i].part);

        assert_null(post_processor_new(part, NULL, NULL, &error));
        check_error_shape(&error, rows[i].status, rows[i].part);
        check(strstr(error.message, rows[i].words) != NULL, "%s: %s", rows[i].part, error.message);
        json_decref(part);
    }
}

static json_t *repeat(json_t *one, unsigned count)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < count; i++)
        json_array_append(list, one);
    json_decref(one);
    return list;
}

static void check_limit(json_t *part)
{
    gufo_error error = no_error();

    assert_null(post_processor_new(part, NULL, NULL, &error));
    check_error_shape(&error, GUFO_E_LIMIT, "limit");
    json_decref(part);
}

static void test_limits(void **state)
{
    json_t *template = pipeline_part(TEMPLATE("", "", CS)), *nested = pipeline_part(SEQUENCE(""));

    (void)state;
    json_object_set_new(template, "single", repeat(pipeline_part(OF_TEXT), 65));
    check_limit(template);
    template = pipeline_part(TEMPLATE("", "", CS));
    json_object_set_new(template, "single", repeat(pipeline_part(SPECIAL("S")), 70000));
    check_limit(template);
    check_limit(json_pack("{s:s,s:o}", "type", "Sequence", "processors",
                          repeat(pipeline_part(TRIM("true")), 5)));
    for (unsigned i = 0; i < 40; i++)
        nested = json_pack("{s:s,s:[o]}", "type", "Sequence", "processors", nested);
    check_limit(nested);
}

static void test_memory(void **state)
{
    const char *text = SEQUENCE(
        TRIM("true") "," TEMPLATE(OF_TEXT "," SPECIAL("C") "," OF_TEXT, OF_TEXT, CS) "," BERT);
    json_t *part = pipeline_part(text);
    bool done = false;

    (void)state;
    for (size_t at = 1; !done; at++) {
        gufo_error error = no_error();
        counter c;

        counter_init(&c);
        c.fail_at = at;
        gufo_allocator allocator = counter_allocator(&c);
        gufo_ids ids = {.allocator = &allocator};
        encoded e = {.allocator = &allocator, .ids = &ids, .keeps_spans = true};
        post_processor *p = post_processor_new(part, NULL, &allocator, &error);

        done = p != NULL && post_processor_run(p, &e, true, &error) == GUFO_OK;
        if (!done)
            check_u64(error.code, GUFO_E_MEMORY, "%s", error.message);
        check_u64(done ? ids.count : 6, 6, "ids");
        post_processor_free(p);
        gufo_ids_free(&ids);
        if (e.spans != NULL)
            (void)allocator.resize(allocator.context, e.spans, 0);
        check_u64(c.in_use, 0, "bytes left after request %zu", at);
        assert_true(at < 100);
    }
    json_decref(part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames), cmocka_unit_test(test_spans),
        cmocka_unit_test(test_order),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
