/* The page as a whole: memory, arguments, order of sections, several models. */
#include "../support/allocator.h"
#include "../support/builder.h"
#include "../support/check.h"

#include "gufo/report.h"

static builder make_file_of(const char *const *names, size_t count)
{
    builder b = builder_new((encoding){3, false});

    builder_header(&b, count, 1);
    builder_kv_str(&b, "general.architecture", "llama");
    for (size_t i = 0; i < count; i++)
        builder_tensor(&b, names[i], GUFO_TYPE_F32, 2, (uint64_t[]){8, 4}, 128 * i);
    builder_pad(&b, 32);
    builder_zeros(&b, 128 * count);
    return b;
}

/* A small model of two layers. */
static builder make_file(void)
{
    static const char *const names[] = {"token_embd.weight", "blk.0.attn_q.weight",
                                        "blk.1.attn_q.weight", "blk.0.ffn_<b>.weight"};

    return make_file_of(names, COUNT_OF(names));
}

static gufo_status write_page(const gufo_report_model *models, size_t count,
                              const gufo_allocator *allocator, gufo_text *out, gufo_error *error)
{
    const gufo_report_content content = {
        .models = models, .model_count = count, .allocator = allocator};

    return gufo_report_write(&content, out, error);
}

static const char *find(const gufo_text *page, const char *part)
{
    return memmem(page->data, page->len, part, strlen(part));
}

static void test_order(void **state)
{
    static const char *const sections[] = {"bytes",    "types",    "bits",   "file",
                                           "findings", "metadata", "tensors"};
    builder b = make_file();
    gufo_error error;
    gufo_model *model = gufo_model_open_memory(b.data, b.len, NULL, &error);
    const gufo_report_model shown[] = {{.model = model, .name = gufo_str_of("a.gguf")},
                                       {.name = gufo_str_of("<broken>.gguf")}};
    const char *last = NULL;
    gufo_text out = {0}, both = {0};
    char id[40];

    (void)state;
    assert_non_null(model);
    check_ok(write_page(shown, 1, NULL, &out, &error), &error, "one");
    for (size_t i = 0; i < COUNT_OF(sections); i++) {
        (void)snprintf(id, sizeof id, "<h2 id=\"%s\"", sections[i]);
        check(find(&out, id) > last, "%s", sections[i]);
        last = find(&out, id);
    }
    check(find(&out, "ffn_&lt;b&gt;") != NULL && find(&out, "ffn_<b>") == NULL, "escaped");
    check_ok(write_page(shown, 2, NULL, &both, &error), &error, "two");
    for (size_t i = 0; i < COUNT_OF(sections); i++) {
        (void)snprintf(id, sizeof id, "<h3 id=\"m1-%s\"", sections[i]);
        check(find(&both, id) != NULL, "%s", id);
    }
    check(find(&both, "<h3 id=\"m2-findings\"") != NULL, "the other one");
    check(find(&both, "<h3 id=\"m2-bytes\"") == NULL, "has nothing else");
    check(find(&both, "<h1>2 models</h1>") != NULL, "title");
    gufo_text_free(&out);
    gufo_text_free(&both);
    gufo_model_free(model);
    builder_free(&b);
}

/* Layers that do different things are named above their cells, those of one kind are not. */
static void test_kinds_of_layers(void **state)
{
    static const char *const mixed[] = {"blk.0.ssm_in.weight", "blk.0.ffn_up.weight",
                                        "blk.1.attn_q.weight", "blk.2.ffn_up.weight",
                                        "blk.3.ssm_in.weight", "blk.3.attn_q.weight"};

    (void)state;
    for (size_t count = 2; count <= COUNT_OF(mixed); count += COUNT_OF(mixed) - 2) {
        builder b = make_file_of(mixed, count);
        gufo_error error;
        gufo_model *model = gufo_model_open_memory(b.data, b.len, NULL, &error);
        const gufo_report_model shown = {.model = model, .name = gufo_str_of("a.gguf")};
        gufo_text out = {0};

        assert_non_null(model);
        check_ok(write_page(&shown, 1, NULL, &out, &error), &error, "a page");
        check((find(&out, "<span>kind of layer</span>") != NULL) == (count > 2), "the row");
        check((find(&out, "Kinds of layers: R recurrent (2), A attention (1), F feed-forward alone "
                          "(1). ") != NULL) == (count > 2),
              "what letters mean");
        gufo_text_free(&out);
        gufo_model_free(model);
        builder_free(&b);
    }
}

