/* Damage of every kind to small files: cut at every byte, and every byte changed.  Nothing may
 * crash, read outside the bytes, or open with a content that does not hold together. */
#include "../support/good.h"
#include "../support/openers.h"
#include "../support/findings.h"
#include "../support/walk.h"

/* How many bytes a good file needs to be opened: up to the end of the infos and of each tensor; one
 * of unknown size takes what is there, but has at least one byte. */
static uint64_t needed_bytes(const builder *b)
{
    gufo_model *file = open_built(b, "good file");
    uint64_t needed = gufo_model_facts(file).infos_end;
    gufo_tensor tensor;

    for (uint64_t i = 0; gufo_model_tensor_at(file, i, &tensor); i++) {
        uint64_t end = tensor.offset + (tensor.size_known ? tensor.size : 1);

        if (tensor.size > 0 && end > needed)
            needed = end;
    }
    gufo_model_free(file);
    return needed;
}

/* What a cut in front of everything needed may be called. */
static void check_cut(const gufo_error *error, size_t len, const char *label)
{
    static const gufo_status statuses[] = {GUFO_E_TRUNCATED, GUFO_E_NOT_GGUF};

    check_error_shape(error, error->code, label);
    check_status(error->code, len < 4 ? statuses[1] : statuses[0], error, "%s, %zu bytes", label,
                 len);
    check(error->rule != NULL, "%s, %zu bytes: no rule", label, len);
    check(error->offset <= len, "%s, %zu bytes: offset %" PRIu64 " is behind the end", label, len,
          error->offset);
}

static void open_prefix(const builder *b, size_t len, bool whole, const char *label)
{
    uint8_t *copy = builder_exact_copy(b, len);
    gufo_open_options lenient = {.flags = GUFO_OPEN_LENIENT};
    gufo_error error = no_error();
    gufo_model *file = gufo_model_open_memory(copy, len, NULL, &error);

    if (whole) {
        check(file != NULL, "%s, %zu bytes: %s", label, len, error.message);
        walk_file(file, copy, len, label);
    } else {
        check(file == NULL, "%s, %zu bytes: was opened", label, len);
        check_cut(&error, len, label);
    }
    gufo_model_free(file);
    error = no_error();
    file = gufo_model_open_memory(copy, len, &lenient, &error);
    if (file != NULL) {
        check(whole == (gufo_model_damage(file) == NULL), "%s, %zu bytes: damage", label, len);
        walk_file(file, copy, len, label);
    } else {
        check(len < 24, "%s, %zu bytes: %s", label, len, error.message);
        check_cut(&error, len, label);
    }
    gufo_model_free(file);
    free(copy);
}

static void cut_everywhere(const good_file *file, const builder *b, const char *label,
                           void *context)
{
    uint64_t needed = needed_bytes(b);

    (void)file;
    (void)context;
    for (size_t len = 0; len <= b->len && b->len < 5000; len++)
        open_prefix(b, len, len >= needed, label);
}

static void test_every_prefix(void **state)
{
    (void)state;
    good_for_each(cut_everywhere, NULL);
}

/* The same from a source and a file, for one file: what is cut there is the number of bytes. */
static void test_prefixes_of_files(void **state)
{
    static const way ways[] = {WAY_SOURCE, WAY_PATH, WAY_PATH_NO_MAP, WAY_PIPE};
    builder b = good_build_named("sampler", (encoding){3, false});
    uint64_t needed = needed_bytes(&b);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ways); i++)
        for (size_t len = 0; len < needed; len += i == 0 ? 1 : 7) {
            opened o;

            open_way(&o, ways[i], b.data, len, NULL);
            check(o.file == NULL, "%s, %zu bytes", way_name(ways[i]), len);
            check_cut(&o.error, len, way_name(ways[i]));
            check_u64(o.source.bad, 0, "%s", way_name(ways[i]));
            close_way(&o);
        }
    builder_free(&b);
}

