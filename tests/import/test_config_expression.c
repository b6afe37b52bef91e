/* The language of the tables: values, precedence, absence, functions, failures. */
#include "../support/pace.h"
#include "config_folder.h"

#include "import/architectures/configuration/expression.h"

static const char fields[] =
    "{\"architectures\": [\"LlamaForCausalLM\"], \"model_type\": \"llama\", \"vocab_size\": 100,"
    " \"hidden_size\": 7, \"n\": 3, \"big\": 4611686018427387905, \"most\": 9223372036854775807,"
    " \"half\": 0.5, \"whole\": 1e6, \"minus\": -7, \"zero\": 0, \"nothing\": null, \"yes\": true,"
    " \"no\": false, \"empty\": \"\", \"text\": \"abc\", \"list\": [1, 2, 3], \"none\": [],"
    " \"kinds\": [\"full\", \"slide\", \"full\"], \"inner\": {\"a\": 5, \"b\": {\"c\": 6}},"
    " \"blocks_of\": [{\"heads\": 2}, {\"heads\": 4}], \"num_hidden_layers\": 4,"
    " \"num_attention_heads\": 2, \"score\": \"sigmoid\","
    " \"id2label\": {\"2\": \"c\", \"10\": \"b\", \"1\": \"a\"},"
    " \"dummies\": {\"0\": \"LABEL_0\", \"1\": \"LABEL_1\"},"
    " \"rope_scaling\": {\"type\": \"yarn\", \"factor\": 4}, \"rope_theta\": 500,"
    " \"rope_local_base_freq\": 25, \"rope_pct\": 0.25}";

/* The value as JSON; "absent", "optional" for none, "!" in front of what failed. */
static void evaluate(const model_config *config, const char *text, char *out, size_t size)
{
    const expression_scope scope = {.config = config, .fields = config->fields, .file_type = 7};
    expression_result result = {.made = NULL};
    gufo_error error = no_error();
    gufo_status status = expression_evaluate(&scope, text, &result, &error);
    json_t *json = status == GUFO_OK ? term_to_json(&result.value) : NULL;
    char *dump = json != NULL ? json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

    if (status != GUFO_OK) {
        check_error_shape(&error, status, text);
        (void)snprintf(out, size, "!%s: %s", gufo_status_name(status), error.message);
    } else {
        (void)snprintf(out, size, "%s",
                       dump != NULL            ? dump
                       : result.value.optional ? "optional"
                                               : "absent");
    }
    free(dump);
    json_decref(json);
    expression_result_free(&result);
}

typedef struct case_row {
    const char *text, *expected;
} case_row;

static void check_cases(const case_row *rows, size_t count)
{
    folder f;
    model_config config = config_of(&f, fields, NULL);

    for (size_t i = 0; i < count; i++) {
        char got[2048];

        evaluate(&config, rows[i].text, got, sizeof got);
        check(strcmp(got, rows[i].expected) == 0, "%s is %s instead of %s", rows[i].text, got,
              rows[i].expected);
    }
    config_done(&f, &config);
}

static void test_values(void **state)
{
    static const case_row rows[] = {
        {"n", "3"},
        {"inner.a", "5"},
        {"inner.b.c", "6"},
        {"inner.b.d", "absent"},
        {"n.a", "absent"},
        {"other", "absent"},
        {"other?", "optional"},
        {"nothing", "null"},
        {"nothing?", "optional"},
        {"other|n", "3"},
        {"other|nothing|n", "null"},
        {"other|5", "5"},
        {"other|\"a\\n\\\"b\"", "\"a\\n\\\"b\""},
        {"other|more?", "optional"},
        {"else(nothing, other, n, 4)", "3"},
        {"else(nothing, other)", "absent"},
        {"else(nothing, other?)", "optional"},
        {"else(other, zero)", "0"},
        {"[1, n, [2.5], []]", "[1,3,[2.5],[]]"},
        {"[]", "[]"},
        {"true", "true"},
        {"null", "null"},
        {"1e-5", "1.0000000000000001e-5"},
        {"-2", "-2"},
        {"blocks", "4"},
        {"ftype", "7"},
        {"is_mistral", "false"},
        {"called(\"no such name\")", "false"},
        {"raw.n", "3"},
        {"tokcfg.n", "absent"},
        {"ropes.factor", "4"},
        {"rope.rope_type", "\"yarn\""},
        {"rope.rope_theta", "500"},
        {"swa.rope_theta", "25"},
        {"ropes.partial_rotary_factor", "0.25"},
        {"inner", "{\"a\":5,\"b\":{\"c\":6}}"},
        {" ( n ) ", "3"},
    };

    (void)state;
    check_cases(rows, COUNT_OF(rows));
}