/* Whichever request fails, the text that was there before stays, and nothing leaks. */
static void test_memory(void **state)
{
    builder b = make_file();
    gufo_error error;
    gufo_model *model = gufo_model_open_memory(b.data, b.len, NULL, &error);
    const gufo_report_model shown[] = {{.model = model, .name = gufo_str_of("a.gguf")},
                                       {.model = model, .name = gufo_str_of("b.gguf")}};
    counter c;
    gufo_allocator allocator;
    gufo_status status = GUFO_E_MEMORY;

    (void)state;
    assert_non_null(model);
    counter_init(&c);
    allocator = counter_allocator(&c);
    for (size_t step = 1; status == GUFO_E_MEMORY && step < 1000; step++) {
        gufo_text out = {.allocator = &allocator};

        c.calls = 0;
        c.fail_at = step;
        status = write_page(shown, 2, &allocator, &out, &error);
        check(status == GUFO_OK || status == GUFO_E_MEMORY, "step %zu", step);
        if (status != GUFO_OK)
            check_u64(out.len, 0, "step %zu", step);
        gufo_text_free(&out);
        check_u64(c.in_use, 0, "step %zu", step);
    }
    check(status == GUFO_OK, "it ends");
    gufo_model_free(model);
    builder_free(&b);
}

static void test_arguments(void **state)
{
    const gufo_report_content later = {.reserved = {0, 1}}, nothing = {.model_count = 0};
    gufo_text out = {0};
    gufo_error error;

    (void)state;
    check_status(gufo_report_write(&later, &out, &error), GUFO_E_ARGUMENT, &error, "reserved");
    check_ok(gufo_report_write(&nothing, &out, &error), &error, "no models");
    check(find(&out, "<h1>0 models</h1>") != NULL, "no models");
    gufo_text_free(&out);
}

/* Whatever the order of the caller: the worst first, those of a rule together, most of many behind a click. */
static void test_findings(void **state)
{
    const gufo_rule *rules[] = {gufo_rule_at(0), gufo_rule_at(1)};
    gufo_report_finding found[12];
    const gufo_report_model shown = {
        .name = gufo_str_of("a.gguf"), .findings = found, .finding_count = COUNT_OF(found)};
    static const size_t order[] = {7, 5, 0, 2, 4, 6, 8, 10, 1, 3, 9, 11};
    char message[COUNT_OF(found)][16];
    const char *last;
    gufo_text out = {0};
    gufo_error error;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(found); i++) {
        (void)snprintf(message[i], sizeof message[i], "message %02zu.", i);
        found[i] = (gufo_report_finding){.rule = i == 5 ? NULL : rules[i % 2],
                                         .severity = i == 7 ? GUFO_ERROR : GUFO_WARNING,
                                         .offset = GUFO_NO_OFFSET,
                                         .message = gufo_str_of(message[i])};
    }
    check_ok(write_page(&shown, 1, NULL, &out, &error), &error, "page");
    last = out.data;
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        check(find(&out, message[order[i]]) > last, "place %zu", i);
        last = find(&out, message[order[i]]);
    }
    check(find(&out, "<summary>3 more") > find(&out, message[4]) &&
              find(&out, "<summary>3 more") < find(&out, message[6]),
          "three are open");
    gufo_text_free(&out);
}