/* A lenient open of a file that is cut in its data knows how much of each tensor is there. */
static void test_available(void **state)
{
    builder b = good_build_named("dims", (encoding){3, false});
    gufo_open_options lenient = {.flags = GUFO_OPEN_LENIENT};
    gufo_model *whole = open_built(&b, "dims");

    (void)state;
    for (size_t len = (size_t)gufo_model_facts(whole).data_offset; len <= b.len; len++) {
        gufo_error error = no_error();
        gufo_model *file = gufo_model_open_memory(b.data, len, &lenient, &error);
        gufo_tensor expected, got;
        uint8_t data[512];

        check(file != NULL, "%zu bytes: %s", len, error.message);
        check_u64(gufo_model_tensor_count(file), gufo_model_tensor_count(whole), "%zu bytes", len);
        for (uint64_t i = 0; gufo_model_tensor_at(whole, i, &expected); i++) {
            uint64_t there = len <= expected.offset ? 0 : len - expected.offset;

            check(gufo_model_tensor_at(file, i, &got), "%zu bytes", len);
            if (there > expected.size)
                there = expected.size;
            check_u64(got.offset, expected.offset, "%zu bytes", len);
            check_u64(got.size, expected.size, "%zu bytes", len);
            check_u64(got.available, there, "%zu bytes, tensor %" PRIu64, len, i);
            check((gufo_tensor_raw(file, &got) != NULL) == (there == expected.size),
                  "%zu bytes, tensor %" PRIu64, len, i);
            check_status(gufo_tensor_read_raw(file, &got, 0, data, (size_t)got.size, &error),
                         there == expected.size ? GUFO_OK : GUFO_E_TRUNCATED, &error,
                         "%zu bytes, tensor %" PRIu64, len, i);
            if (there > 0)
                check_ok(gufo_tensor_read_raw(file, &got, 0, data, (size_t)there, &error), &error,
                         "%zu bytes, tensor %" PRIu64, len, i);
        }
        gufo_model_free(file);
    }
    gufo_model_free(whole);
    builder_free(&b);
}

/* What a lenient open of a cut file still shows is what the whole file shows. */
static void test_lenient_shows_the_truth(void **state)
{
    builder b = good_build_named("sampler", (encoding){2, true});
    gufo_open_options lenient = {.flags = GUFO_OPEN_LENIENT};
    gufo_model *whole = open_built(&b, "sampler");
    uint64_t entries_seen = 0, tensors_seen = 0;

    (void)state;
    for (size_t len = 24; len <= b.len; len++) {
        gufo_model *file = gufo_model_open_memory(b.data, len, &lenient, NULL);
        gufo_entry expected, got;

        check(file != NULL, "%zu bytes", len);
        check_u64(gufo_model_facts(file).claimed_metadata, 7, "%zu bytes", len);
        check_u64(gufo_model_facts(file).claimed_tensors, 3, "%zu bytes", len);
        check(gufo_model_entry_count(file) >= entries_seen, "%zu bytes: fewer entries", len);
        check(gufo_model_tensor_count(file) >= tensors_seen, "%zu bytes: fewer tensors", len);
        entries_seen = gufo_model_entry_count(file);
        tensors_seen = gufo_model_tensor_count(file);
        for (uint64_t i = 0; i < entries_seen; i++) {
            check(gufo_model_entry_at(file, i, &got) && gufo_model_entry_at(whole, i, &expected),
                  "%zu bytes", len);
            check_view(got.key, expected.key, "%zu bytes", len);
            check_u64(got.end, expected.end, "%zu bytes", len);
            check(got.end <= len, "%zu bytes", len);
        }
        if (entries_seen < 7) {
            check(gufo_model_entry_at(whole, entries_seen, &expected) && expected.end > len,
                  "%zu bytes: an entry is missing that is there", len);
            check_u64(gufo_model_facts(file).data_offset, 0, "%zu bytes", len);
        }
        gufo_model_free(file);
    }
    check_u64(entries_seen, 7, "whole file");
    check_u64(tensors_seen, 3, "whole file");
    gufo_model_free(whole);
    builder_free(&b);
}