static void test_operators(void **state)
{
    static const case_row rows[] = {
        {"4 * other|n", "12"},
        {"2 + n * 4", "14"},
        {"(2 + n) * 4", "20"},
        {"int(other|1.5 * 7) // other|2", "5"},
        {"n - 1 - 1", "1"},
        {"hidden_size // n * n", "6"},
        {"hidden_size / 2", "3.5"},
        {"6 / 2", "3.0"},
        {"minus // 2", "-4"},
        {"minus % 3", "2"},
        {"7 % -3", "-2"},
        {"7.5 // 2", "3.0"},
        {"-n + 1", "-2"},
        {"other + 1", "absent"},
        {"0.1 * other?", "optional"},
        {"nothing * 2", "null"},
        {"n == 3", "true"},
        {"n == 3.0", "true"},
        {"n != 3", "false"},
        {"other == 3", "false"},
        {"other != 3", "true"},
        {"other > 0", "false"},
        {"not other > 0", "true"},
        {"n < 4 and n >= 3", "true"},
        {"n < 3 or n <= 3", "true"},
        {"text == \"abc\"", "true"},
        {"other|\"\" == \"\"", "true"},
        {"list == [1, 2, 3]", "true"},
        {"nothing == null", "true"},
        {"yes and not no", "true"},
        {"not yes or yes", "true"},
        {"not not yes", "true"},
        {"not (yes or yes)", "false"},
        {"zero or empty or none or nothing or other or no", "false"},
        {"inner and half and text and list", "true"},
        {"big + big", "!range: the number that big gives is too large"},
        {"big * 2.0", "9.2233720368547758e18"},
        {"most + 0", "9223372036854775807"},
        {"n / zero", "!range: division by 0: n / zero"},
        {"n // zero", "!range: division by 0: n // zero"},
        {"n % 0", "!range: division by 0: n % 0"},
        {"-most - 2", "!range: the number that most gives is too large"},
        {"n + text", "!malformed: text is a text, and a number is needed"},
        {"yes * 2", "!malformed: yes is true or false, and a number is needed"},
        {"1e300 * 1e300", "!range: a number is too large"},
    };

    (void)state;
    check_cases(rows, COUNT_OF(rows));
}