/* A file of a set has a number, a file alone has none. */
static void test_finding_of(void **state)
{
    const gufo_finding found = {.rule = gufo_rule_at(0),
                                .offset = 8,
                                .shard = 0,
                                .subject = gufo_str_of("key"),
                                .message = "wrong",
                                .hint = NULL};
    builder b = make_file();
    gufo_error error;
    gufo_model *model = gufo_model_open_memory(b.data, b.len, NULL, &error);
    gufo_report_finding shown = gufo_report_finding_of(&found, model);

    (void)state;
    assert_non_null(model);
    check_u64(shown.shard, 0, "alone");
    check_u64(shown.offset, 8, "offset");
    check_u64(shown.hint.len, 0, "hint");
    check(gufo_str_equal(shown.message, gufo_str_of("wrong")), "message");
    check(gufo_report_finding_of(&found, NULL).severity == found.rule->severity, "severity");
    gufo_model_free(model);
    builder_free(&b);
}

static gufo_text page_of(builder *b)
{
    gufo_error error;
    gufo_model *model = gufo_model_open_memory(b->data, b->len, NULL, &error);
    const gufo_report_model shown = {.model = model, .name = gufo_str_of("a.gguf")};
    gufo_text out = {0};

    assert_non_null(model);
    check_ok(write_page(&shown, 1, NULL, &out, &error), &error, "page");
    gufo_model_free(model);
    builder_free(b);
    return out;
}

/* Of more roles than have rows, types and parts are counted nevertheless: half of the tensors each. */
static void test_many_roles(void **state)
{
    enum { ROLES = 600 };
    builder b = builder_new((encoding){3, false});
    gufo_text out;
    char name[64];

    (void)state;
    builder_header(&b, ROLES, 0);
    for (size_t i = 0; i < ROLES; i++) {
        (void)snprintf(name, sizeof name, "%s.x%zu.weight", i % 3 == 0 ? "attn" : "first", i);
        builder_tensor(&b, name, i % 2 == 0 ? GUFO_TYPE_F32 : GUFO_TYPE_F16, 1,
                       (uint64_t[]){i % 2 == 0 ? 8 : 16}, 32 * i);
    }
    builder_pad(&b, 32);
    builder_zeros(&b, (size_t)32 * ROLES);
    out = page_of(&b);
    check(find(&out, "</i>F32</th><td class=\"n\" data-v=\"300\">300</td>") != NULL, "F32");
    check(find(&out, "</i>F16</th><td class=\"n\" data-v=\"300\">300</td>") != NULL, "F16");
    check(find(&out, "</i>attention</th><td class=\"n\" data-v=\"200\">200</td>") != NULL,
          "attention");
    gufo_text_free(&out);
}

/* Gaps between thousands of tensors are too thin to be seen: the map is as large as its picture. */
static void test_many_gaps(void **state)
{
    enum { TENSORS = 50000 };
    builder b = builder_new((encoding){3, false});
    gufo_text out;
    char name[64];

    (void)state;
    builder_header(&b, TENSORS, 0);
    for (size_t i = 0; i < TENSORS; i++) {
        (void)snprintf(name, sizeof name, "x%zu", i);
        builder_tensor(&b, name, GUFO_TYPE_F32, 1, (uint64_t[]){8}, 64 * i);
    }
    builder_pad(&b, 32);
    builder_zeros(&b, (size_t)64 * TENSORS);
    out = page_of(&b);
    check(out.len < 2000000, "%zu bytes", out.len);
    gufo_text_free(&out);
}

/* ---- memory over the context -------------------------------------------------------------------- */

/* A header that the rules of an architecture take. */
static builder make_llama(void)
{
    static const struct {
        const char *key;
        uint32_t value;
    } keys[] = {{"llama.block_count", 2},
                {"llama.context_length", 4096},
                {"llama.embedding_length", 64},
                {"llama.feed_forward_length", 128},
                {"llama.attention.head_count", 2},
                {"llama.attention.head_count_kv", 1},
                {"llama.vocab_size", 8}};
    builder b = builder_new((encoding){3, false});

    builder_header(&b, 1, COUNT_OF(keys) + 1);
    builder_kv_str(&b, "general.architecture", "llama");
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        builder_kv_u32(&b, keys[i].key, keys[i].value);
    builder_tensor(&b, "token_embd.weight", GUFO_TYPE_F32, 2, (uint64_t[]){64, 8}, 0);
    builder_pad(&b, 32);
    builder_zeros(&b, 64 * 8 * 4);
    return b;
}