/* ---- flipped bytes -------------------------------------------------------------------------- */

static void open_and_walk(const uint8_t *data, size_t len, const char *label)
{
    findings found;
    gufo_open_options lenient = {.flags = GUFO_OPEN_LENIENT};
    gufo_error error = no_error(), check_error = no_error();
    gufo_model *strict = gufo_model_open_memory(data, len, NULL, &error);
    gufo_model *file;

    findings_init(&found);
    lenient.on_finding = findings_add;
    lenient.finding_context = &found;
    if (strict != NULL)
        walk_file(strict, data, len, label);
    else
        check_error_shape(&error, error.code, label);
    file = gufo_model_open_memory(data, len, &lenient, NULL);
    check(strict == NULL || file != NULL, "%s: opens strictly but not leniently", label);
    check((strict != NULL) == (file != NULL && gufo_model_damage(file) == NULL),
          "%s: strict and lenient disagree (%s)", label, error.message);
    if (file != NULL) {
        walk_file(file, data, len, label);
        check_ok(gufo_model_check(file, findings_add, &found, &check_error), &check_error, "%s",
                 label);
    }
    gufo_model_free(strict);
    gufo_model_free(file);
    findings_free(&found);
}

static void flip_everywhere(const builder *b, const char *name)
{
    uint8_t *copy = builder_exact_copy(b, b->len);

    for (size_t at = 0; at < b->len; at++) {
        const uint8_t was = copy[at];
        const uint8_t values[9] = {0,
                                   1,
                                   0x7f,
                                   0x80,
                                   0xff,
                                   (uint8_t)(was + 1),
                                   (uint8_t)(was - 1),
                                   was ^ 0x20,
                                   (uint8_t)~was};

        for (size_t i = 0; i < COUNT_OF(values); i++) {
            char label[96];

            snprintf(label, sizeof label, "%s, %s, byte %zu set to %u", name,
                     encoding_name(b->encoding), at, values[i]);
            copy[at] = values[i];
            open_and_walk(copy, b->len, label);
        }
        copy[at] = was;
    }
    free(copy);
}

static void test_every_byte_flipped(void **state)
{
    static const char *const others[] = {"zero dims", "unpadded tail"};
    builder b;

    (void)state;
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        b = good_build_named("sampler", all_encodings[e]);
        flip_everywhere(&b, "sampler");
        builder_free(&b);
    }
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        b = good_build_named(others[i], (encoding){3, i % 2 == 1});
        flip_everywhere(&b, others[i]);
        builder_free(&b);
    }
}

/* Several bytes at once, at places and with values from a fixed seed. */
static void test_random_damage(void **state)
{
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);

    (void)state;
    for (int round = 0; round < 3000; round++) {
        encoding e = all_encodings[round % ENCODING_COUNT];
        builder b = good_build_named(round % 2 ? "nested arrays" : "sampler", e);
        size_t len = random_next(&random) % 4 == 0 ? (size_t)(random_next(&random) % b.len) : b.len;
        uint8_t *copy = builder_exact_copy(&b, len);
        char label[48];

        snprintf(label, sizeof label, "round %d", round);
        for (uint64_t n = 1 + random_next(&random) % 4; n > 0 && len > 8; n--)
            copy[8 + random_next(&random) % (len - 8)] =
                (uint8_t)(random_next(&random) % 3 ? random_next(&random) : 0);
        open_and_walk(copy, len, label);
        free(copy);
        builder_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_prefix),       cmocka_unit_test(test_prefixes_of_files),
        cmocka_unit_test(test_available),          cmocka_unit_test(test_lenient_shows_the_truth),
        cmocka_unit_test(test_every_byte_flipped), cmocka_unit_test(test_random_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
