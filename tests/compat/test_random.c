/* Random contexts through the documented C API: what gguf_write_to_file says it has written is
 * read back as it was, and what cannot be read back is not written. */
#include "compat.h"

#include <math.h>

enum { ROUNDS = 600, CHANGES = 40, DATA = 1 << 17 };

typedef struct subject {
    uint64_t random;
    struct gguf_context *ctx;
    bool writable;       /* all tensors are such as files can have */
    bool has_data;       /* and all have data */
    uint8_t bytes[DATA]; /* the data of every tensor: its beginning */
} subject;

static uint64_t below(subject *s, uint64_t bound)
{
    return random_next(&s->random) % bound;
}

/* ---- metadata ------------------------------------------------------------------------------- */

/* Keys of few names, so that they meet; some that gufo's own writer refuses. */
static const char *some_key(subject *s)
{
    static const char *const odd[] = {
        "general.alignmen", "general.alignments", "GGUF", "with space",
        "\xff\xfe",         "k\xc3\xa4y",         "a\nb",
    };
    static char key[70000];
    uint64_t kind = below(s, 12);

    if (kind < COUNT_OF(odd))
        return odd[kind];
    (void)snprintf(key, sizeof key, "key.%u", (unsigned)below(s, 6));
    if (kind == 7 && below(s, 8) == 0) {
        memset(key, 'x', sizeof key - 1);
        key[sizeof key - 1] = '\0';
    }
    return key;
}

static const char *some_text(subject *s)
{
    static const char *const texts[] = {"", "text", "\xff\x80 not UTF-8", "\xe2\x80\xae", "a\tb"};

    return texts[below(s, COUNT_OF(texts))];
}

static void set_array(subject *s, const char *key)
{
    enum gguf_type type = (enum gguf_type)below(s, GGUF_TYPE_COUNT);
    size_t count = (size_t)below(s, 5);
    const char *texts[5];

    for (size_t i = 0; i < COUNT_OF(texts); i++)
        texts[i] = some_text(s);
    if (type == GGUF_TYPE_STRING || type == GGUF_TYPE_ARRAY)
        gguf_set_arr_str(s->ctx, key, texts, count);
    else
        gguf_set_arr_data(s->ctx, key, type, s->bytes, count);
}

static void set_value(subject *s, const char *key)
{
    switch (below(s, 6)) {
    case 0:
        gguf_set_val_u8(s->ctx, key, (uint8_t)below(s, 256));
        break;
    case 1:
        gguf_set_val_i64(s->ctx, key, (int64_t)random_next(&s->random));
        break;
    case 2:
        gguf_set_val_f32(s->ctx, key, NAN);
        break;
    case 3:
        gguf_set_val_bool(s->ctx, key, below(s, 2));
        break;
    case 4:
        gguf_set_val_str(s->ctx, key, some_text(s));
        break;
    default:
        set_array(s, key);
        break;
    }
}

static void set_alignment(struct gguf_context *ctx, subject *s)
{
    gguf_set_val_u32(ctx, GGUF_KEY_GENERAL_ALIGNMENT, 1u << below(s, 14));
}

static void take_all(subject *s)
{
    struct gguf_context *other = gguf_init_empty();

    gguf_set_val_str(other, "key.0", "of another");
    if (below(s, 2))
        set_alignment(other, s);
    gguf_set_kv(s->ctx, other);
    gguf_free(other);
}

/* ---- tensors -------------------------------------------------------------------------------- */

static void set_strides(struct ggml_tensor *t)
{
    t->nb[0] = ggml_type_size(t->type);
    t->nb[1] = ggml_row_size(t->type, t->ne[0]);
    t->nb[2] = t->nb[1] * (size_t)t->ne[1];
    t->nb[3] = t->nb[2] * (size_t)t->ne[2];
}