static void test_functions(void **state)
{
    static const case_row rows[] = {
        {"int(2.9)", "2"},
        {"int(-2.9)", "-2"},
        {"int(big)", "4611686018427387905"},
        {"int(1e30)", "!range: a number is too large"},
        {"int(text)", "!malformed: text is a text, and a number is needed"},
        {"int(other)", "absent"},
        {"round(2.5)", "2"},
        {"round(3.5)", "4"},
        {"round(-2.5)", "-2"},
        {"round(2.4)", "2"},
        {"sqrt(16)", "4.0"},
        {"sqrt(-1)", "!range: a number is too large"},
        {"min(n, half, 2)", "0.5"},
        {"max(n, half, 2)", "3"},
        {"ceildiv(hidden_size, 2)", "4"},
        {"roundup(hidden_size, 8)", "8"},
        {"roundup(16, 8)", "16"},
        {"roundup(n, zero)", "!range: division by 0"},
        {"roundup(minus, 8)", "!range: minus gives -7; 0 to 4611686018427387904 is possible"},
        {"roundup(most, 8)",
         "!range: most gives 9223372036854775807; 0 to 4611686018427387904 is possible"},
        {"power(2, 10)", "1024.0"},
        {"power(zero, minus)", "!range: the number that zero gives is too large"},
        {"power(text, 2)", "!malformed: text is a text, and a number is needed"},
        {"quantile(0.5)", "0.0"},
        {"quantile(0)", "-1.7976931348623157e308"},
        {"quantile(1)", "1.7976931348623157e308"},
        {"round(1000000 * quantile(0.975))", "1959964"},
        {"round(1000000 * quantile(0.001))", "-3090236"},
        {"quantile(2)", "!range: a probability is not between 0 and 1"},
        {"probability(0)", "0.5"},
        {"round(1000 * probability(quantile(0.95)))", "950"},
        {"probability(quantile(0))", "0.0"},
        {"divisible(100, 64)", "128"},
        {"divisible(95, 64)", "128"},
        {"divisible(70, 64)", "64"},
        {"divisible(1, 64)", "64"},
        {"divisible(1, zero)", "!range: a number is too large"},
        {"leading(kinds, \"full\")", "1"},
        {"leading(kinds, \"slide\")", "0"},
        {"index(kinds, \"full\")", "0"},
        {"index(kinds, \"full\", 1)", "2"},
        {"index(kinds, \"slide\", 99)", "absent"},
        {"index(text, \"a\")", "!malformed: text is a text, and a list is needed"},
        {"join(kinds)", "\"fullslidefull\""},
        {"join(none)", "\"\""},
        {"join([\"blk.\", n, \".\", minus])", "\"blk.3.-7\""},
        {"join([half])", "!malformed: not a whole number where a text is needed"},
        {"stored(\"*\")", "0"},
        {"max([1, 3, 2])", "3"},
        {"min([1, 3, 2])", "1"},
        {"max(none)", "absent"},
        {"leading(text, \"a\")", "!malformed: text is a text, and a list is needed"},
        {"has(n)", "true"},
        {"has(nothing)", "false"},
        {"has(other)", "false"},
        {"present(nothing)", "true"},
        {"present(other)", "false"},
        {"nonzero(zero)?", "optional"},
        {"nonzero(n)", "3"},
        {"number(text)", "absent"},
        {"number(half)", "0.5"},
        {"contains(kinds, \"full\")", "true"},
        {"contains(kinds, \"other\")", "false"},
        {"contains(text, \"bc\")", "true"},
        {"contains(other, \"bc\")", "false"},
        {"contains(list, 2)", "true"},
        {"class(\"Llama*\")", "true"},
        {"class(\"Mistral*\", \"*CausalLM\")", "true"},
        {"class(\"Llama\")", "false"},
        {"arch(\"llama\")", "true"},
        {"file(\"config.json\")", "true"},
        {"file(\"other.json\")", "false"},
        {"file(\"../x\")", "false"},
        {"gating(score)", "2"},
        {"gating(other)?", "optional"},
        {"gating(text)", "!malformed: the router of experts is \"abc\"; known are softmax, sigmoid "
                         "and sqrtsoftplus"},
        {"length(list)", "3"},
        {"length(text)", "3"},
        {"at(list, 0)", "1"},
        {"at(list, -1)", "3"},
        {"at(list, 3)", "absent"},
        {"pad0(list, 5)", "[1,2,3,0,0]"},
        {"pad0(list, 2)", "[1,2]"},
        {"pad0(other, 2)?", "optional"},
        {"pad0(list, big)", "!range: big gives 4611686018427387905; 0 to 65536 is possible"},
        {"letters(\"LLG\", \"L\", 5)", "[true,true,false,true,true]"},
        {"letters(n, \"L\", 5)", "absent"},
        {"labels(id2label)", "[\"a\",\"b\",\"c\"]"},
        {"labels(dummies)?", "optional"},
        {"written(\"general.name\")", "absent"},
        {"token(\"x\")", "absent"},
        {"pooling", "absent"},
    };

    (void)state;
    check_cases(rows, COUNT_OF(rows));
}

