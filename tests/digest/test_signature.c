/* Keys and signatures: what minisign 0.11 made, and our own. */
#include "../support/check.h"

#include "gufo/digest.h"

/* minisign -G -W; echo golden >message; minisign -S -t 'a trusted comment'; minisign -S -l. */
static const char minisign_public[] = "untrusted comment: minisign public key 6CFDF4309DB13449\n"
                                      "RWRJNLGdMPT9bA/TyTWdFAlhfDQj7tIPXg04QMGv8KfzyhTGm69oGd+W\n";
static const char minisign_secret[] =
    "untrusted comment: minisign encrypted secret key\n"
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAASTSxnTD0"
    "/WxTYGH7hJCh2UFesTJMcu/14ZdYk8iP69ZFeg8FhCCcEg/TyTWdFAlhfDQj7tIPXg04QMGv8KfzyhTG"
    "m69oGd+WAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
static const char minisign_signature[] =
    "untrusted comment: signature from minisign secret key\n"
    "RURJNLGdMPT9bEldgjR3GBcBHIeWeOvAbo3H6ocn70KTA8NPlC1MDLxvURWRVdgsjC/jICY18Ch5tMgW"
    "sHqPCjsHYh5iKAYX6g0=\n"
    "trusted comment: a trusted comment\n"
    "z7twtYFclG+XEoC8SxiVFoPD0fjh8NnUs/qWVcDmSVObrXsJ+dS25MqZXmUdi/OMa3xccqB2WUNh7Lqd"
    "/+AYDg==\n";
static const char minisign_old_signature[] =
    "untrusted comment: signature from minisign secret key\n"
    "RWRJNLGdMPT9bJr7IdXnMeEqL1YjTufHMQz5L5An+y8Pz9bEaTR0jVSY8/MQBELv1DzCI1JszqtVFW8t"
    "qeSonoNlMNe52alXeQE=\n"
    "trusted comment: of the old kind\n"
    "9/ExhP8UBZ9CItVpmB9tuM9diA3ANadcfHbkQAFHR8poTnMNJrZWbpUvltyvZ3vLJQjCYdAABNvcIOB4"
    "nReACg==\n";

static const char golden_message[] = "golden\n";

/* Cheap enough for a test. */
static const gufo_signature_key_effort low_effort = {.operations = 32768, .memory = 1 << 20};

static gufo_signature_verdict check_text(const gufo_public_key *key, const char *message,
                                         const char *text)
{
    gufo_signature_result result;
    gufo_error error = no_error();

    check_ok(gufo_signature_check(key, gufo_str_of(message), gufo_str_of(text), &result, &error),
             &error, "%s", message);
    return result.verdict;
}

static void minisign_signatures_are_accepted(void **state)
{
    gufo_public_key key;
    gufo_signature_result result;
    gufo_error error = no_error();
    char id[17];

    (void)state;
    check_ok(gufo_public_key_parse(gufo_str_of(minisign_public), &key, &error), &error, "key");
    gufo_signature_key_id_text(key.id, id);
    assert_non_null(strstr(minisign_public, id));
    check_ok(gufo_signature_check(&key, gufo_str_of(golden_message),
                                  gufo_str_of(minisign_signature), &result, &error),
             &error, "new");
    check_u64(result.verdict, GUFO_SIGNATURE_GOOD, "new");
    check_str(result.trusted_comment, "a trusted comment", "new");
    check_u64(check_text(&key, golden_message, minisign_old_signature), GUFO_SIGNATURE_GOOD, "old");
    check_u64(check_text(&key, "golden", minisign_signature), GUFO_SIGNATURE_BAD, "new, cut");
    check_u64(check_text(&key, "golden", minisign_old_signature), GUFO_SIGNATURE_BAD, "old, cut");
}