static struct ggml_tensor some_tensor(subject *s)
{
    static const enum ggml_type types[] = {GGML_TYPE_F32, GGML_TYPE_I8, GGML_TYPE_Q4_0,
                                           GGML_TYPE_Q6_K, GGML_TYPE_F64};
    struct ggml_tensor t = {.type = types[below(s, COUNT_OF(types))], .data = s->bytes};

    t.ne[0] = ggml_blck_size(t.type) * (int64_t)(1 + below(s, 3));
    for (int i = 1; i < GGML_MAX_DIMS; i++)
        t.ne[i] = below(s, 3) == 0 ? (int64_t)below(s, 4) : 1;
    set_strides(&t);
    (void)snprintf(t.name, sizeof t.name, "%s%u", below(s, 2) ? "t." : "\xff ",
                   (unsigned)gguf_get_n_tensors(s->ctx));
    return t;
}

static void add_tensor(subject *s)
{
    struct ggml_tensor t = some_tensor(s);

    gguf_add_tensor(s->ctx, &t);
}

/* One that no file can have; its data is not looked at. */
static void add_odd_tensor(subject *s)
{
    struct ggml_tensor t = some_tensor(s);

    switch (below(s, 5)) {
    case 0:
        t.ne[below(s, 4)] = -1;
        break;
    case 1:
        t.ne[0] += t.type == GGML_TYPE_Q4_0 || t.type == GGML_TYPE_Q6_K ? 1 : INT64_MAX - 8;
        break;
    case 2:
        t.ne[1] = t.ne[2] = t.ne[3] = INT64_C(1) << 31;
        break;
    case 3: /* its size does not matter, that of what follows does */
        t.ne[1] = 2;
        t.ne[3] = INT64_MAX / 2;
        break;
    default:
        t.ne[2] = INT64_MIN;
        break;
    }
    s->writable = s->has_data = false;
    gguf_add_tensor(s->ctx, &t);
}

static void change_type(subject *s)
{
    int64_t count = gguf_get_n_tensors(s->ctx);
    int64_t id = count > 0 ? (int64_t)below(s, (uint64_t)count) : -1;

    if (id >= 0)
        gguf_set_tensor_type(s->ctx, gguf_get_tensor_name(s->ctx, id),
                             below(s, 2) ? GGML_TYPE_I16 : GGML_TYPE_F32);
}

static void make_change(subject *s)
{
    switch (below(s, 16)) {
    case 0:
    case 1:
        set_alignment(s->ctx, s);
        break;
    case 2:
        (void)gguf_remove_key(s->ctx, GGUF_KEY_GENERAL_ALIGNMENT);
        break;
    case 3:
        (void)gguf_remove_key(s->ctx, some_key(s));
        break;
    case 4:
        take_all(s);
        break;
    case 5:
        change_type(s);
        break;
    case 6:
    case 7:
    case 8:
        add_tensor(s);
        break;
    case 9:
        if (below(s, 60) == 0)
            add_odd_tensor(s);
        break;
    default:
        set_value(s, some_key(s));
        break;
    }
}

/* ---- reading back --------------------------------------------------------------------------- */

static void check_texts(const struct gguf_context *a, const struct gguf_context *b, int64_t i)
{
    for (size_t j = 0; j < gguf_get_arr_n(a, i); j++)
        check(strcmp(gguf_get_arr_str(a, i, j), gguf_get_arr_str(b, i, j)) == 0, "text");
}

static void check_entries(const struct gguf_context *a, const struct gguf_context *b)
{
    check_u64(gguf_get_n_kv(a), gguf_get_n_kv(b), "entries");
    for (int64_t i = 0; i < gguf_get_n_kv(a); i++) {
        enum gguf_type type = gguf_get_kv_type(a, i);

        check(strcmp(gguf_get_key(a, i), gguf_get_key(b, i)) == 0, "key");
        check_u64(type, gguf_get_kv_type(b, i), "type");
        check_u64(gguf_get_arr_n(a, i), gguf_get_arr_n(b, i), "count");
        if (type == GGUF_TYPE_ARRAY)
            type = gguf_get_arr_type(a, i);
        if (type == GGUF_TYPE_STRING)
            check_texts(a, b, i);
        else
            check(memcmp(gguf_get_arr_data(a, i), gguf_get_arr_data(b, i),
                         gguf_get_arr_n(a, i) * gufo_value_type_size((gufo_value_type)type)) == 0,
                  "values");
    }
}

