/* Values of expected results: how their JSON files describe them, and comparing. */
#ifndef TEST_IMPORT_EXPECTED_VALUES_H
#define TEST_IMPORT_EXPECTED_VALUES_H

#include "../support/json.h"

#include "base/bytes.h"
#include "codec/half.h"
#include "gufo/digest.h"
#include "gufo/format.h"

#define TEXT(view) (int)(view).len, (view).data

/* ---- hashes --------------------------------------------------------------------------------- */

static inline void check_hash(const void *data, size_t size, const json_value *expected,
                              const char *what, gufo_str name)
{
    uint8_t digest[GUFO_DIGEST_SIZE];
    char text[GUFO_DIGEST_TEXT];
    gufo_error error = no_error();

    if (!gufo_digest_available(GUFO_DIGEST_SHA256))
        return; /* numbers are compared all the same */
    check_ok(gufo_digest_bytes(GUFO_DIGEST_SHA256, data, size, digest, &error), &error, "%s", what);
    size_t len = gufo_digest_text(GUFO_DIGEST_SHA256, digest, text);
    check_view(((gufo_str){text, len}), expected->text, "%s, %.*s: SHA-256", what, TEXT(name));
}

/* ---- metadata ------------------------------------------------------------------------------- */

/* The elements as the hashes take them: texts behind their lengths, numbers of 32 bits. */
static inline uint8_t *array_bytes(const gufo_array *array, size_t *len)
{
    uint8_t *bytes = malloc((size_t)(array->size + 8 * array->count + 8)), *at = bytes;
    gufo_array_iter iter = gufo_array_start(array);
    gufo_value value;

    check(bytes != NULL, "memory");
    while (gufo_array_next(&iter, &value)) {
        if (value.type == GUFO_VALUE_STRING) {
            store_u64(at, value.as.str.len, HOST_IS_BIG_ENDIAN);
            memcpy(at + 8, value.as.str.data, value.as.str.len);
            at += 8 + value.as.str.len;
            continue;
        }
        store_u32(at,
                  value.type == GUFO_VALUE_FLOAT32 ? float_to_bits((float)value.as.f)
                                                   : (uint32_t)value.as.i,
                  HOST_IS_BIG_ENDIAN);
        at += 4;
    }
    *len = (size_t)(at - bytes);
    return bytes;
}

static inline void check_hex(gufo_str got, gufo_str expected, const char *file,
                             const gufo_entry *entry)
{
    char hex[1024] = "";

    check(got.len < sizeof hex / 2, "%s", file);
    for (size_t i = 0; i < got.len; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", (unsigned)(uint8_t)got.data[i]);
    check_view(gufo_str_of(hex), expected, "%s: an element of %.*s", file, TEXT(entry->key));
}

/* Some strings of an array, by their index, as hexadecimal digits. */
static inline void check_samples(const char *file, const gufo_entry *entry,
                                 const json_value *samples)
{
    for (const json_value *v = samples == NULL ? NULL : samples->inside; v != NULL; v = v->next) {
        gufo_error error = no_error();
        gufo_value value;

        check_ok(
            gufo_array_at(&entry->value.as.array, strtoull(v->name.data, NULL, 10), &value, &error),
            &error, "%s", file);
        check_hex(value.as.str, v->text, file, entry);
    }
}

static inline void check_array(const char *file, const gufo_entry *entry,
                               const json_value *expected)
{
    static const char *const hashes[] = {"sha256_lenprefixed_u64", "sha256_f32le", "sha256_i32le",
                                         "sha256_le"};
    size_t len, found = 0;

    check_u64(entry->value.as.array.count, (uint64_t)json_number(json_at(expected, "count")),
              "%s: %.*s", file, TEXT(entry->key));
    check_samples(file, entry, json_find(expected, "samples"));
    check_samples(file, entry, json_find(expected, "samples_hex"));
    uint8_t *bytes = array_bytes(&entry->value.as.array, &len);
    for (size_t i = 0; i < COUNT_OF(hashes); i++) {
        const json_value *hash = json_find(expected, hashes[i]);

        if (hash != NULL)
            check_hash(bytes, len, hash, file, entry->key);
        found += hash != NULL;
    }
    check_u64(found, 1, "%s: %.*s has a hash", file, TEXT(entry->key));
    free(bytes);
}

/* "uint32", "array[string]". */
static inline void check_type(const char *file, const gufo_entry *entry, gufo_str expected)
{
    char text[64];
    bool array = entry->value.type == GUFO_VALUE_ARRAY;

    (void)snprintf(text, sizeof text, array ? "array[%s]" : "%s",
                   gufo_value_type_name(array ? entry->value.as.array.type : entry->value.type));
    check_view(gufo_str_of(text), expected, "%s: the type of %.*s", file, TEXT(entry->key));
}

static inline void check_value(const char *file, const gufo_entry *entry,
                               const json_value *expected)
{
    const gufo_value *value = &entry->value;

    switch (expected->kind) {
    case JSON_STRING:
        check_view(value->as.str, expected->text, "%s: %.*s", file, TEXT(entry->key));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        check(value->as.b == (expected->kind == JSON_TRUE), "%s: %.*s", file, TEXT(entry->key));
        break;
    case JSON_NUMBER:
        if (value->type == GUFO_VALUE_FLOAT32)
            check((float)value->as.f == (float)json_number(expected), "%s: %.*s is %g", file,
                  TEXT(entry->key), value->as.f);
        else
            check_u64(value->as.u, (uint64_t)json_number(expected), "%s: %.*s", file,
                      TEXT(entry->key));
        break;
    case JSON_OBJECT:
        check_array(file, entry, expected);
        break;
    default:
        check(false, "%s: %.*s has no value that can be compared", file, TEXT(entry->key));
    }
}

#endif
