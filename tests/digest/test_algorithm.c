/* Known answers: those that standards and authors give, and a million bytes in uneven pieces. */
#include "../support/folder.h"

#include "digest/algorithm.h"
#include "gufo/digest.h"

#include <unistd.h>

typedef struct answer {
    gufo_digest_algorithm algorithm;
    const char *input;
    const char *digest;
} answer;

/* FIPS 180-4 examples (NIST); RFC 7693, appendix A; XXH64 of its author's sanity check; UUIDs of
 * Python's uuid.uuid5. */
static const answer answers[] = {
    {GUFO_DIGEST_XXH64, "", "ef46db3751d8e999"},
    {GUFO_DIGEST_XXH64, "abc", "44bc2cf5ad770999"},
    {GUFO_DIGEST_SHA1, "", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
    {GUFO_DIGEST_SHA1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
    {GUFO_DIGEST_SHA1, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "84983e441c3bd26ebaae4aa1f95129e5e54670f1"},
    {GUFO_DIGEST_SHA256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {GUFO_DIGEST_SHA256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {GUFO_DIGEST_SHA256, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {GUFO_DIGEST_BLAKE2B, "abc",
     "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
     "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"},
    {GUFO_DIGEST_UUID, "", "6b2748e2-363e-5825-9e7a-d9b30f33ac5b"},
    {GUFO_DIGEST_UUID, "abc", "9f2200fc-45e8-5a39-9535-c3ea5c0e0cef"},
};

static void known_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        const answer *a = &answers[i];
        uint8_t digest[GUFO_DIGEST_SIZE];
        char text[GUFO_DIGEST_TEXT];
        gufo_error error = no_error();

        if (!gufo_digest_available(a->algorithm))
            continue;
        check_ok(gufo_digest_bytes(a->algorithm, a->input, strlen(a->input), digest, &error),
                 &error, "row %zu", i);
        check_u64(gufo_digest_text(a->algorithm, digest, text), strlen(a->digest), "row %zu", i);
        check_str(gufo_str_of(text), a->digest, "row %zu", i);
    }
}

/* FIPS 180-4: a million times "a", here in pieces of every length, and twice with one hasher. */
static void a_million_in_pieces(void **state)
{
    static const struct {
        gufo_digest_algorithm algorithm;
        const char *digest;
    } rows[] = {
        {GUFO_DIGEST_SHA1, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"},
        {GUFO_DIGEST_SHA256, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };
    char piece[1500];

    (void)state;
    memset(piece, 'a', sizeof piece);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        hasher h;
        gufo_error error = no_error();

        if (!gufo_digest_available(rows[i].algorithm))
            continue;
        check_ok(hasher_open(&h, rows[i].algorithm, &error), &error, "row %zu", i);
        for (int again = 0; again < 2; again++) {
            uint8_t digest[GUFO_DIGEST_SIZE];
            char text[GUFO_DIGEST_TEXT];

            for (size_t left = 1000000, length = 0; left > 0; left -= length) {
                length = (length + 1) % sizeof piece;
                length = length < left ? length : left;
                check_ok(hasher_add(&h, piece, length, &error), &error, "row %zu", i);
            }
            check_ok(hasher_finish(&h, digest, &error), &error, "row %zu", i);
            (void)gufo_digest_text(rows[i].algorithm, digest, text);
            check_str(gufo_str_of(text), rows[i].digest, "row %zu, time %d", i, again);
        }
        hasher_close(&h);
    }
}

static void names_and_what_is_none(void **state)
{
    gufo_digest_algorithm algorithm;
    uint8_t digest[GUFO_DIGEST_SIZE];
    gufo_error error = no_error();

    (void)state;
    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++) {
        const gufo_digest_kind *kind = gufo_digest_kind_of((gufo_digest_algorithm)i);

        check(gufo_digest_by_name(kind->name, &algorithm), "algorithm %u", i);
        check_u64(algorithm, i, "algorithm %u", i);
        check(kind->size <= GUFO_DIGEST_SIZE, "algorithm %u", i);
        check_u64(kind->file_only, i == GUFO_DIGEST_UUID, "algorithm %u", i);
    }
    check(!gufo_digest_by_name("md5", &algorithm), "md5");
    check(!gufo_digest_by_name("sha25", &algorithm), "sha25");
    check(gufo_digest_kind_of((gufo_digest_algorithm)GUFO_DIGEST_COUNT) == NULL, "past the end");
    check(!gufo_digest_available((gufo_digest_algorithm)GUFO_DIGEST_COUNT), "past the end");
    check_status(gufo_digest_bytes((gufo_digest_algorithm)GUFO_DIGEST_COUNT, "", 0, digest, &error),
                 GUFO_E_ARGUMENT, &error, "past the end");
}

/* ---- files ---------------------------------------------------------------------------------- */

static void files_are_one_after_the_other(void **state)
{
    folder f = folder_new();
    path_text a = folder_path(&f, "a"), b = folder_path(&f, "b");
    const char *const paths[] = {a.text, b.text};
    uint8_t expected[GUFO_DIGEST_SIZE];
    gufo_digests digests;
    gufo_error error = no_error();

    (void)state;
    if (!gufo_digest_available(GUFO_DIGEST_SHA256))
        skip();
    write_file(a.text, "ab", 2);
    write_file(b.text, "c", 1);
    check_ok(gufo_digest_bytes(GUFO_DIGEST_SHA256, "abc", 3, expected, &error), &error, "abc");
    check_ok(gufo_digest_files(paths, 2, 1u << GUFO_DIGEST_SHA256, NULL, &digests, &error), &error,
             "two files");
    assert_memory_equal(digests.bytes[GUFO_DIGEST_SHA256], expected, 32);
    check_u64(digests.bytes[GUFO_DIGEST_SHA1][0], 0, "what was not asked for");
    check_status(gufo_digest_files(paths, 2, 0, NULL, &digests, &error), GUFO_E_ARGUMENT, &error,
                 "none");
    check_status(gufo_digest_files(paths, 2, 1u << 31, NULL, &digests, &error), GUFO_E_ARGUMENT,
                 &error, "unknown");
    check_status(gufo_digest_files(&(const char *){f.path}, 1, 1u << GUFO_DIGEST_SHA256, NULL,
                                   &digests, &error),
                 GUFO_E_ARGUMENT, &error, "a folder");
    assert_int_equal(unlink(b.text), 0);
    check_status(gufo_digest_files(paths, 2, 1u << GUFO_DIGEST_SHA256, NULL, &digests, &error),
                 GUFO_E_IO, &error, "missing");
    assert_string_equal(error.file, b.text);
    check_u64(error.file_index, 1, "its place");
    folder_remove(&f);
}

static void libraries_are_listed(void **state)
{
    const char *name, *version;
    size_t count = 0;

    (void)state;
    while (gufo_digest_library_at(count, &name, &version)) {
        check(name[0] != '\0', "library %zu", count);
        count++;
    }
    check_u64(count, 3, "libraries");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),          cmocka_unit_test(a_million_in_pieces),
        cmocka_unit_test(names_and_what_is_none), cmocka_unit_test(files_are_one_after_the_other),
        cmocka_unit_test(libraries_are_listed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