static void check_infos(const struct gguf_context *a, const struct gguf_context *b)
{
    check_u64(gguf_get_alignment(a), gguf_get_alignment(b), "alignment");
    check_u64(gguf_get_n_tensors(a), gguf_get_n_tensors(b), "tensors");
    for (int64_t i = 0; i < gguf_get_n_tensors(a); i++) {
        check(strcmp(gguf_get_tensor_name(a, i), gguf_get_tensor_name(b, i)) == 0, "name");
        check_u64(gguf_get_tensor_type(a, i), gguf_get_tensor_type(b, i), "type");
        check_u64(gguf_get_tensor_size(a, i), gguf_get_tensor_size(b, i), "size");
        check_u64(gguf_get_tensor_offset(a, i), gguf_get_tensor_offset(b, i), "offset");
        check(memcmp(gguf_get_tensor_ne(a, i), gguf_get_tensor_ne(b, i), sizeof(int64_t[4])) == 0,
              "shape");
    }
}

static void check_readable(const subject *s, const char *path)
{
    struct ggml_context *pool = NULL;
    struct gguf_context *again =
        gguf_init_from_file(path, (struct gguf_init_params){!s->has_data, &pool});

    check(again != NULL, "written, but: %s", last_log);
    check_entries(s->ctx, again);
    check_infos(s->ctx, again);
    check_u64(gguf_get_meta_size(s->ctx), gguf_get_meta_size(again), "metadata");
    for (int64_t i = 0; s->has_data && i < gguf_get_n_tensors(again); i++) {
        const struct ggml_tensor *t = ggml_get_tensor(pool, gguf_get_tensor_name(again, i));

        check(ggml_is_empty(t) || memcmp(t->data, s->bytes, ggml_nbytes(t)) == 0, "data");
    }
    gguf_free(again);
    ggml_free(pool);
}

static void check_refused(const subject *s, const char *path)
{
    uint8_t untouched = 'x';

    check(strstr(last_log, "not written, as it could not be read: ") != NULL, "%s", last_log);
    check_file(path, "old", 3, "the old file");
    check_u64(gguf_get_meta_size(s->ctx), 0, "the size of what is not written");
    gguf_get_meta_data(s->ctx, &untouched);
    check_u64(untouched, 'x', "what is not written");
}

static void test_random(void **state)
{
    static subject s;
    unsigned refused = 0;
    folder f = folder_new();
    path_text path = folder_path(&f, "random.gguf");

    (void)state;
    for (size_t i = 0; i < DATA; i++)
        s.bytes[i] = pattern_byte(3, i) & 1; /* which may be bools */
    for (unsigned round = 1; round <= ROUNDS; round++) {
        s.random = round * UINT64_C(0x9e3779b97f4a7c15);
        s.ctx = gguf_init_empty();
        s.writable = s.has_data = true;
        capture_log();
        for (uint64_t left = below(&s, CHANGES); left > 0; left--)
            make_change(&s);
        write_file(path.text, "old", 3);
        check_u64(gguf_write_to_file(s.ctx, path.text, !s.has_data), s.writable, "round %u: %s",
                  round, last_log);
        if (s.writable)
            check_readable(&s, path.text);
        else
            check_refused(&s, path.text);
        refused += !s.writable;
        gguf_free(s.ctx);
    }
    check(refused > ROUNDS / 100 && refused < ROUNDS / 2, "%u refused", refused);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