/* Three types of the cache, each smaller than the one before; they end at the model's context. */
static void test_curves(void **state)
{
    static const char token[] = ": 256 bytes for a token in F16; all layers are on the card";
    builder b = make_llama();
    gufo_error error;
    gufo_model *model = gufo_model_open_memory(b.data, b.len, NULL, &error);
    gufo_report_curves *curves = gufo_report_curves_new(model, NULL, &error);
    const gufo_report_memory *list;
    size_t count;

    (void)state;
    assert_non_null(curves);
    list = gufo_report_curves_list(curves, &count);
    check_u64(count, 3, "types of the cache");
    for (size_t i = 0; i < count; i++) {
        const gufo_report_memory_point *last = &list[i].points[list[i].count - 1];

        check_u64(last->context, 4096, "type %zu", i);
        check_u64(last->weights, list[0].points[0].weights, "type %zu", i);
        check(i == 0 || last->cache < list[i - 1].points[list[i].count - 1].cache, "type %zu", i);
        check(memmem(list[i].formula.data, list[i].formula.len, token, sizeof token - 1) != NULL,
              "%.*s", (int)list[i].formula.len, list[i].formula.data);
    }
    check(gufo_str_equal(list[2].cache_type, gufo_str_of("Q4_0")), "the last type");
    gufo_report_curves_free(curves);
    gufo_report_curves_free(NULL);
    gufo_model_free(model);
    builder_free(&b);
}

/* Of a model that no rule knows there is nothing to draw, which is not a failure. */
static void test_no_curves(void **state)
{
    builder b = make_file();
    gufo_error error;
    gufo_model *model = gufo_model_open_memory(b.data, b.len, NULL, &error);
    const gufo_report_curves_options later = {.reserved = {1}};
    gufo_report_curves *curves = gufo_report_curves_new(model, NULL, &error);
    size_t count = 9;

    (void)state;
    assert_non_null(curves);
    (void)gufo_report_curves_list(curves, &count);
    check_u64(count, 0, "curves");
    gufo_report_curves_free(curves);
    assert_null(gufo_report_curves_new(model, &later, &error));
    check_status(error.code, GUFO_E_ARGUMENT, &error, "reserved");
    gufo_model_free(model);
    builder_free(&b);
}

static void test_curves_memory(void **state)
{
    builder b = make_llama();
    gufo_error error;
    gufo_model *model = gufo_model_open_memory(b.data, b.len, NULL, &error);
    bool done = false;

    (void)state;
    for (size_t step = 1; !done; step++) {
        counter c;
        gufo_allocator allocator;
        const gufo_report_curves_options options = {.allocator = &allocator};
        gufo_report_curves *curves;

        counter_init(&c);
        allocator = counter_allocator(&c);
        c.fail_at = step;
        curves = gufo_report_curves_new(model, &options, &error);
        done = curves != NULL;
        if (!done)
            check_status(error.code, GUFO_E_MEMORY, &error, "step %zu", step);
        else
            check(step > 2, "two requests at least");
        gufo_report_curves_free(curves);
        check_u64(c.in_use, 0, "step %zu", step);
        assert_true(step < 1000);
    }
    gufo_model_free(model);
    builder_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),        cmocka_unit_test(test_kinds_of_layers),
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_findings),     cmocka_unit_test(test_finding_of),
        cmocka_unit_test(test_many_roles),   cmocka_unit_test(test_many_gaps),
        cmocka_unit_test(test_curves),       cmocka_unit_test(test_no_curves),
        cmocka_unit_test(test_curves_memory)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