/* The second line of a public key is enough, and lines may end with CR LF. */
static void other_forms_of_keys(void **state)
{
    gufo_public_key key, again;
    gufo_error error = no_error();
    char text[GUFO_SIGNATURE_KEY_TEXT];
    const char *line = strchr(minisign_public, '\n') + 1;

    (void)state;
    check_ok(gufo_public_key_parse(gufo_str_of(minisign_public), &key, &error), &error, "whole");
    check_ok(gufo_public_key_parse(gufo_str_of(line), &again, &error), &error, "line");
    assert_memory_equal(&key, &again, sizeof key);
    snprintf(text, sizeof text, "untrusted comment: x\r\n%.56s\r\n\r\n", line);
    check_ok(gufo_public_key_parse(gufo_str_of(text), &again, &error), &error, "CR LF");
    assert_memory_equal(&key, &again, sizeof key);
    check_ok(gufo_public_key_text(&key, text, &error), &error, "text");
    check_str(gufo_str_of(text), minisign_public, "text");
}

/* Ed25519 makes one signature of one message: ours is minisign's. */
static void minisign_secret_key_signs_the_same(void **state)
{
    gufo_secret_key key;
    gufo_error error = no_error();
    char text[GUFO_SIGNATURE_TEXT];
    bool encrypted = true;

    (void)state;
    check_ok(gufo_secret_key_encrypted(gufo_str_of(minisign_secret), &encrypted, &error), &error,
             "encrypted");
    assert_false(encrypted);
    check_ok(gufo_secret_key_parse(gufo_str_of(minisign_secret), (gufo_str){0}, &key, &error),
             &error, "parse");
    check_ok(gufo_signature_make(&key, gufo_str_of(golden_message),
                                 gufo_str_of("a trusted comment"), text, &error),
             &error, "make");
    check_str(gufo_str_of(strchr(text, '\n')), strchr(minisign_signature, '\n'), "text");
    gufo_secret_key_wipe(&key);
    for (size_t i = 0; i < sizeof key; i++)
        assert_int_equal(((const uint8_t *)&key)[i], 0);
}

static void keys_make_the_round(void **state)
{
    gufo_public_key public_key;
    gufo_secret_key secret_key, again;
    gufo_error error = no_error();
    char text[GUFO_SIGNATURE_KEY_TEXT], signature[GUFO_SIGNATURE_TEXT];
    gufo_str password = gufo_str_of("correct horse");
    bool encrypted;

    (void)state;
    check_ok(gufo_signature_key_generate(&public_key, &secret_key, &error), &error, "generate");
    for (int with = 0; with < 2; with++) {
        check_ok(gufo_secret_key_text(&secret_key, with ? password : (gufo_str){0}, &low_effort,
                                      text, &error),
                 &error, "text %d", with);
        check_ok(gufo_secret_key_encrypted(gufo_str_of(text), &encrypted, &error), &error, "%d",
                 with);
        check_u64(encrypted, with, "encrypted");
        check_ok(gufo_secret_key_parse(gufo_str_of(text), password, &again, &error), &error, "%d",
                 with);
        assert_memory_equal(&secret_key, &again, sizeof again);
    }
    check_status(gufo_secret_key_parse(gufo_str_of(text), gufo_str_of("wrong"), &again, &error),
                 GUFO_E_ARGUMENT, &error, "wrong password");
    check_ok(gufo_signature_make(&secret_key, gufo_str_of("m"), gufo_str_of(""), signature, &error),
             &error, "sign");
    check_u64(check_text(&public_key, "m", signature), GUFO_SIGNATURE_GOOD, "own");
    check_u64(check_text(&public_key, "n", signature), GUFO_SIGNATURE_BAD, "other message");
    check_u64(check_text(&public_key, "m", minisign_signature), GUFO_SIGNATURE_OTHER_KEY,
              "other key");
}

/* Every byte of a signature file that is changed makes it bad, or none at all. */
static void every_byte_counts(void **state)
{
    gufo_public_key key;
    gufo_error error = no_error();
    /* The untrusted comment may be anything. */
    size_t begin = (size_t)(strchr(minisign_signature, '\n') + 1 - minisign_signature);
    size_t size = sizeof minisign_signature - 1;

    (void)state;
    check_ok(gufo_public_key_parse(gufo_str_of(minisign_public), &key, &error), &error, "key");
    for (size_t i = begin; i < size - 1; i++) {
        char text[sizeof minisign_signature];
        gufo_signature_result result = {.verdict = GUFO_SIGNATURE_BAD};

        memcpy(text, minisign_signature, sizeof text);
        text[i] = text[i] == 'A' ? 'B' : 'A';
        if (gufo_signature_check(&key, gufo_str_of(golden_message), gufo_str_of(text), &result,
                                 &error) == GUFO_OK)
            check(result.verdict != GUFO_SIGNATURE_GOOD, "byte %zu", i);
    }
}