static void test_forms(void **state)
{
    static const case_row rows[] = {
        {"pick(n == 3, 1, 2)", "1"},
        {"pick(n == 4, 1, 2)", "2"},
        {"pick(yes, n, n / zero)", "3"},
        {"pick(no, n / zero, other)", "absent"},
        {"else(n, n / zero)", "3"},
        {"no and n / zero", "false"},
        {"yes or n / zero", "true"},
        {"n|text + 1", "4"},
        {"each(3, i * i)", "[0,1,4]"},
        {"each(3, (i + 1) % 2 != 0)", "[true,false,true]"},
        {"each(kinds, \"full\")", "[true,false,true]"},
        {"each(kinds, x == \"slide\")", "[false,true,false]"},
        {"each(kinds, pick(x == \"full\", n, 0))", "[3,0,3]"},
        {"each(blocks_of, x.heads * 2)", "[4,8]"},
        {"each(text, x == \"b\")", "[false,true,false]"},
        {"each(text, \"b\")", "[false,true,false]"},
        {"each(none, x / zero)", "[]"},
        {"each(0, i)", "[]"},
        {"each(other, i)", "absent"},
        {"each(other, i)?", "optional"},
        {"each(2, each(2, i))", "[[0,1],[0,1]]"},
        {"each(list, other)", "!malformed: no other"},
        {"each(big, i)", "!range: big gives 4611686018427387905; 0 to 65536 is possible"},
        {"each(minus, i)", "!range: minus gives -7; 0 to 65536 is possible"},
        {"every(kinds, \"full\")", "false"},
        {"every(list, x > 0)", "true"},
        {"every(other, x > 0)", "false"},
        {"any(kinds, \"slide\")", "true"},
        {"any(list, x > 3)", "false"},
        {"any(other, x > 3)", "false"},
        {"i", "absent"},
    };

    (void)state;
    check_cases(rows, COUNT_OF(rows));
}

/* A list that is walked through for each element of another.  The limit is a number of steps, whatever the
 * machine: to reach it takes long where all is slow. */
static void test_long(void **state)
{
    static const char *const endless[] = {"length(each(60000, contains(list, i)))",
                                          "each(65536, each(65536, i))"};
    folder f;
    char text[40000] = "{\"architectures\": [\"LlamaForCausalLM\"], \"list\": [0", got[256];
    model_config config;

    (void)state;
    for (unsigned i = 0; i < 8000; i++)
        strcat(text, ",1");
    strcat(text, "]}");
    config = config_of(&f, text, NULL);
    evaluate(&config, "length(each(100, contains(list, i)))", got, sizeof got);
    check(strcmp(got, "100") == 0, "%s", got);
    for (unsigned i = 0; i < all_some_or_few(COUNT_OF(endless), 1, 0); i++) {
        evaluate(&config, endless[i], got, sizeof got);
        check(strcmp(got, "!limit: the configuration needs too much work") == 0, "%s", got);
    }
    config_done(&f, &config);
}

/* What is not an expression is refused, wherever it ends. */
static void test_syntax(void **state)
{
    static const char *const texts[] = {
        "",          "(",    "n n",     "n +",       "n)",    "else(",    "nofunction(1)",
        "\"open",    "[1, ", "each(n)", "int(1, 2)", "1x",    "a ==",     "not",
        "pick(a,b)", "a|",   "*",       "n @",       "[1 2]", "at(list)", "sqrt()"};
    char deep[2000];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        gufo_error error = no_error();

        if (strcmp(texts[i], "1x") != 0) /* a number is only read where it is used */
            check_status(expression_check(texts[i], &error), GUFO_E_ARGUMENT, &error, "%s",
                         texts[i]);
    }
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    assert_int_equal(expression_check(deep, NULL), GUFO_E_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),    cmocka_unit_test(test_operators),
        cmocka_unit_test(test_functions), cmocka_unit_test(test_forms),
        cmocka_unit_test(test_long),      cmocka_unit_test(test_syntax),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