static void what_is_no_key_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "\n",
        "untrusted comment: x\n",
        "untrusted comment: x\nRWQ=\n",
        "untrusted comment: x\nRWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\nmore\n",
        "untrusted comment: x\nRXQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\n",
        "untrusted comment: x\nRWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO!\n",
    };
    gufo_public_key public_key;
    gufo_secret_key secret_key;
    gufo_signature_result result;
    gufo_error error = no_error();

    (void)state;
    check_ok(gufo_public_key_parse(gufo_str_of(minisign_public), &public_key, &error), &error,
             "golden");
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        gufo_public_key other;
        gufo_str text = gufo_str_of(texts[i]);

        check_status(gufo_public_key_parse(text, &other, &error), GUFO_E_MALFORMED, &error,
                     "public %zu", i);
        check_status(gufo_secret_key_parse(text, (gufo_str){0}, &secret_key, &error),
                     GUFO_E_MALFORMED, &error, "secret %zu", i);
        check_status(gufo_signature_check(&public_key, text, text, &result, &error),
                     GUFO_E_MALFORMED, &error, "signature %zu", i);
    }
}

static void effort_is_bounded(void **state)
{
    static const gufo_signature_key_effort too_much = {.operations = 32768,
                                                       .memory = UINT64_C(1) << 40};
    static const gufo_signature_key_effort later = {.reserved = {0, 1}};
    gufo_public_key public_key;
    gufo_secret_key secret_key;
    gufo_error error = no_error();
    char text[GUFO_SIGNATURE_KEY_TEXT];

    (void)state;
    check_ok(gufo_signature_key_generate(&public_key, &secret_key, &error), &error, "generate");
    check_status(gufo_secret_key_text(&secret_key, gufo_str_of("x"), &too_much, text, &error),
                 GUFO_E_LIMIT, &error, "a terabyte");
    check_status(gufo_secret_key_text(&secret_key, gufo_str_of("x"), &later, text, &error),
                 GUFO_E_ARGUMENT, &error, "of a later version");
    check(strstr(error.message, "gufo_signature_key_effort") != NULL, "%s", error.message);
    check_str(gufo_str_of(text), "", "no key that is not encrypted after all");
}

static void comments_are_one_line(void **state)
{
    /* minisign refuses such comments. */
    static const char *const bad[] = {"a\nb", "a\rb", "\x1b[31m", "\x7f", "\xff", "\xc3"};
    gufo_public_key public_key;
    gufo_secret_key key;
    gufo_error error = no_error();
    char text[GUFO_SIGNATURE_TEXT], longest[GUFO_TRUSTED_COMMENT + 1];
    gufo_str comment = {longest, GUFO_TRUSTED_COMMENT};

    (void)state;
    memset(longest, 'x', sizeof longest);
    check_ok(gufo_signature_key_generate(&public_key, &key, &error), &error, "generate");
    check_ok(gufo_signature_make(&key, gufo_str_of("m"), comment, text, &error), &error, "longest");
    check_u64(check_text(&public_key, "m", text), GUFO_SIGNATURE_GOOD, "longest");
    comment.len++;
    check_status(gufo_signature_make(&key, gufo_str_of("m"), comment, text, &error),
                 GUFO_E_ARGUMENT, &error, "too long");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_status(gufo_signature_make(&key, gufo_str_of("m"), gufo_str_of(bad[i]), text, &error),
                     GUFO_E_ARGUMENT, &error, "%s", bad[i]);
    check_ok(gufo_signature_make(&key, gufo_str_of("m"), gufo_str_of("\ta \xc3\xa9"), text, &error),
             &error, "a tab and a letter of two bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minisign_signatures_are_accepted),
        cmocka_unit_test(other_forms_of_keys),
        cmocka_unit_test(minisign_secret_key_signs_the_same),
        cmocka_unit_test(keys_make_the_round),
        cmocka_unit_test(every_byte_counts),
        cmocka_unit_test(what_is_no_key_is_refused),
        cmocka_unit_test(effort_is_bounded),
        cmocka_unit_test(comments_are_one_line),
    };

    return gufo_signature_available() ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}
